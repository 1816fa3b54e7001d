"""Composed steps of trees: their order, and that they keep what the plain step keeps."""

import numpy as np
import pytest

from sim.multibody.declaration import Body, Joint
from sim.multibody.tree import Tree, tree
from sim.steppers.bound_tree import BoundTree
from studies.ledger.composed import ORDER_6, ORDER_8, advance_composed

END_S = 0.8


def rods() -> Tree:
    """Three on hinges with springs, in a plane."""
    bodies, parent, at = [], "world", 0.0
    for k, length in enumerate((1.0, 2.75, 2.0)):
        across = length**3 / 12.0
        joint = Joint(axis=(0.0, 0.0, 1.0), stiffness=0.3 * k)
        bodies.append(
            Body(
                f"rod {k}",
                parent,
                joint,
                position=(at, 0.0, 0.0),
                mass=length,
                centre=(0.5 * length, 0.0, 0.0),
                inertia=(0.01, across, across),
            )
        )
        parent, at = f"rod {k}", length
    return tree(bodies, (0.0, -9.81, 0.0))


def end(parts: tuple[float, ...], step_s: float) -> np.ndarray:
    bound = BoundTree(rods(), step_s, tolerance=1e-14)
    q = np.array([1.2, -0.9, -0.3])
    motion = bound.start(q, np.array([1.0, -0.4, 0.2]))
    assert advance_composed(bound, motion, round(END_S / step_s), step_s, parts) == 0
    return motion.q.copy()


@pytest.mark.parametrize(
    ("parts", "order", "steps_s"), [(ORDER_6, 6, (0.04, 0.02)), (ORDER_8, 8, (0.08, 0.04))]
)
def test_errors_fall_by_the_order(parts: tuple[float, ...], order: int, steps_s: tuple[float, float]) -> None:
    truth = end(ORDER_8, 0.01)
    coarse, fine = (np.abs(end(parts, h) - truth).max() for h in steps_s)
    assert np.log2(coarse / fine) > order - 0.7
    assert fine < 1e-6


def test_one_part_is_the_step_itself() -> None:
    bound = BoundTree(rods(), 0.01, tolerance=1e-14)
    plain, composed = (bound.start(np.array([0.4, 0.2, -0.5]), np.zeros(3)) for _ in range(2))
    bound.advance(plain, 20)
    advance_composed(bound, composed, 20, 0.01, (1.0,))
    assert np.abs(plain.q - composed.q).max() < 1e-12
    assert np.abs(plain.b - composed.b).max() < 1e-11


def test_a_free_tree_keeps_its_momentum() -> None:
    """Over 200 steps, some of whose parts go backwards. Measured: 2e-13."""
    hull = Body("hull", joint=Joint("free"), mass=3.0, inertia=(0.4, 0.5, 0.6))
    arm = Body(
        "arm",
        "hull",
        Joint(axis=(1.0, 0.0, 0.0), stiffness=2.0),
        position=(0.0, 0.0, 0.3),
        centre=(0.0, 0.0, 0.4),
    )
    bound = BoundTree(tree([hull, arm], (0.0, 0.0, 0.0)), 0.02, tolerance=1e-14)
    start = bound.tree.state({"arm": 0.7}, {"hull wx": 0.6, "hull wz": -0.9, "hull vy": 0.3, "arm": 1.1})
    motion = bound.start(start.q, start.v)
    before = bound.momentum_w(motion)
    advance_composed(bound, motion, 200, 0.02, ORDER_6)
    assert np.abs(bound.momentum_w(motion) - before).max() < 1e-11
