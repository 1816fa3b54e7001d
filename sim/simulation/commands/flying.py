"""Commands that say who flies: a mode of the hand, the autopilot, a plan, plans made anew."""

from dataclasses import replace

import numpy as np

from sim.control import (
    ControllerPilot,
    PlannedPilot,
    flight_modes,
    has_autopilot,
    regulator,
    vehicles_with_autopilot,
)
from sim.control.calm_water import calm_water
from sim.control.mpc import StartMpc
from sim.control.plan_following import FlyPlan
from sim.controllers import Controller, ControlLoop, changed_gains, gains_of, made_controller, with_gains
from sim.planner.result.plan import led_astray_m
from sim.platform.errors import InputError, one_of
from sim.platform.values import dataclass
from sim.simulation.commands.executing import execute
from sim.simulation.runs.flight_control import (
    Autopilot,
    ControllerFlight,
    Hand,
    MpcFlight,
    OtherProgram,
    PlanFlight,
)
from sim.simulation.runs.scene_run import SceneRun
from sim.steppers import Stepper
from sim.steppers.dynamics import Dynamics
from sim.vehicles import Vehicle
from sim.vehicles.forms.form import Support


@dataclass(frozen=True, slots=True)
class SetFlightMode:
    mode: str


@execute.register
def _(command: SetFlightMode, run: SceneRun) -> str:
    modes = flight_modes(run.vehicle)
    if command.mode not in modes:
        raise InputError(
            f'{run.vehicle.name} has no flight mode "{command.mode}"; allowed: {", ".join(modes)}'
        )
    run.control.choose_mode(command.mode)
    run.give_to(Hand())
    return f"flight mode: {command.mode}"


@dataclass(frozen=True, slots=True)
class SetDemo:
    """Hand the controls to the autopilot or take them back."""

    on: bool


@execute.register
def _(command: SetDemo, run: SceneRun) -> str:
    if command.on and not has_autopilot(run.vehicle):
        allowed = one_of(vehicles_with_autopilot())
        raise InputError(f"the autopilot does not fly the {run.vehicle.name}; allowed: {allowed}")
    run.give_to(Autopilot() if command.on else Hand())
    return "the autopilot flies" if command.on else _you_fly(run)


@dataclass(frozen=True, slots=True)
class SetControls:
    """Another program flies: these controls act when controls are evaluated next, until it gives others or gives them
    back."""

    values: tuple[float, ...]
    """In the vehicle's order and units; kept within their ranges."""


@execute.register
def _(command: SetControls, run: SceneRun) -> str:
    controls = run.vehicle.controls
    if len(command.values) != len(controls) or not np.isfinite(command.values).all():
        names = ", ".join(f"{control.name} [{control.unit}]" for control in controls)
        raise InputError(
            f"controls {command.values} are refused; allowed: a finite number for each of {names}"
        )
    low = [control.low for control in controls]
    high = [control.high for control in controls]
    begins = not isinstance(run.control.now, OtherProgram)
    run.give_to(OtherProgram(np.clip(np.array(command.values, float), low, high)))
    return "another program flies" if begins else ""


_LOST_M = 0.01
"""Beside its end, at which a plan's inputs alone do not make its motion."""


@execute.register
def _(command: FlyPlan, run: SceneRun) -> str:
    """Errors are fed back where that is asked for, and where the motion is lost without."""
    checked(command, run.vehicle)
    planned, astray_m = command.vehicle, 0.0
    if not command.tracked:
        kernel = run.kernels.get(planned, command.integrator)
        astray_m = led_astray_m(planned, kernel, command.step_s, command.nodes, command.controls)
    lost = astray_m > _LOST_M
    fly_plan(run, replace(command, tracked=command.tracked or lost), lost_m=astray_m if lost else 0.0)
    message = "the plan flies, errors are fed back" if command.tracked else "the plan flies, open loop"
    if lost:
        message = (
            f"the plan flies, errors are fed back: open loop rounding would lead it {astray_m:.2g} m astray"
        )
    assert run.control.plan is not None, "which has just begun"
    after_s = run.control.plan.resume.step_s
    if after_s == command.step_s:
        return message
    return f"{message}; h = {command.step_s:g} s until you leave it, then {after_s:g} s again"


def fly_plan(run: SceneRun, command: FlyPlan, *, lost_m: float = 0.0) -> None:
    """All lanes to the start of a plan that is `checked`, under its inputs; the flown one by its method. Time runs
    from 0."""
    vehicle = command.flown or command.vehicle
    kernel = run.kernels.get(vehicle, command.integrator)
    others = run.dynamics_for(vehicle)[1:]
    dynamics = Dynamics(vehicle, kernel, command.step_s, every_step=True)
    pilot = planned_pilot(command, run.kernels.get(command.vehicle, command.integrator))
    before = run.flown.dynamics if run.control.plan is None else run.control.plan.resume
    resume = Dynamics(vehicle, run.kernels.get(vehicle, before.integrator), before.step_s)
    run.rewind.put_away()
    run.vehicles[vehicle.name] = vehicle
    run.clock.time_s, run.clock.paused = 0.0, False
    run.clock.forget()
    run.history.clear()
    end_s = command.step_s * (len(command.nodes) - 1)
    run.control.now, run.control.outcome = PlanFlight(pilot, end_s, command.nodes[-1], resume, lost_m), ""
    for lane, own in zip(run.lanes, (dynamics, *others), strict=True):
        first, controls = command.nodes[0].copy(), command.controls[0].copy()
        lane.restart(first, run.pilot(lane), 0.0, dynamics=own, controls=controls)
    run.comparison.restart(vehicle, run.flown.footing, command.nodes[0], 0.0)


def checked(command: FlyPlan, flown: Vehicle) -> None:
    """InputError where the plan cannot be flown here."""
    for vehicle in (command.vehicle, command.flown or command.vehicle):
        if vehicle.name != flown.name:
            raise InputError(f"the plan is for a {vehicle.name}; the {flown.name} cannot fly it")
    nodes, controls = command.nodes, command.controls
    fits = nodes.ndim == controls.ndim == 2 and len(nodes) == len(controls) > 1
    if not fits or nodes.shape[1] != flown.node_layout.size or controls.shape[1] != len(flown.controls):
        raise InputError(f"nodes {nodes.shape} and controls {controls.shape} are no plan of a {flown.name}")
    if not (np.isfinite(nodes).all() and np.isfinite(controls).all()):
        raise InputError("the plan holds numbers that are not finite")


def planned_pilot(command: FlyPlan, kernel: Stepper) -> PlannedPilot:
    """Who flies it. `kernel`: of the vehicle that was planned for, which is all that the pilot knows."""
    if not command.tracked:
        return PlannedPilot(command.controls, command.step_s)
    along = regulator(command.vehicle, kernel, command.step_s, command.nodes, command.controls)
    return PlannedPilot(command.controls, command.step_s, along)


@dataclass(frozen=True, slots=True)
class StopPlan:
    """Give the vehicle back to the pilot where it is."""


@execute.register
def _(command: StopPlan, run: SceneRun) -> str:
    if not isinstance(run.control.now, PlanFlight):
        return "no plan flies"
    run.leave_plan()
    return _you_fly(run)


@execute.register
def _(command: StartMpc, run: SceneRun) -> str:
    if run.vehicle.support is Support.WATER:
        calm_water(run.vehicle)  # refuses what has no hull that plans could know
    if command.source.berth is not None:
        run.control.outcome = ""
        run.clock.paused = False
    run.give_to(MpcFlight(command.source))
    return "plans fly it, made anew all the time"


@dataclass(frozen=True, slots=True)
class StopMpc:
    """Give the vehicle back to the pilot of its flight mode."""


@execute.register
def _(command: StopMpc, run: SceneRun) -> str:
    if not isinstance(run.control.now, MpcFlight):
        return "no plans are made in flight"
    run.give_to(Hand())
    return _you_fly(run)


@dataclass(frozen=True, slots=True, eq=False)
class FlyBy:
    """Have a controller fly from here on: all lanes without one of their own, or the one that is named."""

    controller: Controller
    lane: str = ""


@execute.register
def _(command: FlyBy, run: SceneRun) -> str:
    name = type(command.controller).__name__
    _check_serves(command.controller, run.vehicle)
    if not command.lane:
        run.give_to(ControllerFlight(command.controller))
        return f"{name} flies"
    lane = run.lane(command.lane)
    lane.follows, lane.controller = False, command.controller
    lane.pilot = ControllerPilot(command.controller)
    return f"{command.lane}: {name} flies"


@dataclass(frozen=True, slots=True)
class SetGain:
    """Change a gain of the controller that flies a lane; its memory is kept."""

    name: str
    value: float
    lane: str = ""
    """Empty: the flown lane."""


@execute.register
def _(command: SetGain, run: SceneRun) -> str:
    pilot = run.lane(command.lane).pilot
    if not isinstance(pilot, ControllerPilot):
        raise InputError(f"no controller flies it; allowed: to set {command.name} where one does")
    renewed = with_gains(pilot.controller, {command.name: command.value})
    _replace(run, pilot.controller, renewed)
    return f"{command.name} = {command.value:g}"


@dataclass(frozen=True, slots=True)
class RenewController:
    """A controller's file has been saved: its class takes the place of the one of that name, in flight."""

    kind: type[Controller]


@execute.register
def _(command: RenewController, run: SceneRun) -> str:
    kind, found = command.kind, 0
    for own in {id(o): o for o in _controllers(run)}.values():
        if (type(own).__module__, type(own).__name__) == (kind.__module__, kind.__name__):
            kept = {n: gain.kept(changed_gains(own).get(n)) for n, gain in gains_of(kind).items()}
            renewed = made_controller(kind, {n: value for n, value in kept.items() if value is not None})
            _check_serves(renewed, run.vehicle)
            _replace(run, own, renewed)
            found += 1
    return f"{kind.__name__}: its file is taken up" if found else ""


def _check_serves(controller: Controller, vehicle: Vehicle) -> None:
    """Raises InputError where it cannot serve the vehicle."""
    ControlLoop(controller, vehicle, deadline_s=ControllerPilot.DEADLINE_S)


def _controllers(run: SceneRun) -> list[Controller]:
    pilots = [lane.pilot.controller for lane in run.lanes if isinstance(lane.pilot, ControllerPilot)]
    now = run.control.now
    return [*pilots, now.controller] if isinstance(now, ControllerFlight) else pilots


def _replace(run: SceneRun, old: Controller, new: Controller) -> None:
    """Whoever flies by the old one flies by the new one, with its memory and from the controls that act."""
    now = run.control.now
    if isinstance(now, ControllerFlight) and now.controller is old:
        run.control.now = ControllerFlight(new)
    for lane in run.lanes:
        if isinstance(lane.pilot, ControllerPilot) and lane.pilot.controller is old:
            lane.pilot = ControllerPilot(new, lane.pilot)
            lane.controller = new if lane.controller is old else lane.controller


def _you_fly(run: SceneRun) -> str:
    return f"you fly, in {run.control.mode} mode"
