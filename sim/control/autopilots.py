"""A work cycle: what servos hold is taken from pose to pose, without end.

A servo is a spring and a damper at its joint. The torques are those by which one whose rest moves along the cycle
differs from the one that stands still, so what servos do against pulls and weight they go on doing.
"""

from collections.abc import Callable

import numpy as np

from sim.control.balancing import CalmTopPilot, RollRoundPilot, SteadyPilot, SwingUpPilot
from sim.control.driving import LineDrive, LineRide, SkatePilot
from sim.control.flying import HoverPilot, RouteFlight
from sim.control.helm import SailPilot
from sim.control.load_leading import LeadPilot
from sim.control.pilot import Automatic, Mission, Pilot, Sensed
from sim.controllers import PilotInput
from sim.platform.errors import InputError, one_of
from sim.platform.values import dataclass
from sim.vehicle_config import VehicleConfig, config_of
from sim.vehicle_config.modes import AFLOAT, BALANCING, DRIVING, FLYING, RIDING, lacking
from sim.vehicles import VEHICLES, Vehicle
from sim.vehicles.forms.articulated import ArticulatedVehicle

MOVING_SHARE = 0.75
"""Of the time that a pose has; the rest of it is stood there."""


class CyclePilot(Automatic):
    """Serves trees of bodies whose controls are torques at joints with springs."""

    def __init__(self, mission: Mission) -> None:
        del mission
        self._began_s: float | None = None

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """(n_controls,) [N m or N], within their ranges."""
        assert isinstance(vehicle, ArticulatedVehicle)
        if self._began_s is None:
            self._began_s = sensed.time_s
        cycle, driven, arrays = config_of(vehicle).modes.cycle, vehicle.driven, vehicle.tree.arrays
        off, rate = along(cycle.poses, cycle.pose_s, sensed.time_s + 0.5 * dt_s - self._began_s)
        wanted = arrays.stiffness[driven] * off + arrays.damping[driven] * rate
        low = np.array([control.low for control in vehicle.controls])
        high = np.array([control.high for control in vehicle.controls])
        return np.clip(wanted, low, high)


def along(
    poses: tuple[tuple[float, ...], ...], pose_s: float, time_s: float
) -> tuple[np.ndarray, np.ndarray]:
    """Where the joints are off their rests after that time, and its rate: from none to the first pose, and so on.

    By the quintic that begins and ends without speed and acceleration.
    """
    number, part = divmod(time_s / pose_s, 1.0)
    to = np.array(poses[int(number) % len(poses)])
    before = np.array(poses[(int(number) - 1) % len(poses)]) if number >= 1.0 else np.zeros(len(to))
    s = min(part / MOVING_SHARE, 1.0)
    share = s**3 * (10.0 + s * (6.0 * s - 15.0))
    slope = 30.0 * (s * (1.0 - s)) ** 2 / (MOVING_SHARE * pose_s)
    return before + share * (to - before), slope * (to - before)


@dataclass(frozen=True, slots=True)
class Kind:
    """An autopilot."""

    does: str
    """What a user sees of it, in a sentence."""
    make: Callable[[Mission], Pilot]
    needs: tuple[str, ...]
    """Parameters that it reads of a vehicle."""


def _route(mission: Mission) -> Pilot:
    """Where there is nowhere to land it hovers."""
    if mission.landing_w is None:
        return HoverPilot(mission)
    return RouteFlight(mission, mission.landing_w)


AUTOPILOTS: dict[str, Kind] = {
    "route": Kind(
        "Takes off as goals want it, flies along the world's safe way, and lands on the far pad.",
        _route,
        FLYING,
    ),
    "hover": Kind(
        "Rises, goes to the goals' places in turn, and holds the last one, wind or not.", HoverPilot, FLYING
    ),
    "line": Kind(
        "Drives the lap, or through the gates of a race; without either it stops.", LineDrive, DRIVING
    ),
    "ride-line": Kind(
        "Rides the lap and leans into its bends; without a line it rides on.", LineRide, BALANCING
    ),
    "sail": Kind(
        "Goes to the goals' places in turn, and lies at the last one against wind and waves.",
        SailPilot,
        AFLOAT,
    ),
    "gait": Kind(
        "Swings torso and feet: to the goals' places in turn, then round the last one.", SkatePilot, RIDING
    ),
    "steady": Kind("Stops all turning, then holds the attitude.", SteadyPilot, ("inertia",)),
    "calm": Kind(
        "Takes the nodding out of the top, and leaves its spin and its going round.",
        CalmTopPilot,
        ("arm", "inertia"),
    ),
    "lead": Kind(
        "Leads the load's target along the scene's way, or round a level circle.", LeadPilot, ("target_drag",)
    ),
    "cycle": Kind(
        "Goes from pose to pose, round and round, about where the servos hold it.",
        CyclePilot,
        ("hold", "gravity"),
    ),
    "roll-round": Kind(
        "Rolls upright round a circle at a steady speed.",
        RollRoundPilot,
        ("mass", "radius", "axial_inertia", "diametral_inertia", "gravity"),
    ),
    "swing-up": Kind(
        "Swings a rod with motors up and keeps it standing; several rods, or by hand, it calms.",
        SwingUpPilot,
        ("links", "mass", "length", "gravity", "pivot_motor"),
    ),
}
"""By the name that a vehicle's config gives."""


def autopilot_of(vehicle: Vehicle | type[Vehicle]) -> Kind | None:
    """None where a vehicle has none.

    As `autopilot_in`, which whoever reads a vehicle's files asks once.
    """
    return autopilot_in(config_of(vehicle), vehicle)


def autopilot_in(config: VehicleConfig, vehicle: Vehicle | type[Vehicle]) -> Kind | None:
    """The one that a vehicle's config names.

    Raises InputError for a name that is none of them, and for a vehicle without what its autopilot reads.
    """
    name = config.modes.autopilot
    if not name:
        return None
    place = f"{vehicle.name}/vehicle.toml: modes.autopilot"
    if name not in AUTOPILOTS:
        raise InputError(f'{place}: unknown "{name}"; allowed: {one_of(AUTOPILOTS, name)}')
    kind, declared = AUTOPILOTS[name], {parameter.name for parameter in vehicle.parameters}
    missing = [parameter for parameter in kind.needs if parameter not in declared]
    if missing:
        raise InputError(f"{place}: {lacking(name, missing[0], kind.needs)}")
    return kind


def has_autopilot(vehicle: Vehicle | type[Vehicle]) -> bool:
    """Whether there is one."""
    return autopilot_of(vehicle) is not None


def vehicles_with_autopilot() -> tuple[str, ...]:
    """Their names."""
    return tuple(name for name, kind in VEHICLES.items() if has_autopilot(kind))
