"""How a heavy top fares under each method: the table of docs/lab.md.

    python -m benchmarks.top

The default top, let go leaning: exact motion leans between two bounds for ever. A minute of each method, then longer
runs, the axis' place after 5 s at h = 5 ms, and a top without symmetry over a million steps.
"""

import numpy as np

import sim
from sim.compiler import compile_kernel

MINUTE_S = 60.0
RUNS = (
    ("variational-exact", 20),
    ("variational-exp", 20),
    ("variational", 20),
    ("rkmk4", 20),
    ("rk4", 20),
    ("rk4", 100),
    ("rk2", 100),
    ("lie-euler", 100),
)
"""Method and steps a second."""
LONGER = (("variational-exact", 3600.0), ("variational-exp", 3600.0), ("rkmk4", 1200.0))
SHORT_S, SHORT_STEP_S = 5.0, 0.005
UNEVEN = {"mass": 6.0, "inertia": (2.0, 2.7, 1.1), "arm": (0.05, -0.04, 0.25)}
APART_RADPS, STARTS = 1e-13, 8
"""Starts that differ by rounding: how far a method drifts that does drift."""
UNEVEN_OMEGA, TILT = (0.6, -0.4, 3.5), ((0.8, 0.0, 0.6), (0.0, 1.0, 0.0), (-0.6, 0.0, 0.8))


def lean_deg(run: sim.Trajectory) -> np.ndarray:
    """Of the axis from the vertical, at every node."""
    return np.degrees(np.arccos(np.clip(run.pose[:, 2, 2], -1.0, 1.0)))


def report_line(name: str, steps: int, seconds: float) -> str:
    """One row: lean in the last tenth, band and end of the energy error, largest error of the vertical momentum."""
    top = sim.vehicle("heavy-top")
    run = sim.simulate(top, name, step=1.0 / steps, duration=seconds)
    if run.diverged_at is not None:
        return f"{name}, 1/{steps} s, {seconds:g} s: diverged at {run.diverged_at:.1f} s"
    lean, energy = lean_deg(run)[-len(run.time) // 10 :], run.energy - run.energy[0]
    vertical = np.abs(run.momentum[:, 2] - run.momentum[0, 2]).max()
    return (
        f"{name}, 1/{steps} s, {seconds:g} s: lean {lean.min():.1f} to {lean.max():.1f} degrees, "
        f"energy {energy.min():+.2g} to {energy.max():+.2g} J (at the end {energy[-1]:+.2g}), "
        f"vertical momentum {vertical:.1g}"
    )


def uneven_error(name: str, blocks: int = 1000, faster_radps: float = 0.0) -> np.ndarray:
    """Energy error in m g l at moments of a million steps of 0.02 s, of a top without symmetry."""
    top = sim.vehicle("heavy-top", **UNEVEN)
    kernel, p, u = compile_kernel(top, sim.integrators()[name]), top.parameter_vector, top.neutral_controls
    start = top.state(R=TILT, omega=np.add(UNEVEN_OMEGA, (0.0, 0.0, faster_radps))).node
    y, nodes = kernel.start(start, u, p, 0.02), [start]
    for k in range(blocks):
        kernel.advance(y, u, np.zeros(3), p, 0.02, 1_000_000 // blocks + (37 if k % 2 else -37))
        nodes.append(kernel.node(y, u, p, 0.02))
    energy = kernel.observe_all(np.array(nodes), u[None], p, 0.02).energy
    return (energy - energy[0]) / (6.0 * 9.81 * np.linalg.norm(UNEVEN["arm"]))


def main() -> None:
    """Prints all of them."""
    top = sim.vehicle("heavy-top")
    exact = sim.simulate(top, "rkmk54", step=SHORT_STEP_S, duration=MINUTE_S)
    print(
        f"exact: lean {lean_deg(exact).min():.1f} to {lean_deg(exact).max():.1f} degrees, "
        f"{exact.energy[0]:.0f} J, {exact.momentum[0, 2]:.0f} kg m^2/s about the vertical"
    )
    for name, steps in RUNS:
        print(report_line(name, steps, MINUTE_S))
    for name, seconds in LONGER:
        print(report_line(name, 20, seconds))
    end = exact.pose[round(SHORT_S / SHORT_STEP_S), :, 2]
    methods = [m for m, i in sim.integrators().items() if not i.serves(top) and (i.order == 2 or m == "rk4")]
    for name in methods:
        run = sim.simulate(top, name, step=SHORT_STEP_S, duration=SHORT_S)
        print(
            f"axis after {SHORT_S:g} s at {SHORT_STEP_S:g} s, {name}: {np.abs(run.pose[-1, :, 2] - end).max():.1g} off"
        )
    for name in ("variational-exact", "variational-exp", "variational"):
        error = uneven_error(name)
        tenth = len(error) // 10
        print(
            f"without symmetry, a million steps, {name}: at most {np.abs(error).max():.4f} m g l, in the first tenth "
            f"{np.abs(error[:tenth]).max():.4f}, mean of the first tenth {error[:tenth].mean():+.4f}, "
            f"of the last {error[-tenth:].mean():+.4f}"
        )
        most = [np.abs(uneven_error(name, faster_radps=APART_RADPS * k)).max() for k in range(STARTS)]
        print(f"  from starts {APART_RADPS:g} rad/s apart: at most {min(most):.4f} to {max(most):.4f} m g l")


if __name__ == "__main__":
    main()
