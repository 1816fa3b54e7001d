"""What a plan is to cost: weights of the terms."""

from dataclasses import replace

from sim.planner.service.requests import EditTask
from sim.planner.service.view import PlanView
from sim.planner.task.bodies import hangs
from sim.snapshot import Snapshot
from ui.panels.context import PanelContext
from ui.panels.widgets import label, log_slider
from ui.requests import Request

WEIGHTS = {
    "effort": "Squares of the inputs.",
    "smoothness": "Squares of the inputs' rates.",
    "time": "The duration itself; counts where the final time is free.",
    "distance": "Length of the way.",
    "safety": "Nearness to obstacles and ground.",
    "comfort": "Squares of the angular velocity.",
    "swing": "Squares of the angles of what hangs, against how it hangs at the goal.",
}
_LEAST, _MOST = 1e-3, 1e2


def draw(plan: PlanView, snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """A slider a term; all the way left it is off."""
    task = plan.task
    weights = task.weights
    for name, doc in WEIGHTS.items():
        if name == "swing" and not hangs(plan.vehicle):
            continue
        value = getattr(task.weights, name)
        doc = f"{doc}{_part(plan, name)}\nAll the way left: off."
        label(context, name, doc)
        text = "%.3g" if value > 0.0 else "off"
        chosen = log_slider(context, f"plan/weight/{name}", max(value, _LEAST), (_LEAST, _MOST), text, doc)
        if chosen is not None:
            weights = replace(weights, **{name: 0.0 if chosen <= _LEAST else chosen})
    return [EditTask(replace(task, weights=weights))] if weights is not task.weights else []


def _part(plan: PlanView, name: str) -> str:
    """How much of the present plan's cost it is."""
    if plan.plan is None or name not in plan.plan.costs:
        return ""
    return f" {plan.plan.costs[name]:.4g} of the plan's {plan.plan.cost:.4g}."
