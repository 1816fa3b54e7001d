"""Units of every vehicle: `python -m benchmarks.fmu [NAME ...]`, all without names.

Each vehicle under its usual method, as a unit of FMI 3.0 and of 2.0, flown for a hundred steps under controls that
change with every step: told are the complaints of FMPy's validator, and by how much the run of the unit is off that of
`sim.simulate`, relative to the largest number of each output. Beside it stands by how much that run is off itself where
every parameter is changed by its last bit: what a motion makes of rounding. What cannot be a unit is told with its
refusal.
"""

import os
import sys
import tempfile
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


def one_bit_off(vehicle: sim.Vehicle) -> sim.Vehicle:
    """The vehicle with each parameter changed by its last bit, but those that shape its equations."""
    shaping = {parameter.name for parameter in vehicle.parameters if parameter.structural}
    values = {name: np.asarray(value) for name, value in vehicle.values.items() if name not in shaping}
    return vehicle.with_parameters(
        **{name: np.nextafter(value, 0.0).tolist() for name, value in values.items() if np.all(value)}
    )


def apart(run: sim.Trajectory, other: sim.Trajectory) -> float:
    """The largest difference of two runs, as `off` has it."""
    pairs = [(T[:, :3, 3], other.bodies[name][:, :3, 3]) for name, T in run.bodies.items()]
    pairs.append((run.energy, other.energy))
    return max(float(np.abs(a - b).max() / max(1.0, np.abs(b).max())) for a, b in pairs)


def worked_s() -> float:
    """By this program and by the compilers that it has called."""
    return sum(os.times()[:4])


def main() -> None:
    """Print a row a vehicle."""
    print(
        "| vehicle | method | off | of its last bits | complaints | CPU of both exports |\n|---|---|---|---|---|---|"
    )
    with tempfile.TemporaryDirectory() as folder:
        for name in sys.argv[1:] or sim.vehicles():
            vehicle = sim.vehicle(name)
            try:
                us = stirred(vehicle)
                run, other = (
                    sim.simulate(one, step=STEP_S, duration=STEPS * STEP_S, controls=us if us.size else None)
                    for one in (vehicle, one_bit_off(vehicle))
                )
                furthest, complaints, spent_s = 0.0, 0, 0.0
                for version in VERSIONS:
                    path = Path(folder) / f"{name}-{version}.fmu"
                    begun_s = worked_s()
                    sim.export_fmu(path, vehicle, step=STEP_S, version=version, platforms=("linux",))
                    spent_s += worked_s() - begun_s
                    complaints += len(validate_fmu(str(path)))
                    furthest = max(furthest, off(path, run, us, vehicle, version))
                print(
                    f"| {name} | {run.integrator.name} | {furthest:.0e} | {apart(run, other):.0e} | {complaints} | "
                    f"{spent_s:.1f} s |",
                    flush=True,
                )
            except InputError as refusal:
                print(f"| {name} | refused: {refusal} | | | | |", flush=True)


if __name__ == "__main__":
    main()
