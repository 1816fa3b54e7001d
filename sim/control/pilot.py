"""What a pilot is: sticks and senses in, controls out. Trim shifts what another pilot gives."""

from dataclasses import field
from typing import Protocol

import numpy as np

from sim.control.target_path import TargetPath
from sim.controllers import Controller, ControlLoop, PilotInput
from sim.groups.numeric import heading_of, turn_between
from sim.platform.errors import InputError
from sim.platform.values import dataclass
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


class ControllerPilot(Automatic):
    """Has a `sim.Controller` fly. Where that goes wrong its last controls are held, and then it gives up."""

    HELD_S = 1.0
    """Simulated time for which controls are held after a mistake: within it the file may be mended."""
    DEADLINE_S = 1.0
    """Time at work after which a call is ended."""

    def __init__(self, controller: Controller, before: "ControllerPilot | None" = None) -> None:
        """before: whose memory and controls this one goes on with."""
        self.controller = controller
        self.fault, self._fault_s = "", 0.0
        """What went wrong, in one line; empty: nothing."""
        self._before = None if before is None else before.loop
        self.loop: ControlLoop | None = None

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """(n_controls,) at its own rate; what it is called with is the vehicle's state as it is."""
        if self.fault and sensed.time_s >= self._fault_s:
            return self._last(vehicle)
        try:
            if self.loop is None or self.loop.vehicle is not vehicle:
                old = self.loop or self._before
                self.loop = ControlLoop(self.controller, vehicle, deadline_s=self.DEADLINE_S)
                if old is not None and old.vehicle.name == vehicle.name:
                    self.loop.take_over(old)
            state = vehicle.state_at_node(sensed.node)
            self.fault = ""
            return self.loop.controls(sensed.time_s, state, sticks, sensed.clearance_m)
        except InputError as error:
            self.fault, self._fault_s = str(error), sensed.time_s
            return self._last(vehicle)

    def gives_up(self, time_s: float) -> bool:
        """Whether controls have been held for long enough."""
        return bool(self.fault) and time_s >= self._fault_s + self.HELD_S

    @property
    def late(self) -> str:
        """How its calls keep up with their period; empty as long as they do."""
        loop = self.loop
        if loop is None or not loop.late_calls:
            return ""
        return (
            f"{loop.late_calls} of {loop.calls} calls took longer than {1e3 / loop.rate_hz:g} ms, "
            f"the longest {1e3 * loop.longest_s:.0f} ms"
        )

    def _last(self, vehicle: Vehicle) -> np.ndarray:
        held = None if self.loop is None else self.loop.held
        return vehicle.neutral_controls if held is None or len(held) != len(vehicle.controls) else held


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
    still_s: float = 0.0
    """For how long the goals want it slow before the first of their places."""
    rise_m: float = 0.0
    """So high above the ground they want it before that."""


LEAD_RAD = 0.35


def turned(held_rad: float | None, yaw_rate: float, sensed: Sensed, dt_s: float) -> float:
    """The heading to hold after `dt_s` at `yaw_rate` [rad/s]; never far ahead of the body's own."""
    actual = heading_of(sensed.R_wb)
    if held_rad is None:
        return actual
    lead = turn_between(actual, held_rad + yaw_rate * dt_s)
    return actual + min(max(lead, -LEAD_RAD), LEAD_RAD)
