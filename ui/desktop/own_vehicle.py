"""The files of a vehicle of one's own, watched while it moves: what is saved there is taken up."""

from pathlib import Path

from sim.commands import RenewVehicle
from sim.models.asset import check_model
from sim.platform.errors import InputError
from sim.vehicle_config.registry import Renewal, Stamp, own_program, renewal, stamp_of

EVERY_S = 0.25
"""Wall time between two looks; a file is read once it has stayed the same for one of them."""


class OwnVehicle:
    """Remembers what the files were like when they were last taken up, or refused."""

    def __init__(self) -> None:
        self._name = ""
        self._program: Path | None = None
        self._known: Stamp = ()
        self._seen: Stamp = ()
        self._next_s = 0.0
        self._latest: Renewal | None = None
        self.mistake = ""
        """Why the files as they were last saved are not taken up; empty: they are."""

    def poll(self, name: str, now_s: float) -> RenewVehicle | None:
        """Once a frame, for the vehicle that is flown: what takes up its changed files, where there are any.

        Raises InputError, once, for files that do not hold together; what flies is left as it is.
        """
        if name != self._name:
            self._name, self._program = name, own_program(name)
            self._known = self._seen = () if self._program is None else stamp_of(self._program)
            self._latest, self.mistake = None, ""
        if self._program is None or now_s < self._next_s:
            return None
        self._next_s = now_s + EVERY_S
        before, self._seen = self._seen, stamp_of(self._program)
        if self._seen == self._known or self._seen != before:
            return None
        self._known = self._seen
        try:
            self._latest = self._read(self._program)
        except InputError as error:
            self.mistake = str(error)
            raise
        self.mistake = ""
        return RenewVehicle(self._latest)

    def _read(self, program: Path) -> Renewal:
        try:
            found = renewal(self._name, self._latest)
            check_model(found.config)
        except InputError:
            raise
        except Exception as error:  # the file is a program, and may raise anything
            raise InputError(f"{program}: cannot be taken up: {type(error).__name__}: {error}") from error
        return found
