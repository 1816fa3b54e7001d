"""Opening a take: the scene it belongs to, the take as a ghost, and what to run; and measured poses."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from sim.platform.errors import InputError
from sim.recordings.file import load_take
from sim.recordings.take import Take
from sim.scene import Scene, entered, load_scene, scene_names, with_overrides
from sim.scene.measured import Measured, VehicleMotion, load_measured
from sim.simulation.commands import Command, PlayTake, Resimulate, ShowMeasured
from sim.simulation.lanes.placing import in_world
from sim.vehicle_config import config_of
from sim.vehicles import is_reference
from sim.world import World, load_world


def scene_of(take: Take) -> Scene:
    """The scene that a take was recorded in, with the take's own ground; failing that one in the same world."""
    names = (take.scene,) if take.scene in scene_names() else scene_names()
    scenes = [load_scene(name) for name in names]
    fitting = next((scene for scene in scenes if scene.world == take.world), scenes[0])
    return replace(fitting, world=take.world, seed=take.seed)


EVERY_S = 1.0 / 60.0
"""Between two samples, which are joined by screws."""


def take_as_ghost(take: Take, name: str = "", world: World | None = None) -> Measured:
    """The whole of it on its own clock. world: in which it was flown, where that is there already."""
    world = world or load_world(take.world, seed=take.seed)
    samples = take.playback(lambda: world).samples(EVERY_S)
    vehicle, held_w = take.vehicle, take.segments[0].pivot_w
    pivot_w = None if held_w is None else np.array(held_w)
    names, poses = list(samples.observed.bodies), np.stack(list(samples.observed.bodies.values()), axis=1)
    placed = np.array([in_world(vehicle, row, world, pivot_w) for row in poses])
    moving = VehicleMotion(
        vehicle=vehicle.name,
        config=config_of(vehicle),
        bodies={name: placed[:, k] for k, name in enumerate(names)},
        controls=samples.controls,
        shape=samples.nodes[:, vehicle.node_layout.shape],
        observables=dict(samples.observed.observables),
        parameters=vehicle.values,
        links=vehicle.links,
        pivot_w=pivot_w,
    )
    return Measured(name or take.name, samples.time, placed[:, 0], moving)


def open_take(
    path: str,
    *,
    vehicle: str | None,
    integrator: str | None,
    step_s: float | None,
    camera: str | None,
    controller: str | None = None,
    trusted: bool | Path = False,
) -> tuple[Scene, tuple[Command, ...], float]:
    """(its scene, what shows it there, its seconds); resimulated beside it where a method or a step is given.

    controller: that flies where the take is taken over.
    """
    if vehicle is not None:
        if not is_reference(vehicle):
            raise InputError("--vehicle: a take has its own; allowed: FILE.py:CLASS, which tells what it was")
        entered(vehicle, trusted=trusted)
    taken = load_take(path)
    scene = with_overrides(scene_of(taken), camera=camera, controller=controller, trusted=trusted)
    commands: tuple[Command, ...] = (PlayTake(taken),)
    if integrator is not None or step_s is not None:
        method = integrator or taken.integrator.name
        with_overrides(scene, vehicle=taken.vehicle.name, integrator=method, step_s=step_s)
        commands += (Resimulate(integrator or "", step_s),)
    return scene, commands, taken.shown_s


def ghost_commands(path: Path) -> tuple[Command, ...]:
    """Commands that show a table of measured poses, or a take, beside the lanes. Raises InputError."""
    if path.suffix.lower() == ".npz":
        return (ShowMeasured(take_as_ghost(load_take(path), path.stem)),)
    return (ShowMeasured(load_measured(path)),)
