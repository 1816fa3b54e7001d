"""A plan under way: when it ends, where it should, and what flew before it."""

from dataclasses import dataclass

import numpy as np

import sim
from sim.commands import FlyPlan
from sim.control import PlannedPilot, track
from sim.planner.task.bodies import planar
from sim.planner.task.poses import positions
from sim.simulation.method import Method
from sim.steppers import Stepper
from sim.vehicles import Vehicle


@dataclass(slots=True)
class PlanFlight:
    """What the stage remembers while a plan is flown."""

    end_s: float
    end_w: np.ndarray
    """(3,) planned place at the end [m]; nan where a coordinate does not count."""
    resume: Method
    """Of the flown lane before."""
    done: bool = False

    def verdict(self, place_w: np.ndarray) -> str:
        """How well it ended."""
        missed = float(np.linalg.norm(np.nan_to_num(place_w - self.end_w)))
        return f"plan flown: {self.end_s:.2f} s, {missed:.2g} m beside its end"


def checked(command: FlyPlan, flown: Vehicle) -> None:
    """InputError where the plan cannot be flown here."""
    for vehicle in (command.vehicle, command.flown or command.vehicle):
        if vehicle.name != flown.name:
            raise sim.InputError(f"the plan is for a {vehicle.name}; the {flown.name} cannot fly it")
    nodes, controls = command.nodes, command.controls
    fits = nodes.ndim == controls.ndim == 2 and len(nodes) == len(controls) > 1
    if not fits or nodes.shape[1] != flown.node_layout.size or controls.shape[1] != len(flown.controls):
        raise sim.InputError(
            f"nodes {nodes.shape} and controls {controls.shape} are no plan of a {flown.name}"
        )
    if not (np.isfinite(nodes).all() and np.isfinite(controls).all()):
        raise sim.InputError("the plan holds numbers that are not finite")


def planned_pilot(command: FlyPlan, kernel: Stepper) -> PlannedPilot:
    """Who flies it. `kernel`: of the vehicle that was planned for, which is all that the pilot knows."""
    if not command.tracked:
        return PlannedPilot(command.controls, command.step_s)
    way = track(command.vehicle, kernel, command.step_s, command.nodes[0], command.controls)
    return PlannedPilot(command.controls, command.step_s, way)


def end_place(vehicle: Vehicle, node: np.ndarray, pivot_w: np.ndarray | None) -> np.ndarray:
    """(3,) m; on a plane the height does not count. pivot_w: where the fixed point is of what has one."""
    place = positions(vehicle, node)[0]
    if planar(vehicle):
        place[2] = np.nan
    return place if pivot_w is None else place + pivot_w
