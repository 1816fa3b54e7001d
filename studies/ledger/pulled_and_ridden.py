"""A tractor that pulls a plough, whose blade does not go aside, and a motorcycle: what else wheels may be on.

The tractor's truth is Lagrange's equations with multipliers in plain places, the motorcycle's the matrices that
J. P. Meijaard, J. M. Papadopoulos, A. Ruina, A. L. Schwab print for any two wheels and frames ("Linearized dynamics
equations for the balance and steer of a bicycle", Proc. R. Soc. A 463, 2007, appendix A).
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import ClassVar

import casadi as ca
import numpy as np

import sim
from sim.multibody.shapes import DARK_STEEL, PAINTED, RUBBER, STEEL, Link
from sim.symbolic import shift, turn_about
from sim.vehicle_config import config_of
from sim.vehicle_config.registry import enter_config, fallback
from sim.vehicles import Vehicle
from sim.vehicles.bicycle import Bicycle
from sim.vehicles.car import Car
from sim.vehicles.forms.parameters import Control, Parameter, Quantities, ShapeCoordinate
from studies.ledger.bicycle import modes_at
from studies.ledger.problem import Problem
from studies.reference.lagrange import LagrangianSystem, rates

Point = tuple[float, float, float]
STILL = (False, False)
FRONT_M = 0.36
"""Radius of the tractor's front wheels."""


def rim(body: str, at: Point, radius_m: float, thick_m: float) -> tuple[Link, ...]:
    """A wheel about y, with a spoke that shows its turning."""
    x, y, z = at
    turn = np.linspace(0.0, 2.0 * math.pi, 25)
    places = [(x + radius_m * math.cos(a), y, z + radius_m * math.sin(a)) for a in turn]
    tyre = (Link(body, a, b, thick_m, RUBBER, STILL) for a, b in pairwise(places))
    return *tyre, Link(body, places[0], places[12], 0.5 * thick_m, STEEL, STILL)


class Tractor(Car):
    """Its plough is hitched behind the rear axle and turns about the hitch; soil holds the blade back as it is fast."""

    name = "ledger-tractor"
    parameters = (
        *(
            replace(
                p, default={"mass": 3000.0, "yaw_inertia": 4000.0, "wheel_radius": 0.7}.get(p.name, p.default)
            )
            for p in Car.parameters
        ),
        Parameter("hitch", "m", 0.8, -5.0, 5.0, "How far the hitch is behind the rear axle."),
        Parameter("beam", "m", 1.6, 1e-2, 20.0, "From the hitch to the blade."),
        Parameter("plough_mass", "kg", 400.0, 1e-3, 1e5, "At the blade."),
        Parameter("plough_inertia", "kg m^2", 150.0, 1e-6, 1e6, "About the blade."),
        Parameter("soil", "N s/m", 900.0, 0.0, 1e6, "Resistance along the blade."),
    )
    shape_coordinates = (
        *Car.shape_coordinates,
        ShapeCoordinate("plough", "rad", "Its angle against the tractor, positive to the left.", -2.5, 2.5),
    )
    dependent: ClassVar = ("plough",)

    def blade(self, r: ca.SX, turning: ca.SX, own: ca.SX, v: ca.SX, q: Quantities) -> tuple[ca.SX, ca.SX]:
        """How fast it goes ahead and aside, where the rear axle moves by v (2,)."""
        c, s, aside = ca.cos(r[2]), ca.sin(r[2]), v[1] - q.hitch * turning
        return c * v[0] + s * aside, c * aside - s * v[0] - q.beam * (turning + own)

    def lagrangian(self, r: ca.SX, u: ca.SX, xi: ca.SX, q: Quantities) -> ca.SX:
        ahead, _ = self.blade(r, xi[0], u[2], xi[1:], q)
        plough = q.plough_mass * ahead**2 + q.plough_inertia * (xi[0] + u[2]) ** 2
        return super().lagrangian(r, u, xi, q) + plough / 2

    def constraints(self, r: ca.SX, q: Quantities) -> ca.SX:
        """Those of the car, and no way across the blade."""
        u, xi = ca.SX.sym("u", 3), ca.SX.sym("xi", 3)
        _, aside = self.blade(r, xi[0], u[2], xi[1:], q)
        car = super().constraints(r, q)
        return ca.vertcat(
            ca.horzcat(car[:, :2], ca.SX(3, 1), car[:, 2:]), ca.jacobian(aside, ca.vertcat(u, xi))
        )

    def shape_force(self, r: ca.SX, u: ca.SX, controls: ca.SX, q: Quantities) -> ca.SX:
        """Of soil as the wheels feel it: the blade goes ahead as they roll."""
        v = ca.vertcat(q.wheel_radius, 0)
        ahead, _ = self.blade(r, q.wheel_radius * r[1] / q.wheelbase, ca.SX(0), v, q)
        return ca.vertcat(controls[0] - q.soil * ahead**2 * u[0], 0, 0)

    def bodies(self, node: ca.SX, q: Quantities) -> Mapping[str, ca.SX]:
        """The plough's origin is under its blade, those of wheels in the axles' middles."""
        r, body = node[self.node_layout.shape], super().bodies(node, q)["body"]
        hitched = body @ shift(-q.hitch, 0, 0) @ turn_about("z", r[2])
        front = body @ shift(q.wheelbase, 0, FRONT_M) @ turn_about("z", ca.atan(r[1]))
        return {
            "body": body,
            "rear_wheels": body @ shift(0, 0, q.wheel_radius) @ turn_about("y", r[0]),
            "front_wheels": front @ turn_about("y", r[0] * q.wheel_radius / FRONT_M),
            "plough": hitched @ shift(-q.beam, 0, 0),
        }

    @property
    def links(self) -> tuple[Link, ...]:  # type: ignore[override]
        """A bonnet, a seat's post, four wheels, a beam and a blade."""
        high, wheelbase, beam = (float(np.max(self.values[k])) for k in ("wheel_radius", "wheelbase", "beam"))
        big = [
            part for y in (-0.75, 0.75) for part in rim("rear_wheels", (0.0, y, 0.0), 0.9 * high, 0.1 * high)
        ]
        small = [
            part for y in (-0.6, 0.6) for part in rim("front_wheels", (0.0, y, 0.0), FRONT_M - 0.06, 0.06)
        ]
        return (
            Link("body", (0.2, 0.0, 1.1), (wheelbase, 0.0, 1.0), 0.32, PAINTED, STILL),
            Link("body", (0.0, 0.0, 0.7), (-0.1, 0.0, 1.7), 0.12, DARK_STEEL, STILL),
            Link("body", (0.0, -0.75, 0.7), (0.0, 0.75, 0.7), 0.1, DARK_STEEL, STILL),
            *big,
            *small,
            Link("plough", (beam, 0.0, 0.5), (0.0, 0.0, 0.5), 0.06, STEEL, STILL),
            Link("plough", (0.0, 0.0, 0.5), (0.25, 0.0, 0.02), 0.05, DARK_STEEL, STILL),
            Link("plough", (0.25, 0.0, 0.02), (-0.3, 0.0, 0.3), 0.05, STEEL, STILL),
        )


def _handled_as(kind: type[Vehicle], other: type[Vehicle]) -> None:
    """By the same keys and modes, drawn by its own links."""
    config = replace(config_of(other), name=kind.name, folder=None, model=fallback().model)
    enter_config(kind, config)


STEERED, ROLLED_RADPS, PLOUGH_RAD, PLOUGHED_S = 0.35, 4.0, 0.3, 4.0


def ploughing() -> tuple[Tractor, sim.State]:
    """On a bend, coasting, its plough not yet as the bend has it; driven as the car is."""
    _handled_as(Tractor, Car)
    tractor = Tractor()
    return tractor, tractor.state(shape=(0.0, STEERED, PLOUGH_RAD), shape_velocity=(ROLLED_RADPS, 0.0, 0.0))


def ploughed_truth() -> np.ndarray:
    """(5,) wheels' and plough's angle, heading and place."""
    p = {name: float(np.ravel(value)[0]) for name, value in Tractor().values.items()}
    q, v = ca.SX.sym("q", 5), ca.SX.sym("v", 5)
    roll, plough, heading, place = q[0], q[1], q[2], q[3:]

    def ahead(angle: ca.SX) -> ca.SX:
        return ca.vertcat(ca.cos(angle), ca.sin(angle))

    def across(angle: ca.SX) -> ca.SX:
        return ca.vertcat(-ca.sin(angle), ca.cos(angle))

    front = place + p["wheelbase"] * ahead(heading)
    blade = place - p["hitch"] * ahead(heading) - p["beam"] * ahead(heading + plough)
    moving = rates(blade, q, v)
    kinetic = (
        p["mass"] * ca.sumsqr(v[3:])
        + p["yaw_inertia"] * v[2] ** 2
        + p["wheel_inertia"] * v[0] ** 2
        + p["plough_mass"] * ca.sumsqr(moving)
        + p["plough_inertia"] * (v[1] + v[2]) ** 2
    )
    slips = ca.vertcat(
        ca.dot(v[3:], across(heading)),
        ca.dot(rates(front, q, v), across(heading + math.atan(STEERED))),
        ca.dot(v[3:], ahead(heading)) - p["wheel_radius"] * v[0],
        ca.dot(moving, across(heading + plough)),
    )
    system = LagrangianSystem(
        q=q,
        v=v,
        lagrangian=kinetic / 2 + 0 * roll,
        dissipation=p["soil"] * ca.dot(moving, ahead(heading + plough)) ** 2 / 2,
        nonholonomic=ca.jacobian(slips, v),
    )
    speed = p["wheel_radius"] * ROLLED_RADPS
    turning = speed * STEERED / p["wheelbase"]
    aside = -p["hitch"] * turning
    own = (math.cos(PLOUGH_RAD) * aside - math.sin(PLOUGH_RAD) * speed) / p["beam"] - turning
    begun = [ROLLED_RADPS, own, turning, speed, 0.0]
    return system.moved([0.0, PLOUGH_RAD, 0.0, 0.0, 0.0], begun, PLOUGHED_S)[0]


def ploughed() -> np.ndarray:
    """(5,)"""
    tractor, start = ploughing()
    run = sim.simulate(tractor, "rk4", step=2e-3, duration=PLOUGHED_S, initial=start)
    at, node = tractor.node_layout, run.final.node
    return np.r_[node[at.shape][[0, 2]], node[at.pose]]


_MOTORCYCLE: dict[str, float | tuple[float, ...]] = {
    "wheelbase": 1.41,
    "trail": 0.116,
    "tilt": 0.47,
    "rear_radius": 0.305,
    "rear_mass": 18.0,
    "rear_inertia": (0.55, 1.05),
    "frame_mass": 217.0,
    "frame_centre": (0.48, 0.62),
    "frame_inertia": (31.2, 50.0, 21.1, -1.74),
    "fork_mass": 18.0,
    "fork_centre": (1.25, 0.62),
    "fork_inertia": (1.23, 1.25, 0.44, 0.02),
    "front_radius": 0.305,
    "front_mass": 12.0,
    "front_inertia": (0.4, 0.72),
}


class Motorcycle(Bicycle):
    """With its rider."""

    name = "ledger-motorcycle"
    parameters = tuple(  # type: ignore[assignment]
        replace(p, default=_MOTORCYCLE.get(p.name, p.default)) for p in Bicycle.parameters
    )
    shape_coordinates = tuple(  # type: ignore[assignment]
        replace(c, low=-0.6, high=0.6) if c.name == "steer" else c for c in Bicycle.shape_coordinates
    )
    controls = (
        Control("steer_torque", "N m", -120.0, 120.0, "Between frame and handlebar, positive to the left."),
        Control("lean_torque", "N m", -400.0, 400.0, "Of the rider's weight shifted, positive to the right."),
        Control("drive_torque", "N m", -600.0, 600.0, "On the rear wheel."),
    )

    @property
    def links(self) -> tuple[Link, ...]:  # type: ignore[override]
        """Two wheels, a frame with tank and seat, a fork with handlebar, and who rides it."""
        radius, wheelbase = (float(np.max(self.values[k])) for k in ("rear_radius", "wheelbase"))
        crown = (wheelbase - 0.38, 0.0, 0.98)
        return (
            *rim("rear_wheel", (0.0, 0.0, 0.0), radius - 0.06, 0.06),
            *rim("front_wheel", (0.0, 0.0, 0.0), radius - 0.05, 0.05),
            Link("frame", (0.0, 0.0, radius), (0.55, 0.0, 0.4), 0.06, DARK_STEEL, STILL),
            Link("frame", (0.5, 0.0, 0.42), (0.85, 0.0, 0.45), 0.17, STEEL, STILL),
            Link("frame", (0.6, 0.0, 0.82), (0.98, 0.0, 0.9), 0.14, PAINTED, STILL),
            Link("frame", (-0.1, 0.0, 0.8), (0.5, 0.0, 0.76), 0.09, RUBBER, STILL),
            Link("frame", (0.3, 0.0, 0.9), (0.45, 0.0, 1.35), 0.17, PAINTED, STILL),
            Link("frame", (0.52, 0.0, 1.6), (0.52, 0.0, 1.6), 0.14, DARK_STEEL, STILL),
            *(
                Link("fork", (wheelbase, y, radius), (crown[0], y, crown[2]), 0.035, STEEL, STILL)
                for y in (-0.08, 0.08)
            ),
            Link("fork", (crown[0], -0.36, 1.02), (crown[0], 0.36, 1.02), 0.025, DARK_STEEL, STILL),
        )


RIDDEN_MPS = (3.0, 12.0)


def motorcycle() -> tuple[Motorcycle, sim.State]:
    """Upright; ridden as the bicycle is."""
    _handled_as(Motorcycle, Bicycle)
    ridden = Motorcycle()
    return ridden, ridden.riding(RIDDEN_MPS[1])


def canonical(speed_mps: float) -> np.ndarray:
    """(4,) eigenvalues of M q'' + v C1 q' + (g K0 + v^2 K2) q = 0 for lean and steering; axes forward, right, down."""
    p = Motorcycle().values

    def one(name: str, k: int = 0) -> float:
        return float(np.ravel(p[name])[k])

    w, c, tilt, g = one("wheelbase"), one("trail"), one("tilt"), one("gravity")
    rR, mR, rF, mF = one("rear_radius"), one("rear_mass"), one("front_radius"), one("front_mass")
    IRx, IRy, IFx, IFy = (one(name, k) for name in ("rear_inertia", "front_inertia") for k in (0, 1))
    mB, xB, zB = one("frame_mass"), one("frame_centre"), -one("frame_centre", 1)
    mH, xH, zH = one("fork_mass"), one("fork_centre"), -one("fork_centre", 1)
    # Down instead of up turns the sign of the product xz.
    IBx, _, IBz, IBxz = (one("frame_inertia", k) for k in range(4))
    IHx, _, IHz, IHxz = (one("fork_inertia", k) for k in range(4))
    IBxz, IHxz = -IBxz, -IHxz
    cos, sin = math.cos(tilt), math.sin(tilt)
    mT = mR + mB + mH + mF
    xT = (xB * mB + xH * mH + w * mF) / mT
    zT = (-rR * mR + zB * mB + zH * mH - rF * mF) / mT
    ITxx = IRx + IBx + IHx + IFx + mR * rR**2 + mB * zB**2 + mH * zH**2 + mF * rF**2
    ITxz = IBxz + IHxz - mB * xB * zB - mH * xH * zH + mF * w * rF
    ITzz = IRx + IBz + IHz + IFx + mB * xB**2 + mH * xH**2 + mF * w**2
    mA = mH + mF
    xA, zA = (xH * mH + w * mF) / mA, (zH * mH - rF * mF) / mA
    IAxx = IHx + IFx + mH * (zH - zA) ** 2 + mF * (rF + zA) ** 2
    IAxz = IHxz - mH * (xH - xA) * (zH - zA) + mF * (w - xA) * (rF + zA)
    IAzz = IHz + IFx + mH * (xH - xA) ** 2 + mF * (w - xA) ** 2
    uA = (xA - w - c) * cos - zA * sin
    IAll = mA * uA**2 + IAxx * sin**2 + 2.0 * IAxz * sin * cos + IAzz * cos**2
    IAlx = -mA * uA * zA + IAxx * sin + IAxz * cos
    IAlz = mA * uA * xA + IAxz * sin + IAzz * cos
    mu, SF = c / w * cos, IFy / rF
    ST, SA = IRy / rR + SF, mA * uA + mu * mT * xT
    M = np.array([[ITxx, IAlx + mu * ITxz], [IAlx + mu * ITxz, IAll + 2.0 * mu * IAlz + mu**2 * ITzz]])
    K = g * np.array([[mT * zT, -SA], [-SA, -SA * sin]])
    K += speed_mps**2 * cos / w * np.array([[0.0, ST - mT * zT], [0.0, SA + SF * sin]])
    C = np.array(
        [
            [0.0, mu * ST + SF * cos + ITxz * cos / w - mu * mT * zT],
            [-(mu * ST + SF * cos), IAlz * cos / w + mu * (SA + ITzz * cos / w)],
        ]
    )
    A = np.block(
        [[np.zeros((2, 2)), np.eye(2)], [-np.linalg.solve(M, K), -speed_mps * np.linalg.solve(M, C)]]
    )
    return np.linalg.eigvals(A)


def in_order(values: np.ndarray) -> np.ndarray:
    """(8,) real and imaginary parts, the same whichever way they are found."""
    values = values[np.lexsort((values.imag, values.real.round(6)))]
    return np.r_[values.real, values.imag]


def motorcycle_truth() -> np.ndarray:
    """(16,) 1/s at two speeds."""
    return np.concatenate([in_order(canonical(speed)) for speed in RIDDEN_MPS])


def motorcycle_modes() -> np.ndarray:
    """(16,) 1/s of the vehicle as it is declared."""
    return np.concatenate([in_order(modes_at(Motorcycle(), speed)) for speed in RIDDEN_MPS])


PROBLEMS = (
    Problem(
        name="tractor-with-plough",
        title="A tractor coasts round a bend and pulls its plough",
        quantity="wheels' and plough's angle, heading and place at 4 s [rad, m]",
        source="studies.reference, plain coordinates with multipliers",
        truth=ploughed_truth,
        known_digits=12,
        ours=ploughed,
        step="rk4, 2 ms",
        motion_s=PLOUGHED_S,
        least_digits=8.0,
        scene=ploughing,
        shown=lambda: {"flight_mode": "drive", "camera": "chase"},
    ),
    Problem(
        name="motorcycle",
        title="A motorcycle's lean and steering at 3 and 12 m/s",
        quantity="four eigenvalues each, real parts and imaginary ones [1/s]",
        source="matrices of Meijaard et al. 2007, appendix A",
        truth=motorcycle_truth,
        known_digits=13,
        ours=motorcycle_modes,
        step="linearised",
        least_digits=8.0,
        scene=motorcycle,
        shown=lambda: {"flight_mode": "balance", "camera": "chase"},
    ),
)
