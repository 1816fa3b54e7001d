"""Planning on from a plan as it was kept or stored, or as it was for a task of another shape."""

import numpy as np

from sim.planner.guess.refine import transferred
from sim.planner.result.plan import Plan
from sim.planner.result.record import PlanRecord
from sim.planner.solvers.backends import Result
from sim.planner.task.inputs import input_map_of
from sim.planner.task.task import Task
from sim.planner.task.waypoints import kept_times, with_times
from sim.planner.transcription.motion import Motion
from sim.planner.transcription.transcription import Transcription
from sim.vehicles.forms.base import Vehicle


def resumed(t: Transcription, plan: Plan | PlanRecord, vehicle: Vehicle, task: Task) -> tuple[Task, Result]:
    """The task with its waypoints' times, and the plan's motion on the task's grid, without multipliers.

    Waypoints that are dragged keep the times they had; others get those of the motion's nearest nodes.
    """
    inputs = input_map_of(vehicle).planned(plan.controls)
    nodes = plan.motion.nodes if isinstance(plan, Plan) else plan.nodes
    w = transferred(t, vehicle, task, Motion(plan.step_s, nodes, inputs, plan.controls))
    timed = with_times(vehicle, kept_times(task, plan.task or task), t.places(w))
    return timed, Result(
        w=w,
        lam_x=np.zeros(t.low.size),
        lam_g=np.zeros(t.row_low.size),
        cost=plan.cost,
        violation=np.inf,
        defect=plan.defect,
        kkt=np.inf,
        iterations=0,
        seconds=0.0,
        converged=False,
        word="",
        backend="",
        rough=True,
    )
