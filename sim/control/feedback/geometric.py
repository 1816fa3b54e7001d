"""Geometric tracking control on SE(3): T. Lee, M. Leok, N. H. McClamroch, "Geometric tracking control of a quadrotor
UAV on SE(3)", CDC 2010. Errors are made of rotation matrices alone, so it recovers from upside down.

With e_x = x - x_d, e_v = v - v_d, F = -k_x e_x - k_v e_v + m g e_3 the body z is to point along F, and

    f = F . R e_3,    e_R = 1/2 (R_d' R - R' R_d)^,    e_W = W - R' R_d W_d,
    M = -k_R e_R - k_W e_W + W x J W.
"""

import numpy as np

from sim.control.airframe import airframe_of
from sim.control.feedback.pid import Held
from sim.control.rotation import attitude_of
from sim.controllers import Controller, Gain, PilotInput
from sim.vehicles import State, Vehicle


class Geometric(Controller):
    """Lee's controller, with W_d = 0: it holds a place, which the sticks move, and a heading."""

    k_x = Gain(4.0, 0.1, 20.0, "1/s^2", "Of the place, per mass.")
    k_v = Gain(3.5, 0.1, 20.0, "1/s", "Of the velocity, per mass.")
    k_R = Gain(70.0, 1.0, 400.0, "1/s^2", "Of the attitude, per inertia.")
    k_W = Gain(14.0, 0.5, 60.0, "1/s", "Of the body rate, per inertia.")

    def start(self, vehicle: Vehicle, state: State) -> Held:
        """Where it is, is held."""
        return Held.at(vehicle, state)

    def control(self, t: float, state: State, sticks: PilotInput, memory: Held) -> np.ndarray:
        """(n_controls,)"""
        frame = airframe_of(memory.vehicle)
        wanted_v, _ = memory.move(t, sticks)
        R, e_x, e_v = state.R, state.x - memory.x_w, state.R @ state.v - wanted_v
        F = frame.mass_kg * (-self.k_x * e_x - self.k_v * e_v + np.array([0.0, 0.0, frame.gravity]))
        size = float(np.linalg.norm(F))
        up_w = F / size if size > 1e-6 * frame.weight_N and F[2] > -0.99 * size else np.array([0.0, 0.0, 1.0])
        R_d = attitude_of(up_w, memory.heading_rad)
        E = 0.5 * (R_d.T @ R - R.T @ R_d)
        e_R = np.array([E[2, 1], E[0, 2], E[1, 0]])
        torque_b = -frame.inertia * (self.k_R * e_R + self.k_W * state.omega)
        self.plot("place_error", float(np.linalg.norm(e_x)), "m")
        self.plot("attitude_error", float(0.5 * np.trace(np.eye(3) - R_d.T @ R)))
        return frame.allocate(torque_b + frame.gyroscopic_torque(state.omega), max(float(F @ R[:, 2]), 0.0))
