"""Closed loops against equations with multipliers that know nothing of trees, and what impulses must keep."""

import numpy as np
import pytest

import sim
from sim.trees.loops import ClosedTree, Loop
from sim.trees.observing import body_frames, spatial_momentum
from sim.trees.stepping import OK
from sim.trees.tree import Body, Joint, tree
from tests.sim.trees.four_bar import CLOSED, by_multipliers, closed_angles, four_bar


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
