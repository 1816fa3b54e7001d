"""Another vehicle on the stage, the same one with other parameters, or as its files are now."""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import singledispatch

from sim.commands import (
    SPEED_RANGE,
    AddLane,
    FlyPlan,
    FollowCourse,
    LetGo,
    Pull,
    RaceAgainst,
    RemoveLane,
    RenewVehicle,
    Reset,
    SetDemo,
    SetFlightMode,
    SetIntegrator,
    SetLanePilot,
    SetLaneTint,
    SetParameter,
    SetPaused,
    SetPilotInput,
    SetReference,
    SetSpeed,
    SetStep,
    SetVehicle,
    SingleStep,
    StartAt,
    StartMpc,
    StopMpc,
    StopPlan,
)
from sim.control import flight_modes, has_autopilot, vehicles_with_autopilot
from sim.platform.errors import InputError, one_of, quote
from sim.platform.validation import array_of, whole
from sim.scene import STEP_RANGE_S
from sim.simulation.appearance import Tint
from sim.simulation.flight_control import Autopilot, CourseFlight, Hand, MpcFlight, PlanFlight
from sim.simulation.footing import Footing
from sim.simulation.impulses import unpulled
from sim.simulation.placing import node_at, taken_over
from sim.simulation.plan_flight import check_course, checked, end_place, planned_pilot
from sim.simulation.scene_setup import start_node
from sim.simulation.stage import Stage
from sim.steppers.dynamics import Dynamics
from sim.vehicle_config.registry import Renewal, same_space, with_old_values
from sim.vehicles import Vehicle


def set_parameter(stage: Stage, name: str, value: float | tuple[float, ...]) -> None:
    """On all lanes; pose and velocity are kept, where such a vehicle has them: else all start anew."""
    vehicle = stage.vehicle.with_parameters(**{name: value})
    if not same_space(stage.vehicle, vehicle):
        _begin_with(stage, vehicle)
        return
    each = stage.dynamics_for(vehicle)
    stage.measure.change(vehicle, stage.flown)
    for lane, dynamics in zip(stage.lanes, each, strict=True):
        lane.swap(dynamics, lane.footing)
    stage.vehicles[vehicle.name] = vehicle


def _begin_with(stage: Stage, vehicle: Vehicle) -> None:
    """All lanes at the start with a vehicle that has other states."""
    each = stage.dynamics_for(vehicle)
    stage.measure.prepare(vehicle)
    stage.rewind.put_away()
    stage.leave_plan()
    stage.vehicles[vehicle.name] = vehicle
    for lane, dynamics in zip(stage.lanes, each, strict=True):
        lane.footing = Footing(vehicle, stage.world)
        lane.restart(
            start_node(stage.scene.start, vehicle, lane.footing), stage.pilot(lane), 0.0, dynamics=dynamics
        )
    stage.reset()


def set_vehicle(stage: Stage, vehicle: Vehicle, integrators: Mapping[str, str]) -> None:
    """Put another vehicle where each lane's old one is, with its velocity; `integrators` by lane, where they change."""
    stage.leave_plan()
    each = stage.dynamics_for(vehicle, integrators)
    stage.measure.prepare(vehicle)
    stage.vehicles[vehicle.name] = vehicle
    stage.rewind.put_away()
    stage.control.suit(vehicle, other=True)
    for lane, dynamics in zip(stage.lanes, each, strict=True):
        footing = Footing(vehicle, stage.world)
        there = taken_over(lane.dynamics.vehicle, vehicle, lane.placement, lane.footing.pivot_w)
        footing.put_at(there.T_wb[:3, 3])
        node = footing.environment.lift_out(node_at(vehicle, there))
        lane.swap(dynamics, footing, node=node)
        lane.pilot = stage.pilot(lane)
    stage.tape.clear()
    stage.measure.restart(vehicle, stage.flown.footing, stage.flown.node, stage.flown.time_s)


def renew_vehicle(stage: Stage, renewal: Renewal) -> bool:
    """The flown vehicle as its files are now; returns whether its state could be kept, else all start anew."""
    stage.leave_plan()
    old = stage.vehicle
    vehicle = with_old_values(renewal.kind, old)
    kept = same_space(old, vehicle)
    each = stage.dynamics_for(vehicle)
    stage.measure.prepare(vehicle)
    if not kept:
        stage.rewind.put_away()
    renewal.enter()
    stage.vehicles[vehicle.name] = vehicle
    stage.control.suit(vehicle, other=True)
    for lane, dynamics in zip(stage.lanes, each, strict=True):
        footing = Footing(vehicle, stage.world)
        pivot_w = lane.footing.pivot_w
        footing.put_at(lane.placement.T_wb[:3, 3] if pivot_w is None else pivot_w)
        if kept:
            lane.swap(dynamics, footing)
        else:
            lane.footing = footing
            lane.restart(start_node(stage.scene.start, vehicle, footing), lane.pilot, 0.0, dynamics=dynamics)
        lane.pilot = stage.pilot(lane)
    if not kept:
        stage.reset()
    stage.measure.restart(vehicle, stage.flown.footing, stage.flown.node, stage.flown.time_s)
    return kept


_FARTHEST = 1e5
"""Of a start, in metres and their like."""


@singledispatch
def execute(command: object, stage: Stage) -> str:
    """Carry a command out; returns what to tell the user, or nothing.

    Raises InputError where it is refused and Compiling where its kernel is not there yet: both leave the
    stage as it was.
    """
    raise InputError(f"unknown command {command!r}")


@execute.register
def _(command: SetPilotInput, stage: Stage) -> str:
    axes = (command.pilot.pitch, command.pilot.roll, command.pilot.yaw, command.pilot.throttle)
    if not all(-1.0 <= axis <= 1.0 for axis in axes):
        raise InputError(f"stick positions {axes} are refused; allowed: -1 to 1 each")
    stage.sticks = command.pilot
    return ""


@execute.register
def _(command: SetPaused, stage: Stage) -> str:
    stage.clock.forget()
    replay = stage.rewind.replay
    if replay is not None and replay.at_end and not command.paused:
        if replay.opened:
            replay.seek(replay.begin_s)
        else:
            stage.rewind.leave()
    stage.clock.paused = command.paused
    return "paused" if command.paused else "running"


@execute.register
def _(command: SingleStep, stage: Stage) -> str:
    count = whole("count", command.count, "steps")
    stage.clock.paused = True
    replay = stage.rewind.replay
    if replay is not None:
        replay.step(count)
        return f"t = {replay.time_s:.4g} s"
    lane = stage.flown
    if lane.running:
        stage.advance_to(max(lane.time_s + count * lane.dynamics.step_s, stage.clock.time_s))
    return f"t = {lane.time_s:.4g} s"


@execute.register
def _(command: SetSpeed, stage: Stage) -> str:
    low, high = SPEED_RANGE
    if not low <= command.speed <= high:
        raise InputError(f"speed {command.speed:g} is refused; allowed: 1/32 to {high:g}")
    stage.clock.speed = command.speed
    stage.clock.forget()
    return f"speed {_speed_text(command.speed)}"


@execute.register
def _(command: Reset, stage: Stage) -> str:
    stage.reset()
    return "back at the start"


@execute.register
def _(command: StartAt, stage: Stage) -> str:
    s = command.start
    numbers = (*s.position_w, *s.velocity_b, *s.omega_b, s.heading_rad, s.pitch_rad, s.roll_rad)
    if not all(math.isfinite(number) and abs(number) <= _FARTHEST for number in numbers):
        raise InputError(f"a start at {s.position_w} is refused; allowed: finite numbers up to {_FARTHEST:g}")
    stage.scene = replace(stage.scene, start=s)
    stage.reset()
    return "another start"


@execute.register
def _(command: SetIntegrator, stage: Stage) -> str:
    lane = stage.lane(command.lane)
    kernel = stage.kernels.get(stage.vehicle, command.name)
    lane.swap(Dynamics(stage.vehicle, kernel, lane.dynamics.step_s), lane.footing)
    return f"{lane.look.name}: {command.name}"


@execute.register
def _(command: SetStep, stage: Stage) -> str:
    lane = stage.lane(command.lane)
    step_s = checked_step(command.step_s)
    lane.swap(Dynamics(stage.vehicle, lane.dynamics.kernel, step_s), lane.footing)
    return f"{lane.look.name}: h = {step_s:g} s"


@execute.register
def _(command: SetVehicle, stage: Stage) -> str:
    if command.name == stage.vehicle.name:
        return f"{command.name} flies already"
    vehicle = stage.vehicle_named(command.name).with_parameters(**dict(command.parameters))
    set_vehicle(stage, vehicle, dict(command.integrators))
    return f"vehicle: {command.name}"


@execute.register
def _(command: RenewVehicle, stage: Stage) -> str:
    name = command.renewal.kind.name
    if name != stage.vehicle.name:
        command.renewal.enter()
        return f"{name}: its files are taken up"
    kept = renew_vehicle(stage, command.renewal)
    return f"{name}: its files are taken up" + ("" if kept else "; it has another state now, and starts anew")


@execute.register
def _(command: SetParameter, stage: Stage) -> str:
    flown = stage.vehicle.name
    if command.vehicle not in ("", flown):
        raise InputError(
            f"{command.name} is meant for {command.vehicle}, and {flown} is flown; allowed: to fly that first"
        )
    set_parameter(stage, command.name, command.value)
    return f"{command.name} = {_value_text(stage.vehicle.values[command.name])}"


@execute.register
def _(command: SetFlightMode, stage: Stage) -> str:
    modes = flight_modes(stage.vehicle)
    if command.mode not in modes:
        raise InputError(
            f'{stage.vehicle.name} has no flight mode "{command.mode}"; allowed: {", ".join(modes)}'
        )
    stage.control.choose_mode(command.mode)
    stage.give_to(Hand())
    return f"flight mode: {command.mode}"


@execute.register
def _(command: SetDemo, stage: Stage) -> str:
    if command.on and not has_autopilot(stage.vehicle):
        allowed = one_of(vehicles_with_autopilot())
        raise InputError(f"the autopilot does not fly the {stage.vehicle.name}; allowed: {allowed}")
    stage.give_to(Autopilot() if command.on else Hand())
    return "the autopilot flies" if command.on else _you_fly(stage)


@execute.register
def _(command: AddLane, stage: Stage) -> str:
    step_s = checked_step(command.step_s)
    kernel = stage.kernels.get(stage.vehicle, command.integrator)
    dynamics = Dynamics(stage.vehicle, kernel, step_s)
    tint = None if command.tint is None else _tint(command.tint)
    lane = stage.add_lane(dynamics, command.name, tint, own_pilot=command.own_pilot)
    return f"new lane: {lane.look.name}"


@execute.register
def _(command: RemoveLane, stage: Stage) -> str:
    if stage.beside.remove(command.lane):
        return f"removed lane: {command.lane}"
    if stage.rewind.replay is not None:
        stage.rewind.replay.remove(command.lane)
        return f"removed lane: {command.lane}"
    lane = stage.lane(command.lane)
    if lane is stage.flown:
        raise InputError("the flown lane stays; allowed: any other")
    stage.lanes.remove(lane)
    return f"removed lane: {lane.look.name}"


@execute.register
def _(command: FlyPlan, stage: Stage) -> str:
    fly_plan(stage, command)
    told = "the plan flies, errors are fed back" if command.tracked else "the plan flies, open loop"
    assert stage.control.plan is not None, "which has just begun"
    after_s = stage.control.plan.resume.step_s
    if after_s == command.step_s:
        return told
    return f"{told}; h = {command.step_s:g} s until you leave it, then {after_s:g} s again"


@execute.register
def _(command: FollowCourse, stage: Stage) -> str:
    check_course(command, stage.vehicle)
    stage.control.outcome = ""
    stage.clock.paused = False
    stage.give_to(CourseFlight(command))
    return "the course is followed"


@execute.register
def _(command: StopPlan, stage: Stage) -> str:
    if not isinstance(stage.control.now, PlanFlight | CourseFlight):
        return "no plan flies"
    stage.leave_plan()
    return _you_fly(stage)


@execute.register
def _(command: StartMpc, stage: Stage) -> str:
    stage.give_to(MpcFlight(command.source))
    return "plans fly it, made anew all the time"


@execute.register
def _(command: StopMpc, stage: Stage) -> str:
    if not isinstance(stage.control.now, MpcFlight):
        return "no plans are made in flight"
    stage.give_to(Hand())
    return _you_fly(stage)


def _you_fly(stage: Stage) -> str:
    return f"you fly, in {stage.control.mode} mode"


@execute.register
def _(command: SetLaneTint, stage: Stage) -> str:
    lane = stage.lane(command.lane)
    lane.look = replace(lane.look, tint=_tint(command.tint))
    return ""


def _tint(given: Tint) -> Tint:
    """Raises InputError for what is no colour."""
    red, green, blue = (float(part) for part in array_of("tint", given, (3,)))
    if not (min(red, green, blue) >= 0.0 and max(red, green, blue) <= 1.0):
        raise InputError(f"tint {quote(given)} is refused; allowed: 0 to 1 each")
    return red, green, blue


@execute.register
def _(command: SetLanePilot, stage: Stage) -> str:
    lane = stage.lane(command.lane)
    if lane is stage.flown:
        raise InputError("the flown lane has a pilot of its own; allowed: any other")
    stage.set_lane_pilot(lane, own=command.own)
    return f"{lane.look.name}: {'a pilot of its own' if command.own else 'controls of the flown lane'}"


@execute.register
def _(command: Pull, stage: Stage) -> str:
    lane = stage.lane(command.lane)
    if not all(math.isfinite(x) for x in (*command.at_b, *command.to_w)):
        raise InputError(f"a pull of {command.body!r} to {command.to_w} is refused; allowed: finite numbers")
    refusal = unpulled(lane.dynamics.vehicle, command.body, lane.observation.layout)
    if refusal:
        raise InputError(refusal)
    for other in stage.lanes:
        other.pull = None
    lane.pull = command
    return ""


@execute.register
def _(command: LetGo, stage: Stage) -> str:
    for lane in stage.lanes:
        lane.pull = None
    return ""


@execute.register
def _(command: RaceAgainst, stage: Stage) -> str:
    if stage.timing is None:
        raise InputError("this scene has no race; allowed: one with gates")
    stage.timing.race_against(command.rival)
    return f"ghost: {command.rival.name}, {command.rival.splits_s[-1]:.2f} s"


@execute.register
def _(command: SetReference, stage: Stage) -> str:
    stage.set_reference(command.on)
    return "the reference starts here" if command.on else "no reference"


def checked_step(step_s: float) -> float:
    """The step [s]; raises InputError where it is too long or too short."""
    low, high = STEP_RANGE_S
    if not low <= step_s <= high:
        raise InputError(f"h = {step_s:g} s is refused; allowed: {low:g} to {high:g} s")
    return float(step_s)


def _speed_text(speed: float) -> str:
    return (
        f"{speed:g}"
        if speed >= 1.0 or not math.isclose(1.0 / speed, round(1.0 / speed))
        else f"1/{1.0 / speed:.0f}"
    )


def _value_text(value: float | tuple[float, ...]) -> str:
    return f"{value:g}" if isinstance(value, int | float) else "(" + ", ".join(f"{x:g}" for x in value) + ")"


def fly_plan(stage: Stage, command: FlyPlan) -> None:
    """All lanes to the start of a plan, under its inputs; the flown one by its method. Time runs from 0."""
    checked(command, stage.vehicle)
    vehicle = command.flown or command.vehicle
    kernel = stage.kernels.get(vehicle, command.integrator)
    others = stage.dynamics_for(vehicle)[1:]
    dynamics = Dynamics(vehicle, kernel, command.step_s, every_step=True)
    pilot = planned_pilot(command, stage.kernels.get(command.vehicle, command.integrator))
    before = stage.flown.dynamics if stage.control.plan is None else stage.control.plan.resume
    resume = Dynamics(vehicle, stage.kernels.get(vehicle, before.integrator), before.step_s)
    stage.rewind.put_away()
    stage.vehicles[vehicle.name] = vehicle
    stage.clock.time_s, stage.clock.paused = 0.0, False
    stage.clock.forget()
    stage.tape.clear()
    end_s = command.step_s * (len(command.nodes) - 1)
    end_w = end_place(vehicle, command.nodes[-1], stage.flown.footing.pivot_w)
    stage.control.now, stage.control.outcome = PlanFlight(pilot, end_s, end_w, resume), ""
    for lane, own in zip(stage.lanes, (dynamics, *others), strict=True):
        first, controls = command.nodes[0].copy(), command.controls[0].copy()
        lane.restart(first, stage.pilot(lane), 0.0, dynamics=own, controls=controls)
    stage.measure.restart(vehicle, stage.flown.footing, command.nodes[0], 0.0)
