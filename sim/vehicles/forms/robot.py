"""Robots as vehicles: the tree, shapes and motors of a description, with a servo in every hinge and slide.

Their files are read within the bounds of `sim.read_robot`; nothing of them is run.
"""

import math
import sys
from collections.abc import MutableMapping
from dataclasses import replace
from functools import cached_property, lru_cache
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from sim.multibody.arrays import FREE, PRISMATIC, REVOLUTE, TreeArrays, workspace
from sim.multibody.declaration import WORLD, Gear, Loop
from sim.multibody.kinematics import momenta, place
from sim.multibody.observing import body_frames
from sim.multibody.robots.robot import Geom, Robot, capsules_of, hull_of, lowest_m
from sim.multibody.shapes import STAND, Link, Touching, hinges_of, links_of
from sim.multibody.stepping import node_force
from sim.multibody.tree import Tree, is_angle
from sim.platform.errors import InputError, one_of, quote
from sim.platform.values import dataclass
from sim.vehicles.forms.articulated import ArticulatedVehicle, ClosedVehicle
from sim.vehicles.forms.base import Vehicle, usable
from sim.vehicles.forms.form import State
from sim.vehicles.forms.parameters import Control, Parameter

HOLD_RADPS = 10.0
"""Of the servos, where nothing else is said."""
DAMPING_RATIO = 0.7
MOST_TARGETS = 64
_FEW = 0.5
"""Of its bodies: a file that shows fewer leaves the rest to a skin."""
_LOW = 0.25
"""Of the trunk's height above the lowest foot at the start: what is higher is a hand."""
_SINGULAR = 1e-10
"""Least eigenvalue of the mass matrix with ones on its diagonal."""
_TURN_RAD, _SLIDE_M = math.pi, 1.0
"""How far targets reach where a joint has no limits."""


@dataclass(frozen=True, slots=True)
class Servo:
    """What holds one hinge or slide to its target."""

    parameter: str
    """Name of its target."""
    at: int
    """In the velocities."""


@dataclass(frozen=True, slots=True)
class Property:
    """A mass or a damping as a parameter."""

    declared: Parameter
    at: int
    """Of a mass, the body of the arrays; of a damping, where its joint is in the velocities."""
    damps: bool


class RobotVehicle(ArticulatedVehicle):
    """Subclasses name a robot. Its controls are torques and forces of the motored joints and tendons, its parameters
    gravity, the servos' rate, a target for each hinge and slide, and of each body its mass and the damping of its
    joint."""

    meets_itself = True
    robot: Robot
    file: tuple[Path, bool] | None = None
    """That it was read from, and whether its root floats; None for the project's."""
    servos: tuple[Servo, ...] = ()
    solids: tuple[Geom, ...] = ()
    """Shapes that its file shows on its bodies."""
    capsules: tuple[Link, ...] = ()
    """About its shapes, unseen."""
    properties: tuple["Property", ...] = ()
    """Masses of its bodies and damping of its joints that can be set."""

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if "robot" not in vars(cls):
            return
        robot = cls.robot
        cls.solids = _shown(robot)
        cls.capsules = capsules_of(_felt(robot))
        if "feet" not in vars(cls) and int(robot.tree.arrays.kind[0]) == FREE:
            cls.feet, cls.across = _feet(robot, cls.capsules), None
        cls.apart = robot.apart
        cls.servos = tuple(_servos(robot))
        gravity = _length(robot.tree.arrays.gravity_w)  # thousands where a file's lengths are in millimetres
        cls.parameters = (
            Parameter(
                "hold",
                "rad/s",
                HOLD_RADPS,
                0.0,
                100.0,
                "How fast each joint goes to its target, with what it moves at the start; 0: limp, as its file has it.",
            ),
            Parameter("gravity", "m/s^2", gravity, 0.0, max(100.0, 2.0 * gravity), "Its size."),
            *(_target(robot, servo) for servo in cls.servos[:MOST_TARGETS]),
        )
        cls.properties = tuple(_properties(robot, {q.name for q in cls.parameters}))
        cls.parameters += tuple(each.declared for each in cls.properties)
        driven = _driven(robot)
        cls.torques = tuple(driven)
        names = usable(driven)
        cls.controls = tuple(
            Control(name, _effort_unit(robot.tree, joint), low, high, f"At {joint}.")
            for name, (joint, (low, high)) in zip(names, driven.items(), strict=True)
        )

    def declare(self, q: SimpleNamespace) -> Tree:
        """The robot's tree, with servos: springs of stiffness inertia times hold^2, damped by DAMPING_RATIO.

        Those of a robot that is held fixed bear its weight besides, so that it rests with all joints at their targets.
        """
        tree, arrays = self.robot.tree, self.robot.tree.arrays
        arrays = _with_properties(arrays, self.properties, q)
        down = arrays.gravity_w / (_length(arrays.gravity_w) or 1.0)
        if not down.any():
            down = np.array([0.0, 0.0, -1.0])
        arrays = arrays._replace(gravity_w=q.gravity * down)
        servos = list(zip(self.servos, _inertias(type(self)), strict=True)) if q.hold > 0.0 else []
        targets = [getattr(q, servo.parameter, None) for servo, _ in servos]
        at = np.array([servo.at for servo, _ in servos], int)
        rests = [
            _start(self.robot, servo.at) if target is None else target
            for (servo, _), target in zip(servos, targets, strict=True)
        ]
        loads = _loads(self.robot, arrays, at, np.array(rests, float))
        stiffness, rest, damping = arrays.stiffness.copy(), arrays.rest.copy(), arrays.damping.copy()
        for (servo, inertia), target, load in zip(servos, rests, loads, strict=True):
            k, i = inertia * q.hold**2, servo.at
            rest[i] = (stiffness[i] * rest[i] + k * target - load) / (stiffness[i] + k)
            stiffness[i] += k
            damping[i] += 2.0 * DAMPING_RATIO * inertia * q.hold
        return replace(tree, arrays=arrays._replace(stiffness=stiffness, rest=rest, damping=damping))

    def shapes(self) -> tuple[Link, ...]:
        """About its shapes; where nothing is shown of it, capsules along the links that have none, too."""
        moving = tuple(shape for shape in self.capsules if shape.body != STAND)
        covered = {shape.body for shape in moving}
        bare = () if moving and self.solids else links_of(self.tree)
        return (*moving, *(shape for shape in bare if shape.body not in covered))

    @property
    def bearing(self) -> tuple[Link, ...]:
        """The balls of its feet, or all of their ends where these have none."""
        ends = super().bearing
        return tuple(link for link in ends if _is_ball(link)) or ends

    @property
    def tool(self) -> str:
        """Of what walks, what its legs carry."""
        walks = self.feet and self.free
        return self.tree.names[self.tree.carriers.tolist().index(0)] if walks else super().tool

    def touching(self) -> tuple[Touching, ...]:
        """The shapes of its file, of meshes their hulls; capsules along links that have none."""
        found = []
        for geom in _felt(self.robot):
            solid = geom.solid if geom.shape != "mesh" else hull_of(geom)
            if solid is not None:
                found.append(Touching(STAND if geom.body == WORLD else geom.body, solid, geom.T))
        covered = {each.body for each in found}
        bare = [link for link in self.shapes() if link.body not in covered]
        return (*found, *(Touching.of_link(link) for link in bare))

    @cached_property
    def links(self) -> tuple[Link, ...]:  # type: ignore[override]
        shapes = self.shapes()
        return shapes if self.solids else (*shapes, *hinges_of(self.tree, shapes))

    @property
    def stand_m(self) -> float:  # type: ignore[override]
        """As high as it takes for all that is shown at the start to be above the ground."""
        return -_lowest_m(type(self))

    def default_state(self) -> State:
        """As its file places it, at rest; joints that are beyond a limit there are put at it."""
        return self.state(_begun(type(self)), self.robot.start.v)


class ClosedRobotVehicle(RobotVehicle, ClosedVehicle):
    """One whose file closes loops."""

    @property
    def led_by_others(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.robot.loose

    def close(self, q: SimpleNamespace) -> tuple[Loop | Gear, ...]:
        return self.robot.loops

    def default_state(self) -> State:
        """As without loops, brought to where these are closed."""
        node, at = super().default_state().node, self.node_layout
        return self.state(self.closure.brought(node[at.pose]), node[at.velocity])


def _shown(robot: Robot) -> tuple[Geom, ...]:
    """What its file shows of it.

    Where it shows few of its bodies, since a skin is drawn over them, what it hides of the others as well.
    """
    solid = _of_its_own(robot)
    bodies, seen = {geom.body for geom in solid}, {geom.body for geom in solid if geom.drawn}
    bare = bodies - seen if seen and len(seen) < _FEW * len(bodies) else set()
    return tuple(geom for geom in solid if geom.drawn or geom.body in bare)


def _felt(robot: Robot) -> list[Geom]:
    return [geom for geom in _of_its_own(robot) if geom.collides]


def _of_its_own(robot: Robot) -> list[Geom]:
    """Its shapes but planes, and but what stands about one that is free."""
    free = int(robot.tree.arrays.kind[0]) == FREE
    return [geom for geom in robot.geoms if geom.shape != "plane" and not (free and geom.body == WORLD)]


def _is_ball(link: Link) -> bool:
    return link.begin_b == link.end_b and link.touches[0]


def _feet(robot: Robot, capsules: tuple[Link, ...]) -> tuple[str, ...]:
    """Bodies with a ball that touches and no body behind them, where there are several about as low as the lowest:
    every other one around their middle, as they are at the start, then those between."""
    tree, poses = robot.tree, body_frames(robot.tree, robot.start.q)
    a, found = tree.arrays, dict[int, tuple[str, np.ndarray]]()
    for link in capsules:
        carrier = int(tree.carriers[tree.names.index(link.body)]) if link.body != STAND else -1
        if _is_ball(link) and carrier > 0 and carrier not in a.parent:
            found[carrier] = link.body, (poses[link.body] @ (*link.begin_b, 1.0))[:3]
    lowest_m = min((place[2] for _, place in found.values()), default=0.0)
    high_m = lowest_m + _LOW * abs(poses[tree.names[tree.carriers.tolist().index(0)]][2, 3] - lowest_m)
    feet = [(body, place[:2]) for body, place in found.values() if place[2] <= high_m]
    if len(feet) < 2:
        return ()
    names, places = zip(*feet, strict=True)
    x, y = (np.array(places) - np.mean(places, axis=0)).T
    around = [names[k] for k in np.argsort(np.arctan2(y, x))]
    return (*around[::2], *around[1::2])


def _begun(kind: type[RobotVehicle]) -> np.ndarray:
    """Coordinates as the file has them, those of joints beyond a limit at it."""
    q, arrays = kind.robot.start.q.copy(), kind.robot.tree.arrays
    for servo in kind.servos:
        q[arrays.q_at[arrays.v_at == servo.at]] = _start(kind.robot, servo.at)
    return q


@lru_cache(maxsize=16)
def _lowest_m(kind: type[RobotVehicle]) -> float:
    """Of all that is shown at the start, the base at 0 [m]; of its links where its file shows nothing."""
    robot = kind.robot
    poses, lowest = {WORLD: np.eye(4), **body_frames(robot.tree, _begun(kind))}, 0.0
    for geom in kind.solids:
        lowest = min(lowest, lowest_m(geom, poses[geom.body] @ geom.T))
    for link in links_of(robot.tree) if not kind.solids else ():
        ends = [(poses[link.body] @ (*end, 1.0))[2] - link.radius_m for end in (link.begin_b, link.end_b)]
        lowest = min(lowest, *ends)
    return lowest


def _loads(robot: Robot, arrays: TreeArrays, at: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """(len(at),) what gravity and springs load on joints, at `at` in the velocities, where they are at their targets
    and all else as it begins [N m or N]; nothing where the root is free."""
    if int(arrays.kind[0]) == FREE or not len(at):
        return np.zeros(len(at))
    q, ws, loads = robot.start.q.copy(), workspace(arrays), np.zeros(robot.tree.nv)
    q[[int(arrays.q_at[arrays.v_at == i][0]) for i in at]] = targets
    place(arrays, q, ws.node)
    node_force(arrays, ws, q, loads)
    return loads[at]


def _servos(robot: Robot) -> list[Servo]:
    """Of all hinges and slides that are not loose."""
    a = robot.tree.arrays
    places = [int(a.v_at[i]) for i in np.flatnonzero((a.kind == REVOLUTE) | (a.kind == PRISMATIC))]
    places = [at for at in places if robot.tree.velocity_names[at] not in robot.loose]
    names = usable(f"{robot.tree.velocity_names[at]} target" for at in places)
    return [Servo(name, at) for name, at in zip(names, places, strict=True)]


@lru_cache(maxsize=16)
def _inertias(kind: type[RobotVehicle]) -> tuple[float, ...]:
    """That each servo's joint moves at the start, its rotor among it [kg m^2 or kg].

    Raises InputError where joints can move together without moving anything that has inertia.
    """
    tree = kind.robot.tree
    a, ws, M = tree.arrays, workspace(tree.arrays), np.zeros((tree.nv, tree.nv))
    place(a, np.ascontiguousarray(kind.robot.start.q), ws.node)
    for v, p in zip(np.eye(tree.nv), M, strict=True):
        momenta(a, ws.node, v, ws.arc, ws.wrench, p)
    size = np.sqrt(np.diag(M))
    values, ways = np.linalg.eigh(M / np.outer(size, size))
    if values[0] < _SINGULAR:
        most = sorted(np.argsort(-np.abs(ways[:, 0]))[:2].tolist())
        raise InputError(
            f"joints {one_of(tree.velocity_names[k] for k in most)}: together they move no inertia"
        )
    return tuple(float(M[servo.at, servo.at]) for servo in kind.servos)


def _properties(robot: Robot, taken: set[str]) -> list[Property]:
    """Of the bodies that move, under names that are not taken."""
    tree, wanted = robot.tree, list[tuple[str, str, int, bool]]()
    a, known = tree.arrays, set[int]()
    for body, carrier in zip(tree.names, tree.carriers.tolist(), strict=True):
        if carrier < 0 or carrier in known:
            continue
        known.add(carrier)
        if a.mass[carrier] > 0.0:
            wanted.append((f"{body} mass", body, carrier, False))
        if a.kind[carrier] in (REVOLUTE, PRISMATIC):
            wanted.append((f"{body} damping", body, int(a.v_at[carrier]), True))
    names = usable([*taken, *(text for text, *_ in wanted)])[len(taken) :]
    made = [
        _property(robot, name, body, at, damps)
        for name, (_, body, at, damps) in zip(names, wanted, strict=True)
    ]
    return made[: 2 * MOST_TARGETS]


def _property(robot: Robot, name: str, body: str, at: int, damps: bool) -> Property:
    tree = robot.tree
    if damps:
        own, joint = float(tree.arrays.damping[at]), tree.velocity_names[at]
        unit, doc = _unit(tree, joint, "N m s/rad", "N s/m"), f"Of {joint}, besides its servo's."
        return Property(Parameter(name, unit, own, 0.0, max(1e3, 10.0 * own), doc, body=body), at, damps)
    own = float(tree.arrays.mass[at])
    doc = f"Of {body} and all that is fixed to it; its inertia grows with it."
    declared = Parameter(name, "kg", own, 0.01 * own, 100.0 * own, doc, body=body)
    return Property(declared, at, damps)


def _with_properties(arrays: TreeArrays, properties: tuple[Property, ...], q: SimpleNamespace) -> TreeArrays:
    """Arrays with other masses and dampings; the same where none differs."""
    changed = [each for each in properties if getattr(q, each.declared.name) != each.declared.default]
    if not changed:
        return arrays
    mass, moment, inertia = arrays.mass.copy(), arrays.moment.copy(), arrays.inertia.copy()
    damping = arrays.damping.copy()
    for each in changed:
        value = getattr(q, each.declared.name)
        if each.damps:
            damping[each.at] = value
            continue
        times = value / mass[each.at]
        mass[each.at] = value
        moment[each.at] *= times
        inertia[each.at] *= times
    return arrays._replace(mass=mass, moment=moment, inertia=inertia, damping=damping)


def _target(robot: Robot, servo: Servo) -> Parameter:
    tree = robot.tree
    joint, start = tree.velocity_names[servo.at], _start(robot, servo.at)
    usual = _SLIDE_M if _slides(tree, servo.at) else _TURN_RAD
    low, high = tree.arrays.limits[servo.at]
    low = float(low) if math.isfinite(low) else start - usual
    high = float(high) if math.isfinite(high) else start + usual
    unit = _unit(tree, joint, "rad", "m")
    doc = f"Where the servo of {joint} holds it."
    return Parameter(servo.parameter, unit, start, min(low, start), max(high, start), doc)


def _driven(robot: Robot) -> dict[str, tuple[float, float]]:
    """Joint or tendon -> lowest and highest torque or force of all its motors; of 1 where a command has no limits."""
    found: dict[str, tuple[float, float]] = {}
    for motor in robot.motors:
        low, high = _range(motor.gear, motor.limits)
        before = found.get(motor.joint, (0.0, 0.0))
        found[motor.joint] = before[0] + low, before[1] + high
    return {joint: (min(low, 0.0), max(high, 0.0)) for joint, (low, high) in found.items()}


def _range(gear: float, limits: tuple[float, float]) -> tuple[float, float]:
    low, high = (
        limit if math.isfinite(limit) else sign for limit, sign in zip(limits, (-1.0, 1.0), strict=True)
    )
    ends = sorted((gear * low, gear * high))
    return ends[0], ends[1]


def _start(robot: Robot, at: int) -> float:
    """Of a hinge or slide, within its limits."""
    a = robot.tree.arrays
    return float(np.clip(robot.start.q[a.q_at[a.v_at == at][0]], *a.limits[at]))


def _slides(tree: Tree, at: int) -> bool:
    return bool(tree.arrays.kind[np.flatnonzero(tree.arrays.v_at == at)[0]] == PRISMATIC)


def _unit(tree: Tree, joint: str, turning: str, sliding: str) -> str:
    return sliding if _slides(tree, tree.velocity_names.index(joint)) else turning


def _effort_unit(tree: Tree, name: str) -> str:
    """Of what drives a joint, or a tendon: along one of hinges alone it is a torque."""
    if name in tree.velocity_names:
        return _unit(tree, name, "N m", "N")
    return "N m" if is_angle(tree, tree.spring_names.index(name)) else "N"


def _length(x: np.ndarray) -> float:
    return float(np.linalg.norm(x))


ENDINGS = (".urdf", ".xml", ".mjcf")
FLOATING = "free"
"""After a colon: the root, which the file fixes to the world, floats."""
PACKAGE_FILE = "package.xml"
_LEVELS = 4


def is_robot_file(name: str) -> bool:
    """Whether a vehicle's name is that of a robot's file, `FILE.urdf` or `FILE.urdf:free`."""
    return name.removesuffix(f":{FLOATING}").lower().endswith(ENDINGS)


def model_folder(path: Path) -> Path:
    """Outside of which nothing is read: the file's own folder, or the package that it is in, up to four levels up."""
    around = list(path.parents)[: _LEVELS + 1]
    return next((folder for folder in around if (folder / PACKAGE_FILE).is_file()), path.parent)


def load_robot(path: Path, registry: MutableMapping[str, type[Vehicle]], *, free: bool = False) -> str:
    """Read a URDF or MJCF file and enter it as a vehicle under the model's own name, returned.

    free: its root floats, where the file fixes it to the world. Reading it again takes its present contents.
    Raises InputError in one line as `read_robot` does.
    """
    from sim.multibody.robots.reading import (
        read_robot,  # with SciPy and the parser, which nothing else waits for
    )

    robot = read_robot(path, folder=model_folder(path), free=free)
    base, file = usable([robot.name])[0].replace("_", "-"), (path, free)
    names = (base, f"{base}-robot", *(f"{base}-{k}" for k in range(2, 10_000)))
    name = next(each for each in names if _may_have(each, file, registry))
    left_out = (
        f" Of its file {len(robot.notes)} things are left out: {robot.notes[0]}." if robot.notes else ""
    )
    counted = f"{robot.tree.nv} degrees of freedom, {len(robot.motors)} motors"
    doc = f"{quote(robot.name)}, of {quote(path.name)}: {counted}.{left_out}"
    try:
        kind = class_of(robot, name, file, doc)
        kind().default_state()  # of its tree with its servos
    except InputError as error:
        raise InputError(f"{path.name}: {error}") from None
    registry[name] = kind
    return name


def class_of(robot: Robot, name: str, file: tuple[Path, bool], doc: str) -> type[RobotVehicle]:
    """The class of a file's robot, in a module by the vehicle's name, where a pickle of its instances looks for it."""
    module = ModuleType(f"holonomy_robot_{name}")
    module.__file__ = __file__
    members = {"name": name, "robot": robot, "file": file, "__doc__": doc, "__module__": module.__name__}
    kind = type("FileRobot", (ClosedRobotVehicle if robot.loops else RobotVehicle,), members)
    module.FileRobot = kind  # type: ignore[attr-defined]
    sys.modules[module.__name__] = module
    return kind


def _may_have(name: str, file: tuple[Path, bool], registry: MutableMapping[str, type[Vehicle]]) -> bool:
    """Whether no vehicle has the name but an earlier reading of the same file."""
    return name not in registry or getattr(registry[name], "file", None) == file
