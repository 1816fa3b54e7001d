"""A shape as a rigid body: its mass by density, and the convex hull that touches others, in its own principal axes.

Every kind is the hull of circles and points (circles of no radius), thickened by a ball, and stretched: a ball is a
point thickened, a cylinder the hull of two circles, a cone that of a circle and a point, an ellipsoid a stretched ball.
So contact asks two things only: which point lies farthest along a direction, and which flat side faces it.
"""

from dataclasses import field

import numpy as np

from sim.platform.values import dataclass

MOST_CORNERS = 12
"""Of one flat side."""
INSET = 0.2
"""Of the ball that fits into a solid: by that its core lies within it, along whose nearest points others are met."""
_LARGEST_INSET_M = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class Solid:
    """All in the principal axes about the centre of mass [m]."""

    T_w: np.ndarray
    """(4, 4) where these axes are in the world."""
    volume_m3: float
    gyration_m2: np.ndarray
    """(3,) principal moments of inertia by mass."""
    circles: np.ndarray
    """(k, 7) centre, axis of length 1, radius: 0 of points."""
    core: np.ndarray
    """(k', 7) such of what lies within it by `inset_m` on all sides."""
    rounding_m: float = 0.0
    """By which the circles' hull is thickened; and its core, by as much less as that is inset."""
    core_rounding_m: float = 0.0
    stretch: np.ndarray = field(default_factory=lambda: np.ones(3))
    """(3,) of all of it along its axes, afterwards."""
    normals: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
    """(f, 3) of flat sides with corners, outward."""
    corners: np.ndarray = field(default_factory=lambda: np.zeros((0, MOST_CORNERS), np.int64))
    """(f, MOST_CORNERS) circles about each side, anticlockwise from outside; -1 where there are no more."""
    inner_m: float = 0.0
    """Radius of a ball that fits into it."""

    @property
    def reach_m(self) -> float:
        """Of the ball about its centre of mass that holds it."""
        far = np.linalg.norm(self.circles[:, :3], axis=1) + self.circles[:, 6]
        return float((far.max() + self.rounding_m) * self.stretch.max())


def inset_of(inner_m: float) -> float:
    return min(INSET * inner_m, _LARGEST_INSET_M)


def points_of(places: np.ndarray) -> np.ndarray:
    """(k, 7) circles without radius."""
    found = np.zeros((len(places), 7))
    found[:, :3], found[:, 5] = places, 1.0
    return found


def rings(*rows: tuple[float, float]) -> np.ndarray:
    """(k, 7) circles about z: their heights and radii."""
    found = np.zeros((len(rows), 7))
    found[:, 2], found[:, 6] = np.array(rows).T
    found[:, 5] = 1.0
    return found


def polytope(
    points: np.ndarray, sides: np.ndarray, volume_m3: float, gyration_m2: np.ndarray, T_w: np.ndarray
) -> Solid:
    """Of points (n, 3) in its principal axes and flat sides (f, 4), as normals and how far along them each is."""
    from scipy.spatial import HalfspaceIntersection  # takes a while, and is asked once a solid

    corners = np.full((len(sides), MOST_CORNERS), -1, np.int64)
    size = float(np.ptp(points, axis=0).max())
    for k, side in enumerate(sides):
        own = np.flatnonzero(points @ side[:3] > side[3] - 1e-7 * max(size, 1.0))
        middle = points[own].mean(axis=0)
        x = points[own[0]] - middle
        y = np.cross(side[:3], x)
        own = own[np.argsort(np.arctan2((points[own] - middle) @ y, (points[own] - middle) @ x))]
        own = own[:: -(-len(own) // MOST_CORNERS)]
        corners[k, : len(own)] = own
    inner = float(sides[:, 3].min())
    inset = inset_of(inner)
    halves = np.column_stack([sides[:, :3], inset - sides[:, 3]])
    core = np.unique(HalfspaceIntersection(halves, np.zeros(3)).intersections.round(12), axis=0)
    return Solid(
        T_w,
        volume_m3,
        gyration_m2,
        points_of(points),
        points_of(core),
        normals=np.ascontiguousarray(sides[:, :3]),
        corners=corners,
        inner_m=inner,
    )
