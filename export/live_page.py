"""What a browser shows of a running simulation: the page of an exported motion, fed with poses as they come.

The scene goes over once as binary glTF, whose node k + 1 is node k of `export.nodes`; after that every picture is a row
of numbers a node. Where other lanes or another scene are there, the key of both changes, and the page asks anew.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from export.gltf import to_bytes
from export.motion import LaneMotion, MotionRecorder
from export.nodes import Assets, Node, ground_under, nodes_of
from export.output import OutputError
from export.page import assembled, first_plots
from export.tables import channels_of
from sim.platform.errors import InputError
from sim.shapes import Shape
from sim.simulation.lanes.snapshot import Snapshot
from sim.world import World

_MARGIN_M = 250.0
"""Of the land about the lanes at the start."""
POSE = 11
"""Numbers of a node: place (3), quaternion x, y, z, w, scale (3), whether it is shown."""


class LivePage:
    """For one simulation after the other; used by the threads of several browsers."""

    def __init__(self, surroundings: Callable[[], tuple[World, Sequence[Shape]]]) -> None:
        """surroundings: the present world, and what is to be drawn in it beside what it has."""
        self._surroundings, self._assets = surroundings, Assets()

    def text(self, port: int) -> bytes:
        """The page itself, which holds nothing of the simulation; it may connect to this port alone."""
        about = {"live": True, "title": "", "caption": [], "lanes": [], "first_plots": [], "duration_s": 30.0}
        return assembled(
            title="Holonomy, live",
            about=about | {"begin_s": 0.0},
            connect=f"ws://127.0.0.1:{port} ws://localhost:{port}",
        ).encode()

    def scene(self, snapshot: Snapshot) -> dict[str, object]:
        """Models and land, and what lanes are there. Raises InputError for what cannot be shown."""
        motions, nodes = self._seen(snapshot)
        world, solids = self._surroundings()
        still = [replace(node, track=None, at_m=(0.0, 0.0, 0.0)) for node in nodes]
        names = [name for motion in motions for name in _values(motion)]
        return {
            "key": _key(snapshot, nodes),
            "title": snapshot.scene,
            "glb": to_bytes(
                still, title=snapshot.scene, ground=ground_under(world, motions, solids, _MARGIN_M)
            ),
            "lanes": [
                {
                    "name": motion.name,
                    "node": node,
                    "tint": list(motion.tint),
                    "ghost": motion.ghost,
                }
                for motion, node in zip(motions, _lane_nodes(nodes), strict=True)
            ],
            "first_plots": first_plots(list(dict.fromkeys(names))),
        }

    def picture(self, snapshot: Snapshot) -> dict[str, object]:
        """Where everything is, and the channels of the lanes. Raises InputError for what cannot be shown."""
        motions, nodes = self._seen(snapshot)
        return {
            "key": _key(snapshot, nodes),
            "time_s": snapshot.clock_s,
            "paused": snapshot.paused,
            "speed": snapshot.speed,
            "message": snapshot.message,
            "poses": poses(nodes),
            "lanes": [
                {"values": _values(motion), "status": lane.status_text}
                for motion, lane in zip(motions, snapshot.lanes, strict=True)
            ],
        }

    def _seen(self, snapshot: Snapshot) -> tuple[tuple[LaneMotion, ...], list[Node]]:
        recorder = MotionRecorder()
        recorder.add(snapshot)
        motions = recorder.motions()
        try:
            return motions, nodes_of(motions, self._assets)
        except OutputError as error:
            raise InputError(str(error)) from None


def poses(nodes: Sequence[Node]) -> np.ndarray:
    """(n, POSE) of nodes in their parents, at the first moment of their tracks."""
    rows = np.zeros((len(nodes), POSE))
    rows[:, 6:] = 1.0
    for row, node in zip(rows, nodes, strict=True):
        if node.track is None:
            row[:3] = node.at_m
        else:
            row[:3], row[3:7] = node.track.translation[0], node.track.rotation[0]
            row[7:10], row[10] = node.track.scale[0], node.track.shown[0]
    return rows


def _lane_nodes(nodes: Sequence[Node]) -> list[int]:
    return [k for k, node in enumerate(nodes) if node.parent is None and node.track is None]


def _key(snapshot: Snapshot, nodes: Sequence[Node]) -> str:
    """Equal as long as the same nodes stand for the same things."""
    lanes = [(lane.name, lane.vehicle, lane.ghost, lane.tint) for lane in snapshot.lanes]
    return json.dumps([snapshot.scene, lanes, [node.name for node in nodes]], default=str)


def _values(motion: LaneMotion) -> dict[str, float]:
    """Heading of each scalar channel -> its value."""
    found = {}
    for name, channel in channels_of(motion).items():
        if not name.endswith("rotation"):
            headings = channel.columns(name)
            numbers = channel.values.reshape(1, -1)[0].tolist()
            found.update({h: x for h, x in zip(headings, numbers, strict=True) if np.isfinite(x)})
    return found
