"""The flight modes by name: what each needs of a vehicle, and the numbers of it that a vehicle's data may set."""

from dataclasses import dataclass

FLYING = ("mass", "inertia", "gravity")
TILTED_LIFT = ("rotor_offset", "tail_offset")
"""What flying needs besides where the controls are a lift that tilts."""

NEEDS: dict[str, tuple[str, ...]] = {
    "raw": (),
    "rate": FLYING,
    "attitude": FLYING,
    "hold": FLYING,
    "drive": ("mass", "yaw_inertia", "wheel_inertia", "wheelbase", "wheel_radius"),
    "ride": ("mass", "rotor_inertia", "wheel_inertia", "half_length"),
    "station": ("mass", "inertia", "drag", "thruster_left", "thruster_right"),
}
"""Mode -> parameters that its pilot reads; it takes the vehicle's controls and shape to be those of its kind."""

MODES = tuple(NEEDS)

AUTOPILOT_NEEDS: dict[str, tuple[str, ...]] = {
    "route": FLYING,
    "hover": FLYING,
    "line": NEEDS["drive"],
    "sail": NEEDS["station"],
    "gait": NEEDS["ride"],
    "steady": ("inertia",),
    "calm": ("arm", "inertia"),
    "lead": ("target_drag",),
    "cycle": ("hold", "gravity"),
    "roll-round": ("mass", "radius", "axial_inertia", "diametral_inertia", "gravity"),
    "swing-up": ("links", "mass", "length", "gravity", "pivot_motor"),
}
"""Autopilot -> parameters that it reads, as for the modes."""


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
    """Of the mode `drive`."""

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
class Gait:
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
    gaits: tuple[Gait, ...] = ()


@dataclass(frozen=True, slots=True)
class Cycle:
    """Of the autopilot `cycle`."""

    pose_s: float = 2.0
    """For each pose."""
    poses: tuple[tuple[float, ...], ...] = ()
    """Off where servos hold the joints [rad or m], in the order of the controls."""
