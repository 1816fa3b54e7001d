"""Has loci worked out in a process beside the frames, one at a time."""

import threading
from collections.abc import Iterable
from functools import partial

from sim.platform.processes import run_in_process
from sim.simulation.lanes.snapshot import Snapshot
from sim.vehicles.forms.custom import OwnClass
from ui.features.feature import Actions, App, Background
from ui.features.modes.locus import Asked, Locus, ModesView, worked_out
from ui.features.modes.panel import CancelModes, FindModes


class ModesActions(Actions):
    """Of one window."""

    handles = (FindModes, CancelModes)

    def __init__(self, app: App) -> None:
        super().__init__(app)
        self._search: Background[Locus] = Background("modes")
        self._done = self._count = self._serial = 0
        self._locus: Locus | None = None

    def leave(self) -> None:
        self._search.give_up()
        self._locus = None

    def poll(self, snapshot: Snapshot) -> None:
        if (found := self._search.take()) is not None:
            self._locus = found
            self._serial += 1

    def views(self, snapshot: Snapshot) -> Iterable[object]:
        return (ModesView(self._search.busy, self._done, self._count, self._locus, self._serial),)

    def carry_out(self, action: object) -> None:
        self._search.give_up()
        if isinstance(action, FindModes):
            self._done, self._count = 0, len(action.asked.values)
            self._search.begin(partial(self._found, action.asked))

    def close(self) -> None:
        self._search.close()

    def _found(self, asked: Asked, given_up: threading.Event) -> Locus:
        """On the thread, which waits for the process."""

        def tell(done: int) -> None:
            self._done = done

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
