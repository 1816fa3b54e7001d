"""Flights that were measured with noise, of vehicles whose parameters are known."""

import numpy as np

import sim
from sim.groups.numeric import rotation_exp

NOISE = {"rotation": 0.01, "position": 0.02, "omega": 0.02, "velocity": 0.03}


def flown(vehicle: sim.Vehicle, seconds: float = 4.0, step: float = 0.02, seed: int = 0) -> sim.Trajectory:
    """A helicopter that is stirred by all its controls, each at frequencies of its own."""
    t = step * np.arange(round(seconds / step))
    phase = np.random.default_rng(seed).uniform(0.0, 6.0, 4)
    mass = float(np.max(vehicle.values["mass"]))
    lift = mass * 9.81 * (1.0 + 0.15 * np.sin(3.1 * t + phase[0]))
    others = [
        0.4 * np.sin(2.3 * t + phase[1]),
        0.02 * np.sin(4.7 * t + phase[2]),
        0.02 * np.sin(3.9 * t + phase[3]),
    ]
    controls = np.stack([lift, *others], axis=1)
    initial = vehicle.state(omega=(0.1, -0.1, 0.2), v=(8.0, 1.0, 0.5))
    return sim.simulate(vehicle, step=step, duration=seconds, initial=initial, controls=controls)


def measured(run: sim.Trajectory, seed: int, noise: dict[str, float] = NOISE) -> sim.Recording:
    """With Gaussian noise on all of its state."""
    rng, nodes = np.random.default_rng(seed), run.nodes.copy()
    for node in nodes:
        R = node[:9].reshape(3, 3).T @ rotation_exp(noise["rotation"] * rng.standard_normal(3))
        node[:9] = R.T.ravel()
        node[9:12] += noise["position"] * rng.standard_normal(3)
        node[12:15] += noise["omega"] * rng.standard_normal(3)
        node[15:18] += noise["velocity"] * rng.standard_normal(3)
    return sim.Recording(run.time, nodes, run.controls, frozenset(noise))
