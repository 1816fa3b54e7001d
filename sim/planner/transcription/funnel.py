"""Plans from a measured start that breaks its task's bounds: they are wider at first, and close while the plan goes on.

A vehicle that is heavier than its plan knows, or flies through a gust, is found a little below its least height or a
little too fast. Its next plan has to lead back inside rather than be refused.
"""

import numpy as np

from sim.planner.task.bodies import own_space, planar, positions, velocities
from sim.planner.task.clearance import clearance
from sim.planner.task.task import Task
from sim.planner.transcription.constraints import node_bounds, velocity_bound
from sim.planner.transcription.transcription import ProgramBounds, Transcription
from sim.platform.values import dataclass
from sim.vehicles.forms.base import Vehicle

_CLOSED, _TURNS = 0.6, 4.0
"""Share of the plan after which its bounds are the task's again at the latest, and how many times longer than to turn
back it may take to be inside: the sooner, the less far off a steady push keeps the vehicle."""
_ROOM = 1.2
"""Of what a start breaks a bound by: on the very edge there would be no interior."""
_LEAST = 1e-6
_AXES = "xyz"


@dataclass(frozen=True, eq=False)
class Funnel:
    """Bounds of one plan's variables and rows, and how much closer its nodes may come to what stands about."""

    bounds: ProgramBounds
    margin_m: np.ndarray
    """(N+1,)."""

    @property
    def arc_margin_m(self) -> np.ndarray:
        """(N,) along each arc."""
        return np.maximum(self.margin_m[:-1], self.margin_m[1:])


@dataclass(frozen=True, eq=False)
class _Excess:
    """By how much the start, or where it drifts before it turns back, is outside."""

    low_m: np.ndarray
    """(3,) below the box, along the world's axes."""
    high_m: np.ndarray
    near_m: float
    """Too close to obstacles or ground."""
    speed: float
    """Share of the limit."""
    turn: float

    @property
    def none(self) -> bool:
        return max(self.low_m.max(), self.high_m.max(), self.near_m, self.speed, self.turn) < _LEAST


def funnel_of(t: Transcription, vehicle: Vehicle, task: Task, reach_s: float) -> Funnel | None:
    """The bounds of a plan from the task's start; None where that is inside them and does not drift out.

    reach_s: for which the start's velocity goes on before the vehicle turns back.
    """
    excess = _excess(vehicle, task, reach_s)
    model, n = t.model, t.shape.steps
    inner = _inner_excess(t, task)
    if excess.none and not inner:
        return None
    closed = n * min(_CLOSED, _TURNS * reach_s / task.duration_s)
    closing = _ROOM * np.maximum(0.0, 1.0 - np.arange(n + 1) / max(closed, 2.0))
    low, high, row_low, row_high = (a.copy() for a in (t.low, t.high, t.row_low, t.row_high))

    def widen(entry: int, below: float, above: float, *, nodes: int = n + 1) -> None:
        """Bounds of one variable of every node, in its own unit."""
        unit = t.running.unscale[entry]
        for k in range(nodes):
            low[k * t.stage_size + entry] -= closing[k] * below / unit
            high[k * t.stage_size + entry] += closing[k] * above / unit

    for axis, index in enumerate(model.position_indices):
        entry = model.component(index)
        if entry is not None:
            widen(entry, excess.low_m[axis], excess.high_m[axis])
    for entry, below, above in inner:
        widen(entry, below, above)
    if model.unknown_is_velocity and not model.eliminates:
        first = model.state.size + model.controls.slice("z").start
        for i, (share, bound) in enumerate(zip(_shares(vehicle, excess), velocity_bound(model), strict=True)):
            widen(first + i, share * bound, share * bound, nodes=n)
    for row, (k, label) in enumerate(t.row_labels()):
        if label is None:
            continue
        if label.name in ("speed", "turn rate"):
            more = closing[k] * (excess.speed if label.name == "speed" else excess.turn)
            row_low[row], row_high[row] = row_low[row] - more, row_high[row] + more
        elif label.name in _AXES and label.unit == "m":
            axis = _AXES.index(label.name)
            row_low[row] -= closing[k] * excess.low_m[axis] / model.scales.length_m
            row_high[row] += closing[k] * excess.high_m[axis] / model.scales.length_m
    return Funnel(ProgramBounds(low, high, row_low, row_high), closing * excess.near_m)


def outside_text(vehicle: Vehicle, task: Task) -> str:
    """What of the task's bounds its start breaks, in a sentence with a space before it; empty where it breaks none."""
    excess, limits = _excess(vehicle, task, 0.0), task.limits
    found = []
    for axis, name in enumerate(_AXES):
        for by_m, side, bound in (
            (excess.low_m, "below", limits.low_w),
            (excess.high_m, "above", limits.high_w),
        ):
            if by_m[axis] > _LEAST and bound is not None:
                found.append(f"{name} is {by_m[axis]:.3g} m {side} {bound[axis]:g} m")
    if excess.near_m > _LEAST:
        found.append(f"it is {excess.near_m:.3g} m too close to what stands about")
    for share, what, limit, unit in (
        (excess.speed, "moves", limits.speed_mps, "m/s"),
        (excess.turn, "turns", limits.turn_radps, "rad/s"),
    ):
        if share > _LEAST:
            found.append(f"it {what} at {(1.0 + share) * limit:.3g} of {limit:g} {unit}")
    return f" It begins outside of its bounds ({'; '.join(found)}) and comes back." if found else ""


def _excess(vehicle: Vehicle, task: Task, reach_s: float) -> _Excess:
    node, limits = task.start.node, task.limits
    x_w, v_w = positions(vehicle, node[None])[0], _velocity_w(vehicle, node)
    low, high = np.full(3, -np.inf), np.full(3, np.inf)
    axes = 2 if planar(vehicle) else 3
    if limits.low_w is not None:
        low[:axes] = limits.low_w[:axes]
    if limits.high_w is not None:
        high[:axes] = limits.high_w[:axes]
    near_m = 0.0
    if task.obstacles or task.ground is not None:
        near_m = float(clearance(vehicle, np.stack([node, node]), task, 0.0).shortage_m.max())
        # Never so much that what is drawn would touch, but where the start does.
        near_m = max(near_m, min(float(np.linalg.norm(v_w)) * reach_s, task.clearance_m))
    fastest = {True: 0.0, False: 0.0}
    for i, angular in velocities(vehicle):
        fastest[angular] = max(fastest[angular], abs(float(node[i])))
    return _Excess(
        np.maximum(low - (x_w + np.minimum(v_w, 0.0) * reach_s), 0.0),
        np.maximum(x_w + np.maximum(v_w, 0.0) * reach_s - high, 0.0),
        near_m,
        max(fastest[False] / limits.speed_mps - 1.0, 0.0),
        max(fastest[True] / limits.turn_radps - 1.0, 0.0),
    )


def _velocity_w(vehicle: Vehicle, node: np.ndarray) -> np.ndarray:
    """(3,) of the main body [m/s]; zero for what moves about a space of its own, whose bounds are on its numbers."""
    out = np.zeros(3)
    if own_space(vehicle):
        return out
    T_wb = vehicle.group.to_matrix(node[vehicle.node_layout.pose][None])[0]
    v_b = node[vehicle.node_layout.velocity][vehicle.group.turns :]
    dim = T_wb.shape[0] - 1
    out[:dim] = T_wb[:dim, :dim] @ v_b
    return out


def _inner_excess(t: Transcription, task: Task) -> list[tuple[int, float, float]]:
    """(variable of a node, below, above) of the bounds of velocity, tilt, shape and others that the start breaks."""
    places, found = set(t.model.position_indices), []
    for index, low, high in node_bounds(t.model):
        entry, value = t.model.component(index), float(task.start.node[index])
        below, above = max(low - value, 0.0), max(value - high, 0.0)
        if entry is not None and index not in places and max(below, above) > _LEAST:
            found.append((entry, below, above))
    return found


def _shares(vehicle: Vehicle, excess: _Excess) -> list[float]:
    return [excess.turn if angular else excess.speed for _, angular in velocities(vehicle)]
