"""Motions and running simulations in the cells of notebooks, by the viewer of the exported pages.

Where anywidget is there, a cell holds a widget, which Python moves and which sends its time back; a notebook that is
looked at without a kernel shows the page in a frame instead.
"""

import functools
import html
import json
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

from export.motion import STEPS_S, motion_of_take, motion_of_trajectory, named_apart
from export.page import LIVE, Shown, assembled, shown, viewer_text
from sim.live.client import Connection
from sim.planner.result.plan import Plan
from sim.platform.errors import InputError, quote
from sim.platform.values import dataclass
from sim.recordings import Take
from sim.steppers.trajectory import Trajectory, simulate
from sim.vehicles import Vehicle

_TINTS = ((1.0, 1.0, 1.0), (0.98, 0.55, 0.15), (0.25, 0.65, 1.0), (0.4, 0.85, 0.45))


@dataclass(frozen=True, eq=False)
class NotebookView:
    """A viewer as a cell's last value."""

    given: Shown
    height_px: int
    connection: Connection | None = None
    """To the window that it shows live."""

    @property
    def text(self) -> str:
        """The page, as a file would have it."""
        return assembled(self.given)

    @functools.cached_property
    def widget(self) -> Any:
        """The same as a widget, one for all cells that show it; its `time_s` and `playing` are the viewer's, and may be
        linked with other widgets'. Raises InputError where anywidget is not there.
        """
        if find_spec("anywidget") is None:
            raise InputError(
                'notebook: needs anywidget, which is not there; pip install "holonomy[notebook]"'
            )
        begin_s = self.given.about["begin_s"]
        made = _widget_class()(
            about=json.dumps(self.given.about, allow_nan=False), scene=self.given.scene,
            curves=self.given.curves, height_px=self.height_px, time_s=begin_s,
        )  # fmt: skip
        if self.connection is not None:
            _Relay(made, self.connection)
        return made

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        found = {"text/plain": repr(self)}
        if self.connection is None:
            frame = f"width: 100%; height: {self.height_px}px; border: 0"
            found["text/html"] = f'<iframe style="{frame}" srcdoc="{html.escape(self.text)}"></iframe>'
        if self.connection is not None or find_spec("anywidget") is not None:
            bundle = self.widget._repr_mimebundle_()
            found |= {
                k: v
                for k, v in (bundle[0] if isinstance(bundle, tuple) else bundle).items()
                if k not in found
            }
        return found

    def __repr__(self) -> str:
        return f"viewer: {self.given.about['title']}"


def show(
    *runs: Trajectory | Take | Plan | Vehicle | Connection, title: str = "", height_px: int = 560
) -> NotebookView:
    """Trajectories, takes, plans and vehicles at rest beside each other, or what `sim.connect()` is connected to:
    `sim.show(run, plan)` as a cell's last line.

    Raises InputError for what is none of these.
    """
    if not runs:
        raise InputError(
            "show: nothing is refused; allowed: trajectories, takes, plans, vehicles, sim.connect()"
        )
    if len(runs) == 1 and isinstance(runs[0], Connection):
        return NotebookView(LIVE, height_px, runs[0])
    motions = named_apart([_motion(run, k) for k, run in enumerate(runs)])
    return NotebookView(shown(motions, title=title or motions[0].name), height_px)


def _motion(run: object, k: int) -> Any:
    if isinstance(run, Vehicle):
        run = simulate(run, duration=0.0)
    if isinstance(run, Plan):
        run = run.trajectory
    if isinstance(run, Trajectory):
        motion = motion_of_trajectory(run)
    elif isinstance(run, Take):
        motion = motion_of_take(run, every_s=STEPS_S)
    else:
        raise InputError(
            f"{quote(run)} is no run to show; allowed: trajectories, takes, plans, vehicles, or sim.connect() alone"
        )
    return replace(motion, tint=_TINTS[k % len(_TINTS)])


@functools.cache
def _widget_class() -> Any:
    """Made when it is wanted: anywidget is an extra."""
    import anywidget
    import traitlets

    class Viewer(anywidget.AnyWidget):
        """What the front end is told, by name as `render` in assets/page/viewer.js reads it."""

        _esm = f"{viewer_text()}\nexport default {{ render: holonomyViewer.render }};\n"
        about = traitlets.Unicode("{}").tag(sync=True)
        scene = traitlets.Bytes(b"").tag(sync=True)
        curves = traitlets.Bytes(b"").tag(sync=True)
        height_px = traitlets.Int(560).tag(sync=True)
        time_s = traitlets.Float(0.0).tag(sync=True)
        playing = traitlets.Bool(True).tag(sync=True)

    return Viewer


class _Relay:
    """Bytes between a cell and the window, as they are; a cell that is shown anew begins anew."""

    def __init__(self, widget: Any, connection: Connection) -> None:
        self._widget, self._of = widget, connection
        self._line: Connection | None = None
        widget.on_msg(self._heard)

    def _heard(self, widget: object, content: object, buffers: Sequence[bytes | memoryview]) -> None:
        if not buffers:
            if self._line is not None:
                self._line.close()
            self._line = None
            return
        if self._line is None:
            self._line = self._of.another()
            threading.Thread(target=self._listen, args=(self._line,), daemon=True).start()
        with suppress(InputError):
            self._line.send(bytes(buffers[0]))

    def _listen(self, line: Connection) -> None:
        for data in line.received():
            self._widget.send({}, [data])
        if line is self._line:
            self._widget.send({"end": "The window has gone."})
