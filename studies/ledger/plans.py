"""Optimal control with closed forms: least effort from rest to rest.

A. E. Bryson and Y.-C. Ho, "Applied Optimal Control", 1975, sections 3.3, 3.9 and 5.2. Over a time T and a way d the
least integral of the force's square is 12 m^2 d^2 / T^3; where a second costs w, T is the fourth root of
36 m^2 d^2 / w. Linear systems cost what the inverse of their controllability Gramian says.
"""

import math

import casadi as ca
import numpy as np
from scipy.integrate import quad_vec
from scipy.linalg import expm

import sim
from sim.planner import Goal, Plan, Planner, Task, Weights
from sim.spaces import Euclidean
from sim.spaces.action import side_by_side, translations
from sim.vehicles.forms.parameters import Control, Quantities
from sim.vehicles.heavy_top import HeavyTop
from studies.ledger.mechanism import finest
from studies.ledger.problem import Problem
from studies.ledger.speeds import RatesVehicle

MASS, WAY_M, TIME_S, PRICE = 2.0, 3.0, 4.0, 10.0


def least(vehicle: sim.Vehicle, goal: sim.State, seconds: float, steps: int, *, price: float = 0.0) -> Plan:
    """From the default state at rest by the least integral of the controls' squares, in a free time where a second has
    a price. Raises RuntimeError where no plan is found."""
    free = price > 0.0
    task = Task(
        vehicle.default_state(),
        Goal(goal),
        seconds,
        steps,
        weights=Weights(effort=1.0, comfort=0.0, time=price),
        effort_scale={control.name: 1.0 for control in vehicle.controls},
        free_duration=(0.25 * seconds, 2.5 * seconds) if free else None,
    )
    found = Planner().plan(vehicle, task, explain=False, starts=1)
    if not found.solved:
        raise RuntimeError(found.message)
    return found


def plan(steps: int, *, free: bool = False) -> Plan:
    """Of a body without weight along an oblique line."""
    body = sim.vehicle("rigid-body", mass=MASS, gravity=0.0)
    goal = body.state(x=WAY_M * np.array([2.0, -1.0, 2.0]) / 3.0)
    return least(body, goal, TIME_S, steps, price=PRICE if free else 0.0)


class EvenlyForced(RatesVehicle):
    """A mass on a line, whose force changes evenly over each step; what is spent counts along."""

    name = "ledger-evenly-forced"
    coordinates = ("place", "speed", "force", "spent")
    action = side_by_side(*(translations(Euclidean(1, name)) for name in coordinates))
    controls = (Control("slope", "N/s", -50.0, 50.0, "Of the force."),)

    def generator(self, point: ca.SX, u: ca.SX, q: Quantities) -> ca.SX:
        return ca.vertcat(point[1], point[2] / MASS, u, point[2] ** 2)


def evenly() -> float:
    """N^2 s: the least of 16 steps, of which the force at the start is found as well. Raises RuntimeError."""
    mass = EvenlyForced()
    goal = mass.state_at_node(np.array([WAY_M, 0.0, 0.0, 0.0]))
    task = Task(
        mass.state_at_node(np.array([0.0, 0.0, 1.0, 0.0])),
        Goal(goal, "free", "free", "free", parts=("place", "speed")),
        TIME_S,
        16,
        weights=Weights(effort=0.0, comfort=0.0),
        start_within={"force": (-50.0, 50.0)},
        end_cost=lambda node: node["spent"],
    )
    found = Planner().plan(mass, task, explain=False, starts=1, method="rkmk5")
    if not found.solved:
        raise RuntimeError(found.message)
    return found.cost


GRAVITY = 9.81


def lifted(steps: int) -> float:
    """N^2 s to lift a body straight up."""
    body = sim.vehicle("rigid-body", mass=MASS, gravity=GRAVITY)
    return least(body, body.state(x=(0.0, 0.0, WAY_M)), TIME_S, steps).cost


def lifted_truth() -> float:
    """As without a weight, and what holds it: the one is as long less than the weight as more."""
    return 12.0 * MASS**2 * WAY_M**2 / TIME_S**3 + (MASS * GRAVITY) ** 2 * TIME_S


INERTIA, TURN_RAD = (2.0, 3.0, 4.0), 1.2


def turned(steps: int) -> float:
    """(N m)^2 s to turn a body about a principal axis."""
    c, s = math.cos(TURN_RAD), math.sin(TURN_RAD)
    still = _Still(mass=1.0, inertia=INERTIA, gravity=0.0)
    return least(
        still, still.state(R=np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])), TIME_S, steps
    ).cost


def driven(steps: int) -> float:
    """(N m)^2 s to drive a car straight on."""
    car = sim.vehicle("car")
    way = car.state(x=WAY_M, shape=(WAY_M / _number(car, "wheel_radius"), 0.0))  # type: ignore[call-arg]
    return least(car, way, TIME_S, steps).cost


def driven_truth() -> float:
    """With the wheels' own inertia."""
    car = sim.vehicle("car")
    radius = _number(car, "wheel_radius")
    mass = _number(car, "wheel_inertia") + _number(car, "mass") * radius**2
    return 12.0 * (mass * WAY_M / radius) ** 2 / TIME_S**3


def sailed(steps: int) -> float:
    """N^2 s to bring a boat straight ahead against the drag of its hull."""
    boat = sim.vehicle("boat", wind_drag=0.0)
    return least(boat, boat.state_of((0.0, 2.0 * WAY_M, 0.0), np.zeros(3)), 2.0 * TIME_S, steps).cost


def sailed_truth() -> float:
    """By the Gramian of v' = (u_left + u_right - E v) / m."""
    boat = sim.vehicle("boat", wind_drag=0.0)
    mass, drag = _number(boat, "mass"), _number(boat, "drag")
    A = np.array([[0.0, 1.0], [0.0, -drag / mass]])
    B = np.array([[0.0, 0.0], [1.0 / mass, 1.0 / mass]])

    def grown(t: float) -> np.ndarray:
        pushed = expm(A * t) @ B
        return np.asarray(pushed @ pushed.T)

    gramian, _ = quad_vec(grown, 0.0, 2.0 * TIME_S, epsrel=1e-13)
    end = np.array([2.0 * WAY_M, 0.0])
    return float(end @ np.linalg.solve(gramian, end))


def _number(vehicle: sim.Vehicle, name: str) -> float:
    """The parameter, or its first number."""
    return float(np.ravel(vehicle.values[name])[0])


def beginning(name: str, **parameters: float) -> tuple[sim.Vehicle, sim.State]:
    """Where a plan of this vehicle begins."""
    vehicle = sim.vehicle(name, **parameters)
    return vehicle, vehicle.default_state()


class _Still(HeavyTop):
    """A body about its centre, which starts at rest."""

    name = "ledger-still-body"

    def default_state(self) -> sim.State:
        """Upright, at rest."""
        return self.state()


def still_body() -> tuple[sim.Vehicle, sim.State]:
    """Where its turn begins."""
    still = _Still(mass=1.0, inertia=INERTIA, gravity=0.0)
    return still, still.default_state()


PROBLEMS = (
    Problem(
        name="double-integrator",
        title="A mass from rest to rest, least effort",
        quantity="integral of the force's square [N^2 s]",
        source="Bryson and Ho 1975, 3.3",
        truth=lambda: 12.0 * MASS**2 * WAY_M**2 / TIME_S**3,
        known_digits=15,
        ours=evenly,
        step="rkmk5, 16 steps, over each of which the force changes evenly",
        least_digits=8.0,
        scene=lambda: beginning("rigid-body", mass=MASS, gravity=0.0),
    ),
    Problem(
        name="double-integrator-extrapolated",
        title="A mass from rest to rest by a force that each step holds, extrapolated",
        quantity="integral of the force's square [N^2 s]",
        source="Bryson and Ho 1975, 3.3",
        truth=lambda: 12.0 * MASS**2 * WAY_M**2 / TIME_S**3,
        known_digits=15,
        ours=lambda: finest(lambda steps: plan(steps).cost, 16),
        step="variational, 16, 32, 64 steps",
        least_digits=8.0,
        reason="64 such steps alone cost 2.4e-4 more; solvers stop at their tolerance",
        scene=lambda: beginning("rigid-body", mass=MASS, gravity=0.0),
        pictured_by="double-integrator",
        another_way_of="double-integrator",
    ),
    Problem(
        name="double-integrator-time",
        title="The same with a price of time, extrapolated",
        quantity="final time [s]",
        source="Bryson and Ho 1975, 3.3",
        truth=lambda: (36.0 * MASS**2 * WAY_M**2 / PRICE) ** 0.25,
        known_digits=15,
        ours=lambda: finest(lambda steps: steps * plan(steps, free=True).step_s, 16),
        step="variational, 16, 32, 64 steps",
        least_digits=8.0,
        scene=lambda: beginning("rigid-body", mass=MASS, gravity=0.0),
        pictured_by="double-integrator",
    ),
    Problem(
        name="lift",
        title="A weight lifted by the least effort",
        quantity="integral of the force's square [N^2 s]",
        source="closed form, Bryson and Ho 1975, 5.2",
        truth=lifted_truth,
        known_digits=15,
        ours=lambda: finest(lifted, 16),
        step="variational, 16, 32, 64 steps",
        least_digits=8.0,
        scene=lambda: beginning("rigid-body", mass=MASS, gravity=GRAVITY),
    ),
    Problem(
        name="turn",
        title="A body turned about an axis by the least effort",
        quantity="integral of the torque's square [N^2 m^2 s]",
        source="closed form, Bryson and Ho 1975, 5.2",
        truth=lambda: 12.0 * (INERTIA[1] * TURN_RAD) ** 2 / TIME_S**3,
        known_digits=15,
        ours=lambda: finest(turned, 16),
        step="variational, 16, 32, 64 steps",
        least_digits=8.0,
        scene=still_body,
    ),
    Problem(
        name="drive",
        title="A car driven straight on by the least effort",
        quantity="integral of the torque's square [N^2 m^2 s]",
        source="closed form, Bryson and Ho 1975, 5.2",
        truth=driven_truth,
        known_digits=15,
        ours=lambda: finest(driven, 16),
        step="variational, 16, 32, 64 steps",
        least_digits=8.0,
        scene=lambda: beginning("car"),
    ),
    Problem(
        name="sail",
        title="A boat brought ahead against its drag",
        quantity="integral of the thrusts' squares [N^2 s]",
        source="closed form, Gramian, Bryson and Ho 1975, 5.2",
        truth=sailed_truth,
        known_digits=13,
        ours=lambda: finest(sailed, 16),
        step="variational, 16, 32, 64 steps",
        least_digits=8.0,
        scene=lambda: beginning("boat", wind_drag=0.0),
    ),
)
