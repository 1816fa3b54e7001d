"""How the solver got on: cost and largest violation by iteration, side by side."""

import numpy as np
from imgui_bundle import imgui, implot

from sim.planner.service.view import PlanView
from ui import theme
from ui.panels.context import PanelContext
from ui.panels.widgets import note, tooltip

_HEIGHT_PX = 78.0
_DOCS = {
    "cost": "Cost by iteration, then by every plan that followed a change, logarithmic.",
    "violation": "Largest violation of an equation or a bound, likewise, in scaled units.",
}
_LEAST = {"cost": 1e-6, "violation": 1e-12}


def draw(plan: PlanView, context: PanelContext) -> None:
    """Two curves; nothing before there are two iterations."""
    history = np.array(plan.history, float).reshape(-1, 2)
    if len(history) < 2:
        return
    gap = context.px(6.0)
    width = (imgui.get_content_region_avail().x - gap) / 2.0
    imgui.push_font(None, theme.FONT_PX * 0.8)
    for column, title in enumerate(_DOCS):
        if column:
            imgui.same_line(0.0, gap)
        values = np.maximum(np.abs(history[:, column]), _LEAST[title])
        _curve(context, title, values, (width, context.px(_HEIGHT_PX)))
        note(context, f"plan/{title}")
    imgui.pop_font()


def _curve(context: PanelContext, title: str, values: np.ndarray, size: tuple[float, float]) -> None:
    flags = implot.Flags_.canvas_only | implot.Flags_.no_inputs
    axes = implot.AxisFlags_.no_label | implot.AxisFlags_.no_tick_marks | implot.AxisFlags_.no_highlight
    if not implot.begin_plot(f"##{title}", size, flags):
        return
    logs = np.log10(values)
    low, high = float(logs.min()), float(logs.max())
    air = 0.10 * (high - low) + 0.02
    implot.setup_axes("", "", axes, axes)
    implot.setup_axis_limits(implot.ImAxis_.x1, 0.0, max(len(logs) - 1.0, 1.0), implot.Cond_.always)
    # Air above for the title.
    implot.setup_axis_limits(
        implot.ImAxis_.y1, low - air, high + air + 0.35 * (high - low), implot.Cond_.always
    )
    ends = [low, high] if high - low > 1e-3 else [high]
    implot.setup_axis_ticks(implot.ImAxis_.y1, ends, [f"{10.0**end:.2g}" for end in ends])
    colour = theme.ACCENT_BRIGHT if title == "cost" else theme.SKY
    spec = implot.Spec()
    spec.line_color = imgui.ImVec4(*colour)
    spec.line_weight = context.px(1.6)
    implot.plot_line(title, np.arange(len(logs), dtype=float), logs, spec)
    corner = implot.get_plot_pos()
    text = f"{title} {values[-1]:.3g}"
    place = (corner.x + context.px(5.0), corner.y + context.px(2.0))
    implot.get_plot_draw_list().add_text(place, theme.packed(colour), text)
    implot.end_plot()
    tooltip(_DOCS[title])
