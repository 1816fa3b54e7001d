"""The task of every one of the plans that are made while one flies, out of the task of a scene."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sim.groups import LieGroup
from sim.planner.task.task import Demand, Goal, Task
from sim.platform.toml_table import TomlTable
from sim.platform.values import dataclass
from sim.vehicles import Vehicle

HORIZON_S = (0.5, 60.0)
WEIGHT = (1e-6, 1e6)
RATE_HZ = 40.0
"""Plans a second."""


@dataclass(frozen=True, slots=True)
class MpcSettings:
    """How far each plan looks ahead, and how much it wants to be at the goal."""

    horizon_s: float = 6.4
    goal_weight: float = 1.0
    """Of the square of what is missed at the plan's end [1/m^2]."""
    starts_at_w: tuple[float, ...] = ()
    """First place of the goal [m]: such plans fly as soon as the scene is opened; empty: on demand."""


def read_mpc_settings(table: TomlTable, vehicle: Vehicle) -> MpcSettings:
    """Of an unread `[plan.pursuit]` table; InputError, one line with file, key and what is allowed."""
    count = 2 if vehicle.group.turns == 1 else 3
    told = MpcSettings(
        horizon_s=table.number("horizon_s", 6.4, low=HORIZON_S[0], high=HORIZON_S[1]),
        goal_weight=table.number("goal_weight", 1.0, low=WEIGHT[0], high=WEIGHT[1]),
        starts_at_w=tuple(table.numbers("starts_at_m", (), low=-1e5, high=1e5, count=count)),
    )
    table.finish()
    return told


def with_goal_at(group: LieGroup, task: Task, place_w: Sequence[float] | np.ndarray) -> Task:
    """The task with its goal at another place [m]; on a plane the first two numbers count."""
    node, where = task.goal.state.node.copy(), group.position
    node[where] = place_w[: where.stop - where.start]
    return replace(task, goal=replace(task.goal, state=replace(task.goal.state, node=node)))


def mpc_task(vehicle: Vehicle, task: Task, how: MpcSettings) -> Task:
    """Towards the task's goal, as far as one gets within the horizon, and at rest there.

    A place that draws, but need not be reached, can be asked for from everywhere; plans that end at rest can be left
    to themselves. A task whose goal is to be `near` can be asked for as it is, all of it that is left.
    """
    if task.free_duration is not None and task.goal.position == "near":
        return task
    rotation: Demand = "free" if vehicle.group.turns == 1 else "upright"
    node = task.goal.state.node.copy()
    node[vehicle.node_layout.velocity] = 0.0
    state = replace(task.goal.state, node=node)
    return replace(
        task,
        goal=Goal(state, position="free", rotation=rotation, velocity="fixed"),
        duration_s=how.horizon_s,
        free_duration=None,
        waypoints=(),
        weights=replace(task.weights, terminal=how.goal_weight, time=0.0),
    )
