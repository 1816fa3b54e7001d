"""Has sweeps flown in a process beside the frames, one at a time."""

import threading
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from sim.controllers import made_controller
from sim.platform.processes import run_in_process
from sim.simulation.lanes.snapshot import Snapshot
from ui.features.feature import Actions, App, Background
from ui.features.sweep import EndSweep, FlySweep, SweepView

if TYPE_CHECKING:
    from export.scene_sweep import Series


class SweepActions(Actions):
    """Of one window."""

    handles = (FlySweep, EndSweep)

    def __init__(self, app: App) -> None:
        super().__init__(app)
        self._flights: Background[None] = Background("sweeps")
        self._asked: FlySweep | None = None
        self._heard: list[Mapping[str, float]] = []

    def leave(self) -> None:
        self._flights.give_up()
        self._asked, self._heard = None, []

    def poll(self, snapshot: Snapshot) -> None:
        self._flights.take()

    def views(self, snapshot: Snapshot) -> Iterable[object]:
        return (SweepView(self._asked, self._flights.busy, tuple(self._heard)),)

    def carry_out(self, action: object) -> None:
        self._flights.give_up()
        if isinstance(action, FlySweep):
            series = self._series(action, self.app.simulation.snapshot)
            self._asked, self._heard = action, []
            self._flights.begin(partial(_flown, series, self._heard))

    def close(self) -> None:
        self._flights.close()

    def _series(self, action: FlySweep, snapshot: Snapshot) -> "Series":
        """The scene with what flies now: vehicle, method, step, and who."""
        from export.scene_sweep import Series  # with what exports, which few windows need

        lane = snapshot.lanes[0]
        own, scene = lane.controller, self.app.scene
        if lane.mechanics is not None:
            scene = scene.flown_by(lane.mechanics)
        controller = None if own is None else made_controller(own.kind, own.gains)
        scene = replace(
            scene,
            integrator=lane.integrator,
            step_s=lane.step_s,
            controller=controller,
            lanes=(),
            flight_mode=snapshot.flight_mode,
        )
        return Series(scene, action.number.name, action.values, action.seconds, snapshot.demo)


def _flown(series: "Series", heard: list[Mapping[str, float]], given_up: threading.Event) -> None:
    """On the thread, which waits for the process."""
    from export.scene_sweep import OwnFiles, flown_over

    run_in_process(
        flown_over,
        series,
        name="sweep",
        prepare=OwnFiles.of(series.scene),
        progress=heard.append,
        given_up=given_up,
        allowed="allowed: fewer or shorter flights",
    )
