"""A task as one gymnasium environment."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from sim.batches.lanes import Lanes
from sim.learning.task import SEEN_LIMIT, Task
from sim.learning.tasks import TASKS
from sim.platform.errors import InputError, one_of, quote
from sim.platform.validation import array_of


def task_named(name: str) -> Task:
    """Raises InputError for a name that is none."""
    if name not in TASKS:
        raise InputError(f"unknown task {quote(name)}; allowed: {one_of(TASKS, name)}")
    return TASKS[name]()


def spaces_of(task: Task) -> tuple[spaces.Box, spaces.Box]:
    """(of observations, of actions)."""
    seen = np.full(len(task.seen), SEEN_LIMIT, np.float32)
    acts = np.ones(len(task.vehicle.controls), np.float32)
    return spaces.Box(-seen, seen, dtype=np.float32), spaces.Box(-acts, acts, dtype=np.float32)


def seen_of(task: Task, nodes: np.ndarray) -> np.ndarray:
    """(lanes, k) float32, within the space; zeros for what is no number any more."""
    return np.clip(np.nan_to_num(task.observe(nodes)), -SEEN_LIMIT, SEEN_LIMIT).astype(np.float32)


def acts_of(what: str, given: Any, space: spaces.Space[Any]) -> np.ndarray:
    """Actions as judged and flown: within -1 to 1. Raises InputError that begins with `what` for what is none."""
    return np.clip(array_of(what, given, space.shape or ()), -1.0, 1.0)


class VehicleEnvironment(gymnasium.Env[np.ndarray, np.ndarray]):
    """Equal seeds and actions give equal bits, a whole episode long."""

    metadata = {"render_modes": []}  # noqa: RUF012 (as gymnasium declares it)

    def __init__(self, task: str = "Hover", render_mode: str | None = None) -> None:
        """Raises InputError for a task that is none."""
        self.task = task_named(task)
        self.render_mode = render_mode
        self.observation_space, self.action_space = spaces_of(self.task)
        self._lanes = Lanes(self.task.vehicle, 1, self.task.step_s)

    @property
    def node(self) -> np.ndarray:
        """(node size,) the whole state, flat."""
        return self._lanes.nodes[0].copy()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """At a start of the task's, or at `options["node"]`. Raises InputError for one that is none."""
        super().reset(seed=seed)
        given = (options or {}).get("node")
        size = self.task.vehicle.node_layout.size
        start = (
            self.task.starts(self.np_random, 1)
            if given is None
            else array_of("options['node']", given, (size,))[None]
        )
        self._lanes.restart(np.zeros(1, int), start)
        return seen_of(self.task, start)[0], {}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """One action, held over `task.steps_per_action` steps. Raises InputError for one that is none."""
        acts = acts_of("action", action, self.action_space)[None]
        before = self._lanes.nodes.copy()
        nodes = self._lanes.advance(self.task.inputs(acts), self.task.steps_per_action)
        rewards, ended = self.task.judge(before, nodes, acts)
        return seen_of(self.task, nodes)[0], float(rewards[0]), bool(ended[0]), False, {}
