"""A segment of a take: steps of one method and one set of parameters, as inputs, impulses and exact restart points."""

from collections.abc import Sequence
from dataclasses import field
from itertools import pairwise

import numpy as np

from sim.integrators import Integrator
from sim.platform.values import dataclass
from sim.vehicles import Vehicle

PERIOD_S = 0.02
"""Between two looks at them, which whole multiples of it are."""
ROW = 7
"""Numbers of a pose: place [m], quaternion (w, x, y, z)."""
Look = tuple[int, np.ndarray, np.ndarray]
"""A step, bodies (k,) that have moved since the look before, and their poses (k, ROW) float32."""


def moved_since(before: np.ndarray | None, poses: np.ndarray) -> np.ndarray:
    """(k,) of bodies whose poses (n, ROW) float32 are others than before; None: all."""
    if before is None or before.shape != poses.shape:
        return np.arange(len(poses))
    return np.flatnonzero((before != poses).any(axis=1))


@dataclass(frozen=True, slots=True, eq=False)
class SolidsLog:
    """Looks one after the other. Arrays are never written to."""

    steps: np.ndarray
    """(k,) int64, increasing."""
    begins: np.ndarray
    """(k,) int64: the first row of each look."""
    which: np.ndarray
    """(m,) int64: the body of each row; the first look has all."""
    poses: np.ndarray
    """(m, ROW) float32."""

    @classmethod
    def of(cls, looks: Sequence[Look]) -> "SolidsLog | None":
        if not looks:
            return None
        counts = [len(which) for _, which, _ in looks]
        return cls(
            np.array([step for step, _, _ in looks], np.int64),
            np.cumsum([0, *counts[:-1]]).astype(np.int64),
            np.concatenate([which for _, which, _ in looks]).astype(np.int64),
            np.concatenate([poses for _, _, poses in looks]).astype(np.float32),
        )

    @property
    def count(self) -> int:
        """Bodies."""
        return int(self.which.max(initial=-1)) + 1

    def at(self, step: int) -> np.ndarray:
        """(bodies, ROW) as of the last look that is not later than a step; of the first where there is none."""
        look = max(int(np.searchsorted(self.steps, step, side="right")) - 1, 0)
        end = int(self.begins[look + 1]) if look + 1 < len(self.steps) else len(self.which)
        last = np.zeros(self.count, np.int64)
        last[self.which[:end]] = np.arange(end)
        return self.poses[last].astype(float)

    def looks(self, begin: int, end: int) -> list[Look]:
        """Those from one step to before another."""
        bounds = [*self.begins.tolist(), len(self.which)]
        return [
            (step, self.which[bounds[k] : bounds[k + 1]], self.poses[bounds[k] : bounds[k + 1]])
            for k, step in enumerate(self.steps.tolist())
            if begin <= step < end
        ]


@dataclass(frozen=True, slots=True, eq=False)
class ImpulseLog:
    """Impulses on a body in its own frame. Arrays are never written to."""

    steps: np.ndarray
    """(k,) int64, increasing."""
    impulses: np.ndarray
    """(k, impulse_size) of the vehicle; each acts at once, before its step."""
    environments: np.ndarray
    """(r, s) the environment's state at some of the restart points, before it is asked there."""
    points: np.ndarray
    """(r,) int64, increasing: which restart points these are."""

    def divided(self, begin: int, end: int) -> list[tuple[np.ndarray | None, int]]:
        """(impulse at the start, steps until the next one) one after the other over these steps."""
        at = sorted({begin, *(int(self.steps[k]) for k in self._within(begin, end))})
        return [(self.at(step), until - step) for step, until in pairwise((*at, end))]

    def at(self, step: int) -> np.ndarray | None:
        """(impulse_size,) at the start of a step, where there is one."""
        k = int(np.searchsorted(self.steps, step))
        return self.impulses[k] if k < len(self.steps) and self.steps[k] == step else None

    def _within(self, begin: int, end: int) -> range:
        first, last = np.searchsorted(self.steps, (begin, end))
        return range(int(first), int(last))

    def moved(self, steps: np.ndarray, until: int) -> "ImpulseLog":
        """The same impulses at the starts of other steps before `until`; those that come together act together."""
        kept = steps < until
        at, where = np.unique(steps[kept], return_inverse=True)
        impulses = np.zeros((len(at), self.impulses.shape[1]))
        np.add.at(impulses, where, self.impulses[kept])
        return ImpulseLog(at, impulses, np.zeros((0, 0)), np.zeros(0, np.int64))


SAME_S = 1e-9
"""Sums of steps are rounded: moments this near are one."""


@dataclass(frozen=True, eq=False)
class Segment:
    """Steps of equal length under piecewise constant controls. Arrays are never written to.

    Nodes are not kept: they follow from the nearest restart point and the controls, to the bit.
    """

    vehicle: Vehicle
    integrator: Integrator
    step_s: float
    since_s: float
    """Time of step 0, from which steps are counted; the segment may begin with a later one."""
    steps: int
    """The step that the segment ends with."""
    change_steps: np.ndarray
    """(m,) int64, increasing: steps from which on other controls act; the first is the segment's first step."""
    controls: np.ndarray
    """(m, n_controls) from each of these steps on."""
    point_steps: np.ndarray
    """(r,) int64, increasing: steps of the restart points; the first is the segment's first step."""
    states: np.ndarray
    """(r, private size) the integrator's private state there."""
    memories: np.ndarray
    """(r, m) what ground contact remembers there; m = 0 where no ground is felt."""
    contact: bool
    """Whether the kernel is the one with ground contact; without ground its bits may still differ."""
    every_step: bool = False
    """The controls were those of a plan, given step by step."""
    pivot_w: tuple[float, ...] | None = None
    """(3,) m: where what turns about a fixed point has it in the world."""
    impulse_log: ImpulseLog | None = None
    """Of an environment that moves, where there was one."""
    solids: SolidsLog | None = None
    """Where its environment's bodies were, where it has some."""
    plans: np.ndarray = field(default_factory=lambda: np.zeros((0, 2), np.int64))
    """(k, 2) of plans made in flight: the step that each was planned at, which may lie before the segment, and
    the step at which it took over, increasing. Its controls are among those above."""
    flown_by: tuple[tuple[int, str, dict[str, float]], ...] = ()
    """(step from which on, class, gains) of the controllers that flew, one after the other, and of each change of
    gains; the class is empty from where on none did."""

    @property
    def first_step(self) -> int:
        return int(self.point_steps[0])

    @property
    def begin_s(self) -> float:
        return self.since_s + self.first_step * self.step_s

    @property
    def end_s(self) -> float:
        return self.since_s + self.steps * self.step_s

    @property
    def feels_ground(self) -> bool:
        return self.memories.shape[1] > 0

    def step_at(self, time_s: float) -> int:
        """The last step that begins by then, within the segment."""
        step = int(np.floor((time_s - self.since_s) / self.step_s + SAME_S / self.step_s))
        return min(max(step, self.first_step), self.steps)

    def rows(self, begin: int, end: int) -> np.ndarray:
        """(end - begin, n_controls): the controls of these steps."""
        index = np.searchsorted(self.change_steps, np.arange(begin, end), side="right") - 1
        return np.ascontiguousarray(self.controls[index])

    def stretches(self, begin: int, end: int) -> list[tuple[np.ndarray, int]]:
        """(controls, steps) one after the other from one step to a later one."""
        first = int(np.searchsorted(self.change_steps, begin, side="right")) - 1
        out, at = [], begin
        for k in range(first, len(self.change_steps)):
            until = end if k + 1 == len(self.change_steps) else min(int(self.change_steps[k + 1]), end)
            if until > at:
                out.append((self.controls[k], until - at))
            at = until
            if at == end:
                break
        return out

    def pushed(self, begin: int, end: int) -> list[tuple[np.ndarray, np.ndarray | None, int]]:
        """As `stretches`, divided where impulses act at the start: (controls, impulse, steps)."""
        stretches = self.stretches(begin, end)
        if self.impulse_log is None:
            return [(controls, None, count) for controls, count in stretches]
        out: list[tuple[np.ndarray, np.ndarray | None, int]] = []
        at = begin
        for controls, count in stretches:
            out += [(controls, impulse, n) for impulse, n in self.impulse_log.divided(at, at + count)]
            at += count
        return out

    def controls_at(self, step: int) -> np.ndarray:
        """What acts in a step; at the end what would act next, or what acted in the last."""
        return self.controls[int(np.searchsorted(self.change_steps, step, side="right")) - 1]

    def same_method(self, other: "Segment") -> bool:
        """Whether both step alike from equal states."""
        return (self.vehicle.name, self.integrator, self.step_s, self.contact) == (
            other.vehicle.name,
            other.integrator,
            other.step_s,
            other.contact,
        ) and np.array_equal(self.vehicle.parameter_vector, other.vehicle.parameter_vector)


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """Everything that a vehicle's motion goes on from."""

    segment: Segment
    step: int
    state: np.ndarray
    """The integrator's private state."""
    memory: np.ndarray
    """What ground contact remembers."""
    controls: np.ndarray
    """That act in the step that begins; at the end of the take those of the last step."""

    @property
    def time_s(self) -> float:
        return self.segment.since_s + self.step * self.segment.step_s
