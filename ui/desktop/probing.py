"""Watching a window from outside, for tests: what it shows, as a JSON file that is replaced ten times a second."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from export.output import replacing

if TYPE_CHECKING:
    from sim.scene.race import Standing
    from sim.simulation.lanes.snapshot import LaneSnapshot, Snapshot
    from sim.simulation.runs.judge import Progress
    from ui.shell.shell import Shell
    from ui.window.app_window import AppWindow
    from ui.window.context import Pace

PERIOD_S = 0.1


class Probe:
    """Keeps one JSON file up to date. Readers never see a half-written one."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._frames = 0
        self._written_s = 0.0
        self._gl_errors: list[str] = []

    def opening(self, jobs: Sequence[str], size: tuple[int, int]) -> None:
        """A frame from before there is a scene."""
        self._write({"opening": list(jobs), "size": size})

    def frame(
        self,
        snapshot: "Snapshot",
        *,
        widgets: Mapping[str, Sequence[float]],
        size: tuple[int, int],
        gl_error: str,
        **details: object,
    ) -> None:
        """Count one drawn frame. `widgets`: name -> (x, y, width, height) in window coordinates, y down."""
        self._frames += 1
        if gl_error != "GL_NO_ERROR":
            self._gl_errors.append(f"frame {self._frames}: {gl_error}")
        content = {
            "frames": self._frames,
            "size": size,
            "clock_s": snapshot.clock_s,
            "paused": snapshot.paused,
            "flight_mode": snapshot.flight_mode,
            "real_time_factor": snapshot.real_time_factor,
            "message": snapshot.message,
            "lanes": [_lane(lane) for lane in snapshot.lanes],
            "widgets": {name: list(rectangle) for name, rectangle in widgets.items()},
            "gl_errors": self._gl_errors[:20],
            **details,
        }
        self._write(content)

    def _write(self, content: dict[str, object]) -> None:
        now = perf_counter()
        if now - self._written_s < PERIOD_S:
            return
        self._written_s = now
        with replacing(self._path, lasting=False) as temporary:
            temporary.write_text(json.dumps({"wall_s": now, **content}), encoding="utf-8")


def _lane(lane: "LaneSnapshot") -> dict[str, object]:
    return {
        "name": lane.name,
        "vehicle": lane.vehicle,
        "integrator": lane.integrator,
        "step_s": lane.step_s,
        "parameters": dict(lane.parameters),
        "generation": lane.generation,
        "x_w": lane.T_wb[:3, 3].tolist(),
        "nose_w": lane.T_wb[:3, 0].tolist(),
        "heading_rad": math.atan2(lane.T_wb[1, 0], lane.T_wb[0, 0]),
        "v_b": lane.twist_b[-3:].tolist(),
        "shape": lane.shape.tolist(),
        "controls": lane.controls.tolist(),
        "height_above_ground_m": lane.height_above_ground_m,
        "on_ground": bool(lane.on_ground),
        "pull": None if lane.pull is None else _pull(lane),
        "status": lane.status.value,
        "status_text": lane.status_text,
    }


def _pull(lane: "LaneSnapshot") -> dict[str, object]:
    """What a hand holds, where that is (of the vehicle's bodies) and where it is pulled to."""
    assert lane.pull is not None
    body, at_b, to_w = lane.pull
    told: dict[str, object] = {"body": body, "to_w": list(to_w)}
    if isinstance(body, str):
        T_wb = lane.bodies[body]
        told["at_w"] = (T_wb[:3, :3] @ at_b + T_wb[:3, 3]).tolist()
    return told


def probed(
    probe: Probe,
    window: "AppWindow",
    shell: "Shell",
    snapshot: "Snapshot",
    goals: "Progress | None",
    plan: Mapping[str, object] | None,
    pace: "Pace",
) -> None:
    """Tell of a frame that has been drawn."""
    probe.frame(
        snapshot,
        widgets=shell.widget_rects,
        size=window.get_size(),
        gl_error=window.ctx.error,
        scene_scale=pace.scale,
        camera=shell.view.camera,
        plan=plan,
        berth=None if snapshot.mpc is None or snapshot.mpc.berth is None else asdict(snapshot.mpc.berth),
        goals=_goals(goals),
        race=_race(snapshot.race),
        recorded_s=snapshot.recorded_s,
        look_back=None if snapshot.look_back is None else asdict(snapshot.look_back),
    )


def _goals(goals: "Progress | None") -> dict[str, object] | None:
    if goals is None:
        return None
    due = "" if goals.due is None else goals.due.title
    marker_w = None if goals.marker_w is None else [float(x) for x in goals.marker_w]
    skipped, graded = bool(goals.skipped), goals.graded is not None
    return {
        "at": goals.at,
        "due": due,
        "words": "" if goals.due is None else goals.due.words,
        "keys": [] if goals.due is None else list(goals.due.keys),
        "held": goals.held,
        "distance_m": goals.distance_m,
        "marker_w": marker_w,
        "skipped": skipped,
        "graded": graded,
    }


def _race(standing: "Standing | None") -> dict[str, object] | None:
    if standing is None:
        return None
    return {
        "due": standing.due,
        "splits_s": list(standing.shown_splits_s),
        "laps": standing.laps,
        "rivals": {rival.name: list(rival.splits_s) for rival in standing.rivals},
    }
