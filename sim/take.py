"""The public name of takes: what `sim.recordings` gives a script."""

from sim.recordings import Take, load_take, save_take

__all__ = ["Take", "load_take", "save_take"]
