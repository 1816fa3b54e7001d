"""The same question at many points: on all cores of this computer, or on a cluster."""

from sim.sweeps.grid import Grid
from sim.sweeps.sweep import sweep
from sim.sweeps.table import Table

__all__ = ["Grid", "Table", "sweep"]
