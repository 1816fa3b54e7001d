"""Which windows there are and where a new user finds them: a column on the right, plots below the scene."""

from imgui_bundle import imgui
from imgui_bundle.imgui import internal

UPPER = "Simulation"
PLAN = "Plan"
LANES = "Lanes"
POLHODE = "Polhode"
CONTROLS = "Controls"
TAKES = "Takes"
TABS = ("Scene", "Vehicle", PLAN, LANES, TAKES, "View")
PLOTS = "Plots"
ERRORS = "Errors"
COLUMN_PX = 376.0
UPPER_PX = 374.0
PLOTS_PX = 172.0


def build(dock_id: int, size: tuple[float, float], scale: float) -> None:
    """Split the dock space anew and put every window into its place."""
    flags = internal.DockNodeFlagsPrivate_.dock_space.value | imgui.DockNodeFlags_.passthru_central_node.value
    internal.dock_builder_remove_node(dock_id)
    internal.dock_builder_add_node(dock_id, flags)
    internal.dock_builder_set_node_size(dock_id, size)
    column, rest = _split(dock_id, imgui.Dir.right, min(COLUMN_PX * scale / size[0], 0.5))
    below, _ = _split(rest, imgui.Dir.down, min(PLOTS_PX * scale / size[1], 0.4))
    upper, lower = _split(column, imgui.Dir.up, min(UPPER_PX * scale / size[1], 0.7))
    for name in (UPPER, CONTROLS, POLHODE):
        internal.dock_builder_dock_window(name, upper)
    for name in TABS:
        internal.dock_builder_dock_window(name, lower)
    for name in (PLOTS, ERRORS):
        internal.dock_builder_dock_window(name, below)
    internal.dock_builder_finish(dock_id)


def is_built(dock_id: int) -> bool:
    """Whether the remembered layout, or an earlier frame, has filled the dock space."""
    node = internal.dock_builder_get_node(dock_id)
    return node is not None and node.is_split_node()


def scene_rect(dock_id: int) -> tuple[float, float, float, float]:
    """(x, y, w, h) of the part that no panel covers, logical units, origin top left."""
    node = internal.dock_builder_get_central_node(dock_id)
    return (node.pos.x, node.pos.y, node.size.x, node.size.y)


def _split(node_id: int, side: imgui.Dir, share: float) -> tuple[int, int]:
    """Ids of the part on that side and of the rest."""
    _, there, rest = internal.dock_builder_split_node_py(node_id, side, share)
    return there, rest
