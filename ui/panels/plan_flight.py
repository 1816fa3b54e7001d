"""What disturbs the flight of a plan: wind that it does not know."""

import math

from imgui_bundle import imgui

from sim.planner.service.view import PlanView
from sim.snapshot import Snapshot
from ui.panels.context import PanelContext
from ui.panels.widgets import label, note, prose, significant, tooltip
from ui.requests import Request

MOST_MPS = 20.0


def draw(plan: PlanView, snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """Strength and direction, and how the last flight ended."""
    if not _feels_wind(plan):
        prose(f"The {plan.vehicle.name} feels no wind: it flies as it was planned.")
        return []
    choices = context.planning
    doc = "Steady wind from the start of the flight on, besides what the plan reckons with."
    label(context, "Wind", doc)
    changed, speed = imgui.slider_float(
        "##wind", choices.wind_mps, 0.0, MOST_MPS, "%.1f m/s", imgui.SliderFlags_.always_clamp.value
    )
    note(context, "plan/wind")
    tooltip(doc)
    if changed:
        choices.wind_mps = significant(speed)
    doc = "Where it blows to, counter-clockwise from the world's x."
    label(context, "Towards", doc)
    changed, bearing = imgui.slider_float("##towards", choices.wind_deg, -180.0, 180.0, "%.0f deg")
    note(context, "plan/wind/towards")
    tooltip(doc)
    if changed:
        choices.wind_deg = float(round(bearing))
    if choices.wind_mps > 0.0:
        x, y = choices.wind_w
        prose(f"The next flight meets a wind of ({x:.1f}, {y:.1f}) m/s. Fly drifts off; Track holds on.")
    else:
        prose("Without wind, Fly lands on the plan.")
    if snapshot.plan_verdict:
        prose(snapshot.plan_verdict)
    return []


def _feels_wind(plan: PlanView) -> bool:
    """Through its drag, which may be zero."""
    values = plan.vehicle.values
    return "wind" in values and not math.isclose(float(values.get("wind_drag", values.get("drag", 1.0))), 0.0)  # type: ignore[arg-type]
