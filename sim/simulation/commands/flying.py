"""Commands that say who flies: a mode of the hand, the autopilot, a plan, a course, plans made anew."""

from dataclasses import dataclass

import numpy as np

from sim.control import (
    PlannedPilot,
    autopilot_of,
    flight_modes,
    has_autopilot,
    regulator,
    vehicles_with_autopilot,
)
from sim.control.course import FollowCourse
from sim.control.mpc import StartMpc
from sim.control.plan_following import FlyPlan
from sim.planner.task.bodies import planar
from sim.planner.task.poses import positions
from sim.platform.errors import InputError, one_of
from sim.simulation.commands.executing import execute
from sim.simulation.flight_control import Autopilot, CourseFlight, Hand, MpcFlight, PlanFlight
from sim.simulation.stage import Stage
from sim.steppers import Stepper
from sim.steppers.dynamics import Dynamics
from sim.vehicle_config import config_of
from sim.vehicles import VEHICLES, Vehicle


@dataclass(frozen=True, slots=True)
class SetFlightMode:
    mode: str


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


@dataclass(frozen=True, slots=True)
class SetDemo:
    """Hand the controls to the autopilot or take them back."""

    on: bool


@execute.register
def _(command: SetDemo, stage: Stage) -> str:
    if command.on and not has_autopilot(stage.vehicle):
        allowed = one_of(vehicles_with_autopilot())
        raise InputError(f"the autopilot does not fly the {stage.vehicle.name}; allowed: {allowed}")
    stage.give_to(Autopilot() if command.on else Hand())
    return "the autopilot flies" if command.on else _you_fly(stage)


@execute.register
def _(command: FlyPlan, stage: Stage) -> str:
    fly_plan(stage, command)
    told = "the plan flies, errors are fed back" if command.tracked else "the plan flies, open loop"
    assert stage.control.plan is not None, "which has just begun"
    after_s = stage.control.plan.resume.step_s
    if after_s == command.step_s:
        return told
    return f"{told}; h = {command.step_s:g} s until you leave it, then {after_s:g} s again"


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
    stage.history.clear()
    end_s = command.step_s * (len(command.nodes) - 1)
    end_w = end_place(vehicle, command.nodes[-1], stage.flown.footing.pivot_w)
    stage.control.now, stage.control.outcome = PlanFlight(pilot, end_s, end_w, resume), ""
    for lane, own in zip(stage.lanes, (dynamics, *others), strict=True):
        first, controls = command.nodes[0].copy(), command.controls[0].copy()
        lane.restart(first, stage.pilot(lane), 0.0, dynamics=own, controls=controls)
    stage.measure.restart(vehicle, stage.flown.footing, command.nodes[0], 0.0)


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
    along = regulator(command.vehicle, kernel, command.step_s, command.nodes[0], command.controls)
    return PlannedPilot(command.controls, command.step_s, along)


def end_place(vehicle: Vehicle, node: np.ndarray, pivot_w: np.ndarray | None) -> np.ndarray:
    """(3,) m; on a plane the height does not count. pivot_w: where the fixed point is of what has one."""
    place = positions(vehicle, node)[0]
    if planar(vehicle):
        place[2] = np.nan
    return place if pivot_w is None else place + pivot_w


@execute.register
def _(command: FollowCourse, stage: Stage) -> str:
    check_course(command, stage.vehicle)
    stage.control.outcome = ""
    stage.clock.paused = False
    stage.give_to(CourseFlight(command))
    return "the course is followed"


def check_course(command: FollowCourse, vehicle: Vehicle) -> None:
    """InputError where a vehicle cannot follow it."""
    if not _follows(vehicle):
        allowed = one_of(tuple(name for name, kind in VEHICLES.items() if _follows(kind)))
        raise InputError(f"the {vehicle.name} cannot follow a course; allowed: {allowed}")
    places, headings = command.places_w, command.headings_rad
    if places.ndim != 2 or places.shape[1] != 2 or len(places) < 2 or headings.shape != (len(places),):
        raise InputError(f"places {places.shape} and headings {headings.shape} are no course")
    if not (np.isfinite(places).all() and np.isfinite(headings).all() and command.step_s > 0.0):
        raise InputError("the course holds numbers that are not finite, or takes no time")
    if not np.linalg.norm(np.diff(places, axis=0), axis=1).any():
        raise InputError("the course leads nowhere: all of its places are one")


def _follows(vehicle: Vehicle | type[Vehicle]) -> bool:
    autopilot, hull = autopilot_of(vehicle), config_of(vehicle).hull
    floats = hull is not None and hull.surface is not None
    return floats and autopilot is not None and autopilot.follow is not None


@dataclass(frozen=True, slots=True)
class StopPlan:
    """Give the vehicle back to the pilot where it is."""


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


@dataclass(frozen=True, slots=True)
class StopMpc:
    """Give the vehicle back to the pilot of its flight mode."""


@execute.register
def _(command: StopMpc, stage: Stage) -> str:
    if not isinstance(stage.control.now, MpcFlight):
        return "no plans are made in flight"
    stage.give_to(Hand())
    return _you_fly(stage)


def _you_fly(stage: Stage) -> str:
    return f"you fly, in {stage.control.mode} mode"
