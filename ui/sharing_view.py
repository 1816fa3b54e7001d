"""What there is of exports and videos under way, as the panels show it."""

from dataclasses import dataclass

FORMATS = {
    ".glb": "glTF: models that move, for Blender and game engines",
    ".usdc": "USD: the same for film and robotics tools",
    ".csv": "A table: places, velocities, controls, observables",
    ".npz": "The same as arrays for numpy",
}
SCENES = (".glb", ".usdc")
"""Of these, those that can hold a ground."""


@dataclass(frozen=True, slots=True)
class FilmView:
    """A video that is being recorded."""

    seconds: float
    share: float | None
    """Of the take that is played; None where there is no end to it."""


@dataclass(frozen=True, slots=True)
class SharingView:
    """Immutable; replaced as a whole."""

    exporting: bool = False
    film: FilmView | None = None
