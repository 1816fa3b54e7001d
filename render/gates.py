"""The gates of a race: frames that stand in the world, the next one bright with what is within tinted."""

import numpy as np

from render.frame import Polyline, Surface
from sim.scene.race_timing import Standing

_DUE, _THEN, _OTHER = (1.0, 0.62, 0.05), (0.9, 0.85, 0.7), (0.35, 0.36, 0.38)
"""Linear RGB: the next gate, the one after it, and all others."""
_WIDTHS_PX = (6.0, 4.0, 2.0)
_WITHIN = 0.10
_ARROW = 0.35
"""Half size of the arrow on the ground of the opening, by its half width."""


def gates_drawn(standing: Standing) -> tuple[tuple[Polyline, ...], tuple[Surface, ...]]:
    """Lines and panes, from the race as it stands."""
    course = standing.course
    due = standing.due % len(course.gates)
    then = (due + 1) % len(course.gates) if course.closed or due + 1 < len(course.gates) else -1
    lines: list[Polyline] = []
    panes: list[Surface] = []
    for index, gate in enumerate(course.gates):
        place = 0 if index == due else 1 if index == then else 2
        colour = (_DUE, _THEN, _OTHER)[place]
        corners = gate.corners_w()
        lines.append(_line(np.vstack([corners, corners[:1]]), colour, _WIDTHS_PX[place]))
        if place == 0:
            ahead, left, _ = gate.frame()
            foot, half = 0.5 * (corners[0] + corners[3]), _ARROW * gate.half_width_m
            head = np.array(
                [foot - half * ahead + half * left, foot + half * ahead, foot - half * ahead - half * left]
            )
            lines.append(_line(head, colour, _WIDTHS_PX[0]))
            pane = corners[[0, 1, 2, 0, 2, 3]]
            panes.append(Surface(pane, np.tile(-ahead, (6, 1)), colour, _WITHIN))
    return tuple(lines), tuple(panes)


def _line(points_w: np.ndarray, colour: tuple[float, float, float], width_px: float) -> Polyline:
    return Polyline(points_w, colour, np.ones(len(points_w)), width_px)
