"""What is met of a vehicle by bodies about it: of a tree all that touches, of others their hull's outline or a box."""

from functools import cached_property, lru_cache

import numpy as np

from sim.contact.bodies import Prop
from sim.contact.convex import gaps, hulls_of
from sim.contact.pair_rows import NO_CORDS, Mechanism
from sim.environment.environment import JointedState
from sim.groups.numeric import mean_twists
from sim.multibody.declaration import WORLD
from sim.multibody.observing import body_frames
from sim.multibody.shapes import STAND, joined
from sim.platform.errors import InputError
from sim.platform.values import dataclass
from sim.shapes import Box, ConvexMesh, Shape
from sim.vehicle_config import config_of
from sim.vehicle_config.config import Footprint
from sim.vehicles.forms.articulated import ArticulatedVehicle
from sim.vehicles.forms.base import Vehicle

_VEHICLE_FRICTION, _VEHICLE_RESTITUTION = 0.4, 0.1
_LINK_FRICTION = 0.7
_LOW_M, _HIGH_M = 0.2, 1.3
"""Between which heights over the ground a footprint is met."""
_OUTLINE = 20
"""Ways in which a hull's farthest points seen from above are taken for its outline."""
_OVERLAP_M = 1e-3
"""Bodies of a tree that are nearer than this at its start never meet each other."""


@dataclass(frozen=True, eq=False)
class Guest:
    """What is met of a vehicle."""

    props: tuple[Prop, ...]
    bodies: np.ndarray
    """(k,) on which of the vehicle's bodies each is; -1: on what holds it."""
    T_b: np.ndarray
    """(k, 4, 4) of the principal axes in that body's frame."""
    meets: np.ndarray
    """(k, k) bool: which of them meet each other."""

    @cached_property
    def meets_itself(self) -> bool:
        return bool(self.meets.any())

    def same(self, other: "Guest") -> bool:
        return self.props == other.props and np.array_equal(self.T_b, other.T_b)

    def mechanism(
        self, jointed: JointedState, dt_s: float, cords: np.ndarray = NO_CORDS
    ) -> tuple[np.ndarray, Mechanism]:
        """Its poses in the world, and how it moves within dt; cords to others.

        Joints carry bodies off the ways that velocities say: one more velocity of 1, which answers nothing, does so.
        """
        frames, count = jointed.poses_w[self.bodies], len(jointed.velocity)
        T_w = frames @ self.T_b
        arms, J = T_w[:, :3, 3] - frames[:, :3, 3], np.zeros((len(T_w), 6, count + 1))
        J[:, :, :-1] = jointed.jacobian_w[self.bodies]
        J[:, 3:] += np.cross(J[:, :3], arms[:, :, None], axis=1)
        ahead = jointed.ahead_w[self.bodies] @ self.T_b
        J[:, :, -1] = mean_twists(T_w, ahead, dt_s) - J[:, :, :-1] @ jointed.tried
        mobility, velocity = np.pad(jointed.mobility, (0, 1)), np.append(jointed.velocity, 1.0)
        return T_w, Mechanism(J, mobility, velocity, self.meets, jointed.grounded, cords)


NOBODY = Guest((), np.zeros(0, np.int64), np.zeros((0, 4, 4)), np.zeros((0, 0), np.bool_))


@lru_cache(maxsize=16)
def guest_of(vehicle: Vehicle) -> Guest:
    """Of a tree all that touches; of others the outline of their hull, or a box about their footprint or their contact
    points, then about each that they tow."""
    if isinstance(vehicle, ArticulatedVehicle):
        return _jointed(vehicle)
    config = config_of(vehicle)
    footprint, points = config.footprint, config.contact.points[:, :3]
    afloat = None if config.hull is None else config.hull.surface
    if footprint is not None and afloat is not None:
        own: Shape = outlined(afloat.vertices)
    elif footprint is not None:
        own = _upright(footprint)
    elif len(points):
        half = np.maximum(0.5 * np.ptp(points, axis=0), 0.05)
        own = _box(0.5 * (points.min(axis=0) + points.max(axis=0)), half)
    else:
        raise InputError(
            f"props: {vehicle.name} has neither footprint nor contact points; allowed: one with them"
        )
    shapes = [own, *(_upright(behind) for _, behind in (() if footprint is None else footprint.towed))]
    T_b = np.array([shape.solid().T_w for shape in shapes])
    props = tuple(Prop(shape, 1.0, _VEHICLE_FRICTION, _VEHICLE_RESTITUTION) for shape in shapes)
    return Guest(props, np.arange(len(shapes)), T_b, np.zeros((len(shapes), len(shapes)), np.bool_))


def outlined(vertices: np.ndarray) -> ConvexMesh:
    """What a hull with vertices (n, 3) is met by: as high as that, over its outline as seen from above."""
    ways = np.linspace(0.0, 2.0 * np.pi, _OUTLINE, endpoint=False)
    corners = np.unique((vertices[:, :2] @ [np.cos(ways), np.sin(ways)]).argmax(axis=0))
    heights = vertices[:, 2].min(), vertices[:, 2].max()
    return ConvexMesh(
        tuple((float(x), float(y), float(z)) for x, y in vertices[corners, :2] for z in heights)
    )


def _upright(footprint: Footprint) -> Box:
    middle, half = 0.5 * (_LOW_M + _HIGH_M), 0.5 * (_HIGH_M - _LOW_M)
    return _box(np.array([*footprint.centre_m, middle]), np.array([*footprint.half_m, half]))


def _box(middle: np.ndarray, half: np.ndarray) -> Box:
    (x, y, z), (a, b, c) = middle.tolist(), half.tolist()
    return Box((x, y, z), (a, b, c))


def _jointed(vehicle: ArticulatedVehicle) -> Guest:
    touching, tree = vehicle.touching(), vehicle.tree
    solids = [each.shape.solid() for each in touching]
    T_b = np.array([each.T_b @ solid.T_w for each, solid in zip(touching, solids, strict=True)])
    frames = {STAND: np.eye(4), **body_frames(tree, vehicle.default_state().node[: tree.nq])}
    bodies = [-1 if each.body == STAND else tree.names.index(each.body) for each in touching]
    T_w = np.array([frames[each.body] for each in touching]).reshape(-1, 4, 4) @ T_b.reshape(-1, 4, 4)
    meets = np.zeros((len(touching), len(touching)), np.bool_)
    if vehicle.meets_itself and len(touching) > 1:
        rows = np.concatenate([T_w[:, :3, :3].reshape(-1, 9), T_w[:, :3, 3]], axis=1)
        names = [each.body for each in touching]
        meets[:] = (gaps(hulls_of(solids), rows) > _OVERLAP_M) & ~joined(tree, names)
        held = [WORLD if name == STAND else name for name in names]
        for i, j in np.argwhere(meets):
            meets[i, j] = frozenset((held[i], held[j])) not in vehicle.apart
    props = tuple(Prop(each.shape, 1.0, _LINK_FRICTION) for each in touching)
    return Guest(props, np.array(bodies, np.int64), T_b.reshape(-1, 4, 4), meets)
