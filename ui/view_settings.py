"""How the scene is looked at: state of the user interface, of no concern to the simulation."""

from dataclasses import dataclass

from sim.scene import CAMERAS

CAMERA_KINDS = CAMERAS
EXPOSURE_RANGE = (0.25, 4.0)


@dataclass(frozen=True, slots=True)
class ViewSettings:
    """Read by the app every frame, changed by keys and panels."""

    camera: str = "chase"
    trail: bool = True
    arrows: bool = False
    """Forces and torques as arrows."""
    axes: bool = False
    """Body frames as coloured axes."""
    hud: bool = True
    quality: str = "high"
    exposure: float = 1.0
    """Relative to the scene's own."""
