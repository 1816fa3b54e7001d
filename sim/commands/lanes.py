"""Lanes: their vehicle, its parameters, their methods, and what is shown beside them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sim.measured import Measured
    from sim.outfit.own import Renewal
    from sim.race.rival import Rival


@dataclass(frozen=True, slots=True)
class SetVehicle:
    """Swap the vehicle of all lanes; the new one starts where the old one was."""

    name: str


@dataclass(frozen=True, slots=True)
class RenewVehicle:
    """A vehicle of one's own takes the place of the one of that name: its files have changed."""

    renewal: "Renewal"


@dataclass(frozen=True, slots=True)
class SetParameter:
    """One vehicle parameter in SI units, on all lanes."""

    name: str
    value: float | tuple[float, ...]
    vehicle: str = ""
    """That it is meant for, which has to be the present one; empty: whichever is flown."""


@dataclass(frozen=True, slots=True)
class SetIntegrator:
    """Swap the integrator of a lane in flight; pose and node velocity are kept."""

    name: str
    lane: str = ""
    """Empty: the flown lane."""


@dataclass(frozen=True, slots=True)
class SetStep:
    """Change h of a lane in flight [s]; pose and node velocity are kept."""

    step_s: float
    lane: str = ""


@dataclass(frozen=True, slots=True)
class GiveUpWaiting:
    """What waits for a kernel that is being compiled is not done after all; everything stays as it is."""


@dataclass(frozen=True, slots=True)
class AddLane:
    """A further lane from the flown lane's present state, same inputs, other method or step.

    There are `sim.scene.MOST_LANES` at most.
    """

    integrator: str
    step_s: float
    tint: tuple[float, float, float] | None = None
    name: str = ""
    own_pilot: bool = False
    """A pilot of its own flies it; else it gets the flown lane's controls, bit for bit."""


@dataclass(frozen=True, slots=True)
class RemoveLane:
    lane: str


@dataclass(frozen=True, slots=True)
class SetLaneTint:
    """Recolour a lane."""

    lane: str
    tint: tuple[float, float, float]
    """Linear RGB, 0..1."""


@dataclass(frozen=True, slots=True)
class SetLanePilot:
    """Give a comparison lane a pilot of its own, or the flown lane's controls."""

    lane: str
    own: bool


@dataclass(frozen=True, slots=True)
class SetReference:
    """Start a tight integration from the flown lane's present state, or stop it."""

    on: bool


@dataclass(frozen=True, slots=True, eq=False)
class ShowMeasured:
    """Show measured poses as a ghost beside the lanes."""

    measured: "Measured"


@dataclass(frozen=True, slots=True, eq=False)
class RaceAgainst:
    """Show somebody as a ghost in the scene's race, in place of one of the same name."""

    rival: "Rival"
