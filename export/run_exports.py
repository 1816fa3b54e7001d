"""What a headless run exports when it is over: scenes and tables of all its lanes."""

from typing import TYPE_CHECKING

from export.channels import chosen_channels
from export.endings import TABLES
from export.file import export_motions
from export.motion import MotionRecorder
from export.request import Request
from export.scenery import CameraTrack, camera_track, ground_under
from sim.scene import Scene
from sim.snapshot import Snapshot
from sim.world import World

if TYPE_CHECKING:
    from render.frame import View


class RunExports:
    """Scenes and tables of all lanes, written when the run is over."""

    def __init__(self, request: Request, first: Snapshot, scene: Scene, world: World) -> None:
        """Raises InputError for channels that are none."""
        self._request, self._scene, self._world = request, scene, world
        self._recorder = MotionRecorder()
        self._recorder.add(first)
        self._camera: _CameraRecorder | None = None
        if not request.exports:
            return
        if any(path.suffix.lower() in TABLES for path in request.exports):
            chosen_channels(self._recorder.motions(), request.channels)
        if "camera" in request.include:
            self._camera = _CameraRecorder(scene, world, request.size_px)
            self._camera.add(first, 0.0)

    def add(self, snapshot: Snapshot, dt_s: float) -> None:
        """The next moment, `dt_s` later."""
        if self._request.exports:
            self._recorder.add(snapshot)
        if self._camera is not None:
            self._camera.add(snapshot, dt_s)

    def finish(self) -> None:
        """Write the files."""
        motions = self._recorder.motions()
        ground = ground_under(self._world, motions) if "terrain" in self._request.include else None
        for path in self._request.exports:
            export_motions(
                path,
                motions,
                title=self._scene.name,
                channels=self._request.channels,
                ground=ground,
                camera=None if self._camera is None else self._camera.track(),
            )


class _CameraRecorder:
    """Where the scene's camera was, without drawing anything."""

    def __init__(self, scene: Scene, world: World, size_px: tuple[int, int]) -> None:
        from export.studio import Follower

        self._follower = Follower(scene, world)
        self._aspect = size_px[0] / size_px[1]
        self._time: list[float] = []
        self._views: list[View] = []

    def add(self, snapshot: Snapshot, dt_s: float) -> None:
        self._views.append(self._follower.follow(snapshot, dt_s, self._aspect))
        self._time.append(snapshot.clock_s)

    def track(self) -> CameraTrack:
        return camera_track(self._time, self._views)
