"""Optimal control with closed forms: a mass from rest to rest by the least integral of its force's square.

A. E. Bryson and Y.-C. Ho, "Applied Optimal Control", 1975, section 3.3: over a time T and a way d the force falls
linearly, and the integral is 12 m^2 d^2 / T^3. Where a second costs w, T is the fourth root of 36 m^2 d^2 / w.
"""

import numpy as np

import sim
from sim.planner import Goal, Plan, Planner, Task, Weights
from studies.ledger.problem import Problem

MASS, WAY_M, TIME_S, PRICE = 2.0, 3.0, 4.0, 10.0


def plan(steps: int, *, free: bool = False) -> Plan:
    """Of a body without weight along an oblique line. Raises RuntimeError where none is found."""
    body = sim.vehicle("rigid-body", mass=MASS, gravity=0.0)
    goal = Goal(body.state(x=WAY_M * np.array([2.0, -1.0, 2.0]) / 3.0))
    task = Task(
        body.state(),
        goal,
        TIME_S,
        steps,
        weights=Weights(effort=1.0, comfort=0.0, time=PRICE if free else 0.0),
        effort_scale={control.name: 1.0 for control in body.controls},
        free_duration=(1.0, 10.0) if free else None,
    )
    found = Planner().plan(body, task, explain=False, starts=1)
    if not found.solved:
        raise RuntimeError(found.message)
    return found


def extrapolated_cost() -> float:
    """From three numbers of steps: the error is a series in the step's square."""
    a, b, c = (plan(steps).cost for steps in (16, 32, 64))
    first, second = (4 * b - a) / 3, (4 * c - b) / 3
    return (16 * second - first) / 15


PROBLEMS = (
    Problem(
        name="double-integrator",
        title="A mass from rest to rest, least effort",
        quantity="integral of the force's square [N^2 s]",
        source="Bryson and Ho 1975, 3.3",
        truth=lambda: 12.0 * MASS**2 * WAY_M**2 / TIME_S**3,
        known_digits=15,
        ours=lambda: plan(64).cost,
        step="variational, 64 steps",
        least_digits=3.0,
        reason="the cost of a plan of N steps is off by the square of 1/N",
    ),
    Problem(
        name="double-integrator-extrapolated",
        title="The same, extrapolated",
        quantity="integral of the force's square [N^2 s]",
        source="Bryson and Ho 1975, 3.3",
        truth=lambda: 12.0 * MASS**2 * WAY_M**2 / TIME_S**3,
        known_digits=15,
        ours=extrapolated_cost,
        step="variational, 16, 32, 64 steps",
        least_digits=8.0,
        reason="solvers stop at their tolerance",
    ),
    Problem(
        name="double-integrator-time",
        title="The same with a price of time",
        quantity="final time [s]",
        source="Bryson and Ho 1975, 3.3",
        truth=lambda: (36.0 * MASS**2 * WAY_M**2 / PRICE) ** 0.25,
        known_digits=15,
        ours=lambda: 64.0 * plan(64, free=True).step_s,
        step="variational, 64 steps",
        least_digits=4.0,
        reason="the cost of a plan of N steps is off by the square of 1/N",
    ),
)
