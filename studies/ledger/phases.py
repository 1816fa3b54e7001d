"""Optimal control with bounds that begin and end to hold: a hang glider's lift, the speed of Van der Pol's oscillator.

Steps are held controls of fifth order, of one length before a bound holds, of another while it does, of a third after:
where it begins and ends is where steps do, so that what is left goes with the square of their lengths. Where that is
tells Pontryagin's principle. J. T. Betts, "Practical Methods for Optimal Control Using Nonlinear Programming", third
edition, problems 10.57 and 10.144, as csu-hmc/opty's gallery of examples quotes its numbers; R. Bulirsch, E. Nerz,
H. J. Pesch, O. von Stryk, "Range Maximization of a Hang Glider", 1993.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import solve_ivp
from scipy.optimize import root

from sim.planner import Goal, PathConstraint, Planner, Task, Weights
from sim.spaces import Euclidean
from sim.spaces.action import side_by_side, translations
from sim.vehicles.forms.parameters import Control, Quantities
from studies.ledger.mechanism import finest
from studies.ledger.optima import beginning, on_plain
from studies.ledger.problem import Problem
from studies.ledger.speeds import PRICE, RatesVehicle
from studies.ledger.steered_bodies import LAUNCH, LIFTS, HangGlider, Oscillator, glided

LAND_M = 900.0
GLIDES_S, GLIDE_STEPS, GLIDE_LIFTS = (15.76614585, 9.94862955, 72.72), (1, 1, 4), (0.67, 1.4, 0.72)
"""How long the lift is free, as large as may be, and free again, the last to be found; steps of each in proportion,
and a first guess. The first two are those of the equations of first order, by shooting from many places along it."""
LASTS = Control("lasts", "s", 1e-4, 10.0, "How long a step does.", neutral=1.0)
SLOWEST, OSCILLATES_S, OSCILLATOR_STEPS = -0.4, 5.0, (1, 1, 3)


class _Stretched(RatesVehicle):
    """Seconds pass as its last control says."""

    coordinates: tuple[str, ...]
    action: Any = None

    def __init_subclass__(cls, **more: Any) -> None:
        cls.action = side_by_side(*(translations(Euclidean(1, name)) for name in cls.coordinates))
        super().__init_subclass__(**more)

    def rate(self, point: ca.SX, u: ca.SX) -> ca.SX:
        """Of the coordinates in a second."""
        raise TypeError(f"{self.name} declares no rate")

    def generator(self, point: ca.SX, u: ca.SX, q: Quantities) -> ca.SX:
        return u[1] * self.rate(point, u[0])


class StretchedGlider(_Stretched):
    """The hang glider."""

    name = "ledger-stretched-glider"
    coordinates = ("x", "y", "v_x", "v_y")
    controls = (Control("lift", "", *LIFTS, "Lift coefficient."), LASTS)

    def rate(self, point: ca.SX, u: ca.SX) -> ca.SX:
        x, _, vx, vy = ca.vertsplit(point)
        return ca.vertcat(vx, vy, *glided(x, vx, vy, u, ca))


class StretchedOscillator(_Stretched):
    """Van der Pol's; what is spent and the time count along."""

    name = "ledger-stretched-oscillator"
    coordinates = ("place", "speed", "spent", "clock")
    controls = (Control("force", "N", -20.0, 20.0, "On it."), LASTS)

    def rate(self, point: ca.SX, u: ca.SX) -> ca.SX:
        x, v, *_ = ca.vertsplit(point)
        return ca.vertcat(v, (1 - x**2) * v - x + u, x**2 + v**2 + u**2, 1)


def phased(
    vehicle: _Stretched,
    start: Sequence[float],
    goal: Goal,
    seconds: Sequence[float],
    steps: Sequence[int],
    inputs: Sequence[float],
    end_cost: Callable[..., Any],
    *,
    free: bool = False,
    constraints: tuple[Callable[..., Any] | PathConstraint, ...] = (),
) -> float:
    """The least cost by so many steps in each phase of so many seconds, the last of which may be `free`; from a guess
    in which each phase has a constant input. Raises RuntimeError where no plan is found."""
    ends, lengths = np.cumsum(steps), np.array(seconds) / np.array(steps)
    names = [f"phase {k + 1}" for k in range(len(steps))]

    def of_its_phase(controls: Any, time: Any, parameters: Any) -> Any:
        length = parameters[names[-1]]
        for name, end in reversed(list(zip(names, ends, strict=True))[:-1]):
            length = ca.if_else(time < end - 0.5, parameters[name], length)
        return controls["lasts"] == length

    stretch, held = np.repeat(lengths, steps), np.repeat(inputs, steps)
    nodes = [np.asarray(start, float)]
    rate = ca.Function("rate", [point := ca.SX.sym("x", 4), u := ca.SX.sym("u")], [vehicle.rate(point, u)])
    for each, input_ in zip(stretch, held, strict=True):

        def along(_: float, y: np.ndarray, input_: float = input_) -> np.ndarray:
            return np.asarray(rate(y, input_))[:, 0]

        nodes.append(solve_ivp(along, (0.0, each), nodes[-1], rtol=1e-6, atol=1e-9).y[:, -1])
    task = Task(
        vehicle.state_at_node(nodes[0]),
        goal,
        float(ends[-1]),
        int(ends[-1]),
        weights=Weights(effort=0.0, comfort=0.0),
        end_cost=end_cost,
        constraints=(of_its_phase, *constraints),
        numbers=dict(zip(names, lengths.tolist(), strict=True)),
        free_parameters={names[-1]: (0.8 * lengths[-1], 1.2 * lengths[-1])} if free else {},
    )
    warm = (np.array(nodes), np.column_stack([held, stretch]))
    found = Planner().plan(vehicle, task, explain=False, starts=1, method="rkmk5", warm=warm)
    if not found.solved:
        raise RuntimeError(found.message)
    return found.cost


def glided_far(coarsest: int) -> float:
    """m, from three grids."""
    glider = StretchedGlider()
    end = glider.state_at_node(np.array([1250.0, LAND_M, *LAUNCH[2:]]))
    goal = Goal(end, "free", "free", "free", parts=("y", "v_x", "v_y"))

    def way(steps: int) -> float:
        each = [steps * count for count in GLIDE_STEPS]
        return -phased(glider, LAUNCH, goal, GLIDES_S, each, GLIDE_LIFTS, lambda node: -node["x"], free=True)

    return finest(way, coarsest)


@cache
def bounded_truth() -> tuple[float, float, float]:
    """Cost of the oscillator, and when its speed's bound begins and ends to hold [s]: by shooting of the equations of
    first order, in which costates go on through both moments as the force does."""

    def freely(_: float, y: np.ndarray) -> list[float]:
        x, v, a, b, _ = y
        u = -0.5 * b
        return [
            v,
            (1.0 - x * x) * v - x + u,
            -2.0 * x + b * (2.0 * x * v + 1.0),
            -2.0 * v - a - b * (1.0 - x * x),
            x * x + v * v + u * u,
        ]

    def held(x: float) -> float:
        return x - (1.0 - x * x) * SLOWEST

    def along(_: float, y: np.ndarray) -> list[float]:
        x, _, _ = y
        u = held(x)
        return [SLOWEST, -2.0 * x - 2.0 * u * (2.0 * x * SLOWEST + 1.0), x * x + SLOWEST**2 + u * u]

    def moved(rate: Callable[..., list[float]], span: tuple[float, float], y: ArrayLike) -> np.ndarray:
        run = solve_ivp(rate, span, np.asarray(y, float), method="DOP853", rtol=1e-13, atol=1e-14)
        return np.asarray(run.y[:, -1])

    def shot(unknown: np.ndarray) -> tuple[list[float], float]:
        a, b, begins, ends = unknown
        met = moved(freely, (0.0, begins), [1.0, 0.0, a, b, 0.0])
        left = moved(along, (begins, ends), met[[0, 2, 4]])
        end = moved(freely, (ends, OSCILLATES_S), [left[0], SLOWEST, left[1], -2.0 * held(left[0]), left[2]])
        return [met[1] - SLOWEST, -0.5 * met[3] - held(met[0]), end[2], end[3]], float(end[4])

    def missed(unknown: np.ndarray) -> list[float]:
        return shot(unknown)[0]

    found = root(missed, [5.6, 0.8, 0.63, 1.47], tol=1e-13).x
    return shot(found)[1], float(found[2]), float(found[3])


def oscillated(coarsest: int) -> float:
    """Integral of the squares of place, speed and force, from three grids."""
    oscillator = StretchedOscillator()
    end = oscillator.state_at_node(np.array([0.0, 0.0, 3.0, OSCILLATES_S]))
    goal = Goal(end, "free", "free", "free", parts=("clock",))
    _, begins, ends = bounded_truth()
    seconds = (begins, ends - begins, OSCILLATES_S - ends)

    def cost(steps: int) -> float:
        each = [steps * count for count in OSCILLATOR_STEPS]
        dear = phased(
            oscillator,
            (1.0, 0.0, 0.0, 0.0),
            goal,
            seconds,
            each,
            (0.4, 0.8, 0.1),
            lambda node: PRICE * node["spent"],
            constraints=(lambda node: node["speed"] >= SLOWEST,),
        )
        return dear / PRICE

    return finest(cost, coarsest)


PROBLEMS = (
    Problem(
        name="hang-glider",
        title="How far a hang glider comes through a thermal",
        quantity="way [m]",
        source="Betts 2020, problem 10.57; Bulirsch et al. 1993",
        truth=lambda: 1248.03103,
        known_digits=9,
        ours=lambda: glided_far(42),
        step="rkmk5, 252, 504, 1008 steps extrapolated",
        least_digits=8.0,
        scene=lambda: beginning(HangGlider(), LAUNCH),
        held={"lift": 0.7},
        shown=on_plain,
    ),
    Problem(
        name="van-der-pol",
        title="Van der Pol's oscillator, its speed bounded",
        quantity="integral of the squares of place, speed and force",
        source="own shooting by Pontryagin's principle; Betts 2020, problem 10.144, has 2.95369916",
        truth=lambda: bounded_truth()[0],
        known_digits=12,
        ours=lambda: oscillated(40),
        step="rkmk5, 200, 400, 800 steps extrapolated",
        least_digits=8.0,
        scene=lambda: beginning(Oscillator(), (1.0, 0.0, 0.0, 0.0)),
        shown=on_plain,
    ),
)
