"""A plan in a headless run: solved first and handed to the simulation, and seen by who overlooks the task."""

from typing import TYPE_CHECKING

from export.output import OutputError
from sim.commands import FlyPlan
from sim.scene import Scene
from sim.simulation.start import fixed_point_w
from sim.world import World

if TYPE_CHECKING:
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


def told(plan: "Plan") -> str:
    """What there is to tell about it."""
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
