"""What a vehicle stands on: its contact points above a world's ground, and how hard they touched."""

from dataclasses import replace

import numpy as np
from numba import njit

from sim.simulation.space import planar
from sim.simulation.verdict import Impact
from sim.vehicles import Vehicle
from sim.vehicles.contact_points import contact_points, soles_m
from sim.world import World
from sim.world.contact import Ground
from sim.world.contact_rows import world_point
from sim.world.surface import surface_height


class Footing:
    """Ground contact of one lane. Planar vehicles are on the ground by definition and never touch it."""

    def __init__(self, vehicle: Vehicle, world: World) -> None:
        self.world = world
        self.soles_m = soles_m(vehicle.name)
        points = contact_points(vehicle.name)
        self.ground: Ground | None = None if planar(vehicle) else Ground.of(world.terrain, points)

    def probe(self) -> Ground | None:
        """The same ground, to look a step ahead without changing what the contact remembers."""
        return replace(self.ground, report=self.ground.report.copy()) if self.ground else None

    def clearance_m(self, node: np.ndarray) -> float:
        """Height of the lowest contact point above the ground."""
        ground = self.ground
        if ground is None:
            return 0.0
        return float(_clearance(node, ground.heights, ground.frame, ground.points))

    @property
    def touching(self) -> bool:
        """Whether anything carried load in the last step."""
        return self.ground is None or self.ground.contacts > 0

    def lifted(self, node: np.ndarray) -> np.ndarray:
        """The node, raised out of the ground where it was in it."""
        if self.ground is not None:
            node[11] -= min(self.clearance_m(node), 0.0)
        return node

    def take_impact(self) -> Impact:
        """The worst touch since the last call."""
        if self.ground is None:
            return Impact(0.0, 0.0)
        impact = Impact(self.ground.impact_mps, self.ground.crash_mps)
        self.ground.report[0] = self.ground.report[3] = 0.0
        return impact

    def forget(self) -> None:
        """Clear what the contact remembers: the vehicle was put somewhere else."""
        if self.ground is not None:
            self.ground.forget()


@njit("float64(float64[::1], float32[:, ::1], float64[::1], float64[:, ::1])", nogil=True, cache=True)
def _clearance(node: np.ndarray, heights: np.ndarray, frame: np.ndarray, points: np.ndarray) -> float:
    if not np.isfinite(node[:12]).all():
        return np.inf
    lowest = np.inf
    for k in range(points.shape[0]):
        x, y, z = world_point(node, points[k])
        lowest = min(lowest, z - surface_height(heights, frame, x, y))
    return lowest
