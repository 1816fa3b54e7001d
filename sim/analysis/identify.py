"""`identify`: parameters of a vehicle, or gains of a controller, out of what was measured, and how sure they are.

Gains are fitted to what the controller answered to the recorded states, by least squares.
"""

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from sim.analysis.gradient import places_of
from sim.analysis.gradient_steps import check_differentiable
from sim.analysis.measured_flight import GROUPS, Recording, groups_of
from sim.analysis.shooting import Identified, Progress, Shooting
from sim.controllers import Controller, ControlLoop, PilotInput, gain_values, gains_of, made_controller
from sim.integrators import Integrator
from sim.platform.errors import InputError, number, one_of, quote
from sim.platform.processes import run_in_process
from sim.platform.progress import Tell
from sim.platform.values import dataclass
from sim.recordings import Take
from sim.steppers.trajectory import Trajectory, checked_controller, checked_method
from sim.vehicles import Vehicle, checked_vehicle
from sim.vehicles.forms.custom import OwnClass
from sim.vehicles.forms.form import Form


def identify(
    vehicle: Vehicle | str,
    recording: Recording | Trajectory | Take | str | Path,
    unknown: Sequence[str],
    *,
    method: str | Integrator | None = None,
    noise: Mapping[str, float] | None = None,
    measured: Sequence[str] | None = None,
    interval: float = 0.5,
    controller: Controller | type[Controller] | None = None,
    progress: Progress | None = None,
) -> Identified:
    """Find parameters of a vehicle from a recording of it: a take, a trajectory, or a file of one (.npz, .csv).

    controller: that flew it; `unknown` are then some of its gains, and its other gains, and first guesses, as they are.

    vehicle: with a first guess. unknown: names of the parameters. noise: standard deviation by group ("rotation" rad,
    "position" m, "omega" rad/s, "velocity" m/s, ...); what is not given turns out. measured: the groups to be believed;
    None: all there are. interval: seconds between two starts of shooting. progress: told of every iteration; what it
    raises ends the search. Raises InputError in one line.
    """
    subject = checked_vehicle(vehicle)
    if controller is not None:
        flown = checked_controller(controller)
        return fitted_gains(subject, Recording.of(recording, subject), unknown, flown, progress or _silent)
    scheme = checked_method(method, subject)
    _check_vehicle(subject, scheme)
    data = Recording.of(recording, subject)
    _check(subject, unknown)
    groups = _measured_groups(subject, data, measured)
    sigma = dict.fromkeys(groups, np.nan) | _noise(tuple(groups_of(subject)), noise)
    interval = number("interval", interval, above=0.0)
    if not (progress is None or callable(progress)):
        raise InputError(
            f"progress = {quote(progress)} is refused; allowed: a function of a number and the values"
        )
    shooting = Shooting(subject, scheme, data, tuple(unknown), groups, interval)
    converged, iterations = shooting.run(sigma, progress or _silent)
    return shooting.outcome(converged, iterations)


def _silent(number: int, values: Mapping[str, object]) -> None:
    """Tells nobody."""


def _noise(groups: Sequence[str], noise: Mapping[str, float] | None) -> dict[str, float]:
    """Standard deviations that are given."""
    if noise is None:
        return {}
    if not isinstance(noise, Mapping):
        raise InputError(f"noise = {quote(noise)} is refused; allowed: a dict of groups and numbers")
    for name in noise:
        if name not in groups:
            raise InputError(f"noise of {quote(name)}, which is no group; allowed: {one_of(groups)}")
    return {name: number(f"noise of {name}", value, above=0.0) for name, value in noise.items()}


def _check_vehicle(vehicle: Vehicle, scheme: Integrator) -> None:
    check_differentiable(vehicle, scheme)
    if vehicle.form is Form.GROUP_ACTION:
        raise InputError(
            f"what is measured is compared on a group, and the space of a {vehicle.name} is none; "
            "allowed: vehicles whose pose is an element of a group, e.g. of SE(2) or SE(3), and trees of joints"
        )


def _check(vehicle: Vehicle, unknown: Sequence[str]) -> None:
    if not isinstance(unknown, tuple | list | set | frozenset | Mapping) or not unknown:
        raise InputError(f"unknown = {quote(unknown)} is refused; allowed: a list of parameters")
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
    listed = measured is None or isinstance(measured, tuple | list | set | frozenset)
    if not (listed and all(isinstance(name, str) for name in measured or ())):
        raise InputError(f"measured = {quote(measured)} is refused; allowed: a list of groups")
    wanted = data.measured if measured is None else tuple(measured)
    for name in wanted:
        if name not in data.measured:
            known = [group for group in GROUPS if group in data.measured]
            raise InputError(f"{quote(name)} was not measured; allowed: {one_of(known, name)}")
    found = {name: places for name, places in groups_of(vehicle).items() if name in wanted}
    if not found:
        raise InputError("nothing was measured; allowed: one group of the state or more")
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Job:
    vehicle: Vehicle
    recording: Recording
    unknown: tuple[str, ...]


def identify_in_process(
    vehicle: Vehicle,
    recording: Recording,
    unknown: tuple[str, ...],
    *,
    progress: Progress,
    given_up: threading.Event,
) -> Identified:
    """As `identify`. Waits; raises GivenUp where the event is set meanwhile, InputError as `identify` does."""
    found = run_in_process(
        _identified,
        _Job(vehicle, recording, unknown),
        name="identification",
        prepare=OwnClass.of(type(vehicle)),
        progress=progress,
        given_up=given_up,
        allowed="allowed: fewer parameters",
    )
    assert isinstance(found, Identified)
    return found


def _identified(job: _Job, tell: Tell) -> Identified:
    return identify(
        job.vehicle, job.recording, job.unknown, progress=lambda number, values: tell(number, dict(values))
    )


_STEP = 1e-6
"""Of a gain's range: for differences of a controller's answers."""
_UNTOLD = 1e-8
"""Of the largest singular value: directions that the recording does not tell."""


def fitted_gains(
    vehicle: Vehicle, data: Recording, unknown: Sequence[str], controller: Controller, progress: Progress
) -> Identified:
    """The controller is started at the recording's first moment and called as it was in flight, sticks centred.

    Differences of controls count by each control's own spread. Raises InputError, also what the controller raises.
    """
    from scipy.optimize import least_squares  # takes a while to import

    kind, first = type(controller), gain_values(controller)
    _check_gains(kind, unknown, vehicle, data)
    gains = [gains_of(kind)[name] for name in unknown]
    low, high = np.array([gain.low for gain in gains]), np.array([gain.high for gain in gains])
    reach = high - low
    spread = data.controls.std(axis=0)
    spread[spread < 1e-9 * np.abs(data.controls).max(initial=1.0)] = 1.0
    states = [vehicle.state_at_node(node) for node in data.nodes[:-1]]
    rounds = 0

    def values_at(shares: np.ndarray) -> dict[str, float]:
        return dict(zip(unknown, (low + reach * np.clip(shares, 0.0, 1.0)).tolist(), strict=True))

    def off(shares: np.ndarray) -> np.ndarray:
        loop = ControlLoop(made_controller(kind, first | values_at(shares)), vehicle)
        answers = [
            loop.controls(float(t), state, PilotInput()) for t, state in zip(data.time, states, strict=False)
        ]
        return ((np.array(answers) - data.controls) / spread).ravel()

    def slopes(shares: np.ndarray) -> np.ndarray:
        nonlocal rounds
        rounds += 1
        progress(rounds, values_at(shares))
        columns = []
        for k in range(len(unknown)):
            step = np.zeros(len(unknown))
            step[k] = _STEP if shares[k] < 0.5 else -_STEP
            columns.append((off(shares + step) - off(shares)) / step[k])
        return np.stack(columns, axis=1)

    begin = np.clip((np.array([first[name] for name in unknown]) - low) / reach, 0.0, 1.0)
    found = least_squares(
        off, begin, slopes, bounds=(0.0, 1.0), x_scale=1.0, xtol=1e-12, ftol=1e-14, gtol=1e-14
    )
    _, sizes, rows = np.linalg.svd(np.asarray(found.jac), full_matrices=False)
    told = sizes > _UNTOLD * max(sizes.max(initial=0.0), 1e-300)
    sigma = float(np.sqrt(2.0 * found.cost / max(len(found.fun) - len(unknown), 1)))
    covariance = (rows[told].T / sizes[told] ** 2) @ rows[told]
    confounded = tuple(
        tuple(name for name, share in zip(unknown, row, strict=True) if abs(share) > 0.3)
        for row in rows[~told]
    )
    untold = {name for names in confounded for name in names}
    errors = sigma * reach * np.sqrt(np.diag(covariance))
    scale = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    return Identified(
        vehicle=vehicle,
        values=values_at(found.x),
        standard_errors={
            name: float("nan") if name in untold else float(error)
            for name, error in zip(unknown, errors, strict=True)
        },
        correlation=covariance / np.outer(scale, scale),
        confounded=confounded,
        initial=states[0],
        noise=dict(zip((c.name for c in vehicle.controls), (sigma * spread).tolist(), strict=True)),
        iterations=rounds,
        converged=bool(found.status > 0),
    )


def _check_gains(kind: type[Controller], unknown: Sequence[str], vehicle: Vehicle, data: Recording) -> None:
    known: Mapping[str, object] = gains_of(kind)
    if not isinstance(unknown, tuple | list) or not unknown or len(set(unknown)) < len(unknown):
        raise InputError(f"unknown = {quote(unknown)} is refused; allowed: a list of gains, each once")
    for name in unknown:
        if name not in known:
            raise InputError(
                f"controller {kind.__name__}: unknown gain {quote(name)}; allowed: {one_of(known, name)}"
            )
    missing = [name for name in groups_of(vehicle) if name not in data.measured]
    if missing:
        raise InputError(
            f"controller {kind.__name__}: is given the state, of which {missing[0]} was not measured; "
            "allowed: takes and runs"
        )
