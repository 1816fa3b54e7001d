"""Another vehicle on the stage, the same one with other parameters, or as its files are now."""

from sim.outfit.own import Renewal, same_space, with_old_values
from sim.simulation.footing import Footing
from sim.simulation.placing import node_at, taken_over
from sim.simulation.stage import Stage
from sim.simulation.start import start_node
from sim.vehicles import Vehicle


def set_parameter(stage: Stage, name: str, value: float | tuple[float, ...]) -> None:
    """On all lanes; pose and velocity are kept, where such a vehicle has them: else all start anew."""
    vehicle = stage.vehicle.with_parameters(**{name: value})
    if not same_space(stage.vehicle, vehicle):
        _begin_with(stage, vehicle)
        return
    methods = stage.methods_for(vehicle)
    stage.measure.change(vehicle, stage.flown)
    for lane, method in zip(stage.lanes, methods, strict=True):
        lane.swap(method, lane.footing)
    stage.vehicles[vehicle.name] = vehicle


def _begin_with(stage: Stage, vehicle: Vehicle) -> None:
    """All lanes at the start with a vehicle that has other states."""
    methods = stage.methods_for(vehicle)
    stage.measure.prepare(vehicle)
    stage.rewind.put_away()
    stage.leave_plan()
    stage.vehicles[vehicle.name] = vehicle
    for lane, method in zip(stage.lanes, methods, strict=True):
        lane.footing = Footing(vehicle, stage.world)
        lane.restart(
            start_node(stage.scene.start, vehicle, lane.footing), stage.pilot(lane), 0.0, method=method
        )
    stage.reset()


def set_vehicle(stage: Stage, vehicle: Vehicle) -> None:
    """Put another vehicle where each lane's old one is, with its velocity."""
    stage.leave_plan()
    methods = stage.methods_for(vehicle)
    stage.measure.prepare(vehicle)
    stage.rewind.put_away()
    stage.source = None
    stage.suit_pilots(vehicle)
    for lane, method in zip(stage.lanes, methods, strict=True):
        footing = Footing(vehicle, stage.world)
        there = taken_over(lane.method.vehicle, vehicle, lane.placement, lane.footing.pivot_w)
        footing.put_at(there.T_wb[:3, 3])
        node = footing.lifted(node_at(vehicle, there))
        lane.swap(method, footing, node=node)
        lane.pilot = stage.pilot(lane)
    stage.tape.clear()
    stage.measure.restart(vehicle, stage.flown.footing, stage.flown.node, stage.flown.time_s)


def renew_vehicle(stage: Stage, renewal: Renewal) -> bool:
    """The flown vehicle as its files are now; returns whether its state could be kept, else all start anew."""
    stage.leave_plan()
    old = stage.vehicle
    vehicle = with_old_values(renewal.kind, old)
    kept = same_space(old, vehicle)
    methods = stage.methods_for(vehicle)
    stage.measure.prepare(vehicle)
    if not kept:
        stage.rewind.put_away()
    renewal.enter()
    stage.vehicles[vehicle.name] = vehicle
    stage.source = None
    stage.suit_pilots(vehicle)
    for lane, method in zip(stage.lanes, methods, strict=True):
        footing = Footing(vehicle, stage.world)
        pivot_w = lane.footing.pivot_w
        footing.put_at(lane.placement.T_wb[:3, 3] if pivot_w is None else pivot_w)
        if kept:
            lane.swap(method, footing)
        else:
            lane.footing = footing
            lane.restart(start_node(stage.scene.start, vehicle, footing), lane.pilot, 0.0, method=method)
        lane.pilot = stage.pilot(lane)
    if not kept:
        stage.reset()
    stage.measure.restart(vehicle, stage.flown.footing, stage.flown.node, stage.flown.time_s)
    return kept
