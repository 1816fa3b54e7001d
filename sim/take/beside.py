"""A take as a ghost beside what is simulated or played, with the model of its own vehicle."""

import numpy as np

from sim.measured import Measured, Moving
from sim.simulation.placing import in_world
from sim.take.take import Take
from sim.world import World, load_world

EVERY_S = 1.0 / 60.0
"""Between two samples, which are joined by screws."""


def shown_beside(take: Take, name: str = "", world: World | None = None) -> Measured:
    """The whole of it on its own clock. world: in which it was flown, where that is there already."""
    world = world or load_world(take.world, seed=take.seed)
    samples = take.playback(lambda: world).samples(EVERY_S)
    vehicle, pivot_w = take.vehicle, np.array(take.legs[0].pivot_w)
    names, poses = list(samples.observed.bodies), np.stack(list(samples.observed.bodies.values()), axis=1)
    placed = np.array([in_world(vehicle.support, row, world, pivot_w) for row in poses])
    moving = Moving(
        vehicle=vehicle.name,
        bodies={name: placed[:, k] for k, name in enumerate(names)},
        controls=samples.controls,
        shape=samples.nodes[:, vehicle.node_layout.shape],
        observables=dict(samples.observed.observables),
        parameters=vehicle.values,
        links=vehicle.links,
    )
    return Measured(name or take.name, samples.time, placed[:, 0], moving)
