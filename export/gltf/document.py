"""An animated scene as one binary glTF file: y is up, lengths in metres, times in seconds.

World coordinates (z up) are those below the node `world`, which turns them. Numbers in tracks are float32: where a
body is so far from the middle of its motion that rounding would show, its place is the sum of two nodes' tracks.
"""

import math
from collections.abc import Sequence

import numpy as np
import pygltflib as gl

from export.gltf.chunk import Chunk
from export.gltf.models import Models
from export.nodes import Node, Track
from export.scenery import CameraTrack, Ground

_UP = [-math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5)]
"""Quaternion (x, y, z, w) from z up to y up."""
_FINE_M = 2e-7
"""Rounding of a place that is left as it is."""


def to_bytes(
    nodes: Sequence[Node], *, title: str, ground: Ground | None = None, camera: CameraTrack | None = None
) -> bytes:
    """The GLB file of a scene; ground and camera where they are wanted."""
    return _Document(title).build(nodes, ground, camera)


class _Document:
    def __init__(self, title: str) -> None:
        self._chunk = Chunk()
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

    def build(self, nodes: Sequence[Node], ground: Ground | None, camera: CameraTrack | None) -> bytes:
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

    def _move(self, index: int, track: Track, translation: np.ndarray) -> None:
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
