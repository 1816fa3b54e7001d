"""The files of a robot: XML and meshes, read within bounds and from its own folder alone.

MJCF made harmless before it is parsed: with its includes, files by content, without what reads or runs others."""

import math
import xml.etree.ElementTree as ET
from pathlib import Path, PurePosixPath

from sim.multibody.robots.meshes import Colour, binary_stl, msh_of_collada
from sim.platform.errors import InputError, one_of, quote
from sim.platform.user_files import opened, read_text

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
COLLADA = ".dae"
"""The format of URDF's that it does not."""
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
        self._pieces: dict[Path, tuple[tuple[str, Colour | None], ...]] = {}
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
        parser.feed(text.strip(" \t\r\n\0"))  # which others' parsers take before a declaration and at the end
        return parser.close()

    def mesh(self, path: Path) -> str:
        """The name under which a mesh is handed to the parser. Raises InputError and OSError."""
        return self.pieces(path)[0][0]

    def pieces(self, path: Path) -> tuple[tuple[str, Colour | None], ...]:
        """The names under which what a mesh shows in each of its own colours is handed to the parser, with these.
        Raises InputError and OSError."""
        if path not in self._pieces:
            if len(self.meshes) >= MOST_FILES:
                raise InputError(f"has too many meshes; allowed: {MOST_FILES}")
            with opened(path) as file:
                content = file.read(self._mesh_left + 1)
            if len(content) > self._mesh_left:
                raise InputError(
                    f"mesh {path.name!r} is too large; allowed: {MOST_MESH_BYTES} bytes in all meshes"
                )
            self._mesh_left -= len(content)
            ending, found = path.suffix.lower(), dict[Colour | None, bytes]({None: content})
            try:
                if ending == ".stl":
                    found = {None: binary_stl(content)}
                elif ending == COLLADA:
                    ending, found = ".msh", msh_of_collada(content)
            except InputError as error:
                raise InputError(f"mesh {path.name!r} {error}") from None
            at = len(self.meshes)
            names = [f"{at + k}-{path.stem}{ending}" for k in range(len(found))]
            self.meshes.update(zip(names, found.values(), strict=True))
            self._pieces[path] = tuple(zip(names, found, strict=True))
        return self._pieces[path]


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


_KEPT = ("compiler", "option", "default", "asset", "worldbody", "tendon", "equality", "actuator", "keyframe")
_SILENT = ("visual", "statistic", "size", "custom", "sensor")
_TOLD = ("deformable", "extension")
_EXCLUDES = "exclude"
"""What is kept of <contact>."""
_WORLD = ("body", "frame", "replicate", "joint", "freejoint", "geom", "inertial", "site")
_UNSEEN = ("camera", "light")
_REFUSED = ("attach", "composite", "flexcomp", "plugin")
_JOINTS = ("hinge", "slide", "ball", "free")
_MOST_CLASSES = _MOST_KEYFRAMES = 1000
_FOLDERS = ("meshdir", "assetdir", "texturedir", "strippath", "discardvisual", "fusestatic")


def prepared_mjcf(root: ET.Element, files: ModelFiles) -> tuple[ET.Element, list[str]]:
    """The model to be parsed, and notes on what is left out. Raises InputError."""
    _include(root, files, {files.main})
    notes: list[str] = []
    compilers = [e.attrib for e in root.iter("compiler")]
    settings = {key: value for attributes in compilers for key, value in attributes.items()}
    for section in list(root):
        if section.tag == "contact":
            others = [element for element in section if element.tag != _EXCLUDES]
            if others:
                notes.append(f"<contact> is left out: {one_of(dict.fromkeys(e.tag for e in others))}")
            for element in others:
                section.remove(element)
            continue
        if section.tag in _KEPT:
            continue
        if section.tag not in _SILENT + _TOLD:
            raise InputError(
                f"unknown element {named(section.tag, section.attrib)}; allowed: {one_of(_KEPT, section.tag)}"
            )
        if section.tag in _TOLD and len(section):
            notes.append(f"<{section.tag}> is left out: {one_of(dict.fromkeys(e.tag for e in section))}")
        root.remove(section)
    for element in root.iter():
        element.attrib.pop("user", None)
        if element.tag == "compiler":
            for key in _FOLDERS:
                element.attrib.pop(key, None)
        elif element.tag == "material":
            element.attrib.pop("texture", None)
            for layer in element.findall("layer"):
                element.remove(layer)
    for assets in root.findall("asset"):
        _assets(assets, settings, files, notes)
    for tag, most in (("default", _MOST_CLASSES), ("key", _MOST_KEYFRAMES)):
        count = sum(1 for _ in root.iter(tag))
        if count > most:
            raise InputError(f"has {count} elements <{tag}>; allowed: {most}")
    left = {"elements": MOST_IN_BODIES, "bodies": MOST_BODIES}
    for world in root.findall("worldbody"):
        _bodies(world, 1, left, notes, 0)
    for element in root.iter():
        if "file" in element.attrib and element.attrib["file"] not in files.meshes:
            raise InputError(f"{named(element.tag, element.attrib)} reads a file; allowed: meshes, includes")
    for section in root.findall("actuator"):
        for plugin in section.findall("plugin"):
            section.remove(plugin)
            notes.append(f"{named('plugin', plugin.attrib)} is left out: code of others is not run")
    return root, notes


def _include(root: ET.Element, files: ModelFiles, read: set) -> None:  # type: ignore[type-arg]
    """Put the content of included files where they are included."""
    waiting = [root]
    while waiting:
        parent = waiting.pop()
        at = 0
        while at < len(parent):
            child = parent[at]
            if child.tag != "include":
                waiting.append(child)
                at += 1
                continue
            path = files.find("include", child.get("file", ""), files.main.parent)
            if path in read:
                raise InputError(f"{path.name!r} is included more than once")
            read.add(path)
            parent[at : at + 1] = list(files.xml(path))


def _assets(assets: ET.Element, settings: dict[str, str], files: ModelFiles, notes: list[str]) -> None:
    folder = settings.get("meshdir", settings.get("assetdir", ""))
    for asset in list(assets):
        if asset.tag == "texture":
            assets.remove(asset)
        elif asset.tag in ("hfield", "skin"):
            assets.remove(asset)
            notes.append(f"{named(asset.tag, asset.attrib)} is left out")
        elif asset.tag == "mesh":
            if len(asset):
                raise InputError(
                    f"{named('mesh', asset.attrib)} is made by <{asset[0].tag}>; allowed: files, vertices"
                )
            if "file" in asset.attrib:
                _mesh(asset, folder, settings.get("strippath") == "true", files)
        elif asset.tag != "material":
            raise InputError(
                f"{named(asset.tag, asset.attrib)} in <asset> is none that we have; allowed: mesh, material"
            )


def _mesh(asset: ET.Element, folder: str, strip: bool, files: ModelFiles) -> None:
    name = asset.attrib["file"].replace("\\", "/")
    asset.attrib.setdefault("name", PurePosixPath(name).stem)
    if strip:
        name = PurePosixPath(name).name
    path = files.find(f"mesh {quote(asset.attrib['name'])}: file", name, files.main.parent / folder)
    if path.suffix.lower() not in MESHES:
        raise InputError(f"mesh {quote(asset.attrib['name'])}: {path.name!r} is none of {', '.join(MESHES)}")
    asset.attrib["file"] = files.mesh(path)
    asset.attrib.pop("content_type", None)


def _bodies(parent: ET.Element, copies: int, left: dict[str, int], notes: list[str], depth: int) -> None:
    """Check all that a body holds; `left`: how many elements, and bodies among them, there may be still, all copies
    counted.

    depth: how many bodies it is within, itself counted.
    """
    for child in list(parent):
        times = copies
        if child.tag == "replicate":
            try:
                times *= max(int(child.get("count", "1")), 1)
            except ValueError:
                raise InputError(f"<replicate>: count = {quote(child.get('count'))} is no number") from None
        left["elements"] -= times
        left["bodies"] -= times * (child.tag == "body")
        for what, most in (("elements", MOST_IN_BODIES), ("bodies", MOST_BODIES)):
            if left[what] < 0:
                raise InputError(f"has too many {what} with all their copies; allowed: {most}")
        if child.tag in _UNSEEN:
            parent.remove(child)
            continue
        if child.tag in _REFUSED:
            raise InputError(
                f"{named(child.tag, child.attrib)} is an element that trees of joints do not have"
            )
        if child.tag not in _WORLD:
            raise InputError(
                f"unknown element {named(child.tag, child.attrib)}; allowed: {', '.join(_WORLD)}"
            )
        if child.tag == "joint" and child.get("type", "hinge") not in _JOINTS:
            kind = quote(child.get("type"))
            raise InputError(
                f"{named('joint', child.attrib)}: unknown joint {kind}; allowed: {', '.join(_JOINTS)}"
            )
        if depth > 1 and (child.tag == "freejoint" or (child.tag == "joint" and child.get("type") == "free")):
            raise InputError(
                f"{named(child.tag, child.attrib)}: a free joint in {named('body', parent.attrib)}, which hangs on "
                "another body; allowed: in bodies of the world"
            )
        if child.tag == "geom":
            if child.get("type") in ("hfield", "sdf") or len(child):
                parent.remove(child)
                notes.append(f"{named('geom', child.attrib)} is left out: its shape is {child.get('type')}")
            continue
        _bodies(child, times, left, notes, depth + (child.tag == "body"))
