"""How much of a frame's detail there is time for: budgets and then the scale follow what frames take. Pure.

Where pictures are drawn by the processors that work out the motion, time goes before detail, and before pictures beyond
fifteen a second.
"""

from collections import deque
from statistics import median

TARGET_S = 1.0 / 30.0
EFFORTS = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5)
"""Less of what is far and small first (`detail`), then of the quality's own scale along each side (`scale`)."""
FLUENT, SHARP = 0.5, 0.8
"""Less effort than this is taken only where there would be fewer than fifteen pictures a second, or motion is late: of
who wants fluent pictures, and of who wants sharp ones."""
_WHOLE_SCALE = 0.9
_LEAST_DETAIL, MOST_DETAIL = 0.8, 4.0
"""Half of the plants is missed more than a fifth of the scale is (benchmarks/sharpness.py)."""
_FRAMES = 8
"""Whose median counts: one that compiles a shader is no measure."""
_AFTER_S = 1.5
"""No second change within: each one allocates."""
_REST_S = 0.25
_LATE, _EARLY = 1.08, 0.85
LATE_S = 1.0 / 15.0
"""A picture follows the last one no sooner while the motion is late and no effort is left to be given up."""
_WELL_S = 5.0
"""Of motion in time, before pictures take more again."""
_GROWTH = 1.3
"""Time is taken to go with the effort to this power where it has not been measured yet."""


def scale(effort: float) -> float:
    """Of the quality's own, along each side."""
    return 1.0 if _WHOLE_SCALE <= effort <= 1.0 else effort


def detail(effort: float) -> float:
    """Of the budgets of triangles and plants; a picture that has time gets more of them."""
    if effort >= 1.0:
        return min(effort**2, MOST_DETAIL)
    return _LEAST_DETAIL


class FrameBudget:
    """Told of every frame; gives the effort of the next one, among EFFORTS."""

    def __init__(self, *, sharp: bool = False) -> None:
        """sharp: pictures lose sharpness only where there would be fewer than fifteen a second."""
        self.sharp = sharp
        self._left: tuple[float, float] | None = None
        """The effort that was changed last, and what a frame took with it."""
        self._gains: dict[tuple[float, float], float] = {}
        """From one effort to another: what frames took after the change, by what they took before."""
        self._times_s: deque[float] = deque(maxlen=_FRAMES)
        self._moving = EFFORTS[0]
        """While something moves."""
        self._since_s = self._still_s = 0.0
        self._stands = False
        self._well_s, self._yields = _WELL_S, False
        self.effort = EFFORTS[0]

    @property
    def frame_s(self) -> float:
        """What a frame takes at present."""
        return median(self._times_s) if self._times_s else 0.0

    @property
    def rests(self) -> bool:
        """Whether nothing has moved for long enough that the picture can be whole."""
        return self._still_s > (0.0 if self._stands else _REST_S)

    @property
    def overspent(self) -> bool:
        """Whether not even the least effort is in time."""
        full = len(self._times_s) == _FRAMES
        return full and self.effort == EFFORTS[-1] and self.frame_s > 1.3 * TARGET_S

    @property
    def shortest_s(self) -> float:
        """From one picture to the next."""
        return LATE_S if self._yields else 0.0

    def observe(
        self,
        frame_s: float,
        *,
        moves: bool,
        stands: bool = False,
        late: bool = False,
        whole: float = EFFORTS[0],
    ) -> float:
        """`frame_s` wall seconds since the last frame. moves: whether anything differs; a picture at rest is drawn with
        the effort `whole`. stands: whether nothing can move, since time does not go on: what does not is at rest at
        once. late: whether pictures take the time in which the motion would be worked out."""
        self._stands = stands
        self._well_s = 0.0 if late else self._well_s + frame_s
        self._yields = self._yields and moves and self._well_s < _WELL_S
        self._still_s = 0.0 if moves else self._still_s + frame_s
        if self.rests:
            return self._change(max(whole, EFFORTS[0]))
        if self.effort != self._moving:
            return self._change(self._moving)
        self._times_s.append(frame_s)
        self._since_s += frame_s
        if len(self._times_s) == _FRAMES and self._since_s > _AFTER_S:
            self._measure()
            self._moving = self._wanted()
            if self._moving != self.effort:
                self._left = self.effort, self.frame_s
            return self._change(self._moving)
        return self.effort

    def _measure(self) -> None:
        """What the last change has brought."""
        if self._left is not None:
            before, taken_s = self._left
            self._gains[before, self.effort] = self.frame_s / taken_s
            self._gains[self.effort, before] = taken_s / self.frame_s
            self._left = None

    def _wanted(self) -> float:
        """The most effort that is in time as far as can be told; one step up at most."""
        at = EFFORTS.index(self.effort)
        late = self._well_s == 0.0
        self._yields = self._yields or (late and self.effort == EFFORTS[-1])
        if self.frame_s > _LATE * self._allowed_s(self.effort):
            lower = EFFORTS[at + 1 :] or EFFORTS[-1:]
            return next((effort for effort in lower if self._in_time(effort)), lower[-1])
        if late:
            return EFFORTS[min(at + 1, len(EFFORTS) - 1)]
        if at and self._well_s >= _WELL_S and self._in_time(EFFORTS[at - 1], _EARLY):
            return EFFORTS[at - 1]
        return self.effort

    def _allowed_s(self, effort: float) -> float:
        """For a frame, before less effort is taken than this."""
        kept = SHARP if self.sharp else FLUENT
        return TARGET_S if effort > kept else LATE_S

    def _in_time(self, effort: float, share: float = 1.0) -> bool:
        return self._expected_s(effort) <= share * self._allowed_s(effort)

    def _expected_s(self, effort: float) -> float:
        guess = (effort / self.effort) ** _GROWTH
        return self.frame_s * self._gains.get((self.effort, effort), guess)

    def _change(self, effort: float) -> float:
        if effort != self.effort:
            self.effort = effort
            self._times_s.clear()
            self._since_s = 0.0
        return self.effort
