"""Steps of a tree that are taken in as many equal parts as the joints' speed asks for, reversibly.

How short the parts are is carried along as a number of its own (Hairer and Soederlind 2005, here on the lane's grid),

    ln rho_{k+1/2} = ln rho_{k-1/2} + h G_k,   G = d/dt ln R,   R = (1 + |h v / turn|^2)^(1/2),

v the rates at which joints turn. A step is taken in rho parts, rounded. G is odd in the velocities: turned round, they
lead back through the same parts. A number of parts that followed from a step's start alone would not.
"""

import math
from typing import NamedTuple

import numpy as np

from sim.multibody.arrays import BALL, FREE, PRISMATIC, TreeMotion
from sim.multibody.articulated import factorise, solve
from sim.multibody.continuous import all_forces, keep_accelerations
from sim.multibody.kinematics import place
from sim.multibody.loops import keep_closed
from sim.multibody.roots import RootFinder
from sim.multibody.spatial import copy, entry, jit
from sim.multibody.stepping import ITERATIONS_MAX, OK, active_damping, node_force, shift_kick
from sim.steppers.tree_rollouts import ClosedMotion, closed_rollout, variational_rollout

PARTS_MAX = 64
_ASTRAY = math.log(1.5)
"""Further than this from the joints' own speed, as after a blow, ln rho starts anew from it."""


class VariedMotion(NamedTuple):
    """The state of `varied_rollout`."""

    motion: TreeMotion
    """At a node of steps h, whatever their parts: half of the step's kick is in its impulse."""
    impulses: np.ndarray
    """(m,) of the loops, as `ClosedMotion` has them; none in an open tree."""
    parts: np.ndarray
    """(2,) ln rho of the latest step, and its parts, 0 if there is none."""


class Division(NamedTuple):
    """The method of `varied_rollout`."""

    finder: RootFinder
    turn_rad: float
    """About which joints turn in a part."""
    q: np.ndarray
    """(nq,) where the step begins; is overwritten, as what follows."""
    b: np.ndarray
    """(nv,) as q; what follows likewise."""
    velocity: np.ndarray
    rate: np.ndarray
    forces: np.ndarray
    """(nv + m,) as `Loads.torques`."""


def division(finder: RootFinder, turn_rad: float, nq: int, nv: int, efforts: int) -> Division:
    """For one lane."""
    own = np.zeros(nq), np.zeros(nv), np.zeros(nv), np.zeros(nv), np.zeros(efforts)
    return Division(finder, turn_rad, *own)


@jit
def turning(tree, v, rate):
    """(v.v, v.rate) over the joints' turning."""
    square, power = 0.0, 0.0
    for i in range(tree.kind.shape[0]):
        kind, a = tree.kind[i], tree.v_at[i]
        if kind == PRISMATIC:
            continue
        for j in range(a, a + (3 if kind in (BALL, FREE) else 1)):
            square += v[j] * v[j]
            power += v[j] * rate[j]
    return square, power


@jit
def parts_ahead(lane, method, state, loads, h):
    """Into how many parts the step from here goes; ln rho becomes that step's. The node is placed at q."""
    tree, ws, loops, closing = lane.open.tree, lane.open.workspace, lane.loops, lane.closing
    q, b, varied = state.motion.q, state.motion.b, state.parts
    v, rate, forces = method.velocity, method.rate, method.forces
    place(tree, q, ws.node)
    node_force(tree, ws, q, ws.kick)
    active_damping(tree, q, ws.damping)
    factorise(tree, ws.node, ws.damping, 0.0, ws.articulated, ws.factor)
    for a in range(b.shape[0]):
        rate[a] = b[a] - 0.5 * h * ws.kick[a]
        forces[a] = loads.torques[a] + loads.push[a]
    for k in range(b.shape[0], forces.shape[0]):
        forces[k] = loads.torques[k]
    solve(tree, ws.node, ws.damping, 0.0, ws.factor, rate, ws.wrench, ws.spare, ws.twist, v)
    held = loops.kind.shape[0] > 0
    if held:
        keep_closed(tree, ws, loops, closing, q, v)
        active_damping(tree, q, ws.damping)
    all_forces(tree, ws, q, v, forces, loads.wrenches, rate)
    solve(tree, ws.node, ws.damping, 0.0, ws.factor, rate, ws.wrench, ws.spare, ws.twist, rate)
    if held:
        keep_accelerations(tree, ws, loops, closing, q, v, rate)
    square, power = turning(tree, v, rate)
    scale = (h / method.turn_rad) ** 2
    R = 1.0 + scale * square
    change = h * scale * power / R
    here = 0.5 * math.log(R) + 0.5 * change
    ahead = varied[0] + change
    if varied[1] == 0.0 or not abs(ahead - here) < _ASTRAY:
        ahead = here
    varied[0] = ahead
    if not ahead < math.log(PARTS_MAX):
        return PARTS_MAX
    return max(1, math.floor(math.exp(ahead) + 0.5))


@jit
def rescale(history, memory, ratio):
    """Backward differences of increments (`roots.remember`) for steps `ratio` times as long, to the second order."""
    for a in range(history.shape[0]):
        history[a, 0] += 0.5 * (1.0 - ratio) * history[a, 1]
        factor = ratio
        for k in range(history.shape[1]):
            history[a, k] *= factor
            factor *= ratio
    memory[1] *= max(ratio, 1.0)


@entry
def varied_rollout(lane, method, state, loads, h, steps):
    """Of a closed lane, each in parts, by `variational_rollout` or, where there are loops, by `closed_rollout`."""
    tree, ws, finder = lane.open.tree, lane.open.workspace, method.finder
    motion, impulses, varied = state
    closed = ClosedMotion(motion, impulses)
    q, b = motion.q, motion.b
    for step in range(steps):
        copy(q, method.q)
        copy(b, method.b)
        parts = parts_ahead(lane, method, state, loads, h)
        part_h = h / parts
        if varied[1] > 0.0 and varied[1] != parts:
            rescale(motion.history, motion.memory, varied[1] / parts)
            for k in range(impulses.shape[0]):
                impulses[k] *= varied[1] / parts
        varied[1] = parts
        shift_kick(tree, ws, q, -0.5 * (h - part_h), b)
        last, status = ws.tally[0] + ITERATIONS_MAX, OK
        for _ in range(parts):
            if impulses.shape[0]:
                _, status = closed_rollout(lane, finder, closed, loads, part_h, 1)
            else:
                left = RootFinder(finder.solver, finder.guess, finder.tolerance, last - ws.tally[0])
                _, status = variational_rollout(lane.open, left, motion, loads, part_h, 1)
            if status != OK:
                break
        if status != OK:
            copy(method.q, q)
            copy(method.b, b)
            return step, status
        shift_kick(tree, ws, q, 0.5 * (h - part_h), b)
    return steps, OK
