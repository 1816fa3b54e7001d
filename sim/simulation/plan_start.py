"""Setting out on a plan: the lanes at its start, its inputs for a pilot."""

import copy

from sim.commands import FlyPlan
from sim.simulation.method import Method
from sim.simulation.plan_flight import PlanFlight, checked, end_place, planned_pilot
from sim.simulation.stage import Stage


def fly_plan(stage: Stage, command: FlyPlan) -> None:
    """All lanes to the start of a plan, under its inputs; the flown one by its method. Time runs from 0."""
    checked(command, stage.vehicle)
    vehicle = command.flown or command.vehicle
    kernel = stage.kernels.get(vehicle, command.integrator)
    others = stage.methods_for(vehicle)[1:]
    method = Method(vehicle, kernel, command.step_s, every_step=True)
    pilot = planned_pilot(command, stage.kernels.get(command.vehicle, command.integrator))
    before = stage.flight.resume if stage.flight is not None else stage.flown.method
    resume = Method(vehicle, stage.kernels.get(vehicle, before.integrator), before.step_s)
    stage.rewind.put_away()
    stage.vehicles[vehicle.name] = vehicle
    stage.demo = stage.clock.paused = False
    stage.source = stage.course = None
    stage.clock.time_s = 0.0
    stage.clock.forget()
    stage.tape.clear()
    for lane, own in zip(stage.lanes, (method, *others), strict=True):
        flier = copy.deepcopy(pilot)
        lane.by_plan = True
        lane.restart(command.nodes[0].copy(), flier, 0.0, method=own, controls=command.controls[0].copy())
    stage.measure.restart(vehicle, stage.flown.footing, command.nodes[0], 0.0)
    end_s = command.step_s * (len(command.nodes) - 1)
    stage.flight = PlanFlight(
        end_s, end_place(vehicle, command.nodes[-1], stage.flown.footing.pivot_w), resume
    )
    stage.plan_verdict = ""
