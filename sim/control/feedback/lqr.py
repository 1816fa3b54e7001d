"""LQR: the vehicle's equations, linearised where it starts, and the gains that cost least for ever.

Serves whatever can rest where it starts. Errors are those of `plan_following`, in the coordinates that its constraints
leave.
"""

import numpy as np

from sim.control.plan_following import control_ranges, difference, error_scale
from sim.controllers import Controller, Gain, PilotInput
from sim.linear import local_motion, near, trimmed
from sim.platform.errors import InputError
from sim.platform.values import dataclass
from sim.vehicles import State, Vehicle

_EPS = 1e-6


@dataclass(slots=True, eq=False)
class Linearised:
    """A state, the controls that keep it there, and what a step does to small errors z there and to controls."""

    vehicle: Vehicle
    node: np.ndarray
    controls: np.ndarray
    A: np.ndarray
    B: np.ndarray
    seen: np.ndarray
    """(n_errors, n) errors by z."""
    of: tuple[float, float] = (0.0, 0.0)
    gains: np.ndarray | None = None
    """(n_controls, n) those of these two numbers."""

    def error(self, node: np.ndarray) -> np.ndarray:
        """(n,) z of a node."""
        apart = difference(self.vehicle, self.node, node)
        return np.asarray(np.linalg.lstsq(self.seen, apart, rcond=None)[0])


def linearised_at(vehicle: Vehicle, state: State, h: float) -> Linearised:
    """About rest at a state, over steps of h seconds, under the controls that keep it there best."""
    import scipy.linalg  # half a second, when one is wanted

    node = state.node.copy()
    node[state.layout.velocity] = 0.0
    node[state.layout.shape_velocity] = 0.0
    local = local_motion(vehicle)
    u = trimmed(vehicle, local, node)
    found = near(vehicle, local, vehicle.state_at_node(node), u)
    n, m = found.B.shape
    whole = np.zeros((n + m, n + m))
    whole[:n, :n], whole[:n, n:] = h * found.A, h * found.B
    step = scipy.linalg.expm(whole)
    ends = [
        [difference(vehicle, node, found.state_at(sign * _EPS * z).node) for z in np.eye(n)]
        for sign in (1.0, -1.0)
    ]
    seen = (np.array(ends[0]) - np.array(ends[1])).T / (2.0 * _EPS)
    return Linearised(vehicle, node, u, step[:n, :n], step[:n, n:], seen)


def costs(at: Linearised, effort: float, speed: float) -> tuple[np.ndarray, np.ndarray]:
    """Root (n_errors, n) and (n_controls,): |root z|^2 is what errors cost, the others what squares of controls do."""
    root = at.seen / error_scale(at.vehicle)[:, None]
    root[len(root) // 2 :] *= speed
    return root, effort / (0.2 * control_ranges(at.vehicle, at.controls[None])) ** 2


def solved(at: Linearised, effort: float, speed: float) -> tuple[np.ndarray, np.ndarray]:
    """(gains (n_controls, n), what an error costs from then on (n, n)), by the Riccati equation.

    Raises InputError where the vehicle cannot be held there.
    """
    import scipy.linalg  # half a second, when one is wanted

    root, controls = costs(at, effort, speed)
    R, refused = np.diag(controls), f"lqr: the {at.vehicle.name} cannot be held where it starts"
    if not controls.size:
        raise InputError(f"{refused}: it has no controls")
    try:
        S = scipy.linalg.solve_discrete_are(at.A, at.B, root.T @ root, R)
    except (np.linalg.LinAlgError, ValueError):
        raise InputError(f"{refused}: an error stays that no control brings back") from None
    return np.linalg.solve(R + at.B.T @ S @ at.B, at.B.T @ S @ at.A), S


class Lqr(Controller):
    """Holds the state that it starts from."""

    effort = Gain(1.0, 0.01, 100.0, "", "What controls cost, beside errors: larger is calmer.")
    speed = Gain(1.0, 0.1, 10.0, "", "What errors of velocities cost, beside those of places.")

    def start(self, vehicle: Vehicle, state: State) -> Linearised:
        """At rest there. Raises InputError where nothing keeps it at rest."""
        return linearised_at(vehicle, state, 1.0 / self.rate_hz)

    def control(self, t: float, state: State, sticks: PilotInput, memory: Linearised) -> np.ndarray:
        """(n_controls,)"""
        if memory.gains is None or memory.of != (self.effort, self.speed):
            memory.of = (self.effort, self.speed)
            memory.gains, _ = solved(memory, *memory.of)
        error = memory.error(state.node)
        self.plot("error", float(np.linalg.norm(memory.seen @ error / error_scale(memory.vehicle))))
        return memory.controls - memory.gains @ error
