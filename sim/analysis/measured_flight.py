"""What was measured of a motion: states with noise at equal intervals, and the inputs that were held between them."""

from pathlib import Path

import numpy as np

from sim.contact.ground import GroundContact
from sim.environment.environment import environment_of
from sim.platform.errors import InputError, numbers, one_of, quote
from sim.platform.values import dataclass
from sim.recordings import Take, load_take
from sim.recordings.playback import TakeSamples, world_of
from sim.recordings.segment import Segment
from sim.scene.flight_log import READERS, read_log
from sim.scene.measured import Measured, columns_of, load_measured
from sim.steppers.trajectory import Trajectory
from sim.vehicle_config import config_of, named_values
from sim.vehicles import Vehicle
from sim.world import World

_CLEAR_M = 0.02


def longest_free(take: Take) -> tuple[TakeSamples, int, int]:
    """All steps of one segment, and the first and the last node of its longest stretch without touch or push."""
    world = world_of(take.world, take.seed)
    best: tuple[TakeSamples, int, int] | None = None
    for segment in take.segments:
        seen = take.playback(world, segments=(segment,)).samples()
        acts = np.zeros(max(len(seen.time) - 1, 0), bool)
        if segment.impulse_log is not None:
            at = segment.impulse_log.steps - segment.first_step
            acts[at[(at >= 0) & (at < len(acts))]] = True
        if segment.feels_ground:
            acts |= _touching(segment, seen.nodes, world())
        begin, end = _longest(~acts)
        if best is None or end - begin > best[2] - best[1]:
            best = seen, begin, end
    assert best is not None
    return best


def _touching(segment: Segment, nodes: np.ndarray, world: World) -> np.ndarray:
    """(steps,) whether a point of a body is so near the ground that it may touch within the step."""
    around = environment_of(segment.vehicle, world)
    if not isinstance(around, GroundContact):
        return np.zeros(len(nodes) - 1, bool)
    layout = segment.vehicle.node_layout
    pose = nodes[:, layout.pose]
    R_wb, x_w = pose[:, :9].reshape(-1, 3, 3).swapaxes(1, 2), pose[:, 9:]
    points_w = np.einsum("nij,kj->nki", R_wb, around.ground.points[:, :3]) + x_w[:, None]
    clear_m = (points_w[..., 2] - world.terrain.height(points_w[..., 0], points_w[..., 1])).min(axis=1)
    moved_m = np.linalg.norm(np.diff(points_w, axis=0), axis=2).max(axis=1)
    return np.minimum(clear_m[:-1], clear_m[1:]) < _CLEAR_M + moved_m


def _longest(free: np.ndarray) -> tuple[int, int]:
    """First and last node of the longest run of steps that are free."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], free, [False]]).astype(np.int8)))
    if not len(edges):
        return 0, 0
    begins, ends = edges[::2], edges[1::2]
    k = int(np.argmax(ends - begins))
    return int(begins[k]), int(ends[k])


GROUPS = ("rotation", "position", "omega", "velocity", "shape", "shape_velocity")
"""Parts of a state that may be measured, each with a noise of its own: rad, m, rad/s, m/s and the vehicle's units."""
_UNEVEN = 1e-3
"""Of an interval: moments that are off by less are taken for even."""


@dataclass(frozen=True, eq=False)
class Recording:
    """N + 1 moments."""

    time: np.ndarray
    """(N+1,) s, evenly apart."""
    nodes: np.ndarray
    """(N+1, node size), flat as the vehicle's nodes are; what was not measured does not matter."""
    controls: np.ndarray
    """(N, n_controls), held from each moment to the next."""
    measured: frozenset[str]
    """Of GROUPS."""

    def __post_init__(self) -> None:
        """Raises InputError for arrays that do not fit each other, and moments that are not evenly apart."""
        time, nodes = np.atleast_1d(numbers("time", self.time)), np.atleast_2d(self.nodes)
        controls = np.atleast_2d(numbers("controls", self.controls))
        if time.ndim != 1 or len(nodes) != len(time) or len(controls) != max(len(time) - 1, 0):
            raise InputError(
                f"a recording of {len(time)} moments, {len(nodes)} states and {len(controls)} inputs; "
                "allowed: as many states, and inputs from each moment to the next"
            )
        _check_even(time, "")
        for name, value in (("time", time), ("nodes", np.asarray(nodes, float)), ("controls", controls)):
            object.__setattr__(self, name, value)

    @property
    def step_s(self) -> float:
        return float(self.time[-1] - self.time[0]) / (len(self.time) - 1)

    @staticmethod
    def of(source: "Recording | Trajectory | Take | str | Path", vehicle: Vehicle) -> "Recording":
        """Of what there is: a trajectory, a take, or a file of either kind (.npz, .csv). Raises InputError."""
        if isinstance(source, Recording):
            found = source
        elif isinstance(source, Trajectory):
            found = of_trajectory(source)
        elif isinstance(source, Take):
            found = of_take(source)
        elif not isinstance(source, str | Path):
            raise InputError(
                f"recording = {quote(source)} is none; allowed: a Recording, run, take or file of one"
            )
        elif str(source).endswith(".csv"):
            found = of_table(Path(source), vehicle)
        elif Path(source).suffix.lower() in READERS:
            found = of_log(Path(source), vehicle)
        else:
            found = of_take(load_take(source))
        size, controls = vehicle.node_layout.size, len(vehicle.controls)
        if found.nodes.shape[1:] != (size,) or found.controls.shape[1:] != (controls,):
            raise InputError(
                f"the recording is not one of a {vehicle.name}; allowed: what was measured of one"
            )
        if len(found.time) < 3:
            raise InputError(f"a recording of {len(found.time)} moments; allowed: three or more")
        for name in found.measured:
            if name not in GROUPS:
                raise InputError(f'measured: unknown "{name}"; allowed: {one_of(GROUPS, name)}')
        _check_finite(found, vehicle)
        return found


def of_trajectory(run: Trajectory) -> Recording:
    """All of a state is measured. Raises InputError where controls were not held over the steps."""
    if not run.held:
        raise InputError(
            "the run's controls are a function, which changes within its steps; allowed: an array, held over each"
        )
    last = len(run.time) if run.diverged_at is None else round(run.diverged_at / run.step_s) + 1
    return Recording(run.time[:last], run.nodes[:last], run.controls[: last - 1], frozenset(GROUPS))


def of_take(take: Take) -> Recording:
    """Its longest stretch by one method in which nothing but its controls acts: no ground, no push."""
    seen, begin, end = longest_free(take)
    if end - begin < 2:
        raise InputError(
            f'take "{take.name}": ground or pushes act all the time; allowed: takes with a while of free flight'
        )
    part = slice(begin, end + 1)
    return Recording(seen.time[part], seen.nodes[part], seen.controls[begin:end], frozenset(GROUPS))


def of_table(path: Path, vehicle: Vehicle) -> Recording:
    """Poses as in a table of measured ones, and a column a control by its name; on SE(3).

    Angular and linear velocity, `omega.x` .. and `velocity.x` .. in the body frame, count where they are there.
    Raises InputError, one line with the line of the file.
    """
    layout = vehicle.node_layout
    if layout.pose.stop - layout.pose.start != 12:
        raise InputError(
            f"{path}: tables are for vehicles in space, not for a {vehicle.name}; allowed: a Recording"
        )
    poses = load_measured(path)
    names = tuple(control.name for control in vehicle.controls)
    controls = columns_of(path, names)
    twist_names = tuple(f"{word}.{axis}" for word in ("omega", "velocity") for axis in "xyz")
    twists = columns_of(path, twist_names, optional=True)
    _check_even(poses.time, f"{path}: ")
    nodes = np.zeros((len(poses.time), layout.size))
    if vehicle.lags:
        nodes[:, layout.acting] = vehicle.acting_at_first
    R = poses.poses[:, :3, :3]
    nodes[:, layout.pose] = np.concatenate([R.swapaxes(1, 2).reshape(-1, 9), poses.poses[:, :3, 3]], axis=1)
    measured = {"rotation", "position"}
    if twists is not None:
        nodes[:, layout.velocity] = twists
        measured |= {"omega", "velocity"}
    assert controls is not None
    return Recording(poses.time, nodes, controls[:-1], frozenset(measured))


def of_log(path: Path, vehicle: Vehicle) -> Recording:
    """Poses of a flight log, evenly apart, and controls out of its servo pulses by the vehicle's `[pwm]`; on SE(3).

    Raises InputError, one line.
    """
    layout, config = vehicle.node_layout, config_of(vehicle)
    if layout.pose.stop - layout.pose.start != 12:
        raise InputError(
            f"{path}: logs are for vehicles in space, not for a {vehicle.name}; allowed: a Recording"
        )
    log = read_log(path)
    moments = Measured(path.stem, log.time, log.poses)
    step_s = float(np.median(np.diff(log.time)))
    time = step_s * np.arange(int(log.time[-1] / step_s) + 1)
    poses = np.array([moments.at(t)[0] for t in time.tolist()])
    controls = np.tile(vehicle.neutral_controls, (max(len(time) - 1, 0), 1))
    if len(vehicle.controls) and not (config.servos and len(log.pulse_time)):
        raise InputError(
            f"{path}: has no pulses that move a {vehicle.name}; allowed: logs with them, and [pwm]"
        )
    values = named_values(vehicle, parameters=vehicle.values, finite=True)
    at = np.clip(np.searchsorted(log.pulse_time, time[:-1] + 1e-9, side="right") - 1, 0, None)
    names = [control.name for control in vehicle.controls]
    for servo in config.servos:
        for k, row in enumerate(at.tolist()):
            value = servo.value(log.pulses_us[row].tolist(), values)
            controls[k, names.index(servo.control)] = 0.0 if value is None else value
    nodes = np.zeros((len(time), layout.size))
    if vehicle.lags:
        nodes[:, layout.acting] = vehicle.acting_at_first
    nodes[:, layout.pose] = np.concatenate(
        [poses[:, :3, :3].swapaxes(1, 2).reshape(-1, 9), poses[:, :3, 3]], axis=1
    )
    return Recording(time, nodes, controls, frozenset({"rotation", "position"}))


def _check_finite(data: Recording, vehicle: Vehicle) -> None:
    """Raises InputError with the moment at which something that was measured is no number."""
    layout, n, places = vehicle.node_layout, len(vehicle.angular), groups_of(vehicle)
    for name in (group for group in places if group in data.measured):
        if name in ("rotation", "position"):
            columns = data.nodes[:, layout.pose]
        elif name in ("omega", "velocity"):
            columns = data.nodes[:, layout.velocity][:, places[name] - n]
        else:
            columns = data.nodes[:, layout.shape if name == "shape" else layout.shape_velocity]
        rows = np.flatnonzero(~np.isfinite(columns).all(axis=1))
        if len(rows):
            raise InputError(
                f"{name} at t = {data.time[rows[0]]:g} s is not finite; allowed: numbers in all that was measured"
            )


def _check_even(time: np.ndarray, where: str) -> None:
    """Raises InputError with the moment after which another one is missing."""
    intervals = np.diff(time)
    mean = float(intervals.mean()) if len(intervals) else 1.0
    if not mean > 0.0 or np.abs(intervals / mean - 1.0).max(initial=0.0) > _UNEVEN:
        k = int(np.abs(intervals - mean).argmax())
        raise InputError(f"{where}{intervals[k]:g} s after t = {time[k]:g} s; allowed: moments evenly apart")


def groups_of(vehicle: Vehicle) -> dict[str, np.ndarray]:
    """Group -> which components of a displacement of the state belong to it; of trees angles of joints are rotations,
    ways of slides positions."""
    n, shapes = len(vehicle.angular), len(vehicle.shape_coordinates)
    angular = np.flatnonzero(vehicle.angular)
    linear = np.setdiff1d(np.arange(n), angular)
    found = {
        "rotation": angular,
        "position": linear,
        "omega": n + angular,
        "velocity": n + linear,
        "shape": 2 * n + np.arange(shapes),
        "shape_velocity": 2 * n + shapes + np.arange(shapes),
    }
    return {name: places for name, places in found.items() if len(places)}
