"""Euler's disk: how it sinks by what it loses to the plate and to the air, and by which power of the time that is left.

H. K. Moffatt, "Euler's disk and its finite-time singularity", Nature 404, 2000; L. Bildsten, "Viscous dissipation for
Euler's disk", Physical Review E 66, 2002. A flat disk whose centre stays has an energy of 3/2 m g r a at a tilt a, and
its point of contact runs round by the root of 4 g / (r a). What is lost each second to a film of air goes with a^-2, to
layers of air at the faces with a^-5/4, by a torque that holds back rolling, of so much for what is borne, with a^1/2:
the tilt goes with the power 1/3, 4/9 or 2 of the time that is left. The truth is Lagrange's equations with multipliers.
"""

import math
from functools import cache
from itertools import pairwise

import casadi as ca
import numpy as np
from scipy.optimize import brentq

import sim
from sim.contact.bodies import Pile, Prop
from sim.multibody.shapes import PAINTED, STEEL, Link
from sim.shapes import Drum
from sim.symbolic import turn_about
from sim.vehicles.forms.parameters import Parameter, Quantities, ShapeCoordinate
from sim.vehicles.rolling_disc import RollingDisc
from studies.ledger.mechanism import extrapolated
from studies.ledger.piles import FLAT
from studies.ledger.problem import Problem
from studies.reference.lagrange import LagrangianSystem

GRAVITY = 9.81
DISK_M, DISK_KG, ARM_M, TILT_RAD, SUNK_RAD = 0.3, 40.0, 0.003, 0.2, (0.15, 0.04)
SUNK_S, SUNK_STEP_S = 7.5, 2e-3
"""How long it is looked at, and how often: four times in a second its nodding makes 2 % of what a line tells."""


class SinkingDisk(RollingDisc):
    """A flat disk, and what holds back its rolling."""

    name = "ledger-sinking-disk"
    parameters: tuple[Parameter, ...] = (  # type: ignore[assignment]
        *RollingDisc.parameters,
        Parameter(
            "film", "N m s", 0.0, 0.0, 1e3, "Resistance of a film of air at a tilt of 1 rad, as 1/tilt."
        ),
        Parameter("layers", "N m s^1.5", 0.0, 0.0, 1e3, "Of layers of air, by the rate's power 3/2."),
        Parameter("arm", "m", 0.0, 0.0, 1.0, "At which what is borne holds back rolling."),
    )
    shape_coordinates = (
        ShapeCoordinate("lean", "rad", "Lean from the vertical.", -1.5707, 1.5707),
        ShapeCoordinate("roll", "rad", "Angle rolled."),
    )

    def shape_force(self, r: ca.SX, u: ca.SX, controls: ca.SX, q: Quantities) -> ca.SX:
        """Of air on the disk's turning in the frame of the contact, and of the plate."""
        rate = ca.sqrt(u[1] ** 2 + 1e-12)
        air = q.film / (0.5 * math.pi - r[0]) * u[1] + q.layers * ca.sqrt(rate) * u[1]
        level = ca.vertcat(u[0], u[1] * ca.cos(r[0]))
        held = -q.arm * q.mass * q.gravity * level / ca.sqrt(ca.sumsqr(level) + 1e-18)
        return controls + ca.vertcat(held[0], held[1] * ca.cos(r[0]) - air)

    @property
    def links(self) -> tuple[Link, ...]:  # type: ignore[override]
        """Its rim, and two spokes."""
        radius = 0.97 * float(np.max(self.values["radius"]))
        turn = np.linspace(0.0, 2.0 * math.pi, 49)
        rim = [(radius * math.cos(a), 0.0, radius * math.sin(a)) for a in turn]
        spokes = ((rim[0], rim[24]), (rim[12], rim[36]))
        return (
            *(Link("disc", a, b, 0.03 * radius, STEEL, (False, False)) for a, b in pairwise(rim)),
            *(Link("disc", a, b, 0.02 * radius, PAINTED, (False, False)) for a, b in spokes),
        )


def flat_disk(tilt_rad: float, radius_m: float = DISK_M, **losses: float) -> tuple[SinkingDisk, sim.State]:
    """Whose centre stays."""
    across = DISK_KG * radius_m**2 / 4.0
    disk = SinkingDisk(
        mass=DISK_KG, radius=radius_m, diametral_inertia=across, axial_inertia=2.0 * across, **losses
    )
    lean, rate = 0.5 * math.pi - tilt_rad, math.sqrt(4.0 * GRAVITY * math.sin(tilt_rad) / radius_m)
    rolling = (0.0, -rate * math.tan(lean))
    turning = (rate / math.cos(lean), radius_m * rolling[1], 0.0)
    return disk, disk.state_of(np.zeros(3), turning, (lean, 0.0), rolling)


AIR, AIR_RAD, AIR_S = {"film": 1e-4, "layers": 1e-5}, 0.1, (0.5, 1.0, 1.5)


def in_air_truth() -> np.ndarray:
    """(3,) rad of tilt, with the same resistance of air to its turning."""
    q, v, _, kinetic, weight, rolls = _coordinates()
    # Its own turning in the frame of the contact is the last of the rates.
    rate = ca.sqrt(v[4] ** 2)
    film = AIR["film"] / (0.5 * math.pi - q[3]) * v[4] ** 2 / 2
    system = LagrangianSystem(
        q=q,
        v=v,
        lagrangian=kinetic - weight,
        dissipation=film + AIR["layers"] * rate**2.5 / 2.5,
        nonholonomic=rolls,
    )
    place, moving = _wobbling_start(AIR_RAD)
    tilts, begun_s = [], 0.0
    for end_s in AIR_S:
        place, moving = system.moved(place, moving, end_s - begun_s)
        tilts.append(0.5 * math.pi - place[3])
        begun_s = end_s
    return np.array(tilts)


def _coordinates(half_m: float = 0.0) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX, ca.SX, ca.SX]:
    """Of a disk of that half a thickness: place of its middle on the plate and angles about z, x and its own y; their
    rates, its turning, kinetic energy, weight's potential, and rows of what rolls."""
    q, v = ca.SX.sym("q", 5), ca.SX.sym("v", 5)
    about = turn_about("z", q[2])[:3, :3]
    tilted = about @ turn_about("x", q[3])[:3, :3]
    turning = ca.vertcat(0, 0, v[2]) + about[:, 0] * v[3] + tilted[:, 1] * v[4]
    arm = DISK_M * tilted[:, 2] + half_m * tilted[:, 1]
    own, across = tilted.T @ turning, DISK_KG * (DISK_M**2 / 4.0 + half_m**2 / 3.0)
    centre = ca.vertcat(v[:2], ca.jtimes(arm[2], q, v))
    axial = DISK_KG * DISK_M**2 / 2.0
    kinetic = (DISK_KG * ca.sumsqr(centre) + across * (own[0] ** 2 + own[2] ** 2) + axial * own[1] ** 2) / 2
    rolls = ca.jacobian((centre - ca.cross(turning, arm))[:2], v)
    return q, v, turning, kinetic, DISK_KG * GRAVITY * arm[2], rolls


def _wobbling_start(tilt_rad: float) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates and rates of a disk whose centre stays."""
    lean, rate = 0.5 * math.pi - tilt_rad, math.sqrt(4.0 * GRAVITY * math.sin(tilt_rad) / DISK_M)
    place = np.array([0.0, 0.0, 0.0, lean, 0.0])
    return place, np.array([0.0, 0.0, rate / math.cos(lean), 0.0, -rate * math.tan(lean)])


def in_air() -> np.ndarray:
    """(3,) rad of tilt."""
    disk, start = flat_disk(AIR_RAD, **AIR)
    run = sim.simulate(disk, "rk4", step=1e-4, duration=AIR_S[-1], initial=start)
    leans = [run.shape[round(t / 1e-4), 0] for t in AIR_S]
    return np.asarray(0.5 * math.pi - np.array(leans))


EXPONENTS = (1.0 / 3.0, 4.0 / 9.0, 2.0)
SMALL_RAD, LASTS_S = 0.01, 300.0


def exponents() -> np.ndarray:
    """(3,) of the time that is left: by a film of air, by layers, and by rolling.

    As the law is one of small tilts, from two of them: what is left goes with the square."""
    high, low = (np.array([_exponent(loss, tilt) for loss in _LOST]) for tilt in (SMALL_RAD, 0.5 * SMALL_RAD))
    return (4.0 * low - high) / 3.0


_LOST = {
    "film": lambda tilt, rate, energy: energy / 3.0 / rate**2 * tilt,
    "layers": lambda tilt, rate, energy: energy * 4.0 / 9.0 / rate**2.5,
    "arm": lambda tilt, rate, energy: 2.0 * energy / (DISK_KG * GRAVITY * rate * tilt),
}
"""Parameters by which a disk of so much energy would lie after a second."""


def _exponent(loss: str, tilt_rad: float) -> float:
    """From tilts at three moments, which tell the end and the exponent of a power."""
    rate, energy = math.sqrt(4.0 * GRAVITY / tilt_rad), 1.5 * DISK_KG * GRAVITY * tilt_rad
    disk, start = flat_disk(tilt_rad, 1.0, **{loss: _LOST[loss](tilt_rad, rate, energy) / LASTS_S})
    run = sim.simulate(disk, "rk4", step=_EXPONENT_STEP_S, duration=0.8 * LASTS_S, initial=start)
    moments = np.array([0.1, 0.5, 0.95]) * run.time[-1]
    first, second = -np.diff([_about(t, 0.5 * math.pi - run.shape[:, 0]) for t in moments])

    def left(end_s: float) -> np.ndarray:
        return np.asarray(-np.diff(np.log(end_s - moments)))

    end_s = brentq(lambda t: left(t) @ (second, -first), moments[-1] + 1e-3, 1e5, xtol=1e-10)
    return float(first / left(end_s)[0])


_EXPONENT_STEP_S = 5e-4


def _about(time_s: float, tilts: np.ndarray) -> float:
    """Logarithm of the tilt there, without the nodding about it: a cubic through half a second on either side."""
    middle, half = round(time_s / _EXPONENT_STEP_S), round(0.5 / _EXPONENT_STEP_S)
    x = np.arange(1 - half, half) / half
    weights = np.exp(-0.5 / (1.0 - x**2))
    return float(np.polyfit(x, np.log(tilts[middle + 1 - half : middle + half]), 3, w=weights)[-1])


def wobbling() -> tuple[float, float]:
    """rad/s about the horizontal and the vertical, of a thin disk whose centre stays."""
    rate = math.sqrt(4.0 * GRAVITY * math.sin(TILT_RAD) / DISK_M)
    return -rate * math.cos(TILT_RAD), rate * math.sin(TILT_RAD)


def sunk(time_s: np.ndarray, tilt_rad: np.ndarray) -> float:
    """s from one tilt to another, by a line through the root of its sine."""
    high, low = SUNK_RAD
    between = (tilt_rad < high) & (tilt_rad > low) & (time_s < time_s[np.argmax(tilt_rad < low)])
    slope, _ = np.polyfit(time_s[between], np.sqrt(np.sin(tilt_rad[between])), 1)
    return float(np.diff(np.sqrt(np.sin(SUNK_RAD)))[0] / slope)


HALF_M = 0.001 * DISK_M
"""Half the thickness of the disk that friction holds: a body among others has one."""


@cache
def sunk_truth() -> float:
    """s of an infinitely thin disk, whose rolling is held back by its weight."""
    return _sunk_truth(0.0, by_weight=True)


@cache
def sunk_by_what_is_borne() -> float:
    """s of one that is as thick as a body, held back by what the plate bears, which nods with it."""
    return _sunk_truth(HALF_M, by_weight=False)


def _sunk_truth(half_m: float, *, by_weight: bool) -> float:
    q, v, turning, kinetic, weight, rolls = _coordinates(half_m)
    a = ca.SX.sym("a", 5)
    rises = ca.jtimes(weight, q, v)  # as fast as its potential
    borne = ca.SX(DISK_KG * GRAVITY)
    if not by_weight:
        borne += (ca.jtimes(rises, q, v) + ca.jtimes(rises, v, a)) / GRAVITY
    system = LagrangianSystem(
        q=q,
        v=v,
        a=a,
        lagrangian=kinetic - weight,
        force=-ARM_M * borne * ca.gradient(ca.norm_2(turning[:2]), v),
        nonholonomic=rolls,
    )
    place, moving = _wobbling_start(TILT_RAD)
    # Its middle goes along with what it rolls on, which is beside the thin disk's by half the thickness.
    moving[:2] -= np.array(ca.Function("rows", [q], [rolls])(place)) @ moving
    times = SUNK_STEP_S * np.arange(round(SUNK_S / SUNK_STEP_S) + 1)
    return sunk(times, 0.5 * math.pi - system.along(place, moving, times)[0][:, 3])


def sunk_by_rolling() -> float:
    """s of a thin disk that rolls by constraints."""
    disk, start = flat_disk(TILT_RAD, arm=ARM_M)
    run = sim.simulate(disk, "rk4", step=0.5 * SUNK_STEP_S, duration=SUNK_S, initial=start)
    return sunk(run.time[::2], 0.5 * math.pi - run.shape[::2, 0])


SUNK_STEPS_S = (1e-4, 5e-5, 2.5e-5)


def sunk_by_contact() -> float:
    """s, extrapolated: the error is a series in the step."""
    return float(extrapolated([sunk_in_steps(h) for h in SUNK_STEPS_S], power=1))


def sunk_in_steps(step_s: float) -> float:
    """s of a disk that is a thousandth as thick as wide and rolls at first, by friction alone."""
    radial, up = (math.cos(TILT_RAD), -math.sin(TILT_RAD)), (math.sin(TILT_RAD), math.cos(TILT_RAD))
    lowest_x_m, lowest_z_m = DISK_M * np.array(radial) - HALF_M * np.array(up)
    level, upright = wobbling()
    disk = Prop(
        Drum((0.0, 0.0, -lowest_z_m), DISK_M, HALF_M),
        DISK_KG,
        1.0,
        pitch_rad=TILT_RAD,
        rolling_m=ARM_M,
        velocity_w=(0.0, level * lowest_z_m - upright * lowest_x_m, 0.0),
        omega_w=(level, 0.0, upright),
    )
    pile = Pile([disk], FLAT, ground_friction=1.0, sleeps=False)
    tilts = [TILT_RAD]
    for _ in range(round(SUNK_S / SUNK_STEP_S)):
        for _ in range(round(SUNK_STEP_S / step_s)):
            pile.step(step_s)
        tilts.append(math.acos(min(1.0, abs(float(pile.state[0, 8])))))
    return sunk(SUNK_STEP_S * np.arange(len(tilts)), np.array(tilts))


SUNK = "time from a tilt of 0.15 rad to one of 0.04 rad [s]"
MOFFATT = "studies.reference, plain coordinates with multipliers; Moffatt 2000"

PROBLEMS = (
    Problem(
        name="eulers-disk-in-air",
        title="Euler's disk sinks by a film and layers of air",
        quantity="tilt at 0.5, 1 and 1.5 s [rad]",
        source="studies.reference, plain coordinates with multipliers; Moffatt 2000, Bildsten 2002",
        truth=in_air_truth,
        known_digits=11,
        ours=in_air,
        step="rk4, 0.1 ms",
        motion_s=AIR_S[-1],
        least_digits=8.0,
        scene=lambda: flat_disk(AIR_RAD, **AIR),
        shown=lambda: {"step_s": 1e-3},
    ),
    Problem(
        name="eulers-disk-exponents",
        title="By which power of the time that is left Euler's disk sinks: by a film of air, by layers, by rolling",
        quantity="three exponents at small tilts [1]",
        source="closed form, Moffatt 2000 (1/3), Bildsten 2002 (4/9), energy (2)",
        truth=lambda: np.array(EXPONENTS),
        known_digits=6,
        ours=exponents,
        step="rk4, 0.5 ms",
        motion_s=2.0 * 3 * 0.8 * LASTS_S,
        least_digits=6.0,
        scene=lambda: flat_disk(SMALL_RAD, 1.0, film=1e-8),
        shown=lambda: {"step_s": 1e-3},
        pictured_by="eulers-disk-in-air",
    ),
    Problem(
        name="eulers-disk-rolling",
        title="Euler's disk sinks by what its rolling loses, rolling by constraints",
        quantity=SUNK,
        source=MOFFATT,
        truth=sunk_truth,
        known_digits=11,
        ours=sunk_by_rolling,
        step="rk4, 1 ms",
        motion_s=SUNK_S,
        least_digits=9.5,
        scene=lambda: flat_disk(TILT_RAD, arm=ARM_M),
        shown=lambda: {"step_s": 1e-3},
        pictured_by="eulers-disk-in-air",
    ),
    Problem(
        name="eulers-disk",
        title="Euler's disk held by friction alone, its rolling resisted by what it bears",
        quantity=SUNK,
        source=MOFFATT,
        truth=sunk_by_what_is_borne,
        known_digits=11,
        ours=sunk_by_contact,
        step="pile, 0.1, 0.05, 0.025 ms extrapolated",
        motion_s=len(SUNK_STEPS_S) * SUNK_S,
        least_digits=8.0,
        scene="eulers-disk",
    ),
)
