"""The inputs of a take once more, under another method or with other parameters."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sim.compiler import NEWTON_FAILED
from sim.environment.environment import kind_of
from sim.recordings.playback import Playback
from sim.recordings.segment import Segment, strike
from sim.steppers.dynamics import Bounds
from sim.vehicles import Vehicle

POINT_PERIOD_S = 0.5
"""Simulated time between two restart points."""
MOST_SEEN = 10_000
"""Steps whose nodes are looked at together."""
_EARLY = 1e-6
"""In steps: what lies this little after the start of a step counts for that step."""


def resimulated(
    segments: tuple[Segment, ...],
    methods: tuple[Segment, ...],
    playback_of: Callable[[tuple[Segment, ...]], Playback],
) -> tuple[tuple[Segment, ...], str]:
    """(the segments under other methods, why they end before the original does, or nothing).

    methods: the segments with another vehicle, integrator or step, whose arrays do not count. The first segment starts
    where it did, the others go on from the end of the one before. A step gets the inputs that were in force when
    it begins. A segment ends with the last node within the bounds of a motion that begins as it does, as in `simulate`.
    """
    old, new = playback_of(segments), playback_of(methods)
    out: list[Segment] = []
    same = True
    for segment, method in zip(segments, methods, strict=True):
        nothing = _fresh(segment.vehicle, segment.memories[0])
        same = same and method.same_method(segment)
        # A later segment that does not count its steps from its beginning goes on in the middle of what was under way.
        if same and (not out or segment.first_step > 0):
            begun, cause = _rolled(method, segment, new, segment.states[0], segment.memories[0])
        else:
            before = (
                old.moment(segment, segment.first_step) if not out else new.moment(out[-1], out[-1].steps)
            )
            node = (new if out else old).node(before)
            method = replace(method, since_s=before.time_s, point_steps=np.zeros(1, np.int64))
            h, p = method.step_s, method.vehicle.parameter_vector
            # What goes on has its momentum under the controls until then.
            u = before.controls if out else segment.controls[0]
            state = new.kernel(method).start(node, u, p, h, new.ground(method, nothing).env)
            begun, cause = _rolled(method, segment, new, state, nothing)
        out.append(begun)
        if cause:
            where, at_s = f"{begun.integrator.name} at h = {begun.step_s:g} s", begun.end_s + begun.step_s
            return tuple(out), f"{where}: {cause} at t = {at_s:.2f} s"
    return tuple(out), ""


def _fresh(vehicle: Vehicle, memory: np.ndarray) -> np.ndarray:
    """Of an environment's checkpoint, for a start at another state at the same time: what lasts there."""
    fresh, lasting = np.zeros_like(memory), kind_of(vehicle).lasting
    fresh[:lasting] = memory[:lasting]
    return fresh


def _rolled(
    method: Segment, inputs: Segment, playback: Playback, state: np.ndarray, memory: np.ndarray
) -> tuple[Segment, str]:
    """The segment that begins with a state at `method`'s first step, with another's inputs; why it ends early."""
    h, first = method.step_s, method.first_step
    steps = max(int(np.floor((inputs.end_s - method.since_s) / h + _EARLY)), first)
    times = inputs.since_s + inputs.change_steps * inputs.step_s
    changes = np.maximum(np.ceil((times - method.since_s) / h - _EARLY).astype(np.int64), first)
    changes[0] = first
    # Of several changes within a step the last one counts.
    kept = np.append(np.diff(changes) > 0, True) & (changes <= steps)
    # Under other steps nothing is left of the moments at which plans took over.
    counted_alike = (method.step_s, method.since_s) == (inputs.step_s, inputs.since_s)
    plans = inputs.plans[inputs.plans[:, 1] <= steps] if counted_alike else inputs.plans[:0]
    flown_by = tuple(since for since in inputs.flown_by if since[0] <= steps) if counted_alike else ()
    segment = replace(
        method,
        steps=steps,
        change_steps=changes[kept],
        controls=inputs.controls[kept],
        plans=plans,
        flown_by=flown_by,
    )
    if inputs.impulse_log is not None:
        at_s = inputs.since_s + inputs.impulse_log.steps * inputs.step_s
        push_steps = np.maximum(np.ceil((at_s - method.since_s) / h - _EARLY).astype(np.int64), first)
        segment = replace(segment, impulse_log=inputs.impulse_log.moved(push_steps, steps))
    kernel, p = playback.kernel(method), method.vehicle.parameter_vector
    every, nothing_acts = min(max(round(POINT_PERIOD_S / h), 1), MOST_SEEN), np.zeros(kernel.dim)
    state, ground = state.copy(), playback.ground(method, memory)
    points, states, memories = [first], [state.copy()], [memory.copy()]
    at, cause, bounds = first, "", None
    while at < steps and not cause:
        until = min(at + every, steps)
        nodes, energy_J = _seen(segment, playback, state, memories[-1], at, until)
        bounds = bounds or Bounds.of(method.vehicle, nodes[0], h)
        beyond = bounds.first_beyond(method.vehicle, nodes, energy_J)
        if beyond is not None and beyond[0] > 0:
            until, cause = at + beyond[0] - 1, beyond[1]
        for controls, impulse, count in segment.pushed(at, until):
            if impulse is not None:
                strike(kernel, method.vehicle, state, impulse, controls, h)
            done, status, _ = kernel.advance(state, controls, nothing_acts, p, h, count, ground.env)
            at += done
            if status:
                cause = "the step's equations have no solution" if status == NEWTON_FAILED else "not finite"
                break
        if at < steps and not cause:
            points.append(at)
            states.append(state.copy())
            memories.append(ground.checkpoint())
    return replace(
        segment,
        steps=at,
        point_steps=np.array(points, np.int64),
        states=np.array(states),
        memories=np.array(memories),
    ), cause


def _seen(
    segment: Segment, playback: Playback, state: np.ndarray, memory: np.ndarray, begin: int, end: int
) -> tuple[np.ndarray, np.ndarray]:
    """Nodes (n, node size) and energies (n,) from one step to a later one, or to the last that there is."""
    kernel, p, h = playback.kernel(segment), segment.vehicle.parameter_vector, segment.step_s
    rows = segment.rows(begin, end)
    nodes, done, _ = playback.rolled(
        segment, begin, end, state.copy(), playback.ground(segment, memory.copy())
    )
    nodes = nodes[: done + 1]
    return nodes, kernel.observed_later(nodes, np.vstack([rows, rows[-1:]])[: done + 1], p, h)[0]
