"""Tasks of learning: a vehicle, where it starts, what is seen of it and what is good; and those there are, by name.

A row of every array is a lane.
"""

import tomllib
from abc import ABC, abstractmethod
from functools import cache, cached_property
from typing import Any, ClassVar

import numpy as np

from sim.groups.numeric import rotation_exp
from sim.vehicle_config import ASSETS
from sim.vehicles import Vehicle, vehicle
from sim.world import World, load_world
from sim.world.path import arc_length

SEEN_LIMIT = 1e4
"""Observations are kept within this, so that their space is bounded."""


class LearningTask(ABC):
    """Actions are numbers from -1 to 1, a control each; 0 is the middle of what the task lets the control do."""

    step_s: ClassVar[float] = 0.01
    steps_per_action: ClassVar[int] = 5
    episode_steps: ClassVar[int] = 400
    """Actions after which an episode is cut off."""
    seen: ClassVar[tuple[str, ...]]
    """What the numbers of an observation are, in their order, with units."""

    def __init__(self) -> None:
        self.vehicle = self.make_vehicle()
        self.middle, self.reach = self.controls()

    def make_vehicle(self) -> Vehicle:
        """The one that acts; of the project's own tasks as `assets/learning.toml` says."""
        entry = _entries()[type(self).__name__]
        return vehicle(entry["vehicle"], **entry.get("parameters", {}))

    @abstractmethod
    def controls(self) -> tuple[np.ndarray, np.ndarray]:
        """(n_controls,) in the middle, and how far an action of 1 is from there."""

    @abstractmethod
    def starts(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """(count, node size)."""

    @abstractmethod
    def observe(self, nodes: np.ndarray) -> np.ndarray:
        """(lanes, len(seen)) of nodes (lanes, node size)."""

    @abstractmethod
    def judge(
        self, before: np.ndarray, nodes: np.ndarray, actions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """(lanes,) rewards of an action that led from one node to another, and (lanes,) whether that ends it."""

    def part(self, first: str, last: str = "") -> slice:
        """Where the numbers from one to another stand in a node, by the names of its space's columns."""
        columns = self.vehicle.space.columns
        return slice(columns.index(first), columns.index(last or first) + 1)

    def inputs(self, actions: np.ndarray) -> np.ndarray:
        """(lanes, n_controls) of actions (lanes, n_controls), which are kept within -1 to 1."""
        return self.middle + self.reach * np.clip(np.asarray(actions, float), -1.0, 1.0)


@cache
def _entries() -> dict[str, dict[str, Any]]:
    return tomllib.loads((ASSETS / "learning.toml").read_text(encoding="utf-8"))


def in_body(R: np.ndarray, vectors_w: np.ndarray) -> np.ndarray:
    """(lanes, 3) of world vectors (lanes, 3) or (3,)."""
    return np.einsum("nij,ni->nj", R, np.broadcast_to(vectors_w, (len(R), 3)))


def angle(radians: np.ndarray) -> np.ndarray:
    """From -pi to pi."""
    return np.arctan2(np.sin(radians), np.cos(radians))


_UP_W = np.array([0.0, 0.0, 1.0])
_SOLES_M = 1.4


class _Flying(LearningTask):
    """Moves under its collective, pedals and cyclic; seen from its own body."""

    seen: ClassVar[tuple[str, ...]] = (
        *(f"to_goal_{axis}_m" for axis in "xyz"),
        *(f"up_{axis}" for axis in "xyz"),
        *(f"v_{axis}_mps" for axis in "xyz"),
        *(f"omega_{axis}_radps" for axis in "xyz"),
    )
    scatter_m: ClassVar[float] = 3.0
    goal_w: np.ndarray = np.zeros(3)

    def __init__(self) -> None:
        super().__init__()
        self._rotation, self._place = self.part("R_11", "R_33"), self.part("x_m", "z_m")
        self._turning, self._moving = (
            self.part("omega_x_radps", "omega_z_radps"),
            self.part("v_x_mps", "v_z_mps"),
        )

    def controls(self) -> tuple[np.ndarray, np.ndarray]:
        weight = float(np.max(self.vehicle.values["mass"])) * float(np.max(self.vehicle.values["gravity"]))
        return np.array([weight, 0.0, 0.0, 0.0]), np.array([0.5 * weight, 0.03 * weight, 0.1, 0.1])

    def begun(
        self, rng: np.random.Generator, count: int, middle_w: np.ndarray, speed_mps: float
    ) -> np.ndarray:
        """Scattered about a place, a little turned and moving."""
        nodes = np.repeat(self.vehicle.default_state().node[None], count, axis=0)
        self.turn_to(nodes, rotation_exp(rng.uniform(-0.15, 0.15, (count, 3))))
        nodes[:, self._place] = middle_w + rng.uniform(-self.scatter_m, self.scatter_m, (count, 3))
        nodes[:, self._turning] = rng.uniform(-0.1, 0.1, (count, 3))
        nodes[:, self._moving] = rng.uniform(-speed_mps, speed_mps, (count, 3))
        return nodes

    def rotations(self, nodes: np.ndarray) -> np.ndarray:
        """(lanes, 3, 3) body to world."""
        return nodes[:, self._rotation].reshape(-1, 3, 3).swapaxes(1, 2)

    def turn_to(self, nodes: np.ndarray, R: np.ndarray) -> None:
        """Give nodes these rotations (lanes, 3, 3)."""
        nodes[:, self._rotation] = R.swapaxes(1, 2).reshape(-1, 9)

    def places(self, nodes: np.ndarray) -> np.ndarray:
        """(lanes, 3) m."""
        return nodes[:, self._place]

    def speeds(self, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(lanes,) m/s, and (lanes,) rad/s."""
        return np.linalg.norm(nodes[:, self._moving], axis=1), np.linalg.norm(nodes[:, self._turning], axis=1)

    def goals(self, nodes: np.ndarray) -> np.ndarray:
        """(lanes, 3) where each should be next."""
        return np.broadcast_to(self.goal_w, (len(nodes), 3))

    def observe(self, nodes: np.ndarray) -> np.ndarray:
        R = self.rotations(nodes)
        to_goal = in_body(R, self.goals(nodes) - self.places(nodes))
        moving, turning = nodes[:, self._moving], nodes[:, self._turning]
        return np.concatenate([to_goal, in_body(R, _UP_W), moving, turning], axis=1)

    def upright(self, nodes: np.ndarray) -> np.ndarray:
        """(lanes,) 1 level, -1 on its head."""
        return self.rotations(nodes)[:, 2, 2]


class Hover(_Flying):
    """Come back to a place and stay there. It ends on the back, or 15 m away."""

    def starts(self, rng: np.random.Generator, count: int) -> np.ndarray:
        return self.begun(rng, count, np.zeros(3), 1.0)

    def judge(
        self, before: np.ndarray, nodes: np.ndarray, actions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        far_m = np.linalg.norm(self.places(nodes), axis=1)
        speed, turning = self.speeds(nodes)
        lost = ~((self.upright(nodes) > 0.0) & (far_m < 15.0))
        reward = 1.0 - 0.1 * far_m - 0.05 * speed - 0.05 * turning - 0.01 * np.square(actions).sum(axis=1)
        return np.where(lost, -50.0, reward), lost


class Landing(_Flying):
    """Touch down on a pad below, slowly and upright. It ends at the ground, or 40 m away."""

    goal_w = np.array([0.0, 0.0, _SOLES_M])

    def starts(self, rng: np.random.Generator, count: int) -> np.ndarray:
        return self.begun(rng, count, np.array([0.0, 0.0, 12.0]), 2.0)

    def judge(
        self, before: np.ndarray, nodes: np.ndarray, actions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        was_m, far_m = (np.linalg.norm(self.places(n) - self.goal_w, axis=1) for n in (before, nodes))
        speed, _ = self.speeds(nodes)
        down = self.places(nodes)[:, 2] <= _SOLES_M
        good = down & (speed < 1.5) & (self.upright(nodes) > 0.97) & (far_m < 3.0)
        lost = ~((self.upright(nodes) > 0.0) & (far_m < 40.0)) | (down & ~good)
        reward = was_m - far_m - 0.02 * speed - 0.01 * np.square(actions).sum(axis=1)
        return np.where(good, 50.0, np.where(lost, -50.0, reward)), good | lost


class Canyon(_Flying):
    """Fly through the canyon along a safe way. It ends at the rock, 60 m off the way, or at its end."""

    episode_steps = 2000
    seen = (*_Flying.seen, "clearance_m")
    scatter_m = 1.0
    ahead_m: ClassVar[float] = 25.0

    @cached_property
    def world(self) -> World:
        """Loaded when it is first flown in."""
        return load_world("canyon", seed=7)

    @cached_property
    def _lengths(self) -> np.ndarray:
        """(n,) m along the way."""
        return arc_length(self.world.path)

    def along(self, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(lanes,) m along the way, and off it."""
        path = self.world.path
        apart = np.linalg.norm(self.places(nodes)[:, None] - path[None], axis=2)
        nearest = np.nan_to_num(apart, nan=np.inf).argmin(axis=1)
        return self._lengths[nearest], apart[np.arange(len(nodes)), nearest]

    def goals(self, nodes: np.ndarray) -> np.ndarray:
        at = self.along(nodes)[0] + self.ahead_m
        return np.stack([np.interp(at, self._lengths, column) for column in self.world.path.T], axis=1)

    def clearance(self, nodes: np.ndarray) -> np.ndarray:
        """(lanes,) m of the soles above ground or water."""
        x, y, z = self.places(nodes).T
        return z - _SOLES_M - self.world.surface_m(x, y)

    def starts(self, rng: np.random.Generator, count: int) -> np.ndarray:
        nodes = self.begun(rng, count, self.world.path[0] + 3.0 * _UP_W, 1.0)
        heading = float(self.world.path_heading_rad[0])
        turn = rotation_exp(np.array([0.0, 0.0, heading]))
        self.turn_to(nodes, turn @ self.rotations(nodes))
        return nodes

    def observe(self, nodes: np.ndarray) -> np.ndarray:
        return np.concatenate([super().observe(nodes), self.clearance(nodes)[:, None]], axis=1)

    def judge(
        self, before: np.ndarray, nodes: np.ndarray, actions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        was_m, (is_m, off_m) = self.along(before)[0], self.along(nodes)
        through = is_m >= self._lengths[-1] - self.ahead_m
        safe = (self.clearance(nodes) > 0.0) & (off_m < 60.0) & (self.upright(nodes) > 0.0)
        reward = 0.1 * (is_m - was_m) - 0.01 * np.square(actions).sum(axis=1)
        return np.where(through & safe, 100.0, np.where(safe, reward, -50.0)), through | ~safe


class _OnPlane(LearningTask):
    """Goes to a pose in the plane, and stops there."""

    reach_m: ClassVar[float] = 12.0
    near_m: ClassVar[float] = 0.5
    near_rad: ClassVar[float] = 0.15
    slow_mps: ClassVar[float] = 0.2
    seen: ClassVar[tuple[str, ...]] = (
        "to_goal_x_m", "to_goal_y_m", "cos_to_goal", "sin_to_goal", "omega_radps", "v_x_mps", "v_y_mps",
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self._heading, self._place = self.part("heading_rad"), self.part("x_m", "y_m")
        self._moving = self.part("v_x_mps", "v_y_mps")

    def starts(self, rng: np.random.Generator, count: int) -> np.ndarray:
        nodes = np.repeat(self.vehicle.default_state().node[None], count, axis=0)
        nodes[:, self._heading] = rng.uniform(-0.8, 0.8, (count, 1))
        nodes[:, self._place] = rng.uniform(-self.reach_m, self.reach_m, (count, 2))
        return nodes

    def observe(self, nodes: np.ndarray) -> np.ndarray:
        heading = self.headings(nodes)
        c, s, (x, y) = np.cos(heading), np.sin(heading), -nodes[:, self._place].T
        place = np.stack([c * x + s * y, c * y - s * x, np.cos(heading), -np.sin(heading)], axis=1)
        return np.concatenate([place, nodes[:, self.vehicle.node_layout.velocity]], axis=1)

    def judge(
        self, before: np.ndarray, nodes: np.ndarray, actions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        def cost(n: np.ndarray) -> np.ndarray:
            return np.hypot(*n[:, self._place].T) + 2.0 * np.abs(angle(self.headings(n)))

        far_m, speed = np.hypot(*nodes[:, self._place].T), np.hypot(*nodes[:, self._moving].T)
        there = (
            (far_m < self.near_m)
            & (np.abs(angle(self.headings(nodes))) < self.near_rad)
            & (speed < self.slow_mps)
        )
        lost = ~((far_m < 4.0 * self.reach_m) & self.sound(nodes))
        reward = cost(before) - cost(nodes) - 0.01 - 0.005 * np.square(actions).sum(axis=1)
        return np.where(there, 50.0, np.where(lost, -50.0, reward)), there | lost

    def headings(self, nodes: np.ndarray) -> np.ndarray:
        """(lanes,) rad."""
        return nodes[:, self._heading].ravel()

    def sound(self, nodes: np.ndarray) -> np.ndarray:
        """(lanes,) whether nothing has come to its stop."""
        return np.isfinite(nodes).all(axis=1)


class Docking(_OnPlane):
    """A boat with two thrusters comes to lie still at its berth, in a breeze."""

    step_s = 0.02

    def controls(self) -> tuple[np.ndarray, np.ndarray]:
        low, high = (np.array([getattr(c, end) for c in self.vehicle.controls]) for end in ("low", "high"))
        return 0.5 * (low + high), 0.5 * (high - low)


class Parking(_OnPlane):
    """A car comes to stand in its place; it cannot go sideways."""

    step_s = 0.02
    seen = (*_OnPlane.seen, "tan_steering")
    _MOST_SIGMA: ClassVar[float] = 1.5

    def controls(self) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros(2), np.array([800.0, 1.0])

    def observe(self, nodes: np.ndarray) -> np.ndarray:
        return np.concatenate([super().observe(nodes), nodes[:, self.part("shape_sigma")]], axis=1)

    def sound(self, nodes: np.ndarray) -> np.ndarray:
        return super().sound(nodes) & (
            np.abs(nodes[:, self.part("shape_sigma")]).max(axis=1) < self._MOST_SIGMA
        )


class SwingUp(LearningTask):
    """A spherical pendulum is pushed from hanging to standing; the hand is too weak to lift it at once."""

    seen = ("q_x", "q_y", "q_z", "omega_x_radps", "omega_y_radps", "omega_z_radps")

    def controls(self) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros(2), np.array([12.0, 12.0])

    def starts(self, rng: np.random.Generator, count: int) -> np.ndarray:
        tilt, bearing = rng.uniform(0.0, 0.2, count), rng.uniform(0.0, 2.0 * np.pi, count)
        space = self.vehicle.space
        nodes = np.zeros((count, space.size))
        across = np.sin(tilt)
        direction = (across * np.cos(bearing), across * np.sin(bearing), -np.cos(tilt))
        nodes[:, space.slices["direction"]] = np.stack(direction, axis=1)
        return nodes

    def observe(self, nodes: np.ndarray) -> np.ndarray:
        return nodes.copy()

    def judge(
        self, before: np.ndarray, nodes: np.ndarray, actions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        lost = ~np.isfinite(nodes).all(axis=1)
        at = self.vehicle.space.slices
        turning = np.square(nodes[:, at["omega"]]).sum(axis=1)
        height = nodes[:, at["direction"]][:, 2]
        return np.where(lost, -50.0, height - 0.01 * turning - 0.01 * np.square(actions).sum(axis=1)), lost


TASKS: dict[str, type[LearningTask]] = {
    "Hover": Hover,
    "Canyon": Canyon,
    "Landing": Landing,
    "Docking": Docking,
    "Parking": Parking,
    "SwingUp": SwingUp,
}
