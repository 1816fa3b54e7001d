"""Identification in a process of its own: a window goes on beside it, and it is ended at once."""

import threading
from dataclasses import dataclass

from sim.beside import Tell, answered_beside
from sim.identification.fit import identify
from sim.identification.outcome import Identified
from sim.identification.recording import Recording
from sim.identification.shooting import Progress
from sim.vehicles import Vehicle
from sim.vehicles.own_class import OwnClass


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
    found = answered_beside(
        _identified,
        _Job(vehicle, recording, unknown),
        name="identification",
        own=OwnClass.of(type(vehicle)),
        progress=progress,
        given_up=given_up,
        allowed="allowed: fewer parameters",
    )
    assert isinstance(found, Identified)
    return found


def _identified(job: _Job, tell: Tell) -> Identified:
    return identify(
        job.vehicle, job.recording, job.unknown, progress=lambda number, values: tell(number, dict(values))
    )
