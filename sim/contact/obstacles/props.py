"""Props of a scene as an environment: a pile that a vehicle, or each body of a tree of joints, meets between its steps.

The vehicle's bodies visit the pile as a mechanism: they move on as they would by themselves, and answer impulses by
their mobility.
"""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from sim.contact.bodies import Pile, Prop
from sim.contact.obstacles.blows import STRUCK_MPS, SURFACES, Blow, Blows
from sim.contact.obstacles.guests import NOBODY, Guest, guest_of
from sim.contact.obstacles.obstacles import Obstacles, PropsPicture, obstacles_in, reach_of_towed_m
from sim.contact.obstacles.prop_kinds import Placed, read_placed
from sim.contact.obstacles.prop_loads import Hook, Surroundings, hand_wrench
from sim.contact.pair_rows import NO_CORDS
from sim.contact.pile import KEPT
from sim.environment.environment import (
    NONE_BORNE,
    BodyState,
    CoupledEnvironment,
    Grip,
    JointedState,
    SolidsEnvironment,
    Touch,
)
from sim.groups.numeric import poses_of, quaternions_of
from sim.platform.toml_table import TomlTable
from sim.platform.values import dataclass
from sim.shapes import Shape
from sim.vehicle_config import config_of
from sim.vehicles.forms.base import Vehicle
from sim.world import World
from sim.world.boulders import boulders_near

STEP_S = 0.005
SWEEPS, TOLERANCE_MPS = 60, 1e-6
_REMEMBERED = 12
"""Contacts a prop that are remembered from step to step at most."""
_ROOM_M = 0.03
"""Beyond what a body moves in a control period, within which it is looked at closer."""
_BOULDERS_M = 25.0
"""From where a prop begins: boulders that stand so near are in its way."""
_LEAST_LINKS = 3
"""A tree of fewer bodies hangs no hook out."""
_SELF_M = 0.01
"""The same of bodies of a tree against each other."""
_GIVEN_J, _GIVEN = 10.0, 0.002
"""What impulses may give the vehicle beyond what others have lost, as joints' ways are known to some order only: that,
and a share of its kinetic energy."""


def read_props(table: TomlTable) -> "PropsSpec | None":
    """`[[props]]`. Raises InputError, one line with file, key and what is allowed."""
    return PropsSpec(read_placed(table)) if table.has("props") else None


@dataclass(frozen=True, slots=True)
class PropsSpec:
    """As the scene says them, before there is a world."""

    placed: tuple[Placed, ...]

    def begun(self, vehicle: Vehicle, T_wb: np.ndarray, world: World) -> CoupledEnvironment:
        return Props(self.placed, world, vehicle, obstacles_in(world, vehicle))


class Props:
    """A `JointedEnvironment`: bodies that push each other, the ground, what stays, and the vehicle."""

    def __init__(
        self, placed: tuple[Placed, ...], world: World, vehicle: Vehicle | None, obstacles: Obstacles | None
    ) -> None:
        """vehicle: None: nobody visits."""
        self._placed, self._world, self._obstacles = placed, world, obstacles
        built = () if world.grounds is None else world.grounds.standing
        begin_w = np.array([one.prop.T_w[:3, 3] for one in placed]).reshape(-1, 3)
        standing = (*built, *boulders_near(world, begin_w, _BOULDERS_M))
        self._standing = [Prop(shape, 0.0, 0.6) for shape in standing]
        self._grip: Grip | None = None
        self._touch, self._borne = Touch(), NONE_BORNE
        self._hook = Hook({k: _sling(one) for k, one in enumerate(placed) if one.sling_m > 0.0})
        self.surroundings: Surroundings | None = None
        """That act on all props; set before the first step."""
        self._guest: Guest
        self._pile = self._piled(vehicle)
        self.shapes: tuple[Shape, ...] = tuple(one.prop.shape for one in placed)
        """Of the props, as they stand at first."""
        self._reach_m = np.array([shape.solid().reach_m for shape in self.shapes])
        self._rest_w = np.array([one.prop.shape.solid().T_w for one in placed]).reshape(-1, 4, 4)
        self._away_w = np.eye(4)
        self._away_w[2, 3] = -1e6  # far below everything: nothing meets it there

    def exchange(self, time_s: float, dt_s: float, bodies: Mapping[str, BodyState]) -> dict[str, np.ndarray]:
        by_still: Mapping[str, np.ndarray] = {}
        if self._obstacles is not None:
            by_still = self._obstacles.exchange(time_s, dt_s, bodies)
        if not bodies:
            self._go_on(time_s, dt_s, None, STEP_S)
            return {}
        name, body = next(iter(bodies.items()))
        mobility, still = np.linalg.pinv(body.inertia_b, hermitian=True), by_still.get(name)
        T_w = np.array([body.T_wb, *(towed.T_wb for towed in body.towed.values())])
        J = np.array([np.kron(np.eye(2), T[:3, :3]) for T in T_w])
        for k, towed in enumerate(body.towed.values(), 1):
            J[k] = J[k] @ towed.by_twist
        velocity = body.twist_b if still is None else body.twist_b + mobility @ still
        ways = dt_s * (J @ velocity)
        ones = np.ones((len(T_w), 1))
        ahead_w = poses_of(np.concatenate([T_w[:, :3, 3] + ways[:, 3:], ones, 0.5 * ways[:, :3]], axis=1))
        ahead_w[:, :3, :3] = ahead_w[:, :3, :3] @ T_w[:, :3, :3]
        jointed = JointedState(T_w, J, mobility, velocity, velocity, ahead_w, False)
        pushed = self._go_on(time_s, dt_s, jointed, STEP_S)
        given = [each for each in (pushed, still) if each is not None]
        return {name: np.sum(given, axis=0)} if given else {}

    def meet(self, time_s: float, dt_s: float, jointed: JointedState | None) -> np.ndarray | None:
        # A tree gets all that it is given at once, at the beginning: as much later in the pile it would move less far.
        return self._go_on(time_s, dt_s, jointed, STEP_S if jointed is None else dt_s)

    def _go_on(
        self, time_s: float, dt_s: float, jointed: JointedState | None, step_s: float
    ) -> np.ndarray | None:
        held = self._grip is not None
        self._touch, self._borne = Touch(), NONE_BORNE
        if jointed is None and bool(self._pile.asleep.all()) and not held:
            return None
        steps = max(math.ceil(dt_s / step_s - 1e-9), 1)
        if bool(self._pile.asleep.all()) and not held:
            steps = 1  # only the visitors move, and straight on
        if jointed is None:
            k = len(self._guest.props)
            self._pile.leave(np.tile(self._away_w, (k, 1, 1)))
        else:
            self._pile.visit(*self._guest.mechanism(jointed, dt_s, self._hooked(jointed, dt_s)))
        h = dt_s / steps
        pushed = np.zeros(0 if jointed is None else len(jointed.velocity) + 1)
        begun = self._pile.state[:, :18].copy()
        for k in range(steps):
            before, at_s = self._pile.state[:, :18].copy(), time_s + k * h
            pushed += self._pile.step(h, self._wrenches(at_s, h), k * h)
            self._blows.note(before, h, at_s, -1 if self._grip is None else self._grip.body)
            borne, slip = self._pile.visited
            if borne > 0.0:
                self._note_borne(h)
            self._touch = Touch(self._touch.impulse_Ns + borne, max(self._touch.slip_mps, slip))
        self._pile.remember(self._capacity)
        given = pushed[:-1]
        if jointed is not None and not held:
            given = self._within_energy(given, jointed, begun)
        return given if given.any() else None

    def _within_energy(self, given: np.ndarray, jointed: JointedState, begun: np.ndarray) -> np.ndarray:
        """An impulse on the vehicle, or as much of it as gives no energy but what the props have lost since `begun`.

        Limbs that wedge each other in at limits of their joints leave no velocities that keep all of them apart, and
        impulses grow until nothing is left of the step.
        """
        v = jointed.velocity if jointed.untouched is None else jointed.untouched
        work, by_itself = float(given @ v), 0.5 * float(given @ jointed.mobility @ given)
        most = _GIVEN_J
        if work + by_itself <= most or by_itself <= 0.0:
            return given
        moves = 0.5 * float(v @ np.linalg.pinv(jointed.mobility, hermitian=True) @ v)
        most += _GIVEN * max(moves, 0.0) + max(
            self._pile.energy_J(0.0, begun) - self._pile.energy_J(0.0), 0.0
        )
        if work + by_itself <= most:
            return given
        root = math.sqrt(work**2 + 4.0 * by_itself * most)
        return given * (2.0 * most / (work + root) if work > 0.0 else (root - work) / (2.0 * by_itself))

    def renew(self, vehicle: Vehicle, time_s: float) -> None:
        if self._obstacles is not None:
            self._obstacles.renew(vehicle, time_s)
        if self.surroundings is not None:
            self.surroundings.renew(vehicle, time_s)
        if not guest_of(vehicle).same(self._guest):
            kept = self._own.copy()
            self._pile = self._piled(vehicle)
            self._own[:] = kept

    def within_reach(self, T_wb: np.ndarray, twist_b: np.ndarray, dt_s: float) -> bool:
        if not (np.isfinite(T_wb).all() and np.isfinite(twist_b).all()):
            return False
        if self._obstacles is not None and self._obstacles.within_reach(T_wb, twist_b, dt_s):
            return True
        twist_w = (twist_b.reshape(2, 3) @ T_wb[:3, :3].T).reshape(1, 6)
        k = len(self._guest.props)
        return self._near(np.repeat(T_wb[None], k, 0), np.repeat(twist_w, k, 0), dt_s, self._towed_m)

    def near(self, poses_w: np.ndarray, twists_w: np.ndarray, dt_s: float) -> bool:
        return self._near(poses_w, twists_w, dt_s, 0.0)

    def _near(self, poses_w: np.ndarray, twists_w: np.ndarray, dt_s: float, more_m: float) -> bool:
        """more_m: how much farther what is asked for may be, of bodies whose places are not at hand."""
        guest = self._guest
        frames, twists = poses_w[guest.bodies], twists_w[guest.bodies]
        if not (len(self._own) or guest.meets_itself):
            return False
        poses, stays = self._all(poses_w)
        if self._hook.slings and self._hook.near(poses[-1, 9:12], self._own[:, :12]):
            return True
        arms = poses[len(self._own) :, 9:12] - frames[:, :3, 3]
        drift = twists[:, 3:] + np.cross(twists[:, :3], arms)
        ways = dt_s * np.concatenate([self._own[:, 12:18], np.concatenate([twists[:, :3], drift], axis=1)])
        return self._pile.any_nearer(poses, stays, guest.meets, ways, _ROOM_M + more_m, _SELF_M)

    def gaps_m(self, poses_w: np.ndarray) -> np.ndarray:
        """(n, n) how far bodies that meet lie apart, below 0 where they overlap; inf of others.

        The vehicle's solids are the last, with its bodies, and last what holds it, at poses (k, 4, 4).

        Edges count as rounded, by which overlaps there are told too deep, never too shallow. For measuring: it looks at
        all pairs.
        """
        poses, stays = self._all(poses_w)
        own, meets = len(self._own), self._guest.meets
        apart = self._pile.gaps_m(poses)
        apart[stays[:, None] & stays] = np.inf
        apart[own:, own:][~meets] = np.inf
        np.fill_diagonal(apart, np.inf)
        return apart

    def _all(self, poses_w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(n, 12) poses of all that may meet, the vehicle's bodies last, and (n,) bool: of what stays."""
        guest = self._guest
        T_w = poses_w[guest.bodies] @ guest.T_b
        rows = np.concatenate([T_w[:, :3, :3].reshape(-1, 9), T_w[:, :3, 3]], axis=1)
        poses = np.concatenate([self._own[:, :12], rows])
        return poses, np.concatenate([self._stays, guest.bodies < 0])

    def touch(self) -> Touch:
        if self._obstacles is None:
            return self._touch
        still = self._obstacles.touch()
        return Touch(self._touch.impulse_Ns + still.impulse_Ns, max(self._touch.slip_mps, still.slip_mps))

    def _note_borne(self, h: float) -> None:
        """Contacts of the pile's last step at the vehicle's bodies; of props only such as are too heavy to be struck by
        it themselves."""
        own, guest, contacts = len(self._pile.props), self._guest, self._pile.contacts
        pairs = contacts[:, :2].astype(np.int64)
        impulses_Ns = np.abs(np.einsum("ij,ij->i", contacts[:, 5:8], contacts[:, 8:11])) * h
        mass = self._pile.mass_kg
        rows = []
        for k in np.flatnonzero((pairs >= own).any(axis=1)).tolist():
            for body, other in (pairs[k].tolist(), pairs[k, ::-1].tolist()):
                if body < own or other < 0 or guest.bodies[body - own] < 0 or own <= other < body:
                    continue  # of two limbs one tells it
                if other < own and 0.0 < mass[other] < impulses_Ns[k] / STRUCK_MPS:
                    continue
                on = SURFACES.index(self._blows.materials[other]) * (1 if mass[other] == 0.0 else -1)
                rows.append(
                    [guest.bodies[body - own], *contacts[k, 2:5], *contacts[k, 8:11], impulses_Ns[k], on]
                )
        if rows:
            self._borne = np.concatenate([self._borne, np.array(rows, float)])

    def borne(self) -> np.ndarray:
        return (
            self._borne if self._obstacles is None else np.concatenate([self._borne, self._obstacles.borne()])
        )

    def take_impact_mps(self) -> float:
        return 0.0 if self._obstacles is None else self._obstacles.take_impact_mps()

    def checkpoint(self) -> np.ndarray:
        remembered = np.zeros((self._capacity, KEPT))
        remembered[: len(self._pile.remembered)] = self._pile.remembered
        around = [self._hook.state] if self._hook.slings else []
        around += [] if self.surroundings is None else [self.surroundings.checkpoint()]
        within = self._pile.within.ravel()
        own = np.concatenate(
            [[len(self._pile.remembered)], self._own.ravel(), remembered.ravel(), within, *around]
        )
        return own if self._obstacles is None else np.r_[own, self._obstacles.checkpoint()]

    def restore(self, checkpoint: np.ndarray) -> None:
        self._blows.forget()
        state = self._own
        count, at = int(checkpoint[0]), 1 + state.size
        state[:] = checkpoint[1:at].reshape(state.shape)
        after = at + self._capacity * KEPT
        self._pile.remembered = checkpoint[at:after].reshape(-1, KEPT)[:count].copy()
        begin, after = after, after + self._pile.within.size
        self._pile.within[:] = checkpoint[begin:after].reshape(self._pile.within.shape)
        if self._hook.slings:
            begin, after = after, after + len(self._hook.state)
            self._hook.state[:] = checkpoint[begin:after]
        if self.surroundings is not None:
            begin, after = after, after + len(self.surroundings.checkpoint())
            self.surroundings.restore(checkpoint[begin:after])
        if self._obstacles is not None:
            self._obstacles.restore(checkpoint[after:])

    def picture(self) -> PropsPicture:
        return PropsPicture(
            self.shapes,
            self._rest_w,
            self.poses_w,
            tuple(one.colour for one in self._placed),
            None if self._obstacles is None else self._obstacles.picture(),
            self._placed,
            self._pile.contacts[:, 2:8].copy(),
            self._hook.lines_w(self._pile.state[-1:, 9:12].sum(axis=0), self._own[:, :12]),
            self._hook.caught,
            self._pile.overlap_m,
            self.blows,
            self._reach_m,
        )

    @property
    def blows(self) -> tuple[Blow, ...]:
        """The last ones, the latest last."""
        return self._blows.kept

    @property
    def poses_w(self) -> np.ndarray:
        """(n, 4, 4) of the principal axes of all props."""
        return self._pile.poses_w[: len(self._placed)]

    @property
    def momentum_w(self) -> np.ndarray:
        """(6,) angular about the world's origin, then linear, of all props."""
        return self._pile.momentum_w

    @property
    def bodies(self) -> int:
        return len(self._placed)

    def solids(self) -> np.ndarray:
        if not self._placed:
            return np.zeros((0, 7), np.float32)
        poses_w = self.poses_w
        found = np.zeros((len(poses_w), 7), np.float32)
        found[:, :3], found[:, 3:] = poses_w[:, :3, 3], quaternions_of(poses_w[:, :3, :3])
        return found

    def picture_of(self, solids: np.ndarray) -> PropsPicture:
        return replace(
            self.picture(),
            poses_w=poses_of(solids),
            contacts=np.zeros((0, 6)),
            cords_w=np.zeros((0, 2, 3)),
            blows=(),
        )

    def take_over(self, other: SolidsEnvironment) -> None:
        assert isinstance(other, Props)
        theirs: dict[Placed, list[int]] = {}
        for k, one in enumerate(other._placed):
            theirs.setdefault(one, []).append(k)
        for k, one in enumerate(self._placed):
            if theirs.get(one):
                self._own[k] = other._own[theirs[one].pop(0)]
        # Who rested on what has gone wakes.
        gone = [k for left in theirs.values() for k in left]
        reach = self._reach_m
        for k in gone:
            away = np.linalg.norm(self._own[: len(reach), 9:12] - other._own[k, 9:12], axis=1)
            near = away < reach + other._placed[k].prop.shape.solid().reach_m + _ROOM_M
            self._own[: len(reach)][near & ~self._stays[: len(reach)], 18] = 0.0

    def hold(self, grip: Grip | None) -> None:
        self._grip = grip

    def _hooked(self, jointed: JointedState, dt_s: float) -> np.ndarray:
        """Cords of the last of the vehicle's bodies, which is the hook of those that hang something out."""
        if not self._hook.slings or len(jointed.poses_w) < 2 + _LEAST_LINKS:
            return NO_CORDS
        hook_w = (jointed.poses_w[self._guest.bodies[-1]] @ self._guest.T_b[-1])[:3, 3]
        return self._hook.cords(len(self._guest.bodies) - 1, hook_w, self._own[:, :12], dt_s)

    def _wrenches(self, time_s: float, h: float) -> np.ndarray | None:
        """(n, 6) that act on the bodies beside contact and gravity; None where nothing does."""
        pile, around = self._pile, self.surroundings
        if self._grip is None and around is None:
            return None
        wrenches = np.zeros((len(pile.state), 6))
        if around is not None:
            around.wrenches(pile.state, pile.mass_kg, pile.inertia, time_s, h, wrenches)
            self._blows.dip(wrenches, time_s)
        if self._grip is not None:
            wrenches[self._grip.body] += hand_wrench(pile, self._grip, h)
        return wrenches

    @property
    def _own(self) -> np.ndarray:
        """State of the props and of what stands about."""
        return self._pile.state[: len(self._pile.props)]

    @property
    def _capacity(self) -> int:
        return _REMEMBERED * (len(self._pile.props) + 1)

    def _piled(self, vehicle: Vehicle | None) -> Pile:
        self._guest, self._towed_m, material = NOBODY, 0.0, "metal"
        if vehicle is not None:
            self._guest, config = guest_of(vehicle), config_of(vehicle)
            self._towed_m, material = reach_of_towed_m(vehicle, config.footprint), config.material
        props = [*(one.prop for one in self._placed), *self._standing]
        pile = Pile(
            props,
            self._world.terrain,
            visitors=self._guest.props,
            sweeps=SWEEPS,
            tolerance_mps=TOLERANCE_MPS,
        )
        self._stays = np.array([prop.mass_kg == 0.0 for prop in props], np.bool_)
        self._blows = Blows(pile, tuple(one.material for one in self._placed), material)
        return pile


def _sling(one: Placed) -> tuple[np.ndarray, float]:
    """Where it is fixed in the principal axes, on the top of a prop as it is put up, and its length [m]."""
    T_w = one.prop.T_w
    top_m = float(one.prop.shape.extremes_w[:, 2].max()) - T_w[2, 3]
    return T_w[:3, :3].T @ (0.0, 0.0, top_m), one.sling_m
