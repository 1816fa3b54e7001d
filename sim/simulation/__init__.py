"""Lanes of vehicles on one clock: fixed steps in a thread, commands in, snapshots out."""

from sim.simulation.lanes.kernels import KernelStore
from sim.simulation.runs.scene_setup import starting_methods
from sim.simulation.simulation import Simulation

__all__ = ["KernelStore", "Simulation", "starting_methods"]
