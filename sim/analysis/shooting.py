"""Multiple shooting: a recording in stretches, each with a start of its own, and Gauss-Newton steps over all of them.

Starts have to meet the ends before them: that is kept to first order in every step, by which all starts but the first
are eliminated (Bock's condensing). What is measured is compared on the group; derivatives are exact.
"""

from collections.abc import Callable, Mapping
from dataclasses import field
from functools import lru_cache

import casadi as ca
import numpy as np

from sim.analysis.gradient import places_of, rollout_gradient
from sim.analysis.measured_flight import Recording, groups_of
from sim.integrators import Integrator
from sim.platform.errors import InputError
from sim.platform.values import dataclass
from sim.vehicles import State, Vehicle
from sim.vehicles.forms.articulated import ClosedVehicle
from sim.vehicles.forms.base import Structure
from sim.vehicles.forms.parameters import Value

Progress = Callable[[int, Mapping[str, Value]], None]
"""Called before every iteration with its number, from 1, and the values until then."""
_MOST_ITERATIONS = 40
_SETTLED = 1e-7
"""Relative change of the parameters, and displacement of the starts, below which nothing more is to be gained."""
_MOST_CHANGE = 0.4
"""Of a parameter in one step, as a share of itself."""
_TRUST = 1.0
"""In a first guess: its standard error, as a share of it."""
_UNTOLD = 1.0
"""Relative standard error from which on a direction is not told."""
_INVOLVED = 0.3
"""Share of a direction, of those that it consists of."""
_SINGULAR = 1e-12
"""Of the squared singular values, relative to the largest."""
_LEAST = 1e-12
"""Noise, where something fits to the last digit."""


@dataclass(frozen=True, eq=False)
class Identified:
    """Values with standard errors; nan where the data do not tell."""

    vehicle: Vehicle
    """With the values that were found."""
    values: Mapping[str, Value]
    """Of the unknown parameters."""
    standard_errors: Mapping[str, Value]
    """As many numbers as the values have."""
    correlation: np.ndarray
    """(k, k) of all their numbers, in their order."""
    confounded: tuple[tuple[str, ...], ...]
    """Numbers that the data cannot tell apart, or not at all; of a vector `inertia.0` is the first."""
    initial: State = field(repr=False)
    """Where the motion began."""
    noise: Mapping[str, float]
    """Standard deviation of what was measured, by group: as given, or as it turned out."""
    iterations: int
    converged: bool

    def __str__(self) -> str:
        """A line a parameter, then what cannot be told."""
        lines = [
            f"{name} = {_text(value)} +- {_text(self.standard_errors[name])}"
            for name, value in self.values.items()
        ]
        lines += [
            f"{names[0]} is not told by these data"
            if len(names) == 1
            else f"{' and '.join(names)} are not told apart by these data"
            for names in self.confounded
        ]
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class _Linear:
    """Residuals and how they change with the first start and the parameters."""

    residuals: np.ndarray
    """(rows, dim) in units of the state."""
    slopes: np.ndarray
    """(rows, dim, dim + parameters)."""
    carried: list[tuple[np.ndarray, np.ndarray]]
    """For each stretch its start's displacement: constant (dim,), and by the first start and the parameters."""
    gap: float
    """The largest jump between two stretches."""


class Shooting:
    """One recording, and the present guess."""

    def __init__(
        self,
        vehicle: Vehicle,
        scheme: Integrator,
        data: Recording,
        unknown: tuple[str, ...],
        groups: dict[str, np.ndarray],
        interval: float,
    ) -> None:
        self._scheme, self._data, self._unknown, self._groups = scheme, data, unknown, groups
        self._vehicle = vehicle
        self._places = [place for name in unknown for place in places_of(vehicle, name)]
        self._first = vehicle.parameter_vector[self._places]
        self._trust = _TRUST * self._scales()
        steps = len(data.controls)
        stretch = max(round(min(interval / data.step_s, steps)), 1)
        self._bounds = np.unique(np.append(np.arange(0, steps, stretch), steps))
        self._starts = [self._guess(int(k)) for k in self._bounds[:-1]]
        self._compare, self._displace = _comparison(Structure.of(vehicle))
        self._sigma: dict[str, float] = {}
        self._given: set[str] = set()
        self._last: tuple[np.ndarray, np.ndarray] | None = None

    def run(self, sigma: dict[str, float], progress: Progress) -> tuple[bool, int]:
        """Gauss-Newton steps until they are small; whether they became so, and how many there were."""
        self._given = {name for name, value in sigma.items() if np.isfinite(value)}
        self._sigma = {name: value if name in self._given else 1.0 for name, value in sigma.items()}
        for iteration in range(1, _MOST_ITERATIONS + 1):
            progress(iteration, self._values)
            linear = self._linear()
            if iteration > 1 or not self._given:
                self._weigh(linear)
            moved = self._step(linear)
            if moved < _SETTLED and linear.gap < _SETTLED:
                self._finish()
                return True, iteration
        self._finish()
        return False, _MOST_ITERATIONS

    def _finish(self) -> None:
        linear = self._linear()
        self._weigh(linear)
        self._last = self._rows(linear)

    def _guess(self, k: int) -> np.ndarray:
        """A start at a moment of the recording: velocities that were not measured follow from poses around it."""
        layout, data, vehicle = self._vehicle.node_layout, self._data, self._vehicle
        node = data.nodes[k].copy()
        a, b = max(k - 3, 0), min(k + 3, len(data.nodes) - 1)
        compare, _ = _comparison(Structure.of(vehicle))
        change = np.array(compare(data.nodes[a], data.nodes[b])[0]).ravel()
        rate = change / ((b - a) * data.step_s)
        n = len(vehicle.angular)
        groups = groups_of(vehicle)
        for name, start in (("omega", "rotation"), ("velocity", "position"), ("shape_velocity", "shape")):
            if name in groups and name not in self._groups:
                block = layout.velocity if name != "shape_velocity" else layout.shape_velocity
                offset = n if name != "shape_velocity" else 2 * n + len(vehicle.shape_coordinates)
                node[block.start + groups[name] - offset] = rate[groups[start]]
        return _allowed(vehicle, node)

    def _linear(self) -> _Linear:
        dim, count = self._vehicle.space.dim, len(self._places)
        carried = (np.zeros(dim), np.hstack([np.eye(dim), np.zeros((dim, count))]))
        residuals, slopes, all_carried, gap = [], [], [], 0.0
        stretches = list(zip(self._bounds[:-1].tolist(), self._bounds[1:].tolist(), strict=True))
        for m, (a, b) in enumerate(stretches):
            all_carried.append(carried)
            run = rollout_gradient(
                self._vehicle,
                self._scheme,
                step=self._data.step_s,
                duration=self._data.step_s * (b - a),
                initial=self._vehicle.state_at_node(self._starts[m]),
                controls=self._data.controls[a:b],
            )
            jacobian = run.jacobian(self._unknown)
            constant, by = carried
            last = m + 1 == len(stretches)
            rows = slice(0, b - a + 1 if last else b - a)
            r, D = self._against(self._data.nodes[a : b + 1][rows], run.nodes[rows])
            J = D @ jacobian[rows]
            residuals.append(r + J[:, :, :dim] @ constant)
            slope = J[:, :, :dim] @ by
            slope[:, :, dim:] += J[:, :, dim:]
            slopes.append(slope)
            if not last:
                jump, D_end = self._against(self._starts[m + 1][None], run.nodes[-1:])
                A = D_end[0] @ jacobian[-1]
                gap = max(gap, float(np.abs(jump).max()))
                following = A[:, :dim] @ by
                following[:, dim:] += A[:, dim:]
                carried = (A[:, :dim] @ constant + jump[0], following)
        return _Linear(np.concatenate(residuals), np.concatenate(slopes), all_carried, gap)

    def _against(self, measured: np.ndarray, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(n, dim) displacements from what was measured to what is predicted, and (n, dim, size) their slopes."""
        n, size = nodes.shape
        r, D = self._compare.map(n)(measured.T, nodes.T)
        return np.array(r).T, np.array(D).reshape(-1, n, size).swapaxes(0, 1)

    def _weigh(self, linear: _Linear) -> None:
        """Noise that was not given is what is left."""
        for name, places in self._groups.items():
            if name not in self._given:
                left = linear.residuals[:, places]
                spare = 1.0 - linear.slopes.shape[2] / max(linear.residuals[:, self._all].size, 1)
                self._sigma[name] = max(float(np.sqrt(np.mean(left**2) / max(spare, 0.1))), _LEAST)

    @property
    def _values(self) -> dict[str, Value]:
        return {name: self._vehicle.values[name] for name in self._unknown}

    @property
    def _all(self) -> np.ndarray:
        return np.concatenate(list(self._groups.values()))

    def _rows(self, linear: _Linear) -> tuple[np.ndarray, np.ndarray]:
        """Weighted residuals (k,) and slopes (k, dim + parameters), the parameters' as shares of themselves."""
        weights = np.concatenate([np.full(len(p), 1.0 / self._sigma[n]) for n, p in self._groups.items()])
        r = (linear.residuals[:, self._all] * weights).ravel()
        J = (linear.slopes[:, self._all] * weights[:, None]).reshape(len(r), -1)
        return r, J * np.concatenate([np.ones(self._vehicle.space.dim), self._scales()])

    def _scales(self) -> np.ndarray:
        values = np.abs(self._vehicle.parameter_vector[self._places])
        return np.where(values > 0.0, values, 1.0)

    def _step(self, linear: _Linear) -> float:
        """One Gauss-Newton step; returns how far it went."""
        r, J = self._rows(linear)
        if not np.isfinite(J).all() or not np.isfinite(r).all():
            raise InputError(
                "the recording cannot be followed from this guess; allowed: a better one, a shorter interval"
            )
        # Where the data tell nothing, values stay near the guess; what they tell outweighs it by far.
        values = self._vehicle.parameter_vector[self._places]
        dim, scales = self._vehicle.space.dim, self._scales()
        prior = np.zeros((len(values), J.shape[1]))
        prior[:, dim:] = np.diag(scales / self._trust)
        found = -_least_squares(np.vstack([J, prior]), np.append(r, (values - self._first) / self._trust))
        shares = found[dim:]
        largest = float(np.abs(shares).max(initial=0.0))
        damped = min(1.0, _MOST_CHANGE / largest) if largest > 0.0 else 1.0
        found = damped * found
        absolute = np.concatenate([found[:dim], found[dim:] * self._scales()])
        moved = float(np.abs(found).max(initial=0.0))
        for m, (constant, by) in enumerate(linear.carried):
            # A shorter step closes as much of the gaps.
            shift = damped * constant + by @ absolute
            self._starts[m] = np.array(self._displace(self._starts[m], shift)).ravel()
        self._vehicle = self._with(self._vehicle.parameter_vector[self._places] + absolute[dim:])
        self._starts = [_allowed(self._vehicle, start) for start in self._starts]
        return moved

    def _with(self, numbers: np.ndarray) -> Vehicle:
        """The vehicle with these numbers of its unknown parameters, as far as they are allowed."""
        values: dict[str, Value] = {}
        at = 0
        for q in self._vehicle.parameters:
            if q.name in self._unknown:
                at = sum(
                    len(places_of(self._vehicle, n)) for n in self._unknown[: self._unknown.index(q.name)]
                )
                low = np.nextafter(q.low, q.high) if q.optional else q.low
                part = np.clip(numbers[at : at + q.size], low, q.high)
                values[q.name] = (
                    float(part[0]) if isinstance(q.default, int | float) else tuple(part.tolist())
                )
        return self._vehicle.with_parameters(**values)

    def outcome(self, converged: bool, iterations: int) -> Identified:
        """Values, and how sure they are: the inverse of the information that is left when the start is unknown, too."""
        assert self._last is not None
        _, J = self._last
        dim = self._vehicle.space.dim
        start, own = J[:, :dim], J[:, dim:]
        own = own - np.einsum("ij,jk->ik", start, _least_squares(start, own))
        information, directions = np.linalg.eigh(np.einsum("ij,ik->jk", own, own))
        floor = np.finfo(float).eps * max(float(information.max(initial=0.0)), 1.0)
        told = information > max(1.0 / _UNTOLD**2, floor * len(J))
        names = [
            name if len(places_of(self._vehicle, name)) == 1 else f"{name}.{k}"
            for name in self._unknown
            for k in range(len(places_of(self._vehicle, name)))
        ]
        lost = directions[:, ~told]
        confounded = tuple(
            tuple(name for name, share in zip(names, direction, strict=True) if abs(share) > _INVOLVED)
            for direction in lost.T
        )
        covariance = (directions[:, told] / information[told]) @ directions[:, told].T
        errors = np.sqrt(np.diag(covariance)) * self._scales()
        errors[(np.abs(lost) > _INVOLVED).any(axis=1)] = np.nan
        spread = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
        return Identified(
            vehicle=self._vehicle,
            values=self._values,
            standard_errors=self._named(errors),
            correlation=covariance / np.outer(spread, spread),
            confounded=confounded,
            initial=self._vehicle.state_at_node(self._starts[0]),
            noise=dict(self._sigma),
            iterations=iterations,
            converged=converged,
        )

    def _named(self, numbers: np.ndarray) -> dict[str, Value]:
        found: dict[str, Value] = {}
        at = 0
        for name in self._unknown:
            size, value = len(places_of(self._vehicle, name)), self._vehicle.values[name]
            part = numbers[at : at + size]
            found[name] = float(part[0]) if isinstance(value, int | float) else tuple(part.tolist())
            at += size
        return found


def _allowed(vehicle: Vehicle, node: np.ndarray) -> np.ndarray:
    """Where loops of joints are closed: what opens them has no derivatives there, and else nearly none."""
    return vehicle.closed_node(node) if isinstance(vehicle, ClosedVehicle) else node


def _least_squares(J: np.ndarray, r: np.ndarray) -> np.ndarray:
    """x with the least |J x - r|, of columns of like size; nothing along what J does not tell."""
    size = np.sqrt(np.einsum("ij,ij->j", J, J))
    size = np.where(size > 0.0, size, 1.0)
    scaled = J / size
    # Not by BLAS, whose threads wait for each other longer than so few columns take.
    values, vectors = np.linalg.eigh(np.einsum("ij,ik->jk", scaled, scaled))
    told = values > _SINGULAR * values[-1]
    inverse = (vectors[:, told] / values[told]) @ vectors[:, told].T
    return ((inverse @ np.einsum("ij,i...->j...", scaled, r)).T / size).T


@lru_cache(maxsize=16)
def _comparison(structure: Structure) -> tuple[ca.Function, ca.Function]:
    """(measured, node) -> displacement and its slope by the node; (node, displacement) -> node."""
    space = structure.vehicle.space
    a, b, d = ca.SX.sym("a", space.size), ca.SX.sym("b", space.size), ca.SX.sym("d", space.dim)
    way = space.difference(a, b)
    return (
        ca.Function("compare", [a, b], [way, ca.densify(ca.jacobian(way, b))]),
        ca.Function("displace", [a, d], [ca.densify(space.displaced(a, d))]),
    )


def _text(value: Value) -> str:
    return f"{value:.5g}" if isinstance(value, int | float) else f"({', '.join(f'{v:.5g}' for v in value)})"
