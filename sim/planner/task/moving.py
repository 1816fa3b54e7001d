"""Which of a task's motions moves what, and places seen from obstacles that move."""

import numpy as np

from sim.planner.task.task import Task

GOAL_MOVES = "goal"
"""What a motion calls the goal; obstacles are called by their names."""


def motion_of(task: Task, name: str) -> int | None:
    """Which of a task's motions moves the goal or the obstacles of a name; None: none."""
    return next((k for k, motion in enumerate(task.motions) if name and name in motion.moves), None)


def is_moving(task: Task, obstacle_index: int) -> bool:
    """Whether an obstacle moves by itself."""
    return motion_of(task, task.obstacles[obstacle_index].name) is not None


def brought_back(task: Task, obstacle_index: int, places_w: np.ndarray, time_s: np.ndarray) -> np.ndarray:
    """(..., n, 3) places at moments (n,), seen from an obstacle that moves: where they would be beside it as the task
    has it."""
    k = motion_of(task, task.obstacles[obstacle_index].name)
    if k is None:
        return places_w
    T = task.motions[k].poses(time_s)
    return np.asarray(np.einsum("nji,...nj->...ni", T[:, :3, :3], places_w - T[:, :3, 3]))
