"""Props of a scene: what `[[props]]` puts up, and the pile of it that a vehicle meets between its steps."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from sim.contact.bodies import Pile, Prop
from sim.contact.obstacles.obstacles import Obstacles, PropsPicture, obstacles_in
from sim.contact.pile import KEPT
from sim.environment.coupling import BodyState, CoupledEnvironment
from sim.platform.errors import InputError
from sim.platform.toml_table import TomlTable
from sim.shapes import KINDS, Box, ConvexMesh, Drum, Shape, Sphere
from sim.shapes.shape import FAR_M, Vector
from sim.shapes.surface import upright
from sim.vehicle_config import config_of
from sim.vehicles.forms.base import Vehicle
from sim.world import World

STEP_S = 0.005
SWEEPS, TOLERANCE_MPS = 60, 1e-6
_REMEMBERED = 12
"""Contacts a prop that are remembered from step to step at most."""
MOST_PROPS = 1000
_VEHICLE_FRICTION, _VEHICLE_RESTITUTION = 0.4, 0.1
_LOW_M, _HIGH_M = 0.2, 1.3
"""Between which heights over the ground a footprint is met."""

_HERE = (0.0, 0.0, 0.0)
_WEDGE = (
    (-1.0, -0.6, 0.0),
    (1.0, -0.6, 0.0),
    (1.0, 0.6, 0.0),
    (-1.0, 0.6, 0.0),
    (1.0, -0.6, 0.5),
    (1.0, 0.6, 0.5),
)


@dataclass(frozen=True, slots=True)
class _Usual:
    shape: Shape
    density_kgpm3: float
    friction: float
    restitution: float
    colour: Vector


USUAL: Mapping[str, _Usual] = {
    "ball": _Usual(Sphere(_HERE, 0.25), 60.0, 0.5, 0.6, (0.80, 0.16, 0.08)),
    "barrel": _Usual(Drum(_HERE, 0.3, 0.45), 120.0, 0.5, 0.1, (0.10, 0.30, 0.62)),
    "brick": _Usual(Box(_HERE, (0.2, 0.4, 0.2)), 250.0, 0.6, 0.0, (0.45, 0.13, 0.06)),
    "domino": _Usual(Box(_HERE, (0.05, 0.2, 0.4)), 500.0, 0.45, 0.0, (0.70, 0.66, 0.55)),
    "plank": _Usual(Box(_HERE, (1.5, 0.15, 0.03)), 600.0, 0.6, 0.0, (0.55, 0.36, 0.16)),
    "ramp": _Usual(ConvexMesh(_WEDGE), 0.0, 0.8, 0.0, (0.45, 0.46, 0.48)),
}
"""What may be asked for by its name alone. Without a density it stays where it is."""
_PLAIN = _Usual(Sphere(_HERE, 0.5), 300.0, 0.6, 0.1, (0.5, 0.5, 0.5))


@dataclass(frozen=True, slots=True)
class Placed:
    """A prop and how it looks."""

    prop: Prop
    colour: Vector
    """Linear RGB."""


def read_props(table: TomlTable) -> "PropsSpec | None":
    """`[[props]]`. Raises InputError, one line with file, key and what is allowed."""
    if not table.has("props"):
        return None
    found = [placed for own in table.tables("props") for placed in _read(own)]
    if len(found) > MOST_PROPS:
        raise table.error("props", f"are {len(found)} bodies; allowed: {MOST_PROPS}")
    return PropsSpec(tuple(found))


def _read(table: TomlTable) -> list[Placed]:
    """One table: a body, or a row of `count` of them, each `step_m` on and turned by `turn_deg`, in `layers`."""
    kind = table.name("kind", (*USUAL, *(name for name in KINDS if name != "cylinder")), "box")
    usual = USUAL.get(kind, _PLAIN)
    x, y, z = table.numbers("at_m", _HERE, low=-FAR_M, high=FAR_M, count=3)
    heading = math.radians(table.number("heading_deg", 0.0, low=-360.0, high=360.0)) if kind in USUAL else 0.0
    shape = usual.shape if kind in USUAL else KINDS[kind].read(table, "", "")
    solid = shape.solid()
    colour = table.numbers("colour", usual.colour, low=0.0, high=1.0, count=3)
    stays = table.flag("stays", usual.density_kgpm3 == 0.0)
    mass_kg = table.number("mass_kg", max(usual.density_kgpm3 * solid.volume_m3, 1e-3), low=1e-3, high=1e6)
    velocity = table.numbers("velocity_mps", _HERE, low=-1e3, high=1e3, count=3)
    omega = table.numbers("omega_radps", _HERE, low=-1e3, high=1e3, count=3)
    prop = Prop(
        shape,
        0.0 if stays else mass_kg,
        table.number("friction", usual.friction, low=0.0, high=10.0),
        table.number("restitution", usual.restitution, low=0.0, high=1.0),
        math.radians(table.number("pitch_deg", 0.0, low=-360.0, high=360.0)),
        math.radians(table.number("roll_deg", 0.0, low=-360.0, high=360.0)),
        (velocity[0], velocity[1], velocity[2]),
        (omega[0], omega[1], omega[2]),
    )
    count = table.integer("count", 1, low=1, high=MOST_PROPS)
    layers = table.integer("layers", 1, low=1, high=100)
    extent = np.ptp(shape.extremes_w, axis=0) if kind in USUAL else 2.0 * np.ones(3)
    step_m = table.number("step_m", float(extent[1]), low=-1e3, high=1e3)
    rise_m = table.number("rise_m", float(extent[2]), low=0.0, high=1e3)
    turn = math.radians(table.number("turn_deg", 0.0, low=-180.0, high=180.0))
    across = math.radians(table.number("row_deg", 90.0, low=-360.0, high=360.0))
    table.finish()
    found = []
    for layer in range(layers):
        # A wall's layers stand over the joints of those below.
        aside, faces = 0.5 * step_m * (layer % 2), heading
        place = np.array([x, y, z + layer * rise_m]) + aside * upright(faces + across)[:, 0]
        for k in range(count - (layer % 2 if layers > 1 else 0)):
            shade = 1.0 - 0.12 * ((3 * k + 2 * layer) % 4)  # so that each is seen in a wall
            at = (float(place[0]), float(place[1]), float(place[2]))
            moved = shape.moved(at, faces) if shape.turns or kind not in USUAL else _turned(shape, at, faces)
            found.append(Placed(replace(prop, shape=moved), tuple(shade * part for part in colour)))  # type: ignore[arg-type]
            faces += turn
            place = place + step_m * upright(faces - 0.5 * turn + across)[:, 0]
    return found


def _turned(shape: Shape, at: Vector, heading_rad: float) -> Shape:
    """A shape about the origin with its heading at another place; what is round has none."""
    if not isinstance(shape, ConvexMesh):
        return shape.moved(at)
    points = np.array(shape.points_w) @ upright(heading_rad).T + at
    return replace(shape, points_w=tuple((float(a), float(b), float(c)) for a, b, c in points))


@dataclass(frozen=True, slots=True)
class PropsSpec:
    """As the scene says them, before there is a world."""

    placed: tuple[Placed, ...]

    def begun(self, vehicle: Vehicle, T_wb: np.ndarray, world: World) -> CoupledEnvironment:
        return Props(self.placed, world, vehicle, obstacles_in(world, vehicle))


class Props:
    """A `CoupledEnvironment`: bodies that push each other, the ground, what stays, and the vehicle."""

    def __init__(
        self, placed: tuple[Placed, ...], world: World, vehicle: Vehicle, obstacles: Obstacles | None
    ) -> None:
        self._placed, self._world, self._obstacles = placed, world, obstacles
        blocks = () if world.grounds is None else world.grounds.blocks
        self._standing = [Prop(block.shape, 0.0, 0.6) for block in blocks]
        self._guest: Prop | None = None
        self._pile = self._piled(vehicle)
        self._rest_w = np.array([_axes(one.prop.shape) for one in placed])

    def exchange(self, time_s: float, dt_s: float, bodies: Mapping[str, BodyState]) -> dict[str, np.ndarray]:
        impulses: dict[str, np.ndarray] = {}
        by_still: Mapping[str, np.ndarray] = {}
        if self._obstacles is not None:
            by_still = self._obstacles.exchange(time_s, dt_s, bodies)
        name, body = next(iter(bodies.items())) if bodies else ("", None)
        steps = max(math.ceil(dt_s / STEP_S - 1e-9), 1)
        h, given = dt_s / steps, np.zeros(6)
        if body is not None:
            R = np.kron(np.eye(2), body.T_wb[:3, :3])
            mobility_w = R @ np.linalg.pinv(body.inertia_b, hermitian=True) @ R.T
            begins_w = body.twist_b.copy()
            if name in by_still:
                begins_w = begins_w + np.linalg.pinv(body.inertia_b, hermitian=True) @ by_still[name]
            twist_w, T_w = R @ begins_w, body.T_wb.copy()
            T_w[:3, 3] += T_w[:3, :3] @ self._offset_b
        else:
            # Far below everything: nothing meets it there.
            T_w, twist_w, mobility_w = np.eye(4), np.zeros(6), np.zeros((6, 6))
            T_w[2, 3] = -1e6
        if body is not None:
            # Its twist and mobility about the middle of what is met of it.
            arm = T_w[:3, 3] - body.T_wb[:3, 3]
            shift = np.eye(6)
            shift[3:, :3] = -_cross(arm)
            twist_w, mobility_w = shift @ twist_w, shift @ mobility_w @ shift.T
        for _ in range(steps):
            self._pile.visit(0, T_w, twist_w, mobility_w)
            pushed = self._pile.step(h)[0]
            self._pile.contacts = self._pile.contacts[: self._capacity]
            if body is not None and pushed.any():
                twist_w = twist_w + mobility_w @ pushed
                given += pushed
            T_w = T_w.copy()
            T_w[:3, 3] += h * twist_w[3:]
            if body is not None:
                T_w[:3, :3] = upright(h * float(twist_w[2])) @ T_w[:3, :3]
        if body is not None:
            given[:3] += np.cross(arm, given[3:])
            total = R.T @ given + by_still.get(name, np.zeros(6))
            if total.any():
                impulses[name] = total
        return impulses

    def renew(self, vehicle: Vehicle, time_s: float) -> None:
        if self._obstacles is not None:
            self._obstacles.renew(vehicle, time_s)
        if _guest(vehicle)[0] != self._guest:
            kept = self._pile.state[:-1].copy()
            self._pile = self._piled(vehicle)
            self._pile.state[:-1] = kept

    def within_reach(self, T_wb: np.ndarray, twist_b: np.ndarray, dt_s: float) -> bool:
        if not (np.isfinite(T_wb).all() and np.isfinite(twist_b).all()):
            return False
        if self._obstacles is not None and self._obstacles.within_reach(T_wb, twist_b, dt_s):
            return True
        state, reach = self._pile.state[:-1], self._reach_m
        room = reach[:-1] + reach[-1] + float(np.linalg.norm(self._offset_b)) + 0.1
        speeds = np.linalg.norm(state[:, 15:18], axis=1) + float(np.linalg.norm(twist_b[3:])) + 2.0
        away = np.linalg.norm(state[:, 9:12] - T_wb[:3, 3], axis=1)
        return bool((away < room + dt_s * speeds).any())

    def take_impact_mps(self) -> float:
        return 0.0 if self._obstacles is None else self._obstacles.take_impact_mps()

    def checkpoint(self) -> np.ndarray:
        remembered = np.zeros((self._capacity, KEPT))
        remembered[: len(self._pile.contacts)] = self._pile.contacts
        own = np.r_[len(self._pile.contacts), self._pile.state[:-1].ravel(), remembered.ravel()]
        return own if self._obstacles is None else np.r_[own, self._obstacles.checkpoint()]

    def restore(self, checkpoint: np.ndarray) -> None:
        state = self._pile.state[:-1]
        count, at = int(checkpoint[0]), 1 + state.size
        state[:] = checkpoint[1:at].reshape(state.shape)
        after = at + self._capacity * KEPT
        self._pile.contacts = checkpoint[at:after].reshape(-1, KEPT)[:count].copy()
        if self._obstacles is not None:
            self._obstacles.restore(checkpoint[after:])

    def picture(self) -> PropsPicture:
        return PropsPicture(
            tuple(one.prop.shape for one in self._placed),
            self._rest_w,
            self._pile.poses_w[: len(self._placed)],
            tuple(one.colour for one in self._placed),
            None if self._obstacles is None else self._obstacles.picture(),
        )

    @property
    def _capacity(self) -> int:
        return _REMEMBERED * (len(self._pile.props) + 1)

    def _piled(self, vehicle: Vehicle) -> Pile:
        self._guest, self._offset_b = _guest(vehicle)
        props = [*(one.prop for one in self._placed), *self._standing]
        pile = Pile(
            props,
            self._world.terrain,
            visitors=[self._guest],
            sweeps=SWEEPS,
            tolerance_mps=TOLERANCE_MPS,
        )
        self._reach_m = np.array([solid.reach_m for solid in pile.solids])
        return pile


def _axes(shape: Shape) -> np.ndarray:
    return shape.solid().T_w


def _cross(x: np.ndarray) -> np.ndarray:
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


def _guest(vehicle: Vehicle) -> tuple[Prop, np.ndarray]:
    """What is met of a vehicle, about the origin, and where in its frame that lies (3,)."""
    config = config_of(vehicle)
    footprint, points = config.footprint, config.contact.points[:, :3]
    if footprint is not None:
        middle = np.array([*footprint.centre_m, 0.5 * (_LOW_M + _HIGH_M)])
        half = np.array([*footprint.half_m, 0.5 * (_HIGH_M - _LOW_M)])
    elif len(points):
        middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
        half = np.maximum(0.5 * np.ptp(points, axis=0), 0.05)
    else:
        raise InputError(
            f"props: {vehicle.name} has neither footprint nor contact points; allowed: one with them"
        )
    box = Box(_HERE, (float(half[0]), float(half[1]), float(half[2])))
    return Prop(box, 1.0, _VEHICLE_FRICTION, _VEHICLE_RESTITUTION), middle
