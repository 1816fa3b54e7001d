"""Lanes as nodes that move in each other, with their models, and what may stand around them: land and a camera."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial.transform import Rotation

from export.ground import GroundMesh
from export.motion import LaneMotion, SolidsMotion
from export.output import OutputError
from render.frame import View
from render.vehicles.rigs import flown_alike
from render.vehicles.wreckage import HULL
from sim.groups.numeric import pose_between
from sim.models.asset import box_asset, cart_asset, has_model, load_model, on_wheels
from sim.models.solids import ModelAsset, capsules_of, shape_asset
from sim.multibody.shapes import STAND
from sim.platform.progress import TellShare, unheard
from sim.platform.values import dataclass
from sim.shapes import Shape
from sim.simulation.lanes.snapshot import Snapshot
from sim.vehicle_config import Part, VehicleConfig, named_values
from sim.vehicle_config.model import moved
from sim.vehicles import VEHICLES

if TYPE_CHECKING:
    from export.plan import PlanDrawing


def continuous_quaternions(R: np.ndarray) -> np.ndarray:
    """(n, 4) unit quaternions (x, y, z, w) of R (n, 3, 3), each within a quarter of the sphere of the one before.

    What is interpolated between two of them turns the short way.
    """
    q = Rotation.from_matrix(R).as_quat()
    flips = np.sum(q[1:] * q[:-1], axis=1) < 0.0
    signs = np.append(1.0, np.where(np.cumsum(flips) % 2, -1.0, 1.0))
    return q * signs[:, None]


_MOST_TURN_RAD = 1.5
"""Between two keys: half a turn would leave open which way round."""
_MOST_KEYS = 200_000
_NOTHING = 1e-9
"""Of a scale."""
_SHEAR, _MOST_SHEAR = 1e-6, 0.1
"""Between two axes, of 1: what counts as none, and what a method may have left of a rotation that is written as one."""


@dataclass(frozen=True, eq=False)
class Keyframes:
    """How a node moves in its parent: translation @ rotation @ scale at moments that increase."""

    time: np.ndarray
    """(n,) s."""
    translation: np.ndarray
    """(n, 3) m."""
    rotation: np.ndarray
    """(n, 4) quaternions (x, y, z, w) whose signs do not jump."""
    scale: np.ndarray
    """(n, 3)."""
    shown: np.ndarray
    """(n,) whether it is seen."""

    def thinned(self, off_m: float, off_rad: float) -> "Keyframes":
        """The same motion by fewer keys: what was between them comes back to `off_m` and `off_rad` by interpolation.

        Places and scales are interpolated linearly, rotations spherically, as glTF asks of its readers. `off_m` holds
        for scales too, which have no unit.
        """
        kept = np.zeros(len(self.time), bool)
        kept[[0, -1]] = True
        kept[1:] |= self.shown[1:] != self.shown[:-1]
        bounds = np.flatnonzero(kept)
        first, last = bounds[:-1], bounds[1:]
        while True:
            long = last - first > 1
            first, last = first[long], last[long]
            if not len(first):
                break
            inside = last - first - 1
            begins = np.cumsum(inside) - inside
            span = np.repeat(np.arange(len(first)), inside)
            at = np.arange(len(span)) + (first + 1 - begins)[span]
            off = self._off_between(first[span], at, last[span], off_m, off_rad)
            worst = np.lexsort((-off, span))[begins]
            split = off[worst] > 1.0
            middle = at[worst[split]]
            kept[middle] = True
            first, last = np.r_[first[split], middle], np.r_[middle, last[split]]
        return Keyframes(
            self.time[kept], self.translation[kept], self.rotation[kept], self.scale[kept], self.shown[kept]
        )

    def _off_between(
        self, first: np.ndarray, at: np.ndarray, last: np.ndarray, off_m: float, off_rad: float
    ) -> np.ndarray:
        """(n,) how far keys are from interpolation between two others each, in units of what is allowed."""
        part = ((self.time[at] - self.time[first]) / (self.time[last] - self.time[first]))[:, None]
        off = self._turned_off(first, at, last, part) / off_rad
        for values in (self.translation, self.scale):
            straight = values[first] + part * (values[last] - values[first])
            off = np.maximum(off, np.linalg.norm(values[at] - straight, axis=1) / off_m)
        return off

    def _turned_off(
        self, first: np.ndarray, at: np.ndarray, last: np.ndarray, part: np.ndarray
    ) -> np.ndarray:
        """(n,) rad between rotations and the great circle from the first to the last."""
        a, b, q = self.rotation[first], self.rotation[last], self.rotation[at]
        b = np.where(np.sum(a * b, axis=1, keepdims=True) >= 0.0, b, -b)
        angle = 2.0 * np.arcsin(np.minimum(0.5 * np.linalg.norm(b - a, axis=1, keepdims=True), 1.0))
        straight = angle < 1e-9
        size = np.where(straight, 1.0, angle)
        round_ = (np.sin((1.0 - part) * size) * a + np.sin(part * size) * b) / np.sin(size)
        between = np.where(straight, a + part * (b - a), round_)
        away = np.minimum(np.linalg.norm(q - between, axis=1), np.linalg.norm(q + between, axis=1))
        return 4.0 * np.arcsin(np.minimum(0.5 * away, 1.0))


@dataclass(frozen=True, eq=False)
class Node:
    """One node; geometry is that of a node of a model."""

    name: str
    parent: int | None
    """Index in the list of nodes; None: the world."""
    track: Keyframes | None = None
    at_m: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Where it rests in its parent, without a track."""
    asset: ModelAsset | None = None
    part: int = 0
    """Node of the asset whose triangles are drawn."""
    ghost: bool = False
    tint: tuple[float, float, float] = field(default=(1.0, 1.0, 1.0))


def nodes_of(motions: Sequence[LaneMotion], assets: "Assets | None" = None) -> list[Node]:
    """All lanes with their bodies and parts; a lane's node stands in the middle of its motion.

    assets: models that have been read, for who asks again and again.
    Raises OutputError for a part whose motion shears, InputError for a model that cannot be read.
    """
    nodes: list[Node] = []
    assets = assets or Assets()
    for motion in motions:
        _add_lane(nodes, motion, assets)
        if motion.solids is not None:
            _add_solids(nodes, motion.solids)
    return nodes


def _add_solids(nodes: list[Node], solids: SolidsMotion) -> None:
    """Bodies that are no lane's, one node each."""
    look = solids.look
    bodies = zip(look.shapes, look.rest_w, look.colours, strict=True)
    for k, (shape, rest_w, colour) in enumerate(bodies):
        name, poses = f"{shape.kind} {k + 1}", solids.poses_w[:, k]
        nodes.append(
            Node(name, None, track=_track(solids.time, poses, name), asset=shape_asset(shape, rest_w, colour))
        )


def scene_key(snapshot: Snapshot, nodes: Sequence[Node], solids: Sequence[Shape] = ()) -> str:
    """Equal as long as the same nodes stand for the same things, among the same solids."""
    lanes = [(lane.name, lane.vehicle, lane.ghost, lane.tint) for lane in snapshot.lanes]
    return json.dumps([snapshot.scene, lanes, [node.name for node in nodes], *solids], default=str)


class Assets:
    """Models of vehicles, each read once."""

    def __init__(self) -> None:
        self._read: dict[str, ModelAsset] = {}

    def of(self, vehicle: str, config: VehicleConfig) -> ModelAsset:
        """The model of a vehicle, or the box that stands in for it."""
        if vehicle not in self._read:
            self._read[vehicle] = _asset(vehicle, config)
        return self._read[vehicle]


def _asset(vehicle: str, config: VehicleConfig) -> ModelAsset:
    if _has_own(vehicle):
        return load_model(vehicle)
    if on_wheels(vehicle):
        return cart_asset()
    return box_asset(config.model.box_half_m)


def _has_own(vehicle: str) -> bool:
    return vehicle in VEHICLES and has_model(vehicle)


def _add_lane(nodes: list[Node], motion: LaneMotion, assets: Assets) -> None:
    places = motion.main[:, :3, 3]
    x, y, z = (round(float(v), 3) for v in 0.5 * (places.min(axis=0) + places.max(axis=0)))
    lane = len(nodes)
    nodes.append(Node(motion.name, None, at_m=(x, y, z)))
    _add_bodies(nodes, lane, motion.fallen(), np.array([x, y, z]), assets)
    for thrown in motion.fall.beside if motion.fall is not None else ():
        _add_bodies(nodes, lane, thrown, np.array([x, y, z]), assets, since_s=float(motion.time[-1]))


def _add_bodies(
    nodes: list[Node],
    lane: int,
    motion: LaneMotion,
    middle: np.ndarray,
    assets: Assets,
    since_s: float = -math.inf,
) -> None:
    """With their parts, below a lane's node, which stands at `middle`. since_s: before that nobody sees them."""
    bodies = {}
    for name, poses in motion.bodies.items():
        bodies[name] = len(nodes)
        local = poses.copy()
        local[:, :3, 3] -= middle
        track = _track(motion.time, local, f"{motion.name}/{name}", motion.time > since_s)
        nodes.append(Node(name, lane, track=track))
    model = motion.config.model
    if STAND in {*(part.body for part in model.parts), *(link.body for link in motion.links)}:
        x, y, z = (float(v) for v in np.array(motion.pivot_w) - middle)
        bodies[STAND] = len(nodes)
        nodes.append(Node(STAND, lane, at_m=(x, y, z)))
    looks = {name: look for name in motion.bodies if (look := motion.config.look_of(name)) is not None}
    for name, look in looks.items():
        _add_model(nodes, _alike(motion, name, look), assets.of(look.name, look), {name: bodies[name]})
    _add_links(nodes, motion, bodies)
    if not (motion.links or looks) or _has_own(motion.vehicle):
        _add_model(nodes, motion, assets.of(motion.vehicle, motion.config), bodies)


def _alike(motion: LaneMotion, body: str, look: VehicleConfig) -> LaneMotion:
    """Of a body that looks like a vehicle of its own, as such."""
    controls = motion.controls if flown_alike(motion.vehicle, look.name) else np.zeros((len(motion.time), 0))
    return replace(
        motion,
        vehicle=look.name,
        config=look,
        bodies={body: motion.bodies[body]},
        fall=motion.fall if body == next(iter(motion.bodies)) else None,
        controls=controls,
        parameters={},
        observables={},
        links=(),
    )


def _add_links(nodes: list[Node], motion: LaneMotion, bodies: Mapping[str, int]) -> None:
    """What bodies look like that have no model; stands of ghosts are left out."""
    for name, parent in bodies.items():
        asset = None if motion.ghost and name == STAND else capsules_of(motion.links, name)
        if asset is not None:
            nodes.append(Node(f"{name} link", parent, asset=asset, ghost=motion.ghost, tint=motion.tint))


def _add_model(nodes: list[Node], motion: LaneMotion, asset: ModelAsset, bodies: Mapping[str, int]) -> None:
    """The parts of a model; those without a body of their own go with the first one."""
    model = motion.config.model
    parts = {node: part for part in model.parts for node in part.nodes}
    for k, name in enumerate(asset.nodes):
        part = parts.get(name)
        x, y, z = (float(v) for v in asset.pivots[k])
        if motion.ghost and name in model.not_in_ghosts:
            continue
        own = part is not None and part.body in bodies
        pivot = np.zeros(3) if own else asset.pivots[k]
        body = part.body if part is not None and own else next(iter(bodies))
        parent, fallen = bodies[body], _fallen(motion, name, body)
        looks = {"asset": asset, "part": k, "ghost": motion.ghost, "tint": motion.tint}
        if part is None and fallen is None:
            nodes.append(Node(name, parent, at_m=(x, y, z), **looks))  # type: ignore[arg-type]
        elif part is None or not (motion.ghost and "ghost" in part.hidden):
            track = _part_track(part or Part((name,)), motion, pivot, fallen)
            nodes.append(Node(name, parent, track=track, **looks))  # type: ignore[arg-type]


def _fallen(motion: LaneMotion, node: str, body: str) -> np.ndarray | None:
    """(n, 4, 4) by which a node has moved in its body since a crash; None where it stays there."""
    fall = motion.fall
    if fall is None or (node not in fall.moves_w and body == next(iter(motion.bodies))):
        return None
    since, poses = len(fall.time), motion.bodies[body]
    found = np.tile(np.eye(4), (len(poses), 1, 1))
    found[-since:] = np.linalg.inv(poses[-since:]) @ fall.moves_w.get(node, fall.moves_w[HULL])
    found[-since:] @= poses[-since - 1]
    return found


def _part_track(
    part: Part, motion: LaneMotion, pivot: np.ndarray, fallen: np.ndarray | None = None
) -> Keyframes:
    """Of a part in its body, moved on by what `_fallen` gives. What is hidden while rotors are drawn as discs is shown:
    there are no discs."""
    rows = _values(motion, motion.time)
    time = _refined(part, motion.time, rows)
    if len(time) > len(motion.time):
        rows = _values(motion, time)
    at = np.searchsorted(motion.time, time, side="right").clip(1) - 1
    matrices, shown = np.empty((len(time), 4, 4)), np.empty(len(time), bool)
    for k, (values, time_s, sample) in enumerate(zip(rows, time.tolist(), at.tolist(), strict=True)):
        wreck = bool(motion.wreck[sample])
        turned_s = None if wreck else time_s
        matrices[k] = moved(part.moves, values, turned_s, motion.main[sample], wreck)
        by = part.shown_by
        shown[k] = (by is None or by.value(values, turned_s) > 0.0) and not (wreck and "wreck" in part.hidden)
    matrices[:, :3, 3] += pivot
    if motion.fall is not None:
        shown &= (time < motion.fall.time[0]) | (not motion.fall.absent & set(part.nodes))
    if fallen is not None:
        after = np.minimum(at + 1, len(fallen) - 1)
        shares = (time - motion.time[at]) / np.maximum(motion.time[after] - motion.time[at], _NOTHING)
        for k, share in enumerate(shares.tolist()):
            matrices[k] = pose_between(fallen[at[k]], fallen[after[k]], share) @ matrices[k]
    return _track(time, matrices, ", ".join(part.nodes), shown)


def _values(motion: LaneMotion, time: np.ndarray) -> list[dict[str, float]]:
    """What terms of the config may name at these moments, linear between the samples."""

    def at(columns: np.ndarray) -> np.ndarray:
        return np.stack([np.interp(time, motion.time, column) for column in columns.T], axis=1)

    controls = at(motion.controls) if motion.controls.size else np.zeros((len(time), 0))
    shape = at(motion.shape) if motion.shape.size else np.zeros((len(time), 0))
    scalars = {name: column for name, column in motion.observables.items() if column.ndim == 1}
    told = {name: np.interp(time, motion.time, column) for name, column in scalars.items()}
    kind = VEHICLES.get(motion.vehicle)
    return [
        named_values(
            kind,
            controls=controls[k],
            shape=shape[k],
            parameters=motion.parameters,
            observables={name: float(column[k]) for name, column in told.items()},
            finite=True,
        )
        for k in range(len(time))
    ]


def _refined(part: Part, time: np.ndarray, rows: list[dict[str, float]]) -> np.ndarray:
    """Moments that are near enough for the turns of a part."""
    if len(time) < 2:
        return time
    longest_s = float(np.diff(time).max())
    turn_rad = 0.0
    for term in (move.terms[0] for move in part.moves if move.kind == "turn"):
        if term.spin_radps is not None:
            turn_rad += abs(term.times * term.spin_radps) * longest_s
        else:
            angles = np.array([term.value(row) for row in rows])
            turn_rad += float(np.nan_to_num(np.abs(np.diff(angles))).max())
    pieces = min(math.ceil(turn_rad / _MOST_TURN_RAD), max(_MOST_KEYS // len(time), 1))
    if pieces <= 1:
        return time
    return np.interp(np.arange((len(time) - 1) * pieces + 1) / pieces, np.arange(len(time)), time)


def _track(time: np.ndarray, matrices: np.ndarray, name: str, shown: np.ndarray | None = None) -> Keyframes:
    """(n, 4, 4) matrices taken apart. Raises OutputError where they are no rotation of something scaled.

    Of an attitude that has left the rotations, as methods on bare numbers let it, the nearest rotation is written.
    """
    R, scale = matrices[:, :3, :3].copy(), np.linalg.norm(matrices[:, :3, :3], axis=1)
    odd = np.flatnonzero((scale < _NOTHING).any(axis=1) | (np.linalg.det(R) <= 0.0))
    whole = np.setdiff1d(np.arange(len(R)), odd)
    R[whole] /= scale[whole, None, :]
    for k in odd:
        R[k], scale[k] = _turned_inside_out(R[k], scale[k], R[k - 1] if k else np.eye(3))
    shear = np.abs(R.swapaxes(1, 2) @ R - np.eye(3)).max(axis=(1, 2))
    for k in np.flatnonzero((shear > _SHEAR) & (shear < _MOST_SHEAR)):
        left, _, right = np.linalg.svd(R[k])
        R[k] = left @ right
    if not shear.max(initial=0.0) < _MOST_SHEAR:
        raise OutputError(
            f"{name} shears, which cannot be written; allowed: turns, shifts and scales along axes"
        )
    return Keyframes(
        time,
        matrices[:, :3, 3].copy(),
        continuous_quaternions(R),
        np.where(np.abs(scale - 1.0) < 1e-12, 1.0, scale),
        np.ones(len(time), bool) if shown is None else shown,
    )


def _turned_inside_out(M: np.ndarray, scale: np.ndarray, before: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rotation (3, 3) and scales (3,) of what is mirrored, or has shrunk to nothing along an axis.

    Of the rotations that there are, the one next to that of the moment before.
    """
    if (scale < _NOTHING).any():
        return before, scale
    columns = M / scale
    mirrored = [columns * signs for signs in (1.0 - 2.0 * np.eye(3))]
    axis = int(np.argmax([np.trace(before.T @ R) for R in mirrored]))
    return mirrored[axis], scale * (1.0 - 2.0 * np.eye(3)[axis])


@dataclass(frozen=True, eq=False)
class CameraTrack:
    """A camera that looks along its -z, y up, in world coordinates."""

    track: Keyframes
    fov_y_rad: float
    aspect: float
    near_m: float
    far_m: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Content:
    """What a file is to hold."""

    motions: Sequence[LaneMotion]
    """One a lane, with names of their own."""
    title: str
    file_name: str
    """That the file will have; while it is written it has another."""
    channels: Sequence[str] = ()
    """Of a table; empty: all."""
    ground: GroundMesh | None = None
    camera: CameraTrack | None = None
    plan: "PlanDrawing | None" = None
    """Of a page."""
    caption: Sequence[str] = ()
    """Of a page: paragraphs."""
    report: TellShare = unheard
    """Called by what takes long, with what is being done and the share that is done; what it raises ends the work."""


def camera_track(time: Sequence[float], views: Sequence[View]) -> CameraTrack:
    """Of the views at moments that increase; the field of view is that of the first."""
    R = np.array([view.view[:3, :3].T for view in views])
    eyes = np.array([view.eye_w for view in views])
    count = len(views)
    P = views[0].projection
    near_m, far_m = float(P[2, 3] / (P[2, 2] - 1.0)), float(P[2, 3] / (P[2, 2] + 1.0))
    track = Keyframes(
        np.asarray(time, float), eyes, continuous_quaternions(R), np.ones((count, 3)), np.ones(count, bool)
    )
    return CameraTrack(track, 2.0 * float(np.arctan(1.0 / P[1, 1])), float(P[1, 1] / P[0, 0]), near_m, far_m)
