"""The polhode: where the body angular momentum wanders on the ellipsoid of the energy it started with."""

import numpy as np
from imgui_bundle import imgui, implot3d

from sim.snapshot import LaneSnapshot, Snapshot
from ui import theme
from ui.colours import line_colour
from ui.history import CHANNELS
from ui.panels.context import PanelContext
from ui.panels.widgets import note, prose
from ui.requests import Request

SECONDS = 8.0
POINTS = 700
MESH = (25, 13)
ROOM = 1.15
_ORBIT = tuple(CHANNELS.index(name) for name in ("omega_x", "omega_y", "omega_z"))


def draw(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """One curve a lane, on the wire ellipsoid that a free body does not leave."""
    inertia = np.ravel(np.asarray(context.parameters.get("inertia", ()), float))
    lanes = [lane for lane in snapshot.lanes if lane.name in context.histories]
    if inertia.shape != (3,) or not lanes:
        prose("This vehicle has no three principal moments, so there is no polhode to draw.")
        return []
    weight = "" if lanes[0].gyration is None else " The weight moves it off the wire as the top rises and falls."
    prose(
        "Body angular momentum J\N{GREEK SMALL LETTER OMEGA}; the wire is the energy of turning at the start."
        f"{weight} Drag to turn."
    )
    curves = [_curve(context, lane, inertia) for lane in lanes]
    axes = np.sqrt(2.0 * inertia * spin_energy(curves[0][:, 0], inertia)) if curves[0].size else np.ones(3)
    reach = ROOM * float(max(axes.max(), 1e-9))
    room = imgui.get_content_region_avail()
    size = (room.x, max(min(room.y, room.x), context.px(160.0)))
    imgui.push_font(None, theme.FONT_PX * 0.78)
    if implot3d.begin_plot("##polhode", size, implot3d.Flags_.no_legend | implot3d.Flags_.no_title):
        implot3d.setup_axes("J1 w1", "J2 w2", "J3 w3")
        implot3d.setup_axes_limits(-reach, reach, -reach, reach, -reach, reach, implot3d.Cond_.always)
        for number, ring in enumerate(ellipsoid(axes)):
            implot3d.plot_line(f"##wire{number}", *ring, _spec((*theme.MUTED[:3], 0.35), 1.0))
        for lane, curve in zip(lanes, curves, strict=True):
            if curve.size:
                # What has left the picture would be drawn across it.
                kept = np.where(np.abs(curve) < 1.5 * reach, curve, np.nan)
                inside = np.isfinite(kept).all(axis=0)
                x, y, z = (np.ascontiguousarray(part[inside]) for part in kept)
                if len(x):
                    colour = line_colour(lane)
                    # Nodes of a long step lie far apart: the line between them is no part of the motion.
                    implot3d.plot_line(
                        f"##way{lane.name}", x, y, z, _spec((*colour[:3], 0.35), context.px(1.0))
                    )
                    implot3d.plot_scatter(lane.name, x, y, z, _spec(colour, context.px(1.0), context.px(2.2)))
        implot3d.end_plot()
    imgui.pop_font()
    note(context, "polhode")
    return []


def _curve(context: PanelContext, lane: LaneSnapshot, inertia: np.ndarray) -> np.ndarray:
    """(3, n) body angular momentum of the last seconds."""
    history = context.histories[lane.name]
    end_s = history.latest_s
    rows = [history.samples(channel, end_s - SECONDS, end_s)[-POINTS:] for channel in _ORBIT]
    return inertia[:, None] * np.array(rows)


def spin_energy(momentum_b: np.ndarray, inertia: np.ndarray) -> float:
    """Rotational energy [J] of a body angular momentum (3,)."""
    return 0.5 * float(np.sum(momentum_b**2 / inertia))


def ellipsoid(axes: np.ndarray) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Meridians and parallels of an ellipsoid with these half axes (3,), as contiguous x, y, z."""
    turn = np.linspace(0.0, 2.0 * np.pi, 4 * MESH[0])
    rings = []
    for angle in np.linspace(0.0, np.pi, 7)[:-1]:
        rings.append((np.cos(angle) * np.cos(turn), np.sin(angle) * np.cos(turn), np.sin(turn)))
    for height in np.linspace(-1.0, 1.0, 7)[1:-1]:
        radius = np.sqrt(1.0 - height**2)
        rings.append((radius * np.cos(turn), radius * np.sin(turn), np.full_like(turn, height)))
    return [
        (
            np.ascontiguousarray(axes[0] * x),
            np.ascontiguousarray(axes[1] * y),
            np.ascontiguousarray(axes[2] * z),
        )
        for x, y, z in rings
    ]


def _spec(colour: theme.Colour, weight: float, marker: float = 0.0) -> implot3d.Spec:
    spec = implot3d.Spec()
    if marker:
        spec.marker = implot3d.Marker_.circle.value
        spec.marker_size = marker
        spec.marker_fill_color = spec.marker_line_color = imgui.ImVec4(*colour)
    spec.line_color = imgui.ImVec4(*colour)
    spec.line_weight = weight
    return spec
