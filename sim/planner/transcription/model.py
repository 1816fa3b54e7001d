"""What all nodes of a problem share: the integrator's step, the symbols of the parameters, the scales."""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

import casadi as ca
import numpy as np

from sim.compiler.printer import silenced
from sim.integrators.base import Scheme
from sim.multibody.observing import mass_matrix
from sim.multibody.symbolic import SymbolicTree
from sim.planner.task.bodies import (
    body_pose,
    columns,
    jointed,
    named_poses,
    own_space,
    placed_by_bodies,
    rotations,
    turns,
    velocities,
)
from sim.planner.task.inputs import InputMap, input_map_of
from sim.planner.task.motions import CHANNELS, PIECES, pose_of_channels
from sim.planner.task.numbers import place_of
from sim.planner.task.task import WEIGHT_NAMES, control_limits
from sim.planner.transcription.shape import ProblemShape, Scales
from sim.planner.transcription.state_form import (
    OpenEnds,
    Slots,
    StateForm,
    by_velocities,
    open_ends,
    state_form,
)
from sim.shapes import KINDS
from sim.vehicles.forms.articulated import ArticulatedVehicle, ClosedVehicle
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.holonomic import HolonomicVehicle
from sim.vehicles.forms.parameters import Quantities

BODY_NUMBERS = 4
GROUND_JET, MOTION_JET = 6, 4 * CHANNELS
"""Numbers of the ground under a node, and of a motion at its time."""
_ELIMINATED = 18
"""Up to so many unknowns of a step are eliminated; more, as of a collocation in space, are left to the solver."""


class StepExpressions(NamedTuple):
    """An integrator's step at planned inputs."""

    residual: ca.SX
    following: ca.SX
    """The private state at the end."""
    node: ca.SX
    start: ca.SX
    guess: ca.SX
    """Of the unknowns."""
    parts: ca.SX
    """Of which the scheme says which two of them do not go together."""


class NodeModel:
    """The integrator's scheme with the pieces of state, controls and parameters around it."""

    def __init__(self, shape: ProblemShape) -> None:
        assert shape.scales is not None
        self.shape, self.vehicle = shape, shape.vehicle
        self.scales: Scales = shape.scales
        self.input_map: InputMap = input_map_of(shape.vehicle)
        self.scheme: Scheme = shape.integrator.scheme(self.input_map.planned_vehicle)
        self.mass = None if self.scheme.touches else _usual_mass(shape.vehicle)
        """(nv, nv) of a tree in its usual place, by whose inverse its impulses are measured; None through contact."""
        if self.mass is not None:
            self.scheme = by_velocities(self.scheme, self.mass)
        i = self.scheme.inputs
        residual, following = self._bare(self.scheme.residual), self._bare(self.scheme.y_next)
        parts = self._bare(self.scheme.parts)
        outputs = [residual, following, self.scheme.node, self.scheme.start, self.scheme.guess, parts]
        free = [self.scheme.y, self.scheme.z, i.u, i.w, i.p, i.h, i.node]
        self.step = ca.Function("step", free, outputs, {"cse": True})
        self.unknowns: int = self.scheme.z.shape[0]
        self.driven = self._driven()
        """Rows of the residual that one input each solves, in the inputs' order; then these are functions of the state
        and the unknowns, not variables: torques that a motion of joints takes. Empty: they are variables."""
        self.eliminates = 0 < self.unknowns <= _ELIMINATED and not jointed(self.vehicle)
        """The unknowns are functions of the state and the inputs that solve the residual, not variables."""
        self.ends_with_controls = any(
            ca.which_depends(self.scheme.node, ca.vertcat(i.u, self.scheme.z), 1, False)
        )
        """The node velocity depends on the inputs at the node, so the last node has inputs too."""
        self.parameters = Slots(self._parameter_sizes())
        self.p = ca.SX.sym("P", self.parameters.size)
        self.given = self.parameters.split(self.p)
        self.node_parameters = Slots(
            {
                "quadrature": 1,
                "margin": 1,
                "waypoint": 4 if shape.waypoints else 0,
                "trapezoid": int(shape.own is not None and shape.own.rate is not None),
                "share": int(bool(shape.motions) or (shape.own is not None and shape.own.timed)),
                "reference": len(shape.reference),
            }
        )
        self.s = ca.SX.sym("S", self.node_parameters.size)
        self.here = self.node_parameters.split(self.s)
        self.jet = ca.SX.sym("jet", GROUND_JET + MOTION_JET * shape.motions)
        """Height of the safe ground, its gradient and second derivatives (xx, xy, yy) at `jet_at`; then the channels of
        each motion and their three derivatives at `time_at`."""
        self.jet_at, self.time_at = ca.SX.sym("at", 2), ca.SX.sym("when")
        self.time = ca.SX.sym("time")
        """Of a node; stands for `time_of`."""
        self.form: StateForm = state_form(self.scheme, rotations(self.vehicle))
        self.state = Slots(
            {
                "y": self.form.kept.size,
                "previous": self.input_map.size if shape.remembers_inputs else 0,
                "h": int(shape.free_time),
                "free": len(shape.free_parameters),
                "begin": 0,
            }
        )
        self.ends: OpenEnds = open_ends(
            shape, self.scheme, self.form, self.component, self.state.sizes["previous"]
        )
        self.state.sizes["begin"] = len(self.ends.periodic)
        self.controls = Slots({"a": self._free_inputs, "z": self._free_unknowns, "slack": int(shape.elastic)})
        self.y_scale = self._y_scale()

    def _parameter_sizes(self) -> dict[str, int]:
        node = self.vehicle.node_layout.size
        sizes = {
            "vehicle": self.vehicle.parameter_count,
            "numbers": len(self.shape.numbers) + len(self.shape.reference),
            "duration": 1,
            "steps": 1,
            "duration_range": 2 if self.shape.free_time else 0,
            "weights": len(WEIGHT_NAMES),
            "effort": self.input_map.size,
            "start": node,
            "goal": node,
            "motions": self.shape.motions * (PIECES + 3) * CHANNELS,
            "motion_spacing": int(self.shape.motions > 0),
            "pivots": 3 * self.shape.motions,
            "body": BODY_NUMBERS * self.shape.body_count,
            "apart": len(self.shape.pairs),
            "heights": len(self.shape.low_balls),
            "tolerance": 3,
            "safety_range": 1,
            "clearance": 1,
            "price": 1,
            "relaxed": int(bool(self.scheme.touches)),
        }
        for kind, count in self.shape.obstacles.items():
            sizes[kind] = count * KINDS[kind].size
        return sizes

    def last_controls(self, missed: int) -> Slots:
        """Pieces of the last node's controls; `missed` slacks for what of the goal is not met."""
        a, z = (self._free_inputs, self._free_unknowns) if self.ends_with_controls else (0, 0)
        closing = self.closing_count if self.rests else 0
        return Slots({"a": a, "z": z, "slack": int(self.shape.elastic), "closing": closing, "missed": missed})

    @property
    def rests(self) -> bool:
        """The goal asks for all velocities of a tree."""
        parts = self.shape.demands[5]
        return parts is None or "velocity" in parts  # type: ignore[operator]

    def _driven(self) -> list[int]:
        i = self.scheme.inputs
        if not jointed(self.vehicle):
            return []
        by_input = ca.jacobian(self.scheme.residual, i.u)
        rows, inputs = (np.array(x, int) for x in by_input.sparsity().get_triplet())
        alone = len(rows) == len(set(rows)) == len(set(inputs)) == self.input_map.size
        linear = not any(ca.which_depends(by_input, ca.vertcat(i.u, self.scheme.y, self.scheme.z), 1, True))
        return rows[np.argsort(inputs)].tolist() if alone and linear else []

    @property
    def underactuated(self) -> bool:
        """A tree's step is an equation along the whole motion in which no input is alone in a row: fatrop, to which
        what nothing drives is no rank, does not get on there."""
        return self.mass is not None and not self.driven and not self.scheme.touches

    def inverse(self, y: ca.SX, z: ca.SX, h: ca.SX) -> ca.SX:
        """(planned inputs,) under which a step goes with the unknowns z, where each solves a row of the residual."""
        i, size = self.scheme.inputs, self.input_map.size
        without = self.evaluate(y, z, ca.SX.zeros(size), h).residual[self.driven]
        slopes = ca.jacobian(self.scheme.residual, i.u)
        each = ca.vertcat(*(slopes[row, k] for k, row in enumerate(self.driven)))
        return -without / ca.substitute(each, i.h, h)

    @property
    def _free_inputs(self) -> int:
        return 0 if self.driven else self.input_map.size

    @property
    def _free_unknowns(self) -> int:
        return 0 if self.eliminates else self.unknowns

    def _bare(self, expressions: ca.SX) -> ca.SX:
        """Without the unknowns that only seem to matter."""
        i = self.scheme.inputs
        others = [self.scheme.y, i.u, i.w, i.p, i.h]
        return silenced(expressions, self.scheme.z, others)[0] if self.scheme.z.shape[0] else expressions

    def evaluate(self, y: ca.SX, z: ca.SX, a: ca.SX, h: ca.SX) -> StepExpressions:
        """The scheme at planned inputs a."""
        still = ca.SX.zeros(self.scheme.inputs.w.shape[0])
        return StepExpressions(*self.step(y, z, a, still, self.given["vehicle"], h, self.given["start"]))

    def symbols(self, v: ca.SX) -> list[ca.SX]:
        """All that expressions of a node with variables v are made of."""
        return [v, self.p, self.s, self.jet, self.jet_at, self.time, self.time_at]

    def duration_of_step(self, x: dict[str, ca.SX]) -> ca.SX:
        """h of a node with the state pieces x."""
        return x["h"] if self.shape.free_time else self.given["duration"] / self.given["steps"]

    # What moves by itself.

    def time_of(self, h: ca.SX) -> ca.SX:
        """Seconds since the start, of a node of steps of h."""
        return self.here["share"] * h * self.given["steps"] if self.here["share"].shape[0] else ca.SX(0)

    def node_time(self, v: ca.SX) -> ca.SX:
        """The same of a node with scaled variables v."""
        return self.time_of(self.duration_of_step({"h": v[self.state.slice("h")] * self.scales.step_s}))

    def carrier(self, k: int) -> ca.SX:
        """(4, 4) that the motion k takes places by, at `time`: exact at `time_at` with three derivatives."""
        begin, d = GROUND_JET + MOTION_JET * k, self.time - self.time_at
        jets = ca.reshape(self.jet[begin : begin + MOTION_JET], CHANNELS, 4)
        channels = jets[:, 0] + d * (jets[:, 1] + d / 2 * (jets[:, 2] + d / 3 * jets[:, 3]))
        return pose_of_channels(channels, self.given["pivots"][3 * k : 3 * k + 3])

    # What is found with the motion: parameters and numbers of the task, which are states that stay as they are.

    @cached_property
    def free_places(self) -> list[int]:
        """Where in the parameters those stand that are variables."""
        of_vehicle, own = self.parameters.slice("vehicle").start, self.parameters.slice("numbers").start
        return [
            own + self.shape.numbers.index(name)
            if name in self.shape.numbers
            else of_vehicle + place_of(self.vehicle, name)
            for name, _, _ in self.shape.free_parameters
        ]

    @property
    def free_scale(self) -> np.ndarray:
        """(free parameters,)."""
        bounds = np.array([[low, high] for _, low, high in self.shape.free_parameters], float).reshape(-1, 2)
        return np.abs(bounds).max(axis=1)

    def freed(self, expressions: Sequence[ca.SX], x: dict[str, ca.SX]) -> list[ca.SX]:
        """With the variables of the node's state pieces x in place of the parameters that are found and of `time`."""
        found = list(expressions)
        if self.shape.motions:
            found = ca.substitute(found, [self.time], [self.time_of(self.duration_of_step(x))])
        if not self.free_places:
            return found
        return list(ca.substitute(found, [self.p[self.free_places]], [x["free"]]))

    def own_value(self, function: ca.Function, node: ca.SX, a: ca.SX, h: ca.SX) -> ca.SX:
        """A function of the user's own, at a node."""
        time = self.time_of(h)
        controls = self.input_map.expressions(a)
        numbers = self.given["vehicle"], self.given["numbers"]
        return function(node, controls, time, *numbers, self.here["reference"])

    @property
    def met_columns(self) -> frozenset[int]:
        """Numbers of a node that the goal says exactly."""
        return self.shape.met_columns

    def column_scale(self) -> np.ndarray:
        """(node size,) typical magnitudes, by the units that the names of the columns end in."""
        return np.array([_scale_of(name, self.scales) for name in columns(self.vehicle)])

    @cached_property
    def tree(self) -> SymbolicTree:
        """Of a tree, its recursions with the parameters that the problem is given."""
        assert isinstance(self.vehicle, ArticulatedVehicle)
        return self.vehicle.symbolic_with(self.given["vehicle"])[0]

    # What the numbers of the private state are.

    @property
    def turns(self) -> int:
        """How many components of a body velocity are angular."""
        return turns(self.vehicle)

    @property
    def own_space(self) -> bool:
        """The vehicle moves about a space of its own."""
        return own_space(self.vehicle)

    @property
    def placed_by_bodies(self) -> bool:
        """Where the vehicle is, its bodies say."""
        return placed_by_bodies(self.vehicle)

    def quantities(self) -> Quantities:
        """The vehicle's parameters, as the problem is given them."""
        return self.vehicle.symbols(self.given["vehicle"])

    def pose_wb(self, node: ca.SX) -> ca.SX:
        """(4, 4) of the main body."""
        return body_pose(self.vehicle, node, self.quantities())

    def poses_wb(self, node: ca.SX, bodies: Iterable[str]) -> dict[str, ca.SX]:
        """The same of several."""
        return named_poses(self.vehicle, node, self.quantities(), bodies)

    def twist(self, node: ca.SX) -> ca.SX:
        """(6,) of the main body, angular then linear, in its frame; of what moves about a space of its own."""
        x = ca.SX.sym("node", node.shape[0])
        return ca.substitute(self.vehicle.twist(x, self.quantities()), x, node)

    def place(self, node: ca.SX) -> ca.SX:
        """(2,) or (3,) of the main body [m]."""
        if self.placed_by_bodies:
            return self.pose_wb(node)[:3, 3]
        return node[list(self.position_indices)]

    @cached_property
    def position_indices(self) -> Sequence[int]:
        """Of the main body's position in a flat node; none where it is no part of it."""
        if not self.placed_by_bodies:
            return range(*self.vehicle.group.position.indices(self.vehicle.group.pose_dim))
        found = [self._node_index(lambda T, i=i: T[i, 3]) for i in range(3)]  # type: ignore[misc]
        return [] if None in found else found  # type: ignore[return-value]

    def _node_index(self, entry: Callable[[ca.SX], ca.SX]) -> int | None:
        """Which number of a node an entry of the main body's pose is."""
        node = ca.SX.sym("node", self.vehicle.node_layout.size)
        wanted = entry(self.pose_wb(node))
        if not wanted.is_symbolic():
            return None
        return next((i for i in range(node.shape[0]) if ca.is_equal(node[i], wanted)), None)

    @property
    def heading_index(self) -> int:
        """Of the heading in a flat node, on a plane."""
        return self.vehicle.group.columns.index("heading_rad")

    @property
    def up_index(self) -> int | None:
        """Of the cosine of the tilt in a flat node, in space; None where it is no part of it."""
        if self.own_space:
            return self._node_index(lambda T: T[2, 2])
        return self.vehicle.group.columns.index("R_33")

    @cached_property
    def place_indices(self) -> list[int]:
        """Components of the state that are the position in the world."""
        found = [self.component(i) for i in self.position_indices]
        return [i for i in found if i is not None]

    @cached_property
    def held_inputs(self) -> dict[int, float]:
        """Planned inputs that the task's limits leave one number, as where an actuator is switched off."""
        return {} if self.driven else self.input_map.held(control_limits(self.vehicle, self.shape.limits))

    def acting(self, a: ca.SX) -> ca.SX:
        """Inputs as they act: the variables of those that are held act on nothing."""
        return ca.vertcat(*(self.held_inputs.get(i, a[i]) for i in range(a.shape[0])))

    def component(self, node_index: int) -> int | None:
        """Which entry of the state a node's component is; None where it is no plain entry."""
        scalar, y = self.scheme.node[node_index], self.scheme.y
        if not scalar.is_symbolic():
            return None
        wanted = scalar.element_hash()
        return next((k for k, i in enumerate(self.form.kept) if y[int(i)].element_hash() == wanted), None)

    @property
    def unknown_is_velocity(self) -> bool:
        """The unknowns are the body velocity of the arc."""
        if jointed(self.vehicle):
            return True
        return isinstance(self.vehicle, HolonomicVehicle) and self.scheme.z.shape[0] == self.vehicle.group.dim

    @property
    def velocity_is_state(self) -> bool:
        """The velocities are part of the private state."""
        return all(self.component(i) is not None for i, _ in velocities(self.vehicle))

    def held_over_ground(self, node: ca.SX) -> ca.SX:
        """(3,) what is to stay above the safe ground, in the world."""
        assert self.shape.ground is not None
        T_wb = self.pose_wb(node)
        return T_wb[:3, :3] @ ca.SX(self.shape.ground.held_b) + T_wb[:3, 3]

    # Scales.

    def _y_scale(self) -> np.ndarray:
        """Of the state: positions, shapes, momenta (or velocities where y holds those) by magnitude, the rest one."""
        size, s = self.form.kept.size, self.scales
        scale = np.ones(size)
        shape = self.vehicle.node_layout.shape
        if self.own_space and not jointed(self.vehicle):
            names = columns(self.vehicle)
            return np.array([_scale_of(names[int(i)], s) for i in self.form.kept])
        named = [(i, s.length_m) for i in self.position_indices]
        named += [(shape.start + i, x) for i, x in enumerate(s.shape)]
        for index, magnitude in named:
            found = self.component(index)
            if found is not None:
                scale[found] = magnitude
        velocities = isinstance(self.vehicle, HolonomicVehicle) and self.velocity_is_state
        momenta = size - self.lagging - s.momenta.size
        velocities = velocities or self.mass is not None
        scale[momenta : size - self.lagging] = s.unknowns if velocities else s.momenta
        scale[size - self.lagging :] = s.inputs[: self.lagging]
        return scale

    @property
    def lagging(self) -> int:
        """How many controls act with a lag; what acts of them is last in the private state."""
        return len(self.vehicle.controls) if self.vehicle.lags else 0

    @property
    def z_scale(self) -> np.ndarray:
        """Of the unknowns."""
        count = self.scheme.z.shape[0]
        if self.closed is not None:
            return np.r_[self.scales.unknowns, np.full(count - self.scales.unknowns.size, self.closing_force)]
        if self.scheme.touches:
            forces, weight = self.scheme.contact_forces, 4.0 * self.supporting_force
            slips = count - self.scales.unknowns.size - forces
            return np.r_[self.scales.unknowns, np.full(forces, weight), np.ones(slips)]
        return self.scales.unknowns if self.scales.unknowns.size == count else np.ones(count)

    @property
    def pushes(self) -> bool:
        """Bodies of the vehicle push others that are free."""
        return isinstance(self.vehicle, ArticulatedVehicle) and bool(self.vehicle.pushes)

    @property
    def steps(self) -> bool:
        """It has several feet, and nothing that it pushes."""
        return isinstance(self.vehicle, ArticulatedVehicle) and len(self.vehicle.feet) > 1 and not self.pushes

    @property
    def closing_count(self) -> int:
        """Impulses that may be between the momenta at the end and the velocities that are asked for there: of loops, or
        of contacts, where a goal names its parts."""
        if self.closed is not None:
            return len(self.closed.independent_gaps)
        return self.scheme.contact_forces if self.shape.demands[5] is not None else 0

    @property
    def closed(self) -> ClosedVehicle | None:
        """The vehicle, where it has loops of joints."""
        return self.vehicle if isinstance(self.vehicle, ClosedVehicle) else None

    @property
    def closing_force(self) -> float:
        """Typical magnitude of what keeps loops closed [N]."""
        return self.supporting_force

    @property
    def supporting_force(self) -> float:
        """A quarter of a tree's weight, about [N]."""
        assert isinstance(self.vehicle, ArticulatedVehicle)
        return _rounded(max(float(self.vehicle.tree.arrays.mass.sum()) * 2.5, 0.1))

    @property
    def residual_scale(self) -> np.ndarray:
        """Of the residual, which is a momentum where the unknowns are velocities."""
        count = self.scheme.residual.shape[0]
        if self.closed is not None or self.scheme.touches:
            return np.r_[
                self.scales.momenta, np.full(count - self.scales.momenta.size, self.scales.speed_mps)
            ]
        return self.scales.momenta if self.scales.momenta.size == count else np.ones(count)


def _usual_mass(vehicle: Vehicle) -> np.ndarray | None:
    """Of a tree, where it usually begins."""
    if not isinstance(vehicle, ArticulatedVehicle):
        return None
    return mass_matrix(vehicle.tree.arrays, vehicle.default_state().node[vehicle.node_layout.pose])


def _rounded(x: float) -> float:
    """To a power of two."""
    return float(2.0 ** np.round(np.log2(x)))


def _scale_of(column: str, scales: Scales) -> float:
    """Of a number of a state by the unit that its name ends in."""
    units = {"_mps": scales.speed_mps, "_radps": scales.turn_radps, "_m": scales.length_m}
    return next((scale for end, scale in units.items() if column.endswith(end)), 1.0)
