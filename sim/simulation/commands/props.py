"""Commands that put bodies up in a scene, move, copy and delete them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sim.environment.coupling import can_be_met
from sim.platform.errors import InputError
from sim.simulation.commands.executing import execute
from sim.simulation.runs.scene_run import SceneRun

if TYPE_CHECKING:
    from sim.contact.obstacles.prop_kinds import Placed


@dataclass(frozen=True, slots=True)
class SetProps:
    """All props of the scene from now on. Those that are there already stay where they are by now; others begin."""

    placed: "tuple[Placed, ...]"


@execute.register
def _(command: SetProps, run: SceneRun) -> str:
    from sim.contact.obstacles.prop_kinds import (
        MOST_PROPS,  # kernels of bodies are loaded where there are some
    )
    from sim.contact.obstacles.props import PropsSpec

    around = run.scene.environment
    if around is not None and not isinstance(around, PropsSpec):
        raise InputError(
            "props cannot stand in an environment of another kind; allowed: in scenes without one"
        )
    if run.scene.plan is not None:
        raise InputError("props cannot stand in a scene with a plan, which would not know of them")
    if run.comparison.on:
        raise InputError("props cannot stand beside a reference, which would meet none of them")
    if not can_be_met(run.vehicle):
        raise InputError(f"nothing that moves can be coupled to {run.vehicle.name}")
    if len(command.placed) > MOST_PROPS:
        raise InputError(f"{len(command.placed)} props are refused; allowed: {MOST_PROPS}")
    before, count = 0 if around is None else len(around.placed), len(command.placed)
    run.set_environment(PropsSpec(command.placed))
    return "" if count == before else f"{count} {'prop' if count == 1 else 'props'}"
