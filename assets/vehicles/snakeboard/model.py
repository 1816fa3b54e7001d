"""A snakeboard and its rider: origin on the ground under the middle, wheel axles 0.35 m before and behind it."""

from collections.abc import Mapping

import numpy as np

from assets.scripts.figure import CLOTH_M, FINE_M, Pose, hand, head, shoe, top, trousers
from assets.scripts.gltf import Material, Node
from assets.scripts.shapes import box, lathe, plate, tube
from assets.scripts.wheel import tyre

HALF_LENGTH = 0.35
WHEEL_RADIUS = 0.045
DECK_Z = 0.105
LIFT = 0.013
"""From the middle of a plate to what stands on it."""

DETAILS = {"model": 1.0, "far": 0.4}
CELL_M = 0.02

MATERIALS: Mapping[str, Material] = {
    "bar": Material((0.42, 0.43, 0.44), metallic=1.0, roughness=0.30),
    "deck": Material((0.72, 0.20, 0.012), roughness=0.35),
    "grip": Material((0.018, 0.018, 0.019), roughness=0.95),
    "wheel": Material((0.66, 0.63, 0.52), roughness=0.4),
    "steel": Material((0.55, 0.56, 0.57), metallic=1.0, roughness=0.28),
    "shoe": Material((0.60, 0.59, 0.56), roughness=0.6),
    "sole": Material((0.05, 0.05, 0.052), roughness=0.8),
    "trousers": Material((0.028, 0.042, 0.085), roughness=0.9),
    "shirt": Material((0.50, 0.055, 0.03), roughness=0.85),
    "skin": Material((0.45, 0.27, 0.18), roughness=0.55),
    "dark": Material((0.018, 0.013, 0.010), roughness=0.5),
    "helmet": Material((0.03, 0.032, 0.035), roughness=0.3),
    "glove": Material((0.02, 0.02, 0.022), roughness=0.7),
}


RIDER = Pose(
    hips=((0.10, 0.06, 0.93), (-0.10, 0.06, 0.93)),
    chest=(0.0, -0.03, 1.25),
    neck=(0.0, -0.075, 1.46),
    shoulders=((0.19, -0.045, 1.41), (-0.19, -0.045, 1.41)),
    elbows=((0.46, -0.05, 1.22), (-0.46, -0.02, 1.22)),
    wrists=((0.66, -0.16, 1.28), (-0.66, -0.12, 1.32)),
    knees=((0.30, -0.13, 0.56), (-0.30, -0.13, 0.56)),
    ankles=((HALF_LENGTH, 0.03, DECK_Z + 0.11), (-HALF_LENGTH, 0.03, DECK_Z + 0.11)),
    ahead=(0.0, -1.0, 0.0),
)
"""Faces -y, knees bent; ankles stay on the plates."""


def build(detail: float = 1.0) -> list[Node]:
    """bar; plate_front and plate_back (steer, with wheels); shoe_front and shoe_back on them; legs; torso (turns by the
    rotor angle)."""
    sides = max(int(16 * detail), 8)
    bar = Node("bar")
    bar.add(
        "bar",
        tube(
            [(-HALF_LENGTH, 0, DECK_Z - 0.015), (0, 0, DECK_Z - 0.028), (HALF_LENGTH, 0, DECK_Z - 0.015)],
            0.024,
            sides=sides,
            flatten=0.7,
        ),
    )
    plates = [
        _plate(name, x, detail) for name, x in (("plate_front", HALF_LENGTH), ("plate_back", -HALF_LENGTH))
    ]
    shoes = [_shoe(name, x, detail) for name, x in (("shoe_front", HALF_LENGTH), ("shoe_back", -HALF_LENGTH))]
    legs = Node("legs")
    legs.add("trousers", trousers(RIDER, CLOTH_M / detail))
    return [bar, *plates, *shoes, legs, _upper_body(FINE_M / detail, CLOTH_M / detail)]


def _plate(name: str, x: float, detail: float) -> Node:
    node = Node(name, (x, 0.0, DECK_Z))
    sides = max(int(22 * detail), 10)
    angle = np.linspace(0, 2 * np.pi, sides, endpoint=False)
    outline = np.column_stack(
        [
            0.135 * np.sign(np.cos(angle)) * np.abs(np.cos(angle)) ** 0.7,
            0.185 * np.sign(np.sin(angle)) * np.abs(np.sin(angle)) ** 0.7,
        ]
    )
    at, lift = np.array([x, 0.0, DECK_Z]), np.array([0.0, 0.0, LIFT])
    node.add("deck", plate(outline, 0.022, bevel=0.006).moved(at))
    node.add("grip", plate(0.90 * outline, 0.004).moved(at + lift))
    node.add("steel", box((0.07, 0.10, 0.03), bevel=0.008).moved(at - 2 * lift))
    node.add("steel", tube([(x, -0.085, WHEEL_RADIUS), (x, 0.085, WHEEL_RADIUS)], 0.011, sides=8))
    for y in (-0.085, 0.085):
        wheel = tyre(WHEEL_RADIUS, 0.042, sides=max(int(20 * detail), 10))
        hub = lathe([(0, -0.014), (0.029, -0.014), (0.029, 0.014), (0, 0.014)], sides=12, axis="y")
        node.add("wheel", wheel.moved((x, y, WHEEL_RADIUS)))
        node.add("steel", hub.moved((x, y, WHEEL_RADIUS)))
    return node


def _shoe(name: str, x: float, detail: float) -> Node:
    node = Node(name, (x, 0.0, DECK_Z))
    at = np.array([x, 0.03, DECK_Z + LIFT])
    to_front = np.array([[0, 1.0, 0], [-1.0, 0, 0], [0, 0, 1.0]])  # -y, the rider's
    for material, part in zip(("shoe", "sole"), shoe(cell_m=FINE_M / detail), strict=True):
        node.add(material, part.transformed(to_front).moved(at))
    return node


def _upper_body(fine_m: float, cloth_m: float) -> Node:
    """Turns about the vertical through the hips."""
    node = Node("torso", (0.0, 0.0, 0.92))
    face = head((0.0, -0.10, 1.62), RIDER.neck, RIDER.ahead, fine_m)
    node.add("shirt", top(RIDER, cloth_m))
    for wrist, side in zip(RIDER.wrists, (1.0, -1.0), strict=True):
        node.add("glove", hand(wrist, (0.9 * side, -0.3, 0.1), (0.0, -1.0, 0.4), cell_m=fine_m))
    node.add("skin", face.skin)
    node.add("dark", face.dark)
    node.add("helmet", face.helmet)
    return node
