"""Somebody in a padded suit and a helmet, standing upright, 1.75 m tall: origin in the hips, a node a limb."""

from collections.abc import Mapping

import numpy as np

from assets.scripts import figure
from assets.scripts.figure import CLOTH_M, FINE_M, FLOW_M, covering
from assets.scripts.gltf import Material, Node
from assets.scripts.implicit import Field, Point, blended, blob, bone, cut, folded, grown

STATURE = 1.75
# Where limbs are joined to one another, as the vehicle has them for this stature [m].
WAIST, NECK = (0.0, 0.0, 0.105), (0.0, 0.0, 0.49)
SHOULDER, ELBOW_Z = (0.0, 0.20125, 0.4375), 0.112
HIP, KNEE_Z, ANKLE_Z = (0.0, 0.105, -0.035), -0.46375, -0.89425
WRIST, SOLE = 0.255, -0.077

DETAILS = {"model": 1.0, "far": 0.4}
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

UPRIGHT = np.eye(3)
AHEAD = np.array([1.0, 0.0, 0.0])


def build(detail: float = 1.0) -> list[Node]:
    """pelvis, chest, head; left and right arms, legs and feet, each a node with its pivot in its upper joint."""
    cloth_m, fine_m = CLOTH_M / detail, FINE_M / detail
    nodes = [_pelvis(cloth_m), _chest(cloth_m), _head(fine_m)]
    for name, side in (("left", 1.0), ("right", -1.0)):
        shoulder, hip = _on_side(SHOULDER, side), _on_side(HIP, side)
        elbow, knee = (0.0, shoulder[1], ELBOW_Z), (0.0, hip[1], KNEE_Z)
        wrist, ankle = (0.0, shoulder[1], ELBOW_Z - WRIST), (0.0, hip[1], ANKLE_Z)
        nodes += [
            _upper_arm(f"{name}_upper_arm", shoulder, elbow, cloth_m),
            _forearm(f"{name}_forearm", elbow, wrist, side, cloth_m, fine_m),
            _thigh(f"{name}_thigh", hip, knee, cloth_m),
            _shank(f"{name}_shank", knee, ankle, cloth_m),
            _foot(f"{name}_foot", ankle, fine_m),
        ]
    return nodes


Place = tuple[float, float, float]


def _on_side(place: Place, side: float) -> Place:
    return place[0], side * place[1], place[2]


def _worn(parts: list[Field], by_m: float = 0.010) -> Field:
    """Cloth over parts of a body."""
    return grown(blended(parts, FLOW_M), by_m)


def _belt(field: Field, at: Point, half_m: float, by_m: float = 0.005) -> Field:
    """What lies over it between two levels, a little thicker: a belt, or a band that reflects."""
    low, high = np.asarray(at, float) - [0, 0, half_m], np.asarray(at, float) + np.array([0, 0, half_m])
    return cut(cut(grown(field, by_m), low, (0, 0, -1)), high, (0, 0, 1))


def _pelvis(cell_m: float) -> Node:
    node, middle = Node("pelvis"), (0.0, 0.0, HIP[2])
    stumps = [bone(_on_side(HIP, s), _on_side((0.0, HIP[1], -0.10), s), 0.095, 0.086) for s in (1.0, -1.0)]
    cloth = _worn([*figure.pelvis(middle, UPRIGHT), *stumps])
    node.add("trousers", covering(cut(cloth, (0, 0, 0.10), (0, 0, 1)), [middle], cell_m))
    node.add("pad", covering(_belt(cloth, (0, 0, 0.065), 0.02), [middle], 0.6 * cell_m))
    return node


def _chest(cell_m: float) -> Node:
    node = Node("chest", WAIST)
    shoulders = [_on_side(SHOULDER, s) for s in (1.0, -1.0)]
    joints = [WAIST, NECK, *shoulders]
    neck = (0.0, 0.0, 0.455)
    trunk = figure.rib_cage((0.0, 0.0, HIP[2]), (0.0, 0.0, 0.29), UPRIGHT)
    cloth = _worn([*trunk, *figure.shoulder_girdle(neck, shoulders), bone(neck, NECK, 0.060, 0.058)])
    cloth = cut(folded(cloth, WAIST, (0.1, 0.25, 1.0), 0.18), (0, 0, 0.052), (0, 0, -1))
    node.add("jacket", covering(cut(cloth, (0, 0, 0.515), (-0.35, 0, 1)), joints, cell_m))
    for z in (0.19, 0.30):
        band = cut(
            cut(_belt(cloth, (0, 0, z), 0.02, 0.004), (0, 0.18, 0), (0, 1, 0)), (0, -0.18, 0), (0, -1, 0)
        )
        node.add("band", covering(band, joints, 0.6 * cell_m))
    spine = [
        bone((-0.105, 0, 0.10), (-0.128, 0, 0.30), 0.042, 0.05),
        bone((-0.128, 0, 0.30), (-0.08, 0, 0.43), 0.05, 0.03),
    ]
    node.add("pad", covering(blended(spine, 0.03), joints, 0.7 * cell_m))
    return node


def _head(cell_m: float) -> Node:
    node = Node("head", NECK)
    parts = figure.head((0.015, 0.0, 0.605), NECK, cell_m=cell_m)
    node.add("skin", parts.skin)
    node.add("helmet", parts.helmet)
    node.add("visor", parts.goggles)
    node.add("pad", parts.dark)
    return node


def _upper_arm(name: str, shoulder: Place, elbow: Place, cell_m: float) -> Node:
    node = Node(name, shoulder)
    cloth = folded(_worn(figure.upper_arm(shoulder, elbow)), elbow, (0.2, 0.1, 1), 0.10)
    node.add("jacket", covering(cloth, [shoulder, elbow], cell_m))
    node.add("band", covering(_belt(cloth, (0, 0, 0.25), 0.022, 0.004), [shoulder, elbow], 0.6 * cell_m))
    return node


def _forearm(name: str, elbow: Place, wrist: Place, side: float, cell_m: float, fine_m: float) -> Node:
    node = Node(name, elbow)
    cloth = folded(_worn(figure.forearm(elbow, wrist)), elbow, (0.2, -0.1, 1), 0.10)
    cloth = folded(cloth, wrist, (0.1, 0.1, 1), 0.07)
    joints, end = [elbow, wrist], np.array(wrist)
    node.add("jacket", covering(cut(cloth, end + np.array([0, 0, 0.01]), (0, 0, -1)), joints, cell_m))
    pad = blob(np.array(elbow) + np.array([-0.022, 0, -0.01]), (0.040, 0.050, 0.068))
    node.add("pad", covering(pad, [elbow], 0.8 * cell_m))
    node.add("glove", figure.hand(wrist, (0.05, 0, -1.0), (0.9, -0.35 * side, 0.0), cell_m=fine_m))
    return node


def _thigh(name: str, hip: Place, knee: Place, cell_m: float) -> Node:
    node = Node(name, hip)
    cloth = folded(_worn(figure.thigh(hip, knee, AHEAD)), knee, (0.2, 0.1, 1), 0.13)
    node.add("trousers", covering(folded(cloth, hip, (0.3, 0.2, 1), 0.14), [hip, knee], cell_m))
    return node


def _shank(name: str, knee: Place, ankle: Place, cell_m: float) -> Node:
    node, joints = Node(name, knee), [knee, ankle]
    cloth = folded(_worn(figure.shank(knee, ankle, AHEAD)), ankle, (0.1, 0.2, 1), 0.12, 0.005)
    cloth = cut(cloth, np.array(ankle) - [0, 0, 0.02], (0, 0, -1))
    node.add("trousers", covering(cloth, joints, cell_m))
    at = np.array(knee)
    pad = [
        blob(at + np.array([0.036, 0, -0.005]), (0.046, 0.056, 0.085)),
        bone(at + np.array([0.03, 0, -0.09]), at + np.array([0.03, 0, -0.30]), 0.045, 0.034),
    ]
    node.add("pad", covering(blended(pad, 0.03), joints, 0.8 * cell_m))
    return node


def _foot(name: str, ankle: Place, cell_m: float) -> Node:
    node = Node(name, ankle)
    upper, sole = figure.shoe(0.30, cell_m)
    at = np.array(ankle) + np.array([0, 0, SOLE])
    node.add("shoe", upper.moved(at))
    node.add("pad", sole.moved(at))
    return node
