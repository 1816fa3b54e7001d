"""A binary glTF file taken apart into arrays."""

import numpy as np
import pygltflib as gl

from render.models.model_asset import FINISHES, MAX_MATERIALS, MAX_NODES, PAINT_FAR, ModelAsset

_DTYPES = {gl.FLOAT: "f4", gl.UNSIGNED_BYTE: "u1", gl.UNSIGNED_SHORT: "u2", gl.UNSIGNED_INT: "u4"}
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}


def read_gltf(data: bytes) -> ModelAsset:
    """Raises ValueError, or whatever a file that is none leads to."""
    model = gl.GLTF2.load_from_bytes(data)
    return _asset(model, model.binary_blob())


def _asset(model: gl.GLTF2, blob: bytes | None) -> ModelAsset:
    if blob is None:
        raise ValueError("not a binary glTF file")
    if any(node.rotation or node.scale or node.matrix or node.children for node in model.nodes):
        raise ValueError("a node is turned, scaled or has others in it; allowed: nodes with a place only")
    model.materials = model.materials or [gl.Material()]
    materials = np.array([_factors(material) for material in model.materials], "f4")
    if len(model.nodes) > MAX_NODES or len(materials) > MAX_MATERIALS:
        raise ValueError(f"more than {MAX_NODES} nodes or {MAX_MATERIALS} materials")
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
