"""A take as something to be run: its scene, and what shows it there; and measured poses beside it.

What reads them is loaded when there is one: lists and refusals do not wait for it.
"""

from pathlib import Path

from sim.commands import Command, PlayTake, Resimulate, ShowMeasured
from sim.errors import InputError
from sim.scene import Scene, with_overrides
from sim.vehicles import enter_own, is_reference


def open_take(
    path: str,
    *,
    vehicle: str | None,
    integrator: str | None,
    step_s: float | None,
    camera: str | None,
) -> tuple[Scene, tuple[Command, ...], float]:
    """(its scene, what shows it there, its seconds); resimulated beside it where a method or a step is given."""
    if vehicle is not None:
        if not is_reference(vehicle):
            raise InputError("--vehicle: a take has its own; allowed: FILE.py:CLASS, which tells what it was")
        enter_own(vehicle)
    from sim.take.file import load_take
    from sim.take.scene import scene_of

    taken = load_take(path)
    scene = with_overrides(scene_of(taken), camera=camera)
    commands: tuple[Command, ...] = (PlayTake(taken),)
    if integrator is not None or step_s is not None:
        method = integrator or taken.integrator.name
        with_overrides(scene, vehicle=taken.vehicle.name, integrator=method, step_s=step_s)
        commands += (Resimulate(integrator or "", step_s),)
    return scene, commands, taken.duration_s


def beside(path: Path | None) -> tuple[Command, ...]:
    """What shows a table of measured poses, or a take, where there is one. Raises InputError."""
    if path is None:
        return ()
    if path.suffix.lower() == ".npz":
        from sim.take.beside import shown_beside
        from sim.take.file import load_take

        return (ShowMeasured(shown_beside(load_take(path), path.stem)),)
    from sim.measured import load_measured

    return (ShowMeasured(load_measured(path)),)
