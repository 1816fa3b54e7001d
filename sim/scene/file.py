"""A scene: what is simulated, where, and how it starts. Read from `scenes/NAME.toml`, refused strictly."""

import math
import os
from collections.abc import Callable
from dataclasses import field, replace
from pathlib import Path

from sim.control.autopilots import autopilot_of
from sim.control.feedback import controller_named
from sim.control.target_path import TargetPath, read_target
from sim.controllers import Controller, ControlLoop, gains_of, made_controller
from sim.environment.environment import CoupledSpec
from sim.integrators import DEFAULT, default_for, serving
from sim.platform.errors import InputError, UntrustedFile, one_of, quote
from sim.platform.toml_table import TomlTable
from sim.platform.user_files import require_trust
from sim.platform.values import dataclass
from sim.scene.goals import SceneGoal, read_goals
from sim.scene.heading import SCENE_FOLDER, scene_names, title_and_text
from sim.scene.race import Course, read_course
from sim.scene.tables import (
    FLOWN_LANE,
    MOST_LANES,
    PADS,
    SPEED_RANGE,
    STEP_RANGE_S,
    USUAL_COMPARISON,
    USUAL_START,
    USUAL_SUN,
    Comparison,
    LaneSpec,
    ParameterValues,
    Start,
    Sun,
    Swell,
    check_integrator,
    read_comparison,
    read_environment,
    read_integrator,
    read_lanes,
    read_parameters,
    read_start,
    read_sun,
    read_swell,
    read_trim,
)
from sim.vehicle_config import VehicleConfig, config_of
from sim.vehicle_config.modes import FLIGHT_MODES
from sim.vehicle_config.registry import with_old_values
from sim.vehicles import VEHICLES, Vehicle, enter_own, is_reference, is_robot_file, known_vehicle, vehicles
from sim.vehicles.forms.articulated import ArticulatedVehicle
from sim.vehicles.forms.custom import OWN_FILE, own_file
from sim.vehicles.forms.form import Support
from sim.vehicles.forms.robot import RobotVehicle

__all__ = [
    "CAMERAS",
    "FLOWN_LANE",
    "MOST_LANES",
    "PADS",
    "SCENE_FILE",
    "SCENE_FOLDER",
    "SPEED_RANGE",
    "STEP_RANGE_S",
    "USUAL_VEHICLE",
    "WORLDS",
    "Comparison",
    "LaneSpec",
    "Scene",
    "Start",
    "Sun",
    "load_scene",
    "scene_names",
    "with_overrides",
]

SCENE_FILE = "scene.toml"
"""Of a vehicle's folder."""
_PROJECT = (SCENE_FOLDER, SCENE_FOLDER.parent / "examples")
"""Folders of the project's own scenes: what lies there came with it."""
ROBOT_SCENE = "robot"
"""In which a robot's file is opened."""
WORLDS = ("canyon", "plain", "driving", "plaza", "hall", "harbour", "street", "underpass", "sea", "orbit")
CAMERAS = ("chase", "orbit", "cockpit", "tower", "fly-by", "crane", "director", "free", "overview")
USUAL_VEHICLE = vehicles()[0]


@dataclass(frozen=True)
class Scene:
    """Everything a simulation starts from. Immutable; `with_overrides` makes a checked variant."""

    name: str
    title: str
    text: str = ""
    """A few sentences for the user."""
    world: str = "canyon"
    seed: int = 7
    vehicle: Vehicle = field(default_factory=lambda: known_vehicle(USUAL_VEHICLE))
    """That flies first, with the parameters that it has here."""
    integrator: str = DEFAULT
    step_s: float = 0.01
    speed: float = 1.0
    """Simulated seconds per wall second, to begin with; within SPEED_RANGE."""
    flight_mode: str = "attitude"
    controller: Controller | None = None
    """That flies it at first; None: the hand does."""
    camera: str = "chase"
    start: Start = USUAL_START
    sun: Sun = USUAL_SUN
    swell: Swell | None = None
    """On a sea that carries nothing; None: it lies still."""
    lanes: tuple[LaneSpec, ...] = ()
    comparison: Comparison = USUAL_COMPARISON
    goals: tuple[SceneGoal, ...] = ()
    """What is to be done, one after the other."""
    onward: str = ""
    """The scene to be opened next, once all of that is done; empty where none follows."""
    race: Course | None = None
    """Gates to be passed in the least time."""
    trim: dict[str, float] = field(default_factory=dict)
    """By control name: added to what the pilot of the scene's vehicle gives, so that nothing has to be held."""
    parameters: dict[str, ParameterValues] = field(default_factory=dict)
    """Of what else may be flown here, by its name: values that differ from its defaults."""
    target: TargetPath | None = None
    """Along which the target of the load is led, of what follows one."""
    environment: CoupledSpec | None = None
    """What moves by itself and is coupled to the flown vehicle."""
    path: Path | None = None
    """Where it was read, or the vehicle's folder that it is of; None for the scenes of the project."""
    plan: TomlTable | None = None
    """The unread `[plan]` table, which the planner reads strictly; None where the scene plans nothing."""
    plan_optional: bool = False
    """The scene is about something else: it does not wait for its plan, and what is no arm and does not walk goes
    without."""

    def __post_init__(self) -> None:
        if self.vehicle.name in self.parameters:
            raise InputError(
                f"scene {self.name!r}: parameters of {self.vehicle.name} are its vehicle's own; allowed: of others"
            )

    @property
    def config(self) -> VehicleConfig:
        """How its vehicle is flown, drawn, and touches the ground."""
        return config_of(self.vehicle)

    def vehicle_named(self, name: str) -> Vehicle:
        """Any vehicle by name, with the parameters that it has here. Raises InputError for one that nobody knows."""
        if name != self.vehicle.name:
            return known_vehicle(name, **self.parameters.get(name, {}))
        kind = VEHICLES.get(name)
        if kind is None or kind is type(self.vehicle):
            return self.vehicle
        return with_old_values(kind, self.vehicle)

    def flown_by(self, vehicle: Vehicle) -> "Scene":
        """The same with another vehicle, or with other parameters of its own; what it had is kept."""
        parameters = {self.vehicle.name: self.vehicle.changed} | self.parameters
        return replace(
            self,
            vehicle=vehicle,
            parameters={name: parameters[name] for name in parameters if name != vehicle.name},
            plan=None if self.plan_optional and not _is_planned(vehicle) else self.plan,
        )


def _is_planned(vehicle: Vehicle) -> bool:
    """What a scene that is about something else has plans for: what floats on water, trees of joints that are held, and
    have motors, and what walks."""
    if vehicle.support is Support.WATER:
        return True
    return isinstance(vehicle, ArticulatedVehicle) and (
        vehicle.walks or (not vehicle.free and bool(vehicle.controls))
    )


def load_scene(
    name_or_path: str | Path,
    *,
    trusted: bool | Path = False,
    vehicle: str | None = None,
    integrator: str | None = None,
    step_s: float | None = None,
    camera: str | None = None,
    controller: str | None = None,
) -> Scene:
    """Read and check a scene; what is given besides counts instead of what it says, as in `with_overrides`.

    `name_or_path` is the name of a scene in `scenes/`, the path of a TOML file, or a vehicle of one's own: a folder
    (its `scene.toml`, or a plain around it), FILE.py:CLASS, or a robot's URDF or MJCF file; `examples/NAME` is found
    from any folder. A program of the user's is run only from a folder that he has trusted: before, or now by `trusted`,
    which is his word for all that this scene names or for that file only; without it UntrustedFile is raised.
    Raises InputError, one line with file, key and what is allowed.
    """
    return with_overrides(
        _loaded(str(name_or_path), trusted),
        vehicle=vehicle,
        integrator=integrator,
        step_s=step_s,
        camera=camera,
        controller=controller,
        trusted=trusted,
    )


def _loaded(text: str, trusted: bool | Path) -> Scene:
    if text.startswith("examples/") and not os.path.exists(text):
        text = str(SCENE_FOLDER.parent / text)
    if os.path.isdir(text):  # unlike Path.is_dir it answers for what no system can look for, too
        return _scene_of_folder(Path(text), trusted)
    if is_robot_file(text):
        return _scene_of_robot(text)
    if is_reference(text):
        return _scene_around(text, trusted)
    if text in scene_names():
        path = SCENE_FOLDER / f"{text}.toml"
        source = f"scenes/{text}.toml"
    elif text.endswith(".toml"):
        path, source = Path(text), text
    elif os.path.isfile(text):
        raise InputError(
            f"{quote(text)} cannot be opened; allowed: a scene (.toml), a robot (.urdf, .xml), a vehicle's folder, "
            "in a window a take (.npz) too"
        )
    else:
        raise InputError(
            f'unknown scene "{text}"; allowed: {one_of(scene_names(), text)}, '
            "the path of a .toml file, or of a vehicle's folder"
        )
    scene = _read_scene(TomlTable.read(path, source), path, trusted)
    return scene if path.parent == SCENE_FOLDER else replace(scene, path=path)


def _scene_of_folder(folder: Path, trusted: bool | Path) -> Scene:
    """The scene in a vehicle's folder; without one the vehicle stands on a plain."""
    path = folder / SCENE_FILE
    if path.is_file():
        scene = _read_scene(TomlTable.read(path, path.as_posix()), path, trusted)
        return replace(scene, name=folder.resolve().name, path=folder)
    if not (folder / OWN_FILE).is_file():
        raise InputError(
            f"{folder}: no {SCENE_FILE} and no {OWN_FILE} in it; allowed: a folder with one of them"
        )
    return replace(_scene_around(f"{folder.as_posix()}/", trusted), path=folder)


def _scene_of_robot(reference: str) -> Scene:
    """The scene of robots with one of the user's."""
    scene = with_overrides(load_scene(ROBOT_SCENE), vehicle=reference)
    return replace(scene, name=scene.vehicle.name, title=scene.vehicle.name, path=Path(reference))


def _scene_around(reference: str, trusted: bool | Path) -> Scene:
    """A plain with a vehicle of one's own, under the integrator that is usual for such a vehicle."""
    name = entered(reference, trusted=trusted)
    vehicle = known_vehicle(name)
    autopilot_of(vehicle)  # refuses one that does not suit it
    start = Start(position_w=(0.0, 0.0, config_of(vehicle).contact.soles_m))
    return Scene(
        name, name.capitalize(), world="plain", vehicle=vehicle, integrator=default_for(vehicle), start=start
    )


def entered(
    reference: str, *folders: Path, trusted: bool | Path = False, say: Callable[[str], str] = str
) -> str:
    """Load a vehicle of one's own, looked for in the folders, then in the current one.

    Returns its name. Raises UntrustedFile, in the words of `say`, for a program that `trusted` does not let run.
    """
    if not is_robot_file(reference):
        file = own_file(reference, (*folders, Path.cwd()))
        if not any(file.is_relative_to(folder.resolve()) for folder in _PROJECT):
            require_trust(file, trusted, say)
    return enter_own(reference, *folders)


def with_overrides(
    scene: Scene,
    *,
    vehicle: str | None = None,
    integrator: str | None = None,
    step_s: float | None = None,
    camera: str | None = None,
    controller: str | None = None,
    trusted: bool | Path = False,
) -> Scene:
    """The scene with another vehicle, integrator, step, camera or controller, checked; InputError names the option.

    A robot whose file asks for shorter steps than the scene's gets them, where none are named.
    trusted: as for `load_scene`.
    """
    if camera is not None:
        if camera not in CAMERAS:
            raise InputError(f'--camera: unknown "{camera}"; allowed: {one_of(CAMERAS, camera)}')
        scene = replace(scene, camera=camera)
    if vehicle is not None:
        if is_reference(vehicle):
            vehicle = entered(vehicle, trusted=trusted)
        _check_vehicle(vehicle, "--vehicle")
        scene = scene.flown_by(scene.vehicle_named(vehicle))
        autopilot_of(scene.vehicle)  # what is wrong in its own file is told now
        if isinstance(scene.vehicle, RobotVehicle) and scene.vehicle.file:
            own_s = max(scene.vehicle.robot.step_s, STEP_RANGE_S[0])
            scene = replace(scene, step_s=min(scene.step_s, own_s))
    if step_s is not None:
        low, high = STEP_RANGE_S
        if not (math.isfinite(step_s) and low <= step_s <= high):
            raise InputError(
                f"--step: {step_s} is refused; allowed: a number from {low:g} to {high:g} (seconds)"
            )
        scene = replace(scene, step_s=step_s)
    if integrator is not None:
        scene = replace(scene, integrator=integrator)
    elif vehicle is not None:
        scene = replace(scene, integrator=serving(scene.integrator, scene.vehicle))
    if integrator is not None or vehicle is not None:
        check_integrator(scene.integrator, scene.vehicle, "--integrator")
    if controller is not None:
        made = made_controller(controller_named(controller, trusted=trusted))
        ControlLoop(made, scene.vehicle)  # refuses what cannot serve the vehicle
        scene = replace(scene, controller=made)
    return scene


def _read_scene(table: TomlTable, path: Path, trusted: bool | Path) -> Scene:
    name = path.stem
    named = _read_vehicle(table, path.parent, trusted)
    parameters = read_parameters(table.table("parameters"))
    try:
        vehicle = known_vehicle(named, **parameters.pop(named, {}))
    except InputError as error:
        raise table.error("parameters", str(error)) from None
    integrator = read_integrator(table, vehicle)
    step_s = table.number("step_s", 0.01, low=STEP_RANGE_S[0], high=STEP_RANGE_S[1])
    world = table.table("world")
    title, text = title_and_text(table, name)
    comparison = read_comparison(table.table("comparison"))
    environment = read_environment(table, vehicle, referenced=comparison.reference)
    plan = table.table("plan") if table.has("plan") else None
    world_name = world.name("name", WORLDS, "canyon")
    scene = Scene(
        name=name,
        title=title,
        text=text,
        world=world_name,
        seed=world.integer("seed", 7, low=0, high=2**31 - 1),
        vehicle=vehicle,
        integrator=integrator,
        step_s=step_s,
        speed=table.number("speed", 1.0, low=SPEED_RANGE[0], high=SPEED_RANGE[1]),
        flight_mode=table.name("flight_mode", FLIGHT_MODES, "attitude"),
        camera=table.name("camera", CAMERAS, "chase"),
        start=read_start(table.table("start")),
        sun=read_sun(table.table("sun")),
        swell=read_swell(table, vehicle, world_name),
        lanes=read_lanes(table, vehicle, step_s, lambda lane: _read_controller(lane, path.parent, trusted)),
        controller=_read_controller(table, path.parent, trusted),
        comparison=comparison,
        goals=read_goals(table, vehicle, config_of(vehicle), PADS),
        onward=table.name("onward", ("", *scene_names()), ""),
        race=read_course(table),
        trim=read_trim(table.table("trim"), vehicle),
        parameters=parameters,
        target=read_target(table, vehicle),
        environment=environment,
        plan=plan,
        plan_optional=plan is not None and plan.again().flag("optional", False),
    )
    world.finish()
    table.finish()
    return scene


def _read_vehicle(table: TomlTable, folder: Path, trusted: bool | Path) -> str:
    """A name, or FILE.py:CLASS, looked for in the scene's folder and then in the current one."""
    name = table.text("vehicle", USUAL_VEHICLE)
    if not is_reference(name):
        if name not in vehicles():
            raise table.error(
                "vehicle", f'unknown "{name}"; allowed: {one_of(vehicles(), name)}, or FILE.py:CLASS'
            )
        return name
    try:
        if is_robot_file(name):
            path = own_file(name, (folder, Path.cwd()))
            if trusted not in (True, path) and not path.is_relative_to(folder.resolve()):
                raise InputError(f"{path} lies outside the scene's folder; allowed: one within")
        name = entered(name, folder, trusted=trusted, say=lambda text: str(table.error("vehicle", text)))
    except UntrustedFile:
        raise
    except InputError as error:
        raise table.error("vehicle", str(error)) from None
    autopilot_of(known_vehicle(name))  # what is wrong in its own file is told as that file's
    return name


def _read_controller(table: TomlTable, folder: Path, trusted: bool | Path) -> Controller | None:
    """`controller`, one of the project's or FILE.py:CLASS, and `[gains]` of it."""
    reference = table.text("controller")
    if not reference:
        return None
    try:
        kind = controller_named(reference, folder, trusted=trusted)
        gains = table.table("gains")
        given = {
            name: gains.number(name, gain.default, low=gain.low, high=gain.high)
            for name, gain in gains_of(kind).items()
            if gains.has(name)
        }
        gains.finish()
        return made_controller(kind, given)
    except UntrustedFile:
        raise
    except InputError as error:
        raise table.error("controller", str(error)) from None


def _check_vehicle(vehicle: str, source: str) -> None:
    if vehicle not in vehicles():
        raise InputError(f'{source}: unknown "{vehicle}"; allowed: {one_of(vehicles())}')
