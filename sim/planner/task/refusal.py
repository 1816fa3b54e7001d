"""Why a task cannot be, as data: a sentence for the user, and what of the task it is about."""

from typing import Literal

from sim.planner.task.task import Obstacle, Task, label
from sim.platform.errors import InputError
from sim.platform.values import dataclass

Reason = Literal["inside an obstacle", "too low", "too far", "other"]


@dataclass(frozen=True, slots=True)
class TaskPart:
    """A piece of a task: the name of its handle, and what messages call it."""

    handle: str
    """ "start", "goal", "waypoint 0", "obstacle 1"."""
    words: str

    def __str__(self) -> str:
        return self.words

    def of(self, detail: str) -> "TaskPart":
        """A number of it."""
        return TaskPart(self.handle, f"{self.words}: {detail}")


START, GOAL = TaskPart("start", "start"), TaskPart("goal", "goal")


def obstacle_part(obstacle: Obstacle, index: int) -> TaskPart:
    """By its own name where it has one."""
    return TaskPart(f"obstacle {index}", f"obstacle {label(obstacle, index)}")


def waypoint_part(index: int) -> TaskPart:
    """Waypoints are counted from one in messages."""
    return TaskPart(f"waypoint {index}", f"waypoint {index + 1}")


@dataclass(frozen=True, slots=True)
class Refusal:
    """One reason why a task cannot be."""

    text: str
    """For the user, one line, without the task's name."""
    parts: tuple[str, ...] = ()
    """Handles that it is about, the first one first."""
    reason: Reason = "other"


class TaskRefused(InputError):
    """A task that cannot be."""

    def __init__(self, task: Task, refusal: Refusal) -> None:
        super().__init__(f"{task.name}: {refusal.text}")
        self.refusal = refusal


def refused(task: Task, text: str, *about: TaskPart | str, reason: Reason = "other") -> TaskRefused:
    """To be raised. about: parts of the task; other words have no handle."""
    handles = tuple(part.handle for part in about if isinstance(part, TaskPart))
    return TaskRefused(task, Refusal(text, handles, reason))


def refusal_of(error: InputError) -> Refusal:
    """What an error tells."""
    return error.refusal if isinstance(error, TaskRefused) else Refusal(str(error))
