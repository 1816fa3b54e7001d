"""Guesses that depend on how a vehicle moves: freely, along its heading, or by wriggling."""

import numpy as np

from sim.planner.guess import free_motion
from sim.planner.task import Task
from sim.planner.transcription import Transcription
from sim.vehicles.base import Vehicle
from sim.vehicles.holonomic import HolonomicVehicle


def guessed_motion(transcription: Transcription, vehicle: Vehicle, task: Task) -> tuple[np.ndarray, np.ndarray]:
    """Nodes (N+1, node size) and planned inputs (N+1, size) to start from."""
    steps, chart = transcription.shape.steps, transcription.model.chart
    nodes = free_motion(vehicle, task, steps)
    if isinstance(vehicle, HolonomicVehicle):
        trim = chart.trim(task.start.node[vehicle.node_layout.pose] * 0 + _level(vehicle))
        return nodes, np.tile(trim, (steps + 1, 1))
    raise NotImplementedError(vehicle.name)


def _level(vehicle: Vehicle) -> np.ndarray:
    return vehicle.group.identity()
