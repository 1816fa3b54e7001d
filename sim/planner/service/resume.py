"""Planning on from a plan as it was kept or stored, or as it was for a task of another shape."""

import numpy as np

from sim.integrators import integrator
from sim.planner.guess.refine import transferred
from sim.planner.result.plan import Plan
from sim.planner.result.record import PlanRecord
from sim.planner.service.planner import Planner
from sim.planner.solvers.backends import Result
from sim.planner.task.check import check_task
from sim.planner.task.task import Task
from sim.planner.task.waypoints import kept_times, with_times
from sim.planner.transcription.inputs import input_map_of
from sim.planner.transcription.motion import Motion
from sim.vehicles import Vehicle


def resumed(planner: Planner, record: PlanRecord, vehicle: Vehicle, task: Task, *, method: str) -> Plan:
    """The record as a plan to start `task` from: its motion on the task's grid, without multipliers.

    Raises InputError for a task or a method that cannot be.
    """
    scheme = integrator(method)
    check_task(vehicle, scheme, task)
    t = planner.solvers(vehicle, scheme, task).t
    inputs = input_map_of(vehicle).planned(record.controls)
    motion = Motion(record.step_s, record.nodes, inputs, record.controls)
    w = transferred(t, vehicle, task, motion)
    # Waypoints that are dragged keep the times they had; others get those of the motion's nearest nodes.
    timed = with_times(vehicle, kept_times(task, record.task or task), t.places(w))
    result = Result(
        w=w,
        lam_x=np.zeros(t.low.size),
        lam_g=np.zeros(t.row_low.size),
        cost=record.cost,
        violation=np.inf,
        defect=record.defect,
        kkt=np.inf,
        iterations=0,
        seconds=0.0,
        converged=False,
        word="",
        backend="",
        rough=True,
    )
    return Plan(
        vehicle=vehicle,
        integrator=scheme,
        task=timed,
        status=record.status,
        message=record.message,
        motion=motion,
        cost=record.cost,
        costs=record.costs,
        iterations=0,
        history=(),
        seconds=0.0,
        build_seconds=0.0,
        defect=record.defect,
        kkt=np.inf,
        clearance_m=record.clearance_m,
        backend="",
        result=result,
    )
