"""What stands in the way: buoy, mast, barrels, crates, rock. Each fits an upright cylinder of 1 m radius on z = 0."""

from collections.abc import Mapping
from itertools import pairwise

import numpy as np
from scipy.spatial import ConvexHull

from assets.scripts.gltf import Material, Node
from assets.scripts.mesh import Mesh, from_triangles
from assets.scripts.shapes import box, lathe, tube

MATERIALS: Mapping[str, Material] = {
    "red": Material((0.55, 0.030, 0.015), roughness=0.4),
    "white": Material((0.66, 0.65, 0.62), roughness=0.4),
    "steel": Material((0.30, 0.305, 0.31), metallic=0.8, roughness=0.45),
    "concrete": Material((0.30, 0.285, 0.26), roughness=0.95),
    "rubber": Material((0.020, 0.020, 0.021), roughness=0.85),
    "blue": Material((0.02, 0.09, 0.24), roughness=0.45),
    "wood": Material((0.27, 0.185, 0.11), roughness=0.85),
    "batten": Material((0.19, 0.125, 0.07), roughness=0.85),
    "rock": Material((0.30, 0.175, 0.105), roughness=0.95),
    "lamp": Material((0.6, 0.08, 0.02), roughness=0.2, emissive=(3.0, 0.35, 0.08)),
}


def buoy(detail: float = 1.0) -> list[Node]:
    """A harbour buoy afloat: drum, cage and lamp; its waterline is z = 0."""
    node, sides = Node("body"), max(int(32 * detail), 12)
    drum = [(0, -0.55), (0.55, -0.5), (0.86, -0.28), (0.93, 0.0), (0.93, 0.22), (0.78, 0.36), (0, 0.42)]
    node.add("red", lathe(drum, sides=sides, crease_deg=30.0))
    node.add("rubber", lathe([(0, 0.05), (0.98, 0.05), (1.0, 0.11), (0.98, 0.17), (0, 0.17)], sides=sides))
    feet = [0.55 * np.array([np.cos(a), np.sin(a)]) for a in np.arange(4) * np.pi / 2]
    for foot in feet:
        node.add("steel", tube([(*foot, 0.34), (*(0.3 * foot), 1.75)], 0.035, sides=6))
    for z in (0.8, 1.3):
        ring = [(*(np.interp(z, [0.34, 1.75], [1.0, 0.3]) * foot), z) for foot in (*feet, feet[0])]
        node.add("steel", *(tube([a, b], 0.022, sides=5) for a, b in pairwise(ring)))
    node.add("red", lathe([(0, 1.42), (0.26, 1.42), (0.20, 1.72), (0, 1.72)], sides=sides // 2))
    node.add("lamp", lathe([(0, 1.75), (0.09, 1.75), (0.09, 1.9), (0.05, 1.96), (0, 1.97)], sides=10))
    return [node]


def mast(detail: float = 1.0) -> list[Node]:
    """A lattice mast of 26 m in red and white on a footing that reaches 4 m down, with a warning lamp."""
    node, sides = Node("body"), max(int(20 * detail), 8)
    node.add("concrete", lathe([(0, -4.0), (0.98, -4.0), (0.95, 0.8), (0.85, 0.95), (0, 0.95)], sides=sides))
    corners = [np.array([np.cos(a), np.sin(a)]) for a in np.arange(3) * 2 * np.pi / 3 + 0.3]
    levels = np.linspace(0.9, 25.0, 11)
    width = np.interp(levels, [0.9, 25.0], [0.62, 0.30])
    for k, (low, high) in enumerate(pairwise(levels)):
        colour = "red" if k % 2 == 0 else "white"
        foot, head = ([(*(w * c), z) for c in corners] for w, z in ((width[k], low), (width[k + 1], high)))
        for i in range(3):
            node.add(colour, tube([foot[i], head[i]], 0.07, sides=6))
            node.add(colour, tube([foot[i], head[(i + 1) % 3]], 0.035, sides=4))
            node.add(colour, tube([head[i], head[(i + 1) % 3]], 0.03, sides=4))
    node.add("steel", tube([(0, 0, 25.0), (0, 0, 26.4)], [0.05, 0.03], sides=6))
    node.add("lamp", lathe([(0, 26.4), (0.14, 26.4), (0.14, 26.65), (0, 26.8)], sides=10))
    return [node]


def barrels(detail: float = 1.0) -> list[Node]:
    """Three oil drums, one of them on top."""
    node, sides = Node("body"), max(int(22 * detail), 10)
    rib = [(0.44, 0.0), (0.44, 0.33), (0.465, 0.36), (0.44, 0.39), (0.44, 0.72), (0.465, 0.75), (0.44, 0.78)]
    drum = lathe(
        [(0, 0), *rib, (0.44, 1.08), (0.455, 1.1), (0.42, 1.1), (0.41, 1.07), (0, 1.07)], sides=sides
    )
    places = [(0.50, 0.08), (-0.38, 0.36), (-0.12, -0.50)]
    for (x, y), colour in zip(places, ("blue", "red", "steel"), strict=True):
        node.add(colour, drum.moved((x, y, 0.0)))
    node.add("blue", drum.moved((0.02, 0.02, 1.1)))
    return [node]


def crates(detail: float = 1.0) -> list[Node]:
    """Wooden crates, a small one on a large one."""
    node = Node("body")
    for size, at, turn in ((1.28, (0.0, 0.0), 0.25), (0.72, (-0.12, 0.14), 0.8)):
        base = 0.0 if size > 1.0 else 1.28
        c, s = np.cos(turn), np.sin(turn)
        spin = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])

        def put(material: str, mesh: Mesh, spin=spin, at=at, base=base) -> None:
            node.add(material, mesh.transformed(spin).moved((*at, base)))

        put("wood", box((0.95 * size, 0.95 * size, 0.96 * size)).moved((0, 0, 0.5 * size)))
        edge = 0.09 * size
        for quarter in range(4):
            a = quarter * np.pi / 2
            side = np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1.0]])
            for z in (0.5 * edge, size - 0.5 * edge):
                put(
                    "batten",
                    box((edge, size, edge), bevel=0.01)
                    .moved((0.5 * size - 0.5 * edge, 0, z))
                    .transformed(side),
                )
            post = box((edge, edge, size), bevel=0.01)
            put(
                "batten", post.moved((0.5 * (size - edge), 0.5 * (size - edge), 0.5 * size)).transformed(side)
            )
    return [node]


def rock(detail: float = 1.0) -> list[Node]:
    """A block fallen from a wall."""
    node, rng = Node("body"), np.random.default_rng(8)
    points = rng.normal(size=(max(int(46 * detail), 20), 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    points *= rng.uniform(0.86, 1.0, (len(points), 1))
    points = points * (0.98, 0.98, 0.95) + (0.0, 0.0, 0.45)
    faces = ConvexHull(points).simplices
    a, b, c = points[faces[:, 0]], points[faces[:, 1]], points[faces[:, 2]]
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), a - points.mean(axis=0)) < 0.0
    faces[inward] = faces[inward][:, ::-1]
    node.add("rock", from_triangles(points, faces, crease_deg=18.0))
    return [node]
