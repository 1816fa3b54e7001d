"""A sweep of many short runs on the cluster of this computer: how busy the cores are, and what it takes of memory.

python -m benchmarks.sweep [--runs 1000000] [--steps 100]
"""

import argparse
import os
import tempfile
import time
from pathlib import Path

import numpy as np

import sim
from sim.analysis.sweep_table import SweepGrid


def answer(mass: np.ndarray, lift: np.ndarray, steps: np.ndarray) -> dict[str, np.ndarray]:
    """Height and climb of helicopters after some steps, and what a run took of the worker's time."""
    begun = time.perf_counter()
    controls = np.stack([lift, 0 * lift, 0 * lift, 0 * lift], axis=1)[:, None]
    duration = 0.01 * float(steps[0])
    runs = sim.batch("helicopter", controls=controls, parameters={"mass": mass}, duration=duration, threads=1)
    found = {"height_m": runs.pose[:, -1, 2, 3], "climb_mps": runs.velocity[:, -1, 5]}
    return {**found, "took_s": np.full(len(mass), (time.perf_counter() - begun) / len(mass))}


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1_000_000)
    parser.add_argument("--steps", type=int, default=100)
    chosen = parser.parse_args()
    rng = np.random.default_rng(1)
    grid = SweepGrid(
        {
            "mass": rng.uniform(4.0, 6.0, chosen.runs),
            "lift": rng.uniform(40.0, 60.0, chosen.runs),
            "steps": np.full(chosen.runs, chosen.steps),
        },
        paired=True,
    )
    marks: list[tuple[float, float]] = []

    def note(told: str, share: float) -> None:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        marks.append((time.perf_counter(), pages * os.sysconf("SC_PAGE_SIZE") / 1e6))

    with tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        table = sim.sweep(answer, grid, vectorised=True, chunk=20_000, store=folder, progress=note)
        whole = time.perf_counter() - begun
        # Without the first chunk of each worker, which gets its machine code.
        took = np.array(table["took_s"])[20_000 * (os.cpu_count() or 1) :].sum()
    cores = os.cpu_count() or 1
    working = marks[-1][0] - marks[0][0]
    print(
        f"{chosen.runs} runs of {chosen.steps} steps on {cores} cores: {whole:.1f} s with the cluster's start"
    )
    print(f"from the first answer on {working:.1f} s, of which workers had work {took / working / cores:.0%}")
    first, most = marks[0][1], max(mark[1] for mark in marks)
    print(f"memory of the one who asks: {first:.0f} MB at the first answer, at most {most:.0f} MB")


if __name__ == "__main__":
    main()
