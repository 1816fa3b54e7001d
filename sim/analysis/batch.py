"""`batch`: many runs of one vehicle by one method on all cores, and their nodes at the moments that are kept.

Starts, controls and parameters are validated and brought to one form first.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field
from functools import lru_cache
from typing import SupportsIndex

import casadi as ca
import numpy as np

from sim.analysis.batch_lanes import Groups, run_on_ground
from sim.analysis.gradient_steps import begun_closed
from sim.compiler import Kernel
from sim.compiler.columns import ColumnKernel
from sim.compiler.kernel_code import MOST_JOINED, WIDTH, lane_code
from sim.contact.ground import GroundContact
from sim.environment.environment import Environment, default_start, environment_of, kind_of
from sim.integrators import Integrator
from sim.integrators.multibody import rollout_scheme
from sim.native.objects import Engine
from sim.platform.errors import InputError, numbers, one_of, quote, whole
from sim.platform.progress import TellShare
from sim.platform.values import dataclass
from sim.steppers.dynamics import stepper_of
from sim.steppers.trajectory import checked_method, step_count
from sim.vehicles import State, Vehicle, checked_vehicle
from sim.vehicles.forms.articulated import ArticulatedVehicle, ClosedVehicle
from sim.vehicles.forms.base import Structure
from sim.vehicles.forms.form import TREES, Support
from sim.vehicles.forms.numbered_tree import numbered, numbers_of_rows
from sim.vehicles.forms.observation import Observed, observed_by_symbols
from sim.world import World

States = None | State | Sequence[State] | np.ndarray


@dataclass(frozen=True, eq=False)
class LaneInputs:
    """One row for all lanes, or one a lane."""

    lanes: int
    nodes: np.ndarray
    """(1 or lanes, node size)."""
    controls: np.ndarray
    """(1 or lanes, 1 or steps, n_controls)."""
    parameters: np.ndarray
    """(1 or lanes, parameter count)."""


def checked_inputs(
    vehicle: Vehicle,
    states: States,
    controls: object,
    parameters: Mapping[str, object] | None,
    steps: int,
) -> LaneInputs:
    """All that differs from lane to lane has as many rows. Raises InputError in one line."""
    parts = {
        "states": _nodes(vehicle, states),
        "controls": _controls(vehicle, controls, steps),
        "parameters": _parameters(vehicle, {} if parameters is None else parameters),
    }
    counts = {name: len(part) for name, part in parts.items() if len(part) != 1}
    if len(set(counts.values())) > 1:
        told = ", ".join(f"{count} {name}" for name, count in counts.items())
        raise InputError(f"a batch of {told}: lanes differ in number; allowed: one for all, or one a lane")
    lanes = next(iter(counts.values()), 1)
    if lanes == 0:
        raise InputError("a batch of no lanes; allowed: one or more")
    return LaneInputs(lanes, parts["states"], parts["controls"], parts["parameters"])


def _nodes(vehicle: Vehicle, states: States) -> np.ndarray:
    if states is None:
        return default_start(vehicle).node[None]
    if isinstance(states, State):
        states = [states]
    size = vehicle.node_layout.size
    if isinstance(states, Sequence) and all(isinstance(state, State) for state in states):
        rows = [state.node for state in states]
        if any(row.shape != (size,) for row in rows):
            raise InputError(f"states do not fit vehicle {vehicle.name!r}; allowed: vehicle.state(...)")
        return np.array(rows).reshape(len(rows), size)
    nodes = np.atleast_2d(numbers("states", states))
    if nodes.ndim != 2 or nodes.shape[1] != size:
        raise InputError(f"states are {nodes.shape}; allowed: vehicle.state(...), or nodes (lanes, {size})")
    return nodes


def _controls(vehicle: Vehicle, controls: object, steps: int) -> np.ndarray:
    n = len(vehicle.controls)
    if controls is None:
        return vehicle.neutral_controls[None, None]
    rows = np.atleast_1d(numbers("controls", controls))
    rows = rows[None, None] if rows.ndim == 1 else rows[None] if rows.ndim == 2 else rows
    if rows.ndim != 3 or rows.shape[2] != n or rows.shape[1] not in (1, steps):
        raise InputError(
            f"controls are {rows.shape}; allowed: ({n},), ({steps}, {n}), (lanes, 1, {n}) "
            f"or (lanes, {steps}, {n})"
        )
    return rows


def _parameters(vehicle: Vehicle, parameters: Mapping[str, object]) -> np.ndarray:
    """Raises InputError for a value out of range, and where lanes would have other equations."""
    if not isinstance(parameters, Mapping):
        raise InputError(f"parameters = {quote(parameters)} are refused; allowed: a dict of names and arrays")
    columns, at = vehicle.parameter_vector[None].copy(), {}
    start = 0
    for q in vehicle.parameters:
        at[q.name] = q, start
        start += q.size
    for name, value in parameters.items():
        if name not in at:
            raise InputError(
                f"vehicle {vehicle.name!r}: unknown parameter {quote(name)}; allowed: {one_of(at, name)}"
            )
        q, start = at[name]
        rows = np.atleast_1d(numbers(name, value))
        scalar = isinstance(q.default, int | float)
        rows = rows.reshape(-1, 1) if scalar and rows.ndim <= 1 else np.atleast_2d(rows)
        if rows.ndim != 2 or rows.shape[1] != q.size:
            raise InputError(f"{name} is {rows.shape}; allowed: (lanes,{'' if scalar else f' {q.size}'})")
        if (rows < q.low).any() or (rows > q.high).any():
            raise InputError(f"vehicle {vehicle.name!r}: {name} is out of range; allowed: {q.allowed}")
        if len(rows) > 1 and len(columns) == 1:
            columns = np.repeat(columns, len(rows), axis=0)
        if len(rows) not in (1, len(columns)):
            raise InputError(
                f"{name} has {len(rows)} rows beside {len(columns)}; allowed: as many lanes for all"
            )
        columns[:, start : start + q.size] = rows
        if q.optional and (rows == 0.0).all() != (name in vehicle.absent):
            raise InputError(
                f"{name} is optional and would change the equations; "
                f"allowed: sim.vehicle(..., {name}=...) with a value of its kind"
            )
    return columns


@dataclass(frozen=True, eq=False)
class Trajectories:
    """Lanes side by side; after a lane's end its nodes are nan."""

    vehicle: Vehicle
    """With the parameters that all lanes share."""
    integrator: Integrator
    step_s: float
    time: np.ndarray
    """(k,) s: the moments that were kept, the start and the end among them."""
    nodes: np.ndarray = field(repr=False)
    """(lanes, k, node size), flat as `vehicle.node_layout` says."""
    controls: np.ndarray = field(repr=False)
    """(1 or lanes, 1 or steps, n_controls), held over each step."""
    parameters: np.ndarray = field(repr=False)
    """(1 or lanes, parameter count), flat in the order of `vehicle.parameters`."""
    steps_done: np.ndarray = field(repr=False)
    """(lanes,) int64: all of them, or as many as have a solution that is finite."""
    steps: int = 0
    """That were asked for."""

    def __len__(self) -> int:
        """How many lanes there are."""
        return len(self.nodes)

    @property
    def diverged_at(self) -> np.ndarray:
        """(lanes,) s up to which there is a solution; nan where that is to the end."""
        return np.where(self.steps_done < self.steps, self.steps_done * self.step_s, np.nan)

    @property
    def pose(self) -> np.ndarray:
        """(lanes, k, 4, 4) homogeneous matrices, or as `sim.Trajectory.pose` has them."""
        return self.vehicle.poses(self.nodes)

    @property
    def velocity(self) -> np.ndarray:
        """(lanes, k, dim) body twist."""
        return self.nodes[..., self.vehicle.node_layout.velocity]

    @property
    def shape(self) -> np.ndarray:
        """(lanes, k, n_shape)."""
        return self.nodes[..., self.vehicle.node_layout.shape]

    def _lane(self, lane: int) -> int:
        """Checked; those below none count from the last. Raises InputError."""
        if isinstance(lane, SupportsIndex) and -len(self) <= lane.__index__() < len(self):
            return lane.__index__() % len(self)
        raise InputError(f"lane = {quote(lane)} is none; allowed: 0 to {len(self) - 1}")

    def lane_vehicle(self, lane: int) -> Vehicle:
        """The vehicle with the parameters of a lane."""
        lane = self._lane(lane)
        return vehicle_of_row(self.vehicle, self.parameters[lane if len(self.parameters) > 1 else 0])

    def final(self, lane: int) -> State:
        """State of a lane at the end, as `initial=` of `sim.simulate` takes it."""
        return self.vehicle.state_at_node(self.nodes[self._lane(lane), -1])

    def observed(self, lane: int) -> Observed:
        """Energy, momentum, bodies and observables of a lane at the moments that were kept."""
        lane = self._lane(lane)
        controls = self.controls[lane if len(self.controls) > 1 else 0]
        at = np.minimum(np.round(self.time / self.step_s).astype(int), max(self.steps - 1, 0))
        rows = controls[at if len(controls) > 1 else np.zeros(len(at), int)]
        vehicle, nodes = self.lane_vehicle(lane), self.nodes[lane]
        if vehicle.form in TREES:  # told by recursions: there are no symbols
            return stepper_of(vehicle, self.integrator).observe_all(nodes, rows, vehicle.parameter_vector)
        return observed_by_symbols(vehicle, nodes, rows, self.step_s)

    def table(self, lanes: Mapping[str, np.ndarray] | None = None) -> dict[str, np.ndarray]:
        """Name -> (lanes, k) of every entry of the nodes, for tables; `lanes`: (lanes,) columns to stand beside.

        Raises InputError for columns of another length.
        """
        columns = {name: self.nodes[..., k] for k, name in enumerate(self.vehicle.space.columns)}
        beside = {}
        for name, values in dict(lanes or {}).items():
            column = np.asarray(values)
            if column.shape != (len(self),):
                raise InputError(f"table: {name} is {column.shape}; allowed: ({len(self)},), one a lane")
            beside[name] = np.broadcast_to(column[:, None], self.nodes.shape[:2])
        return {**beside, **columns}


def vehicle_of_row(vehicle: Vehicle, row: np.ndarray) -> Vehicle:
    """With the parameters of a flat row."""
    values: dict[str, object] = {}
    at = 0
    for q in vehicle.parameters:
        part = row[at : at + q.size]
        values[q.name] = float(part[0]) if isinstance(q.default, int | float) else tuple(part.tolist())
        at += q.size
    return vehicle.with_parameters(**values)


_CHUNK_STEPS = 2_000_000
"""Steps of one call without the interpreter: between two of them progress is told."""
_MOST_SHARE = 0.8
"""Of the memory that is free."""


def batch(
    vehicle: Vehicle | str,
    method: str | Integrator | None = None,
    states: States = None,
    controls: object = None,
    parameters: Mapping[str, object] | None = None,
    *,
    step: float = 0.01,
    duration: float = 10.0,
    every: int | None = None,
    world: World | None = None,
    threads: int | None = None,
    progress: TellShare | None = None,
) -> Trajectories:
    """Integrate many lanes of a vehicle for `duration` seconds in steps of `step` seconds, on all cores.

    states: one for all or one a lane, as `vehicle.state(...)` gives them or as nodes (lanes, node size).
    controls: (n_controls,) or (steps, n_controls) for all lanes, (lanes, 1 or steps, n_controls) for each.
    parameters: name -> (lanes,) or (lanes, k) in place of the vehicle's. every: nodes are kept every so many steps;
    None: only at the start and at the end. world: whose ground is touched. progress: told first what memory it takes.
    Without ground lanes stand side by side in vector registers and agree with `sim.simulate` to rounding.
    Raises InputError in one line for what does not fit, and where more memory is needed than there is.
    """
    subject = checked_vehicle(vehicle)
    scheme = checked_method(method, subject)
    every = None if every is None else whole("every", every, "steps")
    threads = (os.cpu_count() or 1) if threads is None else whole("threads", threads, "threads")
    if not (world is None or isinstance(world, World)):
        raise InputError(f"world = {quote(world)} is none; allowed: sim.world.load_world(...)")
    if not (progress is None or callable(progress)):
        raise InputError(
            f"progress = {quote(progress)} is refused; allowed: a function of a text and a share"
        )
    h, steps = step_count(step, duration)
    what = checked_inputs(subject, states, controls, parameters, steps)
    counts, kept = _segments(steps, every, what.controls.shape[1])
    needed = batch_bytes(subject, what.lanes, steps, every=every, controls=what.controls.size)
    _check_memory(needed)
    report = progress or (lambda told, share: None)
    report(f"{what.lanes} lanes of {steps} steps, {needed / 1e6:.0f} MB", 0.0)
    job = _Job(subject, scheme, what, h, counts, kept, world, threads)
    nodes, done = job.run(report)
    at = np.concatenate([[0], np.cumsum(counts)])
    return Trajectories(
        vehicle=subject,
        integrator=scheme,
        step_s=h,
        time=h * at[kept],
        nodes=nodes,
        controls=what.controls,
        parameters=what.parameters,
        steps_done=done,
        steps=steps,
    )


def batch_bytes(
    vehicle: Vehicle | str, lanes: int, steps: int, *, every: int | None = None, controls: int = 0
) -> int:
    """Memory in bytes that a batch takes at its most. controls: numbers that are given of them.

    Raises InputError for what is no vehicle, and for numbers below none.
    """
    subject = checked_vehicle(vehicle)
    lanes, steps = whole("lanes", lanes, "lanes"), whole("steps", steps, "steps", low=0)
    kept = 2 if every is None else steps // whole("every", every, "steps") + 2
    size, count = subject.node_layout.size, subject.parameter_count
    # Nodes twice, as lanes stand side by side first; states, controls and parameters likewise.
    return 8 * (2 * lanes * kept * size + 4 * lanes * (size + count) + 2 * controls)


def _check_memory(needed: int) -> None:
    try:
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return  # not every system tells
    if needed > _MOST_SHARE * free:
        raise InputError(
            f"a batch of {needed / 1e9:.1f} GB, where {free / 1e9:.1f} GB are free; "
            "allowed: fewer lanes, or a larger every"
        )


def _segments(steps: int, every: int | None, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Steps (k,) of the stretches that are run in one go; (k + 1,) whether the node at a start, or the end, is kept."""
    stride = steps if every is None else every
    if rows > 1:
        bounds = np.arange(steps + 1)
    else:
        bounds = np.unique(np.append(np.arange(0, steps, max(stride, 1)), steps))
    kept = (bounds % max(stride, 1) == 0) | (bounds == steps)
    return np.diff(bounds), kept


class _Job:
    """One batch."""

    def __init__(
        self,
        vehicle: Vehicle,
        scheme: Integrator,
        what: LaneInputs,
        h: float,
        counts: np.ndarray,
        kept: np.ndarray,
        world: World | None,
        threads: int,
    ) -> None:
        self._vehicle, self._scheme, self._what, self._h = vehicle, scheme, what, h
        self._counts, self._kept, self._world = counts, kept, world
        self._steps, self._threads = int(counts.sum()), threads
        self._node_size = vehicle.node_layout.size
        acts = kind_of(vehicle).acts and (world is not None or vehicle.support is Support.WATER)
        self._kernel = stepper_of(vehicle, scheme, kind_of(vehicle).inline if acts else None)
        self._like: dict[bytes, Environment] = {}
        """By parameters: what surrounds a lane, which nobody writes to."""
        if acts:
            _check_met(vehicle, self._environment(what.parameters[0]))
        self._subject: Vehicle = vehicle
        self._rows = what.parameters
        self._fits = np.ones(len(what.parameters), bool)
        """Of the parameters: whether equations hold with them."""
        alone = acts or not isinstance(self._kernel, Kernel)
        if not acts and isinstance(vehicle, ArticulatedVehicle) and _go_side_by_side(vehicle, scheme):
            made, _ = numbered(vehicle)
            self._rows, self._fits = numbers_of_rows(vehicle, made, what.parameters)
            self._subject, alone = made, False
        self._code = None if alone else lane_code(Structure.of(self._subject), scheme)

    def run(self, report: TellShare) -> tuple[np.ndarray, np.ndarray]:
        """Nodes (lanes, kept, size) and steps done (lanes,)."""
        lanes = self._what.lanes
        if self._code is None:
            nodes = np.full((lanes, int(self._kept.sum()), self._node_size), np.nan)
            done, alone = np.zeros(lanes, np.int64), np.arange(lanes)
        else:
            nodes, done = self._side_by_side(self._code, report).rows(lanes)
            # A register ends with the first of its lanes that does: the others go on alone.
            alone = np.flatnonzero((done < self._steps) | ~self._fits)
            nodes[alone] = np.nan
        if len(alone):
            self._one_by_one(alone, nodes, done, report)
        return nodes, done

    def _side_by_side(self, code: Engine, report: TellShare) -> Groups:
        what, h = self._what, self._h
        starts = start_kernel(Structure.of(self._subject), self._scheme)
        rows = [
            np.broadcast_to(a, (what.lanes, a.shape[1]))
            for a in (self._begun(), what.controls[:, 0], self._rows)
        ]
        ys = starts.rows(rows[0], rows[1], rows[2], np.array([h]))
        groups = Groups.of(ys, what.controls, self._rows, self._counts, self._kept, self._node_size)
        count = len(groups.y)
        chunk = max(min(_CHUNK_STEPS // max(8 * self._steps, 1), -(-count // self._threads)), 1)
        bounds = [(a, min(a + chunk, count)) for a in range(0, count, chunk)]
        for k, _ in enumerate(self._spread(lambda part: groups.run(code, h, *part), bounds)):
            whole = groups.done[: bounds[k][1]] >= self._steps
            finished = int(np.repeat(whole, WIDTH)[: what.lanes].sum())
            report(f"{finished} lanes", finished / what.lanes)
        return groups

    def _begun(self) -> np.ndarray:
        """(1 or lanes, node size) with loops of joints closed, by each lane's parameters. Raises InputError."""
        nodes, parameters = self._what.nodes, self._what.parameters
        if not isinstance(self._vehicle, ClosedVehicle):
            return nodes
        count = max(len(nodes), len(parameters))
        vehicles = (
            [self._vehicle]
            if len(parameters) == 1
            else [vehicle_of_row(self._vehicle, p) for p in parameters]
        )
        return np.array(
            [
                begun_closed(v, v.state_at_node(node)).node
                for v, node in zip(
                    vehicles * (count // len(vehicles)),
                    np.broadcast_to(nodes, (count, nodes.shape[1])),
                    strict=True,
                )
            ]
        )

    def _one_by_one(self, lanes: np.ndarray, nodes: np.ndarray, done: np.ndarray, report: TellShare) -> None:
        """By the kernel of one vehicle, each lane from its start."""
        parts = np.array_split(lanes, min(max(len(lanes) // 16, self._threads), len(lanes)))
        finished = self._what.lanes - len(lanes)
        for part, _ in zip(
            parts, self._spread(lambda some: self._alone(some, nodes, done), parts), strict=True
        ):
            finished += len(part)
            report(f"{finished} lanes", finished / self._what.lanes)

    def _spread(self, work: Callable[..., None], parts: list) -> Iterator[None]:
        with ThreadPoolExecutor(self._threads) as pool:
            yield from pool.map(work, parts)

    def _alone(self, lanes: np.ndarray, nodes: np.ndarray, done: np.ndarray) -> None:
        what, kernel, h = self._what, self._kernel, self._h
        rows = what.nodes, what.controls, what.parameters
        bounds = np.concatenate([[0], np.cumsum(self._counts)])[self._kept]
        for some in [lanes] if len(what.parameters) == 1 else lanes[:, None]:
            around = self._environment(what.parameters[some[0] if len(what.parameters) > 1 else 0])
            if isinstance(around, GroundContact) and isinstance(kernel, Kernel):
                stretches = self._counts, self._kept
                run_on_ground(kernel, rows, h, stretches, around.ground, some, (nodes, done))
                continue
            for lane in some.tolist():
                node, us, p = (a[lane if len(a) > 1 else 0] for a in rows)
                own = around.probe()
                y = kernel.start(node, us[0], p, h, around.probe().env)
                seen, steps, _ = kernel.trajectory(y, us, p, h, self._steps, own.env)
                seen[steps + 1 :] = np.nan
                nodes[lane], done[lane] = seen[bounds], steps

    def _environment(self, p: np.ndarray) -> Environment:
        """What surrounds a lane, with memory of its own."""
        key = p.tobytes()
        if key not in self._like:
            if len(self._what.parameters) > 1:
                self._like.clear()  # another one in every lane
            vehicle = vehicle_of_row(self._vehicle, p)
            self._like[key] = environment_of(vehicle, self._world)
        return self._like[key].probe()


def _check_met(vehicle: Vehicle, around: Environment) -> None:
    """Raises InputError for what would fall through the ground of a world."""
    if not around.env:
        raise InputError(
            f"vehicle {vehicle.name!r} meets no ground within its steps, as a batch needs; allowed: world=None"
        )


def _go_side_by_side(vehicle: ArticulatedVehicle, method: Integrator) -> bool:
    """Trees that are moved by the equations of their step alone, and have few enough of them."""
    arrays = vehicle.tree.arrays
    closing = len(vehicle.independent_gaps) if isinstance(vehicle, ClosedVehicle) else 0
    moved_besides = bool(method.looks) or len(arrays.springs) > 0
    return vehicle.form in method.forms and not moved_besides and vehicle.tree.nv + closing <= MOST_JOINED


@lru_cache(maxsize=64)
def start_kernel(structure: Structure, scheme: Integrator) -> ColumnKernel:
    """(node, u, p, h) -> private state, for many at once."""
    made = rollout_scheme(scheme, structure)
    i = made.inputs
    start = ca.substitute(made.start, i.w, ca.SX.zeros(i.w.shape))
    function = ca.Function("start", [i.node, i.u, i.p, i.h], [ca.densify(start)])
    return ColumnKernel(function, shared=(3,))
