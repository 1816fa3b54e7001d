"""Other programs beside the window: it listens for them (`--listen`) and writes logs for them while it flies."""

import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from export.output import OutputError, naming_file
from sim.live.server import Server
from sim.live.wire import page_file
from sim.planner.service.session import PlanView
from sim.simulation.lanes.snapshot import Snapshot
from ui.features.feature import Actions, App
from ui.features.takes.export_actions import free_file, obstacles_of
from ui.features.takes.sharing import EndListening, EndLogs, Listen, ListenView, LogFlight, LogsView
from ui.settings.view_settings import exports_folder
from ui.window.context import Action, LoadScene

if TYPE_CHECKING:
    from export.live_log import LiveLog


@dataclass(frozen=True, slots=True)
class KeepLog(Action):
    """Keep writing what flies into a file, until it is told to end or the window closes."""

    path: Path


class LiveActions(Actions):
    """Owns the server and the logs; what clients want of the window is done between its frames."""

    handles = (Listen, EndListening, KeepLog, LogFlight, EndLogs)

    def __init__(self, app: App) -> None:
        super().__init__(app)
        self._server: Server | None = None
        self._wanted: SimpleQueue[str] = SimpleQueue()
        self._logs: list[LiveLog] = []

    def poll(self, snapshot: Snapshot) -> None:
        for log in [log for log in self._logs if log.fault]:
            self._logs.remove(log)
            with suppress(OutputError):  # the same again
                log.close()
            self.app.tell(log.fault, error=True)
        try:
            while True:
                self.app.do(LoadScene(self._wanted.get_nowait()))
        except Empty:
            pass

    def views(self, snapshot: Snapshot) -> Iterable[object]:
        page = "" if self._server is None else str(page_file())
        return (LogsView(tuple(log.path.name for log in self._logs)), ListenView(page))

    def carry_out(self, action: object) -> None:
        match action:
            case KeepLog(path):
                self._keep(path)
            case LogFlight(ending):
                folder = exports_folder()
                with naming_file(folder):
                    path = free_file(folder, self.app.simulation.snapshot.scene, ending)
                self._keep(path)
            case EndLogs():
                while self._logs:
                    log = self._logs.pop()
                    log.close()
                    self.app.tell(f"Log saved: {log.path}")
            case Listen():
                self._listen()
            case EndListening():
                self._let_go()
                self.app.tell("No other program takes part any more")

    def _keep(self, path: Path) -> None:
        from export.live_log import LiveLog

        self._logs.append(LiveLog(path, lambda: self.app.simulation, lambda: obstacles_of(self.app)))
        self.app.tell(f"What flies is written to {path}")

    def _listen(self) -> None:
        if self._server is not None:
            return
        from export.page import LivePage, Surroundings  # with scipy's rotations, which few windows need

        def around() -> Surroundings:
            world, planned = self.app.simulation.run.world, self.app.context.find(PlanView)
            return Surroundings(world, obstacles_of(self.app), planned)

        page = LivePage(around)
        self._server = Server(lambda: self.app.simulation, self._wanted.put, page=page)
        self.app.tell(
            f"Listening at port {self._server.port} of this computer; a browser shows {page_file()}"
        )

    def close(self) -> None:
        for log in self._logs:
            try:
                log.close()
            except OutputError as error:
                print(f"holonomy: {error}", file=sys.stderr)
        self._let_go()

    def _let_go(self) -> None:
        if self._server is not None:
            server, self._server = self._server, None
            server.close()
