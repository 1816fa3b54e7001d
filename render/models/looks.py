"""Where the looks of a vehicle or a prop come from: a model's file, or shapes that the vehicle tells of."""

from render.models.asset import load_asset, model_file
from render.models.model_asset import ModelAsset
from render.models.solids import solid_asset
from sim.vehicles import VEHICLES


def has_model(name: str, *, far: bool = False) -> bool:
    """Whether there is more than a stand-in; `far`: a coarse one."""
    return model_file(name, far=far).is_file() or (not far and bool(_shapes(name)))


def load_model(name: str, *, far: bool = False) -> ModelAsset:
    """Raises DisplayError where a file is wrong."""
    path, shapes = model_file(name, far=far), _shapes(name)
    return solid_asset(shapes) if shapes and not path.is_file() else load_asset(path)


def _shapes(name: str) -> tuple:  # type: ignore[type-arg]
    kind = VEHICLES.get(name)
    return () if kind is None else kind.solids
