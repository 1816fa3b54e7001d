"""Snapshots and metadata made up for panels: no simulation, no vehicles compiled."""

import numpy as np

from sim.simulation.lanes.snapshot import LaneSnapshot, LaneStatus, Snapshot
from sim.vehicle_config import config_named
from sim.vehicles.forms.parameters import Parameter
from ui.settings.catalogue import Catalogue, IntegratorEntry, SceneEntry, VehicleEntry

HELICOPTER = (
    Parameter("mass", "kg", 5.0, 0.01, 1e5, "Mass."),
    Parameter("inertia", "kg m^2", (0.15, 0.30, 0.35), 1e-6, 1e7, "Principal moments of inertia."),
    Parameter("rotor_offset", "m", 0.3, 0.0, 20.0, "Height of the rotor above the centre of mass."),
    Parameter("tail_offset", "m", 1.0, 0.0, 50.0, "Distance of the tail rotor behind the centre of mass."),
    Parameter("rotor_momentum", "kg m^2/s", 0.0, -1e5, 1e5, "Main rotor's angular momentum.", optional=True),
    Parameter("drag", "kg/m", 0.0, 0.0, 1e3, "Quadratic drag.", optional=True),
    Parameter("gravity", "m/s^2", 9.81, 0.0, 100.0, "Gravity."),
)


def catalogue() -> Catalogue:
    """Two vehicles, three methods, two scenes."""
    vehicles = {
        "helicopter": VehicleEntry("helicopter", "Lift that tilts with the swash plate.", HELICOPTER),
        "rigid-body": VehicleEntry("rigid-body", "A free rigid body.", HELICOPTER[:2]),
    }
    methods = {
        name: IntegratorEntry(name, family, order, tau, f"About {name}.", "A source.", refusals)
        for name, family, order, tau, refusals in (
            ("variational", "variational", 2, "cay", {}),
            ("rk4", "Runge-Kutta", 4, "", {}),
            ("picky", "other", 1, "", {"helicopter": "it has controls"}),
        )
    }
    scenes = {
        "canyon": SceneEntry("canyon", "The canyon", "Fly it down the river."),
        "plain": SceneEntry("plain", "The plain", "Flat."),
    }
    return Catalogue(vehicles, methods, scenes)


def pose(roll: float = 0.0, pitch: float = 0.0, yaw: float = 0.0, x: tuple = (0.0, 0.0, 0.0)) -> np.ndarray:
    """T_wb from yaw about z, then pitch about y, then roll about x."""
    cr, sr, cp, sp, cy, sy = (f(a) for a in (roll, pitch, yaw) for f in (np.cos, np.sin))
    yawed = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1.0]])
    pitched = np.array([[cp, 0, sp], [0, 1.0, 0], [-sp, 0, cp]])
    rolled = np.array([[1.0, 0, 0], [0, cr, -sr], [0, sr, cr]])
    T_wb = np.eye(4)
    T_wb[:3, :3], T_wb[:3, 3] = yawed @ pitched @ rolled, x
    return T_wb


POSES = {"T_wb_previous": pose(), "T_wb": pose(0.2, 0.1, 0.3, (10.0, 2.0, 30.0))}
"""Of its one body."""


def lane(name: str = "flown", **changes) -> LaneSnapshot:
    """A helicopter in forward flight."""
    values = {
        "name": name, "vehicle": "helicopter", "integrator": "variational", "step_s": 0.01,
        "tint": (1.0, 1.0, 1.0), "ghost": name != "flown", "generation": 0,
        "time_previous_s": 1.0, "time_current_s": 1.01,
        "twist_b": np.array([0.1, 0.02, 0.2, 21.0, 0.3, -1.0]), "shape": np.zeros(0),
        "controls": np.array([60.0, 0.0, 0.0, 0.0]), "control_wrench_b": np.zeros(6),
        "environment_wrench_b": np.zeros(6), "energy_J": 1200.0, "energy_start_J": 1000.0,
        "momentum_w": np.full(6, 2.0), "momentum_start_w": np.zeros(6),
        "newton_iterations": 1.5, "step_cost_s": 1.2e-7, "height_above_ground_m": 27.4,
        "on_ground": False, "status": LaneStatus.RUNNING, "status_text": "",
    }  # fmt: skip
    before, now = (changes.pop(key, default) for key, default in POSES.items())
    bodies = {"bodies_previous": {"body": before}, "bodies": {"body": now}}
    values = {**bodies, **values, **changes}
    return LaneSnapshot(**{"config": config_named(values["vehicle"]), **values})


def snapshot(*lanes: LaneSnapshot, **changes) -> Snapshot:
    """A running scene."""
    values = {
        "scene": "canyon", "lanes": lanes or (lane(),), "clock_s": 1.01, "wall_s": 0.0, "paused": False,
        "speed": 1.0, "real_time_factor": 1.0, "flight_mode": "attitude",
        "flight_modes": ("raw", "rate", "attitude", "hold"), "demo": False, "message": "",
    }  # fmt: skip
    return Snapshot(**{**values, **changes})
