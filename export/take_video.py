"""A video of a take, drawn anew: with a camera and motion blur that are chosen when it has long been flown."""

from dataclasses import dataclass, replace
from pathlib import Path

from export import headless
from export.request import FPS, Request
from export.studio import Studio
from sim.commands import PlayTake, ShowMeasured
from sim.platform.processes import Tell
from sim.recordings import load_take
from sim.recordings.opening import scene_of, shown_beside
from sim.simulation import Simulation
from sim.world import load_world

SIZE_PX = (1280, 720)


@dataclass(frozen=True, slots=True)
class TakeVideo:
    """What is asked for."""

    take: Path
    """The file of the take."""
    path: Path
    camera: str = ""
    """One of the scene's kinds; empty: the scene's own."""
    subframes: int = 1
    """Pictures that are averaged into each one."""
    size_px: tuple[int, int] = SIZE_PX
    """Even."""
    beside: tuple[tuple[str, Path], ...] = ()
    """Names and takes of other lanes on the same clock: ghosts, each with the model of its vehicle."""


def draw_take(order: TakeVideo, tell: Tell) -> None:
    """Write the video; tells the share that is done.

    Raises InputError for a take's file, OutputError and DisplayError; then there is no video.
    """
    take = load_take(order.take)
    scene = scene_of(take)
    if order.camera:
        scene = replace(scene, camera=order.camera)
    world = load_world(scene.world, seed=scene.seed)
    simulation = Simulation(scene, world)
    simulation.submit(PlayTake(take))
    for name, file in order.beside:
        beside = load_take(file)
        here = (beside.world, beside.seed) == (scene.world, scene.seed)
        simulation.submit(ShowMeasured(shown_beside(beside, name, world if here else None)))
    simulation.advance(0.0)
    request = Request(
        seconds=max(take.duration_s, 1.0 / FPS),
        size_px=order.size_px,
        video=order.path,
        screenshot=None,
        csv=None,
        quality="auto",
        demo=False,
        subframes=order.subframes,
    )

    def studio() -> Studio:
        return Studio(scene, world, size_px=order.size_px, quality=request.quality)

    headless.run(
        simulation,
        request,
        studio=studio,
        report=lambda told, share: tell(share),
        scene=scene,
        world=world,
    )
