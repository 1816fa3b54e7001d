"""A motion for Rerun: models that move, and channels over time, as one recording.

Needs rerun-sdk: pip install "holonomy[rerun]". World z is up, metres; an entity is LANE/BODY/PART, its channels are
LANE/channels/NAME. Rerun keeps transforms as float32, so that everything is placed about the middle of the first lane.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from export.ground import GroundMesh
from export.motion import LaneMotion
from export.nodes import Content, Keyframes, Node, nodes_of
from export.output import OutputError
from export.pictures import srgb
from export.tables import channels_of

TIMELINE = "time"
_APPLICATION = "holonomy"
_GHOST_ALPHA = 90


def write_rrd(path: Path, content: Content) -> None:
    """Write the recording. Raises OSError, OutputError, InputError for a damaged model."""
    rr, recording = _opened(path, content.title, content.file_name)
    log = _Log(rr, recording)
    nodes = nodes_of(content.motions)
    origin = np.array(nodes[0].at_m)
    log.static("/", rr.ViewCoordinates.RIGHT_HAND_Z_UP)
    moved = [f"{m.name}: {m.origin.about}" for m in content.motions if m.origin is not None]
    log.static("/about", rr.TextDocument(_about([content.title, *moved], origin)))
    for node, entity in zip(nodes, entities(nodes), strict=True):
        log.node(entity, node, origin if node.parent is None else np.zeros(3))
    if content.ground is not None:
        log.ground("/ground", content.ground, origin)
    for motion in content.motions:
        for name, values in _channels(motion):
            log.curve(f"/{motion.name}/channels/{name}", motion.time, values)
    recording.flush()
    recording.disconnect()


def _opened(path: Path, title: str, told: str) -> tuple[Any, Any]:
    """(rerun, a recording into a file). Raises OutputError where rerun-sdk is missing, OSError."""
    try:
        import rerun as rr
    except ImportError:
        raise OutputError(
            f'{told}: .rrd needs rerun-sdk, which is not there; pip install "holonomy[rerun]"'
        ) from None
    path.open("wb").close()  # what cannot be written is told by the system, not by a thread of Rerun
    recording = rr.RecordingStream(_APPLICATION, recording_id=title, send_properties=False)
    recording.save(path)
    return rr, recording


class RrdLog:
    """A recording that is written as a flight goes."""

    def __init__(self, path: Path, title: str) -> None:
        """Raises OutputError where rerun-sdk is missing, OSError."""
        self._rr, self._recording = _opened(path, title, path.name)
        self._log, self._title = _Log(self._rr, self._recording), title
        self._log.static("/", self._rr.ViewCoordinates.RIGHT_HAND_Z_UP)
        self._origin: np.ndarray | None = None
        self._tops: list[str] = []

    def scene(self, time_s: float, nodes: Sequence[Node], ground: GroundMesh | None) -> None:
        """What is there from a moment on, instead of what was."""
        if self._origin is None:
            self._origin = np.array(nodes[0].at_m)
            self._log.static("/about", self._rr.TextDocument(_about([self._title], self._origin)))
        self._recording.set_time(TIMELINE, duration=time_s)
        for entity in self._tops:
            self._log.now(entity, self._rr.Clear(recursive=True))
        paths = entities(nodes)
        for node, entity in zip(nodes, paths, strict=True):
            self._log.model(entity, node, self._log.now)
        self._tops = [entity for entity, node in zip(paths, nodes, strict=True) if node.parent is None]
        if ground is not None:
            self._log.ground("/ground", ground, self._origin, self._log.now)
            self._tops.append("/ground")

    def poses(self, nodes: Sequence[Node]) -> None:
        """At the moments of their tracks, which are one for all; what rests is where it is now."""
        moment_s = next(float(node.track.time[0]) for node in nodes if node.track is not None)
        for node, entity in zip(nodes, entities(nodes), strict=True):
            origin = self._origin if node.parent is None and self._origin is not None else np.zeros(3)
            if node.track is None:
                self._recording.set_time(TIMELINE, duration=moment_s)
                self._log.now(entity, self._rr.Transform3D(translation=np.array(node.at_m) - origin))
            else:
                self._log.way(entity, node.track, origin)

    def channels(self, motion: LaneMotion) -> None:
        """At the moments of the motion."""
        for name, values in _channels(motion):
            self._log.curve(f"/{motion.name}/channels/{name}", motion.time, values)

    def flush(self) -> None:
        """What has been logged is in the file after it."""
        self._recording.flush()

    def close(self) -> None:
        """Write what readers look for at the end."""
        self._recording.flush()
        self._recording.disconnect()


def _about(lines: Sequence[str], origin: np.ndarray) -> str:
    place = ", ".join(f"{x:g}" for x in origin)
    return "\n".join([*lines, f"SI units, z is up; the origin is at ({place}) m of the world"])


def entities(nodes: Sequence[Node]) -> list[str]:
    """The path of each node, as Rerun writes it; paths do not repeat."""
    paths: list[str] = []
    for node in nodes:
        above = "" if node.parent is None else paths[node.parent]
        path = f"{above}/{node.name}"
        taken = paths.count(path)
        paths.append(path if not taken else f"{path} {taken + 1}")
    return paths


def _channels(motion: LaneMotion) -> Iterator[tuple[str, np.ndarray]]:
    """Heading and values (n,) of each scalar channel."""
    for name, channel in channels_of(motion).items():
        if not name.endswith("rotation"):
            table = channel.values.reshape(len(motion.time), -1)
            yield from zip(channel.columns(name), table.T, strict=True)


class _Log:
    """Whole columns at once: a row at a time takes a hundred times as long."""

    def __init__(self, rr: Any, recording: Any) -> None:
        self._rr, self._recording = rr, recording

    def _path(self, entity: str) -> str:
        return str(self._rr.new_entity_path([part for part in entity.split("/") if part]))

    def static(self, entity: str, thing: Any) -> None:
        """At all times."""
        self._recording.log(self._path(entity), thing, static=True)

    def now(self, entity: str, thing: Any) -> None:
        """From the time on that has been set."""
        self._recording.log(self._path(entity), thing)

    def _columns(self, entity: str, time: np.ndarray, columns: Any) -> None:
        index = self._rr.TimeColumn(TIMELINE, duration=time)
        self._recording.send_columns(self._path(entity), indexes=[index], columns=columns)

    def node(self, entity: str, node: Node, origin: np.ndarray) -> None:
        """Its way, or where it rests, and its model."""
        if node.track is None:
            place = np.array(node.at_m) - origin
            if place.any():
                self.static(entity, self._rr.Transform3D(translation=place))
        else:
            self.way(entity, node.track, origin)
        self.model(entity, node, self.static)

    def way(self, entity: str, track: Keyframes, origin: np.ndarray) -> None:
        scale = track.scale * np.where(track.shown, 1.0, 0.0)[:, None]
        parts = {"translation": track.translation - origin, "quaternion": track.rotation}
        if not np.allclose(scale, 1.0):
            parts["scale"] = scale
        self._columns(entity, track.time, self._rr.Transform3D.columns(**parts))

    def model(self, entity: str, node: Node, put: Callable[[str, Any], None]) -> None:
        """What it looks like, by `static` or `now`."""
        if node.asset is None:
            return
        for material, positions, normals, triangles in node.asset.meshes(node.part):
            row = node.asset.materials[material].astype(float)
            colour = [*node.tint] if node.ghost else [*row[0, :3].clip(0.0, 1.0)]
            alpha = _GHOST_ALPHA if node.ghost else round(255 * float(row[3, 3]))
            mesh = self._rr.Mesh3D(
                vertex_positions=positions,
                vertex_normals=normals,
                triangle_indices=triangles.reshape(-1, 3),
                albedo_factor=[*_bytes(np.array(colour)), alpha],
            )
            put(f"{entity}/mesh_{material}", mesh)

    def ground(
        self,
        entity: str,
        ground: GroundMesh,
        origin: np.ndarray,
        put: Callable[[str, Any], None] | None = None,
    ) -> None:
        """By `static`, if not otherwise."""
        mesh = self._rr.Mesh3D(
            vertex_positions=ground.positions - origin,
            vertex_normals=ground.normals,
            triangle_indices=ground.triangles.reshape(-1, 3),
            vertex_colors=_bytes(ground.colours),
        )
        (put or self.static)(entity, mesh)

    def curve(self, entity: str, time: np.ndarray, values: np.ndarray) -> None:
        """Without what is not known."""
        known = np.isfinite(values)
        if known.any():
            self._columns(entity, time[known], self._rr.Scalars.columns(scalars=values[known]))


def _bytes(linear: np.ndarray) -> np.ndarray:
    """(..., 3) 0 to 255, as a screen wants it."""
    return np.round(255.0 * srgb(linear.clip(0.0, 1.0))).astype(np.uint8)
