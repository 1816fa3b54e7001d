"""Runs without a window: of a scene, perhaps by a plan that is solved first, and of a take that is drawn anew."""

import gc
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from export import headless
from export.headless import shown
from export.output import OutputError, check_places
from export.request import FPS, Request
from sim.commands import Command, FlyPlan, PlayTake, ShowMeasured
from sim.platform.errors import InputError
from sim.platform.progress import Tell
from sim.recordings import load_take
from sim.scene import Scene
from sim.simulation import Simulation
from sim.simulation.opening import scene_of, take_as_ghost
from sim.simulation.runs.scene_setup import fixed_point_w
from sim.world import World, load_world

if TYPE_CHECKING:
    from export.studio import Studio
    from sim.planner import Plan
    from sim.planner.service.view import PlanView


def solved(scene: Scene, world: World) -> "Plan":
    """The plan of the scene's task.

    Raises InputError for a scene without a task or a task that cannot be, OutputError where no plan is found.
    """
    from sim.planner import plan, task_of_scene

    vehicle, task = task_of_scene(scene, world=world)
    found = plan(vehicle, task, method=scene.integrator)
    if not found.solved:
        raise OutputError(f"{scene.name}: {found.message}")
    return found


def flight(plan: "Plan") -> FlyPlan:
    """The command to fly it."""
    return FlyPlan(plan.vehicle, plan.integrator, plan.step_s, plan.motion.nodes, plan.controls)


def plan_line(plan: "Plan") -> str:
    """Its message, cost, defect and steps in one line."""
    return (
        f"{plan.message} Cost {plan.cost:.6g}, defect {plan.defect:.1e}, "
        f"{len(plan.controls) - 1} steps of {plan.step_s:.6g} s"
    )


def overlooked(scene: Scene, world: World, plan: "Plan | None" = None) -> "PlanView | None":
    """What the overview is of: the scene's task and its plan; None where it plans nothing, or another camera looks.

    Raises InputError for a task that cannot be.
    """
    if scene.plan is None or scene.race is not None or scene.camera != "overview":
        return None
    from sim.planner import task_of_scene
    from sim.planner.result.record import record_of
    from sim.planner.service.view import PlanView

    vehicle, task = task_of_scene(scene, world=world)
    record = None if plan is None else record_of(plan, scene.name)
    return PlanView(vehicle, task, fixed_point_w(scene.start, vehicle, world), scene.integrator, plan=record)


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
    Raises OutputError where a file could not be created, before anything is made ready; InputError where something is
    asked for that only a window does.
    """
    gc.enable()  # it rests while the program starts
    if request.listen:
        raise InputError("--listen: refused without a window; allowed: with one")
    check_places(request.files)
    world, simulation = prepare(scene)
    found = None
    if plan:
        with shown("Planned"):
            found = solved(scene, world)
        print(plan_line(found))
        simulation.submit(flight(found))
        request = replace(request, seconds=found.duration_s if seconds is None else seconds)

    for asked in at_first:
        simulation.submit(asked)
        answer = simulation.advance(0.0).message
        if answer:
            print(answer)

    def studio() -> "Studio":
        from export.studio import Studio

        seen = overlooked(scene, world, found)
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


SIZE_PX = (1280, 720)


@dataclass(frozen=True, slots=True)
class TakeVideo:
    """A video of a take, with a camera and motion blur that are chosen when it has long been flown."""

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
        simulation.submit(ShowMeasured(take_as_ghost(beside, name, world if here else None)))
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

    def studio() -> "Studio":
        from export.studio import Studio

        return Studio(scene, world, size_px=order.size_px, quality=request.quality)

    headless.run(
        simulation,
        request,
        studio=studio,
        report=lambda told, share: tell(share),
        scene=scene,
        world=world,
    )
