"""The ground as a tree feels it: the ends that touch, what contact remembers, and the room that it takes."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sim.contact.rows import ROW_WIDTH
from sim.contact.wrench import LOADS
from sim.multibody.contact import lowest_end
from sim.multibody.shapes import touching_points
from sim.vehicles.forms.articulated import ArticulatedVehicle
from sim.world.terrain import Terrain

FRICTION = 0.7


class Felt(NamedTuple):
    """Arrays that the compiled contact reads and writes."""

    heights: np.ndarray
    """(ny, nx) float32 [m]."""
    frame: np.ndarray
    """(6,) x0_m, y0_m, spacing_m, friction, restitution (none), gravity (not used)."""
    carriers: np.ndarray
    """(k,) bodies of the arrays whose ends these are."""
    spheres: np.ndarray
    """(k, 4) centres in the bodies' frames and radii [m]."""
    marks: np.ndarray
    """(k, 4) zeros: no end breaks."""
    report: np.ndarray
    """(16 + 3 k,) as `sim.contact.ground.Ground` has it."""
    wrench_w: np.ndarray
    """(6,) the last three: mean force of the ground in the last step, world frame [N]."""
    frames: np.ndarray
    twists: np.ndarray
    pose: np.ndarray
    twist: np.ndarray
    ones: np.ndarray
    point: np.ndarray
    body: np.ndarray
    work: np.ndarray
    jacobian: np.ndarray
    response: np.ndarray
    free: np.ndarray
    moved: np.ndarray
    speeds: np.ndarray
    touch: np.ndarray


@dataclass(slots=True, eq=False)
class TreeGround:
    """Of one lane."""

    vehicle: ArticulatedVehicle
    felt: Felt

    @staticmethod
    def under(vehicle: ArticulatedVehicle, terrain: Terrain) -> "TreeGround":
        """Of a terrain, for the ends of what is drawn of a tree."""
        carriers, spheres = touching_points(vehicle.tree, vehicle.shapes())
        heights = np.ascontiguousarray(terrain.heights, np.float32)
        frame = np.array([*terrain.origin_m, terrain.spacing_m, FRICTION, 0.0, 0.0, 0.0])
        k, n, nv = len(carriers), vehicle.tree.n, vehicle.tree.nv
        rows = 2 * k
        felt = Felt(
            heights=heights,
            frame=frame,
            carriers=carriers,
            spheres=spheres,
            marks=np.zeros((k, 4)),
            report=np.zeros(LOADS + 3 * k),
            wrench_w=np.zeros(6),
            frames=np.zeros((n, 12)),
            twists=np.zeros((n, 6)),
            pose=np.zeros(12),
            twist=np.zeros(6),
            ones=np.ones(6),
            point=np.zeros((1, 4)),
            body=np.zeros(rows, np.int64),
            work=np.zeros((rows, ROW_WIDTH)),
            jacobian=np.zeros((3 * rows, nv)),
            response=np.zeros((3 * rows, 3 * rows)),
            free=np.zeros(nv),
            moved=np.zeros(nv),
            speeds=np.zeros(3 * rows),
            touch=np.zeros(rows),
        )
        return TreeGround(vehicle, felt)

    @property
    def report(self) -> np.ndarray:
        """What is remembered from step to step."""
        return self.felt.report

    @property
    def wrench_b(self) -> np.ndarray:
        """(6,) the ground's force on all bodies together, in the world: there is no one body that it is on."""
        return self.felt.wrench_w

    @property
    def env(self) -> tuple[Any, ...]:
        """What a stepper takes."""
        return (self.felt,)

    @property
    def impact_mps(self) -> float:
        """Greatest speed at which any end met the ground since `forget`."""
        return float(self.report[0])

    @property
    def crash_mps(self) -> float:
        """Nothing of it breaks."""
        return 0.0

    @property
    def contacts(self) -> int:
        """Ends that carried load in the last step."""
        return int(self.report[1])

    def clearance_at(self, node: np.ndarray) -> float:
        """Least height of an end above the ground."""
        felt, tree = self.felt, self.vehicle.tree
        if not np.isfinite(node).all():
            return float("inf")
        room = np.zeros((tree.n, 12)), np.zeros((tree.n, 12))
        q = np.ascontiguousarray(node[: tree.nq])
        return float(lowest_end(tree.arrays, q, *room, felt.carriers, felt.spheres, felt.heights, felt.frame))

    def carry(self, vehicle: ArticulatedVehicle) -> None:
        """The same vehicle with other parameters, by which its ends may be elsewhere."""
        self.vehicle = vehicle
        self.felt.spheres[:] = touching_points(vehicle.tree, vehicle.shapes())[1]

    def forget(self) -> None:
        """Clear what was felt: it was put somewhere else."""
        self.report[:] = 0.0

    def probe(self) -> "TreeGround":
        """The same ground, to look a step ahead without changing what the contact remembers."""
        felt = self.felt._replace(report=self.report.copy(), wrench_w=self.felt.wrench_w.copy())
        return TreeGround(self.vehicle, felt)


def felt_of(env: tuple[Any, ...]) -> Felt:
    """What a stepper was handed; no ends where that is nothing."""
    return env[0] if env else NOTHING


NOTHING = Felt(
    heights=np.zeros((2, 2), np.float32),
    frame=np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]),
    carriers=np.zeros(0, np.int64),
    spheres=np.zeros((0, 4)),
    marks=np.zeros((0, 4)),
    report=np.zeros(LOADS),
    wrench_w=np.zeros(6),
    frames=np.zeros((0, 12)),
    twists=np.zeros((0, 6)),
    pose=np.zeros(12),
    twist=np.zeros(6),
    ones=np.ones(6),
    point=np.zeros((1, 4)),
    body=np.zeros(0, np.int64),
    work=np.zeros((0, ROW_WIDTH)),
    jacobian=np.zeros((0, 0)),
    response=np.zeros((0, 0)),
    free=np.zeros(0),
    moved=np.zeros(0),
    speeds=np.zeros(0),
    touch=np.zeros(0),
)
