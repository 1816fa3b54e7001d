"""Free rigid bodies: errors, blow-ups and cost by the number of steps (vehicles paper, figure 4)."""

import numpy as np
from matplotlib.figure import Figure

import sim
from sim.compiler import compile_kernel
from sim.integrators import integrator
from studies.free_body import SAMPLE_S, Outcome, measure, random_bodies
from studies.report import Claim, Options, Progress, Report

PAPERS = ("rk2", "implicit-rk2", "rk4", "newmark", "variational")
OURS = ("variational-exact", "variational-cay", "variational-4")
DIVISIONS = (1, 2, 4, 8, 16, 32, 64, 128)
"""Steps in a second."""
COLUMNS = (
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


def run(options: Options, progress: Progress) -> Report:
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
    return Report(COLUMNS, rows, _figure(table, steps, count, seconds), _claims(table, count))


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


def _figure(table: Table, steps: list[int], count: int, seconds: float) -> Figure:
    figure = Figure(figsize=(13, 7))
    axes = figure.subplots(2, 3).ravel()
    quantities = (
        ("position_m", "position error [m]"),
        ("rotation_rad", "rotation error [rad]"),
        ("velocity_mps", "linear velocity error [m/s]"),
        ("omega_radps", "angular velocity error [rad/s]"),
        ("cpu_s", "CPU time of a run [s]"),
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
