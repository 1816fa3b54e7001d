"""What wires a window: opening, loading, one session at work, its planner and its takes."""
