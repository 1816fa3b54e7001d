"""A controller in a loop: called at its own rate, its controls checked and held, its mistakes told in one line.

A call that does not come back is ended in its own thread; how long it may take is simulated time's business nowhere
else, so that equal states lead to equal controls.
"""

import copy
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from sim.controllers.controller import Controller, PilotInput, with_gains
from sim.controllers.sensors import SensorSuite
from sim.platform.deadlines import TookTooLong, ended_after
from sim.platform.errors import InputError, number, numeric, quote
from sim.platform.user_files import WORK_S, ends_program, error_line, line_in, without_replacing
from sim.vehicle_config import config_of
from sim.vehicles import State, Vehicle

RATES_HZ = (0.1, 1e4)
_START = 10.0
"""Deadlines that `start` has: it is called once, and may have something to prepare."""
_SAME = 1e-6
"""Of a period: sums of steps are rounded."""


class ControllerFault(InputError):
    """A controller cannot go on: one line with its class, file and line."""


class ControlLoop:
    """One controller with one vehicle. Copies go on by themselves, with the memory as it is."""

    def __init__(self, controller: Controller, vehicle: Vehicle, *, deadline_s: float | None = None) -> None:
        """deadline_s: time at work after which a call of `control` is ended, one of `start` after ten times as much;
        None: none is.

        Raises InputError where the controller's rate or sensors cannot be.
        """
        self.controller, self.vehicle, self._deadline_s = controller, vehicle, deadline_s
        where, low, high = f"controller {type(controller).__name__}", *RATES_HZ
        self.rate_hz = number(f"{where}: rate_hz", self._asked("rate_hz"))
        if not low <= self.rate_hz <= high:
            raise InputError(f"{where}: rate_hz = {self.rate_hz:g} is refused; allowed: {low:g} to {high:g}")
        self._sensors = SensorSuite(where, self._asked("sensors"), config_of(vehicle).sensors, vehicle)
        self._low = np.array([control.low for control in vehicle.controls])
        self._high = np.array([control.high for control in vehicle.controls])
        self.memory: Any = None
        """What its `start` has given, which each call of `control` may change; None before the first one."""
        self._started, self._call = False, -1
        self.held = vehicle.neutral_controls
        """(n_controls,) that were given last."""
        self.calls, self.late_calls, self.longest_s = 0, 0, 0.0
        """Calls of `control`, those that took more wall time than a period, and the longest one [s]."""

    def take_over(self, other: "ControlLoop") -> None:
        """The memory of a loop that this one goes on from, its controller having been changed."""
        self.memory, self._started = other.memory, other._started
        self.held, self._sensors = other.held, self._sensors.after(other._sensors)

    def __deepcopy__(self, memo: dict[int, Any]) -> "ControlLoop":
        """A memory that cannot be copied is begun anew."""
        new = ControlLoop(with_gains(self.controller, {}), self.vehicle, deadline_s=self._deadline_s)
        try:
            new.memory, new._started = copy.deepcopy(self.memory, memo), self._started
        except Exception:  # of the user's own class
            new.memory, new._started = None, False
        new.held, new._call = self.held, self._call
        new._sensors = copy.deepcopy(self._sensors, memo)
        return new

    def controls(
        self, time_s: float, state: State, sticks: PilotInput, clearance_m: float = float("inf")
    ) -> np.ndarray:
        """(n_controls,) that act from a moment on, within their ranges. Raises ControllerFault.

        clearance_m: height above the ground of what is lowest, for range finders.
        """
        call = int(np.floor(time_s * self.rate_hz + _SAME))
        if call == self._call:
            return self.held
        measured = self._sensors.read(time_s, state, clearance_m)
        if not self._started:
            memory = self._guarded("start", self.vehicle.with_parameters(), state)
            self.memory, self._started = {} if memory is None else memory, True
        seen = state if measured is None else measured
        given = self._guarded("control", time_s, seen, copy.copy(sticks), self.memory)
        self.held, self._call = self._checked(given), call
        return self.held

    def _asked(self, name: str) -> Any:
        """An attribute of the controller, which may be anything."""
        seconds = WORK_S if self._deadline_s is None else self._deadline_s
        try:
            return ended_after(seconds, without_replacing, getattr, self.controller, name)
        except BaseException as error:
            if ends_program(error):
                raise
            raise ControllerFault(self._mistake(error, seconds)) from error

    def _checked(self, given: object) -> np.ndarray:
        n, who = len(self.vehicle.controls), f"controller {type(self.controller).__name__}: control()"
        names = ", ".join(control.name for control in self.vehicle.controls) or "none"
        try:
            row = numeric(given)
        except Exception:  # of whatever a user hands over
            raise ControllerFault(f"{who} gave {quote(given)}; allowed: {n} numbers for {names}") from None
        if row.shape != (n,):
            raise ControllerFault(f"{who} gave {quote(given)}; allowed: {n} numbers for {names}")
        if not np.isfinite(row).all():
            raise ControllerFault(f"{who} gave numbers that are not finite: {quote(given)}")
        return np.clip(row, self._low, self._high)

    def _guarded(self, name: str, *given: object) -> Any:
        """Call the user's code; whatever it raises becomes a ControllerFault with its line."""
        began = perf_counter()
        deadline_s = (
            None if self._deadline_s is None else self._deadline_s * (_START if name == "start" else 1.0)
        )
        try:
            function = getattr(self.controller, name)
            with np.errstate():  # what it asks numpy to refuse is refused within
                if deadline_s is None:
                    answer = function(*given)
                else:
                    answer = ended_after(deadline_s, without_replacing, function, *given)
        except BaseException as error:
            if ends_program(error):
                raise
            raise ControllerFault(self._mistake(error, deadline_s)) from error
        took_s = perf_counter() - began
        if name == "control":
            self.calls += 1
            self.late_calls += took_s * self.rate_hz > 1.0
            self.longest_s = max(self.longest_s, took_s)
        return answer

    def _mistake(self, error: BaseException, deadline_s: float | None = None) -> str:
        kind = type(self.controller)
        file = getattr(sys.modules.get(kind.__module__), "__file__", None)
        line = line_in(Path(file), error) if file else None
        at = f" ({Path(str(file)).name}, line {line})" if line else ""
        if isinstance(error, TookTooLong):
            said = f"a call took more than {deadline_s:g} s"
        else:
            said = error_line(error)
        return f"controller {kind.__name__}{at}: {said}"
