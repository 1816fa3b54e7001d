"""A scene without a window: made ready, planned where that is asked for, run, told of on the terminal."""

import gc
from dataclasses import replace
from typing import TYPE_CHECKING

from export import headless, planned
from export.output import check_places
from export.progress import shown
from export.request import Request
from sim.commands import Command
from sim.scene import Scene
from sim.simulation import Simulation
from sim.world import World, load_world

if TYPE_CHECKING:
    from export.studio import Studio


def prepare(scene: Scene) -> tuple[World, Simulation]:
    """World and simulation of a scene, with progress on the terminal."""
    with shown(f"World: {scene.world}"):
        world = load_world(scene.world, seed=scene.seed)
    with shown("Compiled kernels") as report:
        simulation = Simulation(scene, world, progress=report)
    return world, simulation


def run_headless(
    scene: Scene,
    request: Request,
    *,
    plan: bool = False,
    seconds: float | None = None,
    at_first: tuple[Command, ...] = (),
) -> None:
    """Simulate without a window and write the files asked for.

    plan: solve the scene's task first and fly the outcome, to its end unless `seconds` says otherwise.
    at_first: what is asked of the simulation.
    Raises OutputError where a file could not be created, before anything is made ready.
    """
    gc.enable()  # it rests while the program starts
    check_places(request.files)
    world, simulation = prepare(scene)
    found = None
    if plan:
        with shown("Planned"):
            found = planned.solved(scene, world)
        print(planned.told(found))
        simulation.submit(planned.flight(found))
        request = replace(request, seconds=found.duration_s if seconds is None else seconds)

    for asked in at_first:
        simulation.submit(asked)
        answer = simulation.advance(0.0).message
        if answer:
            print(answer)

    def studio() -> "Studio":
        from export.studio import Studio

        seen = planned.overlooked(scene, world, found)
        return Studio(scene, world, size_px=request.size_px, quality=request.quality, planned=seen)

    with shown("Running") as report:
        last = headless.run(simulation, request, studio=studio, report=report, scene=scene, world=world)
    lane = last.lanes[0]
    x, y, z = lane.T_wb[:3, 3]
    print(
        f"{scene.name}: {last.clock_s:g} s, {lane.vehicle} under {lane.integrator}, h = {lane.step_s:g} s, "
        f"{lane.status.value} at ({x:.1f}, {y:.1f}, {z:.1f}) m {lane.status_text}".rstrip()
    )
    for path in request.files:
        print(f"wrote {path}")
