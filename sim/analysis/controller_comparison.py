"""Controllers compared over seeded cases: the same starts and the same vehicles for each, as a table and a picture."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sim.controllers import Controller
from sim.groups.numeric import rotation_exp
from sim.integrators import Integrator
from sim.platform.errors import InputError, number, quote, whole
from sim.platform.replacing import replacing
from sim.platform.values import dataclass
from sim.steppers.trajectory import Trajectory, checked_controller, simulate
from sim.vehicles import State, Vehicle, checked_vehicle

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_CASES = 10_000
SETTLED_M = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """What every controller is put to."""

    vehicle: Vehicle
    """With its own parameters."""
    initial: State
    goal_w: np.ndarray
    """(3,) where it ought to be at the end [m]."""


Score = Callable[[Trajectory, Case], Mapping[str, float]]
"""Numbers by name, the smaller the better."""


def cases(
    vehicle: Vehicle | str,
    count: int = 100,
    *,
    seed: int = 0,
    tilt_rad: float = 0.4,
    speed_mps: float = 1.0,
    turn_radps: float = 0.5,
    wind_mps: float = 0.0,
    spread: float = 0.1,
) -> tuple[Case, ...]:
    """Disturbed starts of what moves in space, which is to stay where it begins.

    Of each case the attitude is turned by, and linear and angular velocity have a size of, standard deviations as
    given; `wind`, where the vehicle has one, too. spread: relative standard deviation of mass and inertia, which the
    controller knows. Equal seeds give equal cases. Raises InputError.
    """
    machine, count = checked_vehicle(vehicle), int(number("cases", count))
    if not 1 <= count <= MOST_CASES:
        raise InputError(f"cases = {count} is refused; allowed: 1 to {MOST_CASES}")
    if not {"R", "x", "omega", "v"} <= signature(machine.state).parameters.keys():
        raise InputError(
            f"cases: a {machine.name} does not fly in space; allowed: sim.Case for each of your own"
        )
    rng, made = np.random.default_rng(whole("seed", seed, "as a whole number", low=0)), []
    for _ in range(count):
        numbers = rng.standard_normal(14)
        values: dict[str, object] = {}
        for name, share in (("mass", numbers[0]), ("inertia", numbers[1])):
            if name in machine.values:
                size = np.asarray(machine.values[name]) * np.exp(spread * share)
                values[name] = float(size) if size.ndim == 0 else tuple(size.tolist())
        if "wind" in machine.values and wind_mps:
            values["wind"] = tuple((wind_mps * numbers[2:5]).tolist())
        own = machine.with_parameters(**values)
        x = np.array([0.0, 0.0, 100.0])
        initial = own.state(
            R=rotation_exp(tilt_rad * numbers[5:8]),
            x=x,
            omega=turn_radps * numbers[8:11],
            v=speed_mps * numbers[11:14],
        )
        made.append(Case(own, initial, x))
    return tuple(made)


def tracking_score(traj: Trajectory, case: Case) -> dict[str, float]:
    """How far from its goal it was, how late it settled, and what that took.

    `rms_m`, `final_m`, `settled_s` (from when on it stays within 0.1 m), `effort` (mean square of the controls'
    changes by their ranges, per second); endless where it diverged.
    """
    if traj.diverged_at is not None:
        return dict.fromkeys(("rms_m", "final_m", "settled_s", "effort"), np.inf)
    off = np.linalg.norm(traj.pose[:, :3, 3] - case.goal_w, axis=1)
    outside = np.flatnonzero(off > SETTLED_M)
    last = -1 if outside.size == 0 else int(outside[-1])
    reach = np.array([min(c.high - c.low, 1e3) for c in traj.vehicle.controls])
    changes = np.diff(traj.controls, axis=0) / reach
    return {
        "rms_m": float(np.sqrt(np.mean(off**2))),
        "final_m": float(off[-1]),
        "settled_s": float(traj.time[last + 1]) if last + 1 < len(off) else np.inf,
        "effort": float(np.sum(changes**2) / traj.time[-1]),
    }


@dataclass(frozen=True, eq=False)
class Comparison:
    """Scores of controllers over cases."""

    names: tuple[str, ...]
    scores: dict[str, np.ndarray]
    """Name -> (controllers, cases); endless where a case failed."""
    faults: dict[tuple[int, int], str] = field(default_factory=dict)
    """(controller, case) -> what went wrong in it, in one line."""

    @property
    def failed(self) -> np.ndarray:
        """(controllers, cases) whether nothing came of it: a fault, or a run that diverged."""
        failed: np.ndarray = np.all([~np.isfinite(values) for values in self.scores.values()], axis=0)
        return failed

    def __str__(self) -> str:
        """A table: of each score the median and the ninth decile, and how many cases failed."""
        width = max(map(len, (*self.names, "controller")))
        head = "".join(f"{f'{name}: median, 90 %':>30}" for name in self.scores)
        lines = [f"{'controller':{width}}{head}{'failed':>10}"]
        for k, name in enumerate(self.names):
            row = "".join(f"{_text(values[k]):>30}" for values in self.scores.values())
            lines.append(f"{name:{width}}{row}{self.failed[k].sum():>10}")
        return "\n".join(lines)

    __repr__ = __str__

    def plot(self, path: str | Path | None = None) -> "Figure":
        """A figure, which a notebook shows: of each score, the share of cases that are at least as good.

        path: a file (.png, .svg, .pdf) that it is written to, too.
        """
        from matplotlib.figure import Figure  # takes a while, and not everybody wants a picture

        figure = Figure(figsize=(3.4 * len(self.scores), 3.2), layout="constrained")
        axes = np.atleast_1d(figure.subplots(1, len(self.scores)))
        for axis, (name, values) in zip(axes, self.scores.items(), strict=True):
            for label, row in zip(self.names, values, strict=True):
                known = np.sort(row[np.isfinite(row)])
                axis.step(known, np.arange(1, len(known) + 1) / len(row), where="post", label=label)
            axis.set_xlabel(name)
            axis.set_ylim(0.0, 1.02)
        axes[0].set_ylabel("share of cases")
        axes[-1].legend(fontsize=8)
        if path is not None:
            with replacing(Path(path)) as draft:
                figure.savefig(draft, format=Path(path).suffix.lstrip(".").lower() or "png")
        return figure


def _text(values: np.ndarray) -> str:
    found = np.quantile(values, [0.5, 0.9], method="lower")
    return ", ".join(f"{value:.3g}" if np.isfinite(value) else "never" for value in found)


def compare(
    controllers: Sequence[Controller | type[Controller]],
    put_to: Sequence[Case],
    *,
    method: str | Integrator | None = None,
    step: float = 0.01,
    duration: float = 10.0,
    score: Score = tracking_score,
) -> Comparison:
    """Run each controller on each case by `sim.simulate`, and score what comes of it.

    A controller that fails in a case has endless scores there. Raises InputError where there is nothing to compare.
    """
    flown = [checked_controller(each) for each in controllers]
    if not flown or not put_to or not all(isinstance(case, Case) for case in put_to):
        raise InputError(
            f"controllers = {quote(controllers)}, cases = {quote(put_to)}; allowed: one or more of each, by sim.cases"
        )
    rows: list[list[Mapping[str, float] | None]] = []
    faults: dict[tuple[int, int], str] = {}
    for k, controller in enumerate(flown):
        rows.append([])
        for n, case in enumerate(put_to):
            try:
                traj = simulate(
                    case.vehicle,
                    method,
                    step=step,
                    duration=duration,
                    initial=case.initial,
                    controller=controller,
                )
                rows[-1].append(score(traj, case))
            except InputError as error:
                faults[k, n] = str(error)
                rows[-1].append(None)
    known = next((row for each in rows for row in each if row is not None), None)
    if known is None:
        raise InputError(next(iter(faults.values())))
    scores = {
        name: np.array([[np.inf if row is None else row[name] for row in each] for each in rows])
        for name in known
    }
    return Comparison(_names(flown), scores, faults)


def _names(controllers: Sequence[Controller]) -> tuple[str, ...]:
    """Of their classes; those that are alike are numbered."""
    plain = [type(each).__name__ for each in controllers]
    counts, seen, names = Counter(plain), Counter[str](), []
    for name in plain:
        seen[name] += 1
        names.append(f"{name} {seen[name]}" if counts[name] > 1 else name)
    return tuple(names)
