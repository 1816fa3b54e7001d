"""Takes: recorded motion with its inputs, kept in files, replayed to the bit, simulated anew another way."""

from sim.recordings.file import load_take, save_take
from sim.recordings.take import Take

__all__ = ["Take", "load_take", "save_take"]
