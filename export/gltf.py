"""Binary glTF: vehicles with their models, moving as recorded; y is up, lengths in metres, times in seconds."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pygltflib as gl

from export.ground import GroundMesh
from export.nodes import CameraTrack, Content, Keyframes, Node, nodes_of
from sim.models.solids import ModelAsset

_COMPONENTS = {"f4": gl.FLOAT, "u2": gl.UNSIGNED_SHORT, "u4": gl.UNSIGNED_INT}
_ALIGNED = 4


class GlbChunk:
    """Collects arrays; `finish` hands them to the model."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._views: list[gl.BufferView] = []
        self._accessors: list[gl.Accessor] = []

    def add(self, array: np.ndarray, kind: str, *, bounds: bool = False, target: int | None = None) -> int:
        """The accessor of an array (n,) or (n, k) of float32, uint16 or uint32. kind: "SCALAR", "VEC3" and so on.

        bounds: tell the least and the greatest values, as positions and times must. target: None for what is no vertex.
        """
        self._bytes.extend(b"\0" * (-len(self._bytes) % _ALIGNED))
        data = np.ascontiguousarray(array).tobytes()
        self._views.append(
            gl.BufferView(buffer=0, byteOffset=len(self._bytes), byteLength=len(data), target=target)
        )
        self._bytes.extend(data)
        accessor = gl.Accessor(
            bufferView=len(self._views) - 1,
            componentType=_COMPONENTS[array.dtype.str[1:]],
            count=len(array),
            type=kind,
        )
        if bounds:
            low, high = np.atleast_1d(array.min(axis=0)), np.atleast_1d(array.max(axis=0))
            accessor.min, accessor.max = low.tolist(), high.tolist()
        self._accessors.append(accessor)
        return len(self._accessors) - 1

    def finish(self, model: gl.GLTF2) -> None:
        """The arrays become the model's."""
        model.bufferViews, model.accessors = self._views, self._accessors
        model.buffers = [gl.Buffer(byteLength=len(self._bytes))]
        model.set_binary_blob(bytes(self._bytes))


STRENGTH = "KHR_materials_emissive_strength"
GHOST_ALPHA = 0.35


class Models:
    """What a document's nodes show."""

    def __init__(self, model: gl.GLTF2, chunk: GlbChunk) -> None:
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
            self._parts[key] = [
                (material, *self._arrays(positions, normals, triangles))
                for material, positions, normals, triangles in asset.meshes(part)
            ]
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

    def ground(self, ground: GroundMesh) -> int:
        """The mesh of a piece of land."""
        triangles = ground.triangles.reshape(-1, 3)
        dry = len(triangles) - ground.water
        parts = [("ground", 0.95, triangles[:dry])]
        if ground.water:
            parts.append(("water", 0.12, triangles[dry:]))
        primitives = []
        for name, roughness, faces in parts:
            used, faces = np.unique(faces, return_inverse=True)
            attributes, indices = self._arrays(ground.positions[used], ground.normals[used], faces)
            attributes.COLOR_0 = self._chunk.add(
                ground.colours[used].astype("f4"), "VEC3", target=gl.ARRAY_BUFFER
            )
            look = gl.Material(
                name=name,
                pbrMetallicRoughness=gl.PbrMetallicRoughness(
                    baseColorFactor=[1.0, 1.0, 1.0, 1.0], metallicFactor=0.0, roughnessFactor=roughness
                ),
            )
            primitives.append(gl.Primitive(attributes=attributes, indices=indices, material=self._add(look)))
        self._model.meshes.append(gl.Mesh(name="ground", primitives=primitives))
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


_UP = [-math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5)]
"""Quaternion (x, y, z, w) from z up to y up."""
_FINE_M = 2e-7
"""Rounding of a place that is left as it is."""


def write_glb(path: Path, content: Content) -> None:
    """Write the scene. Raises OSError, OutputError for a motion that shears, InputError for a damaged model."""
    nodes = nodes_of(content.motions)
    path.write_bytes(to_bytes(nodes, title=content.title, ground=content.ground, camera=content.camera))


def to_bytes(
    nodes: Sequence[Node], *, title: str, ground: GroundMesh | None = None, camera: CameraTrack | None = None
) -> bytes:
    """The GLB file of a scene; ground and camera where they are wanted."""
    return _Document(title).build(nodes, ground, camera)


class _Document:
    def __init__(self, title: str) -> None:
        self._chunk = GlbChunk()
        self._model = gl.GLTF2(
            asset=gl.Asset(
                version="2.0",
                generator="holonomy",
                extras={"title": title, "units": "m, s, rad", "frames": "below the node world z is up"},
            ),
            scene=0,
        )
        self._model.nodes = [gl.Node(name="world", rotation=_UP)]
        self._model.scenes = [gl.Scene(name=title, nodes=[0])]
        self._models = Models(self._model, self._chunk)
        self._animation = gl.Animation(name="motion", channels=[], samplers=[])
        self._times: dict[bytes, int] = {}
        self._begin_s = 0.0
        """Of the first track; the file's time begins with 0."""

    def build(self, nodes: Sequence[Node], ground: GroundMesh | None, camera: CameraTrack | None) -> bytes:
        self._begin_s = min((node.track.time[0] for node in nodes if node.track is not None), default=0.0)
        self._model.asset.extras["begin_s"] = float(self._begin_s)
        places: list[int] = []
        for node in nodes:
            parent = 0 if node.parent is None else places[node.parent]
            places.append(self._add(node, parent))
        if ground is not None:
            self._child(0, gl.Node(name="ground", mesh=self._models.ground(ground)))
        if camera is not None:
            self._add_camera(camera)
        if self._animation.channels:
            self._model.animations = [self._animation]
        self._models.finish()
        self._chunk.finish(self._model)
        return b"".join(self._model.save_to_bytes())

    def _child(self, parent: int, node: gl.Node) -> int:
        self._model.nodes.append(node)
        index = len(self._model.nodes) - 1
        above = self._model.nodes[parent]
        above.children = [*(above.children or []), index]
        return index

    def _add(self, node: Node, parent: int) -> int:
        made = gl.Node(name=node.name)
        if node.asset is not None:
            made.mesh = self._models.mesh(node)
        if node.track is None:
            if any(node.at_m):
                made.translation = list(node.at_m)
            return self._child(parent, made)
        coarse = node.track.translation.astype("f4")
        rest = node.track.translation - coarse
        if np.abs(rest).max() > _FINE_M:
            parent = self._child(parent, gl.Node(name=f"{node.name} place"))
            self._animate(parent, self._model.nodes[parent], node.track.time, "translation", coarse)
        else:
            rest = node.track.translation
        index = self._child(parent, made)
        self._move(index, node.track, rest)
        return index

    def _move(self, index: int, track: Keyframes, translation: np.ndarray) -> None:
        made = self._model.nodes[index]
        self._animate(index, made, track.time, "translation", translation)
        self._animate(index, made, track.time, "rotation", track.rotation)
        if track.shown.all():
            self._animate(index, made, track.time, "scale", track.scale)
        else:
            # glTF has no tracks of visibility that every reader knows.
            self._animate(
                index, made, track.time, "scale", track.scale * track.shown[:, None], way="STEP", moves=True
            )

    def _animate(
        self,
        index: int,
        made: gl.Node,
        time: np.ndarray,
        path: str,
        values: np.ndarray,
        *,
        way: str = "LINEAR",
        moves: bool = False,
    ) -> None:
        """A track; what never changes is a property of the node, with all digits."""
        single = np.ascontiguousarray(values, "f4")
        if path == "rotation":
            single /= np.linalg.norm(single.astype(float), axis=1, keepdims=True).astype("f4")
        rests = {"translation": [0.0, 0.0, 0.0], "rotation": [0.0, 0.0, 0.0, 1.0], "scale": [1.0, 1.0, 1.0]}
        if not moves and (len(time) < 2 or (single == single[0]).all()):
            value = values[0].tolist()
            if value != rests[path]:
                setattr(made, path, value)
            return
        keys = np.ascontiguousarray(time - self._begin_s, "f4")
        moments = self._times.get(keys.tobytes())
        if moments is None:
            moments = self._times[keys.tobytes()] = self._chunk.add(keys, "SCALAR", bounds=True)
        output = self._chunk.add(single, "VEC4" if path == "rotation" else "VEC3")
        sampler = gl.AnimationSampler(input=moments, output=output, interpolation=way)
        self._animation.samplers.append(sampler)
        target = gl.AnimationChannelTarget(node=index, path=path)
        self._animation.channels.append(
            gl.AnimationChannel(sampler=len(self._animation.samplers) - 1, target=target)
        )

    def _add_camera(self, camera: CameraTrack) -> None:
        self._model.cameras = [
            gl.Camera(
                name="camera",
                type="perspective",
                perspective=gl.Perspective(
                    yfov=camera.fov_y_rad, znear=camera.near_m, zfar=camera.far_m, aspectRatio=camera.aspect
                ),
            )
        ]
        index = self._child(0, gl.Node(name="camera", camera=0))
        self._move(index, camera.track, camera.track.translation)
