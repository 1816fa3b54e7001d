"""The tracks that wheels leave on the ground: the exact arcs of their contact points."""

from collections import deque
from collections.abc import Mapping

import numpy as np

from render.frame import Surface
from sim.groups.numeric import pose_between
from sim.vehicle_config import VehicleConfig, named_values
from sim.vehicles import VEHICLES
from sim.vehicles.forms.parameters import Value

KEPT_S = 45.0
"""Simulated time after which a track has faded."""
_MOST_POINTS = 480
_SPACING_M = 0.28
_TURN_RAD = 0.08
_LIFT_M = 0.02
"""Above the ground, so that tracks are drawn over what is painted on it."""
_RUBBER = (0.012, 0.011, 0.010)
_UP = np.array([0.0, 0.0, 1.0])


class Tracks:
    """What the wheels of one lane have left; starts anew with every generation."""

    def __init__(self) -> None:
        self._generation: int | None = None
        self._config: VehicleConfig | None = None
        self._poses: deque[tuple[float, np.ndarray, np.ndarray]] = deque(maxlen=_MOST_POINTS)
        """Time, (4, 4) pose, and (wheels, 4) where wheels touched, body frame."""

    def extend(
        self,
        config: VehicleConfig,
        generation: int,
        time_s: float,
        T_wb: np.ndarray,
        parameters: Mapping[str, Value] | None = None,
    ) -> None:
        """Note where the vehicle is now; between two looks it has moved along an arc, by the group's exponential."""
        if self._config is None or (config.name, generation) != (self._config.name, self._generation):
            self._poses.clear()
        self._config, self._generation = config, generation
        wheels = _wheels_b(config, parameters)
        if wheels is None or not np.isfinite(T_wb).all():
            return
        while self._poses and self._poses[-1][0] > time_s:
            self._poses.pop()
        while self._poses and self._poses[0][0] < time_s - KEPT_S:
            self._poses.popleft()
        if not self._poses:
            self._poses.append((time_s, T_wb.copy(), wheels))
            return
        before_s, before, _ = self._poses[-1]
        travel = float(np.linalg.norm(T_wb[:2, 3] - before[:2, 3])) / _SPACING_M
        turned = float(np.linalg.norm(T_wb[:2, 0] - before[:2, 0])) / _TURN_RAD
        pieces = int(max(travel, turned))
        for k in range(1, pieces + 1):
            share = k / pieces
            pose = T_wb.copy() if k == pieces else pose_between(before, T_wb, share)
            self._poses.append((before_s + share * (time_s - before_s), pose, wheels))

    def contacts_w(self) -> np.ndarray:
        """(n, wheels, 3) m: where the wheels have touched the ground."""
        poses = np.array([pose for _, pose, _ in self._poses]).reshape(-1, 4, 4)
        return np.einsum("nij,nwj->nwi", poses, np.array([wheels for *_, wheels in self._poses]))[..., :3]

    def surface(self, time_s: float, T_wb: np.ndarray, shift_w: np.ndarray) -> Surface | None:
        """All tracks up to the present pose, fading with age; None where there are none."""
        tracks = None if self._config is None else self._config.tracks
        if tracks is None or len(self._poses) < 2:
            return None
        self._poses.append((time_s, T_wb, self._poses[-1][2]))
        path, times = self.contacts_w() + shift_w, np.array([time for time, *_ in self._poses])
        self._poses.pop()
        age = np.clip((time_s - times) / KEPT_S, 0.0, 1.0)
        alpha = tracks.strength * (1.0 - age) ** 1.2
        edges = ribbon(path + _LIFT_M * _UP, tracks.width_m)
        low, high = edges[:-1], edges[1:]
        corners = np.stack(
            [
                low[..., 0, :],
                high[..., 0, :],
                high[..., 1, :],
                low[..., 0, :],
                high[..., 1, :],
                low[..., 1, :],
            ],
            axis=2,
        )
        fade = np.stack([alpha[:-1], alpha[1:], alpha[1:], alpha[:-1], alpha[1:], alpha[:-1]], axis=1)
        fade = np.repeat(fade[:, None], path.shape[1], axis=1)
        normals = np.broadcast_to(_UP, corners.shape).reshape(-1, 3)
        return Surface(corners.reshape(-1, 3), normals, _RUBBER, fade.ravel())


def _wheels_b(config: VehicleConfig, parameters: Mapping[str, Value] | None) -> np.ndarray | None:
    """(wheels, 4) where they touch the ground, body frame; None where none leaves tracks."""
    tracks = config.tracks
    if tracks is None:
        return None
    values = named_values(VEHICLES.get(config.name), parameters=parameters)
    return np.array([(x.value(values), y.value(values), 0.0, 1.0) for x, y in tracks.wheels])


def ribbon(path_w: np.ndarray, width_m: float) -> np.ndarray:
    """(n, wheels, 2, 3) left and right edge of level bands along paths (n, wheels, 3)."""
    way = np.gradient(path_w, axis=0)
    left = np.stack([-way[..., 1], way[..., 0], np.zeros_like(way[..., 0])], axis=-1)
    left /= np.maximum(np.linalg.norm(left, axis=-1, keepdims=True), 1e-9)
    return np.stack([path_w + 0.5 * width_m * left, path_w - 0.5 * width_m * left], axis=2)
