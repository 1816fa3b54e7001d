"""What is told of a body about a fixed point is how its axis moves."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import sim
from sim.simulation.gyration import axis_of, gyration

TOP = sim.vehicle("heavy-top", arm=(0.1, -0.2, 0.4))
AXIS_B = np.array([0.1, -0.2, 0.4]) / np.linalg.norm([0.1, -0.2, 0.4])


def node(R_wb: np.ndarray, omega_b: np.ndarray) -> np.ndarray:
    return TOP.state_of(TOP.group.from_matrix(R_wb), omega_b).node


def azimuth_rad(R_wb: np.ndarray) -> float:
    x, y, _ = R_wb @ AXIS_B
    return float(np.arctan2(y, x))


@pytest.mark.parametrize("seed", range(4))
def test_precession_is_the_rate_at_which_the_axis_goes_round_and_spin_is_along_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    R_wb = Rotation.random(random_state=seed).as_matrix()
    omega_b, momentum_w, eps_s = 5.0 * rng.normal(size=3), rng.normal(size=3), 1e-5
    told = gyration(TOP, node(R_wb, omega_b), momentum_w)
    assert told is not None
    after, before = (
        azimuth_rad(R_wb @ Rotation.from_rotvec(sign * eps_s * omega_b).as_matrix()) for sign in (1, -1)
    )
    turned = np.angle(np.exp(1j * (after - before)))
    # Central difference; measured 2e-9 relative.
    assert told.precession_radps == pytest.approx(turned / (2.0 * eps_s), rel=1e-6)
    assert told.spin_radps == pytest.approx(omega_b @ AXIS_B)
    assert told.lean_rad == pytest.approx(np.arccos((R_wb @ AXIS_B)[2]))
    assert told.momentum_vertical == momentum_w[2]
    assert told.momentum_axial == pytest.approx(momentum_w @ R_wb @ AXIS_B)


def test_upright_it_precesses_about_nothing_and_what_flies_has_no_axis() -> None:
    up = Rotation.align_vectors([[0.0, 0.0, 1.0]], [AXIS_B])[0].as_matrix()
    told = gyration(TOP, node(up, np.array([1.0, 2.0, 3.0])), np.zeros(3))
    assert told is not None
    assert np.isnan(told.precession_radps)
    body = sim.vehicle("rigid-body")
    assert axis_of(body) is None
    assert gyration(body, body.state().node, np.zeros(6)) is None
