"""Laws of the polhode's picture: ellipsoid, sphere, the curve they share, and what joins the points of a way."""

import numpy as np
import pytest

import sim
from sim.simulation.lanes.snapshot import LaneStatus
from tests.ui import fakes
from tests.ui.bench import Bench
from ui.features.plots.polhode import (
    draw_polhode,
    ellipsoid,
    half_axes,
    pieces,
    polhodes,
    rings,
    spin_energy,
    way,
)
from ui.features.vehicle import FlownParameters

BODIES = (
    (np.array([0.4, 1.6, 1.9]), np.array([0.3, -2.0, 1.0])),
    (np.array([1.9, 0.4, 1.6]), np.array([0.3, -2.0, 0.4])),
    (np.array([1.0, 2.0, 3.0]), np.array([0.1, 24.0, 0.3])),
    (np.array([2.0, 2.0, 3.0]), np.array([1.0, 0.5, 4.0])),
)


@pytest.mark.parametrize(("inertia", "momentum_b"), BODIES)
def test_the_ellipsoid_has_one_energy_and_the_curves_also_one_size(inertia, momentum_b):
    energy_J, size = spin_energy(momentum_b, inertia), np.linalg.norm(momentum_b)
    axes = half_axes(momentum_b, inertia)
    for curve in (ellipsoid(axes), *rings(axes)):
        for point in np.array(curve).T[::7]:
            assert spin_energy(point, inertia) == pytest.approx(energy_J)
    curves = polhodes(momentum_b, inertia)
    assert len(curves) == 2
    for curve in curves:
        points = np.array(curve).T
        np.testing.assert_allclose(points[0], points[-1], atol=1e-12 * size)
        for point in points:
            assert spin_energy(point, inertia) == pytest.approx(energy_J)
            assert np.linalg.norm(point) == pytest.approx(size)


def test_a_free_body_stays_on_one_of_the_curves():
    inertia = (1.0, 2.0, 3.0)
    body = sim.vehicle("rigid-body", inertia=inertia)
    start = body.state(omega=(0.4, 3.0, 1.0))
    traj = sim.simulate(body, "rk4", step=0.002, duration=4.0, initial=start)
    momenta = np.array(inertia) * traj.velocity[:, :3]
    curves = [np.array(curve).T for curve in polhodes(momenta[0], np.array(inertia))]
    for momentum in momenta[::100]:
        # Half a chord of the drawn curve is the farthest that a point on it can be from a drawn one.
        gaps = [np.linalg.norm(curve - momentum, axis=1).min() for curve in curves]
        chords = [np.linalg.norm(np.diff(curve, axis=0), axis=1).max() for curve in curves]
        assert min(gaps) <= 0.5 * max(chords)


def test_without_spin_or_with_equal_moments_there_is_no_curve():
    assert polhodes(np.zeros(3), np.array([1.0, 2.0, 3.0])) == []
    assert polhodes(np.array([1.0, 2.0, 3.0]), np.full(3, 2.0)) == []


def test_long_joints_are_no_lines_and_what_is_far_away_is_left_out():
    angle = np.array([0.0, 0.1, 0.2, 0.3, 1.5, 3.0, 3.1, 3.2])
    circle = 5.0 * np.column_stack([np.cos(angle), np.sin(angle), np.zeros(8)])
    far = np.vstack([circle, [80.0, 0.0, 0.0], [0.0, np.nan, 0.0]])
    line, lonely = pieces(far, 6.0)
    assert np.isnan(line).all(axis=1).sum() == 2
    np.testing.assert_array_equal(line[~np.isnan(line[:, 0])], circle)
    np.testing.assert_array_equal(lonely, circle[3:6])


def test_a_way_ends_where_the_lane_is_now_unless_it_has_stopped():
    rows = np.array([[0.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.5, 1.0, 0.5, 0.0]])
    inertia = np.array([1.0, 2.0, 3.0])
    running = fakes.lane(trails={"omega": rows})
    np.testing.assert_allclose(way(running, inertia)[-1], inertia * running.twist_b[:3])
    stopped = fakes.lane(trails={"omega": rows}, status=LaneStatus.DIVERGED)
    np.testing.assert_allclose(way(stopped, inertia), inertia * rows[1:, 1:])


def test_it_draws_for_bodies_with_three_moments_and_says_so_for_others(bench: Bench) -> None:
    rng = np.random.default_rng(5)
    rows = np.column_stack([np.arange(200.0), 1.0 + 0.02 * np.cumsum(rng.normal(size=(200, 3)), axis=0)])
    lanes = (
        fakes.lane(trails={"omega": rows}),
        fakes.lane("g", trails={"omega": rows[:2]}, status=LaneStatus.CRASHED),
    )
    for _ in range(3):
        assert bench.frame(draw_polhode, fakes.snapshot(*lanes)) == []
    assert "polhode" in bench.context.rects
    still = np.zeros((2, 4))
    assert (
        bench.frame(draw_polhode, fakes.snapshot(fakes.lane(trails={"omega": still}, twist_b=np.zeros(6))))
        == []
    )
    bench.context.of(FlownParameters).values = {}
    assert bench.frame(draw_polhode, fakes.snapshot(*lanes)) == []
    assert "polhode" not in bench.context.rects
