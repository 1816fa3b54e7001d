"""Controllers that fly: which one, its gains as sliders, its mistakes, and its file as it is saved."""

from collections.abc import Iterable
from pathlib import Path
from time import perf_counter

from imgui_bundle import imgui

from sim.commands import FlyBy, RenewController, SetFlightMode, SetGain
from sim.control.feedback import CONTROLLERS
from sim.controllers import Controller, Gain, gains_of, made_controller
from sim.controllers.controller import load_controller, own_file
from sim.platform.errors import InputError
from sim.platform.user_files import SavedFile
from sim.platform.values import dataclass
from sim.simulation.lanes.snapshot import LaneSnapshot, Snapshot
from ui.features.feature import Actions, App, Background
from ui.features.notices import Toasts
from ui.features.vehicle import EVERY_S
from ui.settings.catalogue import first_paragraph
from ui.window import theme
from ui.window.context import Action, PanelContext, Request
from ui.window.widgets import Item, heading, label, menu, note, prose, significant, tooltip

HAND = "by hand"
DOC = "Who flies: you, one of these, or a class in a Python file of your own that you drop onto the window."


def draw_controllers(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """The menu, and the gains of every lane that a controller flies."""
    requests: list[Request] = []
    flying = snapshot.lanes[0].controller
    now = HAND if flying is None else _name(flying.kind)
    entries = [Item(HAND, HAND, "The sticks, in the flight mode.")]
    entries += [Item(name, name, first_paragraph(kind.__doc__)) for name, kind in CONTROLLERS.items()]
    label(context, "Controller", DOC)
    chosen = menu(context, "controller", entries, now, now)
    if chosen is not None and chosen != now:
        hand = SetFlightMode(snapshot.flight_mode)
        requests.append(hand if chosen == HAND else FlyBy(made_controller(CONTROLLERS[chosen])))
    for lane in snapshot.lanes:
        if lane.controller is not None:
            requests += _gains(lane, context, alone=len(snapshot.lanes) == 1)
    return requests


def _gains(lane: LaneSnapshot, context: PanelContext, *, alone: bool) -> list[Request]:
    """Of one lane."""
    own, requests = lane.controller, list[Request]()
    assert own is not None
    heading(context, _name(own.kind) if alone else lane.name)
    for name, gain in gains_of(own.kind).items():
        value = own.gains.get(name, gain.default)
        new = _slider(context, f"controller/{lane.name}/{name}", name, gain, value)
        if new is not None and new != value:
            requests.append(SetGain(name, new, lane.name))
    if own.fault or own.late:
        imgui.push_style_color(imgui.Col_.text, imgui.ImVec4(*(theme.DANGER if own.fault else theme.WARNING)))
        prose(own.fault or own.late)
        imgui.pop_style_color()
    return requests


def _slider(context: PanelContext, key: str, name: str, gain: Gain, value: float) -> float | None:
    doc = f"{gain.doc}\n{gain.low:g} to {gain.high:g} {gain.unit}; default {gain.default:g}".strip()
    label(context, name.replace("_", " "), doc)
    imgui.set_next_item_width(imgui.get_content_region_avail().x)
    text = (
        f"%.4g {gain.unit}".replace("^2", "\N{SUPERSCRIPT TWO}")
        .replace("^3", "\N{SUPERSCRIPT THREE}")
        .rstrip()
    )
    changed, new = imgui.slider_float(
        f"##{key}", value, gain.low, gain.high, text, imgui.SliderFlags_.always_clamp.value
    )
    note(context, key)
    tooltip(doc)
    return min(max(significant(new), gain.low), gain.high) if changed else None


def _name(kind: type[Controller]) -> str:
    return next((name for name, known in CONTROLLERS.items() if known is kind), kind.__name__)


SILENT_S = 5.0
"""Without a word from the simulation, after which it is told who keeps it."""


@dataclass(slots=True)
class _File:
    """Of a controller that flies."""

    saved: SavedFile
    mistake: str = ""
    """Why it is not taken up as it was last saved."""


@dataclass(frozen=True, slots=True)
class FlyOwn(Action):
    """Have the controller in a file fly, whose folder is trusted."""

    path: Path


def _read(reference: str) -> Controller:
    """What a file of the user's says now, made once. Raises InputError."""
    kind, _ = load_controller(reference, (Path.cwd(),))
    return made_controller(kind)


class OwnControllers:
    """Looks at the files of the controllers that fly, and reads those anew that have been saved, beside the frames."""

    def __init__(self) -> None:
        self._files: dict[Path, _File] = {}
        self._next_s = 0.0
        self._reading = Background[Controller]("controllers")
        self._read: _File | None = None
        """That is being read."""

    @property
    def mistakes(self) -> tuple[str, ...]:
        """Why files as they were last saved are not taken up."""
        return tuple(file.mistake for file in self._files.values() if file.mistake)

    @property
    def busy(self) -> bool:
        """Whether a file is being read."""
        return self._reading.busy

    def poll(self, kinds: Iterable[type[Controller]], now_s: float) -> list[RenewController]:
        """What takes up changed files; a file is read once it has stayed the same for one look."""
        renewed = self._taken()
        if now_s < self._next_s:
            return renewed
        self._next_s = now_s + EVERY_S
        own = {path: kind for kind in kinds if (path := own_file(kind)) is not None}
        self._files = {
            path: self._files.get(path) or _File(SavedFile(kind, path)) for path, kind in own.items()
        }
        for path, kind in own.items():
            file = self._files[path]
            if not file.saved.saved() or self._reading.busy:
                continue
            file.saved.take()
            file.mistake, self._read = "", file
            reference = f"{path}:{kind.__name__}"
            self._reading.begin(lambda _, told=reference: _read(told))  # type: ignore[misc]
        return renewed

    def _taken(self) -> list[RenewController]:
        """What has been read."""
        try:
            made = self._reading.take()
        except InputError as error:
            if self._read is not None:
                self._read.mistake = str(error)
            return []
        return [] if made is None else [RenewController(type(made))]

    def close(self) -> None:
        """Read nothing more."""
        self._reading.close()


class ControllerActions(Actions):
    """Takes up what is saved of controllers of one's own; a mistake is told until it is mended."""

    handles = (FlyOwn,)

    def __init__(self, app: App) -> None:
        super().__init__(app)
        self._own, self._dropped = OwnControllers(), Background[Controller]("dropped controller")
        self._told = ""

    def carry_out(self, action: object) -> None:
        if isinstance(action, FlyOwn):
            self._dropped.begin(lambda _: _read(str(action.path)))

    def poll(self, snapshot: Snapshot) -> None:
        flying = [lane.controller for lane in snapshot.lanes if lane.controller is not None]
        now_s = perf_counter()
        for renewed in self._own.poll((own.kind for own in flying), now_s):
            self.app.submit(renewed)
        waits = [f"{_name(own.kind)} has not come back from a call; the simulation waits" for own in flying]
        late = waits if now_s - snapshot.wall_s > SILENT_S else []
        faults = (*late, *self._own.mistakes, *(own.fault for own in flying if own.fault))
        before, self._told = self._told, faults[0] if faults else ""
        self.app.context.of(Toasts).stand(self._told, now_s, instead_of=before)
        made = self._dropped.take()
        if made is not None:
            self.app.submit(FlyBy(made))

    def close(self) -> None:
        self._own.close()
        self._dropped.close()
