"""How much room each vehicle takes in a picture, and where its pilot's eyes are."""

import math
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from sim.vehicle_config import Camera as Framing


def framing_about(framing: Framing, reach_m: float, *, held: bool) -> Framing:
    """Of what is drawn from its bodies, which reach so far; what is held hangs below the subject's place, or stands on
    it, as its lift says, or is about it."""
    if reach_m <= 0.0:
        return framing
    if held:
        aside = math.copysign(0.46 * reach_m, framing.lift_m) if framing.lift_m else 0.0
        return replace(framing, distance_m=(1.75 if aside else 2.5) * reach_m, lift_m=aside)
    return replace(framing, distance_m=max(3.2 * reach_m, 1.0), lift_m=0.0)


class CameraInput(Protocol):
    """What mouse and arrow keys ask for in one frame; logical pixels, x right, y up."""

    @property
    def drag_px(self) -> tuple[float, float]: ...
    @property
    def pan_px(self) -> tuple[float, float]: ...
    @property
    def zoom(self) -> float: ...
    @property
    def orbit(self) -> tuple[float, float]: ...


@dataclass(frozen=True, slots=True)
class NoInput:
    """No motion asked for."""

    drag_px: tuple[float, float] = (0.0, 0.0)
    pan_px: tuple[float, float] = (0.0, 0.0)
    zoom: float = 0.0
    orbit: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True, slots=True)
class CameraSubject:
    """The followed vehicle in one frame."""

    T_wb: np.ndarray
    velocity_w: np.ndarray
    """(3,) m/s."""
    framing: Framing

    @property
    def position_w(self) -> np.ndarray:
        return self.T_wb[:3, 3]

    @property
    def aim_w(self) -> np.ndarray:
        """(3,) the point that outside cameras look at."""
        return self.T_wb[:3, 3] + np.array([0.0, 0.0, self.framing.lift_m])


@dataclass(frozen=True, slots=True)
class Shot:
    """A camera before it is kept out of the ground."""

    eye_w: np.ndarray
    forward_w: np.ndarray
    """(3,) unit."""
    up_w: np.ndarray
    fov_y_rad: float
    near_m: float = 0.4
    far_m: float = 12_000.0
    inside: bool = False
    aim_w: np.ndarray | None = None
    """(3,) what must stay in sight; None where the eye alone matters."""


def looking_at(eye_w: np.ndarray, aim_w: np.ndarray, fov_y_rad: float) -> Shot:
    """A level shot from `eye_w` to `aim_w`, each (3,)."""
    way = aim_w - eye_w
    return Shot(
        eye_w, way / max(np.linalg.norm(way), 1e-9), np.array([0.0, 0.0, 1.0]), fov_y_rad, aim_w=aim_w
    )
