"""The work boat of the planar boat's folder, and the closed surface by which it floats: hull, skeg, wheelhouse."""

from assets.scripts.mesh import Mesh
from assets.scripts.shapes import box
from assets.vehicles.boat.model import CELL_M, DETAILS, MATERIALS, build, hull_solid

__all__ = ["CELL_M", "DETAILS", "MATERIALS", "build", "floating"]

_STATIONS = 30


def floating() -> list[Mesh]:
    """Closed pieces side by side; the wheelhouse is taken as shut."""
    house = box((0.95, 0.86, 1.34)).moved((0.0, 0.0, 0.83))
    skeg = box((1.0, 0.04, 0.28)).moved((-1.05, 0.0, -0.30))
    return [hull_solid(_STATIONS), house, skeg]
