"""Connection and symmetry basis out of constraints and kinetic energy (vehicles paper, section 5).

The constraints W_s(r) u + W_b(r) xi = 0 leave the locked vehicle the directions e(r), W_b e = 0, and tell where a
moving shape takes the body, W_b A = W_s, up to these directions. The mechanical connection is the A whose motion
xi = -A u carries no momentum along them: e' (dmu/du - dmu/dxi A) = 0.

Everything is a symbolic expression of the shape without branches. What is divided by is chosen where the numbers
are known, at many random shapes and near the parameters' defaults: numbers before parameters, parameters before
functions of the shape, and those only where they keep their sign.

The constraints have to stay independent at every shape within the stops. Samples alone miss a shape at which one stops
counting: such shapes are lines and points. So the smallest singular value, which vanishes there, is followed down from
the samples at which it is least. That is a search, no proof.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

import casadi as ca
import numpy as np

from sim.platform.errors import InputError
from sim.platform.values import dataclass
from sim.symbolic import collected, independent_of, solve

_SAMPLES = 60
_ZERO = 1e-14
_SAFE = 0.03
"""Smallest fraction of its largest size that a divisor may have within the stops."""


@dataclass(frozen=True)
class SamplePoints:
    """Shapes and parameters, a column each, at which expressions are looked at."""

    r: ca.SX
    p: ca.SX
    shapes: np.ndarray
    """(n_shape, samples)."""
    parameters: np.ndarray
    """(parameters, samples)."""

    @staticmethod
    def of(
        r: ca.SX, p: ca.SX, stops: Sequence[tuple[float, float]], parameters: np.ndarray, absent: np.ndarray
    ) -> "SamplePoints":
        """Shapes within the stops, else within a turn; parameters (n,) scattered but for the absent ones."""
        rng = np.random.default_rng(5)
        low, high = (np.clip(np.array([s[k] for s in stops]), -math.pi, math.pi) for k in (0, 1))
        shapes = rng.uniform(low[:, None], high[:, None], (len(stops), _SAMPLES))
        scattered = parameters[:, None] * rng.uniform(0.8, 1.25, (len(parameters), _SAMPLES))
        scattered += np.where(parameters == 0.0, 1.0, 0.0)[:, None] * rng.uniform(0.2, 0.4, scattered.shape)
        scattered[absent] = 0.0
        return SamplePoints(r, p, shapes, scattered)

    def values(self, expression: ca.SX) -> np.ndarray:
        """(samples, rows, columns)."""
        f = ca.Function("values", [self.r, self.p], [ca.densify(expression)]).map(_SAMPLES)
        rows, columns = expression.shape
        return np.array(f(self.shapes, self.parameters)).T.reshape(_SAMPLES, columns, rows).swapaxes(1, 2)

    def without_zeros(self, expression: ca.SX) -> ca.SX:
        """What vanishes at every sample is a structural zero."""
        if not expression.numel():
            return expression
        size = np.abs(self.values(expression))
        zero = size.max(axis=0) <= _ZERO * max(float(size.max()), 1e-300)
        rows = [
            ca.horzcat(*[ca.SX(1, 1) if zero[i, j] else expression[i, j] for j in range(expression.shape[1])])
            for i in range(expression.shape[0])
        ]
        return ca.sparsify(ca.vertcat(*rows))


class Reduction:
    """What follows from constraints W = [W_s, W_b] (n, n_shape + dim), symbolic in the samples' r and p.

    Raises InputError, beginning with `where`, for constraints that no connection can answer.
    """

    def __init__(
        self,
        where: str,
        constraints: ca.SX,
        n_shape: int,
        names: Sequence[str],
        at: SamplePoints,
        dependent: Sequence[int] = (),
    ):
        """dependent: shape coordinates whose velocities follow from the others', whatever the body does."""
        self.where, self.n_shape, self.names, self.at, self.dependent = where, n_shape, names, at, dependent
        W = at.without_zeros(constraints)
        self.by_shape, self.by_body = W[:, :n_shape], W[:, n_shape:]
        rows, left = self._independent_rows()
        self._left = self.by_shape[left, :], self.by_body[left, :]
        self.by_shape, self.by_body = self.by_shape[rows, :], self.by_body[rows, :]
        self.rank = len(rows)

    def _independent_rows(self) -> tuple[list[int], list[int]]:
        """Those that bind the body, and as many others as there are dependent shape coordinates."""
        whole, body = (self.at.values(x) for x in (ca.horzcat(self.by_shape, self.by_body), self.by_body))
        if not np.isfinite(whole).all():
            raise InputError(f"{self.where}: constraints are not finite at some shape within the stops")
        length = np.linalg.norm(whole, axis=2, keepdims=True)
        whole, body = whole / (length + (length == 0.0)), body / (length + (length == 0.0))
        rank = int(np.linalg.matrix_rank(body[0], 1e-9)) if body.size else 0
        bound = len(self.dependent)
        for k in range(_SAMPLES):
            beyond = int(np.linalg.matrix_rank(whole[k], 1e-9)) - rank
            if beyond != bound or np.linalg.matrix_rank(body[k], 1e-9) != rank:
                if np.linalg.matrix_rank(body[k], 1e-9) == rank:
                    named = ", ".join(self.names[i] for i in self.dependent) or "none"
                    raise InputError(
                        f"{self.where}: constraints bind {beyond} shape velocities to each other, whatever the body "
                        f"does, as those of a trailer do; dependent names {bound} ({named}), allowed: that many"
                    )
                raise self._drops(k)
        rows: list[int] = []
        if bound:
            while len(rows) < rank:
                others = [i for i in range(whole.shape[1]) if i not in rows]
                rows.append(max(others, key=lambda i: _least_singular(body[:, [*rows, i]])))
        for i in range(whole.shape[1]):
            if not bound and np.linalg.matrix_rank(body[0][[*rows, i]], 1e-9) > len(rows):
                rows.append(i)
        left: list[int] = []
        for i in range(whole.shape[1]):
            if i not in rows and np.linalg.matrix_rank(whole[0][[*rows, *left, i]], 1e-9) > len(rows) + len(
                left
            ):
                left.append(i)
        return rows, left

    def _drops(self, sample: int) -> InputError:
        shape = ", ".join(
            f"{name} = {value:.2g}" for name, value in zip(self.names, self.at.shapes[:, sample], strict=True)
        )
        return InputError(
            f"{self.where}: the constraints lose a direction near {shape}; set stops that keep away from there"
        )

    @cached_property
    def basis(self) -> ca.SX:
        """(dim, n_b) e: generalised cross products of the constraints, so without any division by the shape."""
        dim, free = self.by_body.shape[1], self.by_body.shape[1] - self.rank
        if free == 0:
            return ca.SX(dim, 0)
        if self.rank == 0:
            return ca.SX.eye(dim)
        minors = _Minors(self.by_body)
        best, chosen, plain = 0.0, None, False
        for pivots in itertools.combinations(range(dim), self.rank):
            det = minors.of(range(self.rank), pivots)
            safe, constant = self._least_fraction(det), independent_of(det, self.at.r)
            if safe > _SAFE and (constant, safe) > (plain, best):
                best, chosen, plain = safe, pivots, constant
        if chosen is None and free > 1:
            raise InputError(
                f"{self.where}: no symmetry_basis is smooth at all shapes within the stops; declare it, or narrow them"
            )
        pivots = chosen or tuple(range(self.rank))
        columns = []
        for f in (i for i in range(dim) if i not in pivots):
            columns.append(self._cross(minors, sorted((*pivots, f)), f if plain else None))
        basis = self.at.without_zeros(ca.horzcat(*columns))
        size = np.linalg.norm(self.at.values(basis), axis=1).min(axis=1)
        if size.min() < 1e-6 * size.max():
            raise self._drops(int(size.argmin()))
        return basis

    def _cross(self, minors: "_Minors", among: Sequence[int], one: int | None) -> ca.SX:
        """(dim,) orthogonal to the constraints, of the given components; with `one`, that component is 1."""
        column = ca.SX.zeros(self.by_body.shape[1])
        rows = range(self.rank)
        for k, i in enumerate(among):
            column[i] = (-1) ** k * minors.of(rows, [j for j in among if j != i])
        return column if one is None else ca.SX(column / column[one])

    def connection(self, basis: ca.SX, inertia: ca.SX, coupling: ca.SX) -> ca.SX:
        """(dim, n_shape) A, mechanical for dmu/dxi (dim, dim) and dmu/du (dim, n_shape); basis: columns e."""
        if self.rank == self.by_body.shape[1] and self.n_shape:
            det = self.at.values(_Minors(self.by_body).of(range(self.rank), range(self.rank))).ravel()
            if det.min() <= 0.0 <= det.max():
                raise self._drops(int(np.abs(det).argmin()))
        A = self._particular()
        if basis.shape[1] and self.n_shape:
            left = self.at.without_zeros(basis.T @ (coupling - inertia @ A))
            if left.nnz():
                A = A + basis @ solve(self.at.without_zeros(basis.T @ inertia @ basis), left)
        if A.numel() and self.at.r.numel():
            # Products of parameters first: they are the same at every step.
            A = ca.reshape(collected(ca.vec(A), self.at.r), *A.shape)
        return self.at.without_zeros(A)

    @cached_property
    def binding(self) -> ca.SX:
        """(n dependent, n_shape) S: S u = 0 on admissible shape velocities. Raises InputError where these do not
        determine the dependent ones."""
        by_shape, by_body = self._left
        S = self.at.without_zeros(ca.densify(by_shape - by_body @ self._particular()))
        square = self.at.values(S)[:, :, list(self.dependent)]
        singular = np.linalg.svd(square, compute_uv=False)[:, -1] if square.size else np.ones(1)
        if singular.min() < 1e-6 * singular.max():
            raise InputError(
                f"{self.where}: constraints do not determine the velocities of the dependent shape"
            )
        return S[_eliminable(square), :] if square.size else S

    def _particular(self) -> ca.SX:
        """Some A with W_b A = W_s: by elimination where all divisors keep their sign, else the shortest."""
        dim = self.by_body.shape[1]
        if not self.by_shape.nnz():
            return ca.SX(dim, self.n_shape)
        W = ca.SX(ca.horzcat(self.by_body, self.by_shape))
        done: dict[int, int] = {}
        for _ in range(self.rank):
            pivot = self._pivot(W[:, :dim], done)
            if pivot is None:
                return self.by_body.T @ solve(self.by_body @ self.by_body.T, self.by_shape)
            i, j = pivot
            W[i, :] = W[i, :] * (1 / W[i, j])
            W[i, j] = 1
            for k in range(self.rank):
                if k != i and W.sparsity().has_nz(k, j):
                    W[k, :] = W[k, :] - W[k, j] * W[i, :]
                    W[k, j] = 0
            W = self.at.without_zeros(W)
            done[i] = j
        A = ca.SX.zeros(dim, self.n_shape)
        for i, j in done.items():
            A[j, :] = W[i, dim:]
        return ca.sparsify(A)

    def _pivot(self, W: ca.SX, done: dict[int, int]) -> tuple[int, int] | None:
        """The entry that is safest to divide by, of these the one that fills the least."""
        best: tuple[int, int, float] | None = None
        chosen = None
        for i, j in itertools.product(range(W.shape[0]), range(W.shape[1])):
            if i in done or not W.sparsity().has_nz(i, j):
                continue
            entry = W[i, j]
            fraction = self._least_fraction(entry)
            if fraction <= _SAFE:
                continue
            kind = 0 if entry.is_constant() else (1 if independent_of(entry, self.at.r) else 2)
            fill = (W[i, :].nnz() - 1) * (W[:, j].nnz() - 1)
            if best is None or (kind, fill, -fraction) < best:
                best, chosen = (kind, fill, -fraction), (i, j)
        return chosen

    def _least_fraction(self, divisor: ca.SX) -> float:
        """Its smallest size in its largest over the samples; 0 where it changes its sign."""
        values = self.at.values(divisor).ravel()
        if values.min() <= 0.0 <= values.max():
            return 0.0
        size = np.abs(values / self._typical(divisor))
        return float(size.min() / size.max())

    def _typical(self, divisor: ca.SX) -> np.ndarray:
        """Its size at each sample's parameters and the first shape, so that parameters do not count as variation."""
        here = SamplePoints(
            self.at.r, self.at.p, np.tile(self.at.shapes[:, :1], _SAMPLES), self.at.parameters
        )
        return here.values(divisor).ravel()


def _least_singular(rows: np.ndarray) -> float:
    """Over all samples (samples, n, dim)."""
    return float(np.linalg.svd(rows, compute_uv=False)[:, -1].min())


class _Minors:
    """Determinants of parts of a sparse matrix, each once, without division."""

    def __init__(self, W: ca.SX) -> None:
        self._W, self._known = W, {}  # type: ignore[var-annotated]

    def of(self, rows: Iterable[int], columns: Iterable[int]) -> ca.SX:
        rows, columns = tuple(rows), tuple(columns)
        if not rows:
            return ca.SX(1)
        if (rows, columns) not in self._known:
            first, *rest = rows
            total = ca.SX(0)
            for k, j in enumerate(columns):
                if self._W.sparsity().has_nz(first, j):
                    part = self.of(rest, columns[:k] + columns[k + 1 :])
                    total += (-1) ** k * self._W[first, j] * part
            self._known[rows, columns] = total
        return self._known[rows, columns]


_RANK_SAMPLES, _STARTS = 512, 4
_AROUND = 64
"""Shapes that are evaluated together."""
_ROUNDS, _SHRINK = 60, 0.6
_STEEPEST = 50.0
"""Over the whole range a singular value does not fall by more of the usual one than this."""
_LOST = 1e-8
"""Share of the usual smallest singular value."""
_DEPENDENT = 1e-9


def check_rank(
    where: str,
    by_body: ca.Function,
    parameters: np.ndarray,
    stops: Sequence[tuple[float, float]],
    names: Sequence[str],
) -> None:
    """Raises InputError, beginning with `where`, with the shape at which a constraint is lost.

    by_body: (r, p) -> (n, dim) what multiplies the body's velocity; parameters: (n,) p. Coordinates without stops are
    looked at within a turn.
    """
    if not stops or not by_body.size1_out(0):
        return
    low, high = (np.clip(np.array([s[k] for s in stops]), -np.pi, np.pi) for k in (0, 1))
    many = by_body.map(_AROUND)

    def values(shapes: np.ndarray) -> np.ndarray:
        """(samples, n, dim) of a multiple of _AROUND shapes."""
        p = np.tile(parameters[:, None], _AROUND)
        parts = [np.array(many(part.T, p)).T for part in shapes.reshape(-1, _AROUND, len(low))]
        return np.concatenate(parts).reshape(len(shapes), *by_body.size_out(0)[::-1]).swapaxes(1, 2)

    rng = np.random.default_rng(11)
    shapes = low + (high - low) * rng.random((_RANK_SAMPLES, len(low)))
    # The first ones are where all stops meet, as far as there is room.
    sides = np.array(np.meshgrid(*np.stack([low, high], axis=1))).reshape(len(low), -1).T[:_AROUND]
    shapes[: len(sides)] = sides
    W = values(shapes)
    if not np.isfinite(W).all():
        return  # told by whoever evaluates them
    size = np.linalg.norm(W, axis=2).mean(axis=0)
    rank = int(np.median(np.linalg.matrix_rank(W / (size + (size == 0.0))[:, None], _DEPENDENT)))
    if rank == 0:
        return

    def least(shapes: np.ndarray) -> np.ndarray:
        """(samples,) the smallest singular value of those that belong to the rank."""
        rows = values(shapes) / (size + (size == 0.0))[:, None]
        singular = np.linalg.svd(rows, compute_uv=False)[:, rank - 1]
        return np.where(np.isfinite(singular), singular, np.inf)

    seen = least(shapes)
    usual = float(np.median(seen))
    for start in np.argsort(seen)[:_STARTS]:
        shape, value = _descended(least, shapes[start], float(seen[start]), usual, (low, high), rng)
        if value < _LOST * usual:
            at = ", ".join(f"{name} = {x:.2g}" for name, x in zip(names, shape, strict=True))
            raise InputError(
                f"{where}: the constraints lose a direction near {at}; set stops that keep away from there"
            )


def _descended(
    least: Callable[[np.ndarray], np.ndarray],
    best: np.ndarray,
    value: float,
    usual: float,
    stops: tuple[np.ndarray, np.ndarray],
    rng: np.random.Generator,
) -> tuple[np.ndarray, float]:
    """The lowest shape found about one whose value is known, in boxes that shrink, and its value."""
    low, high = stops
    fraction = 0.25
    for _ in range(_ROUNDS):
        if value > _STEEPEST * fraction * usual:
            break
        around = np.clip(best + fraction * (high - low) * rng.uniform(-1, 1, (_AROUND, len(low))), low, high)
        values = least(around)
        if values.min() < value:
            best, value = around[values.argmin()], float(values.min())
        fraction *= _SHRINK
    return best, value


def _eliminable(square: np.ndarray) -> list[int]:
    """Order of the rows of (samples, n, n) in which elimination divides by nothing small: `solve` does not pivot."""
    left, order = np.array(square), list(range(square.shape[1]))
    for k in range(len(order)):
        best = k + int(np.abs(left[:, k:, k]).min(axis=0).argmax())
        order[k], order[best] = order[best], order[k]
        left[:, [k, best]] = left[:, [best, k]]
        left[:, k + 1 :] -= left[:, k + 1 :, k, None] / left[:, k, None, k, None] * left[:, None, k]
    return order
