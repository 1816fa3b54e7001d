"""Which windows there are and where a new user finds them: a column on the right, plots below the scene."""

import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from imgui_bundle import imgui
from imgui_bundle.imgui import internal

from sim.platform.errors import InputError
from sim.platform.replacing import replacing
from sim.platform.user_files import read_text, refusals
from ui.settings.view_settings import set_aside

UPPER = "Simulation"
PLAN = "Plan"
LANES = "Lanes"
CONTROLS = "Controls"
TAKES = "Takes"
TABS = ("Scene", "Vehicle", "Model", PLAN, LANES, TAKES)
PLOTS = "Plots"
ERRORS = "Errors"
COLUMN_PX = 376.0
UPPER_PX = 374.0
PLOTS_PX = 172.0


def build(dock_id: int, size: tuple[float, float], scale: float, places: Mapping[str, str]) -> None:
    """Split the dock space anew and put every window into its place: by title `upper`, `lower` or `below`."""
    flags = internal.DockNodeFlagsPrivate_.dock_space.value | imgui.DockNodeFlags_.passthru_central_node.value
    internal.dock_builder_remove_node(dock_id)
    internal.dock_builder_add_node(dock_id, flags)
    internal.dock_builder_set_node_size(dock_id, size)
    column, rest = _split(dock_id, imgui.Dir.right, min(COLUMN_PX * scale / size[0], 0.5))
    below, _ = _split(rest, imgui.Dir.down, min(PLOTS_PX * scale / size[1], 0.4))
    upper, lower = _split(column, imgui.Dir.up, min(UPPER_PX * scale / size[1], 0.7))
    nodes = {"upper": upper, "lower": lower, "below": below}
    for name, place in places.items():
        internal.dock_builder_dock_window(name, nodes[place])
    internal.dock_builder_finish(dock_id)


def dock_newcomer(place: str, places: Mapping[str, str]) -> None:
    """The window that is begun next, if the layout does not know it, becomes a tab beside those of its place.

    It would lie over the scene else: layouts are remembered from before there was such a window.
    """
    beside = (internal.find_window_by_name(name) for name, other in places.items() if other == place)
    node = next((window.dock_id for window in beside if window is not None and window.dock_id), 0)
    imgui.set_next_window_dock_id(node, imgui.Cond_.first_use_ever)


def is_built(dock_id: int) -> bool:
    """Whether the remembered layout, or an earlier frame, has filled the dock space."""
    node = internal.dock_builder_get_node(dock_id)
    return node is not None and node.is_split_node()


def in_front(name: str) -> bool:
    """Whether a docked window is seen before its neighbours; it is from the next frame on. It takes the focus, which a
    neighbour would have that comes to the front with it, but from nobody who types or holds a button."""
    window = internal.find_window_by_name(name)
    # There may be none of these, whatever their types say.
    bar = getattr(getattr(window, "dock_node", None), "tab_bar", None)
    if bar is None:
        return False
    if bar.visible_tab_id != window.tab_id:
        bar.next_selected_tab_id = window.tab_id
        if not imgui.is_any_item_active():
            imgui.set_window_focus(name)
        return False
    return True


def scene_rect(dock_id: int) -> tuple[float, float, float, float]:
    """(x, y, w, h) of the part that no panel covers, logical units, origin top left."""
    node = internal.dock_builder_get_central_node(dock_id)
    return (node.pos.x, node.pos.y, node.size.x, node.size.y)


def _split(node_id: int, side: imgui.Dir, share: float) -> tuple[int, int]:
    """Ids of the part on that side and of the rest."""
    _, there, rest = internal.dock_builder_split_node_py(node_id, side, share)
    return there, rest


MOST_BYTES = 1 << 17
MOST_DEEP = 16
"""Splits within splits: imgui follows them by calling itself."""
_NUMBER, _POINT, _ID = r"\d{1,5}", r"-?\d{1,5},-?\d{1,5}", r"0x[0-9A-F]{8}"
_SECTION = re.compile(rf"\[(?:(Window)\]\[[^\[\]\n]{{1,120}}|(Table)\]\[{_ID},\d\d?|(Docking)\]\[Data)\]")
_WINDOW = re.compile(
    rf"(?:Pos|Size|ViewportPos)={_POINT}|(?:Collapsed|IsChild)=[01]|(?:ViewportId|ClassId)={_ID}"
    rf"|DockId={_ID}(?:,{_NUMBER})?|LastUsed=\d{{1,8}}"
)
_TABLE = re.compile(
    rf"RefScale=\d{{1,4}}(?:\.\d{{1,9}})?|LastUsed=\d{{1,8}}"
    rf"|Column \d\d?(?: +(?:UserID=[0-9A-F]{{8}}|Width={_NUMBER}|Weight=\d{{1,4}}\.\d{{1,9}}|Visible=[01]"
    rf"|Order=\d\d?|Sort=\d\d?[v^]))*"
)
_NODE = re.compile(
    rf" *Dock(?:Node|Space) +ID=(?P<id>{_ID})(?: Parent=(?P<parent>{_ID})| Window={_ID})?(?: Pos={_POINT})?"
    rf"(?: Size(?:Ref)?={_POINT})?(?: Split=(?P<split>[XY]))?"
    r"(?: (?:NoResize|CentralNode|NoTabBar|HiddenTabBar|NoWindowMenuButton|NoCloseButton)=1)*"
    rf"(?: Selected={_ID})?"
)
_LINES = {"Window": _WINDOW, "Table": _TABLE, "Docking": _NODE}


class LayoutFile:
    """One file; a damaged one gets the ending `.damaged`, and imgui's own layout counts."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> str:
        """For imgui to load; empty where there is nothing that it could."""
        try:
            with refusals(self._path, "no layout"):
                text = read_text(self._path, MOST_BYTES)
                check_layout(text)
        except InputError:
            if self._path.exists() or self._path.is_symlink():
                set_aside(self._path)
            return ""
        return text

    def write(self, text: str) -> None:
        """What imgui has to remember; a folder that cannot be written costs only the memory."""
        with suppress(OSError), replacing(self._path, lasting=False) as draft:
            draft.write_text(text, encoding="utf-8")


def check_layout(text: str) -> None:
    """Raises ValueError where imgui has not written it, or its windows are split in no tree."""
    lines, parents, split = None, dict[str, str](), dict[str, bool]()
    for line in text.splitlines():
        if section := _SECTION.fullmatch(line):
            lines = _LINES[section[section.lastindex or 0]]
        elif line:
            match = lines and lines.fullmatch(line)
            if not match:
                raise ValueError(f"a line that is none: {line[:40]!r}")
            if lines is _NODE:
                if match["id"] in split:
                    raise ValueError(f"{match['id']} is there twice")
                split[match["id"]] = bool(match["split"])
                if match["parent"]:
                    parents[match["id"]] = match["parent"]
    _check_tree(parents, split)


def _check_tree(parents: dict[str, str], split: dict[str, bool]) -> None:
    """Each node's parent stands before it, and every split has two parts."""
    depth: dict[str, int] = {}
    for node in split:
        parent = parents.get(node)
        depth[node] = 0 if parent is None else depth.get(parent, MOST_DEEP) + 1
        if depth[node] > MOST_DEEP:
            raise ValueError(f"{node} is split too deeply, or off nothing")
    of = list(parents.values())
    for node, is_split in split.items():
        if of.count(node) != 2 * is_split:
            raise ValueError(f"{node} is not split in two")
