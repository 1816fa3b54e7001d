"""Pictures and tables of what a window shows, written where it was started from."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

import numpy as np

from export.curves import save_curves
from export.output import OutputError, replacing
from export.picture import write_png
from ui.window import AppWindow

FOLDER = Path("out")


def screenshot_saved(scene: str, window: AppWindow) -> str:
    """What to tell of it. Raises OutputError."""
    path = FOLDER / f"{scene}-{datetime.now():%Y%m%d-%H%M%S}.png"
    try:
        path.parent.mkdir(exist_ok=True)
        with replacing(path) as temporary:
            write_png(temporary, window.screenshot())
    except OSError as error:
        raise OutputError(str(error)) from None
    return f"Screenshot saved: {path}"


def curves_saved(
    scene: str, columns: tuple[str, ...], curves: Mapping[str, tuple[np.ndarray, np.ndarray]]
) -> str:
    """What to tell of it. Raises OutputError."""
    return f"Curves saved: {save_curves(FOLDER, scene, columns, curves)}"
