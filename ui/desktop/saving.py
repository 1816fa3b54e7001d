"""Pictures and tables of what a window shows, written where it was started from."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from export.output import OutputError, replacing
from export.picture import write_png
from export.tables import save_curves
from sim.scene import SCENE_FOLDER, Scene
from ui.window import AppWindow

if TYPE_CHECKING:
    from sim.planner.task.task import Task
    from sim.vehicles import Vehicle

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


def task_saved(scene: Scene, vehicle: "Vehicle", task: "Task") -> str:
    """Beside the scene's own file, where the user brought that along. What to tell of it. Raises OutputError."""
    from sim.planner.task.scene_text import scene_with_task  # not above, as all that plans

    source = SCENE_FOLDER / f"{scene.name}.toml" if scene.path is None else Path(scene.path)
    source = source / "scene.toml" if source.is_dir() else source
    folder = FOLDER if scene.path is None else source.parent
    path = folder / f"{source.stem}-{datetime.now():%Y%m%d-%H%M%S}.toml"
    try:
        folder.mkdir(exist_ok=True)
        with replacing(path) as temporary:
            temporary.write_text(scene_with_task(source.read_text("utf-8"), vehicle, task), "utf-8")
    except OSError as error:
        raise OutputError(str(error)) from None
    return f"Scene saved: {path}"
