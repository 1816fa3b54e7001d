"""Elastic bounces of one rigid body on SE(3) between walls, by a collision map that finds the moment of each impact.

Between impacts the body moves by the midpoint rule of `approach.turn`, which keeps spin in space and kinetic energy,
and along the parabola of its fall, whose energy a step of any length keeps. A step in which a wall would be passed
ends at the moment of impact, which is solved for; there the momentum jumps along the gap's derivative so that energy
is kept, and the rest of the step follows from that. So order and energy are what they are without impacts (after the
Lie group variational collision integrators of K. Tran, M. Leok, arXiv 2310.15356, with frictionless walls).
"""

import numpy as np

from sim.contact.approach import turn
from sim.contact.convex import Hulls, farthest, hulls_of
from sim.contact.pile import STATE
from sim.native.function import fastmath, native
from sim.platform.errors import InputError
from sim.shapes import Shape

_MOST_IMPACTS = 1000
"""Within a step, after which it ends where it is."""
_LOOKS = 8
"""Moments of a step at least at which gaps are looked at."""
_TURNED_RAD = 0.1
"""Between two such moments at most."""


@fastmath
def _moved(state, J, g, t, at, spin):
    """Row 0 of the state after t, into row `at`."""
    for c in range(STATE):
        state[at, c] = state[0, c]
    for c in range(3):
        state[at, 9 + c] += t * (state[0, 15 + c] + 0.5 * t * g[c])
        state[at, 15 + c] += t * g[c]
    turn(state, at, J, t, spin)


@fastmath
def _nearest(hulls, walls, row, point):
    """(gap [m], which wall) of the wall that a body is nearest to, with its point in `point` (3,)."""
    least, which = np.inf, 0
    for k in range(walls.shape[0]):
        nx, ny, nz = walls[k, 0], walls[k, 1], walls[k, 2]
        x, y, z = farthest(
            hulls.circles,
            hulls.first[0],
            hulls.first[1],
            hulls.numbers[0, 0],
            hulls.numbers[0],
            row[:12],
            -nx,
            -ny,
            -nz,
        )
        gap = x * nx + y * ny + z * nz - walls[k, 3]
        if gap < least:
            least, which = gap, k
            point[0], point[1], point[2] = x, y, z
    return least, which


@fastmath
def _reflect(row, J, m, n, point):
    """Turn the velocity of the point along the wall's normal round: an impulse along it, by which energy is kept."""
    rx, ry, rz = point[0] - row[9], point[1] - row[10], point[2] - row[11]
    tx, ty, tz = ry * n[2] - rz * n[1], rz * n[0] - rx * n[2], rx * n[1] - ry * n[0]
    along = n[0] * row[15] + n[1] * row[16] + n[2] * row[17] + tx * row[12] + ty * row[13] + tz * row[14]
    if along >= 0.0:
        return False
    bx = row[0] * tx + row[3] * ty + row[6] * tz
    by = row[1] * tx + row[4] * ty + row[7] * tz
    bz = row[2] * tx + row[5] * ty + row[8] * tz
    p = -2.0 * along / (1.0 / m + bx * bx / J[0] + by * by / J[1] + bz * bz / J[2])
    bx, by, bz = p * bx / J[0], p * by / J[1], p * bz / J[2]
    for c in range(3):
        row[15 + c] += p * n[c] / m
        row[12 + c] += row[3 * c] * bx + row[3 * c + 1] * by + row[3 * c + 2] * bz
    return True


@native
def _go_on(hulls, walls, state, J, m, g, h, steps):
    """`steps` steps of h of state[0], in place; state (3, STATE). Returns how many impacts there were."""
    spin, point, impacts = np.zeros(12), np.zeros(3), 0
    for _ in range(steps):
        left = h
        for _ in range(_MOST_IMPACTS):
            rate = np.sqrt(state[0, 12] ** 2 + state[0, 13] ** 2 + state[0, 14] ** 2)
            looks = max(_LOOKS, int(left * rate / _TURNED_RAD) + 1)
            low, high, before = 0.0, left, _nearest(hulls, walls, state[0], point)[0]
            hit = False
            for k in range(looks):
                t = left * (k + 1) / looks
                _moved(state, J, g, t, 1, spin)
                gap = _nearest(hulls, walls, state[1], point)[0]
                # One that touches already may only leave.
                if gap < 0.0 and gap < before:
                    high, hit = t, True
                    break
                low, before = t, gap
            if not hit:
                for c in range(STATE):
                    state[0, c] = state[1, c]
                break
            # Between the two, the last moment at which no wall is passed.
            for _ in range(60):
                middle = 0.5 * (low + high)
                if not low < middle < high:
                    break
                _moved(state, J, g, middle, 1, spin)
                if _nearest(hulls, walls, state[1], point)[0] < 0.0:
                    high = middle
                else:
                    low = middle
            _moved(state, J, g, high, 1, spin)
            for c in range(STATE):
                state[0, c] = state[1, c]
            left -= high
            which = _nearest(hulls, walls, state[0], point)[1]
            impacts += _reflect(state[0], J, m, walls[which], point)
            if left <= 0.0:
                break
    return impacts


class Bouncing:
    """One body among flat walls that throw it back without friction and loss."""

    def __init__(
        self,
        shape: Shape,
        walls: np.ndarray,
        *,
        mass_kg: float = 1.0,
        velocity_w: tuple[float, float, float] = (0.0, 0.0, 0.0),
        omega_w: tuple[float, float, float] = (0.0, 0.0, 0.0),
        gravity_w: tuple[float, float, float] = (0.0, 0.0, 0.0),
    ) -> None:
        """walls (k, 4): unit normals into the room, and how far along them each wall is [m]; the shape lies within.

        Raises InputError for one that does not.
        """
        solid = shape.solid()
        self._hulls: Hulls = hulls_of([solid])
        self._walls = np.ascontiguousarray(walls, float)
        self._g = np.array(gravity_w, float)
        self.mass_kg, self.inertia = float(mass_kg), mass_kg * solid.gyration_m2
        self._state = np.zeros((3, STATE))
        row = self._state[0]
        row[:9], row[9:12] = solid.T_w[:3, :3].ravel(), solid.T_w[:3, 3]
        row[12:15], row[15:18] = omega_w, velocity_w
        self.impacts = 0
        """That there have been."""
        if not self.gap_m > 0.0:
            raise InputError(f"the body reaches {-self.gap_m:.3g} m through a wall; allowed: one within")

    def step(self, h: float, steps: int = 1) -> None:
        """Go on by so many steps of h."""
        self.impacts += int(
            _go_on(self._hulls, self._walls, self._state, self.inertia, self.mass_kg, self._g, h, steps)
        )

    @property
    def gap_m(self) -> float:
        """To the nearest wall."""
        return float(_gap(self._hulls, self._walls, self._state))

    @property
    def pose_w(self) -> np.ndarray:
        """(4, 4) of its principal axes."""
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = self._state[0, :9].reshape(3, 3), self._state[0, 9:12]
        return T

    @property
    def twist_w(self) -> np.ndarray:
        """(6,) omega and v in the world."""
        return self._state[0, 12:18].copy()

    @property
    def energy_J(self) -> float:
        """Kinetic and potential."""
        row = self._state[0]
        spin = row[:9].reshape(3, 3).T @ row[12:15]
        kinetic = 0.5 * self.mass_kg * row[15:18] @ row[15:18] + 0.5 * spin @ (self.inertia * spin)
        return float(kinetic - self.mass_kg * self._g @ row[9:12])


@native
def _gap(hulls, walls, state):
    return _nearest(hulls, walls, state[0], np.zeros(3))[0]


def room(half_m: tuple[float, float, float]) -> np.ndarray:
    """(6, 4) the walls of a box about the origin, from within."""
    return np.array(
        [(*(sign * axis), -half) for axis, half in zip(np.eye(3), half_m, strict=True) for sign in (1, -1)]
    )
