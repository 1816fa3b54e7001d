"""What a lane leaves behind in the world: its trail, its wheels' tracks, its wake and where it hit the water."""

from dataclasses import replace

from render.cameras.framing import framing_of
from render.frame import Polyline, Splash, Surface, Wake
from render.shown import Shown
from render.splash import Splashes
from render.tracks import Tracks
from render.trail import Trail
from render.wake import WakeTrack
from sim.snapshot import LaneStatus
from sim.vehicle_config import config_of

_UNTINTED = (1.0, 0.50, 0.10)
"""Trail of a lane that has no tint of its own."""


class LeftBehind:
    """Of one lane; each part starts anew with every generation."""

    def __init__(self, water_level_m: float) -> None:
        self._trail, self._tracks, self._wake = Trail(), Tracks(), WakeTrack()
        self._splashes = Splashes(water_level_m)
        self._ended_wall_s: float | None = None

    def extend(self, shown: Shown) -> None:
        """Note where the lane is now."""
        lane, time_s, T_wb = shown.lane, shown.time_s, shown.T_wb
        self._trail.extend(lane.vehicle, lane.generation, time_s, T_wb, lane.ways, lane.twist_b)
        self._tracks.extend(lane.vehicle, lane.generation, time_s, T_wb, lane.parameters)
        self._wake.extend(lane.vehicle, lane.generation, time_s, T_wb, lane.twist_b)
        soles_m = config_of(lane.vehicle).contact.soles_m
        self._splashes.extend(lane.vehicle, lane.generation, time_s, T_wb, soles_m)

    def line(self, shown: Shown) -> Polyline | None:
        """The trail; of what leaves tracks on the ground only a ghost's."""
        lane = shown.lane
        if config_of(lane.vehicle).tracks is not None and not lane.ghost:
            return None
        width = 2.5 if lane.ghost and not shown.apart else 4.0
        tint = _UNTINTED if min(lane.tint) >= 1.0 else lane.tint
        clear = 0.25 * framing_of(lane.vehicle).distance_m
        line = self._trail.line(shown.time_s, shown.true_T_wb, tint, width_px=width, clear_m=clear)
        return None if line is None else replace(line, points_w=line.points_w + shown.shift_w)

    def surface(self, shown: Shown) -> Surface | None:
        """What wheels have left on the ground."""
        return self._tracks.surface(shown.time_s, shown.true_T_wb, shown.shift_w)

    def wake(self, shown: Shown) -> Wake | None:
        """What a solid hull leaves on the water."""
        if shown.lane.ghost and not shown.apart:
            return None
        return self._wake.wake(shown.time_s, shown.true_T_wb, shown.shift_w)

    def splashes(self, shown: Shown, wall_s: float) -> tuple[Splash, ...]:
        """Whose rings still run. A vehicle that has ended stands still, the water about it does not."""
        if shown.lane.status is LaneStatus.RUNNING:
            self._ended_wall_s = None
            return self._splashes.present(shown.time_s)
        if self._ended_wall_s is None:
            self._ended_wall_s = wall_s
        return self._splashes.present(shown.time_s + max(wall_s - self._ended_wall_s, 0.0))
