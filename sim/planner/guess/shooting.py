"""Guesses by shooting: what one input alone drives on a plane, as a boat with one engine off, is turned by whatever
drives it, and no way that is drawn for it is near one that it can go. Inputs by chance are changed until the simulation
ends at the goal."""

from collections.abc import Iterator

import numpy as np
from scipy.optimize import least_squares

from sim.integrators import Integrator
from sim.planner.task.bodies import heading_rad, place
from sim.planner.task.inputs import input_map_of
from sim.planner.task.task import Task, control_limits
from sim.steppers.dynamics import stepper_of
from sim.vehicles.forms.holonomic import HolonomicVehicle

_KNOTS = 13
"""Places in time between which the input is straight."""
_SHOTS = 12
"""Of which the one that ends nearest comes first."""
_CALM = 0.02
"""What an input at its bound all the time counts, beside lengths [m], angles [rad] and velocities that are missed."""
_ROUNDS = 40
"""In which the input is changed."""


def shot(
    vehicle: HolonomicVehicle, task: Task, method: Integrator, steps: int, driven: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Nodes (N+1, node size) and planned inputs (N+1, size) of one after another, by chance. `driven`: the control that
    is not held."""
    h, p, at = task.duration_s / steps, vehicle.parameter_vector, vehicle.node_layout
    low, high = control_limits(vehicle, task.limits).T
    stepper, rng = stepper_of(vehicle, method), np.random.default_rng(0)
    instants, knots = np.linspace(0.0, 1.0, steps + 1), np.linspace(0.0, 1.0, _KNOTS)
    goal = task.goal.state
    asked = [task.goal.rotation, task.goal.position, task.goal.position]
    counts = np.array([demand != "free" for demand in asked] + [task.goal.velocity != "free"] * 3)
    bound = max(abs(low[driven]), abs(high[driven]))

    def controls(heights: np.ndarray) -> np.ndarray:
        u = np.clip(np.tile(vehicle.neutral_controls, (steps + 1, 1)), low, high)
        u[:, driven] = np.interp(instants, knots, heights)
        return u

    def moved(u: np.ndarray) -> np.ndarray:
        y = stepper.start(task.start.node, u[0], p, h)
        nodes, _, _ = stepper.trajectory(y, u[:-1], p, h, steps)
        return nodes

    def missed(heights: np.ndarray) -> np.ndarray:
        end = vehicle.state_at_node(moved(controls(heights))[-1])
        turned = 2.0 * np.sin(0.5 * (heading_rad(end) - heading_rad(goal)))
        moving = end.node[at.velocity] - goal.node[at.velocity]
        ends = np.concatenate([[turned], place(end) - place(goal), moving])[counts]
        return np.concatenate([np.nan_to_num(ends, nan=1e3), _CALM * heights / bound])

    while True:
        tried = rng.uniform(0.5 * low[driven], 0.5 * high[driven], (_SHOTS, _KNOTS))
        found = [
            least_squares(missed, first, bounds=(low[driven], high[driven]), x_scale=bound, max_nfev=_ROUNDS)
            for first in tried
        ]
        for best in sorted(found, key=lambda each: float(each.cost)):
            u = controls(best.x)
            nodes = moved(u)
            if np.isfinite(nodes).all():
                yield nodes, input_map_of(vehicle).planned(u)
