"""What the shell learns from one snapshot to the next: histories, parameters, messages."""

from sim.scene import Scene
from sim.snapshot import LaneSnapshot, LaneStatus, Snapshot
from sim.vehicles.forms.parameters import Value
from ui.channels import measured
from ui.history import History
from ui.panels.context import PanelContext
from ui.plot_window import stop_of
from ui.toasts import Toasts

MOST_FLIGHTS = 3
"""That are drawn behind the present one."""
_AGAIN_S = 0.5
"""Less far back nothing has begun anew."""


class Observer:
    """Watches one scene run."""

    def __init__(self, scene: Scene, toasts: Toasts) -> None:
        self.scene = scene
        self._toasts = toasts
        self._vehicle = ""
        self._parameters: dict[str, dict[str, Value]] = {}
        """By vehicle: the scene's values over the defaults, then what the user edits, as the simulation has it."""
        self._running: dict[str, bool] = {}
        self._present: dict[str, History] = {}
        """While a take is open: what was remembered of the present."""
        self._opened = ""
        """Its title."""
        self._goals_done = 0

    def observe(self, snapshot: Snapshot, context: PanelContext, now_s: float) -> None:
        """Take note of a snapshot; the same one twice does nothing more."""
        if not snapshot.waiting:  # which is told of at length
            self._toasts.hear(snapshot.message, now_s, snapshot.answers)
        flown = snapshot.lanes[0]
        if snapshot.look_back is None:
            context.flying = flown.vehicle
        if flown.vehicle != self._vehicle:
            self._vehicle = flown.vehicle
            context.parameters = self._known(flown.vehicle, context)
        self._remember(snapshot, context)
        if not (context.view.caption and self.scene.comparison.caption):
            self._tell_stopped(snapshot.lanes[1:], now_s)

    def _remember(self, snapshot: Snapshot, context: PanelContext) -> None:
        """The present as it comes, and waiting while its past is shown; a take that is open as it is played."""
        look, flown = snapshot.look_back, snapshot.lanes[0]
        opened = look.opened if look is not None else ""
        if opened != self._opened:
            if not self._opened:
                self._present = context.histories
            context.histories = {} if opened else self._present
            self._opened = opened
        if look is not None and not opened:
            return
        for gone in set(context.histories) - {lane.name for lane in snapshot.lanes}:
            del context.histories[gone]
        known = context.histories.get(flown.name)
        if known is not None and not opened and flown.time_current_s < known.latest_s - _AGAIN_S:
            context.flights = (*context.flights, known.copy())[-MOST_FLIGHTS:]
            context.plot_window.forget_after(flown.time_current_s)
        for lane in snapshot.lanes:
            history = context.histories.setdefault(lane.name, History())
            if not opened or not len(history) or lane.time_current_s > history.latest_s:
                history.append(lane.time_current_s, measured(lane))
        self._mark(snapshot, context)

    def _mark(self, snapshot: Snapshot, context: PanelContext) -> None:
        """Goals that are reached, gates that are passed, and how it ended."""
        window, goals, race = context.plot_window, context.goals, snapshot.race
        stop = stop_of(snapshot)
        if stop is not None:
            window.mark(stop.time_s, stop.text, stop.kind)
        done = 0 if goals is None else goals.at
        if goals is not None and done > self._goals_done:
            window.mark(snapshot.clock_s, goals.goals[done - 1].title, "goal")
        self._goals_done = done
        if race is not None and race.running:
            for gate, split_s in enumerate((0.0, *race.splits_s)):
                window.mark(race.start_s + split_s, f"gate {gate + 1}", "gate")

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
