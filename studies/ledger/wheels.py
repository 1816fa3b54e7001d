"""Wheels and blades: closed forms, most of them from J. I. Neimark and N. A. Fufaev, "Nonholonomic Systems", 1972.

What has none is compared with Lagrange's equations with multipliers in shape, heading and place.
"""

import math

import casadi as ca
import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq

import sim
from sim.vehicles.forms.nonholonomic import NonholonomicVehicle
from sim.vehicles.forms.parameters import Parameter, Quantities
from sim.vehicles.rolling_disc import RollingDisc
from sim.vehicles.snakeboard import Snakeboard
from studies.ledger.problem import Problem
from studies.reference.lagrange import LagrangianSystem

GRAVITY, SLOPE_RAD, TURN_RADPS, SKATE_S = 9.81, 0.3, 1.3, 4.0


def numbers(vehicle: sim.Vehicle) -> dict[str, float]:
    """Parameters by name, of which all are single ones."""
    return {name: float(np.ravel(value)[0]) for name, value in vehicle.values.items()}


class Skate(NonholonomicVehicle):
    """A blade under the origin of a plate whose centre of mass is `ahead` of it, on a slope down along y."""

    name = "ledger-skate"
    parameters = (
        Parameter("mass", "kg", 1.0, 1e-3, 1e3, "Mass."),
        Parameter("moment", "kg m^2", 0.4, 1e-6, 1e3, "About the centre of mass."),
        Parameter("ahead", "m", 0.0, -10.0, 10.0, "Of the blade."),
        Parameter("pull", "m/s^2", 0.0, -100.0, 100.0, "Along the world's y."),
    )

    def lagrangian(self, r: ca.SX, u: ca.SX, xi: ca.SX, q: Quantities) -> ca.SX:
        return (q.moment * xi[0] ** 2 + q.mass * (xi[1] ** 2 + (xi[2] + q.ahead * xi[0]) ** 2)) / 2

    def constraints(self, r: ca.SX, q: Quantities) -> ca.SX:
        """No way across the blade."""
        return ca.SX([[0, 0, 1]])

    def external_wrench(self, g: ca.SX, xi: ca.SX, controls: ca.SX, q: Quantities) -> ca.SX:
        s, c = ca.sin(g[0]), ca.cos(g[0])
        return q.mass * q.pull * ca.vertcat(q.ahead * c, s, c)


def skate_truth() -> np.ndarray:
    """(2,) m: on a slope it goes along a cycloid, and not down."""
    a, w, t = GRAVITY * math.sin(SLOPE_RAD), TURN_RADPS, SKATE_S
    return a / (4.0 * w * w) * np.array([math.sin(2.0 * w * t) - 2.0 * w * t, 1.0 - math.cos(2.0 * w * t)])


def on_slope() -> tuple[Skate, sim.State]:
    """At rest but for its turning. The slope pulls along y, where the blade points at first."""
    plate = Skate(pull=GRAVITY * math.sin(SLOPE_RAD))
    return plate, plate.state(theta=0.5 * math.pi, momentum=admissible(plate, (TURN_RADPS, 0.0, 0.0)))


def skate(step_s: float) -> np.ndarray:
    """(2,) m."""
    plate, start = on_slope()
    run = sim.simulate(plate, "rk4", step=step_s, duration=SKATE_S, initial=start)
    x, y = run.final.x
    return np.array([x, y])


def admissible(plate: NonholonomicVehicle, xi: tuple[float, float, float]) -> np.ndarray:
    """Momenta of a body velocity."""
    at = plate.node_layout
    node, q = ca.SX.zeros(at.size), plate.symbols(ca.SX(plate.parameter_vector))
    node[at.velocity] = ca.SX(xi)
    return np.array(ca.DM(plate.nonholonomic_momentum(node, q))).ravel()


SLEIGH_AHEAD_M, SLEIGH_MOMENT, SLEIGH_RADPS, SLEIGH_S = 0.5, 0.4, 1.5, 3.0


def sleigh_truth() -> np.ndarray:
    """(turning rate, speed): Chaplygin's sleigh from rest of its blade turns 1/cosh and runs on with tanh."""
    k2 = SLEIGH_MOMENT + SLEIGH_AHEAD_M**2
    rate = SLEIGH_RADPS * SLEIGH_AHEAD_M / math.sqrt(k2)
    turned = SLEIGH_RADPS / math.cosh(rate * SLEIGH_S)
    return np.array([turned, SLEIGH_RADPS * math.sqrt(k2) * math.tanh(rate * SLEIGH_S)])


def pushed_sleigh() -> tuple[Skate, sim.State]:
    """Its blade at rest, about which it turns."""
    plate = Skate(ahead=SLEIGH_AHEAD_M, moment=SLEIGH_MOMENT)
    return plate, plate.state(momentum=admissible(plate, (SLEIGH_RADPS, 0.0, 0.0)))


def sleigh(step_s: float) -> np.ndarray:
    """(rad/s, m/s)."""
    plate, start = pushed_sleigh()
    run = sim.simulate(plate, "rk4", step=step_s, duration=SLEIGH_S, initial=start)
    return np.asarray(run.velocity[-1, :2])


COAST_S, COAST_RADPS, STEERING_RATE = 3.0, 15.0, 0.25


def coast_truth() -> float:
    """Wheels' angle of a car that is steered at a constant rate without drive: its energy stays."""
    v = numbers(sim.vehicle("car"))
    radius = v["wheel_radius"]
    mass = v["wheel_inertia"] + v["mass"] * radius**2
    turning = v["yaw_inertia"] * (radius / v["wheelbase"]) ** 2
    return float(
        quad(
            lambda t: COAST_RADPS * math.sqrt(mass / (mass + turning * (STEERING_RATE * t) ** 2)),
            0.0,
            COAST_S,
            epsrel=1e-13,
        )[0]
    )


def coasting(sigma: float = 0.0) -> tuple[sim.Vehicle, sim.State]:
    """A car whose wheels turn, with its steering there."""
    car = sim.vehicle("car")
    return car, car.state(shape=(0.0, sigma), shape_velocity=(COAST_RADPS, 0.0))


def coast(step_s: float) -> float:
    """rad."""
    car, start = coasting()
    run = sim.simulate(
        car, "rk4", step=step_s, duration=COAST_S, initial=start, controls=[0.0, STEERING_RATE]
    )
    return float(run.shape[-1, 0])


CIRCLE_SIGMA, CIRCLE_S = 0.4, 60.0


def circle_truth() -> np.ndarray:
    """(2,) m after a minute on a circle of radius wheelbase / tan(steering)."""
    v = numbers(sim.vehicle("car"))
    radius = v["wheelbase"] / CIRCLE_SIGMA
    turned = COAST_RADPS * v["wheel_radius"] / radius * CIRCLE_S
    return radius * np.array([math.sin(turned), 1.0 - math.cos(turned)])


def circle() -> np.ndarray:
    """(2,) m in steps of a second: circles are arcs of the method."""
    car, start = coasting(CIRCLE_SIGMA)
    run = sim.simulate(car, "variational-exp", step=1.0, duration=CIRCLE_S, initial=start)
    x, y = run.final.x
    return np.array([x, y])


def with_multipliers(vehicle: NonholonomicVehicle, node: np.ndarray, seconds: float) -> np.ndarray:
    """(shape, heading and place) at the end of a free motion on the plane, all of these being plain coordinates."""
    at, n = vehicle.node_layout, len(vehicle.shape_coordinates)
    q, v = ca.SX.sym("q", n + 3), ca.SX.sym("v", n + 3)
    c, s = ca.cos(q[n]), ca.sin(q[n])
    to_body = ca.blockcat([[1, 0, 0], [0, c, s], [0, -s, c]])
    p = vehicle.symbols(ca.SX(vehicle.parameter_vector))
    W = vehicle.constraints(q[:n], p)
    system = LagrangianSystem(
        q=q,
        v=v,
        lagrangian=vehicle.lagrangian(q[:n], v[:n], to_body @ v[n:], p),
        nonholonomic=ca.horzcat(W[:, :n], W[:, n:] @ to_body),
    )
    begun = np.r_[node[at.shape], node[at.pose]]
    twist = np.array(ca.DM(ca.substitute(to_body, q, ca.SX(begun)))).T @ node[at.velocity]
    return system.moved(begun, np.r_[node[at.shape_velocity], twist], seconds)[0]


def ended(
    vehicle: NonholonomicVehicle, start: sim.State, seconds: float, step_s: float, method: str
) -> np.ndarray:
    """The same by a method."""
    run = sim.simulate(vehicle, method, step=step_s, duration=seconds, initial=start)
    at, node = vehicle.node_layout, run.final.node
    return np.r_[node[at.shape], node[at.pose]]


def board() -> tuple[NonholonomicVehicle, sim.State]:
    """A snakeboard whose rotor and axles turn."""
    vehicle = Snakeboard()
    return vehicle, vehicle.state(shape=(0.2, -0.5), shape_velocity=(2.0, 0.35), momentum=(14.0,))


def disc() -> tuple[NonholonomicVehicle, sim.State]:
    """A disc that rolls, leans and turns."""
    vehicle = RollingDisc()
    return vehicle, vehicle.state(shape=(0.25, 0.0), shape_velocity=(-0.3, 6.0), momentum=(1.2,))


def critical_truth() -> float:
    """m/s above which a rolling disc does not fall: v^2 = g A r^2 m r / (C (C + m r^2))."""
    v = numbers(sim.vehicle("rolling-disc"))
    m, R, C, A, g = (v[k] for k in ("mass", "radius", "axial_inertia", "diametral_inertia", "gravity"))
    return R * math.sqrt(m * g * R * A / (C * (C + m * R * R)))


def rolling(speed_mps: float, lean_rad: float = 0.0) -> tuple[RollingDisc, sim.State]:
    """A disc that rolls straight on."""
    vehicle = RollingDisc()
    rate = speed_mps / numbers(vehicle)["radius"]
    return vehicle, vehicle.state(shape=(lean_rad, 0.0), shape_velocity=(0.0, rate))


def critical() -> float:
    """m/s, where the linearised motion's squared frequency passes zero."""

    def squared(speed: float) -> float:
        values = sim.linearise(*rolling(speed)).eigenvalues
        return float((values[np.abs(values).argmax()] ** 2).real)

    return float(brentq(squared, 0.5, 6.0, xtol=1e-14))


DERIVED = "studies.reference, plain coordinates with multipliers"

PROBLEMS = (
    Problem(
        name="skate-on-a-slope",
        title="A skate on a slope: it does not go down",
        quantity="place at 4 s [m]",
        source="closed form, Neimark and Fufaev, cycloid",
        truth=skate_truth,
        known_digits=14,
        ours=lambda: skate(2e-3),
        step="rk4, 2 ms",
        motion_s=SKATE_S,
        least_digits=8.0,
        scene=on_slope,
    ),
    Problem(
        name="chaplygin-sleigh",
        title="Chaplygin's sleigh",
        quantity="turning rate and speed at 3 s [rad/s, m/s]",
        source="closed form, Chaplygin 1911",
        truth=sleigh_truth,
        known_digits=14,
        ours=lambda: sleigh(2e-3),
        step="rk4, 2 ms",
        motion_s=SLEIGH_S,
        least_digits=8.0,
        scene=pushed_sleigh,
    ),
    Problem(
        name="coasting-car",
        title="A car that coasts while it is steered",
        quantity="wheels' angle at 3 s [rad]",
        source="closed form, energy (vehicles paper, 5.2.1)",
        truth=coast_truth,
        known_digits=14,
        ours=lambda: coast(2e-3),
        step="rk4, 2 ms",
        motion_s=COAST_S,
        least_digits=8.0,
        scene=coasting,
        held={"u_sigma": STEERING_RATE},
    ),
    Problem(
        name="circling-car",
        title="A car on a circle for a minute",
        quantity="place [m]",
        source="closed form",
        truth=circle_truth,
        known_digits=13,
        ours=circle,
        step="variational-exp, 1 s",
        motion_s=CIRCLE_S,
        least_digits=10.0,
        scene=lambda: coasting(CIRCLE_SIGMA),
    ),
    Problem(
        name="snakeboard",
        title="A snakeboard, coasting",
        quantity="rotor, axle, heading and place at 3 s",
        source=DERIVED,
        truth=lambda: with_multipliers(board()[0], board()[1].node, 3.0),
        known_digits=12,
        ours=lambda: ended(*board(), 3.0, 2e-3, "rk4"),
        step="rk4, 2 ms",
        motion_s=3.0,
        least_digits=8.0,
        scene=board,
    ),
    Problem(
        name="rolling-disc",
        title="A disc that rolls, leans and turns",
        quantity="lean, roll, heading and place at 2 s",
        source=DERIVED,
        truth=lambda: with_multipliers(disc()[0], disc()[1].node, 2.0),
        known_digits=12,
        ours=lambda: ended(*disc(), 2.0, 1e-3, "rk4"),
        step="rk4, 1 ms",
        motion_s=2.0,
        least_digits=8.0,
        scene=disc,
    ),
    Problem(
        name="rolling-disc-critical",
        title="Speed above which a rolling disc does not fall",
        quantity="critical speed [m/s]",
        source="closed form, Neimark and Fufaev",
        truth=critical_truth,
        known_digits=15,
        ours=critical,
        step="linearised",
        least_digits=10.0,
        scene=lambda: rolling(1.05 * critical_truth(), 0.05),
    ),
)
