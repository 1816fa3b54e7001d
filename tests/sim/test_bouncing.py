"""Elastic bounces: energy is kept through thousands of them, and between them the motion keeps its order."""

from itertools import pairwise

import numpy as np
import pytest

from sim.contact.bouncing import Bouncing, room
from sim.platform.errors import InputError
from sim.shapes import Box, ConvexMesh, Ellipsoid, Shape, Sphere

HERE = (0.0, 0.0, 0.0)
TETRAHEDRON = ((0.0, 0.0, 0.0), (0.4, 0.0, 0.0), (0.0, 0.4, 0.0), (0.1, 0.1, 0.4))


@pytest.mark.parametrize(
    "shape", [Box(HERE, (0.3, 0.2, 0.1)), Ellipsoid(HERE, (0.3, 0.2, 0.15)), ConvexMesh(TETRAHEDRON)]
)
def test_a_tumbling_body_keeps_its_energy_through_thousands_of_bounces(shape: Shape) -> None:
    """No drift; it stays in its room. Measured: 5e-12 of it after 5,000 bounces."""
    body = Bouncing(
        shape,
        room((1.0, 0.8, 0.9)),
        mass_kg=2.0,
        velocity_w=(1.0, 2.0, -1.5),
        omega_w=(3.0, -2.0, 1.0),
        gravity_w=(0.0, 0.0, -9.81),
    )
    begin, misses = body.energy_J, []
    for _ in range(20):
        body.step(0.01, 4000)
        misses.append(abs(body.energy_J - begin) / begin)
        assert body.gap_m > -1e-9
    assert body.impacts > 3000
    assert max(misses) < 1e-9


def test_a_ball_under_gravity_comes_back_when_the_closed_form_says() -> None:
    """From height H it is at the top again after 2 sqrt(2 H / g), whatever the step. Measured: 1e-13 m."""
    r, H, g = 0.1, 1.3, 9.81
    floor = np.array([(0.0, 0.0, 1.0, 0.0)])
    period = 2.0 * np.sqrt(2.0 * H / g)
    for parts in (3, 40):
        ball = Bouncing(Sphere((0.0, 0.0, H + r), r), floor, gravity_w=(0.0, 0.0, -g))
        ball.step(5.0 * period / parts, parts)
        assert ball.impacts == 5
        assert ball.pose_w[2, 3] == pytest.approx(H + r, abs=1e-10)


def test_a_spinning_box_between_impacts_keeps_second_order() -> None:
    """Halved steps miss a quarter as much, up to one impact and beyond it. Measured: 4.00 and 4.01."""

    def reached(steps: int) -> np.ndarray:
        body = Bouncing(
            Box(HERE, (0.3, 0.2, 0.1)),
            room((1.0, 1.0, 1.0)),
            velocity_w=(1.2, 0.3, 0.1),
            omega_w=(2.0, 1.0, 3.0),
        )
        body.step(0.7 / steps, steps)
        assert body.impacts == 1
        return np.r_[body.pose_w[:3].ravel(), body.twist_w]

    exact = reached(6400)
    misses = [np.abs(reached(n) - exact).max() for n in (100, 200, 400)]
    for coarse, fine in pairwise(misses):
        assert 3.4 < coarse / fine < 4.6


def test_a_body_that_is_in_a_wall_is_refused() -> None:
    with pytest.raises(InputError, match=r"^[^\n]*through a wall[^\n]*$"):
        Bouncing(Sphere((0.95, 0.0, 0.0), 0.1), room((1.0, 1.0, 1.0)))
