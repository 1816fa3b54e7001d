"""Decides whether a lane has to stop: crash, collision, fall, ditching or divergence, and says why in a sentence."""

import math

import numpy as np

from sim.compiler import NEWTON_FAILED, NOT_FINITE
from sim.environment.environment import Impact
from sim.platform.values import dataclass
from sim.recordings.take import LaneStatus
from sim.simulation.lanes.impulses import Coupling
from sim.simulation.lanes.placing import LAID, Footing
from sim.steppers.dynamics import Bounds
from sim.vehicle_config import config_of
from sim.vehicle_config.config import Fall, Footprint
from sim.vehicles import Vehicle
from sim.vehicles.forms.form import Support
from sim.vehicles.forms.observation import Observation
from sim.world import World

HARD_TOUCH_MPS = 3.0
"""The skids bear less than this."""
CRASH_TOUCH_MPS = 0.3
"""Rotor, tail and cabin bear nothing; slower than this they only graze."""


@dataclass(frozen=True, slots=True)
class Termination:
    """Why a lane stops."""

    status: LaneStatus
    text: str


def crash(impact: Impact) -> Termination | None:
    """Whether a touch was too hard."""
    if impact.hull_mps > CRASH_TOUCH_MPS:
        speed = max(impact.hull_mps, impact.skids_mps)
        return Termination(
            LaneStatus.CRASHED, f"crashed at {speed:.1f} m/s: rotor or hull touched the ground"
        )
    if impact.skids_mps > HARD_TOUCH_MPS:
        return Termination(
            LaneStatus.CRASHED, f"crashed at {impact.skids_mps:.1f} m/s: the skids hit too hard"
        )
    return None


def hull_crash(impact: Impact, under_water: bool, speed_mps: float) -> Termination | None:
    """Whether what breaks has come to its end, on the ground or in river or lake."""
    if under_water and crash(impact) is None:
        return Termination(LaneStatus.CRASHED, f"ditched at {speed_mps:.1f} m/s: rotor or hull met the water")
    return crash(impact)


def collision(met_mps: float, footprint: Footprint | None) -> Termination | None:
    """Whether something that stays in place was met too fast."""
    if footprint is None or met_mps <= footprint.crash_mps:
        return None
    return Termination(LaneStatus.CRASHED, f"crashed at {met_mps:.1f} m/s into what stands in the way")


def fallen(seen: Observation, fall: Fall | None) -> Termination | None:
    """Whether it leans so far that it lies on the ground."""
    if fall is None:
        return None
    lean = float(seen.layout.value(fall.lean, seen.row))
    if abs(lean) <= fall.most_rad:
        return None
    return Termination(LaneStatus.CRASHED, f"fell over: it leaned by {math.degrees(abs(lean)):.0f} degrees")


def off_the_map(world: World, support: Support, place_w: np.ndarray) -> Termination | None:
    """Whether what is laid on the ground has come to where a map ends whose land is drawn on, at heights of its own.

    place_w: (2,) or more, x and y [m].
    """
    if support not in LAID or (world.river is None and world.grounds is None):
        return None
    x, y = float(place_w[0]), float(place_w[1])
    (x_low, y_low), (x_high, y_high) = world.terrain.low_m, world.terrain.high_m
    if x_low <= x <= x_high and y_low <= y <= y_high:
        return None
    return Termination(LaneStatus.OFF_MAP, f"the map ends here, at x = {x:.0f} m, y = {y:.0f} m")


def energy_bound(vehicle: Vehicle, energy_start_J: float) -> float:
    """Energy [J] that no pilot can have brought the vehicle to: that of 100 m/s, a thousand times over."""
    mass = vehicle.values.get("mass", 1.0)
    kinetic = 0.5 * float(np.max(mass)) * 100.0**2
    return 1e3 * (kinetic + abs(energy_start_J))


def divergence(
    where: str,
    status: int,
    vehicle: Vehicle,
    node: np.ndarray,
    energy_J: float,
    bounds: Bounds,
    step_s: float,
    time_s: float,
) -> Termination | None:
    """Whether a rollout went wrong.

    where: names vehicle and method; status: of the kernel; node: flat, the last good one.
    """
    when = f"at t = {time_s:.2f} s"
    if status == NEWTON_FAILED:
        return _diverged(f"{where}: the step's equations have no solution {when}")
    if status == NOT_FINITE:
        return _diverged(f"{where}: {_runaway(vehicle, node, step_s)} not finite {when}")
    if bounds.hold(node, energy_J):
        return None
    beyond = bounds.first_beyond(vehicle, node[None], np.array([energy_J]))
    return _diverged(f"{where}: {beyond[1]} {when}") if beyond is not None else None


def _diverged(text: str) -> Termination:
    return Termination(LaneStatus.DIVERGED, text)


def _runaway(vehicle: Vehicle, node: np.ndarray, step_s: float) -> str:
    """The quantity that went out of bounds first: the largest one, in what a step can bear."""
    velocity, turning = node[vehicle.node_layout.velocity], vehicle.angular
    # Turns of more than a radian a step are what breaks a method; translation follows.
    turn = step_s * float(np.abs(velocity[turning]).max(initial=0.0))
    travel = step_s * float(np.abs(velocity[~turning]).max(initial=0.0)) / 1e3
    if not math.isfinite(turn) or turn > max(travel, 0.5):
        return "angular velocity"
    return "velocity" if not math.isfinite(travel) or travel > 0.0 else "position"


def termination(
    vehicle: Vehicle, node: np.ndarray, seen: Observation, footing: Footing, coupling: Coupling | None
) -> Termination | None:
    """Why it stops, on the ground, in water or at what stands in the way; None where it goes on. seen: at the node."""
    config, stopped = config_of(vehicle), None
    impact = footing.environment.take_impact()
    if config.contact.fragile:
        speed_mps = float(np.linalg.norm(seen.twist_b[3:]))
        stopped = hull_crash(impact, footing.environment.submerged(node), speed_mps)
    met_mps = impact.skids_mps if coupling is None else max(impact.skids_mps, coupling.take_impact_mps())
    stopped = stopped or collision(met_mps, config.footprint) or fallen(seen, config.fall)
    if stopped is not None or vehicle.support not in LAID:
        return stopped
    return off_the_map(footing.world, vehicle.support, node[vehicle.group.position])
