"""A controller that another program writes into a file: a bridge from what has no driver, or a script's hand."""

import os
from dataclasses import dataclass, field
from pathlib import Path

from sim.platform.errors import InputError
from sim.platform.user_files import as_type, json_value, read_text, refusals, require_finite
from ui.input.profile import DeviceNow

VARIABLE = "HOLONOMY_CONTROLLER"
MOST_BYTES = 1 << 16
MOST_PARTS = 64
"""Axes, and buttons."""


@dataclass(frozen=True, slots=True)
class Written:
    """The file's content: `{"name": "Bridge", "axes": {"x": 0.5}, "buttons": {"0": true}}`."""

    name: str = "File"
    axes: dict[str, float] = field(default_factory=dict)
    """-1..1, as a joystick's: right, back and down."""
    buttons: dict[str, bool] = field(default_factory=dict)


class ControllerFile:
    """Read anew whenever it has been replaced; what cannot be read lets go of everything."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp: tuple[int, int] | None = None
        self.now = DeviceNow(f"file:{path.name}", path.stem, gamepad=False)
        self.poll()

    @classmethod
    def named(cls) -> "ControllerFile | None":
        """Where the environment names one."""
        path = os.environ.get(VARIABLE, "")
        return cls(Path(path).expanduser()) if path else None

    def poll(self) -> tuple[str, ...]:
        """Read what is new; returns the buttons that went down."""
        try:
            stat = self._path.stat()
            stamp = (stat.st_mtime_ns, stat.st_ino)
        except OSError:
            stamp = None
        if stamp == self._stamp:
            return ()
        self._stamp = stamp
        try:
            with refusals(self._path, "no controller"):
                written = read_written(read_text(self._path, MOST_BYTES))
        except InputError:
            written = Written(self.now.name)
        return self._take(written)

    def _take(self, written: Written) -> tuple[str, ...]:
        now = self.now
        now.name = written.name
        # An axis counts once its value differs from the first one, as a real lever does.
        first = not now.axes
        now.moved |= {
            axis for axis, value in written.axes.items() if not first and value != now.axes.get(axis)
        }
        now.axes = dict(written.axes)
        now.moved &= now.axes.keys()
        now.buttons = tuple(written.buttons)
        down = {button for button, held in written.buttons.items() if held}
        pressed = tuple(sorted(down - now.down))
        now.down = down
        return pressed


def read_written(text: str) -> Written:
    """Raises ValueError or InputError."""
    value = json_value(text)
    require_finite(value)
    written = as_type(value, Written)
    if max(len(written.axes), len(written.buttons)) > MOST_PARTS:
        raise InputError(f"has more than {MOST_PARTS} axes or buttons")
    names = (written.name, *written.axes, *written.buttons)
    if any(len(name) > 60 or not name.isprintable() for name in names):
        raise InputError("has a name that cannot be shown; allowed: 60 printable characters")
    return written
