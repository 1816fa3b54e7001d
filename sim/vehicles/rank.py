"""Do the constraints on the body stay independent at every shape within the stops?

Samples alone miss a shape at which one stops counting: such shapes are lines and points. So the smallest singular
value, which vanishes there, is followed down from the samples at which it is least. That is a search, no proof.
"""

from collections.abc import Callable, Sequence

import casadi as ca
import numpy as np

from sim.platform.errors import InputError

_SAMPLES, _STARTS = 512, 4
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
    shapes = low + (high - low) * rng.random((_SAMPLES, len(low)))
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
    share = 0.25
    for _ in range(_ROUNDS):
        if value > _STEEPEST * share * usual:
            break
        around = np.clip(best + share * (high - low) * rng.uniform(-1, 1, (_AROUND, len(low))), low, high)
        values = least(around)
        if values.min() < value:
            best, value = around[values.argmin()], float(values.min())
        share *= _SHRINK
    return best, value
