"""Commands that put another vehicle, method, step, parameter, layout or props in the place of the present ones, or take
hold of a vehicle's parts: coordinates put by hand, controls held, a body that is pushed."""

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from sim.environment.environment import can_be_met
from sim.platform.errors import InputError, one_of, quote
from sim.platform.values import dataclass
from sim.scene.layout import Layout, difference
from sim.simulation.commands.executing import checked_start, checked_step, execute
from sim.simulation.lanes.impulses import Push, unpulled
from sim.simulation.lanes.placing import Footing, node_at, taken_over
from sim.simulation.runs.scene_run import SceneRun
from sim.simulation.runs.scene_setup import start_node
from sim.steppers.dynamics import Dynamics
from sim.vehicle_config.registry import Renewal, same_space, with_old_values
from sim.vehicles import Vehicle
from sim.vehicles.forms.coordinates import coordinates_of, posed

if TYPE_CHECKING:
    from sim.contact.obstacles.prop_kinds import Placed


@dataclass(frozen=True, slots=True)
class SetVehicle:
    """Swap the vehicle of all lanes; the new one starts where the old one was."""

    name: str
    parameters: tuple[tuple[str, float | tuple[float, ...]], ...] = ()
    """(name, value in SI units) that it takes up; all others are as it had them last."""
    integrators: tuple[tuple[str, str], ...] = ()
    """(lane, method) that it begins with there; other lanes keep theirs where those serve it."""


@execute.register
def _(command: SetVehicle, run: SceneRun) -> str:
    if command.name == run.vehicle.name:
        return f"{command.name} flies already"
    vehicle = run.vehicle_named(command.name).with_parameters(**dict(command.parameters))
    set_vehicle(run, vehicle, dict(command.integrators))
    return f"vehicle: {command.name}"


def set_vehicle(run: SceneRun, vehicle: Vehicle, integrators: Mapping[str, str]) -> None:
    """Put another vehicle where each lane's old one is, with its velocity; `integrators` by lane, where they change."""
    run.leave_plan()
    each = run.dynamics_for(vehicle, integrators)
    run.comparison.prepare(vehicle)
    run.vehicles[vehicle.name] = vehicle
    run.rewind.put_away()
    run.control.suit(vehicle, other=True)
    for lane, dynamics in zip(run.lanes, each, strict=True):
        footing = Footing(vehicle, run.world)
        there = taken_over(lane.dynamics.vehicle, vehicle, lane.placement, lane.footing.pivot_w)
        footing.put_at(there.T_wb[:3, 3])
        node = footing.environment.lift_out(node_at(vehicle, there))
        lane.swap(dynamics, footing, node=node)
        lane.pilot = run.pilot(lane)
    run.history.clear()
    run.comparison.restart(vehicle, run.flown.footing, run.flown.node, run.flown.time_s)


@dataclass(frozen=True, slots=True)
class RenewVehicle:
    """A vehicle of one's own takes the place of the one of that name: its files have changed."""

    renewal: Renewal


@execute.register
def _(command: RenewVehicle, run: SceneRun) -> str:
    name = command.renewal.kind.name
    if name != run.vehicle.name:
        command.renewal.enter()
        return f"{name}: its files are taken up"
    kept = renew_vehicle(run, command.renewal)
    return f"{name}: its files are taken up" + ("" if kept else "; it has another state now, and starts anew")


def renew_vehicle(run: SceneRun, renewal: Renewal) -> bool:
    """The flown vehicle as its files are now; returns whether its state could be kept, else all start anew."""
    run.leave_plan()
    old = run.vehicle
    vehicle = with_old_values(renewal.kind, old)
    kept = same_space(old, vehicle)
    each = run.dynamics_for(vehicle)
    run.comparison.prepare(vehicle)
    if not kept:
        run.rewind.put_away()
    renewal.enter()
    run.vehicles[vehicle.name] = vehicle
    run.control.suit(vehicle, other=True)
    for lane, dynamics in zip(run.lanes, each, strict=True):
        footing = Footing(vehicle, run.world)
        pivot_w = lane.footing.pivot_w
        footing.put_at(lane.placement.T_wb[:3, 3] if pivot_w is None else pivot_w)
        if kept:
            lane.swap(dynamics, footing)
        else:
            node = start_node(run.scene.start, vehicle, footing)
            lane.restart(node, lane.pilot, 0.0, dynamics=dynamics, footing=footing)
        lane.pilot = run.pilot(lane)
    if not kept:
        run.reset()
    run.comparison.restart(vehicle, run.flown.footing, run.flown.node, run.flown.time_s)
    return kept


@dataclass(frozen=True, slots=True)
class SetParameter:
    """One vehicle parameter in SI units, on all lanes."""

    name: str
    value: float | tuple[float, ...]
    vehicle: str = ""
    """That it is meant for, which has to be the present one; empty: whichever is flown."""


@execute.register
def _(command: SetParameter, run: SceneRun) -> str:
    flown = run.vehicle.name
    if command.vehicle not in ("", flown):
        raise InputError(
            f"{command.name} is meant for {command.vehicle}, and {flown} is flown; allowed: to fly that first"
        )
    set_parameter(run, command.name, command.value)
    return f"{command.name} = {_value_text(run.vehicle.values[command.name])}"


def set_parameter(run: SceneRun, name: str, value: float | tuple[float, ...]) -> None:
    """On all lanes; pose and velocity are kept, where such a vehicle has them: else all start anew."""
    vehicle = run.vehicle.with_parameters(**{name: value})
    if not same_space(run.vehicle, vehicle):
        _begin_with(run, vehicle)
        return
    each = run.dynamics_for(vehicle)
    run.comparison.change(vehicle, run.flown)
    for lane, dynamics in zip(run.lanes, each, strict=True):
        lane.swap(dynamics, lane.footing)
    run.vehicles[vehicle.name] = vehicle


def _begin_with(run: SceneRun, vehicle: Vehicle) -> None:
    """All lanes at the start with a vehicle that has other states."""
    each = run.dynamics_for(vehicle)
    run.comparison.prepare(vehicle)
    run.rewind.put_away()
    run.leave_plan()
    run.vehicles[vehicle.name] = vehicle
    for lane, dynamics in zip(run.lanes, each, strict=True):
        footing = Footing(vehicle, run.world)
        node = start_node(run.scene.start, vehicle, footing)
        lane.restart(node, run.pilot(lane), 0.0, dynamics=dynamics, footing=footing)
    run.reset()


def _value_text(value: float | tuple[float, ...]) -> str:
    return f"{value:g}" if isinstance(value, int | float) else "(" + ", ".join(f"{x:g}" for x in value) + ")"


@dataclass(frozen=True, slots=True)
class SetIntegrator:
    """Swap the integrator of a lane in flight; pose and node velocity are kept."""

    name: str
    lane: str = ""
    """Empty: the flown lane."""


@execute.register
def _(command: SetIntegrator, run: SceneRun) -> str:
    lane = run.lane(command.lane)
    kernel = run.kernels.get(run.vehicle, command.name)
    lane.swap(Dynamics(run.vehicle, kernel, lane.dynamics.step_s), lane.footing)
    return f"{lane.look.name}: {command.name}"


@dataclass(frozen=True, slots=True)
class SetStep:
    """Change h of a lane in flight [s]; pose and node velocity are kept."""

    step_s: float
    lane: str = ""


@execute.register
def _(command: SetStep, run: SceneRun) -> str:
    lane = run.lane(command.lane)
    step_s = checked_step(command.step_s)
    lane.swap(Dynamics(run.vehicle, lane.dynamics.kernel, step_s), lane.footing)
    return f"{lane.look.name}: h = {step_s:g} s"


@dataclass(frozen=True, slots=True)
class GiveUpWaiting:
    """What waits for a kernel that is being compiled is not done after all; everything stays as it is."""


@dataclass(frozen=True, slots=True)
class SetLayout:
    """Start, gates and goals of the scene from now on: a start counts from the next one on, a race begins anew."""

    layout: Layout


@execute.register
def _(command: SetLayout, run: SceneRun) -> str:
    before = run.layout
    checked_start(command.layout.start)
    run.set_layout(command.layout)
    return "" if command.layout == before else difference(before, command.layout)


@dataclass(frozen=True, slots=True)
class SetProps:
    """All props of the scene from now on. Those that are there already stay where they are by now; others begin."""

    placed: "tuple[Placed, ...]"


@execute.register
def _(command: SetProps, run: SceneRun) -> str:
    from sim.contact.obstacles.prop_kinds import (
        MOST_PROPS,  # kernels of bodies are loaded where there are some
    )
    from sim.contact.obstacles.props import PropsSpec

    around = run.scene.environment
    if around is not None and not isinstance(around, PropsSpec):
        raise InputError(
            "props cannot stand in an environment of another kind; allowed: in scenes without one"
        )
    if run.scene.plan is not None and not run.scene.plan_optional:
        raise InputError("props cannot stand in a scene with a plan, which would not know of them")
    if run.comparison.on:
        raise InputError("props cannot stand beside a reference, which would meet none of them")
    if not can_be_met(run.vehicle):
        raise InputError(f"nothing that moves can be coupled to {run.vehicle.name}")
    if len(command.placed) > MOST_PROPS:
        raise InputError(f"{len(command.placed)} props are refused; allowed: {MOST_PROPS}")
    before, count = 0 if around is None else len(around.placed), len(command.placed)
    run.set_environment(PropsSpec(command.placed))
    return "" if count == before else f"{count} {'prop' if count == 1 else 'props'}"


STRONGEST_NS = 1e6
"""Size of an impulse, at most."""


@dataclass(frozen=True, slots=True)
class SetCoordinates:
    """Joints and shape coordinates put to values and at rest, on all lanes; everything else moves on as it does.

    The names are those of `sim.vehicles.forms.coordinates.coordinates_of`. Loops are closed by the other joints.
    """

    values: tuple[tuple[str, float], ...]
    """(name, value in rad or m)."""
    pose: str = ""
    """What they are called together; empty: nothing."""


@execute.register
def _(command: SetCoordinates, run: SceneRun) -> str:
    wanted = dict(command.values)
    nodes = [posed(lane.dynamics.vehicle, lane.node, wanted) for lane in run.lanes]
    run.leave_plan()
    for lane, node in zip(run.lanes, nodes, strict=True):
        lane.swap(lane.dynamics, lane.footing, node=lane.footing.environment.lift_out(node))
        lane.generation += 1
    run.comparison.restart(run.vehicle, run.flown.footing, run.flown.node, run.flown.time_s)
    if command.pose:
        return f'pose "{command.pose}"'
    if len(command.values) != 1:
        return f"{len(command.values)} coordinates are set"
    name, value = command.values[0]
    (unit,) = (c.unit for c in coordinates_of(run.vehicle) if c.name == name)
    return (
        f"{name} = {math.degrees(value):.1f}\N{DEGREE SIGN}"
        if unit == "rad"
        else f"{name} = {value:.4g} {unit}"
    )


@dataclass(frozen=True, slots=True)
class HoldControl:
    """A control stays at a value whoever flies, until it is let go."""

    name: str
    value: float | None
    """In its own unit, within its range; None: it is let go."""


@execute.register
def _(command: HoldControl, run: SceneRun) -> str:
    controls = run.vehicle.controls
    names = [control.name for control in controls]
    if command.name not in names:
        raise InputError(
            f"{run.vehicle.name} has no control {quote(command.name)}; allowed: {one_of(names, command.name) or 'none'}"
        )
    index = names.index(command.name)
    low, high = controls[index].low, controls[index].high
    if command.value is not None and not (math.isfinite(command.value) and low <= command.value <= high):
        raise InputError(f"{command.name} = {command.value:g} is refused; allowed: {low:g} to {high:g}")
    for lane in run.lanes:
        held = {k: value for k, value in lane.held.items() if k != index}
        if command.value is not None:
            held[index] = command.value
        lane.held = MappingProxyType(held)
    if command.value is None:
        return f"{command.name} is let go"
    unit = "" if controls[index].unit == "1" else controls[index].unit
    return f"{command.name} is held at {command.value:.4g} {unit}".rstrip()


@execute.register
def _(command: Push, run: SceneRun) -> str:
    lane = run.lane(command.lane)
    numbers = (*command.at_b, *command.impulse_w)
    if not all(math.isfinite(x) for x in numbers) or math.hypot(*command.impulse_w) > STRONGEST_NS:
        raise InputError(
            f"an impulse {command.impulse_w} is refused; allowed: finite numbers, {STRONGEST_NS:g} N s at most"
        )
    refusal = unpulled(lane.dynamics.vehicle, command.body, lane.observation.layout)
    if refusal:
        raise InputError(refusal)
    lane.pushes = (*lane.pushes, command)
    return f"{command.body} is pushed by {math.hypot(*command.impulse_w):.4g} N s"
