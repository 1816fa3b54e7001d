"""A snakeboard and its rider: origin on the ground under the middle, wheel axles 0.35 m before and behind it."""

from collections.abc import Mapping

import numpy as np

from assets.scripts.figure import ball, hand, head, limb, shoe, torso
from assets.scripts.gltf import Material, Node
from assets.scripts.mesh import Mesh
from assets.scripts.shapes import box, lathe, plate, tube
from assets.scripts.wheel import tyre

HALF_LENGTH = 0.35
WHEEL_RADIUS = 0.045
DECK_Z = 0.105

DETAILS = {"model": 1.0}
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
    "helmet": Material((0.03, 0.032, 0.035), roughness=0.3),
    "glove": Material((0.02, 0.02, 0.022), roughness=0.7),
}


def build(detail: float = 1.0) -> list[Node]:
    """bar; plate_front and plate_back (steer, with feet and wheels); legs; torso (turns by the rotor angle)."""
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
    return [bar, *plates, _legs(sides), _upper_body(sides)]


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
    at, lift = np.array([x, 0.0, DECK_Z]), np.array([0.0, 0.0, 0.013])
    node.add("deck", plate(outline, 0.022, bevel=0.006).moved(at))
    node.add("grip", plate(0.90 * outline, 0.004).moved(at + lift))
    node.add("steel", box((0.07, 0.10, 0.03), bevel=0.008).moved(at - 2 * lift))
    node.add("steel", tube([(x, -0.085, WHEEL_RADIUS), (x, 0.085, WHEEL_RADIUS)], 0.011, sides=8))
    for y in (-0.085, 0.085):
        wheel = tyre(WHEEL_RADIUS, 0.042, sides=max(int(20 * detail), 10))
        hub = lathe([(0, -0.014), (0.029, -0.014), (0.029, 0.014), (0, 0.014)], sides=12, axis="y")
        node.add("wheel", wheel.moved((x, y, WHEEL_RADIUS)))
        node.add("steel", hub.moved((x, y, WHEEL_RADIUS)))
    foot = shoe().transformed(
        np.array([[0, 1.0, 0], [-1.0, 0, 0], [0, 0, 1.0]])
    )  # feet point to the rider's front, -y
    node.add("shoe", foot.moved(at + lift + np.array([0, 0.05, 0])))
    return node


def _legs(sides: int) -> Node:
    """The rider faces -y, knees bent; ankles stay on the plates."""
    node = Node("legs")
    for sign in (1.0, -1.0):
        ankle = (sign * HALF_LENGTH, 0.03, DECK_Z + 0.11)
        knee = (sign * 0.30, -0.13, 0.56)
        hip = (sign * 0.10, 0.05, 0.92)
        node.add("trousers", limb([ankle, knee, hip], [0.050, 0.066, 0.102], sides=sides))
        pad = ball(0.074, sides=12).transformed(np.diag([0.85, 0.62, 1.15]))
        node.add("glove", pad.moved((sign * 0.30, -0.155, 0.565)))
        node.add(
            "trousers", tube([(0, 0.05, 0.905), (sign * 0.09, 0.05, 0.905)], [0.122, 0.116], sides=sides)
        )
    node.add("trousers", ball(0.122, sides=sides).moved((0.0, 0.065, 0.875)))
    return node


def _upper_body(sides: int) -> Node:
    """Built facing +x and turned to face -y; pivots about the vertical through the hips."""
    node = Node("torso", (0.0, 0.0, 0.92))
    face_right = np.array([[0, 1.0, 0], [-1.0, 0, 0], [0, 0, 1.0]])

    def placed(*meshes: Mesh) -> list[Mesh]:
        return [mesh.transformed(face_right).moved((0.0, 0.04, 0.0)) for mesh in meshes]

    node.add("shirt", *placed(torso((0.0, 0, 0.92), (0.07, 0, 1.28), (0.10, 0, 1.47), sides=sides)))
    arms, hands = [], []
    for sign in (1.0, -1.0):
        elbow, wrist = (0.06, sign * 0.47, 1.20), (0.20, sign * 0.68, 1.30)
        arms.append(limb([(0.075, sign * 0.185, 1.37), elbow, wrist], [0.072, 0.050, 0.036], sides=sides))
        hands.append(hand(wrist, (0.05, sign * 0.08, 0.02), (0.9, 0.0, 0.45)))
    node.add("shirt", *placed(*arms))
    node.add("glove", *placed(*hands))
    face, helmet, visor = head((0.12, 0, 1.61))
    neck = tube([(0.10, 0, 1.42), (0.12, 0, 1.54)], 0.05, sides=10)
    node.add("skin", *placed(face, neck))
    node.add("helmet", *placed(helmet))
    node.add("glove", *placed(visor))
    return node
