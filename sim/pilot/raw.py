"""Raw mode: sticks move the controls of the equations of motion directly, nothing is stabilised."""

from collections.abc import Callable

import numpy as np

from sim.commands import PilotInput
from sim.pilot import heavy_top, spacecraft
from sim.pilot.airframe import Airframe, scalar
from sim.pilot.contract import Sensed
from sim.vehicles import NonholonomicVehicle, Vehicle

SPIN_UP = 3.0
"""Angular acceleration of a free rigid body at full stick [rad/s^2]."""
LIFT_OFF = 15.0
"""Its acceleration along body z at full throttle [m/s^2]."""

DRIVE_SHARE = 0.5
STEER_SHARE = 0.3
TURN_SHARE = 0.5
"""Of a boat's thrust, for turning."""


class RawPilot:
    """Serves every vehicle; remembers nothing."""

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """Full stick is the full throw; centred sticks are the hover, or the neutral controls."""
        mix = MIXES.get(vehicle.name, _in_order if isinstance(vehicle, NonholonomicVehicle) else _by_name)
        wanted = mix(sticks, vehicle)
        if vehicle.name == "spacecraft" and spacecraft.ENGINE_DOWN in sticks.actions:
            wanted = spacecraft.engine_down(sensed, vehicle, wanted[3])
        if vehicle.name == "heavy-top":
            wanted = heavy_top.pushed(sticks, sensed, vehicle)
        low = np.array([control.low for control in vehicle.controls])
        high = np.array([control.high for control in vehicle.controls])
        return np.clip(wanted, low, high)


def _helicopter(sticks: PilotInput, vehicle: Vehicle) -> np.ndarray:
    airframe = Airframe.of(vehicle)
    lift = airframe.weight_N * (1.0 + sticks.throttle)
    tail, pitch, roll = airframe.high[1:]
    return np.array([lift, -tail * sticks.yaw, pitch * sticks.pitch, roll * sticks.roll])


def _rigid_body(sticks: PilotInput, vehicle: Vehicle) -> np.ndarray:
    turn = np.array([sticks.roll, sticks.pitch, -sticks.yaw])
    torque = SPIN_UP * np.asarray(vehicle.values["inertia"], float) * turn
    force = LIFT_OFF * scalar(vehicle.values["mass"]) * sticks.throttle
    return np.concatenate((torque, (0.0, 0.0, force)))


def _wheeled(sticks: PilotInput, vehicle: Vehicle) -> np.ndarray:
    """First control drives, second one steers to the left, both over a share of their range."""
    drive, steer = vehicle.controls
    ahead = min(max(sticks.pitch + sticks.throttle, -1.0), 1.0)
    left = -min(max(sticks.roll + sticks.yaw, -1.0), 1.0)
    return np.array([DRIVE_SHARE * drive.high * ahead, STEER_SHARE * steer.high * left])


def _disc(sticks: PilotInput, vehicle: Vehicle) -> np.ndarray:
    """Lean to where the stick goes, roll ahead."""
    lean, drive = vehicle.controls
    ahead = min(max(sticks.pitch + sticks.throttle, -1.0), 1.0)
    right = min(max(sticks.roll + sticks.yaw, -1.0), 1.0)
    return np.array([STEER_SHARE * lean.high * right, drive.high * ahead])


def _boat(sticks: PilotInput, vehicle: Vehicle) -> np.ndarray:
    """Both thrusters push ahead; the one on the outside of a turn pushes more."""
    ahead = min(max(sticks.pitch + sticks.throttle, -1.0), 1.0)
    right = min(max(sticks.roll + sticks.yaw, -1.0), 1.0)
    left_thruster, right_thruster = vehicle.controls
    shares = (ahead + TURN_SHARE * right, ahead - TURN_SHARE * right)
    return np.array(
        [
            share * (control.high if share > 0.0 else -control.low)
            for share, control in zip(shares, (left_thruster, right_thruster), strict=True)
        ]
    )


def _in_order(sticks: PilotInput, vehicle: Vehicle) -> np.ndarray:
    """For vehicles of one's own: the first control follows the stick ahead, the second the stick to the left."""
    ahead = min(max(sticks.pitch + sticks.throttle, -1.0), 1.0)
    left = -min(max(sticks.roll + sticks.yaw, -1.0), 1.0)
    wanted = [control.neutral for control in vehicle.controls]
    for k, stick in enumerate((ahead, left)[: len(wanted)]):
        control = vehicle.controls[k]
        wanted[k] += stick * (
            control.high - control.neutral if stick > 0.0 else control.neutral - control.low
        )
    return np.array(wanted)


def _by_name(sticks: PilotInput, vehicle: Vehicle) -> np.ndarray:
    """Controls named after a stick follow it over their range; the others stay neutral."""
    deflections = {"pitch": sticks.pitch, "roll": sticks.roll, "yaw": sticks.yaw, "thrust": sticks.throttle}
    wanted = []
    for control in vehicle.controls:
        stick = deflections.get(control.name, 0.0)
        reach = control.high - control.neutral if stick > 0.0 else control.neutral - control.low
        wanted.append(control.neutral + stick * reach)
    return np.array(wanted)


MIXES: dict[str, Callable[[PilotInput, Vehicle], np.ndarray]] = {
    "helicopter": _helicopter,
    "rigid-body": _rigid_body,
    "car": _wheeled,
    "snakeboard": _wheeled,
    "rolling-disc": _disc,
    "spacecraft": spacecraft.mixed,
    "boat": _boat,
}
"""How sticks act on the controls of each vehicle that needs its own answer."""
