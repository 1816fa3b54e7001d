"""The flight modes by name: what each needs of a vehicle, and the numbers of it that a vehicle's data may set; and the
section `[keys]` of `vehicle.toml`, keys named as pyglet names its symbols."""

import dataclasses
from collections.abc import Mapping
from dataclasses import field
from typing import TypeVar

from sim.platform.toml_table import TomlTable
from sim.platform.values import dataclass
from sim.vehicle_config.terms import Declared, Names, Term, read_term

AXES = ("pitch", "roll", "yaw", "throttle")
STICK_KEYS: dict[str, tuple[str, ...]] = {
    "pitch+": ("W",),
    "pitch-": ("S",),
    "roll-": ("A",),
    "roll+": ("D",),
    "yaw-": ("Q",),
    "yaw+": ("E",),
    "throttle+": ("R", "PAGEUP", "LSHIFT"),
    "throttle-": ("F", "PAGEDOWN"),
}
"""'axis+' and 'axis-' move that axis of the stick; of vehicles that say nothing else."""
KEYS = (
    *"ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    *(f"_{digit}" for digit in range(10)),
    *(
        "SPACE",
        "TAB",
        "BACKSPACE",
        "RETURN",
        "COMMA",
        "PERIOD",
        "BRACKETLEFT",
        "BRACKETRIGHT",
        "MINUS",
        "EQUAL",
    ),
    *("PAGEUP", "PAGEDOWN", "HOME", "END", "INSERT", "DELETE", "LSHIFT", "RSHIFT", "LCTRL", "RCTRL"),
)
"""That a vehicle may have; arrows and function keys are the viewer's."""
BUTTONS = ("a", "dpup", "dpdown", "dpleft", "dpright")
"""Of a gamepad, that a vehicle may have."""
VIEWER_ACTIONS = (
    "pause",
    "step",
    "slower",
    "faster",
    "reset",
    "mode",
    "demo",
    "camera",
    "arrows",
    "trail",
    "overview",
)
"""What a vehicle may give further keys to."""


@dataclass(frozen=True, slots=True)
class StickKeys:
    """An action that is held: 'axis+' and 'axis-' move a stick, others have a name of their own."""

    action: str
    keys: tuple[str, ...]
    does: str
    """In the vehicle's words."""
    group: str


@dataclass(frozen=True, slots=True)
class Keys:
    """What flies it."""

    held: tuple[StickKeys, ...]
    words: Mapping[str, str]
    """What each axis is to this vehicle, in a word or two."""
    viewer: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Viewer action -> further keys while this vehicle is flown; whoever else has them gives them up."""
    triggers: str = "yaw"
    """Axis of a gamepad's triggers: the right one is positive."""
    buttons: Mapping[str, str] = field(default_factory=dict)
    """Button of a gamepad -> action that is held."""


def read_keys(table: TomlTable) -> Keys:
    """Raises InputError for unknown keys and actions, and for a key or an action that stands twice."""
    held: list[StickKeys] = []
    for group in table.tables("groups"):
        name = group.text("name")
        held += [_read_held(inner, name) for inner in group.tables("actions")]
        group.finish()
    actions = [each.action for each in held]
    for action in actions:
        if actions.count(action) > 1:
            raise table.error("groups", f'"{action}" stands twice; allowed: once')
    viewer = _read_viewer(table.table("viewer"))
    taken = [key for each in held for key in each.keys] + [key for keys in viewer.values() for key in keys]
    for key in taken:
        if taken.count(key) > 1:
            raise table.error("groups", f'the key "{key}" stands twice; allowed: once')
    words_table = table.table("words")
    words = {axis: words_table.text(axis) for axis in words_table.names() if axis in AXES}
    words_table.finish()
    if words and not held:
        raise table.error(
            "words",
            "stand without [[keys.groups]], and no key would steer; allowed: beside groups, or no [keys] at all",
        )
    gamepad = table.table("gamepad")
    triggers = gamepad.name("triggers", AXES, "yaw")
    named = [action for action in actions if action not in STICK_KEYS]
    buttons = {b: gamepad.name(b, named, "") for b in BUTTONS if gamepad.has(b)}
    gamepad.finish()
    return Keys(tuple(held), words, viewer, triggers, buttons)


def _read_held(table: TomlTable, group: str) -> StickKeys:
    action = table.text("action")
    if not action:
        raise table.error("action", f"is missing; allowed: {', '.join(STICK_KEYS)}, or a name of your own")
    keys = _keys(table, "keys") or STICK_KEYS.get(action, ())
    if not keys:
        raise table.error("keys", f'is missing; allowed: a list of keys for "{action}"')
    held = StickKeys(action, keys, table.text("does", action), group)
    table.finish()
    return held


def _read_viewer(table: TomlTable) -> dict[str, tuple[str, ...]]:
    for name in table.names():
        if name not in VIEWER_ACTIONS:
            raise table.error(name, f"unknown action; allowed: {', '.join(VIEWER_ACTIONS)}")
    viewer = {name: _keys(table, name) for name in table.names()}
    table.finish()
    return viewer


def _keys(table: TomlTable, key: str) -> tuple[str, ...]:
    keys = table.texts(key)
    for name in keys:
        if name not in KEYS:
            raise table.error(
                key, f'unknown key "{name}"; allowed: letters, _0 to _9, {", ".join(KEYS[36:])}'
            )
    return keys


FLYING = ("mass", "inertia", "gravity")
_TILTED_LIFT = {"rotor_offset", "tail_offset"}
_TILTED_LIFT_UNITS = ("N", "N", "rad", "rad")

DRIVING = ("mass", "yaw_inertia", "wheel_inertia", "wheelbase", "wheel_radius")
TOWING = (*DRIVING, "hitches", "bars")
RIDING = ("mass", "rotor_inertia", "wheel_inertia", "half_length")
BALANCING = ("wheelbase", "tilt", "gravity", "rear_radius", "frame_mass", "frame_centre")
AFLOAT = ("mass", "inertia", "drag", "thruster_left", "thruster_right")


@dataclass(frozen=True, slots=True)
class FlightMode:
    """What the sticks do, and for whom."""

    does: str
    """In two sentences."""
    needs: tuple[str, ...] = ()
    """Parameters that its pilot reads; it takes the vehicle's controls and shape to be those of its kind."""


FLIGHT_MODES: dict[str, FlightMode] = {
    "raw": FlightMode("Sticks move the controls of the equations of motion directly. Nothing is stabilised."),
    "rate": FlightMode("Sticks set turn rates; centred, the body keeps its attitude.", FLYING),
    "attitude": FlightMode(
        "Sticks set the tilt, the collective climbs, yaw is damped. Hands off it hovers.", FLYING
    ),
    "hold": FlightMode("Sticks set the speed over ground; centred, the place is held.", FLYING),
    "drive": FlightMode(
        "A pedal asks for a speed and the wheel centres itself; steering keeps within what the tyres hold.",
        DRIVING,
    ),
    "tow": FlightMode(
        "As drive; backwards the wheel steers the last trailer, and what pulls it is steered so that none runs away.",
        TOWING,
    ),
    "balance": FlightMode(
        "Sticks set lean and speed; the handlebar is turned into the fall, so that it stays up.", BALANCING
    ),
    "ride": FlightMode(
        "Torso and feet follow the sticks; gaits swing both while their keys are held.", RIDING
    ),
    "station": FlightMode(
        "Sticks set speed and turn; centred, it stays at its place in wind and waves.", AFLOAT
    ),
}


def lift_tilts(vehicle: Declared) -> bool:
    """Whether its controls are a lift above its centre of mass, a force aside behind that, and the lift's tilt forward
    and to the right."""
    units = tuple(control.unit for control in vehicle.controls)
    return units == _TILTED_LIFT_UNITS and {q.name for q in vehicle.parameters} >= _TILTED_LIFT


@dataclass(frozen=True, slots=True)
class Flying:
    """Of all modes that fly an airframe, and of its autopilots."""

    rate_gain: float = 8.0
    """Bandwidth of the innermost loop, that of body rates [1/s]; attitude, velocity and place follow, each a third."""
    climb_gain: float = 2.5
    """Of the loop of the climb rate [1/s]."""
    climb_mps: float = 6.0
    """At full throttle, and the fastest that is ever asked for."""
    descent_mps: float = 4.0


@dataclass(frozen=True, slots=True)
class Rates:
    """Of the mode `rate`: body rates at full stick, and how much of the hover lift full throttle adds."""

    roll_radps: float = 1.5
    pitch_radps: float = 1.2
    yaw_radps: float = 1.2
    lift_span: float = 0.7


@dataclass(frozen=True, slots=True)
class Tilting:
    """Of the mode `attitude`."""

    tilt_deg: float = 24.0
    """At full stick."""
    yaw_radps: float = 1.0
    """At full stick and low speed."""
    bank_mps2: float = 5.0
    """Sideways acceleration that turning with the yaw stick alone may need."""
    brake_mps2: float = 3.0
    """Deceleration of the brake when sticks are centred."""
    speed_limit_mps: float = 32.0
    """Above this the tilt gives way, stick or not."""


@dataclass(frozen=True, slots=True)
class Holding:
    """Of the mode `hold`: velocities at full stick."""

    ahead_mps: float = 14.0
    aside_mps: float = 8.0
    yaw_radps: float = 0.9
    catch_mps: float = 0.6
    """Slower than this, hands off, the position is held."""


@dataclass(frozen=True, slots=True)
class Driving:
    """Of the modes `drive` and `tow`."""

    speed_limit_mps: float = 16.0
    reverse_limit_mps: float = 5.0
    acceleration_mps2: float = 4.0
    """At full throttle, below the limit."""
    brake_mps2: float = 7.0
    coasting_mps2: float = 0.7
    """Deceleration with the pedals free."""
    steering_limit: float = 0.62
    """Largest tangent of the steering angle, about 32 degrees."""
    side_limit_mps2: float = 7.0
    """Sideways acceleration that the wheel's travel is cut back to at speed."""
    steering_rate: float = 1.9
    """Most change of that tangent a second."""


@dataclass(frozen=True, slots=True)
class Balancing:
    """Of the mode `balance`, and of the autopilot that rides by it."""

    lean_rad: float = 0.42
    """At full stick."""
    lean_rate_radps: float = 0.9
    """At which the lean that is asked for follows the stick."""
    lean_gain: float = 4.0
    """Bandwidth of the lean [1/s]."""
    steering_limit_rad: float = 0.6
    """Largest steering angle that is asked for."""
    grip_Nm: float = 60.0
    """Torque of the arms by the angle that the handlebar is off [N m/rad]."""
    grip_damping_Nms: float = 8.0
    cruise_mps: float = 4.5
    """Hands off."""
    slow_mps: float = 3.0
    """With the stick drawn back; slower than this no bicycle is held up by steering."""
    fast_mps: float = 8.0
    acceleration_mps2: float = 1.2


@dataclass(frozen=True, slots=True)
class GaitConfig:
    """Two swings about the centre, of torso and feet."""

    action: str
    """Held to swing."""
    torso_rad: float
    torso_radps: float
    feet_rad: float
    feet_radps: float
    phase_rad: float = 0.0
    """Of the feet."""


@dataclass(frozen=True, slots=True)
class Riding:
    """Of the mode `ride`."""

    feet_limit_rad: float = 0.9
    """The feet are never asked beyond this: far from where both axles stand across (pi / 2)."""
    steer_rad: float = 0.55
    """Of the feet at full stick."""
    twist_rad: float = 1.1
    """Of the torso at full stick."""
    gaits: tuple[GaitConfig, ...] = ()


@dataclass(frozen=True, slots=True)
class Cycle:
    """Of the autopilot `cycle`."""

    pose_s: float = 2.0
    """For each pose."""
    poses: tuple[tuple[float, ...], ...] = ()
    """Off where servos hold the joints [rad or m], in the order of the controls."""


@dataclass(frozen=True, slots=True)
class Modes:
    """What the sticks may do."""

    names: tuple[str, ...] = ("raw",)
    default: str = "raw"
    """The one that a beginner should have."""
    autopilot: str = ""
    """By its name in `sim.control.autopilots`, which knows what each needs; empty: it has none."""
    flying: Flying = field(default_factory=Flying)
    rates: Rates = field(default_factory=Rates)
    tilting: Tilting = field(default_factory=Tilting)
    holding: Holding = field(default_factory=Holding)
    driving: Driving = field(default_factory=Driving)
    balancing: Balancing = field(default_factory=Balancing)
    riding: Riding = field(default_factory=Riding)
    cycle: Cycle = field(default_factory=Cycle)


@dataclass(frozen=True, slots=True)
class Mix:
    """What the raw sticks ask of one control: rest + (sum of fraction * stick) * reach."""

    control: str
    sticks: tuple[tuple[str, float], ...]
    """(stick, fraction); beside the four sticks `ahead` is pitch and throttle together, `right` roll and yaw."""
    reach: Term | None = None
    """None: as far as the control's range goes on that side."""
    rest: Term | None = None
    """None: the control's neutral value."""


@dataclass(frozen=True, slots=True)
class Righting:
    """While `action` is held, a body axis is turned up and all turning stops."""

    action: str
    axis_b: tuple[float, float, float]
    torques: tuple[tuple[str, float], ...]
    """(control, sign) of the torque about body x, y, z."""


@dataclass(frozen=True, slots=True)
class Raw:
    """The mode `raw`; without mixes and pushed axle, controls are served by their names or their order."""

    mixes: tuple[Mix, ...] = ()
    pushed_axle: str = ""
    """The sticks are a hand that pushes this axle (a vector parameter) across, whichever way it leans."""
    righting: Righting | None = None


STICKS = ("pitch", "roll", "yaw", "throttle", "ahead", "right")


Numbers = TypeVar("Numbers")


def read_modes(table: TomlTable, vehicle: Declared | None) -> Modes:
    declared = {q.name for q in vehicle.parameters} if vehicle is not None else set()
    names = table.texts("names") or ("raw",)
    for name in names:
        if name not in FLIGHT_MODES:
            raise table.error("names", f'unknown "{name}"; allowed: {", ".join(FLIGHT_MODES)}')
        needs = FLIGHT_MODES[name].needs
        missing = [parameter for parameter in needs if parameter not in declared]
        if missing:
            raise table.error("names", lacking(name, missing[0], needs))
    autopilot = table.text("autopilot")
    return Modes(
        names=names,
        default=table.name("default", names, names[0]),
        autopilot=autopilot,
        flying=_read_numbers(table.table("flight"), Flying(), low=0.0),
        rates=_read_numbers(table.table("rate"), Rates(), low=0.0),
        tilting=_read_numbers(table.table("attitude"), Tilting(), low=0.0),
        holding=_read_numbers(table.table("hold"), Holding(), low=0.0),
        driving=_read_numbers(table.table("drive"), Driving()),
        balancing=_read_numbers(table.table("balance"), Balancing(), low=0.0),
        riding=_read_riding(table.table("ride")),
        cycle=_read_cycle(table.table("cycle"), vehicle, needed=autopilot == "cycle"),
    )


def lacking(mode: str, missing: str, needs: tuple[str, ...]) -> str:
    """What is said of a flight mode or an autopilot that a vehicle without a parameter asks for."""
    return f'"{mode}" needs the parameter "{missing}"; allowed: for vehicles with {", ".join(needs)}'


def _read_riding(table: TomlTable) -> Riding:
    gaits = []
    for inner in table.tables("gaits"):
        usual = GaitConfig(inner.text("action"), 0.0, 1.0, 0.0, 1.0)
        gaits.append(_read_numbers(inner, usual))
    return dataclasses.replace(_read_numbers(table, Riding()), gaits=tuple(gaits))


def _read_cycle(table: TomlTable, vehicle: Declared | None, *, needed: bool) -> Cycle:
    """Each pose has a number for each control."""
    count = len(vehicle.controls) if vehicle is not None else None
    poses = []
    for inner in table.tables("poses"):
        poses.append(inner.numbers("off", (), low=-1e4, high=1e4, count=count))
        if not poses[-1]:
            raise inner.error("off", "is missing; allowed: a number for each control")
        inner.finish()
    if needed and not poses:
        raise table.error("poses", 'is missing; allowed: tables with "off", one for each pose')
    pose_s = table.number("pose_s", Cycle().pose_s, low=0.2, high=3600.0)
    table.finish()
    return Cycle(pose_s, tuple(poses))


def _read_numbers(table: TomlTable, usual: Numbers, *, low: float = -1e6) -> Numbers:
    """A dataclass of numbers from `low` on, each under its own name; what is not there is as usual."""
    given = {}
    for each in dataclasses.fields(usual):  # type: ignore[arg-type]
        value = getattr(usual, each.name)
        if isinstance(value, float):
            given[each.name] = table.number(each.name, value, low=low, high=1e6)
    table.finish()
    return dataclasses.replace(usual, **given)  # type: ignore[type-var]


def read_raw(table: TomlTable, vehicle: Declared | None, known: Names) -> Raw:
    controls = tuple(c.name for c in vehicle.controls) if vehicle is not None else ()
    vectors = tuple(q.name for q in vehicle.parameters if q.size == 3) if vehicle is not None else ()
    mixes = []
    inner = table.table("controls")
    for name in inner.names():
        if name not in controls:
            raise inner.error(name, f"unknown control; allowed: {', '.join(controls)}")
        mix = inner.table(name)
        sticks = tuple((s, mix.number(s, 0.0, low=-10.0, high=10.0)) for s in STICKS if mix.has(s))
        reach = read_term(mix, "reach", known) if mix.has("reach") else None
        rest = read_term(mix, "rest", known) if mix.has("rest") else None
        mix.finish()
        mixes.append(Mix(name, sticks, reach, rest))
    inner.finish()
    righting = table.optional("righting", lambda t: _read_righting(t, controls))
    return Raw(tuple(mixes), table.name("pushed_axle", ("", *vectors), ""), righting)


def _read_righting(table: TomlTable, controls: tuple[str, ...]) -> Righting:
    x, y, z = table.numbers("axis_b", (0.0, 0.0, 1.0), low=-1.0, high=1.0, count=3)
    torques = table.texts("torques")
    signed = tuple((t.removeprefix("-"), -1.0 if t.startswith("-") else 1.0) for t in torques)
    if len(signed) != 3 or any(name not in controls for name, _ in signed):
        raise table.error("torques", f"{list(torques)} is refused; allowed: three of {', '.join(controls)}")
    return Righting(table.text("action"), (x, y, z), signed)
