"""Who flies: hand, autopilot, a plan, or plans made anew. Owns that, and makes the pilots."""

import copy

import numpy as np

from sim.control import MODES, Pilot, autopilot_of, default_mode, flight_modes, has_autopilot, resting_mode
from sim.control.load_leading import LedPilot
from sim.control.mpc import MpcPilot, PlanSource
from sim.control.pilot import ControllerPilot, HeldControls, TrimmedPilot
from sim.control.plan_following import PlannedPilot
from sim.control.target_path import TargetPath
from sim.controllers import Controller
from sim.planner.task.bodies import positions
from sim.platform.values import dataclass
from sim.scene import Scene
from sim.simulation.runs.scene_setup import mission_of
from sim.steppers.dynamics import Dynamics
from sim.vehicles import Vehicle
from sim.world import World


@dataclass(frozen=True, slots=True)
class Hand:
    """The sticks, in the flight mode."""


@dataclass(frozen=True, slots=True)
class Autopilot:
    """The vehicle's own."""


@dataclass(frozen=True, slots=True, eq=False)
class PlanFlight:
    """A plan, from the start that it has to its end."""

    pilot: PlannedPilot
    """Every lane gets a copy."""
    end_s: float
    end: np.ndarray
    """Flat node that was planned for the end."""
    resume: Dynamics
    """Of the flown lane before."""
    lost_m: float = 0.0
    """How far its inputs alone would lead astray, where errors are fed back for that; else 0."""

    def outcome(self, vehicle: Vehicle, node: np.ndarray) -> str:
        """How well a vehicle that is at a flat node ended: by the place of its main body, of an arm its tool."""
        here, wanted = positions(vehicle, np.stack([node, self.end]))
        missed = float(np.linalg.norm(here - wanted))
        told = f"plan flown: {self.end_s:.2f} s, {missed:.2g} m beside its end"
        return f"{told}; open loop it would be {self.lost_m:.2g} m" if self.lost_m else told


@dataclass(frozen=True, slots=True, eq=False)
class OtherProgram:
    """Another program, which gives the controls themselves."""

    values: np.ndarray
    """(n_controls,) until others are given."""


@dataclass(frozen=True, slots=True, eq=False)
class MpcFlight:
    """Plans that are made anew all the time; of the lanes beside the flown one the hand."""

    source: PlanSource


@dataclass(frozen=True, slots=True, eq=False)
class ControllerFlight:
    """A controller: the user's, or one of the project's."""

    controller: Controller


WhoFlies = Hand | Autopilot | PlanFlight | MpcFlight | OtherProgram | ControllerFlight


class FlightControl:
    """Knows who flies, in which mode the hand would, and how the last plan or course ended."""

    def __init__(self, scene: Scene, world: World, vehicle: Vehicle) -> None:
        self.scene, self._world = scene, world
        self._asked_mode = scene.flight_mode
        self.now: WhoFlies = Hand() if scene.controller is None else ControllerFlight(scene.controller)
        self.mode = _mode(self._asked_mode, vehicle)
        self.outcome = ""
        """How the last flight of a plan, or to a berth, ended; empty since another one began."""

    @property
    def plan(self) -> PlanFlight | None:
        """That is flown, if one is."""
        return self.now if isinstance(self.now, PlanFlight) else None

    def choose_mode(self, mode: str) -> None:
        """Of the hand, from now on and for vehicles to come."""
        self.mode = self._asked_mode = mode

    def suit(self, vehicle: Vehicle, *, other: bool) -> None:
        """Keep who flies and the flight mode that was asked for, as far as a vehicle has them.

        other: it is not the one that was flown until now; no plan serves it.
        """
        of_one = MpcFlight | OtherProgram | ControllerFlight
        ends = isinstance(self.now, of_one) if other else False
        if ends or (isinstance(self.now, Autopilot) and not has_autopilot(vehicle)):
            self.now = Hand()
        self.mode = _mode(self._asked_mode, vehicle)

    def pilot(self, vehicle: Vehicle, *, flown: bool) -> Pilot:
        """A new one for a lane. flown: it is the one that the user flies."""
        now, autopilot = self.now, autopilot_of(vehicle)
        if isinstance(now, PlanFlight):
            return copy.deepcopy(now.pilot)
        if isinstance(now, OtherProgram):
            return HeldControls(now.values)
        if isinstance(now, Autopilot) and autopilot is not None:
            return autopilot.make(mission_of(self.scene, self._world))
        if isinstance(now, ControllerFlight):
            return ControllerPilot(now.controller)
        if isinstance(now, MpcFlight) and flown:
            return MpcPilot(now.source, self._hand(vehicle), MODES[resting_mode(vehicle)])
        return self._hand(vehicle)

    def target(self, vehicle: Vehicle) -> TargetPath | None:
        """The path along which the target of the load is led."""
        return self.scene.target if vehicle.name == self.scene.vehicle.name else None

    def _hand(self, vehicle: Vehicle) -> Pilot:
        pilot, target = MODES[self.mode](), self.target(vehicle)
        if self.scene.trim and vehicle.name == self.scene.vehicle.name:
            pilot = TrimmedPilot(pilot, self.scene.trim)
        return pilot if target is None else LedPilot(pilot, target)


def _mode(wanted: str, vehicle: Vehicle) -> str:
    return wanted if wanted in flight_modes(vehicle) else default_mode(vehicle)
