"""What is done for the planning panel: the planner of the scene is asked, and what it answers is flown or saved."""

import os
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import get_args

from export.output import OutputError, replacing
from sim.planner.service.requests import PlanRequest
from sim.planner.service.session import PlanView
from sim.scene import SCENE_FOLDER
from sim.simulation.lanes.snapshot import Snapshot
from ui.features.feature import Actions, App
from ui.features.plan.pages import SaveTask
from ui.features.plan.planning import Planning
from ui.features.race import Rivalry
from ui.features.vehicle import VehicleRenewed
from ui.settings.view_settings import Remembered, scenes_folder
from ui.window.context import KeepPicture


class PlanActions(Actions):
    """Asks the planner that was made ready with the scene."""

    handles = (*get_args(PlanRequest), SaveTask, VehicleRenewed)

    @property
    def planning(self) -> Planning:
        """Of the present scene."""
        planning = self.app.context.find(Planning)
        assert planning is not None
        return planning

    def begin(self) -> None:
        self.app.submit(*self.planning.opening())

    def leave(self) -> None:
        self.planning.close()

    def poll(self, snapshot: Snapshot) -> None:
        command = self.planning.poll(snapshot)
        if command is not None:
            self.app.submit(command)

    def views(self, snapshot: Snapshot) -> Iterable[object]:
        view = self.planning.view
        return (Rivalry(self.planning.rival), *(() if view is None else (view,)))

    def carry_out(self, action: object) -> None:
        view = self.planning.view
        if isinstance(action, SaveTask):
            if view is not None:
                self.app.tell(scene_saved(self.app, lambda text: with_task(self.app, text)))
        elif isinstance(action, VehicleRenewed):
            anew = Planning(self.app.scene, self.app.world)
            self.planning.close()
            self.app.context.show(anew)
        elif isinstance(action, PlanRequest):
            command = self.planning.handle(action)
            if command is not None:
                self.app.submit(command)

    def close(self) -> None:
        self.planning.close()


def with_task(app: App, text: str) -> str:
    """The text of the scene's file with the task as it is now, where it plans one."""
    view = app.context.find(PlanView)
    if view is None:
        return text
    from sim.planner.task.scene_task import scene_with_task  # not above, as all that plans

    return scene_with_task(text, view.vehicle, view.task)


def scene_saved(app: App, changed: Callable[[str], str]) -> str:
    """The file of the scene that is open, changed, beside that file where the user brought it along, else in the user's
    folder of scenes; it is one of his own scenes from then on. What to tell of it. Raises OutputError."""
    scene = app.scene
    source = SCENE_FOLDER / f"{scene.name}.toml" if scene.path is None else Path(scene.path)
    source = source / "scene.toml" if source.is_dir() else source
    folder = scenes_folder() if scene.path is None else source.parent
    path = folder / f"{source.stem}-{datetime.now():%Y%m%d-%H%M%S}.toml"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(path) as temporary:
            temporary.write_text(changed(source.read_text("utf-8")), "utf-8")
    except OSError as error:
        raise OutputError(str(error)) from None
    app.context.show(app.context.of(Remembered).opened_file(os.path.abspath(path)))
    app.do(KeepPicture(os.path.abspath(path)))
    return f"Scene saved: {path}"
