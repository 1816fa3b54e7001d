"""`identify`: maximum likelihood by multiple shooting, and what can be asked of it."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from sim.errors import InputError, one_of, quote
from sim.gradients.parameters import places_of
from sim.identification.outcome import Identified
from sim.identification.recording import GROUPS, Recording, groups_of
from sim.identification.shooting import Progress, Shooting
from sim.integrators import DEFAULT, Integrator, integrator, serving
from sim.take import Take
from sim.trajectory import Trajectory
from sim.vehicles import Vehicle
from sim.vehicles import vehicle as make_vehicle
from sim.vehicles.support import Support


def identify(
    vehicle: Vehicle | str,
    recording: Recording | Trajectory | Take | str | Path,
    unknown: Sequence[str],
    *,
    method: str | Integrator | None = None,
    noise: Mapping[str, float] | None = None,
    measured: Sequence[str] | None = None,
    interval: float = 0.5,
    progress: Progress | None = None,
) -> Identified:
    """Find parameters of a vehicle from a recording of it: a take, a trajectory, or a file of one (.npz, .csv).

    vehicle: with a first guess. unknown: names of the parameters. noise: standard deviation by group ("rotation" rad,
    "position" m, "omega" rad/s, "velocity" m/s, ...); what is not given turns out. measured: the groups to be believed;
    None: all there are. interval: seconds between two starts of shooting. progress: told of every iteration; what it
    raises ends the search. Raises InputError in one line.
    """
    subject = make_vehicle(vehicle) if isinstance(vehicle, str) else vehicle
    if method is None:
        method = serving(DEFAULT, subject)
    scheme = method if isinstance(method, Integrator) else integrator(method)
    data = Recording.of(recording, subject)
    _check(subject, unknown)
    groups = _measured_groups(subject, data, measured)
    sigma = {name: float((noise or {}).get(name, np.nan)) for name in groups}
    if any(value <= 0.0 for value in sigma.values()):
        raise InputError("noise of 0 or less; allowed: standard deviations above 0")
    shooting = Shooting(subject, scheme, data, tuple(unknown), groups, interval)
    converged, iterations = shooting.run(sigma, progress or (lambda number, values: None))
    return shooting.outcome(converged, iterations)


def _check(vehicle: Vehicle, unknown: Sequence[str]) -> None:
    if isinstance(unknown, str) or not unknown:
        raise InputError(f"unknown = {quote(unknown)} is refused; allowed: a list of parameters")
    if vehicle.support is Support.WATER:
        raise InputError(
            f"the water that carries a {vehicle.name} has no derivatives; allowed: vehicles that it does not carry"
        )
    for name in unknown:
        places_of(vehicle, name)
        if name in vehicle.absent:
            raise InputError(
                f"{name} is 0 in this vehicle, which leaves its effect out; "
                f"allowed: a first guess, sim.vehicle({vehicle.name!r}, {name}=...)"
            )
    if len(set(unknown)) < len(unknown):
        raise InputError("unknown names a parameter twice; allowed: each once")


def _measured_groups(
    vehicle: Vehicle, data: Recording, measured: Sequence[str] | None
) -> dict[str, np.ndarray]:
    wanted = set(data.measured) if measured is None else set(measured)
    for name in wanted:
        if name not in data.measured:
            known = [group for group in GROUPS if group in data.measured]
            raise InputError(f"{quote(name)} was not measured; allowed: {one_of(known, name)}")
    found = {name: places for name, places in groups_of(vehicle).items() if name in wanted}
    if not found:
        raise InputError("nothing was measured; allowed: one group of the state or more")
    return found
