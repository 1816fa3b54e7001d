"""What a batch gives: nodes of all lanes at the moments that were kept."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from sim.integrators import Integrator
from sim.steppers.choice import stepper_of
from sim.vehicles import State, Vehicle
from sim.vehicles.forms.form import TREES
from sim.vehicles.forms.observation import Observed, observed_by_symbols


@dataclass(frozen=True, eq=False)
class Trajectories:
    """Lanes side by side; after a lane's end its nodes are nan."""

    vehicle: Vehicle
    """With the parameters that all lanes share."""
    integrator: Integrator
    step_s: float
    time: np.ndarray
    """(k,) s: the moments that were kept, the start and the end among them."""
    nodes: np.ndarray = field(repr=False)
    """(lanes, k, node size), flat as `vehicle.node_layout` says."""
    controls: np.ndarray = field(repr=False)
    """(1 or lanes, 1 or steps, n_controls), held over each step."""
    parameters: np.ndarray = field(repr=False)
    """(1 or lanes, parameter count), flat in the order of `vehicle.parameters`."""
    steps_done: np.ndarray = field(repr=False)
    """(lanes,) int64: all of them, or as many as have a solution that is finite."""
    steps: int = 0
    """That were asked for."""

    def __len__(self) -> int:
        """How many lanes there are."""
        return len(self.nodes)

    @property
    def diverged_at(self) -> np.ndarray:
        """(lanes,) s up to which there is a solution; nan where that is to the end."""
        return np.where(self.steps_done < self.steps, self.steps_done * self.step_s, np.nan)

    @property
    def pose(self) -> np.ndarray:
        """(lanes, k, 4, 4) homogeneous matrices, or as `sim.Trajectory.pose` has them."""
        return self.vehicle.poses(self.nodes)

    @property
    def velocity(self) -> np.ndarray:
        """(lanes, k, dim) body twist."""
        return self.nodes[..., self.vehicle.node_layout.velocity]

    @property
    def shape(self) -> np.ndarray:
        """(lanes, k, n_shape)."""
        return self.nodes[..., self.vehicle.node_layout.shape]

    def lane_vehicle(self, lane: int) -> Vehicle:
        """The vehicle with the parameters of a lane."""
        return vehicle_of_row(self.vehicle, self.parameters[lane if len(self.parameters) > 1 else 0])

    def final(self, lane: int) -> State:
        """State of a lane at the end, as `initial=` of `sim.simulate` takes it."""
        return self.vehicle.state_at_node(self.nodes[lane, -1])

    def observed(self, lane: int) -> Observed:
        """Energy, momentum, bodies and observables of a lane at the moments that were kept."""
        controls = self.controls[lane if len(self.controls) > 1 else 0]
        at = np.minimum(np.round(self.time / self.step_s).astype(int), max(self.steps - 1, 0))
        rows = controls[at if len(controls) > 1 else np.zeros(len(at), int)]
        vehicle, nodes = self.lane_vehicle(lane), self.nodes[lane]
        if vehicle.form in TREES:  # told by recursions: there are no symbols
            return stepper_of(vehicle, self.integrator).observe_all(nodes, rows, vehicle.parameter_vector)
        return observed_by_symbols(vehicle, nodes, rows, self.step_s)

    def table(self, lanes: Mapping[str, np.ndarray] | None = None) -> dict[str, np.ndarray]:
        """Name -> (lanes, k) of every entry of the nodes, for tables; `lanes`: (lanes,) columns to stand beside."""
        columns = {name: self.nodes[..., k] for k, name in enumerate(self.vehicle.space.columns)}
        beside = {
            name: np.broadcast_to(np.asarray(v)[:, None], self.nodes.shape[:2])
            for name, v in (lanes or {}).items()
        }
        return {**beside, **columns}


def vehicle_of_row(vehicle: Vehicle, row: np.ndarray) -> Vehicle:
    """With the parameters of a flat row."""
    values: dict[str, object] = {}
    at = 0
    for q in vehicle.parameters:
        part = row[at : at + q.size]
        values[q.name] = float(part[0]) if isinstance(q.default, int | float) else tuple(part.tolist())
        at += q.size
    return vehicle.with_parameters(**values)
