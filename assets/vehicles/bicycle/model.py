"""A town bicycle with its rider: origin at the rear wheel's contact, wheelbase 1.02 m, wheels of 0.30 and 0.35 m.

Wheels and cranks have their own middle as origin, frame, rider and fork the contact of the rear wheel.
"""

from collections.abc import Mapping

import numpy as np

from assets.scripts.figure import CLOTH_M, FINE_M, Pose, hand, head, shoe, top, trousers
from assets.scripts.gltf import Material, Node
from assets.scripts.mesh import Mesh, join
from assets.scripts.shapes import box, hoop, lathe, tube

REAR_M, FRONT_M, WHEELBASE_M, TRAIL_M, TILT_RAD = 0.30, 0.35, 1.02, 0.08, np.pi / 10
CRANK = (0.42, 0.0, 0.29)
SADDLE = (0.20, 0.0, 0.93)
AHEAD = np.array([np.sin(TILT_RAD), 0.0, -np.cos(TILT_RAD)])
"""Along the steering axis, downwards: it meets the ground at wheelbase and trail."""

DETAILS = {"model": 1.0, "far": 0.4}
CELL_M = 0.02

MATERIALS: Mapping[str, Material] = {
    "paint": Material((0.02, 0.16, 0.19), metallic=0.25, roughness=0.28),
    "rubber": Material((0.020, 0.020, 0.021), roughness=0.85),
    "steel": Material((0.62, 0.63, 0.64), metallic=1.0, roughness=0.26),
    "dark": Material((0.035, 0.036, 0.038), metallic=0.3, roughness=0.5),
    "leather": Material((0.16, 0.07, 0.03), roughness=0.6),
    "lens": Material((0.85, 0.86, 0.84), roughness=0.08, emissive=(0.2, 0.2, 0.18)),
    "red_light": Material((0.5, 0.015, 0.01), roughness=0.2, emissive=(0.35, 0.01, 0.008)),
    "jacket": Material((0.62, 0.20, 0.03), roughness=0.8),
    "trousers": Material((0.035, 0.045, 0.075), roughness=0.88),
    "shoes": Material((0.10, 0.10, 0.10), roughness=0.7),
    "skin": Material((0.46, 0.27, 0.18), roughness=0.6),
    "helmet": Material((0.70, 0.70, 0.68), roughness=0.25),
    "hair": Material((0.018, 0.013, 0.010), roughness=0.5),
    "sole": Material((0.60, 0.59, 0.56), roughness=0.7),
}


def _by(x_m: float, y_m: float, z_m: float) -> np.ndarray:
    return np.array([x_m, y_m, z_m], float)


def on_axis(height_m: float, forward_m: float = 0.0) -> np.ndarray:
    """(3,) of the steering axis at a height, and so far ahead of it square to it."""
    foot = np.array([WHEELBASE_M + TRAIL_M, 0.0, 0.0])
    across = np.array([np.cos(TILT_RAD), 0.0, np.sin(TILT_RAD)])
    return foot - AHEAD * height_m / np.cos(TILT_RAD) + across * forward_m


def build(detail: float = 1.0) -> list[Node]:
    """frame, rider, cranks, fork, and both wheels."""
    return [
        _frame(),
        _rider(FINE_M / detail, CLOTH_M / detail),
        _cranks(),
        _fork(),
        _wheel("rear_wheel", REAR_M, detail),
        _wheel("front_wheel", FRONT_M, detail),
    ]


def _frame() -> Node:
    node = Node("frame")
    crank, hub = np.array(CRANK), np.array([0.0, 0.0, REAR_M])
    top, low = on_axis(0.83), on_axis(0.70)
    seat = np.array([0.24, 0.0, 0.80])
    tubes = [
        ([crank, seat], 0.017),
        ([crank + _by(0, 0, 0.01), low], 0.019),
        ([seat + 0.08 * (crank - seat), top + 0.06 * (low - top)], 0.016),
        ([low + 0.02 * AHEAD, top - 0.01 * AHEAD], 0.021),
    ]
    node.add("paint", *(tube(path, radius, sides=14) for path, radius in tubes))
    for side in (1.0, -1.0):
        end = hub + _by(0.0, 0.062 * side, 0.0)
        stays = (
            [crank + _by(-0.03, 0.03 * side, 0), [0.2, 0.05 * side, 0.3], end],
            [seat + _by(0, 0.015 * side, -0.04), end],
        )
        node.add("paint", *(tube(path, 0.009, sides=8) for path in stays))
    node.add(
        "steel",
        tube([seat, [0.215, 0, 0.91]], 0.013, sides=10),
        tube([hub + _by(0, -0.075, 0), hub + _by(0, 0.075, 0)], 0.008),
    )
    node.add("dark", tube([crank + _by(0, -0.045, 0), crank + _by(0, 0.045, 0)], 0.026, sides=14))
    saddle = tube(
        [(0.05, 0, 0.945), (0.10, 0, 0.955), (0.20, 0, 0.945), (0.32, 0, 0.935)],
        [0.05, 0.085, 0.045, 0.022],
        sides=14,
        flatten=0.5,
    )
    node.add("leather", saddle)
    guard = [
        hub + (REAR_M + 0.035) * np.array([np.cos(a), 0, np.sin(a)])
        for a in np.radians(np.linspace(35, 195, 22))
    ]
    node.add("dark", tube(guard, 0.028, sides=8, flatten=0.25))
    node.add("red_light", box((0.02, 0.05, 0.03), bevel=0.006).moved((-0.335, 0, 0.40)))
    # The chain runs over two straight strands.
    for up in (1.0, -1.0):
        node.add(
            "steel",
            tube([crank + _by(0, -0.05, 0.088 * up), hub + _by(0, -0.05, 0.036 * up)], 0.006, sides=6),
        )
    return node


def _fork() -> Node:
    node = Node("fork")
    hub, crown = np.array([WHEELBASE_M, 0.0, FRONT_M]), on_axis(0.70)
    for side in (1.0, -1.0):
        path = [
            crown + _by(0, 0.055 * side, 0),
            on_axis(0.50) + _by(0, 0.058 * side, 0),
            hub + _by(0, 0.058 * side, 0),
        ]
        node.add("paint", tube(path, [0.014, 0.013, 0.010], sides=10))
    node.add("paint", tube([crown + _by(0, -0.06, 0), crown + _by(0, 0.06, 0)], 0.018, sides=10))
    stem = on_axis(0.98)
    node.add(
        "steel",
        tube([crown, stem], 0.013, sides=10),
        tube([hub + _by(0, -0.075, 0), hub + _by(0, 0.075, 0)], 0.008),
    )
    bar = [
        stem + _by(0.06, 0.0, 0.02),
        stem + _by(0.07, 0.10, 0.03),
        stem + _by(0.03, 0.24, 0.07),
        stem + _by(-0.10, 0.29, 0.07),
        stem + _by(-0.20, 0.30, 0.06),
    ]
    node.add("steel", tube([stem, bar[0]], 0.014, sides=10), *_mirrored(tube(bar, 0.011, sides=10)))
    node.add("leather", *_mirrored(tube([bar[3], bar[4]], 0.017, sides=10)))
    guard = [
        hub + (FRONT_M + 0.035) * np.array([np.cos(a), 0, np.sin(a)])
        for a in np.radians(np.linspace(55, 185, 22))
    ]
    node.add("dark", tube(guard, 0.028, sides=8, flatten=0.25))
    lamp = lathe([(0.0, -0.05), (0.03, -0.04), (0.042, 0.0), (0.0, 0.012)], sides=18, axis="x")
    node.add("lens", lamp.moved(on_axis(0.86, 0.09)))
    return node


def _mirrored(mesh: Mesh) -> tuple[Mesh, Mesh]:
    return mesh, mesh.transformed(np.diag([1.0, -1.0, 1.0]))


def _wheel(name: str, radius_m: float, detail: float) -> Node:
    """Tyre, rim, hub and crossed spokes about the y axis."""
    node, sides = Node(name, occludes=False), int(24 + 40 * detail)
    angle = np.linspace(0, 2 * np.pi, 13)[:-1]
    r = 0.021
    rubber = [(radius_m - r + r * np.cos(a), r * np.sin(a)) for a in angle]
    node.add("rubber", hoop(rubber, sides=sides, axis="y", crease_deg=60.0))
    inner = radius_m - 2 * r
    node.add(
        "steel",
        hoop(
            [(inner, -0.013), (inner + 0.012, -0.014), (inner + 0.012, 0.014), (inner, 0.013)],
            sides=sides,
            axis="y",
        ),
    )
    node.add(
        "steel",
        lathe([(0.0, -0.05), (0.022, -0.045), (0.014, 0.0), (0.022, 0.045), (0.0, 0.05)], sides=16, axis="y"),
    )
    spokes = []
    for k in range(28):
        side = 1.0 if k % 2 else -1.0
        out = 2 * np.pi * k / 28
        at = out + (0.9 if k % 4 < 2 else -0.9)
        spokes.append(
            tube(
                [
                    (0.02 * np.cos(at), 0.040 * side, 0.02 * np.sin(at)),
                    ((inner + 0.005) * np.cos(out), 0.004 * side, (inner + 0.005) * np.sin(out)),
                ],
                0.0014,
                sides=4,
            )
        )
    node.add("steel", join(spokes))
    return node


def _cranks() -> Node:
    """Chain wheel, arms and pedals about the crank's axle."""
    node = Node("cranks", occludes=False)
    node.add(
        "steel",
        hoop([(0.080, -0.053), (0.090, -0.053), (0.090, -0.047), (0.080, -0.047)], sides=40, axis="y"),
    )
    for k in range(5):
        a = 2 * np.pi * k / 5
        node.add(
            "steel", tube([(0, -0.05, 0), (0.083 * np.cos(a), -0.05, 0.083 * np.sin(a))], 0.007, sides=6)
        )
    for side, x in ((-1.0, 0.17), (1.0, -0.17)):
        node.add("steel", tube([(0, 0.065 * side, 0), (x, 0.075 * side, 0)], [0.014, 0.010], sides=8))
        node.add("dark", box((0.09, 0.09, 0.02), bevel=0.006).moved((x, 0.125 * side, 0)))
    return node


def _rider(fine_m: float, cloth_m: float) -> Node:
    """Upright on the saddle, hands on the grips; the feet rest where the pedals pass."""
    node = Node("rider")
    hip = np.array(SADDLE) + _by(0.0, 0, 0.11)
    neck = hip + _by(0.20, 0, 0.49)
    grip = on_axis(0.98) + _by(-0.15, 0.295, 0.075)
    right = np.array([1.0, -1.0, 1.0])
    shoulder, elbow, wrist = (
        neck + _by(-0.04, 0.19, -0.05),
        _by(0.47, 0.33, 1.24),
        grip + _by(-0.07, 0.01, 0.045),
    )
    ankles = _by(0.36, 0.12, 0.40), _by(0.47, -0.12, 0.20)
    pose = Pose(
        hips=(hip + _by(0, 0.09, 0), hip + _by(0, -0.09, 0)),
        chest=hip + _by(0.11, 0, 0.30),
        neck=neck,
        shoulders=(shoulder, right * shoulder),
        elbows=(elbow, right * elbow),
        wrists=(wrist, right * wrist),
        knees=(_by(0.594, 0.125, 0.806), _by(0.464, -0.125, 0.67)),
        ankles=ankles,
    )
    face = head(neck + _by(0.045, 0, 0.165), neck, (1.0, 0.0, -0.1), fine_m)
    node.add("jacket", top(pose, cloth_m))
    node.add("trousers", trousers(pose, cloth_m))
    for ankle in ankles:
        upper, sole = shoe(0.27, fine_m)
        node.add("shoes", upper.moved(ankle - _by(0, 0, 0.10)))
        node.add("sole", sole.moved(ankle - _by(0, 0, 0.10)))
    for side, at in zip((1.0, -1.0), pose.wrists, strict=True):
        node.add("skin", hand(at, (1.0, 0.0, -0.35), (0.2, -side, 0.1), curl=0.95, cell_m=fine_m))
    node.add("skin", face.skin)
    node.add("hair", face.dark)
    node.add("helmet", face.helmet)
    return node
