"""Balls of a tree's bodies that push boxes of others: which there are, and how far one is from the other.

What bodies of two trees do to each other, bodies of one with several roots do: an arm and a box that lies free.
"""

from typing import NamedTuple

import numpy as np

from sim.groups.numeric import upright
from sim.multibody.shapes import Touching
from sim.multibody.spatial import add, dot, entry, jit, larger, rotate, row3, row9, sub, unrotate
from sim.multibody.tree import Tree
from sim.platform.errors import InputError, quote
from sim.shapes import Box, Sphere

_NOTHING = 1e-30
_ROUNDED = 0.5
"""Of a box's least half, by which its edges are rounded: plans need to see ways around them."""


class Pushing(NamedTuple):
    """Pairs of a ball and a box, in the frames of the arrays' bodies that carry them."""

    balls: np.ndarray
    """(m,) bodies that carry the balls."""
    boxes: np.ndarray
    """(m,) bodies that carry the boxes."""
    spheres: np.ndarray
    """(m, 4) centres and radii [m]."""
    frames: np.ndarray
    """(m, 16) of the boxes: rotation (9), centre, half the sizes of what their edges are rounded about, how far [m]."""


def pushing_of(tree: Tree, pairs: tuple[tuple[str, str], ...], solids: tuple[Touching, ...]) -> Pushing:
    """All balls of each pair's first body with all boxes of its second. InputError where there is none."""
    found: list[tuple[int, int, list[float], list[float]]] = []
    for one, other in pairs:
        balls = [each for each in solids if each.body == one and isinstance(each.shape, Sphere)]
        boxes = [each for each in solids if each.body == other and isinstance(each.shape, Box)]
        if not balls or not boxes:
            raise InputError(
                f"{quote(one)} cannot push {quote(other)}; allowed: a body that has a ball, and one that has a box"
            )
        found += [(*_placed(tree, ball, box),) for ball in balls for box in boxes]
    i, j, spheres, frames = zip(*found, strict=True) if found else ((), (), (), ())
    return Pushing(
        np.array(i, np.int64),
        np.array(j, np.int64),
        np.array(spheres, float).reshape(-1, 4),
        np.array(frames, float).reshape(-1, 16),
    )


def _placed(tree: Tree, ball: Touching, box: Touching) -> tuple[int, int, list[float], list[float]]:
    """(carriers, sphere, frame) of one pair."""
    assert isinstance(ball.shape, Sphere)
    assert isinstance(box.shape, Box)
    i, j = (tree.names.index(each.body) for each in (ball, box))
    T_ball = tree.offsets[i] @ ball.T_b
    centre = T_ball[:3, :3] @ np.array(ball.shape.centre_w) + T_ball[:3, 3]
    T_box = tree.offsets[j] @ box.T_b
    R = T_box[:3, :3] @ upright(box.shape.heading_rad)
    middle = T_box[:3, :3] @ np.array(box.shape.centre_w) + T_box[:3, 3]
    sphere = [*centre.tolist(), float(ball.shape.radius_m)]
    half = np.array(box.shape.half_m, float)
    inset = _ROUNDED * float(half.min())
    return int(tree.carriers[i]), int(tree.carriers[j]), sphere, [*R.ravel(), *middle, *(half - inset), inset]


@jit
def from_box(x, half):
    """(distance, direction) from a box about the origin, half as large, to a point of its frame: exact outside."""
    over = (abs(x[0]) - half[0], abs(x[1]) - half[1], abs(x[2]) - half[2])
    out = (larger(over[0], 0.0), larger(over[1], 0.0), larger(over[2], 0.0))
    far = (dot(out, out) + _NOTHING) ** 0.5
    inside = larger(-larger(over[0], larger(over[1], over[2])), 0.0)
    n = (
        out[0] * x[0] / ((abs(x[0]) + _NOTHING) * far),
        out[1] * x[1] / ((abs(x[1]) + _NOTHING) * far),
        out[2] * x[2] / ((abs(x[2]) + _NOTHING) * far),
    )
    return far - inside, n


@jit
def box_gap(frames, sphere, box, i, j, k):
    """(gap between ball and box, direction from the box to the ball, centre of the ball) in the world, of pair k with
    its bodies i and j in `frames` (n, 12)."""
    centre = add(row3(frames, i, 9), rotate(row9(frames, i, 0), row3(sphere, k, 0)))
    carried, own = row9(frames, j, 0), row9(box, k, 0)
    x = unrotate(carried, sub(centre, row3(frames, j, 9)))
    x = unrotate(own, sub(x, row3(box, k, 9)))
    distance, n = from_box(x, row3(box, k, 12))
    return distance - sphere[k, 3] - box[k, 15], rotate(carried, rotate(own, n)), centre


@jit
def parted(before, after, i, j, p):
    """By how much the point of body i that was at p has moved on from that of body j which was there too."""
    one = unrotate(row9(before, i, 0), sub(p, row3(before, i, 9)))
    other = unrotate(row9(before, j, 0), sub(p, row3(before, j, 9)))
    one = add(row3(after, i, 9), rotate(row9(after, i, 0), one))
    other = add(row3(after, j, 9), rotate(row9(after, j, 0), other))
    return sub(one, other)


@entry
def least_gap(frames, balls, boxes, sphere, box):
    """Of all pairs [m]."""
    least = np.inf
    for k in range(balls.shape[0]):
        gap, _, _ = box_gap(frames, sphere, box, balls[k], boxes[k], k)
        least = min(least, gap)
    return least
