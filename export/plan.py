"""A plan beside what was flown, as the window draws it: its way, its marks, and its vehicle at places along it."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from export.motion import LaneMotion
from render.frame import DrawnVehicle, Frame, Polyline, Surface, View
from render.plan.view import PlanScene
from sim.planner.service.session import PlanView
from sim.platform.values import dataclass
from sim.world import World


@dataclass(frozen=True, eq=False)
class PlanDrawing:
    """What a plan consists of in a picture, in world coordinates."""

    lines: Sequence[Polyline]
    surfaces: Sequence[Surface]
    ghosts: Sequence[LaneMotion]
    """Of one moment each."""


def plan_drawing(world: World, view: PlanView | None, begin_s: float) -> PlanDrawing | None:
    """Of the present plan and of those that are kept; None where there is none. begin_s: when the ghosts stand there.

    Obstacles are left out: they belong to the land.
    """
    if view is None or not (view.plan or view.kept):
        return None
    nothing = Frame(View(np.zeros(3), np.eye(4), np.eye(4)), ())
    seen = replace(view, iterates=())
    drawn = PlanScene(world).way_added(nothing, seen)
    ghosts = [_still(each, begin_s) for each in drawn.vehicles]
    return PlanDrawing(drawn.lines, drawn.surfaces, ghosts)


def _still(drawn: DrawnVehicle, time_s: float) -> LaneMotion:
    """What stands there, as a motion of one moment."""
    main = next((name for name, T in drawn.bodies.items() if np.array_equal(T, drawn.T_wb)), "body")
    bodies = {main: drawn.T_wb, **drawn.bodies}
    return LaneMotion(
        name="plan", vehicle=drawn.model, config=drawn.config, time=np.array([time_s]),
        bodies={name: T[None] for name, T in bodies.items()}, twist=np.zeros((1, 6)),
        controls=drawn.controls[None], shape=drawn.shape[None], energy=np.zeros(1),
        observables={}, parameters=drawn.parameters, wreck=np.zeros(1, bool), tint=drawn.tint, ghost=True,
        links=drawn.links,
    )  # fmt: skip
