"""One piece of work in a process of its own, which tells how far it is: a window goes on beside it, and ends it."""

import logging
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe
from typing import Any

from sim.aside import NICENESS, GivenUp, started
from sim.platform.errors import InputError
from sim.vehicles.own_class import OwnClass

Tell = Callable[..., None]
_LOOK_S = 0.05


def answered_beside(
    work: Callable[[Any, Tell], Any],
    job: object,
    *,
    name: str,
    own: OwnClass | None = None,
    progress: Tell,
    given_up: threading.Event,
    tidy_s: float = 0.0,
    refusals: tuple[type[Exception], ...] = (InputError,),
    allowed: str,
) -> Any:
    """What `work(job, tell)` returns; it is a function of a module, and all of this can be pickled.

    own: vehicle of a user's file that the job speaks of. progress: gets what `work` tells. tidy_s: how long work that
    is given up has for its own end. refusals: what is raised here as it was there.
    Waits. Raises GivenUp where the event is set meanwhile, InputError where the work fails otherwise.
    """
    here, there = Pipe()
    process = None
    try:
        with here:
            process = started(name, _serve, there, work, refusals)
            there.close()
            here.send(own)
            here.send(job)
            while True:
                if given_up.is_set():
                    raise GivenUp
                if not here.poll(_LOOK_S):
                    continue
                kind, content = here.recv()
                if kind == "told":
                    progress(*content)
                elif kind == "refused":
                    raise content
                elif kind == "failed":
                    raise InputError(f"the {name} failed: {content}; {allowed}")
                else:
                    return content
    except (EOFError, OSError):
        raise InputError(f"the {name} ended without an answer; {allowed}") from None
    finally:
        if process is not None:
            process.join(tidy_s)  # it ends with its next word, since nobody listens
            process.terminate()
            process.join()


def _serve(pipe: Connection, work: Callable[[Any, Tell], Any], refusals: tuple[type[Exception], ...]) -> None:
    """The process: one job in, what it tells and one answer out."""
    logging.getLogger("holonomy").setLevel(logging.CRITICAL)
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    with suppress(EOFError, OSError, KeyboardInterrupt, _Unheard):
        own = pipe.recv()
        if own is not None:
            own.run()
        pipe.send(_answer(pipe, work, pipe.recv(), refusals))


class _Unheard(BaseException):
    """Nobody listens any more; not an error that work would tell of."""


def _answer(
    pipe: Connection, work: Callable[[Any, Tell], Any], job: object, refusals: tuple[type[Exception], ...]
) -> tuple[str, object]:
    def tell(*content: object) -> None:
        try:
            pipe.send(("told", content))
        except OSError:
            raise _Unheard from None

    try:
        return "answer", work(job, tell)
    except refusals as refusal:
        return "refused", refusal
    except Exception as error:
        return "failed", str(error).splitlines()[0] if str(error) else repr(error)
