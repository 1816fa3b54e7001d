"""A small task and a plan of it made up without a solver."""

import numpy as np

from sim.planner import Cylinder, Goal, Task, Waypoint
from sim.planner.result.record import PlanRecord
from sim.vehicles import vehicle

BOAT = vehicle("boat")


def task(**changes) -> Task:
    """A boat goes ten metres ahead, past a buoy, through a gate."""
    values = {
        "start": BOAT.state(),
        "goal": Goal(BOAT.state(x=10.0, theta=0.5)),
        "duration_s": 8.0,
        "steps": 4,
        "obstacles": (Cylinder((5.0, 2.0, 0.0), 1.0, "buoy"),),
        "waypoints": (Waypoint((4.0, -1.0, 0.0), 0.5, 3.0),),
    }
    return Task(**{**values, **changes})


def record(name: str = "first", **changes) -> PlanRecord:
    """Straight ahead at one speed."""
    nodes = np.zeros((5, BOAT.node_layout.size))
    nodes[:, 1] = np.linspace(0.0, 10.0, 5)
    values = {
        "name": name, "vehicle": BOAT, "integrator": "variational", "step_s": 2.0, "nodes": nodes,
        "controls": np.full((5, 2), 30.0), "status": "solved", "message": "Solved.", "cost": 3.5,
        "costs": {"effort": 3.5}, "history": ((9.0, 1.0), (3.5, 1e-9)), "iterations": 2, "seconds": 0.1,
        "defect": 1e-10, "clearance_m": 0.4, "waypoint_times_s": (3.0,),
    }  # fmt: skip
    return PlanRecord(**{**values, **changes})
