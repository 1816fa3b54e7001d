"""Closed cars of every day, saloon, estate and van: origin on the ground below the middle, 4.2 m long, 1.8 m wide."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from assets.scripts.cut import split
from assets.scripts.gltf import Material, Node
from assets.scripts.loft import Loft, stations
from assets.scripts.mesh import PAINT_FAR, FloatArray, Mesh, both_sides
from assets.scripts.refine import refine
from assets.scripts.shapes import box, lathe, plate, tube
from assets.scripts.wheel import rim, tyre

AXLES_X = (1.30, -1.28)
WHEEL_RADIUS, WHEEL_WIDTH, HALF_TRACK = 0.31, 0.20, 0.775
ARCH_RADIUS = 0.365

CELL_M = 0.05
BELT_M = 0.95
"""Height at which the windows begin."""

MATERIALS: Mapping[str, Material] = {
    "coat": Material((0.42, 0.43, 0.44), roughness=0.22, finish="coat", second=(0.02, 0.021, 0.022)),
    "pane": Material((0.010, 0.013, 0.015), roughness=0.03, alpha=0.42, finish="glass"),
    "trim": Material((0.030, 0.030, 0.032), roughness=0.8),
    "seat": Material((0.075, 0.070, 0.066), roughness=0.75),
    "dark": Material((0.012, 0.012, 0.013), roughness=0.8),
    "rubber": Material((0.020, 0.020, 0.021), roughness=0.85),
    "rim": Material((0.36, 0.365, 0.37), metallic=0.9, roughness=0.3),
    "lens": Material((0.75, 0.77, 0.78), roughness=0.05),
    "red_light": Material((0.40, 0.012, 0.01), roughness=0.15),
    "plate": Material((0.62, 0.61, 0.56), roughness=0.5),
}

BODY = Loft(
    np.array(
        [
            # x, centre z, half width, above, below, exponent above, exponent below
            (2.100, 0.52, 0.30, 0.06, 0.10, 3.0, 3.0),
            (2.085, 0.52, 0.56, 0.12, 0.20, 3.2, 3.4),
            (2.000, 0.53, 0.76, 0.18, 0.29, 3.4, 5.0),
            (1.700, 0.55, 0.86, 0.25, 0.33, 3.6, 7.0),
            (1.050, 0.56, 0.885, 0.34, 0.35, 4.0, 9.0),
            (0.100, 0.56, 0.895, 0.37, 0.35, 4.2, 9.0),
            (-1.050, 0.57, 0.890, 0.38, 0.35, 4.0, 9.0),
            (-1.700, 0.58, 0.860, 0.37, 0.32, 3.8, 7.0),
            (-2.000, 0.59, 0.790, 0.32, 0.26, 3.6, 5.0),
            (-2.080, 0.59, 0.640, 0.22, 0.18, 3.2, 3.2),
            (-2.100, 0.59, 0.30, 0.08, 0.08, 3.0, 3.0),
        ]
    )
)


@dataclass(frozen=True)
class Cabin:
    """What stands on the body, and where it is glass."""

    loft: Loft
    top: tuple[tuple[float, ...], tuple[float, ...]]
    """x and height of the side windows' upper edge."""
    screens: tuple[float, float]
    """x behind which the windscreen ends, and ahead of which the rear window does; both reach over the full slope."""
    corner: tuple[tuple[float, float], tuple[float, float]]
    """Heights, and half widths of the screens there."""
    posts: tuple[float, ...]
    glazed_to: float
    """x of the rear end of the side windows."""
    doors: tuple[float, ...]


SALOON = Cabin(
    Loft(
        np.array(
            [
                (1.120, 0.86, 0.640, 0.02, 0.02, 3.4, 2.0),
                (0.800, 0.86, 0.715, 0.22, 0.06, 4.0, 2.0),
                (0.350, 0.86, 0.745, 0.46, 0.10, 4.0, 2.0),
                (-0.150, 0.86, 0.750, 0.565, 0.10, 3.2, 2.0),
                (-0.800, 0.86, 0.745, 0.555, 0.10, 3.2, 2.0),
                (-1.350, 0.86, 0.725, 0.41, 0.10, 3.0, 2.0),
                (-1.750, 0.86, 0.680, 0.16, 0.06, 2.6, 2.0),
                (-1.900, 0.86, 0.600, 0.02, 0.02, 2.4, 2.0),
            ]
        )
    ),
    top=((-1.35, -0.8, -0.15, 0.35), (1.17, 1.31, 1.32, 1.23)),
    screens=(0.30, -1.22),
    corner=((0.95, 1.40), (0.66, 0.55)),
    posts=(-0.42,),
    glazed_to=-2.0,
    doors=(0.72, -0.38, -1.32),
)
ESTATE = Cabin(
    Loft(
        np.array(
            [
                (1.120, 0.86, 0.640, 0.02, 0.02, 3.4, 2.0),
                (0.800, 0.86, 0.715, 0.22, 0.06, 4.0, 2.0),
                (0.350, 0.86, 0.745, 0.47, 0.10, 4.0, 2.0),
                (-0.150, 0.86, 0.750, 0.585, 0.10, 3.3, 2.0),
                (-1.000, 0.86, 0.750, 0.590, 0.10, 3.4, 2.0),
                (-1.550, 0.86, 0.740, 0.565, 0.10, 3.4, 2.0),
                (-1.800, 0.86, 0.725, 0.470, 0.10, 3.2, 2.0),
                (-2.020, 0.86, 0.690, 0.12, 0.06, 2.8, 2.0),
                (-2.060, 0.86, 0.640, 0.02, 0.02, 2.4, 2.0),
            ]
        )
    ),
    top=((-1.75, -1.5, -0.8, -0.15, 0.35), (1.26, 1.31, 1.34, 1.34, 1.24)),
    screens=(0.30, -1.77),
    corner=((0.95, 1.40), (0.66, 0.56)),
    posts=(-0.42, -1.30),
    glazed_to=-1.72,
    doors=(0.72, -0.38, -1.26),
)
VAN = Cabin(
    Loft(
        np.array(
            [
                (1.560, 0.86, 0.660, 0.02, 0.02, 2.4, 2.0),
                (1.300, 0.86, 0.740, 0.32, 0.06, 2.8, 2.0),
                (0.980, 0.86, 0.780, 0.66, 0.10, 3.2, 2.0),
                (0.600, 0.86, 0.800, 0.84, 0.10, 3.8, 2.0),
                (-0.300, 0.86, 0.810, 0.890, 0.10, 4.4, 2.0),
                (-1.500, 0.86, 0.810, 0.880, 0.10, 4.4, 2.0),
                (-1.920, 0.86, 0.795, 0.830, 0.10, 4.2, 2.0),
                (-2.030, 0.86, 0.760, 0.600, 0.06, 3.6, 2.0),
                (-2.060, 0.86, 0.680, 0.02, 0.02, 2.6, 2.0),
            ]
        )
    ),
    top=((-0.3, 0.6, 0.95, 1.3), (1.50, 1.48, 1.38, 1.12)),
    screens=(0.84, -1.96),
    corner=((0.95, 1.62), (0.68, 0.60)),
    posts=(),
    glazed_to=-0.15,
    doors=(1.02, -0.30, -1.40),
)


KINDS: Mapping[str, Cabin] = {"saloon": SALOON, "estate": ESTATE, "van": VAN}


def build(detail: float = 1.0, kind: Cabin = SALOON) -> list[Node]:
    """body, and the panes that its inside is seen through."""
    fine = detail > 0.6
    body, passes = Node("body"), 2 if fine else 1
    shell = refine(_skin(BODY, [2.1, 1.7, -1.7, -2.1], detail, 30), _arches, within_m=0.03, passes=passes)
    body.add("coat", split(shell.painted(_paint(shell.positions, kind)), _arches(shell.positions))[1])
    ends = (kind.loft.sections[0, 0], kind.loft.sections[-1, 0])
    breaks = [ends[0], ends[0] - 0.62, ends[1] + 0.7, ends[1]]
    glazed = partial(glazing, kind=kind, post_half_m=0.03 if fine else 0.055)
    cabin = refine(
        _skin(kind.loft, breaks, detail, 26), glazed, within_m=0.03 if fine else 0.012, passes=passes
    )
    panes, frame = split(cabin, glazed(cabin.positions))
    glass = Node("glass", occludes=False)
    glass.add("pane", panes)
    body.add("coat", frame.painted(np.full((len(frame.positions), 4), PAINT_FAR)))
    if fine:
        body.add("trim", frame.flipped())
    sides = max(int(26 * detail), 10)
    for x in AXLES_X:
        well = lathe([(0, -0.2), (0.365, -0.2), (0.365, 0.0), (0, 0.0)], sides=sides, axis="y")
        body.add("dark", both_sides(well.moved((x, 0.66, WHEEL_RADIUS + 0.06))))
        wheel = (x, HALF_TRACK, WHEEL_RADIUS)
        body.add(
            "rubber", both_sides(tyre(WHEEL_RADIUS, WHEEL_WIDTH, sides=sides, shoulders=fine).moved(wheel))
        )
        wheel_rim = rim(WHEEL_RADIUS, WHEEL_WIDTH, sides=max(sides * 2 // 3, 8), edges=fine)
        body.add("rim", both_sides(wheel_rim.moved(wheel)))
    _fittings(body, kind, fine=fine)
    _inside(body, kind, fine=fine)
    return [body, glass]


def _skin(loft: Loft, breaks: list[float], detail: float, around: int) -> Mesh:
    fine, coarse = 0.07 / detail, 0.22 / detail
    x = stations(breaks, [fine, coarse, fine])
    return loft.skin(loft.parameter_at(x), max(2 * round(around * detail / 2), 12), crease_deg=42.0)


def _arches(p: FloatArray) -> FloatArray:
    """Negative where the wheels stand free of the body."""
    away = np.min([np.hypot(p[:, 0] - x, p[:, 2] - WHEEL_RADIUS) for x in AXLES_X], axis=0)
    return np.where(np.abs(p[:, 1]) > 0.5, away - ARCH_RADIUS, PAINT_FAR)


def glazing(p: FloatArray, kind: Cabin, post_half_m: float) -> FloatArray:
    """Negative where the cabin is glass: between belt and roof, clear of the posts."""
    x, y, z = p[:, 0], np.abs(p[:, 1]), p[:, 2]
    ends = np.maximum(x - kind.screens[0], kind.screens[1] - x)
    # Without a jump anywhere: a cut follows the field, and where that jumps the edges of the mesh.
    top = np.minimum(z - np.interp(x, *kind.top), -ends)
    post = np.max(
        [post_half_m - np.abs(x - at) for at in kind.posts] or [np.full(len(x), -PAINT_FAR)], axis=0
    )
    corner = post_half_m - np.abs(y - np.interp(z, *kind.corner))
    corner = np.minimum(corner, ends + 0.12)
    side = np.minimum(y - 0.55, np.maximum(post, np.minimum(kind.glazed_to - x, -ends)))
    return np.maximum.reduce([0.955 - z, top, side, corner])


def _paint(p: FloatArray, kind: Cabin) -> FloatArray:
    """Dark sills and bumper edges, shut lines of doors, bonnet and boot."""
    x, y, z = p[:, 0], np.abs(p[:, 1]), p[:, 2]
    doors = np.min(np.abs(x[:, None] - np.array(kind.doors)), axis=1)
    doors = np.where((y > 0.6) & (z > 0.33), doors, PAINT_FAR)
    lids = np.where(y < 0.74, np.minimum(np.abs(x - 1.98), np.abs(x + 1.96)), PAINT_FAR)
    far = np.full(len(p), PAINT_FAR)
    return np.column_stack([far, np.minimum(doors, lids), z - 0.30, far])


def _fittings(body: Node, kind: Cabin, *, fine: bool) -> None:
    """Lamps, number plates, grille, mirrors, door handles."""
    body.add("lens", both_sides(_block((0.16, 0.34, 0.13), 0.03, fine).moved((1.985, 0.52, 0.645))))
    body.add("red_light", both_sides(_block((0.10, 0.30, 0.14), 0.03, fine).moved((-2.005, 0.58, 0.78))))
    body.add("dark", _block((0.05, 0.72, 0.11), 0.02, fine).moved((2.075, 0, 0.56)))
    body.add("dark", _block((0.06, 1.10, 0.10), 0.02, fine).moved((2.06, 0, 0.36)))
    number = plate([(-0.055, -0.26), (0.055, -0.26), (0.055, 0.26), (-0.055, 0.26)], 0.012)
    upright = np.array([[0, 0, 1.0], [0, 1, 0], [-1.0, 0, 0]])
    body.add("plate", number.transformed(upright).moved((2.095, 0, 0.46)))
    body.add("plate", number.transformed(upright).moved((-2.10, 0, 0.66)))
    mirror = _block((0.10, 0.17, 0.11), 0.03, fine).moved((kind.doors[0] - 0.02, 0.86, 1.0))
    body.add("dark", both_sides(mirror))
    foot = _block((0.05, 0.20, 0.05), 0.012, fine).moved(
        (kind.doors[0] - 0.02, 0.72, 0.95)
    )  # from the cabin into the mirror
    body.add("dark", both_sides(foot))
    for x in kind.doors[1:]:
        body.add("dark", both_sides(_block((0.17, 0.02, 0.03), 0.008, fine).moved((x + 0.16, 0.862, 0.80))))


def _inside(body: Node, kind: Cabin, *, fine: bool) -> None:
    """What is seen of it above the belt: shelf and dashboard, seats, steering wheel."""
    front, rear = kind.loft.sections[0, 0] - 0.08, kind.loft.sections[-1, 0] + 0.08
    x = np.linspace(front, rear, 13 if fine else 6)
    rings = kind.loft.rings(kind.loft.parameter_at(x), 80, inset_m=0.006)
    y = np.array([np.abs(ring[ring[:, 2] > min(BELT_M, ring[:, 2].max() - 0.01), 1]).max() for ring in rings])
    body.add(
        "trim",
        plate(np.column_stack([np.r_[x, x[::-1]], np.r_[y, -y[::-1]]]), 0.012).moved((0, 0, BELT_M + 0.01)),
    )
    ahead = kind.doors[0] - 0.45
    body.add("trim", _block((0.20, 1.16, 0.10), 0.03, fine).moved((ahead + 0.42, 0, BELT_M + 0.05)))
    rows = [ahead - 0.42] + ([ahead - 1.30] if kind.glazed_to < -1.0 else [])
    for x in rows:
        back = box((0.13, 0.46, 0.26), bevel=0.04 if fine else 0.0, taper=(0.7, 0.8))
        head = _block((0.09, 0.25, 0.15), 0.035, fine)
        body.add(
            "seat", both_sides(back.moved((x, 0.36, 1.05))), both_sides(head.moved((x - 0.03, 0.36, 1.22)))
        )
    turn = np.linspace(0.0, 2.0 * np.pi, 17 if fine else 11)
    ring = np.column_stack([0.09 * np.sin(turn), 0.17 * np.cos(turn), 0.15 * np.sin(turn)])
    body.add("dark", tube(ring + np.array([ahead + 0.22, 0.36, 1.02]), 0.016, sides=6 if fine else 4))


def _block(size: tuple[float, float, float], bevel_m: float, fine: bool) -> Mesh:
    return box(size, bevel=bevel_m if fine else 0.0)
