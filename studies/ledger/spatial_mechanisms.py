"""Bricard's mechanism and the stiff flyball governor, problems A04 and A05 of IFToMM's library of benchmarks.

Bricard's six hinges leave a motion that Gruebler's count denies: one constraint is implied by the others. The
governor's rods hang on springs of 8e5 N/m with dampers of 4e4 N s/m, whose motion dies down within 0.2 ms. Both are
compared with Lagrange's equations in plain coordinates; dimensions as in L. Tagliapietra et al., "Multi-Body Systems
Benchmark in OpenSim", 2015.
"""

import casadi as ca
import numpy as np

from sim.multibody.declaration import Body, Joint, Loop, Spring
from studies.ledger.composed import ORDER_6
from studies.ledger.mechanism import Mechanism, extrapolated
from studies.ledger.peers import peers_of
from studies.ledger.problem import Problem
from studies.reference.lagrange import LagrangianSystem, rates

GRAVITY = 9.81
CORNERS = np.array([[0, 0, 0], [1, 0, 0], [1, -1, 0], [1, -1, 1], [0, -1, 1], [0, 0, 1]], float)
"""Of a cube, along whose edges the rods lie at first; the first and the last are held."""
HINGES = np.array([[0, -1, 0], [0, 0, 1], [1, 0, 0], [0, -1, 0], [0, 0, 1], [1, 0, 0]], float)
WIDTH_M, BRICARD_S = 0.1, 2.0


def box(mass: float, sides: np.ndarray) -> np.ndarray:
    """(3,) kg m^2 about its middle."""
    return mass / 12.0 * (np.sum(sides**2) - sides**2)


RODS = np.diff(CORNERS, axis=0)
ROD_INERTIAS = [box(1.0, np.where(np.abs(along) > 0.5, 1.0, WIDTH_M)) for along in RODS]
BRICARD = Mechanism(
    bodies=[
        Body(
            f"rod {k}",
            f"rod {k - 1}" if k else "world",
            Joint("revolute", axis=tuple(HINGES[k])),
            position=tuple(RODS[k - 1]) if k else (0.0, 0.0, 0.0),
            mass=1.0,
            centre=tuple(along / 2.0),
            inertia=tuple(ROD_INERTIAS[k]),
        )
        for k, along in enumerate(RODS)
    ],
    gravity_w=(0.0, -GRAVITY, 0.0),
    loops=[
        Loop("rod 4", tuple(RODS[4]), "world", tuple(CORNERS[5]), Joint("revolute", axis=tuple(HINGES[5])))
    ],
)


def bricard_system() -> LagrangianSystem:
    """In the five hinges' angles: rods are turned by products of rotations, and five rows close the last hinge."""
    q, v = ca.SX.sym("q", 5), ca.SX.sym("v", 5)
    R, at, spin, value = ca.SX.eye(3), ca.SX.zeros(3), ca.SX.zeros(3), ca.SX(0)
    for k, along in enumerate(RODS):
        axis = ca.SX(HINGES[k])
        spin = spin + (R @ axis) * v[k]
        cross = ca.skew(axis)
        R = R @ (ca.SX.eye(3) + ca.sin(q[k]) * cross + (1 - ca.cos(q[k])) * cross @ cross)
        middle = at + R @ ca.SX(along) / 2
        own = R.T @ spin
        value += ca.sumsqr(rates(middle, q, v)) / 2 + ca.dot(own, ca.SX(ROD_INERTIAS[k]) * own) / 2
        value -= GRAVITY * middle[1]
        at = at + R @ ca.SX(along)
    turned = R @ ca.SX(HINGES[5])
    return LagrangianSystem(
        q=q, v=v, lagrangian=value, holonomic=ca.vertcat(at - ca.SX(CORNERS[5]), turned[1], turned[2])
    )


ROD_KG, SLIDER_KG, BALL_KG = 0.3, 3.0, 5.0
"""3000 kg/m^3: rods and shaft of 1 x 0.01 x 0.01 m, a slider of 0.1 m."""
STIFF_NPM, DAMPING, REST_M, ASIDE_M = 8e5, 4e4, 0.5, 0.05
GOVERNOR_RAD, GOVERNOR_RADPS, GOVERNOR_S = 2.0 * np.pi / 3.0, 2.0 * np.pi, 0.5
ROD_INERTIA, SLIDER_INERTIA = box(ROD_KG, np.array([0.01, 0.01, 1.0])), box(SLIDER_KG, np.full(3, 0.1))


def _governor() -> Mechanism:
    both, off = ROD_KG + BALL_KG, 0.5 * BALL_KG / (ROD_KG + BALL_KG)
    across = ROD_INERTIA[0] + ROD_KG * off**2 + BALL_KG * (0.5 - off) ** 2
    sides = {"right": 1.0, "left": -1.0}
    return Mechanism(
        bodies=[
            Body("shaft", joint=Joint("revolute"), mass=ROD_KG, inertia=tuple(ROD_INERTIA)),
            Body("slider", "shaft", Joint("prismatic"), mass=SLIDER_KG, inertia=tuple(SLIDER_INERTIA)),
            *(
                Body(
                    name,
                    "shaft",
                    Joint("revolute", axis=(0.0, side, 0.0)),
                    position=(side * ASIDE_M, 0.0, 0.5),
                    mass=both,
                    centre=(0.0, 0.0, 0.5 + off),
                    inertia=(across, across, ROD_INERTIA[2]),
                )
                for name, side in sides.items()
            ),
        ],
        gravity_w=(0.0, 0.0, -GRAVITY),
        springs=[
            Spring(
                "slider",
                (side * ASIDE_M, 0.0, 0.0),
                name,
                (0.0, 0.0, 0.5),
                stiffness=STIFF_NPM,
                damping=DAMPING,
                rest=REST_M,
            )
            for name, side in sides.items()
        ],
        q={"right": GOVERNOR_RAD, "left": GOVERNOR_RAD},
        v={"shaft": GOVERNOR_RADPS},
    )


GOVERNOR = _governor()


def governor_system() -> LagrangianSystem:
    """In the shaft's turn, the slider's place and the rods' angles from upright."""
    q, v = ca.SX.sym("q", 4), ca.SX.sym("v", 4)
    c, s = ca.cos(q[0]), ca.sin(q[0])
    R = ca.blockcat([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    value = (ROD_INERTIA[2] + SLIDER_INERTIA[2]) * v[0] ** 2 / 2 + SLIDER_KG * (
        v[1] ** 2 / 2 - GRAVITY * q[1]
    )
    lost = ca.SX(0)
    for k, side in ((2, 1.0), (3, -1.0)):
        along = ca.vertcat(side * ca.sin(q[k]), 0, ca.cos(q[k]))
        hinge, held = ca.SX([side * ASIDE_M, 0, 0.5]), ca.vertcat(side * ASIDE_M, 0, q[1])
        middle, ball = R @ (hinge + along / 2), R @ (hinge + along)
        own = ca.vertcat(-v[0] * ca.sin(q[k]), v[k], v[0] * ca.cos(q[k]))
        for mass, at in ((ROD_KG, middle), (BALL_KG, ball)):
            value += mass * (ca.sumsqr(rates(at, q, v)) / 2 - GRAVITY * at[2])
        value += ca.dot(own, ca.SX(ROD_INERTIA) * own) / 2
        length = ca.norm_2(R @ held - middle)
        value -= STIFF_NPM * (length - REST_M) ** 2 / 2
        lost += DAMPING * rates(length, q, v) ** 2 / 2
    return LagrangianSystem(q=q, v=v, lagrangian=value, dissipation=lost)


def governor_truth() -> np.ndarray:
    """(4,) at the end."""
    begun = np.array([0.0, 0.0, GOVERNOR_RAD, GOVERNOR_RAD])
    return governor_system().moved(begun, [GOVERNOR_RADPS, 0.0, 0.0, 0.0], GOVERNOR_S)[0]


PROBLEMS = (
    Problem(
        name="bricard",
        title="Bricard's mechanism (A04)",
        quantity="angles of five hinges at 2 s [rad]",
        source="studies.reference, plain coordinates",
        truth=lambda: bricard_system().moved(np.zeros(5), np.zeros(5), BRICARD_S)[0],
        known_digits=12,
        ours=lambda: BRICARD.moved(BRICARD_S, 1e-2, ORDER_6)[0],
        step="riqn with a loop composed, order 6, 10 ms",
        motion_s=BRICARD_S,
        least_digits=8.0,
        scene=lambda: BRICARD.opened("ledger-bricard"),
        peers=peers_of(BRICARD, BRICARD_S, 1e-2, lambda moved: moved[0]),
    ),
    Problem(
        name="governor",
        title="Stiff flyball governor (A05)",
        quantity="shaft, slider and rods at 0.5 s [rad, m]",
        source="studies.reference, plain coordinates",
        truth=governor_truth,
        known_digits=12,
        ours=lambda: extrapolated([GOVERNOR.moved(GOVERNOR_S, 2e-3 / 2**k)[0] for k in range(4)]),
        step="riqn, 2, 1, 0.5, 0.25 ms extrapolated",
        motion_s=4.0 * GOVERNOR_S,
        least_digits=8.0,
        scene=lambda: GOVERNOR.opened("ledger-governor"),
        peers=peers_of(GOVERNOR, GOVERNOR_S, 2.5e-4, lambda moved: moved[0], "0.25 ms"),
    ),
)
