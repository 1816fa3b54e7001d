"""Tasks for reinforcement learning, as gymnasium environments.

`import sim.learning` enters them: `gymnasium.make("holonomy/Hover-v0")`, and `gymnasium.make_vec` with as many lanes as
there is memory for. Needs gymnasium: pip install "holonomy[gym]".
"""

from contextlib import suppress

from sim.analysis.learning_tasks import TASKS, LearningTask
from sim.platform.errors import InputError

__all__ = ["TASKS", "LearningTask", "Task", "enter"]

Task = LearningTask
"""As it was called before planning had tasks."""


def enter() -> None:
    """Tell gymnasium of the environments; again does nothing more. Raises InputError without gymnasium."""
    try:
        import gymnasium
    except ImportError:
        raise InputError('environments need gymnasium: pip install "holonomy[gym]"') from None
    for name, kind in TASKS.items():
        place = f"holonomy/{name}-v0"
        if place not in gymnasium.registry:
            gymnasium.register(
                id=place,
                entry_point="sim.analysis.learning_environments:VehicleEnvironment",
                vector_entry_point="sim.analysis.learning_environments:VehicleVector",
                max_episode_steps=kind.episode_steps,
                kwargs={"task": name},
            )


with suppress(InputError):  # without gymnasium there is nothing to enter them in
    enter()
