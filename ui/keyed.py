"""What the keys and sticks of a frame ask for."""

from imgui_bundle import imgui

from sim.commands import PilotInput, SetPilotInput
from sim.snapshot import Snapshot
from ui.input.desk import InputSample
from ui.input.intervention import Intervention
from ui.input.sticks import same
from ui.input.viewer import request_of
from ui.requests import Request
from ui.timeline import FLY_ON, in_past
from ui.view_settings import ViewSettings


class Keyed:
    """Remembers which sticks the simulation was told of last."""

    def __init__(self) -> None:
        self._sent, self._intervention = PilotInput(), Intervention()

    def forget(self) -> None:
        """Another simulation knows of no sticks yet."""
        self._sent = PilotInput()

    def requests(self, sample: InputSample, snapshot: Snapshot, view: ViewSettings) -> list[Request]:
        """Of one frame. Escape closes what has dropped down before it does anything else."""
        requests: list[Request] = []
        steers = self._intervention.begins(sample.pilot, looking=in_past(snapshot))
        handed_over = in_past(snapshot) and "demo" in sample.pressed
        if steers or handed_over:
            requests.append(FLY_ON)
        if not same(sample.pilot, self._sent):
            self._sent = sample.pilot
            requests.append(SetPilotInput(sample.pilot))
        closes = "escape" in sample.pressed and _closed_menus()
        actions = (action for action in sample.pressed if not (closes and action == "escape"))
        pressed = (request_of(action, snapshot, view) for action in actions)
        return requests + [request for request in pressed if request is not None]


def _closed_menus() -> bool:
    """Close what has dropped down; whether anything had."""
    opened = imgui.is_popup_open("", imgui.PopupFlags_.any_popup.value)
    if opened:
        imgui.internal.close_popups_except_modals()
    return opened
