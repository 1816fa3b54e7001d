"""Textbook problems of optimal control, as forces on a body that nothing turns.

J. T. Betts, "Practical Methods for Optimal Control Using Nonlinear Programming", third edition, chapter 10 (numbers as
csu-hmc/opty's gallery of examples quotes them); E. D. Dolan, J. J. More, T. S. Munson, "Benchmarking Optimization
Software with COPS 3.0"; R. Bulirsch, E. Nerz, H. J. Pesch, O. von Stryk, "Range Maximization of a Hang Glider", 1993;
D. Augustin and H. Maurer, "Sensitivity Analysis and Real-Time Control of a Container Crane", 2001.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.integrate import quad, solve_ivp

import sim
from sim.planner import Goal, PathConstraint, Plan, Planner, Task, Weights
from sim.planner.task.task import Limits
from sim.scene import Comparison
from sim.vehicles.forms.holonomic import HolonomicVehicle
from studies.ledger.mechanism import finest
from studies.ledger.problem import Problem
from studies.ledger.steered_bodies import (
    FAST,
    LAUNCH,
    RUBBED,
    Bead,
    ContainerCrane,
    HangGlider,
    InPlane,
    Pushed,
    Rocket,
    RubbedBead,
    Thruster,
    glided,
)


def planned(vehicle: HolonomicVehicle, task: Task) -> Plan:
    """From one first guess. Raises RuntimeError where no plan is found."""
    found = Planner().plan(vehicle, task, explain=False, starts=1)
    if not found.solved:
        raise RuntimeError(found.message)
    return found


def in_plane(x: float, y: float, vx: float, vy: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Pose and velocity of a body that is not turned."""
    return (0.0, x, y), (0.0, vx, vy)


def task_of(
    vehicle: HolonomicVehicle,
    begin: tuple[float, float, float, float],
    end: tuple[float, float, float, float],
    seconds: float,
    steps: int,
    **more: Any,
) -> Task:
    """With places and velocities in the plane; ends are free but for constraints and what `fixed` names."""
    fixed = more.pop("fixed", ())
    demand = {part: "fixed" if part in fixed else "free" for part in ("position", "velocity")}
    given: dict[str, Any] = {
        "weights": Weights(effort=0.0, comfort=0.0, time=1.0),
        "free_duration": (0.2 * seconds, 5.0 * seconds),
        "limits": Limits(speed_mps=200.0),
    }
    return Task(
        vehicle.state_of(*in_plane(*begin)),
        Goal(vehicle.state_of(*in_plane(*end)), rotation="free", **demand),  # type: ignore[arg-type]
        seconds,
        steps,
        **(given | more),
    )


def at_end(relation: Callable[..., Any]) -> PathConstraint:
    """Kept by the last node."""
    return PathConstraint(relation, "end", at="end")


UNPRICED = Weights(effort=0.0, comfort=0.0)


def steered(steps: int) -> float:
    """s"""
    engine = Thruster()
    end = at_end(lambda node: node["y_m"] == 5.0)
    still, up = (0.0, 0.0, 0.0, 0.0), (12.0, 5.0, 45.0, 0.0)
    return planned(
        engine, task_of(engine, still, up, 0.6, steps, fixed=("velocity",), constraints=(end,))
    ).cost


def slid(bead: Bead, steps: int) -> float:
    """s"""
    end = at_end(lambda node: node["x_m"] == 1.0)
    still, below = (0.0, 0.0, 0.0, 0.0), (1.0, -0.6, 6.0, 0.0)
    return planned(bead, task_of(bead, still, below, 0.32, steps, constraints=(end,))).cost


def rubbed_truth() -> float:
    """s, a quadrature: on the way of least time to a wall the slope falls from upright to the angle of friction.

    With the speed w = v exp(-mu slope), which the wire's bend leaves as it is, the slope is a control whose Hamiltonian
    is stationary: v goes with cos / (1 - e), the slope's rate with (1 - e)^2 / (1 + e), e = 2 mu cos (sin - mu cos).
    """

    def e(slope: float) -> float:
        return 2.0 * RUBBED * math.cos(slope) * (math.sin(slope) - RUBBED * math.cos(slope))

    def over(of: Callable[[float], float]) -> float:
        return float(quad(of, math.atan(RUBBED), 0.5 * math.pi, epsrel=2e-14, epsabs=0.0)[0])

    time = over(lambda a: (1.0 + e(a)) / (1.0 - e(a)) ** 2)
    way = over(lambda a: math.cos(a) ** 2 * (1.0 + e(a)) / (1.0 - e(a)) ** 3)
    return time / math.sqrt(FAST * way)


def pushed(steps: int) -> float:
    """s"""
    body = Pushed()
    still, there = (0.0, 0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)
    return planned(body, task_of(body, still, there, 3.0, steps, fixed=("position", "velocity"))).cost


def risen(steps: int) -> float:
    """Height from the earth's middle over its radius."""
    rocket = Rocket()
    task = task_of(
        rocket,
        (0.0, 0.0, 0.0, 0.0),
        (0.0125, 0.1, 0.0, 0.4),
        0.2,
        steps,
        weights=UNPRICED,
        end_cost=lambda node: -node["x_m"],
        constraints=(at_end(lambda node: node["v_y_mps"] == 0.4),),
    )
    return 1.0 - planned(rocket, task).cost


def lifted_container() -> sim.State:
    """On its way up."""
    return ContainerCrane().state(x=(0.0, 22.0, 0.0), v=(0.0, -1.0, 0.0))


def craned(steps: int) -> float:
    """Half the integral of the squares of angle and its rate, and a hundredth of those of the controls."""
    crane = ContainerCrane()
    bounds: tuple[Callable[..., Any], ...] = (
        lambda node: node["v_x_mps"] <= 2.5,
        lambda node: node["v_x_mps"] >= -2.5,
        lambda node: node["v_y_mps"] <= 1.0,
        lambda node: node["v_y_mps"] >= -1.0,
    )
    task = Task(
        lifted_container(),
        Goal(crane.state(x=(10.0, 14.0, 0.0), v=(2.5, 0.0, 0.0))),
        9.0,
        steps,
        weights=Weights(effort=0.005, comfort=0.0),
        effort_scale={"trolley": 1.0, "hoist": 1.0},
        limits=Limits(speed_mps=50.0),
        cost=lambda node: 0.5 * (node["z_m"] ** 2 + node["v_z_mps"] ** 2),
        constraints=bounds,
    )
    return planned(crane, task).cost


def beginning(
    vehicle: InPlane, begin: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
) -> tuple[InPlane, sim.State]:
    """A vehicle, and where it starts."""
    return vehicle, vehicle.state_of(*in_plane(*begin))


def on_plain() -> dict[str, Any]:
    """What is pulled down, or falls by none of its parameters."""
    return {"world": "plain"}


GLIDE_LIFT, GLIDE_S = 0.9, 40.0


def glide_truth() -> np.ndarray:
    """(4,) place and velocity with a constant lift coefficient."""

    def rate(_: float, y: np.ndarray) -> list[float]:
        return [y[2], y[3], *glided(y[0], y[2], y[3], GLIDE_LIFT, np)]

    run = solve_ivp(rate, (0.0, GLIDE_S), LAUNCH, method="DOP853", rtol=1e-13, atol=1e-11)
    return np.asarray(run.y[:, -1])


def glide() -> np.ndarray:
    """(4,) the same as a vehicle."""
    glider = HangGlider()
    start = glider.state_of(*in_plane(*LAUNCH))
    run = sim.simulate(
        glider, "variational-6", step=0.02, duration=GLIDE_S, initial=start, controls=[GLIDE_LIFT]
    )
    return np.r_[run.pose[-1, :2, 2], run.velocity[-1, 1:]]


BETTS = "Betts 2020, problem {}"

PROBLEMS = (
    Problem(
        name="phugoid",
        title="The hang glider with a lift that is held",
        quantity="place and velocity at 40 s [m, m/s]",
        source="own, plain coordinates, DOP853",
        truth=glide_truth,
        known_digits=12,
        ours=glide,
        step="variational-6, 20 ms",
        motion_s=40.0,
        least_digits=9.0,
        scene=lambda: beginning(HangGlider(), LAUNCH),
        held={"lift": GLIDE_LIFT},
        shown=on_plain,
        pictured_by="hang-glider",
    ),
    Problem(
        name="linear-tangent",
        title="A thrust turned so that it brings up and along in the least time",
        quantity="time [s]",
        source=BETTS.format("10.74"),
        truth=lambda: 0.554570879,
        known_digits=9,
        ours=lambda: finest(steered, 50),
        step="variational, 50, 100, 200 steps extrapolated",
        least_digits=8.0,
        scene=lambda: beginning(Thruster()),
        held={"angle": 0.9},
        shown=lambda: {
            **on_plain(),
            "speed": 0.125,
            "comparison": Comparison(bearing_deg=70.0, distance=0.62),
        },
    ),
    Problem(
        name="brachistochrone",
        title="Brachistochrone to a wall",
        quantity="time [s]",
        source="closed form, Bernoulli 1696; " + BETTS.format("10.18"),
        truth=lambda: math.sqrt(math.pi / FAST),
        known_digits=15,
        ours=lambda: finest(partial(slid, Bead()), 100),
        step="variational, 100, 200, 400 steps extrapolated",
        least_digits=8.0,
        scene=lambda: beginning(Bead()),
        held={"turn": 0.5 * math.sqrt(math.pi * FAST)},
        shown=lambda: {**on_plain(), "speed": 0.125, "step_s": 1e-3},
    ),
    Problem(
        name="brachistochrone-rubbing",
        title="Brachistochrone to a wall by a wire that rubs",
        quantity="time [s]",
        source="own quadrature by Pontryagin's principle; the problem of Ashby et al. 1975",
        truth=rubbed_truth,
        known_digits=14,
        ours=lambda: finest(partial(slid, RubbedBead()), 100),
        step="variational, 100, 200, 400 steps extrapolated",
        least_digits=8.0,
        scene=lambda: beginning(RubbedBead()),
        held={"turn": 5.0},
        shown=lambda: {**on_plain(), "speed": 0.125, "step_s": 1e-3},
        pictured_by="brachistochrone",
    ),
    Problem(
        name="least-time",
        title="A mass from rest to rest in the least time",
        quantity="time [s]",
        source="closed form, Bryson and Ho 1975, 3.9",
        truth=lambda: 2.0,
        known_digits=15,
        ours=lambda: pushed(50),
        step="variational, 50 steps",
        least_digits=8.0,
        scene=lambda: beginning(Pushed()),
        held={"force": 0.2},
        shown=on_plain,
    ),
    Problem(
        name="goddard",
        title="Goddard's rocket: how high it comes",
        quantity="distance from the earth's middle over its radius [1]",
        source="COPS 3.0, problem rocket",
        truth=lambda: 1.01283,
        known_digits=5,
        ours=lambda: finest(risen, 50),
        step="variational, 50, 100, 200 steps extrapolated",
        least_digits=5.0,
        scene=lambda: beginning(Rocket()),
        held={"thrust": 1.5},
        shown=lambda: {**on_plain(), "speed": 0.03125, "step_s": 1e-3},
    ),
    Problem(
        name="container-crane",
        title="A container crane that swings the least",
        quantity="half the integral of the squares of angle and rate, and a hundredth of the controls'",
        source="Augustin and Maurer 2001",
        truth=lambda: 0.0375195,
        known_digits=6,
        ours=lambda: finest(craned, 50),
        step="variational, 50, 100, 200 steps extrapolated",
        least_digits=6.0,
        scene=lambda: (ContainerCrane(), lifted_container()),
        shown=lambda: {**on_plain(), "comparison": Comparison(distance=0.45)},
    ),
)
