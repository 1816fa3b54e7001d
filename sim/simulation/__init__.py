"""Lanes of vehicles on one clock: fixed steps in a thread, commands in, snapshots out."""

from sim.simulation.kernels import KernelStore, starting_methods
from sim.simulation.simulation import Simulation
from sim.simulation.stage import Progress

__all__ = ["KernelStore", "Progress", "Simulation", "starting_methods"]
