"""What is done for the planning panel: the planner of the scene is asked, and what it answers is flown or saved."""

from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from export.output import OutputError, replacing
from sim.planner.service.requests import PlanRequest
from sim.scene import SCENE_FOLDER, Scene
from sim.simulation.lanes.snapshot import Snapshot
from ui.features.feature import Actions
from ui.features.plan.planning import Planning
from ui.features.plan.view import SaveTask
from ui.features.race import Rivalry
from ui.features.vehicle import VehicleRenewed

if TYPE_CHECKING:
    from sim.planner.task.task import Task
    from sim.vehicles import Vehicle

FOLDER = Path("out")
"""Where a scene is written that does not come from a file of the user's."""


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
                self.app.tell(task_saved(self.app.scene, view.vehicle, view.task))
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


def task_saved(scene: Scene, vehicle: "Vehicle", task: "Task") -> str:
    """The scene with that task. What to tell of it. Raises OutputError."""
    from sim.planner.task.scene_text import scene_with_task  # not above, as all that plans

    return scene_saved(scene, lambda text: scene_with_task(text, vehicle, task))


def scene_saved(scene: Scene, changed: Callable[[str], str]) -> str:
    """Its file's text, changed, beside that file, where the user brought it along. What to tell of it. Raises
    OutputError."""
    source = SCENE_FOLDER / f"{scene.name}.toml" if scene.path is None else Path(scene.path)
    source = source / "scene.toml" if source.is_dir() else source
    folder = FOLDER if scene.path is None else source.parent
    path = folder / f"{source.stem}-{datetime.now():%Y%m%d-%H%M%S}.toml"
    try:
        folder.mkdir(exist_ok=True)
        with replacing(path) as temporary:
            temporary.write_text(changed(source.read_text("utf-8")), "utf-8")
    except OSError as error:
        raise OutputError(str(error)) from None
    return f"Scene saved: {path}"
