"""The obstacles of a world as an `Environment`: vehicles meet them by impulses at their control moments.

The law is that of ground contact: no point of the footprint may approach what it touches, one that will touch within
the period may close its gap but not more, tangential impulses keep within Coulomb's cone. What the vehicle answers
with is its mobility, whose range are the motions that its wheels allow: so the constraints hold after a collision, and
an impulse takes energy out and never adds any, but for the slow push that frees a footprint that has sunk in.
"""

import math
from collections.abc import Mapping
from dataclasses import field
from functools import cache
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from sim.contact.obstacles.blows import SURFACES
from sim.contact.obstacles.cones import RESTITUTION, Cones, Solids, mechanics, solids_afloat, solids_of
from sim.contact.obstacles.impacts import MOST_ROWS, first_impact
from sim.contact.rows import (
    AIM,
    FIRST,
    GAP,
    IMPULSE,
    INVERSE_MASS,
    NORMAL,
    ROW_WIDTH,
    SECOND,
    point_velocity,
)
from sim.contact.solver import rows_solver, twist_velocity
from sim.environment.environment import BORNE, NONE_BORNE, BodyState, Touch
from sim.native.function import native
from sim.platform.values import dataclass
from sim.shapes import Shape
from sim.vehicle_config import config_of
from sim.vehicle_config.config import Footprint
from sim.vehicles import Vehicle
from sim.world import World
from sim.world.props import CONE_RADIUS_M
from sim.world.terrain import Terrain

if TYPE_CHECKING:
    from sim.contact.obstacles.blows import Blow
    from sim.contact.obstacles.prop_kinds import Placed

FRICTION = 0.35
_HIT_HEIGHT_M = 0.28
"""At which bumpers hit cones."""
_LIFT = 0.3
"""They slope so that they throw up: height per length of the normal."""
_OVER_M = 0.8
"""A cone that flies higher is driven under."""
_WIDE_M = 4.0
"""Reach of all but walls and the like."""
_SLOP_M, _PUSH_OUT, _PUSH_OUT_MPS = 5e-3, 0.2, 0.3
_ROUNDS = 3
_RIGID = 1e-9
"""Least answer [1/kg] of a row, where the constraints let nothing give way."""


@dataclass(frozen=True, slots=True, eq=False)
class ObstaclesPicture:
    """What is to be drawn of the cones."""

    poses: np.ndarray
    """(k, 4, 4) of their centres of mass."""
    moved: np.ndarray
    """(k,) whether each is not where it stood at first."""


@dataclass(frozen=True, slots=True, eq=False)
class PropsPicture:
    """What is to be drawn of a scene's props, and of what stands about in their world."""

    shapes: tuple[Shape, ...]
    """As they stand at first."""
    rest_w: np.ndarray
    """(n, 4, 4) where their principal axes are then."""
    poses_w: np.ndarray
    """(n, 4, 4) where these axes are now."""
    colours: tuple[tuple[float, float, float], ...]
    """Linear RGB."""
    obstacles: ObstaclesPicture | None
    placed: "tuple[Placed, ...]" = ()
    """As the scene, or the user since, has put them up."""
    contacts: np.ndarray = field(default_factory=lambda: np.zeros((0, 6)))
    """(k, 6) points that touch, in the world, and the force on what is touched there second [N]."""
    cords_w: np.ndarray = field(default_factory=lambda: np.zeros((0, 2, 3)))
    """(k, 2, 3) ends of slings, in the world."""
    caught: int = -1
    """The prop that hangs from the vehicle's hook; -1: none."""
    overlap_m: float = 0.0
    """Of the two bodies that lay deepest in each other."""
    blows: "tuple[Blow, ...]" = ()
    """What has struck what lately, the latest last."""
    reach_m: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """(n,) farthest of each shape from its centre of mass."""


class _Placed:
    """Solids in the plane, found by place."""

    def __init__(self, rows: np.ndarray) -> None:
        self.rows = rows
        """(n, 5) as `first_impact` takes them."""
        self._reach_m = np.hypot(rows[:, 2], rows[:, 3])
        self._wide = np.flatnonzero(self._reach_m > _WIDE_M)
        """Few, looked at always; the others by x."""
        slim = np.flatnonzero(self._reach_m <= _WIDE_M)
        self._slim = slim[np.argsort(rows[slim, 0])]
        self._x_m = rows[self._slim, 0]

    def within(self, x: float, y: float, room_m: float) -> np.ndarray:
        """Indices, rising, of those whose circles come nearer than that to a place."""
        low, high = np.searchsorted(self._x_m, (x - room_m - _WIDE_M, x + room_m + _WIDE_M))
        about = np.concatenate([self._wide, self._slim[low:high]])
        away = np.hypot(*(self.rows[about, :2] - (x, y)).T)
        return np.sort(about[away < self._reach_m[about] + room_m])


class Obstacles:
    """Solids that stay and cones that fly. `footprint`: of the vehicle that is coupled; None: it meets nothing.

    What floats meets what reaches through the water instead of what stands on the ground.
    """

    def __init__(self, solids: Solids, terrain: Terrain, afloat: Solids | None = None) -> None:
        self._ashore = _Placed(_rows_of(solids))
        self._afloat = _Placed(self._ashore.rows[:0] if afloat is None else _rows_of(afloat))
        self._placed = self._ashore
        self.cones = Cones(solids.cones, terrain)
        self._begin = self.cones.state.copy()
        self.footprint: Footprint | None = None
        self._towed_m = 0.0
        self._time_s, self._impact_mps, self._touch = 0.0, 0.0, Touch()
        self._borne = NONE_BORNE
        make_ready()
        if len(solids.cones):
            mechanics()

    def exchange(self, time_s: float, dt_s: float, bodies: Mapping[str, BodyState]) -> dict[str, np.ndarray]:
        """As the protocol has it; a body that touches nothing gets no impulse at all."""
        impulses: dict[str, np.ndarray] = {}
        self._touch, self._borne = Touch(), NONE_BORNE
        if self.footprint is not None and bodies:
            name, body = next(iter(bodies.items()))
            impulse = self._met(body, dt_s, self.footprint)
            if impulse is not None:
                impulses[name] = impulse
        self.cones.go_on(dt_s)
        self._time_s = time_s + dt_s
        return impulses

    def renew(self, vehicle: Vehicle, time_s: float) -> None:
        """From then on it is this one's footprint that meets them."""
        config = config_of(vehicle)
        self.footprint = config.footprint
        self._towed_m = reach_of_towed_m(vehicle, config.footprint)
        self._placed = self._ashore if config.hull is None else self._afloat

    def within_reach(self, T_wb: np.ndarray, twist_b: np.ndarray, dt_s: float) -> bool:
        """Whether the vehicle might meet anything within dt; not if it has no footprint."""
        footprint = self.footprint
        if footprint is None or not (np.isfinite(T_wb).all() and np.isfinite(twist_b).all()):
            return False
        solids, cones = self._near(T_wb, twist_b, dt_s, footprint, self._towed_m)
        return bool(solids.size or cones.size)

    def take_impact_mps(self) -> float:
        """Greatest speed at which something that stays was met since the last call."""
        impact_mps, self._impact_mps = self._impact_mps, 0.0
        return impact_mps

    def touch(self) -> Touch:
        return self._touch

    def borne(self) -> np.ndarray:
        """At walls and the like, of what was looked at last; cones are light."""
        return self._borne

    def checkpoint(self) -> np.ndarray:
        return np.append(self.cones.state.ravel(), self._time_s)

    def restore(self, checkpoint: np.ndarray) -> None:
        self.cones.state[:] = checkpoint[:-1].reshape(self.cones.state.shape)
        self._time_s = float(checkpoint[-1])

    def picture(self) -> ObstaclesPicture:
        state = self.cones.state
        poses = np.tile(np.eye(4), (len(state), 1, 1))
        poses[:, :3, :3] = state[:, 1:10].reshape(-1, 3, 3).transpose(0, 2, 1)
        poses[:, :3, 3] = state[:, 10:13]
        return ObstaclesPicture(poses, np.any(state[:, :13] != self._begin[:, :13], axis=1))

    def _met(self, body: BodyState, dt_s: float, footprint: Footprint) -> np.ndarray | None:
        """(6,) on the body, or None where it meets nothing within the period."""
        mobility = np.linalg.pinv(body.inertia_b, hermitian=True)
        xi = body.twist_b.copy()
        met = self._meet(body.T_wb, xi, mobility, dt_s, footprint)
        towed = [(body.towed[name], own) for name, own in footprint.towed if name in body.towed]
        for _ in range(_ROUNDS if towed else 0):  # what stops one of them pushes at the others
            for other, own in towed:
                by_twist = other.by_twist
                there, answer = by_twist @ xi, by_twist @ mobility @ by_twist.T
                before = there.copy()
                if self._meet(other.T_wb, there, answer, dt_s, own):
                    met = True
                    xi += mobility @ by_twist.T @ np.linalg.pinv(answer, hermitian=True) @ (there - before)
            met = self._meet(body.T_wb, xi, mobility, dt_s, footprint) or met
        if not met:
            return None
        # The impulse that leads there; pinv keeps to what the mobility answers to.
        impulse: np.ndarray = np.linalg.pinv(mobility, hermitian=True) @ (xi - body.twist_b)
        return impulse if np.any(impulse) else None

    def _meet(
        self, T_wb: np.ndarray, xi: np.ndarray, mobility: np.ndarray, dt_s: float, footprint: Footprint
    ) -> bool:
        """Whether one body meets anything within the period; its twist, which is changed in place, is then another."""
        hits = self._hit_cones(T_wb, xi, mobility, dt_s, footprint)
        work = self._rows(T_wb, xi, mobility, dt_s, footprint)
        slips = []
        if work is not None:
            _solve(work, xi, mobility, FRICTION)
            borne = work[work[:, IMPULSE] > 0.0]
            slips = [
                math.hypot(point_velocity(xi, row, FIRST), point_velocity(xi, row, SECOND)) for row in borne
            ]
            hits += float(borne[:, IMPULSE].sum())
            self._borne = np.zeros((len(borne), BORNE))
            self._borne[:, 1:4] = borne[:, :3] @ T_wb[:3, :3].T + T_wb[:3, 3]
            self._borne[:, 4:7] = borne[:, NORMAL : NORMAL + 3] @ T_wb[:3, :3].T
            self._borne[:, 7], self._borne[:, 8] = borne[:, IMPULSE], SURFACES.index("stone")
        self._touch = Touch(self._touch[0] + hits, max(self._touch[1], *slips, 0.0))
        return work is not None or hits > 0.0

    def _near(
        self, T_wb: np.ndarray, xi: np.ndarray, dt_s: float, footprint: Footprint, towed_m: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Indices of the solids and of the cones whose circles the footprint's own may meet within dt.

        towed_m: how far what is towed reaches, where that is looked for as well.
        """
        reach_m = max(footprint.reach_m, towed_m)
        own = reach_m + dt_s * (float(np.hypot(xi[3], xi[4])) + abs(float(xi[2])) * reach_m)
        x, y, z = T_wb[:3, 3]
        near = self._placed.within(x, y, own)
        state = self.cones.state
        room = own + CONE_RADIUS_M + dt_s * np.abs(state[:, 16:19]).sum(axis=1)
        cones = (np.hypot(state[:, 10] - x, state[:, 11] - y) < room) & (state[:, 12] - z < _OVER_M)
        return near, np.flatnonzero(cones)

    def _rows(
        self, T_wb: np.ndarray, xi: np.ndarray, mobility: np.ndarray, dt_s: float, footprint: Footprint
    ) -> np.ndarray | None:
        """What is met of what stays: a row each point."""
        near, _ = self._near(T_wb, xi, dt_s, footprint)
        found = [
            _row(point, normal, gap, T_wb, xi, mobility, dt_s)
            for k in near.tolist()
            for point, normal, gap in _touched(T_wb, xi, dt_s, footprint, self._placed.rows[k], np.zeros(2))
        ]
        rows = [row for row in found if row is not None]
        if not rows:
            return None
        for row in rows:
            self._impact_mps = max(self._impact_mps, -point_velocity(xi, row, NORMAL))
        return np.array(rows)

    def _hit_cones(
        self, T_wb: np.ndarray, xi: np.ndarray, mobility: np.ndarray, dt_s: float, footprint: Footprint
    ) -> float:
        """Cones that are met within the period take their share of the momentum at once; xi is changed in place.

        Returns the sum of the impulses [N s].
        """
        cones, hits = self.cones, 0.0
        places, R = cones.places_w, T_wb[:3, :3]
        _, near = self._near(T_wb, xi, dt_s, footprint)
        for k in near.tolist():
            place = np.array([places[k, 0], places[k, 1], CONE_RADIUS_M, 0.0, np.nan])
            drift = cones.velocity_w(k, places[k])[:2]
            for point_b, normal, _ in _touched(T_wb, xi, dt_s, footprint, place, drift):
                out = np.array([normal[0], normal[1], -_LIFT])
                out /= np.linalg.norm(out)
                point_b = np.array([point_b[0], point_b[1], _HIT_HEIGHT_M])
                at_w = np.array([*(places[k, :2] + CONE_RADIUS_M * normal), T_wb[2, 3] + _HIT_HEIGHT_M])
                out_b = R.T @ out
                reach = np.concatenate([np.cross(point_b, out_b), out_b])
                closing = float(reach @ xi - out @ cones.velocity_w(k, at_w))
                if closing >= 0.0:
                    continue
                answer = float(reach @ mobility @ reach) + cones.yielding(k, at_w, out)
                size = -(1.0 + RESTITUTION) * closing / answer
                xi += mobility @ reach * size
                cones.hit(k, at_w, -size * out)
                hits += size
        return hits


@cache
def make_ready() -> None:
    """Have what is compiled loaded: the first collision of a ride must not wait for it."""
    body = BodyState(np.eye(4), np.array([0.0, 0.0, 0.1, 1.0, 0.0, 0.0]), np.eye(6))
    footprint = Footprint((0.0, 0.0), (1.0, 0.5))
    solid = np.array([1.2, 0.0, 0.5, 0.5, 0.0])
    rows = _touched(body.T_wb, body.twist_b, 1.0, footprint, solid, np.zeros(2))
    found = [_row(*row, body.T_wb, body.twist_b, body.inertia_b, 1.0) for row in rows]
    _solve(np.array([row for row in found if row is not None]), body.twist_b, body.inertia_b, FRICTION)


def obstacles_in(world: World, vehicle: Vehicle) -> Obstacles | None:
    """What stands in a world, as it is at first; None where nothing does.

    In wild country that is nothing for a vehicle without a footprint, which flies over it.
    """
    if world.grounds is None and config_of(vehicle).footprint is None:
        return None
    solids, afloat = solids_of(world), solids_afloat(world)
    return Obstacles(solids, world.terrain, afloat) if solids or afloat else None


def reach_of_towed_m(vehicle: Vehicle, footprint: Footprint | None) -> float:
    """How far what it tows reaches from its origin where it hangs straight behind, as it does by default."""
    if footprint is None or not footprint.towed:
        return 0.0
    node = vehicle.default_state().node
    bodies = vehicle.bodies(ca.SX(node), vehicle.symbols(ca.SX(vehicle.parameter_vector)))
    places = {name: np.array(ca.DM(T[:3, 3])).ravel() for name, T in bodies.items()}
    main = next(iter(places.values()))
    return max(float(np.linalg.norm(places[name] - main)) + own.reach_m for name, own in footprint.towed)


def _rows_of(solids: Solids) -> np.ndarray:
    """(n, 5) as `first_impact` takes them: what is round as a disc, what is long and round as a box about it."""
    rows = solids.standing[:, :5].copy()
    rounding = solids.standing[:, 5]
    rows[:, 2:4] += rounding[:, None]
    discs = (rounding > 0.0) & (solids.standing[:, 2:4] == 0.0).all(axis=1)
    rows[discs, 3], rows[discs, 4] = 0.0, np.nan
    return rows


def _touched(
    T_wb: np.ndarray, xi: np.ndarray, dt_s: float, footprint: Footprint, solid: np.ndarray, drift: np.ndarray
) -> list[tuple[np.ndarray, np.ndarray, float]]:
    """(point in the body frame (2,), normal in the world (2,), gap [m]) of all points that touch first."""
    rows = np.zeros((MOST_ROWS, 5))
    pose = np.array([T_wb[0, 3], T_wb[1, 3], np.arctan2(T_wb[1, 0], T_wb[0, 0])])
    share, used = first_impact(pose, xi[2:5], dt_s, footprint.array, solid, drift, rows)
    if share > 1.0:
        return []
    found = []
    for distance, x, y, nx, ny in rows[:used].tolist():
        normal = np.array([nx, ny])
        closing = _velocity_at(T_wb, xi, x, y) - drift
        ahead_m = -share * dt_s * float(normal @ closing)
        found.append((np.array([x, y]), normal, max(ahead_m, 0.0) if share > 0.0 else min(distance, 0.0)))
    return found


def _velocity_at(T_wb: np.ndarray, xi: np.ndarray, x: float, y: float) -> np.ndarray:
    """(2,) in the world."""
    return np.asarray(T_wb[:2, :2] @ np.array([xi[3] - xi[2] * y, xi[4] + xi[2] * x]))


def _row(
    point: np.ndarray,
    normal: np.ndarray,
    gap: float,
    T_wb: np.ndarray,
    xi: np.ndarray,
    mobility: np.ndarray,
    dt_s: float,
) -> np.ndarray | None:
    """As the solver of ground contact takes it; None where the vehicle cannot move along the normal at all."""
    row = np.zeros(ROW_WIDTH)
    row[0:3] = point[0], point[1], 0.0
    directions = np.array([(*normal, 0.0), (-normal[1], normal[0], 0.0), (0.0, 0.0, 1.0)]) @ T_wb[:3, :3]
    row[NORMAL : NORMAL + 3], row[FIRST : FIRST + 3], row[SECOND : SECOND + 3] = directions
    reach = np.hstack([np.cross(row[0:3], directions), directions])
    answer = reach @ mobility @ reach.T
    if answer[0, 0] <= _RIGID:
        return None
    row[INVERSE_MASS] = answer[0, 0]
    row[INVERSE_MASS + 1 : INVERSE_MASS + 4] = answer[1, 1] + _RIGID, answer[1, 2], answer[2, 2] + _RIGID
    row[GAP], row[IMPULSE : IMPULSE + 3] = gap, 0.0
    sunk = -gap - _SLOP_M
    row[AIM] = min(_PUSH_OUT * sunk / dt_s, _PUSH_OUT_MPS) if sunk > 0.0 else -max(gap, 0.0) / dt_s
    return row


@native
def _push(
    xi: np.ndarray, mobility: np.ndarray, work: np.ndarray, k: int, direction: int, amount: float
) -> None:
    w, at = work[k], NORMAL + 3 * direction
    for i in range(6):
        change = 0.0
        for j in range(3):
            j1, j2 = (j + 1) % 3, (j + 2) % 3
            change += (
                mobility[i, j] * (w[j1] * w[at + j2] - w[j2] * w[at + j1]) + mobility[i, 3 + j] * w[at + j]
            )
        xi[i] += change * amount


_, _solve = rows_solver(twist_velocity, _push)
"""Of one body under constraints: the state is its twist (6,), the response its mobility (6, 6)."""
