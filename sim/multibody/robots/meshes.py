"""Meshes of formats that mujoco does not read, as it reads them: STL that is text, and COLLADA."""

import io
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from sim.platform.errors import InputError

_HEAD, _FACE = 84, np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("more", "<u2")])
_VERTEX = re.compile(rb"vertex\s+(\S+)\s+(\S+)\s+(\S+)")
_LEAST_POINTS = 4
"""That mujoco takes a mesh of."""
Colour = tuple[float, float, float, float]
"""Red, green, blue and how opaque, 0 to 1."""


def binary_stl(content: bytes) -> bytes:
    """A mesh as it is, or in binary where it is text. Raises InputError for text that is no mesh."""
    if not content.lstrip().startswith(b"solid") or _is_binary(content):
        return content
    try:
        corners = np.array(_VERTEX.findall(content)).astype(np.float32).reshape(-1, 3, 3)
    except ValueError:
        raise InputError("is no STL: its faces are not of three vertices each") from None
    if not np.isfinite(corners).all():
        raise InputError("is no STL: a vertex is not finite")
    faces = np.zeros(len(corners), _FACE)
    faces["corners"] = corners
    return bytes(80) + len(faces).to_bytes(4, "little") + faces.tobytes()


def _is_binary(content: bytes) -> bool:
    """Whether it is as long as its number of faces says; some of these begin like text."""
    faces = int.from_bytes(content[_HEAD - 4 : _HEAD], "little")
    return len(content) == _HEAD + faces * _FACE.itemsize


def msh_of_collada(content: bytes) -> dict[Colour | None, bytes]:
    """The triangles of a COLLADA scene by their colour, None where it has none: each a mesh of mujoco's own format.

    In metres; axes are the file's, whichever it calls up, as ROS has it. Raises InputError where there are none.
    """
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise InputError("declares a document type or entities; allowed: plain elements")
    import collada  # for these files alone

    try:
        read = collada.Collada(
            io.BytesIO(content), ignore=[collada.common.DaeUnsupportedError, collada.common.DaeBrokenRefError]
        )
        unit_m = float(read.assetInfo.unitmeter or 1.0)
        parts: dict[Colour | None, list[tuple[np.ndarray, np.ndarray]]] = {}
        for colour, points, faces in _triangles(read):
            parts.setdefault(colour, []).append((unit_m * points, faces))
    except Exception as error:  # of whatever kind: it is another's reader on another's file
        raise InputError(f"is no COLLADA ({' '.join(str(error).split()) or type(error).__name__})") from None
    if not parts:
        raise InputError("has no triangles")
    if not all(np.isfinite(points).all() for pieces in parts.values() for points, _ in pieces):
        raise InputError("is no COLLADA: a vertex is not finite")
    return {colour: _msh(pieces) for colour, pieces in parts.items()}


def _msh(pieces: list[tuple[np.ndarray, np.ndarray]]) -> bytes:
    """Of points (n, 3) [m] and triangles (m, 3) of them. It may have more of these than an STL to mujoco."""
    starts = np.cumsum([0, *(len(points) for points, _ in pieces)])
    points = np.concatenate([points for points, _ in pieces])
    faces = np.concatenate([start + faces for start, (_, faces) in zip(starts[:-1], pieces, strict=True)])
    points = np.pad(points, ((0, max(_LEAST_POINTS - len(points), 0)), (0, 0)), mode="edge")
    counts = np.array([len(points), 0, 0, len(faces)], "<i4")
    return counts.tobytes() + points.astype("<f4").tobytes() + faces.astype("<i4").tobytes()


def _triangles(read: Any) -> Iterator[tuple[Colour | None, np.ndarray, np.ndarray]]:
    """Colours, points (n, 3) and triangles (m, 3) of the pieces of a scene, where it has placed them."""
    if read.scene is None:
        return
    for geometry in read.scene.objects("geometry"):
        for piece in geometry.primitives():
            if hasattr(piece, "triangleset"):
                piece = piece.triangleset()
            if getattr(piece, "vertex_index", None) is None or piece.vertex_index.shape[-1] != 3:
                continue  # lines
            diffuse = getattr(getattr(piece.material, "effect", None), "diffuse", None)
            colour = None
            if isinstance(diffuse, tuple) and len(diffuse) == 4:
                r, g, b, a = (float(np.clip(x, 0.0, 1.0)) for x in diffuse)
                colour = r, g, b, a
            used, faces = np.unique(piece.vertex_index, return_inverse=True)
            yield colour, np.asarray(piece.vertex, float)[used], faces.reshape(-1, 3)
