"""What the shell learns from one snapshot to the next: histories, parameters, messages."""

from sim.scene import Scene
from sim.snapshot import LaneSnapshot, LaneStatus, Snapshot
from sim.vehicles.parameter import Value
from ui.channels import measured
from ui.history import History
from ui.panels.context import PanelContext
from ui.toasts import Toasts


class Observer:
    """Watches one scene run."""

    def __init__(self, scene: Scene, toasts: Toasts) -> None:
        self.scene = scene
        self._toasts = toasts
        self._vehicle = ""
        self._parameters: dict[str, dict[str, Value]] = {}
        """By vehicle: the scene's values over the defaults, then what the user edits, as the simulation has it."""
        self._running: dict[str, bool] = {}

    def observe(self, snapshot: Snapshot, context: PanelContext, now_s: float) -> None:
        """Take note of a snapshot; the same one twice does nothing more."""
        self._toasts.hear(snapshot.message, now_s)
        flown = snapshot.lanes[0]
        if snapshot.look_back is None:
            context.flying = flown.vehicle
        if flown.vehicle != self._vehicle:
            self._vehicle = flown.vehicle
            context.parameters = self._known(flown.vehicle, context)
        names = {lane.name for lane in snapshot.lanes}
        for gone in set(context.histories) - names:
            del context.histories[gone]
        for lane in snapshot.lanes:
            history = context.histories.setdefault(lane.name, History())
            history.append(lane.time_current_s, measured(lane))
        if not (context.view.caption and self.scene.comparison.caption):
            self._tell_stopped(snapshot.lanes[1:], now_s)

    def _known(self, vehicle: str, context: PanelContext) -> dict[str, Value]:
        if vehicle not in self._parameters:
            entry = context.catalogue.vehicles.get(vehicle)
            defaults = entry.defaults() if entry else {}
            self._parameters[vehicle] = {**defaults, **self.scene.parameters.get(vehicle, {})}
        return self._parameters[vehicle]

    def _tell_stopped(self, ghosts: tuple[LaneSnapshot, ...], now_s: float) -> None:
        """A ghost that stops has no banner: say it once."""
        for lane in ghosts:
            runs = lane.status is LaneStatus.RUNNING
            if not runs and self._running.get(lane.name, True):
                self._toasts.add(f"{lane.name}: {lane.status_text or lane.status.value}", now_s, error=True)
            self._running[lane.name] = runs
