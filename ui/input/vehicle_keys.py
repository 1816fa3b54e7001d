"""What flies each vehicle: its keys in its own words, and what of a gamepad serves it. Data."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ui.input.binding import KeyBinding

STICK_KEYS = {
    "pitch+": ("W",),
    "pitch-": ("S",),
    "roll-": ("A",),
    "roll+": ("D",),
    "yaw-": ("Q",),
    "yaw+": ("E",),
    "throttle+": ("R", "PAGEUP", "LSHIFT"),
    "throttle-": ("F", "PAGEDOWN", "LCTRL"),
}
"""'axis+' and 'axis-' move that axis of the stick; of vehicles that say nothing else."""


@dataclass(frozen=True, slots=True)
class VehicleKeys:
    """The controls of one vehicle."""

    held: tuple[KeyBinding, ...]
    """Stick axes, and other actions that are held by name."""
    words: Mapping[str, str]
    """What each axis is to this vehicle, in a word or two."""
    viewer: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Viewer action -> further keys while this vehicle is flown; whoever else has them gives them up."""
    triggers: str = "yaw"
    """Axis of a gamepad's triggers: the right one is positive."""
    buttons: Mapping[str, str] = field(default_factory=dict)
    """Button of a gamepad -> action that is held; of the cross these are dpup, dpdown, dpleft, dpright."""


def _stick(action: str, label: str, group: str, *keys: str) -> KeyBinding:
    return KeyBinding(action, keys or STICK_KEYS[action], label, group)


HELICOPTER = VehicleKeys(
    held=(
        _stick("pitch+", "Nose down, fly forward", "Cyclic"),
        _stick("pitch-", "Nose up, slow down", "Cyclic"),
        _stick("roll-", "Roll left", "Cyclic"),
        _stick("roll+", "Roll right", "Cyclic"),
        _stick("yaw-", "Turn left", "Pedals"),
        _stick("yaw+", "Turn right", "Pedals"),
        _stick("throttle+", "Climb", "Collective"),
        _stick("throttle-", "Descend", "Collective"),
    ),
    words={"pitch": "pitch", "roll": "roll", "yaw": "pedals", "throttle": "collective"},
)
RIGID_BODY = VehicleKeys(
    held=(
        _stick("pitch+", "Turn about y, +x end down", "Torques"),
        _stick("pitch-", "Turn about y, +x end up", "Torques"),
        _stick("roll-", "Turn about x, to the left", "Torques"),
        _stick("roll+", "Turn about x, to the right", "Torques"),
        _stick("yaw-", "Turn about z, to the left", "Torques"),
        _stick("yaw+", "Turn about z, to the right", "Torques"),
        _stick("throttle+", "Push along z", "Force"),
        _stick("throttle-", "Pull along z", "Force"),
    ),
    words={"pitch": "about y", "roll": "about x", "yaw": "about z", "throttle": "force"},
)
SPACECRAFT = VehicleKeys(
    held=(
        _stick("pitch+", "Pitch: nose down", "Thrusters"),
        _stick("pitch-", "Pitch: nose up", "Thrusters"),
        _stick("roll-", "Yaw: nose left", "Thrusters"),
        _stick("roll+", "Yaw: nose right", "Thrusters"),
        _stick("yaw-", "Roll to the left", "Thrusters"),
        _stick("yaw+", "Roll to the right", "Thrusters"),
        _stick("throttle+", "Fire the engine", "Engine", "G", "R", "PAGEUP", "LSHIFT"),
        KeyBinding("engine-down", ("T", "X"), "Hold: turn the engine down", "Engine"),
    ),
    words={"pitch": "pitch", "roll": "yaw", "yaw": "roll", "throttle": "engine"},
    viewer={"reset": ("SPACE",)},
    triggers="throttle",
    buttons={"a": "engine-down"},
)
BOAT = VehicleKeys(
    held=(
        _stick("pitch+", "Ahead", "Thrusters", "W", "R"),
        _stick("pitch-", "Astern", "Thrusters", "S", "F"),
        _stick("roll-", "Turn to port", "Thrusters", "A", "Q"),
        _stick("roll+", "Turn to starboard", "Thrusters", "D", "E"),
    ),
    words={"pitch": "thrust", "roll": "turn"},
    triggers="throttle",
)
CAR = VehicleKeys(
    held=(
        _stick("pitch+", "Drive", "Pedals", "W", "R"),
        _stick("pitch-", "Brake, reverse", "Pedals", "S", "F"),
        _stick("roll-", "Steer left", "Wheel", "A", "Q"),
        _stick("roll+", "Steer right", "Wheel", "D", "E"),
    ),
    words={"pitch": "drive", "roll": "steer"},
    triggers="throttle",
)
SNAKEBOARD = VehicleKeys(
    held=(
        _stick("pitch+", "Wind the torso to the left", "Rider", "W", "R"),
        _stick("pitch-", "Wind the torso to the right", "Rider", "S", "F"),
        _stick("roll-", "Feet: steer left", "Rider", "A", "Q"),
        _stick("roll+", "Feet: steer right", "Rider", "D", "E"),
        KeyBinding("gait-drive", ("_1",), "Hold: drive", "Gaits"),
        KeyBinding("gait-spin", ("_2",), "Hold: spin on the spot", "Gaits"),
        KeyBinding("gait-parallel", ("_3",), "Hold: sideways", "Gaits"),
    ),
    words={"pitch": "torso", "roll": "feet"},
    triggers="pitch",
    buttons={"dpup": "gait-drive", "dpleft": "gait-spin", "dpright": "gait-parallel"},
)
ROLLING_DISC = VehicleKeys(
    held=(
        _stick("pitch+", "Roll ahead", "Disc", "W", "R"),
        _stick("pitch-", "Roll back", "Disc", "S", "F"),
        _stick("roll-", "Lean left", "Disc", "A", "Q"),
        _stick("roll+", "Lean right", "Disc", "D", "E"),
    ),
    words={"pitch": "roll ahead", "roll": "lean"},
    triggers="throttle",
)
HEAVY_TOP = VehicleKeys(
    held=(
        _stick("pitch+", "Press the tip down", "Hand"),
        _stick("pitch-", "Lift the tip", "Hand"),
        _stick("roll-", "Push the tip left, from the stand", "Hand"),
        _stick("roll+", "Push the tip right, from the stand", "Hand"),
        _stick("yaw-", "Twist counter-clockwise", "Hand"),
        _stick("yaw+", "Twist clockwise", "Hand"),
    ),
    words={"pitch": "press, lift the tip", "roll": "push it aside", "yaw": "twist it"},
)
YOUR_OWN = VehicleKeys(
    held=(
        _stick("pitch+", "Stick forward", "Stick"),
        _stick("pitch-", "Stick back", "Stick"),
        _stick("roll-", "Stick left", "Stick"),
        _stick("roll+", "Stick right", "Stick"),
        _stick("yaw-", "Left pedal", "Pedals"),
        _stick("yaw+", "Right pedal", "Pedals"),
        _stick("throttle+", "Throttle up", "Throttle"),
        _stick("throttle-", "Throttle down", "Throttle"),
    ),
    words={"pitch": "pitch", "roll": "roll", "yaw": "yaw", "throttle": "throttle"},
)
"""For vehicles that nobody has named the controls of."""

VEHICLES: dict[str, VehicleKeys] = {
    "helicopter": HELICOPTER,
    "rigid-body": RIGID_BODY,
    "spacecraft": SPACECRAFT,
    "boat": BOAT,
    "car": CAR,
    "snakeboard": SNAKEBOARD,
    "rolling-disc": ROLLING_DISC,
    "heavy-top": HEAVY_TOP,
}


def vehicle_keys(vehicle: str) -> VehicleKeys:
    """Of a vehicle by its registry name."""
    return VEHICLES.get(vehicle, YOUR_OWN)
