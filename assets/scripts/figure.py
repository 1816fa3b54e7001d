"""People: a standing rider and a seated driver, from tubes and lathes; about 1.78 m tall."""

from collections.abc import Sequence

import numpy as np

from assets.scripts.mesh import FloatArray, Mesh, join
from assets.scripts.shapes import lathe, solid, tube

Point = Sequence[float]


def limb(points: Sequence[Point], radii: Sequence[float], *, sides: int = 12) -> Mesh:
    """Arm or leg through its joints, rounded at bends by extra points."""
    path, radius = _rounded(np.asarray(points, float), np.asarray(radii, float))
    ends = [ball(radii[k], sides=sides).moved(points[k]) for k in (0, -1)]
    return join([tube(path, radius, sides=sides), *ends])


def ball(radius_m: float, *, sides: int = 12) -> Mesh:
    """Sphere, for the joints at the ends of a limb."""
    angle = np.linspace(-np.pi / 2, np.pi / 2, max(sides // 2, 4))
    return lathe(np.column_stack([np.cos(angle), np.sin(angle)]) * radius_m, sides=sides, crease_deg=60.0)


def head(at: Point, *, sides: int = 16) -> tuple[Mesh, Mesh, Mesh]:
    """(face, helmet, visor) about the middle of the head, looking along +x."""
    place = np.asarray(at, float)
    face = lathe(
        [(0.0, -0.12), (0.05, -0.115), (0.075, -0.05), (0.078, 0.02), (0.05, 0.09), (0, 0.1)], sides=sides
    )
    shell = [(0.095, -0.06), (0.125, -0.02), (0.13, 0.03), (0.115, 0.085), (0.07, 0.13), (0.0, 0.145)]
    helmet = lathe(shell, sides=sides)
    band = [
        (0.085, -0.085, 0.0),
        (0.118, -0.03, 0.0),
        (0.122, 0.0, 0.0),
        (0.118, 0.03, 0.0),
        (0.085, 0.085, 0.0),
    ]
    visor = tube(np.asarray(band), [0.02, 0.03, 0.032, 0.03, 0.02], sides=8)
    return face.moved(place), helmet.moved(place - [0.01, 0, 0]), visor.moved(place)


def hand(wrist: Point, towards: Point, thumb: Point, *, sides: int = 10) -> Mesh:
    """A gloved hand about half open: palm and fingers from the wrist, the thumb to one side; both are directions."""
    at = np.asarray(wrist, float)
    ahead, aside = (np.asarray(d, float) / np.linalg.norm(d) for d in (towards, thumb))
    aside = aside - (aside @ ahead) * ahead
    aside /= np.linalg.norm(aside)
    curl = np.cross(ahead, aside)
    palm = tube(
        [at - 0.02 * ahead, at + 0.03 * ahead, at + 0.085 * ahead],
        [0.034, 0.046, 0.044],
        sides=sides,
        flatten=0.62,
        up=tuple(curl),
    )
    parts = [palm]
    for k, length in enumerate((0.072, 0.080, 0.074, 0.060)):
        root = at + 0.075 * ahead + (0.030 - 0.020 * k) * aside
        knuckle = root + 0.5 * length * ahead - 0.006 * curl
        parts.append(
            limb([root, knuckle, knuckle + 0.5 * length * (ahead - 0.7 * curl)], [0.0125] * 3, sides=6)
        )
    root = at + 0.025 * ahead + 0.035 * aside
    parts.append(limb([root, root + 0.055 * (0.7 * ahead + 0.8 * aside)], [0.015, 0.012], sides=6))
    return join(parts)


def torso(hip: Point, chest: Point, neck: Point, *, sides: int = 16) -> Mesh:
    """Trunk from the hips up, broader than deep."""
    hip, chest, neck = (np.asarray(p, float) for p in (hip, chest, neck))
    path = np.array(
        [
            hip - 0.14 * (chest - hip),
            hip,
            hip + 0.5 * (chest - hip),
            chest,
            chest + 0.75 * (neck - chest),
            neck,
        ]
    )
    radii = [0.184, 0.182, 0.160, 0.205, 0.165, 0.065]
    return tube(path, radii, sides=sides, flatten=0.68, up=(1.0, 0.0, 0.0))


def _rounded(path: FloatArray, radii: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Each inner joint replaced by points a little before, at and after it."""
    points, sizes = [path[0]], [radii[0]]
    for k in range(1, len(path) - 1):
        before, after = path[k] + 0.24 * (path[k - 1] - path[k]), path[k] + 0.24 * (path[k + 1] - path[k])
        for share in np.linspace(0.0, 1.0, 5):
            bend = (1 - share) ** 2 * before + 2 * share * (1 - share) * path[k] + share**2 * after
            points.append(bend)
            sizes.append(radii[k] * (1.0 + 0.12 * np.sin(np.pi * share)))
    return np.array([*points, path[-1]]), np.array([*sizes, radii[-1]])


def shoe(length_m: float = 0.29) -> Mesh:
    """A shoe on z = 0 pointing along +x, heel at -0.08 m."""
    x = np.linspace(-0.09, length_m - 0.09, 7)
    width = [0.03, 0.045, 0.045, 0.047, 0.052, 0.05, 0.025]
    height = [0.05, 0.09, 0.10, 0.085, 0.065, 0.05, 0.03]
    rings = []
    angle = np.linspace(0, 2 * np.pi, 12, endpoint=False)
    for at, w, h in zip(x, width, height, strict=True):
        z = np.where(np.sin(angle) > 0, h * np.sin(angle), 0.02 * np.sin(angle)) + 0.02
        rings.append(np.column_stack([np.full(12, at), w * np.cos(angle), z]))
    return solid(np.array(rings), crease_deg=50.0)


def both(left: Mesh) -> Mesh:
    """A limb and its mirror image."""
    return join([left, left.transformed(np.diag([1.0, -1.0, 1.0]))])
