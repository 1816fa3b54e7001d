"""Many runs of one vehicle at once: other starts, inputs or parameters in each, on all cores."""

from sim.batches.run import batch, batch_bytes
from sim.batches.trajectories import Trajectories

__all__ = ["Trajectories", "batch", "batch_bytes"]
