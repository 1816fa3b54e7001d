"""The pressure of a step: it leaves as much water in every cell as there was, and pushes a floating body meanwhile."""

import math

import numpy as np

from sim.water.flip.body import Body
from sim.water.flip.box import Box
from sim.water.flip.multigrid import Levels, coarsen
from sim.water.flip.paddle import displace
from sim.water.flip.pressure import assemble
from sim.water.flip.projection import scatter, solve
from sim.water.flip.solid import columns

TOLERANCE = 5e-4
"""Greatest divergence that is left, over the greatest before."""


class Balance:
    """The linear system of a box, which every step sets up anew: `begin`, what moves in the water, `solve`."""

    def __init__(self, box: Box, *, floating: bool) -> None:
        """floating: whether there is a body whose motion the pressure changes."""
        self._levels = Levels.of(box.shape)
        self.pressure, self._residual, self._way, self._image = (
            np.zeros(box.shape, np.float32) for _ in range(4)
        )
        most = math.prod(box.cells) if floating else 1
        self._cells, self._column = np.zeros((most, 3), np.int32), np.zeros((most, 6), np.float32)
        self._columns = 0
        self._response, self._answer = np.zeros((6, 6)), np.zeros(6)
        self.push = np.zeros(6)
        """(6,) sum of the pressures on the body (torque, force), as `Body.go_on` takes it."""
        self._report = np.zeros(2)

    @property
    def diagonal(self) -> np.ndarray:
        """(nz + 2, ny + 2, nx + 2) of the last step's system: above zero where a cell is water."""
        return self._levels.diagonal[0]

    @property
    def iterations(self) -> int:
        """Of the last step's solution."""
        return int(self._report[0])

    @property
    def left(self) -> float:
        """Greatest divergence that it has left."""
        return float(self._report[1])

    def begin(self, density: np.ndarray, faces: np.ndarray, blocked: np.ndarray, dt: float) -> None:
        """The water alone, as it would flow without pressure."""
        levels = self._levels
        assemble(
            density,
            faces,
            blocked,
            np.float32(dt),
            levels.diagonal[0],
            levels.inverse[0],
            levels.links,
            levels.right[0],
        )
        coarsen(levels.system)
        self._columns = 0

    def let_move(
        self, body: Body, dt: float, cell_m: float, blocked: np.ndarray, origin: np.ndarray, about: np.ndarray
    ) -> None:
        """A body that falls and gives way. origin (3,) [cells]; about (3, 2): the cells that it may touch."""
        levels = self._levels
        self._columns = columns(blocked, levels.diagonal[0], origin, about, self._cells, self._column)
        scatter(self._cells, self._column, self._columns, -body.falling(dt, cell_m), levels.right[0])
        self._response[:] = body.response(cell_m)

    def displaced(self, at: float, speed: float) -> None:
        """A paddle there [cells], as fast [cells/s]."""
        displace(at, speed, self._levels.diagonal[0], self._levels.right[0])

    def solve(self) -> None:
        """Find pressure and push, from the pressure of the step before."""
        solve(
            self._levels.system,
            self._cells,
            self._column,
            self._columns,
            self._response,
            self.push,
            self._answer,
            self.pressure,
            self._residual,
            self._way,
            self._image,
            TOLERANCE,
            self._report,
        )
