"""Rigid bodies of any shape that push one another, the ground and what stays, as a thing of its own.

`Pile` holds them and goes on step by step; `sim.contact.pile` has the law.
"""

from collections.abc import Sequence

import numpy as np

from sim.contact.broad_phase import SLEEPS_AFTER_S, Resting
from sim.contact.convex import WORKSPACE, any_nearer, gaps, hulls_of
from sim.contact.manifold import POINT_WIDTH
from sim.contact.pair_rows import MOBILITY, Mechanism, Workspace
from sim.contact.pile import KEPT, STATE, Bodies, advance
from sim.groups.numeric import rotation_about, upright
from sim.platform.errors import InputError
from sim.platform.values import dataclass
from sim.shapes import Shape
from sim.shapes.solid import Solid
from sim.world.terrain import Terrain

SWEEPS, TOLERANCE_MPS = 200, 1e-9
GRAVITY_MPS2 = 9.81
GROUND_FRICTION, GROUND_RESTITUTION = 0.7, 1.0
Vector = tuple[float, float, float]
_NOTHING = np.zeros((0, 6))


@dataclass(frozen=True, slots=True)
class Prop:
    """A body among others: its shape says where it is, in an upright pose, which `pitch` and `roll` tilt."""

    shape: Shape
    mass_kg: float = 1.0
    """0: it stays where it is."""
    friction: float = 0.7
    """Of two that touch the geometric mean counts."""
    restitution: float = 0.0
    """Of two that touch the lesser one counts."""
    rolling_m: float = 0.0
    """Arm at which what it bears resists its rolling; of two that touch the greater one counts."""
    spinning_m: float = 0.0
    """The same of spinning about the normal."""
    pitch_rad: float = 0.0
    """About its own y, then `roll_rad` about its own x."""
    roll_rad: float = 0.0
    velocity_w: Vector = (0.0, 0.0, 0.0)
    omega_w: Vector = (0.0, 0.0, 0.0)
    yaw_rad: float = 0.0
    """At last about the vertical through its centre of mass, of shapes that have no heading."""
    skew_rad: float = 0.0
    """Of its principal axes of inertia about the shape's third axis: weights are hidden in it."""
    piece: bool = False
    """Of what has broken: other pieces and visitors, which it may be within at first, it meets once it has come out."""

    @property
    def T_w(self) -> np.ndarray:
        """(4, 4) where its shape's principal axes are."""
        T_w, pitch, roll = (
            self.shape.solid().T_w.copy(),
            rotation_about(1, self.pitch_rad),
            rotation_about(0, self.roll_rad),
        )
        T_w[:3, :3] = upright(self.yaw_rad) @ T_w[:3, :3] @ pitch @ roll
        return T_w


class Pile:
    """Bodies, whose whole state is `state`, what contact remembers, and which pieces are `within` each other."""

    def __init__(
        self,
        props: Sequence[Prop],
        terrain: Terrain | None = None,
        *,
        visitors: Sequence[Prop] = (),
        gravity_mps2: float = GRAVITY_MPS2,
        ground_friction: float = GROUND_FRICTION,
        sweeps: int = SWEEPS,
        tolerance_mps: float = TOLERANCE_MPS,
        sleeps: bool = True,
    ) -> None:
        """visitors: bodies of a mechanism that others move, told by `visit` before each step; they may be elsewhere.

        terrain: None: there is no ground. Raises InputError for a shape that is endless.
        """
        self.props = tuple(props)
        every = [*props, *visitors]
        self.solids: tuple[Solid, ...] = tuple(prop.shape.solid() for prop in every)
        mass = np.array([prop.mass_kg for prop in every], float)
        if (mass < 0.0).any() or not np.isfinite(mass).all():
            raise InputError("mass_kg of a prop is below 0; allowed: 0 (it stays) or more")
        pieces = np.array([prop.piece for prop in every], np.bool_)
        pieces[len(props) :] = pieces.any()
        numbers = np.where(pieces, np.cumsum(pieces) - 1, -1)
        of_props = pieces[: len(props)].sum()
        within = np.ones((pieces.sum(), pieces.sum()), np.bool_)
        within[of_props:, of_props:] = False
        nothing, low = np.full((2, 2), -1e9, np.float32), (0.0, 0.0)
        heights = nothing if terrain is None else np.ascontiguousarray(terrain.heights, np.float32)
        origin, spacing = (low, 1.0) if terrain is None else (terrain.origin_m, terrain.spacing_m)
        self._bodies = Bodies(
            hulls_of(self.solids),
            mass,
            np.array([_moments(prop, solid) for prop, solid in zip(every, self.solids, strict=True)]).reshape(
                -1, 4
            ),
            np.array([prop.friction for prop in every], float),
            np.array([prop.restitution for prop in every], float),
            np.array([prop.rolling_m for prop in every], float),
            np.array([prop.spinning_m for prop in every], float),
            heights,
            np.array([*origin, spacing, ground_friction, GROUND_RESTITUTION, gravity_mps2]),
            np.array([_half_extents(solid) for solid in self.solids]).reshape(-1, 3),
            numbers.astype(np.int64),
            within,
            Resting.of(np.array([solid.reach_m for solid in self.solids])),
            Workspace.of(len(every), STATE, WORKSPACE, POINT_WIDTH),
        )
        self.mass_kg, self.inertia = self._bodies.mass, self._bodies.inertia
        """(n,) kg, 0 of what stays, and (n, 4) as `sim.contact.pile.Bodies` has them; visitors last."""
        self.within = within
        """(m, m) bool: which pieces, visitors last, are within each other; a part of the state."""
        self._mobility = np.zeros((len(every), MOBILITY))
        self._mechanism = _resting(len(visitors))
        self._sweeps, self._tolerance_mps, self._sleeps = sweeps, tolerance_mps, sleeps
        self.gravity_mps2 = gravity_mps2
        self.state = np.zeros((len(every), STATE))
        for row, prop in zip(self.state, every, strict=True):
            _put(row, prop)
        self.state[mass == 0.0, 18] = SLEEPS_AFTER_S
        self.contacts = self.remembered = np.zeros((0, KEPT))
        """(k, KEPT) of the last step: bodies (-1: the ground), place, mean force [N], normal, torque [N m]; in the
        world. Of those that are remembered the next step begins."""
        self.visited = 0.0, 0.0
        """In the last step: sum of the normal impulses of all contacts of visitors [N s], and how fast the fastest of
        those that bear slips [m/s]."""
        self.residual_mps, self.overlap_m, self.parted_J = 0.0, 0.0, 0.0
        """Of the last step: by how much velocities still changed, how deep the deepest overlap is, and the work of
        pushing overlaps apart, by which energy may rise."""

    def step(self, h: float, wrenches_w: np.ndarray | None = None, late_s: float = 0.0) -> np.ndarray:
        """Go on by h. wrenches_w: (n, 6) torques and forces on the bodies, in the world. late_s: so long before it what
        visits gets all that it is given, and has gone that much further.

        Returns (nu,) the generalised impulse on what visits, whose velocity becomes what it is after it.
        """
        given = _NOTHING if wrenches_w is None else wrenches_w
        self.contacts, pushed, told = advance(
            self._bodies,
            self._mechanism,
            self.state,
            self._mobility,
            np.ascontiguousarray(given, float),
            self.remembered,
            h,
            late_s,
            self._sweeps,
            self._tolerance_mps,
            self._sleeps,
        )
        self.remembered = self.contacts
        self.residual_mps, self.overlap_m, self.parted_J = float(told[0]), float(told[3]), float(told[4])
        self.visited = float(told[5]), float(told[6])
        return np.asarray(pushed)

    def visit(self, T_w: np.ndarray, mechanism: Mechanism) -> None:
        """Where the visitors are now: poses (visitors, 4, 4) of their shapes' principal axes, and how they move."""
        rows = self.state[len(self.props) :]
        rows[:, :9], rows[:, 9:12] = T_w[:, :3, :3].reshape(-1, 9), T_w[:, :3, 3]
        self._mechanism = mechanism

    def any_nearer(
        self,
        poses: np.ndarray,
        stays: np.ndarray,
        meets: np.ndarray,
        ways: np.ndarray,
        room_m: float,
        self_m: float,
    ) -> bool:
        """Of its solids at poses (n, 12), visitors last, as `sim.contact.convex.any_nearer` has it."""
        return bool(any_nearer(self._bodies.hulls, poses, stays, meets, ways, room_m, self_m))

    def gaps_m(self, poses: np.ndarray) -> np.ndarray:
        """(n, n) how far its solids at poses (n, 12), visitors last, lie apart from each other."""
        return np.asarray(gaps(self._bodies.hulls, poses))

    def answer(self, body: int) -> tuple[float, np.ndarray]:
        """By which a prop answers impulses: the inverse of its mass, and (3, 3) that of its inertia in the world."""
        mass, R = float(self._bodies.mass[body]), self.state[body, :9].reshape(3, 3)
        if mass == 0.0:
            return 0.0, np.zeros((3, 3))
        axes = R @ upright(float(self.inertia[body, 3]))
        return 1.0 / mass, (axes / self.inertia[body, :3]) @ axes.T

    def leave(self, T_w: np.ndarray) -> None:
        """The visitors are at poses (visitors, 4, 4), and stay there."""
        self.visit(T_w, _resting(len(T_w)))

    def remember(self, most: int) -> None:
        """Only the first contacts, and none of visitors: what they bear is not begun with again."""
        others = (self.contacts[:, :2] < len(self.props)).all(axis=1)
        self.remembered = self.contacts[others][:most].copy()

    @property
    def asleep(self) -> np.ndarray:
        """(n,) bool of the props."""
        return np.asarray(self.state[: len(self.props), 18] >= SLEEPS_AFTER_S)

    @property
    def poses_w(self) -> np.ndarray:
        """(n, 4, 4) of the props' principal axes."""
        own = self.state[: len(self.props)]
        poses = np.tile(np.eye(4), (len(own), 1, 1))
        poses[:, :3, :3], poses[:, :3, 3] = own[:, :9].reshape(-1, 3, 3), own[:, 9:12]
        return poses

    @property
    def momentum_w(self) -> np.ndarray:
        """(6,) spin about the world's origin [N m s], and momentum [N s], of what moves."""
        total = np.zeros(6)
        for row, mass, inertia in self._moving():
            R, x, omega, v = row[:9].reshape(3, 3), row[9:12], row[12:15], row[15:18]
            axes = R @ upright(float(inertia[3]))
            total[:3] += axes @ (inertia[:3] * (axes.T @ omega)) + mass * np.cross(x, v)
            total[3:] += mass * v
        return total

    def energy_J(self, h: float, state: np.ndarray | None = None) -> float:
        """Kinetic and potential, with velocities at the nodes of steps of h, between those that moved the bodies.

        No step raises it by more than `parted_J`, what curved ways take of gravity within a step and what sweeps leave.
        With h = 0, by velocities that moved the bodies, a bounce raises it by up to what gravity gives within a step.
        state: (n, 18) in which the bodies were, in place of the present one.
        """
        gravity, total = self._bodies.frame[5], 0.0
        for row, mass, inertia in self._moving(state):
            spin = upright(float(inertia[3])).T @ row[:9].reshape(3, 3).T @ row[12:15]
            total += 0.5 * mass * float(row[15:18] @ row[15:18]) + 0.5 * float(spin @ (inertia[:3] * spin))
            total += mass * gravity * float(row[11] - 0.5 * h * row[17])
        return total

    def _moving(self, state: np.ndarray | None = None) -> list[tuple[np.ndarray, float, np.ndarray]]:
        bodies = self._bodies
        rows = zip(
            (self.state if state is None else state)[: len(self.props)],
            bodies.mass.tolist(),
            bodies.inertia,
            strict=False,
        )
        return [row for row in rows if row[1] > 0.0]


def _resting(bodies: int) -> Mechanism:
    """Of visitors that stay where they are."""
    none, nobody = np.zeros((0, 0)), np.zeros((bodies, bodies), np.bool_)
    return Mechanism(np.zeros((bodies, 6, 0)), none, np.zeros(0), nobody, False)


def _moments(prop: Prop, solid: Solid) -> np.ndarray:
    """(4,) principal moments of inertia [kg m^2], and the angle of their axes about the third one."""
    return np.array([*(prop.mass_kg * solid.gyration_m2), prop.skew_rad])


def _half_extents(solid: Solid) -> np.ndarray:
    """(3,) of the box about it, in its axes and about its centre of mass."""
    across = np.sqrt(np.maximum(1.0 - solid.circles[:, 3:6] ** 2, 0.0)) * solid.circles[:, 6:]
    half: np.ndarray = (np.abs(solid.circles[:, :3]) + across).max(axis=0) + solid.rounding_m
    return half * solid.stretch


def _put(row: np.ndarray, prop: Prop) -> None:
    T_w = prop.T_w
    row[:9], row[9:12] = T_w[:3, :3].ravel(), T_w[:3, 3]
    row[12:15], row[15:18] = prop.omega_w, prop.velocity_w
