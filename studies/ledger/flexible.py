"""A spacecraft with two solar arrays on springs, free in space: a tree whose root is free.

Compared with Lagrange's equations in plain coordinates: the hub's place, its angles about z, y and x in turn, and the
arrays' angles.
"""

from types import SimpleNamespace

import casadi as ca
import numpy as np

from sim.multibody.declaration import Body, Joint
from sim.multibody.shapes import PAINTED, STEEL, Link
from sim.multibody.tree import Tree, tree
from sim.steppers.bound_tree import BoundTree
from sim.symbolic import shift, turn_about
from sim.vehicles.forms.articulated import ArticulatedVehicle
from sim.vehicles.forms.form import State
from studies.ledger.composed import ORDER_6, advance_composed
from studies.ledger.problem import Problem
from studies.reference.lagrange import LagrangianSystem, rates

HUB_KG, HUB_INERTIA = 40.0, (6.0, 5.0, 4.0)
ARRAY_KG, ARRAY_M, ARRAY_INERTIA = 5.0, 1.5, (4.0, 0.4, 4.3)
HINGE_M, STIFFNESS_NM = 0.4, 20.0
SPUN_RADPS, DRIFT_MPS, BENT_RAD = (0.3, 0.2, 0.9), (0.1, -0.05, 0.02), (0.3, -0.1)
END_S = 6.0
SIDES = {"left": 1.0, "right": -1.0}


class FlexibleSpacecraft(ArticulatedVehicle):
    """A hub, and an array on either side that a spring holds straight."""

    name = "ledger-flexible-spacecraft"

    def declare(self, q: SimpleNamespace) -> Tree:
        hub = Body("hub", joint=Joint("free"), mass=HUB_KG, inertia=HUB_INERTIA)
        arrays = [
            Body(
                name,
                "hub",
                Joint(axis=(side, 0.0, 0.0), stiffness=STIFFNESS_NM),
                position=(0.0, side * HINGE_M, 0.0),
                mass=ARRAY_KG,
                centre=(0.0, side * ARRAY_M, 0.0),
                inertia=ARRAY_INERTIA,
            )
            for name, side in SIDES.items()
        ]
        return tree([hub, *arrays], (0.0, 0.0, 0.0))

    def shapes(self) -> tuple[Link, ...]:
        """A hub, booms and arrays, which are drawn as thick as they can be seen."""
        found = [Link("hub", (-0.4, 0.0, 0.0), (0.4, 0.0, 0.0), HINGE_M, PAINTED, (False, False))]
        for name, side in SIDES.items():
            for x in (-0.25, 0.0, 0.25):
                begin, end = (x, side * 0.15, 0.0), (x, side * 2.0 * ARRAY_M, 0.0)
                found.append(Link(name, begin, end, 0.1, STEEL, (False, False)))
        return tuple(found)

    @property
    def links(self) -> tuple[Link, ...]:  # type: ignore[override]
        """Nothing holds it."""
        return self.shapes()

    def default_state(self) -> State:
        """Turning, its arrays bent."""
        rates = (*SPUN_RADPS, *DRIFT_MPS)
        turning = dict(zip(self.tree.velocity_names[:6], rates, strict=True))
        begun = self.tree.state(dict(zip(SIDES, BENT_RAD, strict=True)), turning)
        return self.state(begun.q, begun.v)


def ours() -> np.ndarray:
    """(11,) rotation matrix of the hub, column by column, and the arrays' angles."""
    craft = FlexibleSpacecraft()
    begun, step_s = craft.default_state(), 5e-3
    bound = BoundTree(craft.tree, step_s, tolerance=1e-14)
    q, v = (begun.node[at] for at in (craft.node_layout.pose, craft.node_layout.velocity))
    motion = bound.start(q, v)
    status = advance_composed(bound, motion, round(END_S / step_s), step_s, ORDER_6)
    if status:
        raise ArithmeticError(f"a step has no root: {status}")
    hub = ca.Function(
        "hub", [node := ca.SX.sym("node", q.size + v.size)], [craft.bodies(node, craft.own)["hub"]]
    )
    R = np.array(hub(np.r_[motion.q, bound.velocity(motion)]))[:3, :3]
    places = [craft.tree.coordinate_names.index(name) for name in SIDES]
    return np.r_[R.T.ravel(), motion.q[places]]


def truth() -> np.ndarray:
    """(11,) the same."""
    q, v = ca.SX.sym("q", 8), ca.SX.sym("v", 8)
    turned = turn_about("z", q[3]) @ turn_about("y", q[4]) @ turn_about("x", q[5])
    hub = ca.SX(4, 4)
    hub[:, :] = turned
    hub[:3, 3] = q[:3]
    bodies = [(hub, HUB_KG, HUB_INERTIA)]
    value = ca.SX(0)
    for k, side in enumerate(SIDES.values()):
        hinge = hub @ shift(0, side * HINGE_M, 0) @ turn_about("x", side * q[6 + k])
        bodies.append((hinge @ shift(0, side * ARRAY_M, 0), ARRAY_KG, ARRAY_INERTIA))
        value -= STIFFNESS_NM * q[6 + k] ** 2 / 2
    for T, mass, inertia in bodies:
        R = T[:3, :3]
        spun = R.T @ ca.reshape(rates(ca.vec(R), q, v), 3, 3)
        omega = ca.vertcat(spun[2, 1], spun[0, 2], spun[1, 0])
        value += (mass * ca.sumsqr(rates(T[:3, 3], q, v)) + ca.dot(omega, ca.SX(inertia) * omega)) / 2
    system = LagrangianSystem(q=q, v=v, lagrangian=value)
    end, _ = system.moved([0.0] * 6 + [*BENT_RAD], [*DRIFT_MPS, *SPUN_RADPS[::-1], 0.0, 0.0], END_S)
    there = ca.Function("there", [q], [ca.vec(turned[:3, :3])])
    return np.r_[np.array(there(end)).ravel(), end[6:]]


def opened() -> tuple[ArticulatedVehicle, State]:
    """As a vehicle, and where it starts."""
    craft = FlexibleSpacecraft()
    return craft, craft.default_state()


PROBLEMS = (
    Problem(
        name="flexible-spacecraft",
        title="A spacecraft with two arrays on springs tumbles",
        quantity="attitude of the hub and angles of the arrays at 6 s [1, rad]",
        source="studies.reference, plain coordinates",
        truth=truth,
        known_digits=12,
        ours=ours,
        step="riqn composed, order 6, 5 ms",
        motion_s=END_S,
        least_digits=9.0,
        scene=opened,
    ),
)
