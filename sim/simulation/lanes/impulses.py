"""Impulses on a lane where its controls are evaluated: of what moves, of ground that strikes, of a hand that pulls."""

import math
from bisect import bisect_right
from collections.abc import Callable
from functools import singledispatch

import numpy as np

from sim.environment.environment import (
    NONE_BORNE,
    BodyState,
    CoupledEnvironment,
    Environment,
    Grip,
    JointedEnvironment,
    JointedState,
    SolidsEnvironment,
    StruckEnvironment,
    TowedState,
    can_be_coupled,
    can_be_met,
)
from sim.groups.numeric import mean_twists
from sim.platform.errors import InputError
from sim.platform.values import dataclass
from sim.recordings.playback import Playback
from sim.recordings.segment import SAME_S, Moment
from sim.simulation.lanes.placing import Footing
from sim.steppers import Stepper
from sim.steppers.dynamics import Dynamics
from sim.steppers.tree import TreeStepper
from sim.vehicle_config import config_of
from sim.vehicles import ArticulatedVehicle, Vehicle
from sim.vehicles.forms.form import TREES
from sim.vehicles.forms.impulses import AtPoints, answers, at_points, moves, whole
from sim.vehicles.forms.observation import Observation, ObservationLayout

_LOOKS, _MOST_LOOKS, _SAME_RATE, _BETTER = 3, 6, 1e-3, 0.5
"""How often it is looked at how a tree answers what it meets, until its joints do so to that [rad/s or m/s]; more often
as long as each look leaves such a part at most of what the one before did."""


class Coupling:
    """Two-way: the lane's main body pushes the environment with the opposite of what it gets."""

    def __init__(self, environment: CoupledEnvironment) -> None:
        self.environment = environment
        self.solids = environment if isinstance(environment, SolidsEnvironment) else None
        self._jointed = environment if isinstance(environment, JointedEnvironment) else None
        self.borne_Ns, self.slip_mps = 0.0, 0.0
        """Sum of the normal impulses of all contacts with it, and how fast the fastest of the last exchange slips."""
        self._begin = environment.checkpoint()
        self._known_vehicle: Vehicle | None = None
        self._grips: list[tuple[float, Grip | None]] = [(-math.inf, None)]
        """From when on a hand has pulled which of the environment's bodies, to be gone through again."""

    def begin_anew(self) -> None:
        """The environment as it was at first."""
        self.environment.restore(self._begin)
        self._known_vehicle = None
        self._grips = [(-math.inf, None)]

    def take_over(self, other: "Coupling") -> None:
        """Have bodies that both have be where they are there."""
        if self.solids is not None and other.solids is not None:
            self.solids.take_over(other.solids)

    def hold(self, grip: Grip | None, time_s: float) -> None:
        """From that moment on a hand pulls a body of the environment, or none."""
        if grip != self._grips[-1][1]:
            self._grips.append((time_s, grip))

    def picture(self, vehicle: Vehicle) -> object:
        """Of the environment; None while what is flown does not take part."""
        return self.environment.picture() if self.takes(vehicle) else None

    def takes(self, vehicle: Vehicle) -> bool:
        """Whether it takes part."""
        return can_be_coupled(vehicle) or (self._jointed is not None and can_be_met(vehicle))

    def impulse(self, dynamics: Dynamics, at: "Reached", around: Environment) -> np.ndarray | None:
        """(impulse_size,) on the vehicle at this moment, while the environment goes on to the next one of the grid.

        around: what surrounds the vehicle within its steps, as it is then. None where it is not touched at all.
        """
        vehicle, seen = dynamics.vehicle, at.seen
        if self._known_vehicle is not vehicle:
            self.environment.renew(vehicle, at.time_s)
            self._known_vehicle = vehicle
        if self.solids is not None:
            held = bisect_right(self._grips, at.time_s + SAME_S, key=lambda since: since[0])
            self.solids.hold(self._grips[held - 1][1])
        if isinstance(dynamics.kernel, TreeStepper):
            return self._on_tree(dynamics, dynamics.kernel, at, around)
        name = next(iter(seen.layout.bodies))
        dt_s, bodies, T_wb = dynamics.control_period_s, {}, at.poses_w[0]
        if self.environment.within_reach(T_wb, seen.twist_b, dt_s):
            twist_b = seen.twist_b if self._jointed is None else _mean_twist_b(dynamics, at, around)
            towed = _towed(vehicle, at)
            bodies = {name: BodyState(T_wb, twist_b, _inertia_b(vehicle, at.node), towed)}
        given = self.environment.exchange(at.time_s, dt_s, bodies)
        return vehicle.group.twist_embedding.T @ np.asarray(given[name], float) if name in given else None

    def _on_tree(
        self, dynamics: Dynamics, kernel: TreeStepper, at: "Reached", around: Environment
    ) -> np.ndarray | None:
        """How the tree would move by itself until the next moment is found by trying; how it answers, by trying again.

        What it meets is found with that, as limits of joints and what turns far answer otherwise than a small push.
        """
        environment = self._jointed
        assert environment is not None, "which is asked of nothing else"
        m, dt_s, size = dynamics, dynamics.control_period_s, dynamics.vehicle.node_layout
        q, v = at.node[size.pose], at.node[size.velocity]
        # Whatever holds the tree has no velocity; its own frame is where every pose is told from.
        T_held, own = np.eye(4), at.seen.poses[0]
        T_held[:3, :3] = at.poses_w[0, :3, :3] @ own[:3, :3].T
        T_held[:3, 3] = at.poses_w[0, :3, 3] - T_held[:3, :3] @ own[:3, 3]
        poses_w = np.concatenate([at.poses_w, T_held[None]])
        p, h, R = m.parameters, m.step_s, T_held[:3, :3]
        twists = kernel.twists(q, v, p)
        twists_w = np.zeros((len(poses_w), 6))
        twists_w[:-1, :3], twists_w[:-1, 3:] = twists[:, :3] @ R.T, twists[:, 3:] @ R.T
        if not np.isfinite(at.node).all() or not environment.near(poses_w, twists_w, dt_s):
            return environment.meet(at.time_s, dt_s, None)
        jacobian, mobility = kernel.moved_by(q, dt_s, p)
        jacobian_w = np.zeros((len(poses_w), 6, kernel.dim))
        jacobian_w[:-1, :3], jacobian_w[:-1, 3:] = R @ jacobian[:, :3], R @ jacobian[:, 3:]
        before, predicted = environment.checkpoint(), np.zeros(kernel.dim)
        given: np.ndarray | None = None
        first, off = np.zeros(kernel.dim), np.inf
        for look in range(_MOST_LOOKS):
            y = at.state.copy()
            if given is not None:
                kernel.strike(m.vehicle, y, given, at.controls, h)
            kernel.advance(y, at.controls, np.zeros(kernel.dim), p, h, m.control_steps, around.probe().env)
            arrived = kernel.node(y, at.controls, p, h)
            velocity = kernel.mean_velocity(q, arrived[size.pose], dt_s)
            if not np.isfinite(velocity).all():
                return environment.meet(at.time_s, dt_s, None) if given is None else given
            if given is not None:
                before_off, off = off, float(np.abs(velocity - predicted).max())
                if off < _SAME_RATE or (look >= _LOOKS and off > _BETTER * before_off):
                    return given
            if look:
                environment.restore(before)
            first = velocity if look == 0 else first
            ahead_w = T_held @ kernel.observe(arrived, at.controls, p).poses
            alone = velocity if given is None else velocity - mobility @ given
            reached = velocity, np.concatenate([ahead_w, T_held[None]])
            jointed = JointedState(poses_w, jacobian_w, mobility, alone, *reached, around.acts, first)
            found = environment.meet(at.time_s, dt_s, jointed)
            if found is None:
                return None
            given = found
            predicted = alone + mobility @ given
        return given

    def note_touch(self) -> None:
        """Count what contacts bore in the last exchange."""
        borne_Ns, self.slip_mps = self.environment.touch()
        self.borne_Ns += borne_Ns

    def borne(self) -> np.ndarray:
        """(k, BORNE) contacts at the vehicle in the last exchange, with it as it was then."""
        return self.environment.borne() if isinstance(self.environment, StruckEnvironment) else NONE_BORNE

    def take_impact_mps(self) -> float:
        """Greatest speed at which something that stays in place was met since the last call."""
        return self.environment.take_impact_mps()

    def recover(
        self,
        dynamics: Dynamics,
        playback: Playback,
        moment: Moment,
        poses_w: Callable[[Observation], np.ndarray],
        around: Environment,
    ) -> None:
        """The environment as it was at a recorded moment: from its last kept state before, among the same motions.

        poses_w: of the bodies that are observed, (bodies, 4, 4) in the world.
        """
        segment, impulse_log = moment.segment, moment.segment.impulse_log
        kept = (
            0 if impulse_log is None else int(np.sum(segment.point_steps[impulse_log.points] <= moment.step))
        )
        if impulse_log is None or not kept:
            self.begin_anew()
            return
        self.environment.restore(impulse_log.environments[kept - 1])
        self._known_vehicle = None
        first = int(segment.point_steps[impulse_log.points[kept - 1]])
        period = dynamics.control_steps
        for step in range(-(-first // period) * period, moment.step, period):
            at = playback.moment(segment, step)
            node = playback.node(at)
            seen = dynamics.kernel.observe(node, at.controls, dynamics.parameters)
            reached = Reached(at.time_s, node, at.state, at.controls, seen, poses_w(seen))
            there = around.probe()
            there.restore(at.memory)
            self.impulse(dynamics, reached, there)
        self._grips = [since for since in self._grips if since[0] < moment.time_s - SAME_S]
        self.take_impact_mps()


def _mean_twist_b(dynamics: Dynamics, at: "Reached", around: Environment) -> np.ndarray:
    """(6,) of the main body until the next moment, as it would move by itself: found by trying."""
    m, y = dynamics, at.state.copy()
    m.kernel.advance(
        y, at.controls, np.zeros(m.kernel.dim), m.parameters, m.step_s, m.control_steps, around.probe().env
    )
    arrived = m.kernel.node(y, at.controls, m.parameters, m.step_s)
    if not np.isfinite(arrived).all():
        return at.seen.twist_b
    begin, ahead = at.seen.poses[:1], m.kernel.observe(arrived, at.controls, m.parameters).poses[:1]
    R = begin[0, :3, :3]
    mean: np.ndarray = mean_twists(begin, ahead, m.control_period_s)[0].reshape(2, 3) @ R
    return mean.ravel()


def _towed(vehicle: Vehicle, at: "Reached") -> dict[str, TowedState]:
    """Bodies beside the main one that meet obstacles, by name."""
    footprint, found = config_of(vehicle).footprint, {}
    for name, _ in footprint.towed if footprint is not None else ():
        k = tuple(at.seen.layout.bodies).index(name)
        R = at.seen.poses[k, :3, :3]
        found[name] = TowedState(at.poses_w[k], twist_by_main(vehicle, at.node, name, R))
    return found


def twist_by_main(vehicle: Vehicle, node: np.ndarray, name: str, R: np.ndarray) -> np.ndarray:
    """(6, 6) twist in a plane of a body with attitude R (3, 3), in its frame, by the main one's, which decides it.

    From what impulses at two of its points and at the main body do, of which the first are the others' transpose.
    """
    ends, E = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]), vehicle.group.twist_embedding
    at_ends = at_points(vehicle, node, (name, name), ends).impulses
    at_main = np.eye(vehicle.impulse_size)[:, : vehicle.wrench_size]
    by_ends, by_main = (answers(vehicle, node, P)[vehicle.node_layout.velocity] for P in (at_ends, at_main))
    here, ahead = np.split(by_ends.T @ np.linalg.pinv(by_main, hermitian=True) @ E.T, 2)
    by_twist = np.zeros((6, 6))
    by_twist[3:5] = R[:, :2].T @ here
    by_twist[2] = R[:, 1] @ (ahead - here)
    return by_twist


def _inertia_b(vehicle: Vehicle, node: np.ndarray) -> np.ndarray:
    """(6, 6) of the main body: the inverse of its mobility, and nothing along what constraints do not let it move."""
    check_can_be_coupled(vehicle)
    wrenches = np.eye(vehicle.impulse_size)[:, : vehicle.wrench_size]
    A, E = answers(vehicle, node, wrenches)[vehicle.node_layout.velocity], vehicle.group.twist_embedding
    return np.linalg.pinv(E @ A @ E.T, hermitian=True)


def check_can_be_coupled(vehicle: Vehicle) -> None:
    """Raises InputError for what no impulse can act on alone."""
    if not can_be_coupled(vehicle):
        raise InputError(
            f"nothing that moves can be coupled to {vehicle.name}, which has {vehicle.form.value}"
        )


@dataclass(frozen=True, slots=True)
class Pull:
    """A hand's spring between a point of a body and a place, until `LetGo` or another one."""

    lane: str
    body: str | int
    """Of the vehicle, by its name, or of the props about it, by its number."""
    at_b: tuple[float, float, float]
    """Of the body, in its frame [m]."""
    to_w: tuple[float, float, float]
    """Where it is pulled to, in the world [m]."""

    @property
    def grip(self) -> Grip | None:
        """At a prop; None at a body of the vehicle."""
        return Grip(self.body, self.at_b, self.to_w) if isinstance(self.body, int) else None


@dataclass(frozen=True, slots=True)
class Push:
    """One impulse at a point of a body, when controls are evaluated next."""

    lane: str
    body: str
    at_b: tuple[float, float, float]
    """Of the body, in its frame [m]."""
    impulse_w: tuple[float, float, float]
    """In the world [N s]."""


RATE_RADPS = 7.0
"""Of the spring with all of the vehicle's mass at its end: its stiffness is mass times the square of that."""
STRONGEST_MPS2 = 60.0
"""What it gives the whole mass at most, however far the hand is."""


def unpulled(
    vehicle: Vehicle, body: str | int, layout: ObservationLayout, coupling: Coupling | None = None
) -> str:
    """Why a body of a vehicle, or of what it is coupled to, cannot be pulled, in a line; empty where it can."""
    if isinstance(body, int):
        solids = 0 if coupling is None or coupling.solids is None else coupling.solids.bodies
        return "" if 0 <= body < solids else f"there is no prop {body}; allowed: below {solids}"
    if body not in layout.bodies:
        return f"{vehicle.name} has no body {body!r}; allowed: {', '.join(list(layout.bodies)[:8])}"
    if vehicle.form in TREES:
        return ""
    if not moves(vehicle, body):
        movable = [name for name in layout.bodies if moves(vehicle, name)][:8]
        allowed = ", ".join(movable) or "nothing: its space tells no velocities"
        return f"{vehicle.name}: {body} cannot be pulled, no force moves it; allowed: {allowed}"
    return ""


def pull_impulse(
    pull: Pull, dynamics: Dynamics, y: np.ndarray, u: np.ndarray, seen: Observation, poses_w: np.ndarray
) -> np.ndarray:
    """(impulse_size,) of one control period, for `strike`; poses_w (bodies, 4, 4) of the vehicle in the world.

    The spring is that of its end: the velocity that its own impulse leads to is within, so that no body is too light
    for it. Critically damped with the whole mass at its end; with less it is damped more.
    """
    T_wb, dt = poses_w[list(seen.layout.bodies).index(str(pull.body))], dynamics.control_period_s
    point_w = T_wb[:3, :3] @ np.array(pull.at_b) + T_wb[:3, 3]
    v_w, J, A = _reached_in_world(str(pull.body), pull.at_b, dynamics, y, u, seen, poses_w)
    mass = _mass_kg(dynamics.vehicle)
    stiffness, damping = mass * RATE_RADPS**2, 2.0 * mass * RATE_RADPS
    way = np.array(pull.to_w) - point_w
    farthest = STRONGEST_MPS2 / RATE_RADPS**2
    way *= min(1.0, farthest / max(float(np.linalg.norm(way)), 1e-12))
    wanted = dt * (stiffness * (way - dt * v_w) - damping * v_w)
    given: np.ndarray = J @ np.linalg.solve(np.eye(3) + dt * (damping + dt * stiffness) * A, wanted)
    return given


def push_impulse(
    push: Push, dynamics: Dynamics, y: np.ndarray, u: np.ndarray, seen: Observation, poses_w: np.ndarray
) -> np.ndarray:
    """(impulse_size,) of a push; poses_w as of `pull_impulse`."""
    _, J, _ = _reached_in_world(push.body, push.at_b, dynamics, y, u, seen, poses_w)
    given: np.ndarray = J @ np.array(push.impulse_w)
    return given


def _reached_in_world(
    body: str,
    at_b: tuple[float, float, float],
    dynamics: Dynamics,
    y: np.ndarray,
    u: np.ndarray,
    seen: Observation,
    poses_w: np.ndarray,
) -> AtPoints:
    """A point of a body, in the axes of the world."""
    k = list(seen.layout.bodies).index(body)
    v, J, A = _reached(dynamics.kernel, dynamics, y, u, seen, body, np.array(at_b))
    turned = poses_w[k, :3, :3] @ seen.poses[k, :3, :3].T
    return AtPoints(turned @ v, J @ turned.T, turned @ A @ turned.T)


@singledispatch
def _reached(
    kernel: Stepper,
    dynamics: Dynamics,
    y: np.ndarray,
    u: np.ndarray,
    seen: Observation,
    body: str,
    at_b: np.ndarray,
) -> AtPoints:
    """A point of a body, in the axes of the vehicle's own poses."""
    node = kernel.node(y, u, dynamics.parameters, dynamics.step_s)
    return at_points(dynamics.vehicle, node, (body,), at_b[None])


@_reached.register
def _(
    kernel: TreeStepper,
    dynamics: Dynamics,
    y: np.ndarray,
    u: np.ndarray,
    seen: Observation,
    body: str,
    at_b: np.ndarray,
) -> AtPoints:
    p = dynamics.parameters
    node = kernel.node(y, u, p, dynamics.step_s)
    at = dynamics.vehicle.node_layout
    k = list(seen.layout.bodies).index(body)
    rows = kernel.impulses_at(node[at.pose], body, at_b, seen.poses[k, :3, :3], p)
    answered = np.array([kernel.answer(node[at.pose], row, p) for row in rows])
    return AtPoints(rows @ node[at.velocity], rows.T, rows @ answered.T)


def _mass_kg(vehicle: Vehicle) -> float:
    """Of all that it consists of."""
    if isinstance(vehicle, ArticulatedVehicle):
        return float(vehicle.tree.arrays.mass.sum())
    return float(sum(np.sum(vehicle.values[q.name]) for q in vehicle.parameters if q.unit == "kg")) or 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Reached:
    """Where a lane is then."""

    time_s: float
    node: np.ndarray
    """Pose and node velocity, flat."""
    state: np.ndarray
    """The integrator's own, flat."""
    controls: np.ndarray
    """(n_controls,)."""
    seen: Observation
    poses_w: np.ndarray
    """(bodies, 4, 4) body to world."""


def impulse_on(
    reached: Reached,
    dynamics: Dynamics,
    footing: Footing,
    coupling: Coupling | None,
    pull: Pull | None,
    pushes: tuple[Push, ...] = (),
) -> np.ndarray | None:
    """(impulse_size,) of what is coupled, of ground that strikes and of hands that pull and push, together; None of
    none."""
    at, given = reached, None
    if coupling is not None and coupling.takes(dynamics.vehicle):
        coupling.hold(None if pull is None else pull.grip, at.time_s)
        given = coupling.impulse(dynamics, at, footing.environment)
        coupling.note_touch()
    struck = footing.environment.impulse(at.node, dynamics.control_period_s)
    given = struck if given is None else given
    given = None if given is None else whole(given, dynamics.vehicle)
    of = dynamics, at.state, at.controls, at.seen, at.poses_w
    by_hand = [push_impulse(push, *of) for push in pushes]
    by_hand += [pull_impulse(pull, *of)] if pull is not None and isinstance(pull.body, str) else []
    if not by_hand:
        return given
    total: np.ndarray = np.sum(by_hand, axis=0)
    return total if given is None else given + total
