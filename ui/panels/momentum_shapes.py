"""The energy ellipsoid and the momentum sphere of a turning body, in the space of its body angular momentum."""

import numpy as np

Curve = tuple[np.ndarray, np.ndarray, np.ndarray]
"""x, y, z, contiguous."""

MERIDIANS, PARALLELS = 36, 18
_SMALLEST_DIFFERENCE = 1e-6


def spin_energy(momentum_b: np.ndarray, inertia: np.ndarray) -> float:
    """Rotational energy [J] of a body angular momentum (3,) [kg m^2/s]; inertia (3,): principal moments."""
    return 0.5 * float(np.sum(momentum_b**2 / inertia))


def half_axes(momentum_b: np.ndarray, inertia: np.ndarray) -> np.ndarray:
    """(3,) of the ellipsoid of all momenta that have the same energy."""
    return np.sqrt(2.0 * inertia * spin_energy(momentum_b, inertia))


def ellipsoid(axes: np.ndarray) -> Curve:
    """Its surface as triangles: three corners after each other."""
    turn, lean = np.meshgrid(
        np.linspace(0.0, 2.0 * np.pi, MERIDIANS + 1), np.linspace(0.0, np.pi, PARALLELS + 1), indexing="ij"
    )
    grid = np.stack([np.sin(lean) * np.cos(turn), np.sin(lean) * np.sin(turn), np.cos(lean)], axis=-1) * axes
    a, b, c, d = grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:]
    return parts(np.stack([a, b, c, a, c, d], axis=2).reshape(-1, 3))


def rings(axes: np.ndarray) -> list[Curve]:
    """The ellipsoid's sections with the three planes of its axes."""
    turn = np.linspace(0.0, 2.0 * np.pi, 97)
    curves = []
    for k in range(3):
        ring = np.zeros((len(turn), 3))
        ring[:, (k + 1) % 3], ring[:, (k + 2) % 3] = np.cos(turn), np.sin(turn)
        curves.append(parts(ring * axes))
    return curves


def polhodes(momentum_b: np.ndarray, inertia: np.ndarray) -> list[Curve]:
    """Where the momentum sphere cuts the energy ellipsoid: two closed curves, on one of which a free body stays.

    None where every momentum of that energy has that size: without spin, or with equal moments.
    """
    square, energy = float(momentum_b @ momentum_b), spin_energy(momentum_b, inertia)
    order = np.argsort(inertia)
    # About the axis of the largest or the smallest moment, whichever the momentum goes round.
    k = int(order[2] if square > 2.0 * energy * inertia[order[1]] else order[0])
    others = [i for i in range(3) if i != k]
    rates = 1.0 / inertia[others] - 1.0 / inertia[k]
    if square <= 0.0 or np.abs(rates).min() < _SMALLEST_DIFFERENCE / inertia[k]:
        return []
    widths = np.sqrt(np.maximum((2.0 * energy - square / inertia[k]) / rates, 0.0))
    turn = np.linspace(0.0, 2.0 * np.pi, 181)
    curve = np.zeros((len(turn), 3))
    curve[:, others[0]], curve[:, others[1]] = widths[0] * np.cos(turn), widths[1] * np.sin(turn)
    curve[:, k] = np.sqrt(np.maximum(square - (curve**2).sum(axis=1), 0.0))
    return [parts(curve), parts(curve * np.where(np.arange(3) == k, -1.0, 1.0))]


def parts(points: np.ndarray) -> Curve:
    """Of points (n, 3), as they are plotted."""
    x, y, z = (np.ascontiguousarray(points[:, i]) for i in range(3))
    return x, y, z
