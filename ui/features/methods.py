"""The menu of methods: three to try first with a sentence each, the rest by family, and a field to search in."""

from collections.abc import Iterable
from dataclasses import field

from imgui_bundle import imgui

from sim.platform.values import dataclass
from ui.settings.catalogue import Catalogue, IntegratorEntry
from ui.window import theme
from ui.window.context import PanelContext
from ui.window.widgets import Item, note

FIRST: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "keeps energy and momentum, at large steps too",
        ("variational-exact", "variational", "variational-spheres", "symplectic-half"),
    ),
    ("what engines use: quick, falls apart at large steps", ("semi-implicit-euler", "rk4", "rk2")),
    ("exact over a short time, drifts over a long one", ("rkmk4", "cf4", "rk4")),
)
"""(what is worth trying, methods: the first of them that serves)."""
WIDE_PX, TOOLTIP_PX, GAP_PX = 340.0, 300.0, 8.0


@dataclass(slots=True)
class MethodFields:
    """What is typed and unfolded in these menus."""

    search: str = ""
    unfolded: dict[str, bool] = field(default_factory=dict)
    """By menu and family, where somebody has clicked it."""


def items(catalogue: Catalogue, vehicle: str) -> list[Item]:
    """Every method by family, those that do not serve the vehicle greyed out with the reason."""
    return [
        Item(
            entry.name,
            entry.name,
            describe(entry, vehicle),
            vehicle not in entry.refusals,
            f"order {entry.order}",
            entry.family,
        )
        for entry in by_family(catalogue)
    ]


def by_family(catalogue: Catalogue) -> list[IntegratorEntry]:
    """All methods, those of a family together; families and their methods in the catalogue's order."""
    entries = [entry for entry in catalogue.integrators.values() if not entry.alias_of]
    families = tuple(dict.fromkeys(entry.family for entry in entries))
    return sorted(entries, key=lambda entry: families.index(entry.family))


def describe(entry: IntegratorEntry, vehicle: str) -> str:
    """Tooltip: facts, what the method is honestly good for, where it comes from."""
    refusal = entry.refusals.get(vehicle, "")
    parts = (
        f"Does not serve this vehicle: {refusal}" if refusal else "",
        entry.facts,
        entry.doc,
        f"Keeps {'; '.join(kept)}." if (kept := entry.keeps.get(vehicle, ())) else "",
        entry.source,
    )
    return "\n".join(part for part in parts if part)


def to_try_first(catalogue: Catalogue, vehicle: str) -> dict[str, str]:
    """Name -> what it is worth trying for; none twice."""
    found: dict[str, str] = {}
    for words, names in FIRST:
        serve = (
            name
            for name in names
            if name in catalogue.integrators
            and name not in found
            and vehicle not in catalogue.integrators[name].refusals
        )
        name = next(serve, "")
        if name:
            found[name] = words
    return found


def method_menu(
    context: PanelContext, name: str, vehicle: str, current: str, shown: str | None = None
) -> str | None:
    """The drop-down; returns what was chosen."""
    fields = context.of(MethodFields)
    imgui.set_next_window_size_constraints((context.px(WIDE_PX), 0.0), (context.px(2.0 * WIDE_PX), 1e5))
    opened = imgui.begin_combo(f"##{name}", shown or current, imgui.ComboFlags_.height_largest)
    note(context, f"{name}/combo")
    if not opened:
        return None
    if imgui.is_window_appearing():
        fields.search = ""
        imgui.set_keyboard_focus_here()
    imgui.set_next_item_width(-1.0)
    _, fields.search = imgui.input_text_with_hint(f"##{name}_search", "Search methods", fields.search)
    if imgui.is_key_pressed(imgui.Key.escape):  # the field would only let go
        imgui.close_current_popup()
    note(context, f"{name}/search")
    every = items(context.catalogue, vehicle)
    words = fields.search.lower().split()
    if words:
        matching = [item for item in every if _fits(item, words)]
        chosen = _rows(matching, name, current, context)
        best = next((item.name for item in matching if item.enabled), None)
        if best is not None and imgui.is_key_pressed(imgui.Key.enter):
            chosen = best
            imgui.close_current_popup()
    else:
        chosen = _by_family(every, name, vehicle, current, context)
    imgui.end_combo()
    return chosen


def _fits(item: Item, words: Iterable[str]) -> bool:
    text = f"{item.name} {item.group} {item.beside} {item.doc}".lower()
    return all(word in text for word in words)


def _by_family(every: list[Item], name: str, vehicle: str, current: str, context: PanelContext) -> str | None:
    first, fields = to_try_first(context.catalogue, vehicle), context.of(MethodFields)
    imgui.separator_text("Try first")
    by_name = {item.name: item for item in every}
    chosen = _rows([by_name[each] for each in first], name, current, context, first)
    for family in dict.fromkeys(item.group for item in every):
        rest = [item for item in every if item.group == family and item.name not in first]
        if not rest:
            continue
        key = f"{name}/family/{family}"
        serves = sum(item.enabled for item in rest)
        unfolded = fields.unfolded.get(
            key, any(item.name == current for item in every if item.group == family)
        )
        imgui.set_next_item_open(unfolded, imgui.Cond_.always)
        now = imgui.collapsing_header(f"{family}, {serves} of {len(rest)}##{key}")
        note(context, key)
        if now != unfolded:
            fields.unfolded[key] = now
        if now:
            chosen = _rows(rest, name, current, context) or chosen
    return chosen


def _rows(
    rows: Iterable[Item], name: str, current: str, context: PanelContext, told: dict[str, str] | None = None
) -> str | None:
    chosen = None
    for item in rows:
        imgui.begin_disabled(not item.enabled)
        picked, _ = imgui.selectable(f"{item.label}##{item.name}", item.name == current)
        note(context, f"{name}/item/{item.name}")
        _tooltip_beside(item.doc, context)
        room = imgui.get_item_rect_max().x
        middle = 0.5 * (imgui.get_item_rect_min().y + imgui.get_item_rect_max().y)
        width, height = imgui.calc_text_size(item.beside)
        at = (room - width - context.px(4.0), middle - 0.5 * height)
        imgui.get_window_draw_list().add_text(at, theme.packed(theme.FAINT), item.beside)
        imgui.end_disabled()
        if told is not None:
            imgui.push_style_color(imgui.Col_.text, imgui.ImVec4(*theme.MUTED))
            imgui.indent(context.px(10.0))
            imgui.text_wrapped(told[item.name])
            imgui.unindent(context.px(10.0))
            imgui.pop_style_color()
        if picked and item.enabled:
            chosen = item.name
    return chosen


def _tooltip_beside(text: str, context: PanelContext) -> None:
    """Of the last row, to the left of the list where there is room, else to its right: never over it."""
    if not text or not imgui.is_item_hovered(imgui.HoveredFlags_.for_tooltip.value):
        return
    place, size, row = imgui.get_window_pos(), imgui.get_window_size(), imgui.get_item_rect_min()
    gap, wide = context.px(GAP_PX), context.px(TOOLTIP_PX)
    left = place.x > wide + 4.0 * gap
    x = place.x - gap if left else place.x + size.x + gap
    imgui.set_next_window_pos((x, row.y), imgui.Cond_.always, (1.0 if left else 0.0, 0.0))
    if imgui.begin_tooltip():
        imgui.push_text_wrap_pos(wide)
        imgui.text_unformatted(text)
        imgui.pop_text_wrap_pos()
        corner, extent = imgui.get_window_pos(), imgui.get_window_size()
        context.rects["method/tooltip"] = (corner.x, corner.y, extent.x, extent.y)
        imgui.end_tooltip()
