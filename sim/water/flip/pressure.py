"""The pressure of a step: it leaves as much water in every cell as there was, and pushes a floating body meanwhile.

The linear system A has a row for each full cell. Unknowns are p dt / (rho cell^2) [1/s], so that a face's velocity
[cells/s] changes by the difference of its cells. Where a full cell meets an empty one, pressure vanishes at the surface
between their centres, where the density passes one half (ghost fluid: F. Gibou et al. 2002), not at the next centre.

Pressure and the body's motion are found in one solve, by conjugate gradients on A + J' W J: J is what a body's twist
adds to the divergence, and W is how that twist answers an impulse. A body lighter than the water that it moves stays
stable, since neither waits for the other (monolithic coupling).
"""

import math

import numpy as np

from sim.native.function import native, unordered
from sim.water.flip.body import FloatingBody, columns
from sim.water.flip.box import TankBox, displace
from sim.water.flip.multigrid import Levels, apply_rows, coarsen, v_cycle

FULL = 0.5
"""A cell with at least this density is water."""
_NEAREST = 0.1
"""The surface is taken no nearer to a centre than this fraction of a cell: the row would be too stiff."""
_LEAST_OPEN = 0.05
_SPREADING = 0.25
"""Fraction of a cell's surplus of particles that a step's flow out of it takes away ..."""
_SLACK = 0.05
"""... beyond this much, which chance makes."""
_MOST_SURPLUS = 0.5
"""Of that at most: beside body and paddle cells are cut, and how full they are is known no better."""
_MOST_JAMMED = 8.0
"""What lies denser than that in a whole cell, where a thin jet has run into a wall, leaves it within one step."""


@native
def surface_fraction(full: np.float32, empty: np.float32) -> np.float32:
    """How far from the full cell's centre the surface is on the way to the empty one's."""
    fraction = (full - np.float32(FULL)) / (full - empty)
    return min(max(fraction, np.float32(_NEAREST)), np.float32(1.0))


@native
def assemble(
    density: np.ndarray,
    faces: np.ndarray,
    blocked: np.ndarray,
    dt: np.float32,
    diagonal: np.ndarray,
    inverse: np.ndarray,
    links: tuple[np.ndarray, np.ndarray, np.ndarray],
    right: np.ndarray,
) -> None:
    """diagonal, links (to the lower neighbour along x, y, z), right side: all (nz + 2, ny + 2, nx + 2) float32.

    The right side takes the velocity of the water through what is open; the part of the body is added by its columns.
    """
    nz, ny, nx = density.shape
    one, none = np.float32(1.0), np.float32(0.0)
    along_x, along_y, along_z = links
    for k in range(1, nz - 1):
        for j in range(1, ny - 1):
            for i in range(1, nx - 1):
                diagonal[k, j, i] = none
                inverse[k, j, i] = none
                right[k, j, i] = none
                along_x[k, j, i] = none
                along_y[k, j, i] = none
                along_z[k, j, i] = none
                here = density[k, j, i]
                if here < FULL:
                    continue
                left, far_right = one - blocked[0, k, j, i], one - blocked[0, k, j, i + 1]
                near, far = one - blocked[1, k, j, i], one - blocked[1, k, j + 1, i]
                low, top = one - blocked[2, k, j, i], one - blocked[2, k + 1, j, i]
                unblocked = min(left, far_right, near, far, low, top) == one
                divergence = far_right * faces[0, k, j, i + 1] - left * faces[0, k, j, i]
                divergence += far * faces[1, k, j + 1, i] - near * faces[1, k, j, i]
                divergence += top * faces[2, k + 1, j, i] - low * faces[2, k, j, i]
                left = none if i == 1 else left
                far_right = none if i == nx - 2 else far_right
                near = none if j == 1 else near
                far = none if j == ny - 2 else far
                low = none if k == 1 else low
                top = none if k == nz - 2 else top
                if left + far_right + near + far + low + top < _LEAST_OPEN:
                    continue
                total, within = none, True
                for side in range(6):
                    if side == 0:
                        fraction, there = left, density[k, j, i - 1]
                    elif side == 1:
                        fraction, there = far_right, density[k, j, i + 1]
                    elif side == 2:
                        fraction, there = near, density[k, j - 1, i]
                    elif side == 3:
                        fraction, there = far, density[k, j + 1, i]
                    elif side == 4:
                        fraction, there = low, density[k - 1, j, i]
                    else:
                        fraction, there = top, density[k + 1, j, i]
                    if there < FULL and fraction > none:
                        fraction = fraction / surface_fraction(here, there)
                        within = False
                    total += fraction
                surplus = here - one
                if surplus > _SLACK:
                    surplus -= np.float32(_SLACK)
                    jammed = min(surplus - np.float32(_MOST_SURPLUS), np.float32(_MOST_JAMMED))
                    surplus = min(surplus, np.float32(_MOST_SURPLUS))
                    if unblocked and jammed > none:
                        surplus += jammed / np.float32(_SPREADING)
                elif surplus < -_SLACK and within:
                    surplus = max(surplus + np.float32(_SLACK), np.float32(-_MOST_SURPLUS))
                else:
                    surplus = none
                diagonal[k, j, i] = total
                inverse[k, j, i] = one / total
                right[k, j, i] = np.float32(_SPREADING) * surplus / dt - divergence
                along_x[k, j, i] = left if density[k, j, i - 1] >= FULL else none
                along_y[k, j, i] = near if density[k, j - 1, i] >= FULL else none
                along_z[k, j, i] = low if density[k - 1, j, i] >= FULL else none
    # A neighbour that has no room of its own has no row.
    for k in range(1, nz - 1):
        for j in range(1, ny - 1):
            for i in range(1, nx - 1):
                if diagonal[k, j, i] == none:
                    continue
                if diagonal[k, j, i - 1] == none:
                    along_x[k, j, i] = none
                if diagonal[k, j - 1, i] == none:
                    along_y[k, j, i] = none
                if diagonal[k - 1, j, i] == none:
                    along_z[k, j, i] = none


@native
def release(
    density: np.ndarray,
    diagonal: np.ndarray,
    blocked: np.ndarray,
    pressure: np.ndarray,
    faces: np.ndarray,
    valid: np.ndarray,
) -> None:
    """Change the faces' velocities by the pressure, and mark as known those that water moves through."""
    nz, ny, nx = density.shape
    one, none = np.float32(1.0), np.float32(0.0)
    for c in range(3):
        a, b, d = int(c == 2), int(c == 1), int(c == 0)
        for k in range(1 + a, nz - 1):
            for j in range(1 + b, ny - 1):
                for i in range(1 + d, nx - 1):
                    lower_wet = diagonal[k - a, j - b, i - d] > none
                    upper_wet = diagonal[k, j, i] > none
                    open_share = one - blocked[c, k, j, i]
                    if open_share < _LEAST_OPEN:
                        valid[c, k, j, i] = 0
                        continue
                    if not (lower_wet or upper_wet):
                        continue
                    lower, upper = pressure[k - a, j - b, i - d], pressure[k, j, i]
                    if lower_wet and upper_wet:
                        faces[c, k, j, i] -= upper - lower
                    elif lower_wet:
                        there = density[k, j, i]
                        fraction = (
                            surface_fraction(density[k - a, j - b, i - d], there) if there < FULL else one
                        )
                        faces[c, k, j, i] += lower / fraction
                    else:
                        there = density[k - a, j - b, i - d]
                        fraction = surface_fraction(density[k, j, i], there) if there < FULL else one
                        faces[c, k, j, i] -= upper / fraction
                    valid[c, k, j, i] = 1


MOST_ITERATIONS = 60


@native
def gather(cells: np.ndarray, column: np.ndarray, count: int, x: np.ndarray, out: np.ndarray) -> None:
    """out (6,) = J x, summed over the body's cells."""
    out[:] = 0.0
    for q in range(count):
        value = float(x[cells[q, 0], cells[q, 1], cells[q, 2]])
        for c in range(6):
            out[c] += column[q, c] * value


@native
def scatter(cells: np.ndarray, column: np.ndarray, count: int, twist: np.ndarray, out: np.ndarray) -> None:
    """out += J' twist."""
    for q in range(count):
        total = 0.0
        for c in range(6):
            total += column[q, c] * twist[c]
        out[cells[q, 0], cells[q, 1], cells[q, 2]] += np.float32(total)


@native
def _apply(  # type: ignore[no-untyped-def]
    system,
    cells: np.ndarray,
    column: np.ndarray,
    count: int,
    response: np.ndarray,
    push: np.ndarray,
    answer: np.ndarray,
    x: np.ndarray,
    out: np.ndarray,
) -> float:
    """out = (A + J' W J) x; returns x . out."""
    total = apply_rows(system[0][0], system[2][0], system[3][0], system[4][0], x, out)
    if count:
        gather(cells, column, count, x, push)
        for a in range(6):
            answer[a] = 0.0
            for b in range(6):
                answer[a] += response[a, b] * push[b]
            total += push[a] * answer[a]
        scatter(cells, column, count, answer, out)
    return total


@unordered
def _dot(a: np.ndarray, b: np.ndarray) -> float:
    nz, ny, nx = a.shape
    total = 0.0
    for k in range(1, nz - 1):
        for j in range(1, ny - 1):
            part = np.float32(0.0)
            for i in range(1, nx - 1):
                part += a[k, j, i] * b[k, j, i]
            total += float(part)
    return total


@unordered
def _advance(
    by: np.float32, p: np.ndarray, residual: np.ndarray, way: np.ndarray, image: np.ndarray
) -> np.float32:
    """p += by way, residual -= by image; returns the greatest residual."""
    nz, ny, nx = p.shape
    most = np.float32(0.0)
    for k in range(1, nz - 1):
        for j in range(1, ny - 1):
            for i in range(1, nx - 1):
                p[k, j, i] += by * way[k, j, i]
                left = residual[k, j, i] - by * image[k, j, i]
                residual[k, j, i] = left
                most = max(most, abs(left))
    return most


@native
def solve(  # type: ignore[no-untyped-def]
    system,
    cells: np.ndarray,
    column: np.ndarray,
    count: int,
    response: np.ndarray,
    push: np.ndarray,
    answer: np.ndarray,
    pressure: np.ndarray,
    residual: np.ndarray,
    way: np.ndarray,
    image: np.ndarray,
    tolerance: float,
    report: np.ndarray,
) -> None:
    """Solve for the pressure, from the one given, until no divergence is left above tolerance times the greatest.

    push (6,) gets J p. report (2,): iterations, the greatest divergence that is left over the greatest at first.
    """
    right, diagonal = system[5][0], system[0][0]
    nz, ny, nx = right.shape
    most = 0.0
    for k in range(1, nz - 1):
        for j in range(1, ny - 1):
            for i in range(1, nx - 1):
                most = max(most, abs(right[k, j, i]))
                if diagonal[k, j, i] <= 0.0:
                    pressure[k, j, i] = 0.0
                    right[k, j, i] = 0.0
    report[0], report[1] = 0.0, 0.0
    if most == 0.0:
        pressure[:] = 0.0
        gather(cells, column, count, pressure, push)
        return
    _apply(system, cells, column, count, response, push, answer, pressure, image)
    left = 0.0
    for k in range(1, nz - 1):
        for j in range(1, ny - 1):
            for i in range(1, nx - 1):
                residual[k, j, i] = right[k, j, i] - image[k, j, i]
                left = max(left, abs(residual[k, j, i]))
    smooth = system[7][0]
    along = 0.0
    for iteration in range(MOST_ITERATIONS):
        if left <= tolerance * most:
            break
        v_cycle(system, residual)
        now = _dot(smooth, residual)
        turn = np.float32(0.0 if iteration == 0 else now / along)
        for k in range(1, nz - 1):
            for j in range(1, ny - 1):
                for i in range(1, nx - 1):
                    way[k, j, i] = smooth[k, j, i] + turn * way[k, j, i]
        along = now
        curvature = _apply(system, cells, column, count, response, push, answer, way, image)
        if not curvature > 0.0:
            break
        left = _advance(np.float32(along / curvature), pressure, residual, way, image)
        report[0] = iteration + 1
    report[1] = left / most
    gather(cells, column, count, pressure, push)


TOLERANCE = 5e-4
"""Greatest divergence that is left, over the greatest before."""


class Balance:
    """The linear system of a box, which every step sets up anew: `begin`, what moves in the water, `solve`."""

    def __init__(self, box: TankBox, *, floating: bool) -> None:
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
        """(6,) sum of the pressures on the body (torque, force), as `FloatingBody.go_on` takes it."""
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
        self,
        body: FloatingBody,
        dt: float,
        cell_m: float,
        blocked: np.ndarray,
        origin: np.ndarray,
        about: np.ndarray,
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
