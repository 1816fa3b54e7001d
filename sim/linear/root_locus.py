"""Eigenvalues over a parameter or the speed: steady motions found one from the other, and linearised."""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from sim.linear.linearise import Linearisation, admitted, check_carried, linearise
from sim.linear.local_motion import LocalMotion, local_motion
from sim.platform.errors import InputError, numbers, one_of, quote
from sim.platform.values import dataclass
from sim.vehicles import State, Vehicle, checked_state, checked_vehicle
from sim.vehicles.forms.base import Structure
from sim.vehicles.forms.form import Form, Support

SPEED = "speed"
"""What a locus may be over besides parameters: of the main body along its motion [m/s]."""
_ITERATIONS, _HALVINGS, _BISECTIONS = 15, 6, 30
_SMALL, _SINGULAR = 1e-5, 1e-8
_DONE = 1e-9
_NOTHING = 1e-6
"""Of the largest of A's numbers: eigenvalues below are zero to rounding."""
_AT_REST_MPS = 0.05
_REST = 1e-9
"""Velocities below are none: what a search leaves of them."""


@dataclass(frozen=True, eq=False)
class RootLocus:
    """Of one vehicle, whose parameter or speed goes through the values."""

    over: str
    unit: str
    values: np.ndarray
    """(m,) rising."""
    found: tuple[Linearisation | None, ...]
    """(m,) about the steady motions; None where there is none near the one before."""
    eigenvalues: np.ndarray
    """(m, n) complex, 1/s: each column follows one from value to value; nan where there is no motion."""
    stable_spans: tuple[tuple[float, float], ...]
    """Of the values between which nothing grows; an end within them is found to rounding."""
    refused: str
    """Why there was no steady motion where there was none, the last reason; empty where there were all."""


def steady(
    vehicle: Vehicle | str,
    state: State | None = None,
    controls: ArrayLike | None = None,
    *,
    speed_mps: float | None = None,
) -> Linearisation:
    """Linearised about the steady motion that is nearest to a state, by Gauss' and Newton's method.

    state: None: the vehicle's default one. controls: where the search begins, (n_controls,); None: neutral. They are
    found within their ranges. speed_mps: of the main body along its motion, where that is to be another one. Raises
    InputError where the search does not come to a steady motion.
    """
    subject = checked_vehicle(vehicle)
    begun = subject.default_state() if state is None else checked_state("state", subject, state)
    u = subject.neutral_controls if controls is None else numbers("controls", controls)
    check_carried(subject)
    local = local_motion(subject)
    x, u = _settled(subject, local, begun.node.copy(), u.copy(), speed_mps)
    return linearise(subject, subject.state_at_node(x), u)


def root_locus(
    vehicle: Vehicle | str,
    over: str,
    values: Sequence[float],
    state: State | None = None,
    controls: ArrayLike | None = None,
    *,
    progress: Callable[[int], None] | None = None,
) -> RootLocus:
    """Eigenvalues while a parameter, or the "speed", goes through rising values, about steady motions near `state`.

    over: a parameter of one number, or "speed". state, controls: as `steady` takes them, where the search begins.
    progress: is told how many values are done. Raises InputError for what cannot be varied, and where no value has a
    steady motion.
    """
    subject = checked_vehicle(vehicle)
    known = variable(subject)
    if over not in known:
        raise InputError(
            f"root locus of {subject.name!r} over {quote(over)} is refused; allowed: {one_of(known, over)}"
        )
    at = np.sort(np.ravel(numbers("values", values)))
    if not len(at):
        raise InputError(f"root locus of {subject.name!r}: values are none; allowed: one or more")
    begun = subject.default_state() if state is None else checked_state("state", subject, state)
    now = speed_of(subject, begun) if over == SPEED else float(np.ravel(subject.values[over])[0])
    first = int(np.abs(at - now).argmin())
    found: list[Linearisation | None] = [None] * len(at)
    refused = ""
    for way in (range(first, len(at)), range(first - 1, -1, -1)):
        near: Linearisation | None = found[first]
        for k in way:
            try:
                near = found[k] = _at(subject, over, float(at[k]), begun, controls, near)
            except InputError as error:
                refused = str(error)
            if progress is not None:
                progress(sum(1 for one in found if one is not None))
    if not any(found):
        raise InputError(refused)
    size = max(len(one.eigenvalues) for one in found if one is not None)
    eigenvalues = np.full((len(at), size), np.nan + 0j)
    before: np.ndarray | None = None
    for row, one in zip(eigenvalues, found, strict=True):
        if one is not None and len(one.eigenvalues) == size:
            row[:] = one.eigenvalues if before is None else _followed(before, one.eigenvalues)
            before = row

    def between(value: float, near: Linearisation) -> Linearisation:
        return _at(subject, over, value, begun, controls, near)

    unit = "m/s" if over == SPEED else next(q.unit for q in subject.parameters if q.name == over)
    return RootLocus(
        over, unit, at, tuple(found), eigenvalues, _spans(at, eigenvalues, found, between), refused
    )


def variable(vehicle: Vehicle) -> tuple[str, ...]:
    """What a locus of it may be over."""
    own = tuple(q.name for q in vehicle.parameters if q.size == 1 and not q.structural)
    moves = vehicle.form is not Form.GROUP_ACTION and vehicle.support is not Support.STAND
    return (SPEED, *own) if moves else own


def speed_of(vehicle: Vehicle, state: State) -> float:
    """Of the main body [m/s]; negative where it goes backwards."""
    v = _twist(vehicle, state.node)[3:]
    return math.copysign(float(np.linalg.norm(v)), float(v @ _ahead(v)))


def _ahead(v: np.ndarray) -> np.ndarray:
    """(3,) the direction in the body's frame along which its speed counts: that of its motion, and forward."""
    size = float(np.linalg.norm(v))
    ahead = v / size if size > _AT_REST_MPS else np.array([1.0, 0.0, 0.0])
    return -ahead if ahead[0] < -0.5 else ahead


@lru_cache(maxsize=8)
def _twist_of(structure: Structure) -> ca.Function:
    vehicle = structure.vehicle
    p, x = ca.SX.sym("p", vehicle.parameter_count), ca.SX.sym("x", vehicle.node_layout.size)
    return ca.Function("twist", [p, x], [ca.densify(vehicle.twist(x, vehicle.symbols(p)))], {"cse": True})


def _twist(vehicle: Vehicle, node: np.ndarray) -> np.ndarray:
    return np.array(_twist_of(Structure.of(vehicle))(vehicle.parameter_vector, node)).ravel()


def _at(
    subject: Vehicle,
    over: str,
    value: float,
    begun: State,
    controls: ArrayLike | None,
    near: Linearisation | None,
) -> Linearisation:
    """The motion at a value, from the one before or the beginning."""
    node, u = (begun.node, controls) if near is None else (near.state.node, near.controls)
    if over == SPEED:
        return steady(subject, subject.state_at_node(node), u, speed_mps=value)
    changed = subject.with_parameters(**{over: value})
    before = subject if near is None else near.vehicle
    node, shape = node.copy(), subject.node_layout.shape
    node[shape] += changed.default_state().node[shape] - before.default_state().node[shape]
    return steady(changed, changed.state_at_node(node), u)


def _settled(
    vehicle: Vehicle, local: LocalMotion, x: np.ndarray, u: np.ndarray, speed_mps: float | None
) -> tuple[np.ndarray, np.ndarray]:
    """Node and controls at which nothing changes that ought not to, nor will."""
    low, high = (np.array([getattr(c, end) for c in vehicle.controls], float) for end in ("low", "high"))
    ahead = None if speed_mps is None else _ahead(_twist(vehicle, x)[3:])
    units = np.where(np.isfinite(high - low), np.maximum(high - low, 1e-12), 1.0)

    def moving(rate: np.ndarray) -> np.ndarray:
        return np.where(local.still | (np.abs(rate) < _REST), 0.0, rate)

    def residual(x: np.ndarray, u: np.ndarray) -> np.ndarray:
        rate, _ = local.forced(x, u)
        speed = moving(rate)
        later = local.varied(x, u) @ speed if speed.any() else 0.0 * rate
        size = max(1.0, float(np.abs(speed).max(initial=0.0)))
        rows = [rate[local.still], later / size]
        if ahead is not None and speed_mps is not None:
            rows.append(np.array([ahead @ _twist(vehicle, x)[3:] - speed_mps]))
        return np.concatenate(rows)

    F = residual(x, u)
    for _ in range(_ITERATIONS):
        if not np.abs(F).max(initial=0.0) > _DONE * (
            1.0 + np.abs(local.forced(x, u)[1] @ u).max(initial=0.0)
        ):
            break
        basis = admitted(local, x)
        n = basis.shape[1]
        (rate, B), A = local.forced(x, u), local.varied(x, u)
        if ahead is None and not moving(rate).any():
            # At rest all is known: what changes later are the rates of velocities that a displacement brings.
            by_all = np.hstack([A @ basis, B * units])
            slopes = np.vstack([by_all[local.still], A[:, ~local.still] @ by_all[~local.still]])
        else:
            columns = [
                (residual(local.node(x, u, e), u) - residual(local.node(x, u, -e), u)) / (2.0 * _SMALL)
                for e in _SMALL * basis.T
            ]
            columns += [
                (residual(x, u + d) - residual(x, u - d)) / (2.0 * _SMALL) for d in _SMALL * np.diag(units)
            ]
            slopes = np.column_stack(columns)
        step = np.linalg.lstsq(slopes, -F, rcond=_SINGULAR)[0]
        for _ in range(_HALVINGS):
            y = local.node(x, u, basis @ step[:n])
            w = np.clip(u + units * step[n:], low, high)
            there = residual(y, w)
            if np.linalg.norm(there) < np.linalg.norm(F):
                break
            step = 0.5 * step
        else:
            break
        x, u, F = y, w, there
    return x, u


def _followed(before: np.ndarray, values: np.ndarray) -> np.ndarray:
    """(n,) the eigenvalues in the order of those before that they are next to."""
    from scipy.optimize import linear_sum_assignment  # half a second, when it is wanted

    # Roots: rather one goes far than many a little, so that those that stay at zero do.
    _, order = linear_sum_assignment(np.sqrt(np.abs(before[:, None] - values[None, :])))
    return np.asarray(values[order])


def _spans(
    values: np.ndarray,
    eigenvalues: np.ndarray,
    found: Sequence[Linearisation | None],
    at: Callable[[float, Linearisation], Linearisation],
) -> tuple[tuple[float, float], ...]:
    """Where nothing grows; an end between two values is where the eigenvalue that passes is on the axis."""
    spans: list[tuple[float, float]] = []
    begin: float | None = None
    for k, one in enumerate(found):
        stable, before = one is not None and one.stable, found[k - 1] if k else None
        edge = float(values[k if stable or one is not None else k - 1])
        if before is not None and one is not None and before.stable != stable:
            edge = _edge(values[k - 1 : k + 1], eigenvalues[k - 1 : k + 1], before, at)
        if stable and begin is None:
            begin = edge
        elif not stable and begin is not None:
            spans.append((begin, edge))
            begin = None
    return (*spans, (begin, float(values[-1]))) if begin is not None else tuple(spans)


def _edge(
    ends: np.ndarray,
    eigenvalues: np.ndarray,
    near: Linearisation,
    at: Callable[[float, Linearisation], Linearisation],
) -> float:
    """Between two values where stability changes."""
    from scipy.optimize import brentq

    real = eigenvalues.real
    j = int((-real[0] * real[1]).argmax())
    if not np.abs(real[:, j]).min() > _NOTHING * np.abs(near.A).max():
        return _halved(ends, near, at)
    moving = np.abs(eigenvalues).max(axis=0) > _NOTHING * np.abs(near.A).max()  # the others stay at zero
    j = int(moving[:j].sum())
    known = {float(v): row[moving] for v, row in zip(ends, eigenvalues, strict=True)}

    def growth(value: float) -> float:
        """Real part of the one that passes, which is followed from the lines through the known ones beside it."""
        if value not in known:
            low, high = max(v for v in known if v < value), min(v for v in known if v > value)
            expected = known[low] + (value - low) / (high - low) * (known[high] - known[low])
            there = at(value, near).eigenvalues
            known[value] = _followed(expected, there[np.argsort(-np.abs(there))[: len(expected)]])
        return float(known[value][j].real)

    try:
        return float(
            brentq(growth, float(ends[0]), float(ends[1]), xtol=1e-9 * max(1.0, float(np.abs(ends).max())))
        )
    except InputError:
        return float(ends.mean())


def _halved(
    ends: np.ndarray, near: Linearisation, at: Callable[[float, Linearisation], Linearisation]
) -> float:
    """Where nothing decays on the one side, as of what has no friction, by bisection."""
    low, high = (float(end) for end in ends)
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        try:
            same = at(middle, near).stable == near.stable
        except InputError:
            break
        low, high = (middle, high) if same else (low, middle)
    return 0.5 * (low + high)
