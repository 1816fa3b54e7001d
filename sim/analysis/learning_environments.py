"""Tasks of learning as environments of gymnasium: one, and many lanes at once on the batch kernels."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from sim.analysis.batch import start_kernel
from sim.analysis.batch_lanes import Groups
from sim.analysis.learning_tasks import SEEN_LIMIT, TASKS, LearningTask
from sim.compiler import compile_kernel
from sim.compiler.kernel_code import lane_code, scattered
from sim.integrators import default_for, integrator
from sim.platform.errors import InputError, array_of, one_of, quote
from sim.vehicles import Vehicle
from sim.vehicles.forms.base import Structure
from sim.vehicles.forms.form import TREES, Support


def task_named(name: str) -> LearningTask:
    """Raises InputError for a name that is none."""
    if name not in TASKS:
        raise InputError(f"unknown task {quote(name)}; allowed: {one_of(TASKS, name)}")
    return TASKS[name]()


def spaces_of(task: LearningTask) -> tuple[spaces.Box, spaces.Box]:
    """(of observations, of actions)."""
    seen = np.full(len(task.seen), SEEN_LIMIT, np.float32)
    acts = np.ones(len(task.vehicle.controls), np.float32)
    return spaces.Box(-seen, seen, dtype=np.float32), spaces.Box(-acts, acts, dtype=np.float32)


def seen_of(task: LearningTask, nodes: np.ndarray) -> np.ndarray:
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


class Lanes:
    """Vehicles with equal parameters side by side, under one method. A lane without a solution is nan from then on."""

    def __init__(self, vehicle: Vehicle, count: int, step_s: float) -> None:
        """Raises InputError for what water carries and for trees of joints."""
        if vehicle.support is Support.WATER or vehicle.form in TREES:
            how = (
                "carried by water"
                if vehicle.support is Support.WATER
                else "moved by recursions over its joints"
            )
            raise InputError(
                f"a {vehicle.name} is {how}, which lanes side by side lack; allowed: vehicles that are not"
            )
        self._vehicle, self._h = vehicle, step_s
        self._scheme = integrator(default_for(vehicle))
        code = lane_code(Structure.of(vehicle), self._scheme)
        assert code is not None, "the usual methods do not divide their steps"
        self._code = code
        self._kernel = compile_kernel(vehicle, self._scheme)
        self._y = np.full((count, self._kernel.private_size), np.nan)
        self.nodes = np.full((count, vehicle.node_layout.size), np.nan)
        """(lanes, node size) now."""

    def restart(self, lanes: np.ndarray, nodes: np.ndarray) -> None:
        """Put lanes (indices, k) to nodes (k, node size)."""
        if not len(lanes):
            return
        count = len(lanes)
        u = np.repeat(self._vehicle.neutral_controls[None], count, axis=0)
        p = np.repeat(self._vehicle.parameter_vector[None], count, axis=0)
        starts = start_kernel(Structure.of(self._vehicle), self._scheme)
        self._y[lanes] = starts.rows(nodes, u, p, np.array([self._h]))
        self.nodes[lanes] = nodes

    def advance(self, controls: np.ndarray, steps: int) -> np.ndarray:
        """So many steps under controls (lanes, n_controls), which are held; returns the nodes."""
        count = len(self._y)
        fine = np.isfinite(self._y).all(axis=1)
        before = np.where(fine[:, None], self._y, self._y[int(fine.argmax())])
        p = self._vehicle.parameter_vector
        counts, keeps = np.array([steps]), np.array([False, True])
        groups = Groups.of(before, controls[:, None], p[None], counts, keeps, self._kernel.node_size)
        groups.run(self._code, self._h, 0, len(groups.y))
        nodes, done = groups.rows(count)
        self._y, self.nodes = scattered(groups.y, count), nodes.squeeze(axis=1)
        for lane in np.flatnonzero((done < steps) & fine).tolist():
            y = before[lane].copy()
            did, _, _ = self._kernel.advance(y, controls[lane], np.zeros(self._kernel.dim), p, self._h, steps)
            self._y[lane] = y if did == steps else np.nan
            self.nodes[lane] = self._kernel.node(y, controls[lane], p, self._h) if did == steps else np.nan
        self._y[~fine], self.nodes[~fine] = np.nan, np.nan
        return self.nodes
