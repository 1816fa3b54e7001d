"""Units of every vehicle: `python -m benchmarks.fmu [NAME ...]`, all without names.

Each vehicle under its usual method, as a unit of FMI 3.0 and of 2.0, flown for a hundred steps under controls that
change with every step: told are the complaints of FMPy's validator, and by how much the run of the unit is off that of
`sim.simulate`, relative to the largest number of each output. What cannot be a unit is told with its refusal.
"""

import sys
import tempfile
import time
from pathlib import Path

import fmpy
import numpy as np
from fmpy.validation import validate_fmu

import sim
from sim.platform.errors import InputError

STEP_S, STEPS = 0.01, 100
VERSIONS = ("3.0", "2.0")


def stirred(vehicle: sim.Vehicle) -> np.ndarray:
    """(STEPS, n_controls) about the neutral ones, within their ranges."""
    low = np.array([max(control.low, control.neutral - 1.0) for control in vehicle.controls])
    high = np.array([min(control.high, control.neutral + 1.0) for control in vehicle.controls])
    t = STEP_S * np.arange(STEPS)[:, None]
    share = 0.5 + 0.05 * np.sin(t * (2.0 + np.arange(len(low))))
    return vehicle.neutral_controls + (share - 0.5) * (high - low)


def off(path: Path, run: sim.Trajectory, us: np.ndarray, vehicle: sim.Vehicle, version: str) -> float:
    """The largest difference of the unit's run, relative to what each output is at most."""
    names = [f"controls.{control.name}" for control in vehicle.controls]
    given = None
    if names:
        rows = [(STEP_S * k, *u) for k, u in enumerate(us)]
        given = np.array(rows, dtype=[("time", float), *((name, float) for name in names)])
    found = fmpy.simulate_fmu(
        str(path), stop_time=STEPS * STEP_S, output_interval=STEP_S, step_size=STEP_S, input=given
    )

    def column(name: str, size: int) -> np.ndarray:
        if version == "3.0":
            return np.asarray(found[name]).reshape(-1, size)
        return np.stack([found[f"{name}[{k + 1}]"] for k in range(size)], axis=1)

    pairs = [(column(f"bodies.{name}.position", 3), T[:, :3, 3]) for name, T in run.bodies.items()]
    pairs.append((np.asarray(found["energy"])[:, None], run.energy[:, None]))
    return max(float(np.abs(a - b).max() / max(1.0, np.abs(b).max())) for a, b in pairs)


def main() -> None:
    """Print a row a vehicle."""
    print(
        "| vehicle | method | FMI 3.0 | FMI 2.0 | complaints | CPU of both exports |\n|---|---|---|---|---|---|"
    )
    with tempfile.TemporaryDirectory() as folder:
        for name in sys.argv[1:] or sim.vehicles():
            vehicle, begun_s = sim.vehicle(name), time.process_time()
            try:
                us = stirred(vehicle)
                run = sim.simulate(
                    vehicle, step=STEP_S, duration=STEPS * STEP_S, controls=us if us.size else None
                )
                told, complaints = [], 0
                for version in VERSIONS:
                    path = Path(folder) / f"{name}-{version}.fmu"
                    sim.export_fmu(path, vehicle, step=STEP_S, version=version, platforms=("linux",))
                    complaints += len(validate_fmu(str(path)))
                    told.append(f"{off(path, run, us, vehicle, version):.0e}")
                spent_s = time.process_time() - begun_s
                print(
                    f"| {name} | {run.integrator.name} | {told[0]} | {told[1]} | {complaints} | {spent_s:.1f} s |",
                    flush=True,
                )
            except InputError as refusal:
                print(f"| {name} | refused | {refusal} | | | |", flush=True)


if __name__ == "__main__":
    main()
