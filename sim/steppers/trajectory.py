"""`simulate`: a vehicle under an integrator for a while, as arrays, and as a figure that a notebook shows.

Controls that are a function of time and state are evaluated at the method's own moments of every step.
"""

import io
import math
from collections.abc import Callable, Mapping
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sim.compiler import OK
from sim.compiler.stepper import Stepper
from sim.controllers import Controller, ControlLoop, PilotInput, made_controller, plotted_by
from sim.environment.environment import Environment, default_start, environment_of
from sim.integrators import Integrator, default_for, integrator
from sim.multibody.declaration import TreeState
from sim.multibody.tree import Tree
from sim.platform.errors import InputError, check_arguments, number, numeric, one_of, quote
from sim.platform.values import dataclass
from sim.steppers.dynamics import Bounds, between, stepper_of
from sim.vehicles import State, Vehicle, checked_state, checked_vehicle
from sim.vehicles.forms.articulated import ArticulatedVehicle, vehicle_of
from sim.vehicles.forms.observation import Observed

if TYPE_CHECKING:
    from matplotlib.figure import Figure


Values = np.ndarray | list[float] | tuple[float, ...] | Mapping[str, float]
"""Of controls: numbers, or some by the controls' names with the others neutral."""
Law = Callable[[float, State], np.ndarray]
"""(seconds, state) -> (n_controls,)."""

_SAME = 1e-9


def sampled_run(
    kernel: Stepper,
    vehicle: Vehicle,
    state: State,
    law: Law,
    h: float,
    count: int,
    around: Environment,
    *,
    held: bool = False,
) -> tuple[np.ndarray, np.ndarray, int, int]:
    """(nodes (count+1, node size), controls at the steps' starts (count, n_controls), steps done, iterations).

    kernel: compiled with `sampled`, but where answers are held over steps, and with the inline part of the environment
    `around`. A state within a step lies between the node and the end of a trial step under the node's controls, on the
    group's geodesic: that is accurate to h^2. held: the law is asked where steps start alone.
    """
    p, w = vehicle.parameter_vector, np.zeros(kernel.dim)
    nodes = np.full((count + 1, vehicle.node_layout.size), np.nan)
    us = np.zeros((count, len(vehicle.controls)))
    moments = () if held else kernel.moments
    size = max(len(kernel.moments), 1)

    def at(time_s: float, node: np.ndarray) -> np.ndarray:
        return law(time_s, vehicle.state_at_node(node))

    def ahead_of_time() -> tuple[object, ...]:
        """What surrounds it, to look a step ahead."""
        return around.probe().env

    def rows(k: int, y: np.ndarray, node: np.ndarray, first: np.ndarray) -> np.ndarray:
        """All of a step's controls, flat."""
        constant = first if size == 1 else np.tile(first, size)
        if all(moment < _SAME for moment in moments):
            return constant
        ahead = y.copy()
        _, status, _ = kernel.advance(ahead, constant, w, p, h, 1, ahead_of_time())
        end = kernel.node(ahead, constant, p, h, env=ahead_of_time()) if status == OK else node
        out = []
        for moment in moments:
            there = between(vehicle, node, end, moment)
            out.append(first if moment < _SAME else at((k + moment) * h, there))
        return np.concatenate(out)

    # Only a start that is carried depends on the controls of its first step.
    u = np.tile(at(0.0, state.node) if around.acts and count else vehicle.neutral_controls, size)
    y = kernel.start(state.node, u, p, h, ahead_of_time())
    node, total = state.node, 0
    for k in range(count):
        us[k], before = at(k * h, node), u
        u = rows(k, y, node, us[k])
        # A node is told under the controls of the step that begins there.
        same = k and u.tobytes() == before.tobytes()
        nodes[k] = node if same else kernel.node(y, u, p, h, env=ahead_of_time())
        _, status, iterations = kernel.advance(y, u, w, p, h, 1, around.env)
        total += iterations
        if status:
            return nodes, us, k, total
        node = kernel.node(y, u, p, h, env=ahead_of_time())
    if count and getattr(vehicle, "commanded", None):
        node = kernel.node(y, np.tile(at(count * h, node), size), p, h, env=ahead_of_time())
    nodes[count] = node
    return nodes, us, count, total


def control_numbers(vehicle: Vehicle, controls: object) -> np.ndarray:
    """An array of any shape, or (n_controls,) of some by name, the others neutral. Raises InputError.

    A tree's controls go by the names of the joints that they drive, too.
    """
    if isinstance(controls, Mapping):
        places = {control.name: k for k, control in enumerate(vehicle.controls)}
        if isinstance(vehicle, ArticulatedVehicle):
            places |= {joint: k for k, joint in enumerate(vehicle.torques)}
        row = vehicle.neutral_controls.copy()
        for name, value in controls.items():
            if name not in places:
                raise InputError(
                    f"controls of {vehicle.name!r}: unknown {quote(name)}; allowed: {one_of(places, name)}"
                )
            row[places[name]] = number(f"controls of {vehicle.name!r}: {name}", value)
        return row
    try:
        return numeric(controls)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"controls of {vehicle.name!r} are not numeric") from None


def checked_controls(vehicle: Vehicle, controls: object) -> np.ndarray:
    """(n_controls,) numbers, or some by name. Raises InputError where they are not."""
    n = len(vehicle.controls)
    row = control_numbers(vehicle, controls)
    if row.shape not in ((n,), (1, n)):
        names = ", ".join(c.name for c in vehicle.controls) or "none"
        raise InputError(f"controls of {vehicle.name!r} are {row.shape}; allowed: ({n},) for {names}")
    if not np.isfinite(row).all():
        raise InputError(f"controls of {vehicle.name!r} have entries that are not finite")
    return row.ravel()


_WIDTH_IN, _HEIGHT_IN = 7.5, 1.75
_LABELS = 8
"""Lines of one quantity that are named at most."""


@dataclass(frozen=True, eq=False)
class Quantity:
    """Some lines over time in one unit."""

    unit: str
    lines: Mapping[str, np.ndarray]
    """Name -> (n,)."""


def figure(time: np.ndarray, quantities: Mapping[str, Quantity], title: str = "") -> "Figure":
    """One axis below the other for each quantity, over the same time [s]; made without a window."""
    from matplotlib.figure import Figure  # takes a while, and most runs draw none

    class Shown(Figure):
        """A figure that a notebook shows as the last value of a cell, whatever backend it has."""

        def _repr_png_(self) -> bytes:
            file = io.BytesIO()
            self.savefig(file, format="png", dpi=110)
            return file.getvalue()

    made = Shown(figsize=(_WIDTH_IN, 0.6 + _HEIGHT_IN * max(len(quantities), 1)), layout="constrained")
    axes = np.atleast_1d(made.subplots(len(quantities), 1, sharex=True)).tolist()
    for axis, (name, quantity) in zip(axes, quantities.items(), strict=True):
        for label, values in quantity.lines.items():
            axis.plot(time, values, linewidth=1.2, label=label)
        axis.set_ylabel(f"{name.replace('_', ' ')}\n[{quantity.unit}]" if quantity.unit else name)
        axis.grid(alpha=0.3)
        axis.margins(x=0.0)
        if 1 < len(quantity.lines) <= _LABELS:
            axis.legend(loc="upper right", fontsize="small", ncols=len(quantity.lines))
    axes[-1].set_xlabel("time [s]")
    if title:
        made.suptitle(title, fontsize="medium")
    return made


Controls = None | Values | Callable[[float, Any], Values]
"""Functions are of seconds and the state."""

STEPS_MAX = 10_000_000


@dataclass(frozen=True, eq=False)
class Trajectory:
    """N steps of one vehicle, at the N+1 nodes. After a divergence the rest is nan."""

    vehicle: Vehicle
    integrator: Integrator
    step_s: float
    time: np.ndarray
    """(N+1,) s."""
    nodes: np.ndarray
    """(N+1, node size), flat as `vehicle.node_layout` says."""
    controls: np.ndarray
    """(N, n_controls) held over each step; of a function, its values at the steps' starts."""
    observed: Observed = field(repr=False)
    """What is told of the nodes."""
    diverged_at: float | None
    """Seconds up to which there is a solution within `sim.steppers.dynamics`, None if to the end."""
    newton_iterations: int
    """In all steps together."""
    diverged_because: str = ""
    """Which quantity left its bounds, or what failed; empty where nothing did."""
    held: bool = True
    """Whether the controls were held over each step; a function was evaluated within the steps, too."""
    plotted: dict[str, np.ndarray] = field(default_factory=dict)
    """Name -> (N+1,) of what a controller had plotted; the last one is nan."""
    plotted_units: dict[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        steps = f"{len(self.controls)} steps of {self.step_s:g} s"
        ended = "" if self.diverged_at is None else f", diverged at {self.diverged_at:g} s"
        return f"<Trajectory: {self.vehicle.name} by {self.integrator.name}, {steps}{ended}>"

    @property
    def energy(self) -> np.ndarray:
        """(N+1,) J."""
        return self.observed.energy

    @property
    def momentum(self) -> np.ndarray:
        """(N+1, dim) spatial momentum."""
        return self.observed.momentum

    @cached_property
    def bodies(self) -> dict[str, np.ndarray]:
        """Name -> (N+1, 4, 4) body-to-world poses; a plane is the world's x-y plane, a fixed point its origin."""
        return self.observed.bodies

    @cached_property
    def observables(self) -> dict[str, np.ndarray]:
        """Name -> (N+1,), or (N+1, k) for those with several components; what belongs to a step ends with nan."""
        return self.observed.observables

    @property
    def units(self) -> dict[str, str]:
        """Of the observables."""
        return dict(self.observed.layout.units)

    @property
    def pose(self) -> np.ndarray:
        """(N+1, 4, 4) homogeneous matrices T_wb; on SE(2) they are (N+1, 3, 3), on SO(3) rotations R_wb (N+1, 3, 3)."""
        return self.vehicle.poses(self.nodes)

    @property
    def velocity(self) -> np.ndarray:
        """(N+1, dim) body twist at the nodes, from the discrete Legendre transform."""
        return self.nodes[:, self.vehicle.node_layout.velocity]

    @property
    def shape(self) -> np.ndarray:
        """(N+1, n_shape)."""
        return self.nodes[:, self.vehicle.node_layout.shape]

    @property
    def shape_velocity(self) -> np.ndarray:
        """(N+1, n_shape)."""
        return self.nodes[:, self.vehicle.node_layout.shape_velocity]

    def plot(self, *names: str) -> "Figure":
        """A figure of quantities over time, each with its unit: "position", "energy", "controls", "shape", "momentum",
        and observables by their names; without names the first three. Controls of a second unit are "controls UNIT".

        Raises InputError for a name that is none.
        """
        known = self._quantities()
        for name in names:
            if name not in known:
                raise InputError(f"plot: unknown {quote(name)}; allowed: {one_of(known, name)}")
        usual = ("position", "energy", *(name for name in known if name.split()[0] == "controls"))
        chosen = names or tuple(name for name in usual if name in known)
        title = f"{self.vehicle.name} under {self.integrator.name}, steps of {1e3 * self.step_s:.4g} ms"
        return figure(self.time, {name: known[name] for name in chosen}, title)

    def _quantities(self) -> dict[str, Quantity]:
        """All that can be plotted; of controls a line a unit would be hard to read, so each unit has its own."""
        place = next(iter(self.bodies.values()))[:, :3, 3]
        found = {
            "position": Quantity("m", dict(zip("xyz", place.T, strict=True))),
            "energy": Quantity("J", {"energy": self.energy}),
            "momentum": Quantity("", {f"{k}": column for k, column in enumerate(self.momentum.T)}),
        }
        rows = np.vstack([self.controls, np.full((1, self.controls.shape[1]), np.nan)])
        units = dict.fromkeys(control.unit for control in self.vehicle.controls)
        for k, unit in enumerate(units):
            names = [c.name for c in self.vehicle.controls]
            lines = {c.name: rows[:, names.index(c.name)] for c in self.vehicle.controls if c.unit == unit}
            found["controls" if not k else f"controls {unit}"] = Quantity(unit, lines)
        if self.vehicle.shape_coordinates:
            names = [c.name for c in self.vehicle.shape_coordinates]
            found["shape"] = Quantity(
                self.vehicle.shape_coordinates[0].unit, dict(zip(names, self.shape.T, strict=True))
            )
        for name, values in self.observables.items():
            columns = values.reshape(len(values), -1).T
            lines = {name if len(columns) == 1 else f"{k}": column for k, column in enumerate(columns)}
            found[name] = Quantity(self.units[name], lines)
        for name, values in self.plotted.items():
            found.setdefault(name, Quantity(self.plotted_units.get(name, ""), {name: values}))
        return found

    @property
    def initial(self) -> State:
        """State at the first node, as `initial=` takes it."""
        return self.vehicle.state_at_node(self.nodes[0])

    @property
    def final(self) -> State:
        """State at the last node, as `initial=` takes it."""
        return self.vehicle.state_at_node(self.nodes[-1])


def simulate(
    vehicle: Vehicle | str | Tree,
    method: str | Integrator | None = None,
    *,
    step: float = 0.01,
    duration: float = 10.0,
    initial: State | TreeState | None = None,
    controls: Controls = None,
    controller: Controller | type[Controller] | None = None,
) -> Trajectory:
    """Integrate `vehicle`, an instance, a name or a declared tree, for `duration` seconds in steps of `step` seconds.

    method: an integrator or its name; None: what is usual for such a vehicle, `sim.integrators.DEFAULTS`.
    controls: None (neutral), (n_controls,) held throughout, (N, n_controls) one row a step, held over it, or
    f(t, state), evaluated at the moments at which the method samples its forces: each method keeps its order
    under functions of time, and second order (where it has that) under feedback, since a state within the step is
    predicted by the step itself. Laws that say that they are `held`, as a plan's feedback, are asked where steps start,
    and hold over these. A mapping gives some by name and leaves the others neutral. Controls of a declared
    tree are the torques and forces (nv,) of its joints, by the joints' names.
    controller: a `sim.Controller`, or its class, instead of controls: called at its own rate, its controls held until
    the next call, sticks centred. Raises InputError in one line for a pair that cannot work, for bad numbers, and for
    what goes wrong in the controller.
    """
    if controller is not None and controls is not None:
        raise InputError("controller: refused beside controls; allowed: one of the two")
    vehicle = vehicle_of(vehicle) if isinstance(vehicle, Tree) else checked_vehicle(vehicle)
    scheme = checked_method(method, vehicle)
    h, count = step_count(step, duration)
    state = checked_start(initial, vehicle)
    # What floats has open water about it, as its parameters say; all else moves in free space.
    around = environment_of(vehicle)
    if callable(controls):
        check_arguments("controls", controls, ("time_s", "state"))
    sampled = callable(controls) and not getattr(controls, "held", False)
    kernel = stepper_of(vehicle, scheme, around.inline, sampled=sampled)
    plotted: dict[str, np.ndarray] = {}
    units: dict[str, str] = {}
    if controller is not None:
        loop = ControlLoop(checked_controller(controller), vehicle)
        law = _noting(loop, h, plotted, count)
        nodes, us, done, iterations = sampled_run(kernel, vehicle, state, law, h, count, around, held=True)
        units = {name: unit for name, (_, unit) in plotted_by(loop.controller).items()}
    elif callable(controls):
        nodes, us, done, iterations = sampled_run(
            kernel,
            vehicle,
            state,
            lambda time_s, now: checked_controls(vehicle, controls(time_s, now)),
            h,
            count,
            around,
            held=not sampled,
        )
    else:
        us = control_rows(vehicle, controls, count)
        p = vehicle.parameter_vector
        y = kernel.start(state.node, us[0], p, h, around.probe().env)
        nodes, done, iterations = kernel.trajectory(y, us, p, h, count, around.env)
        us = np.repeat(us, count, axis=0) if len(us) == 1 else us.copy()
    rows = us if count else np.zeros((1, us.shape[1]))
    energy, observed = kernel.observed_later(nodes, rows, vehicle.parameter_vector, h)
    because = "" if done == count else "a step has no solution, or none that is finite"
    known = slice(0, done + 1)
    beyond = Bounds.of(vehicle, nodes[0], h).first_beyond(vehicle, nodes[known], energy[known])
    if beyond is not None and beyond[0] > 0:
        done, because = beyond[0] - 1, beyond[1]
        nodes[done + 1 :] = np.nan
    return Trajectory(
        vehicle=vehicle,
        integrator=scheme,
        step_s=h,
        time=h * np.arange(count + 1),
        nodes=nodes,
        controls=us,
        observed=observed if done == count else _ending(observed, done),
        diverged_at=done * h if because else None,
        newton_iterations=iterations,
        diverged_because=because,
        held=not sampled,
        plotted=plotted,
        plotted_units=units,
    )


def checked_controller(controller: object) -> Controller:
    """An instance, or one of a class. Raises InputError."""
    made = controller
    if isinstance(controller, type) and issubclass(controller, Controller):
        made = made_controller(controller)
    if not isinstance(made, Controller):
        raise InputError(
            f"controller = {quote(controller)} is none; allowed: a sim.Controller, as sim.control.feedback.Pid"
        )
    return made


def _noting(loop: ControlLoop, h: float, plotted: dict[str, np.ndarray], count: int) -> Law:
    """The law of a controller, sticks centred, which notes in `plotted` what it plots at the starts of steps."""
    sticks = PilotInput()

    def law(time_s: float, state: State) -> np.ndarray:
        k = round(time_s / h)
        if k == count:  # the end begins no step
            return loop.held
        controls = loop.controls(time_s, state, sticks)
        for name, (value, _) in plotted_by(loop.controller).items():
            plotted.setdefault(name, np.full(count + 1, np.nan))[k] = value
        return controls

    return law


def _ending(observed: Observed, last: int) -> Observed:
    """The same, where nothing is known past the node `last`."""

    def rows() -> np.ndarray:
        known = observed.rows.copy()
        known[last + 1 :] = np.nan
        return known

    return Observed(observed.layout, rows)


def checked_method(method: str | Integrator | None, vehicle: Vehicle) -> Integrator:
    """An integrator, or the one of a name; None: the usual one of such a vehicle. Raises InputError."""
    if isinstance(method, Integrator):
        return method
    return integrator(default_for(vehicle) if method is None else method)


def checked_start(initial: object, vehicle: Vehicle) -> State:
    """A state of that vehicle, its usual one for None. Raises InputError."""
    state = default_start(vehicle) if initial is None else initial
    if isinstance(state, TreeState) and isinstance(vehicle, ArticulatedVehicle):
        state = vehicle.state(state.q, state.v)
    return checked_state("initial", vehicle, state)


def step_count(step: float, duration: float) -> tuple[float, int]:
    """(step [s], how many), checked. Raises InputError."""
    h, seconds = _seconds("step", step, "above 0"), _seconds("duration", duration, "from 0")
    if h == 0.0:
        raise InputError(f"step = {quote(step)} is not possible; allowed: seconds above 0")
    steps = seconds / h
    if steps > STEPS_MAX:
        raise InputError(f"duration / step = {steps:g} steps; allowed: up to {STEPS_MAX}")
    return h, round(steps)


def _seconds(what: str, value: float, allowed: str) -> float:
    """A time that is not negative."""
    try:
        seconds = number(what, value)
    except InputError:
        seconds = math.nan
    if not (math.isfinite(seconds) and seconds >= 0.0):
        raise InputError(f"{what} = {quote(value)} is not possible; allowed: seconds {allowed}")
    return seconds


def control_rows(vehicle: Vehicle, controls: Controls, count: int) -> np.ndarray:
    """(1 or N, n_controls), checked."""
    n = len(vehicle.controls)
    if controls is None:
        return vehicle.neutral_controls[None]
    rows = np.atleast_2d(control_numbers(vehicle, controls))
    if rows.ndim != 2 or rows.shape[1] != n or rows.shape[0] not in (1, count):
        names = ", ".join(c.name for c in vehicle.controls) or "none"
        raise InputError(
            f"controls of {vehicle.name!r} are {rows.shape}; allowed: ({n},) or ({count}, {n}) for {names}"
        )
    if not np.all(np.isfinite(rows)):
        raise InputError(f"controls of {vehicle.name!r} have entries that are not finite")
    return np.ascontiguousarray(rows)
