"""Has loci worked out in a process beside the frames, one at a time."""

import threading
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor

from sim.platform.errors import InputError
from sim.platform.processes import GivenUp, run_in_process
from sim.simulation.lanes.snapshot import Snapshot
from sim.vehicles.forms.custom import OwnClass
from ui.features.feature import Actions, App
from ui.features.modes.locus import Asked, Locus, ModesView, worked_out
from ui.features.modes.panel import CancelModes, FindModes


class ModesActions(Actions):
    """Of one window."""

    handles = (FindModes, CancelModes)

    def __init__(self, app: App) -> None:
        super().__init__(app)
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="modes")
        self._outcome: Future[Locus] | None = None
        self._given_up = threading.Event()
        self._done = self._count = self._serial = 0
        self._locus: Locus | None = None

    def leave(self) -> None:
        self._give_up()
        self._locus = None

    def poll(self, snapshot: Snapshot) -> None:
        outcome = self._outcome
        if outcome is None or not outcome.done():
            return
        self._outcome = None
        try:
            self._locus = outcome.result()
            self._serial += 1
        except InputError as error:
            self.app.tell(str(error), error=True)

    def views(self, snapshot: Snapshot) -> Iterable[object]:
        return (ModesView(self._outcome is not None, self._done, self._count, self._locus, self._serial),)

    def carry_out(self, action: object) -> None:
        self._give_up()
        if not isinstance(action, FindModes):
            return
        self._given_up, self._done, self._count = threading.Event(), 0, len(action.asked.values)
        self._outcome = self._worker.submit(self._found, action.asked, self._given_up)

    def close(self) -> None:
        self._give_up()
        self._worker.shutdown(wait=True)

    def _give_up(self) -> None:
        self._given_up.set()
        self._outcome = None

    def _found(self, asked: Asked, given_up: threading.Event) -> Locus:
        """On the thread, which waits for the process."""

        def tell(done: int) -> None:
            self._done = done

        if given_up.is_set():
            raise GivenUp
        found = run_in_process(
            worked_out,
            asked,
            name="search for modes",
            prepare=OwnClass.of(type(asked.vehicle)),
            progress=tell,
            given_up=given_up,
            allowed="allowed: fewer values",
        )
        assert isinstance(found, Locus)
        return found
