"""Trees for tests: generic ones with joints of every kind, and chains."""

import casadi as ca
import numpy as np
from scipy.spatial.transform import Rotation

from sim.multibody.kinematics import move
from sim.multibody.stepping import OK
from sim.multibody.symbolic import SymbolicTree
from sim.multibody.tree import Body, Joint, Tree, tree
from sim.steppers.bound_tree import BoundTree

KINDS = ("ball", "revolute", "prismatic", "universal", "planar", "fixed", "free", "revolute", "ball")


def generic_tree(
    seed,
    *,
    damping=0.1,
    armature=0.03,
    added=True,
    gravity_w=(0.0, 0.0, -9.81),
    root="universal",
    rotor=0.0,
    drag=0.0,
) -> Tree:
    """Nine bodies on joints of every kind, branching at random, with inertias and axes that nothing aligns.

    `rotor`: kg m^2/s, of the rotors that spin in them, about. `drag`: kg/m, of every other body in wind.
    """
    rng, rotors = np.random.default_rng(seed), np.random.default_rng(1000 + seed)
    bodies = []
    for i, kind in enumerate((root, *KINDS)):
        A = rng.normal(size=(3, 3))
        free = kind in ("free", "fixed")
        bodies.append(
            Body(
                f"b{i}",
                "world" if i == 0 else f"b{rng.integers(0, i)}",
                Joint(
                    kind,
                    axis=tuple(rng.normal(size=3)),
                    second_axis=tuple(rng.normal(size=3)),
                    damping=0.0 if free else damping,
                    armature=0.0 if free else armature,
                    stiffness=0.0 if free else 0.5,
                ),
                position=tuple(0.4 * rng.normal(size=3)),
                R=Rotation.random(random_state=int(rng.integers(1 << 30))).as_matrix(),
                mass=rng.uniform(0.5, 2.0),
                centre=tuple(0.2 * rng.normal(size=3)),
                inertia=0.05 * (A @ A.T + 0.3 * np.eye(3)),
                rotor_momentum=rotor * rotors.normal(size=3),
                drag=drag * (i % 2),
                added_inertia=0.1 * np.eye(6) + 0.02 * np.ones((6, 6)) if added and i == 2 else None,
            )
        )
    return tree(bodies, gravity_w)


def generic_state(t, seed, speed=0.5):
    """(q, v) away from zero in every joint."""
    rng = np.random.default_rng(100 + seed)
    q = t.q0.copy()
    move(t.arrays, q, 0.8 * rng.normal(size=t.nv))
    return q, speed * rng.normal(size=t.nv)


def pendulum_chain(n, length_m=0.2, mass=1.0, radius_m=0.05) -> Tree:
    """Rods hung from one another, their axes turning by a right angle from joint to joint."""
    across = mass * (length_m**2 + radius_m**2) / 12
    return tree(
        [
            Body(
                f"link {i}",
                "world" if i == 0 else f"link {i - 1}",
                Joint(axis=(0.0, 1.0, 0.0) if i % 2 == 0 else (1.0, 0.0, 0.0)),
                position=(0.0, 0.0, -length_m if i else 0.0),
                mass=mass,
                centre=(0.0, 0.0, -length_m / 2),
                inertia=(across, across, mass * radius_m**2 / 6),
            )
            for i in range(n)
        ]
    )


def assert_symbolic_steps(tree: Tree, q: np.ndarray, v: np.ndarray, h: float) -> None:
    """That the step which a symbolic tree describes is the one that is compiled."""
    bound = BoundTree(tree, h)
    motion = bound.start(q, v)
    q, b = motion.q.copy(), motion.b.copy()
    assert bound.advance(motion, 1)[1] == OK
    of = [ca.SX.sym(name, size) for name, size in (("q", tree.nq), ("d", tree.nv), ("b", tree.nv))]
    step = ca.Function("step", of, SymbolicTree(tree).step(*of, h))
    solve = ca.rootfinder("d", "newton", {"x": of[1], "p": ca.vertcat(of[0], of[2]), "g": step(*of)[0]})
    d = solve(h * bound.velocity(bound.start(q, v)), np.r_[q, b])
    residual, after, arrived = (np.array(part).ravel() for part in step(q, d, b))
    assert np.abs(residual).max() < 1e-11
    np.testing.assert_allclose(after, motion.q, atol=1e-9)
    np.testing.assert_allclose(arrived, motion.b, atol=1e-8)
