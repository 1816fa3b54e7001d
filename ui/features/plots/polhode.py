"""The energy ellipsoid and the momentum sphere of a turning body, in the space of its body angular momentum."""

import numpy as np
from imgui_bundle import imgui, implot3d

from sim.simulation.lanes.snapshot import LaneSnapshot, LaneStatus, Snapshot
from ui.features.vehicle import FlownParameters
from ui.window import theme
from ui.window.context import PanelContext, Request
from ui.window.theme import line_colour
from ui.window.widgets import note, prose, tooltip

Curve = tuple[np.ndarray, np.ndarray, np.ndarray]
"""x, y, z, contiguous."""

MERIDIANS, PARALLELS = 36, 18
_SMALLEST_DIFFERENCE = 1e-6


def spin_energy(momentum_b: np.ndarray, inertia: np.ndarray) -> float:
    """Rotational energy [J] of a body angular momentum (3,) [kg m^2/s]; inertia (3,): principal moments."""
    return 0.5 * float(np.sum(momentum_b**2 / inertia))


def half_axes(momentum_b: np.ndarray, inertia: np.ndarray) -> np.ndarray:
    """(3,) of the ellipsoid of all momenta that have the same energy."""
    return np.sqrt(2.0 * inertia * spin_energy(momentum_b, inertia))


def ellipsoid(axes: np.ndarray) -> Curve:
    """Its surface as triangles: three corners after each other."""
    turn, lean = np.meshgrid(
        np.linspace(0.0, 2.0 * np.pi, MERIDIANS + 1), np.linspace(0.0, np.pi, PARALLELS + 1), indexing="ij"
    )
    grid = np.stack([np.sin(lean) * np.cos(turn), np.sin(lean) * np.sin(turn), np.cos(lean)], axis=-1) * axes
    a, b, c, d = grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:]
    return parts(np.stack([a, b, c, a, c, d], axis=2).reshape(-1, 3))


def rings(axes: np.ndarray) -> list[Curve]:
    """The ellipsoid's sections with the three planes of its axes."""
    turn = np.linspace(0.0, 2.0 * np.pi, 97)
    curves = []
    for k in range(3):
        ring = np.zeros((len(turn), 3))
        ring[:, (k + 1) % 3], ring[:, (k + 2) % 3] = np.cos(turn), np.sin(turn)
        curves.append(parts(ring * axes))
    return curves


def polhodes(momentum_b: np.ndarray, inertia: np.ndarray) -> list[Curve]:
    """Where the momentum sphere cuts the energy ellipsoid: two closed curves, on one of which a free body stays.

    None where every momentum of that energy has that size: without spin, or with equal moments.
    """
    square, energy = float(momentum_b @ momentum_b), spin_energy(momentum_b, inertia)
    order = np.argsort(inertia)
    # About the axis of the largest or the smallest moment, whichever the momentum goes round.
    k = int(order[2] if square > 2.0 * energy * inertia[order[1]] else order[0])
    others = [i for i in range(3) if i != k]
    rates = 1.0 / inertia[others] - 1.0 / inertia[k]
    if square <= 0.0 or np.abs(rates).min() < _SMALLEST_DIFFERENCE / inertia[k]:
        return []
    widths = np.sqrt(np.maximum((2.0 * energy - square / inertia[k]) / rates, 0.0))
    turn = np.linspace(0.0, 2.0 * np.pi, 181)
    curve = np.zeros((len(turn), 3))
    curve[:, others[0]], curve[:, others[1]] = widths[0] * np.cos(turn), widths[1] * np.sin(turn)
    curve[:, k] = np.sqrt(np.maximum(square - (curve**2).sum(axis=1), 0.0))
    return [parts(curve), parts(curve * np.where(np.arange(3) == k, -1.0, 1.0))]


def parts(points: np.ndarray) -> Curve:
    """Of points (n, 3), as they are plotted."""
    x, y, z = (np.ascontiguousarray(points[:, i]) for i in range(3))
    return x, y, z


ROOM = 1.02
SCALE = 1.12
"""Of the axes' box: as large as the picture bears."""
LONGEST_JOINT = 0.3
"""Share of the momentum: points farther apart are those of long steps, and the line between them is no motion."""
SURFACE, RING, EXACT = (0.30, 0.34, 0.42, 0.30), (*theme.MUTED[:3], 0.40), (1.0, 1.0, 1.0, 0.80)
AXES = (
    "J1 \N{GREEK SMALL LETTER OMEGA}1",
    "J2 \N{GREEK SMALL LETTER OMEGA}2",
    "J3 \N{GREEK SMALL LETTER OMEGA}3",
)
NO_AXIS = implot3d.AxisFlags_.no_tick_labels | implot3d.AxisFlags_.no_tick_marks


def draw_polhode(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """One curve a lane, on the ellipsoid that a free body does not leave, beside the curve that it follows."""
    inertia = np.ravel(np.asarray(context.of(FlownParameters).values.get("inertia", ()), float))
    lanes = [lane for lane in snapshot.lanes if "omega" in lane.trails]
    if inertia.shape != (3,) or not lanes:
        prose("This vehicle has no three principal moments, so there is no polhode to draw.")
        return []
    start = inertia * lanes[0].trails["omega"][0, 1:]
    axes = half_axes(start, inertia)
    trails = [way(lane, inertia) for lane in lanes]
    reach = ROOM * max(float(axes.max()), float(np.abs(trails[0]).max()), 1e-9)
    prose(
        "Body angular momentum J\N{GREEK SMALL LETTER OMEGA} on the ellipsoid of the energy at the start. White: where "
        "the sphere of its size cuts it; a free body stays there."
    )
    room = imgui.get_content_region_avail()
    size = (room.x, max(min(room.y, room.x), context.px(160.0)))
    imgui.push_font(None, theme.FONT_PX * 0.78)
    flags = implot3d.Flags_.no_legend | implot3d.Flags_.no_title
    if implot3d.begin_plot("##polhode", size, flags):
        implot3d.setup_axes(*AXES, NO_AXIS, NO_AXIS, NO_AXIS)
        implot3d.setup_axes_limits(-reach, reach, -reach, reach, -reach, reach, implot3d.Cond_.always)
        implot3d.setup_box_scale(SCALE, SCALE, SCALE)
        _ground(axes, polhodes(start, inertia), context)
        for lane, points in zip(lanes, trails, strict=True):
            _lane(lane, points, reach, context)
        implot3d.end_plot()
    imgui.pop_font()
    note(context, "polhode")
    tooltip("Drag to turn, double-click to turn back, wheel to come nearer.")
    return []


def way(lane: LaneSnapshot, inertia: np.ndarray) -> np.ndarray:
    """(n, 3) body angular momentum [kg m^2/s] of a lane, up to now."""
    omegas = lane.trails["omega"][1:, 1:]
    if lane.status is LaneStatus.RUNNING:
        omegas = np.vstack([omegas, lane.twist_b[:3]])
    return inertia * omegas


def pieces(points: np.ndarray, reach: float) -> tuple[np.ndarray, np.ndarray]:
    """Of a way (n, 3): the line, broken by rows of nan at long joints, and the points at such joints.

    What lies outside of the picture is left out of both.
    """
    points = points[np.abs(points).max(axis=1) < reach]
    if len(points) < 2:
        return points, points
    long = np.linalg.norm(np.diff(points, axis=0), axis=1) > LONGEST_JOINT * np.linalg.norm(
        points[1:], axis=1
    )
    line = np.insert(points, np.flatnonzero(long) + 1, np.nan, axis=0)
    return line, points[np.append(long, False) | np.append(False, long)]


def _ground(axes: np.ndarray, exact: list[Curve], context: PanelContext) -> None:
    surface = implot3d.Spec()
    surface.fill_color = imgui.ImVec4(*SURFACE)
    surface.flags = implot3d.TriangleFlags_.no_lines | implot3d.TriangleFlags_.no_markers
    implot3d.plot_triangle("##ellipsoid", *ellipsoid(axes), surface)
    for number, ring in enumerate(rings(axes)):
        implot3d.plot_line(f"##ring{number}", *ring, _line(RING, 1.0))
    for number, curve in enumerate(exact):
        implot3d.plot_line(f"##exact{number}", *curve, _line(EXACT, context.px(1.0)))


def _lane(lane: LaneSnapshot, points: np.ndarray, reach: float, context: PanelContext) -> None:
    line, lonely = pieces(points, reach)
    colour = line_colour(lane)
    if len(line):
        implot3d.plot_line(f"##way{lane.name}", *parts(line), _line(colour, context.px(1.8)))
    for name, dots, radius in (("step", lonely, 2.2), ("now", points[-1:], 4.5)):
        inside = dots[np.abs(dots).max(axis=1) < reach]
        if len(inside):
            implot3d.plot_scatter(f"##{name}{lane.name}", *parts(inside), _dots(colour, context.px(radius)))


def _line(colour: theme.Colour, weight: float) -> implot3d.Spec:
    spec = implot3d.Spec()
    spec.line_color, spec.line_weight = imgui.ImVec4(*colour), weight
    return spec


def _dots(colour: theme.Colour, size: float) -> implot3d.Spec:
    spec = implot3d.Spec()
    spec.marker, spec.marker_size = implot3d.Marker_.circle.value, size
    spec.marker_fill_color = spec.marker_line_color = imgui.ImVec4(*colour)
    return spec
