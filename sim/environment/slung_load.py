"""A load on an elastic rope under a vehicle: a mass point that hangs, swings, and lies on the ground."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sim.environment.coupling import BodyState
from sim.platform.toml_table import TomlTable
from sim.vehicles import Vehicle
from sim.world import World
from sim.world.terrain import Terrain

_G_MPS2 = 9.81
_FRICTION = 0.6
_ASIDE = 0.7
"""Where there is no room below the hook, the load lies this far behind it, in lengths of the rope."""


@dataclass(frozen=True, slots=True)
class Rope:
    """A load as scenes say it."""

    mass_kg: float
    length_m: float
    stiffness_npm: float
    damping_nspm: float
    hook_b: tuple[float, float, float]
    """Where it is tied to the main body [m], body frame."""
    radius_m: float

    def begun(self, vehicle: Vehicle, T_wb: np.ndarray, world: World) -> "SlungLoad":
        """At rest under a vehicle at (4, 4) T_wb, or on the ground behind it."""
        terrain = world.terrain
        hook_w = T_wb[:3, :3] @ self.hook_b + T_wb[:3, 3]
        x_w = hook_w - [0.0, 0.0, self.length_m + self.mass_kg * _G_MPS2 / self.stiffness_npm]
        ground_m = float(terrain.height(x_w[0], x_w[1])) + self.radius_m
        if x_w[2] < ground_m:
            behind = -T_wb[:2, 0] / max(float(np.linalg.norm(T_wb[:2, 0])), 1e-9)
            x_w[:2] += _ASIDE * self.length_m * behind
            x_w[2] = float(terrain.height(x_w[0], x_w[1])) + self.radius_m
        return SlungLoad(self, x_w, terrain)


@dataclass(frozen=True, slots=True, eq=False)
class LoadPicture:
    """What is to be drawn of a load."""

    hook_b: np.ndarray
    """(3,) m in the frame of the vehicle's main body."""
    x_w: np.ndarray
    v_w: np.ndarray
    """(3,) m and m/s at `time_s`; it goes on straight until the next exchange."""
    time_s: float
    radius_m: float


class SlungLoad:
    """An `Environment`. The rope only pulls; its impulse acts along it on both ends at once, found implicitly.

    So the momenta of both together are kept but for the load's weight and the ground, and no stiffness is too great
    for the grid of exchanges.
    """

    def __init__(self, rope: Rope, x_w: np.ndarray, terrain: Terrain) -> None:
        self._rope, self._terrain = rope, terrain
        self._x_w, self._v_w, self._time_s = np.array(x_w, float), np.zeros(3), 0.0

    def exchange(self, time_s: float, dt_s: float, bodies: Mapping[str, BodyState]) -> dict[str, np.ndarray]:
        """As the protocol has it; the first body is the one that it hangs from."""
        rope, (name, body) = self._rope, next(iter(bodies.items()))
        R, hook_b = body.T_wb[:3, :3], np.array(rope.hook_b)
        omega, v = body.twist_b[:3], body.twist_b[3:]
        way = self._x_w - (body.T_wb[:3, 3] + R @ hook_b)
        length = max(float(np.linalg.norm(way)), 1e-9)
        along = way / length
        pulled_b = np.concatenate([np.cross(hook_b, R.T @ along), R.T @ along])
        self._v_w = self._v_w - [0.0, 0.0, _G_MPS2 * dt_s]
        opening = float(along @ (self._v_w - R @ (v + np.cross(omega, hook_b))))
        yielding = 1.0 / rope.mass_kg + float(pulled_b @ np.linalg.pinv(body.inertia_b) @ pulled_b)
        stretch, impulse = length - rope.length_m, 0.0
        if stretch + dt_s * opening > 0.0:
            # I = dt (k (stretch + dt opening') + c opening') with the speed opening' = opening - I yielding after it
            drag = dt_s * (rope.stiffness_npm * dt_s + rope.damping_nspm)
            impulse = (dt_s * rope.stiffness_npm * stretch + drag * opening) / (1.0 + drag * yielding)
            impulse = max(impulse, 0.0)
        self._v_w = self._v_w - impulse / rope.mass_kg * along
        self._x_w = self._x_w + dt_s * self._v_w
        self._rest_on_ground(dt_s)
        self._time_s = time_s + dt_s
        return {name: impulse * pulled_b}

    def _rest_on_ground(self, dt_s: float) -> None:
        x, y, z = self._x_w
        lowest = float(self._terrain.height(x, y)) + self._rope.radius_m
        if z >= lowest:
            return
        normal = self._terrain.normal(x, y)
        self._x_w = np.array([x, y, lowest])
        self._v_w = self._v_w - min(float(normal @ self._v_w), 0.0) * normal
        speed = float(np.linalg.norm(self._v_w))
        self._v_w = self._v_w * max(1.0 - _FRICTION * _G_MPS2 * dt_s / max(speed, 1e-9), 0.0)

    def told(self, vehicle: Vehicle, time_s: float) -> None:
        """It hangs, whatever the vehicle is like."""

    def within_reach(self, T_wb: np.ndarray, twist_b: np.ndarray, dt_s: float) -> bool:
        """A rope always ties it."""
        return True

    def take_impact_mps(self) -> float:
        """Nothing of it stays in place."""
        return 0.0

    def checkpoint(self) -> np.ndarray:
        return np.concatenate([self._x_w, self._v_w, [self._time_s]])

    def restore(self, checkpoint: np.ndarray) -> None:
        self._x_w, self._v_w = checkpoint[:3].copy(), checkpoint[3:6].copy()
        self._time_s = float(checkpoint[6])

    def picture(self) -> LoadPicture:
        hook_b = np.array(self._rope.hook_b)
        return LoadPicture(hook_b, self._x_w.copy(), self._v_w.copy(), self._time_s, self._rope.radius_m)


def read_rope(table: TomlTable) -> Rope:
    """A scene's table. Raises InputError, one line with file and key."""
    x, y, z = table.numbers("hook_m", (0.0, 0.0, 0.0), low=-100.0, high=100.0, count=3)
    return Rope(
        mass_kg=table.number("mass_kg", 100.0, low=1e-3, high=1e6),
        length_m=table.number("length_m", 8.0, low=1e-2, high=1e3),
        stiffness_npm=table.number("stiffness_npm", 2e4, low=1e-2, high=1e9),
        damping_nspm=table.number("damping_nspm", 500.0, low=0.0, high=1e9),
        hook_b=(x, y, z),
        radius_m=table.number("radius_m", 0.4, low=1e-3, high=50.0),
    )
