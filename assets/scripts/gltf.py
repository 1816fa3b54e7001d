"""Models to binary glTF: named nodes, PBR materials, and two attributes of our own (_PAINT, _OPEN)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pygltflib as gl

from assets.scripts.mesh import PAINT_FAR, FloatArray, Mesh, join
from assets.scripts.occlusion import sky_visibility, surface_grid
from export.gltf import GlbChunk

GRID_M = 1 / 16384
"""Positions are rounded to this, so that last-bit differences between processors do not reach the file; nor does the
sign of a zero."""

EMISSIVE_STRENGTH = "KHR_materials_emissive_strength"


@dataclass(frozen=True)
class Material:
    """PBR factors (linear), and the finish that tells the shader what `_PAINT` means."""

    colour: tuple[float, float, float]
    metallic: float = 0.0
    roughness: float = 0.5
    alpha: float = 1.0
    emissive: tuple[float, float, float] = (0.0, 0.0, 0.0)
    finish: str = "plain"
    second: tuple[float, float, float] = (0.0, 0.0, 0.0)
    accent: tuple[float, float, float] = (0.0, 0.0, 0.0)


@dataclass
class Node:
    """Parts (material name, mesh) that move as one about `pivot`; meshes are given in the parent's frame."""

    name: str
    pivot: tuple[float, float, float] = (0.0, 0.0, 0.0)
    parts: list[tuple[str, Mesh]] = field(default_factory=list)
    occludes: bool = True

    def add(self, material: str, *meshes: Mesh) -> None:
        self.parts.extend((material, mesh) for mesh in meshes)


def write(
    path: Path, nodes: Sequence[Node], materials: Mapping[str, Material], *, cell_m: float, reach_m: float
) -> None:
    """Writes the model with its ambient occlusion; `cell_m`, `reach_m` say how fine and how far it looks."""
    path.write_bytes(to_bytes(nodes, materials, cell_m=cell_m, reach_m=reach_m))


def to_bytes(
    nodes: Sequence[Node], materials: Mapping[str, Material], *, cell_m: float, reach_m: float
) -> bytes:
    """The GLB file."""
    names = list(materials)
    blockers = [
        mesh for node in nodes if node.occludes for name, mesh in node.parts if materials[name].alpha == 1
    ]
    cells, origin = surface_grid(blockers, cell_m)
    packer = _Packer()
    model = gl.GLTF2(asset=gl.Asset(version="2.0", generator="holonomy assets.scripts"), scene=0)
    model.materials = [_material(name, materials[name]) for name in names]
    if any(EMISSIVE_STRENGTH in material.extensions for material in model.materials):
        model.extensionsUsed = [EMISSIVE_STRENGTH]
    for node in nodes:
        primitives = []
        for name in dict.fromkeys(part for part, _ in node.parts):
            mesh = join([mesh for part, mesh in node.parts if part == name])
            seen = sky_visibility(mesh, cells, origin, cell_m, reach_m=reach_m)
            primitives.append(packer.primitive(mesh.moved(-np.array(node.pivot)), seen, names.index(name)))
        model.meshes.append(gl.Mesh(name=node.name, primitives=primitives))
        model.nodes.append(gl.Node(name=node.name, mesh=len(model.meshes) - 1, translation=list(node.pivot)))
    model.scenes = [gl.Scene(nodes=list(range(len(nodes))))]
    packer.finish(model)
    return b"".join(model.save_to_bytes())


def _material(name: str, material: Material) -> gl.Material:
    # A factor goes up to 1; what glows more has a strength beside it.
    strength = max(1.0, *material.emissive)
    return gl.Material(
        name=name,
        pbrMetallicRoughness=gl.PbrMetallicRoughness(
            baseColorFactor=[*material.colour, material.alpha],
            metallicFactor=material.metallic,
            roughnessFactor=material.roughness,
        ),
        emissiveFactor=[value / strength for value in material.emissive],
        extensions={EMISSIVE_STRENGTH: {"emissiveStrength": strength}} if strength > 1.0 else {},
        alphaMode="OPAQUE" if material.alpha == 1.0 else "BLEND",
        extras={"finish": material.finish, "second": list(material.second), "accent": list(material.accent)},
    )


class _Packer:
    """A model's meshes, packed."""

    def __init__(self) -> None:
        self._chunk = GlbChunk()

    def primitive(self, mesh: Mesh, open_share: FloatArray, material: int) -> gl.Primitive:
        positions = (np.round(mesh.positions / GRID_M) * GRID_M + 0.0).astype("f4")
        normals = np.round(mesh.normals * 2048) + 0.0
        normals = (normals / np.linalg.norm(normals, axis=1, keepdims=True)).astype("f4")
        attributes = gl.Attributes(
            POSITION=self._vertices(positions, "VEC3", bounds=True), NORMAL=self._vertices(normals, "VEC3")
        )
        attributes._OPEN = self._vertices((np.round(open_share * 255) / 255).astype("f4"), "SCALAR")
        if (np.abs(mesh.paint) < PAINT_FAR).any():
            attributes._PAINT = self._vertices(
                (np.round(mesh.paint / GRID_M) * GRID_M + 0.0).astype("f4"), "VEC4"
            )
        kind = "u2" if len(positions) < 65536 else "u4"
        flat = mesh.triangles.astype(kind).reshape(-1)
        indices = self._chunk.add(flat, "SCALAR", target=gl.ELEMENT_ARRAY_BUFFER)
        return gl.Primitive(attributes=attributes, indices=indices, material=material)

    def _vertices(self, array: FloatArray, kind: str, *, bounds: bool = False) -> int:
        return self._chunk.add(array, kind, bounds=bounds, target=gl.ARRAY_BUFFER)

    def finish(self, model: gl.GLTF2) -> None:
        self._chunk.finish(model)
