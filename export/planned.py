"""A planned flight for a headless run: solved first, then handed to the simulation."""

from export.output import OutputError
from sim.commands import FlyPlan
from sim.scene import Scene
from sim.world import World


def planned_flight(scene: Scene, world: World) -> tuple[FlyPlan, float, str]:
    """(command, seconds it flies, what there is to tell about the plan).

    Raises InputError for a scene without a task or a task that cannot be, OutputError where no plan is found.
    """
    from sim.planner import plan, task_of_scene

    vehicle, task = task_of_scene(scene, world=world)
    found = plan(vehicle, task, method=scene.integrator)
    if not found.solved:
        raise OutputError(f"{scene.name}: {found.message}")
    told = (
        f"{found.message} Cost {found.cost:.6g}, defect {found.defect:.1e}, "
        f"{len(found.controls) - 1} steps of {found.step_s:.6g} s"
    )
    command = FlyPlan(vehicle, found.integrator, found.step_s, found.motion.nodes, found.controls)
    return command, found.duration_s, told
