"""Drawn over a vehicle: ellipsoids of inertia, axes of joints, contact shapes, and the body that is chosen."""

import numpy as np

from render.frame import Polyline, Surface
from render.vehicles.shown import ShownLane
from sim.shapes.surface import capsule_surface, ellipsoid_surface, turned_to
from sim.vehicle_config.mechanism import BodyMass, Mechanism, mechanism_of

Colour = tuple[float, float, float]
INERTIA: Colour = (0.95, 0.80, 0.30)
AXIS: Colour = (0.25, 0.70, 1.0)
CONTACT: Colour = (0.30, 0.95, 0.55)
CHOSEN: Colour = (1.0, 0.45, 0.05)
_DOT_M = 0.012
"""Radius of a contact point of what has no radius, of the distance from which the vehicle is looked at."""
_AXIS = 0.05
"""Half length of a joint's axis, likewise."""
_ABOUT = 1.12
"""Of the chosen body's capsules: how much thicker what is drawn about them is."""
_ANGLES = np.linspace(0.0, 2.0 * np.pi, 41)
_CIRCLE = np.column_stack([np.cos(_ANGLES), np.sin(_ANGLES), np.zeros(len(_ANGLES))])


def _mechanism(shown: ShownLane) -> Mechanism:
    return Mechanism() if shown.lane.mechanics is None else mechanism_of(shown.lane.mechanics)


def _pose(shown: ShownLane, body: str) -> np.ndarray | None:
    """(4, 4) where a body is drawn; an empty name is the main one."""
    return shown.T_wb if not body else shown.bodies.get(body)


def _placed(T_wb: np.ndarray, points_b: np.ndarray) -> np.ndarray:
    placed: np.ndarray = T_wb[:3, 3] + points_b @ T_wb[:3, :3].T
    return placed


def inertia_ellipsoids(shown: ShownLane) -> tuple[Surface, ...]:
    """About the centre of mass of every body that tells its mass and its moments."""
    found = []
    for each in _mechanism(shown).masses:
        T_wb = _pose(shown, each.body)
        if T_wb is None or each.half_m is None:
            continue
        points, normals, faces = ellipsoid_surface(each.half_m)
        corners, turned = faces.ravel(), T_wb[:3, :3] @ each.R_b
        points_w = _placed(T_wb, each.centre_b + points[corners] @ each.R_b.T)
        found.append(Surface(points_w, normals[corners] @ turned.T, INERTIA, 0.28))
    return tuple(found)


def inertia_rings(shown: ShownLane) -> tuple[Polyline, ...]:
    """Where their three planes cut the ellipsoids, and a cross at each centre of mass."""
    return tuple(line for each in _mechanism(shown).masses for line in _rings(shown, each))


def _rings(shown: ShownLane, mass: BodyMass) -> list[Polyline]:
    T_wb, half = _pose(shown, mass.body), mass.half_m
    if T_wb is None or half is None:
        return []
    rings = [half * np.roll(_CIRCLE, k, axis=1) for k in range(3)]
    arms = [0.25 * half * np.outer((-1.0, 1.0), axis) for axis in np.eye(3)]
    return [_line(T_wb, mass.centre_b + points @ mass.R_b.T, INERTIA, 2.0) for points in (*rings, *arms)]


def _line(T_wb: np.ndarray, points_b: np.ndarray, colour: Colour, width_px: float) -> Polyline:
    return Polyline(_placed(T_wb, points_b), colour, np.full(len(points_b), 0.9), width_px)


def joint_axes(shown: ShownLane) -> tuple[Polyline, ...]:
    """A line along each hinge and slide; about a hinge a ring."""
    length, lines = _AXIS * shown.lane.config.camera.distance_m, []
    for axis in _mechanism(shown).axes:
        T_wb = _pose(shown, axis.body)
        if T_wb is None:
            continue
        ends = axis.at_b + length * np.outer((-1.0, 1.0), axis.axis_b)
        lines.append(_line(T_wb, ends, AXIS, 3.0))
        if not axis.slides:
            ring = 0.45 * length * _CIRCLE @ turned_to(axis.axis_b).T
            lines.append(_line(T_wb, axis.at_b + ring, AXIS, 2.0))
    return tuple(lines)


def contact_shapes(shown: ShownLane) -> tuple[Surface, ...]:
    """What of it touches the ground: balls at the ends of capsules, dots at points."""
    dot, found = _DOT_M * shown.lane.config.camera.distance_m, []
    for sphere in _mechanism(shown).contacts:
        T_wb = _pose(shown, sphere.body)
        if T_wb is None:
            continue
        radius = sphere.radius_m or dot
        points, normals, faces = ellipsoid_surface(np.full(3, 1.02 * radius))
        corners = faces.ravel()
        points_w = _placed(T_wb, sphere.at_b + points[corners])
        found.append(Surface(points_w, normals[corners] @ T_wb[:3, :3].T, CONTACT, 0.4))
    return tuple(found)


def chosen_body(shown: ShownLane, body: str) -> tuple[tuple[Surface, ...], tuple[Polyline, ...]]:
    """A shell about the capsules of a body, and a cross at its centre of mass; nothing where there is no such body."""
    T_wb = shown.bodies.get(body)
    if not body or T_wb is None:
        return (), ()
    shells = []
    for link in shown.lane.links:
        if link.body != body:
            continue
        begin, way = np.array(link.begin_b), np.subtract(link.end_b, link.begin_b)
        points, normals, faces = capsule_surface(_ABOUT * link.radius_m + 0.002, 0.5 * link.length_m)
        R_b = turned_to(way) if link.length_m > 1e-9 else np.eye(3)
        corners = faces.ravel()
        points_w = _placed(T_wb, begin + 0.5 * way + points[corners] @ R_b.T)
        shells.append(Surface(points_w, normals[corners] @ (T_wb[:3, :3] @ R_b).T, CHOSEN, 0.33))
    mass = _mechanism(shown).mass_of(body) or _mechanism(shown).mass_of("")
    centre = np.zeros(3) if mass is None else mass.centre_b
    arm = 0.6 * _AXIS * shown.lane.config.camera.distance_m
    cross = [_line(T_wb, centre + arm * np.outer((-1.0, 1.0), axis), CHOSEN, 3.0) for axis in np.eye(3)]
    return tuple(shells), tuple(cross)
