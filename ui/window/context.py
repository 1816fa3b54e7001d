"""What panels and instruments get besides the snapshot, and where they note what was drawn where."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from ui.input.keymap import Keymap, keymap_of
from ui.settings.catalogue import Catalogue
from ui.settings.view_settings import ViewSettings
from ui.window.theme import Fonts

T = TypeVar("T")

Rect = tuple[float, float, float, float]
"""(x, y, w, h) in window coordinates, logical units, origin top left."""


@dataclass(frozen=True, slots=True, eq=False)
class SceneCamera:
    """Of the scene as it was drawn last, so that what is in it can be found and moved by hand."""

    view: np.ndarray
    """(4, 4) world to camera."""
    projection: np.ndarray
    """(4, 4) camera to clip."""
    shifts_w: Mapping[str, np.ndarray] = field(default_factory=dict)
    """By lane, (3,) m by which it was drawn apart from its true place."""


@dataclass(slots=True)
class PanelContext:
    """Owned by the shell. What belongs to one feature is found by its type: what the feature shows (a value that is
    replaced as a whole), and what its panel remembers (an object that it changes)."""

    catalogue: Catalogue
    fonts: Fonts
    view: ViewSettings
    qualities: tuple[str, ...]
    scale: float = 1.0
    """The user's interface scale."""
    keymap: Keymap = field(default_factory=lambda: keymap_of(""))
    """The keys while the present vehicle is flown."""
    rects: dict[str, Rect] = field(default_factory=dict)
    """Named widgets of this frame, for tests and guided tours."""
    scene_rect: Rect = (0.0, 0.0, 0.0, 0.0)
    """The part of the window that shows the scene."""
    parts: dict[type, object] = field(default_factory=dict)
    """By type: what features show, and what their panels remember."""

    def show(self, *values: object) -> None:
        """Each takes the place of the one of its type."""
        for value in values:
            self.parts[type(value)] = value

    def forget(self, *kinds: type) -> None:
        """There is nothing of these types, or it begins anew."""
        for kind in kinds:
            self.parts.pop(kind, None)

    def find(self, kind: type[T]) -> T | None:
        """What there is of this type."""
        found = self.parts.get(kind)
        assert found is None or isinstance(found, kind)
        return found

    def of(self, kind: type[T]) -> T:
        """The same; where there is none, as the type begins by itself, from now on."""
        found = self.find(kind)
        if found is None:
            found = self.parts[kind] = kind()
        return found

    def px(self, length: float) -> float:
        """A length at scale 1, at the user's scale."""
        return length * self.scale


def on_screen(place_w: np.ndarray, clip_from_world: np.ndarray, rect: Rect) -> tuple[float, float] | None:
    """Window coordinates (origin top left) of a place; None behind the eye or outside the scene."""
    clip = clip_from_world @ np.append(place_w, 1.0)
    if clip[3] <= 1e-6:
        return None
    x, y = clip[:2] / clip[3]
    if abs(x) > 1.0 or abs(y) > 1.0:
        return None
    return rect[0] + 0.5 * (1.0 + float(x)) * rect[2], rect[1] + 0.5 * (1.0 - float(y)) * rect[3]
