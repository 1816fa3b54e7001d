"""Closed loops against equations with multipliers that know nothing of trees, and what impulses must keep."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import sim
from sim.trees.loops import ClosedTree, Loop
from sim.trees.observing import body_frames, spatial_momentum
from sim.trees.stepping import OK
from sim.trees.tree import Body, Joint, tree

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


def test_a_four_bar_moves_as_its_equations_with_multipliers():
    angles = closed_angles(1.2)
    exact, rates = by_multipliers(angles, 0.8)
    errors = []
    for h in (4e-3, 2e-3):
        closed = ClosedTree(four_bar(), [CLOSED], h)
        motion = closed.start(angles, np.zeros(3))
        assert closed.advance(motion, round(0.8 / h))[1] == OK
        assert np.abs(closed.gaps(motion.q)).max() < 1e-9
        away = np.r_[np.cumsum(motion.q) - exact, 0.1 * (np.cumsum(closed.velocity(motion)) - rates)]
        errors.append(np.abs(away).max())
    assert errors[1] < 1e-3
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.4)


def platform():
    """A free plate on three legs of two links, which a ring of the third joints closes: loops that are not planar."""
    bodies = [Body("plate", joint=Joint("free"), mass=2.0, inertia=(0.1, 0.12, 0.2))]
    for k in range(3):
        a = 2.0 * np.pi * k / 3
        corner = (0.5 * np.cos(a), 0.5 * np.sin(a), 0.0)
        bodies.append(
            Body(f"thigh {k}", "plate", Joint("universal", axis=(1, 0.2, 0), second_axis=(0, 1, 0.1)), corner,
                 mass=0.5, centre=(0, 0, -0.2), inertia=(0.01, 0.01, 0.002))
        )  # fmt: skip
        bodies.append(
            Body(f"shin {k}", f"thigh {k}", Joint("ball"), (0, 0, -0.4),
                 mass=0.3, centre=(0, 0, -0.2), inertia=(0.008, 0.008, 0.001))
        )  # fmt: skip
    bodies.append(
        Body("foot", "shin 0", Joint("ball"), (0.0, 0.0, -0.4), mass=1.0, inertia=(0.05, 0.04, 0.06))
    )
    return tree(bodies, (0.0, 0.0, 0.0))


def test_a_free_platform_with_closed_legs_keeps_its_momentum_and_its_energy():
    t = platform()
    T = body_frames(t, t.q0)
    inward = [
        T["foot"][:3, :3].T @ (T[f"shin {k}"] @ [0, 0, -0.4, 1.0] - T["foot"][:, 3])[:3] for k in (1, 2)
    ]
    loops = [
        Loop(f"shin {k}", (0.0, 0.0, -0.4), "foot", tuple(at)) for k, at in zip((1, 2), inward, strict=True)
    ]
    v = np.random.default_rng(0).normal(size=t.nv)
    worst = []
    for h in (4e-3, 2e-3):
        closed = ClosedTree(t, loops, h)
        motion = closed.start(t.q0, v)
        before, energy, most = (
            spatial_momentum(t, motion.q, closed.velocity(motion)),
            closed.energy_J(motion),
            0.0,
        )
        for _ in range(10):
            assert closed.advance(motion, round(0.1 / h))[1] == OK
            most = max(most, abs(closed.energy_J(motion) - energy))
        # measured 1e-12 of momenta about 3
        assert spatial_momentum(t, motion.q, closed.velocity(motion)) == pytest.approx(before, abs=1e-9)
        worst.append(most / energy)
    assert worst[1] < 2e-3
    assert worst[0] / worst[1] == pytest.approx(4.0, abs=1.0)


def test_what_cannot_be_closed_is_refused_by_name():
    t = four_bar()
    with pytest.raises(sim.InputError, match="'bar 2' is open by"):
        ClosedTree(t, [CLOSED], 0.01).start(np.zeros(3), np.zeros(3))
    with pytest.raises(sim.InputError, match="unknown body 'bar 9'"):
        ClosedTree(t, [Loop("bar 9", (0.0, 0.0, 0.0))], 0.01)
    with pytest.raises(sim.InputError, match="with itself"):
        ClosedTree(t, [Loop("bar 1", (0.0, 0.0, 0.0), "bar 1")], 0.01)
    with pytest.raises(sim.InputError, match="without loops"):
        ClosedTree(t, [], 0.01)
