"""What there is of exports and videos under way, as the panels show it."""

from dataclasses import dataclass

FORMATS = {
    ".glb": "glTF: models that move, for Blender and game engines",
    ".usdc": "USD: the same for film and robotics tools",
    ".csv": "A table: places, velocities, controls, observables",
    ".npz": "The same as arrays for numpy",
    ".mp4": "A video drawn anew: any camera, motion blur",
}
VIDEO = ".mp4"
BLURS = {1: "none", 4: "4 sub-frames", 8: "8 sub-frames", 16: "16 sub-frames"}
"""Pictures that are averaged into one of a video."""
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
    drawn: float | None = None
    """Share of a video that is being drawn."""
    film: FilmView | None = None
