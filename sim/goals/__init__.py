"""What is to be done in a scene, and how well it was: values in its file, judged from snapshots, without a window."""

from sim.goals.goal import Goal, read_goals
from sim.goals.landing import Landing

__all__ = ["Goal", "Landing", "read_goals"]
