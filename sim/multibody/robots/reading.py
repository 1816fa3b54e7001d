"""A robot from a URDF or MJCF file."""

import re
import threading
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from sim.multibody.robots.files import ModelFiles, named, prepared_mjcf
from sim.multibody.robots.model import robot_of
from sim.multibody.robots.robot import Robot
from sim.multibody.robots.urdf import prepared_urdf
from sim.platform.errors import InputError, quote
from sim.platform.user_files import refusals

_PREFIX = re.compile("^((XML )?Error: )+")
_PARSER = threading.Lock()
"""Held where the parser's messages are caught, which it hands to one place of the whole program."""


def read_robot(
    path: str | Path, *, folder: str | Path | None = None, meshes: bool = True, free: bool = False
) -> Robot:
    """The robot that a URDF or MJCF file describes, through the parser of the mujoco package.

    folder: nothing outside it is read; without one, the file's own. It is where a URDF's `package://` is looked for.
    meshes: False leaves a URDF's meshes alone, which its motion does not depend on. free: its root floats, where the
    file fixes it to the world. Hinges and slides, ball and free joints, springs, damping, rotors, limits and motors
    become those of the tree, equalities (of a URDF `mimic`) its loops, tendons through sites and of joints its
    springs; what else the file says is reported in `notes`, or refused where there would be another robot without it.
    Raises InputError in one line.
    """
    given: tuple[object, ...] = (path,) if folder is None else (path, folder)
    for place in given:
        if not isinstance(place, str | Path):
            raise InputError(f"a robot's file or folder = {quote(place)} is none; allowed: a path")
    path = Path(path)
    with refusals(path, "no robot model"):
        mujoco = _mujoco()
        files = ModelFiles(path, path.parent if folder is None else Path(folder))
        root = files.xml(files.main)
        if root.tag not in ("mujoco", "robot"):
            raise InputError(f"begins with {named(root.tag, {})}; allowed: <mujoco>, <robot>")
        inertials, parents = None, dict[str, str]()
        if root.tag == "robot":
            root, notes, inertials, parents = prepared_urdf(root, files, meshes)
        else:
            root, notes = prepared_mjcf(root, files)
        text = ET.tostring(root, encoding="unicode")
        model, collides, remarks = _compiled(mujoco, text, files, free, weighs_shapes=inertials is None)
        name = root.get("name") or root.get("model") or path.stem
        return robot_of(model, name, collides, inertials, parents, [*notes, *remarks])


def _mujoco() -> Any:
    try:
        import mujoco
    except ImportError as error:
        raise InputError(
            f"robots are read by the mujoco package, which this installation lacks ({error}): "
            "in a clone ./run installs it, elsewhere pip install 'mujoco>=3.17,<5'"
        ) from None
    return mujoco


def _compiled(
    mujoco: Any, text: str, files: ModelFiles, free: bool, weighs_shapes: bool
) -> tuple[Any, np.ndarray, list[str]]:
    """(MjModel, (ngeom, 2) contype and conaffinity of its shapes, what the parser remarked). Raises InputError."""
    remarks: list[str] = []
    with _remarks_to(mujoco, remarks):
        try:
            spec = mujoco.MjSpec.from_string(text, assets=files.meshes)
            spec.compiler.discardvisual = False
            spec.compiler.fusestatic = False
            if free:
                _free(spec)
            collides = {}
            for k, shape in enumerate(spec.geoms):
                shape.name = shape.name or f"shape {k}"
                collides[shape.name] = shape.contype, shape.conaffinity
                shape.contype = shape.conaffinity = 0  # no hulls are made of what touches nothing
            for mesh in () if weighs_shapes else spec.meshes:
                mesh.inertia = (
                    mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
                )  # which meshes without volume have too
            model = spec.compile()
        except ValueError as error:
            raise InputError(_parser_line(str(error))) from None
    bits = [collides[model.geom(k).name] for k in range(model.ngeom)]
    return model, np.array(bits, np.int64).reshape(-1, 2), remarks


@contextmanager
def _remarks_to(mujoco: Any, remarks: list[str]) -> Iterator[None]:
    """Within, the parser's remarks go to the list, not into a file in the working folder."""
    with _PARSER, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on attributes that later versions will not have
        before = mujoco.get_mju_user_warning()
        mujoco.set_mju_user_warning(lambda message: remarks.append(" ".join(str(message).split())))
        try:
            yield
        finally:
            mujoco.set_mju_user_warning(before)


def _free(spec: Any) -> None:
    roots = list(spec.worldbody.bodies)
    if len(roots) != 1 or len(roots[0].joints):
        raise InputError("free: there is no one root that is fixed to the world")
    roots[0].add_freejoint()


def _parser_line(message: str) -> str:
    """The parser's message in one line. Its line numbers are not the file's."""
    lines = [line.split(", id ")[0].split(", line ")[0].strip() for line in message.splitlines()]
    kept = [line for line in lines if line and not line.startswith("The static bodies")]
    return "; ".join(_PREFIX.sub("", line) for line in kept)
