"""An outfit: how a vehicle touches the ground, is flown, looked at and drawn; read from `vehicle.toml`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from sim.outfit.instruments import Instruments
from sim.outfit.modes import Cycle, Driving, Flying, Holding, Rates, Riding, Tilting
from sim.outfit.moving_model import Model
from sim.outfit.term import Term
from sim.water.hull import Hull as Surface


@dataclass(frozen=True, slots=True, eq=False)
class Contact:
    """Where it touches the ground."""

    points: np.ndarray
    """(k, 4) body points [m]; the fourth number is 1 where a touch breaks the vehicle, else 0."""
    fragile: bool = False
    """A hard touch, or water over what breaks, ends the flight."""

    @property
    def soles_m(self) -> float:
        """Height of the body origin above level ground when the vehicle stands [m]."""
        return -float(self.points[:, 2].min())


@dataclass(frozen=True, slots=True)
class Modes:
    """What the sticks may do."""

    names: tuple[str, ...] = ("raw",)
    default: str = "raw"
    """The one that a beginner should have."""
    autopilot: str = ""
    """By its name, as in AUTOPILOT_NEEDS; empty: it has none."""
    flying: Flying = field(default_factory=Flying)
    rates: Rates = field(default_factory=Rates)
    tilting: Tilting = field(default_factory=Tilting)
    holding: Holding = field(default_factory=Holding)
    driving: Driving = field(default_factory=Driving)
    riding: Riding = field(default_factory=Riding)
    cycle: Cycle = field(default_factory=Cycle)


@dataclass(frozen=True, slots=True)
class Mix:
    """What the raw sticks ask of one control: rest + (sum of share * stick) * reach."""

    control: str
    sticks: tuple[tuple[str, float], ...]
    """(stick, share); beside the four sticks `ahead` is pitch and throttle together, `right` roll and yaw."""
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


@dataclass(frozen=True, slots=True)
class Camera:
    """How much room it takes in a picture, and where its pilot's eyes are; body frame."""

    distance_m: float
    """Of the chase camera."""
    lift_m: float
    """Aim above the body origin."""
    eye_b: tuple[float, float, float]
    """Of the pilot."""
    enclosed: bool
    """The pilot sits inside a modelled cabin."""


@dataclass(frozen=True, slots=True)
class Trail:
    """Which point draws the trail, and how."""

    point_b: tuple[float, float, float] = (0.0, 0.0, 0.0)
    along: str = ""
    """Observable whose way gives the direction of the point from the origin, where the trail follows one."""
    kept_s: float = 14.0
    """Simulated time after which a trail has faded."""
    spacing_m: float = 0.35
    clear_m: float | None = None
    """No trail nearer than this to where the vehicle is; None: as the camera's distance suggests."""
    alpha: float = 0.65
    fading: float = 1.5
    """How fast it fades with age: 1 evenly, more at first the higher."""


@dataclass(frozen=True, slots=True)
class Hull:
    """What parts the water, in the body frame."""

    bow_m: float
    stern_m: float
    half_beam_m: float
    surface: Surface | None = None
    """The closed surface by which it floats."""
    screws: tuple["Screw", ...] = ()


@dataclass(frozen=True, slots=True)
class Screw:
    """What throws water astern while it pushes ahead."""

    at_m: tuple[float, float, float]
    """In the body frame."""
    push: Term
    """Share of all that it can, -1..1."""


@dataclass(frozen=True, slots=True)
class Footprint:
    """What meets walls and cones, quays and buoys: a rectangle seen from above, in the body frame."""

    centre_m: tuple[float, float]
    half_m: tuple[float, float]
    """Half its length and half its width."""
    crash_mps: float = 8.0
    """What stays in place and is met faster than this ends the ride."""

    @property
    def array(self) -> np.ndarray:
        """(4,) centre x, y, half length, half width."""
        return np.array([*self.centre_m, *self.half_m])

    @property
    def reach_m(self) -> float:
        """From the body origin to the farthest corner."""
        (x, y), (length, width) = self.centre_m, self.half_m
        return float(np.hypot(abs(x) + length, abs(y) + width))


@dataclass(frozen=True, slots=True)
class Tracks:
    """What wheels leave on the ground."""

    wheels: tuple[tuple[Term, Term], ...]
    """Where they touch it, body x and y [m]."""
    width_m: float
    strength: float
    """How dark, 0..1."""


@dataclass(frozen=True, slots=True, eq=False)
class Outfit:
    """Everything about a vehicle but its mechanics. Immutable: a changed file makes another one."""

    folder: Path | None
    """Of its files; None for vehicles that have none."""
    contact: Contact
    modes: Modes
    raw: Raw
    keys: Keys
    instruments: Instruments
    camera: Camera
    trail: Trail
    model: Model
    hull: Hull | None = None
    tracks: Tracks | None = None
    footprint: Footprint | None = None

    def file(self, name: str) -> Path | None:
        """A file of its folder, where it is there."""
        path = None if self.folder is None else self.folder / name
        return path if path is not None and path.is_file() else None
