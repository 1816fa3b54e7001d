"""Who plans: the planner with the problems that it has built, its process, and the session that a window shows."""
