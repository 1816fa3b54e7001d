"""First guesses, by how a vehicle moves: freely, along its heading, by burns or by wriggling."""

from functools import lru_cache

import casadi as ca
import numpy as np

from sim.planner.guess.burns import burnt, thrust_axis
from sim.planner.guess.driven import driven
from sim.planner.guess.free import free_motion
from sim.planner.guess.gait import wriggled
from sim.planner.guess.variables import variables
from sim.planner.task.task import Task
from sim.planner.transcription.inputs import input_map_of
from sim.planner.transcription.transcription import Transcription
from sim.vehicles.base import Vehicle
from sim.vehicles.holonomic import HolonomicVehicle
from sim.vehicles.nonholonomic import NonholonomicVehicle


def guess(transcription: Transcription, vehicle: Vehicle, task: Task) -> np.ndarray:
    """Scaled variables to start the optimiser from."""
    nodes, inputs = guessed_motion(transcription, vehicle, task)
    return variables(transcription, vehicle, task, nodes, inputs)


def guessed_motion(
    transcription: Transcription, vehicle: Vehicle, task: Task
) -> tuple[np.ndarray, np.ndarray]:
    """Nodes (N+1, node size) and planned inputs (N+1, size) to start from."""
    steps = transcription.shape.steps
    if isinstance(vehicle, HolonomicVehicle):
        axis_b = thrust_axis(vehicle, task)
        if axis_b is not None:
            return burnt(vehicle, task, steps, axis_b)
        trim = _hovering(vehicle)
        return free_motion(vehicle, task, steps), np.tile(trim, (steps + 1, 1))
    assert isinstance(vehicle, NonholonomicVehicle)
    if vehicle.commanded or _rolls(vehicle, task):
        return driven(vehicle, task, steps)
    return wriggled(vehicle, task, steps)


def _rolls(vehicle: NonholonomicVehicle, task: Task) -> bool:
    """Whether a motion of its shape alone takes it ahead as it starts."""
    q = vehicle.symbols(ca.SX(vehicle.parameter_vector))
    connection = np.array(ca.evalf(ca.densify(vehicle.connection(ca.SX(task.start.shape), q))))
    return bool(np.abs(connection[1]).max(initial=0.0) > 1e-6)


@lru_cache(maxsize=32)
def _hovering(vehicle: Vehicle) -> np.ndarray:
    """(planned inputs,) that hold it still, upright."""
    return input_map_of(vehicle).trim(vehicle.group.identity())
