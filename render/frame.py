"""What one picture shows: the renderer's whole input, free of simulation and UI.

Camera matrices for column vectors: p_clip = projection @ view @ p_world (float64, OpenGL depth -1..1).

Pyrr makes them for row vectors, hence the transposition; of pyrr only these functions on arrays are used."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import field, fields, is_dataclass, replace

import numpy as np
from pyrr import matrix44

from sim.contact.obstacles import ObstaclesPicture, PropsPicture
from sim.multibody.shapes import Link
from sim.platform.values import dataclass
from sim.vehicle_config import VehicleConfig
from sim.vehicles.forms.parameters import Value
from sim.water.ocean import SeaState
from sim.water.picture import BoxPicture
from sim.world.path import Stream


def unit(vector: np.ndarray) -> np.ndarray:
    """`vector` (n,) at length one."""
    vector = np.asarray(vector, dtype=float)
    return vector / np.linalg.norm(vector)


def look_at(
    eye_w: np.ndarray, target_w: np.ndarray, up_w: tuple[float, float, float] = (0, 0, 1)
) -> np.ndarray:
    """(4, 4) world to camera; the camera looks along -z with y up. A vertical look takes +y for its up."""
    eye_w, target_w = np.asarray(eye_w, dtype=float), np.asarray(target_w, dtype=float)
    if np.linalg.norm(np.cross(unit(target_w - eye_w), up_w)) < 1e-6:
        up_w = (0.0, 1.0, 0.0)
    return matrix44.create_look_at(eye_w, target_w, np.asarray(up_w, dtype=float), dtype=float).T


def perspective(fov_y_rad: float, aspect: float, near_m: float, far_m: float) -> np.ndarray:
    """(4, 4) symmetric perspective projection."""
    fov_y_deg = math.degrees(fov_y_rad)
    return matrix44.create_perspective_projection(fov_y_deg, aspect, near_m, far_m, dtype=float).T


def orthographic(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """(4, 4) parallel projection of the camera-space box from `low` to `high`, each (3,); near is high z."""
    (left, bottom, far), (right, top, near) = np.asarray(low, float), np.asarray(high, float)
    return matrix44.create_orthogonal_projection(left, right, bottom, top, -near, -far, dtype=float).T


TEXTURE_FROM_CLIP = np.array([[0.5, 0, 0, 0.5], [0, 0.5, 0, 0.5], [0, 0, 0.5, 0.5], [0, 0, 0, 1.0]])
"""Clip space -1..1 to texture coordinates and depth 0..1."""


def mirror(level_m: float) -> np.ndarray:
    """(4, 4) reflection in the plane z = level."""
    matrix = np.diag([1.0, 1.0, -1.0, 1.0])
    matrix[2, 3] = 2.0 * level_m
    return matrix


@dataclass(frozen=True, slots=True, eq=False)
class HullWay:
    """Where a hull has been lately, at moments that are MOMENT_S apart whatever the rate of pictures."""

    of: tuple[str, int]
    """Lane and generation."""
    first: int
    """Number of the first moment: its time over MOMENT_S."""
    poses: np.ndarray
    """(n, 4, 4), one a moment."""


MOMENT_S, MOMENTS_KEPT = 0.1, 80
"""Between two moments of a hull's way and of what sea and hull throw up, and how many are kept of each [s, 1]: after
which what has come on deck is gone."""

Film = tuple[np.ndarray, tuple[float, float, float, float]]
"""(2, 4) rows from a place in the world to one in a hull's plan [m]; that plan's size, and how far what runs on it has
come [m]."""

Clothes = tuple[tuple[str, tuple[float, float, float]], ...]
"""Linear RGB by names of materials."""


@dataclass(frozen=True, slots=True)
class View:
    """A camera at one moment. Matrices are column-vector (v_clip = projection @ view @ v_w), float64."""

    eye_w: np.ndarray
    """(3,) m."""
    view: np.ndarray
    """(4, 4) world to camera (camera looks along -z, y up)."""
    projection: np.ndarray
    """(4, 4) OpenGL clip space, depth -1..1."""
    inside: bool = False
    """The eye sits in the flown vehicle (cockpit): the body is drawn as seen from within."""

    def mirrored(self, mirror: np.ndarray) -> "View":
        """The camera's image in the water; mirror: (4, 4) world to world."""
        eye = mirror @ np.append(self.eye_w, 1.0)
        return View(eye_w=eye[:3], view=self.view @ mirror, projection=self.projection, inside=self.inside)

    def through_lens(self, apart_m: np.ndarray, focus_m: float) -> "View":
        """The camera moved (2,) m to its right and up, with a film that is moved so that what is `focus_m` before it
        stays where it is in the picture: the mean over a lens is sharp there alone."""
        moved, sheared = np.eye(4), np.eye(4)
        moved[:2, 3] = -apart_m
        sheared[:2, 2] = -apart_m / focus_m
        eye_w = self.eye_w + self.view[:2, :3].T @ apart_m
        return replace(self, eye_w=eye_w, view=moved @ self.view, projection=self.projection @ sheared)


@dataclass(frozen=True, slots=True, eq=False)
class DrawnVehicle:
    """One vehicle in the picture; two are never the same."""

    model: str
    """Name of a vehicle or a prop; those without a model are drawn as a box with axes."""
    T_wb: np.ndarray
    """(4, 4) interpolated pose."""
    controls: np.ndarray
    shape: np.ndarray
    config: VehicleConfig
    """How the parts of that model move, and what it is to water and ground."""
    parameters: Mapping[str, Value] = field(default_factory=dict)
    """That differ from the vehicle's defaults."""
    time_s: float | None = None
    """Simulated time, by which free-turning parts (rotors, screws) turn; None: they rest."""
    tint: tuple[float, float, float] = (1.0, 1.0, 1.0)
    ghost: bool = False
    presence: float = 1.0
    """Of a ghost, 0..1: how much of it is seen."""
    wreck: bool = False
    pieces: Mapping[str, np.ndarray] = field(default_factory=dict)
    """Node name -> (4, 4) by which a part that has come off has moved in the world; "" for all that has not."""
    absent: frozenset[str] = frozenset()
    """Nodes that are not drawn: somebody has been thrown off."""
    clothes: Clothes = ()
    """Linear RGB by name of a material of the model, in place of its own."""
    still: bool = False
    """It stands about: the vehicles' shadow map is not fitted to it."""
    bodies: Mapping[str, np.ndarray] = field(default_factory=dict)
    """Name -> (4, 4) interpolated poses of all its bodies, the main one among them."""
    observables: Mapping[str, float | np.ndarray] = field(default_factory=dict)
    """What the vehicle tells by itself, name -> number or column."""
    links: tuple[Link, ...] = ()
    """Drawn in place of a model: what its bodies look like."""
    solids: PropsPicture | None = None
    """Drawn in place of a vehicle: the scene's props, all of them."""
    way: HullWay | None = None
    """Of what floats: by which it throws spray up and ships water."""
    presences: np.ndarray | None = None
    """(n,) 0..1 of ghosts' props: how much of each is seen; None: all of all."""

    @property
    def hull_T_w(self) -> np.ndarray:
        """(4, 4) pose of its hull: once it has broken, that of all that has not come off."""
        return self.pieces[""] @ self.T_wb if "" in self.pieces else self.T_wb

    @property
    def ball(self) -> tuple[np.ndarray, float] | None:
        """(centre (3,), radius [m]) of a ball about its links or solids; None where it has none."""
        if self.solids is not None:
            low, high = (getattr(self.solids.poses_w[:, :3, 3], end)(axis=0) for end in ("min", "max"))
            return 0.5 * (low + high), 0.5 * float(np.linalg.norm(high - low)) + 1.0
        if not self.links:
            return None
        places = np.array([T_wb[:3, 3] for T_wb in self.bodies.values()])
        low, high = places.min(axis=0), places.max(axis=0)
        longest = max(shape.length_m + shape.radius_m for shape in self.links)
        return 0.5 * (low + high), 0.5 * float(np.linalg.norm(high - low)) + longest


@dataclass(frozen=True, slots=True)
class Polyline:
    """A line in the world, e.g. a trail: constant width in pixels, fading along `alpha`."""

    points_w: np.ndarray
    """(n, 3) m."""
    colour: tuple[float, float, float]
    """Linear RGB."""
    alpha: np.ndarray
    """(n,) 0..1."""
    width_px: float = 3.0
    through: bool = False
    """It is seen through what lies before it."""


@dataclass(frozen=True, slots=True)
class Arrow:
    """A force, a velocity or a frame axis in the world."""

    origin_w: np.ndarray
    vector_w: np.ndarray
    """(3,) m: direction and drawn length."""
    colour: tuple[float, float, float]
    through: bool = False
    """It is seen through what lies before it."""


@dataclass(frozen=True, slots=True)
class Surface:
    """Triangles of a translucent body, seen from both sides: a ribbon, an obstacle, a mark."""

    corners_w: np.ndarray
    """(3 n, 3) m, three a triangle."""
    normals_w: np.ndarray
    """(3 n, 3) unit vectors."""
    colour: tuple[float, float, float]
    """Linear RGB."""
    alpha: float | np.ndarray
    """0..1, one for all or (3 n,)."""


@dataclass(frozen=True, slots=True)
class Wake:
    """Waves and foam behind a hull, by the places that its leading end has passed: the oldest first, the last now."""

    places_w: np.ndarray
    """(n, 2) m on the water."""
    age_s: np.ndarray
    """(n,) simulated time since."""
    speed_mps: np.ndarray
    """(n,) through the water, then."""
    depth_m: np.ndarray
    """(n,) of the water there."""
    length_m: float
    half_beam_m: float


@dataclass(frozen=True, slots=True)
class Splash:
    """Where something has hit the water."""

    place_w: tuple[float, float]
    age_s: float
    """Simulated time since."""
    speed_mps: float

    @staticmethod
    def carried(struck_w: Sequence[float], age_s: float, speed_mps: float, stream: Stream) -> "Splash":
        """So long after something has hit the water at `struck_w` [m], from where the stream there has taken it."""
        x, y = np.asarray(struck_w[:2], float) + age_s * stream.at(float(struck_w[0]), float(struck_w[1]))
        return Splash((float(x), float(y)), age_s, speed_mps)


@dataclass(frozen=True, slots=True, eq=False)
class DrawnSea:
    """Waves in the place of still water."""

    state: SeaState
    time_s: float
    """Simulated: the sea stands still while the simulation is paused."""


@dataclass(frozen=True, slots=True)
class Frame:
    """Everything that one picture needs."""

    view: View
    vehicles: tuple[DrawnVehicle, ...]
    lines: tuple[Polyline, ...] = ()
    arrows: tuple[Arrow, ...] = ()
    surfaces: tuple[Surface, ...] = ()
    wakes: tuple[Wake, ...] = ()
    splashes: tuple[Splash, ...] = ()
    sea: DrawnSea | None = None
    """As the flown vehicle feels it; None: the world's water is still."""
    water_box: BoxPicture | None = None
    cones: ObstaclesPicture | None = None
    """None: they stand where they stood at first."""
    wall_s: float = 0.0
    """Drives water and clouds; runs while the simulation is paused, until a picture at rest has been refined."""
    exposure: float = 1.0
    """Relative to the scene's own."""


def alike(one: object, other: object) -> bool:
    """Whether two frames, or two parts of frames, show the same, number by number."""
    if one is other:
        return True
    if isinstance(one, np.ndarray):
        return isinstance(other, np.ndarray) and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    if type(one) is not type(other):
        return False
    if is_dataclass(one):
        return all(alike(getattr(one, each.name), getattr(other, each.name)) for each in fields(one))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, tuple | list) and isinstance(other, tuple | list):
        return len(one) == len(other) and all(map(alike, one, other))
    return bool(one == other)
