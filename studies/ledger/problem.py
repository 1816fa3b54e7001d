"""One problem of the ledger, and how many digits two answers have in common."""

import math
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sim.vehicles import State, Vehicle

MOST_DIGITS = 15.9
"""Those of a double."""


@dataclass(frozen=True)
class Peer:
    """Another program on the same problem."""

    program: str
    """Its name; what is imported is that in small letters."""
    answer: Callable[[], ArrayLike]
    """It may raise ImportError."""
    step: str = ""
    """Where it is not ours."""


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A question with a known answer."""

    name: str
    title: str
    quantity: str
    """What the numbers are, with units."""
    source: str
    """Where the truth is from."""
    truth: Callable[[], ArrayLike]
    known_digits: int
    """Of the truth."""
    ours: Callable[[], ArrayLike]
    step: str
    """Method and step of ours, in words."""
    least_digits: float
    """Below which the suite fails."""
    motion_s: float = 0.0
    """Seconds of motion that `ours` steps through, in all its runs; 0: nothing moves, as in what is linearised,
    planned or held."""
    scale: float = 0.0
    """What differences are measured against; 0: the truth's largest component."""
    peers: tuple[Peer, ...] = ()
    scene: Callable[[], tuple[Vehicle, State]] | str | None = None
    """What `./run ledger-NAME` opens: a vehicle and where it starts, or one of the project's scenes by name."""
    held: Mapping[str, float] = field(default_factory=dict)
    """Controls by name that stay as they are there, in their units."""
    shown: Callable[[], Mapping[str, Any]] = dict
    """What is other than usual in that scene: fields of `sim.scene.Scene` by name."""
    pictured_by: str = ""
    """The problem, by name, whose picture is this one's as well: another method, step or number of the same motion."""
    reason: str = ""
    """Why not all known digits are met, where they are not."""
    gives_up: bool = False
    """It is there to show what panels and cells give up; told apart from the others."""
    another_way_of: str = ""
    """The problem, by name, that is asked again here of another method, step or contact: counted once, there."""


@dataclass(frozen=True)
class PeerResult:
    """What another program gave."""

    peer: Peer
    digits: float
    cpu_s: float
    """Of its answer."""


@dataclass(frozen=True)
class ProblemResult:
    """What came of a problem."""

    problem: Problem
    truth: np.ndarray
    ours: np.ndarray
    digits: float
    cpu_s: float
    """Of our second run, so that nothing is compiled in it."""
    peers: tuple[PeerResult, ...] = ()
    """Of those that are installed."""

    @property
    def pace(self) -> float:
        """Seconds of motion for each of CPU time, setting up and all repeated runs included; nan: nothing moves, or no
        time was taken."""
        return self.problem.motion_s / self.cpu_s if self.problem.motion_s else math.nan

    @property
    def in_real_time(self) -> bool:
        """Not slower than what it steps through."""
        return not self.pace < 1.0

    @property
    def has_its_digits(self) -> bool:
        """All that are known, or eight of more."""
        return self.digits >= min(self.problem.known_digits, 8)

    @property
    def agrees(self) -> bool:
        """To its digits, by steps in real time."""
        return self.has_its_digits and self.in_real_time


def digits(answer: ArrayLike, truth: ArrayLike, scale: float = 0.0) -> float:
    """How many decimal digits agree, by the largest difference; 0 where none do or a number is not finite."""
    a, b = np.atleast_1d(np.asarray(answer, float)), np.atleast_1d(np.asarray(truth, float))
    error = float(np.abs(a - b).max()) / (scale or float(np.abs(b).max()))
    if not math.isfinite(error):
        return 0.0
    return min(max(-math.log10(error), 0.0), MOST_DIGITS) if error > 0.0 else MOST_DIGITS


def solve(problem: Problem, *, timed: bool = True) -> ProblemResult:
    """Work a problem out; `timed`: twice, the second time by the clock."""
    truth = np.atleast_1d(np.asarray(problem.truth(), float))
    ours = np.atleast_1d(np.asarray(problem.ours(), float))
    cpu_s = math.nan
    if timed:
        begun_s = time.process_time()
        problem.ours()
        cpu_s = time.process_time() - begun_s
    asked = []
    for peer in problem.peers if timed else ():
        with suppress(ImportError):
            import_module(peer.program.lower())
            begun_s = time.process_time()
            agreed = digits(peer.answer(), truth, problem.scale)
            asked.append(PeerResult(peer, agreed, time.process_time() - begun_s))
    return ProblemResult(problem, truth, ours, digits(ours, truth, problem.scale), cpu_s, tuple(asked))
