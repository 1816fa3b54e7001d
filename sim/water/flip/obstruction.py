"""What stands in the water of a box: a body's hull and a paddle, which block faces and keep particles out."""

import numpy as np

from sim.water.flip.body import Body, Floating
from sim.water.flip.box import Box
from sim.water.flip.paddle import block_off, keep_before
from sim.water.flip.solid import cut_faces, outside, push_out, reach


class Obstruction:
    """The part of each face that is blocked, where things were met last."""

    def __init__(self, box: Box) -> None:
        self.blocked = np.zeros((3, *box.shape), np.float32)
        """Of each face, 0..1, as `cut_faces` has it."""
        self.free = np.ones_like(self.blocked)
        self.about = np.zeros((3, 2), np.int64)
        """Cells that the hull may reach, from and to."""

    def meet(self, box: Box, hull: tuple[Floating, Body] | None, paddle_at: float | None) -> None:
        """What blocks now. `paddle_at`: cells from where the box begins."""
        if hull is None and paddle_at is None:
            return
        self.blocked[:] = 0.0
        self.free[:] = 1.0
        if hull is not None:
            solid = _placed(box, *hull)
            reach(*solid, box.cell_m, box.shape, self.about)
            cut_faces(*solid, box.cell_m, self.about, self.blocked, self.free)
        if paddle_at is not None:
            block_off(paddle_at, self.blocked, self.free)

    def keep_out(
        self, box: Box, hull: tuple[Floating, Body] | None, paddle_at: float | None, place: np.ndarray
    ) -> None:
        """Put particles (n, 3) that have got in back out."""
        if hull is not None:
            top = np.array(box.cells, np.float32) + np.float32(0.999)
            push_out(*_placed(box, *hull), box.cell_m, self.about, place, len(place), top)
        if paddle_at is not None:
            keep_before(paddle_at, place, len(place))

    def room(self) -> np.ndarray:
        """(nz, ny, nx) share of each cell that is left to the water."""
        free = self.free[:, 1:-1, 1:-1, 1:-1]
        upper = np.stack([np.roll(self.free[c], -1, 2 - c)[1:-1, 1:-1, 1:-1] for c in range(3)])
        share: np.ndarray = (free + upper).sum(axis=0) / 6.0
        return share


def outside_of(box: Box, floating: Floating, T_wb: np.ndarray, place: np.ndarray) -> np.ndarray:
    """(n,) whether each particle (n, 3) lies outside of a hull put in at T_wb (4, 4)."""
    solid, keeps = floating.distance, np.empty(len(place), bool)
    at = T_wb[:3, :3].copy(), box.inside(T_wb[:3, 3])
    outside(solid.values, solid.corner_b, solid.spacing_m, *at, box.cell_m, place, keeps)
    return keeps


def _placed(
    box: Box, floating: Floating, body: Body
) -> tuple[np.ndarray, np.ndarray, float, np.ndarray, np.ndarray]:
    """(distances, their corner, their spacing [m], rotation, origin [cells]) of the hull in the box."""
    solid = floating.distance
    return (
        solid.values,
        solid.corner_b,
        solid.spacing_m,
        body.T_wb[:3, :3].copy(),
        box.inside(body.T_wb[:3, 3]),
    )
