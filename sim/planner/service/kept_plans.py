"""The list of plans that are kept in a session, some of them in files of the user's folder."""

from dataclasses import replace
from pathlib import Path

from sim.planner.result.record import PlanRecord
from sim.planner.result.store import load_record, save_record, stored
from sim.planner.service.view import PlanView
from sim.planner.task.task import Task
from sim.platform.errors import InputError
from sim.vehicles import Vehicle


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
