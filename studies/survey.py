"""Pendula that move in space (mechanics survey, figures 5 to 11): orders, unit vectors, adaptive steps, a sharp turn;
and two quadrotors that carry a load along a parabola (figures 13 to 18).

Adaptive runs are made with every step told: which were accepted, which were not and how long they were.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np
from matplotlib.figure import Figure

import sim
from sim.compiler.loops import growth
from sim.integrators import INTEGRATORS
from sim.integrators.embedded import Adaptive
from sim.platform.progress import TellShare
from sim.vehicles import State, Vehicle
from sim.vehicles.pendulum import Pendulum
from studies.report import Claim, Options, Report

_MOST = 100_000


@dataclass(frozen=True, eq=False)
class ControlledRun:
    """Of an adaptive method over a time that it divides by itself."""

    time: np.ndarray
    """(n+1,) s."""
    nodes: np.ndarray
    """(n+1, node size)."""
    rejected: int
    """Steps that were tried again."""

    @property
    def accepted(self) -> int:
        return len(self.time) - 1


def controlled(
    vehicle: Vehicle, method: Adaptive, start: State, duration_s: float, first_s: float
) -> ControlledRun:
    """With neutral controls, from a first step of `first_s` seconds; by symbols, with nothing compiled."""
    step = tried(vehicle, method)
    time, nodes, rejected, trial = [0.0], [start.node], 0, first_s
    for _ in range(_MOST):
        left = duration_s - time[-1]
        h = min(trial, left)
        after, error = step(nodes[-1], h)
        trial = h * growth(error, method.tolerance)
        if error > method.tolerance:
            rejected += 1
            continue
        nodes.append(after)
        if h >= left:
            return ControlledRun(np.array([*time, duration_s]), np.array(nodes), rejected)
        time.append(time[-1] + h)
    raise RuntimeError(f"{method.name} takes more than {_MOST} steps over {duration_s} s")


def tried(vehicle: Vehicle, method: Adaptive) -> Callable[[np.ndarray, float], tuple[np.ndarray, float]]:
    """(node, h) -> the node one step later and the error estimate, for a vehicle whose state the method keeps."""
    scheme = method.scheme(vehicle)
    i = scheme.inputs
    assert scheme.error is not None
    f = ca.Function("tried", [scheme.y, i.u, i.p, i.h], [scheme.y_next, scheme.error], {"cse": True})
    u, p = vehicle.neutral_controls, vehicle.parameter_vector

    def step(node: np.ndarray, h: float) -> tuple[np.ndarray, float]:
        after, error = f(node, u, p, h)
        return np.array(after).ravel(), float(error)

    return step


TOLERANCE = 1e-6
SECONDS = 3.0


def chain(links: int, length_m: float = 1.0) -> Pendulum:
    """Of unit masses."""
    vehicle = sim.vehicle("pendulum", links=links, mass=1.0, length=length_m)
    assert isinstance(vehicle, Pendulum)
    return vehicle


def planar(vehicle: Pendulum) -> State:
    """The survey's start, the same for every link: a motion in one plane."""
    s = np.sqrt(0.5)
    return vehicle.state(direction=(s, 0.0, s), omega=(0.0, 1.0, 0.0))


def stretched(vehicle: Pendulum) -> State:
    """Level, at rest: that of its program where the chain's whole length is shared."""
    return vehicle.state(direction=(1.0, 0.0, 0.0))


def generic(vehicle: Pendulum) -> State:
    """In no plane, so that wrong signs of commutators show."""
    k = np.arange(vehicle.link_count)
    lean, turn = 0.9 + 0.5 * np.sin(1.7 * k), 1.1 * k
    q = np.column_stack([np.sin(lean) * np.cos(turn), np.sin(lean) * np.sin(turn), -np.cos(lean)])
    spin = np.column_stack([np.cos(k), 1.5 * np.sin(2.0 * k + 1.0), 1.0 + 0.0 * k])
    return vehicle.state(direction=q, omega=np.cross(q, spin))


def tight(vehicle: Vehicle, start: State, seconds: float, controls: np.ndarray | None = None) -> np.ndarray:
    """The node at the end, by Dormand and Prince's pair on the bare numbers, as the survey takes ODE45."""
    method = replace(INTEGRATORS["dopri54"], tolerance=1e-13)  # type: ignore[type-var]
    return np.asarray(
        sim.simulate(
            vehicle, method, step=seconds / 30, duration=seconds, initial=start, controls=controls
        ).nodes[-1]
    )


def adaptive_run(vehicle: Pendulum, start: State) -> ControlledRun:
    """RKMK(5,4) with the survey's tolerance and first step."""
    method = INTEGRATORS["rkmk54"]
    assert isinstance(method, Adaptive)
    return controlled(vehicle, replace(method, tolerance=TOLERANCE), start, SECONDS, SECONDS / 100)


@dataclass(frozen=True, eq=False)
class Compared:
    """Of one chain: errors at the end with the steps that the tolerance asks for, and with as many equal ones."""

    links: int
    run: ControlledRun
    adaptive: float
    constant: float


def compared(length_m: Callable[[int], float], start: Callable[[Pendulum], State], links: int) -> Compared:
    """The adaptive run, and RKMK 5 with as many equal steps, against the tight one."""
    vehicle = chain(links, length_m(links))
    begin = start(vehicle)
    run, exact = adaptive_run(vehicle, begin), tight(vehicle, begin, SECONDS)
    equal = sim.simulate(vehicle, "rkmk5", step=SECONDS / run.accepted, duration=SECONDS, initial=begin)
    return Compared(
        links,
        run,
        float(np.linalg.norm(run.nodes[-1] - exact)),
        float(np.linalg.norm(equal.nodes[-1] - exact)),
    )


ORDERED = ("lie-euler", "lie-heun", "rkmk3", "rkmk4", "rkmk4-2c", "cf4", "rkmk5")
STEP_COUNTS = (200, 400, 800, 1600)
_FLOOR = 1e-11
_CONVERGED = 3
"""Times as many steps for the method of first order, whose slope shows late."""


def orders(options: Options, progress: TellShare) -> Report:
    """One second, a generic start in place of the survey's, which stays in a plane."""
    vehicle = chain(2)
    start, seconds = generic(vehicle), options.seconds or 1.0
    exact = tight(vehicle, start, seconds)
    rows: list[tuple[Any, ...]] = []
    errors: dict[str, tuple[list[float], list[float]]] = {}
    for i, name in enumerate(ORDERED):
        progress(name, i / len(ORDERED))
        many = 2**_CONVERGED if INTEGRATORS[name].order == 1 else 1
        found = [
            float(
                np.linalg.norm(
                    sim.simulate(vehicle, name, step=1 / (n * many), duration=seconds, initial=start).nodes[
                        -1
                    ]
                    - exact
                )
            )
            for n in STEP_COUNTS
        ]
        errors[name] = [1 / (n * many) for n in STEP_COUNTS], found
        usable = [k for k, e in enumerate(found) if e > _FLOOR]
        last = max(usable[-1], 1)
        rows.append((name, INTEGRATORS[name].order, float(np.log2(found[last - 1] / found[last])), *found))
    off = max(abs(row[1] - row[2]) for row in rows)
    claims = [
        Claim(
            "Slopes are 1, 2, 3, 4, 4, 4, 5 (figure 5).",
            off < 0.15,
            ", ".join(f"{name}: {slope:.2f}" for name, _, slope, *_ in rows),
        )
    ]
    figure = Figure(figsize=(6, 5))
    axis = figure.subplots()
    for name, (steps, found) in errors.items():
        axis.loglog(steps, found, marker="o", ms=3, label=name)
    axis.set_xlabel("step [s]")
    axis.set_ylabel("error after one second")
    axis.legend(fontsize=7)
    axis.grid(alpha=0.3)
    return Report(("method", "order", "slope", *(f"error_{n}" for n in STEP_COUNTS)), rows, figure, claims)


KEEPING = ("lie-euler", "lie-heun", "rkmk3", "rkmk4", "rkmk4-2c", "cf4", "rkmk5", "variational-spheres")
LEAVING = ("rk4", "dopri54")
SPACE_STEP_S = 0.01


def space(options: Options, progress: TellShare) -> Report:
    """Two pendula, 5 s in steps of 10 ms."""
    vehicle = chain(2)
    start, seconds = generic(vehicle), options.seconds or 5.0
    rows, found = [], {}
    for i, name in enumerate((*KEEPING, *LEAVING)):
        progress(name, i / (len(KEEPING) + len(LEAVING)))
        flown = sim.simulate(vehicle, name, step=SPACE_STEP_S, duration=seconds, initial=start)
        parts = flown.nodes.reshape(len(flown.nodes), -1, 6)
        q, omega = parts[..., :3], parts[..., 3:]
        length, tangent = np.abs((q * q).sum(-1) - 1).max(1), np.abs((q * omega).sum(-1)).max(1)
        found[name] = flown.time, length, tangent
        rows.append((name, float(np.nanmax(length)), float(np.nanmax(tangent))))
    most = {name: (a, b) for name, a, b in rows}
    claims = [
        Claim(
            "Lie group methods keep |q| = 1 and q.omega = 0 to rounding (figures 6 and 7).",
            all(max(most[name]) < 1e-13 for name in KEEPING),
            ", ".join(f"{name}: {max(most[name]):.1e}" for name in KEEPING),
        ),
        Claim(
            "Runge-Kutta 4 and ODE45 do not.",
            all(min(most[name]) > 1e-9 for name in LEAVING),
            ", ".join(f"{name}: {most[name][0]:.1e} and {most[name][1]:.1e}" for name in LEAVING),
        ),
    ]
    figure = Figure(figsize=(10, 4))
    for k, (axis, title) in enumerate(
        zip(figure.subplots(1, 2), ("| |q|^2 - 1 |", "| q . omega |"), strict=True)
    ):
        for name, values in found.items():
            axis.semilogy(values[0], np.maximum(values[1 + k], 1e-17), lw=0.7, label=name)
        axis.set_title(title, fontsize=9)
        axis.set_xlabel("s")
    axis.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return Report(("method", "most_off_unit", "most_off_tangent"), rows, figure, claims)


LINKS = (2, 4, 6, 8, 10, 12, 14, 16, 18, 20)
WHOLE_M = 5.0
SURVEYS = (1.5e-5, 3.0e-5, 3.5e-5, 1.4e-4)
"""Errors of the survey's program with twenty links: of 1 m adaptive and equal steps, of 5 m together the same."""


def steps(options: Options, progress: TellShare) -> Report:
    """RKMK(5,4) with the tolerance 1e-6 over 3 s, and RKMK 5 with as many equal steps."""
    rows = []
    unit, shared = list[Compared](), list[Compared]()
    for i, links in enumerate(LINKS):
        progress(f"{links} links", i / len(LINKS))
        unit.append(compared(lambda n: 1.0, planar, links))
        shared.append(compared(lambda n: WHOLE_M / n, stretched, links))
        for what, one in (("1 m", unit[-1]), ("5 m / N", shared[-1])):
            rows.append((what, links, one.run.accepted, one.run.rejected, one.adaptive, one.constant))
    two, twenty, fine = unit[0], unit[-1], shared[-1]
    claims = [
        Claim(
            "Two links: 117 steps are accepted and 17 rejected, as by the survey's program.",
            (two.run.accepted, two.run.rejected) == (117, 17),
            f"{two.run.accepted} and {two.run.rejected}",
        ),
        Claim(
            "Adapting helps there, hundredfold, and hardly with twenty links of 1 m (figure 8).",
            two.adaptive < 0.01 * two.constant and twenty.adaptive > 0.3 * twenty.constant,
            f"{two.adaptive:.2e} against {two.constant:.2e}; {twenty.adaptive:.2e} against {twenty.constant:.2e}",
        ),
        Claim(
            "Where the length is shared it helps with twenty links, too (figure 10).",
            fine.adaptive < 0.5 * fine.constant,
            f"{fine.adaptive:.2e} against {fine.constant:.2e}",
        ),
    ]
    ours = (twenty.adaptive, twenty.constant, fine.adaptive, fine.constant)
    claims.append(
        Claim(
            "Errors with twenty links are those of the survey's program, within a fifth.",
            all(abs(a / b - 1) < 0.2 for a, b in zip(ours, SURVEYS, strict=True)),
            ", ".join(f"{a:.2e} ({b:.1e})" for a, b in zip(ours, SURVEYS, strict=True)),
        )
    )
    figure = Figure(figsize=(11, 7))
    for row, (title, ones) in zip(
        figure.subplots(2, 2), (("1 m each", unit), ("5 m together", shared)), strict=True
    ):
        row[0].semilogy(LINKS, [c.constant for c in ones], "s-", ms=3, label="RKMK 5, equal steps")
        row[0].semilogy(LINKS, [c.adaptive for c in ones], "o-", ms=3, label="RKMK(5,4)")
        row[0].set_title(f"error after 3 s, {title}", fontsize=9)
        row[0].legend(fontsize=7)
        row[0].set_xlabel("links", fontsize=8)
        row[0].set_xticks(LINKS)
        last = ones[-1].run
        row[1].plot(last.time[:-1], np.diff(last.time), lw=0.8)
        row[1].axhline(3.0 / last.accepted, ls="--", lw=0.8)
        row[1].set_title("steps of twenty links [s]", fontsize=9)
        row[1].set_xlabel("s", fontsize=8)
    figure.tight_layout()
    return Report(("lengths", "links", "accepted", "rejected", "adaptive", "constant"), rows, figure, claims)


def peak(options: Options, progress: TellShare) -> Report:
    """The survey's start, 3 s."""
    vehicle = chain(2)
    start = planar(vehicle)
    progress("adaptive", 0.0)
    adaptive = adaptive_run(vehicle, start)
    progress("equal steps", 0.4)
    equal = sim.simulate(vehicle, "rkmk5", step=SECONDS / adaptive.accepted, duration=SECONDS, initial=start)
    fine = sim.simulate(vehicle, "rkmk54", step=SECONDS / 3000, duration=SECONDS, initial=start)
    turning = fine.nodes.reshape(-1, 2, 6)[:, :, 4]
    rate = np.gradient(turning, fine.time, axis=0)
    worst = float(fine.time[np.abs(rate).max(axis=1).argmax()])
    steps = np.diff(adaptive.time)
    shortest = float(adaptive.time[steps[:-1].argmin()])
    rows = [
        (float(t), float(h), *map(float, node))
        for t, h, node in zip(adaptive.time, steps, adaptive.nodes, strict=False)
    ]
    claims = [
        Claim(
            "The angular acceleration has its peak at about 2.2 s (figure 11 c).",
            2.1 < worst < 2.4,
            f"at {worst:.3f} s, {np.abs(rate).max():.0f} rad/s^2",
        ),
        Claim(
            "There the steps are shortest (figure 11 a).",
            abs(shortest - worst) < 0.1 and steps[:-1].min() < 0.3 * np.median(steps),
            f"{1e3 * steps[:-1].min():.1f} ms at {shortest:.3f} s, {1e3 * np.median(steps):.1f} ms in the middle",
        ),
    ]
    figure = Figure(figsize=(12, 7))
    axes = figure.subplots(2, 2)
    for k, axis in enumerate(axes[0]):
        axis.plot(fine.time, fine.nodes[:, 6 * k : 6 * k + 6], "k", lw=0.5)
        axis.plot(adaptive.time, adaptive.nodes[:, 6 * k : 6 * k + 6], "o", ms=2)
        axis.plot(equal.time, equal.nodes[:, 6 * k : 6 * k + 6], "--", lw=0.7)
        axis.set_title(
            f"(q, omega) of link {k + 1}: line tight, dots RKMK(5,4), dashes equal steps", fontsize=8
        )
    axes[1, 0].plot(adaptive.time[:-1], steps, lw=0.8)
    axes[1, 0].axhline(SECONDS / adaptive.accepted, ls="--", lw=0.8)
    axes[1, 0].set_title("steps [s]", fontsize=8)
    axes[1, 1].plot(fine.time, rate, lw=0.8)
    axes[1, 1].set_title("second component of omega' [rad/s^2]", fontsize=8)
    for axis in axes.flat:
        axis.set_xlabel("s", fontsize=8)
    figure.tight_layout()
    columns = (
        "time",
        "step",
        *(f"{part}{k}_{axis}" for k in (1, 2) for part in ("q", "omega") for axis in "xyz"),
    )
    return Report(columns, rows, figure, claims)


METHODS = (("lie-euler", 1), ("lie-heun", 2), ("rkmk3", 3), ("rkmk4", 4))
STEPS = (200, 400, 800)
TARGET = np.array([0.0, 0.0, -2.0])
"""Acceleration of the target, which draws the parabola."""


def case() -> tuple[Vehicle, State]:
    """The survey's parameters: cables of 0.6 and 0.8 m, 80 degrees off the vertical; thrust points as wanted."""
    vehicle = sim.vehicle("quadrotors-with-load", cable_length=(0.6, 0.8), attitude_loop=0, thrust_limit=1e3)
    s, c = np.sin(np.radians(80.0)), np.cos(np.radians(80.0))
    start = vehicle.state(  # type: ignore[call-arg]
        load=(-2.0, 0.0, 0.0),
        target=(-2.5, 0.0, 0.75),
        target_velocity=(1.0, 0.0, 5.0),
        direction=[[s, 0.0, -c], [-s, 0.0, -c]],
    )
    return vehicle, start


def load(options: Options, progress: TellShare) -> Report:
    """5 s; orders over the first half second."""
    vehicle, start = case()
    exact = tight(vehicle, start, 0.5, TARGET)
    rows: list[tuple[Any, ...]] = []
    for i, (name, order) in enumerate(METHODS):
        progress(name, i / (len(METHODS) + 1))
        found = [
            float(
                np.linalg.norm(
                    sim.simulate(
                        vehicle, name, step=1 / n, duration=0.5, initial=start, controls=TARGET
                    ).nodes[-1]
                    - exact
                )
            )
            for n in STEPS
        ]
        rows.append((name, order, float(np.log2(found[-2] / found[-1])), *found))
    progress("the parabola", 0.9)
    seconds = options.seconds or 5.0
    flown = sim.simulate(vehicle, "rkmk4", step=0.005, duration=seconds, initial=start, controls=TARGET)
    error, off = flown.observables["load_error"], float(flown.observables["off_sphere"].max())
    at_four = float(error[min(800, len(error) - 1)])
    formation = flown.observables["formation_error"]
    claims = [
        Claim(
            "Slopes are 1, 2, 3, 4 (figure 13).",
            max(abs(row[1] - row[2]) for row in rows) < 0.15,
            ", ".join(f"{row[0]}: {row[2]:.2f}" for row in rows),
        ),
        Claim(
            "The load is 1e-4 m from its target after 4 s (figure 16).", at_four < 3e-4, f"{at_four:.1e} m"
        ),
        Claim(
            "The cables come into formation (figure 17).",
            bool(formation[-1].max() < 1e-2),
            f"{formation[0].max():.2f} rad at first, {formation[-1].max():.1e} rad at the end",
        ),
        Claim("|q| stays 1 to rounding (figure 18).", off < 1e-14, f"{off:.1e}"),
    ]
    return Report(
        ("method", "order", "slope", *(f"error_{n}" for n in STEPS)),
        rows,
        _figure_of_load(flown, rows),
        claims,
    )


def _figure_of_load(flown: sim.Trajectory, rows: list[tuple[Any, ...]]) -> Figure:
    figure = Figure(figsize=(14, 8))
    axes = figure.subplots(2, 3)
    for name, _, _, *found in rows:
        axes[0, 0].loglog([1 / n for n in STEPS], found, "o-", ms=3, label=name)
    axes[0, 0].legend(fontsize=7)
    axes[0, 0].grid(alpha=0.3, which="both")
    axes[0, 0].set_xticks([1 / n for n in STEPS], [f"1/{n}" for n in STEPS])
    axes[0, 0].set_xticks([], minor=True)
    axes[0, 0].set_title("error after half a second, by the step [s]", fontsize=9)
    load, target = (flown.bodies[name][:, :3, 3] for name in ("load", "target"))
    axes[0, 1].plot(target[:, 0], target[:, 2], "r--", lw=0.8)
    axes[0, 1].plot(load[:, 0], load[:, 2], "b", lw=0.8)
    for k in range(0, len(flown.time), 100):
        for name in ("quadrotor_1", "quadrotor_2"):
            ends = np.array([load[k], flown.bodies[name][k, :3, 3]])
            axes[0, 1].plot(ends[:, 0], ends[:, 2], "k-", lw=0.6)
    axes[0, 1].set_aspect("equal")
    axes[0, 1].set_title("load, target and cables every half second", fontsize=9)
    for axis in (*axes[0, 2:], *axes[1]):
        axis.set_xlabel("s", fontsize=8)
    axes[0, 2].plot(flown.time, load, "b", lw=0.8)
    axes[0, 2].plot(flown.time, target, "r--", lw=0.8)
    axes[0, 2].set_title("x, y, z of the load, and of its target in dashes [m]", fontsize=9)
    axes[1, 0].plot(flown.time, load - target, lw=0.8, label=("x", "y", "z"))
    axes[1, 0].legend(fontsize=7)
    axes[1, 0].set_title("deviation [m]", fontsize=9)
    axes[1, 1].plot(flown.time, flown.observables["formation_error"], lw=0.8)
    axes[1, 1].set_title("cables off the formation [rad]", fontsize=9)
    axes[1, 2].semilogy(flown.time, np.maximum(flown.observables["off_sphere"], 1e-17), lw=0.6)
    axes[1, 2].set_ylim(1e-17, 1e-13)
    axes[1, 2].set_title("| |q| - 1 |", fontsize=9)
    figure.tight_layout()
    return figure
