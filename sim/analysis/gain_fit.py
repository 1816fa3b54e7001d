"""Gains of a controller out of what it was measured to do: what it answers to the recorded states, by least squares."""

from collections.abc import Mapping, Sequence

import numpy as np

from sim.analysis.measured_flight import Recording, groups_of
from sim.analysis.shooting import Identified, Progress
from sim.controllers import Controller, ControlLoop, PilotInput, gain_values, gains_of, made_controller
from sim.platform.errors import InputError, one_of, quote
from sim.vehicles import Vehicle

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
    _check(kind, unknown, vehicle, data)
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


def _check(kind: type[Controller], unknown: Sequence[str], vehicle: Vehicle, data: Recording) -> None:
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
