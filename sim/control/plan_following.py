"""Flying a plan: its inputs as planned, or corrected on the way by time-varying LQR on the group.

Errors live in the tangent space of the planned node. The plan's own integrator is linearised by central differences, so
whatever is simulated is what is regulated. What steadily leads aside, such as wind, is a part of the regulated state
that does not change by itself (disturbance accommodation): the gains answer it for all that is left of the way, and
where the motion is steady no error is left.
"""

import math
import re
from dataclasses import field
from functools import lru_cache
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from sim.contact.trees import TreeGround
from sim.control.pilot import Automatic, Sensed
from sim.controllers import PilotInput
from sim.groups.numeric import rotation_exp, rotation_log, upright
from sim.integrators import Integrator
from sim.platform.errors import number
from sim.platform.values import dataclass
from sim.spaces import Space
from sim.steppers import Stepper
from sim.vehicles import State, Vehicle, checked_state
from sim.vehicles.forms.articulated import ArticulatedVehicle
from sim.vehicles.forms.form import TREES, Form, Support
from sim.world.terrain import Terrain

_EPS, _EPS_TOUCHING = 1e-5, 1e-9
"""Of what a step is linearised by; through contact it stays within what counts as touching."""
_POSITION_M, _ANGLE_RAD, _SPEED_MPS, _TURN_RADPS, _SHAPE = 0.5, 0.15, 1.0, 0.5, 0.2
"""Errors that cost as much as `_INPUT_SHARE` of a control's range."""
_INPUT_SHARE = 0.2
_END, _END_PLACE = 10.0, 100.0
"""How many times more errors cost after the last step, and those of the place."""


@dataclass(frozen=True, eq=False)
class Regulator:
    """Reference nodes and the gains that lead back to them.

    What is regulated is `error` and the drift: what is added to the error in a second besides what the model tells, in
    the errors' order, translations in the world frame, rotations in the body's.
    """

    vehicle: Vehicle
    step_s: float
    nodes: np.ndarray
    """(N+1, node size) as a pilot senses them: velocities with the inputs of the step before."""
    gains: np.ndarray
    """(N, n_controls, 2 n_errors)."""
    predicted: np.ndarray
    """(N, n_errors, n_errors + n_controls) error after a step by error before it and inputs held over it."""
    turned: np.ndarray
    """(N, n_errors, n_errors) drifts, as they are seen from the planned body."""
    controls: np.ndarray
    """(N+1, n_controls) as planned."""
    held: ClassVar[bool] = True
    """Its answers hold for the whole step that begins where it is asked: gains that are as fast as the steps lead away
    by answers for states within them."""

    def __call__(self, t: float, state: State) -> np.ndarray:
        """(n_controls,) at t seconds: the planned ones and what leads the state back; before the start and after the
        end as there. Raises InputError for a time that is none and a state of another vehicle."""
        state = checked_state("state", self.vehicle, state)
        k = min(max(int(number("t", t) / self.step_s + 1e-9), 0), len(self.gains) - 1)
        share = min(max(t / self.step_s - k, 0.0), 1.0)
        way = share * difference(self.vehicle, self.nodes[k], self.nodes[k + 1])
        error = difference(self.vehicle, moved(self.vehicle, self.nodes[k], way), state.node)
        u = self.controls[k] + self.correction(k, error, np.zeros_like(error))
        ranges = np.array([[c.low, c.high] for c in self.vehicle.controls], float)
        return np.clip(u, ranges[:, 0], ranges[:, 1])

    def error(self, k: int, node: np.ndarray) -> np.ndarray:
        """(n_errors,) of a node against the planned one of step k."""
        return difference(self.vehicle, self.nodes[k], node)

    def correction(self, k: int, error: np.ndarray, drift: np.ndarray) -> np.ndarray:
        """(n_controls,) to add to the planned inputs of step k."""
        return -self.gains[k] @ np.concatenate((error, drift))

    def drift(self, k: int, error: np.ndarray, added: np.ndarray, ended: np.ndarray) -> np.ndarray:
        """(n_errors,) that explains how step k led from one error to another, by what was added to the inputs."""
        predicted = self.predicted[k] @ np.concatenate((error, added))
        return self.turned[k].T @ (ended - predicted) / self.step_s


def regulator(
    vehicle: Vehicle, kernel: Stepper, step_s: float, planned: np.ndarray, controls: np.ndarray
) -> Regulator:
    """Gains along the motion with the nodes `planned` (N+1, node size) under `controls` (N+1, n_controls)."""
    p, count, env = vehicle.parameter_vector, len(controls) - 1, met_in_plans(vehicle, kernel)
    planned, controls = np.ascontiguousarray(planned), np.ascontiguousarray(controls)
    nodes = _sensed(vehicle, kernel, step_s, planned, controls, env)
    scale, m = error_scale(vehicle), controls.shape[1]
    n = len(scale)
    errors, drift = slice(0, n), slice(n, 2 * n)
    Q = np.zeros((2 * n, 2 * n))
    Q[errors, errors] = np.diag(1.0 / scale**2)
    R = np.diag(1.0 / (_INPUT_SHARE * control_ranges(vehicle, controls)) ** 2)
    A, B, S = np.zeros_like(Q), np.zeros((len(Q), m)), _END * Q
    place = _translation(vehicle)
    S[place, place] *= _END_PLACE / _END
    A[drift, drift] = np.eye(n)
    gains, predicted = np.zeros((count, m, len(Q))), np.zeros((count, n, n + m))
    turned = np.array([_turned(vehicle, node, n) for node in nodes[:-1]])
    for k in reversed(range(count)):
        predicted[k] = linearised(vehicle, kernel, p, step_s, nodes[k], controls[k], env)
        A[errors, errors], B[errors] = predicted[k, :, :n], predicted[k, :, n:]
        A[errors, drift] = step_s * turned[k]
        gains[k] = np.linalg.solve(R + B.T @ S @ B, B.T @ S @ A)
        S = Q + A.T @ S @ (A - B @ gains[k])
        S = 0.5 * (S + S.T)
    return Regulator(vehicle, step_s, nodes, gains, predicted, turned, controls)


def _translation(vehicle: Vehicle) -> slice:
    """Of a pose's tangent vector."""
    if _acted(vehicle):
        return slice(0, 0)
    group = vehicle.group
    return slice(group.turns, group.dim)


def _turned(vehicle: Vehicle, node: np.ndarray, n: int) -> np.ndarray:
    """(n, n) from the world to the body for the translations among the errors, as they are for all others."""
    out = np.eye(n)
    of_pose = _translation(vehicle)
    if of_pose.start == of_pose.stop:
        return out
    dim = vehicle.group.dim
    R, _ = _frame(vehicle, node)
    of_velocity = slice(of_pose.start + dim, of_pose.stop + dim)
    out[of_pose, of_pose] = out[of_velocity, of_velocity] = R.T
    return out


def _acted(vehicle: Vehicle) -> bool:
    """It moves about a space of its own."""
    return vehicle.form is Form.GROUP_ACTION or vehicle.form in TREES


@lru_cache(maxsize=16)
def _differences(space: Space) -> ca.Function:
    a, b = ca.SX.sym("a", space.size), ca.SX.sym("b", space.size)
    return ca.Function("difference", [a, b], [ca.densify(space.difference(a, b))], {"cse": True})


@lru_cache(maxsize=16)
def _displacements(space: Space) -> ca.Function:
    a, d = ca.SX.sym("a", space.size), ca.SX.sym("d", space.dim)
    return ca.Function("displaced", [a, d], [ca.densify(space.displaced(a, d))], {"cse": True})


def _scale_in_space(vehicle: Vehicle) -> np.ndarray:
    """(dim,) of the space's displacements, by what they do to the numbers of a point: by the units of those."""
    space, out = vehicle.space, []
    node = space.origin()
    for i in range(space.dim):
        d = np.zeros(space.dim)
        d[i] = _EPS
        moved = np.abs(np.array(_displacements(space)(node, d)).ravel() - node)
        name = re.sub(r"_\d+$", "", space.columns[int(moved.argmax())])
        units = {"_radps": _TURN_RADPS, "_rate": _TURN_RADPS, "_mps": _SPEED_MPS, "_m": _POSITION_M}
        out.append(next((size for end, size in units.items() if name.endswith(end)), _ANGLE_RAD))
    return np.array(out)


def _frame(vehicle: Vehicle, node: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(R_wb, x_w) of a node, in the plane or in space; of what turns about a fixed point, no place."""
    T = vehicle.poses(node)
    if vehicle.group.dim == vehicle.group.turns:
        return T, np.zeros(0)
    return T[:-1, :-1], T[:-1, -1]


def difference(vehicle: Vehicle, reference: np.ndarray, node: np.ndarray) -> np.ndarray:
    """Error of a node against another: pose as a body-frame turn and way, then velocity and shape as they are; of what
    moves about a space of its own the space's displacement."""
    if _acted(vehicle):
        return np.array(_differences(vehicle.space)(reference, node)).ravel()
    (R, x), (Q, y) = _frame(vehicle, reference), _frame(vehicle, node)
    turned = R.T @ Q
    turn = [np.arctan2(turned[1, 0], turned[0, 0])] if vehicle.group.turns == 1 else rotation_log(turned)
    behind = vehicle.node_layout.pose.stop
    way = R.T @ (y - x) if x.size else x
    return np.concatenate((turn, way, node[behind:] - reference[behind:]))


def moved(vehicle: Vehicle, reference: np.ndarray, error: np.ndarray) -> np.ndarray:
    """The node that differs from `reference` by `error`."""
    if _acted(vehicle):
        return np.array(_displacements(vehicle.space)(reference, error)).ravel()
    group, pose = vehicle.group, vehicle.node_layout.pose
    T, node, (R, x) = vehicle.poses(reference), reference.copy(), _frame(vehicle, reference)
    turn = error[: group.turns]
    turned = R @ (upright(turn[0])[:2, :2] if group.turns == 1 else rotation_exp(turn))
    if x.size:
        T[: x.size, : x.size], T[: x.size, -1] = turned, x + R @ error[_translation(vehicle)]
    else:
        T = turned
    node[pose] = group.from_matrix(T)
    node[pose.stop :] += error[group.dim :]
    return node


_LEVEL_M = 1e4


def planned_on(vehicle: Vehicle, method: Integrator) -> TreeGround | None:
    """The level ground through whose contact a method's motions are planned; None where they are planned in the air."""
    if not method.looks or not isinstance(vehicle, ArticulatedVehicle) or not vehicle.meets:
        return None
    level = np.full((2, 2), 0.0 if vehicle.free else -vehicle.stand_m, np.float32)
    return TreeGround.under(vehicle, Terrain(level, (-_LEVEL_M, -_LEVEL_M), 2.0 * _LEVEL_M))


def met_in_plans(vehicle: Vehicle, kernel: Stepper) -> tuple[Any, ...]:
    """What a step of a plan meets, as a stepper takes it."""
    ground = planned_on(vehicle, kernel.integrator)
    return () if ground is None else ground.env


def _sensed(
    vehicle: Vehicle,
    kernel: Stepper,
    h: float,
    planned: np.ndarray,
    controls: np.ndarray,
    env: tuple[Any, ...],
) -> np.ndarray:
    """Each as the step from the one before leads to it: open loop, a motion that is unstable would leave the plan."""
    p, nothing = vehicle.parameter_vector, np.zeros(kernel.dim)
    nodes = [planned[0]]
    for node, u in zip(planned[:-1], controls[:-1], strict=True):
        y = kernel.start(node, u, p, h, env)
        kernel.advance(y, u, nothing, p, h, 1, env)
        nodes.append(kernel.node(y, u, p, h, env=env))
    return np.array(nodes)


def linearised(
    vehicle: Vehicle,
    kernel: Stepper,
    p: np.ndarray,
    h: float,
    node: np.ndarray,
    u: np.ndarray,
    env: tuple[Any, ...],
) -> np.ndarray:
    """(n_errors, n_errors + n_controls) error after one step by error before it and inputs held over it."""
    nothing, scale = np.zeros(kernel.dim), error_scale(vehicle)

    def after(error: np.ndarray, added: np.ndarray) -> np.ndarray:
        y = kernel.start(moved(vehicle, node, error), u + added, p, h, env)
        kernel.advance(y, u + added, nothing, p, h, 1, env)
        return kernel.node(y, u + added, p, h, env=env)

    n = len(scale)
    J = np.zeros((n, n + len(u)))
    middle = after(J[0, :n], J[0, n:])
    eps = _EPS_TOUCHING if env else _EPS
    for i, size in enumerate(eps * np.concatenate((scale, control_ranges(vehicle, u[None])))):
        e = np.zeros(J.shape[1])
        e[i] = size
        ends = (after(sign * e[:n], sign * e[n:]) for sign in (1.0, -1.0))
        J[:, i] = np.subtract(*(difference(vehicle, middle, end) for end in ends)) / (2.0 * size)
    return J


def error_scale(vehicle: Vehicle) -> np.ndarray:
    """Errors that cost one."""
    if _acted(vehicle):
        return _scale_in_space(vehicle)
    n = len(vehicle.shape_coordinates)
    if vehicle.group.turns == 1:
        pose, speed = [_ANGLE_RAD, *[_POSITION_M] * 2], [_TURN_RADPS, *[_SPEED_MPS] * 2]
    else:
        moves = vehicle.group.dim - 3
        pose, speed = (
            [*[_ANGLE_RAD] * 3, *[_POSITION_M] * moves],
            [*[_TURN_RADPS] * 3, *[_SPEED_MPS] * moves],
        )
    return np.array([*pose, *speed, *[_SHAPE] * n, *[2.0 * _SHAPE] * n])


def control_ranges(vehicle: Vehicle, controls: np.ndarray) -> np.ndarray:
    """Half of what each control may do; of an endless one, what the plan asks of it."""
    used = np.maximum(np.abs(controls).max(axis=0), 1.0)
    reach = np.array([0.5 * (c.high - c.low) for c in vehicle.controls])
    return np.where(np.isfinite(reach) & (reach < 1e4 * used), reach, used)


@dataclass(frozen=True, slots=True, eq=False)
class FlyPlan:
    """Put all lanes at the start of a plan and give them its inputs; the flown one steps as it was planned.

    At the end time stands still; running on gives the vehicle back to the pilot, with its former method.
    """

    vehicle: Vehicle
    integrator: str | Integrator
    step_s: float
    nodes: np.ndarray = field(repr=False)
    """(N+1, node size)."""
    controls: np.ndarray = field(repr=False)
    """(N+1, n_controls)."""
    tracked: bool = False
    """Feed errors back (LQR along the plan); otherwise open loop."""
    flown: Vehicle | None = None
    """What flies it where that is not what was planned for, such as one in wind; None: `vehicle`."""


_LEARNING_S = 0.5
"""In which what is not explained yet shrinks to 1/e."""


class PlannedPilot(Automatic):
    """Open loop gives out the planned inputs bit for bit; with a regulator, errors are fed back."""

    def __init__(
        self,
        controls: np.ndarray,
        step_s: float,
        regulator: Regulator | None = None,
        *,
        since_s: float = 0.0,
    ) -> None:
        """`controls` (N+1, n_controls) of the steps from the nodes of a plan, which are `step_s` apart.

        since_s: simulated time at which the plan begins.
        """
        self._controls, self._step_s, self._since_s = controls, step_s, since_s
        self._follower = None if regulator is None else _Follower(regulator)

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """The plan's inputs at this time, each row held over its step; sticks are not heard.

        Who steps otherwise gets the row of the middle of what it asks for.
        """
        # Counted in periods, which are whole: times are sums that are rounded.
        now = round((sensed.time_s - self._since_s) / dt_s)
        k = math.floor((now + 0.5) * dt_s / self._step_s)
        u = self._controls[min(k, len(self._controls) - 1)]
        if self._follower is None:
            return u
        return self._follower.corrected(round(now * dt_s / self._step_s), u, sensed, vehicle)


class _Follower:
    """Feeds errors back, and learns what steadily leads aside.

    Where the regulator's model and the inputs should have led is compared with where the vehicle has come to. The
    inputs are those that act, so nothing winds up while they are at their limits.
    """

    def __init__(self, regulator: Regulator) -> None:
        self._regulator = regulator
        self._step = 0
        self._error, self._drift = np.zeros((2, regulator.turned.shape[2]))
        """The error at the beginning of that step."""
        self._given: list[np.ndarray] = []
        """More than planned, since then; nothing before it is first asked, which may be in the middle of a plan."""

    def corrected(self, step: int, planned: np.ndarray, sensed: Sensed, vehicle: Vehicle) -> np.ndarray:
        """The inputs at a time in a step of the plan; as they are after the last one."""
        if step >= len(self._regulator.gains):
            return planned
        error = self._regulator.error(step, sensed.node)
        if step != self._step:
            if self._given and step == self._step + 1 and not _carried(sensed, vehicle):
                self._learn(error)
            self._step, self._error, self._given = step, error, []
        low = np.array([control.low for control in vehicle.controls])
        high = np.array([control.high for control in vehicle.controls])
        more = self._regulator.correction(step, error, self._drift)
        u = np.clip(planned + more, low, high)
        self._given.append(u - planned)
        return u

    def _learn(self, ended: np.ndarray) -> None:
        """From the step that has just ended."""
        seen = self._regulator.drift(self._step, self._error, np.mean(self._given, axis=0), ended)
        self._drift += -math.expm1(-self._regulator.step_s / _LEARNING_S) * (seen - self._drift)


def _carried(sensed: Sensed, vehicle: Vehicle) -> bool:
    """By the ground, which is no wind."""
    return vehicle.support is Support.NOTHING and sensed.clearance_m <= 0.0
