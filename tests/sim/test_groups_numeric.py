"""The maps on numbers are those of the symbolic groups, from tiny angles to half a turn."""

import numpy as np
import pytest

from sim.groups import SE3, SO3
from sim.groups.numeric import (
    pose_between,
    pose_exp,
    pose_log,
    poses_along,
    poses_between,
    rotation_exp,
    rotation_log,
    skew,
)

ANGLES = (0.0, 1e-12, 1e-8, 1e-4, 0.0199, 0.0201, 0.5, 2.0, 3.0, 3.02, 3.14, np.pi - 1e-8)


def twists():
    rng = np.random.default_rng(1)
    for angle in ANGLES:
        axis = rng.normal(size=3)
        yield np.r_[angle * axis / np.linalg.norm(axis), 3.0 * rng.normal(size=3)]


@pytest.mark.parametrize("twist", list(twists()), ids=[f"{a:g}" for a in ANGLES])
def test_exponentials_and_logarithms_are_those_of_the_symbolic_groups(twist):
    """Measured 2e-15, the logarithm of poses 3e-15."""
    R, T = rotation_exp(twist[:3]), pose_exp(twist)
    np.testing.assert_allclose(R.T.ravel(), np.array(SO3.function("exp")(twist[:3])).ravel(), atol=1e-14)
    np.testing.assert_allclose(SE3.from_matrix(T), np.array(SE3.function("exp")(twist)).ravel(), atol=1e-14)
    np.testing.assert_allclose(
        rotation_log(R), np.array(SO3.function("log")(R.T.ravel())).ravel(), atol=1e-14
    )
    np.testing.assert_allclose(pose_log(T), twist, atol=1e-13)


@pytest.mark.parametrize("axis", [*np.eye(3), np.array([0.6, -0.48, 0.64])])
def test_logarithm_of_a_half_turn_is_a_half_turn(axis):
    w = rotation_log(rotation_exp(np.pi * axis))
    assert np.linalg.norm(w) == pytest.approx(np.pi, abs=1e-14)
    np.testing.assert_allclose(np.cross(w, axis), 0.0, atol=1e-14)


def test_many_rotations_at_once_are_the_same_one_by_one():
    w = np.random.default_rng(2).normal(size=(4, 5, 3))
    together = rotation_exp(w)
    for index in np.ndindex(4, 5):
        np.testing.assert_array_equal(together[index], rotation_exp(w[index]))
    np.testing.assert_allclose(skew(w[0, 0]) @ w[1, 1], np.cross(w[0, 0], w[1, 1]), atol=1e-15)


def test_poses_between_two_poses_are_those_of_a_constant_body_twist():
    start, twist = (
        pose_exp(np.array([0.2, 0.1, -0.4, 3.0, 2.0, 1.0])),
        np.array([0.4, -2.0, 1.3, 5.0, -2.0, 1.0]),
    )
    end = start @ pose_exp(twist)
    for share in (0.0, 0.25, 0.9, 1.0):
        np.testing.assert_allclose(
            pose_between(start, end, share), start @ pose_exp(share * twist), atol=1e-13
        )
    for share, stays in ((-0.5, start), (1.5, end)):
        along = poses_along(start[None], end[None], share)[0]
        np.testing.assert_allclose(along, start @ pose_exp(share * twist), atol=1e-13)
        np.testing.assert_array_equal(pose_between(start, end, share), stays)


def test_many_poses_are_moved_on_at_once_as_one_by_one():
    """Generic turns, tiny ones and half turns among them."""
    rng = np.random.default_rng(5)
    twists = rng.normal(size=(7, 6)) * np.array([1.0, 1e-4, 0.0, 2.0, 1.0, 0.5, 1.0])[:, None]
    twists[3, :3] *= (np.pi - 1e-9) / np.linalg.norm(twists[3, :3])
    starts = np.array([pose_exp(twist) for twist in rng.normal(size=(7, 6))])
    ends = np.array([start @ pose_exp(twist) for start, twist in zip(starts, twists, strict=True)])
    together = poses_between(starts, ends, 0.3)
    for start, twist, pose in zip(starts, twists, together, strict=True):
        np.testing.assert_allclose(pose, start @ pose_exp(0.3 * twist), atol=1e-8)
    np.testing.assert_array_equal(poses_between(starts, ends, 1.0), ends)
