"""A four-bar linkage, and its motion by equations that know nothing of trees."""

import numpy as np
from scipy.integrate import solve_ivp

from sim.multibody.loops import Loop
from sim.multibody.tree import Body, Joint, tree

LENGTHS, MASSES, GROUND = (0.4, 0.9, 0.7), (0.5, 1.2, 0.8), 1.0
ACROSS = (0.0, -1.0, 0.0)
"""Positive angles turn x to z."""


def four_bar():
    return tree(
        [
            Body(
                f"bar {k}",
                "world" if k == 0 else f"bar {k - 1}",
                Joint(axis=ACROSS),
                position=(LENGTHS[k - 1] if k else 0.0, 0.0, 0.0),
                mass=MASSES[k],
                centre=(0.5 * LENGTHS[k], 0.0, 0.0),
                inertia=(0.0, MASSES[k] * LENGTHS[k] ** 2 / 12, MASSES[k] * LENGTHS[k] ** 2 / 12),
            )
            for k in range(3)
        ]
    )


CLOSED = Loop("bar 2", (LENGTHS[2], 0.0, 0.0), other_point=(GROUND, 0.0, 0.0))


def closed_angles(crank):
    """(3,) the joints' angles: the circles of coupler and rocker about their ends meet above."""
    B, D = LENGTHS[0] * np.array([np.cos(crank), np.sin(crank)]), np.array([GROUND, 0.0])
    far = np.linalg.norm(D - B)
    along = (LENGTHS[1] ** 2 - LENGTHS[2] ** 2 + far**2) / (2 * far)
    e = (D - B) / far
    C = B + along * e + np.sqrt(LENGTHS[1] ** 2 - along**2) * np.array([-e[1], e[0]])
    coupler, rocker = np.arctan2(*(C - B)[::-1]), np.arctan2(*(D - C)[::-1])
    return np.array([crank, coupler - crank, rocker - coupler])


def by_multipliers(angles, seconds):
    """Angles in the plane of three bars as free bodies whose pins are held by multipliers."""
    masses = np.repeat(MASSES, 3) * np.array([1, 1, 0] * 3)
    masses[2::3] = [m * length**2 / 12 for m, length in zip(MASSES, LENGTHS, strict=True)]
    half = 0.5 * np.array(LENGTHS)
    pins = [(None, 0), (0, 1), (1, 2), (2, None)]

    def rows(x, v):
        J, bias = np.zeros((8, 9)), np.zeros(8)
        for p, (one, other) in enumerate(pins):
            for body, end, sign in ((one, 1.0, 1.0), (other, -1.0, -1.0)):
                if body is None:
                    continue
                a, w = x[3 * body + 2], v[3 * body + 2]
                J[2 * p : 2 * p + 2, 3 * body : 3 * body + 2] += sign * np.eye(2)
                J[2 * p : 2 * p + 2, 3 * body + 2] += (
                    sign * end * half[body] * np.array([-np.sin(a), np.cos(a)])
                )
                bias[2 * p : 2 * p + 2] += sign * end * half[body] * w * w * np.array([np.cos(a), np.sin(a)])
        return J, bias

    def rate(_, y):
        x, v = y[:9], y[9:]
        J, bias = rows(x, v)
        K = np.block([[np.diag(masses), J.T], [J, np.zeros((8, 8))]])
        weight = -9.81 * masses * np.array([0, 1, 0] * 3)
        return np.r_[v, np.linalg.solve(K, np.r_[weight, bias])[:9]]

    turned, at, x = np.cumsum(angles), np.zeros(2), []
    for a, length in zip(turned, LENGTHS, strict=True):
        e = np.array([np.cos(a), np.sin(a)])
        x += [*(at + 0.5 * length * e), a]
        at = at + length * e
    end = solve_ivp(rate, (0, seconds), np.r_[x, np.zeros(9)], rtol=1e-11, atol=1e-11, method="DOP853").y[
        :, -1
    ]
    return end[2:9:3], end[11::3]
