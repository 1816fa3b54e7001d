"""What plots can show of a lane: the simulation's own channels, and whatever the flown vehicle tells by itself.

The history keeps all of them; which are shown at first is said by the vehicle's config, which then also words them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from sim.platform.values import dataclass
from sim.simulation.lanes.snapshot import LaneSnapshot
from sim.vehicle_config import Plotted
from sim.vehicles import HolonomicVehicle, Vehicle
from sim.vehicles.forms.articulated import ArticulatedVehicle
from sim.vehicles.forms.coordinates import Coordinate, coordinates_of, read_coordinates
from sim.vehicles.forms.parameters import Control


@dataclass(frozen=True, slots=True)
class Channel:
    """A row of the history and how it is written."""

    key: str
    title: str
    unit: str
    doc: str
    floor: float
    """Smallest range shown, in this unit: below it, rounding errors would fill the plot."""
    times: float = 1.0
    """From what the history keeps to this unit."""


OWN = (
    Channel(
        "energy",
        "Energy change",
        "J",
        "Kinetic plus potential, since the start. Controls and drag change it, too.",
        1e-6,
    ),
    Channel(
        "momentum",
        "Momentum change",
        "",
        "Spatial momentum since the start. Free bodies keep it; controls put some in.",
        1e-9,
    ),
    Channel(
        "omega",
        "|\N{GREEK SMALL LETTER OMEGA}|",
        "rad/s",
        "Magnitude of the body's angular velocity.",
        1e-3,
    ),
    Channel("newton", "Newton iterations", "", "Mean per step; 0 for explicit methods.", 1.0),
    Channel("cost", "Step cost", "\N{MICRO SIGN}s", "Wall time of one step of the compiled kernel.", 0.1),
)
"""Of any vehicle."""
SENSED = (
    *(
        Channel(
            f"gyro {axis}",
            f"Gyro {axis}",
            "rad/s",
            "Angular velocity in the body's frame.",
            1e-3,
        )
        for axis in "xyz"
    ),
    *(
        Channel(
            f"accel {axis}",
            f"Accelerometer {axis}",
            "m/s^2",
            "Specific force in the body's frame: at rest gravity along what points up. Mean since the sample before.",
            1e-2,
        )
        for axis in "xyz"
    ),
)
"""Of an inertial unit in the main body's origin, without noise and delay."""
MOST_ENCODERS = 24
ACCOUNT = (
    Channel(
        "momentum put in",
        "Momentum put in by controls",
        "",
        "What the controls have put into the spatial momentum since this was first plotted: their impulses in the "
        "world, summed up as the method places them.",
        1e-9,
    ),
    Channel(
        "momentum lost",
        "Momentum lost by the method",
        "",
        "Change of the spatial momentum that no force accounts for, since this was first plotted: rounding where the "
        "method keeps momentum.",
        1e-12,
    ),
)
"""Of a single body that moves freely; summed up only while one of them is looked at."""
BESIDE = (
    Channel(
        "apart",
        "Distance from the flight",
        "m",
        "Between a ghost's main body and that of what is flown, at the same time.",
        1e-9,
    ),
    Channel(
        "surroundings force",
        "Force of the surroundings",
        "N",
        "Of ground, obstacles, water and the like on the main body, mean over the last step.",
        1e-6,
    ),
    Channel(
        "contact impulse",
        "Contact impulse",
        "N s",
        "Normal impulses of all contacts, with ground, obstacles, props and itself, since the sample before.",
        1e-6,
    ),
    Channel(
        "contact slip",
        "Contact slip",
        "m/s",
        "Of the fastest contact that bears, along what it touches.",
        1e-3,
    ),
    Channel(
        "height",
        "Height above the ground",
        "m",
        "Or the water over it: of the lowest point that touches.",
        1e-3,
    ),
)
"""Offered, and shown at first by no vehicle."""
COLUMNS = {
    "momentum put in": "momentum_put_in_by_controls",
    "momentum lost": "momentum_lost_by_method",
    "energy": "energy_change_J",
    "momentum": "momentum_change",
    "omega": "omega_radps",
    "apart": "distance_from_flight_m",
    "surroundings force": "surroundings_force_N",
    "contact impulse": "contact_impulse_Ns",
    "contact slip": "contact_slip_mps",
    "height": "height_above_ground_m",
    "newton": "newton_iterations_per_step",
    "cost": "step_cost_us",
    "energy_error": "energy_error_J",
    "momentum_error": "momentum_error",
    "position_error": "position_error_m",
    "rotation_error": "rotation_error_rad",
    "orthogonality": "orthogonality_error",
    "cost_per_s": "cost_per_simulated_second_us",
    **{f"gyro {axis}": f"gyro_{axis}_radps" for axis in "xyz"},
    **{f"accel {axis}": f"accel_{axis}_mps2" for axis in "xyz"},
}
"""The simulation's own rows, as tables call them; those of errors are drawn by the panel of that name."""
_CHANGE = " change"
_FLOOR = 1e-9


def measured(
    lane: LaneSnapshot, before: LaneSnapshot | None = None, flown: LaneSnapshot | None = None
) -> dict[str, float]:
    """All rows of one lane at its current time; what a vehicle tells has its own name, of a column `name.0`, ...

    before: the same lane a sample earlier, which accelerations are told by; without it they are nan. flown: the lane
    that is flown, which the distance is measured from; without it that is nan.

    Energy since the start [J], |momentum - start|, |omega| [rad/s], Newton iterations a step, step cost [us]; then
    errors against the reference (energy and momentum: else against the start), ||R'R - I||, and the cost of a simulated
    second [us].
    """
    energy_J = lane.energy_J - lane.energy_start_J
    changed = lane.momentum_w - lane.momentum_start_w
    momentum = _size(changed, lane)
    off = lane.deviation
    R = lane.T_wb[:3, :3]
    cost_us = lane.step_cost_s * 1e6
    rows = {
        "energy": energy_J,
        "momentum": momentum,
        **dict(zip((channel.key for channel in ACCOUNT), _account(lane), strict=True)),
        "omega": float(np.linalg.norm(lane.twist_b[:3])),
        "apart": np.nan if flown is None else lane.distance_m(flown),
        "surroundings force": float(np.linalg.norm(lane.environment_wrench_b[3:])),
        "contact impulse": _borne_Ns(lane, before),
        "contact slip": lane.slip_mps,
        "height": lane.height_above_ground_m,
        "newton": lane.newton_iterations,
        "cost": cost_us,
        "energy_error": energy_J if off is None else off.energy_J,
        "momentum_error": momentum if off is None else off.momentum,
        "position_error": np.nan if off is None else off.position_m,
        "rotation_error": np.nan if off is None else off.rotation_rad,
        "orthogonality": float(np.linalg.norm(R.T @ R - np.eye(3))),
        "cost_per_s": cost_us / lane.step_s,
    }
    told = scalars(lane.observables)
    start = scalars(lane.observables_start)
    changes = (plot.of for plot in lane.config.instruments.plots if plot.change and plot.of in told)
    rows |= sensed(lane, before) | encoders(lane) | controls(lane)
    return rows | told | {name + _CHANGE: told[name] - start.get(name, np.nan) for name in changes}


def _size(momentum_w: np.ndarray, lane: LaneSnapshot) -> float:
    """Of a spatial momentum (6,)."""
    # The weight of a body about a fixed point leaves the momentum about the vertical alone.
    return float(np.linalg.norm(momentum_w) if lane.pivot_w is None else abs(momentum_w[2]))


def _account(lane: LaneSnapshot) -> tuple[float, float]:
    """Put in by the controls, lost by the method; nan where neither is summed up."""
    account = lane.momentum_account_w
    return (np.nan, np.nan) if account is None else (_size(account[0], lane), _size(account[1], lane))


def _borne_Ns(lane: LaneSnapshot, before: LaneSnapshot | None) -> float:
    """Normal impulses of contacts since the sample before; nan without one of the same flight."""
    if before is None or before.generation != lane.generation:
        return np.nan
    return max(lane.borne_Ns - before.borne_Ns, 0.0)


def sensed(lane: LaneSnapshot, before: LaneSnapshot | None) -> dict[str, float]:
    """What an inertial unit in the main body's origin measures: angular velocity and specific force, its axes."""
    R, force_b = lane.T_wb[:3, :3], np.full(3, np.nan)
    dt_s = 0.0 if before is None else lane.time_current_s - before.time_current_s
    if before is not None and dt_s > 0.0 and before.generation == lane.generation:
        change = (R @ lane.twist_b[3:] - before.T_wb[:3, :3] @ before.twist_b[3:]) / dt_s
        gravity = float(np.max(lane.parameters.get("gravity", 0.0)))
        force_b = R.T @ (change + np.array([0.0, 0.0, gravity]))
    numbers = (*lane.twist_b[:3].tolist(), *force_b.tolist())
    return {channel.key: number for channel, number in zip(SENSED, numbers, strict=True)}


def encoders(lane: LaneSnapshot) -> dict[str, float]:
    """Coordinates of joints and of shape, the first MOST_ENCODERS."""
    if lane.mechanics is None or not lane.node.size:
        return {}
    known = coordinates_of(lane.mechanics)[:MOST_ENCODERS]
    values = read_coordinates(lane.mechanics, lane.node) if known else {}
    return {encoder_key(c): values[c.name] for c in known}


def controls(lane: LaneSnapshot) -> dict[str, float]:
    """What the vehicle is steered by, in its units."""
    if lane.mechanics is None:
        return {}
    pairs = zip(lane.mechanics.controls, lane.controls.tolist(), strict=False)
    return {control_key(control): value for control, value in pairs}


def control_key(control: Control) -> str:
    """Of what a control is at."""
    return f"control {control.unit} {control.name}"


def encoder_key(coordinate: Coordinate) -> str:
    """Of where a joint is."""
    return f"encoder {coordinate.unit} {coordinate.name}"


def _control(control: Control) -> Channel:
    name, unit = control.name, control.unit
    title = name.replace("_", " ").capitalize()
    doc = f"Control {name}, held over each step."
    return Channel(control_key(control), f"{title} (control)", unit, doc, 1e-6)


def _encoder(coordinate: Coordinate) -> Channel:
    name, unit = coordinate.name, coordinate.unit
    degrees = unit == "rad"
    shown, times = ("\N{DEGREE SIGN}", 180.0 / np.pi) if degrees else (unit, 1.0)
    doc = f"Coordinate of {name}."
    return Channel(encoder_key(coordinate), f"{name} (encoder)", shown, doc, 1e-3, times)


def _joints(mechanics: Vehicle, told: dict[str, Channel], plots: Iterable[Plotted]) -> dict[str, Channel]:
    """With each joint once: its encoder for what a tree tells of it by number, unless the config plots that; forces
    and torques by the names of their coordinates."""
    known, plotted = coordinates_of(mechanics), {plot.of for plot in plots}
    encoded = {_encoder(c).key: _encoder(c) for c in known[:MOST_ENCODERS]}
    if isinstance(mechanics, ArticulatedVehicle):
        bodies, rates = mechanics.reported
        places = mechanics.tree.arrays.q_at[bodies].tolist()
        by_place = {c.at: c for c in known}
        by_rate = {c.rate_at - mechanics.tree.nq: c for c in known}
        for k, at in enumerate(places):
            key = _component("angle", k, len(places))
            if key in told and at in by_place and key not in plotted:
                c = by_place[at]
                encoder = _encoder(c)
                if encoder.key in encoded and c.axis < 0:
                    del told[key]
                elif c.axis < 0:
                    told[key] = replace(encoder, key=key)
                else:
                    doc = f"Angle of the turn of {c.joint}."
                    told[key] = replace(encoder, key=key, title=f"{c.joint} (turn)", doc=doc)
        for k, rate in enumerate(rates.tolist()):
            key = _component("torque", k, len(rates))
            if key in told and rate in by_rate:
                c = by_rate[rate]
                unit, what = ("N", "force") if c.unit == "m" else ("N m", "torque")
                told[key] = replace(told[key], title=f"{c.name} ({what})", unit=unit)
    return told | encoded


def _component(name: str, k: int, size: int) -> str:
    return name if size == 1 else f"{name}.{k}"


def scalars(observables: Mapping[str, float | np.ndarray]) -> dict[str, float]:
    """Columns by their components."""
    found: dict[str, float] = {}
    for name, value in observables.items():
        if np.ndim(value) == 0:
            found[name] = float(value)
        else:
            found.update({f"{name}.{k}": float(v) for k, v in enumerate(np.ravel(value))})
    return found


def offered(lane: LaneSnapshot) -> dict[str, Channel]:
    """Every channel that can be plotted, by its key: the config's first, in its order."""
    plots = {key_of(plot): plot for plot in lane.config.instruments.plots}
    own = {channel.key: channel for channel in OWN}
    by_controller = () if lane.controller is None else lane.controller.shown
    told = {
        name: _observable(name, lane.units.get(name.partition(".")[0], ""), by_controller)
        for name in scalars(lane.observables)
    }
    told |= {channel.key: channel for channel in (*BESIDE, *SENSED)}
    if isinstance(lane.mechanics, HolonomicVehicle):
        told |= {channel.key: channel for channel in ACCOUNT}
    if lane.mechanics is not None:
        told = _joints(lane.mechanics, told, plots.values()) if lane.node.size else told
        told |= {channel.key: channel for channel in map(_control, lane.mechanics.controls)}
    known = own | told | {key: told[plot.of] for key, plot in plots.items() if plot.of in told}
    ordered = (*(key for key in plots if key in known), *known)
    return {key: _worded(known[key], key, plots.get(key)) for key in dict.fromkeys(ordered)}


def shown_at_first(lane: LaneSnapshot) -> tuple[str, ...]:
    """What the controller that flies wants plotted, then what the config would have."""
    known, wanted = offered(lane), () if lane.controller is None else lane.controller.shown
    keys = (*wanted, *map(key_of, lane.config.instruments.plots))
    return tuple(key for key in dict.fromkeys(keys) if key in known)


def key_of(plot: Plotted) -> str:
    """The history's row."""
    return plot.of + _CHANGE if plot.change else plot.of


def columns(keys: Iterable[str], units: Mapping[str, str]) -> tuple[str, ...]:
    """The rows' names in tables, with units."""
    return tuple(COLUMNS.get(key) or _column(key, units) for key in keys)


def _column(key: str, units: Mapping[str, str]) -> str:
    name = key.removesuffix(_CHANGE)
    unit = units.get(name.partition(".")[0], "1").replace("/", "p").translate({ord(c): None for c in " ^"})
    whole = key.replace(" ", "_").replace(".", "_")
    return whole if unit == "1" else f"{whole}_{unit}"


def _observable(name: str, unit: str, by_controller: Iterable[str]) -> Channel:
    shown = "" if unit == "1" else unit
    doc = "Plotted by the controller." if name in by_controller else "Reported by the vehicle itself."
    return Channel(name, name.replace("_", " ").capitalize(), shown, doc, _FLOOR)


def _worded(channel: Channel, key: str, plot: Plotted | None) -> Channel:
    if plot is None:
        return channel
    return Channel(
        key,
        plot.title or channel.title,
        plot.unit or channel.unit,
        plot.text or channel.doc,
        plot.floor or channel.floor,
        plot.times,
    )
