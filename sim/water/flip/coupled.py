"""A box of water as an environment of a vehicle: the water goes on at its own rate, on a thread of its own.

The water works one period ahead: while a vehicle moves through a period, the water already meets the body where it
will be at the period's end, as it moves now under the impulse that it is getting and its weight. What the body does
otherwise in that time (its thrust) the water sees a period later. So nobody waits, unless the machine cannot keep up.
"""

from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from sim.environment.environment import BodyState, Touch
from sim.groups.numeric import rotation_exp
from sim.platform.errors import InputError
from sim.platform.toml_table import TomlTable
from sim.platform.values import dataclass
from sim.vehicle_config import config_of
from sim.vehicles import Vehicle
from sim.vehicles.forms.form import Support
from sim.water.flip.body import Floating, FloatingBody
from sim.water.flip.box import FEWEST_CELLS, MOST_CELLS, Paddle, TankBox, wall_impulse
from sim.water.flip.open_sea import SeaAround
from sim.water.flip.picture import pictured
from sim.water.flip.tank import Tank
from sim.water.immersion import GRAVITY
from sim.water.picture import BoxPicture
from sim.water.water import water_about, weather_of
from sim.world import World

PERIOD_S = 1.0 / 30.0
_INSTANT_S = 1e-9
_OF_SEA = 11


@dataclass(frozen=True, slots=True, eq=False)
class _Period:
    """What one period of the water gave."""

    impulse_w: np.ndarray
    """(6,) on the body, world axes."""
    picture: BoxPicture


class TankWater:
    """An `Environment`: a tank with one body in it, whose hull's vertices (n, 3) the walls keep in, or open sea."""

    def __init__(self, tank: Tank, vertices_b: np.ndarray) -> None:
        self.tank, self._vertices_b = tank, vertices_b
        self._thread = ThreadPoolExecutor(1, "water")
        self._next: Future[_Period] | None = None
        self._around = tank.sea.around if tank.sea is not None else None
        tank.measure()
        self._now = _Period(np.zeros(6), pictured(tank))
        self._left_s = 0.0

    def exchange(
        self, time_s: float, dt_s: float, bodies: Mapping[str, BodyState]
    ) -> Mapping[str, np.ndarray]:
        """The fractions of the water's periods that fall into dt_s, body frame."""
        ((name, state),) = bodies.items()
        impulse_w, rest_s = np.zeros(6), dt_s
        while rest_s > _INSTANT_S:
            if self._left_s <= _INSTANT_S:
                self._begin_period(state, time_s)
            taken_s = min(rest_s, self._left_s)
            impulse_w += taken_s / PERIOD_S * self._now.impulse_w
            self._left_s -= taken_s
            rest_s -= taken_s
        by_water = np.kron(np.eye(2), state.T_wb[:3, :3].T) @ impulse_w
        moving = BodyState(
            state.T_wb, state.twist_b + np.linalg.solve(state.inertia_b, by_water), state.inertia_b
        )
        return {name: by_water + self._by_walls(moving, dt_s)}

    def renew(self, vehicle: Vehicle, time_s: float) -> None:
        """The open sea changes to the one of the vehicle's parameters."""
        if self._around is None or vehicle.support is not Support.WATER:
            return
        weather = weather_of(vehicle.values)
        state = self._around.state.over(weather.sea).changed_to(weather.sea.numbers, time_s)
        self._around = SeaAround(state, weather.current_mps)

    def _by_walls(self, state: BodyState, dt_s: float) -> np.ndarray:
        if self._around is not None:
            return np.zeros(6)
        return wall_impulse(state, self._vertices_b, self.tank.box, dt_s)

    def within_reach(self, T_wb: np.ndarray, twist_b: np.ndarray, dt_s: float) -> bool:
        """Its hull is always in the water."""
        return True

    def take_impact_mps(self) -> float:
        """Walls keep the body in by impulses of the tank's own; none counts as a blow."""
        return 0.0

    def touch(self) -> Touch:
        return Touch()

    def checkpoint(self) -> np.ndarray:
        """The tank's state, and what the period under way gives; the period ahead is waited for."""
        ahead = self._next.result().impulse_w if self._next is not None else np.zeros(6)
        own = [self._left_s, float(self._next is not None), *self._now.impulse_w, *ahead]
        return np.concatenate([own, self._sea_numbers(), self.tank.checkpoint()])

    def _sea_numbers(self) -> np.ndarray:
        """(11,) of the sea: before and after its last change, when that was, and where the box stood."""
        if self._around is None:
            return np.zeros(_OF_SEA)
        state = self._around.state
        return np.concatenate([state.before, state.after, [state.since_s], self._around.current_mps])

    def restore(self, checkpoint: np.ndarray) -> None:
        if self._next is not None:
            self._next.result()
        sea = checkpoint[14 : 14 + _OF_SEA]
        if self._around is not None:
            assert self.tank.sea is not None
            x, y = sea[9:].tolist()
            state = replace(
                self._around.state, before=sea[:4].copy(), after=sea[4:8].copy(), since_s=float(sea[8])
            )
            self._around = self.tank.sea.around = SeaAround(state, (x, y))
        self.tank.restore(checkpoint[14 + _OF_SEA :])
        self.tank.measure()
        picture = pictured(self.tank)
        self._left_s = float(checkpoint[0])
        self._now = _Period(checkpoint[2:8].copy(), picture)
        self._next = None
        if checkpoint[1]:
            self._next = Future()
            self._next.set_result(_Period(checkpoint[8:14].copy(), picture))

    def picture(self) -> BoxPicture:
        """The surface and the spray of the period under way."""
        return self._now.picture

    def _begin_period(self, state: BodyState, time_s: float) -> None:
        if self._next is not None:
            self._now = self._next.result()
        else:
            if self._around is not None:
                self._take_up_sea()
                self.tank.begin_at(time_s, state.T_wb)
            self._now = self._go_on(_body(state))
        self._left_s = PERIOD_S
        self._take_up_sea()
        self._next = self._thread.submit(self._go_on, self._ahead(state))

    def _take_up_sea(self) -> None:
        """While no period is worked out."""
        if self._around is not None:
            assert self.tank.sea is not None
            self.tank.sea.around = self._around

    def _go_on(self, body: FloatingBody) -> _Period:
        impulse = self.tank.advance(PERIOD_S, body)
        return _Period(impulse, pictured(self.tank, self._now.picture))

    def _ahead(self, state: BodyState) -> FloatingBody:
        """The body at the end of the period that begins."""
        body = _body(state)
        turned = np.kron(np.eye(2), body.T_wb[:3, :3])
        body.twist_w = body.twist_w + turned @ np.linalg.solve(body.inertia_b, turned.T @ self._now.impulse_w)
        body.twist_w[5] -= GRAVITY * PERIOD_S
        moving = BodyState(body.T_wb, turned.T @ body.twist_w, body.inertia_b)
        stopped = self._by_walls(moving, PERIOD_S)
        body.twist_w += turned @ np.linalg.solve(body.inertia_b, stopped)
        body.T_wb[:3, 3] += PERIOD_S * body.twist_w[3:]
        body.T_wb[:3, :3] = rotation_exp(PERIOD_S * body.twist_w[:3]) @ body.T_wb[:3, :3]
        return body


def _body(state: BodyState) -> FloatingBody:
    turned = np.kron(np.eye(2), state.T_wb[:3, :3])
    return FloatingBody(state.T_wb.copy(), turned @ state.twist_b, state.inertia_b)


@dataclass(frozen=True, slots=True)
class WaterBox:
    """A closed box about the middle of the world, its bottom on the ground, and how its water begins."""

    box: TankBox
    depth_m: float
    dam_m: tuple[float, float]
    """How far from the side where x is greatest water stands higher, and how high; none where 0."""
    paddle: Paddle | None

    def begun(self, vehicle: Vehicle, T_wb: np.ndarray, world: World) -> TankWater:
        """At rest about a vehicle at (4, 4) T_wb. Raises InputError for one without a hull, or not in the box."""
        hull = config_of(vehicle).hull
        if hull is None or hull.surface is None:
            raise InputError(f"vehicle {vehicle.name!r} has no surface in [hull]: no water can carry it")
        corner = np.asarray(self.box.corner_w)
        bottom = float(world.terrain.height(*(corner + 0.5 * self.box.size_m)[:2]))
        box = TankBox(self.box.cells, self.box.cell_m, (float(corner[0]), float(corner[1]), bottom))
        places = hull.surface.vertices @ T_wb[:3, :3].T + T_wb[:3, 3]
        low, high = np.asarray(box.corner_w), np.asarray(box.corner_w) + box.size_m
        if (places < low).any() or (places[:, :2] > high[:2]).any():
            raise InputError("the vehicle does not start within the box of water")
        nx, ny, _ = box.cells
        depth = np.full((ny, nx), self.depth_m)
        if self.dam_m[0] > 0.0:
            depth[:, nx - round(self.dam_m[0] / box.cell_m) :] = self.dam_m[1]
        tank = Tank(box, depth, floating=Floating.of(hull.surface, box.cell_m), paddle=self.paddle)
        tank.displace_water(T_wb)
        return TankWater(tank, hull.surface.vertices)


def read_water_box(table: TomlTable) -> WaterBox:
    """A scene's table. Raises InputError, one line with file and key."""
    box = read_box(table)
    (nx, ny, nz), cell_m = box.cells, box.cell_m
    box = replace(box, corner_w=(-0.5 * nx * cell_m, -0.5 * ny * cell_m, 0.0))
    high = nz * cell_m
    depth = table.number("depth_m", 0.4 * high, low=2 * cell_m, high=high)
    dam = table.number("dam_m", 0.0, low=0.0, high=nx * cell_m)
    dam_depth = table.number("dam_depth_m", 0.8 * high, low=0.0, high=high)
    stroke = table.number("waves_stroke_m", 0.0, low=0.0, high=0.5 * nx * cell_m)
    period = table.number("waves_period_s", 2.0, low=0.5, high=30.0)
    return WaterBox(box, depth, (dam, dam_depth), Paddle(stroke, period) if stroke > 0.0 else None)


def read_box(table: TomlTable) -> TankBox:
    """`cells_x`, `cells_y`, `cells_z` of `cell_m`.

    Raises InputError for what cannot be halved down to the coarsest grid, or needs more memory than is allowed.
    """
    x, y, z = (_cells(table, f"cells_{axis}", count) for axis, count in (("x", 48), ("y", 48), ("z", 24)))
    cell_m = table.number("cell_m", 0.2, low=0.02, high=5.0)
    try:
        return TankBox((x, y, z), cell_m)
    except InputError as error:
        raise table.error("cells_x", str(error)) from None


def _cells(table: TomlTable, key: str, default: int) -> int:
    count = table.integer(key, default, low=FEWEST_CELLS, high=MOST_CELLS)
    if count % FEWEST_CELLS:
        raise table.error(key, f"{count} is no multiple of {FEWEST_CELLS}, which halving the grid asks for")
    return count


@dataclass(frozen=True, slots=True)
class SeaBox:
    """A box that goes with the vehicle through the sea of the vehicle's parameters."""

    box: TankBox

    def begun(self, vehicle: Vehicle, T_wb: np.ndarray, world: World) -> TankWater:
        """About a vehicle at (4, 4) T_wb. Raises InputError for one that has no hull, or does not float."""
        hull = config_of(vehicle).hull
        if vehicle.support is not Support.WATER or hull is None or hull.surface is None:
            raise InputError(f"vehicle {vehicle.name!r} does not float: no sea can carry it")
        water = water_about(vehicle, world.water_level_m or 0.0)
        tank = Tank(
            self.box,
            floating=Floating.of(hull.surface, self.box.cell_m),
            around=SeaAround(water.state, weather_of(vehicle.values).current_mps),
        )
        tank.begin_at(0.0, T_wb)
        return TankWater(tank, hull.surface.vertices)


def read_sea_box(table: TomlTable) -> SeaBox:
    """A scene's table. Raises InputError, one line with file and key."""
    return SeaBox(read_box(table))
