"""Commands that take hold of a vehicle's parts: coordinates put by hand, controls held, a body that is pushed."""

import math
from dataclasses import dataclass
from types import MappingProxyType

from sim.platform.errors import InputError, one_of, quote
from sim.simulation.commands.executing import execute
from sim.simulation.lanes.impulses import Push, unpulled
from sim.simulation.runs.scene_run import SceneRun
from sim.vehicles.forms.coordinates import posed

STRONGEST_NS = 1e6
"""Size of an impulse, at most."""


@dataclass(frozen=True, slots=True)
class SetCoordinates:
    """Joints and shape coordinates put to values and at rest, on all lanes; everything else moves on as it does.

    The names are those of `sim.vehicles.forms.coordinates.coordinates_of`. Loops are closed by the other joints.
    """

    values: tuple[tuple[str, float], ...]
    """(name, value in rad or m)."""


@execute.register
def _(command: SetCoordinates, run: SceneRun) -> str:
    wanted = dict(command.values)
    nodes = [posed(lane.dynamics.vehicle, lane.node, wanted) for lane in run.lanes]
    run.leave_plan()
    for lane, node in zip(run.lanes, nodes, strict=True):
        lane.swap(lane.dynamics, lane.footing, node=lane.footing.environment.lift_out(node))
        lane.generation += 1
    run.comparison.restart(run.vehicle, run.flown.footing, run.flown.node, run.flown.time_s)
    if len(command.values) != 1:
        return f"{len(command.values)} coordinates are set"
    name, value = command.values[0]
    return f"{name} = {value:.4g}"


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
    return f"{command.name} is held at {command.value:.4g}"


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
