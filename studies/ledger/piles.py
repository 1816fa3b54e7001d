"""Bodies that touch: rolling, sliding and standing of SimBenchmark, by mechanics with Coulomb's friction.

Y. Jeong, J. Hwangbo, "SimBenchmark: physics engine benchmark for robotics applications", 2018; E. J. Routh, "Dynamics
of a System of Rigid Bodies", part II, for the ball that slides before it rolls.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

import sim
from sim.contact.bodies import Pile, Prop
from sim.contact.bouncing import Bouncing, room
from sim.contact.obstacles.prop_kinds import Placed
from sim.contact.obstacles.props import PropsSpec
from sim.scene import Comparison, Start
from sim.scene.tables import Sun
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


def box_on_balls() -> list[Prop]:
    """The box, then the balls."""
    r = RADIUS
    balls = [Prop(Sphere((1.6 * i, 1.6 * j, r), r), 1.0, 5.0) for i in range(-2, 3) for j in range(-2, 3)]
    return [Prop(Box((0.0, 0.0, 2.0 * r + 0.2), (5.0, 5.0, 0.2)), MASS, 5.0), *balls]


def rolling() -> np.ndarray:
    """(2,) m/s."""
    pile = Pile(box_on_balls(), FLAT, ground_friction=5.0, sweeps=500, sleeps=False)
    push = np.zeros((1 + BALLS, 6))
    push[0, 3] = PUSH_N
    for _ in range(100):
        pile.step(0.005, push)
    return np.asarray(pile.state[:2, 15].copy())


def billiard_truth() -> np.ndarray:
    """(2,) speed [m/s] and spin [rad/s] once a ball thrown with backspin rolls: 5/7 v - 2/7 r omega."""
    v = (5.0 * SPEED - 2.0 * RADIUS * BACKSPIN) / 7.0
    return np.array([v, v / RADIUS])


def thrown_ball() -> Prop:
    """With backspin."""
    return Prop(
        Sphere((0.0, 0.0, RADIUS), RADIUS),
        2.0,
        FRICTION,
        velocity_w=(SPEED, 0.0, 0.0),
        omega_w=(0.0, -BACKSPIN, 0.0),
    )


def billiard() -> np.ndarray:
    """(2,) m/s, rad/s."""
    pile = Pile([thrown_ball()], FLAT, ground_friction=FRICTION, sleeps=False)
    for _ in range(1500):
        pile.step(STEP_S)
    return np.asarray(pile.state[0, [15, 13]].copy())


def down_truth() -> float:
    """m/s along a slope after 2 s: 5/7 g sin for a ball that rolls."""
    return 2.0 * 5.0 / 7.0 * GRAVITY * math.sin(ANGLE_RAD)


LONG, SEEN = (60.0, 5.0, 0.5), (3.0, 1.2, 0.5)
"""Half sizes of slopes [m]: what is let go does not leave the one, and there is room for the other."""


def slope(
    shape: Box | Sphere, friction: float, angle_rad: float, half_m: tuple[float, float, float]
) -> tuple[Prop, Prop]:
    """A plane that is tilted about y, and what is on its middle."""
    plane = Prop(Box((0.0, 0.0, -0.5), half_m), 0.0, friction, pitch_rad=angle_rad)
    return plane, Prop(shape, 2.0, friction, pitch_rad=angle_rad)


def above(angle_rad: float, height_m: float) -> tuple[float, float, float]:
    """A place over the plane's middle."""
    return (
        (0.5 + height_m) * math.sin(angle_rad),
        0.0,
        -0.5 + (0.5 + height_m) * math.cos(angle_rad),
    )


def rolls_down(half_m: tuple[float, float, float] = LONG) -> tuple[Prop, Prop]:
    """A slope and a ball."""
    return slope(Sphere(above(ANGLE_RAD, 0.2), 0.2), 0.8, ANGLE_RAD, half_m)


def slides_down(half_m: tuple[float, float, float] = LONG) -> tuple[Prop, Prop]:
    """A slope and a box."""
    return slope(Box(above(0.5, 0.1), (0.2, 0.15, 0.1)), FRICTION, 0.5, half_m)


def down() -> float:
    """m/s."""
    pile = Pile(rolls_down(), sleeps=False)
    for _ in range(1000):
        pile.step(STEP_S)
    return float(np.linalg.norm(pile.state[1, 15:18]))


def sliding_truth() -> float:
    """m/s along a slope after 2 s for a box that slides."""
    return 2.0 * GRAVITY * (math.sin(0.5) - FRICTION * math.cos(0.5))


def sliding() -> float:
    """m/s."""
    pile = Pile(slides_down(), sleeps=False)
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


def pushed_block() -> Prop:
    """With its speed."""
    return Prop(Box((0.0, 0.0, 0.1), (0.3, 0.2, 0.1)), 3.0, FRICTION, velocity_w=(stopping_mps(), 0.0, 0.0))


def stop() -> float:
    """m; half a step of the first velocity is left out by a rule that moves by the velocity at its end."""
    speed = stopping_mps()
    pile = Pile([pushed_block()], FLAT, ground_friction=FRICTION, sleeps=False)
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


ROOM_M, BOX_M, BOX_MPS, BOX_RADPS = (1.0, 0.8, 0.9), (0.3, 0.2, 0.1), (1.0, 2.0, -1.5), (3.0, -2.0, 1.0)
"""Half sizes of the room and of the box in its middle, and how that is thrown."""


def box_in_a_room() -> list[Prop]:
    """Four low walls about a box that is thrown."""
    wide, deep, high = ROOM_M
    walls = [Box((s * (wide + 0.03), 0.0, 0.3 - high), (0.03, deep, 0.3)) for s in (-1, 1)]
    walls += [Box((0.0, s * (deep + 0.03), 0.3 - high), (wide + 0.06, 0.03, 0.3)) for s in (-1, 1)]
    thrown = Prop(Box((0.0, 0.0, 0.0), BOX_M), 2.0, 0.0, 1.0, velocity_w=BOX_MPS, omega_w=BOX_RADPS)
    return [*(Prop(wall, 0.0, 0.0, 1.0) for wall in walls), thrown]


def tumbled() -> float:
    """Energy over that of the start, of a box that tumbles between walls through a thousand bounces."""
    box = Bouncing(
        Box((0.0, 0.0, 0.0), BOX_M),
        room(ROOM_M),
        mass_kg=2.0,
        velocity_w=BOX_MPS,
        omega_w=BOX_RADPS,
        gravity_w=(0.0, 0.0, -GRAVITY),
    )
    begun = box.energy_J
    while box.impacts < 1000:
        box.step(0.01, 1000)
    return box.energy_J / begun


COLOURS = ((0.70, 0.10, 0.06), (0.08, 0.22, 0.60), (0.75, 0.55, 0.10))
PLATE = (0.20, 0.21, 0.23)


def looked_on() -> tuple[sim.Vehicle, sim.State]:
    """A quadrotor beside it, by which props may be struck."""
    vehicle = sim.vehicle("quadrotor")
    return vehicle, vehicle.state(x=(0.0, -1.9, 0.35))


def in_hall(
    *props: Prop,
    lift_m: float = 0.0,
    plate: bool = True,
    ahead_m: float = 0.0,
    from_m: float = 1.9,
    distance: float = 1.0,
) -> Mapping[str, Any]:
    """Its scene: props on a floor with the friction of theirs, or so high above the hall's."""
    rough, lively = max(one.friction for one in props), max(one.restitution for one in props)
    floor = Prop(Box((ahead_m, 0.0, 0.05), (6.0, 3.5, 0.05)), 0.0, rough, lively)
    up = np.array([0.0, 0.0, lift_m + 0.1 * plate])
    T = np.eye(4)
    placed = [Placed(floor, PLATE)] if plate else []
    for k, one in enumerate(props):
        T[:] = one.T_w
        T[:3, 3] += up
        there = Placed(one, PLATE if one.mass_kg == 0.0 else COLOURS[k % 3]).at(T)
        moving = replace(there.prop, velocity_w=one.velocity_w, omega_w=one.omega_w)
        placed.append(replace(there, prop=moving))
    return {
        "environment": PropsSpec(tuple(placed)),
        "world": "hall",
        "flight_mode": "attitude",
        "start": Start(position_w=(ahead_m, -from_m, 0.35 + 0.1 * plate), heading_rad=0.5 * math.pi),
        "sun": Sun(azimuth_deg=-125.0, elevation_deg=46.0),
        "comparison": Comparison(bearing_deg=90.0, distance=distance),
    }


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
        motion_s=0.5,
        least_digits=9.0,
        scene=looked_on,
        shown=lambda: in_hall(*box_on_balls(), plate=False, from_m=7.5, distance=2.5),
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
        motion_s=3.0,
        least_digits=8.0,
        scene=looked_on,
        shown=lambda: in_hall(thrown_ball(), ahead_m=3.0),
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
        motion_s=2.0,
        least_digits=8.0,
        scene=looked_on,
        shown=lambda: in_hall(*rolls_down(SEEN), plate=False, lift_m=0.9, distance=1.6),
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
        motion_s=2.0,
        least_digits=6.0,
        scene=looked_on,
        shown=lambda: in_hall(*slides_down(SEEN), plate=False, lift_m=1.6, distance=1.6),
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
        motion_s=2.0,
        least_digits=8.0,
        scene=looked_on,
        shown=lambda: in_hall(pushed_block(), ahead_m=2.0),
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
        motion_s=BOUNCED_S,
        least_digits=9.0,
        scene=looked_on,
        shown=lambda: in_hall(Prop(Sphere((0.0, 0.0, DROP_M + 0.1), 0.1), restitution=1.0)),
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
        motion_s=1600.0,
        least_digits=9.0,
        scene=looked_on,
        shown=lambda: in_hall(*box_in_a_room(), lift_m=ROOM_M[2]),
    ),
)
