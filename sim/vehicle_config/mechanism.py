"""What a vehicle's bodies weigh and how they turn on each other, as is shown of them: masses, axes, contact shapes."""

from functools import lru_cache

import numpy as np

from sim.multibody.arrays import BALL, FREE, PRISMATIC, TreeArrays
from sim.multibody.tree import Tree
from sim.platform.values import dataclass
from sim.vehicle_config.registry import config_of
from sim.vehicles.forms.articulated import ArticulatedVehicle
from sim.vehicles.forms.base import Vehicle


@dataclass(frozen=True, slots=True, eq=False)
class BodyMass:
    """Of one body, with all that is fixed to it."""

    body: str
    """Empty: the main one."""
    mass_kg: float
    centre_b: np.ndarray
    """(3,) centre of mass in the body's frame [m]."""
    half_m: np.ndarray | None
    """(3,) half axes of the ellipsoid of even density that has this mass and inertia; None where there is none."""
    R_b: np.ndarray
    """(3, 3) its axes in the body's frame."""


@dataclass(frozen=True, slots=True, eq=False)
class JointAxis:
    """A hinge or a slide, in the frame of the body that it carries."""

    body: str
    joint: str
    axis_b: np.ndarray
    """(3,) unit."""
    at_b: np.ndarray
    """(3,) m: a point of it."""
    slides: bool


@dataclass(frozen=True, slots=True, eq=False)
class ContactSphere:
    """What of a body touches the ground."""

    body: str
    at_b: np.ndarray
    """(3,) m."""
    radius_m: float


@dataclass(frozen=True, slots=True, eq=False)
class Mechanism:
    """All of it."""

    masses: tuple[BodyMass, ...] = ()
    axes: tuple[JointAxis, ...] = ()
    contacts: tuple[ContactSphere, ...] = ()

    def mass_of(self, body: str) -> BodyMass | None:
        """Of a body; None where nothing is known of it, or something else carries it."""
        return next((each for each in self.masses if each.body == body), None)


@lru_cache(maxsize=16)
def mechanism_of(vehicle: Vehicle) -> Mechanism:
    """With the parameters it has; found once for each object."""
    if isinstance(vehicle, ArticulatedVehicle):
        tree = vehicle.tree
        return Mechanism(_masses(tree), _axes(tree), _contacts(vehicle))
    points = config_of(vehicle).contact.points
    touching = tuple(ContactSphere("", point[:3], 0.0) for point in points) if len(points) > 1 else ()
    mass = _of_parameters(vehicle)
    return Mechanism(() if mass is None else (mass,), (), touching)


def half_axes_m(mass_kg: float, moments: np.ndarray) -> np.ndarray | None:
    """(3,) m: half of the ellipsoid of even density that has this mass and these principal moments (3,) [kg m^2].

    None for moments that no body has.
    """
    if mass_kg <= 0.0:
        return None
    squares = 2.5 * (float(moments.sum()) - 2.0 * moments) / mass_kg
    return np.sqrt(squares) if (squares > 0.0).all() else None


def _of_parameters(vehicle: Vehicle) -> BodyMass | None:
    """Of the main body of what declares a mass and three principal moments."""
    mass, moments = vehicle.values.get("mass"), vehicle.values.get("inertia")
    if not isinstance(mass, int | float) or not isinstance(moments, tuple) or len(moments) != 3:
        return None
    half = half_axes_m(float(mass), np.array(moments, float))
    return BodyMass("", float(mass), np.zeros(3), half, np.eye(3))


def _own_frames(tree: Tree) -> dict[int, tuple[str, np.ndarray]]:
    """By body of the arrays: the first declared one on it, and the pose of the former in the frame of the latter."""
    found: dict[int, tuple[str, np.ndarray]] = {}
    for name, carrier, T in zip(tree.names, tree.carriers.tolist(), tree.offsets, strict=True):
        if carrier >= 0 and carrier not in found:
            found[carrier] = name, np.linalg.inv(T)
    return found


def _masses(tree: Tree) -> tuple[BodyMass, ...]:
    a, found = tree.arrays, []
    for i, (name, T) in _own_frames(tree).items():
        mass = float(a.mass[i])
        if mass <= 0.0:
            continue
        centre = a.moment[i] / mass
        moments, R = np.linalg.eigh(_about_centre(a, i, mass, centre))
        if np.linalg.det(R) < 0.0:
            R[:, 2] = -R[:, 2]
        centre_b = T[:3, :3] @ centre + T[:3, 3]
        found.append(BodyMass(name, mass, centre_b, half_axes_m(mass, moments), T[:3, :3] @ R))
    return tuple(found)


def _about_centre(a: TreeArrays, i: int, mass: float, centre: np.ndarray) -> np.ndarray:
    """(3, 3) inertia about the centre of mass, in the axes of the arrays' body."""
    xx, xy, xz, yy, yz, zz = a.inertia[i, :6].tolist()
    about_origin = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return about_origin - mass * (float(centre @ centre) * np.eye(3) - np.outer(centre, centre))


def _axes(tree: Tree) -> tuple[JointAxis, ...]:
    a, found = tree.arrays, []
    for i, (name, T) in _own_frames(tree).items():
        if a.kind[i] in (BALL, FREE):
            continue
        joint = tree.velocity_names[a.v_at[i]]
        found.append(JointAxis(name, joint, T[:3, 2], T[:3, 3], bool(a.kind[i] == PRISMATIC)))
    return tuple(found)


def _contacts(vehicle: ArticulatedVehicle) -> tuple[ContactSphere, ...]:
    """The touching ends of its capsules."""
    return tuple(
        ContactSphere(shape.body, np.array(end), shape.radius_m)
        for shape in vehicle.shapes()
        for end, touches in zip((shape.begin_b, shape.end_b), shape.touches, strict=True)
        if touches
    )
