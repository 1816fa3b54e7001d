"""The binary chunk of a glTF file, with a view and an accessor an array."""

import numpy as np
import pygltflib as gl

_COMPONENTS = {"f4": gl.FLOAT, "u2": gl.UNSIGNED_SHORT, "u4": gl.UNSIGNED_INT}
_ALIGNED = 4


class Chunk:
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
