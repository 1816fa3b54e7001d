"""The ground under what a group's action moves: it strikes at the moments at which controls are evaluated.

Kernels of such vehicles take no wrench; whatever of them touches gets the impulses that keep it from going on into the
ground until the next moment, all contacts together by the rows and the solver that bodies and trees have.
"""

import math
from functools import lru_cache

import casadi as ca
import numpy as np

from sim.contact.rows import AIM, IMPULSE, ROW_WIDTH
from sim.contact.solver import note_answers, solve_answered
from sim.environment.environment import BORNE, NONE_BORNE, TOLD, Environment
from sim.platform.values import dataclass
from sim.vehicle_config import config_of
from sim.vehicles.forms.base import Structure, Vehicle
from sim.vehicles.forms.declaration import evaluated
from sim.vehicles.forms.homogeneous import ActionVehicle
from sim.vehicles.forms.impulses import at_points
from sim.world import World
from sim.world.terrain import Terrain

FRICTION = 0.7
_LIFTING = 0.2
"""Fraction of a depth in the ground that is taken back until the next moment."""
_MOST_LIFT_MPS = 0.5
_NEAR_M = 0.5
IMPACT, CONTACTS, LOWEST, CRASH = range(4)


@dataclass(frozen=True, slots=True, eq=False)
class Contacts:
    """k balls, of radius 0 where points, that may touch the ground, which strikes through their centres."""

    bodies: tuple[str, ...]
    """(k,) of which each is a part."""
    at_b: np.ndarray
    """(k, 3) centres in the frames of their bodies [m]."""
    radius_m: np.ndarray
    """(k,)."""
    frail: np.ndarray
    """(k,) bool: touching is a crash."""
    hung: np.ndarray
    """(k,) bool: part of a load that hangs from a carrier."""

    @classmethod
    def of(cls, vehicle: ActionVehicle) -> "Contacts":
        """Points of its config on the main body, those of vehicles that its bodies look like, and its own balls; the
        main body's origin where there are none."""
        config, names = config_of(vehicle), _names(Structure.of(vehicle))
        rows = [(names[0], point[:3], 0.0, point[3] > 0.0, False) for point in config.contact.points]
        for name in names:
            look = config.look_of(name)
            points = () if look is None else look.contact.points
            rows += [(name, point[:3], 0.0, False, False) for point in points]
        hangs = vehicle.hanging_kg > 0.0
        rows += [(body, np.array(at), radius, False, hangs) for body, at, radius in vehicle.touching]
        rows = rows or [(names[0], np.zeros(3), 0.0, False, False)]
        bodies, at_b, radius_m, frail, hung = zip(*rows, strict=True)
        return cls(bodies, np.array(at_b, float), np.array(radius_m), np.array(frail), np.array(hung))


class ImpulsiveGround(Environment):
    """The ground about one lane of a vehicle that a group's action moves.

    Its report: running greatest speed of a touch [m/s]; contacts at the last moment; least height of a contact [m];
    running greatest touch speed of points that break [m/s]; loads that hang left out; and what `Environment` has at the
    end.
    """

    acts = True

    def __init__(
        self,
        vehicle: ActionVehicle,
        terrain: Terrain,
        contacts_b: Contacts | None = None,
        report: np.ndarray | None = None,
    ) -> None:
        super().__init__(vehicle, np.zeros(4 + TOLD) if report is None else report)
        self.vehicle: ActionVehicle = vehicle
        self._terrain = terrain
        self._contacts_b = Contacts.of(vehicle) if contacts_b is None else contacts_b
        self._seen: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
        """The node that was asked about last, and where the contacts are there."""
        self._borne = NONE_BORNE
        self._order = {name: k for k, name in enumerate(_names(Structure.of(vehicle)))}

    @classmethod
    def of(cls, vehicle: Vehicle, world: World | None) -> Environment:
        assert isinstance(vehicle, ActionVehicle)
        return Environment(vehicle) if world is None else cls(vehicle, world.terrain)

    def renew(self, vehicle: Vehicle, time_s: float) -> None:
        assert isinstance(vehicle, ActionVehicle)
        self.vehicle, self._contacts_b, self._seen = vehicle, Contacts.of(vehicle), None

    def probe(self) -> "ImpulsiveGround":
        return ImpulsiveGround(self.vehicle, self._terrain, self._contacts_b, self.report.copy())

    def clearance_m(self, node: np.ndarray) -> float:
        """Least height [m] above the ground of what is no hung load."""
        return self._least(node, ~self._contacts_b.hung)

    def load_clearance_m(self, node: np.ndarray) -> float:
        return self._least(node, self._contacts_b.hung)

    def lift_out(self, node: np.ndarray) -> np.ndarray:
        return self.vehicle.raised(node, -min(self.clearance_m(node), self.load_clearance_m(node), 0.0))

    def impulse(self, node: np.ndarray, dt_s: float) -> np.ndarray | None:
        contacts = self._contacts_b
        centres_w, gaps = self._lie(node)
        own = ~contacts.hung
        self.report[LOWEST], self.report[CONTACTS] = gaps[own].min(initial=np.inf), 0
        self.report[-1], self._borne = 0.0, NONE_BORNE
        near = np.flatnonzero(gaps < _NEAR_M)
        if not near.size:
            return None
        frames = [self._frame(centres_w[k]) for k in near]
        bodies = tuple(contacts.bodies[k] for k in near)
        points = at_points(self.vehicle, node, bodies, contacts.at_b[near])
        across = np.zeros((3 * near.size, 3 * near.size))
        for k, frame in enumerate(frames):
            across[3 * k : 3 * k + 3, 3 * k : 3 * k + 3] = frame
        now, answer = across @ points.velocity, across @ points.answers @ across.T
        touch = np.maximum(-now[::3] - np.maximum(gaps[near], 0.0) / dt_s, 0.0)
        self.report[IMPACT] = max(self.report[IMPACT], touch[own[near]].max(initial=0.0))
        self.report[CRASH] = max(self.report[CRASH], touch[contacts.frail[near]].max(initial=0.0))
        lifting = np.minimum(-_LIFTING * gaps[near] / dt_s, _MOST_LIFT_MPS)
        wanted = np.where(gaps[near] > 0.0, -gaps[near] / dt_s, lifting)
        pushes = _pushes(now, answer, wanted)
        self.report[CONTACTS] = int(np.sum((pushes[::3] > 0.0) & own[near]))
        self.report[-2] += pushes[::3].sum()
        bearing = pushes[::3] > 0.0
        along = (now + answer @ pushes).reshape(-1, 3)[bearing, 1:]
        self.report[-1] = np.linalg.norm(along, axis=1).max(initial=0.0)
        bear = near[bearing]
        self._borne = np.zeros((len(bear), BORNE))
        self._borne[:, 0] = [self._order[contacts.bodies[k]] for k in bear]
        up_w = np.array(frames)[bearing, 0]
        self._borne[:, 1:4], self._borne[:, 4:7] = (
            centres_w[bear] - contacts.radius_m[bear, None] * up_w,
            up_w,
        )
        self._borne[:, 7] = pushes[::3][bearing]
        given: np.ndarray = points.impulses @ across.T @ pushes
        return given if given.any() else None

    def borne(self, poses_w: np.ndarray) -> np.ndarray:
        return self._borne

    def _lie(self, node: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(k, 3) centres in the world, and (k,) heights of the balls' undersides above the ground [m]."""
        if self._seen is None or not np.array_equal(self._seen[0], node):
            contacts, vehicle = self._contacts_b, self.vehicle
            places = _centres(Structure.of(vehicle), contacts.bodies)
            centres_w = evaluated(places, node, vehicle.parameter_vector, contacts.at_b)[0].T
            over = centres_w[:, 2] - self._terrain.height(centres_w[:, 0], centres_w[:, 1])
            self._seen = node.copy(), centres_w, over - contacts.radius_m
        return self._seen[1], self._seen[2]

    def _least(self, node: np.ndarray, chosen: np.ndarray) -> float:
        return float(self._lie(node)[1][chosen].min(initial=np.inf)) if np.isfinite(node).all() else np.inf

    def _frame(self, place_w: np.ndarray) -> np.ndarray:
        """(3, 3) rows: the ground's normal and two tangents."""
        normal = self._terrain.normal(place_w[0], place_w[1])
        x, y, z = normal.tolist()
        across = np.array([0.0, z, -y] if abs(x) < 0.7 else [-z, 0.0, x])
        across /= math.sqrt(across @ across)
        a, b, c = across.tolist()
        return np.stack([normal, across, [y * c - z * b, z * a - x * c, x * b - y * a]])


def _pushes(now: np.ndarray, answer: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """(3 k,) impulses along normal and tangents of k contacts: normal speeds become at least `wanted` (k,)."""
    work = np.zeros((len(wanted), ROW_WIDTH))
    work[:, AIM] = wanted
    note_answers(work, answer)
    solve_answered(work, now.copy(), np.ascontiguousarray(answer), FRICTION)
    return work[:, IMPULSE : IMPULSE + 3].ravel()


@lru_cache(maxsize=16)
def _names(structure: Structure) -> tuple[str, ...]:
    """Of the bodies, the main one first."""
    vehicle = structure.vehicle
    node, p = ca.SX.sym("node", vehicle.node_layout.size), ca.SX.sym("p", vehicle.parameter_count)
    return tuple(vehicle.bodies(node, vehicle.symbols(p)))


@lru_cache(maxsize=16)
def _centres(structure: Structure, bodies: tuple[str, ...]) -> ca.Function:
    """(node, parameters, (3, k) places in the frames of k bodies) -> (3, k) places in the world."""
    vehicle = structure.vehicle
    node, p = ca.SX.sym("node", vehicle.node_layout.size), ca.SX.sym("p", vehicle.parameter_count)
    at_b, poses = ca.SX.sym("at", 3, len(bodies)), vehicle.bodies(node, vehicle.symbols(p))
    places = [poses[body][:3, :3] @ at_b[:, k] + poses[body][:3, 3] for k, body in enumerate(bodies)]
    return ca.Function("centres", [node, p, at_b], [ca.densify(ca.horzcat(*places))])
