"""Laws of a hull at the surface: Archimedes on every attitude, what open surfaces are told, and drag by patches."""

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from sim.platform.errors import InputError
from sim.vehicle_config.config import HullMesh
from sim.water.immersion import (
    AREA,
    CENTROID,
    DRAG,
    FOUND,
    GRAVITY,
    IMPACT,
    LIFT,
    RESISTANCES,
    VERTEX_WIDTH,
    VOLUME,
    WATER_DENSITY,
    WET,
    sum_hull,
)


def turned(seed: int) -> np.ndarray:
    q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    return q * np.sign(np.linalg.det(q))


def summed(
    hull: HullMesh,
    R: np.ndarray,
    height: float,
    *,
    slope: tuple[float, float] = (0.0, 0.0),
    motion_w: np.ndarray | None = None,
    stream_w: tuple[float, float, float] = (0.0, 0.0, 0.0),
    drag: float = 0.0,
    impact: float = 0.0,
) -> tuple[np.ndarray, np.ndarray]:
    """(wrench about the origin, what is found) of a hull whose origin is `height` above a plane surface."""
    rows = np.zeros((len(hull.vertices), VERTEX_WIDTH))
    rows[:, :3] = hull.vertices @ R.T
    rows[:, 3] = slope[0] * rows[:, 0] + slope[1] * rows[:, 1] - height - rows[:, 2]
    rows[:, 4:] = stream_w
    numbers = np.zeros(RESISTANCES)
    numbers[DRAG], numbers[IMPACT], numbers[AREA], numbers[LIFT] = drag, impact, 1.0, 1.0
    load, damping, found = np.empty(6), np.empty((6, 6)), np.empty(FOUND)
    motion = np.zeros(6) if motion_w is None else motion_w
    sum_hull(
        rows, hull.triangles, motion, 0.0, 0.0, numbers, np.empty((2, VERTEX_WIDTH)), load, damping, found
    )
    return load - damping @ motion, found


@pytest.mark.parametrize("seed", range(12))
def test_volume_and_centroid_are_those_of_the_part_below_a_plane(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    hull = HullMesh.box(4.0, 2.0, 0.8, cells=(3, 2, 2))
    R, height, slope = turned(seed), rng.uniform(-0.4, 0.4), tuple(rng.uniform(-0.5, 0.5, 2))
    _, found = summed(hull, R, height, slope=slope)
    volume, centroid = part_below(hull.vertices @ R.T, height, slope)
    # measured 3e-15, 1e-15
    assert found[VOLUME] == pytest.approx(volume, abs=1e-12)
    assert np.abs(found[CENTROID : CENTROID + 3] - centroid).max() < 1e-12


def part_below(points: np.ndarray, height: float, slope: tuple[float, float]) -> tuple[float, np.ndarray]:
    """Of a convex body, by qhull: the points below, and where lines between all pairs cross the plane."""
    above = points[:, 2] + height - points[:, :2] @ slope
    low, high = points[above <= 0], points[above > 0]
    share = above[above <= 0][:, None] / (above[above <= 0][:, None] - above[above > 0][None, :])
    crossings = low[:, None] + share[..., None] * (high[None, :] - low[:, None])
    cut = ConvexHull(np.concatenate([low, crossings.reshape(-1, 3)]))
    inner = cut.points.mean(axis=0)
    a, b, c = (cut.points[cut.simplices[:, k]] - inner for k in range(3))
    volumes = np.abs(np.einsum("ij,ij->i", a, np.cross(b, c))) / 6
    return float(volumes.sum()), inner + (volumes[:, None] * (a + b + c) / 4).sum(axis=0) / volumes.sum()


@pytest.mark.parametrize("seed", range(6))
def test_on_level_water_pressure_is_archimedes_force_at_the_centroid(seed: int) -> None:
    hull = HullMesh.box(4.0, 2.0, 0.8, cells=(5, 3, 2))
    wrench, found = summed(hull, turned(seed), 0.1)
    lift = WATER_DENSITY * GRAVITY * found[VOLUME]
    x, y, _ = found[CENTROID : CENTROID + 3]
    # measured 5e-11 N of 3e4 N
    assert np.abs(wrench - [lift * y, -lift * x, 0.0, 0.0, 0.0, lift]).max() < 1e-8


def test_deep_below_a_hull_feels_no_pressure_but_archimedes() -> None:
    hull = HullMesh.box(1.0, 0.7, 0.5)
    near, _ = summed(hull, turned(3), -1.0)
    far, found = summed(hull, turned(3), -900.0)
    assert found[VOLUME] == pytest.approx(hull.volume_m3, abs=1e-12)
    # measured 1e-9 N where each face bears 4e6 N
    assert np.abs(near - far).max() < 1e-6
    assert np.abs(far - [0, 0, 0, 0, 0, WATER_DENSITY * GRAVITY * hull.volume_m3]).max() < 1e-6


def test_a_slope_of_the_surface_pushes_down_the_slope() -> None:
    # Pressure of columns: the force has the direction of the surface's gradient, rho g V (-slope, 1).
    hull = HullMesh.box(1.0, 0.7, 0.5, cells=(2, 2, 2))
    slope = (0.12, -0.2)
    wrench, found = summed(hull, turned(1), 0.05, slope=slope)
    lift = WATER_DENSITY * GRAVITY * found[VOLUME]
    assert np.abs(wrench[3:] - lift * np.array([-slope[0], -slope[1], 1.0])).max() < 1e-9 * lift


def test_drag_coefficient_is_that_of_the_whole_wetted_hull() -> None:
    hull = HullMesh.box(4.0, 2.0, 0.8, cells=(4, 3, 2))
    motion = np.array([0.3, -0.2, 0.5, 1.1, 0.4, -0.3])
    wrench, found = summed(hull, np.eye(3), -5.0, motion_w=motion, drag=40.0)
    still, _ = summed(hull, np.eye(3), -5.0)
    # E over the area, summed over the area that is wet: -E v, since the sum of arms vanishes about the middle.
    expected = -40.0 * found[WET] * motion[3:]
    assert np.abs((wrench - still)[3:] - expected).max() < 1e-9  # measured 3e-12
    assert (wrench - still) @ motion < 0.0


def test_what_drifts_with_the_stream_feels_no_drag_nor_slam() -> None:
    hull = HullMesh.box(4.0, 2.0, 0.8, cells=(4, 3, 2))
    R, stream = turned(5), (0.4, -0.7, 0.2)
    drifting, _ = summed(
        hull, R, 0.1, motion_w=np.array([0, 0, 0, *stream]), stream_w=stream, drag=30.0, impact=1.0
    )
    still, _ = summed(hull, R, 0.1)
    assert np.abs(drifting - still).max() < 1e-9  # measured 9e-12


def test_pressure_of_running_into_water_grows_with_the_square_and_pushes_only() -> None:
    hull = HullMesh.box(1.0, 1.0, 1.0)
    still, _ = summed(hull, np.eye(3), -3.0)
    forces = [
        summed(hull, np.eye(3), -3.0, motion_w=np.array([0, 0, 0, speed, 0, 0.0]), impact=0.8)[0][3]
        - still[3]
        for speed in (1.0, 2.0, -2.0)
    ]
    # 1/2 rho C A v^2 on the one face that runs into it
    assert forces == pytest.approx([-400.0, -1600.0, 1600.0], rel=1e-12)


def test_an_open_edge_is_named() -> None:
    box = HullMesh.box(2.0, 2.0, 2.0)
    with pytest.raises(
        InputError, match=r"hull: the surface is not closed at the edge from \(.*\) to \(.*\) m"
    ):
        HullMesh.of(box.vertices, box.triangles[1:])
    with pytest.raises(InputError, match="face inwards"):
        HullMesh.of(box.vertices, box.triangles[:, ::-1])
    twisted = box.triangles.copy()
    twisted[0] = twisted[0, ::-1]
    with pytest.raises(InputError, match="not closed at the edge"):
        HullMesh.of(box.vertices, twisted)


def test_a_file_is_read_or_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "hull.obj"
    corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
    path.write_text(corners + "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 1/1/1 4/4/4 3/3/3\n")
    assert HullMesh.read(path).volume_m3 == pytest.approx(1 / 6)
    path.write_text(corners + "f 1 3 two\n")
    with pytest.raises(InputError, match="line 5"):
        HullMesh.read(path)
    path.write_text(corners + "f 1 3 9\nf 1 2 4\nf 2 3 4\nf 1 4 3\n")
    with pytest.raises(InputError, match="names vertex"):
        HullMesh.read(path)
    with pytest.raises(InputError, match="cannot be read"):
        HullMesh.read(tmp_path / "missing.obj")
