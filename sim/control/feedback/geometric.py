"""Geometric tracking control on SE(3): T. Lee, M. Leok, N. H. McClamroch, "Geometric tracking control of a quadrotor
UAV on SE(3)", CDC 2010. Errors are made of rotation matrices alone, so it recovers from upside down.

With e_x = x - x_d, e_v = v - v_d, F = -k_x e_x - k_v e_v + m g e_3 the body z is to point along F, and

    f = F . R e_3,    e_R = 1/2 (R_d' R - R' R_d)^,    e_W = W - R' R_d W_d,
    M = -k_R e_R - k_W e_W + W x J W.

The sliding mode controller beside it has these errors, too, and drives s = e_v + l e_x and s_R = e_W + l_R e_R to
zero in a while that does not depend on what the model lacks, as long as that is within its reach: J.-J. Slotine, W. Li,
"Applied Nonlinear Control" (1991), chapter 7, with a boundary layer in place of the sign, against chattering.
"""

from abc import ABC, abstractmethod

import numpy as np

from sim.control.airframe import airframe_of
from sim.control.feedback.pid import Held
from sim.controllers import Controller, Gain, PilotInput
from sim.groups.numeric import attitude_of
from sim.vehicles import State, Vehicle


class OnSE3(Controller, ABC):
    """Holds a place, which the sticks move, and a heading, by errors that are made of rotation matrices alone."""

    def start(self, vehicle: Vehicle, state: State) -> Held:
        """Where it is, is held."""
        return Held.at(vehicle, state)

    @abstractmethod
    def pull(self, e_x: np.ndarray, e_v: np.ndarray) -> np.ndarray:
        """(3,) acceleration [m/s^2] against errors of place [m] and velocity [m/s], world."""

    @abstractmethod
    def turn(self, e_R: np.ndarray, e_W: np.ndarray) -> np.ndarray:
        """(3,) angular acceleration [rad/s^2] against errors of attitude and body rate [rad/s], body."""

    def control(self, t: float, state: State, sticks: PilotInput, memory: Held) -> np.ndarray:
        """(n_controls,)"""
        frame = airframe_of(memory.vehicle)
        wanted_v, _ = memory.move(t, sticks)
        R, e_x, e_v = state.R, state.x - memory.x_w, state.R @ state.v - wanted_v
        F = frame.mass_kg * (self.pull(e_x, e_v) + np.array([0.0, 0.0, frame.gravity]))
        size = float(np.linalg.norm(F))
        up_w = F / size if size > 1e-6 * frame.weight_N and F[2] > -0.99 * size else np.array([0.0, 0.0, 1.0])
        R_d = attitude_of(up_w, memory.heading_rad)
        E = 0.5 * (R_d.T @ R - R.T @ R_d)
        e_R = np.array([E[2, 1], E[0, 2], E[1, 0]])
        torque_b = frame.inertia * self.turn(e_R, state.omega)
        self.plot("place_error", float(np.linalg.norm(e_x)), "m")
        self.plot("attitude_error", float(0.5 * np.trace(np.eye(3) - R_d.T @ R)))
        return frame.allocate(torque_b + frame.gyroscopic_torque(state.omega), max(float(F @ R[:, 2]), 0.0))


class Geometric(OnSE3):
    """Lee's controller, with W_d = 0: it holds a place, which the sticks move, and a heading."""

    k_x = Gain(4.0, 0.1, 20.0, "1/s^2", "Of the place, per mass.")
    k_v = Gain(3.5, 0.1, 20.0, "1/s", "Of the velocity, per mass.")
    k_R = Gain(70.0, 1.0, 400.0, "1/s^2", "Of the attitude, per inertia.")
    k_W = Gain(14.0, 0.5, 60.0, "1/s", "Of the body rate, per inertia.")

    def pull(self, e_x: np.ndarray, e_v: np.ndarray) -> np.ndarray:
        """(3,) of a spring and a damper."""
        return -self.k_x * e_x - self.k_v * e_v

    def turn(self, e_R: np.ndarray, e_W: np.ndarray) -> np.ndarray:
        """(3,) of a spring and a damper."""
        return -self.k_R * e_R - self.k_W * e_W


class SlidingMode(OnSE3):
    """Sliding mode control with a boundary layer: a gust or a wrong mass moves it little, within its reach."""

    rate = Gain(1.2, 0.1, 5.0, "1/s", "At which the place comes back along the surface s = 0.")
    reach = Gain(4.0, 0.5, 20.0, "m/s^2", "What may be missing in the model, per mass.")
    layer = Gain(0.8, 0.05, 5.0, "m/s", "Thickness of the layer about s = 0 in which it is linear.")
    turn_rate = Gain(6.0, 0.5, 20.0, "1/s", "At which the attitude comes back.")
    turn_reach = Gain(60.0, 5.0, 400.0, "rad/s^2", "What may be missing of torques, per inertia.")
    turn_layer = Gain(3.0, 0.2, 20.0, "rad/s", "Thickness of the layer about s_R = 0.")

    def pull(self, e_x: np.ndarray, e_v: np.ndarray) -> np.ndarray:
        """(3,) what keeps s where it is, and its way back."""
        s = e_v + self.rate * e_x
        self.plot("s", float(np.linalg.norm(s)), "m/s")
        return -self.rate * e_v - self.reach * np.clip(s / self.layer, -1.0, 1.0)

    def turn(self, e_R: np.ndarray, e_W: np.ndarray) -> np.ndarray:
        """(3,) the same of the attitude."""
        s = e_W + self.turn_rate * e_R
        return -self.turn_rate * e_W - self.turn_reach * np.clip(s / self.turn_layer, -1.0, 1.0)
