"""Keeps poses, and sets a robot's root free or fixes it."""

from collections.abc import Iterable

from sim.commands import SetVehicle
from sim.simulation.lanes.snapshot import Snapshot
from sim.vehicles import VEHICLES
from sim.vehicles.forms.coordinates import read_coordinates
from sim.vehicles.forms.robot import load_robot
from ui.features.feature import Actions, App
from ui.features.model.view import POSES, DropPose, KeepPose, RenamePose, SetRoot
from ui.settings.catalogue import load_catalogue
from ui.settings.view_settings import config_dir


class ModelActions(Actions):
    """Of one window."""

    handles = (KeepPose, RenamePose, DropPose, SetRoot)

    def __init__(self, app: App) -> None:
        super().__init__(app)
        self._folder = config_dir()
        self._poses = POSES.read(self._folder)

    def views(self, snapshot: Snapshot) -> Iterable[object]:
        return (self._poses,)

    def carry_out(self, action: object) -> None:
        lane = self.app.simulation.snapshot.lanes[0]
        match action:
            case KeepPose(name) if lane.mechanics is not None:
                values = read_coordinates(lane.mechanics, lane.node)
                self._poses = self._poses.with_one(lane.vehicle, name, values)
                self.app.tell(f'Pose "{name.strip()}" is kept')
            case RenamePose(name, new):
                self._poses = self._poses.renamed(lane.vehicle, name, new)
                self.app.tell(f'Pose "{name}" is "{new.strip()}" now')
            case DropPose(name):
                self._poses = self._poses.without(lane.vehicle, name)
            case SetRoot(free):
                self._set_root(lane.vehicle, free=free)
                return
        POSES.write(self._folder, self._poses)

    def _set_root(self, vehicle: str, *, free: bool) -> None:
        path, _ = VEHICLES[vehicle].file  # type: ignore[attr-defined]  # the panel asks of robots out of files alone
        name = load_robot(path, VEHICLES, free=free)
        self.app.context.catalogue = load_catalogue()
        self.app.submit(SetVehicle(name))
