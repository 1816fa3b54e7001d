"""Lanes against the reference: owns it, and tells each lane's deviation."""

from dataclasses import dataclass

import numpy as np

from sim.groups.numeric import rotation_log
from sim.simulation.control_history import ControlHistory
from sim.simulation.footing import Footing
from sim.simulation.kernels import KernelStore
from sim.simulation.lane import Lane
from sim.simulation.placing import in_world
from sim.simulation.reference import Reference, reference_method
from sim.simulation.snapshot import Deviation
from sim.vehicles import Vehicle
from sim.vehicles.forms.observation import Observation


class Measure:
    """Keeps what was measured last, so that a lane that has stopped keeps its last deviation."""

    def __init__(self, kernels: KernelStore, history: ControlHistory) -> None:
        self._kernels, self._history = kernels, history
        self._reference: Reference | None = None
        self._footing: Footing
        self._known: dict[Lane, tuple[tuple[int, float], Deviation | None]] = {}
        self._moments: dict[float, _Exact | None] = {}

    @property
    def on(self) -> bool:
        return self._reference is not None

    def start(self, vehicle: Vehicle, footing: Footing, node: np.ndarray, time_s: float) -> None:
        """A reference from a flat node, on the flown lane's footing. Raises Compiling until its kernel is there."""
        kernel = self._kernels.get(vehicle, reference_method(vehicle))
        self._footing = footing.again()
        self._reference = Reference(vehicle, kernel, self._footing, self._history, node, time_s)
        self._known.clear()
        self._moments.clear()

    def prepare(self, vehicle: Vehicle) -> None:
        """Have the kernel that a restart with this vehicle needs. Raises Compiling until it is there."""
        if self.on:
            self._kernels.get(vehicle, reference_method(vehicle))

    def restart(self, vehicle: Vehicle, footing: Footing, node: np.ndarray, time_s: float) -> None:
        """Another start, where there is a reference at all."""
        if self.on:
            self.start(vehicle, footing, node, time_s)

    def change(self, vehicle: Vehicle, flown: Lane) -> None:
        """Go on with other parameter values. Raises Compiling before anything is changed."""
        if self._reference is None:
            return
        node = self._reference.at(flown.time_s)
        self.start(vehicle, flown.footing, flown.node if node is None else node, flown.time_s)

    def stop(self) -> None:
        """No reference."""
        self._reference = None
        self._known.clear()

    def node(self, time_s: float) -> np.ndarray | None:
        """The reference's flat node at a moment, where it is known."""
        return None if self._reference is None else self._reference.at(time_s)

    def deviation(self, lane: Lane) -> Deviation | None:
        """Of a lane at its own time; None where it has other inputs or nothing can be said."""
        if self._reference is None or (lane.look.ghost and not lane.follows):
            return None
        key = (lane.generation, lane.time_s)
        known = self._known.get(lane)
        if known is not None and (known[0] == key or not lane.running):
            return known[1]
        exact = self._exact(self._reference, lane.time_s)
        deviation = None if exact is None else _between(lane, exact)
        self._known[lane] = (key, deviation)
        return deviation

    def forget(self, lanes: list[Lane]) -> None:
        """Drop what no running lane will be measured against, and the controls that nobody needs."""
        earliest_s = min((lane.time_s for lane in lanes if lane.running), default=0.0)
        self._known = {lane: what for lane, what in self._known.items() if lane in lanes}
        self._moments.clear()
        if self._reference is not None:
            self._reference.forget_before(earliest_s)
            earliest_s = min(earliest_s, self._reference.reached_s)
        self._history.forget_before(earliest_s)

    def _exact(self, reference: Reference, time_s: float) -> "_Exact | None":
        """What all lanes that are at this moment are measured against."""
        if time_s not in self._moments:
            node = reference.at(time_s)
            self._moments[time_s] = None
            if node is not None:
                observation, at = reference.observe(node), self._footing
                poses_w = in_world(reference.vehicle, observation.poses, at.world, at.pivot_w)
                self._moments[time_s] = _Exact(observation, poses_w)
        return self._moments[time_s]


@dataclass(frozen=True, slots=True, eq=False)
class _Exact:
    observation: Observation
    poses_w: np.ndarray
    """(bodies, 4, 4)."""


def _between(lane: Lane, exact: _Exact) -> Deviation:
    here, there = lane.poses_w, exact.poses_w
    seen, wanted = lane.observation, exact.observation
    marker = list(wanted.layout.bodies).index(lane.dynamics.vehicle.marker or wanted.layout.main)
    return Deviation(
        position_m=float(np.linalg.norm((here - there)[marker, :3, 3])),
        rotation_rad=float(np.linalg.norm(rotation_log(there[0, :3, :3].T @ here[0, :3, :3]))),
        energy_J=seen.energy_J - wanted.energy_J,
        momentum=float(np.linalg.norm(seen.momentum_w - wanted.momentum_w)),
    )
