"""Observing a lane: its cached observation, what its pilot senses, and what later values are compared with."""

from collections.abc import Mapping
from time import perf_counter

import numpy as np

from sim.control import Sensed
from sim.environment.environment import Environment
from sim.integrators.impulses import momentum_balance
from sim.platform.values import dataclass
from sim.simulation.lanes.history import Trails
from sim.simulation.lanes.integration import Integration
from sim.simulation.lanes.placing import Footing, Placement, in_world
from sim.simulation.lanes.termination import energy_bound
from sim.steppers.dynamics import Bounds, Dynamics
from sim.vehicles import HolonomicVehicle
from sim.vehicles.forms.observation import Observation


class ObservationCache:
    """Remembers the last node and controls by identity; neither may be written to."""

    def __init__(self) -> None:
        self._known: tuple[np.ndarray, np.ndarray, Observation] | None = None
        self._placed: tuple[Observation, Footing, np.ndarray] | None = None

    def forget(self) -> None:
        """The vehicle or its parameters are others from now on, or it is somewhere else."""
        self._known = self._placed = None

    def of(
        self, dynamics: Dynamics, around: Environment, node: np.ndarray, controls: np.ndarray
    ) -> Observation:
        """What is observed of a node under these controls."""
        known = self._known
        if known is None or known[0] is not node or known[1] is not controls:
            seen = dynamics.kernel.observe(node, controls, dynamics.parameters)
            row = around.told(seen.layout, seen.row)
            known = node, controls, seen if row is seen.row else Observation(seen.layout, row)
            self._known = known
        return known[2]

    def poses_w(self, dynamics: Dynamics, footing: Footing, observation: Observation) -> np.ndarray:
        """(bodies, 4, 4) body to world, the main one first; do not write to it."""
        placed = self._placed
        if placed is None or placed[0] is not observation or placed[1] is not footing:
            vehicle, world, pivot_w = dynamics.vehicle, footing.world, footing.pivot_w
            placed = observation, footing, in_world(vehicle, observation.poses, world, pivot_w)
            self._placed = placed
        return placed[2]


def sensed(node: np.ndarray, there: Placement, footing: Footing, time_s: float, dynamics: Dynamics) -> Sensed:
    """At a node, flat, with its place in the world, at a simulated time."""
    return Sensed(
        there.T_wb[:3, :3],
        there.T_wb[:3, 3],
        there.twist_b[:3],
        there.twist_b[3:],
        footing.environment.clearance_m(node),
        node,
        footing.environment.load_clearance_m(node),
        time_s,
        footing.leader_clearance_m(node),
        dynamics,
    )


@dataclass(frozen=True, slots=True, eq=False)
class StartReference:
    """Energy, momentum and bounds at the start of a run, which later values are compared with."""

    energy_J: float
    momentum_w: np.ndarray
    """(6,) angular, then linear."""
    observables: Mapping[str, float | np.ndarray]
    bounds: Bounds

    @classmethod
    def of(
        cls, dynamics: Dynamics, node: np.ndarray, seen: Observation, asked_bound_J: float | None
    ) -> "StartReference":
        """asked_bound_J: of the energy; without one it follows from the vehicle."""
        vehicle = dynamics.vehicle
        bound_J = asked_bound_J or energy_bound(vehicle, seen.energy_J)
        return cls(
            energy_J=seen.energy_J,
            momentum_w=vehicle.twist_embedding @ seen.momentum_w,
            observables=seen.observables,
            bounds=Bounds.of(vehicle, node, dynamics.step_s, bound_J),
        )


EVERY = 60
"""Snapshots between two measurements."""
STEPS, LEAST_STEPS, ENOUGH_S = 64, 4, 5e-4
"""Steps of a measurement: enough that the call from Python does not count; of slow ones as many as take so long."""


class StepCost:
    """Wall time of one step [s], smoothed; 0 before the first measurement."""

    def __init__(self) -> None:
        self.step_s = 0.0
        self._looks = 0

    def look(self, dynamics: Dynamics, y: np.ndarray, u: np.ndarray, environment: Environment) -> None:
        """Maybe measure: run a copy of the private state a little ahead, and forget it."""
        self._looks += 1
        if self._looks % EVERY != 1:
            return
        m, ahead, nothing, around = dynamics, y.copy(), np.zeros(dynamics.kernel.dim), environment.probe()
        enough = int(ENOUGH_S / self.step_s) if self.step_s else STEPS
        count = min(max(enough, LEAST_STEPS), STEPS)
        began = perf_counter()
        done, _, _ = m.kernel.advance(ahead, u, nothing, m.parameters, m.step_s, count, around.env)
        cost = (perf_counter() - began) / max(done, 1)
        self.step_s += 0.3 * (cost - self.step_s) if self.step_s else cost


@dataclass(slots=True)
class Tally:
    """Newton iterations since the last snapshot."""

    steps: int = 0
    iterations: int = 0
    mean: float = 0.0
    """Per step, before the last snapshot."""

    def add(self, steps: int, iterations: int) -> None:
        """One rollout."""
        self.steps += steps
        self.iterations += iterations

    def take(self) -> float:
        """Mean iterations per step since the last call; without a step, what it was before."""
        if self.steps:
            self.mean = self.iterations / self.steps
            self.steps = self.iterations = 0
        return self.mean


MOST_STEPS = 64
"""That are worked out together."""


class MomentumAccount:
    """What each step of a body has put into its spatial momentum, summed up since the account was opened.

    What happens between steps (a push, other controls at a contact) is neither put in by controls nor lost. A step that
    an impact divided is taken as a whole: there the method's loss is told to first order only.
    """

    def __init__(self, integration: Integration, vehicle: HolonomicVehicle) -> None:
        self._at, self._dynamics = integration, integration.dynamics
        self._embedding = vehicle.group.twist_embedding
        self._balance = momentum_balance(vehicle, self._dynamics.kernel.integrator)
        self._rows: list[tuple[np.ndarray, ...]] = []
        self._sums = np.zeros((2, vehicle.group.dim))

    def note(self, node: np.ndarray, w_b: np.ndarray) -> None:
        """A step that began at a node, where surroundings did w_b (6,), and has come to the present one."""
        at, after, embedding = self._at, self._at.node, self._embedding.T
        self._rows.append((node, after, at.controls, embedding @ w_b, embedding @ at.environment_wrench_b))
        if len(self._rows) >= MOST_STEPS:
            self._work_out()

    @property
    def sums(self) -> np.ndarray:
        """(2, 6) spatial momentum, angular then linear: put in by the controls, and lost by the method."""
        self._work_out()
        return self._sums @ self._embedding.T

    def _work_out(self) -> None:
        if not self._rows:
            return
        m, columns = self._dynamics, [np.array(column).T for column in zip(*self._rows, strict=True)]
        found = self._balance(*columns, m.parameters, m.step_s)
        self._sums += [np.array(part).sum(axis=1) for part in found]
        self._rows.clear()


class LaneObserver:
    """Observes one lane while it runs: caches, compares with its start, keeps trails, measures its steps."""

    def __init__(self, integration: Integration, asked_bound_J: float | None) -> None:
        """asked_bound_J: of the energy; without one it follows from the vehicle."""
        self._at, self._asked_bound_J = integration, asked_bound_J
        self._cache = ObservationCache()
        self.tally, self.cost = Tally(), StepCost()
        self.account: MomentumAccount | None = None
        """None where nobody wants one, or there is none of the vehicle."""
        self._accounts = False
        self.start: StartReference
        self.trails: Trails

    def observe(self, node: np.ndarray | None = None) -> Observation:
        """Of a node under the present controls; None: of the present one."""
        at = self._at
        return self._cache.of(at.dynamics, at.environment, at.node if node is None else node, at.controls)

    def poses_w(self, observation: Observation) -> np.ndarray:
        """(bodies, 4, 4) of all bodies in the world, the main one first."""
        return self._cache.poses_w(self._at.dynamics, self._at.footing, observation)

    def begin(self, node: np.ndarray) -> None:
        """The lane starts at this node, perhaps with another vehicle: later values are compared with its own."""
        self._cache.forget()
        m = self._at.dynamics
        self.start = StartReference.of(m, node, self.observe(node), self._asked_bound_J)

    def keep_account(self, *, on: bool) -> None:
        """Begin to sum up from now on, or end it."""
        self._accounts, vehicle = on, self._at.dynamics.vehicle
        self.account = (
            MomentumAccount(self._at, vehicle) if on and isinstance(vehicle, HolonomicVehicle) else None
        )

    def go_on_from(self, node: np.ndarray) -> Observation:
        """Trails and the momentum's account begin anew at this node."""
        observation = self.observe(node)
        self.trails = Trails(self._at.time_s, observation, self.poses_w(observation))
        self.keep_account(on=self._accounts)
        return observation

    def forget(self) -> None:
        """The lane has been put somewhere else."""
        self._cache.forget()

    def renew(self, *, same_vehicle: bool) -> None:
        """Other dynamics: steps cost something else; no bound that was asked for holds for another vehicle."""
        self._asked_bound_J = self._asked_bound_J if same_vehicle else None
        self.cost = StepCost()

    def note(self, observation: Observation) -> None:
        """A later moment, for the trails."""
        self.trails.note(self._at.time_s, observation, self.poses_w(observation))
