"""Andrews' squeezing mechanism: seven plane bodies, three loops, a stiff spring, a motor.

E. Hairer and G. Wanner, "Solving Ordinary Differential Equations II", section VII.7; W. Schiehlen (ed.), "Multibody
Systems Handbook", 1990; F. Mazzia and C. Magherini, "Test Set for Initial Value Problem Solvers", problem Andrews.
"""

from typing import Any

import numpy as np

import sim
from sim.multibody.declaration import Body, Joint, Loop, Spring
from sim.scene import Comparison
from studies.ledger.composed import ORDER_8
from studies.ledger.mechanism import Mechanism, extrapolated
from studies.ledger.peers import peers_of
from studies.ledger.problem import Problem

END_S, STEP_S = 0.03, 2e-4
TORQUE_NM = 0.033
SPRING_NPM, REST_M = 4530.0, 0.07785
A, B, C = (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)
CRANK_M, CRANK_CENTRE_M, COUPLER_M, COUPLER_CENTRE_M = 7e-3, 9.2e-4, 28e-3, 11.5e-3
SS, SA, SB, SC, SD = 35e-3, 18.74e-3, 10.43e-3, 18e-3, 20e-3
E, EA, ZT, TA, TB = 20e-3, 14.21e-3, 40e-3, 23.08e-3, 9.16e-3
ZF, FA, U, UA, UB = 20e-3, 14.21e-3, 40e-3, 12.28e-3, 4.49e-3
BEGIN_RAD = {
    "K1": -0.0617138900142764496358948458001,
    "K2": 0.0,
    "K3": 0.455279819163070380255912382449,
    "K4": 0.222668390165885884674473185609,
    "K5": 0.487364979543842550225598953530,
    "K6": -0.222668390165885884674473185609,
    "K7": 1.23054744454982119249735015568,
}
"""beta, Theta, gamma, Phi, delta, Omega, epsilon."""
PUBLISHED = (
    15.81077119629904,
    -15.75637105984298,
    0.04082224013073101,
    -0.5347301163226948,
    0.5244099658805304,
    0.5347301163226948,
    1.048080741042263,
)


def link(
    name: str,
    parent: str,
    at: tuple[float, float],
    mass: float,
    moment: float,
    centre: tuple[float, float],
) -> Body:
    """A plane body, whose frame is at its joint."""
    turn = Joint("revolute", axis=(0.0, 0.0, 1.0))
    inertia = (moment, moment, moment)
    return Body(name, parent, turn, position=(*at, 0.0), mass=mass, centre=(*centre, 0.0), inertia=inertia)


SQUEEZER = Mechanism(
    bodies=[
        link("K1", "world", (0.0, 0.0), 0.04325, 2.194e-6, (CRANK_CENTRE_M, 0.0)),
        link("K2", "K1", (CRANK_M, 0.0), 0.00365, 4.410e-7, (-COUPLER_CENTRE_M, 0.0)),
        link("K3", "world", B, 0.02373, 5.255e-6, (SA, SB)),
        link("K5", "world", A, 0.07050, 1.169e-5, (TA, TB)),
        link("K4", "K5", (ZT, 0.0), 0.00706, 5.667e-7, (0.0, EA - E)),
        link("K7", "world", A, 0.05498, 1.912e-5, (UA, UB)),
        link("K6", "K7", (0.0, -U), 0.00706, 5.667e-7, (ZF - FA, 0.0)),
    ],
    gravity_w=(0.0, 0.0, 0.0),
    loops=[
        Loop("K2", (-COUPLER_M, 0.0, 0.0), body, (*point, 0.0))
        for body, point in (("K3", (0.0, -SS)), ("K4", (0.0, -E)), ("K6", (ZF, 0.0)))
    ],
    springs=[Spring("K3", (SD, -SC, 0.0), "world", (*C, 0.0), stiffness=SPRING_NPM, rest=REST_M)],
    q=BEGIN_RAD,
    torques={"K1": TORQUE_NM},
    shown_step_s=1e-4,
    shown_speed=1.0 / 32.0,
)


def published(moved: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """(7,) rad in the order of the publication."""
    return in_order(moved[0])


def in_order(angles: np.ndarray) -> np.ndarray:
    """(7,) rad of the bodies, as published."""
    at = dict(zip((body.name for body in SQUEEZER.bodies), angles, strict=True))
    return np.array([at[f"K{k}"] for k in range(1, 8)])


def by_stages() -> np.ndarray:
    """(7,) rad by steps of eighth order."""
    return in_order(
        SQUEEZER.moved_explicitly(END_S, STEP_S, SQUEEZER.angles, every=round(END_S / STEP_S))[-1]
    )


def by_lane() -> np.ndarray:
    """(7,) rad by Runge's and Kutta's method."""
    vehicle, start = SQUEEZER.opened("ledger-andrews")
    run = sim.simulate(vehicle, "rk4", step=1e-5, duration=END_S, initial=start, controls=[TORQUE_NM])
    names = vehicle.tree.coordinate_names
    q = np.array([run.nodes[-1, names.index(body.name)] for body in SQUEEZER.bodies])
    return published((q, q))


def seen() -> dict[str, Any]:
    """Across the plane in which it moves."""
    return {"comparison": Comparison(bearing_deg=70.0, distance=1.0)}


PROBLEMS = (
    Problem(
        name="andrews",
        title="Andrews' squeezer (A03)",
        quantity="seven angles at 0.03 s [rad]",
        source="IVP test set, problem Andrews",
        truth=lambda: PUBLISHED,
        known_digits=16,
        ours=by_stages,
        step="Dormand and Prince with loops, order 8, 0.2 ms",
        motion_s=END_S,
        least_digits=9.5,
        scene=lambda: SQUEEZER.enlarged(20.0).opened("ledger-andrews"),
        shown=seen,
        peers=peers_of(SQUEEZER, END_S, 2e-6, published, "2 us"),
        reason="three methods of orders 4 to 8, steps from 100 to 10 us, and extrapolation lead to one value, 1.4e-9 "
        "rad from the published one",
    ),
    Problem(
        name="andrews-composed",
        title="Andrews' squeezer by the variational method composed",
        quantity="seven angles at 0.03 s [rad]",
        source="IVP test set, problem Andrews",
        truth=lambda: PUBLISHED,
        known_digits=16,
        ours=lambda: published(SQUEEZER.moved(END_S, STEP_S, ORDER_8)),
        step="riqn with loops composed, order 8, 0.2 ms",
        motion_s=END_S,
        least_digits=9.5,
        reason="as above; not in real time",
        scene=lambda: SQUEEZER.enlarged(20.0).opened("ledger-andrews-composed"),
        shown=seen,
        pictured_by="andrews",
        another_way_of="andrews",
    ),
    Problem(
        name="andrews-10-us",
        title="Andrews' squeezer by steps of 10 us, as lanes take them",
        quantity="seven angles at 0.03 s [rad]",
        source="IVP test set, problem Andrews",
        truth=lambda: PUBLISHED,
        known_digits=16,
        ours=by_lane,
        step="rk4 with loops, 10 us",
        motion_s=END_S,
        least_digits=9.5,
        peers=peers_of(SQUEEZER, END_S, 1e-5, published),
        reason="as above",
        scene=lambda: SQUEEZER.enlarged(20.0).opened("ledger-andrews-10-us"),
        shown=lambda: {**seen(), "integrator": "rk4"},
        pictured_by="andrews",
        another_way_of="andrews",
    ),
    Problem(
        name="andrews-riqn",
        title="Andrews' squeezer by the plain variational method, extrapolated",
        quantity="seven angles at 0.03 s [rad]",
        source="IVP test set, problem Andrews",
        truth=lambda: PUBLISHED,
        known_digits=16,
        ours=lambda: extrapolated([published(SQUEEZER.moved(END_S, h)) for h in (1e-4, 5e-5, 2.5e-5)]),
        step="riqn with loops, 100, 50, 25 us extrapolated",
        motion_s=3.0 * END_S,
        least_digits=8.5,
        reason="as above; 10.5 digits by steps of 60, 30, 15 us, 4.8 by 10 us alone",
        scene=lambda: SQUEEZER.enlarged(20.0).opened("ledger-andrews-riqn"),
        shown=seen,
        pictured_by="andrews",
        another_way_of="andrews",
    ),
)
