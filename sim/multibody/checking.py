"""What a declared body must be, and its inertia as a 6x6 matrix."""

import numpy as np
from numpy.typing import ArrayLike

from sim.multibody.declaration import JOINTS, Body, Joint
from sim.platform.errors import InputError, quote
from sim.platform.validation import array_of, number, numeric

_X, _Y, _Z = np.eye(3)


def refuse(body: Body, what: str) -> InputError:
    """The refusal of a body, to be raised."""
    return InputError(f"body {quote(body.name)}: {what}")


def vector(body: Body, what: str, value: ArrayLike) -> np.ndarray:
    """(3,) finite numbers. Raises InputError."""
    return array_of(f"body {quote(body.name)}: {what}", value, (3,))


def _array(body: Body, what: str, value: ArrayLike) -> np.ndarray:
    """Real numbers, whatever their shape; not numbers where they are none that can be looked at."""
    try:
        return numeric(value)
    except (TypeError, ValueError, OverflowError):
        raise refuse(body, f"{what} = {quote(value)} is not numeric") from None


def rotation(body: Body) -> np.ndarray:
    """(3, 3) of the body in its parent's frame. Raises InputError where it is none."""
    R = _array(body, "R", body.R)
    if R.shape != (3, 3) or np.abs(R.T @ R - np.eye(3)).max() > 1e-6 or np.linalg.det(R) < 0:
        raise refuse(body, "R is no rotation matrix (3, 3)")
    return R


def aligned(body: Body, what: str, axis: ArrayLike) -> np.ndarray:
    """A rotation whose third column is the axis. Raises InputError where that has no direction."""
    z = vector(body, what, axis)
    length = float(np.linalg.norm(z))
    if length < 1e-12:
        raise refuse(body, f"{what} has no direction")
    z = z / length
    if z @ _Z > 1.0 - 1e-15:
        return np.eye(3)
    x = np.cross(_Y if abs(z @ _Y) < 0.9 else _X, z)
    x /= np.linalg.norm(x)
    return np.column_stack((x, np.cross(z, x), z))


def spatial_inertia(body: Body) -> np.ndarray:
    """(6, 6) on (omega, v) about the body's origin. Raises InputError where it could be no body's."""
    mass = number(f"body {quote(body.name)}: mass", body.mass, low=0.0)
    c = vector(body, "centre", body.centre)
    J = _array(body, "inertia", body.inertia)
    J = np.diag(J) if J.shape == (3,) else J
    if (
        J.shape != (3, 3)
        or not np.all(np.isfinite(J))
        or np.abs(J - J.T).max() > 1e-9 * (1.0 + np.abs(J).max())
    ):
        raise refuse(body, "inertia wants three numbers, or a symmetric (3, 3)")
    if np.linalg.eigvalsh(J).min() < -1e-12 * (1.0 + np.abs(J).max()):
        raise refuse(body, "inertia has a negative principal moment")
    C = np.array([[0.0, -c[2], c[1]], [c[2], 0.0, -c[0]], [-c[1], c[0], 0.0]])
    G = np.block([[J + mass * C @ C.T, mass * C], [mass * C.T, mass * np.eye(3)]])
    if body.added_inertia is not None:
        added = _array(body, "added_inertia", body.added_inertia)
        if (
            added.shape != (6, 6)
            or not np.isfinite(added).all()
            or np.abs(added - added.T).max() > 1e-9 * (1.0 + np.abs(added).max())
        ):
            raise refuse(body, "added_inertia wants a symmetric (6, 6)")
        if np.linalg.eigvalsh(added).min() < -1e-9 * (1.0 + np.abs(added).max()):
            raise refuse(body, "added_inertia has a negative eigenvalue")
        G = G + added
    return G


def shifted(G: np.ndarray, T: np.ndarray) -> np.ndarray:
    """A (6, 6) inertia seen from a frame in which its own has pose T."""
    R, p = T[:3, :3], T[:3, 3]
    P = np.array([[0.0, -p[2], p[1]], [p[2], 0.0, -p[0]], [-p[1], p[0], 0.0]])
    to_body = np.block([[R.T, np.zeros((3, 3))], [-R.T @ P, R.T]])
    return to_body.T @ G @ to_body


def pose(R: np.ndarray, p: np.ndarray) -> np.ndarray:
    """(4, 4)"""
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, p
    return T


def checked_joints(body: Body) -> tuple[Joint, ...]:
    """Those of a body in their order. Raises InputError where one is not as it can be."""
    joints = (body.joint,) if isinstance(body.joint, Joint) else body.joint
    if not isinstance(joints, tuple | list) or not all(isinstance(joint, Joint) for joint in joints):
        raise refuse(body, f"joint = {quote(body.joint)} is none; allowed: a Joint, or a list of them")
    if not joints:
        raise refuse(body, 'has no joint; a body that does not move has Joint("fixed")')
    joints = tuple(joints)
    for joint in joints:
        _check_joint(body, joint)
        if len(joints) > 1 and joint.kind in ("free", "fixed"):
            raise refuse(body, f"a {joint.kind} joint stands alone, here are {len(joints)}")
    return joints


def _check_joint(body: Body, joint: Joint) -> None:
    if not isinstance(joint.kind, str) or joint.kind not in JOINTS:
        raise refuse(body, f"unknown joint {quote(joint.kind)}; allowed: {', '.join(JOINTS)}")
    if not isinstance(joint.name, str):
        raise refuse(body, f"name = {quote(joint.name)} of its joint; allowed: text")
    name = f"joint {joint.name!r}" if joint.name else "its joint"
    for what in ("damping", "stiffness", "armature"):
        given = getattr(joint, what)
        values = np.atleast_1d(_array(body, f"{what} of {name}", given))
        if not (np.isfinite(values).all() and (values >= 0.0).all()):
            raise refuse(body, f"{what} = {quote(given)} of {name}; allowed: from 0")
        if values.any() and joint.kind in ("free", "fixed"):
            raise refuse(body, f"a {joint.kind} joint has no {what}")
        if values.shape != (1,) and not (
            what == "stiffness" and joint.kind == "ball" and values.shape == (3,)
        ):
            raise refuse(
                body,
                f"{what} = {quote(given)} of {name}; allowed: a number, three for the stiffness of a ball",
            )
    for what in ("rest", "reference"):
        number(f"body {quote(body.name)}: {what} of {name}", getattr(joint, what))
    vector(body, f"anchor of {name}", joint.anchor)
    limits = _array(body, f"limits of {name}", joint.limits)
    if limits.shape != (2,):
        raise refuse(
            body, f"limits of {name} = {quote(joint.limits)}; allowed: the lowest and the highest coordinate"
        )
    low, high = limits
    if not low < high:
        raise refuse(body, f"limits {low:g} .. {high:g} of {name} are the wrong way round")
    if joint.kind not in ("revolute", "prismatic"):
        if (low, high) != (-np.inf, np.inf):
            raise refuse(body, f"a {joint.kind} joint has no limits")
        if joint.reference:
            raise refuse(body, f"a {joint.kind} joint has no reference")
