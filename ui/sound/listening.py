"""From snapshots to what is to be heard of the flown vehicle, by what it has: rotors, wheels, a hull. Pure."""

import math

import numpy as np

from sim.snapshot import LaneSnapshot, LaneStatus, Snapshot
from sim.vehicle_config import VehicleConfig, config_named
from ui.sound.synthesis import Tones

FULL_WIND_MPS, FULL_WATER_MPS, FULL_WHEELS_MPS = 60.0, 9.0, 12.0
SLAP_MPS = 45.0
"""Of air speed at which blades beat hardest."""
SCREW_HZ = (14.0, 46.0)
ENGINE_HZ = (22.0, 130.0)
FULL_ENGINE_MPS = 25.0
PUSHED_KG = 150.0
"""What rolls and is heavier than this has an engine."""


def heard(snapshot: Snapshot) -> Tones:
    """Silent while it waits, looks back paused, or lies broken."""
    lane = snapshot.lanes[0]
    if snapshot.paused or lane.status is not LaneStatus.RUNNING or not np.isfinite(lane.twist_b).all():
        return Tones()
    config = config_named(lane.vehicle)
    speed_mps = float(np.linalg.norm(lane.twist_b[3:]))
    rotor_hz, rotor, slap = _rotor(lane, config, speed_mps)

    afloat, rolls = config.hull is not None, config.tracks is not None
    engine_hz, engine = 0.0, 0.0
    if afloat:
        effort = _effort(lane)
        engine_hz, engine = SCREW_HZ[0] + (SCREW_HZ[1] - SCREW_HZ[0]) * effort, 0.25 + 0.75 * effort
    elif rolls and _mass_kg(lane) > PUSHED_KG:
        gear = min(speed_mps / FULL_ENGINE_MPS, 1.0)
        engine_hz, engine = ENGINE_HZ[0] + (ENGINE_HZ[1] - ENGINE_HZ[0]) * gear, 0.3 + 0.5 * _effort(lane)
    rolling = min(speed_mps / FULL_WHEELS_MPS, 1.0) if rolls else 0.0
    return Tones(
        rotor_hz=rotor_hz,
        rotor=rotor,
        slap=slap,
        engine_hz=engine_hz,
        engine=engine,
        wind=min(speed_mps / FULL_WIND_MPS, 1.0) ** 2,
        water=min(speed_mps / FULL_WATER_MPS, 1.0) if afloat else 0.0,
        tyres=rolling if engine else 0.0,
        wheels=0.0 if engine else rolling,
    )


def _rotor(lane: LaneSnapshot, config: VehicleConfig, speed_mps: float) -> tuple[float, float, float]:
    """(blade passing frequency [Hz], level, slap) of the largest rotor: louder with thrust, harder with speed too."""
    if not config.model.rotors:
        return 0.0, 0.0, 0.0
    main = max(config.model.rotors, key=lambda rotor: rotor.radius_m)
    load = lane.told("lift_over_weight")
    load = min(max(load, 0.0), 3.0) if math.isfinite(load) else 1.0
    passing_hz = main.blades * abs(main.spin_radps) / (2.0 * math.pi)
    return passing_hz, level_of(load), min(0.25 * load + 0.5 * min(speed_mps / SLAP_MPS, 1.0), 1.0)


def level_of(load: float) -> float:
    """Of a rotor that carries so many times the weight: heard when idle, and louder with every bit of thrust."""
    return 0.15 + 0.85 * (1.0 - math.exp(-load))


def _mass_kg(lane: LaneSnapshot) -> float:
    mass = lane.parameters.get("mass", 0.0)
    return float(mass) if np.ndim(mass) == 0 else 0.0


def _effort(lane: LaneSnapshot) -> float:
    """0..1 of what the controls do, against the largest that has any meaning to the ear."""
    force = float(np.abs(lane.controls).max(initial=0.0))
    return force / (force + 400.0)
