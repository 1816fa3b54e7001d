"""Somebody in a padded suit and a helmet, standing upright, 1.75 m tall: origin in the hips, a node a limb."""

from collections.abc import Callable, Mapping

import numpy as np

from assets.scripts.figure import ball, hand, head, limb, shoe, torso
from assets.scripts.gltf import Material, Node
from assets.scripts.mesh import Mesh
from assets.scripts.shapes import tube

STATURE = 1.75
# Where limbs are joined to one another, as the vehicle has them for this stature [m].
WAIST, NECK = (0.0, 0.0, 0.105), (0.0, 0.0, 0.49)
SHOULDER, ELBOW_Z = (0.0, 0.20125, 0.4375), 0.112
HIP, KNEE_Z, ANKLE_Z = (0.0, 0.105, -0.035), -0.46375, -0.89425
WRIST, SOLE = 0.255, -0.077

DETAILS = {"model": 1.0}
CELL_M = 0.03

MATERIALS: Mapping[str, Material] = {
    "jacket": Material((0.80, 0.20, 0.012), roughness=0.75),
    "band": Material((0.72, 0.73, 0.70), roughness=0.35),
    "trousers": Material((0.030, 0.034, 0.042), roughness=0.9),
    "pad": Material((0.014, 0.014, 0.015), roughness=0.55),
    "glove": Material((0.05, 0.05, 0.052), roughness=0.8),
    "skin": Material((0.45, 0.27, 0.18), roughness=0.55),
    "helmet": Material((0.80, 0.80, 0.78), roughness=0.22),
    "visor": Material((0.012, 0.014, 0.018), roughness=0.12),
    "shoe": Material((0.16, 0.10, 0.06), roughness=0.8),
}

Point = tuple[float, float, float]


def build(detail: float = 1.0) -> list[Node]:
    """pelvis, chest, head; left and right arms, legs and feet, each a node with its pivot in its upper joint."""
    sides = max(int(18 * detail), 8)
    nodes = [_pelvis(sides), _chest(sides), _head(sides)]
    for name, sign in (("left", 1.0), ("right", -1.0)):
        shoulder, hip = _on_side(SHOULDER, sign), _on_side(HIP, sign)
        nodes += [
            _limb(f"{name}_upper_arm", shoulder, lambda node, put: _upper_arm(node, put, sides)),
            _limb(
                f"{name}_forearm",
                (0.0, shoulder[1], ELBOW_Z),
                lambda node, put, sign=sign: _forearm(node, put, sides, sign),
            ),
            _limb(f"{name}_thigh", hip, lambda node, put: _thigh(node, put, sides)),
            _limb(f"{name}_shank", (0.0, hip[1], KNEE_Z), lambda node, put: _shank(node, put, sides)),
            _limb(f"{name}_foot", (0.0, hip[1], ANKLE_Z), lambda node, put: _foot(node, put, sides)),
        ]
    return nodes


def _on_side(place: Point, sign: float) -> Point:
    return place[0], sign * place[1], place[2]


Put = Callable[[Mesh], Mesh]
"""From a limb's own frame, origin in its upper joint, to where it is on who stands."""


def _limb(name: str, joint: Point, fill: Callable[[Node, Put], None]) -> Node:
    node = Node(name, joint)
    fill(node, lambda mesh: mesh.moved(joint))
    return node


def _pelvis(sides: int) -> Node:
    node = Node("pelvis")
    path = np.array([(0, 0, -0.13), (0, 0, -0.10), (0, 0, -0.02), (0, 0, 0.06), (0, 0, 0.11)])
    seat = tube(path, [0.09, 0.150, 0.182, 0.176, 0.160], sides=sides, flatten=0.68, up=(1.0, 0.0, 0.0))
    belt = tube(
        np.array([(0, 0, 0.045), (0, 0, 0.085)]),
        [0.181, 0.176],
        sides=sides,
        flatten=0.69,
        up=(1.0, 0.0, 0.0),
    )
    node.add("trousers", seat)
    node.add("pad", belt)
    return node


def _chest(sides: int) -> Node:
    node = Node("chest", WAIST)
    trunk = torso((0, 0, 0.0), (0, 0, 0.22), (0, 0, 0.385), sides=sides)
    node.add("jacket", trunk.moved(WAIST))
    for low, high, wide in ((0.065, 0.105, (0.172, 0.178)), (0.175, 0.215, (0.195, 0.207))):
        band = tube(
            np.array([(0, 0, low), (0, 0, high)]), list(wide), sides=sides, flatten=0.69, up=(1.0, 0.0, 0.0)
        )
        node.add("band", band.moved(WAIST))
    spine = tube(
        np.array([(-0.118, 0, 0.02), (-0.142, 0, 0.16), (-0.138, 0, 0.26), (-0.10, 0, 0.33)]),
        [0.035, 0.05, 0.05, 0.03],
        sides=10,
        flatten=0.45,
        up=(1.0, 0.0, 0.0),
    )
    node.add("pad", spine.moved(WAIST))
    return node


def _head(sides: int) -> Node:
    node = Node("head", NECK)
    face, helmet, visor = head((0.012, 0.0, 0.105), sides=sides)
    throat = tube([(-0.005, 0, -0.05), (0.0, 0, 0.05)], [0.062, 0.052], sides=12)
    collar = tube([(-0.005, 0, -0.06), (-0.003, 0, -0.005)], [0.088, 0.068], sides=sides)
    node.add("skin", face.moved(NECK), throat.moved(NECK))
    node.add("jacket", collar.moved(NECK))
    node.add("helmet", helmet.moved(NECK))
    node.add("visor", visor.moved(NECK))
    return node


def _upper_arm(node: Node, put: Put, sides: int) -> None:
    end = ELBOW_Z - SHOULDER[2]
    node.add(
        "jacket", put(limb([(0, 0, 0.0), (0, 0, 0.5 * end), (0, 0, end)], [0.078, 0.058, 0.047], sides=sides))
    )
    node.add("band", put(tube([(0, 0, 0.52 * end), (0, 0, 0.64 * end)], [0.0612, 0.0585], sides=sides)))


def _forearm(node: Node, put: Put, sides: int, sign: float) -> None:
    node.add(
        "jacket",
        put(limb([(0, 0, 0.0), (0.004, 0, -0.10), (0, 0, -WRIST)], [0.047, 0.047, 0.033], sides=sides)),
    )
    node.add(
        "pad", put(ball(0.056, sides=12).transformed(np.diag([0.8, 0.95, 1.25])).moved((-0.02, 0, -0.01)))
    )
    node.add("glove", put(tube([(0, 0, -0.215), (0, 0, -0.285)], [0.041, 0.037], sides=sides)))
    node.add("glove", put(hand((0, 0, -WRIST), (0.05, 0, -1.0), (0.9, -0.35 * sign, 0.0))))


def _thigh(node: Node, put: Put, sides: int) -> None:
    end = KNEE_Z - HIP[2]
    node.add(
        "trousers",
        put(limb([(0, 0, 0.01), (0.008, 0, 0.45 * end), (0, 0, end)], [0.102, 0.086, 0.064], sides=sides)),
    )


def _shank(node: Node, put: Put, sides: int) -> None:
    end = ANKLE_Z - KNEE_Z
    calf = limb([(0, 0, 0.0), (-0.014, 0, 0.32 * end), (0, 0, end)], [0.064, 0.064, 0.044], sides=sides)
    node.add("trousers", put(calf))
    node.add(
        "pad", put(ball(0.075, sides=12).transformed(np.diag([0.62, 0.85, 1.25])).moved((0.032, 0, -0.005)))
    )
    node.add("pad", put(tube([(0.032, 0, -0.08), (0.036, 0, -0.30)], [0.05, 0.036], sides=12)))


def _foot(node: Node, put: Put, sides: int) -> None:
    node.add("shoe", put(shoe(0.30).moved((0, 0, SOLE))))
    node.add(
        "shoe",
        put(tube([(-0.012, 0, 0.075), (-0.008, 0, 0.0), (0.0, 0, -0.04)], [0.052, 0.05, 0.052], sides=sides)),
    )
