"""The files of a robot: XML and meshes, read within bounds and from its own folder alone."""

import math
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np

from sim.platform.errors import InputError, quote
from sim.platform.user_files import opened, read_text

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


MOST_XML_BYTES = 4 << 20
"""Of all XML files of a robot together."""
MOST_MESH_BYTES = 128 << 20
"""Of all its meshes together."""
MOST_ELEMENTS, DEEPEST_ELEMENT, MOST_FILES = 100_000, 400, 1000
MOST_ATTRIBUTES = 100
"""Of one element."""
MOST_BODIES = 2000
MOST_IN_BODIES = 20_000
"""Bodies, joints, shapes and what else bodies hold, with all copies. The parser takes the square of their number in
time, and cannot be interrupted."""
MESHES = (".stl", ".obj", ".msh")
"""Formats that mujoco reads."""
_NAMES = {"name", "class", "childclass"}


class ModelFiles:
    """What a robot's files may be: those within its folder, no more of them than the bounds above."""

    def __init__(self, main: Path, folder: Path) -> None:
        """Raises InputError where the main file is not in the folder, and OSError."""
        self.main = main.resolve(strict=True)
        self.folder = folder.resolve(strict=True)
        if not self.main.is_relative_to(self.folder):
            raise InputError(f"does not lie in the folder {str(folder)!r}")
        self._xml_left, self._mesh_left = MOST_XML_BYTES, MOST_MESH_BYTES
        self._keys: dict[Path, str] = {}
        self.meshes: dict[str, bytes] = {}
        """Content by the name that stands for the file in the XML that is parsed."""

    def find(self, what: str, name: str, beside: Path) -> Path:
        """An existing file in the folder. Raises InputError, with `what` in front of the name."""
        asked = beside / name.replace("\\", "/")
        try:
            path = asked.resolve(strict=True)
        except (OSError, ValueError, RuntimeError):
            path = None
        # Links are followed before the place is judged. What lies outside is not even said to be there.
        if path is None or not path.is_relative_to(self.folder):
            raise InputError(f"{what} {quote(name)} is not in the model's folder {str(self.folder)!r}")
        return path

    def xml(self, path: Path) -> ET.Element:
        """The root of an XML file. Raises InputError, OSError or ParseError."""
        text = read_text(path, max(self._xml_left, 0))
        self._xml_left -= len(text)
        if "<!DOCTYPE" in text or "<!ENTITY" in text:
            raise InputError(f"{path.name} declares a document type or entities; allowed: plain elements")
        parser = ET.XMLParser(target=_Bounded())
        parser.feed(text)
        return parser.close()

    def mesh(self, path: Path) -> str:
        """The name under which a mesh is handed to the parser. Raises InputError and OSError."""
        if path not in self._keys:
            if len(self._keys) == MOST_FILES:
                raise InputError(f"has too many meshes; allowed: {MOST_FILES}")
            with opened(path) as file:
                content = file.read(self._mesh_left + 1)
            if len(content) > self._mesh_left:
                raise InputError(
                    f"mesh {path.name!r} is too large; allowed: {MOST_MESH_BYTES} bytes in all meshes"
                )
            self._mesh_left -= len(content)
            if path.suffix.lower() == ".stl":
                try:
                    content = binary_stl(content)
                except InputError as error:
                    raise InputError(f"mesh {path.name!r} {error}") from None
            self._keys[path] = f"{len(self._keys)}-{path.stem}{path.suffix.lower()}"
            self.meshes[self._keys[path]] = content
        return self._keys[path]


class _Bounded(ET.TreeBuilder):
    """Elements neither too many nor too deep, with numbers that are finite."""

    def __init__(self) -> None:
        super().__init__()
        self._depth = self._count = 0

    def start(self, tag: str, attrs: dict[str, str]) -> ET.Element:  # type: ignore[override]
        self._depth += 1
        self._count += 1
        if self._depth > DEEPEST_ELEMENT:
            raise InputError(f"too deeply nested; allowed: {DEEPEST_ELEMENT} elements")
        if self._count > MOST_ELEMENTS:
            raise InputError(f"has too many elements; allowed: {MOST_ELEMENTS}")
        if len(attrs) > MOST_ATTRIBUTES:
            raise InputError(f"{named(tag, attrs)} has {len(attrs)} attributes; allowed: {MOST_ATTRIBUTES}")
        for key, value in attrs.items():
            if key not in _NAMES and _not_finite(value):
                raise InputError(f"{named(tag, attrs)}: {key} = {quote(value)} is not finite")
        return super().start(tag, attrs)

    def end(self, tag: str) -> ET.Element:
        self._depth -= 1
        return super().end(tag)


def _not_finite(value: str) -> bool:
    """Whether it is all numbers, of which one is none or without bound."""
    try:
        return not all(math.isfinite(float(word)) for word in value.split())
    except ValueError:
        return False


def named(tag: str, attributes: dict[str, str]) -> str:
    """How an element is named in messages: `<joint> 'knee'`."""
    return f"<{tag}>" + (f" {quote(attributes['name'])}" if "name" in attributes else "")
