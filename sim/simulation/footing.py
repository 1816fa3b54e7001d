"""What a vehicle stands on: its contact points above a world's ground, how hard they touched, or its pivot."""

import math
from dataclasses import dataclass
from functools import lru_cache

import casadi as ca
import numpy as np

from sim.compiled import compiled
from sim.contact.ground import Ground
from sim.contact.height_field import surface_height
from sim.contact.rows import world_point
from sim.contact.struck_ground import StruckGround
from sim.contact.trees import TreeGround
from sim.environment.surroundings import Felt, carry_on, surroundings
from sim.simulation.placing import stand_at
from sim.vehicle_config import config_of
from sim.vehicles import Vehicle
from sim.vehicles.forms.base import Structure
from sim.vehicles.forms.form import Support
from sim.vehicles.forms.homogeneous import Leader, has_leader
from sim.vehicles.forms.slung_load import SlungLoad
from sim.water.ocean import SeaState
from sim.water.water import Water
from sim.world import World


@dataclass(frozen=True, slots=True)
class Impact:
    """The worst touch since the last look [m/s]; zero without one."""

    skids_mps: float
    hull_mps: float


class Footing:
    """Ground contact of one lane. Planar vehicles are on the ground by definition and never touch it.

    Nor do those that a stand holds at a fixed point.
    """

    def __init__(self, vehicle: Vehicle, world: World) -> None:
        self.world = world
        contact = config_of(vehicle).contact
        self.soles_m = (
            max(contact.soles_m, vehicle.hangs_m) if isinstance(vehicle, SlungLoad) else contact.soles_m
        )
        held = vehicle.support is Support.STAND
        self.felt: Felt = surroundings(vehicle, world)
        """What a kernel has within: the ground that it may touch, or the water that carries it."""
        self.pivot_w: np.ndarray | None = stand_at(world, np.zeros(3), vehicle.stand_m) if held else None
        """(3,) the fixed point at which a stand holds it; None for what none holds."""
        self._vehicle = vehicle

    def again(self) -> "Footing":
        """The same place, for another lane: nothing has been touched yet."""
        other = Footing(self._vehicle, self.world)
        other.pivot_w = self.pivot_w
        return other

    def put_at(self, x_w: np.ndarray) -> None:
        """The vehicle is put at `x_w` (3,): what a stand holds gets it there."""
        if self.pivot_w is not None:
            self.pivot_w = stand_at(self.world, x_w, self._vehicle.stand_m)

    def probe(self) -> Felt:
        """The same, to look a step ahead without changing what is remembered."""
        return self.felt.probe() if self.felt else None

    def carry(self, vehicle: Vehicle, time_s: float) -> None:
        """From now on, at that time, the same vehicle with other parameters."""
        carry_on(self.felt, vehicle, time_s)

    def clearance_m(self, node: np.ndarray) -> float:
        """Height of the lowest contact point above the ground, of the fixed point, or over the water's mean level."""
        felt = self.felt
        if felt is None:
            return self._above(node)
        if isinstance(felt, TreeGround | StruckGround):
            return felt.clearance_at(node)
        if isinstance(felt, Water):
            return float(node[self._vehicle.group.position][2]) - felt.level_m
        return self._over(felt, node)

    def _over(self, ground: Ground, node: np.ndarray) -> float:
        """Height of the lowest contact point above the ground."""
        pose = node[self._vehicle.node_layout.pose]
        return float(_clearance(pose, ground.heights, ground.frame, ground.points))

    def load_clearance_m(self, node: np.ndarray) -> float:
        """Height of what hangs from it above the ground; inf where nothing does."""
        return self.felt.load_clearance_at(node) if isinstance(self.felt, StruckGround) else math.inf

    def leader_clearance_m(self, node: np.ndarray) -> float:
        """Height above the ground of the target that the vehicle follows; inf where it follows none."""
        if not has_leader(self._vehicle):
            return math.inf
        x, y, z = node[Leader.of(self._vehicle).place].tolist()
        return z - float(self.world.terrain.height(x, y))

    def struck(self, node: np.ndarray, dt_s: float) -> np.ndarray | None:
        """(impulse_size,) impulse of ground that acts at moments `dt_s` apart, where there is one."""
        return self.felt.impulse(node, dt_s) if isinstance(self.felt, StruckGround) else None

    def _above(self, node: np.ndarray) -> float:
        """Of what feels no ground: none on it by definition, that of its stand, or of its lowest body."""
        vehicle = self._vehicle
        if vehicle.support is not Support.NOTHING:
            return 0.0 if self.pivot_w is None else vehicle.stand_m
        places_w = np.array(_places(Structure.of(vehicle))(node, vehicle.parameter_vector)).reshape(
            3, -1, order="F"
        )
        return float(np.min(places_w[2] - self.world.terrain.height(places_w[0], places_w[1])))

    @property
    def sea(self) -> SeaState | None:
        """The water that carries it; None on land and on still water."""
        return self.felt.state if isinstance(self.felt, Water) else None

    @property
    def touching(self) -> bool:
        """Whether anything carried load in the last step."""
        if self.felt is None:
            return self._vehicle.support is not Support.NOTHING
        return self.felt.contacts > 0

    def lifted(self, node: np.ndarray) -> np.ndarray:
        """The node, raised out of the ground where it was in it."""
        felt = self.felt
        if isinstance(felt, Water):
            above_m = math.inf if felt.ground is None else self._over(felt.ground, node)
            self._vehicle.raised(node, -min(above_m, 0.0))
        elif felt is not None:
            self._vehicle.raised(node, -min(self.clearance_m(node), self.load_clearance_m(node), 0.0))
        return node

    @property
    def aground(self) -> bool:
        """Whether what floats touches bed or shore."""
        return isinstance(self.felt, Water) and self.felt.aground

    def under_water(self, node: np.ndarray) -> bool:
        """Whether a point that bears no touch is below the surface of river or lake, which carries nothing."""
        level_m = self.world.water_level_m
        if not isinstance(self.felt, Ground) or level_m is None:
            return False
        frail = self.felt.points[self.felt.points[:, 3] > 0.0]
        pose = node[self._vehicle.node_layout.pose]
        return any(world_point(pose, point)[2] < level_m for point in frail)

    def take_impact(self) -> Impact:
        """The worst touch since the last call."""
        if self.felt is None:
            return Impact(0.0, 0.0)
        impact = Impact(self.felt.impact_mps, self.felt.crash_mps)
        self.felt.report[0] = self.felt.report[3] = 0.0
        return impact

    def recall(self, memory: np.ndarray) -> None:
        """Remember what was remembered at another moment of such a footing; nothing where no ground was felt."""
        if isinstance(self.felt, Water) and memory.size:
            self.felt.recall(memory)
        elif self.felt is not None:
            self.felt.report[:] = memory if memory.size else 0.0

    def forget(self) -> None:
        """Clear what the contact remembers: the vehicle was put somewhere else."""
        if self.felt is not None:
            self.felt.forget()


@lru_cache(maxsize=32)
def _places(structure: Structure) -> ca.Function:
    """(node, parameters) -> places (3, bodies) [m] of all bodies in the world."""
    vehicle = structure.vehicle
    node, p = ca.SX.sym("node", vehicle.node_layout.size), ca.SX.sym("p", vehicle.parameter_count)
    bodies = vehicle.bodies(node, vehicle.symbols(p))
    return ca.Function("places", [node, p], [ca.densify(ca.horzcat(*(T[:3, 3] for T in bodies.values())))])


@compiled("float64(float64[::1], float32[:, ::1], float64[::1], float64[:, ::1])")
def _clearance(pose: np.ndarray, heights: np.ndarray, frame: np.ndarray, points: np.ndarray) -> float:
    if not np.isfinite(pose).all():
        return np.inf
    lowest = np.inf
    for k in range(points.shape[0]):
        x, y, z = world_point(pose, points[k])
        lowest = min(lowest, z - surface_height(heights, frame, x, y))
    return lowest
