"""A nonholonomic vehicle on SE(3), declared like the planar ones."""

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import sim
from sim.groups import SE3
from sim.groups.se3 import rotation_of
from sim.vehicles import Control, NonholonomicVehicle, Parameter


class Arrow(NonholonomicVehicle):
    """Flies the way it points: no sideways velocity in space, four symmetry directions, no shape."""

    name = "arrow"
    group = SE3
    parameters = (Parameter("gravity", "m/s^2", 3.0, 0.0, 10.0, "Down."),)
    controls = (Control("u_yaw", "N m", -1.0, 1.0, "Torque about body z."),)

    def lagrangian(self, r, u, xi, q):
        return (xi[0] ** 2 + 2 * xi[1] ** 2 + 3 * xi[2] ** 2 + 4 * ca.dot(xi[3:], xi[3:])) / 2

    def constraints(self, r, q):
        return ca.horzcat(ca.SX(2, 4), ca.SX.eye(2))

    def connection(self, r, q):
        return ca.SX(6, 0)

    def symmetry_basis(self, r, q):
        return ca.SX.eye(6)[:, :4]

    def external_wrench(self, g, xi, controls, q):
        down = -4 * q.gravity * rotation_of(g)[2, :].T
        return ca.vertcat(0, -0.3 * xi[1], controls[0], down)


def arrow_truth(state, yaw, seconds):
    """Euler's equations, with the speed driven by gravity along the nose only."""
    J = np.array([1.0, 2.0, 3.0])

    def rate(t, s):
        R, omega, v = s[:9].reshape(3, 3), s[12:15], s[15]
        W = np.array([[0, -omega[2], omega[1]], [omega[2], 0, -omega[0]], [-omega[1], omega[0], 0]])
        torque = np.array([0.0, -0.3 * omega[1], yaw])
        return np.r_[(R @ W).ravel(), R[:, 0] * v, (np.cross(J * omega, omega) + torque) / J, -3.0 * R[2, 0]]

    node = state.node
    start = np.r_[node[:9].reshape(3, 3).T.ravel(), node[9:12], node[12:15], node[15]]
    end = solve_ivp(rate, (0, seconds), start, method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    return np.r_[end[:9].reshape(3, 3).T.ravel(), end[9:12], end[12:15], end[15], 0, 0]


@pytest.mark.parametrize("method, order", [("variational", 2), ("rk4", 4)])
def test_constraints_in_space_need_nothing_but_another_group(method, order):
    arrow = Arrow()
    state = arrow.state_at(SE3.identity(), momentum=(0.3, 1.0, 0.6, 8.0))
    reference = arrow_truth(state, 0.4, 1.0)
    errors = [
        np.abs(
            sim.simulate(arrow, method, step=h, duration=1.0, initial=state, controls=[0.4]).nodes[-1]
            - reference
        ).max()
        for h in (0.02, 0.01)
    ]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.15)
