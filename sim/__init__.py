"""Mechanics of vehicles on Lie groups: structure-preserving integrators, compiled from symbolic declarations."""

import importlib
from typing import TYPE_CHECKING, Any

from sim.integrators import Integrator, integrators
from sim.platform.errors import InputError
from sim.vehicles import State, Vehicle, vehicle, vehicles

if TYPE_CHECKING:
    from sim.analysis.batch import Trajectories, batch, batch_bytes
    from sim.analysis.controller_comparison import Case, Comparison, cases, compare
    from sim.analysis.gradient import Gradient, Rollout, rollout_gradient
    from sim.analysis.identify import identify
    from sim.analysis.measured_flight import Recording
    from sim.analysis.shooting import Identified
    from sim.analysis.sweep import sweep
    from sim.controllers import Controller, Gain
    from sim.fmu.export import export_fmu
    from sim.linear.linearise import Linearisation, Mode, linearise
    from sim.linear.root_locus import RootLocus, root_locus, steady
    from sim.live.client import connect
    from sim.multibody.declaration import Gear, Loop, rod
    from sim.multibody.robots.reading import read_robot
    from sim.multibody.robots.robot import Robot
    from sim.multibody.tree import Body, Joint, Spring, Strand, Tendon, Tree, Wrap, tree
    from sim.planner.api import plan
    from sim.planner.service.receding import receding_horizon
    from sim.steppers.trajectory import Trajectory, simulate

__all__ = [
    "Body",
    "Case",
    "Comparison",
    "Controller",
    "Gain",
    "Gear",
    "Gradient",
    "Identified",
    "InputError",
    "Integrator",
    "Joint",
    "Linearisation",
    "Loop",
    "Mode",
    "Recording",
    "Robot",
    "Rollout",
    "RootLocus",
    "Spring",
    "State",
    "Strand",
    "Tendon",
    "Trajectories",
    "Trajectory",
    "Tree",
    "Vehicle",
    "Wrap",
    "batch",
    "batch_bytes",
    "cases",
    "compare",
    "connect",
    "export_fmu",
    "identify",
    "integrators",
    "linearise",
    "plan",
    "read_robot",
    "rod",
    "receding_horizon",
    "rollout_gradient",
    "root_locus",
    "simulate",
    "steady",
    "sweep",
    "tree",
    "vehicle",
    "vehicles",
]


_LATE = {
    **dict.fromkeys(("Identified", "identify"), "sim.analysis.identify"),
    "Recording": "sim.analysis.measured_flight",
    **dict.fromkeys(("Gradient", "Rollout", "rollout_gradient"), "sim.analysis.gradient"),
    **dict.fromkeys(("Trajectories", "batch", "batch_bytes"), "sim.analysis.batch"),
    **dict.fromkeys(("Controller", "Gain"), "sim.controllers"),
    **dict.fromkeys(("Case", "Comparison", "cases", "compare"), "sim.analysis.controller_comparison"),
    **dict.fromkeys(
        ("Linearisation", "Mode", "RootLocus", "linearise", "root_locus", "steady"), "sim.linear"
    ),
    "connect": "sim.live.client",
    "export_fmu": "sim.fmu.export",
    "plan": "sim.planner.api",
    "read_robot": "sim.multibody.robots.reading",
    "rod": "sim.multibody.declaration",
    "receding_horizon": "sim.planner.service.receding",
    "Robot": "sim.multibody.robots.robot",
    "simulate": "sim.steppers.trajectory",
    "show": "export.notebook",
    "sweep": "sim.analysis.sweep",
    "Trajectory": "sim.steppers.trajectory",
    **dict.fromkeys(("Gear", "Loop"), "sim.multibody.declaration"),
    **dict.fromkeys(
        ("Body", "Joint", "Strand", "Spring", "Tendon", "Tree", "Wrap", "tree"), "sim.multibody.tree"
    ),
}
"""The compiler and the planner take half a second each to import: only those who use them wait for that."""


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_LATE[name]), name)
