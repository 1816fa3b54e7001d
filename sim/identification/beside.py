"""Identification in a process of its own: a window goes on beside it, and it is ended at once."""

import logging
import multiprocessing
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection

from sim.aside import NICENESS, GivenUp, keys_kept_off
from sim.errors import InputError
from sim.identification.fit import Progress, identify
from sim.identification.outcome import Identified
from sim.identification.recording import Recording
from sim.vehicles import Vehicle
from sim.vehicles.own_class import OwnClass

_LOOK_S = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class _Job:
    vehicle: Vehicle
    recording: Recording
    unknown: tuple[str, ...]


def identify_beside(
    vehicle: Vehicle,
    recording: Recording,
    unknown: tuple[str, ...],
    *,
    progress: Progress,
    given_up: threading.Event,
) -> Identified:
    """As `identify`. Waits; raises GivenUp where the event is set meanwhile, InputError as `identify` does."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(there,), name="identification", daemon=True)
    with here:
        with keys_kept_off():
            process.start()
        there.close()
        try:
            here.send(OwnClass.of(type(vehicle)))
            here.send(_Job(vehicle, recording, unknown))
            while True:
                if given_up.is_set():
                    raise GivenUp
                if not here.poll(_LOOK_S):
                    continue
                answer = here.recv()
                if isinstance(answer, Identified):
                    return answer
                if isinstance(answer, InputError):
                    raise answer
                progress(*answer)
        except (EOFError, OSError):
            raise InputError(
                "the identification ended without an answer; allowed: fewer parameters"
            ) from None
        finally:
            process.terminate()
            process.join()


def _serve(pipe: Connection) -> None:
    """The process: one job in, iterations and an outcome out."""
    logging.getLogger("holonomy").setLevel(logging.CRITICAL)
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    with suppress(EOFError, OSError, KeyboardInterrupt):
        own = pipe.recv()
        if own is not None:
            own.run()
        pipe.send(_answered(pipe.recv(), lambda number, values: pipe.send((number, dict(values)))))


def _answered(job: _Job, progress: Callable[..., None]) -> Identified | InputError:
    try:
        return identify(job.vehicle, job.recording, job.unknown, progress=progress)
    except InputError as refusal:
        return refusal
    except (EOFError, OSError):
        raise
    except Exception as error:
        first = str(error).splitlines()[0] if str(error) else repr(error)
        return InputError(f"the identification failed: {first}")
