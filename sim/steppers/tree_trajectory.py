"""A tree of joints under its integrator for a while, as arrays: what `sim.simulate` gives for a tree."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from sim.integrators.base import TREE_SOLVERS, Integrator
from sim.multibody.arrays import TreeMotion
from sim.multibody.declaration import TreeState, numbers
from sim.multibody.kinematics import move
from sim.multibody.observing import frames
from sim.multibody.stepping import OK
from sim.multibody.tree import Tree
from sim.platform.errors import InputError, one_of, quote
from sim.steppers.bound_tree import BoundTree

Torques = None | np.ndarray | list[float] | tuple[float, ...] | Callable[[float, TreeState], np.ndarray]


@dataclass(frozen=True, eq=False)
class TreeTrajectory:
    """N steps of one tree, at the N+1 nodes. After a step that has no solution the rest is nan."""

    tree: Tree = field(repr=False)
    method: str
    """The root finder."""
    step_s: float
    time: np.ndarray
    """(N+1,) s."""
    pose: np.ndarray
    """(N+1, nq) coordinates of the joints, `tree.coordinate_names`: rad, m, unit quaternions (w, x, y, z)."""
    velocity: np.ndarray
    """(N+1, nv) `tree.velocity_names`: rad/s, m/s, of ball and free joints body twists. From the nodes' momenta."""
    energy: np.ndarray
    """(N+1,) J: kinetic, of gravity, springs and joint limits."""
    momentum: np.ndarray
    """(N+1, 6) spatial momentum of all bodies (angular about the world's origin, linear)."""
    controls: np.ndarray
    """(N, nv) joint torques and forces, held over each step."""
    diverged_at: float | None
    """Seconds up to which there is a solution, None if to the end."""
    iterations: int
    """Of the root finder, in all steps together."""
    divided_steps: int
    """Steps that had no solution as a whole and were taken in parts."""
    diverged_because: str = ""
    """What failed; empty where nothing did."""

    @cached_property
    def bodies(self) -> dict[str, np.ndarray]:
        """Name -> (N+1, 4, 4) body-to-world poses of the declared bodies."""
        carried = np.stack([frames(self.tree, q) for q in self.pose])
        poses = carried[:, self.tree.carriers] @ self.tree.offsets
        return dict(zip(self.tree.names, np.moveaxis(poses, 1, 0), strict=True))

    @property
    def initial(self) -> TreeState:
        """State at the first node, as `initial=` takes it."""
        return TreeState(self.pose[0], self.velocity[0])

    @property
    def final(self) -> TreeState:
        """State at the last node, as `initial=` takes it."""
        return TreeState(self.pose[-1], self.velocity[-1])


def simulate_tree(
    tree: Tree,
    method: str | Integrator,
    h: float,
    count: int,
    initial: TreeState | None,
    controls: Torques,
) -> TreeTrajectory:
    """`count` steps of h seconds; arguments otherwise as of `sim.simulate`, which checks step and duration.

    Raises InputError in one line for an unknown method and for states and controls that do not fit.
    """
    solver = _solver(method)
    state = tree.state() if initial is None else initial
    if not isinstance(state, TreeState) or (state.q.shape, state.v.shape) != ((tree.nq,), (tree.nv,)):
        raise InputError(f"initial = {quote(initial)} does not fit the tree; allowed: tree.state(...)")
    if not (np.isfinite(state.q).all() and np.isfinite(state.v).all()):
        raise InputError("initial has entries that are not finite")
    rows = _rows(tree, None if callable(controls) else controls, count)
    stepper = BoundTree(tree, h, solver=solver)
    q, v = np.full((count + 1, tree.nq), np.nan), np.full((count + 1, tree.nv), np.nan)
    energy, momentum = np.full(count + 1, np.nan), np.full((count + 1, 6), np.nan)
    us, done = np.zeros((count, tree.nv)), count
    motion = stepper.start(state.q, state.v)
    with np.errstate(over="ignore", invalid="ignore"):
        for k in range(count + 1):
            q[k], v[k] = motion.q, stepper.velocity(motion)
            energy[k], momentum[k] = stepper.energy_J(motion), stepper.momentum_w(motion)
            if k == count:
                break
            us[k] = (
                _midway(stepper, motion, v[k], controls, k * h) if callable(controls) else rows[k % len(rows)]
            )
            if stepper.advance(motion, 1, us[k])[1] != OK:
                done = k
                break
    return TreeTrajectory(
        tree=tree,
        method=solver,
        step_s=h,
        time=h * np.arange(count + 1),
        pose=q,
        velocity=v,
        energy=energy,
        momentum=momentum,
        controls=us,
        diverged_at=None if done == count else done * h,
        iterations=int(stepper.workspace.tally[0]),
        divided_steps=int(stepper.workspace.tally[1]),
        diverged_because="" if done == count else "a step has no solution, or none that is finite",
    )


def _solver(method: str | Integrator) -> str:
    """How the variational step's root is found, by a method or its name. Raises InputError for any other."""
    name = method.name if isinstance(method, Integrator) else method
    if name == "variational":
        return method.solver if isinstance(method, Integrator) else TREE_SOLVERS[0]
    if not isinstance(name, str) or name not in TREE_SOLVERS:
        allowed = ("variational", *TREE_SOLVERS)
        raise InputError(
            f"unknown method {quote(name)} for a tree of joints; allowed: {one_of(allowed, name)}"
        )
    return name


def _midway(
    stepper: BoundTree, motion: TreeMotion, v: np.ndarray, law: Callable[..., np.ndarray], begin_s: float
) -> np.ndarray:
    """A law's torques in the middle of the step, from a trial step under those of its start: accurate to h^2."""
    tree, h = stepper.tree, stepper.step_s
    first = _row(tree, law(begin_s, TreeState(motion.q.copy(), v.copy())))
    ahead, tally = motion.copy(), stepper.workspace.tally.copy()
    status = stepper.advance(ahead, 1, first)[1]
    stepper.workspace.tally[:] = tally
    if status != OK:
        return first
    middle = motion.q.copy()
    after = stepper.velocity(ahead)
    move(tree.arrays, middle, 0.25 * h * (v + after))
    return _row(tree, law(begin_s + 0.5 * h, TreeState(middle, 0.5 * (v + after))))


def _row(tree: Tree, given: ArrayLike) -> np.ndarray:
    return numbers("controls of the tree", given, tree.velocity_names)


def _rows(tree: Tree, given: ArrayLike | None, count: int) -> np.ndarray:
    """(1 or N, nv)"""
    if given is None:
        return np.zeros((1, tree.nv))
    if not _is_table(given):
        return _row(tree, given)[None]
    if len(given) != count:  # type: ignore[arg-type]
        raise InputError(f"controls of the tree have {len(given)} rows; allowed: {count}, one a step")  # type: ignore[arg-type]
    return np.array([_row(tree, row) for row in given]).reshape(count, tree.nv)  # type: ignore[union-attr]


def _is_table(given: object) -> bool:
    """Rows of as many numbers each."""
    try:
        return np.ndim(given) == 2  # type: ignore[arg-type]
    except ValueError:  # lists of several lengths
        return False
