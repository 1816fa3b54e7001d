"""The ground within kernels: contact in every step, and the paths of the contact points swept against the terrain."""

from typing import Any

import numpy as np

from sim.compiler.stepper import Inline
from sim.contact.height_field import MARCH_LIMIT, ground_top, surface_height, surface_normal, top_about
from sim.contact.rows import all_finite, farthest, put, world_point
from sim.contact.wrench import LOADS, SPARE_ROWS, WORKSPACE_WIDTH, borne_by_ground, ground_wrench
from sim.environment.environment import TOLD, Environment
from sim.native.function import fastmath, inline_fastmath, native
from sim.platform.values import dataclass
from sim.vehicle_config import config_of
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.form import Support
from sim.vehicles.forms.holonomic import HolonomicVehicle
from sim.world import World
from sim.world.terrain import Terrain

PASSED_M = 0.02
"""Deeper than that a point has gone through; less is what contact leaves over where planes meet."""


_STEEPEST = 20.0
"""Rise over run of ground that is still told apart from a wall: 87 degrees."""


@inline_fastmath
def goes_nowhere(begin: np.ndarray, end: np.ndarray, moved: float, frame: np.ndarray) -> bool:
    """Whether no point of a body can have gone PASSED_M deeper between two poses, whose places are `moved` apart.

    frame[6]: no point is farther from the origin [m].
    """
    turned = 0.0
    for k in range(9):
        turned += abs(end[k] - begin[k])
    return (moved + turned * frame[6]) * (1.0 + _STEEPEST) < PASSED_M


@fastmath
def passes_through(
    begin: np.ndarray,
    end: np.ndarray,
    heights: np.ndarray,
    frame: np.ndarray,
    points: np.ndarray,
    ceiling: float,
) -> bool:
    """Whether a straight way of a point, from its place at one pose (12,) to that at the other, leads deeper into the
    ground than PASSED_M below where it began.

    No ground that they come by is higher than `ceiling`. The ways are sampled once a cell; poses are R_wb
    column-major, then x_w. A pose that is not finite counts.
    """
    if not all_finite(end):
        return True
    for k in range(points.shape[0]):
        r = points[k]
        z = begin[11] + begin[2] * r[0] + begin[5] * r[1] + begin[8] * r[2]
        to_z = end[11] + end[2] * r[0] + end[5] * r[1] + end[8] * r[2]
        if min(z, to_z) > ceiling - PASSED_M:
            continue
        x, y, _ = world_point(begin, r)
        to_x, to_y, _ = world_point(end, r)
        dx, dy, dz = to_x - x, to_y - y, to_z - z
        deepest = min(z - surface_height(heights, frame, x, y), 0.0) - PASSED_M
        pieces = min(int(max(abs(dx), abs(dy)) / frame[2]) + 1, MARCH_LIMIT)
        for i in range(1, pieces + 1):
            fraction = i / pieces
            at_x, at_y = x + fraction * dx, y + fraction * dy
            above = z + fraction * dz - surface_height(heights, frame, at_x, at_y)
            if above < deepest and above * surface_normal(heights, frame, at_x, at_y)[2] < deepest:
                return True
    return False


@native("float64(float64[::1], float32[:, ::1], float64[::1], float64[:, ::1])")
def _clearance(pose: np.ndarray, heights: np.ndarray, frame: np.ndarray, points: np.ndarray) -> float:
    if not all_finite(pose):
        return np.inf
    lowest = np.inf
    for k in range(points.shape[0]):
        x, y, z = world_point(pose, points[k])
        lowest = min(lowest, z - surface_height(heights, frame, x, y))
    return lowest


@dataclass(frozen=True, slots=True, eq=False)
class GroundArrays:
    """Arrays that compiled kernels read; `report` and `wrench_b` are written by them."""

    heights: np.ndarray
    """(ny, nx) float32 [m], C-contiguous."""
    frame: np.ndarray
    """(8,) x0_m, y0_m, spacing_m, friction, restitution, gravity_mps2; how far points are from the origin [m], cells
    along a side of the blocks of `tops`."""
    points: np.ndarray
    """(k, 4) body-frame contact points [m]; last column 1.0 where touching is a crash, else 0.0."""
    report: np.ndarray
    """(16 + 3 k + TOLD,) running greatest speed of a touch [m/s]; points in contact in the last step; lowest height
    of a point above the ground [m], or less where none is near; running greatest touch speed of crash points [m/s];
    then what the contact remembers of the step before (twist 4:10, position 10:13, whether valid 13, its length 14;
    whether impulses were corrected 15; forces at the points 16:), and what `Environment` has at the end."""
    tops: np.ndarray
    """As `Terrain.tops`."""
    wrench_b: np.ndarray
    """(6,) mean wrench of contact in the last step (torque [N m], force [N]), body frame."""
    workspace: np.ndarray
    """For contact to work in."""

    @property
    def env(self) -> tuple[Any, ...]:
        """What a kernel takes."""
        return (
            True,
            self.heights,
            self.frame,
            self.points,
            self.report,
            self.report.copy(),
            self.tops,
            self.workspace,
            self.wrench_b,
        )

    def probe(self) -> "GroundArrays":
        """The same ground, to look a step ahead without changing what the contact remembers."""
        return _made(self.heights, self.frame, self.points, self.report.copy(), self.tops)

    @staticmethod
    def of(
        terrain: Terrain,
        points: np.ndarray,
        *,
        friction: float = 0.7,
        restitution: float = 0.0,
        gravity_mps2: float = 9.81,
    ) -> "GroundArrays":
        """The ground of a terrain for a body with contact points (k, 4)."""
        reach_m = float(np.linalg.norm(points[:, :3], axis=1).max(initial=0.0))
        law = (friction, restitution, gravity_mps2)
        frame = np.array([*terrain.origin_m, terrain.spacing_m, *law, reach_m, terrain.block_cells])
        heights = np.ascontiguousarray(terrain.heights, np.float32)
        report = np.zeros(LOADS + 3 * len(points) + TOLD)
        return _made(heights, frame, np.ascontiguousarray(points, float), report, terrain.tops)

    def clearance_m(self, pose: np.ndarray) -> float:
        """Height of the lowest point above the ground at a pose (12,)."""
        return float(_clearance(pose, self.heights, self.frame, self.points))


def _made(
    heights: np.ndarray, frame: np.ndarray, points: np.ndarray, report: np.ndarray, tops: np.ndarray
) -> GroundArrays:
    return GroundArrays(heights, frame, points, report, tops, np.zeros(6), _workspace(len(points)))


def _workspace(points: int) -> np.ndarray:
    """For contact of so many points."""
    workspace = np.zeros((2 * points + SPARE_ROWS, WORKSPACE_WIDTH))
    workspace[-1] = -1.0
    return workspace


def gravity_mps2(vehicle: Vehicle) -> float:
    """By its parameter of that name; none without one."""
    return float(np.max(vehicle.values.get("gravity", 0.0)))


_NEAR_M = 1.0


@fastmath
def _ceiling(
    pose: np.ndarray,
    moved: float,
    heights: np.ndarray,
    frame: np.ndarray,
    tops: np.ndarray,
    workspace: np.ndarray,
) -> float:
    """No ground that a body's points come by on a way of length `moved` is higher [m]; infinite where that is far."""
    reach = moved + frame[6]
    if not reach < frame[7] * frame[2]:
        return np.inf
    top = ground_top(tops, frame[7], frame, pose[9], pose[10])
    if pose[11] - reach - _NEAR_M > top:
        return top
    return top_about(heights, frame, pose[9], pose[10], reach, workspace[workspace.shape[0] - 1])


@fastmath
def feel_ground(
    pose: np.ndarray,
    free: np.ndarray,
    inertia: np.ndarray,
    h: float,
    env: tuple[Any, ...],
    wrench_b: np.ndarray,
) -> bool:
    """Contact's mean wrench in a step of h; whether any point meets the ground."""
    _, heights, frame, points, report, before, tops, workspace, _ = env
    put(before, report)
    ceiling = _ceiling(pose, farthest(free, h, frame), heights, frame, tops, workspace)
    return ground_wrench(pose, free, inertia, h, heights, frame, points, wrench_b, report, ceiling, workspace)


@fastmath
def refuse_way(begin: np.ndarray, end: np.ndarray, env: tuple[Any, ...]) -> bool:
    """Whether a point's way between two poses leads through the ground."""
    _, heights, frame, points, report, _, tops, workspace, _ = env
    moved = abs(end[9] - begin[9]) + abs(end[10] - begin[10]) + abs(end[11] - begin[11])
    # Far above the ground nobody looks; the report tells how far. Nor at what rests.
    if not report[2] < _NEAR_M + 2.0 * moved or goes_nowhere(begin, end, moved, frame):
        return False
    ceiling = _ceiling(begin, moved, heights, frame, tops, workspace)
    return passes_through(begin, end, heights, frame, points, ceiling)


@fastmath
def forget_try(env: tuple[Any, ...]) -> None:
    """The report as it was before the last wrench was found."""
    _, _, _, _, report, before, _, _, _ = env
    put(report, before)


def _touches(vehicle: Vehicle) -> bool:
    """Contact is for free bodies in space; wheels and blades have their ground in their constraints."""
    return isinstance(vehicle, HolonomicVehicle) and vehicle.support is Support.NOTHING


_A, _AA = "float64[::1]", "float64[:, ::1]"
_NOTHING = (
    False,
    np.zeros((2, 2), np.float32),
    np.zeros(8),
    np.zeros((0, 4)),
    np.zeros(LOADS + TOLD),
    np.zeros(LOADS + TOLD),
    np.zeros((1, 1), np.float32),
    _workspace(0),
    np.zeros(6),
)


def _nothing() -> tuple[Any, ...]:
    """`env` in the air."""
    return _NOTHING


GROUND = Inline(
    module="sim.contact.ground",
    type=f"Tuple((boolean, float32[:, ::1], {_A}, {_AA}, {_A}, {_A}, float32[:, ::1], {_AA}, {_A}))",
    wrench="feel_ground",
    refuses="refuse_way",
    undo="forget_try",
    serves=_touches,
    nothing=_nothing,
)


class GroundContact(Environment):
    """The ground about one lane of a single rigid body, which it meets within its steps."""

    inline = GROUND
    acts = True

    def __init__(self, vehicle: Vehicle, ground: GroundArrays, water_level_m: float | None = None) -> None:
        super().__init__(vehicle, ground.report, ground.wrench_b)
        self.ground, self._water_level_m = ground, water_level_m

    @classmethod
    def of(cls, vehicle: Vehicle, world: World | None) -> Environment:
        if world is None:
            return Environment(vehicle)
        points = config_of(vehicle).contact.points
        ground = GroundArrays.of(world.terrain, points, gravity_mps2=gravity_mps2(vehicle))
        return cls(vehicle, ground, world.water_level_m)

    @property
    def env(self) -> tuple[Any, ...]:
        return self.ground.env

    def clearance_m(self, node: np.ndarray) -> float:
        return self.ground.clearance_m(node[self.vehicle.node_layout.pose])

    def submerged(self, node: np.ndarray) -> bool:
        if self._water_level_m is None:
            return False
        pose = node[self.vehicle.node_layout.pose]
        points = self.ground.points
        below = pose[11] + points[:, :3] @ pose[2:9:3] < self._water_level_m
        return bool((below & (points[:, 3] > 0.0)).any())

    def borne(self, poses_w: np.ndarray) -> np.ndarray:
        points = self.ground.points * (1.0, 1.0, 1.0, 0.0)
        return borne_by_ground(self.report, np.zeros(len(points), np.int64), points, poses_w)

    def lift_out(self, node: np.ndarray) -> np.ndarray:
        return self.vehicle.raised(node, -min(self.clearance_m(node), 0.0))

    def renew(self, vehicle: Vehicle, time_s: float) -> None:
        super().renew(vehicle, time_s)
        self.ground.frame[5] = gravity_mps2(vehicle)

    def probe(self) -> "GroundContact":
        return GroundContact(self.vehicle, self.ground.probe(), self._water_level_m)
