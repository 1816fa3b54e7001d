"""STL meshes written as text, as the binary ones that mujoco reads."""

import re

import numpy as np

from sim.platform.errors import InputError

_HEAD, _FACE = 84, np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("more", "<u2")])
_VERTEX = re.compile(rb"vertex\s+(\S+)\s+(\S+)\s+(\S+)")


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
