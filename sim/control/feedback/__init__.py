"""The project's own controllers, each a readable file: to fly by, to compare with, to begin one's own from."""

from pathlib import Path

from sim.control.feedback.ardupilot import ArduPilot
from sim.control.feedback.geometric import Geometric, SlidingMode
from sim.control.feedback.lqr import Lqr
from sim.control.feedback.mpc import Mpc
from sim.control.feedback.pid import Pid
from sim.controllers import Controller
from sim.controllers.controller import load_controller
from sim.platform.errors import InputError, one_of, quote

CONTROLLERS: dict[str, type[Controller]] = {
    "pid": Pid,
    "lqr": Lqr,
    "mpc": Mpc,
    "geometric": Geometric,
    "sliding": SlidingMode,
}
"""By name, as scenes and the command line say them."""

AUTOPILOTS: dict[str, type[Controller]] = {"ardupilot": ArduPilot}
"""The same of programs beside this one, which are asked for the controls."""

__all__ = [
    "AUTOPILOTS",
    "CONTROLLERS",
    "ArduPilot",
    "Geometric",
    "Lqr",
    "Mpc",
    "Pid",
    "SlidingMode",
    "controller_named",
]


def controller_named(reference: str, *folders: Path, trusted: bool | Path = False) -> type[Controller]:
    """One of the project's by its name, or a user's by `FILE.py:CLASS`, looked for in the folders and then here.

    Raises InputError, and UntrustedFile as `load_controller`.
    """
    if reference in CONTROLLERS:
        return CONTROLLERS[reference]
    if reference in AUTOPILOTS:
        return AUTOPILOTS[reference]
    if ".py" not in reference:
        known = one_of((*CONTROLLERS, *AUTOPILOTS), reference)
        raise InputError(f"unknown controller {quote(reference)}; allowed: {known}, or FILE.py:CLASS")
    return load_controller(reference, (*folders, Path.cwd()), trusted=trusted)[0]
