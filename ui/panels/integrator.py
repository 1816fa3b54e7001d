"""The method and its step, swapped in flight."""

from imgui_bundle import imgui

from sim.commands import SetIntegrator, SetStep
from sim.snapshot import Snapshot
from ui import theme
from ui.catalogue import Catalogue, IntegratorEntry
from ui.panels.coming import menu_text, swaps
from ui.panels.context import PanelContext
from ui.panels.widgets import LABEL_WIDTH, Item, heading, label, log_slider, menu, significant, tooltip
from ui.requests import Request

STEP_RANGE_S = (0.001, 0.5)
STEP_DOC = (
    "Step h of the integrator, 1 to 500 ms. Slow motion never changes it. "
    "Ctrl+click the slider, or use the field, to type a value."
)


def draw(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """Menu, facts about the chosen method, and h."""
    lane = snapshot.lanes[0]
    requests: list[Request] = []
    heading(context, "Integrator")
    label(context, "Method", "Swapping keeps pose and velocity.")
    coming, _ = swaps(snapshot)
    chosen = menu(
        context,
        "integrator",
        items(context.catalogue, lane.vehicle),
        lane.integrator,
        menu_text(lane.integrator, coming),
    )
    if chosen is not None and chosen != lane.integrator:
        requests.append(SetIntegrator(chosen))
    _facts(context, context.catalogue.integrators.get(lane.integrator))
    label(context, "Step h", STEP_DOC)
    step_s = step_field(context, "integrator/step", lane.step_s)
    if step_s is not None:
        requests.append(SetStep(step_s))
    return requests


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
    entries = catalogue.integrators.values()
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


def step_field(context: PanelContext, name: str, step_s: float) -> float | None:
    """Log slider and text field for a step; the new step [s] where it was changed.

    The slider keeps to the range; what is typed is handed on, so that a step that is refused is told why.
    """
    low, high = STEP_RANGE_S
    step_ms = log_slider(context, name, step_s * 1e3, (low * 1e3, high * 1e3), "%.4g ms", STEP_DOC)
    return None if step_ms is None else significant(step_ms * 1e-3)


def _facts(context: PanelContext, entry: IntegratorEntry | None) -> None:
    if entry is None:
        return
    imgui.set_cursor_pos_x(imgui.get_cursor_pos_x() + context.px(LABEL_WIDTH))
    imgui.text_colored(imgui.ImVec4(*theme.FAINT), entry.facts)
    tooltip(f"{entry.doc}\n{entry.source}")
