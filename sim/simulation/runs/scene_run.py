"""The lanes of a scene, their pilots and their clock. No threads, no wall time, no commands."""

import copy
import math
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from sim.control import ControllerPilot, Pilot, PilotInput
from sim.control.mpc import MpcPilot, MpcStatus
from sim.control.target_path import TargetPath
from sim.controllers import Controller
from sim.environment.environment import CoupledEnvironment, CoupledSpec
from sim.integrators import serving
from sim.platform.errors import InputError
from sim.platform.progress import TellShare
from sim.platform.values import dataclass
from sim.scene import FLOWN_LANE, MOST_LANES, Scene
from sim.scene.layout import Layout
from sim.scene.race import Timing
from sim.simulation.lanes.history import ControlHistory
from sim.simulation.lanes.impulses import Coupling
from sim.simulation.lanes.kernels import KernelStore
from sim.simulation.lanes.lane import Lane, lane_name, lane_picture
from sim.simulation.lanes.placing import Footing
from sim.simulation.lanes.recorder import Recorder
from sim.simulation.lanes.snapshot import (
    LaneLook,
    LaneSnapshot,
    Tint,
    next_tint,
)
from sim.simulation.runs.flight_control import (
    Autopilot,
    FlightControl,
    Hand,
    MpcFlight,
    PlanFlight,
    WhoFlies,
)
from sim.simulation.runs.reference import Ghosts, ReferenceComparison, rival_ghosts
from sim.simulation.runs.rewind import Rewind
from sim.simulation.runs.scene_setup import Encounter, start_node
from sim.steppers.dynamics import Dynamics
from sim.vehicles import Vehicle
from sim.world import World

MOST_DEBT_S = 0.25
"""Wall time that is caught up with; what is lost beyond it (a suspended laptop, a machine too slow) stays lost."""


_MEMORY_S = 0.5


@dataclass(slots=True)
class Clock:
    """How much simulated time has been asked for, and how well the machine keeps up with it."""

    time_s: float = 0.0
    speed: float = 1.0
    """Simulated seconds per wall second; the step never changes with it."""
    paused: bool = False
    _debt_s: float = 0.0
    _asked_s: float = 0.0
    _done_s: float = 0.0

    def ask(self, wall_s: float) -> None:
        """`wall_s` seconds of wall time have passed."""
        if not self.paused:
            self._debt_s = min(self._debt_s + max(wall_s, 0.0) * self.speed, MOST_DEBT_S * self.speed)

    @property
    def owed_s(self) -> float:
        """Simulated seconds that were asked for and not yet paid; none while paused."""
        return 0.0 if self.paused else self._debt_s

    def pay(self, seconds: float) -> None:
        """So many simulated seconds of those owed are done."""
        self._debt_s = max(self._debt_s - seconds, 0.0)

    def record(self, wall_s: float, done_s: float) -> None:
        """Note that `done_s` simulated seconds were reached in `wall_s` of wall time."""
        if self.paused or wall_s <= 0.0:
            return
        keep = math.exp(-wall_s / _MEMORY_S)
        self._asked_s = keep * self._asked_s + wall_s * self.speed
        self._done_s = keep * self._done_s + done_s

    def forget(self) -> None:
        """Owe nothing and start the measurement anew, after a pause or a change of speed."""
        self._debt_s = self._asked_s = self._done_s = 0.0

    @property
    def real_time_factor(self) -> float:
        """Simulated time reached over simulated time asked for, of the last half second; nan while paused."""
        if self.paused:
            return math.nan
        return self._done_s / self._asked_s if self._asked_s > 0.0 else 1.0


FLOWN = LaneLook(FLOWN_LANE, (1.0, 1.0, 1.0), ghost=False)


class SceneRun:
    """Everything that a scene puts in motion.

    Raises InputError where the scene asks for what cannot work.
    """

    def __init__(
        self,
        scene: Scene,
        world: World,
        kernels: KernelStore,
        progress: TellShare | None = None,
        environment: CoupledEnvironment | None = None,
    ) -> None:
        """`environment`: something that moves, to which the flown lane is coupled; else what the scene says."""
        self.scene, self.world, self.kernels = scene, world, kernels
        self.clock = Clock(speed=scene.speed)
        self._told_of: Pilot | None = None
        self.sticks = PilotInput()
        self.news = ""
        """What happened by itself and is worth telling; whoever tells it empties it."""
        self.vehicles: dict[str, Vehicle] = {scene.vehicle.name: scene.vehicle}
        """By name, with the parameters that each was flown with last."""
        self.lanes: list[Lane] = []
        self.accounts = False
        """What steps do to momentum is summed up."""
        self.history = ControlHistory()
        """Of the flown lane, for those that get its controls."""
        self.comparison = ReferenceComparison(kernels, self.history)
        self.ghosts = Ghosts()
        self.timing = None if scene.race is None else Timing(scene.race)
        self.rewind = Rewind(scene.name, world, kernels, self.lanes)
        vehicle = scene.vehicle
        self.control = FlightControl(scene, world, vehicle)
        wanted = [(scene.integrator, scene.step_s), *((s.integrator, s.step_s) for s in scene.lanes)]
        each = []
        for i, (integrator, step_s) in enumerate(wanted):
            if progress:
                progress(f"{integrator} for {vehicle.name}", i / len(wanted))
            each.append(Dynamics(vehicle, kernels.get(vehicle, integrator), step_s))
        footing = Footing(vehicle, world)
        start = start_node(scene.start, vehicle, footing, scene.target)
        bound_J = scene.comparison.energy_bound_J
        self._encounter = Encounter(scene, world, vehicle)
        if environment is None:
            environment = self._encounter.at_first(vehicle, start, footing)
        self.lanes.append(
            Lane(
                FLOWN,
                each[0],
                start,
                self.control.pilot(vehicle, flown=True),
                footing,
                history=self.history,
                energy_bound_J=bound_J,
                coupling=None if environment is None else Coupling(environment),
                timing=self.timing,
            )
        )
        for spec, dynamics in zip(scene.lanes, each[1:], strict=True):
            self.add_lane(
                dynamics,
                spec.name,
                spec.tint,
                own_pilot=spec.own_pilot,
                node=start,
                controller=spec.controller,
            )
        if scene.comparison.reference:
            self.comparison.start(vehicle, footing, start, 0.0)
        if progress:
            progress("ready", 1.0)

    @property
    def flown(self) -> Lane:
        return self.lanes[0]

    @property
    def vehicle(self) -> Vehicle:
        """With the parameters it has now; the same for all lanes."""
        return self.flown.dynamics.vehicle

    def advance(self, seconds: float) -> None:
        """Move the clock on by simulated seconds, and all lanes with it. Stands still once no lane runs.

        While a recording is shown, that goes on instead, up to its end.
        """
        replay = self.rewind.replay
        if replay is not None:
            replay.seek(replay.time_s + seconds)
            self.clock.paused = replay.at_end
        elif any(lane.running for lane in self.lanes):
            self.advance_to(self.clock.time_s + seconds)

    def advance_to(self, clock_s: float) -> None:
        """Set the clock and take all steps that are due. The end of a plan is stopped at."""
        flight = self.control.plan
        if flight is not None and self.clock.time_s >= flight.end_s:
            self.leave_plan()
            flight = None
        if flight is not None:
            clock_s = min(clock_s, flight.end_s)
        self._encounter.couple(self.flown)
        self.clock.time_s = clock_s
        self.comparison.forget(self.lanes)
        # The flown lane first: the others get its controls.
        for lane in self.lanes:
            lane.run_until(clock_s, self.sticks)
            self._hear(lane)
        if flight is not None and clock_s >= flight.end_s:
            self.clock.paused = True
            self.news = self.control.outcome = flight.outcome(self.flown.dynamics.vehicle, self.flown.node)
        if isinstance(self.control.now, MpcFlight) and not self.control.outcome:
            seen = self.mpc()
            self.control.outcome = "" if seen is None or seen.berth is None else seen.berth.outcome()
            self.news = self.control.outcome or self.news

    def _hear(self, lane: Lane) -> None:
        """Tell of a mistake of a lane's controller, once."""
        pilot = lane.pilot
        if isinstance(pilot, ControllerPilot) and pilot.fault and lane.running and pilot is not self._told_of:
            self._told_of, self.news = pilot, f"{pilot.fault}; its last controls are held"

    def give_to(self, who: WhoFlies) -> None:
        """Have all lanes flown by somebody else from where they are; after a plan the flown one has its method back."""
        flight, self.control.now = self.control.plan, who
        if flight is not None:
            self.flown.swap(flight.resume, self.flown.footing)
        for lane in self.lanes:
            if lane.controller is None:
                lane.pilot = self.pilot(lane)

    def leave_plan(self) -> None:
        """Back to the hand from a plan, or from plans to a berth, where the vehicle is."""
        now = self.control.now
        if isinstance(now, PlanFlight) or (isinstance(now, MpcFlight) and now.source.berth is not None):
            self.give_to(Hand())

    def mpc(self) -> MpcStatus | None:
        """How that goes; None where no plans are made in flight."""
        pilot = self.flown.pilot
        return pilot.status(self.flown.time_s) if isinstance(pilot, MpcPilot) else None

    def reset(self) -> None:
        """All lanes to the scene's start, with the methods and parameters they have now."""
        self.rewind.put_away()
        self.leave_plan()
        self.clock.time_s = 0.0
        self.clock.forget()
        self.history.clear()
        for lane in self.lanes:
            node = start_node(self.scene.start, lane.dynamics.vehicle, lane.footing, self.target)
            lane.restart(node, self.pilot(lane), 0.0)
            if lane is self.flown:
                self.comparison.restart(lane.dynamics.vehicle, lane.footing, node, 0.0)

    def pictures(self, span_s: float) -> tuple[LaneSnapshot, ...]:
        """All lanes at the moment that is shown and `span_s` before; then what was measured."""
        view = self.rewind.view
        lanes = self.rewind.pictures(span_s) or tuple(
            lane_picture(lane, span_s, self.comparison.deviation(lane)) for lane in self.lanes
        )
        time_s = self.clock.time_s if view is None else view.time_s
        rivals = () if self.timing is None else rival_ghosts(self.timing.standing, lanes[0], time_s)
        return lanes + self.ghosts.pictures(lanes[0], time_s) + rivals

    def lane(self, name: str) -> Lane:
        """By name; empty for the flown one."""
        for lane in self.lanes:
            if name in ("", lane.look.name):
                return lane
        raise InputError(f'no lane "{name}"; there are {", ".join(lane.look.name for lane in self.lanes)}')

    def add_lane(
        self,
        dynamics: Dynamics,
        name: str = "",
        tint: Tint | None = None,
        *,
        own_pilot: bool = False,
        node: np.ndarray | None = None,
        controller: Controller | None = None,
    ) -> Lane:
        """A comparison lane from the flown lane's present state, or from `node` at that time.

        controller: that flies it, whoever flies the others.
        """
        check_lane_count(len(self.lanes))
        taken = {lane.look.name for lane in self.lanes}
        if name in taken:
            raise InputError(f'there is a lane "{name}" already')
        tint = tint or next_tint(lane.look.tint for lane in self.lanes)
        look = LaneLook(name or _free_name(dynamics, taken), tint, ghost=True)
        flown = self.flown
        node = (flown.node if node is None else node).copy()
        lane = Lane(
            look,
            dynamics,
            node,
            copy.deepcopy(flown.pilot) if controller is None else ControllerPilot(controller),
            flown.footing.again(),
            history=self.history,
            follows=not own_pilot and controller is None,
            controller=controller,
            energy_bound_J=self.scene.comparison.energy_bound_J if self._as_in_scene else None,
            time_s=flown.time_s,
            coupling=self._among_bodies(dynamics.vehicle, node),
        )
        lane.observer.keep_account(on=self.accounts)
        self.lanes.append(lane)
        return lane

    def _among_bodies(self, vehicle: Vehicle, node: np.ndarray) -> Coupling | None:
        """Bodies of its own for another lane, where the flown one's are now; None where it meets none."""
        met = self.flown.coupling
        if met is None or met.solids is None:
            return None
        environment = self._encounter.at_first(vehicle, node, self.flown.footing)
        if environment is None:
            return None
        coupling = Coupling(environment)
        environment.renew(vehicle, self.flown.time_s)
        environment.restore(met.environment.checkpoint())
        return coupling

    def set_environment(self, spec: CoupledSpec) -> None:
        """Something else moves about the lanes from now on; what both have stays as it is. Recordings begin anew."""
        self.rewind.put_away()
        self.scene = replace(self.scene, environment=spec)
        self._encounter.scene = self.scene
        for lane in self.lanes:
            before = lane.coupling
            environment = self._encounter.at_first(lane.dynamics.vehicle, lane.node, lane.footing)
            lane.coupling = None if environment is None else Coupling(environment)
            if before is not None and before.solids is not None and lane.coupling is not None:
                lane.coupling.take_over(before)
            lane.pull, lane.recorder = None, Recorder()

    @property
    def layout(self) -> Layout:
        """Where start, gates and goals are."""
        return Layout.of(self.scene)

    def set_layout(self, layout: Layout) -> None:
        """Start, gates and goals are there from now on: a start counts from the next one on, a race begins anew."""
        before, scene = self.scene, layout.put_into(self.scene)
        self.scene = self._encounter.scene = self.control.scene = scene
        if scene.race != before.race:
            self.timing = self.flown.timing = None if scene.race is None else Timing(scene.race)
        if isinstance(self.control.now, Autopilot):
            self.give_to(self.control.now)

    def set_lane_pilot(self, lane: Lane, *, own: bool) -> None:
        """Give a comparison lane a pilot of its own (a copy of the flown lane's), or the flown lane's controls."""
        lane.follows, lane.controller = not own, None
        lane.pilot = copy.deepcopy(self.flown.pilot)

    def set_reference(self, on: bool) -> None:
        """Start a reference from the flown lane's present state, or end it."""
        if on:
            met = self.flown.coupling
            if self.scene.environment and met is not None and met.solids is not None:
                raise InputError(
                    "a reference meets none of the bodies about it; allowed: in scenes without any"
                )
            self.comparison.start(self.vehicle, self.flown.footing, self.flown.node, self.flown.time_s)
        else:
            self.comparison.stop()

    def keep_accounts(self, *, on: bool) -> None:
        """Of the momentum, in all lanes, from now on."""
        self.accounts = on
        for lane in self.lanes:
            lane.observer.keep_account(on=on)

    def vehicle_named(self, name: str) -> Vehicle:
        """With the parameters that the scene, or the user since, gave it."""
        if name not in self.vehicles:
            self.vehicles[name] = self.scene.vehicle_named(name)
        return self.vehicles[name]

    def dynamics_for(
        self, vehicle: Vehicle, integrators: Mapping[str, str] = MappingProxyType({})
    ) -> list[Dynamics]:
        """The lanes' methods, or those of `integrators` by lane, with another vehicle, or others that serve it; raises
        before anything is changed."""
        named = {lane.look.name: lane.dynamics.integrator for lane in self.lanes} | dict(integrators)
        return [
            replace(
                lane.dynamics,
                vehicle=vehicle,
                kernel=self.kernels.get(vehicle, serving(named[lane.look.name], vehicle)),
            )
            for lane in self.lanes
        ]

    def pilot(self, lane: Lane) -> Pilot:
        """A new one, of who flies now, or of the lane's own controller."""
        if lane.controller is not None:
            return ControllerPilot(lane.controller)
        return self.control.pilot(self.vehicle, flown=lane is self.flown)

    @property
    def target(self) -> TargetPath | None:
        """The path along which the target of the load is led."""
        return self.control.target(self.vehicle)

    @property
    def _as_in_scene(self) -> bool:
        """Whether the scene's own vehicle flies."""
        return self.vehicle.name == self.scene.vehicle.name


def check_lane_count(lanes: int) -> None:
    """Raises InputError where there is no room for one more lane."""
    if lanes >= MOST_LANES:
        raise InputError(f"no more than {MOST_LANES} lanes")


def _free_name(dynamics: Dynamics, taken: set[str]) -> str:
    own = lane_name(dynamics.integrator, dynamics.step_s)
    name, count = own, 2
    while name in taken:
        name, count = f"{own} #{count}", count + 1
    return name
