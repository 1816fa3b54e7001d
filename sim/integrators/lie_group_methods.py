"""The explicit Lie group methods by their coefficients (mechanics survey; rigid body article)."""

from sim.integrators.lie_group import TWO_COMMUTATORS, LieGroupMethod, Row, commutator_free, munthe_kaas

# Dormand and Prince's 5(4) pair.
DORMAND_PRINCE_A: tuple[Row, ...] = (
    (),
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
)
DORMAND_PRINCE_B: Row = (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84)

KUTTA_4: tuple[tuple[Row, ...], Row] = (
    ((), (1 / 2,), (0.0, 1 / 2), (0.0, 0.0, 1.0)),
    (1 / 6, 1 / 3, 1 / 3, 1 / 6),
)

CF3A_STAGES: tuple[tuple[Row, ...], ...] = ((), ((1 / 3,),), ((0.0, 2 / 3),))
CF3A_UPDATE: tuple[Row, ...] = ((1 / 3,), (-1 / 12, 0.0, 3 / 4))
CF3B_STAGES: tuple[tuple[Row, ...], ...] = ((), ((2 / 3,),), ((5 / 12, 1 / 4),))
CF3B_UPDATE: tuple[Row, ...] = ((5 / 12, 1 / 4), (-1 / 6, -1 / 2, 1.0))
CF4_STAGES: tuple[tuple[Row, ...], ...] = ((), ((1 / 2,),), ((0.0, 1 / 2),), ((1 / 2,), (-1 / 2, 0.0, 1.0)))
CF4_UPDATE: tuple[Row, ...] = (
    (3 / 12, 2 / 12, 2 / 12, -1 / 12),
    (-1 / 12, 2 / 12, 2 / 12, 3 / 12),
)

_SURVEY = "mechanics survey, section 2.2"

LIE_GROUP: tuple[LieGroupMethod, ...] = (
    LieGroupMethod(
        "lie-heun",
        commutator_free(((), ((1.0,),)), ((1 / 2, 1 / 2),)),
        2,
        2,
        "Lie-Euler-Heun: mean of the velocities at both ends of an Euler step. Second order, explicit.",
        _SURVEY,
    ),
    LieGroupMethod(
        "ralston",
        commutator_free(((), ((2 / 3,),)), ((1 / 4, 3 / 4),)),
        2,
        2,
        "Ralston's method with exponentials: second order with the smallest error bound of its kind.",
        "rigid body article",
    ),
    LieGroupMethod(
        "rkmk3",
        munthe_kaas(((), (1 / 2,), (-1.0, 2.0)), (1 / 6, 2 / 3, 1 / 6)),
        3,
        3,
        "Runge-Kutta-Munthe-Kaas on Kutta's third-order method, exact dexp^-1.",
        _SURVEY,
    ),
    LieGroupMethod(
        "rkmk4",
        munthe_kaas(*KUTTA_4),
        4,
        4,
        "Runge-Kutta-Munthe-Kaas on the classical method, exact dexp^-1: fourth order and on the group.",
        _SURVEY,
    ),
    LieGroupMethod(
        "rkmk4-cay",
        munthe_kaas(*KUTTA_4, cayley=True),
        4,
        4,
        "The same in coordinates of the Cayley map: rational, no sines, so plans of it are found fastest.",
        "Engo 2000; vehicles paper, eqs. 12-14",
        tau="cay",
    ),
    LieGroupMethod(
        "rkmk4-2c",
        TWO_COMMUTATORS,
        4,
        4,
        "The same with two commutators in place of dexp^-1: cheaper, fourth order.",
        _SURVEY,
    ),
    LieGroupMethod(
        "rkmk5",
        munthe_kaas(DORMAND_PRINCE_A, DORMAND_PRINCE_B),
        5,
        6,
        "Runge-Kutta-Munthe-Kaas on Dormand and Prince's fifth-order method.",
        "mechanics survey, section 4.1",
    ),
    LieGroupMethod(
        "cf4",
        commutator_free(CF4_STAGES, CF4_UPDATE),
        4,
        4,
        "Commutator-free, five exponentials of which one is reused: fourth order.",
        "mechanics survey, eq. 9",
    ),
    LieGroupMethod(
        "cf3a",
        commutator_free(CF3A_STAGES, CF3A_UPDATE),
        3,
        3,
        "Commutator-free of third order that reuses its second stage.",
        "mechanics survey, section 4.2.1, first pair",
    ),
    LieGroupMethod(
        "cf3b",
        commutator_free(CF3B_STAGES, CF3B_UPDATE),
        3,
        3,
        "Commutator-free of third order that reuses its third stage.",
        "mechanics survey, section 4.2.1, second pair",
    ),
    LieGroupMethod(
        "crouch-grossman3",
        commutator_free(
            ((), ((3 / 4,),), ((119 / 216,), (0.0, 17 / 108))),
            ((13 / 51,), (0.0, -2 / 3), (0.0, 0.0, 24 / 17)),
        ),
        3,
        3,
        "Crouch and Grossman: one exponential for every velocity. Third order.",
        "mechanics survey, section 2.2",
    ),
)
