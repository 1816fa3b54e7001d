"""LQR: the vehicle's own step, linearised where it starts by differences, and the gains that cost least for ever.

Serves whatever can rest where it starts: errors live in the tangent space of that state, as in `plan_following`.
"""

from dataclasses import dataclass

import numpy as np

from sim.control.plan_following import control_ranges, difference, error_scale, linearised
from sim.controllers import Controller, Gain, PilotInput
from sim.integrators import default_for, integrator
from sim.platform.errors import InputError
from sim.steppers.choice import stepper_of
from sim.vehicles import State, Vehicle


@dataclass(slots=True, eq=False)
class Linearised:
    """A state, the controls that keep it there, and the step's derivatives about both."""

    vehicle: Vehicle
    node: np.ndarray
    controls: np.ndarray
    A: np.ndarray
    B: np.ndarray
    of: tuple[float, float] = (0.0, 0.0)
    gains: np.ndarray | None = None
    """Those of these two numbers."""


def linearised_at(vehicle: Vehicle, state: State, h: float) -> Linearised:
    """About rest at a state, over steps of h seconds, under the controls that keep it there best."""
    import scipy.optimize  # a second, when one is wanted

    kernel = stepper_of(vehicle, integrator(default_for(vehicle)))
    node, n = state.node.copy(), len(error_scale(vehicle))
    node[state.layout.velocity] = 0.0
    node[state.layout.shape_velocity] = 0.0
    u, p = vehicle.neutral_controls, vehicle.parameter_vector
    ranges = control_ranges(vehicle, u[None])
    for _ in range(3):  # controls under which a step changes least: of what is linear in them the first do
        J = linearised(vehicle, kernel, p, h, node, u)
        y = kernel.start(node, u, p, h)
        kernel.advance(y, u, np.zeros(kernel.dim), p, h, 1)
        off = difference(vehicle, node, kernel.node(y, u, p, h)) / error_scale(vehicle)
        low = np.array([c.low for c in vehicle.controls]) - u
        high = np.array([c.high for c in vehicle.controls]) - u
        B = J[:, n:] / error_scale(vehicle)[:, None]
        found = scipy.optimize.lsq_linear(
            B * ranges, -off, (np.minimum(low / ranges, -1e-9), np.maximum(high / ranges, 1e-9))
        )
        u = u + ranges * found.x
    J = linearised(vehicle, kernel, p, h, node, u)
    return Linearised(vehicle, node, u, J[:, :n], J[:, n:])


def costs(
    vehicle: Vehicle, controls: np.ndarray, effort: float, speed: float
) -> tuple[np.ndarray, np.ndarray]:
    """(n_errors,) and (n_controls,): what the squares of errors and of controls cost."""
    errors = 1.0 / error_scale(vehicle) ** 2
    errors[len(errors) // 2 :] *= speed**2
    return errors, effort / (0.2 * control_ranges(vehicle, controls[None])) ** 2


def solved(at: Linearised, effort: float, speed: float) -> tuple[np.ndarray, np.ndarray]:
    """(gains (n_controls, n_errors), what an error costs from then on (n_errors, n_errors)), by the Riccati equation.

    Raises InputError where the vehicle cannot be held there.
    """
    import scipy.linalg  # half a second, when one is wanted

    errors, controls = costs(at.vehicle, at.controls, effort, speed)
    R = np.diag(controls)
    try:
        S = scipy.linalg.solve_discrete_are(at.A, at.B, np.diag(errors), R)
    except (np.linalg.LinAlgError, ValueError) as error:
        raise InputError(f"lqr: the {at.vehicle.name} cannot be held where it starts: {error}") from None
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
        error = difference(memory.vehicle, memory.node, state.node)
        self.plot("error", float(np.linalg.norm(error / error_scale(memory.vehicle))))
        return memory.controls - memory.gains @ error
