"""A lens of some width: a picture that is sharp at one distance is the mean of pictures through points of the lens."""

from dataclasses import replace

import numpy as np

from render.frame import View

LENS_POINTS = 24


def lens_points(count: int) -> np.ndarray:
    """(count, 2) points of the unit disc, evenly spread (Vogel's spiral); the middle alone where there is one."""
    if count == 1:
        return np.zeros((1, 2))
    k = np.arange(count)
    radius, turn = np.sqrt((k + 0.5) / count), k * np.pi * (3.0 - np.sqrt(5.0))
    return np.column_stack([radius * np.cos(turn), radius * np.sin(turn)])


def through_lens(view: View, apart_m: np.ndarray, focus_m: float) -> View:
    """The camera moved (2,) m to its right and up, with a film that is moved so that what is `focus_m` before it stays
    where it is in the picture."""
    moved, sheared = np.eye(4), np.eye(4)
    moved[:2, 3] = -apart_m
    sheared[:2, 2] = -apart_m / focus_m
    eye_w = view.eye_w + view.view[:2, :3].T @ apart_m
    return replace(view, eye_w=eye_w, view=moved @ view.view, projection=view.projection @ sheared)
