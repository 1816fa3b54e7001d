"""Which channels of the flown vehicle are plotted: those of its outfit, or what the user has ticked."""

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from sim.snapshot import LaneSnapshot
from ui.channels import offered, shown_at_first
from ui.panels.context import PanelContext
from ui.panels.widgets import button, checkbox

MOST = 10
"""Plots at once."""
_POPUP = "##choose plots"


def chosen(lane: LaneSnapshot, context: PanelContext) -> tuple[str, ...]:
    """Keys of the channels that are plotted."""
    own = context.plotted.get(lane.vehicle)
    return shown_at_first(lane) if own is None else own


def draw(lane: LaneSnapshot, context: PanelContext) -> None:
    """A button that opens the list of all channels."""
    if button(context, "plots/choose", icons.ICON_FA_LIST_CHECK, "Choose what is plotted."):
        imgui.open_popup(_POPUP)
    if not imgui.begin_popup(_POPUP):
        return
    shown = chosen(lane, context)
    for channel in offered(lane).values():
        ticked = channel.key in shown
        imgui.begin_disabled(not ticked and len(shown) >= MOST)
        unit = f"  [{channel.unit}]" if channel.unit else ""
        clicked = checkbox(
            context, f"plots/choose/{channel.key}", f"{channel.title}{unit}", ticked, channel.doc
        )
        imgui.end_disabled()
        if clicked:
            others = tuple(key for key in shown if key != channel.key)
            context.plotted[lane.vehicle] = others if ticked else (*shown, channel.key)
    if button(context, "plots/choose/as usual", "As usual", "What suits this vehicle."):
        context.plotted.pop(lane.vehicle, None)
    imgui.end_popup()
