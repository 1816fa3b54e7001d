"""What a floating hull remembers of the waves that it makes (Cummins 1962), as a small passive linear system.

Linear potential flow about a hull that moves with velocity v (angular and of its origin, body frame, small motions)
gives the force -A_inf dv/dt - integral of K(t - s) v(s): A_inf is the water that moves along at once, K remembers the
waves. By frequency, K's transform is B(w) + i w (A(w) - A_inf) of added mass A and damping B. It is replaced by
G^T (i w - F)^-1 G with F + F^T negative semidefinite: such a system takes energy and never gives any (van der Schaft,
port-Hamiltonian systems), whatever the error of the fit, which is told.

A hull that is held in waves of height 1 feels X: by their own pressure (Froude-Krylov) and by that of the waves which
it scatters (diffraction). What it takes of waves and what it sends out are one: B(w) = k / (8 pi rho g c_g) times the
integral of |X|^2 over all headings (J. N. Newman, "The exciting forces on fixed bodies in waves", 1962).
`python -m assets.scripts.radiation NAME` works the numbers out by `capytaine` and writes them into the vehicle's
folder; nothing else needs that program.

Over a shallow bed the same hull radiates otherwise: `radiation-10.json` beside `radiation.json` is that over one 10 m
down. A sea has that of the depth which is nearest to its own.
"""

import math
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np

from sim.platform.errors import InputError
from sim.platform.values import dataclass

MOST_STATES = 60
_ROUNDED = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Radiation:
    """Numbers of one hull; SI units, torque before force, about its origin and along its axes."""

    omega_radps: np.ndarray
    """(m,) at which A and B are known."""
    added: np.ndarray
    """(m, 6, 6) A."""
    damping: np.ndarray
    """(m, 6, 6) B."""
    added_at_once: np.ndarray
    """(6, 6) A_inf."""
    system: tuple[np.ndarray, np.ndarray]
    """F (n, n) and G (n, 6)."""
    depth_m: float
    """Of the bed; that of oceans where the water is deep."""
    excited: np.ndarray | None = None
    """(m, headings, 6) X, complex [N m/m] and [N/m], of waves Re exp(i (k . x - omega t)) which go towards headings
    evenly about the hull, along level axes of which x is ahead, as the first heading is."""
    under_way: tuple[tuple[float, np.ndarray], ...] = ()
    """(speed ahead [m/s], X) where that is known at speeds, too, the slower first; omega is still that of the waves."""
    beside: tuple["Radiation", ...] = ()
    """The same hull over other beds, with as many states."""

    @staticmethod
    def read(path: Path) -> "Radiation":
        """With those over other beds that lie beside it.

        Raises InputError, naming the file, for numbers of other shapes and for a system that gives energy.
        """
        own, beside = Radiation._read(path), []
        for other in sorted(path.parent.glob(f"{path.stem}-*{path.suffix}")):
            beside.append(Radiation._read(other))
            states, wanted = len(beside[-1].system[0]), len(own.system[0])
            if states != wanted:
                raise InputError(f"{other}: F has {states} states; allowed: {wanted}, as {path.name} has")
        return replace(own, beside=tuple(beside))

    def over(self, depth_m: float) -> "Radiation":
        """That of the depth nearest to this one, by their ratio."""
        return min((self, *self.beside), key=lambda one: abs(math.log(one.depth_m / depth_m)))

    @staticmethod
    def _read(path: Path) -> "Radiation":
        try:
            told = msgspec.json.decode(path.read_bytes(), type=_File)
            omega = np.array(told.omega_radps, float)
            added, damping = np.array(told.added, float), np.array(told.damping, float)
            F, G = np.array(told.F, float), np.array(told.G, float)
            at_once = np.array(told.added_at_once, float)
            excited = None if told.excited is None else np.array(told.excited, float)
            under_way = [(speed, np.array(X, float)) for speed, X in told.under_way]
        except (OSError, UnicodeDecodeError, msgspec.MsgspecError, ValueError) as error:
            raise InputError(f"{path}: cannot be read as a hull's radiation: {error}") from None
        m, n = len(omega), len(F)
        wanted = {
            "omega_radps": (omega, (m,)),
            "added": (added, (m, 6, 6)),
            "damping": (damping, (m, 6, 6)),
            "added_at_once": (at_once, (6, 6)),
            "F": (F, (n, n)),
            "G": (G, (n, 6)),
        }
        if excited is not None:
            headings = excited.shape[1] if excited.ndim > 1 else 1
            wanted["excited"] = (excited, (m, max(headings, 1), 6, 2))
            wanted |= {f"under_way, {speed:g} m/s,": (X, excited.shape) for speed, X in under_way}
        for name, (array, shape) in wanted.items():
            if array.shape != shape or not np.isfinite(array).all():
                raise InputError(
                    f"{path}: {name} has shape {array.shape}; allowed: {shape}, all of it finite"
                )
        if not 1 <= n <= MOST_STATES:
            raise InputError(f"{path}: F has {n} states; allowed: 1 to {MOST_STATES}")
        gain = float(np.linalg.eigvalsh(F + F.T)[-1])
        if gain > _ROUNDED * float(np.abs(F).max()):
            raise InputError(f"{path}: F + F^T has the eigenvalue {gain:.3g}; allowed: none above 0")
        if not 0.0 < told.depth_m < math.inf:
            raise InputError(f"{path}: depth_m = {told.depth_m:g} is out of range; allowed: above 0")
        speeds = [0.0, *(speed for speed, _ in under_way)]
        if under_way and (excited is None or not (np.diff(speeds) > 0.0).all()):
            raise InputError(
                f"{path}: under_way has speeds {speeds[1:]}; allowed: rising from 0, beside excited"
            )
        system = (np.ascontiguousarray(F), np.ascontiguousarray(G))
        forces = None if excited is None else excited[..., 0] + 1j * excited[..., 1]
        faster = tuple((speed, X[..., 0] + 1j * X[..., 1]) for speed, X in under_way)
        return Radiation(omega, added, damping, at_once, system, told.depth_m, forces, faster)

    def fitted(self) -> np.ndarray:
        """(m, 6, 6) complex: the system's force over the velocity, which stands for B + i w (A - A_inf)."""
        return transfer(*self.system, self.omega_radps)

    def exact(self) -> np.ndarray:
        """(m, 6, 6) complex: the same as potential flow has it."""
        return self.damping + 1j * self.omega_radps[:, None, None] * (self.added - self.added_at_once)

    def error(self) -> np.ndarray:
        """(6,) largest distance of the two on the diagonal, over the largest exact one; 0 where nothing radiates."""
        exact = np.einsum("kii->ki", self.exact())
        off = np.abs(np.einsum("kii->ki", self.fitted()) - exact).max(axis=0)
        largest = np.abs(exact).max(axis=0)
        return np.where(largest > 0.0, off / np.where(largest > 0.0, largest, 1.0), 0.0)


def transfer(F: np.ndarray, G: np.ndarray, omega_radps: np.ndarray) -> np.ndarray:
    """(m, p, p) complex: G^T (i w - F)^-1 G at each frequency (m,)."""
    resolvent = 1j * omega_radps[:, None, None] * np.eye(len(F)) - F
    return np.asarray(G.T @ np.linalg.solve(resolvent, np.broadcast_to(G, (len(omega_radps), *G.shape))))


class _File(msgspec.Struct, forbid_unknown_fields=True):
    by: str
    omega_radps: list[float]
    added: list[list[list[float]]]
    damping: list[list[list[float]]]
    added_at_once: list[list[float]]
    F: list[list[float]]
    G: list[list[float]]
    depth_m: float = 4000.0
    excited: list[list[list[tuple[float, float]]]] | None = None
    under_way: list[tuple[float, list[list[list[tuple[float, float]]]]]] = msgspec.field(default_factory=list)
