"""People about 1.78 m tall, from the places of their joints: clothes that flow over joints and fold there.

Each garment is a closed surface over a smooth field of distances. What is worn over something else is thicker than it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assets.scripts.implicit import (
    Field,
    Point,
    blended,
    blob,
    bone,
    cut,
    folded,
    grown,
    surface,
    without,
)
from assets.scripts.mesh import FloatArray, Mesh, join
from assets.scripts.shapes import plate, tube

CLOTH_M, FINE_M = 0.019, 0.0095
"""Cells of garments, and of hands, shoes and heads."""
FLOW_M = 0.045
"""Within which parts of a body flow into each other."""


@dataclass(frozen=True)
class Pose:
    """Where somebody's joints are [m]; pairs are left and right."""

    hips: tuple[Point, Point]
    chest: Point
    """Middle of the rib cage."""
    neck: Point
    """Its root, between the collar bones."""
    shoulders: tuple[Point, Point]
    elbows: tuple[Point, Point]
    wrists: tuple[Point, Point]
    knees: tuple[Point, Point]
    ankles: tuple[Point, Point]
    ahead: Point = (1.0, 0.0, 0.0)
    """Where the chest faces, about."""

    def trunk(self) -> tuple[FloatArray, FloatArray]:
        """The middle of the hips, and axes (forwards, to the left, upwards) of the trunk as columns."""
        left, right = (np.asarray(hip, float) for hip in self.hips)
        middle = 0.5 * (left + right)
        return middle, axes_of(np.asarray(self.neck, float) - middle, self.ahead)


def axes_of(up: Point, ahead: Point) -> FloatArray:
    """(3, 3) columns forwards, to the left, upwards; forwards is what of `ahead` is square to `up`."""
    above = np.asarray(up, float) / np.linalg.norm(up)
    front = np.asarray(ahead, float) - above * float(above @ np.asarray(ahead, float))
    front /= np.linalg.norm(front)
    return np.column_stack([front, np.cross(above, front), above])


def pelvis(middle: Point, axes: FloatArray) -> list[Field]:
    """Hips and seat about the middle between the hip joints."""
    at = np.asarray(middle, float)
    seat = [blob(at + axes @ (-0.055, 0.062 * side, -0.035), (0.085, 0.085, 0.100), axes) for side in (1, -1)]
    return [blob(at + axes @ (0.0, 0.0, 0.045), (0.105, 0.158, 0.120), axes), *seat]


def rib_cage(middle: Point, chest: Point, axes: FloatArray) -> list[Field]:
    """From the belly up to the breast."""
    low, high = np.asarray(middle, float), np.asarray(chest, float)
    belly = blob(low + 0.42 * (high - low) + axes @ (0.008, 0, 0.02), (0.108, 0.146, 0.150), axes)
    breast = [
        blob(high + axes @ (0.042, 0.068 * side, 0.035), (0.078, 0.092, 0.075), axes) for side in (1, -1)
    ]
    back = blob(high + axes @ (-0.012, 0.0, 0.025), (0.112, 0.162, 0.175), axes)
    return [belly, back, *breast]


def shoulder_girdle(neck: Point, shoulders: Sequence[Point]) -> list[Field]:
    """From the neck to both shoulders."""
    root = np.asarray(neck, float)
    ends = [np.asarray(end, float) for end in shoulders]
    slopes = [bone(root + 0.25 * (root - 0.5 * (ends[0] + ends[1])), end, 0.048, 0.052) for end in ends]
    return [*slopes, *(bone(0.5 * (ends[0] + ends[1]), end, 0.085, 0.062) for end in ends)]


def upper_arm(shoulder: Point, elbow: Point) -> list[Field]:
    a, b = np.asarray(shoulder, float), np.asarray(elbow, float)
    return [
        bone(a, b, 0.054, 0.041),
        bone(a + 0.04 * (b - a), a + 0.34 * (b - a), 0.066, 0.056),
        bone(a + 0.4 * (b - a), a + 0.7 * (b - a), 0.053, 0.049),
    ]


def forearm(elbow: Point, wrist: Point) -> list[Field]:
    a, b = np.asarray(elbow, float), np.asarray(wrist, float)
    return [bone(a, b, 0.042, 0.030), bone(a + 0.12 * (b - a), a + 0.42 * (b - a), 0.047, 0.042)]


def thigh(hip: Point, knee: Point, front: Point) -> list[Field]:
    """front: where the knee cap looks, about."""
    a, b, way = np.asarray(hip, float), np.asarray(knee, float), np.asarray(front, float)
    return [
        bone(a, b, 0.088, 0.057),
        bone(a + 0.2 * (b - a) + 0.012 * way, a + 0.68 * (b - a) + 0.012 * way, 0.085, 0.066),
        blob(b + 0.014 * way, (0.056, 0.056, 0.056)),
    ]


def shank(knee: Point, ankle: Point, front: Point) -> list[Field]:
    a, b, way = np.asarray(knee, float), np.asarray(ankle, float), np.asarray(front, float)
    return [
        bone(a, b, 0.054, 0.041),
        bone(a + 0.16 * (b - a) - 0.020 * way, a + 0.44 * (b - a) - 0.016 * way, 0.055, 0.046),
    ]


def trousers(pose: Pose, cell_m: float = CLOTH_M) -> Mesh:
    """From the waist to the ankles."""
    middle, axes = pose.trunk()
    parts = pelvis(middle, axes)
    for hip, knee, ankle in zip(pose.hips, pose.knees, pose.ankles, strict=True):
        front = _knee_front(hip, knee, ankle, axes)
        parts += [*thigh(hip, knee, front), *shank(knee, ankle, front)]
    cloth = grown(blended(parts, FLOW_M), 0.006)
    for hip, knee, ankle in zip(pose.hips, pose.knees, pose.ankles, strict=True):
        shin = np.asarray(ankle, float) - np.asarray(knee, float)
        upper = np.asarray(knee, float) - np.asarray(hip, float)
        cloth = folded(cloth, np.asarray(knee, float), shin, 0.13)
        cloth = folded(cloth, np.asarray(hip, float) + 0.12 * upper, upper, 0.14, 0.005)
        cloth = folded(cloth, np.asarray(ankle, float) - 0.1 * shin, shin, 0.10, 0.005)
        cloth = cut(cloth, np.asarray(ankle, float) + 0.06 * shin, shin)
    return _around(cut(cloth, middle + 0.09 * axes[:, 2], axes[:, 2]), pose, cell_m)


def top(pose: Pose, cell_m: float = CLOTH_M, *, hem_m: float = 0.015) -> Mesh:
    """A shirt or jacket with long sleeves, from a hem so far above the hip joints."""
    middle, axes = pose.trunk()
    parts = [*rib_cage(middle, pose.chest, axes), *shoulder_girdle(pose.neck, pose.shoulders)]
    parts.append(blob(middle + 0.05 * axes[:, 2], (0.120, 0.168, 0.14), axes))
    for shoulder, elbow, wrist in zip(pose.shoulders, pose.elbows, pose.wrists, strict=True):
        parts += [*upper_arm(shoulder, elbow), *forearm(elbow, wrist)]
    cloth = grown(blended(parts, FLOW_M), 0.010)
    for shoulder, elbow, wrist in zip(pose.shoulders, pose.elbows, pose.wrists, strict=True):
        arm = np.asarray(wrist, float) - np.asarray(elbow, float)
        cloth = folded(cloth, elbow, arm, 0.10)
        cloth = folded(cloth, np.asarray(elbow, float) + 0.85 * arm, arm, 0.07, 0.005)
        cloth = folded(cloth, shoulder, np.asarray(elbow, float) - np.asarray(shoulder, float), 0.11, 0.004)
        cloth = cut(cloth, np.asarray(wrist, float) - 0.02 * arm, arm)
    waist = middle + 0.10 * axes[:, 2]
    cloth = folded(cloth, waist, axes @ (0.1, 0.25, 1.0), 0.19, 0.004)
    collar = np.asarray(pose.neck, float)
    throat = bone(collar, collar + 0.14 * axes[:, 2], 0.068, 0.064)
    cloth = blended([cloth, cut(throat, collar + 0.055 * axes[:, 2], axes @ (-0.35, 0, 1))], 0.02)
    return _around(cut(cloth, middle + hem_m * axes[:, 2], -axes[:, 2]), pose, cell_m)


def _knee_front(hip: Point, knee: Point, ankle: Point, axes: FloatArray) -> FloatArray:
    """Where a knee cap looks: out of the bend, forwards where there is none."""
    a, b, c = (np.asarray(p, float) for p in (hip, knee, ankle))
    way = 0.3 * axes[:, 0] + 2.0 * b - a - c
    along = (c - a) / np.linalg.norm(c - a)
    way -= along * float(way @ along)
    front: FloatArray = way / max(np.linalg.norm(way), 1e-6)
    return front


def _around(field: Field, pose: Pose, cell_m: float) -> Mesh:
    each = (*pose.hips, *pose.shoulders, *pose.elbows, *pose.wrists, *pose.knees, *pose.ankles, pose.neck)
    return covering(field, each, cell_m)


def covering(field: Field, joints: Sequence[Point], cell_m: float = CLOTH_M) -> Mesh:
    """The surface of what lies about some joints."""
    points = np.asarray(joints, float)
    return surface(field, points.min(axis=0) - 0.26, points.max(axis=0) + 0.26, cell_m)


def hand(wrist: Point, towards: Point, thumb: Point, *, curl: float = 0.5, cell_m: float = FINE_M) -> Mesh:
    """From the wrist; `towards` and `thumb` are directions, curl is 0 for a flat hand and 1 for a fist."""
    at = np.asarray(wrist, float)
    ahead, aside = (np.asarray(d, float) / np.linalg.norm(d) for d in (towards, thumb))
    aside = aside - (aside @ ahead) * ahead
    aside /= np.linalg.norm(aside)
    inwards = -np.cross(ahead, aside)
    axes = np.column_stack([ahead, aside, inwards])
    palm = [
        bone(at - 0.035 * ahead, at + 0.03 * ahead, 0.030, 0.028),
        blob(at + 0.052 * ahead, (0.052, 0.044, 0.021), axes),
    ]
    fingers: list[Field] = []
    for k, length in enumerate((0.074, 0.082, 0.077, 0.060)):
        place = at + (0.088 - 0.003 * k) * ahead + (0.032 - 0.0215 * k) * aside
        for share, turn in ((0.45, 0.5), (0.32, 1.15), (0.25, 1.7)):
            angle = curl * turn * 1.25
            end = place + share * length * (np.cos(angle) * ahead + np.sin(angle) * inwards)
            fingers.append(bone(place, end, 0.0108, 0.0096))
            place = end
    root = at + 0.022 * ahead + 0.030 * aside
    joint = root + 0.042 * (0.72 * ahead + 0.62 * aside + 0.3 * curl * inwards)
    tip = joint + 0.036 * (0.95 * ahead + 0.1 * aside + 0.5 * curl * inwards)
    ball = bone(at + 0.012 * ahead + 0.01 * aside, root, 0.020, 0.019)
    field = blended(
        [
            blended([*palm, ball], 0.02),
            *fingers,
            bone(root, joint, 0.0145, 0.012),
            bone(joint, tip, 0.0125, 0.0105),
        ],
        0.008,
    )
    return surface(field, at - 0.22, at + 0.22, min(0.8 * cell_m, 0.013))


def shoe(length_m: float = 0.29, cell_m: float = FINE_M) -> tuple[Mesh, Mesh]:
    """(upper, sole) on z = 0 pointing along +x, heel at -0.08 m, the ankle above x = 0."""
    toe, heel = length_m - 0.09, -0.075
    upper = blended(
        [
            blob((toe - 0.075, 0.0, 0.034), (0.081, 0.050, 0.044)),
            bone((toe - 0.10, 0.0, 0.055), (0.012, 0.0, 0.085), 0.036, 0.043),
            blob((heel + 0.058, 0.0, 0.042), (0.060, 0.042, 0.060)),
            bone((0.0, 0.0, 0.07), (-0.006, 0.0, 0.17), 0.046, 0.048),
        ],
        0.035,
    )
    upper = cut(cut(upper, (0, 0, 0.022), (0, 0, -1)), (0, 0, 0.128), (0.25, 0, 1))
    s = np.linspace(0.0, 2.0 * np.pi, 40, endpoint=False)
    x = 0.5 * (toe + 0.006 + heel - 0.008) + 0.5 * (toe - heel + 0.014) * np.cos(s)
    half = np.interp(
        x, [heel, heel + 0.05, 0.03, toe - 0.09, toe - 0.04, toe], [0.030, 0.040, 0.036, 0.050, 0.049, 0.034]
    )
    outline = np.column_stack([x, half * np.sign(np.sin(s)) * np.abs(np.sin(s)) ** 0.6])
    sole = plate(outline, 0.028, bevel=0.005).moved((0, 0, 0.014))
    return surface(upper, (heel - 0.05, -0.09, 0.0), (toe + 0.05, 0.09, 0.2), 1.4 * cell_m), sole


@dataclass(frozen=True)
class Head:
    """A head's parts as surfaces, by what they are made of."""

    skin: Mesh
    dark: Mesh
    """Brows, eyes and hair, and the helmet's strap."""
    helmet: Mesh
    goggles: Mesh
    """Over the eyes; who wants to see those leaves it away."""


def head(at: Point, neck: Point, ahead: Point = (1.0, 0.0, 0.0), cell_m: float = FINE_M) -> Head:
    """About the middle of the skull, on a neck that comes from a point, looking `ahead`, with a helmet."""
    middle = np.asarray(at, float)
    axes = axes_of(middle - np.asarray(neck, float) + 0.04 * np.asarray(ahead, float), ahead)
    axes = axes_of(axes[:, 2] + 0.8 * np.array([0.0, 0.0, 1.0]), ahead)

    def place(x: float, y: float, z: float) -> FloatArray:
        found: FloatArray = middle + axes @ np.array([x, y, z])
        return found

    sides = (1.0, -1.0)
    skull = blob(place(-0.004, 0, 0.025), (0.098, 0.078, 0.100), axes)
    face = blended(
        [
            skull,
            blob(place(0.030, 0, -0.045), (0.062, 0.060, 0.078), axes),
            blob(place(0.078, 0, -0.098), (0.024, 0.029, 0.022), axes),
            *(
                bone(place(-0.01, 0.063 * s, -0.055), place(0.055, 0.026 * s, -0.098), 0.016, 0.014)
                for s in sides
            ),
            *(blob(place(0.068, 0.036 * s, -0.028), (0.024, 0.024, 0.017), axes) for s in sides),
        ],
        0.030,
    )
    for s in sides:
        face = without(face, blob(place(0.101, 0.031 * s, 0.000), (0.019, 0.020, 0.013), axes), 0.016)
    nose = [
        bone(place(0.088, 0, 0.008), place(0.112, 0, -0.033), 0.008, 0.011),
        *(blob(place(0.100, 0.012 * s, -0.037), (0.011, 0.009, 0.008), axes) for s in sides),
    ]
    brow = [bone(place(0.091, 0.014 * s, 0.027), place(0.078, 0.048 * s, 0.025), 0.008, 0.007) for s in sides]
    lips = [
        bone(place(0.094, 0.004, -0.063), place(0.086, 0.020 * s, -0.064), 0.0065, 0.004) for s in sides
    ] + [bone(place(0.091, 0, -0.073), place(0.085, 0.015 * s, -0.071), 0.0075, 0.004) for s in sides]
    eyes = [blob(place(0.078, 0.031 * s, -0.001), (0.0145, 0.0145, 0.0125), axes) for s in sides]
    ears = [blob(place(-0.008, 0.078 * s, -0.012), (0.017, 0.008, 0.030), axes) for s in sides]
    face = blended([face, *nose, *brow, *lips, *eyes, *ears], 0.009)
    root = np.asarray(neck, float)
    throat = bone(root - 0.05 * (middle - root), place(-0.018, 0, -0.04), 0.056, 0.050)
    face = blended([face, throat], 0.03)
    low, high = middle - 0.26, middle + 0.17
    skin = surface(face, low, high, cell_m)
    pupils = [blob(place(0.089, 0.031 * s, -0.0005), (0.0052, 0.0068, 0.0062), axes) for s in sides]
    hairs = [
        bone(place(0.0955, 0.016 * s, 0.030), place(0.083, 0.048 * s, 0.031), 0.0040, 0.0028) for s in sides
    ]
    strap = [
        tube(
            [
                place(*p)
                for p in ((0.012, 0.082 * s, 0.02), (0.02, 0.074 * s, -0.05), (0.044, 0.045 * s, -0.107))
            ]
            + [place(0.058, 0.0, -0.123)],
            0.0045,
            sides=6,
        )
        for s in sides
    ]
    crop = cut(
        blob(place(-0.012, 0, 0.018), (0.096, 0.083, 0.100), axes), place(-0.022, 0, 0), axes @ (1, 0, 0.2)
    )
    crop = cut(crop, place(0, 0, -0.048), -axes[:, 2])
    dark = [
        surface(blended([*pupils, *hairs], 0.002), middle - 0.13, middle + 0.13, min(0.5 * cell_m, 0.0048)),
        *strap,
    ]
    dark.append(surface(crop, middle - 0.15, middle + 0.15, min(1.3 * cell_m, 0.014)))
    shell = blob(place(-0.010, 0, 0.040), (0.128, 0.104, 0.113), axes)

    def grooved(p: FloatArray) -> FloatArray:
        q = (p - middle) @ axes
        dents = sum(np.exp(-(((q[:, 1] - 0.045 * k) / 0.011) ** 2)) for k in (1, 0, -1))
        dented: FloatArray = shell(p) + 0.006 * dents * np.clip((q[:, 2] - 0.07) / 0.04, 0.0, 1.0)
        return dented

    rim = cut(grooved, place(0.0, 0, 0.030), axes @ (0.22, 0.0, -1.0))
    helmet = surface(rim, middle - 0.2, middle + 0.2, 1.5 * cell_m)
    lens = blob(place(0.030, 0, 0.004), (0.083, 0.081, 0.060), axes)
    pane = cut(
        cut(cut(lens, place(0, 0, 0.032), axes[:, 2]), place(0, 0, -0.030), -axes[:, 2]),
        place(0.012, 0, 0),
        -axes[:, 0],
    )
    return Head(skin, join(dark), helmet, surface(pane, middle - 0.2, middle + 0.2, cell_m))
