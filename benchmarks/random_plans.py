"""How often a plan is found to where a vehicle can come: of each that has controls, nothing chosen by hand.

    python -m benchmarks.random_plans [VEHICLE ...] [--count 10] [--first 0] [--limit 30] [--told]

From rest as it is by default, inputs about what holds it go at random through four values and lead to a state, which
is the goal, but for its shape, in the same time and steps: it can be reached, by inputs that the planner does not
know. Inputs that break the usual limits of a task or leave joints' ranges are halved until they do not; where the
least of them do, as of what falls over or wants shorter steps, the time is halved. Each task is planned as anybody
would, until there is a plan. What floats on waves is planned on flat water; what cannot be planned at all is left out.
"""

import argparse
import itertools
import multiprocessing
import time
from dataclasses import dataclass

import numpy as np

import sim
from sim.contact.trees import TreeGround
from sim.integrators import integrator
from sim.planner import Goal, Limits, Planner, Task, calm_water
from sim.planner.task.bodies import velocities
from sim.planner.task.inputs import holding, holding_scale, input_map_of
from sim.planner.task.task import check_can_plan, usual_method
from sim.planner.transcription.shape import inertia_diagonal
from sim.platform.errors import quote
from sim.steppers.dynamics import stepper_of
from sim.vehicles.forms.articulated import ArticulatedVehicle
from sim.vehicles.forms.form import State, Support
from sim.vehicles.forms.holonomic import HolonomicVehicle
from sim.vehicles.forms.homogeneous import ActionVehicle
from sim.world.terrain import Terrain

DURATION_S, STEPS = 2.0, 32
_SPREAD, _KNOTS = 0.3, 4
"""Of inputs about what holds the vehicle, in their own units; how many values they go through."""
_PUSHED = 4.0
"""m/s^2 or rad/s^2, at most, that a unit of an input gives what moves freely."""
_HALVED, _SHORTENED = 30, 4
"""How often inputs are halved, and the time."""
_LIMITS = Limits()
_LEVEL = Terrain(np.zeros((2, 2), np.float32), (-100.0, -100.0), 200.0)


def plannable(name: str) -> sim.Vehicle | None:
    """The vehicle, or its mechanics on flat water; None where no plan can be made."""
    vehicle = sim.vehicle(name)
    try:
        if vehicle.support is Support.WATER:
            vehicle = calm_water(vehicle)
        check_can_plan(vehicle)
    except sim.InputError:
        return None
    return vehicle


def at_rest(vehicle: sim.Vehicle) -> State:
    """As it is by default, without its velocities."""
    node = vehicle.default_state().node.copy()
    node[[i for i, _ in velocities(vehicle)]] = 0.0
    node[vehicle.node_layout.shape_velocity] = 0.0
    return vehicle.state_at_node(node)


def held_and_units(vehicle: sim.Vehicle, start: State) -> tuple[np.ndarray, np.ndarray]:
    """Planned inputs (size,) that hold it where it starts, as nearly as any do, and units of them (size,)."""
    inputs = input_map_of(vehicle)
    if isinstance(vehicle, ArticulatedVehicle | ActionVehicle):
        return holding(vehicle, start.node), holding_scale(vehicle)
    natural = inputs.natural_scale()
    units = np.array([0.5 * (c.high - c.low) for c in vehicle.controls]) if natural is None else natural
    if isinstance(vehicle, HolonomicVehicle):
        pushes = np.abs(inputs.columns()) / np.abs(inertia_diagonal(vehicle))[:, None]
        units = np.minimum(units, _PUSHED / np.maximum(pushes.max(axis=0), 1e-12))
    return inputs.trim(start.node[vehicle.node_layout.pose]), units


def within(vehicle: sim.Vehicle, nodes: np.ndarray) -> bool:
    """Whether a motion (n, node size) keeps the usual limits of a task, and the ranges of its shape."""
    if not np.isfinite(nodes).all():
        return False
    at = vehicle.node_layout
    for i, angular in velocities(vehicle):
        most = _LIMITS.turn_radps if angular else _LIMITS.speed_mps
        if np.abs(nodes[:, i]).max() > most:
            return False
    if np.abs(nodes[:, at.shape_velocity]).max(initial=0.0) > _LIMITS.turn_radps:
        return False
    low, high = np.array([[c.low, c.high] for c in vehicle.shape_coordinates]).reshape(-1, 2).T
    return bool(((low < nodes[:, at.shape]) & (nodes[:, at.shape] < high)).all())


def flown(vehicle: sim.Vehicle, start: State, controls: np.ndarray, duration_s: float) -> np.ndarray:
    """(N+1, node size) that the simulation makes of controls (N, n_controls); of what touches, on level ground."""
    method, step_s = usual_method(vehicle), duration_s / STEPS
    if not isinstance(vehicle, ArticulatedVehicle) or not vehicle.meets:
        found = sim.simulate(
            vehicle, method, step=step_s, duration=duration_s, initial=start, controls=controls
        )
        return found.nodes
    stepper, p = stepper_of(vehicle, integrator(method)), vehicle.parameter_vector
    ground = TreeGround.under(vehicle, _LEVEL).env
    y, nodes = stepper.start(start.node, controls[0], p, step_s), [start.node]
    for u in controls:
        _, status, _ = stepper.advance(y, u, np.zeros(stepper.dim), p, step_s, 1, ground)
        nodes.append(stepper.node(y, u, p, step_s) if status == 0 else np.full(start.node.size, np.nan))
    return np.stack(nodes)


def reachable(vehicle: sim.Vehicle, seed: int) -> Task | None:
    """To where inputs at random lead; None where the least ones break a limit in however short a time."""
    rng, start = np.random.default_rng(seed), at_rest(vehicle)
    held, units = held_and_units(vehicle, start)
    values = rng.uniform(-1.0, 1.0, (_KNOTS, held.size))
    moments = np.linspace(0.0, _KNOTS - 1.0, STEPS + 1)
    shares = np.stack([np.interp(moments, np.arange(_KNOTS), column) for column in values.T], axis=1)
    low, high = np.array([[c.low, c.high] for c in vehicle.controls]).T
    for shortened, halved in itertools.product(range(_SHORTENED), range(_HALVED)):
        duration_s = DURATION_S / 2**shortened
        planned = held + 0.5**halved * _SPREAD * units * shares
        controls = np.clip(input_map_of(vehicle).controls(planned), low, high)
        nodes = flown(vehicle, start, controls[:-1], duration_s)
        if within(vehicle, nodes):
            goal = Goal(vehicle.state_at_node(nodes[-1]))
            return Task(start, goal, duration_s, steps=STEPS, limits=_LIMITS, name=f"{vehicle.name} {seed}")
    return None


@dataclass(frozen=True)
class Answer:
    """What has come of one task."""

    word: str
    """found, not found, refused or not drawn."""
    iterations: int = 0
    cpu_s: float = 0.0
    message: str = ""
    duration_s: float = np.nan


def answer(planner: Planner, vehicle: sim.Vehicle, seed: int, limit_s: float) -> Answer:
    """Of one task, with the seconds of the processor that it took beyond building."""
    task = reachable(vehicle, seed)
    if task is None:
        return Answer("not drawn")
    try:
        planner.build(vehicle, task)
        begun = time.process_time()
        plan = planner.plan(vehicle, task, time_limit_s=limit_s, processes=1, found=lambda _: False)
    except sim.InputError as refusal:
        return Answer("refused", message=str(refusal))
    cpu_s = time.process_time() - begun
    word = "found" if plan.solved else "not found"
    return Answer(word, plan.iterations, cpu_s, plan.message, task.duration_s)


def row(name: str, first: int, count: int, limit_s: float, told: bool) -> None:
    """One line of the table, and what is said of those that are not found."""
    vehicle = plannable(name)
    if vehicle is None:
        return
    planner, answers = Planner(), {}
    for seed in range(first, first + count):
        answers[seed] = answer(planner, vehicle, seed, limit_s)
    words = [a.word for a in answers.values()]
    drawn = count - words.count("not drawn")
    missed = [str(seed) for seed, a in answers.items() if a.word in ("not found", "refused")]
    tried = [a for a in answers.values() if a.word in ("found", "not found")]
    iterations = np.median([a.iterations for a in tried]) if tried else np.nan
    cpu = np.array([a.cpu_s for a in tried]) if tried else np.array([np.nan])
    within_s = max((a.duration_s for a in tried), default=np.nan)
    print(
        f"| {name} | {words.count('found')}/{drawn} | {', '.join(missed)} | {within_s:g} | {iterations:.0f} | "
        f"{np.median(cpu):.2f} | {cpu.max():.1f} |",
        flush=True,
    )
    for seed, a in answers.items():
        if told and a.word != "found":
            print(f"<!-- {seed}: {a.word} after {a.iterations}, {a.cpu_s:.1f} s: {a.message} -->", flush=True)


def main() -> None:
    """The table of what is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("vehicles", nargs="*", help="by default all")
    parser.add_argument("--count", type=int, default=10, help="tasks of each vehicle")
    parser.add_argument("--first", type=int, default=0, help="seed of the first task")
    parser.add_argument("--limit", type=float, default=30.0, help="seconds of the processor for a task")
    parser.add_argument("--told", action="store_true", help="also what is said where no plan is found")
    asked = parser.parse_args()
    unknown = [name for name in asked.vehicles if name not in sim.vehicles()]
    if unknown:
        parser.error(f"unknown vehicle {quote(unknown[0])}; allowed: {', '.join(sim.vehicles())}")
    print("| vehicle | found | not found: seeds | in s | iterations | CPU s, median | worst |")
    print("|---|---|---|---|---|---|---|")
    for name in asked.vehicles or sim.vehicles():
        # By itself, so that a solver that does not come back is left behind.
        process = multiprocessing.get_context("spawn").Process(
            target=row, args=(name, asked.first, asked.count, asked.limit, asked.told)
        )
        process.start()
        process.join()


if __name__ == "__main__":
    main()
