"""Meshes and materials of a glTF file, each written once however many lanes show it."""

import numpy as np
import pygltflib as gl

from export.gltf.chunk import Chunk
from export.nodes import Node
from export.scenery import Ground
from render.models.model_asset import ModelAsset

STRENGTH = "KHR_materials_emissive_strength"
GHOST_ALPHA = 0.35


class Models:
    """What a document's nodes show."""

    def __init__(self, model: gl.GLTF2, chunk: Chunk) -> None:
        self._model, self._chunk = model, chunk
        self._meshes: dict[tuple[object, ...], int | None] = {}
        self._parts: dict[tuple[int, int], list[tuple[int, gl.Attributes, int]]] = {}
        self._materials: dict[tuple[object, ...], int] = {}
        self._kept: list[ModelAsset] = []

    def mesh(self, node: Node) -> int | None:
        """The mesh of a node's part; None where it has no triangles."""
        asset = node.asset
        assert asset is not None
        key = (id(asset), node.part, node.ghost, node.tint if node.ghost else None)
        if key not in self._meshes:
            self._kept.append(asset)
            primitives = [
                gl.Primitive(attributes=attributes, indices=indices, material=self._material(node, material))
                for material, attributes, indices in self._geometry(asset, node.part)
            ]
            if primitives:
                self._model.meshes.append(gl.Mesh(name=asset.nodes[node.part], primitives=primitives))
            self._meshes[key] = len(self._model.meshes) - 1 if primitives else None
        return self._meshes[key]

    def _geometry(self, asset: ModelAsset, part: int) -> list[tuple[int, gl.Attributes, int]]:
        """(material, attributes, indices) of what a part is made of."""
        key = (id(asset), part)
        if key not in self._parts:
            triangles = np.concatenate([asset.opaque, asset.glass])
            owner, looks = asset.vertices[:, 8].astype(int), asset.vertices[:, 7].astype(int)
            mine = triangles[owner[triangles[:, 0]] == part]
            found = []
            for material in np.unique(looks[mine[:, 0]]).tolist():
                corners = mine[looks[mine[:, 0]] == material]
                used, indices = np.unique(corners, return_inverse=True)
                table = asset.vertices[used]
                found.append((material, *self._arrays(table[:, :3], table[:, 3:6], indices)))
            self._parts[key] = found
        return self._parts[key]

    def _arrays(
        self, positions: np.ndarray, normals: np.ndarray, indices: np.ndarray
    ) -> tuple[gl.Attributes, int]:
        unit = normals / np.linalg.norm(normals, axis=1, keepdims=True)
        attributes = gl.Attributes(
            POSITION=self._chunk.add(positions.astype("f4"), "VEC3", bounds=True, target=gl.ARRAY_BUFFER),
            NORMAL=self._chunk.add(unit.astype("f4"), "VEC3", target=gl.ARRAY_BUFFER),
        )
        kind = "u2" if len(positions) < 65_535 else "u4"
        flat = indices.reshape(-1).astype(kind)
        return attributes, self._chunk.add(flat, "SCALAR", target=gl.ELEMENT_ARRAY_BUFFER)

    def _material(self, node: Node, number: int) -> int:
        asset = node.asset
        assert asset is not None
        key = ("ghost", node.tint) if node.ghost else (id(asset), number)
        if key not in self._materials:
            rows = asset.materials[number].astype(float)
            self._materials[key] = self._add(
                _ghost(node.tint) if node.ghost else _solid(rows, f"look {number}")
            )
        return self._materials[key]

    def _add(self, material: gl.Material) -> int:
        self._model.materials.append(material)
        return len(self._model.materials) - 1

    def ground(self, ground: Ground) -> int:
        """The mesh of a piece of land."""
        attributes, indices = self._arrays(ground.positions, ground.normals, ground.triangles)
        look = gl.Material(
            name="ground",
            pbrMetallicRoughness=gl.PbrMetallicRoughness(
                baseColorFactor=[*ground.colour, 1.0], metallicFactor=0.0, roughnessFactor=0.95
            ),
        )
        primitive = gl.Primitive(attributes=attributes, indices=indices, material=self._add(look))
        self._model.meshes.append(gl.Mesh(name="ground", primitives=[primitive]))
        return len(self._model.meshes) - 1

    def finish(self) -> None:
        """Name the extensions that are used."""
        if any(STRENGTH in (material.extensions or {}) for material in self._model.materials):
            self._model.extensionsUsed = [STRENGTH]


def _solid(rows: np.ndarray, name: str) -> gl.Material:
    """Of the factors of a model's material, as ModelAsset has them."""
    strength = max(1.0, float(rows[3, :3].max()))
    alpha = float(rows[3, 3])
    return gl.Material(
        name=name,
        pbrMetallicRoughness=gl.PbrMetallicRoughness(
            baseColorFactor=[*rows[0, :3].clip(0.0, 1.0).tolist(), alpha],
            metallicFactor=float(rows[0, 3]),
            roughnessFactor=float(rows[1, 3]),
        ),
        emissiveFactor=(rows[3, :3] / strength).tolist(),
        extensions={STRENGTH: {"emissiveStrength": strength}} if strength > 1.0 else {},
        alphaMode="OPAQUE" if alpha >= 1.0 else "BLEND",
    )


def _ghost(tint: tuple[float, float, float]) -> gl.Material:
    return gl.Material(
        name="ghost",
        pbrMetallicRoughness=gl.PbrMetallicRoughness(
            baseColorFactor=[*np.clip(tint, 0.0, 1.0).tolist(), GHOST_ALPHA],
            metallicFactor=0.0,
            roughnessFactor=0.6,
        ),
        alphaMode="BLEND",
    )
