"""Balls of a tree's bodies that push boxes of others: which there are, and how far one is from the other.

What bodies of two trees do to each other, bodies of one with several roots do: an arm and a box that lies free. Walls
that stand beside a tree are boxes of the world, round what sticks out of them balls of it.
"""

from typing import NamedTuple

import numpy as np

from sim.groups.numeric import upright
from sim.multibody.observing import world_frames
from sim.multibody.shapes import STAND, Touching
from sim.multibody.spatial import add, dot, entry, jit, larger, rotate, row3, row9, sub, unrotate
from sim.multibody.tree import Tree
from sim.platform.errors import InputError, quote
from sim.shapes import Box, Sphere

_NOTHING = 1e-30
_ROUNDED = 0.5
"""Of a box's least half, by which its edges are rounded: plans need to see ways around them."""


class Pushing(NamedTuple):
    """Pairs of a ball and a box, in the frames of the arrays' bodies that carry them. The world is the one after the
    last (`with_world`)."""

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
    (i, T_i), (j, T_j) = (_carried(tree, each.body) for each in (ball, box))
    T_ball = T_i @ ball.T_b
    centre = T_ball[:3, :3] @ np.array(ball.shape.centre_w) + T_ball[:3, 3]
    T_box = T_j @ box.T_b
    R = T_box[:3, :3] @ upright(box.shape.heading_rad)
    middle = T_box[:3, :3] @ np.array(box.shape.centre_w) + T_box[:3, 3]
    sphere = [*centre.tolist(), float(ball.shape.radius_m)]
    half = np.array(box.shape.half_m, float)
    inset = _ROUNDED * float(half.min())
    return i, j, sphere, [*R.ravel(), *middle, *(half - inset), inset]


def _carried(tree: Tree, name: str) -> tuple[int, np.ndarray]:
    """Which body of the arrays carries a body, and where in its frame."""
    if name == STAND:
        return tree.n, np.eye(4)
    k = tree.names.index(name)
    return int(tree.carriers[k]), tree.offsets[k]


def with_world(n: int) -> np.ndarray:
    """(n + 1, 12) room for the frames of n bodies, and the world's own."""
    frames = np.zeros((n + 1, 12))
    frames[n, [0, 4, 8]] = 1.0
    return frames


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
    """Of all pairs (the least gap [m], whose it is)."""
    least, which = np.inf, -1
    for k in range(balls.shape[0]):
        gap, _, _ = box_gap(frames, sphere, box, balls[k], boxes[k], k)
        if gap < least:
            least, which = gap, k
    return least, which


def nearest(tree: Tree, pairs: Pushing, q: np.ndarray) -> tuple[float, tuple[str, str]]:
    """(Least gap [m], names of the bodies that it is between) with coordinates q (nq,); inf where there are none."""
    frames = with_world(tree.n)
    world_frames(tree.arrays, np.ascontiguousarray(q), np.zeros((tree.n, 12)), frames)
    gap, k = least_gap(frames, pairs.balls, pairs.boxes, pairs.spheres, pairs.frames)
    one, other = ("" if k < 0 else _named(tree, int(of[k])) for of in (pairs.balls, pairs.boxes))
    return float(gap), (one, other)


def _named(tree: Tree, i: int) -> str:
    return "walls" if i == tree.n else tree.names[tree.carriers.tolist().index(i)]
