"""A vehicle linearised about a steady motion: matrices, eigenvalues and modes, exact from its symbolic equations."""

from dataclasses import field

import numpy as np
from numpy.typing import ArrayLike

from sim.linear.local_motion import Coordinate, LocalMotion, local_motion
from sim.platform.errors import InputError, array_of, quote
from sim.platform.values import dataclass
from sim.vehicles import State, Vehicle, checked_state, checked_vehicle
from sim.vehicles.forms.form import Support

STEADY = 1e-6
"""Of the rates that the motion has without what makes it steady: what is left of them is rounding."""
_AHEAD_S = 1e-3
_TRIMS = 20
_OSCILLATES = 1e-9
_AS_SURE = 0.999
"""Share of the largest that counts as as large."""


@dataclass(frozen=True, eq=False)
class Mode:
    """A motion z = Re(shape exp(eigenvalue t)) of the coordinates; a pair of conjugates is one mode."""

    eigenvalue: complex
    """1/s; of a pair the one with the positive frequency."""
    shape: np.ndarray
    """(n,) complex, in the order of the coordinates; the largest number is 1 where units are put aside."""

    @property
    def oscillates(self) -> bool:
        return self.eigenvalue.imag > _OSCILLATES

    @property
    def frequency_hz(self) -> float:
        """Of the oscillation, damped as it is."""
        return self.eigenvalue.imag / (2.0 * np.pi)

    @property
    def damping_ratio(self) -> float:
        """1 where nothing oscillates and it decays, -1 where it grows; 0 at the eigenvalue 0."""
        size = abs(self.eigenvalue)
        return -self.eigenvalue.real / size if size > 0.0 else 0.0


@dataclass(frozen=True, eq=False)
class Linearisation:
    """z' = A z + B (u - controls) near a steady motion, in named coordinates z (n,) that vanish on it."""

    vehicle: Vehicle
    state: State
    """Of the steady motion at one time."""
    controls: np.ndarray
    """(n_controls,) that keep it steady."""
    coordinates: tuple[Coordinate, ...]
    """Names and units of z: a pose's are displacements in the frame of the moving body."""
    A: np.ndarray
    """(n, n)."""
    B: np.ndarray
    """(n, n_controls)."""
    rate: np.ndarray
    """(n,) of z under the controls; zero but for velocities that the steady motion keeps."""
    eigenvalues: np.ndarray
    """(n,) complex, 1/s, the fastest growing first."""
    modes: tuple[Mode, ...]
    """In the same order, pairs of conjugates once."""
    _local: LocalMotion = field(repr=False)
    _basis: np.ndarray = field(repr=False)
    """(all coordinates of the local motion, n)."""

    def __repr__(self) -> str:
        stable = "stable" if self.stable else "not stable"
        return f"<Linearisation: {self.vehicle.name}, {len(self.A)} coordinates, {len(self.modes)} modes, {stable}>"

    @property
    def stable(self) -> bool:
        """Nothing grows, but for eigenvalues that are zero to rounding."""
        return bool(
            self.eigenvalues.real.max(initial=0.0) <= 1e-6 * max(np.abs(self.A).max(initial=0.0), 1.0)
        )

    def state_at(self, z: ArrayLike) -> State:
        """The state with the coordinates z (n,)."""
        e = self._basis @ array_of("z", z, (len(self.coordinates),))
        return self.vehicle.state_at_node(self._local.node(self.state.node, self.controls, e))

    def state_of_mode(self, mode: Mode, amplitude: float, time_s: float = 0.0) -> State:
        """The state in which one mode alone is there, as large as that, so long after its start."""
        if not isinstance(mode, Mode) or mode.shape.shape != (len(self.coordinates),):
            raise InputError(f"mode = {quote(mode)} is refused; allowed: one of the linearisation's modes")
        return self.state_at(amplitude * np.real(mode.shape * np.exp(mode.eigenvalue * time_s)))


def linearise(
    vehicle: Vehicle | str, state: State | None = None, controls: ArrayLike | None = None
) -> Linearisation:
    """Equations of a vehicle, or of the one of a name, linearised about a steady motion: all velocities stay on it.

    state: of that motion; None: the vehicle's default state. controls: (n_controls,); None: those within their ranges
    that keep it steady. Ground, water and wind, which act beside the vehicle's own equations, are not in it. Raises
    InputError where the motion is not steady, naming what changes.
    """
    vehicle = checked_vehicle(vehicle)
    found = vehicle.default_state() if state is None else checked_state("state", vehicle, state)
    check_carried(vehicle)
    local = local_motion(vehicle)
    node = found.node
    u = (
        trimmed(vehicle, local, node)
        if controls is None
        else array_of(f"linearise {vehicle.name!r}: controls", controls, (len(vehicle.controls),))
    )
    _check_steady(vehicle, local, node, u)
    return near(vehicle, local, found, u)


def near(vehicle: Vehicle, local: LocalMotion, state: State, u: np.ndarray) -> Linearisation:
    """As `linearise`, wherever it is: `rate` says how steady that is."""
    basis = admitted(local, state.node)
    (rate, B), A = local.forced(state.node, u), local.varied(state.node, u)
    names = local.coordinates
    if len(basis) == basis.shape[1]:
        if local.reading is not None:
            T = local.reading(state.node, u)
            basis = np.linalg.inv(T)
        back = np.linalg.inv(basis)
    else:
        basis, kept = _named(basis)
        names = tuple(names[i] for i in kept)
        back = np.linalg.pinv(basis)
    A, B, rate = back @ A @ basis, back @ B, back @ rate
    values, vectors = np.linalg.eig(_without_noise(A))
    order = np.lexsort((-values.imag, -values.real))
    values, vectors = values[order], vectors[:, order]
    modes = tuple(
        Mode(complex(value), vector / vector[np.abs(vector).argmax()])
        for value, vector in zip(values, vectors.T, strict=True)
        if value.imag >= 0.0
    )
    return Linearisation(vehicle, state, u, names, A, B, rate, values, modes, local, basis)


def _without_noise(A: np.ndarray) -> np.ndarray:
    """The matrix without what rounding alone can have left of its row or its column.

    Such entries lie within the error of any eigenvalue; LAPACK scales rows and columns by them first, here by 1e32,
    and then eigenvectors are wrong in the first digit (Watkins 2006, "A case where balancing is harmful").
    """
    size = np.abs(A)
    lost = (
        len(A)
        * np.finfo(float).eps
        * np.maximum(size.max(axis=0, initial=0.0), size.max(axis=1, initial=0.0)[:, None])
    )
    return np.where(size > lost, A, 0.0)


def trimmed(vehicle: Vehicle, local: LocalMotion, node: np.ndarray) -> np.ndarray:
    """(n_controls,) within their ranges under which the rates that ought to vanish are least, by Newton's method."""
    import scipy.optimize  # a second, when it is wanted

    u = vehicle.neutral_controls.copy()
    if not u.size:
        return u
    low, high = (np.array([getattr(c, end) for c in vehicle.controls]) for end in ("low", "high"))
    for _ in range(_TRIMS):
        rate, B = local.forced(node, u)
        scale = np.abs(B[local.still]).max(axis=0, initial=0.0)
        scale = np.where(scale > 0.0, scale, 1.0)
        found = scipy.optimize.lsq_linear(
            B[local.still] / scale,
            -rate[local.still],
            (np.minimum((low - u) * scale, -1e-12), np.maximum((high - u) * scale, 1e-12)),
            tol=1e-14,
        )
        step = found.x / scale
        u = np.clip(u + step, low, high)
        if np.abs(step).max() <= 1e-14 * (1.0 + np.abs(u).max()):
            break
    return u


def check_carried(vehicle: Vehicle) -> None:
    """Raises InputError for what water carries, whose steady motions its own equations do not know."""
    if vehicle.support is Support.WATER:
        raise InputError(
            f"linearise {vehicle.name!r} is refused: water, which carries it, is not in its equations; "
            "allowed: its mechanics on flat water, sim.planner.calm_water(vehicle), or what flies, rolls or stands"
        )


def admitted(local: LocalMotion, node: np.ndarray) -> np.ndarray:
    """(all, n) directions that constraints leave, as columns."""
    count = len(local.coordinates)
    if local.admissible is None:
        return np.eye(count)
    rows = local.admissible(node)
    _, size, vectors = np.linalg.svd(rows)
    rank = int((size > 1e-9 * size.max(initial=0.0)).sum())
    return np.asarray(vectors[rank:].T)


def _named(basis: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """The same directions, spanned such that some of the coordinates are each other's only ones, and which: those
    that are surest to divide by, and of as sure ones the first, however a machine rounds."""
    left, kept = basis.copy(), []
    for _ in range(basis.shape[1]):
        sizes = np.linalg.norm(left, axis=1)
        kept.append(int(np.flatnonzero(sizes > _AS_SURE * sizes.max())[0]))
        way = left[kept[-1]] / sizes[kept[-1]]
        left -= np.outer(left @ way, way)
    kept.sort()
    return basis @ np.linalg.inv(basis[kept]), kept


def _check_steady(vehicle: Vehicle, local: LocalMotion, node: np.ndarray, u: np.ndarray) -> None:
    where = f"linearise {vehicle.name!r}"
    rate, B = local.forced(node, u)
    speed = np.where(local.still, 0.0, rate)
    fastest = max(1.0, np.abs(speed).max(initial=0.0))
    pushed = np.abs(B) @ np.abs(u) if u.size else np.zeros(len(rate))
    changing = np.abs(np.where(local.still, rate, 0.0))
    if np.any(changing > STEADY * (fastest**2 + pushed)):
        raise InputError(f"{where}: the motion is not steady: {_said(local, rate, changing)}")
    if not speed.any():
        return
    A = local.varied(node, u)
    size = max(1.0, np.abs(A).max()) * fastest
    later = A @ speed
    if np.abs(later).max() > STEADY * size * fastest:
        raise InputError(
            f"{where}: the motion does not stay steady: {_said(local, later, np.abs(later), ' in the next second')}"
        )
    ahead = local.varied(local.node(node, u, _AHEAD_S * speed), u)
    if np.abs(ahead - A).max() > 1e3 * STEADY * _AHEAD_S * size:
        raise InputError(f"{where}: what acts on it changes along the motion, so that it has no modes")


def _said(local: LocalMotion, rate: np.ndarray, size: np.ndarray, when: str = "") -> str:
    k = int(size.argmax())
    c: Coordinate = local.coordinates[k]
    return f"{c.name} changes by {rate[k]:.3g} {c.unit}/s{when}".replace(" /s", "/s")
