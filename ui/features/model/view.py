"""What the page of a vehicle's parts asks for."""

from dataclasses import dataclass

from ui.window.requests import Action


@dataclass(frozen=True, slots=True)
class KeepPose(Action):
    """The flown vehicle's present coordinates, under a name."""

    name: str


@dataclass(frozen=True, slots=True)
class DropPose(Action):
    """Forget one of the flown vehicle's."""

    name: str


@dataclass(frozen=True, slots=True)
class SetRoot(Action):
    """Let the root of the flown robot float, or fix it to the world as its file has it."""

    free: bool
