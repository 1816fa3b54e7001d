"""Flat coordinates in which methods that know nothing of groups add poses up: an angle, or a quaternion."""

import casadi as ca

from sim.groups import SE2, SE3, SO3, LieGroup
from sim.groups.se2 import plane_rotation
from sim.groups.se3 import pose, position_of, rotation_of
from sim.groups.so3 import quaternion_of


def normalised(q: ca.SX) -> ca.SX:
    """Unit quaternion."""
    return q / ca.sqrt(ca.dot(q, q))


def rotation_of_quaternion(q: ca.SX) -> ca.SX:
    """R of a unit quaternion (w, x, y, z)."""
    w, x, y, z = ca.vertsplit(q)
    return ca.vertcat(
        ca.horzcat(1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        ca.horzcat(2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        ca.horzcat(2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )


def quaternion_rate(q: ca.SX, omega: ca.SX) -> ca.SX:
    """q' = q (0, omega)/2, omega in the body frame."""
    return ca.vertcat(-ca.dot(q[1:], omega), q[0] * omega + ca.cross(q[1:], omega)) / 2


class PlaneChart:
    """(theta, x, y), the pose of SE(2) itself."""

    size = 3

    def encode(self, g: ca.SX) -> ca.SX:
        return g

    def decode(self, s: ca.SX) -> ca.SX:
        return s

    def rate(self, s: ca.SX, xi: ca.SX) -> ca.SX:
        """s' for a body velocity."""
        return ca.vertcat(xi[0], plane_rotation(s[0]) @ xi[1:])

    def renormalised(self, s: ca.SX) -> ca.SX:
        return s


class QuaternionChart:
    """(quaternion, x) for SE(3)."""

    size = 7

    def encode(self, g: ca.SX) -> ca.SX:
        return ca.vertcat(quaternion_of(rotation_of(g)), position_of(g))

    def decode(self, s: ca.SX) -> ca.SX:
        return pose(rotation_of_quaternion(normalised(s[:4])), s[4:])

    def rate(self, s: ca.SX, xi: ca.SX) -> ca.SX:
        """s' for a body velocity."""
        q = normalised(s[:4])
        return ca.vertcat(quaternion_rate(q, xi[:3]), rotation_of_quaternion(q) @ xi[3:])

    def renormalised(self, s: ca.SX) -> ca.SX:
        return ca.vertcat(normalised(s[:4]), s[4:])


class RotationChart:
    """The quaternion alone, for SO(3)."""

    size = 4

    def encode(self, g: ca.SX) -> ca.SX:
        return quaternion_of(ca.reshape(g, 3, 3))

    def decode(self, s: ca.SX) -> ca.SX:
        return ca.vec(rotation_of_quaternion(normalised(s)))

    def rate(self, s: ca.SX, xi: ca.SX) -> ca.SX:
        """s' for a body velocity."""
        return quaternion_rate(normalised(s), xi)

    def renormalised(self, s: ca.SX) -> ca.SX:
        return normalised(s)


Chart = PlaneChart | QuaternionChart | RotationChart
QUATERNION_CHARTS: dict[LieGroup, QuaternionChart | RotationChart] = {
    SE3: QuaternionChart(),
    SO3: RotationChart(),
}
CHARTS: dict[LieGroup, Chart] = {SE2: PlaneChart(), **QUATERNION_CHARTS}
