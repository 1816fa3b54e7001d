"""A scene run at many values of its numbers, a row of a table for each: `--sweep NAME=LOW:HIGH:COUNT`.

A number is a gain of the controller that flies, a parameter of the vehicle, or the step. Runs are shared out by
`sim.sweep`; each is of a scene that its process has read anew, as a user's own class does not travel.
"""

import csv
import pickle
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np

import sim
from export.motion import LaneMotion, MotionRecorder
from export.output import check_places, replacing
from export.request import Request
from export.tables import chosen_channels
from sim.analysis.sweep_table import Table
from sim.commands import SetDemo
from sim.controllers import Controller, gains_of, with_gains
from sim.controllers.controller import own_file
from sim.platform.errors import InputError, one_of, quote
from sim.platform.progress import TellShare
from sim.platform.values import dataclass
from sim.scene import Scene, with_overrides
from sim.simulation import Simulation
from sim.vehicles.forms.custom import OwnClass
from sim.world import World, load_world

Read = Callable[[], Scene]
"""Gives the scene that is swept; can be sent to another process."""
RUNNING, STEP = "running", "step"


def run_sweep(read: Read, request: Request, report: TellShare) -> Table:
    """Fly every combination and write the tables; of each channel its last value, NAME.final, and its root mean
    square, NAME.rms, and `running`: 1 where the lane had not stopped.

    Raises InputError for a number that the scene does not have, before anything is run.
    """
    check_places(request.exports)
    scene, axes = read(), dict(request.sweep)
    for name, values in axes.items():
        changed(scene, {name: values[0]})
    question = SceneQuestion(pickle.dumps(read), request)
    table = sim.sweep(question, axes, progress=report)
    for path in request.exports:
        if path.suffix == ".csv":
            write_table(path, table)
        else:
            table.save(path)
    return table


@dataclass(frozen=True)
class SceneQuestion:
    """What comes of a scene under other numbers."""

    read: bytes
    """Pickled, so that a process that has read the scene knows it again."""
    request: Request

    def __call__(self, **numbers: float) -> dict[str, float]:
        scene, world = _opened(self.read)
        return _answers(_flown(changed(scene, numbers), world, self.request), self.request.channels)


def _answers(motion: LaneMotion, wanted: Sequence[str]) -> dict[str, float]:
    """Of each channel its last value and its root mean square, and whether the lane had not stopped."""
    (channels,) = chosen_channels([motion], wanted)
    answers = {RUNNING: float(not motion.wreck[-1])}
    for name, channel in channels.items():
        rows = channel.values.reshape(len(motion.time), -1)
        for heading, column in zip(channel.columns(name), rows.T, strict=True):
            known = column[np.isfinite(column)]
            bare, _, unit = heading.partition(" [")
            answers[f"{bare}.final{unit and f' [{unit}'}"] = float(column[-1])
            size = np.sqrt(np.mean(known**2)) if len(known) else np.nan
            answers[f"{bare}.rms{unit and f' [{unit}'}"] = float(size)
    return answers


@dataclass(frozen=True)
class Series:
    """One number of a scene through some values, for somebody who looks on."""

    scene: Scene
    name: str
    values: tuple[float, ...]
    seconds: float
    demo: bool = False
    """The autopilot flies where nobody else does."""


@dataclass(frozen=True)
class OwnFiles:
    """The user's modules that a scene's vehicle and controller are of, made known to the process that reads it."""

    parts: tuple[Callable[[], object], ...]

    @classmethod
    def of(cls, scene: Scene) -> "OwnFiles":
        """Raises InputError where the controller's file cannot be read."""
        parts: list[Callable[[], object] | None] = [OwnClass.of(type(scene.vehicle))]
        kind = Controller if scene.controller is None else type(scene.controller)
        if (file := own_file(kind)) is not None:
            try:
                parts.append(OwnClass(kind.__module__, str(file), file.read_bytes()))
            except OSError as error:
                raise InputError(f"{file}: cannot be read: {error.strerror}") from None
        return cls(tuple(part for part in parts if part is not None))

    def __call__(self) -> None:
        for part in self.parts:
            part()


def flown_over(series: Series, tell: Callable[..., None]) -> None:
    """In a worker process: `tell` gets what came of each value, one after the other, as `SceneQuestion` has it.

    A value that is refused has no answers. Raises InputError where the first one is.
    """
    world = load_world(series.scene.world, seed=series.scene.seed)
    request = Request(seconds=series.seconds, demo=series.demo)
    for value in series.values:
        try:
            scene = changed(series.scene, {series.name: value})
            tell(_answers(_flown(scene, world, request), ()))
        except InputError:
            if value == series.values[0]:
                raise
            tell({})


@lru_cache(maxsize=1)
def _opened(read: bytes) -> tuple[Scene, World]:
    scene: Scene = pickle.loads(read)()
    return scene, load_world(scene.world, seed=scene.seed)


def _flown(scene: Scene, world: World, request: Request) -> LaneMotion:
    """The flown lane's motion."""
    simulation, recorder = Simulation(scene, world), MotionRecorder()
    if request.demo:
        simulation.submit(SetDemo(True))
    simulation.advance(0.0)
    recorder.add(simulation.snapshot)
    for moment_s in request.moments:
        simulation.advance(moment_s)
        recorder.add(simulation.snapshot)
    return recorder.motions()[0]


def changed(scene: Scene, numbers: dict[str, float]) -> Scene:
    """The scene with other gains, parameters of its vehicle, or step. Raises InputError for a name that is none."""
    gains = {} if scene.controller is None else gains_of(type(scene.controller))
    values = scene.vehicle.values
    for name, value in numbers.items():
        if name in gains and name in values:
            raise InputError(f"--sweep: {name} is a gain and a parameter; allowed: what is one of them alone")
        if name in gains and scene.controller is not None:
            scene = replace(scene, controller=with_gains(scene.controller, {name: value}))
        elif name in values:
            scene = scene.flown_by(scene.vehicle.with_parameters(**{name: value}))
        elif name == STEP:
            scene = with_overrides(scene, step_s=value)
        else:
            known = (*gains, *values, STEP)
            raise InputError(f"--sweep: unknown number {quote(name)}; allowed: {one_of(known, name)}")
    return scene


def write_table(path: Path, table: Table) -> None:
    """A row a point, with all digits; what is not known is empty. Raises OutputError."""
    names: Sequence[str] = (*table.grid.axes, *table.columns)
    with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        for row in zip(*(table[name].tolist() for name in names), strict=True):
            writer.writerow(["" if value != value else value for value in row])
