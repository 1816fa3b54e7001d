"""Lanes that are advanced bit by bit, each put back to a start of its own when that is wanted."""

import numpy as np

from sim.batches.rollout import Groups
from sim.batches.run import start_kernel
from sim.compiler import compile_kernel
from sim.compiler.lanes import lane_code, scattered
from sim.integrators import Integrator, default_for, integrator
from sim.platform.errors import InputError
from sim.vehicles import Vehicle
from sim.vehicles.forms.base import Structure
from sim.vehicles.forms.form import TREES, Support


class Lanes:
    """Vehicles with equal parameters side by side, under one method. A lane without a solution is nan from then on."""

    def __init__(self, vehicle: Vehicle, count: int, step_s: float, method: Integrator | None = None) -> None:
        """Raises InputError for methods that divide their steps, for what water carries and for trees of joints."""
        if vehicle.support is Support.WATER or vehicle.form in TREES:
            how = (
                "carried by water"
                if vehicle.support is Support.WATER
                else "moved by recursions over its joints"
            )
            raise InputError(
                f"a {vehicle.name} is {how}, which lanes side by side lack; allowed: vehicles that are not"
            )
        self._vehicle, self._h = vehicle, step_s
        self._scheme = method or integrator(default_for(vehicle))
        code = lane_code(Structure.of(vehicle), self._scheme)
        if code is None:
            raise InputError(f"{self._scheme.name} divides its steps; allowed: methods of a fixed step")
        self._code = code
        self._kernel = compile_kernel(vehicle, self._scheme)
        self._y = np.full((count, self._kernel.private_size), np.nan)
        self.nodes = np.full((count, vehicle.node_layout.size), np.nan)
        """(lanes, node size) now."""

    def restart(self, lanes: np.ndarray, nodes: np.ndarray) -> None:
        """Put lanes (indices, k) to nodes (k, node size)."""
        if not len(lanes):
            return
        count = len(lanes)
        u = np.repeat(self._vehicle.neutral_controls[None], count, axis=0)
        p = np.repeat(self._vehicle.parameter_vector[None], count, axis=0)
        starts = start_kernel(Structure.of(self._vehicle), self._scheme)
        self._y[lanes] = starts.rows(nodes, u, p, np.array([self._h]))
        self.nodes[lanes] = nodes

    def advance(self, controls: np.ndarray, steps: int) -> np.ndarray:
        """So many steps under controls (lanes, n_controls), which are held; returns the nodes."""
        count = len(self._y)
        fine = np.isfinite(self._y).all(axis=1)
        before = np.where(fine[:, None], self._y, self._y[int(fine.argmax())])
        p = self._vehicle.parameter_vector
        counts, keeps = np.array([steps]), np.array([False, True])
        groups = Groups.of(before, controls[:, None], p[None], counts, keeps, self._kernel.node_size)
        groups.run(self._code, self._h, 0, len(groups.y))
        nodes, done = groups.rows(count)
        self._y, self.nodes = scattered(groups.y, count), nodes.squeeze(axis=1)
        for lane in np.flatnonzero((done < steps) & fine).tolist():
            y = before[lane].copy()
            did, _, _ = self._kernel.advance(y, controls[lane], np.zeros(self._kernel.dim), p, self._h, steps)
            self._y[lane] = y if did == steps else np.nan
            self.nodes[lane] = self._kernel.node(y, controls[lane], p, self._h) if did == steps else np.nan
        self._y[~fine], self.nodes[~fine] = np.nan, np.nan
        return self.nodes
