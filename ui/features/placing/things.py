"""What of a scene is placed by hand, as things that can be moved: start, gates, goals, props and the wind."""

import math
from collections.abc import Sequence

import numpy as np

from sim.commands import SetLayout, SetParameter, SetProps
from sim.contact.obstacles import PropsPicture
from sim.planner.task.handles import UP
from sim.platform.values import dataclass
from sim.scene.layout import START, Layout
from sim.shapes.shape import Handle
from sim.simulation.lanes.snapshot import LaneSnapshot, Snapshot
from sim.world import World
from ui.features.plan.pointing import Ray, on_ground, struck_prop
from ui.window.context import Request

PROPS = ("ball", "barrel", "brick", "domino", "plank", "ramp")
MARKS = ("gate", "goal")
WIND = "wind"
_BESIDE_M = 0.1
"""Between a prop and its copy."""
_WIND_OVER, _WIND_LONG = 0.25, 0.1
"""How high over the start the wind's arrow begins, and how long it is for 1 m/s, as shares of how far away the chase
camera is: both are in its picture."""


@dataclass(frozen=True, slots=True)
class SceneThings:
    """Of a scene as a snapshot shows it."""

    snapshot: Snapshot
    world: World
    prefix: str = "place"

    @property
    def handles(self) -> Sequence[Handle]:
        layout, around = self.layout, self.snapshot.environment
        found = list(layout.handles(self.world, self._soles_m))
        if isinstance(around, PropsPicture):
            found += [Handle(f"prop {k}", T_w, "xyz") for k, T_w in enumerate(around.poses_w)]
        wind = self.wind_w
        if wind is not None:
            tip = np.eye(4)
            foot_w = self._wind_foot_w
            tip[:3, 3] = foot_w + self._wind_s * wind
            found.append(Handle(WIND, tip, "", foot_w))
        return found

    @property
    def layout(self) -> Layout:
        layout = self.snapshot.layout
        assert layout is not None
        return layout

    @property
    def wind_w(self) -> np.ndarray | None:
        """(3,) velocity of the air [m/s] that the flown vehicle feels; None where it feels none."""
        wind = self._flown.parameters.get(WIND)
        return None if wind is None else np.array([*np.ravel(wind), 0.0])[:3]

    @property
    def _flown(self) -> LaneSnapshot:
        return self.snapshot.lanes[0]

    @property
    def _soles_m(self) -> float:
        return self._flown.config.contact.soles_m

    @property
    def _wind_foot_w(self) -> np.ndarray:
        start_w = self.layout.start.pose(self.world, self._soles_m)[:3, 3]
        foot_w: np.ndarray = start_w + _WIND_OVER * self._flown.config.camera.distance_m * UP
        return foot_w

    @property
    def _wind_s(self) -> float:
        """So many metres long is its arrow for a wind of 1 m/s."""
        return _WIND_LONG * self._flown.config.camera.distance_m

    def never_along(self, name: str) -> np.ndarray | None:
        blows_level = name == WIND and np.size(self._flown.parameters[WIND]) == 2
        return UP if name.startswith("goal") or blows_level else None

    def dotted(self, name: str) -> bool:
        return not name.startswith("prop")

    def moved(self, name: str, T_w: np.ndarray) -> list[Request]:
        if name == WIND:
            return self.blown((T_w[:3, 3] - self._wind_foot_w) / self._wind_s)
        k = _prop(name)
        if k < 0:
            return [SetLayout(self.layout.moved(name, T_w))]
        placed = self._props.placed
        return [SetProps((*placed[:k], placed[k].at(T_w), *placed[k + 1 :]))]

    def blown(self, wind_w: np.ndarray) -> list[Request]:
        """The air is to move with this velocity (3,) [m/s]."""
        wind = np.round(wind_w, 3) + 0.0
        return [SetParameter(WIND, tuple(wind[: np.size(self._flown.parameters[WIND])].tolist()))]

    def scaled(self, name: str, factor: float) -> list[Request]:
        k = _prop(name)
        if k < 0:
            return [] if name in (START, WIND) else [SetLayout(self.layout.scaled(name, factor))]
        placed = self._props.placed
        larger = placed[k].at(self._props.poses_w[k]).scaled(factor)
        return [SetProps((*placed[:k], larger, *placed[k + 1 :]))]

    def without(self, name: str) -> list[Request]:
        k = _prop(name)
        if k < 0:
            return [] if name in (START, WIND) else [SetLayout(self.layout.without(name))]
        placed = self._props.placed
        return [SetProps(placed[:k] + placed[k + 1 :])]

    def copied(self, name: str) -> tuple[list[Request], str]:
        k = _prop(name)
        if k < 0:
            layout, new = (self.layout, name) if name == WIND else self.layout.copied(name)
            return ([] if layout is self.layout else [SetLayout(layout)]), new
        around = self._props
        T_w = around.poses_w[k].copy()
        T_w[1, 3] += float(np.ptp(around.placed[k].prop.shape.extremes_w[:, 1])) + _BESIDE_M
        return [SetProps((*around.placed, around.placed[k].at(T_w)))], f"prop {len(around.placed)}"

    def grounded(self, name: str) -> list[Request]:
        """One of them is to stand on the ground, or on the water over it; nothing where it does, or cannot."""
        if name == WIND:
            return []
        k = _prop(name)
        if k < 0:
            layout = self.layout.grounded(name, self.world, self._soles_m)
            return [] if layout == self.layout else [SetLayout(layout)]
        around = self._props
        T_w = around.poses_w[k].copy()
        points = self._corners_w(k)
        T_w[2, 3] -= float((points[:, 2] - self.world.surface_m(points[:, 0], points[:, 1])).min())
        return self.moved(name, T_w)

    def _corners_w(self, k: int) -> np.ndarray:
        """(n, 3) of what is drawn of a prop."""
        shape, T_w = self._props.shapes[k], self._props.poses_w[k]
        rest_w = self._props.rest_w[k]
        own = (shape.surface()[0] - rest_w[:3, 3]) @ rest_w[:3, :3]
        return own @ T_w[:3, :3].T + T_w[:3, 3]

    def put_up(self, kind: str, ray: Ray) -> tuple[list[Request], str]:
        """One more of a kind where a ray meets the ground, or a prop; and its name."""
        around = self.snapshot.environment
        struck = struck_prop(ray, around)
        place_w = on_ground(ray, self.world)
        if struck is not None and kind in PROPS:
            place_w = ray.origin_w + struck.distance_m * ray.direction_w
        if place_w is None:
            return [], ""
        if kind in MARKS:
            gates = () if self.layout.course is None else self.layout.course.gates
            before_w = np.array(gates[-1].centre_w) if gates else self._flown.T_wb[:3, 3]
            way = place_w - before_w
            layout, name = self.layout.with_one(kind, place_w, math.atan2(way[1], way[0]))
            return [SetLayout(layout)], name
        from sim.contact.obstacles.prop_kinds import usual  # kernels of bodies are loaded late

        new = usual(kind)
        T_w = new.prop.T_w
        place_w[2] += T_w[2, 3] - float(new.prop.shape.extremes_w[:, 2].min())
        T_w[:3, 3] = place_w
        placed = around.placed if isinstance(around, PropsPicture) else ()
        return [SetProps((*placed, new.at(T_w)))], f"prop {len(placed)}"

    @property
    def _props(self) -> PropsPicture:
        around = self.snapshot.environment
        assert isinstance(around, PropsPicture)
        return around


def _prop(name: str) -> int:
    """The number of a prop; -1 of what is none."""
    kind, _, index = name.partition(" ")
    return int(index) if kind == "prop" else -1
