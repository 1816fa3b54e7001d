"""The files of models, and what is in them."""

import hashlib
import tomllib
from dataclasses import fields
from functools import cache
from pathlib import Path

import numpy as np

from sim.models.model_asset import ModelAsset
from sim.models.solids import solid_asset
from sim.platform.errors import InputError, one_of, quote
from sim.platform.user_files import opened, refusals
from sim.vehicle_config import ASSETS, VEHICLE_FOLDER, VehicleConfig, config_named
from sim.vehicles import VEHICLES
from sim.world.store import Arrays, cached_arrays, package_digest

MOST_BYTES = 1 << 28

_DIGEST = package_digest(__file__, ("asset", "gltf", "model_asset"))


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
    rest = {name: array for name, array in arrays.items() if name not in ("nodes", "radius_m")}
    return ModelAsset(nodes=tuple(arrays["nodes"].tolist()), radius_m=float(arrays["radius_m"]), **rest)


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
