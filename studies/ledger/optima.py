"""Textbook problems of optimal control, as forces on a body that nothing turns.

J. T. Betts, "Practical Methods for Optimal Control Using Nonlinear Programming", third edition, chapter 10 (numbers as
csu-hmc/opty's gallery of examples quotes them); E. D. Dolan, J. J. More, T. S. Munson, "Benchmarking Optimization
Software with COPS 3.0"; R. Bulirsch, E. Nerz, H. J. Pesch, O. von Stryk, "Range Maximization of a Hang Glider", 1993;
D. Augustin and H. Maurer, "Sensitivity Analysis and Real-Time Control of a Container Crane", 2001. What is not a
place is one here all the same: a rope's length and its angle, and how much propellant there is.
"""

import math
from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
from scipy.integrate import solve_ivp

import sim
from sim.groups import SE2
from sim.planner import Goal, PathConstraint, Plan, Planner, Task, Weights
from sim.planner.task.task import Limits
from sim.vehicles.forms.holonomic import HolonomicVehicle
from sim.vehicles.forms.parameters import Control, Parameter, Quantities
from studies.ledger.problem import Problem

MASS_KG, GRAVITY, AIR, WING_M2 = 100.0, 9.80665, 1.13, 14.0
DRAG, DRAG_BY_LIFT, UPDRAFT_MPS, THERMAL_M = 0.034, 0.069662, 2.5, 100.0
LAUNCH, LAND_M, LIFTS = (0.0, 1000.0, 13.2275675, -1.28750052), 900.0, (0.0, 1.4)
FAST = 32.174
"""ft/s^2, of the brachistochrone."""
THRUST = 100.0
CRANE_LOAD, CRANE_TROLLEY = 27.0756, 17.2656


class _InPlane(HolonomicVehicle):
    """A body of 1 kg."""

    group = SE2
    parameters = (Parameter("mass", "kg", 1.0, 1e-3, 1e3, "Mass."),)

    def inertia(self, q: Quantities) -> ca.SX:
        return q.mass * ca.SX.eye(3)


class HangGlider(_InPlane):
    """Lift across the flow and drag along it; a thermal 250 m ahead."""

    name = "ledger-hang-glider"
    controls = (Control("lift", "", *LIFTS, "Lift coefficient."),)

    def acting_wrench(self, g: ca.SX, xi: ca.SX, u: ca.SX, q: Quantities) -> ca.SX:
        return q.mass * ca.vertcat(0, *glided(g[1], xi[1], xi[2], u[0], ca))


def glided(x: Any, vx: Any, vy: Any, lift: Any, maths: Any) -> tuple[Any, Any]:
    """m/s^2 of a hang glider, by the functions of CasADi or of NumPy."""
    out = (x / THERMAL_M - 2.5) ** 2
    up = vy - UPDRAFT_MPS * (1 - out) * maths.exp(-out)
    pressure = 0.5 * AIR * WING_M2 / MASS_KG * maths.sqrt(vx**2 + up**2)
    drag = DRAG + DRAG_BY_LIFT * lift**2
    return -pressure * (lift * up + drag * vx), pressure * (lift * vx - drag * up) - GRAVITY


class _Oscillator(_InPlane):
    """Van der Pol's, along x."""

    name = "ledger-van-der-pol"
    controls = (Control("force", "N", -20.0, 20.0, "On it."),)

    def acting_wrench(self, g: ca.SX, xi: ca.SX, u: ca.SX, q: Quantities) -> ca.SX:
        return ca.vertcat(0, (1 - g[1] ** 2) * xi[1] - g[1] + u[0], 0)


class _Thruster(_InPlane):
    """An engine of constant thrust that is turned."""

    name = "ledger-thruster"
    controls = (Control("angle", "rad", -1.6, 1.6, "From x."),)

    def control_wrench(self, u: ca.SX, q: Quantities) -> ca.SX:
        return THRUST * ca.vertcat(0, ca.cos(u), ca.sin(u))


class _Bead(_InPlane):
    """On a wire without friction, which pushes across the motion."""

    name = "ledger-bead"
    controls = (Control("turn", "rad/s", -50.0, 50.0, "By what the wire pushes."),)

    def acting_wrench(self, g: ca.SX, xi: ca.SX, u: ca.SX, q: Quantities) -> ca.SX:
        return ca.vertcat(0, -u[0] * xi[2], u[0] * xi[1] - FAST)


class _Pushed(_InPlane):
    """By at most 1 N."""

    name = "ledger-pushed"
    controls = (Control("force", "N", -1.0, 1.0, "Along x."),)

    def control_wrench(self, u: ca.SX, q: Quantities) -> ca.SX:
        return ca.vertcat(0, u[0], 0)


class _Rocket(_InPlane):
    """Goddard's: x is the height above the ground, the speed along y the propellant that is burnt."""

    name = "ledger-rocket"
    controls = (Control("thrust", "", 0.0, 3.5, "Over its weight."),)

    def acting_wrench(self, g: ca.SX, xi: ca.SX, u: ca.SX, q: Quantities) -> ca.SX:
        drag = 310 * xi[1] ** 2 * ca.exp(-500 * g[1])
        return ca.vertcat(0, (u[0] - drag) / (1 - xi[2]) - 1 / (1 + g[1]) ** 2, 2 * u[0])


class _ContainerCrane(HolonomicVehicle):
    """x: trolley, y: rope, z: the rope's angle."""

    name = "ledger-container-crane"
    parameters = (Parameter("mass", "kg", 1.0, 1e-3, 1e3, "Mass."),)
    controls = (
        Control("trolley", "m/s^2", -2.83374, 2.83374, "Of the trolley."),
        Control("hoist", "m/s^2", -0.80865, 0.71265, "Of the rope."),
    )

    def inertia(self, q: Quantities) -> ca.SX:
        return q.mass * ca.SX.eye(6)

    def acting_wrench(self, g: ca.SX, xi: ca.SX, u: ca.SX, q: Quantities) -> ca.SX:
        (_, rope, angle), (_, hoisted, swing) = ca.vertsplit(g[9:]), ca.vertsplit(xi[3:])
        swung = -(u[0] + CRANE_LOAD * angle + 2 * hoisted * swing) / rope
        return ca.vertcat(0, 0, 0, u[0] + CRANE_TROLLEY * angle, u[1], swung)


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


def extrapolated(answer: Callable[[int], float], steps: int) -> float:
    """From grids of so many steps, twice and four times as many: errors are a series in the step's square."""
    a, b, c = (answer(steps * k) for k in (1, 2, 4))
    return (16 * (4 * c - b) / 3 - (4 * b - a) / 3) / 15


UNPRICED = Weights(effort=0.0, comfort=0.0)


def hang_glider(steps: int) -> float:
    """m"""
    glider = HangGlider()
    far = (1250.0, LAND_M, *LAUNCH[2:])
    task = task_of(
        glider,
        LAUNCH,
        far,
        100.0,
        steps,
        fixed=("velocity",),
        weights=UNPRICED,
        limits=Limits(speed_mps=40.0),
        end_cost=lambda node: -node["x_m"],
        constraints=(at_end(lambda node: node["y_m"] == LAND_M),),
    )
    return -planned(glider, task).cost


def steered(steps: int) -> float:
    """s"""
    engine = _Thruster()
    end = at_end(lambda node: node["y_m"] == 5.0)
    still, up = (0.0, 0.0, 0.0, 0.0), (12.0, 5.0, 45.0, 0.0)
    return planned(
        engine, task_of(engine, still, up, 0.6, steps, fixed=("velocity",), constraints=(end,))
    ).cost


def slid(steps: int) -> float:
    """s"""
    bead = _Bead()
    end = at_end(lambda node: node["x_m"] == 1.0)
    still, below = (0.0, 0.0, 0.0, 0.0), (1.0, -0.6, 6.0, 0.0)
    return planned(bead, task_of(bead, still, below, 0.32, steps, constraints=(end,))).cost


def pushed(steps: int) -> float:
    """s"""
    body = _Pushed()
    still, there = (0.0, 0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)
    return planned(body, task_of(body, still, there, 3.0, steps, fixed=("position", "velocity"))).cost


def oscillated(steps: int) -> float:
    """Integral of the squares of place, speed and force."""
    body = _Oscillator()
    task = task_of(
        body,
        (1.0, 0.0, 0.0, 0.0),
        (0.0, 0.0, 0.0, 0.0),
        5.0,
        steps,
        weights=Weights(effort=1.0, comfort=0.0),
        effort_scale={"force": 1.0},
        free_duration=None,
        cost=lambda node: node["x_m"] ** 2 + node["v_x_mps"] ** 2,
        constraints=(lambda node: node["v_x_mps"] >= -0.4,),
    )
    return planned(body, task).cost


def risen(steps: int) -> float:
    """Height from the earth's middle over its radius."""
    rocket = _Rocket()
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


def craned(steps: int) -> float:
    """Half the integral of the squares of angle and its rate, and a hundredth of those of the controls."""
    crane = _ContainerCrane()
    bounds: tuple[Callable[..., Any], ...] = (
        lambda node: node["v_x_mps"] <= 2.5,
        lambda node: node["v_x_mps"] >= -2.5,
        lambda node: node["v_y_mps"] <= 1.0,
        lambda node: node["v_y_mps"] >= -1.0,
    )
    task = Task(
        crane.state(x=(0.0, 22.0, 0.0), v=(0.0, -1.0, 0.0)),
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
        name="hang-glider",
        title="How far a hang glider comes through a thermal",
        quantity="way [m]",
        source=BETTS.format("10.57") + "; Bulirsch et al. 1993",
        truth=lambda: 1248.03103,
        known_digits=9,
        ours=lambda: extrapolated(hang_glider, 100),
        step="variational, 100, 200, 400 steps extrapolated",
        least_digits=5.5,
        reason="where a bound begins to hold falls within a step, so that errors are no pure series in it",
    ),
    Problem(
        name="phugoid",
        title="The hang glider with a lift that is held",
        quantity="place and velocity at 40 s [m, m/s]",
        source="own, plain coordinates, DOP853",
        truth=glide_truth,
        known_digits=12,
        ours=glide,
        step="variational-6, 20 ms",
        least_digits=9.0,
    ),
    Problem(
        name="linear-tangent",
        title="A thrust turned so that it brings up and along in the least time",
        quantity="time [s]",
        source=BETTS.format("10.74"),
        truth=lambda: 0.554570879,
        known_digits=9,
        ours=lambda: extrapolated(steered, 50),
        step="variational, 50, 100, 200 steps extrapolated",
        least_digits=8.0,
    ),
    Problem(
        name="brachistochrone",
        title="Brachistochrone to a wall",
        quantity="time [s]",
        source="closed form, Bernoulli 1696; " + BETTS.format("10.18"),
        truth=lambda: math.sqrt(math.pi / FAST),
        known_digits=15,
        ours=lambda: extrapolated(slid, 100),
        step="variational, 100, 200, 400 steps extrapolated",
        least_digits=8.0,
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
    ),
    Problem(
        name="van-der-pol",
        title="Van der Pol's oscillator, its speed bounded",
        quantity="integral of the squares of place, speed and force",
        source=BETTS.format("10.144"),
        truth=lambda: 2.95369916,
        known_digits=9,
        ours=lambda: extrapolated(oscillated, 100),
        step="variational, 100, 200, 400 steps extrapolated",
        least_digits=5.5,
        reason="where a bound begins to hold falls within a step, so that errors are no pure series in it",
    ),
    Problem(
        name="goddard",
        title="Goddard's rocket: how high it comes",
        quantity="distance from the earth's middle over its radius [1]",
        source="COPS 3.0, problem rocket",
        truth=lambda: 1.01283,
        known_digits=5,
        ours=lambda: extrapolated(risen, 50),
        step="variational, 50, 100, 200 steps extrapolated",
        least_digits=5.0,
    ),
    Problem(
        name="container-crane",
        title="A container crane that swings the least",
        quantity="half the integral of the squares of angle and rate, and a hundredth of the controls'",
        source="Augustin and Maurer 2001",
        truth=lambda: 0.0375195,
        known_digits=6,
        ours=lambda: extrapolated(craned, 50),
        step="variational, 50, 100, 200 steps extrapolated",
        least_digits=6.0,
    ),
)
