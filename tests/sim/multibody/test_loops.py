"""Closed loops against equations with multipliers that know nothing of trees, and what impulses must keep."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import sim
from sim.multibody.loops import Loop
from sim.multibody.observing import body_frames, spatial_momentum
from sim.multibody.stepping import OK
from sim.multibody.tree import Body, Joint, tree
from sim.steppers.bound_tree import BoundTree
from tests.sim.multibody.four_bar import ACROSS, CLOSED, by_multipliers, closed_angles, four_bar


def test_a_four_bar_moves_as_its_equations_with_multipliers():
    angles = closed_angles(1.2)
    exact, rates = by_multipliers(angles, 0.8)
    errors = []
    for h in (4e-3, 2e-3):
        closed = BoundTree(four_bar(), h, loops=[CLOSED])
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
        closed = BoundTree(t, h, loops=loops)
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


def bar(name, parent, at, length, mass=1.0, centre=0.5):
    inertia = (0.0, mass * length**2 / 12, mass * length**2 / 12)
    return Body(name, parent, Joint(axis=ACROSS), (at, 0.0, 0.0), mass=mass, centre=(centre * length, 0.0, 0.0),
                inertia=inertia)  # fmt: skip


def advanced(closed, motion, steps):
    """Energies and greatest gap at the nodes of so many steps, all of which have a solution."""
    energies, widest = [closed.energy_J(motion)], 0.0
    for _ in range(steps):
        assert closed.advance(motion, 1)[1] == OK
        energies.append(closed.energy_J(motion))
        widest = max(widest, np.abs(closed.gaps(motion.q)).max())
    return np.array(energies), widest


@pytest.mark.parametrize(("n", "h"), [(1, 0.01), (1, 0.005), (2, 0.005), (5, 0.005), (20, 0.005)])
def test_parallelograms_pass_the_pose_in_which_all_their_bars_are_in_line(n, h):
    """N four-bars of 1 m and 1 kg a bar, let go upright at 1 m/s (IFToMM's benchmark A02), ten times in line in 10 s.

    They have one freedom, whose equation is integrated beside. Measured: up to 0.53 % of the energy at a node next to
    the singular pose, 1.8e-4 of it at the end; gaps of 9e-8 m; after five turns 22 h^2 rad at most.
    """
    bodies, loops = [bar("bar 0", "world", 0.0, 1.0)], []
    for k in range(1, n + 1):
        bodies += [bar(f"coupler {k}", f"bar {k - 1}", 1.0, 1.0), bar(f"bar {k}", "world", float(k), 1.0)]
        loops.append(Loop(f"coupler {k}", (1.0, 0.0, 0.0), f"bar {k}", (1.0, 0.0, 0.0)))
    linkage = tree(bodies)
    upright = np.array([1.0 if name.startswith("bar") else -1.0 for name in linkage.coordinate_names])
    closed = BoundTree(linkage, h, loops=loops)
    motion = closed.start(0.5 * np.pi * upright, -upright)
    energies, widest = advanced(closed, motion, round(10.0 / h))
    inertia, moment = (n + 1) / 3 + n, (n + 1) / 2 + n

    def rate(_, s):
        return [s[1], -9.81 * moment / inertia * np.cos(s[0])]

    one = solve_ivp(rate, (0, 10), [0.5 * np.pi, -1.0], rtol=1e-11, atol=1e-11)
    assert np.abs(energies / energies[0] - 1).max() < 0.02
    assert abs(energies[-1] / energies[0] - 1) < 1e-3
    assert widest < 1e-6
    bars = motion.q[upright > 0]
    assert np.abs(np.sin(0.5 * (bars - bars[0]))).max() < 1e-4
    assert motion.q[0] == pytest.approx(one.y[0, -1], abs=60 * h * h)


def test_a_linkage_without_symmetry_passes_its_singular_pose():
    """A crank of 0.4 m that turns through the pose in which 0.4 + 0.9 = 0.5 + 0.8 m lie in line, 19 times in 10 s.

    Measured: energy within 7.0e-4 and 6.4e-5 of itself at 2 and 1 ms; gaps of 1.3e-11 m.
    """
    bars = [bar("crank", "world", 0.0, 0.4, 0.5, 0.45), bar("coupler", "crank", 0.4, 0.9, 1.2, 0.45),
            bar("rocker", "world", 0.5, 0.8, 0.8, 0.45)]  # fmt: skip
    crank = 1.2
    end, pivot = 0.4 * np.array([np.cos(crank), np.sin(crank)]), np.array([0.5, 0.0])
    far = np.linalg.norm(pivot - end)
    e, along = (pivot - end) / far, (0.9**2 - 0.8**2 + far**2) / (2 * far)
    pin = end + along * e + np.sqrt(0.9**2 - along**2) * np.array([-e[1], e[0]])
    coupler, rocker = np.arctan2(*(pin - end)[::-1]), np.arctan2(*(pin - pivot)[::-1])
    linkage = tree(bars)
    start = {"crank": crank, "coupler": coupler - crank, "rocker": rocker}
    off = []
    for h in (2e-3, 1e-3):
        closed = BoundTree(linkage, h, loops=[Loop("coupler", (0.9, 0.0, 0.0), "rocker", (0.8, 0.0, 0.0))])
        q = np.array([start[name] for name in linkage.coordinate_names])
        motion = closed.start(q, np.array([9.0 * (name == "crank") for name in linkage.coordinate_names]))
        energies, widest = advanced(closed, motion, round(10.0 / h))
        assert motion.q[linkage.coordinate_names.index("crank")] > 30 * np.pi
        assert widest < 1e-9
        off.append(np.abs(energies / energies[0] - 1).max())
    assert off[0] < 2e-3
    assert off[1] < 2e-4


def test_what_cannot_be_closed_is_refused_by_name():
    t = four_bar()
    with pytest.raises(sim.InputError, match="'bar 2' is open by"):
        BoundTree(t, 0.01, loops=[CLOSED]).start(np.zeros(3), np.zeros(3))
    with pytest.raises(sim.InputError, match="unknown body 'bar 9'"):
        BoundTree(t, 0.01, loops=[Loop("bar 9", (0.0, 0.0, 0.0))])
    with pytest.raises(sim.InputError, match="with itself"):
        BoundTree(t, 0.01, loops=[Loop("bar 1", (0.0, 0.0, 0.0), "bar 1")])
