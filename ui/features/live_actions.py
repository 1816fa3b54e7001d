"""Other programs at the stick: the window listens for them where that is wanted (`--listen`)."""

from dataclasses import dataclass
from queue import Empty, SimpleQueue

from sim.live.server import Server
from sim.live.wire import page_file
from sim.simulation.lanes.snapshot import Snapshot
from ui.features.feature import Actions, App
from ui.window.context import Action, LoadScene


@dataclass(frozen=True, slots=True)
class Listen(Action):
    """Let other programs of this user give commands and see snapshots."""


class LiveActions(Actions):
    """Owns the server; what clients want of the window is done between its frames."""

    handles = (Listen,)

    def __init__(self, app: App) -> None:
        super().__init__(app)
        self._server: Server | None = None
        self._wanted: SimpleQueue[str] = SimpleQueue()

    def poll(self, snapshot: Snapshot) -> None:
        try:
            while True:
                self.app.do(LoadScene(self._wanted.get_nowait()))
        except Empty:
            pass

    def carry_out(self, action: object) -> None:
        if self._server is None:
            from export.page import LivePage  # with scipy's rotations, which few windows need

            page = LivePage(lambda: (self.app.simulation.run.world, ()))
            self._server = Server(lambda: self.app.simulation, self._wanted.put, page=page)
            self.app.tell(
                f"Listening at port {self._server.port} of this computer; a browser shows {page_file()}"
            )

    def close(self) -> None:
        if self._server is not None:
            self._server.close()
