"""Chains of hinged rods under the methods of the multibody paper and those that it compares with."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sim.multibody.arrays import workspace
from sim.multibody.articulated import factorise, solve
from sim.multibody.continuous import euler_step, rk4_step
from sim.multibody.kinematics import place
from sim.multibody.observing import kinetic_energy_J, potential_energy_J
from sim.multibody.stepping import OK
from sim.multibody.tree import Tree
from sim.multibody.twists import momenta
from sim.native.function import native
from sim.platform.errors import InputError
from sim.steppers.bound_tree import BoundTree
from sim.vehicles import vehicle
from sim.vehicles.forms.articulated import ArticulatedVehicle
from studies.tree_comparators import dense_rollout, scalable_rollout, scalable_workspace

LINK_M, LINK_KG = 0.2, 1.0
TOLERANCE = 1e-10
"""Of the joints' increments in a step [rad]."""
LINEAR = ("riqn", "newton", "broyden")
"""In linear time, by the name of their root finder."""
METHODS = (*LINEAR, "newton-dense", "svi", "semi-implicit-euler", "rk4")


def chain(links: int) -> Tree:
    """Rods of 0.2 m and 1 kg, hung from a point. Raises InputError where there are too many or too few."""
    declared = vehicle("chain", links=links, link_length=LINK_M, link_mass=LINK_KG)
    if not isinstance(declared, ArticulatedVehicle):
        raise InputError("the chain is no tree of joints")
    return declared.tree


def bent(links: int) -> np.ndarray:
    """(links,) rad: neither straight nor planar."""
    return 0.3 * np.sin(1.0 + 1.7 * np.arange(links))


@dataclass(eq=False)
class ChainRun:
    """One chain under one method, from rest."""

    advance: Callable[[int], int]
    """Steps to go -> iterations of the root finder in all of them. Raises InputError where there is no solution."""
    state: Callable[[], tuple[np.ndarray, np.ndarray]]
    """(q, p): coordinates and momenta at the node."""
    tree: Tree

    def energy_J(self) -> float:
        q, p = self.state()
        a, ws, none = self.tree.arrays, workspace(self.tree.arrays), np.zeros(self.tree.nv)
        v = p.copy()
        place(a, q, ws.node)
        factorise(a, ws.node, none, 0.0, ws.articulated, ws.factor)
        solve(a, ws.node, none, 0.0, ws.factor, v, ws.wrench, ws.spare, ws.arc, v)
        return kinetic_energy_J(p, v) + potential_energy_J(self.tree, q)


def started(method: str, tree: Tree, q: np.ndarray, step_s: float, tolerance: float = TOLERANCE) -> ChainRun:
    """A run of METHODS from coordinates q, at rest."""
    if method in LINEAR or method == "newton-dense":
        return _variational(method, tree, q, step_s, tolerance)
    if method == "svi":
        return _scalable(tree, q, step_s, tolerance)
    return _accelerated(method, tree, q, step_s)


def _found(iterations: int, method: str) -> int:
    if iterations < 0:
        raise InputError(f"{method}: a step has no solution that is found")
    return iterations


def _variational(method: str, tree: Tree, q: np.ndarray, step_s: float, tolerance: float) -> ChainRun:
    finder = method if method in LINEAR else "newton"
    stepper = BoundTree(tree, step_s, solver=finder, tolerance=tolerance)
    motion = stepper.start(q, np.zeros(tree.nv))
    ws = workspace(tree.arrays)

    def advance(steps: int) -> int:
        if method == "newton-dense":
            found = dense_rollout(tree.arrays, ws, motion, step_s, steps, tolerance)
            return _found(found, method)
        before = stepper.workspace.tally[0]
        _found(0 if stepper.advance(motion, steps)[1] == OK else -1, method)
        return int(stepper.workspace.tally[0] - before)

    return ChainRun(advance, lambda: (motion.q.copy(), stepper.momenta(motion)), tree)


def _scalable(tree: Tree, q: np.ndarray, step_s: float, tolerance: float) -> ChainRun:
    sw, here, p, guess = scalable_workspace(tree), q.copy(), np.zeros(tree.nv), np.zeros(tree.nv)

    def advance(steps: int) -> int:
        return _found(scalable_rollout(tree.arrays, sw, here, p, guess, step_s, steps, tolerance), "svi")

    return ChainRun(advance, lambda: (here.copy(), p.copy()), tree)


@native
def _accelerated_steps(tree, ws, q, v, u, w, h, stages, by_rk4, steps):  # type: ignore[no-untyped-def]
    for _ in range(steps):
        if by_rk4:
            rk4_step(tree, ws, q, v, u, w, h, stages)
        else:
            euler_step(tree, ws, q, v, u[0], w, h, stages)


def _accelerated(method: str, tree: Tree, q: np.ndarray, step_s: float) -> ChainRun:
    a, ws, none, nv = tree.arrays, workspace(tree.arrays), np.zeros((1, tree.nv)), tree.nv
    here, v, stages = q.copy(), np.zeros(nv), np.zeros((6, nv))
    wrenches = np.zeros((0, 6))

    def advance(steps: int) -> int:
        by_rk4 = method == "rk4"
        _accelerated_steps(a, ws, here, v, none, wrenches, step_s, stages, by_rk4, steps)
        return 0

    def state() -> tuple[np.ndarray, np.ndarray]:
        p = np.zeros(nv)
        place(a, here, ws.node)
        momenta(a, ws.node, v, ws.arc, ws.wrench, p)
        return here.copy(), p

    return ChainRun(advance, state, tree)


def interleaved_us(
    tasks: dict[str, Callable[[int], object]], budget_s: float, rounds: int
) -> dict[str, float]:
    """Median CPU microseconds of the thread of one repetition: round after round, each task in its turn.

    A task is handed how often it is to repeat itself, so that a round of it takes about `budget_s`.
    """
    counts = {}
    for name, task in tasks.items():
        task(1)
        once = np.inf
        for _ in range(5):
            began = time.thread_time()
            task(1)
            once = min(once, max(time.thread_time() - began, 1e-7))
        counts[name] = max(1, min(5000, round(budget_s / once)))
    times: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(rounds):
        for name, task in tasks.items():
            began = time.thread_time()
            task(counts[name])
            times[name].append((time.thread_time() - began) / counts[name] * 1e6)
    return {name: float(np.median(spent)) for name, spent in times.items()}


def exponent(links: list[int], times_us: list[float]) -> float:
    """Of the power of n that fits the times."""
    return float(np.polyfit(np.log(links), np.log(times_us), 1)[0])
