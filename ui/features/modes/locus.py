"""What the page Modes shows, as plain values, and how a worker process makes it."""

from dataclasses import field, replace
from functools import lru_cache

import casadi as ca
import numpy as np

from sim.control.calm_water import CalmWater, calm_water, seen_from_above
from sim.linear.linearise import Linearisation, Mode
from sim.linear.root_locus import root_locus
from sim.platform.errors import InputError
from sim.platform.progress import Tell
from sim.platform.values import dataclass
from sim.simulation.lanes.snapshot import LaneSnapshot
from sim.vehicles import Vehicle
from sim.vehicles.forms.base import Structure
from sim.vehicles.forms.form import Support

ZERO = 1e-6
"""Eigenvalues below [1/s] are said to be zero."""
_SMALL = 1e-5
_POLAR = 3
_TINT = (0.12, 0.55, 0.90)
_AMPLITUDE = 0.5
"""rad or m: the farthest that a coordinate goes."""
_PERIODS = 2.0
_TIMES = 2.5
"""Of growth or decay by e that are shown ..."""
_SHORTEST_S, _LONGEST_S = 0.5, 12.0
"""... within these."""
_NAMED = 0.3
"""Of the largest share of a mode: coordinates with less are not named."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A locus to be worked out."""

    vehicle: Vehicle
    node: np.ndarray
    controls: np.ndarray
    over: str
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ModeShown:
    """One mode of a steady motion."""

    eigenvalue: complex
    """1/s; of a pair the one with the positive frequency."""
    moves: tuple[str, ...]
    """Coordinates that move most in it."""
    duration_s: float
    """After which it is seen from the start again."""
    sway: np.ndarray
    """(node size,) complex: how the node is displaced, times the exponential; as large as it is seen at its largest."""

    def node(self, still: np.ndarray, time_s: float) -> np.ndarray:
        """To first order, (node size,), where the steady motion is at `still`."""
        return np.asarray(still + np.real(self.sway * np.exp(self.eigenvalue * (time_s % self.duration_s))))


@dataclass(frozen=True, slots=True, eq=False)
class MotionShown:
    """A steady motion, and its modes, the fastest growing first."""

    vehicle: Vehicle
    node: np.ndarray
    stable: bool
    modes: tuple[ModeShown, ...]
    staying: int
    """Modes besides, whose eigenvalue is 0."""


@dataclass(frozen=True, slots=True, eq=False)
class Locus:
    """Eigenvalues over values of a parameter or the speed."""

    over: str
    unit: str
    values: np.ndarray
    motions: tuple[MotionShown | None, ...]
    eigenvalues: np.ndarray
    """(m, n) complex, a column each branch."""
    stable_spans: tuple[tuple[float, float], ...]
    refused: str


@dataclass(frozen=True, slots=True, eq=False)
class ModesView:
    """Immutable; replaced as a whole."""

    running: bool = False
    done: int = 0
    count: int = 0
    locus: Locus | None = None
    serial: int = 0
    """Grows with every locus."""


def worked_out(asked: Asked, tell: Tell) -> Locus:
    """In a worker process. Raises InputError."""
    state = asked.vehicle.state_at_node(asked.node)
    found = root_locus(asked.vehicle, asked.over, asked.values, state, asked.controls, progress=tell)
    motions = tuple(None if one is None else _shown(one) for one in found.found)
    return Locus(
        found.over,
        found.unit,
        found.values,
        motions,
        found.eigenvalues,
        found.stable_spans,
        found.refused,
    )


def _shown(found: Linearisation) -> MotionShown:
    moving = [mode for mode in found.modes if abs(mode.eigenvalue) >= ZERO]
    modes = tuple(_in_motion(found, mode) for mode in moving)
    return MotionShown(found.vehicle, found.state.node, found.stable, modes, len(found.modes) - len(moving))


def _in_motion(found: Linearisation, mode: Mode) -> ModeShown:
    rate = mode.eigenvalue.real
    duration_s = _TIMES / abs(rate) if abs(rate) > ZERO else _LONGEST_S
    if mode.oscillates:
        duration_s = min(duration_s, _PERIODS / mode.frequency_hz)
    duration_s = min(max(duration_s, _SHORTEST_S), _LONGEST_S)
    size = np.abs(mode.shape)
    named = [found.coordinates[k].name for k in np.argsort(-size) if size[k] > _NAMED]
    # What sways most is at its largest as it is seen first, or last where it grows.
    largest_s = duration_s if rate > 0.0 else 0.0
    places = np.array([not c.unit.endswith("/s") for c in found.coordinates])
    most = int(np.argmax(np.where(places, size, 0.0)))
    reached = mode.shape[most] if places[most] and size[most] > 0.0 else 1.0
    scale = _AMPLITUDE / (reached * np.exp(mode.eigenvalue * largest_s))
    still = found.state.node
    ways = [(found.state_at(_SMALL * z).node - still) / _SMALL for z in (mode.shape.real, mode.shape.imag)]
    return ModeShown(mode.eigenvalue, tuple(named), duration_s, scale * (ways[0] + 1j * ways[1]))


@dataclass(slots=True)
class Watched:
    """Which mode is seen in motion."""

    serial: int = -1
    """Of the locus that it belongs to."""
    value: int = 0
    mode: int = -1
    """-1: none."""
    seconds: float = field(default=0.0)


def linearised(lane: LaneSnapshot) -> LaneSnapshot:
    """As it is linearised: of what floats on waves, which no equations of its own know, its mechanics on flat water."""
    vehicle = lane.mechanics
    if vehicle is None or vehicle.support is not Support.WATER or not lane.node.size:
        return lane
    try:
        calm = _calm(vehicle)
    except InputError:  # said when it is asked for
        return lane
    return replace(lane, mechanics=calm, node=seen_from_above(calm, vehicle.state_at_node(lane.node)).node)


@lru_cache(maxsize=4)
def _calm(vehicle: Vehicle) -> CalmWater:
    return calm_water(vehicle)


def seen_of(lane: LaneSnapshot, motion: MotionShown, mode: ModeShown, time_s: float) -> LaneSnapshot:
    """The flown lane as it moves by the mode alone, as a ghost at the place where it is now."""
    vehicle = motion.vehicle
    node = mode.node(motion.node, time_s)
    names, poses = _bodies(Structure.of(vehicle))
    still, there = (
        np.array(poses(vehicle.parameter_vector, x)).T.reshape(-1, 4, 4).transpose(0, 2, 1)
        for x in (motion.node, node)
    )
    R = there[:, :3, :3]
    for _ in range(_POLAR):  # what a displacement to first order leaves of rotations
        R = 0.5 * R @ (3.0 * np.eye(3) - R.transpose(0, 2, 1) @ R)
    there[:, :3, :3] = R
    if vehicle.support is Support.STAND:
        T_w = np.eye(4)
        T_w[:3, 3] = lane.pivot_w if lane.pivot_w is not None else 0.0
    else:
        T_w = lane.T_wb @ np.linalg.inv(still[0])
    bodies = dict(zip(names, T_w @ there, strict=True))
    return replace(
        lane,
        bodies_previous=bodies,
        bodies=bodies,
        shape=node[vehicle.node_layout.shape],
        node=lane.node if isinstance(vehicle, CalmWater) else node,
        trails={},
        tint=_TINT,
        ghost=True,
    )


@lru_cache(maxsize=4)
def _bodies(structure: Structure) -> tuple[tuple[str, ...], ca.Function]:
    """Names, and (parameters, node) -> (4, 4 k) poses beside each other."""
    vehicle = structure.vehicle
    p, x = ca.SX.sym("p", vehicle.parameter_count), ca.SX.sym("x", vehicle.node_layout.size)
    bodies = vehicle.bodies(x, vehicle.symbols(p))
    side_by_side = ca.densify(ca.horzcat(*bodies.values()))
    return tuple(bodies), ca.Function("bodies", [p, x], [side_by_side], {"cse": True})
