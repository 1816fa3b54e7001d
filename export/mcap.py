"""A motion as a log for Foxglove and its like: MCAP with frames, models and channels over time, as JSON.

Needs mcap: pip install "holonomy[mcap]". Messages follow Foxglove's schemas FrameTransforms and SceneUpdate: z is up,
metres, the fixed frame is "world"; a lane's bodies and their moving parts are frames of their own, LANE/BODY/PART.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from export.ground import GroundMesh
from export.motion import LaneMotion
from export.nodes import Content, Node, nodes_of
from export.output import OutputError
from export.pictures import srgb
from export.tables import channels_of

WORLD = "world"
_GHOST_ALPHA = 0.35


def write_mcap(path: Path, content: Content) -> None:
    """Write the log; its time is that of the motions. Raises OSError, OutputError, InputError for a damaged model."""
    nodes = nodes_of(content.motions)
    log = McapLog(path, content.title, path.with_name(content.file_name))
    try:
        log.scene(min(float(motion.time[0]) for motion in content.motions), nodes, content.ground)
        log.poses(nodes)
        for motion in content.motions:
            log.channels(motion)
    finally:
        log.close()


class McapLog:
    """A log that is written as a flight goes. What has been flushed can be read after a break, too."""

    def __init__(self, path: Path, title: str, told: Path | None = None) -> None:
        """told: the file that refusals name. Raises OSError, OutputError where mcap is missing."""
        try:
            from mcap.writer import CompressionType, Writer
        except ImportError:
            raise OutputError(
                f'{(told or path).name}: MCAP needs mcap, which is not there; pip install "holonomy[mcap]"'
            ) from None
        self._file = path.open("wb")
        self._writer = Writer(self._file, compression=CompressionType.ZSTD)
        self._writer.start(profile="", library="holonomy")
        self._writer.add_metadata("holonomy", {"title": title, "units": "m, s, rad; z is up"})
        self._log, self._scenes = _Log(self._writer), 0

    def scene(self, time_s: float, nodes: Sequence[Node], ground: GroundMesh | None) -> None:
        """What is there from a moment on, instead of what was."""
        message = _scene(nodes, _frames(nodes), ground, time_s)
        if self._scenes:
            message["deletions"] = [{"timestamp": _stamp(time_s), "type": _ALL, "id": ""}]
        self._log.add("/scene", "foxglove.SceneUpdate", time_s, message)
        self._scenes += 1

    def poses(self, nodes: Sequence[Node]) -> None:
        """At the moments of their tracks."""
        for time_s, transforms in _transforms(nodes, _frames(nodes)):
            self._log.add("/tf", "foxglove.FrameTransforms", time_s, {"transforms": transforms})

    def channels(self, motion: LaneMotion) -> None:
        """At the moments of the motion."""
        for time_s, values in _channels(motion):
            self._log.add(f"/{motion.name}/channels", f"holonomy.{motion.vehicle}", time_s, values)

    def flush(self) -> None:
        """What has been logged is in the file after it."""
        self._writer.flush()

    def close(self) -> None:
        """Write its index, by which readers find moments. Raises OSError."""
        try:
            self._writer.finish()
        finally:
            self._file.close()


_ALL = 1
"""Foxglove's word for the deletion of all entities of a topic."""


class _Log:
    """Messages by topic and schema, whose JSON schema follows from its first one."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer
        self._topics: dict[tuple[str, str], int] = {}

    def add(self, topic: str, schema: str, time_s: float, message: dict[str, object]) -> None:
        if (topic, schema) not in self._topics:
            described = {"title": schema, **_schema(message)}
            number = self._writer.register_schema(
                name=schema, encoding="jsonschema", data=json.dumps(described).encode()
            )
            self._topics[topic, schema] = self._writer.register_channel(
                topic=topic, message_encoding="json", schema_id=number
            )
        moment_ns = round(1e9 * time_s)
        self._writer.add_message(
            channel_id=self._topics[topic, schema],
            log_time=moment_ns,
            publish_time=moment_ns,
            data=json.dumps(message, allow_nan=False, separators=(",", ":")).encode(),
        )


def _schema(value: object) -> dict[str, object]:
    """JSON schema of what is like this value."""
    match value:
        case dict():
            return {"type": "object", "properties": {name: _schema(part) for name, part in value.items()}}
        case list():
            return {"type": "array", "items": _schema(value[0]) if value else {}}
        case bool():
            return {"type": "boolean"}
        case str():
            return {"type": "string"}
        case int():
            return {"type": "integer"}
        case _:
            return {"type": "number"}


def _frames(nodes: Sequence[Node]) -> list[str]:
    """The frame of each node: its own where it moves, else that of what it stands on. Names do not repeat."""
    paths: list[str] = []
    frames: list[str] = []
    for node in nodes:
        path = node.name if node.parent is None else f"{paths[node.parent]}/{node.name}"
        paths.append(path)
        if node.track is None:
            frames.append(WORLD if node.parent is None else frames[node.parent])
        else:
            taken = frames.count(path)
            frames.append(path if not taken else f"{path} {taken + 1}")
    return frames


def _places(nodes: Sequence[Node]) -> np.ndarray:
    """(n, 3) m: where nodes lie in their frames; what moves lies in its own at the origin."""
    places = np.zeros((len(nodes), 3))
    for k, node in enumerate(nodes):
        if node.track is None:
            places[k] = node.at_m
            if node.parent is not None:
                places[k] += places[node.parent]
    return places


def _transforms(
    nodes: Sequence[Node], frames: Sequence[str]
) -> Iterator[tuple[float, list[dict[str, object]]]]:
    """Moments with the transforms that have changed by then, in the order of time."""
    places = _places(nodes)
    at: dict[float, list[dict[str, object]]] = defaultdict(list)
    for k, node in enumerate(nodes):
        if node.track is None:
            continue
        parent = WORLD if node.parent is None else frames[node.parent]
        offset = np.zeros(3) if node.parent is None else places[node.parent]
        rows = zip(
            node.track.time.tolist(),
            (node.track.translation + offset).tolist(),
            node.track.rotation.tolist(),
            strict=True,
        )
        for time_s, place, turn in rows:
            at[time_s].append(
                {
                    "timestamp": _stamp(time_s),
                    "parent_frame_id": parent,
                    "child_frame_id": frames[k],
                    "translation": dict(zip("xyz", place, strict=True)),
                    "rotation": dict(zip("xyzw", turn, strict=True)),
                }
            )
    for time_s in sorted(at):
        yield time_s, at[time_s]


def _scene(
    nodes: Sequence[Node], frames: Sequence[str], ground: GroundMesh | None, begin_s: float
) -> dict[str, object]:
    """All models as entities that are locked to their frames, and the ground."""
    entities = []
    for number, (node, frame, place) in enumerate(zip(nodes, frames, _places(nodes), strict=True)):
        if node.asset is None:
            continue
        meshes = []
        for material, positions, _normals, triangles in node.asset.meshes(node.part):
            row = node.asset.materials[material].astype(float)
            colour = [*node.tint, _GHOST_ALPHA] if node.ghost else [*row[0, :3].clip(0.0, 1.0), row[3, 3]]
            meshes.append(_triangles(positions.astype(float) + place, triangles, np.array(colour)))
        entities.append(_entity(f"{frame} {number}", frame, begin_s, meshes))
    if ground is not None:
        mesh = _triangles(ground.positions, ground.triangles, np.ones(4))
        alpha = np.ones((len(ground.colours), 1))
        mesh["colors"] = [_colour(row) for row in np.hstack([ground.colours, alpha])]
        entities.append(_entity("ground", WORLD, begin_s, [mesh]))
    return {"deletions": [], "entities": entities}


def _entity(name: str, frame: str, time_s: float, meshes: list[dict[str, object]]) -> dict[str, object]:
    return {
        "id": name,
        "timestamp": _stamp(time_s),
        "frame_id": frame,
        "lifetime": {"sec": 0, "nsec": 0},
        "frame_locked": True,
        "metadata": [],
        "triangles": meshes,
    }


def _triangles(positions: np.ndarray, triangles: np.ndarray, colour: np.ndarray) -> dict[str, object]:
    return {
        "pose": {
            "position": {"x": 0.0, "y": 0.0, "z": 0.0},
            "orientation": {"x": 0.0, "y": 0.0, "z": 0.0, "w": 1.0},
        },
        "points": [dict(zip("xyz", row, strict=True)) for row in positions.round(5).tolist()],
        "color": _colour(colour),
        "colors": [],
        "indices": triangles.reshape(-1).tolist(),
    }


def _colour(linear: np.ndarray) -> dict[str, float]:
    """As a screen wants it, of linear red, green and blue, and how opaque it is."""
    shown = srgb(linear[:3].clip(0.0, 1.0))
    return dict(zip("rgba", [*shown.round(4).tolist(), float(linear[3])], strict=True))


def _stamp(time_s: float) -> dict[str, int]:
    sec, nsec = divmod(round(1e9 * time_s), 1_000_000_000)
    return {"sec": sec, "nsec": nsec}


def _channels(motion: LaneMotion) -> Iterator[tuple[float, dict[str, object]]]:
    """A row a moment of all channels by their names, without what is not known then."""
    headings: list[str] = []
    columns: list[np.ndarray] = []
    for name, channel in channels_of(motion).items():
        headings += channel.columns(name)
        columns.append(channel.values.reshape(len(motion.time), -1))
    rows = np.hstack(columns)
    for time_s, row, known in zip(
        motion.time.tolist(), rows.tolist(), np.isfinite(rows).tolist(), strict=True
    ):
        yield time_s, {name: value for name, value, k in zip(headings, row, known, strict=True) if k}
