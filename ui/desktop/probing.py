"""What a window is seen to do from outside, by tests that watch it."""

from collections.abc import Mapping
from dataclasses import asdict

from export.probe import Probe
from sim.scene.race import Standing
from sim.simulation.lanes.snapshot import Snapshot
from sim.simulation.runs.judge import Progress
from ui.shell.shell import Shell
from ui.window.app_window import AppWindow
from ui.window.pace import Pace


def probed(
    probe: Probe,
    window: AppWindow,
    shell: Shell,
    snapshot: Snapshot,
    goals: Progress | None,
    plan: Mapping[str, object] | None,
    pace: Pace,
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
        course=None if snapshot.course is None else asdict(snapshot.course),
        goals=_goals(goals),
        race=_race(snapshot.race),
        recorded_s=snapshot.recorded_s,
        look_back=None if snapshot.look_back is None else asdict(snapshot.look_back),
    )


def _goals(goals: Progress | None) -> dict[str, object] | None:
    if goals is None:
        return None
    due = "" if goals.due is None else goals.due.title
    marker_w = None if goals.marker_w is None else [float(x) for x in goals.marker_w]
    skipped, graded = bool(goals.skipped), goals.graded is not None
    return {
        "at": goals.at,
        "due": due,
        "held": goals.held,
        "distance_m": goals.distance_m,
        "marker_w": marker_w,
        "skipped": skipped,
        "graded": graded,
    }


def _race(standing: Standing | None) -> dict[str, object] | None:
    if standing is None:
        return None
    return {
        "due": standing.due,
        "splits_s": list(standing.shown_splits_s),
        "laps": standing.laps,
        "rivals": {rival.name: list(rival.splits_s) for rival in standing.rivals},
    }
