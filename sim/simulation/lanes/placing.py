"""Where vehicles are in the three-dimensional world: what they leave open, what surrounds them, what holds them."""

import math
from functools import lru_cache

import casadi as ca
import numpy as np

from sim.contact.height_field import surface_height
from sim.environment.environment import environment_of
from sim.groups.numeric import attitude_of, heading_of, pose_matrix
from sim.native.function import native
from sim.platform.values import dataclass
from sim.vehicle_config import config_of
from sim.vehicle_config.terms import named_values
from sim.vehicles import Vehicle
from sim.vehicles.forms.base import Structure
from sim.vehicles.forms.form import Support
from sim.vehicles.forms.homogeneous import Leader, has_leader
from sim.vehicles.forms.slung_load import SlungLoad
from sim.world import Terrain, World

_UP_W = np.array([0.0, 0.0, 1.0])
LAID = (Support.GROUND, Support.SURFACE)
"""What moves in a plane and is put on a world's ground or water."""


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """Where a vehicle's main body is and how it moves."""

    T_wb: np.ndarray
    """(4, 4) body to world."""
    twist_b: np.ndarray
    """(6,) omega [rad/s], v [m/s]."""


def stand_at(world: World, x_w: np.ndarray, height_m: float) -> np.ndarray:
    """(3,) the fixed point of a stand on the ground at (x, y) of `x_w` [m]."""
    x, y = float(x_w[0]), float(x_w[1])
    return np.array([x, y, float(world.terrain.height(x, y)) + height_m])


def in_world(vehicle: Vehicle, poses: np.ndarray, world: World, pivot_w: np.ndarray | None) -> np.ndarray:
    """(bodies, 4, 4) poses in the world of bodies whose poses in the vehicle's own frame are given, the main one first.

    pivot_w: (3,) where the origin of what is on a stand has its place.
    """
    if vehicle.support is Support.STAND and pivot_w is not None:
        poses = poses.copy()
        poses[:, :3, 3] += pivot_w
    if vehicle.support in LAID:
        poses = _laid(vehicle, poses[0], world) @ _inverse(poses[0]) @ poses
    return poses


def _laid(vehicle: Vehicle, T: np.ndarray, world: World) -> np.ndarray:
    """A pose in the plane, on the ground or on the water."""
    x, y, heading = float(T[0, 3]), float(T[1, 3]), float(np.arctan2(T[1, 0], T[0, 0]))
    height = float(world.terrain.height(x, y))
    if vehicle.support is Support.SURFACE and float(world.surface_m(x, y)) > height:
        return _upright(_UP_W, heading, (x, y, float(world.surface_m(x, y))))
    T_wb = _upright(world.terrain.normal(x, y), heading, (x, y, height))
    wheels = _wheels(vehicle)
    return T_wb if wheels is None else _on_wheels(T_wb, *wheels, heading, world.terrain)


def _upright(normal_w: np.ndarray, heading_rad: float, place_w: tuple[float, float, float]) -> np.ndarray:
    return pose_matrix(attitude_of(normal_w, heading_rad), place_w)


@lru_cache(maxsize=64)
def _wheels(vehicle: Vehicle) -> tuple[np.ndarray, np.ndarray] | None:
    """(k, 3) where a vehicle touches the ground, body frame: its wheels, else the corners of its footprint; and (3, k)
    slope ahead, slope to the left and height of the plane that fits heights there best."""
    config = config_of(vehicle)
    if config.tracks is not None:
        values = named_values(vehicle, parameters=vehicle.values)
        at = [(x.value(values), y.value(values), 0.0) for x, y in config.tracks.wheels]
    elif config.footprint is not None:
        (x, y), (length, width) = config.footprint.centre_m, config.footprint.half_m
        at = [(x + along * length, y + across * width, 0.0) for along in (-1, 1) for across in (-1, 1)]
    else:
        return None
    wheels_b = np.array(at)
    return wheels_b, np.linalg.pinv(np.column_stack([wheels_b[:, :2], np.ones(len(at))]))


_FITS = 3


def _on_wheels(
    T_wb: np.ndarray, wheels_b: np.ndarray, fit: np.ndarray, heading_rad: float, terrain: Terrain
) -> np.ndarray:
    """The plane that fits the ground under the wheels best, raised until none of them is in it.

    Wheels in one line leave the slope across them as it was at the origin. Level ground leaves the pose as it is.
    """
    frame, deep = np.array([*terrain.origin_m, terrain.spacing_m]), np.empty(len(wheels_b))
    if not _depths(T_wb, wheels_b, terrain.heights, frame, deep):
        return T_wb
    x, y, z = T_wb[:3, 3].tolist()
    c, s = math.cos(heading_rad), math.sin(heading_rad)
    for _ in range(_FITS):
        ahead, left, rise = (fit @ deep).tolist()
        slopes = np.array([c * ahead - s * left, s * ahead + c * left, 0.0])
        normal, z = T_wb[:3, 2] / T_wb[2, 2] - slopes, z + rise
        T_wb = _upright(normal / math.sqrt(normal @ normal), heading_rad, (x, y, z))
        _depths(T_wb, wheels_b, terrain.heights, frame, deep)
    T_wb[2, 3] += max(float(deep.max()), 0.0)
    return T_wb


@native("boolean(float64[:, ::1], float64[:, ::1], float32[:, ::1], float64[::1], float64[::1])")
def _depths(
    T_wb: np.ndarray, wheels_b: np.ndarray, heights: np.ndarray, frame: np.ndarray, deep: np.ndarray
) -> bool:
    """deep (k,): how far [m] wheels are in the ground, below 0 above it; whether any is not exactly on it."""
    off = False
    for k in range(wheels_b.shape[0]):
        w = wheels_b[k]
        x = T_wb[0, 0] * w[0] + T_wb[0, 1] * w[1] + T_wb[0, 2] * w[2] + T_wb[0, 3]
        y = T_wb[1, 0] * w[0] + T_wb[1, 1] * w[1] + T_wb[1, 2] * w[2] + T_wb[1, 3]
        z = T_wb[2, 0] * w[0] + T_wb[2, 1] * w[1] + T_wb[2, 2] * w[2] + T_wb[2, 3]
        deep[k] = surface_height(heights, frame, x, y) - z
        off = off or deep[k] != 0.0
    return off


def _inverse(T: np.ndarray) -> np.ndarray:
    return pose_matrix(T[:3, :3].T, -T[:3, :3].T @ T[:3, 3])


def placement(
    vehicle: Vehicle, node: np.ndarray, world: World, pivot_w: np.ndarray | None = None
) -> Placement:
    """Of a flat node. What turns about a fixed point does so about `pivot_w` (3,)."""
    T, twist_b = _main_body(Structure.of(vehicle))(node, vehicle.parameter_vector)
    (T_wb,) = in_world(vehicle, np.array(T)[None], world, pivot_w)
    return Placement(T_wb, np.array(twist_b).ravel())


@lru_cache(maxsize=64)
def _main_body(structure: Structure) -> ca.Function:
    """(node, parameters) -> pose and twist of the main body."""
    vehicle = structure.vehicle
    node, p = ca.SX.sym("node", vehicle.node_layout.size), ca.SX.sym("p", vehicle.parameter_count)
    q = vehicle.symbols(p)
    main = next(iter(vehicle.bodies(node, q).values()))
    return ca.Function("main", [node, p], [ca.densify(main), ca.densify(vehicle.twist(node, q))])


def node_at(vehicle: Vehicle, there: Placement) -> np.ndarray:
    """A flat node of the vehicle at a place."""
    T_wb = there.T_wb
    if vehicle.support in LAID:
        T_wb = T_wb.copy()
        T_wb[:3, :3] = attitude_of(_UP_W, heading_of(there.T_wb[:3, :3]))
    return vehicle.state_in_space(T_wb, there.twist_b).node


def taken_over(old: Vehicle, new: Vehicle, there: Placement, pivot_w: np.ndarray | None = None) -> Placement:
    """Where another vehicle takes the old one's place: of what is on a stand, that of its fixed point `pivot_w` (3,).

    Onto a stand and off it everything comes upright and at rest: a spin about a fixed point is no flight. Else its
    attitude is the rotation next to the old one's, which a method that leaves the group may have lost.
    """
    T_wb = there.T_wb.copy()
    if Support.STAND not in (old.support, new.support):
        left, _, right = np.linalg.svd(there.T_wb[:3, :3])
        T_wb[:3, :3] = left @ right
        return Placement(T_wb, there.twist_b)
    T_wb[:3, :3] = attitude_of(_UP_W, heading_of(there.T_wb[:3, :3]))
    if pivot_w is not None:
        T_wb[:3, 3] = pivot_w
    return Placement(T_wb, np.zeros(6))


class Footing:
    """Of one lane. Raises InputError for a vehicle that lacks what its environment needs."""

    def __init__(self, vehicle: Vehicle, world: World) -> None:
        self.world = world
        contact = config_of(vehicle).contact
        self.soles_m = (
            max(contact.soles_m, vehicle.hangs_m) if isinstance(vehicle, SlungLoad) else contact.soles_m
        )
        self.environment = environment_of(vehicle, world)
        held = vehicle.support is Support.STAND
        self.pivot_w: np.ndarray | None = stand_at(world, np.zeros(3), vehicle.stand_m) if held else None
        """(3,) the fixed point at which a stand holds it; None for what none holds."""
        self._vehicle = vehicle

    def again(self) -> "Footing":
        """The same place, for another lane: nothing has been touched yet."""
        other = Footing(self._vehicle, self.world)
        other.pivot_w = self.pivot_w
        return other

    def put_at(self, x_w: np.ndarray) -> None:
        """The vehicle is put at `x_w` (3,): what a stand holds gets it there."""
        if self.pivot_w is not None:
            self.pivot_w = stand_at(self.world, x_w, self._vehicle.stand_m)

    def height_m(self, node: np.ndarray, x_w: np.ndarray) -> float:
        """Of its lowest contact point [m] above the ground, or the water over it, under x_w (3,); NaN without."""
        environment = self.environment
        clear_m = environment.clearance_m(node)
        if not math.isfinite(clear_m):
            return math.nan
        if self._vehicle.support is not Support.NOTHING or environment.water is not None:
            return clear_m
        x, y = float(x_w[0]), float(x_w[1])
        return clear_m - float(self.world.surface_m(x, y) - self.world.terrain.height(x, y))

    def leader_clearance_m(self, node: np.ndarray) -> float:
        """Height above the ground of the target that the vehicle follows; inf where it follows none."""
        if not has_leader(self._vehicle):
            return math.inf
        x, y, z = node[Leader.of(self._vehicle).place].tolist()
        return z - float(self.world.terrain.height(x, y))
