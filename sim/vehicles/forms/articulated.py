"""Trees of bodies and joints as vehicles: what they declare is a tree, and recursions over it advance them."""

from collections.abc import Container, Mapping
from functools import cached_property, lru_cache
from types import SimpleNamespace
from typing import Self

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from sim.groups.numeric import quaternion_of
from sim.multibody.arrays import BALL, FREE, REVOLUTE
from sim.multibody.declaration import Gear, Given, Loop
from sim.multibody.loops import Closure, dependent
from sim.multibody.pushing import Pushing, pushing_of
from sim.multibody.shapes import Cord, Link, Touching, cords_of, gallows, hinges_of, links_of
from sim.multibody.spatial import quaternion_matrix
from sim.multibody.symbolic import SymbolicTree
from sim.multibody.tree import Tree
from sim.platform.errors import InputError, one_of, quote
from sim.spaces import Euclidean, Product, Space, UnitQuaternions
from sim.vehicles.forms.base import Structure, Vehicle, twist_of, usable
from sim.vehicles.forms.form import Form, NodeLayout, State, Support
from sim.vehicles.forms.observation import ObservationLayout, layout_of
from sim.vehicles.forms.parameters import Control, Quantities

UNITS = {"angle": "rad", "largest_angle": "rad", "torque": "N m", "largest_torque": "N m"}
"""Of what every tree tells: coordinates of its joints (of sliders metres, of ball joints the angle of the turn, free
ones are left out), and torques or forces of springs, dampers, limits and controls at its joints; and the largest of
either. Of more than MOST_TOLD joints some are told one by one, evenly spread from the first to the last."""
MOST_TOLD = 48
PlumbLine = tuple[str, ArrayLike, str, ArrayLike]
"""A body and a point of it [m], and another's, below."""


@lru_cache(maxsize=64)
def _declared(structure: Structure, p: bytes) -> Tree:
    vehicle = structure.vehicle
    assert isinstance(vehicle, ArticulatedVehicle)
    return vehicle.declare(vehicle.quantities(np.frombuffer(p)))


class ArticulatedVehicle(Vehicle):
    """Subclasses declare a tree. A node is (q, v): coordinates and velocities of all joints, as the tree names them.

    Whatever acts on it from outside is a generalised force (nv,) at its joints.
    """

    form = Form.TREE
    twist_embedding = np.eye(6)
    torques: tuple[str, ...] = ()
    """Joints, by the names of their velocities, and driven tendons, that the controls drive, in the controls' order
    [N m or N]."""
    led_by_others: tuple[str, ...] = ()
    """Velocities of joints that follow others where any do: what they carry is no tool."""
    meets_itself: bool = False
    """Whether its bodies touch each other, but for those that are joined or overlap in its default state."""
    apart: Container[frozenset[str]] = frozenset()
    """Pairs of bodies that pass through each other all the same."""

    feet: tuple[str, ...] = ()
    """Bodies whose ends bear on the ground in plans, which find when and how; what is held then has level ground
    `stand_m` below where it is held."""
    pushes: tuple[tuple[str, str], ...] = ()
    """Pairs of bodies: balls of the first push boxes of the second, as `touching` has them. Plans find when and how."""

    across: tuple[float, float, float] | None = (0.0, 1.0, 0.0)
    """Along which nothing of it moves that touches in plans: these slip in the plane that is across. None: it moves in
    space, and feet stick where they bear in plans."""

    def declare(self, q: SimpleNamespace) -> Tree:
        """The tree with the parameters q by name: numbers, or arrays of several."""
        raise TypeError(f"vehicle {self.name!r} declares no tree(q)")

    def _number(self, name: str) -> float:
        """The value of a parameter that is one number."""
        return float(np.max(self.values[name]))

    def plumb_lines(self, q: SimpleNamespace) -> dict[str, PlumbLine]:
        """Lines whose angle from straight down it tells by these names [rad], with the parameters q by name."""
        return {}

    @cached_property
    def tree(self) -> Tree:
        """With the parameters it has."""
        return self.tree_with(self.parameter_vector)

    def tree_with(self, p: np.ndarray) -> Tree:
        """With other parameters (parameter_count,), the structural ones as they are.

        The declaration is kept for each set of values and shared by all vehicles of this structure, so that a parameter
        that is dragged while eight lanes fly is declared once and not once a lane.
        """
        return _declared(Structure.of(self), np.ascontiguousarray(p, float).tobytes())

    def quantities(self, p: np.ndarray) -> SimpleNamespace:
        """The parameters (parameter_count,) by name."""
        values, at = {}, 0
        for parameter in self.parameters:
            part = p[at : at + parameter.size]
            values[parameter.name] = float(part[0]) if isinstance(parameter.default, int | float) else part
            at += parameter.size
        return SimpleNamespace(**values)

    def shapes(self) -> tuple[Link, ...]:
        """What is drawn of its bodies, and touches the ground with its ends."""
        return links_of(self.tree)

    def touching(self) -> tuple[Touching, ...]:
        """What meets other bodies."""
        return tuple(Touching.of_link(link) for link in self.shapes())

    @property
    def bearing(self) -> tuple[Link, ...]:
        """Whose ends bear on the ground in plans."""
        return tuple(link for link in self.shapes() if link.body in self.feet)

    @cached_property
    def links(self) -> tuple[Link, ...]:  # type: ignore[override]
        shapes = self.shapes()
        return (
            *shapes,
            *hinges_of(self.tree, shapes),
            *(() if self.free or self.meets else gallows(self.stand_m)),
        )

    @cached_property
    def cords(self) -> tuple[Cord, ...]:  # type: ignore[override]
        return cords_of(self.tree)

    def with_parameters(self, **values: object) -> Self:
        return type(self)(**{**self.values, **values})

    @cached_property
    def driven(self) -> np.ndarray:
        """(n_controls,) places in v, or behind it of driven tendons, that the controls drive."""
        return np.array([self.tree.effort_names.index(name) for name in self.torques], np.int64)

    def forces(self, u: ca.SX, q: Quantities) -> ca.SX:
        """(nv + m,) the same as `joint_forces` on expressions."""
        forces = ca.SX.zeros(len(self.tree.effort_names))
        forces[self.driven.tolist()] = u
        return forces

    def control_wrench(self, u: ca.SX, q: Quantities) -> ca.SX:
        """On no body of its own: what controls do is done at joints."""
        return ca.SX(0, 1)

    def joint_forces(self, u: np.ndarray, p: np.ndarray) -> np.ndarray:
        """(nv + m,) generalised forces of the controls (n_controls,) with the parameters p (parameter_count,), then
        those along driven tendons, held over a step."""
        forces = np.zeros(len(self.tree.effort_names))
        forces[self.driven] = u
        return forces

    @cached_property
    def node_layout(self) -> NodeLayout:
        nq, nv = self.tree.nq, self.tree.nv
        none = slice(nq + nv, nq + nv)
        return NodeLayout(slice(0, nq), slice(nq, nq + nv), none, none, none, nq + nv)

    @cached_property
    def coordinates(self) -> Product:
        """Of its space, what is no velocity."""
        parts: list[Space] = []
        for i, kind in enumerate(self.tree.arrays.kind):
            name = self.tree.coordinate_names[self.tree.arrays.q_at[i]].replace(" ", "_")
            if kind not in (BALL, FREE):
                parts.append(Euclidean(1, name))
                continue
            name = name.removesuffix("_qw")
            parts.append(UnitQuaternions(name))
            if kind == FREE:
                parts.append(Euclidean(3, f"{name}_place", tuple(f"{name}_{axis}" for axis in "xyz")))
        return Product(tuple(parts))

    @cached_property
    def space(self) -> Space:
        rates = tuple(f"{name.replace(' ', '_')}_rate" for name in self.tree.velocity_names)
        return Product((*self.coordinates.parts, Euclidean(self.tree.nv, "velocity", rates)))

    @cached_property
    def symbolic(self) -> SymbolicTree:
        """Its recursions on expressions."""
        return SymbolicTree(self.tree)

    def symbolic_with(self, p: ca.SX) -> tuple[SymbolicTree, Quantities]:
        """Its recursions in equations with parameters p, and its own by name: numbers, but in a `NumberedTree`'s."""
        return self.symbolic, self.own

    @property
    def own(self) -> Quantities:
        """The parameters it has, by name."""
        return Quantities(**vars(self.quantities(self.parameter_vector)))

    @property
    def tool(self) -> str:
        """The body that is brought to places: the one behind the most joints, the last of these."""
        parent, depth = self.tree.arrays.parent, [0]
        for i in range(1, len(parent)):
            depth.append(depth[parent[i]] + 1 if parent[i] >= 0 else 0)
        led = {self.tree.velocity_names.index(name) for name in self.led_by_others}
        kept = [i >= 0 and self.tree.arrays.v_at[i] not in led for i in self.tree.carriers]
        reached = [depth[i] if one else -1 for i, one in zip(self.tree.carriers, kept, strict=True)]
        last = len(reached) - 1 - int(np.argmax(reached[::-1]))
        return self.tree.names[last]

    def bodies(self, node: ca.SX, q: Quantities) -> dict[str, ca.SX]:
        """(4, 4) T_wb by name, with its own parameters; the tool first."""
        return self.bodies_of(self.symbolic, self.tree.offsets, node)

    def bodies_of(self, symbolic: SymbolicTree, offsets: np.ndarray, node: ca.SX) -> dict[str, ca.SX]:
        """The same by recursions and poses on carriers (bodies, 4, 4) that may be expressions."""
        frames = symbolic.frames(node[self.node_layout.pose])
        found = {}
        for name, carrier, offset in zip(self.tree.names, self.tree.carriers, offsets, strict=True):
            T = ca.SX.eye(4)
            if carrier >= 0:
                T[:3, :3], T[:3, 3] = frames[carrier]
            if offset.dtype == object:
                offset = ca.vertcat(*(ca.horzcat(*row) for row in offset.tolist()))
            found[name] = T @ ca.sparsify(ca.SX(offset))
        return {self.tool: found[self.tool], **found}

    def configuration_rate(self, node: ca.SX, q: Quantities) -> ca.SX:
        """By how much coordinates change a second; velocities count as constant."""
        at, s = self.node_layout, ca.SX.sym("s")
        moved = self.symbolic.move(node[at.pose], s * node[at.velocity])
        rate = ca.substitute(ca.jacobian(moved, s), s, 0.0)
        return ca.vertcat(rate, ca.SX.zeros(self.tree.nv))

    def twist(self, node: ca.SX, q: Quantities) -> ca.SX:
        """(6,) of the tool, from the rate of its pose."""
        return twist_of(self.bodies(node, q)[self.tool], node, self.configuration_rate(node, q))

    @cached_property
    def angular(self) -> np.ndarray:
        arrays, turning = self.tree.arrays, np.zeros(self.tree.nv, bool)
        for kind, at in zip(arrays.kind, arrays.v_at, strict=True):
            turning[at : at + 3] |= kind in (BALL, FREE)
            turning[at] |= kind == REVOLUTE
        return turning

    @property
    def reported(self) -> tuple[np.ndarray, np.ndarray]:
        """Bodies whose joints' coordinates, and velocities whose torques, are reported one by one."""
        turning = np.flatnonzero(self.tree.arrays.kind != FREE)
        return _spread(turning), _spread(np.arange(self.tree.nv))

    @property
    def quaternions(self) -> tuple[slice, ...]:
        """Where in its node there are any."""
        kinds, at = self.tree.arrays.kind, self.tree.arrays.q_at
        return tuple(slice(at[i], at[i] + 4) for i in np.flatnonzero((kinds == BALL) | (kinds == FREE)))

    @property
    def wrench_size(self) -> int:
        return self.tree.nv

    @property
    def free(self) -> bool:
        """Whether its first body moves freely in space, not held by the world."""
        return int(self.tree.arrays.kind[0]) == FREE

    @property
    def meets(self) -> bool:
        """Whether plans of it find contacts."""
        return bool(self.feet or self.pushes)

    @property
    def walks(self) -> bool:
        """Whether plans lead it about space on its feet: it floats, has motors, three feet or more, and no loops."""
        return self.free and len(self.feet) > 2 and bool(self.controls) and self.form is Form.TREE

    @cached_property
    def pushing(self) -> Pushing:
        """The balls and boxes of its pairs."""
        return pushing_of(self.tree, self.pushes, self.touching() if self.pushes else ())

    @property
    def environment(self) -> str:
        return self.form.ground if self.meets else super().environment

    @property
    def support(self) -> Support:
        return Support.NOTHING if self.free else Support.STAND

    def poses(self, nodes: np.ndarray) -> np.ndarray:
        """(..., nq) the coordinates themselves."""
        return nodes[..., self.node_layout.pose]

    def state(self, q: Given = (), v: Given = ()) -> State:  # type: ignore[override]
        """State from coordinates and velocities, all of them or some by the names of the joints. Raises InputError."""
        start = self.tree.state(q if np.size(q) else {}, v if np.size(v) else {})  # type: ignore[arg-type]
        return self.state_at_node(np.concatenate([start.q, start.v]))

    def state_of(
        self, pose: ArrayLike, velocity: ArrayLike, shape: ArrayLike = (), shape_velocity: ArrayLike = ()
    ) -> State:
        """From all coordinates and all velocities."""
        return self.state(pose, velocity)

    def state_at_node(self, node: np.ndarray) -> "JointState":
        return JointState(node.copy(), self.node_layout, None)

    def state_in_space(self, T_wb: np.ndarray, twist_b: np.ndarray) -> State:
        """A free one with its first body there, turned as by itself; one that is held starts as by itself."""
        state = self.default_state()
        if self.free:
            at, joint = self.node_layout, self.tree.arrays.placement[0]
            R = joint[:9].reshape(3, 3)
            own = R @ np.reshape(quaternion_matrix.py_func(*state.node[:4]), (3, 3))
            state.node[:4] = quaternion_of(R.T @ T_wb[:3, :3] @ own)
            state.node[4:7] = R.T @ (T_wb[:3, 3] - joint[9:])
            state.node[at.velocity.start : at.velocity.start + 6] = twist_b
        return state

    def raised(self, node: np.ndarray, by_m: float) -> np.ndarray:
        """The node that much higher, in place; what is held stays."""
        if self.free:
            node[4:7] += self.tree.arrays.placement[0, :9].reshape(3, 3).T @ (0.0, 0.0, by_m)
        return node


class JointState(State):
    """Of a tree of joints."""

    @property
    def q(self) -> np.ndarray:
        """(nq,) coordinates of the joints."""
        return self.pose

    @property
    def v(self) -> np.ndarray:
        """(nv,) velocities of the joints."""
        return self.velocity


@lru_cache(maxsize=16)
def vehicle_of(tree: Tree) -> ArticulatedVehicle:
    """A declared tree as a vehicle, whose controls are the torques and forces of all its joints and driven tendons."""
    names = usable(tree.effort_names)
    torques = tuple(
        Control(name, "", -np.inf, np.inf, f"At {joint}.")
        for name, joint in zip(names, tree.effort_names, strict=True)
    )

    class Declared(ArticulatedVehicle):
        """By its arrays."""

        name = "tree"
        controls = torques

        def declare(self, q: SimpleNamespace) -> Tree:
            return tree

    Declared.torques = tree.effort_names
    return Declared()


class ClosedVehicle(ArticulatedVehicle):
    """A tree whose loops are closed. Its states are brought to where they are, by less than `loops.OPEN_MAX_M`."""

    form = Form.CLOSED_TREE

    def close(self, q: SimpleNamespace) -> tuple[Loop | Gear, ...]:
        """Its loops and gears, as many with any values of the parameters q."""
        raise TypeError(f"vehicle {self.name!r} declares no close(q)")

    def loops_with(self, p: np.ndarray) -> tuple[Loop | Gear, ...]:
        """With the parameters (parameter_count,)."""
        return self.close(self.quantities(p))

    @cached_property
    def closure(self) -> Closure:
        """Of the loops with the parameters it has. Not shared between threads."""
        return Closure(self.tree, self.loops_with(self.parameter_vector))

    @cached_property
    def independent_gaps(self) -> np.ndarray:
        """Numbers of the loops' gaps that no others imply, where the vehicle begins by itself."""
        return self.closure.independent(self.default_state().node[self.node_layout.pose])

    @cached_property
    def leading(self) -> np.ndarray:
        """Places in v of joints that say how the others stand: those driven, as far as they are independent."""
        slopes = self.closure.slopes(self.default_state().node[self.node_layout.pose])[0][
            self.independent_gaps
        ]
        driven = self.driven[self.driven < self.tree.nv]
        led = [self.tree.velocity_names.index(name) for name in self.led_by_others]
        others = np.setdiff1d(np.arange(self.tree.nv), [*driven, *led])
        return np.setdiff1d(np.arange(self.tree.nv), dependent(slopes, [*led, *others, *driven]))

    def closed_state(self, wanted: Mapping[str, float]) -> State:
        """At rest with leading joints, by the names of their coordinates, where wanted, others as by itself, and
        loops closed. Raises InputError for another name, or where the loops cannot be closed."""
        names = self.tree.coordinate_names
        q = self.default_state().node[self.node_layout.pose].copy()
        places = q[self.leading_places]
        known = {names[i]: k for k, i in enumerate(self.leading_places)}
        for name, value in wanted.items():
            if name not in known:
                raise InputError(
                    f"{quote(name)} follows other joints of {self.name}; allowed: {one_of(known, name)}"
                )
            places[known[name]] = value
        return self.state(self.led_to(q, places), np.zeros(self.tree.nv))

    def closed_node(self, node: np.ndarray) -> np.ndarray:
        """A node near this one at which the loops are closed and velocities keep them so."""
        at = self.node_layout
        q = self.closure.brought(node[at.pose])
        return np.concatenate([q, self.closure.tangent(q, node[at.velocity])])

    def following(self, q: np.ndarray) -> np.ndarray:
        """(nv, leading) velocities of all joints by those of the leading ones, at q, with the loops kept closed."""
        slopes = self.closure.slopes(q)[0]
        others = np.setdiff1d(np.arange(self.tree.nv), self.leading)
        found = np.zeros((self.tree.nv, len(self.leading)))
        found[self.leading] = np.eye(len(self.leading))
        found[others] = -np.linalg.lstsq(slopes[:, others], slopes[:, self.leading], rcond=1e-9)[0]
        return found

    def led_to(self, q: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """Coordinates (nq,) with the leading joints at `wanted` (leading,), reached from q with the loops closed."""
        return self.closure.led(q, self.leading, wanted - q[self.leading_places])

    @cached_property
    def leading_places(self) -> np.ndarray:
        """Places in q of the leading joints."""
        return self.tree.arrays.q_at[[self._joint_of(int(i)) for i in self.leading]]

    def _joint_of(self, place: int) -> int:
        return int(np.flatnonzero(self.tree.arrays.v_at == place)[0])


def _spread(indices: np.ndarray) -> np.ndarray:
    """At most MOST_TOLD of them, the first and the last among these."""
    few = np.linspace(0, len(indices) - 1, min(len(indices), MOST_TOLD))
    return np.ascontiguousarray(indices[np.round(few).astype(np.int64)])


@layout_of.register
def _(vehicle: ArticulatedVehicle) -> ObservationLayout:
    tree = vehicle.tree
    joints, torques = vehicle.reported
    lines = vehicle.plumb_lines(vehicle.quantities(vehicle.parameter_vector))
    sizes = {"angle": len(joints), "torque": len(torques), "largest_angle": 1, "largest_torque": 1}
    sizes |= dict.fromkeys(lines, 1)
    bodies, at = {}, 19
    for name in tree.names:
        bodies[name], at = slice(at, at + 12), at + 12
    observables = {}
    for name, size in sizes.items():
        observables[name], at = slice(at, at + size), at + size
    return ObservationLayout(
        momentum=slice(1, 7),
        control_wrench=slice(7, 13),
        twist=slice(13, 19),
        bodies=bodies,
        observables=observables,
        units={**UNITS, **dict.fromkeys(lines, "rad")},
        rates={},
        directions=frozenset(),
        of_step=frozenset(),
        size=at,
    )
