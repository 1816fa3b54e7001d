"""How the parts of each model move: from a vehicle's controls, shape and spin to node poses."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from render.frame import DrawnVehicle

TILT_SHOWN = 1.5
"""The rotor disc leans this many times further than the thrust, so that the eye reads it."""


_CAR_WHEELBASE, _CAR_HALF_TRACK = 2.4, 0.75
_DISC_RADIUS = 0.5
"""Of the models in assets/models [m]."""


@dataclass(frozen=True, slots=True)
class Disc:
    """A rotor that turns too fast to be seen as blades."""

    T_bd: np.ndarray
    """(4, 4) disc frame (axis z, azimuth from x) in the body frame."""
    radius_m: float
    root_m: float
    blades: int
    chord_m: float
    coning_rad: float
    spin_rad: float
    tip_band_m: float


@dataclass(frozen=True, slots=True)
class RigPose:
    """What moves and what is hidden, for one picture."""

    nodes: dict[str, np.ndarray] = field(default_factory=dict)
    """Node name -> (4, 4) turn about its own pivot; others rest."""
    hidden: frozenset[str] = frozenset()
    discs: tuple[Disc, ...] = ()


Rig = Callable[[DrawnVehicle], RigPose]


def turn(axis: str, angle_rad: float) -> np.ndarray:
    """(4, 4) rotation about a coordinate axis."""
    c, s = np.cos(angle_rad), np.sin(angle_rad)
    k = "xyz".index(axis)
    i, j = (k + 1) % 3, (k + 2) % 3
    matrix = np.eye(4)
    matrix[i, i], matrix[i, j], matrix[j, i], matrix[j, j] = c, -s, s, c
    return matrix


def shift(x: float, y: float, z: float) -> np.ndarray:
    """(4, 4) translation."""
    matrix = np.eye(4)
    matrix[:3, 3] = x, y, z
    return matrix


def thrust_tilt(gamma_p: float, gamma_r: float) -> np.ndarray:
    """(4, 4) rotation that takes z to the thrust direction (sin gp cos gr, -sin gr, cos gp cos gr)."""
    return turn("y", gamma_p) @ turn("x", gamma_r)


def still(_vehicle: DrawnVehicle) -> RigPose:
    """A model without moving parts."""
    return RigPose()


def helicopter(vehicle: DrawnVehicle) -> RigPose:
    """Hub and disc lean with the cyclic; blades are solid only at rest (a wreck, or no spin given)."""
    tilt = np.eye(4)
    if len(vehicle.controls) >= 4 and np.isfinite(vehicle.controls[2:4]).all():
        lean = np.clip(TILT_SHOWN * np.asarray(vehicle.controls[2:4], float), -0.35, 0.35)
        tilt = thrust_tilt(float(lean[0]), float(lean[1]))
    if vehicle.wreck or len(vehicle.spin_rad) < 2:
        droop = tilt @ turn("x", 0.07) @ turn("z", 0.5) if vehicle.wreck else tilt
        return RigPose(nodes={"main_rotor": droop, "main_blades": droop})
    main, tail = vehicle.spin_rad[:2]
    main_disc = Disc(
        T_bd=shift(0.0, 0.0, 1.75) @ tilt,
        radius_m=5.35,
        root_m=0.9,
        blades=3,
        chord_m=0.34,
        coning_rad=0.035,
        spin_rad=main,
        tip_band_m=0.32,
    )
    tail_disc = Disc(
        T_bd=shift(-6.2, 0.30, 0.75) @ turn("x", -np.pi / 2),
        radius_m=0.85,
        root_m=0.14,
        blades=2,
        chord_m=0.18,
        coning_rad=0.0,
        spin_rad=tail,
        tip_band_m=0.07,
    )
    return RigPose(
        nodes={"main_rotor": tilt @ turn("z", main), "tail_rotor": turn("y", tail)},
        hidden=frozenset({"main_blades", "tail_blades"}),
        discs=(main_disc, tail_disc),
    )


def car(vehicle: DrawnVehicle) -> RigPose:
    """Shape (psi, tan of the steering angle): all wheels roll, the front ones steer about a common centre."""
    psi, sigma = _shape(vehicle, 2)
    roll = turn("y", psi)
    left = np.arctan2(sigma * _CAR_WHEELBASE, _CAR_WHEELBASE - sigma * _CAR_HALF_TRACK)
    right = np.arctan2(sigma * _CAR_WHEELBASE, _CAR_WHEELBASE + sigma * _CAR_HALF_TRACK)
    return RigPose(
        nodes={
            "wheel_rear_left": roll,
            "wheel_rear_right": roll,
            "wheel_front_left": turn("z", float(left)) @ roll,
            "wheel_front_right": turn("z", float(right)) @ roll,
        }
    )


def snakeboard(vehicle: DrawnVehicle) -> RigPose:
    """Shape (psi, phi): the rider's torso turns by psi, the back plate by phi, the front plate by -phi."""
    psi, phi = _shape(vehicle, 2)
    return RigPose(
        nodes={"torso": turn("z", psi), "plate_back": turn("z", phi), "plate_front": turn("z", -phi)}
    )


def rolling_disc(vehicle: DrawnVehicle) -> RigPose:
    """Shape (lean, roll): the pose is that of the point of contact, the disc stands on it."""
    lean, roll = _shape(vehicle, 2)
    return RigPose(nodes={"disc": turn("x", lean) @ shift(0.0, 0.0, _DISC_RADIUS) @ turn("y", roll)})


def spacecraft(vehicle: DrawnVehicle) -> RigPose:
    """Controls (pitch, yaw, roll, thrust): the bell swings with pitch and yaw, the flame grows with thrust."""
    pitch, yaw, _, thrust = _leading(vehicle.controls, 4)
    swing = turn("y", float(0.14 * np.tanh(pitch))) @ turn("z", float(-0.14 * np.tanh(yaw)))
    strength = float(np.clip(thrust, 0.0, None))
    if vehicle.wreck or strength <= 0.0:
        return RigPose(nodes={"engine": swing}, hidden=frozenset({"flame"}))
    grow = np.diag([0.35 + 0.65 * strength / (strength + 0.5), 1.0, 1.0, 1.0])
    return RigPose(nodes={"engine": swing, "flame": swing @ grow})


def boat(vehicle: DrawnVehicle) -> RigPose:
    """Controls (left, right thrust): each screw turns while it pushes, backwards where it pulls."""
    spin = vehicle.spin_rad[0] if vehicle.spin_rad else 0.0
    ways = np.sign(np.round(_leading(vehicle.controls, 2), 1))
    return RigPose(
        nodes={
            f"screw_{name}": turn("x", float(way * spin))
            for name, way in zip(("left", "right"), ways, strict=True)
        }
    )


def heavy_top(vehicle: DrawnVehicle) -> RigPose:
    """The stand does not turn with the top; see-through tops share the one of the solid top."""
    upright = np.eye(4)
    upright[:3, :3] = vehicle.T_wb[:3, :3].T
    return RigPose(nodes={"stand": upright}, hidden=frozenset({"stand"} if vehicle.ghost else ()))


def _shape(vehicle: DrawnVehicle, count: int) -> np.ndarray:
    return _leading(vehicle.shape, count)


def _leading(values: np.ndarray, count: int) -> np.ndarray:
    """The first values, with zeros for those that are missing or not finite."""
    full = np.zeros(count)
    given = np.asarray(values, float)[:count]
    full[: len(given)] = given
    return np.nan_to_num(full, nan=0.0, posinf=0.0, neginf=0.0)


RIGS: dict[str, Rig] = {
    "helicopter": helicopter,
    "car": car,
    "snakeboard": snakeboard,
    "rolling-disc": rolling_disc,
    "spacecraft": spacecraft,
    "boat": boat,
    "heavy-top": heavy_top,
}
SPIN_RATES: dict[str, tuple[float, ...]] = {"helicopter": (41.0, 214.0), "boat": (23.0,)}
"""Free-turning parts [rad/s]: main and tail rotor; screws."""


def rig_of(model: str) -> Rig:
    """The rig of a model; models without one stand still."""
    return RIGS.get(model, still)


def spin_rates(model: str) -> tuple[float, ...]:
    """Rates [rad/s] of the free-turning parts of a model, in the order of `DrawnVehicle.spin_rad`."""
    return SPIN_RATES.get(model, ())
