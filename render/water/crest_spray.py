"""What breaking waves leave: whitecaps, and spray from the crests.

Moments a fixed time apart throw them, by random numbers of their own, so that a picture of a time is the same however
it was come to. In the air a drop takes on the velocity of the wind less that at which it falls, by its own drag
(linear), so that its place is known at any time; where the waves are over it, they hide it.

Monahan and O'Muircheartaigh 1980: whitecaps cover 3.84e-6 U^3.41 of a sea under a wind of U m/s, ten metres up. That
share of the surface, where it is drawn together most, breaks. Foam stays with the water that it lies on, so the map is
one of places at rest; it repeats, and only its part about the eye is current."""

import math
from contextlib import ExitStack
from statistics import NormalDist

import moderngl
import numpy as np

from render.frame import MOMENT_S
from render.passes.targets import PassContext
from render.programs import Programs, uniform, vertex_array
from render.water.sea_fields import STRETCH, SeaFields, stretch_deviation
from sim.native.function import unordered
from sim.platform.values import dataclass
from sim.water.ocean import SeaState
from sim.water.picture import MOST_DROPS
from sim.world.smoothing import mean_around

SPAN_M = 144.0
POINTS = 192
_EVERY_S = 1.0 / 20.0
_LIFE_S, _SPENT, _THIN_S = 2.4, 0.42, 11.0
"""In which foam falls to a third: dense, and thinner than that share, when it is lace that drifts."""
_BREAKING = 0.35
"""Share of the foam that is of waves that break now."""
_JUMP_S = 1.5
_BEFORE_S = 10.0
_BEFORE_STEPS = 16
_FINEST_M = 0.4
"""The fields are read at the level whose texels are at least so wide."""


def coverage(wind_mps: float) -> float:
    """Share of the sea under foam."""
    return min(3.84e-6 * wind_mps**3.41, 0.3)


def breaking_share(wind_mps: float) -> float:
    """Share of the sea that breaks now."""
    return _BREAKING * coverage(wind_mps)


def folds(share: float, deviation: float) -> tuple[float, float]:
    """Stretch below which that share of a surface lies whose stretch deviates so much, and how far below it breaks."""
    below = NormalDist().inv_cdf(share) if share > 0.0 else -math.inf
    return below * deviation, 0.3 * deviation


@unordered
def _break(
    foam: np.ndarray,
    span_m: float,
    foot_x: float,
    foot_y: float,
    first: np.ndarray,
    second: np.ndarray,
    third: np.ndarray,
    edges: np.ndarray,
    folded: float,
    width: float,
    passed_s: float,
) -> None:
    """Let foam (n, n) age by so long, and add what breaks: where the stretch is below `folded`."""
    dense, thin = math.exp(-passed_s / _LIFE_S), math.exp(-passed_s / _THIN_S)
    n = foam.shape[0]
    texel = span_m / n
    low_x, low_y = math.floor((foot_x - 0.5 * span_m) / texel), math.floor((foot_y - 0.5 * span_m) / texel)
    for b in range(n):
        for a in range(n):
            x, y = (low_x + a) * texel, (low_y + b) * texel
            stretch = (
                _read(first, edges[0], x, y) + _read(second, edges[1], x, y) + _read(third, edges[2], x, y)
            )
            row, column = (low_y + b) % n, (low_x + a) % n
            fresh = min(max((folded - stretch) / width, 0.0), 1.0)
            before = foam[row, column]
            # No quicker than it thins, once it is spent within the step.
            aged = max(dense * before, min(before, _SPENT) * thin)
            foam[row, column] = max(aged, fresh)


@unordered
def _read(slopes: np.ndarray, edge: float, x: float, y: float) -> float:
    """The stretch of a tile (n, n, 4), its texels' middles half a finest texel off at most, read in proportion. n is a
    power of two: a remainder takes as long as all the rest."""
    n = slopes.shape[0]
    u, v = x / edge * n, y / edge * n
    floor_u, floor_v = math.floor(u), math.floor(v)
    u -= floor_u
    v -= floor_v
    i, j = int(floor_u) & (n - 1), int(floor_v) & (n - 1)
    i1, j1 = (i + 1) & (n - 1), (j + 1) & (n - 1)
    low = (1.0 - u) * slopes[j, i, STRETCH] + u * slopes[j, i1, STRETCH]
    high = (1.0 - u) * slopes[j1, i, STRETCH] + u * slopes[j1, i1, STRETCH]
    return (1.0 - v) * low + v * high


class Whitecaps:
    """The foam about the eye, one moment after the other."""

    def __init__(self) -> None:
        self.foam = np.zeros((POINTS, POINTS), np.float32)
        """0..1: fresh where 1; texel [j, i] is at rest at (i, j) SPAN_M / POINTS, and repeats."""
        self._at_s = math.nan
        self._fields: SeaFields | None = None

    def follow(self, fields: SeaFields, state: SeaState, time_s: float, foot_w: np.ndarray) -> None:
        """The foam of a time, with the fields of that time, about a place (2,) m.

        What lies before a jump in time is worked out anew from the sea itself.
        """
        if not 0.0 <= time_s - self._at_s < _JUMP_S:
            self.foam[:] = 0.0
            if self._fields is None or not self._fields.fits(state):
                self._fields = SeaFields(state)
            for k in range(_BEFORE_STEPS, 0, -1):
                at_s = time_s - k * _BEFORE_S / _BEFORE_STEPS
                self._fields.work_out(state, at_s)
                self._step(self._fields, state, at_s, _BEFORE_S / _BEFORE_STEPS, foot_w)
            self._at_s = time_s - _BEFORE_S / _BEFORE_STEPS
        if time_s - self._at_s > _EVERY_S:
            self._step(fields, state, time_s, time_s - self._at_s, foot_w)
            self._at_s = time_s

    def _step(
        self, fields: SeaFields, state: SeaState, time_s: float, passed_s: float, foot_w: np.ndarray
    ) -> None:
        share = breaking_share(state.numbers(time_s)[0])
        read = fields.slopes_over(_FINEST_M)
        deviation = stretch_deviation(read)
        if share < 1e-6 or deviation < 1e-9:
            self.foam *= np.float32(math.exp(-passed_s / _LIFE_S))
            return
        folded, width = folds(share, deviation)
        _break(self.foam, SPAN_M, foot_w[0], foot_w[1], *read, fields.edges_m, folded, width, passed_s)


class FlyingPoints:
    """Owns the buffer and the program of one kind."""

    def __init__(
        self,
        ctx: moderngl.Context,
        programs: Programs,
        shaders: tuple[str, str],
        *,
        name: str,
        numbers: int,
        most: int,
        **constants: object,
    ) -> None:
        """`numbers` float32 of a point are the attribute `name`; of more than `most` points the rest is left out.
        constants: uniforms that stay."""
        self._ctx, self._resources, self._most, self._count = ctx, ExitStack(), most, 0
        self._buffer = ctx.buffer(reserve=most * numbers * 4, dynamic=True)
        self._program = programs.load(*shaders)
        self._constants = constants
        self._array = vertex_array(ctx, self._program, [(self._buffer, f"{numbers}f", name)])
        for resource in (self._array, self._buffer):
            self._resources.callback(resource.release)

    def take_up(self, points: np.ndarray) -> None:
        """Show points (n, numbers)."""
        self._count = min(len(points), self._most)
        if self._count:
            self._buffer.write(np.ascontiguousarray(points[: self._count], np.float32))

    def draw(self, context: PassContext) -> None:
        """In the blended pass."""
        if not self._count:
            return
        for constant, value in self._constants.items():
            uniform(self._program, constant).value = value
        uniform(self._program, "high_px").value = float(context.size_px[1])
        self._ctx.enable(moderngl.PROGRAM_POINT_SIZE)
        self._array.render(moderngl.POINTS, vertices=self._count)
        self._ctx.disable(moderngl.PROGRAM_POINT_SIZE)

    def release(self) -> None:
        """Free every GL object."""
        self._resources.close()


_DROP_M = 0.0055
"""Radius."""


def drops(ctx: moderngl.Context, programs: Programs) -> FlyingPoints:
    """Of places (n, 3) [m]."""
    shaders = "spray.vert", "drop.frag"
    return FlyingPoints(ctx, programs, shaders, name="place", numbers=3, most=MOST_DROPS, drop_m=_DROP_M)


MOST_LIFE_S, _LEAST_LIFE_S = 1.2, 0.3
REACH_M, _CELL_M = 42.0, 0.6
"""Of the eye; and how far apart the places are at which crests are looked for."""
_STRAY_M = 1.2
"""Deviation of where drops leave from there: a crest is longer than it is seen to break."""
_CALM_MPS, _GALE_MPS = 9.0, 14.0
"""A wind that tears nothing off, and one that throws as many drops as are shown."""
LAG_S = 0.14
"""In which a drop takes on the air's velocity; times gravity, the speed at which it falls."""
_GRAVITY_MPS2 = 9.81
_PUFF_M, _COVER = (0.02, 0.22), 0.085
"""Radius of a puff at first and at last, and the share of the light that it holds back at first."""
MOST_PUFFS = 16000
_MOST_A_PLACE = 40
"""Drops that a place throws in a moment."""
_ALONG_M = 3.0
"""How far a crest has to break for all of it to be torn off: of a short one, a few drops hang in the air like balls."""
_DOWNWIND, _UP_MPS, _ASIDE_MPS = 0.5, 2.6, 0.5
"""How a drop leaves the crest: that share of the wind's velocity, up to so fast upwards, so much to either side."""


@dataclass(frozen=True, slots=True, eq=False)
class Thrown:
    """By one moment's crests."""

    born_s: np.ndarray
    """Each shortly before the moment."""
    place_w: np.ndarray
    velocity_w: np.ndarray
    air_w: np.ndarray
    """(3,) velocity that drops tend to; or (n, 3), each its own."""
    life_s: np.ndarray
    lag_s: float | np.ndarray = LAG_S
    """In which a drop takes that on, or (n, 1) in which each does."""

    def places_w(self, age_s: np.ndarray) -> np.ndarray:
        """(n, 3) where each drop is at its own age (n, 1)."""
        carried_s = self.lag_s * (1.0 - np.exp(-age_s / self.lag_s))
        return np.asarray(self.place_w + age_s * self.air_w + carried_s * (self.velocity_w - self.air_w))

    def lasts(self, time_s: float) -> np.ndarray:
        """(n,) which still fly at a time."""
        return np.asarray(self.life_s > time_s - self.born_s)

    def puffs(self, time_s: float) -> np.ndarray:
        """(n, 4) where those are that still fly, and their age as a share of their life."""
        age_s = time_s - self.born_s
        flown = np.column_stack([self.places_w(age_s[:, None]), age_s / self.life_s])
        return np.asarray(flown[self.lasts(time_s)])


class MomentFields:
    """The sea's fields at moments: worked out once for all that look at the same one."""

    def __init__(self) -> None:
        self._fields: SeaFields | None = None

    def at(self, state: SeaState, moment: int) -> SeaFields:
        """Of a moment by its number; the next call may write to them."""
        if self._fields is None or not self._fields.fits(state):
            self._fields = SeaFields(state)
        self._fields.work_out(state, moment * MOMENT_S)
        return self._fields


class CrestSpray:
    """The drops about the eye, at one time after the other."""

    def __init__(self, fields: MomentFields | None = None) -> None:
        """`fields`: shared with others that look at the sea."""
        self._fields = fields or MomentFields()
        self._thrown: dict[int, Thrown] = {}
        """By the number of the moment."""
        self._of: tuple[object, int] | None = None

    def puffs(self, state: SeaState, time_s: float, foot_w: np.ndarray, most: int) -> np.ndarray:
        """(n, 4) float32 of about `most` at most that fly at a time around a place (2,) m, each with its age, 0..1."""
        wind_mps = float(state.numbers(time_s)[0])
        if wind_mps <= _CALM_MPS:
            return np.zeros((0, 4), np.float32)
        drawn = (state.waves[3], most)
        if self._of is None or self._of[0] is not drawn[0] or self._of[1] != most:
            self._thrown, self._of = {}, drawn
        last = math.floor(time_s / MOMENT_S)
        moments = range(last - math.ceil(MOST_LIFE_S / MOMENT_S) + 1, last + 1)
        self._thrown = {
            k: self._thrown[k] if k in self._thrown else self._throw(state, k, foot_w, most) for k in moments
        }
        return np.concatenate([each.puffs(time_s) for each in self._thrown.values()]).astype(np.float32)

    def _throw(self, state: SeaState, moment: int, foot_w: np.ndarray, most: int) -> Thrown:
        at_s, fields = moment * MOMENT_S, self._fields.at(state, moment)
        wind_mps, bearing_rad = state.numbers(at_s)[:2]
        rng = np.random.default_rng(moment % 2**32)
        rest, fresh = _folded(fields, float(wind_mps), foot_w)
        share = min(max((wind_mps - _CALM_MPS) / (_GALE_MPS - _CALM_MPS), 0.0), 1.0)
        count = round(share * most * MOMENT_S / (0.5 * (MOST_LIFE_S + _LEAST_LIFE_S)))
        count = min(count, round(_MOST_A_PLACE * fresh.sum()))
        chosen = rng.choice(len(rest), count, p=fresh / fresh.sum()) if count else np.zeros(0, int)
        rest = rest[chosen] + _STRAY_M * rng.standard_normal((count, 2))
        place = np.column_stack([rest, np.full(count, state.level_m)]) + fields.displaced_m(rest)
        ahead = np.array([math.cos(bearing_rad), math.sin(bearing_rad), 0.0])
        velocity = np.outer(_DOWNWIND * wind_mps * rng.uniform(0.5, 1.3, count), ahead)
        velocity += _ASIDE_MPS * rng.standard_normal((count, 3))
        velocity[:, 2] += _UP_MPS * rng.uniform(0.0, 1.0, count) ** 2 * np.sqrt(fresh[chosen])
        air = 0.8 * wind_mps * ahead - np.array([0.0, 0.0, _GRAVITY_MPS2 * LAG_S])
        born_s = at_s - MOMENT_S * rng.uniform(0.0, 1.0, count)
        return Thrown(born_s, place, velocity, air, rng.uniform(_LEAST_LIFE_S, MOST_LIFE_S, count))


def _folded(fields: SeaFields, wind_mps: float, foot_w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places at rest (n, 2) where crests are torn off, and how much (n,), 0..1."""
    steps = np.arange(-REACH_M, REACH_M, _CELL_M)
    x, y = np.meshgrid(*(np.round(foot_w / _CELL_M)[:, None] * _CELL_M + steps), indexing="ij")
    rest = np.column_stack([x.ravel(), y.ravel()])
    stretch, deviation = fields.stretch(rest, _CELL_M)
    folded, width = folds(breaking_share(wind_mps), deviation)
    fresh = np.clip((folded - stretch) / width, 0.0, 1.0)
    about = mean_around(fresh.reshape(x.shape), round(_ALONG_M / _CELL_M)).ravel()
    torn = np.clip(2.5 * about - 0.25, 0.0, 1.0) * fresh
    torn[np.hypot(*(rest - foot_w).T) > REACH_M] = 0.0
    return rest[torn > 0.0], torn[torn > 0.0]


_CREST_LOOK = (*_PUFF_M, _COVER, 12.0)


def crest_puffs(
    ctx: moderngl.Context, programs: Programs, look: tuple[float, float, float, float] = _CREST_LOOK
) -> FlyingPoints:
    """Of puffs (n, 4): places [m] and ages.

    look: radius at first and at last [m], share of the light that one holds back at first, and from how far on they are
    seen whole [m].
    """
    shaders = "crest_spray.vert", "crest_spray.frag"
    return FlyingPoints(ctx, programs, shaders, name="puff", numbers=4, most=MOST_PUFFS, puff_m=look)
