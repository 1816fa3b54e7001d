"""What a pilot is: sticks and senses in, controls out. Trim shifts what another pilot gives."""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from sim.control.target_path import TargetPath
from sim.controllers import PilotInput
from sim.steppers.dynamics import Dynamics
from sim.vehicles import Vehicle


@dataclass(frozen=True, slots=True)
class Sensed:
    """What a pilot knows of the vehicle's motion at one moment."""

    R_wb: np.ndarray
    """(3, 3) body to world."""
    x_w: np.ndarray
    """(3,) body origin [m]."""
    omega_b: np.ndarray
    """(3,) [rad/s]."""
    v_b: np.ndarray
    """(3,) [m/s]."""
    clearance_m: float = float("inf")
    """Height of the lowest contact point above the ground; inf where there is none."""
    node: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """The vehicle's whole state, flat, as its own layout says."""
    load_clearance_m: float = float("inf")
    """Height of what hangs from it above the ground; inf where nothing does."""
    time_s: float = 0.0
    """Simulated time."""
    leader_clearance_m: float = float("inf")
    """Height above the ground of the target that it follows; inf where it follows none."""
    dynamics: Dynamics | None = None
    """By which the vehicle is advanced, for pilots that predict."""

    @property
    def v_w(self) -> np.ndarray:
        """(3,) velocity in the world frame [m/s]."""
        return self.R_wb @ self.v_b


class Automatic:
    """Base of the pilots that do not hear the sticks: what they do is not done by hand."""


class Pilot(Protocol):
    """Turns sticks into controls; may remember what it holds (a heading, an altitude) between calls."""

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """(n_controls,) in the vehicle's order and units, within its ranges.

        They act during the next `dt_s` seconds.
        """
        ...


class TrimmedPilot:
    """Another pilot's controls, shifted and kept within their ranges."""

    def __init__(self, pilot: Pilot, trim: dict[str, float]) -> None:
        """`trim`: by control name, in the control's unit."""
        self._pilot, self._trim = pilot, dict(trim)

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """(n_controls,) of the other pilot plus the trim."""
        wanted = self._pilot.controls(sticks, sensed, vehicle, dt_s)
        wanted = wanted + [self._trim.get(control.name, 0.0) for control in vehicle.controls]
        low = np.array([control.low for control in vehicle.controls])
        high = np.array([control.high for control in vehicle.controls])
        return np.clip(wanted, low, high)


class HeldControls(Automatic):
    """Gives what it was given, until somebody gives others."""

    def __init__(self, values: np.ndarray) -> None:
        """(n_controls,) in the vehicle's order and units."""
        self._values = values

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """(n_controls,) the same at all times."""
        return self._values


@dataclass(frozen=True, slots=True, eq=False)
class Mission:
    """What a scene has of each kind; nothing where it has none. Arrays are never written to."""

    path_w: np.ndarray
    """(n, 3) m: a way that is safe to fly."""
    landing_w: np.ndarray | None
    """(3,) m: where it may be landed at the end of that way."""
    line_w: np.ndarray
    """(n, 2) m: a way to drive along."""
    closed: bool
    """That way leads round."""
    places_w: tuple[tuple[float, float], ...]
    """(x, y) m of where the scene's goals are, in their order."""
    target: TargetPath | None = None
    """The way of a load's target over time."""
