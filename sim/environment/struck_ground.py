"""The ground under what carries a load: it strikes both, at the moments at which controls are evaluated.

Kernels of what a group moves feel no wrench; what touches gets the impulses that keep it from going on into the ground
until the next moment, with friction, all contacts together (projected Gauss-Seidel).
"""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import casadi as ca
import numpy as np

from sim.groups.numeric import skew
from sim.vehicles.impulses import answers, whole
from sim.vehicles.slung import POSE, TWIST, SlungLoad
from sim.vehicles.structure import Structure
from sim.world.terrain import Terrain

FRICTION = 0.7
_LIFTING = 0.2
"""Share of a depth in the ground that is taken back until the next moment."""
_MOST_LIFT_MPS = 0.5
_NEAR_M = 0.5
_SWEEPS = 30
IMPACT, CONTACTS, LOWEST, CRASH = range(4)


@dataclass(slots=True, eq=False)
class StruckGround:
    """Of one lane."""

    vehicle: SlungLoad
    terrain: Terrain
    points: np.ndarray
    """(k, 4) of the carrier [m], body frame; last column 1.0 where touching is a crash, else 0.0."""
    report: np.ndarray = field(default_factory=lambda: np.zeros(4))
    """Running greatest speed of a touch [m/s]; contacts at the last moment; lowest height of one of the carrier's
    points [m]; running greatest touch speed of points that break [m/s]."""
    wrench_b: np.ndarray = field(default_factory=lambda: np.zeros(6))
    """Of kernels, which feel nothing."""

    @property
    def env(self) -> tuple[Any, ...]:
        """Nothing for kernels."""
        return ()

    @property
    def impact_mps(self) -> float:
        """Greatest speed of a touch of the carrier since `forget`."""
        return float(self.report[IMPACT])

    @property
    def crash_mps(self) -> float:
        """The same where a touch breaks."""
        return float(self.report[CRASH])

    @property
    def contacts(self) -> int:
        """The carrier's points that carried load at the last moment."""
        return int(self.report[CONTACTS])

    def forget(self) -> None:
        """Clear what was felt: it was put somewhere else."""
        self.report[:] = 0.0

    def probe(self) -> "StruckGround":
        """The same, to look ahead without changing what is remembered."""
        return StruckGround(self.vehicle, self.terrain, self.points, self.report.copy())

    def clearance_at(self, node: np.ndarray) -> float:
        """Least height [m] of one of the carrier's points above the ground."""
        return float(np.min(self._gaps(self._points_w(node)))) if np.isfinite(node).all() else np.inf

    def load_clearance_at(self, node: np.ndarray) -> float:
        """Height [m] of the load's underside above the ground."""
        load_w = np.array(_motion(Structure.of(self.vehicle))(node, self.vehicle.parameter_vector)[0]).ravel()
        return float(self._gaps(load_w[None])[0]) - self.vehicle.load_radius_m

    def impulse(self, node: np.ndarray, dt_s: float) -> np.ndarray | None:
        """(9,) of the ground on carrier and load, in the components of the vehicle's wrenches; None in the air."""
        p = self.vehicle.parameter_vector
        load_w, load_v, worked = (np.array(x) for x in _motion(Structure.of(self.vehicle))(node, p))
        places = np.vstack([self._points_w(node), load_w.T - [0.0, 0.0, self.vehicle.load_radius_m]])
        velocity = np.concatenate([node[TWIST], load_v.ravel()])
        gaps = self._gaps(places)
        self.report[LOWEST], self.report[CONTACTS] = gaps[:-1].min(initial=np.inf), 0
        near = np.flatnonzero(gaps < _NEAR_M)
        if not near.size:
            return None
        rows = np.concatenate([self._rows(k, node, places[k]) for k in near.tolist()])
        mobility = worked @ answers(self.vehicle, node, whole(rows, self.vehicle).T)
        now, answer = rows @ velocity, rows @ mobility
        touch = np.maximum(-now[::3] - np.maximum(gaps[near], 0.0) / dt_s, 0.0)
        carrier = near < len(self.points)
        self.report[IMPACT] = max(self.report[IMPACT], touch[carrier].max(initial=0.0))
        frail = carrier & (np.append(self.points[:, 3], 0.0)[near] > 0.0)
        self.report[CRASH] = max(self.report[CRASH], touch[frail].max(initial=0.0))
        lifting = np.minimum(-_LIFTING * gaps[near] / dt_s, _MOST_LIFT_MPS)
        wanted = np.where(gaps[near] > 0.0, -gaps[near] / dt_s, lifting)
        pushes = _pushes(now, answer, wanted)
        self.report[CONTACTS] = int(np.sum((pushes[::3] > 0.0) & carrier))
        given: np.ndarray = rows.T @ pushes
        return given if given.any() else None

    def _points_w(self, node: np.ndarray) -> np.ndarray:
        pose = node[POSE]
        placed: np.ndarray = self.points[:, :3] @ pose[:9].reshape(3, 3) + pose[9:]
        return placed

    def _gaps(self, places_w: np.ndarray) -> np.ndarray:
        above: np.ndarray = places_w[:, 2] - self.terrain.height(places_w[:, 0], places_w[:, 1])
        return above

    def _rows(self, k: int, node: np.ndarray, place_w: np.ndarray) -> np.ndarray:
        """(3, 9) velocity of a contact along the ground's normal and two tangents, from (twist, load's velocity)."""
        normal = self.terrain.normal(place_w[0], place_w[1])
        across = np.cross(normal, [1.0, 0.0, 0.0] if abs(normal[0]) < 0.7 else [0.0, 1.0, 0.0])
        across /= np.linalg.norm(across)
        frame, found = np.stack([normal, across, np.cross(normal, across)]), np.zeros((3, 9))
        if k == len(self.points):
            found[:, 6:] = frame
        else:
            R = node[POSE][:9].reshape(3, 3).T
            found[:, :6] = frame @ R @ np.hstack([-skew(self.points[k, :3]), np.eye(3)])
        return found


def _pushes(now: np.ndarray, answer: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """(3 k,) impulses along normal and tangents of k contacts: normal speeds become at least `wanted` (k,)."""
    pushes = np.zeros(len(now))
    for _ in range(_SWEEPS):
        for c in range(len(wanted)):
            n = 3 * c
            for row in (n, n + 1, n + 2):
                speed = now[row] + answer[row] @ pushes - (wanted[c] if row == n else 0.0)
                pushed = pushes[row] - speed / answer[row, row]
                most = FRICTION * pushes[n]
                pushes[row] = max(pushed, 0.0) if row == n else min(max(pushed, -most), most)
    return pushes


@lru_cache(maxsize=16)
def _motion(structure: Structure) -> ca.Function:
    """(node, parameters) -> the load's place and velocity (3,), and the derivative (9, node size) of the velocities of
    carrier and load by the node."""
    vehicle = structure.vehicle
    assert isinstance(vehicle, SlungLoad)
    node, p = ca.SX.sym("node", vehicle.node_layout.size), ca.SX.sym("p", vehicle.parameter_count)
    q = vehicle.symbols(p)
    worked = vehicle.conjugate_velocities(node, q)[: vehicle.wrench_size]
    told = [*vehicle.load_motion(node, q), ca.jacobian(worked, node)]
    return ca.Function("motion", [node, p], [ca.densify(each) for each in told])
