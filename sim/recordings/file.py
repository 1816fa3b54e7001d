"""The text of a take's file, as types: what is of another kind or out of range is refused."""

import json
from dataclasses import replace
from datetime import datetime
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import casadi as ca
import numpy as np
from msgspec import Meta

from sim.integrators import integrator
from sim.integrators.variational import VARIATIONAL
from sim.platform.errors import InputError, one_of, quote
from sim.platform.replacing import file_stem, replacing
from sim.platform.user_files import ArraysFile, arrays_in, as_type, json_value, refusals, require_finite
from sim.platform.values import dataclass
from sim.recordings.playback import Playback, TakeSamples
from sim.recordings.segment import ROW, SAME_S, ImpulseLog, Segment, SolidsLog
from sim.recordings.take import LaneStatus, Take, control_columns, node_columns
from sim.scene import WORLDS
from sim.steppers.dynamics import between
from sim.steppers.trajectory import STEPS_MAX
from sim.vehicles import Vehicle, known_vehicle
from sim.vehicles.forms.impulses import whole

FORMAT, VERSION = "holonomy take", 2
READ = (1, 2)
"""Versions that can be read; of the first one private states of some methods are made anew from the nodes."""
_LEAST_S = 1e-12
_FAR_S, _MOST_STEPS, _MOST_SEGMENTS = 1e9, 1_000_000_000, 13_000
_Seconds = Annotated[float, Meta(ge=-_FAR_S, le=_FAR_S)]
_Text = Annotated[str, Meta(max_length=1000)]


@dataclass(frozen=True, kw_only=True)
class SegmentHeader:
    """What a header says of a segment besides its arrays, as `sim.recordings.segment.Segment` has it."""

    integrator: _Text
    options: dict[str, float | str]
    parameters: dict[str, float | tuple[float, ...]]
    step_s: Annotated[float, Meta(ge=_LEAST_S, le=_FAR_S)]
    since_s: _Seconds
    steps: Annotated[int, Meta(ge=0, le=_MOST_STEPS)]
    contact: bool
    every_step: bool
    pivot_w: tuple[float, float, float] | None
    pushed: bool = False
    flown_by: tuple[tuple[Annotated[int, Meta(ge=0)], _Text, dict[str, float]], ...] = ()


@dataclass(frozen=True, kw_only=True)
class TakeHeader:
    """What is told of a take, as `sim.recordings.take.Take` has it."""

    name: _Text
    scene: _Text
    world: _Text
    created: _Text
    ended: _Text
    seed: Annotated[int, Meta(ge=0, lt=2**31)]
    status: LaneStatus
    vehicle: _Text
    legs: Annotated[tuple[SegmentHeader, ...], Meta(min_length=1, max_length=_MOST_SEGMENTS)]
    version: int
    note: _Text = ""
    control_columns: tuple[_Text, ...] = ()


def read_header(file: ArraysFile) -> TakeHeader:
    """Raises InputError for another version or world, and whatever a damaged file raises."""
    values = json_value(file.text("header"))
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        raise ValueError("its header is that of something else")
    if values["version"] not in READ:
        allowed = ", ".join(map(str, READ))
        raise InputError(f"version {quote(values['version'])} is unknown; allowed: {allowed}")
    require_finite(values)
    header = as_type(values, TakeHeader)
    if header.world not in WORLDS:
        raise InputError(f"unknown world {quote(header.world)}; allowed: {one_of(WORLDS, header.world)}")
    if header.created:
        datetime.fromisoformat(header.created)
    return header


RESTATED = frozenset(method.name for method in VARIATIONAL)
"""Methods whose private state was the momentum that arrives at a node; now it is the node's."""
NOTE = "from an older version, whose inputs acted otherwise: goes on from its nodes, resimulated it goes another way"
_CONTACTS = 1
"""Entry of the memory of contact: how many points touch."""


def resumed(segment: Segment, time: np.ndarray, nodes: np.ndarray) -> Segment:
    """The segment with restart points made anew from the nodes (n, node size) that the file has at `time` (n,).

    Methods whose private state is what it was keep their bits.
    """
    if segment.integrator.name not in RESTATED:
        return segment
    scheme, vehicle = segment.integrator.scheme(segment.vehicle), segment.vehicle
    i = scheme.inputs
    carried = scheme.start if scheme.carried is None else scheme.carried
    start = ca.Function("start", [i.node, i.u, i.w, i.p, i.h], [scheme.start, carried])
    states = []
    for step, memory in zip(segment.point_steps.tolist(), segment.memories, strict=True):
        at_s = segment.since_s + step * segment.step_s
        k = int(np.clip(np.searchsorted(time, at_s + SAME_S) - 1, 0, max(len(time) - 2, 0)))
        node = nodes[k]
        if len(time) > 1:
            share = np.clip((at_s - time[k]) / (time[k + 1] - time[k]), 0.0, 1.0)
            node = between(vehicle, nodes[k], nodes[k + 1], float(share))
        u, w = segment.controls_at(step), np.zeros(i.w.shape[0])
        stands = memory.size > _CONTACTS and memory[_CONTACTS] > 0
        state = start(node, u, w, vehicle.parameter_vector, segment.step_s)[int(stands)]
        states.append(np.array(state).ravel())
    return replace(segment, states=np.array(states))


NODE_PERIOD_S = 0.01
"""Nodes for other readers are at least this far apart."""
_ARRAYS = ("change_steps", "controls", "point_steps", "states", "memories")
_IMPULSE_LOG = ("steps", "impulses", "environments", "points")
_SOLIDS = ("steps", "begins", "which", "poses")
"""Only where bodies of an environment were seen."""
_PLANS = "plans"
"""Only where plans were made in flight."""
_TEXTS = ("name", "scene", "world", "created", "ended", "note")


def save_take(take: Take, path: str | Path, *, playback: Playback | None = None, brief: bool = False) -> Path:
    """Write a take, replacing a file of that name; a reader never sees half of it. Returns the path.

    playback: of the take, where there is one. brief: without compression and without nodes for other readers, which
    take time. Raises OSError where the file cannot be written.
    """
    path = Path(path)
    columns = _no_columns(take) if brief else _columns((playback or take.playback()).samples(NODE_PERIOD_S))
    header = {
        "format": FORMAT,
        "version": VERSION,
        **{key: getattr(take, key) for key in _TEXTS},
        "seed": take.seed,
        "status": take.status.value,
        "vehicle": take.vehicle.name,
        "units": "SI; angles in rad; nodes in body and world frame as the column names say",
        "node_columns": node_columns(take.vehicle),
        "control_columns": control_columns(take.vehicle),
        "legs": [_about(segment) for segment in take.segments],
    }
    arrays = {
        f"leg{k}_{name}": getattr(segment, name)
        for k, segment in enumerate(take.segments)
        for name in _ARRAYS
    }
    for k, segment in enumerate(take.segments):
        if segment.impulse_log is not None:
            arrays |= {f"leg{k}_push_{name}": getattr(segment.impulse_log, name) for name in _IMPULSE_LOG}
        if segment.solids is not None:
            arrays |= {f"leg{k}_solids_{name}": getattr(segment.solids, name) for name in _SOLIDS}
        if len(segment.plans):
            arrays[f"leg{k}_{_PLANS}"] = segment.plans
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary, temporary.open("wb") as file:
        write = np.savez if brief else np.savez_compressed
        write(file, header=np.array(json.dumps(header, indent=1)), **columns, **arrays)  # type: ignore[arg-type]
    return path


def _columns(seen: TakeSamples) -> dict[str, np.ndarray]:
    return {"time": seen.time, "nodes": seen.nodes, "node_controls": seen.controls}


def _no_columns(take: Take) -> dict[str, np.ndarray]:
    size, controls = take.vehicle.node_layout.size, len(take.vehicle.controls)
    return {"time": np.zeros(0), "nodes": np.zeros((0, size)), "node_controls": np.zeros((0, controls))}


def load_take(path: str | Path) -> Take:
    """Read what `save_take` wrote. Raises InputError, one line, for a file that is none or is damaged."""
    with refusals(path, "no take"), arrays_in(path) as file:
        header = read_header(file)
        vehicle = cache(lambda given: known_vehicle(header.vehicle, **dict(given)))
        segments = tuple(
            _segment(
                vehicle(tuple(segment.parameters.items())),
                segment,
                _segment_arrays(file, k),
                _push_arrays(file, k) if segment.pushed else None,
                _solids(file, k),
                f"segment {k}",
                header.control_columns,
            )
            for k, segment in enumerate(header.legs)
        )
        for before, after in pairwise(segments):
            _require(after.begin_s > before.begin_s, "its segments are in order")
        texts = {key: getattr(header, key) for key in _TEXTS}
        if header.version == 1 and any(segment.integrator.name in RESTATED for segment in segments):
            time, nodes = (np.ascontiguousarray(file.array(name), float) for name in ("time", "nodes"))
            fits = nodes.shape == (len(time), segments[0].vehicle.node_layout.size) and len(time) > 0
            _require(fits and bool(np.isfinite(nodes).all()), "it tells its nodes")
            segments, texts["note"] = tuple(resumed(segment, time, nodes) for segment in segments), NOTE
        return Take(segments=segments, seed=header.seed, status=header.status, **texts)


def described(path: Path) -> str:
    """What a file tells about itself, in two lines. Raises InputError where it is no take."""
    with refusals(path, "no take"), arrays_in(path) as file:
        header = read_header(file)
    methods = dict.fromkeys(f"{segment.integrator} h = {segment.step_s:g} s" for segment in header.legs)
    return f"{header.vehicle}, {', '.join(methods)}\n{header.created} {header.ended}".strip()


def _about(segment: Segment) -> dict[str, Any]:
    scheme = segment.integrator
    return {
        "integrator": scheme.name,
        "options": scheme.settings,
        "parameters": segment.vehicle.values,
        "step_s": segment.step_s,
        "since_s": segment.since_s,
        "steps": segment.steps,
        "contact": segment.contact,
        "every_step": segment.every_step,
        "pivot_w": segment.pivot_w,
        "pushed": segment.impulse_log is not None,
        "flown_by": segment.flown_by,
    }


def _segment(
    subject: Vehicle,
    about: SegmentHeader,
    arrays: dict[str, np.ndarray],
    impulse_log: dict[str, np.ndarray] | None,
    solids: SolidsLog | None,
    where: str,
    columns: tuple[str, ...],
) -> Segment:
    scheme = integrator(about.integrator, **about.options)
    reason = scheme.serves(subject)
    if reason:
        raise InputError(reason)
    whole = {key: _steps(arrays[key]) for key in ("change_steps", "point_steps")}
    real = {key: np.ascontiguousarray(arrays[key], float) for key in ("controls", "states", "memories")}
    real["controls"] = _by_name(real["controls"], columns, subject)
    if _PLANS in arrays:
        whole[_PLANS] = _steps(arrays[_PLANS])
    segment = Segment(
        vehicle=subject,
        integrator=scheme,
        step_s=about.step_s,
        since_s=about.since_s,
        steps=about.steps,
        contact=about.contact,
        every_step=about.every_step,
        pivot_w=about.pivot_w,
        impulse_log=None if impulse_log is None else _impulse_log(impulse_log, subject),
        solids=solids,
        flown_by=about.flown_by,
        **whole,
        **real,
    )
    _check(segment, where)
    return segment


def _by_name(controls: np.ndarray, columns: tuple[str, ...], vehicle: Vehicle) -> np.ndarray:
    """Controls (n, n_controls) of a vehicle that may have more now than those that were recorded: these are neutral."""
    names = control_columns(vehicle)
    if controls.shape[1:] != (len(columns),) or not set(columns) < set(names):
        return controls
    found = np.tile(vehicle.neutral_controls, (len(controls), 1))
    found[:, [names.index(name) for name in columns]] = controls
    return found


def _segment_arrays(file: ArraysFile, k: int) -> dict[str, np.ndarray]:
    planned = (_PLANS,) if f"leg{k}_{_PLANS}" in file else ()
    return {name: file.array(f"leg{k}_{name}") for name in (*_ARRAYS, *planned)}


def _push_arrays(file: ArraysFile, k: int) -> dict[str, np.ndarray]:
    """Of a segment. Where nothing says which restart points have a state of the environment, all of them do."""
    known = [name for name in _IMPULSE_LOG if f"leg{k}_push_{name}" in file or name != "points"]
    arrays = {name: file.array(f"leg{k}_push_{name}") for name in known}
    return {"points": np.arange(len(arrays["environments"])), **arrays}


def _solids(file: ArraysFile, k: int) -> SolidsLog | None:
    """Of a segment, where it has seen any. Raises ValueError for what does not fit."""
    if f"leg{k}_solids_steps" not in file:
        return None
    found = {name: file.array(f"leg{k}_solids_{name}") for name in _SOLIDS}
    steps, begins, which = (_steps(found[name]) for name in _SOLIDS[:3])
    poses, where = np.ascontiguousarray(found["poses"], np.float32), f"segment {k}"
    rising = len(steps) > 0 and bool(np.all(np.diff(steps) > 0) and np.all(np.diff(begins) >= 0))
    _require(rising and len(begins) == len(steps) and begins[0] == 0, f"{where} sees bodies in their order")
    fits = poses.shape == (len(which), ROW) and bool(np.isfinite(poses).all()) and begins[-1] <= len(which)
    first = which[: begins[1] if len(begins) > 1 else len(which)]
    whole = len(first) > 0 and bool(np.array_equal(first, np.arange(len(first))))
    _require(fits and whole and 0 <= which.min() <= which.max() < len(first), f"{where} has bodies that fit")
    return SolidsLog(steps, begins, which, poses)


def _impulse_log(arrays: dict[str, np.ndarray], subject: Vehicle) -> ImpulseLog:
    """Of an older version on the first components of an impulse alone: nothing on the others."""
    real = {key: np.ascontiguousarray(arrays[key], float) for key in ("impulses", "environments")}
    given = real["impulses"]
    if given.ndim == 2 and given.shape[1] == subject.wrench_size:
        real["impulses"] = whole(given, subject)
    steps = {key: _steps(arrays[key]) for key in ("steps", "points")}
    return ImpulseLog(**steps, **real)


def _steps(array: np.ndarray) -> np.ndarray:
    """Numbers of steps. Raises ValueError for fractions, which would be cut off."""
    _require(array.dtype.kind in "iu", "steps are counted in whole numbers")
    return np.ascontiguousarray(array, np.int64)


def _check_impulse_log(segment: Segment, impulse_log: ImpulseLog, where: str) -> None:
    k, kept = len(impulse_log.steps), impulse_log.environments
    fits = impulse_log.impulses.shape == (k, segment.vehicle.impulse_size) and kept.ndim == 2
    at = impulse_log.points
    placed = at.shape == (len(kept),) and bool(
        np.all(np.diff(at, prepend=-1, append=len(segment.point_steps)) > 0)
    )
    _require(fits and placed, f"{where} has pushes that fit")
    rising = impulse_log.steps.ndim == 1 and bool(np.all(np.diff(impulse_log.steps) > 0))
    _require(
        rising
        and (not k or segment.first_step <= impulse_log.steps[0] <= impulse_log.steps[-1] < segment.steps),
        f"{where} is pushed within its steps",
    )
    _require(
        bool(np.isfinite(impulse_log.impulses).all() and np.isfinite(kept).all()),
        f"{where} has finite pushes",
    )


def _check(segment: Segment, where: str) -> None:
    if segment.impulse_log is not None:
        _check_impulse_log(segment, segment.impulse_log, where)
    plans = segment.plans
    planned = plans.ndim == 2 and plans.shape[1] == 2 and bool(np.all(plans[:, 0] < plans[:, 1]))
    _require(planned and bool(np.all(np.diff(plans[:, 1]) > 0)), f"{where} has plans in their order")
    _require(
        not len(plans) or segment.first_step <= plans[0, 1] <= plans[-1, 1] <= segment.steps,
        f"{where} has plans that take over within its steps",
    )
    m, r = len(segment.change_steps), len(segment.point_steps)
    shapes = (
        segment.controls.shape == (m, len(segment.vehicle.controls))
        and segment.states.ndim == segment.memories.ndim == 2
    )
    _require(
        shapes and len(segment.states) == len(segment.memories) == r > 0 < m, f"{where} has arrays that fit"
    )
    for steps in (segment.change_steps, segment.point_steps):
        rising = steps.ndim == 1 and bool(np.all(np.diff(steps) > 0))
        _require(rising and steps[0] == segment.first_step >= 0, f"{where} has steps that increase")
        _require(steps[-1] <= segment.steps, f"{where} has no step after its end")
    gaps = np.diff(np.append(segment.point_steps, segment.steps))
    _require(gaps.max() <= STEPS_MAX, f"{where} has a restart point every {STEPS_MAX} steps")
    numbers = (
        segment.controls,
        segment.states,
        segment.memories,
        segment.step_s,
        segment.since_s,
        segment.pivot_w or 0.0,
    )
    _require(all(np.isfinite(a).all() for a in numbers), f"{where} has finite numbers")


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(f"it is damaged: not so that {what}")


def free_path(folder: Path, name: str) -> Path:
    """A file in `folder` that is not there yet, after a name."""
    stem = file_stem(name, "take")
    path, count = folder / f"{stem}.npz", 2
    while path.exists():
        path, count = folder / f"{stem}-{count}.npz", count + 1
    return path
