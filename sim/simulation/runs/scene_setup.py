"""What a scene gives its lanes: where they start, what moves that they meet, and where its autopilots are sent."""

from itertools import takewhile

import numpy as np

from sim.contact.obstacles import Obstacles, obstacles_in
from sim.control.pilot import Mission
from sim.control.target_path import TargetPath
from sim.environment.environment import CoupledEnvironment, kind_of
from sim.scene import Scene, Start
from sim.scene.conditions import Height, Speed
from sim.scene.race import Course
from sim.simulation.lanes.impulses import Coupling
from sim.simulation.lanes.lane import Lane
from sim.simulation.lanes.placing import Footing, Placement, node_at, placement
from sim.simulation.runs.reference import reference_method
from sim.vehicles import ArticulatedVehicle, Vehicle
from sim.vehicles.forms.form import Support
from sim.vehicles.forms.homogeneous import Leader, has_leader
from sim.world import World
from sim.world.path import arc_length


def fixed_point_w(start: Start, vehicle: Vehicle, world: World) -> tuple[float, float, float]:
    """About which what a stand holds turns at the scene's start; the world's origin for all else."""
    if vehicle.support is not Support.STAND:
        return (0.0, 0.0, 0.0)
    footing = Footing(vehicle, world)
    start_node(start, vehicle, footing)
    assert footing.pivot_w is not None
    x, y, z = map(float, footing.pivot_w)
    return x, y, z


def start_node(
    start: Start, vehicle: Vehicle, footing: Footing, target: TargetPath | None = None
) -> np.ndarray:
    """Flat node of a vehicle at the scene's start, where `footing` is put; what follows a target has it on its path.

    Raises InputError for an unknown pad.
    """
    named, given = start.node
    if named == vehicle.name:
        footing.put_at(np.asarray(start.position_w, float))
        return np.array(given)
    there = start.pose(footing.world, footing.soles_m)
    T_wb = kind_of(vehicle).settled(vehicle, there)
    footing.put_at(there[:3, 3])
    node = node_at(vehicle, Placement(T_wb, np.array([*start.omega_b, *start.velocity_b])))
    if target is not None and has_leader(vehicle):
        aim = target.at(0.0)
        node = Leader.of(vehicle).put(node, aim.place, aim.velocity)
    # What is below the place of a long thing's first body is not meant to start in the ground.
    return footing.environment.lift_out(node) if vehicle.links else node


class Encounter:
    """Knows for which vehicle obstacles were looked for."""

    def __init__(self, scene: Scene, world: World, vehicle: Vehicle) -> None:
        self.scene, self._world, self._looked_for = scene, world, vehicle.name

    def at_first(self, vehicle: Vehicle, node: np.ndarray, footing: Footing) -> CoupledEnvironment | None:
        """For a vehicle that begins at a node."""
        world, moving = self._world, self.scene.environment
        if moving is None:
            return _unplaced(world, vehicle)
        begun = moving.begun(vehicle, placement(vehicle, node, world, footing.pivot_w).T_wb, world)
        return begun if world.water_level_m is None else _afloat(begun, world, vehicle)

    def couple(self, flown: Lane) -> None:
        """What is flown by now may meet what the vehicle before it flew over."""
        vehicle, met = flown.dynamics.vehicle, flown.coupling
        if self._looked_for == vehicle.name:
            return
        self._looked_for = vehicle.name
        if met is None or (self.scene.environment is None and not isinstance(met.environment, Obstacles)):
            around = _unplaced(self._world, vehicle)
            flown.coupling = None if around is None else Coupling(around)


def _afloat(environment: CoupledEnvironment, world: World, vehicle: Vehicle) -> CoupledEnvironment:
    """With props that float."""
    from sim.contact.obstacles.props import Props  # its kernels are loaded where bodies touch

    if isinstance(environment, Props):
        from sim.water.floating import FloatingBodies  # water takes half a second
        from sim.water.water import weather_of

        weather = weather_of(vehicle.values) if vehicle.support is Support.WATER else None
        environment.surroundings = FloatingBodies(world, weather, environment.shapes)
    return environment


def _unplaced(world: World, vehicle: Vehicle) -> CoupledEnvironment | None:
    """What a vehicle meets where a scene puts nothing up: what stands about, and itself."""
    if not isinstance(vehicle, ArticulatedVehicle):
        return obstacles_in(world, vehicle)
    if not vehicle.meets_itself and (world.grounds is None or not world.grounds.standing):
        return None
    from sim.contact.obstacles.props import Props  # its kernels are loaded where bodies touch

    return Props((), world, vehicle, None)


_RUN_M = 30.0
"""Before the first gate and beyond the last one of a course that does not lead round."""
_SPACING_M = 2.0


def mission_of(scene: Scene, world: World) -> Mission:
    """Gates of a race come before the world's own lap."""
    fixed = (goal.place.fixed_w(world) for goal in scene.goals if goal.place is not None)
    places = tuple(place for place in fixed if place is not None)
    lap = np.zeros((0, 2)) if world.grounds is None else world.grounds.lap
    line, closed = (lap, True) if scene.race is None else (through(scene.race), scene.race.closed)
    landing_w = world.pads[-1].centre_w if world.pads else None
    before = tuple(takewhile(lambda goal: goal.place is None, scene.goals)) if places else ()
    still_s = sum(goal.hold_s for goal in before if goal.find(Speed) is not None)
    heights = (height.low for goal in before if not goal.body and (height := goal.find(Height)) is not None)
    return Mission(
        world.path, landing_w, line, closed, places, scene.target, still_s, rise_m=max(heights, default=0.0)
    )


def through(course: Course) -> np.ndarray:
    """(n, 2) m: a smooth line through the middles of the gates in their directions."""
    from scipy.interpolate import CubicHermiteSpline  # takes a while, and few scenes have gates

    gates = [*course.gates, *course.gates[: int(course.closed)]]
    places = np.array([gate.centre_w[:2] for gate in gates])
    ways = np.array([gate.frame()[0, :2] for gate in gates])
    if not course.closed:
        places = np.vstack([places[0] - _RUN_M * ways[0], places, places[-1] + _RUN_M * ways[-1]])
        ways = np.vstack([ways[:1], ways, ways[-1:]])
    along = arc_length(places)
    spline = CubicHermiteSpline(along, places, ways)
    return np.asarray(spline(np.linspace(0.0, along[-1], int(along[-1] / _SPACING_M) + 2)))


def starting_methods(scene: Scene) -> tuple[Vehicle, tuple[str, ...]]:
    """A scene's vehicle, and the methods that its lanes and its reference start with, each once."""
    vehicle = scene.vehicle
    names = [scene.integrator, *(lane.integrator for lane in scene.lanes)]
    if scene.comparison.reference:
        names.append(reference_method(vehicle))
    return vehicle, tuple(dict.fromkeys(names))
