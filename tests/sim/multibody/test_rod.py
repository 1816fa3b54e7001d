"""Laws of elastic rods: Euler and Bernoulli's beam, twist by a torque, a rope's balance of forces."""

import numpy as np
import pytest

import sim
from sim.multibody.declaration import rod
from sim.multibody.observing import body_frames, frames
from sim.multibody.stepping import OK
from sim.multibody.tree import tree
from sim.steppers.bound_tree import BoundTree

LENGTH, MASS, BENDING, TWIST, RADIUS = 1.0, 0.1, 20.0, 0.5, 0.01
ACROSS = ((0.0, 0.0, -1.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0))
"""Turns -z into x: the rod lies along x."""


def cantilever(links, damping=0.0, gravity=-9.81):
    parts = rod(
        "beam",
        length_m=LENGTH,
        mass_kg=MASS,
        radius_m=RADIUS,
        links=links,
        bending_Nm2=BENDING,
        twist_Nm2=TWIST,
        damping_Nms=damping,
        clamped=True,
        R=ACROSS,
    )
    return tree(parts, (0.0, 0.0, gravity))


def tip(t, q):
    T = body_frames(t, q)[t.names[-1]]
    return T[:3, 3] - T[:3, 2] * LENGTH / len(t.names)


def settled(t, h, seconds, wrenches=None):
    """Where it comes to rest."""
    stepper = BoundTree(t, h)
    motion = stepper.start(t.q0, np.zeros(t.nv))
    assert stepper.advance(motion, round(seconds / h), wrenches_b=wrenches)[1] == OK
    q = motion.q.copy()
    assert stepper.advance(motion, 1, wrenches_b=wrenches)[1] == OK
    assert np.abs(motion.q - q).max() < 1e-5 * h
    return motion.q


def test_a_cantilever_sags_as_euler_and_bernoullis_beam():
    """Its tip by q L^4 / (8 E I), and the error falls with the square of the links' length."""
    exact = -MASS * 9.81 / LENGTH * LENGTH**4 / (8.0 * BENDING)
    errors = []
    for links, h in ((6, 4e-4), (12, 1e-4)):
        t = cantilever(links, damping=0.2 * links)
        errors.append(tip(t, settled(t, h, 1.5))[2] / exact - 1.0)
    assert abs(errors[1]) < 0.01  # measured 0.0069, with 6 links 0.0277
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.6)


def test_a_cantilever_swings_at_euler_and_bernoullis_frequency():
    """The first mode's, 1.8751^2 sqrt(E I / (m L^3)), let go from the mode's shape."""
    omega = 1.875104**2 * np.sqrt(BENDING / (MASS * LENGTH**3))
    errors = []
    for links, h in ((6, 2e-4), (12, 5e-5)):
        t = cantilever(links, gravity=0.0)
        at = (np.arange(links) + 1.0) / links
        k = 1.875104
        sigma = (np.cosh(k) + np.cos(k)) / (np.sinh(k) + np.sin(k))
        shape = np.cosh(k * at) - np.cos(k * at) - sigma * (np.sinh(k * at) - np.sin(k * at))
        slopes = np.diff(np.r_[0.0, shape]) * links * 1e-3
        turns = np.diff(np.r_[0.0, slopes])
        q = t.q0.copy()
        q[2::4] = np.sin(0.5 * turns)
        q[0::4] = np.cos(0.5 * turns)
        stepper = BoundTree(t, h)
        motion = stepper.start(q, np.zeros(t.nv))
        heights = [tip(t, motion.q)[2]]
        while heights[-1] * heights[0] > 0.0:
            stepper.advance(motion, 1)
            heights.append(tip(t, motion.q)[2])
        quarter = h * (len(heights) - 2 + heights[-2] / (heights[-2] - heights[-1]))
        errors.append(0.5 * np.pi / quarter / omega - 1.0)
    assert abs(errors[1]) < 0.01
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.8)


def test_a_rod_twists_by_torque_and_length_over_stiffness():
    t = cantilever(8, damping=0.01, gravity=0.0)
    wrenches = np.zeros((t.n, 6))
    wrenches[-1, 2] = 0.04
    q = settled(t, 2e-4, 3.0, wrenches)
    turned = 2.0 * np.arcsin(q[3::4]).sum()
    # Springs give 2 sin(angle/2) where a rod gives the angle, and the last half link does not twist.
    assert turned == pytest.approx(0.04 * (LENGTH - LENGTH / 16) / TWIST, rel=1e-4)


def test_bending_and_twist_together_have_the_gradient_of_their_energy():
    """Without damping, on a rod bent and twisted far, energy is kept to the second order of the step."""
    away = []
    for h in (2e-4, 1e-4):
        t = cantilever(5)
        stepper = BoundTree(t, h, tolerance=1e-13)
        v = np.tile([2.0, -3.0, 5.0], 5)
        motion = stepper.start(t.q0, v)
        start, worst = stepper.energy_J(motion), 0.0
        for _ in range(20):
            assert stepper.advance(motion, round(0.01 / h))[1] == OK
            worst = max(worst, abs(stepper.energy_J(motion) - start))
        away.append(worst)
    assert away[0] / away[1] == pytest.approx(4.0, abs=0.8)


def test_a_rope_pulled_aside_leans_by_force_over_the_weight_below():
    links, F = 6, 0.3
    t = tree(
        rod("rope", length_m=3.0, mass_kg=0.6, radius_m=0.01, links=links, damping_Nms=0.5), (0.0, 0.0, -9.81)
    )
    stepper = BoundTree(t, 2e-3)
    motion = stepper.start(t.q0, np.zeros(t.nv))
    wrenches = np.zeros((t.n, 6))
    for _ in range(12_000):
        T = frames(t, motion.q)[-1]
        force = T[:3, :3].T @ [F, 0.0, 0.0]
        wrenches[-1] = np.r_[np.cross([0.0, 0.0, -3.0 / links], force), force]
        assert stepper.advance(motion, 5, wrenches_b=wrenches)[1] == OK
    for k, T in enumerate(frames(t, motion.q)):
        below = (links - k - 0.5) * 0.6 / links * 9.81
        assert np.arctan2(-T[0, 2], T[2, 2]) == pytest.approx(np.arctan(F / below), abs=1e-5)  # measured 1e-6


def test_in_a_plane_a_rope_of_universal_joints_moves_as_one_of_ball_joints():
    """About the y axis of both; where they bend, springs of ball joints are those of sines of half angles."""
    tips = []
    for twists in (True, False):
        parts = rod(
            "rope", length_m=1.5, mass_kg=0.4, radius_m=0.01, links=5, damping_Nms=1e-3, twists=twists
        )
        t = tree(parts, (0.0, 0.0, -9.81))
        stepper = BoundTree(t, 1e-3, tolerance=1e-13)
        v = np.zeros(t.nv)
        v[1 :: 3 if twists else 2] = [2.0, -1.0, 3.0, 0.5, -2.0]
        motion = stepper.start(t.q0, v)
        assert stepper.advance(motion, 700)[1] == OK
        tips.append(frames(t, motion.q)[-1][:3, 3])
    assert np.abs(tips[0][0]) > 0.1
    np.testing.assert_allclose(tips[1], tips[0], atol=1e-8)


WRONG = (
    {"length_m": 0.0},
    {"mass_kg": -1.0},
    {"radius_m": np.nan},
    {"links": 0},
    {"links": 2.5},
    {"twists": 1},
)


@pytest.mark.parametrize("wrong", WRONG)
def test_a_rod_that_can_be_none_is_refused(wrong):
    given = {"length_m": 1.0, "mass_kg": 1.0, "radius_m": 0.01} | wrong
    with pytest.raises(sim.InputError, match="rod 'cable'"):
        rod("cable", **given)
