"""Other programs beside the window: it listens for them (`--listen`) and writes logs for them while it flies."""

import sys
from collections.abc import Iterable
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from export.output import OutputError, naming_file
from sim.live.server import Server
from sim.live.wire import page_file
from sim.planner.service.session import PlanView
from sim.platform.errors import InputError
from sim.platform.values import dataclass
from sim.simulation import Simulation
from sim.simulation.lanes.snapshot import Snapshot
from ui.features.feature import Actions, App
from ui.features.scenes.loader import Loader
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


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A scene that a client waits for."""

    scene: str
    left: Simulation
    """Of which the window takes its leave."""
    answer: Future[None]

    def look(self, app: App) -> bool:
        """Answer as soon as another simulation runs, or none comes; returns whether it has been."""
        loader = app.context.find(Loader)
        if app.simulation is self.left:
            if loader is None or not loader.busy:
                self.answer.set_exception(InputError(f"{self.scene} is not opened; the window says why"))
        elif app.scene.name != self.scene:
            self.answer.set_exception(
                InputError(f"{self.scene} is not opened; {app.scene.name} was meanwhile")
            )
        elif app.simulation.runs:
            self.answer.set_result(None)
        return self.answer.done()


class LiveActions(Actions):
    """Owns the server and the logs; what clients want of the window is done between its frames."""

    handles = (Listen, EndListening, KeepLog, LogFlight, EndLogs)

    def __init__(self, app: App) -> None:
        super().__init__(app)
        self._server: Server | None = None
        self._asked: SimpleQueue[tuple[str, Future[None]]] = SimpleQueue()
        self._wanted: list[_Wanted] = []
        self._logs: list[LiveLog] = []

    def poll(self, snapshot: Snapshot) -> None:
        for log in [log for log in self._logs if log.fault]:
            self._logs.remove(log)
            with suppress(OutputError):  # the same again
                log.close()
            self.app.tell(log.fault, error=True)
        self._wanted = [one for one in self._wanted if not one.look(self.app)]
        with suppress(Empty):
            while True:
                scene, answer = self._asked.get_nowait()
                self._wanted.append(_Wanted(scene, self.app.simulation, answer))
                self.app.do(LoadScene(scene))

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
        self._server = Server(lambda: self.app.simulation, self._want, page=page)
        self.app.tell(
            f"Listening at port {self._server.port} of this computer; a browser shows {page_file()}"
        )

    def _want(self, scene: str) -> Future[None]:
        """Asked by a client's thread."""
        answer: Future[None] = Future()
        self._asked.put((scene, answer))
        return answer

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
            with suppress(Empty):
                while True:
                    self._asked.get_nowait()[1].cancel()
            for one in self._wanted:
                one.answer.cancel()
            self._wanted = []
            server.close()
