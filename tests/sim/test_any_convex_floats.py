"""Whatever is convex floats as Archimedes says: by the weight of what it displaces, and by an energy of the water.

What is displaced is found by SciPy's hull of the corners under water and of where edges meet the surface; the law by
which water acts sums pressures over triangles.
"""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

from sim.groups.numeric import rotation_exp
from sim.platform.errors import InputError
from sim.shapes import Box, Capsule, Cone, ConvexMesh, Drum, Ellipsoid, Shape, Sphere
from sim.vehicle_config.config import HullMesh
from sim.water.floating import FloatingBodies
from sim.water.immersion import GRAVITY, WATER_DENSITY, afloat
from sim.world import load_world

SEA = load_world("sea")
PRESSED = WATER_DENSITY * GRAVITY
EXAMPLES = settings(max_examples=40, deadline=None)
seeds = st.integers(0, 2**32 - 1)


def under_water(corners: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Volume below z = 0 and its centroid (3,) of the hull of corners (n, 3), and its waterline (m, 2)."""
    below, above = corners[corners[:, 2] <= 0.0], corners[corners[:, 2] > 0.0]
    met = np.array([b + (a - b) * b[2] / (b[2] - a[2]) for b, a in itertools.product(below, above)])
    line = met[ConvexHull(met[:, :2]).vertices]
    hull = ConvexHull(np.concatenate([below, line]))
    inside = hull.points[hull.vertices].mean(axis=0)
    faces = hull.points[hull.simplices]
    volumes = np.abs(np.linalg.det(faces - inside)) / 6.0
    middle = (0.75 * faces.mean(axis=1) + 0.25 * inside).T @ volumes / volumes.sum()
    return float(volumes.sum()), middle, line[:, :2]


def waterplane(met: np.ndarray) -> tuple[float, np.ndarray, float]:
    """Area, centroid (2,), and second moment about the axis along x through that, of a polygon (m, 2)."""
    a = met
    b = np.roll(a, -1, axis=0)
    cross = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    area, centre = 0.5 * cross.sum(), (cross[:, None] * (a + b)).sum(axis=0) / (3.0 * cross.sum())
    second = (cross * (a[:, 1] ** 2 + a[:, 1] * b[:, 1] + b[:, 1] ** 2)).sum() / 12.0
    return area, centre, second - area * centre[1] ** 2


def drawn(rng: np.random.Generator) -> ConvexMesh:
    """A solid of a dozen corners, long or flat, none too thin."""
    while True:
        points = rng.normal(size=(rng.integers(5, 14), 3)) * rng.uniform(0.15, 1.5, 3)
        hull = ConvexHull(points)
        if hull.volume > 0.01:
            return ConvexMesh(tuple(tuple(p) for p in points[hull.vertices].tolist()))


def corners_of(shape: Shape) -> np.ndarray:
    """(n, 3) about its middle of mass, so much larger that what is round has its volume."""
    points, solid = shape.surface()[0], shape.solid()
    about = (points - solid.T_w[:3, 3]) @ solid.T_w[:3, :3]
    return about * np.cbrt(solid.volume_m3 / ConvexHull(about).volume)


class StillWater:
    """One body in it, that does not move."""

    def __init__(self, shape: Shape) -> None:
        self._water = FloatingBodies(SEA, None, [shape])

    def wrench(self, R: np.ndarray, x: np.ndarray) -> np.ndarray:
        """(6,) torque about its middle of mass and force, in the world."""
        state, out = np.zeros((1, 18)), np.zeros((1, 6))
        state[0, :9], state[0, 9:12] = R.ravel(), x
        still = np.array([1e9]), np.array([[1e9, 1e9, 1e9, 0.0]])  # heavy: it stays where it is
        self._water.wrenches(state, *still, 0.0, 1e-6, out)
        return out[0]


def posed(rng: np.random.Generator, corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Turned at random, and some way into the water."""
    R = rotation_exp(rng.normal(size=3) * 2.0)
    z = (corners @ R.T)[:, 2]
    return R, np.array([0.3, -0.2, -(z.min() + rng.uniform(0.1, 0.9) * np.ptp(z))])


@given(seeds)
@EXAMPLES
def test_what_pushes_it_up_is_the_weight_of_what_it_displaces_where_that_has_its_middle(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = drawn(rng)
    corners = corners_of(shape)
    R, x = posed(rng, corners)
    volume, middle, _ = under_water(corners @ R.T + x)
    lift = np.array([0.0, 0.0, PRESSED * volume])
    expected = np.r_[np.cross(middle - x, lift), lift]
    scale = PRESSED * shape.solid().volume_m3
    np.testing.assert_allclose(StillWater(shape).wrench(R, x), expected, atol=1e-7 * scale)


@given(seeds)
@EXAMPLES
def test_small_heels_are_righted_by_the_metacentric_height(seed: int) -> None:
    """About an axis through the middle of the waterplane: d moment / d angle = -rho g (I + V (z_B - z_G))."""
    rng = np.random.default_rng(seed)
    shape = drawn(rng)
    corners = corners_of(shape)
    R, x = posed(rng, corners)
    volume, middle, met = under_water(corners @ R.T + x)
    _, centre, second = waterplane(met)
    expected = -PRESSED * (second + volume * (middle[2] - x[2]))
    water, pivot, angle = StillWater(shape), np.r_[centre, 0.0], 1e-5

    def moment(turned: float) -> float:
        Q = rotation_exp(np.array([turned, 0.0, 0.0]))
        return float(water.wrench(Q @ R, pivot + Q @ (x - pivot))[0])

    slope = (moment(angle) - moment(-angle)) / (2.0 * angle)
    reach = float(np.linalg.norm(corners, axis=1).max())
    assert slope == pytest.approx(expected, abs=1e-3 * PRESSED * shape.solid().volume_m3 * reach)


@pytest.mark.parametrize(
    "shape",
    (
        Sphere((0.0, 0.0, 0.0), 0.4),
        Box((0.0, 0.0, 0.0), (0.5, 0.3, 0.2)),
        Capsule((0.0, 0.0, -0.3), (0.1, 0.2, 0.4), 0.2),
        Drum((0.0, 0.0, 0.0), 0.3, 0.4),
        Cone((0.0, 0.0, 0.0), 0.4, 0.7),
        Ellipsoid((0.0, 0.0, 0.0), (0.5, 0.3, 0.2)),
        None,
    ),
    ids=lambda shape: shape.kind if shape is not None else "any",
)
def test_what_acts_is_the_slope_of_the_energy_of_the_water_that_is_lifted(shape: Shape | None) -> None:
    """-rho g times the integral of z over what is displaced, along any small motion of any kind of shape."""
    rng = np.random.default_rng(7)
    for _ in range(12):
        solid = drawn(rng) if shape is None else shape
        corners, water = corners_of(solid), StillWater(solid)
        R, x = posed(rng, corners)
        motion, step = rng.normal(size=6), 1e-5

        def energy(along: float, R=R, x=x, corners=corners, motion=motion) -> float:
            turned = rotation_exp(along * motion[:3]) @ R
            volume, middle, _ = under_water(corners @ turned.T + x + along * motion[3:])
            return -PRESSED * volume * float(middle[2])

        slope = (energy(step) - energy(-step)) / (2.0 * step)
        scale = PRESSED * solid.solid().volume_m3 * float(np.linalg.norm(motion))
        assert -water.wrench(R, x) @ motion == pytest.approx(slope, abs=2e-5 * scale)


@given(seeds, st.floats(0.05, 0.95))
@EXAMPLES
def test_a_hull_of_any_form_lies_where_it_displaces_its_mass(seed: int, density: float) -> None:
    """And where it rests on the water by itself, the middles of mass and of what is displaced are above each other."""
    rng = np.random.default_rng(seed)
    shape = drawn(rng)
    corners = corners_of(shape)
    found = ConvexHull(corners)
    a, b, c = corners[found.simplices].transpose(1, 0, 2)
    inwards = np.einsum("ij,ij->i", np.cross(b - a, c - a), found.equations[:, :3]) < 0.0
    faces = np.where(inwards[:, None], found.simplices[:, ::-1], found.simplices)
    hull = HullMesh.of(corners, faces, "any")
    mass_kg = density * WATER_DENSITY * found.volume
    lies = afloat(hull, mass_kg)
    volume, middle, _ = under_water(corners @ lies[:3, :3].T + lies[:3, 3])
    assert WATER_DENSITY * volume == pytest.approx(mass_kg, rel=1e-6)
    if not np.array_equal(lies[:3, :3], np.eye(3)):
        assert np.abs((middle - lies[:3, 3])[:2]).max() < 1e-6
    with pytest.raises(InputError, match="sink"):
        afloat(hull, mass_kg / density * 1.0001)
