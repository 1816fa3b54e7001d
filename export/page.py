"""A motion as one HTML file that any browser opens without network, and the same page fed by a running simulation.

It holds the models, a time line, cameras and plots. For a running simulation the scene goes over once as binary glTF,
whose node k + 1 is node k of `export.nodes`; after that every picture is a row of numbers a node. Where other lanes or
another scene are there, the key of both changes, and the page asks anew.
"""

import base64
import gzip
import html
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from export.gltf import to_bytes
from export.ground import GroundMesh, ground_under
from export.motion import LaneMotion, MotionRecorder
from export.nodes import Assets, CameraTrack, Content, Keyframes, Node, nodes_of, scene_key
from export.output import OutputError
from export.packing import MOMENT_S, PackedArrays, Told
from export.tables import channels_of
from render.vehicles.shown import ARROW_COLOURS, FORCE_ARROW
from sim.platform.errors import InputError
from sim.platform.values import dataclass
from sim.scene import Scene
from sim.shapes import Shape
from sim.simulation.lanes.snapshot import Snapshot
from sim.vehicle_config import ASSETS
from sim.world import World

if TYPE_CHECKING:
    from export.plan import PlanDrawing
    from sim.planner.result.record import PlanRecord
    from sim.planner.service.session import PlanView

_ASSETS = ASSETS / "page"
_OFF_M, _OFF_RAD = 5e-5, 5e-5
"""By which a motion's keys may be thinned out; rounding adds less than that."""
_NEARLY_ALL = 0.93
"""Of its keys: what needs more keeps all of them, and is rounded by as much more instead."""
_DRAWN_M = 1e-3
"""To which lines and surfaces are rounded."""
_CURVE_POINTS = 1500
"""Of a curve at most."""
_TRAIL_OFF_M = 0.02
_USUAL = 0.98
"""Of the forces in a motion are drawn to scale; the larger ones, blows, have the longest arrow."""
_FIRST_PLOTS = ("energy", "position.z", "velocity.x")
"""What is plotted at first, where there is such a channel."""
_PLOTS = 3
_FLAT = 1e-12
"""Unit of a curve that is a flat line."""


def write_page(path: Path, content: Content) -> None:
    """Write the page. Raises OSError, OutputError for a motion that no scene can hold."""
    made = shown(
        content.motions, title=content.title, ground=content.ground, camera=content.camera,
        plan=content.plan, caption=content.caption,
    )  # fmt: skip
    path.write_text(assembled(made), encoding="utf-8")


@dataclass(frozen=True)
class Shown:
    """What the viewer is given: a description, the scene as binary glTF, motions and curves by `export.packing`; the
    latter two gzipped."""

    about: dict[str, object]
    scene: bytes = b""
    curves: bytes = b""


def shown(
    motions: Sequence[LaneMotion],
    *,
    title: str,
    ground: GroundMesh | None = None,
    camera: CameraTrack | None = None,
    plan: "PlanDrawing | None" = None,
    caption: Sequence[str] = (),
) -> Shown:
    """Of motions, and of a plan beside them.

    Between the moments of the motions the viewer interpolates; at them poses come back to 0.1 mm and 1e-4 rad.
    caption: paragraphs under the title. Raises OutputError for a motion that no scene can hold.
    """
    assets, curves = Assets(), PackedArrays()
    nodes = nodes_of(motions, assets)
    of_lanes = _lane_nodes(nodes)
    begin_s = min(float(motion.time[0]) for motion in motions)
    end_s = max(motion.end_s for motion in motions)
    found = [_channels(motion, curves) for motion in motions]
    lanes = [
        _lane(motion, begin_s, curves) | {"curves": values, "node": node}
        for motion, values, node in zip(motions, found, of_lanes, strict=True)
    ]
    names = list(dict.fromkeys(name for of_lane in found for name in of_lane))
    moving = [name for name in names if any(_changes(of_lane.get(name)) for of_lane in found)]
    about = {
        "title": title,
        "tracks": [],
        "caption": [{"text": text} for text in caption] + [_told(motion) for motion in motions],
        "begin_s": begin_s,
        "duration_s": end_s - begin_s,
        "lanes": lanes,
        "first_plots": first_plots(moving or names),
    }
    if plan is not None:
        about["plan"] = _plan(plan, lambda points: curves.add(points, _DRAWN_M)) | {"node": len(nodes)}
        nodes += _planned_nodes(plan, len(nodes), assets)
    if camera is not None:
        about["camera"] = {"node": len(nodes), "fov_y_rad": camera.fov_y_rad, "near_m": camera.near_m}
        nodes.append(Node("camera", None, track=camera.track))
    about["tracks"] = [
        [k, *_track(node.track, begin_s, curves)] for k, node in enumerate(nodes) if node.track is not None
    ]
    scene = to_bytes(_resting(nodes), title=title, ground=ground)
    return Shown(about, _packed(scene), _packed(curves.bytes()))


def _track(track: Keyframes, begin_s: float, curves: PackedArrays) -> Told:
    """By as few numbers as it takes, its time counted from the beginning."""
    few, coarser = track.thinned(_OFF_M, _OFF_RAD), 1.0
    if len(few.time) > _NEARLY_ALL * len(track.time):
        few, coarser = track, 2.0
    return curves.add_track(replace(few, time=few.time - begin_s), coarser)


def _resting(nodes: Sequence[Node]) -> list[Node]:
    """The same without motion, which the viewer gives them: node k is node k + 1 of the file."""
    return [node if node.track is None else replace(node, track=None, at_m=(0.0, 0.0, 0.0)) for node in nodes]


def viewer_text() -> str:
    """The viewer, a script that leaves its functions in `holonomyViewer`."""
    return (_ASSETS / "viewer.bundle.js").read_text(encoding="utf-8")


def assembled(given: Shown, connect: str = "'none'") -> str:
    """The text of a page with its viewer. connect: where it may connect to, which is nowhere."""
    parts = {
        "TITLE": html.escape(str(given.about["title"])),
        "NOTICE": (_ASSETS / "NOTICE.txt").read_text(encoding="utf-8"),
        "CONNECT": connect,
        "SCENE": _letters(given.scene),
        "CURVES": _letters(given.curves),
        # Within a script element only its end would be read as markup.
        "ABOUT": json.dumps(given.about, allow_nan=False).replace("<", "\\u003c"),
        "VIEWER": _letters(_packed(viewer_text().encode())),
    }
    frame = (_ASSETS / "page.html").read_text(encoding="utf-8")
    return re.sub("@([A-Z]+)@", lambda place: parts[place[1]], frame)


def _kept(count: int) -> np.ndarray:
    """Rows of `count` that a curve goes through."""
    return np.unique(np.linspace(0, count - 1, min(count, _CURVE_POINTS)).round().astype(int))


def _channels(motion: LaneMotion, curves: PackedArrays) -> dict[str, Told]:
    """Heading of each scalar channel -> its curve."""
    count = len(motion.time)
    found = {}
    for name, channel in channels_of(motion).items():
        if not name.endswith("rotation"):
            table = channel.values.reshape(count, -1)[_kept(count)]
            for heading, column in zip(channel.columns(name), table.T, strict=True):
                found[heading] = curves.add_curve(column)
    return found


def _changes(curve: Told | None) -> bool:
    """Whether a curve is more than a flat line; its unit is a part of its reach."""
    return curve is not None and curve[3][0] > _FLAT


def _lane(motion: LaneMotion, begin_s: float, curves: PackedArrays) -> dict[str, object]:
    """What the viewer has to know of a lane beside its models and curves."""
    places = motion.main[:, :3, 3]
    along = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(places, axis=0), axis=1)))
    apart = np.append(np.unique(np.floor(along / _TRAIL_OFF_M), return_index=True)[1], len(places) - 1)
    return {
        "name": motion.name,
        "body": next(iter(motion.bodies)),
        "tint": list(motion.tint),
        "ghost": motion.ghost,
        "time": curves.add(motion.time[_kept(len(motion.time))] - begin_s, MOMENT_S),
        "trail": curves.add(places[apart[_kept(len(apart))]], _DRAWN_M),
        "forces": _forces(motion, curves),
    }


def _told(motion: LaneMotion) -> dict[str, object]:
    """What a lane is, and what has become of it, with its colour."""
    about = "" if motion.origin is None else motion.origin.about
    said = "; ".join(text for text in (about, motion.outcome) if text)
    return {"text": f"{motion.name}: {said}" if said else motion.name, "tint": list(motion.tint)}


def _planned_nodes(plan: "PlanDrawing", first: int, assets: Assets) -> list[Node]:
    """The plan's ghosts below a node of their own, which is number `first`."""
    ghosts = nodes_of(plan.ghosts, assets)
    below = [
        replace(node, parent=first if node.parent is None else first + 1 + node.parent) for node in ghosts
    ]
    return [Node("plan", None), *below]


def _plan(plan: "PlanDrawing", told: Callable[[np.ndarray], object]) -> dict[str, object]:
    """What the viewer draws of a plan beside its ghosts; told: how it is given points (n, 3)."""
    lines = [
        {
            "points": told(line.points_w),
            "tint": line.colour,
            "alpha": float(line.alpha.mean()),
            "width_px": line.width_px,
        }
        for line in plan.lines
    ]
    surfaces = [
        {
            "corners": told(each.corners_w),
            "tint": each.colour,
            "alpha": float(np.mean(each.alpha)),
        }
        for each in plan.surfaces
    ]
    return {"lines": lines, "surfaces": surfaces}


def caption_of(scene: Scene) -> tuple[str, ...]:
    """What is said of a scene over its picture, or where it is chosen: paragraphs."""
    told = scene.comparison
    said = (told.caption or " ".join(scene.text.split()), told.note)
    return tuple(text for text in said if text)


def _forces(motion: LaneMotion, curves: PackedArrays) -> list[dict[str, object]]:
    """Arrows (n, 3) [m] in the world, as long as the window draws them, but that no blow makes all others short."""
    ways_w = {who: np.nan_to_num(force) for who, force in motion.forces_w.items() if np.any(force)}
    sizes = np.concatenate([np.linalg.norm(way, axis=1) for way in ways_w.values()] or [np.zeros(1)])
    if not np.any(sizes > 0.0):
        return []
    large_N, longest_m = (
        np.quantile(sizes[sizes > 0.0], _USUAL),
        FORCE_ARROW * motion.config.camera.distance_m,
    )
    found: list[dict[str, object]] = []
    for who, way in ways_w.items():
        size_N = np.linalg.norm(way, axis=1, keepdims=True)
        arrows = longest_m * way / np.maximum(size_N, large_N)
        found.append(
            {"who": who, "tint": ARROW_COLOURS[who], "ways": curves.add(arrows[_kept(len(arrows))], _DRAWN_M)}
        )
    return found


def first_plots(names: Sequence[str]) -> list[str]:
    """Three headings, of what is most often asked for and then of what there is."""
    bare = {heading.split(" [")[0]: heading for heading in names}
    wanted = [bare[name] for name in _FIRST_PLOTS if name in bare]
    rest = [heading for heading in names if heading not in wanted]
    return [*wanted, *rest][:_PLOTS]


def _packed(data: bytes) -> bytes:
    return gzip.compress(data, compresslevel=6, mtime=0)


def _letters(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


_MARGIN_M = 250.0
"""Of the land about the lanes at the start."""
POSE = 11
"""Numbers of a node: place (3), quaternion x, y, z, w, scale (3), whether it is shown."""


LIVE = Shown(
    {
        "live": True, "title": "Holonomy, live", "caption": [], "lanes": [], "first_plots": [],
        "begin_s": 0.0, "duration_s": 30.0,
    }
)  # fmt: skip
"""Nothing yet: the simulation says the rest."""


class Surroundings(NamedTuple):
    """Of what flies, in a window."""

    world: World
    solids: Sequence[Shape] = ()
    """What is to be drawn in it beside what it has."""
    planned: "PlanView | None" = None
    """Shown once nothing is being planned."""

    @property
    def plan(self) -> "PlanRecord | None":
        """That is to be shown."""
        return None if self.planned is None or self.planned.busy else self.planned.plan


class LivePage:
    """For one simulation after the other; used by the threads of several browsers."""

    def __init__(self, surroundings: Callable[[], Surroundings]) -> None:
        """surroundings: the present ones."""
        self._surroundings, self._assets = surroundings, Assets()

    def text(self, port: int) -> bytes:
        """The page itself, which holds nothing of the simulation; it may connect to this port alone."""
        return assembled(LIVE, connect=f"ws://127.0.0.1:{port} ws://localhost:{port}").encode()

    def scene(self, snapshot: Snapshot) -> dict[str, object]:
        """Models and land, and what lanes are there. Raises InputError for what cannot be shown."""
        motions, nodes = self._seen(snapshot)
        around = self._surroundings()
        rested, plan = _resting(nodes), dict[str, object]()
        if around.plan is not None:
            from export.plan import plan_drawing  # with the planner, as there is a plan

            drawn = plan_drawing(around.world, around.planned, 0.0)
            assert drawn is not None
            plan["plan"] = _plan(drawn, lambda points: points.ravel().tolist()) | {"node": len(rested)}
            rested += _planned_nodes(drawn, len(rested), self._assets)
        names = [name for motion in motions for name in _values(motion)]
        return {
            **plan,
            "key": _key(snapshot, nodes, around),
            "title": snapshot.scene,
            "glb": to_bytes(
                rested,
                title=snapshot.scene,
                ground=ground_under(around.world, motions, around.solids, _MARGIN_M),
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
            "key": _key(snapshot, nodes, self._surroundings()),
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


def _key(snapshot: Snapshot, nodes: Sequence[Node], around: Surroundings) -> str:
    """Equal as long as a page has nothing to build anew."""
    plan = around.plan
    planned = "" if plan is None else f"{plan.name} {plan.cost!r} {len(plan.nodes)}"
    return scene_key(snapshot, nodes, around.solids) + planned


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


def _values(motion: LaneMotion) -> dict[str, float]:
    """Heading of each scalar channel -> its value."""
    found = {}
    for name, channel in channels_of(motion).items():
        if not name.endswith("rotation"):
            headings = channel.columns(name)
            numbers = channel.values.reshape(1, -1)[0].tolist()
            found.update({h: x for h, x in zip(headings, numbers, strict=True) if np.isfinite(x)})
    return found
