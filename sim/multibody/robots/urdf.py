"""URDF checked for what its parser would not report, with its meshes by content and its inertias read here.

The parser refuses links without inertia, which fixed frames and the links between joints at one point rightly are.
"""

import xml.etree.ElementTree as ET
from copy import deepcopy
from pathlib import Path, PurePosixPath

import numpy as np
from scipy.spatial.transform import Rotation

from sim.multibody.robots.files import COLLADA, MESHES, MOST_BODIES, MOST_IN_BODIES, ModelFiles, named
from sim.multibody.robots.meshes import Colour
from sim.platform.errors import InputError, one_of, quote
from sim.platform.values import dataclass

_JOINTS = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar", "spherical")
_ROBOT = ("link", "joint", "material")
_LINK = ("inertial", "visual", "collision")
_JOINT = ("origin", "parent", "child", "axis", "dynamics", "limit", "mimic")
_OLDER = {"joint_properties": "dynamics"}
"""Elements of a joint by what the first URDFs called them."""
_ASIDE = {
    "robot": (
        "gazebo",
        "transmission",
        "sensor",
        "ros2_control",
        "mujoco",
        "drake",
        "disable_collisions",
        "group",
    ),
    "link": (
        "contact",
        "collision_checking",
        "self_filter",
        "surface",
        "kinematic",
        "gravity",
        "origin",
        "sensor",
        "drake",
    ),
    "joint": ("safety_controller", "calibration", "property", "hardwareInterface", "drake"),
}
"""Known to other programs."""
_WORLD = "world"
"""Name of a root that the parser takes for the world itself."""
_DEEPEST_LINK = 300
"""Links one after the other. Of deeper ones the parser takes more than the square in time, and refuses a thousand."""
_MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


@dataclass(frozen=True, eq=False)
class Inertial:
    """What a link weighs."""

    mass: float = 0.0
    """kg."""
    centre: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Centre of mass in the link's frame [m]."""
    inertia: np.ndarray | tuple[float, ...] = (0.0, 0.0, 0.0)
    """(3, 3) about the centre of mass, along the link's axes [kg m^2]."""


def prepared_urdf(
    root: ET.Element, files: ModelFiles, with_meshes: bool
) -> tuple[ET.Element, list[str], dict[str, Inertial], dict[str, str]]:
    """The model to be parsed, notes on what is left out, the links' inertias and, where all links of the model to be
    parsed hang on its root, their true parents. Raises InputError."""
    notes: list[str] = []
    inertials: dict[str, Inertial] = {}
    left_out: dict[str, None] = {}
    folder = next((e.get("meshdir", "") for e in root.findall("mujoco/compiler")), "")
    _only(root, _ROBOT, "robot", notes)
    links, shapes = len(root.findall("link")), sum(len(link) for link in root.findall("link"))
    if links > MOST_BODIES:
        raise InputError(f"has {links} links; allowed: {MOST_BODIES}")
    if shapes > MOST_IN_BODIES:
        raise InputError(f"has {shapes} elements in its links; allowed: {MOST_IN_BODIES}")
    for link in root.findall("link"):
        _only(link, _LINK, "link", notes)
        _shapes(link, folder, files, with_meshes, left_out, notes)
        inertials[link.get("name", "")] = _inertial(link)
    for joint in root.findall("joint"):
        for element in joint:
            element.tag = _OLDER.get(element.tag, element.tag)
        _only(joint, _JOINT, "joint", notes)
        _joint(joint, notes)
    carried = _tree(root)
    _hold_weightless(root, carried, inertials, notes)
    parents = _all_on_the_root(root, carried)
    if left_out:
        why = f" that are none of {', '.join((*MESHES, COLLADA))}" if with_meshes else ""
        notes.append(f"meshes{why} are left out: {one_of(left_out)}")
    for material in root.iter("material"):
        for texture in material.findall("texture"):
            material.remove(texture)
    settings = ET.SubElement(ET.SubElement(root, "mujoco"), "compiler")
    settings.attrib = {"discardvisual": "false", "fusestatic": "false", "strippath": "false"}
    return root, notes, inertials, parents


def _inertial(link: ET.Element) -> Inertial:
    """What the link says, which is replaced by some inertia that the parser takes."""
    given = link.find("inertial")
    if given is None:
        given, read = ET.SubElement(link, "inertial"), Inertial()
    else:
        name = f"{named('link', link.attrib)}: <inertial>"
        origin, mass, inertia = (given.find(tag) for tag in ("origin", "mass", "inertia"))
        J = np.zeros((3, 3))
        for (i, j), key in zip(zip(*np.triu_indices(3), strict=True), _MOMENTS, strict=True):
            J[i, j] = J[j, i] = _numbers(name, inertia, key, 1)[0]
        R = Rotation.from_euler("xyz", _numbers(name, origin, "rpy", 3)).as_matrix()
        x, y, z = _numbers(name, origin, "xyz", 3)
        read = Inertial(_numbers(name, mass, "value", 1)[0], (x, y, z), R @ J @ R.T)
    given[:] = [
        ET.Element("mass", value="1"),
        ET.Element("inertia", ixx="1", iyy="1", izz="1", ixy="0", ixz="0", iyz="0"),
    ]
    return read


def _numbers(name: str, element: ET.Element | None, key: str, count: int) -> tuple[float, ...]:
    """Zero where they are not given."""
    text = "" if element is None else element.get(key, "")
    try:
        values = tuple(float(word) for word in text.split()) or (0.0,) * count
    except ValueError:
        values = ()
    if len(values) != count:
        raise InputError(f"{name}: {key} = {quote(text)}; allowed: {count} number{'s' if count > 1 else ''}")
    return values


def _only(parent: ET.Element, allowed: tuple[str, ...], what: str, notes: list[str]) -> None:
    for child in list(parent):
        if child.tag in allowed:
            continue
        if child.tag not in _ASIDE[what]:
            inside = "" if what == "robot" else f" in {named(what, parent.attrib)}"
            raise InputError(
                f"unknown element {named(child.tag, child.attrib)}{inside}; allowed: {', '.join(allowed)}"
            )
        parent.remove(child)
        if (note := f"<{child.tag}> is left out") not in notes and child.tag != "mujoco":
            notes.append(note)


def _shapes(
    link: ET.Element,
    folder: str,
    files: ModelFiles,
    with_meshes: bool,
    left_out: dict[str, None],
    notes: list[str],
) -> None:
    for shape in [*link.findall("visual"), *link.findall("collision")]:
        shape.attrib.pop("name", None)  # names that are there twice are remarked on
        if _extends_nowhere(shape):
            link.remove(shape)
            notes.append(f"{named('link', link.attrib)}: a <{shape.tag}> of no size is left out")
            continue
        mesh = shape.find("geometry/mesh")
        if mesh is None:
            if shape.find("geometry") is None:
                raise InputError(f"{named('link', link.attrib)}: a <{shape.tag}> without <geometry>")
            continue
        name = mesh.get("filename", "")
        link.remove(shape)
        ending = PurePosixPath(name).suffix.lower()
        if not with_meshes or ending not in (*MESHES, COLLADA):
            left_out[PurePosixPath(name).name] = None
            continue
        path = _found(link, name, folder, files)
        try:
            link.extend(_piece(shape, *piece) for piece in files.pieces(path))
        except InputError as error:
            if ending != COLLADA:
                raise
            notes.append(f"{named('link', link.attrib)}: {error}, and is left out")


def _piece(shape: ET.Element, key: str, colour: Colour | None) -> ET.Element:
    """The shape of one piece of its mesh, in the piece's own colour where it has one."""
    made = deepcopy(shape)
    mesh = made.find("geometry/mesh")
    assert mesh is not None
    mesh.attrib["filename"] = key
    if colour is not None:
        for material in made.findall("material"):
            made.remove(material)
        rgba = " ".join(f"{x:g}" for x in colour)
        ET.SubElement(ET.SubElement(made, "material", name=f"of a mesh, {rgba}"), "color", rgba=rgba)
    return made


def _extends_nowhere(shape: ET.Element) -> bool:
    """Whether it is one of the plain shapes, with a size of nothing, as stands for `none` in some files."""
    return any(
        0.0 in _numbers(f"<{shape.tag}>", each, key, count)
        for kind, key, count in (("sphere", "radius", 1), ("box", "size", 3), ("cylinder", "radius", 1))
        for each in shape.findall(f"geometry/{kind}")
        if key in each.attrib
    )


def _found(link: ET.Element, name: str, folder: str, files: ModelFiles) -> Path:
    """A mesh by what a URDF calls it: a path, `file://` with one, or `package://NAME/PATH`.

    A package is the model's folder, or a folder in it whose name the address has.
    """
    what = f"{named('link', link.attrib)}: mesh"
    if name.startswith("package://"):
        parts = PurePosixPath(name.removeprefix("package://").lstrip("/")).parts
        for k in (1, 0, *range(2, len(parts))):
            inside = "/".join(parts[k:])
            if inside and (files.folder / inside).is_file():
                return files.find(what, inside, files.folder)
        raise InputError(f"{what} {quote(name)} is not in the model's folder {str(files.folder)!r}")
    return files.find(what, name.removeprefix("file://"), files.main.parent / folder)


def _joint(joint: ET.Element, notes: list[str]) -> None:
    if joint.get("type") not in _JOINTS:
        raise InputError(
            f"{named('joint', joint.attrib)}: unknown joint {quote(joint.get('type'))}; allowed: {', '.join(_JOINTS)}"
        )
    limit = joint.find("limit")
    if limit is not None and joint.get("type") == "spherical":
        joint.remove(limit)  # others' files have angles there of their own meaning
        notes.append(f"{named('joint', joint.attrib)}: limits of a ball joint are left out")
    if limit is None or joint.get("type") not in ("revolute", "prismatic"):
        return
    try:
        low, high = (float(limit.get(key, "0")) for key in ("lower", "upper"))
    except ValueError:
        raise InputError(f"{named('joint', joint.attrib)}: its limits are not numeric") from None
    if low == high:
        notes.append(f"{named('joint', joint.attrib)}: limits that are equal are left out")
    if low > high:
        raise InputError(
            f"{named('joint', joint.attrib)}: limits {low:g} .. {high:g} are the wrong way round"
        )


def _end(joint: ET.Element, side: str) -> str:
    """The link on a side, parent or child."""
    end = joint.find(side)
    return "" if end is None else end.get("link", "")


def _tree(root: ET.Element) -> dict[str, str]:
    """The parents of links. Refuses links that hang on two joints, and what hangs on nothing."""
    links = [link.get("name", "") for link in root.findall("link")]
    if not links:
        raise InputError("has no <link>")
    if len(set(links)) < len(links):
        raise InputError(
            f"two links are called {quote(next(x for k, x in enumerate(links) if x in links[:k]))}"
        )
    known = set(links)
    carried: dict[str, tuple[str, str]] = {}
    for joint in root.findall("joint"):
        name = named("joint", joint.attrib)
        ends = []
        for side in ("parent", "child"):
            ends.append(_end(joint, side))
            if ends[-1] not in known:
                raise InputError(f"{name}: unknown {side} link {quote(ends[-1])}")
        if joint.get("type") == "floating" and ends[0] != _WORLD:
            raise InputError(
                f"{name}: a floating joint hangs on link {quote(ends[0])}; allowed: on a root called {_WORLD!r}"
            )
        if ends[1] in carried:
            raise InputError(
                f"{name}: link {quote(ends[1])} hangs on {carried[ends[1]][1]} too: a tree has no loops"
            )
        carried[ends[1]] = ends[0], name
    reached = {link for link in links if link not in carried}
    if len(reached) > 1:
        raise InputError(
            f"links {quote(sorted(reached)[0])} and {quote(sorted(reached)[1])} both hang on nothing"
        )
    for link in links:
        way = [link]
        while way[-1] in carried and way[-1] not in reached:
            way.append(carried[way[-1]][0])
            if len(way) > len(links):
                raise InputError(
                    f"{carried[link][1]}: link {quote(link)} hangs on itself: a tree has no loops"
                )
        reached.update(way)
    return {link: parent for link, (parent, _) in carried.items()}


def _hold_weightless(
    root: ET.Element, parents: dict[str, str], inertials: dict[str, Inertial], notes: list[str]
) -> None:
    """Make joints fixed that move nothing with inertia: no torque has an acceleration there."""
    weighty: set[str] = set()
    for link, inertial in inertials.items():
        at: str | None = link if inertial.mass or np.any(inertial.inertia) else None
        while at is not None and at not in weighty:
            weighty.add(at)
            at = parents.get(at)
    moving = [joint for joint in root.findall("joint") if joint.get("type") != "fixed"]
    idle = [joint for joint in moving if _end(joint, "child") not in weighty]
    if idle and len(idle) == len(moving):
        raise InputError("its joints move no inertia")
    for joint in idle:
        joint.set("type", "fixed")
        for element in [e for tag in ("mimic", "limit", "dynamics") for e in joint.findall(tag)]:
            joint.remove(element)
        notes.append(f"{named('joint', joint.attrib)} moves no inertia, and is fixed")


def _all_on_the_root(root: ET.Element, parents: dict[str, str]) -> dict[str, str]:
    """Hang every link on the root, where chains are deep, with the pose that it has on its parent; returns the parents.

    Links and joints come in an order in which parents precede. Where no chain is deep nothing changes: no parents.
    """
    children: dict[str, list[str]] = {}
    for link, parent in parents.items():
        children.setdefault(parent, []).append(link)
    (top,) = (link.get("name", "") for link in root.findall("link") if link.get("name", "") not in parents)
    order, waiting, depth = [], [top], {top: 0}
    while waiting:
        order.append(waiting.pop())
        for child in reversed(children.get(order[-1], [])):
            depth[child] = depth[order[-1]] + 1
            waiting.append(child)
    if max(depth.values()) <= _DEEPEST_LINK:
        return {}
    place = {link: k for k, link in enumerate(order)}
    links = sorted(root.findall("link"), key=lambda link: place[link.get("name", "")])
    hung = []
    for joint in root.findall("joint"):
        above, below = joint.find("parent"), joint.find("child")
        assert above is not None
        assert below is not None
        above.set("link", top)
        hung.append((place[below.get("link", "")], joint))
    others = [element for element in root if element.tag not in ("link", "joint")]
    root[:] = [*others, *links, *(joint for _, joint in sorted(hung, key=lambda one: one[0]))]
    return parents
