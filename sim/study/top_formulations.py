"""The heavy top in the formulations of the mechanics survey (section 3), each moved by a group of its own.

They tell the same motion: `up_b`, the upward direction in the body, and `momentum_b`, its angular momentum there.
`HeavyTop` is the vehicle that is flown; on it the explicit methods work in the spatial form of T*SO(3), too.
"""

from abc import abstractmethod

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from sim.groups import SE3, SO3, SO3_R3
from sim.groups.se3 import position_of, rotation_of
from sim.spaces import Action, Euclidean, GroupSpace, Product
from sim.spaces.action import by_left_translation, side_by_side, translations
from sim.vehicles.acted import ActionVehicle
from sim.vehicles.heavy_top import HeavyTop
from sim.vehicles.observable import Observable
from sim.vehicles.parametrised import Quantities
from sim.vehicles.state import State

UP_W = (0.0, 0.0, 1.0)


class TopFormulation(ActionVehicle):
    """Subclasses say where the top is, and how the body momentum and the upward direction follow from that."""

    parameters = HeavyTop.parameters
    twist_embedding = np.eye(6)[:, :3]

    @abstractmethod
    def reduced(self, point: ca.SX) -> tuple[ca.SX, ca.SX]:
        """(momentum, up), both in the body frame."""

    @abstractmethod
    def turning(self, omega: ArrayLike) -> State:
        """Upright and turning with this body angular velocity [rad/s]."""

    def body_momentum(self, omega: ArrayLike) -> np.ndarray:
        """(3,) of a body angular velocity."""
        return np.asarray(self.values["inertia"], float) * self._finite("omega", omega, (3,))

    def energy(self, node: ca.SX, q: Quantities) -> ca.SX:
        momentum, up = self.reduced(node)
        return ca.dot(momentum, momentum / q.inertia) / 2 + q.mass * q.gravity * ca.dot(q.arm, up)

    def spatial_momentum(self, node: ca.SX, q: Quantities) -> ca.SX:
        """(3,) what all formulations know of it: the vertical part."""
        momentum, up = self.reduced(node)
        return ca.vertcat(0, 0, ca.dot(momentum, up))

    def observables(self, node: ca.SX, u: ca.SX, q: Quantities) -> tuple[Observable, ...]:
        momentum, up = self.reduced(node)
        return Observable("momentum_b", "kg m^2/s", momentum), Observable("up_b", "1", up)


class TopInBody(TopFormulation):
    """T*SO(3) in the body frame (eqs. 19-20): Q' = Q hat(omega), Pi' = Pi x omega + torque."""

    name = "heavy-top-body"
    action = Action(
        SE3,
        Product((GroupSpace(SO3, "rotation"), Euclidean(3, "momentum"))),
        lambda g, point: ca.vertcat(
            ca.vec(ca.reshape(point[:9], 3, 3) @ rotation_of(g).T),
            rotation_of(g) @ point[9:] + position_of(g),
        ),
    )

    def generator(self, point: ca.SX, u: ca.SX, q: Quantities) -> ca.SX:
        momentum, up = self.reduced(point)
        return ca.vertcat(-momentum / q.inertia, q.mass * q.gravity * ca.cross(up, q.arm))

    def reduced(self, point: ca.SX) -> tuple[ca.SX, ca.SX]:
        at = self.named(point)
        return at["momentum"], ca.reshape(at["rotation"], 3, 3).T @ ca.SX(UP_W)

    def turning(self, omega: ArrayLike) -> State:
        return self.point(momentum=self.body_momentum(omega))


class TopInSpace(TopFormulation):
    """T*SO(3) in the world frame (eqs. 21-22): the weight's torque turns the spatial momentum."""

    name = "heavy-top-space"
    action = side_by_side(by_left_translation(SO3), translations(Euclidean(3, "momentum")))

    def generator(self, point: ca.SX, u: ca.SX, q: Quantities) -> ca.SX:
        Q, (momentum_b, _) = self._rotation_of(point), self.reduced(point)
        return ca.vertcat(Q @ (momentum_b / q.inertia), q.mass * q.gravity * ca.cross(ca.SX(UP_W), Q @ q.arm))

    def _rotation_of(self, point: ca.SX) -> ca.SX:
        return ca.reshape(self.named(point)["pose"], 3, 3)

    def reduced(self, point: ca.SX) -> tuple[ca.SX, ca.SX]:
        Q = self._rotation_of(point)
        return Q.T @ self.named(point)["momentum"], Q.T @ ca.SX(UP_W)

    def turning(self, omega: ArrayLike) -> State:
        return self.point(momentum=self.body_momentum(omega))


class TopLiePoisson(TopFormulation):
    """se(3)*, eqs. 23-24: (Pi, Gamma) moves by the coadjoint action alone, so it never leaves its orbit."""

    name = "heavy-top-lie-poisson"
    action = Action(
        SE3,
        Product((Euclidean(3, "momentum"), Euclidean(3, "up"))),
        lambda g, point: SE3.Ad(SE3.inverse(g)).T @ point,
    )

    def generator(self, point: ca.SX, u: ca.SX, q: Quantities) -> ca.SX:
        """Minus the gradient of the energy."""
        momentum, _ = self.reduced(point)
        return -ca.vertcat(momentum / q.inertia, q.mass * q.gravity * q.arm)

    def reduced(self, point: ca.SX) -> tuple[ca.SX, ca.SX]:
        at = self.named(point)
        return at["momentum"], at["up"]

    def turning(self, omega: ArrayLike) -> State:
        return self.point(momentum=self.body_momentum(omega), up=UP_W)


class TopQuadratic(TopFormulation):
    """T*(SO(3) x R^3), eqs. 25-32: a quadratic Hamiltonian, of which p = -m g arm is a momentum that stays."""

    name = "heavy-top-quadratic"
    action = side_by_side(by_left_translation(SO3_R3), translations(Euclidean(6, "momentum")))

    def generator(self, point: ca.SX, u: ca.SX, q: Quantities) -> ca.SX:
        """q' = p - Q' up."""
        Q, p = self._rotation_of(point), self.named(point)["momentum"][3:]
        momentum_b, up_b = self.reduced(point)
        turning = ca.vertcat(Q @ (momentum_b / q.inertia), p - up_b)
        return ca.vertcat(turning, -ca.cross(ca.SX(UP_W), Q @ p), ca.SX(3, 1))

    def _rotation_of(self, point: ca.SX) -> ca.SX:
        return rotation_of(self.named(point)["pose"])

    def reduced(self, point: ca.SX) -> tuple[ca.SX, ca.SX]:
        Q = self._rotation_of(point)
        return Q.T @ self.named(point)["momentum"][:3], Q.T @ ca.SX(UP_W)

    def turning(self, omega: ArrayLike) -> State:
        v = self.values
        weight = float(np.multiply(v["mass"], v["gravity"])) * np.asarray(v["arm"], float)
        return self.point(momentum=np.r_[self.body_momentum(omega), -weight])


FORMULATIONS: dict[str, type[TopFormulation]] = {
    "T*SO(3), body": TopInBody,
    "T*SO(3), space": TopInSpace,
    "se(3)*": TopLiePoisson,
    "T*(SO(3)xR3)": TopQuadratic,
}
"""By the names of the spaces."""
