"""Any moment of a take, rolled on from the nearest restart point by the kernels that made it; and its inputs once
more, under another method or with other parameters."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np

from sim.compiler import NEWTON_FAILED
from sim.environment.environment import Environment, environment_of, kind_of
from sim.integrators import Integrator
from sim.platform.errors import number
from sim.platform.values import dataclass
from sim.recordings.segment import SAME_S, Moment, Segment
from sim.steppers import Stepper
from sim.steppers.dynamics import Bounds, stepper_of
from sim.vehicles import Vehicle
from sim.vehicles.forms.base import Structure
from sim.vehicles.forms.observation import Observed
from sim.world import World, load_world

Kernels = Callable[[Vehicle, Integrator, bool], Stepper]
"""(vehicle, integrator, with ground contact) -> what advances it."""


def compiled(vehicle: Vehicle, integrator: Integrator, contact: bool) -> Stepper:
    """The kernel of a pair, compiled or from the cache on disk."""
    return stepper_of(vehicle, integrator, kind_of(vehicle).inline if contact else None)


@dataclass(frozen=True, eq=False)
class TakeSamples:
    """Nodes of a take at moments that increase."""

    time: np.ndarray
    """(n,) s."""
    nodes: np.ndarray
    """(n, node size)."""
    controls: np.ndarray
    """(n, n_controls) that act from then on; at the end those of the last step."""
    observed: Observed
    """What is told of the nodes; observables of a step are those of the step that begins there."""
    newton_iterations: int
    """In all steps together."""
    environment_wrench_b: np.ndarray
    """(n, 6) what ground and water do there (torque [N m], force [N]), body frame; zero where it was not asked for."""


class Playback:
    """Looks into a take. `world`: the take's own, where it is loaded already; else it is loaded when it is felt."""

    def __init__(
        self, segments: tuple[Segment, ...], world: Callable[[], World], *, kernels: Kernels = compiled
    ) -> None:
        self._segments, self._world, self._source = segments, world, kernels
        self._known: list[tuple[Segment, Stepper]] = []
        self._last: Moment | None = None

    def kernel(self, segment: Segment) -> Stepper:
        """What advances a segment."""
        for known, kernel in self._known:
            if _kind(known) == _kind(segment):
                return kernel
        kernel = self._source(segment.vehicle, segment.integrator, segment.contact)
        self._known.append((segment, kernel))
        return kernel

    def restart(self, segment: Segment, point: int) -> tuple[np.ndarray, Environment]:
        """Private state and ground of a restart point, to go on from.

        Raises InputError where another version of the integrator made them.
        """
        state = self.kernel(segment).restored(segment.states[point])
        return state, self.ground(segment, segment.memories[point])

    def ground(self, segment: Segment, memory: np.ndarray) -> Environment:
        """What it feels, with this memory."""
        if not memory.size:
            return Environment(segment.vehicle)
        around = environment_of(segment.vehicle, self._world())
        around.restore(memory)
        return around

    def at(self, time_s: float) -> Moment:
        """The last step that begins by then; the first or the last of all where there is none."""
        segment = self.segment_at(time_s)
        return self.moment(segment, segment.step_at(time_s))

    def segment_at(self, time_s: float) -> Segment:
        """In which that moment is."""
        segment = self._segments[0]
        for later in self._segments[1:]:
            if later.begin_s <= time_s + SAME_S:
                segment = later
        return segment

    def moment(self, segment: Segment, step: int) -> Moment:
        """A step of a segment, to the bit."""
        point = int(np.searchsorted(segment.point_steps, step, side="right")) - 1
        begin, last = int(segment.point_steps[point]), self._last
        if last is not None and last.segment is segment and begin <= last.step <= step:
            begin, state, ground = last.step, last.state.copy(), self.ground(segment, last.memory)
        else:
            state, ground = self.restart(segment, point)
        kernel, p = self.kernel(segment), segment.vehicle.parameter_vector
        nothing = np.zeros(kernel.dim)
        for controls, impulse, count in segment.pushed(begin, step):
            if impulse is not None:
                kernel.strike(segment.vehicle, state, impulse, controls, segment.step_s)
            kernel.advance(state, controls, nothing, p, segment.step_s, count, ground.env)
        memory = ground.checkpoint()
        self._last = Moment(segment, step, state, memory, segment.controls_at(step))
        return self._last

    def node(self, moment: Moment) -> np.ndarray:
        """Pose, velocity and shape of a moment, flat."""
        segment = moment.segment
        ground = self.ground(segment, moment.memory.copy())
        p = segment.vehicle.parameter_vector
        return self.kernel(segment).node(moment.state, moment.controls, p, segment.step_s, env=ground.env)

    def samples(self, every_s: float = 0.0, *, felt: bool = False) -> TakeSamples:
        """Nodes at all steps, or only at those that begin `every_s` seconds or more after the one before.

        felt: with the wrench of what surrounds it, which costs another run.
        Raises InputError for what is no such time.
        """
        every_s = number("every_s", every_s, low=0.0)
        last = self._segments[-1]
        parts = [
            part
            for segment in self._segments
            for part in self._leg_samples(segment, every_s, last=segment is last, felt=felt)
        ]
        time, nodes, controls, rows, felt_b = (
            np.concatenate([columns[k] for columns, _ in parts]) for k in range(5)
        )
        observed = Observed(self.kernel(last).layout, rows)
        return TakeSamples(
            time, nodes, controls, observed, sum(iterations for _, iterations in parts), felt_b
        )

    def _leg_samples(
        self, segment: Segment, every_s: float, *, last: bool, felt: bool
    ) -> list[tuple[list[np.ndarray], int]]:
        kernel, p = self.kernel(segment), segment.vehicle.parameter_vector
        stride = max(int(np.ceil(every_s / segment.step_s - SAME_S)), 1)
        bounds = [*segment.point_steps.tolist(), segment.steps]
        parts: list[tuple[list[np.ndarray], int]] = []
        for point, (begin, end) in enumerate(pairwise(bounds)):
            ending = last and point == len(segment.point_steps) - 1
            if end == begin and not ending:
                continue
            rows = segment.rows(begin, end) if end > begin else segment.controls_at(begin)[None]
            state, ground = self.restart(segment, point)
            nodes, _, iterations = self.rolled(segment, begin, end, state, ground)
            steps = np.arange(begin, end + 1)
            kept = (steps - segment.first_step) % stride == 0
            kept[-1] = ending
            us = np.vstack([rows, segment.controls_at(end)])[: len(steps)]
            if ending:
                nodes[-1] = kernel.node(state, us[-1], p, segment.step_s, env=ground.env)
            observed = kernel.observe_all(nodes, us, p, segment.step_s)
            told = ground.told(observed.layout, observed.rows)
            columns = (segment.since_s + steps * segment.step_s, nodes, us, told)
            wrenches_b = np.zeros((kept.sum(), 6))
            if felt and ground.env:
                wrenches_b = self._wrenches_b(segment, point, steps[kept])
            parts.append(([*(column[kept] for column in columns), wrenches_b], iterations))
        return parts

    def _wrenches_b(self, segment: Segment, point: int, steps: np.ndarray) -> np.ndarray:
        """(n, 6) what surrounds it does at steps that follow a restart point."""
        kernel, p = self.kernel(segment), segment.vehicle.parameter_vector
        at, (state, ground) = int(segment.point_steps[point]), self.restart(segment, point)
        found = np.zeros((len(steps), 6))
        for row, step in zip(found, steps.tolist(), strict=True):
            if step > at:
                self.rolled(segment, at, step, state, ground)
                at = step
            around = ground.probe()  # as the lane read it: before the next controls
            kernel.node(state, segment.controls_at(max(step - 1, 0)), p, segment.step_s, env=around.env)
            row[:] = around.wrench_b
        return found

    def rolled(
        self, segment: Segment, begin: int, end: int, state: np.ndarray, ground: Environment
    ) -> tuple[np.ndarray, int, int]:
        """Nodes (end - begin + 1, node size), each before any impulse there, steps done, and iterations.

        `state` and `ground` go on to the end.
        """
        kernel, p, h = self.kernel(segment), segment.vehicle.parameter_vector, segment.step_s
        rows = segment.rows(begin, end) if end > begin else segment.controls_at(begin)[None]
        if segment.impulse_log is None or end == begin:
            return kernel.trajectory(state, rows, p, h, end - begin, ground.env)
        nodes, at, total = np.full((end - begin + 1, segment.vehicle.node_layout.size), np.nan), 0, 0
        for impulse, count in segment.impulse_log.divided(begin, end):
            us = np.ascontiguousarray(rows[at : at + count])
            met = kernel.node(state, us[0], p, h, env=ground.probe().env)
            if impulse is not None:
                kernel.strike(segment.vehicle, state, impulse, us[0], h)
            part, done, iterations = kernel.trajectory(state, us, p, h, count, ground.env)
            nodes[at : at + count + 1], nodes[at] = part, met
            at, total = at + done, total + iterations
            if done < count:
                break
        return nodes, at, total


def _kind(segment: Segment) -> tuple[object, ...]:
    """What its kernel depends on."""
    return Structure.of(segment.vehicle), segment.integrator, segment.contact


def world_of(name: str, seed: int) -> Callable[[], World]:
    """Loads a world once it is needed."""
    known: list[World] = []

    def load() -> World:
        if not known:
            known.append(load_world(name, seed=seed))
        return known[0]

    return load


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
                kernel.strike(method.vehicle, state, impulse, controls, h)
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
