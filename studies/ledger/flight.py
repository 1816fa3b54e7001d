"""Modes of the helicopter, and a load that two quadrotors carry to a target by the mechanics survey's law.

The helicopter's equations are written anew in Euler's angles and body axes, trimmed by Newton's method and derived by a
complex step; none of the group, the compiler or `sim.linearise` is in them (B. Etkin, "Dynamics of Atmospheric Flight",
chapter 5). Flying level ahead it has closed forms: quadratic drag brings speed back at 2 D V / m and drift at D V / m,
and a rotor's momentum H nutates at H / sqrt(I1 I2). So it has where it hovers in a wind of V. A load whose cables hold
their formation goes to its target as its gains say (survey, section 6.2).
"""

import math
from typing import Any

import numpy as np
from scipy.optimize import root

import sim
from studies.ledger.problem import Problem

MASS, INERTIA, DRAG, ROTOR, ARM_M, TAIL_M, GRAVITY = 5.0, (0.15, 0.3, 0.35), 0.06, 1.7, 0.3, 1.0, 9.81
AHEAD_MPS, TURN_RADPS = 15.0, 0.6
WIND_MPS, HEADING_RAD = np.array([9.0, -4.0, 1.5]), 0.7
"""In which it hovers, aslant from behind and below."""
HIGH = np.array([0.0, 0.0, 40.0])
"""Where helicopters begin."""
CARRIED_S, GAINS, FALLING = 1.0, (12.0, 5.0), np.array([0.0, 0.0, -2.0])
LOAD, TARGET, TARGET_MPS = np.array([-2.0, 0.0, 0.0]), np.array([-2.5, 0.0, 0.75]), np.array([1.0, 0.0, 5.0])


def helicopter(**more: Any) -> sim.Vehicle:
    """With drag and the momentum of its rotor."""
    return sim.vehicle(
        "helicopter",
        mass=MASS,
        inertia=INERTIA,
        drag=DRAG,
        rotor_momentum=ROTOR,
        rotor_offset=ARM_M,
        tail_offset=TAIL_M,
        **more,
    )


def modes_truth(air_mps: float) -> np.ndarray:
    """(4,) 1/s, the last in rad/s, at a speed through the air."""
    slip = DRAG * air_mps / MASS
    return np.array([2.0 * slip, slip, slip, ROTOR / math.sqrt(INERTIA[0] * INERTIA[1])])


def flying_ahead() -> tuple[sim.Vehicle, sim.State, np.ndarray]:
    """Level, its nose down as far as the lift has to pull ahead."""
    heli, drag = helicopter(), DRAG * AHEAD_MPS**2
    s, c = np.array([drag, MASS * GRAVITY]) / math.hypot(drag, MASS * GRAVITY)
    R = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
    start = heli.state(R=R, x=HIGH, v=R.T @ [AHEAD_MPS, 0.0, 0.0])
    return heli, start, np.array([math.hypot(drag, MASS * GRAVITY), 0.0, 0.0, 0.0])


def hovering() -> tuple[sim.Vehicle, sim.State, np.ndarray]:
    """Its lift bears its weight and holds it against the wind."""
    heli = helicopter(wind=tuple(WIND_MPS.tolist()))
    lift = np.array([0.0, 0.0, MASS * GRAVITY]) - DRAG * np.linalg.norm(WIND_MPS) * WIND_MPS
    up = lift / np.linalg.norm(lift)
    left = np.cross(up, [math.cos(HEADING_RAD), math.sin(HEADING_RAD), 0.0])
    left /= np.linalg.norm(left)
    start = heli.state(R=np.column_stack([np.cross(left, up), left, up]), x=HIGH)
    return heli, start, np.array([np.linalg.norm(lift), 0.0, 0.0, 0.0])


def modes(steady: tuple[sim.Vehicle, sim.State, np.ndarray]) -> np.ndarray:
    """(4,) 1/s, the last in rad/s; what is left does not come back."""
    values = sim.linearise(*steady).eigenvalues
    back = np.sort(-values.real[np.abs(values.imag) < 1e-3])[::-1]
    return np.r_[back[:3], values.imag.max()]


def rates(x: np.ndarray, u: np.ndarray) -> np.ndarray:
    """(8,) of roll, pitch, velocity and turning in body axes, x ahead and z up, under held controls; complex, too."""
    roll, pitch, velocity, (p, q, r) = x[0], x[1], x[2:5], x[5:]
    lift, tail, forward, right = u
    sf, cf, st, ct = np.sin(roll), np.cos(roll), np.sin(pitch), np.cos(pitch)
    down = np.array([-st, sf * ct, cf * ct])
    thrust = lift * np.array(
        [np.sin(forward) * np.cos(right), -np.sin(right), np.cos(forward) * np.cos(right)]
    )
    force = thrust - np.array([0.0, 1.0, 0.0]) * tail - DRAG * np.sqrt(velocity @ velocity) * velocity
    moment = np.array([-ARM_M * thrust[1], ARM_M * thrust[0], TAIL_M * tail])
    omega, inertia = x[5:], np.array(INERTIA)
    momentum = inertia * omega + np.array([0.0, 0.0, ROTOR])
    return np.r_[
        p + (q * sf + r * cf) * st / ct,
        q * cf - r * sf,
        force / MASS - GRAVITY * down - np.cross(omega, velocity),
        (moment - np.cross(omega, momentum)) / inertia,
    ]


def turning() -> tuple[np.ndarray, np.ndarray]:
    """(8,) and (4,) where it flies a circle along its nose."""

    def motion(unknown: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        sf, cf, st, ct = (f(unknown[k]) for k in (0, 1) for f in (np.sin, np.cos))
        omega = TURN_RADPS * np.array([-st, sf * ct, cf * ct])
        return np.r_[unknown[:2], AHEAD_MPS, 0.0, 0.0, omega], unknown[2:]

    def missed(unknown: np.ndarray) -> np.ndarray:
        return rates(*motion(unknown))[2:]

    begin = [-math.atan(TURN_RADPS * AHEAD_MPS / GRAVITY), 0.2, MASS * 13.0, 0.0, 0.0, 0.0]
    return motion(root(missed, begin, tol=1e-14).x)


def turn_truth() -> np.ndarray:
    """(16,) real and imaginary parts of eight eigenvalues, in order."""
    x, u = turning()
    step = 1e-30
    columns = [rates(x + 1j * step * e, u).imag / step for e in np.eye(8)]
    return ordered(np.linalg.eigvals(np.array(columns).T))


def ordered(values: np.ndarray) -> np.ndarray:
    """Their parts, by real parts and then by imaginary ones."""
    found = values[np.lexsort([values.imag, values.real.round(6)])]
    return np.r_[found.real, found.imag]


def in_turn() -> tuple[sim.Vehicle, sim.State, np.ndarray]:
    """The same motion as a vehicle's."""
    x, u = turning()
    (sf, st), (cf, ct) = np.sin(x[:2]), np.cos(x[:2])
    R = np.array([[ct, st * sf, st * cf], [0.0, cf, -sf], [-st, ct * sf, ct * cf]])
    heli = helicopter()
    return heli, heli.state(R=R, x=HIGH, omega=x[5:], v=x[2:5]), u


def turn() -> np.ndarray:
    """(16,) without those of place and heading, which go round with it or stay."""
    values = list(sim.linearise(*in_turn()).eigenvalues)
    for known in (0.0, 0.0, 1j * TURN_RADPS, -1j * TURN_RADPS):
        values.pop(int(np.argmin(np.abs(np.array(values) - known))))
    return ordered(np.array(values))


def carried_truth() -> np.ndarray:
    """(6,) m, m/s: a target that falls, and what is left of an error by e'' = -k e - c e'."""
    k, c = GAINS
    rate, swing = 0.5 * c, math.sqrt(k - 0.25 * c * c)
    error, drift, t = LOAD - TARGET, -TARGET_MPS, CARRIED_S
    other = (drift + rate * error) / swing
    decay, cosine, sine = math.exp(-rate * t), math.cos(swing * t), math.sin(swing * t)
    left = decay * (error * cosine + other * sine)
    leaves = -rate * left + decay * swing * (other * cosine - error * sine)
    return np.r_[TARGET + t * TARGET_MPS + 0.5 * t * t * FALLING + left, TARGET_MPS + t * FALLING + leaves]


def carrying(above_m: float = 0.0, **more: Any) -> tuple[sim.Vehicle, sim.State]:
    """In formation, the load beside its target, all of it so high."""
    up = np.array([0.0, 0.0, above_m])
    pair = sim.vehicle("quadrotors-with-load", load_gains=GAINS, **more)
    return pair, pair.state(load=LOAD + up, target=TARGET + up, target_velocity=TARGET_MPS)  # type: ignore[call-arg]


def carried() -> np.ndarray:
    """(6,) m, m/s."""
    pair, start = carrying(attitude_loop=0, thrust_limit=1e3)
    run = sim.simulate(pair, "rkmk4", step=2e-3, duration=CARRIED_S, initial=start, controls=FALLING)
    return np.asarray(run.final.node[pair.space.slices["load"]])  # type: ignore[attr-defined]


PROBLEMS = (
    Problem(
        name="helicopter-ahead",
        title="A helicopter flying ahead: how speed and drift come back, and its rotor's nutation",
        quantity="decay of speed and of drift across it, twice [1/s], frequency [rad/s]",
        source="closed form, Etkin 1972, chapter 5",
        truth=lambda: modes_truth(AHEAD_MPS),
        known_digits=15,
        ours=lambda: modes(flying_ahead()),
        step="linearised",
        least_digits=8.0,
        scene=lambda: flying_ahead()[:2],
        held={"u_c": float(flying_ahead()[2][0])},
    ),
    Problem(
        name="helicopter-hover",
        title="A helicopter that hovers in a wind: how it comes back to rest, and its rotor's nutation",
        quantity="decay along the wind and across it, twice [1/s], frequency [rad/s]",
        source="closed form, Etkin 1972, chapter 5",
        truth=lambda: modes_truth(float(np.linalg.norm(WIND_MPS))),
        known_digits=15,
        ours=lambda: modes(hovering()),
        step="linearised",
        least_digits=8.0,
        scene=lambda: hovering()[:2],
        held={"u_c": float(hovering()[2][0])},
        pictured_by="helicopter-ahead",
    ),
    Problem(
        name="helicopter-turn",
        title="A helicopter in a turn: roll, yaw and sideslip that swing together, and all its other modes",
        quantity="eight eigenvalues [1/s]",
        source="own equations in Euler's angles, by a complex step",
        truth=turn_truth,
        known_digits=14,
        ours=turn,
        step="linearised",
        least_digits=8.0,
        scene=lambda: in_turn()[:2],
        held=dict(zip(("u_c", "u_psi", "gamma_p", "gamma_r"), map(float, in_turn()[2]), strict=True)),
    ),
    Problem(
        name="carried-load",
        title="Two quadrotors bring a load to a target that falls",
        quantity="place and velocity of the load at 1 s [m, m/s]",
        source="closed form, mechanics survey, section 6.2",
        truth=carried_truth,
        known_digits=14,
        ours=carried,
        step="rkmk4, 2 ms",
        motion_s=CARRIED_S,
        least_digits=8.0,
        scene=lambda: carrying(4.0),
    ),
)
