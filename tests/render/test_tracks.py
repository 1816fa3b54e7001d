"""Laws of wheel tracks."""

import numpy as np
import pytest

from render.vehicles.left_behind import TRACK_KEPT_S, Tracks, ribbon
from sim.vehicle_config import config_named


def pose(heading: float, x: float, y: float) -> np.ndarray:
    c, s = np.cos(heading), np.sin(heading)
    T = np.eye(4)
    T[:2, :2] = [[c, -s], [s, c]]
    T[:2, 3] = x, y
    return T


def on_circle(angle: float, radius_m: float = 8.0) -> np.ndarray:
    return pose(angle, radius_m * np.sin(angle), radius_m * (1 - np.cos(angle)))


def test_between_two_looks_the_wheels_run_on_the_exact_circles() -> None:
    tracks = Tracks()
    for k in range(4):
        tracks.extend(config_named("car"), 1, 0.5 * k, on_circle(0.4 * k))
    contacts = tracks.contacts_w()
    assert len(contacts) > 20
    radius = np.linalg.norm(contacts[..., :2] - np.array([0.0, 8.0]), axis=-1)
    expected = [7.25, 8.75, np.hypot(2.4, 7.25), np.hypot(2.4, 8.75)]
    np.testing.assert_allclose(radius, np.broadcast_to(expected, radius.shape), rtol=1e-9)


def test_a_ribbon_has_its_width_across_the_way() -> None:
    path = np.stack([np.linspace(0, 5, 20), np.zeros(20), np.zeros(20)], axis=1)[:, None]
    edges = ribbon(path, 0.2)
    np.testing.assert_allclose(edges[:, 0, 0, 1] - edges[:, 0, 1, 1], 0.2)


def test_a_jump_starts_the_tracks_anew_and_old_ones_fade_away() -> None:
    tracks = Tracks()
    for k in range(5):
        tracks.extend(config_named("car"), 1, float(k), pose(0.0, float(k), 0.0))
    assert tracks.surface(4.0, pose(0.0, 4.0, 0.0), np.zeros(3)) is not None
    tracks.extend(config_named("car"), 1, 5.0 + TRACK_KEPT_S, pose(0.0, 5.0, 0.0))
    assert len(tracks.contacts_w()) == 1
    tracks.extend(config_named("car"), 2, 60.0, pose(0.0, 50.0, 0.0))
    assert tracks.surface(60.0, pose(0.0, 50.0, 0.0), np.zeros(3)) is None


def test_vehicles_without_wheels_leave_none() -> None:
    tracks = Tracks()
    for k in range(5):
        tracks.extend(config_named("helicopter"), 1, float(k), pose(0.0, float(k), 0.0))
    assert tracks.surface(4.0, pose(0.0, 4.0, 0.0), np.zeros(3)) is None


@pytest.mark.parametrize("vehicle", ["car", "snakeboard"])
def test_a_surface_is_finite_level_and_fades_backwards(vehicle: str) -> None:
    tracks = Tracks()
    for k in range(30):
        tracks.extend(config_named(vehicle), 1, 0.1 * k, pose(0.05 * k, 0.3 * k, 0.0))
    surface = tracks.surface(3.0, pose(1.5, 9.0, 0.0), np.array([0.0, 2.0, 0.0]))
    assert np.isfinite(surface.corners_w).all()
    assert np.ptp(surface.corners_w[:, 2]) == 0.0
    assert surface.alpha[0] < surface.alpha[-1]
    assert len(surface.corners_w) % 3 == 0
    assert len(surface.corners_w) == len(surface.alpha)
