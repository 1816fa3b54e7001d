"""Bodies that touch: rolling, sliding and standing of SimBenchmark, by mechanics with Coulomb's friction.

Y. Jeong, J. Hwangbo, "SimBenchmark: physics engine benchmark for robotics applications", 2018; E. J. Routh, "Dynamics
of a System of Rigid Bodies", part II, for the ball that slides before it rolls.
"""

import math

import numpy as np

from sim.contact.bodies import Pile, Prop
from sim.contact.bouncing import Bouncing, room
from sim.shapes import Box, Sphere
from sim.world.terrain import Terrain
from studies.ledger.problem import Problem

FLAT = Terrain(np.zeros((64, 64), np.float32), (-32.0, -32.0), 1.0)
GRAVITY, STEP_S = 9.81, 2e-3
PUSH_N, MASS, BALLS, RADIUS = 150.0, 10.0, 25, 0.5
SPEED, FRICTION, BACKSPIN = 4.0, 0.3, 6.0
ANGLE_RAD = 0.2


def rolling_truth() -> np.ndarray:
    """(2,) m/s after half a second: of the box, and of the balls, which are pushed at their tops."""
    a = PUSH_N / (MASS + BALLS * (0.25 + 0.1))
    return 0.5 * np.array([a, 0.5 * a])


def rolling() -> np.ndarray:
    """(2,) m/s."""
    r = RADIUS
    balls = [Prop(Sphere((1.6 * i, 1.6 * j, r), r), 1.0, 5.0) for i in range(-2, 3) for j in range(-2, 3)]
    box = Prop(Box((0.0, 0.0, 2.0 * r + 0.2), (5.0, 5.0, 0.2)), MASS, 5.0)
    pile = Pile([box, *balls], FLAT, ground_friction=5.0, sweeps=500, sleeps=False)
    push = np.zeros((1 + BALLS, 6))
    push[0, 3] = PUSH_N
    for _ in range(100):
        pile.step(0.005, push)
    return np.asarray(pile.state[:2, 15].copy())


def billiard_truth() -> np.ndarray:
    """(2,) speed [m/s] and spin [rad/s] once a ball thrown with backspin rolls: 5/7 v - 2/7 r omega."""
    v = (5.0 * SPEED - 2.0 * RADIUS * BACKSPIN) / 7.0
    return np.array([v, v / RADIUS])


def billiard() -> np.ndarray:
    """(2,) m/s, rad/s."""
    ball = Prop(
        Sphere((0.0, 0.0, RADIUS), RADIUS),
        2.0,
        FRICTION,
        velocity_w=(SPEED, 0.0, 0.0),
        omega_w=(0.0, -BACKSPIN, 0.0),
    )
    pile = Pile([ball], FLAT, ground_friction=FRICTION, sleeps=False)
    for _ in range(1500):
        pile.step(STEP_S)
    return np.asarray(pile.state[0, [15, 13]].copy())


def down_truth() -> float:
    """m/s along a slope after 2 s: 5/7 g sin for a ball that rolls."""
    return 2.0 * 5.0 / 7.0 * GRAVITY * math.sin(ANGLE_RAD)


def slope(shape: Box | Sphere, friction: float, angle_rad: float) -> Pile:
    """On a plane that is tilted about y."""
    plane = Prop(Box((0.0, 0.0, -0.5), (60.0, 5.0, 0.5)), 0.0, friction, pitch_rad=angle_rad)
    return Pile([plane, Prop(shape, 2.0, friction, pitch_rad=angle_rad)], sleeps=False)


def above(angle_rad: float, height_m: float) -> tuple[float, float, float]:
    """A place over the plane's middle."""
    return (
        (0.5 + height_m) * math.sin(angle_rad),
        0.0,
        -0.5 + (0.5 + height_m) * math.cos(angle_rad),
    )


def down() -> float:
    """m/s."""
    pile = slope(Sphere(above(ANGLE_RAD, 0.2), 0.2), 0.8, ANGLE_RAD)
    for _ in range(1000):
        pile.step(STEP_S)
    return float(np.linalg.norm(pile.state[1, 15:18]))


def sliding_truth() -> float:
    """m/s along a slope after 2 s for a box that slides."""
    return 2.0 * GRAVITY * (math.sin(0.5) - FRICTION * math.cos(0.5))


def sliding() -> float:
    """m/s."""
    pile = slope(Box(above(0.5, 0.1), (0.2, 0.15, 0.1)), FRICTION, 0.5)
    for _ in range(1000):
        pile.step(STEP_S)
    return float(np.linalg.norm(pile.state[1, 15:18]))


STOP_STEPS = 680


def stopping_mps() -> float:
    """At which a block comes to rest just as a step ends."""
    return STOP_STEPS * STEP_S * FRICTION * GRAVITY


def stop_truth() -> float:
    """m that a block slides: v^2 / (2 mu g)."""
    return stopping_mps() ** 2 / (2.0 * FRICTION * GRAVITY)


def stop() -> float:
    """m; half a step of the first velocity is left out by a rule that moves by the velocity at its end."""
    speed = stopping_mps()
    block = Prop(Box((0.0, 0.0, 0.1), (0.3, 0.2, 0.1)), 3.0, FRICTION, velocity_w=(speed, 0.0, 0.0))
    pile = Pile([block], FLAT, ground_friction=FRICTION, sleeps=False)
    for _ in range(1000):
        pile.step(STEP_S)
    return float(pile.state[0, 9] + 0.5 * STEP_S * speed)


DROP_M, BOUNCED_S = 1.3, 4.7


def bounced_truth() -> float:
    """m above the floor of a ball that was let fall: parabolas, one like the other."""
    half_s = math.sqrt(2.0 * DROP_M / GRAVITY)
    since_top_s = (BOUNCED_S + half_s) % (2.0 * half_s) - half_s
    return DROP_M - 0.5 * GRAVITY * since_top_s**2


def bounced() -> float:
    """m"""
    floor = np.array([(0.0, 0.0, 1.0, 0.0)])
    ball = Bouncing(Sphere((0.0, 0.0, DROP_M + 0.1), 0.1), floor, gravity_w=(0.0, 0.0, -GRAVITY))
    ball.step(BOUNCED_S / 470, 470)
    return float(ball.pose_w[2, 3]) - 0.1


def tumbled() -> float:
    """Energy over that of the start, of a box that tumbles between walls through a thousand bounces."""
    box = Bouncing(
        Box((0.0, 0.0, 0.0), (0.3, 0.2, 0.1)),
        room((1.0, 0.8, 0.9)),
        mass_kg=2.0,
        velocity_w=(1.0, 2.0, -1.5),
        omega_w=(3.0, -2.0, 1.0),
        gravity_w=(0.0, 0.0, -GRAVITY),
    )
    begun = box.energy_J
    while box.impacts < 1000:
        box.step(0.01, 1000)
    return box.energy_J / begun


MECHANICS = "closed form, Coulomb's friction"

PROBLEMS = (
    Problem(
        name="rolling-box",
        title="A box pushed over 25 balls (SimBenchmark, rolling)",
        quantity="speeds of box and balls at 0.5 s [m/s]",
        source="closed form, SimBenchmark",
        truth=rolling_truth,
        known_digits=15,
        ours=rolling,
        step="pile, 5 ms",
        least_digits=9.0,
    ),
    Problem(
        name="billiard-ball",
        title="A ball thrown with backspin, once it rolls",
        quantity="speed and spin at 3 s [m/s, rad/s]",
        source=MECHANICS,
        truth=billiard_truth,
        known_digits=15,
        ours=billiard,
        step="pile, 2 ms",
        least_digits=8.0,
    ),
    Problem(
        name="ball-down-a-slope",
        title="A ball rolls down a slope (SimBenchmark, incline)",
        quantity="speed at 2 s [m/s]",
        source=MECHANICS,
        truth=down_truth,
        known_digits=15,
        ours=down,
        step="pile, 2 ms",
        least_digits=8.0,
    ),
    Problem(
        name="box-down-a-slope",
        title="A box slides down a slope (SimBenchmark, incline)",
        quantity="speed at 2 s [m/s]",
        source=MECHANICS,
        truth=sliding_truth,
        known_digits=15,
        ours=sliding,
        step="pile, 2 ms",
        least_digits=6.0,
    ),
    Problem(
        name="sliding-block",
        title="A block slides until it stands",
        quantity="way [m]",
        source=MECHANICS,
        truth=stop_truth,
        known_digits=15,
        ours=stop,
        step="pile, 2 ms",
        least_digits=8.0,
    ),
    Problem(
        name="bouncing-ball",
        title="A ball bounces without loss (SimBenchmark, bouncing)",
        quantity="height at 4.7 s, after five bounces [m]",
        source="closed form, SimBenchmark",
        truth=bounced_truth,
        known_digits=14,
        ours=bounced,
        step="elastic impacts, 10 ms",
        least_digits=9.0,
    ),
    Problem(
        name="tumbling-box",
        title="A box tumbles between walls without loss, a thousand bounces",
        quantity="energy over that of the start [1]",
        source="conservation; SimBenchmark, bouncing",
        truth=lambda: 1.0,
        known_digits=15,
        ours=tumbled,
        step="elastic impacts, 10 ms",
        least_digits=9.0,
    ),
)
