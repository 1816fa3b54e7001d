"""Systems on a homogeneous space: they say which element of the algebra moves them (mechanics survey).

All of such a system may follow a leader, a part of its state that the controls accelerate (`Leader`).
"""

from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from sim.platform.values import dataclass
from sim.spaces import Action, Space
from sim.vehicles.forms.base import Structure, Vehicle, twist_of
from sim.vehicles.forms.form import Form, NodeLayout, State, Support
from sim.vehicles.forms.parameters import Quantities


class ActionVehicle(Vehicle):
    """Subclasses declare `action` and `generator`; y' is the motion of y that the generator's element makes.

    The state is a point of the action's space, velocities included. All methods take and return CasADi SX.
    """

    form = Form.GROUP_ACTION
    twist_embedding = np.zeros((6, 0))
    action: Action
    copies: int = 0
    """Where the action is that of so many equal copies, `generator` may be handed stacks (`sim.symbolic`) in place of
    columns, its point and the parameters that there is one of for each copy, and gives a stack back; 0: it may not."""

    leader: str = ""
    """A part of the space, a place and its velocity in the world, that the controls accelerate and all else follows by
    a law of the vehicle's own; empty: there is none."""

    def generator(self, point: Any, u: ca.SX, q: Quantities) -> Any:
        """f: M -> g, (dim of the acting group,)."""
        raise TypeError(f"vehicle {self.name!r} declares no generator(point, u, q)")

    @property
    def space(self) -> Space:
        return self.action.space

    @cached_property
    def node_layout(self) -> NodeLayout:
        """The whole state is configuration; what stands where in it is told by `space`."""
        size = self.space.size
        none = slice(size, size)
        return NodeLayout(slice(0, size), none, none, none, none, size)

    def named(self, node: ca.SX) -> dict[str, ca.SX]:
        """The parts of a point by their names."""
        return {name: node[at] for name, at in self.space.slices.items()}

    def configuration_rate(self, node: ca.SX, q: Quantities) -> ca.SX:
        """With neutral controls, which no body's velocity depends on."""
        return self.action.generator(node, self.generator(node, ca.SX(self.neutral_controls), q))

    def twist(self, node: ca.SX, q: Quantities) -> ca.SX:
        """(6,) of the main body, from the rate of its pose."""
        T = next(iter(self.bodies(node, q).values()))
        return twist_of(T, node, self.configuration_rate(node, q))

    def control_wrench(self, u: ca.SX, q: Quantities) -> ca.SX:
        """Of the momentum's size; nothing that is shown unless the vehicle says so."""
        return ca.SX(self.twist_embedding.shape[1], 1)

    @property
    def angular(self) -> np.ndarray:
        """Its node has no velocity of its own: energy and finite numbers are what a motion is judged by."""
        return np.zeros(0, bool)

    @property
    def wrench_size(self) -> int:
        """Nothing from outside acts on it within a step but through its controls."""
        return 0

    @property
    def impulse_size(self) -> int:
        return len(self.space.velocities)

    def conjugate_velocities(self, node: ca.SX, q: Quantities) -> ca.SX:
        """Those of the node."""
        return node[list(self.space.velocities)]

    @property
    def support(self) -> Support:
        return Support.STAND

    def bodies(self, node: ca.SX, q: Quantities) -> Mapping[str, ca.SX]:
        """Nothing is seen of it unless it says what."""
        return {"body": ca.SX.eye(4)}

    @property
    def touching(self) -> tuple[tuple[str, tuple[float, float, float], float], ...]:
        """Balls that touch the ground beside the points that its config has for the main body: body, centre in its
        frame, radius [m]. By default the ends of the other bodies' links."""
        main = next(
            iter(self.bodies(ca.SX(self.default_state().node), self.symbols(ca.SX(self.parameter_vector))))
        )
        return tuple(
            (link.body, end, link.radius_m)
            for link in self.links
            for end, touches in zip((link.begin_b, link.end_b), link.touches, strict=True)
            if touches and link.body != main
        )

    def poses(self, nodes: np.ndarray) -> np.ndarray:
        """(..., size) the points themselves."""
        return nodes

    def point(self, **parts: ArrayLike) -> State:
        """State from parts by name; those that are missing are the origin's. Raises InputError for wrong shapes."""
        node = self.space.origin()
        for name, value in parts.items():
            at = self.space.slices[name]
            node[at] = self._finite(name, value, (at.stop - at.start,))
        return self.state_at_node(node)

    def state_at_node(self, node: np.ndarray) -> State:
        return State(node.copy(), self.node_layout, None)

    def default_state(self) -> State:
        return self.point()

    def raised(self, node: np.ndarray, by_m: float) -> np.ndarray:
        """It starts as by itself, and stays there."""
        return node

    def state_in_space(self, T_wb: np.ndarray, twist_b: np.ndarray) -> State:
        """It has a place of its own: wherever it is put, it starts as by itself."""
        return self.default_state()


def has_leader(vehicle: Vehicle) -> bool:
    """All of it follows a part of its state that the controls accelerate."""
    return isinstance(vehicle, ActionVehicle) and bool(vehicle.leader)


@dataclass(frozen=True, eq=False)
class Leader:
    """Of a vehicle with its parameters, which has one."""

    place: slice
    """In a flat node [m], in the world."""
    velocity: slice
    _rate: ca.Function
    _parameters: np.ndarray
    _neutral: np.ndarray

    @staticmethod
    @lru_cache(maxsize=64)
    def of(vehicle: Vehicle) -> "Leader":
        at = _part(vehicle)
        middle = at.start + (at.stop - at.start) // 2
        rate = _rate(Structure.of(vehicle))
        return Leader(
            slice(at.start, middle),
            slice(middle, at.stop),
            rate,
            vehicle.parameter_vector,
            vehicle.neutral_controls,
        )

    def controls(self, node: np.ndarray, acceleration_w: np.ndarray) -> np.ndarray:
        """(n_controls,) under which the leader of a flat node has that acceleration (3,), whatever their ranges."""
        without, slope = (np.array(part) for part in self._rate(node, self._neutral, self._parameters))
        return self._neutral + np.linalg.lstsq(slope, acceleration_w - without.ravel(), rcond=1e-9)[0]

    def acceleration(self, node: np.ndarray, controls: np.ndarray) -> np.ndarray:
        """(3,) of the leader of a flat node under controls (n_controls,), in the world."""
        without, slope = (np.array(part) for part in self._rate(node, self._neutral, self._parameters))
        found: np.ndarray = without.ravel() + slope @ (controls - self._neutral)
        return found

    def put(self, node: np.ndarray, place_w: np.ndarray, velocity_w: np.ndarray) -> np.ndarray:
        """A flat node with the leader there, all else as in `node`."""
        there = node.copy()
        there[self.place], there[self.velocity] = place_w, velocity_w
        return there


def _part(vehicle: Vehicle) -> slice:
    """Place and velocity of the leader in a node."""
    assert isinstance(vehicle, ActionVehicle)
    return vehicle.space.slices[vehicle.leader]


@lru_cache(maxsize=16)
def _rate(structure: Structure) -> ca.Function:
    """(node, controls, parameters) -> rate of change of the leader's velocity, and by the controls."""
    vehicle = structure.vehicle
    assert isinstance(vehicle, ActionVehicle)
    at = _part(vehicle)
    x, u = ca.SX.sym("x", vehicle.node_layout.size), ca.SX.sym("u", len(vehicle.controls))
    p = ca.SX.sym("p", vehicle.parameter_count)
    rate = vehicle.action.generator(x, vehicle.generator(x, u, vehicle.symbols(p)))
    found = rate[list(range(at.start, at.stop))[-3:]]
    return ca.Function("rate", [x, u, p], [found, ca.densify(ca.jacobian(found, u))], {"cse": True})
