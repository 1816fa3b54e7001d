"""The files of models, and what is in them; the box with axes that stands in for a vehicle without a model."""

import hashlib
import tomllib
from dataclasses import fields
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np

from sim.models.solids import PAINT_FAR, ModelAsset, solid_asset
from sim.platform.cache import Arrays, cached_arrays, package_digest
from sim.platform.errors import InputError, one_of, quote
from sim.platform.user_files import opened, refusals
from sim.shapes.surface import box_corners
from sim.vehicle_config import ASSETS, VEHICLE_FOLDER, VehicleConfig, config_named
from sim.vehicles import VEHICLES
from sim.vehicles.forms.form import Form

MOST_BYTES = 1 << 28

_DIGEST = package_digest(__file__, ("asset", "gltf", "solids"))


def model_file(name: str, *, far: bool = False) -> Path:
    """The file of a vehicle's or a prop's model, whether it is there or not; `far`: of the coarse one."""
    folder = config_named(name).folder or _borrowed(name)
    if folder is not None:
        return folder / ("far.glb" if far else "model.glb")
    return ASSETS / "models" / f"{name}{'_far' if far else ''}.glb"


@cache
def _borrowed(name: str) -> Path | None:
    """The folder of the vehicle whose model a prop of the world shares; None for those that have their own."""
    shared = tomllib.loads((ASSETS / "models" / "shared.toml").read_text(encoding="utf-8"))
    return VEHICLE_FOLDER / shared[name] if name in shared else None


def load_asset(path: Path) -> ModelAsset:
    """Reads a GLB; InputError says what is wrong with it, in one line.

    What assets.scripts add to the format may be missing: then all of it is plain, and under an open sky. What was read
    is kept in the cache by the file's content: taking a file apart takes longer than a picture.
    """
    with refusals(path, "no model that can be drawn"), opened(path) as file:
        data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise ValueError(f"more than {MOST_BYTES} bytes")
        name = f"{_DIGEST}-{hashlib.sha256(data).hexdigest()[:32]}"
        return _from_arrays(cached_arrays("models", name, lambda: _as_arrays(_taken_apart(data))))


def _taken_apart(data: bytes) -> ModelAsset:
    from sim.models.gltf import read_gltf  # the library takes longer to import than a kept model to read

    return read_gltf(data)


def _as_arrays(asset: ModelAsset) -> Arrays:
    return {field.name: np.array(getattr(asset, field.name)) for field in fields(asset)}


def _from_arrays(arrays: Arrays) -> ModelAsset:
    nodes, looks = (tuple(arrays[name].tolist()) for name in ("nodes", "looks"))
    rest = {name: array for name, array in arrays.items() if name not in ("nodes", "looks", "radius_m")}
    return ModelAsset(nodes=nodes, looks=looks, radius_m=float(arrays["radius_m"]), **rest)


def check_model(config: VehicleConfig) -> None:
    """Whether the models in a config's folder can be drawn as it says. Raises InputError, one line."""
    for name in ("model.glb", "far.glb"):
        path = config.file(name)
        if path is None:
            continue
        nodes = load_asset(path).nodes
        for part in config.model.parts:
            for node in part.nodes:
                if node not in nodes:
                    raise InputError(
                        f"{path}: has no node {quote(node)}, which a part names; it has: {one_of(nodes, node)}"
                    )


def has_model(name: str, *, far: bool = False) -> bool:
    """Whether there is more than a stand-in; `far`: a coarse one."""
    return model_file(name, far=far).is_file() or (not far and bool(_shapes(name)))


def load_model(name: str, *, far: bool = False) -> ModelAsset:
    """Raises InputError where a file is wrong."""
    path, shapes = model_file(name, far=far), _shapes(name)
    return solid_asset(shapes) if shapes and not path.is_file() else load_asset(path)


def _shapes(name: str) -> tuple:  # type: ignore[type-arg]
    return config_named(name).solids if name in VEHICLES else ()


_CART_HALF_M = (0.62, 0.30, 0.16)
_WHEEL_M = 0.26
"""Radius of the cart's wheels."""
_RIM = 20
"""Sides of a wheel."""
_AXIS_COLOURS = ((0.55, 0.05, 0.04), (0.05, 0.40, 0.06), (0.03, 0.13, 0.60))


def box_asset(half_extent_m: tuple[float, float, float]) -> ModelAsset:
    """A plain box of these half extents, with a bar along each body axis (x red, y green, z blue)."""
    return _asset(_box_with_axes(np.zeros(3), np.asarray(half_extent_m, float)))


def cart_asset() -> ModelAsset:
    """A box with axes on four wheels that stand on the plane z = 0."""
    half = np.array(_CART_HALF_M)
    parts = _box_with_axes(np.array([0.0, 0.0, 2.0 * _WHEEL_M]), half)
    for x in (-0.8 * half[0], 0.8 * half[0]):
        for y in (-half[1] - 0.06, half[1] + 0.06):
            parts.append(_wheel(np.array([x, y, _WHEEL_M]), 0.05))
    return _asset(parts)


def _asset(parts: list[np.ndarray]) -> ModelAsset:
    vertices = np.concatenate(parts).astype("f4")
    quads = np.arange(len(vertices)).reshape(-1, 4)
    triangles = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]).astype("u4")
    return ModelAsset(
        vertices=vertices,
        opaque=triangles,
        glass=np.zeros((0, 3), "u4"),
        nodes=("box",),
        pivots=np.zeros((1, 3)),
        materials=_materials(),
        radius_m=float(np.linalg.norm(vertices[:, :3], axis=1).max()),
    )


def _box_with_axes(middle: np.ndarray, half: np.ndarray) -> list[np.ndarray]:
    bar = 0.06 * float(half.max())
    parts = [_box(middle, half, 0)]
    for axis in range(3):
        size = np.full(3, bar)
        size[axis] = 0.35 * half.max() + bar
        centre = middle.copy()
        centre[axis] += half[axis] + size[axis] - bar
        parts.append(_box(centre, size, axis + 1))
    return parts


def _wheel(centre: np.ndarray, half_width: float) -> np.ndarray:
    """A drum about y: tread and two faces."""
    angles = np.linspace(0.0, 2.0 * np.pi, _RIM + 1)
    rim = np.stack([np.sin(angles), np.zeros(_RIM + 1), np.cos(angles)], axis=1)
    side = np.array([0.0, half_width, 0.0])
    rows = []

    def corner(place: np.ndarray, normal: np.ndarray) -> None:
        rows.append([*(centre + place), *normal, 1.0, 4, 0.0, *([PAINT_FAR] * 4)])

    for a, b in pairwise(rim):
        for direction, sign in ((a, 1.0), (a, -1.0), (b, -1.0), (b, 1.0)):
            corner(_WHEEL_M * direction + sign * side, direction)
        for sign, first, second in ((1.0, a, b), (-1.0, b, a)):
            face = np.array([0.0, sign, 0.0])
            for direction in (np.zeros(3), first, second, second):
                corner(_WHEEL_M * direction + sign * side, face)
    return np.array(rows)


def _materials() -> np.ndarray:
    colours = ((0.55, 0.54, 0.50), *_AXIS_COLOURS, (0.03, 0.03, 0.03))
    table = np.zeros((len(colours), 4, 4), "f4")
    for row, colour in enumerate(colours):
        table[row, 0, :3] = colour
        table[row, 1, 3] = 0.4
        table[row, 3, 3] = 1.0
    return table


def _box(centre: np.ndarray, half: np.ndarray, material: int) -> np.ndarray:
    rest = np.tile([1.0, material, 0.0, *([PAINT_FAR] * 4)], (24, 1))
    points, normals = box_corners(half)
    return np.hstack([centre + points, normals, rest])


def on_wheels(vehicle: str) -> bool:
    """Whether what a vehicle of that name declares has it roll: its stand-in has wheels, and stands on the ground."""
    kind = VEHICLES.get(vehicle)
    return kind is not None and kind.form is Form.REDUCED_DALEMBERT
