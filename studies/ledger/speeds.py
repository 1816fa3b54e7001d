"""Optimal control of what has speeds for controls: cars of Dubins and of Reeds and Shepp, a boat about a vortex; a
spacecraft turned, and one that spirals out, by their equations of first order.

L. E. Dubins, "On curves of minimal length with a constraint on average curvature", 1957; J. A. Reeds, L. A. Shepp,
"Optimal paths for a car that goes both forwards and backwards", 1990; E. Zermelo, "Ueber das Navigationsproblem", 1931;
K. D. Bilimoria, B. Wie, "Time-optimal three-axis reorientation of a rigid spacecraft", 1993 (3.2430); A. E. Bryson,
Y.-C. Ho, "Applied Optimal Control", 1975, section 2.5 (1.525). Where controls jump, a further one stretches the steps,
so that they end there.
"""

import itertools
import math
from collections.abc import Mapping
from typing import Any

import casadi as ca
import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import root

from sim.groups.numeric import rotation_exp, rotation_log
from sim.groups.so3 import SO3
from sim.multibody.shapes import BRASS, PAINTED, STEEL, Link
from sim.planner import Goal, PathConstraint, Planner, Task, Weights
from sim.spaces import Euclidean
from sim.spaces.action import by_left_translation, side_by_side, translations
from sim.symbolic import shift, turn_about
from sim.vehicles.forms.form import State
from sim.vehicles.forms.homogeneous import ActionVehicle
from sim.vehicles.forms.parameters import Control, Parameter, Quantities
from studies.ledger.mechanism import extrapolated
from studies.ledger.problem import Problem

STRETCH = Control("stretch", "", 0.1, 3.0, "Seconds that pass while one does.", neutral=1.0)
BEND = Control("bend", "1/m", -1.0, 1.0, "Curvature of its way, to the left.")
PRICE = 100.0
"""Of a second, in which what a solver's barrier leaves is small."""
SWIRL, BOAT_FROM, BOAT_TO = 0.6, (-2.0, -0.5), (1.5, -1.2)
THRUST, BURNT, SPIRAL_S = 0.1405, 0.0749, 3.32
TURNED = np.diag([-1.0, -1.0, 1.0])


def ring(radius_m: float, y_m: float = 0.0, sides: int = 48) -> tuple[Link, ...]:
    """A circle about (0, y), drawn on the ground."""
    turn = np.linspace(0.0, 2.0 * math.pi, sides + 1)
    ends = [(radius_m * math.cos(a), y_m + radius_m * math.sin(a), 0.0) for a in turn]
    return tuple(Link("ground", a, b, 0.02, STEEL, (False, False)) for a, b in itertools.pairwise(ends))


def mark(place: tuple[float, float]) -> Link:
    """A ball on the ground."""
    at = (*place, 0.0)
    return Link("ground", at, at, 0.08, BRASS, (False, False))


class RatesVehicle(ActionVehicle):
    """What moves as it is told to: nothing has a mass."""

    parameters = (Parameter("length", "m", 0.5, 1e-3, 1e3, "As it is drawn."),)
    stand_m = 0.1

    def energy(self, node: ca.SX, q: Quantities) -> ca.SX:
        """There is none."""
        return ca.SX(0)

    def spatial_momentum(self, node: ca.SX, q: Quantities) -> ca.SX:
        """There is none."""
        return ca.SX(0, 1)

    @property
    def links(self) -> tuple[Link, ...]:  # type: ignore[override]
        """An arrow along x, a ball at its end; and what is drawn on the ground."""
        m = float(np.max(self.values["length"]))
        far = (m, 0.0, 0.0)
        return (
            Link("body", (0.0, 0.0, 0.0), far, 0.1 * m, PAINTED, (False, False)),
            Link("body", far, far, 0.2 * m, BRASS, (False, False)),
            *self.marks(),
        )

    def marks(self) -> tuple[Link, ...]:
        """Of the body `ground`."""
        return ()


class _Planar(RatesVehicle):
    """On the plane."""

    def bodies(self, node: ca.SX, q: Quantities) -> Mapping[str, ca.SX]:
        """Level, as it is heading."""
        return {"body": shift(node[0], node[1], 0) @ turn_about("z", node[2]), "ground": ca.SX.eye(4)}


class CurvatureCar(_Planar):
    """A point that goes ahead by 1 m/s along its heading, on a way that bends by 1/m at most."""

    name = "ledger-curvature-car"
    controls: tuple[Control, ...] = (BEND, STRETCH)
    action = translations(Euclidean(3, "place", ("x", "y", "heading")))

    def marks(self) -> tuple[Link, ...]:
        """Circles of the least radius on either side of where it begins."""
        return (*ring(1.0, 1.0), *ring(1.0, -1.0))

    def speed(self, u: ca.SX) -> ca.SX:
        """m/s"""
        return ca.SX(1)

    def generator(self, point: ca.SX, u: ca.SX, q: Quantities) -> ca.SX:
        return u[-1] * self.speed(u) * ca.vertcat(ca.cos(point[2]), ca.sin(point[2]), u[0])


class ReversingCar(CurvatureCar):
    """The same, which goes back as well."""

    name = "ledger-reversing-car"
    controls = (BEND, Control("speed", "m/s", -1.0, 1.0, "Along its heading.", neutral=1.0), STRETCH)

    def speed(self, u: ca.SX) -> ca.SX:
        return u[1]


class VortexBoat(_Planar):
    """A boat of 1 m/s about a whirl, whose water goes round by 0.6 m/s at 1 m, and as 1/r."""

    name = "ledger-vortex-boat"
    controls = (Control("heading", "rad", -6.3, 6.3, "Over the water, from x."),)
    action = translations(Euclidean(2, "place", ("x", "y")))

    def generator(self, point: ca.SX, u: ca.SX, q: Quantities) -> ca.SX:
        return ca.vertcat(ca.cos(u[0]), ca.sin(u[0])) + SWIRL / ca.sumsqr(point) * ca.vertcat(
            -point[1], point[0]
        )

    def default_state(self) -> State:
        """Where it sets out."""
        return self.point(place=BOAT_FROM)

    def bodies(self, node: ca.SX, q: Quantities) -> Mapping[str, ca.SX]:
        """Heading is no state of it: along x."""
        return {"body": shift(node[0], node[1], 0), "ground": ca.SX.eye(4)}

    def marks(self) -> tuple[Link, ...]:
        """Where the water is as fast as the boat, and where it is to go to from where."""
        return (*ring(SWIRL), mark(BOAT_FROM), mark(BOAT_TO))


class TorqueCraft(RatesVehicle):
    """A body whose principal moments are 1 kg m^2, by torques of 1 N m at most about each axis."""

    name = "ledger-torque-craft"
    controls = (*(Control(f"torque_{axis}", "N m", -1.0, 1.0, "About it.") for axis in "xyz"), STRETCH)
    action = side_by_side(
        by_left_translation(SO3), translations(Euclidean(3, "rate", ("rate_x", "rate_y", "rate_z"), rates=3))
    )
    stand_m = 1.5

    def generator(self, point: ca.SX, u: ca.SX, q: Quantities) -> ca.SX:
        return u[3] * ca.vertcat(ca.reshape(point[:9], 3, 3) @ point[9:], u[:3])

    def bodies(self, node: ca.SX, q: Quantities) -> Mapping[str, ca.SX]:
        """About its centre."""
        return {"body": ca.blockcat([[ca.reshape(node[:9], 3, 3), ca.SX(3, 1)], [ca.SX([[0, 0, 0, 1]])]])}

    @property
    def links(self) -> tuple[Link, ...]:  # type: ignore[override]
        """Three axes of equal lengths."""
        ends = np.eye(3) * float(np.max(self.values["length"]))
        return tuple(
            Link("body", tuple(-end), tuple(end), 0.04, finish, (False, False))
            for end, finish in zip(ends, (PAINTED, STEEL, BRASS), strict=True)
        )


class SpiralCraft(RatesVehicle):
    """About a centre of attraction 1, by a small thrust that is turned, while it becomes lighter."""

    name = "ledger-spiral-craft"
    controls = (Control("angle", "rad", -7.0, 7.0, "Of the thrust, outwards from ahead."),)
    action = side_by_side(
        *(translations(Euclidean(1, name)) for name in ("radius", "outwards", "round", "angle", "time"))
    )

    def generator(self, point: ca.SX, u: ca.SX, q: Quantities) -> ca.SX:
        (r, out, round_, *_), push = ca.vertsplit(point), THRUST / (1 - BURNT * point[4])
        return ca.vertcat(
            out,
            round_**2 / r - 1 / r**2 + push * ca.sin(u[0]),
            -out * round_ / r + push * ca.cos(u[0]),
            round_ / r,
            1,
        )

    def default_state(self) -> State:
        """On a circle of radius 1."""
        return self.point(radius=(1.0,), round=(1.0,))

    def bodies(self, node: ca.SX, q: Quantities) -> Mapping[str, ca.SX]:
        """x leads ahead."""
        out = turn_about("z", node[3])
        return {
            "body": out @ shift(node[0], 0, 0) @ turn_about("z", ca.SX(math.pi / 2)),
            "ground": ca.SX.eye(4),
        }

    def marks(self) -> tuple[Link, ...]:
        """The centre, the first circle and the last."""
        here = (0.0, 0.0, 0.0)
        return (Link("ground", here, here, 0.2, STEEL, (False, False)), *ring(1.0), *ring(1.525))


def least(vehicle: ActionVehicle, task: Task, warm: Any = None) -> float:
    """Cost of a plan by steps of fifth order. Raises RuntimeError where none is found."""
    found = Planner().plan(vehicle, task, explain=False, starts=1, method="rkmk5", warm=warm)
    if not found.solved:
        raise RuntimeError(found.message)
    return found.cost


def hasty(vehicle: ActionVehicle, goal: State, seconds: float, steps: int, **limits: Any) -> Task:
    """From where it starts, its steps as long as pays."""
    return Task(
        vehicle.default_state(),
        Goal(goal),
        seconds,
        steps,
        weights=Weights(effort=0.0, comfort=0.0),
        cost=lambda controls: PRICE * controls["stretch"],
        **limits,
    )


def turned_back(car: CurvatureCar, seconds: float, steps: int) -> float:
    """s to where it stands, heading the other way."""
    return least(car, hasty(car, car.point(place=(0.0, 0.0, math.pi)), seconds, steps)) / PRICE


def crossed(steps: int) -> float:
    """s"""
    boat = VortexBoat()
    task = Task(
        boat.point(place=BOAT_FROM),
        Goal(boat.point(place=BOAT_TO)),
        3.0,
        steps,
        weights=Weights(effort=0.0, comfort=0.0, time=PRICE),
        free_duration=(1.0, 8.0),
    )
    return least(boat, task) / PRICE


def reoriented(steps: int) -> float:
    """s; from a guess that turns about z and nods on the way."""
    craft, seconds = TorqueCraft(), 3.3
    s = np.linspace(0.0, 1.0, steps + 1)
    along = np.where(s < 0.5, 2.0 * s * s, 1.0 - 2.0 * (1.0 - s) ** 2)
    turns = [
        rotation_exp(0.3 * np.array([math.sin(2.0 * math.pi * a), math.sin(math.pi * a) ** 2, 0.0]))
        @ rotation_exp(np.array([0.0, 0.0, math.pi * b]))
        for a, b in zip(s, along, strict=True)
    ]
    step_s = seconds / steps
    within = [rotation_log(a.T @ b) / (2.0 * step_s) for a, b in zip(turns, turns[2:], strict=False)]
    rates = np.array([np.zeros(3), *within, np.zeros(3)])
    nodes = np.column_stack([[R.T.ravel() for R in turns], rates])
    torques = np.clip(np.diff(rates, axis=0) / step_s, -0.9, 0.9)
    goal = craft.point(pose=TURNED.T.ravel())
    task = hasty(craft, goal, seconds, steps)
    return least(craft, task, (nodes, np.column_stack([torques, np.ones(steps)]))) / PRICE


def spiralled(steps: int) -> float:
    """Radius of the circle that is reached."""
    craft = SpiralCraft()
    far = craft.point(radius=(1.5,), round=(0.8,), angle=(2.5,), time=(SPIRAL_S,))
    task = Task(
        craft.default_state(),
        Goal(far, "free", "free", "free", parts=("outwards",)),
        SPIRAL_S,
        steps,
        weights=Weights(effort=0.0, comfort=0.0),
        end_cost=lambda node: -node["radius"],
        constraints=(
            PathConstraint(lambda node: node["radius"] * node["round"] ** 2 == 1.0, "circular", at="end"),
        ),
    )
    return -least(craft, task)


def crossed_truth() -> float:
    """s, where the heading turns as Zermelo's equation says."""

    def rate(_: float, state: np.ndarray) -> list[float]:
        x, y, heading = state
        r2, s, c = x * x + y * y, math.sin(heading), math.cos(heading)
        shear = 2.0 * SWIRL * x * y / r2**2
        along, across = SWIRL * (y * y - x * x) / r2**2, shear
        # u = -SWIRL y / r^2, v = SWIRL x / r^2: u_y = v_x = `along`, u_x = -v_y = `across`.
        turn = s * s * along + 2.0 * s * c * across - c * c * along
        return [c - SWIRL * y / r2, s + SWIRL * x / r2, turn]

    def missed(unknown: np.ndarray) -> np.ndarray:
        run = solve_ivp(
            rate, (0.0, unknown[1]), [*BOAT_FROM, unknown[0]], method="DOP853", rtol=1e-13, atol=1e-13
        )
        return run.y[:2, -1] - BOAT_TO

    return float(root(missed, [-0.2, 2.7], tol=1e-13).x[1])


SIGNS = ((1, 1, 1), (-1, 1, 1), (-1, -1, 1), (-1, -1, -1), (1, -1, -1), (1, 1, -1))
SWITCHED_S = (0.45, 1.2, 1.6, 2.1, 2.8, 3.24)


def reoriented_truth() -> float:
    """s: five moments at which a torque changes its sign, and the end, so that it comes to rest there."""

    def missed(moments: np.ndarray) -> np.ndarray:
        state = np.r_[1.0, np.zeros(6)]
        for length_s, torque in zip(np.diff(moments, prepend=0.0), SIGNS, strict=True):

            def rate(_: float, y: np.ndarray, torque: tuple[int, ...] = torque) -> np.ndarray:
                q, w = y[:4], y[4:]
                return 0.5 * np.r_[-q[1:] @ w, q[0] * w + np.cross(q[1:], w), 2.0 * np.array(torque)]

            state = solve_ivp(rate, (0.0, length_s), state, method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
        return np.delete(state, 3)

    return float(root(missed, SWITCHED_S, tol=1e-13).x[-1])


def spiralled_truth() -> float:
    """Radius, by Pontryagin's principle: the thrust is along the costates of the velocity."""

    def rate(t: float, y: np.ndarray) -> list[float]:
        r, u, v, a, b, c = y
        push = THRUST / (1.0 - BURNT * t) / math.hypot(b, c)
        return [
            u,
            v * v / r - 1.0 / r**2 + push * b,
            -u * v / r + push * c,
            b * (v * v / r**2 - 2.0 / r**3) - c * u * v / r**2,
            -a + c * v / r,
            -2.0 * b * v / r + c * u / r,
        ]

    def end(costates: np.ndarray) -> np.ndarray:
        start = [1.0, 0.0, 1.0, *costates]
        return solve_ivp(rate, (0.0, SPIRAL_S), start, method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]

    def missed(costates: np.ndarray) -> list[float]:
        r, u, v, a, _, c = end(costates)
        return [u, v - r**-0.5, a - 1.0 - 0.5 * c * r**-1.5]

    return float(end(root(missed, [1.9, 0.9, 2.0], tol=1e-13).x)[0])


def beginning(vehicle: ActionVehicle) -> tuple[ActionVehicle, State]:
    """A vehicle, and where it starts."""
    return vehicle, vehicle.default_state()


STRETCHED = "rkmk5, {} steps that are stretched"
HELD = "rkmk5, {} steps extrapolated"

PROBLEMS = (
    Problem(
        name="dubins",
        title="Turned back where it stands by going ahead (Dubins)",
        quantity="least length of the way over its least radius [1]",
        source="closed form, Dubins 1957",
        truth=lambda: 7.0 * math.pi / 3.0,
        known_digits=15,
        ours=lambda: turned_back(CurvatureCar(), 7.0, 90),
        step=STRETCHED.format(90),
        least_digits=8.0,
        scene=lambda: beginning(CurvatureCar()),
        held={"bend": 1.0},
    ),
    Problem(
        name="reeds-shepp",
        title="The same by going back as well (Reeds and Shepp)",
        quantity="least length of the way over its least radius [1]",
        source="closed form, Reeds and Shepp 1990",
        truth=lambda: math.pi,
        known_digits=15,
        ours=lambda: turned_back(ReversingCar(), 3.0, 90),
        step=STRETCHED.format(90),
        least_digits=8.0,
        scene=lambda: beginning(ReversingCar()),
        held={"bend": 1.0, "speed": -1.0},
    ),
    Problem(
        name="zermelo",
        title="Across a whirl in the least time (Zermelo)",
        quantity="time [s]",
        source="own shooting of Zermelo's equation, 1931",
        truth=crossed_truth,
        known_digits=12,
        ours=lambda: extrapolated([np.array(crossed(steps)) for steps in (40, 80, 160)]),
        step=HELD.format("40, 80, 160"),
        least_digits=8.0,
        scene=lambda: beginning(VortexBoat()),
    ),
    Problem(
        name="reorientation",
        title="Half a turn from rest to rest in the least time (Bilimoria and Wie)",
        quantity="time over that of unit torque and inertia [1]",
        source="own switching times; Bilimoria and Wie 1993 have 3.2430",
        truth=reoriented_truth,
        known_digits=12,
        ours=lambda: reoriented(90),
        step=STRETCHED.format(90),
        least_digits=8.0,
        scene=lambda: beginning(TorqueCraft()),
        held={"torque_x": 0.1, "torque_z": 0.2},
    ),
    Problem(
        name="spiral",
        title="As far out as a small thrust leads in a time",
        quantity="radius of the circle over that of the first [1]",
        source="own shooting by Pontryagin's principle; Bryson and Ho 1975, 2.5, have 1.525",
        truth=spiralled_truth,
        known_digits=12,
        ours=lambda: extrapolated([np.array(spiralled(steps)) for steps in (80, 160)]),
        step=HELD.format("80, 160"),
        least_digits=8.0,
        scene=lambda: beginning(SpiralCraft()),
    ),
)
