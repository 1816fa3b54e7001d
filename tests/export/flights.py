"""Motions to be exported: forced, out of every plane, under inputs that change."""

import numpy as np

import sim
from export.motion import LaneMotion, motion_of_trajectory
from sim.steppers.trajectory import Trajectory


def helicopter_flight(
    duration_s: float = 4.0, method: str = "variational-exact", **changed: float
) -> Trajectory:
    """Climbs, turns and leans, a kilometre from the origin."""
    vehicle = sim.vehicle("helicopter", **changed)
    steps = round(duration_s / 0.01)
    t = 0.01 * np.arange(steps)
    weight = vehicle.values["mass"] * vehicle.values["gravity"]
    controls = np.stack(
        [
            weight * (1.02 + 0.05 * np.sin(1.3 * t)),
            0.01 * weight * np.sin(0.9 * t),
            0.02 * np.sin(2.1 * t + 0.3),
            0.015 * np.cos(1.7 * t),
        ],
        axis=1,
    )
    initial = vehicle.state(x=(1000.0, -400.0, 90.0), omega=(0.1, -0.2, 0.3), v=(25.0, 1.0, -0.5))
    return sim.simulate(vehicle, method, step=0.01, duration=duration_s, initial=initial, controls=controls)


def motion_of(name: str, duration_s: float = 2.0) -> LaneMotion:
    """A vehicle under half of what its controls can do, to and fro; from its own start."""
    vehicle = sim.vehicle(name)
    t = 0.01 * np.arange(round(duration_s / 0.01))
    share = np.array([0.2 * np.sin((1.0 + 0.4 * k) * t) for k in range(len(vehicle.controls))])
    controls = vehicle.neutral_controls + share.reshape(len(vehicle.controls), len(t)).T
    return motion_of_trajectory(sim.simulate(vehicle, step=0.01, duration=duration_s, controls=controls))
