"""Pictures of plans for the documentation: `python scripts/plan_pictures.py [FOLDER] [--only NAME]` (docs/)."""

import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import click
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from export.pictures import write_png
from export.studio import offscreen_context
from render.cameras.rig import CameraRig
from render.frame import Frame, View, look_at, perspective
from render.passes.targets import Canvas
from render.plan.view import PlanScene
from render.renderer import Renderer
from sim.planner import Iterate, Planner, task_of_scene
from sim.planner.result.record import record_of
from sim.planner.service.planner import STARTS
from sim.planner.service.session import FadingIterate, PlanView
from sim.planner.task.bodies import turns
from sim.scene import load_scene
from sim.world import load_world

SIZE = (1280, 800)
FOV_RAD = 0.52
PICTURES: dict[str, tuple[tuple[float, float, float], tuple[float, float, float]] | None] = {
    "plan-canyon": ((58.0, -15.0, 36.0), (180.0, -3.0, 13.0)),
    "plan-boat-docking": None,
    "plan-car-parking": ((-13.0, 13.0, 11.0), (-1.5, -1.5, 0.0)),
    "plan-helicopter-landing": None,
    "plan-quadrotors": None,
    "plan-sling": None,
    "plan-arm": ((4.4, -1.4, 2.5), (0.35, 0.45, 0.85)),
    "plan-dog": ((2.7, -3.3, 1.3), (0.95, 0.0, 0.2)),
}
"""Scene -> eye and target [m]; None: as the overview has it."""
_ELSEWHERE = {"plan-dog": "examples/dog"}
"""Scenes that are not in the gallery."""
_LIMITS_S = {"plan-dog": 300.0}
"""Of the processor, where more is needed than plans have else; then the first one that is found is shown."""


@click.command()
@click.argument(
    "folder", type=click.Path(path_type=Path), default=Path("docs"), help="Where the pictures go."
)
@click.option(
    "--only", type=click.Choice(list(PICTURES)), multiple=True, help="As often as you like; all without."
)
def main(folder: Path, only: tuple[str, ...]) -> None:
    """One picture a scene."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in only or PICTURES:
        write_png(folder / f"{name}.png", picture(name, PICTURES[name]))
        print(f"wrote {folder / name}.png", flush=True)


def picture(
    name: str, places: tuple[tuple[float, float, float], tuple[float, float, float]] | None
) -> np.ndarray:
    """(height, width, 3) uint8: the scene's plan with the solver's last iterates."""
    scene = load_scene(_ELSEWHERE.get(name, name))
    world = load_world(scene.world, seed=scene.seed)
    vehicle, task = task_of_scene(scene, world=world)
    iterates: list[Iterate] = []

    def show(iterate: Iterate) -> bool:
        iterates.append(iterate)
        return True

    limit_s, starts = _LIMITS_S.get(name, 30.0), 1 if name in _LIMITS_S else STARTS
    plan = Planner().plan(
        vehicle, task, method=scene.integrator, show=show, time_limit_s=limit_s, starts=starts
    )
    print(f"{name}: {plan.message}", flush=True)
    shown = tuple(FadingIterate(it.places_w, 0.06 * k) for k, it in enumerate(iterates[-24:]))
    view = PlanView(vehicle, task, plan=record_of(plan, name), iterates=shown)
    scenery, aspect = PlanScene(world), SIZE[0] / SIZE[1]
    if places is None:
        rig = CameraRig("overview")
        rig.watch(scenery.reach(view), room_m=scenery.room_m(view))
        camera = rig.update(np.eye(4), np.zeros(6), 0.0, world=world, aspect=aspect)
    else:
        eye_w, target_w = np.array(places[0]), np.array(places[1])
        turned = look_at(eye_w, target_w, np.array([0.0, 0.0, 1.0]))
        camera = View(eye_w, turned, perspective(FOV_RAD, aspect, 0.5, 6000.0))
    frame = scenery.added(Frame(camera, ()), view, 1.44)
    if turns(vehicle) == 3:  # far apart: as it is at each of these moments
        solid = tuple(replace(v, ghost=False, tint=(1.0, 1.0, 1.0)) for v in frame.vehicles)
        frame = replace(frame, vehicles=solid)
    ctx = offscreen_context()
    canvas = Canvas(ctx, SIZE)
    renderer = Renderer(ctx, SIZE, world, quality="high", supersampling=2)
    with ExitStack() as stack:
        for resource in (ctx, canvas, renderer):
            stack.callback(resource.release)
        renderer.draw(frame, canvas.framebuffer)
        return canvas.image()


if __name__ == "__main__":
    main()
