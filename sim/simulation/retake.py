"""Going on from a moment that is looked back at."""

import sim
from sim.simulation.method import Method
from sim.simulation.stage import Stage


def retake(stage: Stage) -> None:
    """All lanes to the moment that is shown, to the bit; who was not there yet starts from the flown one.

    Pilots begin anew. The clock stands still.
    """
    replay = stage.rewind.replay
    if replay is None:
        raise sim.InputError("nothing is shown to go on from: go back in time first")
    moment = replay.moment()
    vehicle, now_s = moment.leg.vehicle, moment.time_s
    methods = stage.methods_for(vehicle)
    stage.measure.prepare(vehicle)
    stage.rewind.put_away()
    stage.rewind.leave()
    stage.flight = None
    stage.clock.time_s, stage.clock.paused = now_s, True
    stage.clock.forget()
    stage.vehicles[vehicle.name] = vehicle
    for lane, method in zip(stage.lanes, methods, strict=True):
        lane.by_plan = False
        if not replay.put(lane, now_s):
            lane.footing = stage.flown.footing.again()
            lane.restart(stage.flown.node.copy(), lane.pilot, now_s, method=method)
    flown = stage.flown
    known_s = now_s + flown.held_s
    stage.tape.clear()
    for time_s, controls in replay.inputs(min(lane.time_s for lane in stage.lanes), moment):
        stage.tape.record(time_s, controls, known_s)
    if flown.method.every_step:
        flown.swap(Method(vehicle, flown.method.kernel, flown.method.step_s), flown.footing)
    stage.suit_pilots(vehicle)
    for lane in stage.lanes:
        lane.pilot = stage.pilot(lane)
    stage.measure.restart(vehicle, flown.footing, flown.node, now_s)
