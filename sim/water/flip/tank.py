"""A box of water and a body in it, step by step: each step is one list of what is done to particles and faces.

Three-dimensional FLIP on a staggered grid with the body solved together with the pressure. The walls are closed, and a
paddle may make waves; or the box stands open in a sea, and goes with the body.
"""

import math
from dataclasses import replace

import numpy as np

from sim.platform.errors import InputError
from sim.water.flip.body import Floating, FloatingBody, Obstruction, outside_of
from sim.water.flip.box import (
    PER_CELL,
    Paddle,
    Particles,
    TankBox,
    even_out,
    extrapolate,
    hold_border,
    seeded,
)
from sim.water.flip.inflow import bring_in, draw_towards, let_through, shift_particles, take_out
from sim.water.flip.open_sea import OpenSea, SeaAround, cell_number, shifted
from sim.water.flip.pressure import Balance, release
from sim.water.flip.transfer import (
    KEPT,
    block,
    densities,
    face_velocities,
    fastest,
    fold,
    from_faces,
    pair_up,
    to_faces,
)
from sim.water.immersion import GRAVITY

_LAYERS = 3
_FARTHEST = 2.0
"""Cells that water may go in a step; beyond that the step is divided."""
_FALLEN = 1.0
"""Cells that water may fall out of rest in a step; beyond that its own fall counts when the step is divided."""
_MOST_PARTS = 128
"""Nothing is as fast as to need more where a step is shorter than a second and cells are not below a millimetre."""
_SORTED_EVERY = 2
_ROOM = 1.15
"""An open box has room for so many times the particles that fill it."""
_SEED = 1
"""Of where particles stand within their cells, and of those that a sea lets in."""


class Tank:
    """Water in a box: closed, up to `depth_m` over each column of cells (ny, nx) and at rest at first, or open in a
    sea, which fills it."""

    def __init__(
        self,
        box: TankBox,
        depth_m: float | np.ndarray = 0.0,
        *,
        floating: Floating | None = None,
        paddle: Paddle | None = None,
        around: SeaAround | None = None,
    ) -> None:
        """Raises InputError for a depth beyond the box."""
        nx, ny, nz = box.cells
        depth = np.broadcast_to(np.asarray(depth_m, float), (ny, nx))
        if not np.isfinite(depth).all() or depth.min() < 0.0 or depth.max() > nz * box.cell_m * (1 + 1e-9):
            raise InputError(
                f"water box: depth from {depth.min():g} to {depth.max():g} m is refused; "
                f"allowed: 0 to {nz * box.cell_m:g} m"
            )
        self.box, self.floating, self.paddle = box, floating, paddle
        room_for = 0 if around is None else int(_ROOM * PER_CELL * math.prod(box.cells))
        self._particles = Particles(seeded(depth / box.cell_m, box.cells, _SEED), room_for)
        self.clock_s = 0.0
        self.impulse = np.zeros(6)
        """(torque, force) impulse on the body by the last step, world axes, about its origin [N m s, N s]."""
        self._draw = np.array([(2 * _SEED + 1) * 0x9E3779B97F4A7C15 % 2**64], np.uint64)
        self._steps = 0
        shape = box.shape
        self._end = np.zeros(shape, np.int64)
        self.density = np.zeros(shape, np.float32)
        """Fraction of each cell that is full."""
        self.faces = np.zeros((3, *shape), np.float32)
        """Velocities across the faces [cells/s]."""
        self._before = np.zeros_like(self.faces)
        self._border = np.zeros_like(self.faces)
        self._valid = np.zeros(self.faces.shape, np.uint8)
        self._sums, self._block = np.zeros((*self.faces.shape, 2), np.float32), block()
        self._obstruction = Obstruction(box)
        self._balance = Balance(box, floating=floating is not None)
        self.sea: OpenSea | None = None
        if around is not None:
            self._open(OpenSea(around, box))

    @property
    def fastest_mps(self) -> float:
        """No drop gets faster along an axis: twice as fast as what falls through the box. It cuts off jets out of
        gaps that the grid does not see."""
        return 2.0 * math.sqrt(2.0 * GRAVITY * float(self.box.size_m[2]))

    @property
    def diagonal(self) -> np.ndarray:
        """(nz + 2, ny + 2, nx + 2) of the last step's system: above zero where a cell is water."""
        return self._balance.diagonal

    @property
    def pressure(self) -> np.ndarray:
        """(nz + 2, ny + 2, nx + 2) of the last step, from which the next one sets out; may be written to."""
        return self._balance.pressure

    @property
    def iterations(self) -> int:
        """Of the last step's pressure."""
        return self._balance.iterations

    @property
    def left(self) -> float:
        """Greatest divergence that the last step has left."""
        return self._balance.left

    @property
    def count(self) -> int:
        """Particles."""
        return self._particles.count

    @property
    def place(self) -> np.ndarray:
        """(count, 3) float32 of the particles [cells]."""
        return self._particles.place

    @property
    def velocity(self) -> np.ndarray:
        """(count, 3) float32 of the particles [cells/s]."""
        return self._particles.velocity

    @property
    def volume_m3(self) -> float:
        """Room that the water takes, beside body and paddle, as the last step met them.

        A cell of water with water or wall on all sides is full, however its particles lie: densities scatter there, and
        cut off at one they would count less. At surfaces and in spray it is as full as it is dense.
        """
        within = self._within()
        filled = np.where(within, 1.0, np.minimum(self.density[1:-1, 1:-1, 1:-1], 1.0))
        return float(np.sum(filled * self._obstruction.room()) * self.box.cell_m**3)

    @property
    def crowded_m3(self) -> float:
        """What `volume_m3` leaves out: water that lies denser at surfaces and in spray than at rest, for a moment."""
        beyond = np.where(self._within(), 0.0, np.maximum(self.density[1:-1, 1:-1, 1:-1] - 1.0, 0.0))
        return float(np.sum(beyond * self._obstruction.room()) * self.box.cell_m**3)

    def _within(self) -> np.ndarray:
        """(nz, ny, nx) whether a cell of water has water or wall on all sides."""
        wet = np.pad(self.diagonal[1:-1, 1:-1, 1:-1] > 0.0, 1, mode="edge")
        sides = [np.roll(wet, step, axis) for step in (-1, 1) for axis in range(3)]
        return np.logical_and.reduce([wet, *sides])[1:-1, 1:-1, 1:-1]

    @property
    def blocked(self) -> np.ndarray:
        """(3, nz + 2, ny + 2, nx + 2) fraction of each face that body and paddle blocked in the last step."""
        return self._obstruction.blocked

    def _open(self, sea: OpenSea) -> None:
        """Fill the box from the sea, as it is now."""
        self.sea = sea
        sea.work_out(self.box, self.clock_s)
        self._fill_anew(sea)

    def begin_at(self, time_s: float, T_wb: np.ndarray) -> None:
        """Open: stand about a body in the sea of that time, filled anew."""
        assert self.sea is not None
        self.clock_s = time_s
        for _ in range(2):  # the surface is known where the box stands
            self.sea.work_out(self.box, time_s)
            self.box = shifted(self.box, self.sea.cells_off(self.box, T_wb[:3, 3]).round().astype(np.int64))
        self.sea.work_out(self.box, time_s)
        self._fill_anew(self.sea)
        self.displace_water(T_wb)

    def _fill_anew(self, sea: OpenSea) -> None:
        self._particles.count = 0
        self.pressure[:] = 0.0
        for phase in sea.phases:
            phase[:] = 0.5
        self._fill(sea, np.array(self.box.cells))

    def displace_water(self, T_wb: np.ndarray) -> None:
        """Take the water out of the body's hull, which is put in here."""
        assert self.floating is not None
        keeps = outside_of(self.box, self.floating, T_wb, self.place)
        self._particles.hold(self.place[keeps], self.velocity[keeps])

    def advance(self, dt_s: float, body: FloatingBody | None = None) -> np.ndarray:
        """Go on by dt_s; (6,) impulse on the body, world axes about its origin, which whoever moves it applies to it.

        A step in which water would cross more than two cells is divided: particles that go farther meet walls and each
        other in no pressure that was solved for, and lie on top of one another.
        """
        if self.sea is not None and body is not None:
            self._go_with(body)
        goes, falls = fastest(self.velocity, self.count) * dt_s, GRAVITY * dt_s**2 / self.box.cell_m
        if falls > _FALLEN:
            goes = min(goes + falls, self.fastest_mps / self.box.cell_m * dt_s)
        parts = min(max(math.ceil(goes / _FARTHEST), 1), _MOST_PARTS)
        moving = None if body is None else FloatingBody(body.T_wb.copy(), body.twist_w.copy(), body.inertia_b)
        total = np.zeros(6)
        for _ in range(parts):
            total += self._step(dt_s / parts, moving)
        self.impulse = total
        return total

    def measure(self) -> None:
        """Work out the density of the cells for the particles as they are."""
        to_faces(self.place, self.velocity, self.count, self._sums)
        fold(self._sums)
        densities(self._sums, self._obstruction.free, self.density)

    def checkpoint(self) -> np.ndarray:
        """(k,) float64: the whole state."""
        draw = int(self._draw[0])
        numbers = [self.clock_s, self._steps, self.count, draw >> 32, draw & 0xFFFFFFFF, *self.box.corner_w]
        arrays = [
            self.place,
            self.velocity,
            self.pressure,
            *(self.sea.phases if self.sea is not None else ()),
        ]
        return np.concatenate([numbers, *(a.ravel() for a in arrays)])

    def restore(self, checkpoint: np.ndarray) -> None:
        """Back to a state that `checkpoint` gave."""
        self.clock_s, self._steps, count = float(checkpoint[0]), int(checkpoint[1]), int(checkpoint[2])
        self._draw[0] = (int(checkpoint[3]) << 32) | int(checkpoint[4])
        numbers = checkpoint[8:].astype(np.float32)
        self._particles.hold(
            numbers[: 3 * count].reshape(count, 3), numbers[3 * count : 6 * count].reshape(count, 3)
        )
        rest = numbers[6 * count :]
        self.pressure[:] = rest[: self.pressure.size].reshape(self.pressure.shape)
        if self.sea is not None:
            begin = self.pressure.size
            for phase in self.sea.phases:
                phase[:] = rest[begin : begin + phase.size].reshape(phase.shape)
                begin += phase.size
            x, y, z = (float(number) for number in checkpoint[5:8])
            self.box = replace(self.box, corner_w=(x, y, z))
            self.sea.work_out(self.box, self.clock_s)

    def _step(self, dt: float, body: FloatingBody | None) -> np.ndarray:
        self._collect(dt)
        self._obstruction.meet(self.box, self._hull(body), self._paddle_at(0.0))
        densities(self._sums, self._obstruction.free, self.density)
        if self.sea is not None:
            gravity = GRAVITY / self.box.cell_m
            let_through(self.sea.faces, self.sea.height, self.density, gravity, *self.sea.over, self._border)
            hold_border(self.faces, self._border)
            hold_border(self._before, self._border)
        self._project(dt, body)
        self._move(dt, body)
        self.clock_s += dt
        self._steps += 1
        if self.sea is not None:
            self._exchange(self.sea, dt)
        return np.zeros(6) if body is None else body.go_on(self._balance.push, dt, self.box.cell_m)

    def _go_with(self, body: FloatingBody) -> None:
        """Shift the box after a body, and let particles in and out."""
        assert self.sea is not None
        shift = self.sea.wanted_shift(self.box, body.T_wb[:3, 3])
        if not shift.any():
            return
        if (np.abs(shift) >= self.box.cells).any():
            self.begin_at(self.clock_s, body.T_wb)
            return
        self.box = shifted(self.box, shift)
        self.sea.go_along(shift, self.box, self.clock_s)
        self.pressure[:] = _rolled(self.pressure, shift)
        self._fill(self.sea, shift)

    def _fill(self, sea: OpenSea, shift: np.ndarray) -> None:
        """Shift the particles' box; what comes into it is filled from the sea."""
        number, those = cell_number(self.box), self._particles
        those.count = shift_particles(*those.own, those.count, shift, number, sea.faces, sea.height)

    def _exchange(self, sea: OpenSea, dt: float) -> None:
        """Particles leave and come in."""
        (nz, ny, nx), those = self.box.shape, self._particles
        left = take_out(*those.own, those.count, np.zeros(3, np.int64), nx, ny, nz)
        those.count = bring_in(
            *those.own,
            left,
            self._border,
            np.float32(dt),
            self._steps,
            sea.phases,
            sea.faces,
            sea.height,
        )

    def _collect(self, dt: float) -> None:
        """Momentum of the particles onto the faces, and the fall of the step."""
        if self._steps % _SORTED_EVERY == 0:
            self._particles.order(self._end)
        to_faces(self.place, self.velocity, self.count, self._sums)
        fold(self._sums)
        fall = np.float32(-GRAVITY * dt / self.box.cell_m)
        face_velocities(self._sums, fall, self.faces, self._before, self._valid)
        if self.sea is not None:
            draw_towards(self.sea.faces, self._before, self._valid, dt, self.sea.fraction, self.faces)
            self.sea.work_out(self.box, self.clock_s + dt)
        hold_border(self.faces, self._border)
        hold_border(self._before, self._border)

    def _project(self, dt: float, body: FloatingBody | None) -> None:
        """Pressure, and with it the body's impulse."""
        balance = self._balance
        balance.begin(self.density, self.faces, self.blocked, dt)
        if body is not None:
            origin = self.box.inside(body.T_wb[:3, 3])
            balance.let_move(body, dt, self.box.cell_m, self.blocked, origin, self._obstruction.about)
        at, then = self._paddle_at(0.0), self._paddle_at(dt)
        if at is not None and then is not None:
            balance.displaced(at, (then - at) / dt)
        balance.solve()
        release(self.density, balance.diagonal, self.blocked, balance.pressure, self.faces, self._valid)
        extrapolate(self.faces, self._valid, _LAYERS)
        hold_border(self.faces, self._border)

    def _move(self, dt: float, body: FloatingBody | None) -> None:
        """The faces' change onto the particles, which then go with the water and stay outside of the body."""
        if self._steps % _SORTED_EVERY == 0:
            even_out(self.place, self.velocity, self._end, self.density, self._before, self._draw)
        pair_up(self.faces, self._before, self._sums)
        most = np.float32(self.fastest_mps / self.box.cell_m)
        step, kept = np.float32(dt), np.float32(KEPT)
        from_faces(self.place, self.velocity, self.count, self._sums, step, kept, most, *self._block)
        self._obstruction.keep_out(self.box, self._hull(body), self._paddle_at(dt), self.place)

    def _hull(self, body: FloatingBody | None) -> tuple[Floating, FloatingBody] | None:
        if body is None:
            return None
        assert self.floating is not None
        return self.floating, body

    def _paddle_at(self, later_s: float) -> float | None:
        """[cells] from where the box begins; None without a paddle."""
        if self.paddle is None:
            return None
        return self.paddle.place_m(self.clock_s + later_s) / self.box.cell_m


def _rolled(values: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """Over cells (nz + 2, ny + 2, nx + 2), in a box shifted by (3,) cells: what comes round is of no matter."""
    return np.roll(values, tuple(-int(n) for n in shift[::-1]), (0, 1, 2))
