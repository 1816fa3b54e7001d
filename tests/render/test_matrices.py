"""Laws of camera matrices, against their definitions."""

import math

import numpy as np
import pytest

from render.frame import look_at, orthographic, perspective

EYE, TARGET, UP = np.array([3.0, -2.0, 5.0]), np.array([-4.0, 7.0, 1.0]), (0.2, -0.1, 1.0)


def projected(matrix: np.ndarray, point: np.ndarray) -> np.ndarray:
    """Normalised device coordinates."""
    clip = matrix @ np.append(point, 1.0)
    return clip[:3] / clip[3]


def test_a_view_is_a_rigid_motion_with_the_eye_in_the_origin_and_the_target_ahead() -> None:
    view = look_at(EYE, TARGET, UP)
    assert view.dtype == float
    assert np.allclose(view[:3, :3] @ view[:3, :3].T, np.eye(3), atol=1e-15)  # 2.2e-16
    assert np.linalg.det(view[:3, :3]) == pytest.approx(1.0)
    assert np.allclose(view @ np.append(EYE, 1.0), (0, 0, 0, 1), atol=1e-14)
    distance = float(np.linalg.norm(TARGET - EYE))
    assert np.allclose(view @ np.append(TARGET, 1.0), (0, 0, -distance, 1), atol=1e-13)  # 1.8e-15
    x, y, _ = view[:3, :3] @ np.array(UP)
    assert abs(x) < 1e-15
    assert y > 0.0


def test_a_vertical_look_is_no_exception() -> None:
    view = look_at(np.array([0.0, 0.0, 9.0]), np.zeros(3))
    assert np.allclose(view[:3, :3], np.eye(3))
    assert np.allclose(view @ (1.0, 2.0, 3.0, 1.0), (1.0, 2.0, -6.0, 1.0))


def test_whole_numbers_are_taken_as_lengths() -> None:
    assert np.allclose(look_at((3, -2, 5), (-4, 7, 1), (0, 0, 1)), look_at(EYE, TARGET), atol=1e-15)


def test_a_perspective_maps_its_frustum_on_the_unit_box() -> None:
    fov_y, aspect, near, far = 0.9, 1.7, 0.4, 750.0
    matrix = perspective(fov_y, aspect, near, far)
    for depth, z in ((near, -1.0), (far, 1.0)):
        top = depth * math.tan(0.5 * fov_y)
        corner = projected(matrix, np.array([top * aspect, -top, -depth]))
        assert np.allclose(corner, (1.0, -1.0, z), atol=1e-12)  # 4e-16


def test_a_parallel_projection_maps_its_box_on_the_unit_box_near_at_high_z() -> None:
    low, high = np.array([-3.0, 2.0, -40.0]), np.array([5.0, 2.5, -1.0])
    matrix = orthographic(low, high)
    assert np.allclose(projected(matrix, low), (-1.0, -1.0, 1.0), atol=1e-13)
    assert np.allclose(projected(matrix, high), (1.0, 1.0, -1.0), atol=1e-13)
