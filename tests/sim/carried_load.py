"""What a load does after a plan has carried it, by an integration that knows nothing of the planner's."""

import numpy as np
from scipy.integrate import solve_ivp

from sim.planner import Plan
from tests.sim.test_slung_load_vehicle import WithMultipliers


def swing_after_arrival(plan: Plan) -> np.ndarray:
    """(9,) rad, at the plan's end and over one swing after it, by Newton and Euler with multipliers: the plan's inputs,
    each row held over its step, then a lift that holds the weight."""
    bodies, values = WithMultipliers(plan.vehicle), plan.vehicle.values
    y, swing = bodies.start(plan.vehicle, plan.task.start), []
    gravity = float(values["gravity"])
    weight = gravity * sum(float(values[name]) for name in ("mass", "load_mass", "cable_mass"))
    eighth_s = np.pi / 4 * np.sqrt(float(values["cable_length"]) / gravity)
    flown = [(u, plan.step_s) for u in plan.controls[:-1]]
    for k, (u, seconds) in enumerate([*flown, *[(np.array([weight, 0.0, 0.0, 0.0]), eighth_s)] * 8]):
        bodies.controls = lambda _, u=u: u
        y = solve_ivp(bodies.rate, (0, seconds), y, method="DOP853", rtol=1e-10, atol=1e-11).y[:, -1]
        R, x, _, _, p, _ = bodies.parts(y)
        way = p[-1] - (x + R @ bodies.hook)
        if k >= len(flown) - 1:
            swing.append(np.arctan2(np.hypot(way[0], way[1]), -way[2]))
    return np.array(swing)
