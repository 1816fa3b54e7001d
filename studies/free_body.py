"""Free rigid bodies (vehicles paper): orbits at a large step (figure 3), errors, blow-ups and cost (figure 4).

In figure 3 the body's momentum J omega runs along the curve in which the sphere of its length |L| cuts the energy
ellipsoid, its velocity along a curve on the sphere of |v|. So |L|, the energy of rotation and |v| tell whether the
orbits are kept. Figure 4 measures how far a method is from the exact motion of random bodies.
"""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

import sim
from sim.compiler import Kernel, compile_kernel
from sim.integrators import integrator
from sim.platform.progress import TellShare
from studies.report import Claim, Options, Report

SAMPLE_S = 1.0
"""Errors are taken at multiples of this; steps are parts of it."""
FREE = np.zeros(6)
OUT_OF_PLOT_M = 1e3
"""A mean position error beyond this counts as a blow-up, like a number that is not finite."""


@dataclass(frozen=True, slots=True)
class FreeBody:
    """One body, its start, and its exact nodes at the samples."""

    parameters: np.ndarray
    start: np.ndarray
    exact: np.ndarray
    """(samples, 18)."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Means over the bodies that did not blow up."""

    position_m: float
    rotation_rad: float
    omega_radps: float
    velocity_mps: float
    cpu_s: float
    """Of one run."""
    blown_up: int
    energy: float
    """Largest relative energy error of any run."""
    solver_failures: int


def random_bodies(count: int, seconds: float, seed: int) -> list[FreeBody]:
    """Bodies with real moments of inertia, tumbling with up to 5 rad/s and drifting."""
    rng, vehicle = np.random.default_rng(seed), sim.vehicle("rigid-body")
    kernel = compile_kernel(vehicle, integrator("rkmk54", tolerance=1e-12))
    samples = round(seconds / SAMPLE_S)

    def one(values: tuple[np.ndarray, float, np.ndarray, np.ndarray]) -> FreeBody:
        J, mass, omega, v = values
        body = vehicle.with_parameters(inertia=tuple(J), mass=mass)
        p, node = body.parameter_vector, body.state(omega=omega, v=v).node
        y = kernel.start(node, FREE, p, SAMPLE_S)
        nodes, done, _ = kernel.trajectory(y, FREE[None], p, SAMPLE_S, samples)
        assert done == samples
        return FreeBody(p, node, nodes)

    drawn = []
    for _ in range(count):
        J = rng.uniform(0.2, 2.0, 3) @ (1 - np.eye(3))
        direction = rng.normal(size=3)
        omega = direction / np.linalg.norm(direction) * rng.uniform(1.0, 5.0)
        drawn.append((J, float(rng.uniform(0.5, 5.0)), omega, rng.normal(size=3)))
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(one, drawn))


def measure(kernel: Kernel, bodies: list[FreeBody], h: float) -> Outcome:
    """Run every body with the step h, which divides SAMPLE_S."""
    stride = round(SAMPLE_S / h)
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda body: _errors(kernel, body, h, stride), bodies))
    good = [f for f in found if np.all(np.isfinite(f)) and f[0] < OUT_OF_PLOT_M]
    means = np.mean([f[:4] for f in good], axis=0) if good else np.full(4, np.nan)
    energy = max((f[4] for f in good), default=np.nan)
    failures = sum(int(f[5]) for f in found)
    cpu = float(np.median([cpu_of(kernel, body, h) for body in bodies[:5]]))
    position, rotation, omega, velocity = map(float, means)
    blown_up = len(bodies) - len(good)
    return Outcome(position, rotation, omega, velocity, cpu, blown_up, float(energy), failures)


def _errors(kernel: Kernel, body: FreeBody, h: float, stride: int) -> np.ndarray:
    """Mean errors (position, rotation, omega, v), the largest relative energy error, and whether the solver failed."""
    samples = len(body.exact) - 1
    y = kernel.start(body.start, FREE, body.parameters, h)
    nodes = np.full_like(body.exact, np.nan)
    for k in range(samples):
        nodes[k] = kernel.node(y, FREE, body.parameters, h)
        _, status, _ = kernel.advance(y, FREE, FREE, body.parameters, h, stride)
        if status:
            return np.array([np.inf] * 5 + [float(status == 1)])
    nodes[samples] = kernel.node(y, FREE, body.parameters, h)
    apart = nodes - body.exact
    R, exact = (n[:, :9].reshape(-1, 3, 3) for n in (nodes, body.exact))
    chord = np.linalg.norm(R - exact, axis=(1, 2)) / np.sqrt(8)
    energy = kernel.energies(nodes, body.parameters)
    with np.errstate(all="ignore"):
        return np.array(
            [
                np.linalg.norm(apart[:, 9:12], axis=1).mean(),
                (2 * np.arcsin(np.clip(chord, 0, 1))).mean(),
                np.linalg.norm(apart[:, 12:15], axis=1).mean(),
                np.linalg.norm(apart[:, 15:18], axis=1).mean(),
                np.abs(energy / energy[0] - 1).max(),
                0.0,
            ]
        )


def cpu_of(kernel: Kernel, body: FreeBody, h: float) -> float:
    """CPU seconds of one run of a body, all of it in one call."""
    y = kernel.start(body.start, FREE, body.parameters, h)
    began = time.thread_time()
    kernel.advance(y, FREE, FREE, body.parameters, h, round(SAMPLE_S / h) * (len(body.exact) - 1))
    return time.thread_time() - began


INERTIA, OMEGA, VELOCITY = (1.0, 2.0, 3.0), (0.1, 12.0, 0.1), (1.0, 0.0, 0.5)
"""A racket that turns about its middle axis."""
STEP_S = 0.1
METHODS = ("truth", "rk4", "rkmk4", "variational", "variational-exact")
ORBIT_COLUMNS = (
    "method",
    "time_s",
    "x",
    "y",
    "z",
    "omega_x",
    "omega_y",
    "omega_z",
    "L_ratio",
    "turning_ratio",
    "v_ratio",
)
KEPT = ("|L|", "energy of rotation", "|v|")
"""What the last three columns are, relative to the start."""


def fig3(options: Options, progress: TellShare) -> Report:
    """At h = 0.1 s, 20 s long unless told otherwise."""
    seconds = options.seconds or 20.0
    body = sim.vehicle("rigid-body", inertia=INERTIA)
    start = body.state(omega=OMEGA, v=VELOCITY)
    runs = {}
    for i, name in enumerate(METHODS):
        progress(name, i / len(METHODS))
        method = integrator("rkmk54", tolerance=1e-11) if name == "truth" else integrator(name)
        runs[name] = sim.simulate(body, method, step=STEP_S, duration=seconds, initial=start)
    kept = {name: _kept(r) for name, r in runs.items()}
    rows = [
        (name, t, *r.pose[k, :3, 3], *r.velocity[k, :3], *kept[name][k])
        for name, r in runs.items()
        for k, t in enumerate(r.time)
    ]
    bands = {name: _bands(k) for name, k in kept.items()}
    lowest_v = {name: float(np.nanmin(k[:, 2])) for name, k in kept.items()}
    on_sphere = [float(np.abs(kept[n][:, 0] - 1).max()) for n in ("variational", "variational-exact")]
    claims = [
        Claim(
            "RK4 fails at a large step.",
            lowest_v["rk4"] < 0.5 or runs["rk4"].diverged_at is not None,
            f"h |omega| = {STEP_S * 12:.1f}; {bands['rk4']}",
        ),
        Claim(
            "It fails because translation is integrated in the axes of a turning body: on the group the speed stays.",
            lowest_v["rk4"] < 0.5 and abs(lowest_v["rkmk4"] - 1) < 1e-9,
            f"rkmk4: {bands['rkmk4']}",
        ),
        Claim(
            "The variational integrator reproduces the orbits.",
            max(on_sphere) < 1e-9,
            "; ".join(f"{n}: {bands[n]}" for n in ("variational", "variational-exact"))
            + "; the phase runs ahead or behind",
        ),
    ]
    return Report(ORBIT_COLUMNS, rows, _orbit_figure(runs), claims)


def _kept(r: sim.Trajectory) -> np.ndarray:
    """(N+1, 3) |L|, energy of rotation and |v|, relative to the start."""
    omega, L = r.velocity[:, :3], r.velocity[:, :3] * INERTIA
    length, v = np.linalg.norm(L, axis=1), np.linalg.norm(r.velocity[:, 3:], axis=1)
    values = np.column_stack((length, np.sum(omega * L, axis=1) / 2, v))
    return values / values[0]


def _bands(kept: np.ndarray) -> str:
    """The range of each."""
    ranges = zip(KEPT, np.nanmin(kept, axis=0), np.nanmax(kept, axis=0), strict=True)
    return ", ".join(f"{name} {low:.4g} to {high:.4g}" for name, low, high in ranges) + " of the start"


def _orbit_figure(runs: dict[str, sim.Trajectory]) -> Figure:
    figure = Figure(figsize=(18, 8))
    views = (
        ("angular velocity [rad/s]", lambda r: r.velocity[:, :3]),
        ("body axis x in space", lambda r: r.pose[:, :3, 0]),
        ("linear velocity, body [m/s]", lambda r: r.velocity[:, 3:]),
    )
    for row, (title, points) in enumerate(views):
        for column, (name, r) in enumerate(runs.items()):
            axis = figure.add_subplot(3, len(runs), len(runs) * row + column + 1, projection="3d")
            axis.plot(*points(r).T, lw=0.7, color=f"C{column}")
            axis.tick_params(labelsize=6)
            axis.set_title(f"{name}: {title}", fontsize=8)
    figure.tight_layout()
    return figure


PAPERS = ("rk2", "implicit-rk2", "rk4", "newmark", "variational")
OURS = ("variational-exact", "variational-cay", "variational-4")
DIVISIONS = (1, 2, 4, 8, 16, 32, 64, 128)
"""Steps in a second."""
ERROR_COLUMNS = (
    "method",
    "step_s",
    "steps",
    "position_m",
    "rotation_rad",
    "omega_radps",
    "velocity_mps",
    "cpu_s",
    "blown_up",
    "energy",
    "solver_failures",
)
Table = dict[str, list[Outcome]]


def fig4(options: Options, progress: TellShare) -> Report:
    """20 bodies for 240 s unless told otherwise."""
    count, seconds = options.runs or 20, options.seconds or 240.0
    progress("exact motion", 0.0)
    bodies = random_bodies(count, seconds, options.seed)
    methods, table = PAPERS + OURS, {}
    for i, name in enumerate(methods):
        progress(name, (i + 1) / (len(methods) + 1))
        kernel = compile_kernel(sim.vehicle("rigid-body"), integrator(name))
        table[name] = [measure(kernel, bodies, SAMPLE_S / d) for d in DIVISIONS]
    steps = [round(seconds / SAMPLE_S) * d for d in DIVISIONS]
    rows = [
        (name, SAMPLE_S / d, n, *_values(o))
        for name, outcomes in table.items()
        for d, n, o in zip(DIVISIONS, steps, outcomes, strict=True)
    ]
    return Report(ERROR_COLUMNS, rows, _error_figure(table, steps, count, seconds), _claims(table, count))


def _values(o: Outcome) -> tuple[float, ...]:
    return (
        o.position_m,
        o.rotation_rad,
        o.omega_radps,
        o.velocity_mps,
        o.cpu_s,
        o.blown_up,
        o.energy,
        o.solver_failures,
    )


def _error_figure(table: Table, steps: list[int], count: int, seconds: float) -> Figure:
    figure = Figure(figsize=(13, 7))
    axes = figure.subplots(2, 3).ravel()
    quantities = (
        ("position_m", "position error [m]"),
        ("rotation_rad", "rotation error [rad]"),
        ("velocity_mps", "linear velocity error [m/s]"),
        ("omega_radps", "angular velocity error [rad/s]"),
        ("cpu_s", "CPU time of a fig4 [s]"),
        ("blown_up", f"blown up, of {count}"),
    )
    for axis, (field, label) in zip(axes, quantities, strict=True):
        for name, outcomes in table.items():
            values = np.array([getattr(o, field) for o in outcomes], float)
            whole = np.array([o.blown_up == 0 for o in outcomes])
            line = axis.plot(steps, values, "--", lw=0.9)[0]
            shown = np.where(whole | (field == "blown_up"), values, np.nan)
            axis.plot(steps, shown, "o-", ms=3.5, color=line.get_color(), label=name)
        axis.set_xscale("log")
        if field != "blown_up":
            axis.set_yscale("log")
        axis.set_xlabel("steps")
        axis.set_ylabel(label)
        axis.grid(alpha=0.3)
    axes[0].legend(fontsize=7)
    figure.suptitle(f"{count} free rigid bodies, {seconds:g} s; dashed: some of them blew up")
    figure.tight_layout()
    return figure


def _claims(table: Table, count: int) -> list[Claim]:
    ours, rk2, rk4 = table["variational"], table["rk2"], table["rk4"]
    blown = {name: [o.blown_up for o in outcomes] for name, outcomes in table.items()}
    both = [k for k in range(len(DIVISIONS)) if rk2[k].blown_up == 0]
    better_R = [k for k in both if ours[k].rotation_rad < rk2[k].rotation_rad]
    better_x = [k for k in both if ours[k].position_m < rk2[k].position_m]
    rk4_better = [SAMPLE_S / DIVISIONS[k] for k in range(len(DIVISIONS)) if _better(rk4[k], ours[k], count)]
    ratios = {
        name: [
            b.cpu_s / a.cpu_s for a, b in zip(table[name], rk4, strict=True) if not a.blown_up + b.blown_up
        ]
        for name in ("variational", "variational-exact")
    }
    cost = np.median(ratios["variational"])
    newmark = np.median(
        [n.position_m / o.position_m for n, o in zip(table["newmark"], ours, strict=True) if not n.blown_up]
    )
    small = slice(DIVISIONS.index(4), None)
    energy = max(o.energy for name in ("variational", *OURS) for o in table[name][small])
    return [
        Claim(
            "The variational integrator never blows up, down to one step a second, and its solver never fails.",
            sum(blown["variational"]) == 0 and not any(o.solver_failures for o in ours),
            f"blow-ups by step, largest first: {blown['variational']}",
        ),
        Claim(
            "RK2 and RK4 blow up at large steps.",
            blown["rk2"][0] > 0 and blown["rk4"][0] > 0,
            f"RK2 {blown['rk2']}, RK4 {blown['rk4']} of {count}",
        ),
        Claim(
            "Its accuracy lies between second and fourth order: position better than RK2 at every step both survive.",
            len(better_x) == len(both),
            f"better in {len(better_x)} of {len(both)}",
        ),
        Claim(
            "The same for rotation.", len(better_R) == len(both), f"better in {len(better_R)} of {len(both)}"
        ),
        Claim(
            "RK4 is less accurate than the variational integrator.",
            not rk4_better,
            f"in rotation RK4 is better at h = {', '.join(f'{h:g}' for h in rk4_better) or 'none'} s",
        ),
        Claim(
            "A step is nearly twice as cheap as RK4's.",
            bool(cost > 1.6),
            f"RK4 takes {', '.join(f'{np.median(r):.2f} times that of {n}' for n, r in ratios.items())}, "
            f"median over the {len(ratios['variational'])} steps at which no body blew up",
        ),
        Claim(
            "Newmark has larger position errors.",
            bool(newmark > 1.5),
            f"{newmark:.2f} times, median over steps",
        ),
        Claim(
            "The energy of the variational integrators stays bounded at every step up to 1/4 s.",
            energy < 0.5,
            f"largest relative error {energy:.2g}",
        ),
    ]


def _better(a: Outcome, b: Outcome, count: int) -> bool:
    """Fewer than half blew up, and the rest is nearer in rotation."""
    return a.blown_up < count / 2 and a.rotation_rad < b.rotation_rad
