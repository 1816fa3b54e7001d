"""Methods for trees of joints alone: recursions over the bodies in linear time, hand-written in `sim.multibody`.

`variational` serves trees as well; `riqn`, `newton` and `broyden` are other names of it, by how its root is found.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import ClassVar

import casadi as ca
import numpy as np

from sim.integrators.base import Inputs, Integrator, Scheme, Touch
from sim.multibody.arrays import PRISMATIC, REVOLUTE
from sim.multibody.pushing import Pushing, box_gap, parted, with_world
from sim.multibody.shapes import touching_points
from sim.multibody.spatial import cross, dot, rotate
from sim.multibody.symbolic import SymbolicTree, generic
from sim.platform.errors import InputError
from sim.platform.values import dataclass
from sim.vehicles.forms.articulated import ArticulatedVehicle, ClosedVehicle
from sim.vehicles.forms.base import Structure, Vehicle
from sim.vehicles.forms.form import TREES, Form

_TOUCHING_M, _PUSH, _SLIP_MPS = 1e-3, 0.3, 0.02
"""Balls as near as this to boxes are thought to push them at first, by this share of all weight; slips are no less."""
FRICTION, GRAVITY_MPS2 = 0.7, 9.81
"""Of feet on the ground, as `sim.contact.trees` has it, and what makes masses comparable with forces."""
_ROTATE, _DOT, _CROSS = generic(rotate), generic(dot), generic(cross)
_BOX_GAP, _PARTED = generic(box_gap), generic(parted)
_PAPER = "multibody paper, sections 3 and 4"


def tree_scheme(method: Integrator, vehicle: ArticulatedVehicle, inputs: Inputs) -> Scheme:
    """The variational step of a tree as equations: the recursions that advance it, run on expressions.

    y = (q, b): coordinates, and the impulse with which the step begins. z: velocities of the joints over the arc, whose
    increments are h z. The tree is that of the vehicle's own parameters, but for derivatives by them. Within its
    joints' limits it is the very step that the recursions take; beyond them these have springs.
    """
    h, (tree, quantities) = inputs.h, vehicle.symbolic_with(inputs.p)
    u = vehicle.forces(inputs.at(0.5), quantities)
    q, b = ca.SX.sym("q", vehicle.tree.nq), ca.SX.sym("b", vehicle.tree.nv)
    z = ca.SX.sym("z", vehicle.tree.nv)
    begun = b + tree.air_impulse(q, b, h) + h / 2 * tree.driven(q, u) + h * inputs.w
    residual, moved, arrived = tree.step(q, h * z, begun, h)
    ended = arrived + h / 2 * tree.driven(moved, u)
    kick = h / 2 * tree.node_force(q)
    at = vehicle.node_layout
    start_q, start_v = inputs.node[at.pose], inputs.node[at.velocity]
    momenta = tree.momenta(start_q, start_v)
    velocity = tree.velocities(q, b - kick)
    return Scheme(
        inputs=inputs,
        y=ca.vertcat(q, b),
        z=z,
        residual=residual,
        guess=tree.velocities(q, begun),
        y_next=ca.vertcat(moved, ended + tree.air_impulse(moved, ended, h)),
        node=ca.vertcat(q, velocity),
        start=ca.vertcat(start_q, momenta + h / 2 * tree.node_force(start_q)),
        free_velocity=velocity,
    )


def closed_tree_scheme(method: Integrator, vehicle: ClosedVehicle, inputs: Inputs) -> Scheme:
    """The step of a tree whose loops are closed at its end, by impulses where it begins (SHAKE).

    As `tree_scheme`; z goes on with forces over the step, one for each gap that no others imply, and the node's
    velocity is that before the impulse that keeps loops closed (`Closure.tangent`).
    """
    h, (tree, quantities) = inputs.h, vehicle.symbolic_with(inputs.p)
    u = vehicle.forces(inputs.at(0.5), quantities)
    closure, kept = vehicle.closure, vehicle.independent_gaps.tolist()
    q, b = ca.SX.sym("q", vehicle.tree.nq), ca.SX.sym("b", vehicle.tree.nv)
    z = ca.SX.sym("z", vehicle.tree.nv + len(kept))
    v, forces = z[: vehicle.tree.nv], ca.SX.zeros(closure.size)
    forces[kept] = z[vehicle.tree.nv :]
    held = b + tree.loop_impulse(q, closure, h * forces)
    begun = held + tree.air_impulse(q, held, h) + h / 2 * tree.driven(q, u) + h * inputs.w
    residual, moved, arrived = tree.step(q, h * v, begun, h)
    ended = arrived + h / 2 * tree.driven(moved, u)
    at = vehicle.node_layout
    start_q, start_v = inputs.node[at.pose], inputs.node[at.velocity]
    velocity = tree.velocities(q, b - h / 2 * tree.node_force(q))
    return Scheme(
        inputs=inputs,
        y=ca.vertcat(q, b),
        z=z,
        residual=ca.vertcat(residual, tree.gaps(moved, closure)[kept] / h),
        guess=ca.vertcat(
            tree.velocities(q, b + h / 2 * tree.driven(q, u) + h * inputs.w), ca.SX.zeros(len(kept))
        ),
        y_next=ca.vertcat(moved, ended + tree.air_impulse(moved, ended, h)),
        node=ca.vertcat(q, velocity),
        start=ca.vertcat(start_q, tree.momenta(start_q, start_v) + h / 2 * tree.node_force(start_q)),
        free_velocity=velocity,
    )


@lru_cache(maxsize=8)
def rollout_scheme(method: Integrator, structure: Structure) -> Scheme:
    """The step as a rollout has it: of closed trees, begun where loops are closed, and nodes with the velocities after
    the impulse that keeps them so.

    Kept: of trees it takes seconds, and starts, steps and derivatives want it in turn.
    """
    vehicle = structure.vehicle
    scheme = method.scheme(vehicle)
    if not isinstance(vehicle, ClosedVehicle):
        return scheme
    tree, _ = vehicle.symbolic_with(scheme.inputs.p)
    loops, at = (vehicle.closure, vehicle.independent_gaps.tolist()), vehicle.node_layout
    q, v = tree.kept_closed(scheme.inputs.node[at.pose], scheme.inputs.node[at.velocity], *loops)
    kick = scheme.inputs.h / 2 * tree.node_force(q)
    _, told = tree.kept_closed(scheme.node[at.pose], scheme.node[at.velocity], *loops)
    return replace(
        scheme,
        node=ca.vertcat(scheme.node[at.pose], told),
        start=ca.vertcat(q, tree.momenta(q, v) + kick),
    )


def within_limits(scheme: Scheme, vehicle: Vehicle) -> Scheme:
    """The step, which has no solution where a joint or a tendon of a tree is beyond a limit: the spring there is not in
    it."""
    if not isinstance(vehicle, ArticulatedVehicle):
        return scheme
    arrays, beyond = vehicle.tree.arrays, ca.SX(0)
    limited = list[tuple[ca.SX, list[float]]]()
    for i in np.flatnonzero((arrays.kind == REVOLUTE) | (arrays.kind == PRISMATIC)):
        limited.append((scheme.y[int(arrays.q_at[i])], arrays.limits[arrays.v_at[i]].tolist()))
    if arrays.springs[:, 4].any():
        tree, _ = vehicle.symbolic_with(scheme.inputs.p)
        lengths = tree.spring_lengths(scheme.y[: vehicle.tree.nq])
        limited += [
            (lengths[int(k)], arrays.springs[k, 1:3].tolist()) for k in np.flatnonzero(arrays.springs[:, 4])
        ]
    for q, (low, high) in limited:
        if math.isfinite(low):
            beyond = ca.logic_or(beyond, q < low)
        if math.isfinite(high):
            beyond = ca.logic_or(beyond, q > high)
    return replace(scheme, y_next=scheme.y_next + ca.if_else(beyond, math.inf, 0.0))


def touching_tree_scheme(method: Integrator, vehicle: ArticulatedVehicle, inputs: Inputs) -> Scheme:
    """The step of a tree that touches level ground, boxes of its own that lie free, and walls, for plans that find
    when: no foot is below the ground at the end, no ball in a box.

    As `tree_scheme`; z goes on with four numbers for each contact that there may be: the force that parts and that
    along, and how fast it slips ahead and back. A force that parts goes with no gap at the step's end, one along that
    is less than friction allows with no slip over the step. Of what moves in space there are two forces along, within
    the square in friction's circle, and what bears does not slip. Contacts are told one by one.
    """
    bare, count, space = tree_scheme(method, vehicle, inputs), len(_contacts(vehicle)), vehicle.across is None
    if not count:
        return bare
    h, (tree, quantities) = inputs.h, vehicle.symbolic_with(inputs.p)
    nv, free = vehicle.tree.nv, inputs.at(0.5)
    q, b = bare.y[: vehicle.tree.nq], bare.y[vehicle.tree.nq :]
    u = vehicle.forces(free, quantities)
    weight = float(vehicle.tree.arrays.mass.sum()) * GRAVITY_MPS2
    z = ca.SX.sym("z", nv + (3 if space else 4) * count)
    up, *others = (z[nv + k * count : nv + (k + 1) * count] for k in range(3 if space else 4))
    along = ca.vertcat(*(others if space else others[:1]))
    impulse = tree.along(q, lambda moved: reached(vehicle, q, moved), h * ca.vertcat(up, along))
    begun = b + tree.air_impulse(q, b, h) + h / 2 * tree.driven(q, u) + h * inputs.w + impulse
    residual, moved, arrived = tree.step(q, h * z[:nv], begun, h)
    ended = arrived + h / 2 * tree.driven(moved, u)
    at_end = reached(vehicle, q, moved)
    gaps, slips = at_end[:count], at_end[count:] / h
    spare, rubbed = friction_along(vehicle) * up / weight, along / weight
    if space:
        spare, parts = ca.vertcat(spare, spare), ca.vertcat(gaps, up / weight, slips)
    else:
        ahead, back = others[1:]
        parts, residual = (
            ca.vertcat(gaps, up / weight, ahead, back),
            ca.vertcat(residual, slips - ahead + back),
        )
    return replace(
        bare,
        z=z,
        residual=residual,
        guess=ca.vertcat(bare.guess, _begun(vehicle, q, h * bare.guess, h, weight)),
        y_next=ca.vertcat(moved, ended + tree.air_impulse(moved, ended, h)),
        parts=ca.vertcat(parts, spare + rubbed, spare - rubbed),
        touches=tuple(_touch(k, count, space) for k in range(count)),
    )


def _touch(k: int, count: int, space: bool) -> Touch:
    """Where the parts of one contact are, of so many."""
    at = [k + count * i for i in range(8 if space else 6)]
    if space:
        return Touch(at[0], at[1], ((at[4], at[6]), (at[5], at[7])), ((at[2],), (at[3],)))
    return Touch(at[0], at[1], ((at[4], at[5]),), ((at[2], at[3]),))


def friction_along(vehicle: ArticulatedVehicle) -> float:
    """Share of the force that parts which that along each way is in plans at most."""
    return FRICTION * (math.sqrt(0.5) if vehicle.across is None else 1.0)


def _begun(vehicle: ArticulatedVehicle, q: ca.SX, increments: ca.SX, h: ca.SX, weight: float) -> ca.SX:
    """First guess of what contacts add to z: feet that stand bear the weight; balls push what they touch, friction is
    against slips."""
    pushed = len(vehicle.pushing.balls)
    feet = len(_contacts(vehicle)) - pushed
    gaps = ca.vertsplit(reached(vehicle, q, q)[: feet + pushed])
    near = ca.vertcat(*(gap < _TOUCHING_M for gap in gaps))
    stand, alike = ca.sum1(near[:feet]), ca.SX(np.full(feet, weight / max(feet, 1)))
    borne = ca.if_else(stand > 0, weight * near[:feet] / ca.fmax(stand, 1), alike)
    if vehicle.across is None:
        return ca.vertcat(borne, np.zeros(2 * feet))
    if not pushed:
        return ca.vertcat(borne, np.zeros(feet), np.full(2 * feet, 0.1))
    borne = ca.vertcat(borne, _PUSH * weight * near[feet:])
    slips = reached(vehicle, q, vehicle.symbolic.move(q, increments))[feet + pushed :] / h
    rubbed = -FRICTION * borne * slips / (ca.fabs(slips) + _SLIP_MPS)
    return ca.vertcat(borne, rubbed, ca.fmax(slips, 0.0) + _SLIP_MPS, ca.fmax(-slips, 0.0) + _SLIP_MPS)


def reached(vehicle: ArticulatedVehicle, q: ca.SX, moved: ca.SX) -> ca.SX:
    """(2 k,) gaps of all contacts that plans find, and ways along them, where coordinates q have become others; in
    space (3 k,), ways along x and then along y."""
    before, after = _frames(vehicle.symbolic, q), _frames(vehicle.symbolic, moved)
    found = [contact(before, after) for contact in _contacts(vehicle)]
    return ca.vertcat(*(ca.vertcat(*each) for each in zip(*found, strict=True)))


Contact = Callable[[np.ndarray, np.ndarray], tuple[ca.SX, ...]]
"""Of bodies' frames (n + 1, 12) where a step begins and where they are then: the gap there, and ways along since."""


def _frames(tree: SymbolicTree, q: ca.SX) -> np.ndarray:
    """(n + 1, 12) rotations and places in the world, expressions; the world's own last."""
    found = with_world(tree.tree.n).astype(object)
    for i, (R, x) in enumerate(tree.frames(q)):
        found[i] = [*ca.vec(R.T).elements(), *x.elements()]
    return found


def _contacts(vehicle: ArticulatedVehicle) -> list[Contact]:
    """All that a vehicle's plans find."""
    carriers, spheres = touching_points(vehicle.tree, vehicle.bearing)
    ends = zip(carriers.tolist(), spheres.tolist(), strict=True)
    across, pushed = vehicle.across, range(len(vehicle.pushing.balls))
    if across is None:
        assert not pushed, "what pushes in plans does so in a plane"
        return [partial(_on_ground, body, sphere, 2) for body, sphere in ends]
    return [
        *(partial(_on_ground, body, sphere, 1) for body, sphere in ends),
        *(partial(_at_box, vehicle.pushing, across, k) for k in pushed),
    ]


def _on_ground(
    body: int, sphere: Sequence[float], ways: int, before: np.ndarray, after: np.ndarray
) -> tuple[ca.SX, ...]:
    """The end of a foot on level ground: how high it is, and how far what of it touched has gone on along x, or x and
    y."""
    R, place, radius = before[body, :9], sphere[:3], sphere[3]
    touched = [place[c] - radius * R[6 + c] for c in range(3)]
    height = _ROTATE(after[body, :9], place)[2] + after[body, 11] - radius
    gone, stood = (
        [_ROTATE(frames[body, :9], touched)[c] + frames[body, 9 + c] for c in range(ways)]
        for frames in (after, before)
    )
    return height, *(there - here for there, here in zip(gone, stood, strict=True))


def _at_box(
    pairs: Pushing, across: Sequence[float], k: int, before: np.ndarray, after: np.ndarray
) -> tuple[ca.SX, ca.SX]:
    """A ball at a box: the gap, and how far what of both was nearest has gone apart along the box."""
    i, j = int(pairs.balls[k]), int(pairs.boxes[k])
    gap, _, _ = _BOX_GAP(after, pairs.spheres, pairs.frames, i, j, k)
    _, n, centre = _BOX_GAP(before, pairs.spheres, pairs.frames, i, j, k)
    touched = [centre[c] - float(pairs.spheres[k, 3]) * n[c] for c in range(3)]
    return gap, _DOT(_PARTED(before, after, i, j, touched), _CROSS(across, n))


@dataclass(frozen=True)
class Multibody(Integrator):
    """One recursion; its name says which one to the stepper of trees."""

    name: str
    order: int
    doc: str
    source: str
    force_evaluations: int
    kept: tuple[str, ...] = ()
    family: str = "multibody"
    tau: str = ""
    solver: str = ""
    looks: int = 0
    alias_of: str = ""
    by_recursion: frozenset[Form] = frozenset(TREES)

    def keeps(self, vehicle: Vehicle) -> tuple[str, ...]:
        return self.kept


class VariationalMultibody(Multibody):
    """One whose step there are equations of, too."""

    forms: ClassVar = {Form.TREE: tree_scheme, Form.CLOSED_TREE: closed_tree_scheme}


@dataclass(frozen=True)
class TouchingMultibody(Multibody):
    """The same, with contact that holds where a step ends."""

    forms: ClassVar = {Form.TREE: touching_tree_scheme}
    by_recursion: frozenset[Form] = frozenset({Form.TREE})
    looks: int = 400


@dataclass(frozen=True)
class VariedMultibody(Multibody):
    """Its step is taken in parts in which joints turn by about `turn_rad`, taken together as a root of squares."""

    turn_rad: float = 0.1
    options: tuple[str, ...] = ("turn_rad",)

    def __post_init__(self) -> None:
        if not (math.isfinite(self.turn_rad) and self.turn_rad > 0):
            raise InputError(
                f"{self.name}: turn_rad = {self.turn_rad!r} is no angle to turn by; allowed: above 0, e.g. 0.1"
            )


MULTIBODY: tuple[Multibody, ...] = (
    VariationalMultibody(
        "riqn",
        2,
        "The variational step of a tree, its root found by the recursive impulse-based quasi-Newton method: linear "
        "time in the number of bodies. Energy does not drift, momentum is kept.",
        _PAPER,
        1,
        ("momentum", "energy"),
        tau="cay",
        solver="riqn",
        alias_of="variational",
    ),
    VariationalMultibody(
        "newton",
        2,
        "The same step as riqn's by Newton's method with exact derivatives, in linear time too: fewer iterations, each "
        "of them dearer; what is stiff or fast it finds more surely.",
        "multibody paper, appendix 4",
        1,
        ("momentum", "energy"),
        tau="cay",
        solver="newton",
        alias_of="variational",
    ),
    VariationalMultibody(
        "broyden",
        2,
        "The same step as riqn's, whose quasi-Newton matrix learns from the iterations before.",
        "multibody paper, section 5",
        1,
        ("momentum", "energy"),
        tau="cay",
        solver="broyden",
        alias_of="variational",
    ),
    TouchingMultibody(
        "touching",
        2,
        "newton's step, in which contact with the ground holds where the step ends instead of by velocities where it "
        "begins: no end is below the ground then. Plans through contact are by it.",
        f"{_PAPER}; Stewart and Trinkle 1996",
        1,
        ("momentum", "energy"),
        tau="cay",
        solver="newton",
    ),
    VariedMultibody(
        "riqn-variable",
        2,
        "riqn's step, divided into equal parts where joints turn fast, by a rule that runs backwards as well: energy "
        "stays in a band as with constant steps.",
        f"{_PAPER}; variable steps by Hairer and Soederlind 2005",
        1,
        ("momentum", "energy"),
        tau="cay",
        solver="riqn",
    ),
    Multibody(
        "semi-implicit-euler",
        1,
        "Velocities first by articulated-body accelerations, then the joints by these: what most engines of games and "
        "robots do. Cheap; its energy is off at first order in h, and drifts where the tree moves fast. Loops are "
        "closed after each step.",
        "multibody paper, section 5, comparators",
        1,
    ),
)
