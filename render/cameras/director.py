"""Which camera of a film has its turn: a cut every few seconds, by whether there is a way to stand beside."""

import numpy as np

_TURNS: tuple[tuple[str, float], ...] = (
    ("fly-by", 5.0),
    ("chase", 7.0),
    ("crane", 8.0),
    ("tower", 7.0),
    ("orbit", 6.0),
)
"""Cameras and how long they are kept, s of wall time, as long as something moves."""
_OF_WAYS = ("fly-by", "tower", "chase")
"""Of what goes somewhere; what stays in its place is looked at by the others."""
_GOES_MPS = 1.5
_STILL_M = 1e-9


class Director:
    """Told of the subject once a frame."""

    def __init__(self) -> None:
        self._at, self._left_s = -1, 0.0
        self._last_T_wb = np.full((4, 4), np.nan)

    @property
    def kind(self) -> str:
        """The camera whose turn it is."""
        return _TURNS[max(self._at, 0)][0]

    def begin(self) -> None:
        """The next frame is the first one."""
        self._at, self._left_s = -1, 0.0

    def go_on(self, T_wb: np.ndarray, velocity_w: np.ndarray, dt_s: float) -> bool:
        """Whether there is a cut to another camera, dt_s of wall time later.

        T_wb (4, 4), velocity_w (3,) m/s: of the subject. While it does not move at all, as where time stands, a camera
        is kept.
        """
        still = bool(np.abs(T_wb - self._last_T_wb).max() < _STILL_M)
        self._last_T_wb = T_wb.copy()
        self._left_s -= 0.0 if still else dt_s
        if self._at >= 0 and self._left_s > 0.0:
            return False
        goes = float(np.linalg.norm(velocity_w)) > _GOES_MPS
        before = self._at
        for _ in _TURNS:
            self._at = (self._at + 1) % len(_TURNS)
            if goes or self.kind not in _OF_WAYS:
                break
        self._left_s = _TURNS[self._at][1]
        return self._at != before
