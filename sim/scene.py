"""A scene: what is simulated, where, and how it starts. Read from `scenes/NAME.toml`, refused strictly."""

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from sim.environment.moving import Moving, read_moving
from sim.errors import InputError, UntrustedFile, one_of
from sim.goals import Goal, read_goals
from sim.integrators import DEFAULT, integrators, serving
from sim.outfit import outfit_of
from sim.outfit.modes import MODES
from sim.toml_table import TomlTable
from sim.vehicles import enter_own, is_reference, vehicles
from sim.vehicles import known_vehicle as make_vehicle
from sim.vehicles.custom import OWN_FILE, own_file

SCENE_FILE = "scene.toml"
"""Of a vehicle's folder."""
SCENE_FOLDER = Path(__file__).resolve().parent.parent / "scenes"
WORLDS = ("canyon", "plain", "driving", "plaza", "harbour", "street", "underpass", "sea")
PADS = ("start", "landing")
CAMERAS = ("chase", "orbit", "cockpit", "tower", "free", "overview")
USUAL_VEHICLE = vehicles()[0]
STEP_RANGE_S = (1e-4, 0.5)
MOST_LANES = 8
"""The flown one among them."""
FLOWN_LANE = "flown"
"""Name of the lane that is there without being asked for."""

Vector = tuple[float, float, float]
ParameterValues = dict[str, float | tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class Start:
    """Where the flown vehicle starts: standing on a pad, or at a free position."""

    pad: str = ""
    """Name of a pad of the world; empty: `position_w` counts."""
    position_w: Vector = (0.0, 0.0, 0.0)
    """Of the body origin [m]."""
    heading_rad: float = 0.0
    """Rotation about world z from +x; with a pad, relative to the pad's own heading."""
    pitch_rad: float = 0.0
    """Nose down is positive (rotation about body y)."""
    roll_rad: float = 0.0
    """Right side down is positive (rotation about body x)."""
    velocity_b: Vector = (0.0, 0.0, 0.0)
    """Body velocity [m/s]."""
    omega_b: Vector = (0.0, 0.0, 0.0)
    """Body angular velocity [rad/s]."""


@dataclass(frozen=True, slots=True)
class LaneSpec:
    """A comparison lane beside the flown one: same vehicle and inputs, other method or step."""

    integrator: str
    step_s: float
    name: str = ""
    tint: Vector | None = None
    """Linear RGB, 0..1; None: chosen by the simulation."""
    own_pilot: bool = False
    """Flown by a pilot of its own, who sees this lane; else it gets the flown lane's controls, bit for bit."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """How the lanes of a scene are set beside one another."""

    reference: bool = False
    """A tight integration runs alongside, and errors are measured against it."""
    energy_bound_J: float | None = None
    """A lane whose energy leaves +- this has diverged; None: a bound that no pilot can reach."""
    views: int = 1
    """1: all lanes in one picture; 2, 3, 4: linked pictures, each showing its lane."""
    spread_m: float = 0.0
    """Drawn this far apart, sideways, in the one picture; their motion is not changed."""
    bearing_deg: float | None = None
    """Where the orbiting camera looks at first, counter-clockwise from +x; lanes are spread square to it."""
    distance: float = 1.0
    """Of the camera, in units of what suits the vehicle."""
    caption: str = ""
    """What is to be seen, for a line over the scene."""
    note: str = ""
    """Which settings show no such difference."""


@dataclass(frozen=True, slots=True)
class Sun:
    azimuth_deg: float = -143.7
    """Where the sun stands, counter-clockwise from +x."""
    elevation_deg: float = 41.6


@dataclass(frozen=True)
class Scene:
    """Everything a simulation starts from. Immutable; `with_overrides` makes a checked variant."""

    name: str
    title: str
    text: str = ""
    """A few sentences for the user."""
    world: str = "canyon"
    seed: int = 7
    vehicle: str = USUAL_VEHICLE
    integrator: str = DEFAULT
    step_s: float = 0.01
    flight_mode: str = "attitude"
    camera: str = "chase"
    start: Start = Start(pad="start")
    sun: Sun = Sun()
    lanes: tuple[LaneSpec, ...] = ()
    comparison: Comparison = Comparison()
    goals: tuple[Goal, ...] = ()
    """What is to be done, one after the other."""
    trim: dict[str, float] = field(default_factory=dict)
    """By control name: added to what the pilot of the scene's vehicle gives, so that nothing has to be held."""
    parameters: dict[str, ParameterValues] = field(default_factory=dict)
    """Per vehicle name: values that differ from the vehicle's defaults."""
    environment: Moving | None = None
    """What moves by itself and is coupled to the flown vehicle."""
    path: Path | None = None
    """Where it was read, or the vehicle's folder that it is of; None for the scenes of the project."""
    plan: TomlTable | None = None
    """The unread `[plan]` table, which the planner reads strictly; None where the scene plans nothing."""


def scene_names() -> tuple[str, ...]:
    """Names of the scenes that come with the project, sorted."""
    return tuple(sorted(path.stem for path in SCENE_FOLDER.glob("*.toml")))


def load_scene(name_or_path: str | Path, *, trusted: bool | Path = False) -> Scene:
    """Read and check a scene.

    `name_or_path` is the name of a scene in `scenes/`, the path of a TOML file, or a vehicle of one's own: a folder
    (its `scene.toml`, or a plain around it) or FILE.py:CLASS. A vehicle's file that a scene names is run where it lies
    in the scene's own folder; any other one only where the user has said `trusted`,
    of all or of that file; without that word UntrustedFile is raised.
    Raises InputError, one line with file, key and what is allowed.
    """
    text = str(name_or_path)
    if os.path.isdir(text):  # unlike Path.is_dir it answers for what no system can look for, too
        return _scene_of_folder(Path(text), trusted)
    if is_reference(text):
        return _scene_around(text)
    if text in scene_names():
        path = SCENE_FOLDER / f"{text}.toml"
        source = f"scenes/{text}.toml"
    elif text.endswith(".toml"):
        path, source = Path(text), text
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
    return replace(_scene_around(f"{folder.as_posix()}/"), path=folder)


def _scene_around(reference: str) -> Scene:
    """A plain with a vehicle of one's own, under the first integrator that serves it."""
    name = _entered(reference)
    instance = make_vehicle(name)
    serving = [method for method, each in integrators().items() if not each.serves(instance)]
    start = Start(position_w=(0.0, 0.0, outfit_of(name).contact.soles_m))
    integrator = DEFAULT if DEFAULT in serving else serving[0]
    return Scene(name, name.capitalize(), world="plain", vehicle=name, integrator=integrator, start=start)


def _entered(reference: str, *folders: Path) -> str:
    """Load a vehicle of one's own with all its files; returns its name."""
    name = enter_own(reference, *folders)
    outfit_of(name)
    return name


def with_overrides(
    scene: Scene,
    *,
    vehicle: str | None = None,
    integrator: str | None = None,
    step_s: float | None = None,
    camera: str | None = None,
) -> Scene:
    """The scene with another vehicle, integrator, step or camera, checked; InputError names the option."""
    if camera is not None:
        if camera not in CAMERAS:
            raise InputError(f'--camera: unknown "{camera}"; allowed: {one_of(CAMERAS, camera)}')
        scene = replace(scene, camera=camera)
    if vehicle is not None:
        if is_reference(vehicle):
            vehicle = _entered(vehicle)
        _check_vehicle(vehicle, "--vehicle")
        scene = replace(scene, vehicle=vehicle)
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
        scene = replace(scene, integrator=serving(scene.integrator, make_vehicle(vehicle)))
    if integrator is not None or vehicle is not None:
        _check_integrator(scene.integrator, scene.vehicle, "--integrator")
    return scene


def _read_scene(table: TomlTable, path: Path, trusted: bool | Path) -> Scene:
    name = path.stem
    vehicle = _read_vehicle(table, path.parent, trusted)
    integrator = table.name("integrator", integrators(), DEFAULT)
    _check_integrator(integrator, vehicle, table.place("integrator"))
    step_s = table.number("step_s", 0.01, low=STEP_RANGE_S[0], high=STEP_RANGE_S[1])
    world = table.table("world")
    scene = Scene(
        name=name,
        title=table.text("title", name),
        text=" ".join(table.text("text").split()),
        world=world.name("name", WORLDS, "canyon"),
        seed=world.integer("seed", 7, low=0, high=2**31 - 1),
        vehicle=vehicle,
        integrator=integrator,
        step_s=step_s,
        flight_mode=table.name("flight_mode", MODES, "attitude"),
        camera=table.name("camera", CAMERAS, "chase"),
        start=_read_start(table.table("start")),
        sun=_read_sun(table.table("sun")),
        lanes=_read_lanes(table, vehicle, step_s),
        comparison=_read_comparison(table.table("comparison")),
        goals=read_goals(table, vehicle, PADS),
        trim=_read_trim(table.table("trim"), vehicle),
        parameters=_read_parameters(table.table("parameters")),
        environment=_read_environment(table, vehicle),
        plan=table.table("plan") if table.has("plan") else None,
    )
    world.finish()
    table.finish()
    return scene


def _read_vehicle(table: TomlTable, folder: Path, trusted: bool | Path) -> str:
    """A name, or FILE.py:CLASS with the file in the scene's folder; where trusted, also elsewhere."""
    name = table.text("vehicle", USUAL_VEHICLE)
    if not is_reference(name):
        if name not in vehicles():
            raise table.error(
                "vehicle", f'unknown "{name}"; allowed: {one_of(vehicles(), name)}, or FILE.py:CLASS'
            )
        return name
    try:
        path = own_file(name, (folder, Path.cwd()))
        if trusted not in (True, path) and not path.is_relative_to(folder.resolve()):
            text = f"{path} lies outside the scene's folder; allowed: one within, or any with --trust"
            raise UntrustedFile(str(table.error("vehicle", text)), path)
        name = enter_own(name, folder)
    except UntrustedFile:
        raise
    except InputError as error:
        raise table.error("vehicle", str(error)) from None
    outfit_of(name)  # what is wrong in its own file is told as that file's
    return name


def _read_start(table: TomlTable) -> Start:
    if table.has("pad") and table.has("position_m"):
        raise table.error("pad", "cannot stand beside position_m; allowed: one of the two")
    free = table.has("position_m")
    start = Start(
        pad="" if free else table.name("pad", PADS, "start"),
        position_w=_vector(table, "position_m", 1e5),
        heading_rad=math.radians(table.number("heading_deg", 0.0, low=-360.0, high=360.0)),
        pitch_rad=math.radians(table.number("pitch_deg", 0.0, low=-180.0, high=180.0)),
        roll_rad=math.radians(table.number("roll_deg", 0.0, low=-180.0, high=180.0)),
        velocity_b=_vector(table, "velocity_mps", 1e3),
        omega_b=_vector(table, "omega_radps", 1e3),
    )
    table.finish()
    return start


def _read_sun(table: TomlTable) -> Sun:
    usual = Sun()
    sun = Sun(
        azimuth_deg=table.number("azimuth_deg", usual.azimuth_deg, low=-360.0, high=360.0),
        elevation_deg=table.number("elevation_deg", usual.elevation_deg, low=1.0, high=90.0),
    )
    table.finish()
    return sun


def _read_lanes(table: TomlTable, vehicle: str, step_s: float) -> tuple[LaneSpec, ...]:
    tables = table.tables("lanes")
    if len(tables) >= MOST_LANES:
        raise table.error(
            "lanes", f"{len(tables)} are refused; allowed: {MOST_LANES - 1} beside the flown one"
        )
    taken = {FLOWN_LANE}
    lanes = []
    for lane_table in tables:
        lane = _read_lane(lane_table, vehicle, step_s)
        if lane.name in taken:
            raise lane_table.error("name", f'"{lane.name}" is taken; allowed: a name that no other lane has')
        if lane.name:
            taken.add(lane.name)
        lanes.append(lane)
    return tuple(lanes)


def _read_lane(table: TomlTable, vehicle: str, step_s: float) -> LaneSpec:
    integrator = table.name("integrator", integrators(), DEFAULT)
    _check_integrator(integrator, vehicle, table.place("integrator"))
    tint = table.numbers("tint", (), low=0.0, high=1.0, count=3)
    lane = LaneSpec(
        integrator=integrator,
        step_s=table.number("step_s", step_s, low=STEP_RANGE_S[0], high=STEP_RANGE_S[1]),
        name=table.text("name"),
        tint=(tint[0], tint[1], tint[2]) if tint else None,
        own_pilot=table.flag("own_pilot", False),
    )
    table.finish()
    return lane


def _read_comparison(table: TomlTable) -> Comparison:
    bound = table.number("energy_bound_J", 0.0, low=0.0, high=1e15)
    comparison = Comparison(
        reference=table.flag("reference", False),
        energy_bound_J=bound or None,
        views=table.integer("views", 1, low=1, high=4),
        spread_m=table.number("spread_m", 0.0, low=0.0, high=100.0),
        bearing_deg=table.number("bearing_deg", 0.0, low=-360.0, high=360.0)
        if table.has("bearing_deg")
        else None,
        distance=table.number("distance", 1.0, low=0.25, high=8.0),
        caption=" ".join(table.text("caption").split()),
        note=" ".join(table.text("note").split()),
    )
    table.finish()
    return comparison


def _read_environment(table: TomlTable, vehicle: str) -> Moving | None:
    moving = read_moving(table)
    if moving is not None and not make_vehicle(vehicle).takes_impulses:
        raise table.error("environment", f"nothing that moves can be coupled to {vehicle}")
    return moving


def _read_trim(table: TomlTable, vehicle: str) -> dict[str, float]:
    controls = {control.name: control for control in make_vehicle(vehicle).controls}
    trim = {}
    for name in table.names():
        if name not in controls:
            raise table.error(name, f"unknown control of {vehicle}; allowed: {one_of(controls)}")
        control = controls[name]
        trim[name] = table.number(name, 0.0, low=control.low, high=control.high)
    table.finish()
    return trim


def _read_parameters(table: TomlTable) -> dict[str, ParameterValues]:
    parameters: dict[str, ParameterValues] = {}
    for vehicle in table.names():
        if vehicle not in vehicles():
            raise table.error(vehicle, f"unknown vehicle; allowed: {one_of(vehicles(), vehicle)}")
        values = table.table(vehicle)
        parameters[vehicle] = {key: values.value(key) for key in values.names()}
        for key in parameters[vehicle]:
            _check_parameter(vehicle, key, parameters[vehicle], values)
    return parameters


def _check_parameter(
    vehicle: str, key: str, given: Mapping[str, float | tuple[float, ...]], table: TomlTable
) -> None:
    """One value, beside those that say how many numbers it has."""
    declared = {parameter.name: parameter for parameter in make_vehicle(vehicle).parameters}
    if key not in declared:
        raise table.error(key, f"unknown parameter; allowed: {one_of(declared, key)}")
    per = declared[key].per
    try:
        make_vehicle(vehicle, **{name: given[name] for name in (per, key) if name in given})
    except InputError as error:
        raise table.error(key, str(error)) from None


def _check_vehicle(vehicle: str, source: str) -> None:
    if vehicle not in vehicles():
        raise InputError(f'{source}: unknown "{vehicle}"; allowed: {one_of(vehicles())}')


def _check_integrator(integrator: str, vehicle: str, source: str) -> None:
    methods = integrators()
    if integrator not in methods:
        raise InputError(f'{source}: unknown "{integrator}"; allowed: {one_of(methods, integrator)}')
    instance = make_vehicle(vehicle)
    reason = methods[integrator].serves(instance)
    if reason:
        serving = (name for name, method in methods.items() if not method.serves(instance))
        raise InputError(
            f'{source}: "{integrator}" does not serve {vehicle} ({reason}); allowed: {one_of(serving, integrator)}'
        )


def _vector(table: TomlTable, key: str, bound: float) -> Vector:
    x, y, z = table.numbers(key, (0.0, 0.0, 0.0), low=-bound, high=bound, count=3)
    return (x, y, z)
