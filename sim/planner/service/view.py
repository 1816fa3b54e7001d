"""What there is to see of a planning session, and the list of plans that are kept in it."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np

from sim.planner.result.record import PlanRecord
from sim.planner.result.store import load_record, save_record, stored
from sim.planner.service.mpc_control import MpcView
from sim.planner.task.refusal import Refusal
from sim.planner.task.task import Task
from sim.platform.errors import InputError
from sim.vehicles import Vehicle

Phase = Literal["idle", "building", "solving", "comparing", "following", "stopping"]
"""`comparing`: there is a plan, and other ways to do the task are tried."""

FADE_S = 1.5
"""Wall time for which an iterate stays visible."""


@dataclass(frozen=True, slots=True, eq=False)
class FadingIterate:
    """An iterate that is fading."""

    places_w: np.ndarray
    """(N+1, 3) m."""
    seen_s: float
    """Wall time at which it came."""


@dataclass(frozen=True, slots=True, eq=False)
class PlanView:
    """What is to be shown of a session; replaced as a whole."""

    vehicle: Vehicle
    task: Task
    origin_w: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Where the world of the task has its origin in the world that is shown: at the fixed point of what has one."""
    method: str = "variational"
    """Integrator that is planned with."""
    options: dict[str, float | str] = field(default_factory=dict)
    """Of it."""
    phase: Phase = "idle"
    message: str = ""
    """One or a few sentences about the last plan, or why there is none."""
    plan: PlanRecord | None = None
    """The present one."""
    stale: bool = False
    """The task has changed since `plan`."""
    refusal: Refusal | None = None
    """Why the task as it stands cannot be."""
    outrun: bool = False
    """The plan could not follow the task, or not at once."""
    kept: tuple[PlanRecord, ...] = ()
    saved: frozenset[str] = frozenset()
    """Names of kept plans that are on disk."""
    hidden: frozenset[str] = frozenset()
    """Names of kept plans that the scene leaves out."""
    sailed_by: str = ""
    """Another vehicle, which follows the plan as a course; empty: the one that is planned for flies it."""
    mpc: MpcView | None = None
    """Plans in flight; None where nobody could ask for them."""
    iterates: tuple[FadingIterate, ...] = ()
    history: tuple[tuple[float, float], ...] = ()
    """(cost, largest violation) of each iteration of the run at hand, or the last one."""

    @property
    def refused(self) -> bool:
        return self.refusal is not None

    @property
    def busy(self) -> bool:
        return self.phase != "idle"

    @property
    def dated(self) -> bool:
        """What is shown is of another task, and not about to catch up with this one."""
        return self.stale and (self.phase != "following" or self.outrun)


def stored_plans(folder: Path, vehicle: Vehicle, task: Task) -> tuple[PlanRecord, ...]:
    """Plans of this vehicle and this scene that can be read; a file that does not say is one of them."""
    found = []
    for path in stored(folder):
        try:
            record = load_record(path)
        except InputError:
            continue
        here = record.task is None or record.task.name == task.name
        if record.vehicle.name == vehicle.name and here:
            found.append(record)
    return tuple(found)


def kept_plan(view: PlanView, name: str) -> PlanRecord:
    """One of the list. InputError where there is none of that name."""
    for record in view.kept:
        if record.name == name:
            return record
    raise InputError(f'there is no plan "{name}"')


def with_kept(view: PlanView, plan: PlanRecord) -> PlanView:
    """With a plan at the end of the list."""
    others = tuple(record for record in view.kept if record.name != plan.name)
    return replace(view, kept=(*others, plan))


def saved(view: PlanView, name: str, folder: Path) -> PlanView:
    """With a plan of the list in a file. InputError where that cannot be written."""
    try:
        save_record(kept_plan(view, name), folder)
    except OSError as error:
        raise InputError(f"the plan could not be saved: {error}") from None
    return replace(view, saved=view.saved | {name})


def deleted(view: PlanView, name: str, folder: Path) -> PlanView:
    """Without a plan, in the list and in the folder."""
    for path in stored(folder) if name in view.saved else ():
        if _name_in(path) == name:
            path.unlink(missing_ok=True)
    kept = tuple(record for record in view.kept if record.name != name)
    return replace(view, kept=kept, saved=view.saved - {name}, hidden=view.hidden - {name})


def _name_in(path: Path) -> str:
    try:
        return load_record(path).name
    except InputError:
        return ""
