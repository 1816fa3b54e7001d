"""Scenes of problems: `./run ledger-NAME` opens a problem's vehicle where the problem starts it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sim.control.flight_modes import mixed, usual_mixes
from sim.controllers import PilotInput
from sim.integrators import default_for
from sim.platform.errors import InputError, one_of
from sim.scene import Scene, Start, load_scene, with_overrides
from sim.scene.tables import Sun
from sim.vehicle_config.registry import config_of, enter_config
from sim.vehicles import VEHICLES, Vehicle
from sim.vehicles.forms.form import Support
from studies.ledger import problems
from studies.ledger.mechanism import HeldMechanism
from studies.ledger.problem import Problem
from studies.ledger.speeds import RatesVehicle

PREFIX = "ledger-"
_WORLDS = {Support.STAND: "hall", Support.WATER: "sea", Support.SURFACE: "harbour"}
"""Of what is held or floats, and of boats; of what is free and has no weight, orbit; of all else, the plain."""
_ORBIT_SUN = Sun(azimuth_deg=160.0, elevation_deg=30.0)
"""Beside the planet, not behind what is looked at."""


def is_weightless(vehicle: Vehicle) -> bool:
    """It is free, and nothing pulls it down."""
    return vehicle.support is Support.NOTHING and not np.any(vehicle.values.get("gravity", 0.0))


def scene_names() -> tuple[str, ...]:
    """Of the problems that have one."""
    return tuple(f"{PREFIX}{problem.name}" for problem in problems() if problem.scene is not None)


def pictured() -> tuple[str, ...]:
    """Of those that have a picture of their own."""
    return tuple(f"{PREFIX}{p.name}" for p in problems() if p.scene is not None and not p.pictured_by)


def load_problem(name: str, *, trusted: bool | Path = False, **chosen: Any) -> Scene:
    """As `sim.scene.load_scene`, with what is given besides."""
    return with_overrides(scene_of(name), trusted=trusted, **chosen)


def scene_of(name: str) -> Scene:
    """By the name of a scene. Raises InputError for a problem that there is not, or that has none."""
    known = {f"{PREFIX}{problem.name}": problem for problem in problems()}
    if name not in known or known[name].scene is None:
        raise InputError(f'unknown scene "{name}"; allowed: {one_of(sorted(scene_names()), name)}')
    problem = known[name]
    assert problem.scene is not None
    told = f"A problem whose answer is known: {problem.quantity}, to {problem.known_digits} digits. They are from: "
    told += f"{problem.source}. "
    how = "how many of them are met, by which method and in which time, is told by"
    if isinstance(problem.scene, str):
        shown = load_scene(problem.scene)
        shown = replace(shown, name=name, title=problem.title, goals=(), onward="")
        text = f"{told}Here is its like; {how} holonomy ledger {problem.name}."
        return replace(shown, text=text, **problem.shown())
    vehicle, begun = problem.scene()
    own = problem.shown()
    begins = "Here is its like" if "environment" in own else "Here it goes on from where it starts"
    VEHICLES.setdefault(vehicle.name, type(vehicle))  # as a vehicle of one's own is, when it is opened
    if isinstance(vehicle, HeldMechanism | RatesVehicle):
        config = config_of(vehicle)
        camera = replace(config.camera, lift_m=0.0)
        enter_config(type(vehicle), replace(config, camera=camera))
    world = "orbit" if is_weightless(vehicle) else _WORLDS.get(vehicle.support, "plain")
    scene = Scene(
        name,
        problem.title,
        f"{told}{begins}; {how} holonomy ledger {problem.name}.",
        world=world,
        sun=_ORBIT_SUN if world == "orbit" else Sun(),
        vehicle=vehicle,
        integrator=default_for(vehicle),
        step_s=vehicle.mechanism.shown_step_s if isinstance(vehicle, HeldMechanism) else 0.005,
        speed=vehicle.mechanism.shown_speed if isinstance(vehicle, HeldMechanism) else 1.0,
        trim=dict(vehicle.mechanism.torques)
        if isinstance(vehicle, HeldMechanism)
        else _trim(vehicle, problem),
        flight_mode="raw",
        camera="orbit",
        start=Start(node=(vehicle.name, tuple(begun.node.tolist()))),
    )
    return replace(scene, **own)


def _trim(vehicle: Vehicle, problem: Problem) -> dict[str, float]:
    """What is held, beside what centred sticks give, such as a hover's lift."""
    mixes = config_of(vehicle).raw.mixes or usual_mixes(vehicle)
    names = [control.name for control in vehicle.controls]
    centred = dict(zip(names, mixed(mixes, PilotInput(), vehicle).tolist(), strict=True))
    return {name: value - centred[name] for name, value in problem.held.items()}
