"""Laws of the routes that the autopilot flies."""

import numpy as np
import pytest

from sim.control.flying import SPACING_M, make_route


def winding() -> np.ndarray:
    s = np.arange(0.0, 1000.0, 20.0)
    return np.column_stack((s, 50.0 * np.sin(s / 90.0), 30.0 + 8.0 * np.sin(s / 150.0)))


def test_a_route_keeps_its_ends_and_stays_near_its_polyline():
    polyline = winding()
    route = make_route(polyline, cruise_mps=20.0)
    np.testing.assert_allclose(route.points[[0, -1]], polyline[[0, -1]], atol=0.5)
    for point in polyline:
        assert np.linalg.norm(route.points - point, axis=1).min() < 4.0


def test_speeds_respect_bends_braking_and_the_end():
    route = make_route(winding(), cruise_mps=25.0, sideways=3.5, braking=1.6)
    curvature = np.linalg.norm(route.bends[:, :2], axis=1)
    assert np.all(route.speeds**2 * curvature <= 3.5 + 1e-9)
    assert np.all(route.speeds <= 25.0)
    assert route.speeds[-1] == 0.0
    slowing = (route.speeds[:-1] ** 2 - route.speeds[1:] ** 2) / (2.0 * SPACING_M)
    assert slowing.max() <= 1.6 + 1e-9


def test_nearest_inverts_at():
    route = make_route(winding(), cruise_mps=20.0)
    for arc in np.linspace(0.0, route.length_m, 37):
        assert route.nearest(route.at(arc).point_w) == pytest.approx(arc, abs=0.3)
        assert route.nearest(route.at(arc).point_w, arc - 10.0) == pytest.approx(arc, abs=0.3)


def test_tangents_are_unit_and_point_forward():
    route = make_route(winding(), cruise_mps=20.0)
    np.testing.assert_allclose(np.linalg.norm(route.tangents, axis=1), 1.0)
    steps = np.diff(route.points, axis=0)
    assert np.all(np.einsum("ij,ij->i", steps, route.tangents[:-1]) > 0.0)


def test_a_straight_line_of_two_points_is_a_route():
    route = make_route(np.array([[0.0, 0.0, 5.0], [100.0, 0.0, 5.0]]), cruise_mps=10.0)
    np.testing.assert_allclose(route.tangents, np.tile([1.0, 0.0, 0.0], (len(route.points), 1)), atol=1e-12)
    assert np.abs(route.bends).max() < 1e-12
