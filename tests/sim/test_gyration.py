"""What is told of a body about a fixed point is how its axis moves."""

import casadi as ca
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import sim
from sim.vehicles.forms.observation import Observation, observed_by_symbols

TOP = sim.vehicle("heavy-top", arm=(0.1, -0.2, 0.4))
AXIS_B = np.array([0.1, -0.2, 0.4]) / np.linalg.norm([0.1, -0.2, 0.4])


def observed(R_wb: np.ndarray, omega_b: np.ndarray) -> Observation:
    node = TOP.state_of(TOP.group.from_matrix(R_wb), omega_b).node
    observed = observed_by_symbols(TOP, node[None], np.zeros((1, 3)), 1.0)
    return Observation(observed.layout, observed.rows[0])


def azimuth_rad(R_wb: np.ndarray) -> float:
    x, y, _ = R_wb @ AXIS_B
    return float(np.arctan2(y, x))


@pytest.mark.parametrize("seed", range(4))
def test_precession_is_the_rate_at_which_the_axis_goes_round_and_spin_is_along_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    R_wb = Rotation.random(random_state=seed).as_matrix()
    omega_b, eps_s = 5.0 * rng.normal(size=3), 1e-5
    seen = observed(R_wb, omega_b)
    values, momentum_w = seen.observables, R_wb @ (np.array(TOP.values["inertia"]) * omega_b)
    after, before = (R_wb @ Rotation.from_rotvec(s * eps_s * omega_b).as_matrix() for s in (1, -1))
    turned = np.angle(np.exp(1j * (azimuth_rad(after) - azimuth_rad(before))))
    # Central differences; measured 2e-9 relative.
    assert values["precession"] == pytest.approx(turned / (2.0 * eps_s), rel=1e-6)
    rate = seen.row[seen.layout.rates["axis"]]
    np.testing.assert_allclose(rate, (after - before) @ AXIS_B / (2.0 * eps_s), atol=1e-6)
    np.testing.assert_allclose(values["axis"], R_wb @ AXIS_B, atol=1e-15)
    assert values["spin"] == pytest.approx(omega_b @ AXIS_B)
    assert values["lean"] == pytest.approx(np.arccos((R_wb @ AXIS_B)[2]))
    assert values["momentum_vertical"] == pytest.approx(momentum_w[2])
    assert values["momentum_axial"] == pytest.approx(momentum_w @ R_wb @ AXIS_B)
    np.testing.assert_allclose(seen.momentum_w, momentum_w, atol=1e-12)


def test_upright_it_precesses_about_nothing_and_without_an_arm_its_axis_is_body_z() -> None:
    up = Rotation.align_vectors([[0.0, 0.0, 1.0]], [AXIS_B])[0].as_matrix()
    assert np.isnan(observed(up, np.array([1.0, 2.0, 3.0])).observables["precession"])
    centred = TOP.with_parameters(arm=(0.0, 0.0, 0.0))
    node = centred.state(omega=(0.0, 0.0, 7.0)).node
    seen = observed_by_symbols(centred, node[None], np.zeros((1, 3)), 1.0).observables
    assert seen["spin"][0] == 7.0
    np.testing.assert_array_equal(seen["axis"][0], [0.0, 0.0, 1.0])


def test_its_centre_of_mass_is_a_body() -> None:
    R_wb = Rotation.random(random_state=9).as_matrix()
    seen = observed(R_wb, np.zeros(3))
    poses = seen.layout.named_poses(seen.row)
    np.testing.assert_allclose(poses["centre"][:3, 3], R_wb @ np.array(TOP.values["arm"]), atol=1e-15)
    assert float(TOP.energy(ca.SX(seen_node(R_wb)), TOP.symbols(ca.SX(TOP.parameter_vector)))) == (
        pytest.approx(24.0 * 9.81 * poses["centre"][2, 3])
    )


def seen_node(R_wb: np.ndarray) -> np.ndarray:
    return TOP.state_of(TOP.group.from_matrix(R_wb), np.zeros(3)).node
