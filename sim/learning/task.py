"""What a task is: a vehicle, where it starts, what is seen of it, and what is good. A row of every array is a lane."""

import tomllib
from abc import ABC, abstractmethod
from functools import cache
from typing import Any, ClassVar

import numpy as np

from sim.vehicle_config import ASSETS
from sim.vehicles import Vehicle, vehicle

SEEN_LIMIT = 1e4
"""Observations are kept within this, so that their space is bounded."""


class Task(ABC):
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
