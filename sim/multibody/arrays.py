"""A tree of bodies as flat arrays, which is what the compiled recursions read."""

from typing import NamedTuple

import numpy as np

REVOLUTE, PRISMATIC, BALL, FREE = 0, 1, 2, 3
"""Kinds of joints. The first two move about, or along, z of the joint's frame; others become sequences of these."""

VELOCITIES = (1, 1, 3, 6)
"""Degrees of freedom of each kind."""
COORDINATES = (1, 1, 4, 7)
"""Numbers that place each kind: an angle, a distance, a unit quaternion (w, x, y, z), a quaternion and a position."""


INERTIA, MOMENT = 12, 18
COORDINATE = -2
"""In place of a body: a part of a spring's length is the coordinate of a joint."""
NODE, ARC = 36, 14
"""Columns of a body at a node, and of its displacement over a step, whose last is spare: eight are read at once."""
HUNG = 21
"""Numbers of a symmetric 6x6 inertia, and the column behind them."""
UPDATES_MAX = 40
"""Iterations of which Broyden's method keeps the steps."""
REMEMBERED = 8
"""Steps, at most, from whose increments the next ones are guessed."""


class TreeArrays(NamedTuple):
    """n bodies, every parent before its children. A body's frame is its joint's frame after the joint's motion."""

    parent: np.ndarray
    """(n,) index of the parent, -1 for the world."""
    kind: np.ndarray
    """(n,) of the joint that carries the body."""
    q_at: np.ndarray
    """(n,) where its coordinates begin in q."""
    v_at: np.ndarray
    """(n,) where its velocities begin in v. Of ball and free joints these are body twists (omega, v)."""
    placement: np.ndarray
    """(n, 12) of the joint's frame in the parent's frame: rotation row by row, position [m]."""
    inertia: np.ndarray
    """(n, 21) symmetric 6x6 inertia [[A, B], [B', C]] on (omega, v) about the body's origin: A as six numbers
    (xx, xy, xz, yy, yz, zz), B row by row, C as six numbers."""
    rigid: np.ndarray
    """(n,) whether it is that of a rigid body of the mass and moment below: B = [moment]x, C = mass 1."""
    mass: np.ndarray
    """(n,) kg, on which gravity acts."""
    moment: np.ndarray
    """(n, 3) mass times centre of mass, body frame [kg m]."""
    gravity_w: np.ndarray
    """(3,) m/s^2."""
    air_carriers: np.ndarray
    """(m,) bodies that the air brakes; none where it does so nowhere."""
    air: np.ndarray
    """(m, 4) where it does, in the body's frame [m], and the quadratic drag [kg/m]."""
    wind_w: np.ndarray
    """(3,) m/s."""
    rotor_carriers: np.ndarray
    """(m,) bodies in which rotors spin."""
    rotors: np.ndarray
    """(m, 3) angular momentum of theirs against the body, in its frame [kg m^2/s]."""
    springs: np.ndarray
    """(k, 7) stiffness [N/m], lowest and highest length without force [m], damping [N s/m], 1 for the limits of a
    tendon, which damp beyond those lengths alone: they are none until a tree is bound to a step's length; and what the
    square and the cube of the way beyond those lengths are multiplied with [N/m^2, N/m^3]."""
    part_starts: np.ndarray
    """(k + 1,) where the parts of each spring's length begin."""
    part_carriers: np.ndarray
    """(m, 3) bodies between points of which a part goes, -1 for the world; or (the body that a joint carries,
    COORDINATE); and which of the shapes below it goes round, -1: none."""
    parts: np.ndarray
    """(m, 7) these points in the bodies' frames [m], and what the part is multiplied with."""
    wrap_carriers: np.ndarray
    """(w, 3) body of a shape that parts go round, -1 for the world, how (`wraps.SHORTEST` ...), and the body that
    carries the point on whose side they go."""
    wraps: np.ndarray
    """(w, 10) in the body's frame: centre [m], unit axis of a cylinder, of a sphere zeros; radius [m]; from the centre
    to a point on the side of which parts go, in the frame of another body the point [m]."""
    driven: np.ndarray
    """(m,) springs along which controls have forces."""
    damping: np.ndarray
    """(nv,) N m s or N s/m."""
    armature: np.ndarray
    """(nv,) inertia of rotors that turn with the coordinates [kg m^2 or kg]."""
    stiffness: np.ndarray
    """(nv,) N m or N/m; of ball joints three of V = 2 (k0 x^2 + k1 y^2 + k2 z^2), (w, x, y, z) the quaternion."""
    rest: np.ndarray
    """(nv,) coordinate at which a spring is at rest."""
    limits: np.ndarray
    """(nv, 2) lowest and highest coordinate of revolute and prismatic joints, infinite where there is none."""
    limit_stiffness: np.ndarray
    """(nv,) of one-sided springs at the limits [N m/rad or N/m]; none until a tree is bound to a step's length."""
    limit_damping: np.ndarray
    """(nv,) beyond the limits [N m s/rad or N s/m]; likewise."""


class Workspace(NamedTuple):
    """What one step writes; allocated once, so that a step allocates nothing."""

    node: np.ndarray
    """(n, NODE) of each body at the node, all in the world's axes: rotation row by row, place from the parent's origin,
    A of the inertia, moment, B, C (as in `TreeArrays`)."""
    articulated: np.ndarray
    """(n, HUNG + 1) articulated-body inertias that wait for a parent which is not next, and whether there is one."""
    factor: np.ndarray
    """(n, 21) what `solve` needs of each joint."""
    arc: np.ndarray
    """(n, ARC) displacement of each body over the step: half the Cayley vector (u, s), the translation, and (v, w) of
    the rotation's quaternion; in the world's axes, as what follows of bodies."""
    twist: np.ndarray
    """(n, 6) of each body under the joints' change."""
    wrench: np.ndarray
    """(n, 6) impulses on the bodies, with what the children have added; zero between steps."""
    spare: np.ndarray
    """(nv,)"""
    residual: np.ndarray
    """(nv,) N m s or N s."""
    change: np.ndarray
    """(nv,)"""
    trial: np.ndarray
    """(nv,) the increments before."""
    ahead: np.ndarray
    """(nv,) the increments to come."""
    tangent: np.ndarray
    """(n, 36) derivative of the impulse on each body and its subtree by the body's displacement (Newton's method)."""
    left: np.ndarray
    """(n, 36) what Newton's method needs of each joint."""
    after: np.ndarray
    """(n, 12) at the end of the step: the first columns of `node`."""
    q_after: np.ndarray
    """(nq,)"""
    updates: np.ndarray
    """(UPDATES_MAX, nv) steps of Broyden's method."""
    damping: np.ndarray
    """(nv,) of the step, with that of the limits that are reached."""
    impulse: np.ndarray
    """(nv,) with which the arc begins."""
    kick: np.ndarray
    """(nv,) generalised force at a node."""
    saved_q: np.ndarray
    """(nq,)"""
    saved_b: np.ndarray
    """(nv,)"""
    increments: np.ndarray
    """(nv,) of the step."""
    kept_q: np.ndarray
    """(nq,) where a lane's step began."""
    kept_b: np.ndarray
    """(nv,)"""
    torque: np.ndarray
    """(nv,) of controls and of what pushes from outside."""
    missed: np.ndarray
    """(REMEMBERED,) sums of squares by which guesses of each order would have missed the step."""
    tally: np.ndarray
    """(2 + k,) grows by the root finder's iterations, also those that led nowhere, and by the steps that had to be
    divided; then the residuals of the latest step's first k iterates [N m s or N s]."""


class TreeMotion(NamedTuple):
    """Private state of a lane under the variational method: equal states and inputs lead to equal bits."""

    q: np.ndarray
    """(nq,) joint coordinates."""
    b: np.ndarray
    """(nv,) impulse with which the next step begins: arriving momenta and the node's kick."""
    history: np.ndarray
    """(nv, REMEMBERED) backward differences of the last steps' increments, the latest increments first."""
    memory: np.ndarray
    """(2,) by how many of them the next step is guessed, and by how much a step's iterations contract."""

    def copy(self) -> "TreeMotion":
        return TreeMotion(self.q.copy(), self.b.copy(), self.history.copy(), self.memory.copy())


class Loads(NamedTuple):
    """What acts on a tree from outside, held over a step."""

    torques: np.ndarray
    """(nv + m,) of the controls at joints and along driven tendons [N m or N]; half of their impulse acts at either end
    of a step."""
    push: np.ndarray
    """(nv,) generalised force whose impulse acts where a step starts."""
    wrenches: np.ndarray
    """(n or 0, 6) on the bodies, in their frames, where a step starts [N m, N]."""


def workspace(tree: TreeArrays, noted: int = 0) -> Workspace:
    """Of one lane. noted: of how many iterates the residual is noted."""
    n, nv, nq = len(tree.parent), len(tree.damping), int(tree.q_at[-1]) + COORDINATES[int(tree.kind[-1])]
    return Workspace(
        node=np.zeros((n, NODE)),
        articulated=np.zeros((n, HUNG + 1)),
        factor=np.zeros((n, 21)),
        arc=np.zeros((n, ARC)),
        twist=np.zeros((n, 6)),
        wrench=np.zeros((n, 6)),
        spare=np.zeros(nv),
        residual=np.zeros(nv),
        change=np.zeros(nv),
        trial=np.zeros(nv),
        ahead=np.zeros(nv),
        tangent=np.zeros((n, 36)),
        left=np.zeros((n, 36)),
        after=np.zeros((n, 12)),
        q_after=np.zeros(nq),
        updates=np.zeros((UPDATES_MAX, nv)),
        damping=np.zeros(nv),
        impulse=np.zeros(nv),
        kick=np.zeros(nv),
        saved_q=np.zeros(nq),
        saved_b=np.zeros(nv),
        increments=np.zeros(nv),
        kept_q=np.zeros(nq),
        kept_b=np.zeros(nv),
        torque=np.zeros(nv),
        missed=np.zeros(REMEMBERED),
        tally=np.zeros(2 + noted),
    )
