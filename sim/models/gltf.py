"""A binary glTF file taken apart into arrays."""

import json
import struct
from typing import Any

import numpy as np
import pygltflib as gl

from sim.models.solids import FINISHES, MAX_MATERIALS, MAX_NODES, PAINT_FAR, ModelAsset

_DTYPES = {gl.FLOAT: "f4", gl.UNSIGNED_BYTE: "u1", gl.UNSIGNED_SHORT: "u2", gl.UNSIGNED_INT: "u4"}
_MOST_JSON_BYTES = 16 << 20
_MOST_LISTED = 10_000
"""Entries of a list of the file, e.g. of its accessors. Each becomes an object, which takes 0.1 ms."""
_MOST_DRAWN = {"primitives": 2_000, "points": 5_000_000, "indices": 30_000_000}
"""Of all nodes together: a mesh that several have counts as often."""
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}


def read_gltf(data: bytes) -> ModelAsset:
    """Raises ValueError, or whatever a file that is none leads to."""
    _check_size(data)
    model = gl.GLTF2.load_from_bytes(data)
    return _asset(model, model.binary_blob())


def _check_size(data: bytes) -> None:
    """Raises ValueError for a file of which more objects would be made than a model may have."""
    if data[:4] != b"glTF" or data[16:20] != b"JSON":
        raise ValueError("not a binary glTF file")
    (length,) = struct.unpack("<I", data[12:16])
    if length > _MOST_JSON_BYTES:
        raise ValueError(f"its description has {length} bytes; allowed: {_MOST_JSON_BYTES}")
    said = json.loads(data[20 : 20 + length])
    if not isinstance(said, dict):
        raise ValueError("its description is no object")
    for what, most in (("nodes", MAX_NODES), ("materials", MAX_MATERIALS)):
        if len(said.get(what, ())) > most:
            raise ValueError(f"{len(said[what])} {what}; allowed: {most}")
    for what, listed in said.items():
        if isinstance(listed, list) and len(listed) > _MOST_LISTED:
            raise ValueError(f"{len(listed)} entries in {what}; allowed: {_MOST_LISTED}")
    for what, count in _drawn(said).items():
        if count > _MOST_DRAWN[what]:
            raise ValueError(f"{count} {what}; allowed: {_MOST_DRAWN[what]}")


def _drawn(said: dict[str, Any]) -> dict[str, int]:
    """How many primitives its meshes or its nodes have, whichever are more, and how many points and indices."""
    meshes, accessors = said.get("meshes", []), said.get("accessors", [])
    in_meshes = sum(len(mesh["primitives"]) for mesh in meshes)
    if in_meshes > _MOST_DRAWN["primitives"]:
        return {"primitives": in_meshes}
    found = {"primitives": 0, "points": 0, "indices": 0}
    for node in said.get("nodes", []):
        for primitive in [] if "mesh" not in node else meshes[node["mesh"]]["primitives"]:
            found["primitives"] += 1
            found["points"] += accessors[primitive["attributes"]["POSITION"]]["count"]
            found["indices"] += accessors[primitive["indices"]]["count"]
    return found


def _asset(model: gl.GLTF2, blob: bytes | None) -> ModelAsset:
    if blob is None:
        raise ValueError("not a binary glTF file")
    if any(node.rotation or node.scale or node.matrix or node.children for node in model.nodes):
        raise ValueError("a node is turned, scaled or has others in it; allowed: nodes with a place only")
    model.materials = model.materials or [gl.Material()]
    materials = np.array([_factors(material) for material in model.materials], "f4")
    tables: list[np.ndarray] = []
    groups: dict[bool, list[np.ndarray]] = {False: [], True: []}
    start = 0
    for number, node in enumerate(model.nodes):
        for primitive in () if node.mesh is None else model.meshes[node.mesh].primitives:
            table = _vertices(model, blob, primitive, number)
            triangles = _array(model, blob, primitive.indices).reshape(-1, 3).astype("u4")
            if triangles.max(initial=0) >= len(table):
                raise ValueError(f"{node.name} has triangles between points that are not there")
            groups[bool(materials[primitive.material or 0, 3, 3] < 1.0)].append(triangles + np.uint32(start))
            tables.append(table)
            start += len(table)
    pivots = np.array([node.translation or [0.0, 0.0, 0.0] for node in model.nodes])
    vertices = np.concatenate(tables)
    at = vertices[:, :3] + pivots[vertices[:, 8].astype(int)]
    return ModelAsset(
        vertices=vertices,
        opaque=_joined(groups[False]),
        glass=_joined(groups[True]),
        nodes=tuple(node.name or "" for node in model.nodes),
        pivots=pivots,
        materials=materials,
        radius_m=float(np.linalg.norm(at, axis=1).max()),
        looks=tuple(material.name or "" for material in model.materials),
    )


def _joined(parts: list[np.ndarray]) -> np.ndarray:
    return np.concatenate(parts) if parts else np.zeros((0, 3), "u4")


def _factors(material: gl.Material) -> np.ndarray:
    pbr = material.pbrMetallicRoughness or gl.PbrMetallicRoughness()
    extras, colour = material.extras or {}, pbr.baseColorFactor or [1.0, 1.0, 1.0, 1.0]
    finish = FINISHES.index(extras.get("finish", "plain"))
    strength = (
        (material.extensions or {}).get("KHR_materials_emissive_strength", {}).get("emissiveStrength", 1.0)
    )
    emissive = [strength * value for value in material.emissiveFactor or (0.0, 0.0, 0.0)]
    return np.array(
        [
            [*colour[:3], pbr.metallicFactor],
            [*extras.get("second", (0.0, 0.0, 0.0)), pbr.roughnessFactor],
            [*extras.get("accent", (0.0, 0.0, 0.0)), finish],
            [*emissive, colour[3]],
        ]
    )


def _vertices(model: gl.GLTF2, blob: bytes, primitive: gl.Primitive, node: int) -> np.ndarray:
    attributes = primitive.attributes
    positions = _array(model, blob, attributes.POSITION)
    table = np.empty((len(positions), 13), "f4")
    table[:, 0:3] = positions
    table[:, 3:6] = _array(model, blob, attributes.NORMAL)
    sky = getattr(attributes, "_OPEN", None)
    table[:, 6] = 1.0 if sky is None else _array(model, blob, sky)[:, 0]
    table[:, 7], table[:, 8] = primitive.material or 0, node
    paint = getattr(attributes, "_PAINT", None)
    table[:, 9:13] = PAINT_FAR if paint is None else _array(model, blob, paint)
    return table


def _array(model: gl.GLTF2, blob: bytes, index: int) -> np.ndarray:
    """(count, width) values of an accessor."""
    accessor = model.accessors[index]
    view = model.bufferViews[accessor.bufferView]
    width = _WIDTHS[accessor.type]
    data = np.frombuffer(blob, _DTYPES[accessor.componentType], accessor.count * width, view.byteOffset or 0)
    return data.reshape(accessor.count, width)
