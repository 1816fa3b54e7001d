"""Boxes of splashing water as scenes name them: a tank that stands, or a box in the open sea that goes with a boat."""

from dataclasses import dataclass, replace

import numpy as np

from sim.platform.errors import InputError
from sim.platform.toml_table import TomlTable
from sim.vehicle_config import config_of
from sim.vehicles import Vehicle
from sim.vehicles.forms.form import Support
from sim.water.flip.body import Floating
from sim.water.flip.box import FEWEST_CELLS, MOST_CELLS, Box
from sim.water.flip.coupled import TankWater
from sim.water.flip.open_sea import SeaAround
from sim.water.flip.tank import Tank
from sim.water.flip.walls import Paddle
from sim.water.water import water_about, weather_of
from sim.world import World


@dataclass(frozen=True, slots=True)
class WaterBox:
    """A closed box about the middle of the world, its bottom on the ground, and how its water begins."""

    box: Box
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
        box = Box(self.box.cells, self.box.cell_m, (float(corner[0]), float(corner[1]), bottom))
        places = hull.surface.vertices @ T_wb[:3, :3].T + T_wb[:3, 3]
        low, high = np.asarray(box.corner_w), np.asarray(box.corner_w) + box.size_m
        if (places < low).any() or (places[:, :2] > high[:2]).any():
            raise InputError("the vehicle does not start within the box of water")
        nx, ny, _ = box.cells
        depth = np.full((ny, nx), self.depth_m)
        if self.dam_m[0] > 0.0:
            depth[:, nx - round(self.dam_m[0] / box.cell_m) :] = self.dam_m[1]
        tank = Tank(box, depth, floating=Floating.of(hull.surface, box.cell_m), paddle=self.paddle)
        tank.make_room(T_wb)
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


def read_box(table: TomlTable) -> Box:
    """`cells_x`, `cells_y`, `cells_z` of `cell_m`.

    Raises InputError for what cannot be halved down to the coarsest grid, or needs more memory than is allowed.
    """
    x, y, z = (_cells(table, f"cells_{axis}", count) for axis, count in (("x", 48), ("y", 48), ("z", 24)))
    cell_m = table.number("cell_m", 0.2, low=0.02, high=5.0)
    try:
        return Box((x, y, z), cell_m)
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

    box: Box

    def begun(self, vehicle: Vehicle, T_wb: np.ndarray, world: World) -> TankWater:
        """About a vehicle at (4, 4) T_wb. Raises InputError for one that has no hull, or does not float."""
        hull = config_of(vehicle).hull
        if vehicle.support is not Support.WATER or hull is None or hull.surface is None:
            raise InputError(f"vehicle {vehicle.name!r} does not float: no sea can carry it")
        water = water_about(vehicle, world.water_level_m or 0.0)
        tank = Tank(
            self.box,
            floating=Floating.of(hull.surface, self.box.cell_m),
            around=SeaAround(water.state, weather_of(vehicle).current_mps),
        )
        tank.begin_at(0.0, T_wb)
        return TankWater(tank, hull.surface.vertices)


def read_sea_box(table: TomlTable) -> SeaBox:
    """A scene's table. Raises InputError, one line with file and key."""
    return SeaBox(read_box(table))
