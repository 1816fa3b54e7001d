"""A task in many lanes at once: one environment of gymnasium's vector kind, on the batch kernels."""

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from sim.batches.lanes import Lanes
from sim.learning.environment import acts_of, seen_of, spaces_of, task_named


class VehicleVector(VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """Lanes whose episode is over start anew with the next step, whose action they do not get."""

    metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012 (as gymnasium declares it)

    def __init__(
        self,
        num_envs: int = 8,
        task: str = "Hover",
        render_mode: str | None = None,
        max_episode_steps: int | None = None,
    ) -> None:
        """Raises InputError for a task that is none."""
        self.task, self.num_envs, self.render_mode = task_named(task), num_envs, render_mode
        self.single_observation_space, self.single_action_space = spaces_of(self.task)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._most = max_episode_steps or self.task.episode_steps
        self._lanes = Lanes(self.task.vehicle, num_envs, self.task.step_s)
        self._counts = np.zeros(num_envs, int)
        self._over = np.zeros(num_envs, bool)

    @property
    def nodes(self) -> np.ndarray:
        """(num_envs, node size) the whole states, flat."""
        return self._lanes.nodes.copy()

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """All lanes; one seed is for all of them."""
        super().reset(seed=seed if isinstance(seed, int) or seed is None else seed[0])
        self._begin(np.arange(self.num_envs))
        return seen_of(self.task, self._lanes.nodes), {}

    def _begin(self, lanes: np.ndarray) -> None:
        self._lanes.restart(lanes, self.task.starts(self.np_random, len(lanes)))
        self._counts[lanes], self._over[lanes] = 0, False

    def step(
        self, actions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """One action each. Raises InputError for actions that are none."""
        acts = acts_of("actions", actions, self.action_space)
        anew = np.flatnonzero(self._over)
        before = self._lanes.nodes.copy()
        nodes = self._lanes.advance(self.task.inputs(acts), self.task.steps_per_action)
        rewards, ended = self.task.judge(before, nodes, acts)
        self._counts += 1
        cut = ~ended & (self._counts >= self._most)
        self._over = ended | cut
        if len(anew):
            self._begin(anew)
            rewards[anew], ended[anew], cut[anew] = 0.0, False, False
        return seen_of(self.task, self._lanes.nodes), rewards, ended, cut, {}
