"""The derivatives that the solvers are given are those of the values that they are given."""

import dataclasses
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sparse

import sim
from sim.planner import Goal, Limits, Planner, Task, Waypoint, Weights
from sim.planner.guess.guess import guess
from sim.planner.task.task import usual_method
from sim.planner.task.waypoints import waypoint_places
from sim.planner.transcription.parameters import parameters
from sim.planner.transcription.program import Program
from sim.planner.transcription.shape import problem_shape, scales_of
from sim.planner.transcription.transcription import transcribe
from tests.sim.planner_tasks import BOAT, CROSSING, forest, with_ground

ALL_COSTS = Weights(1, 1, 1, 1, 1, 1, 1)


def task_of(case: str) -> tuple[sim.Vehicle, Task]:
    if case == "forest":
        return forest(8)
    if case == "ground":
        heli, task = with_ground()
        return heli, dataclasses.replace(task, waypoints=(Waypoint((25.0, 2.0, 12.0), 3.0, 3.0),))
    if case == "boat":
        return BOAT, dataclasses.replace(CROSSING, weights=ALL_COSTS, limits=Limits(rates={"u_left": 9.0}))
    if case == "free flight":
        heli, task = forest(8)
        return heli, dataclasses.replace(task, obstacles=())
    if case == "car":
        car = sim.vehicle("car")
        return car, Task(start=car.state(), goal=Goal(car.state(x=8.0, y=2.0, theta=0.3)), duration_s=5.0)
    if case == "pusher":
        arm = sim.vehicle("pusher", hold=0.0)
        start, goal = (arm.state({"box up": 0.1, "elbow": 1.2, "box ahead": x}) for x in (0.1, 0.4))
        return arm, Task(start, Goal(goal, "free", "free", parts=("box_ahead", "velocity")), 2.0)
    board = sim.vehicle("snakeboard")
    goal = Goal(board.state(y=0.5), velocity="free")
    return board, Task(start=board.state(), goal=goal, duration_s=4.0)


CASES = [(case, free) for case in ("forest", "ground", "boat", "snakeboard") for free in (False, True)]
CASES += [("pusher", False)]


def program_of(case: str, free_time: bool) -> tuple[Program, np.ndarray, np.ndarray, np.ndarray]:
    """A program of eight steps with a generic iterate, parameters and multipliers."""
    vehicle, task = task_of(case)
    task = dataclasses.replace(task, steps=8, free_duration=(1.0, 90.0) if free_time else None)
    method, rng = sim.integrators()[usual_method(vehicle)], np.random.default_rng(5)
    shape = dataclasses.replace(problem_shape(vehicle, method, task), scales=scales_of(vehicle, task))
    t = transcribe(shape)
    places = waypoint_places(vehicle, task, 8) if task.waypoints else None
    p = parameters(t, vehicle, task, places=places)
    w = guess(t, vehicle, task) + 1e-2 * rng.normal(size=t.program.size)
    return t.program, w, p, rng.normal(size=t.program.rows)


def matrix(sparsity, values: np.ndarray) -> np.ndarray:
    rows, columns = sparsity.get_triplet()
    return sparse.coo_array((values, (rows, columns)), shape=sparsity.shape).toarray()


def differences(f, w: np.ndarray, h: float = 1e-6) -> np.ndarray:
    """Central, column by column."""
    steps = h * np.eye(w.size)
    return np.stack([(f(w + s) - f(w - s)) / (2 * h) for s in steps], axis=-1)


@pytest.mark.parametrize(("case", "free_time"), CASES)
def test_first_derivatives_are_those_of_cost_and_rows(case, free_time):
    program, w, p, _ = program_of(case, free_time)
    found = np.empty(program.jacobian_gather.sparsity.nnz())
    program.jacobian(w, p, found)
    wanted = differences(lambda x: program.constraints(x, p), w)
    scale = 1.0 + np.abs(wanted).max()
    assert np.abs(matrix(program.jacobian_gather.sparsity, found) - wanted).max() < 1e-7 * scale
    slope = np.empty(program.size)
    program.gradient(w, p, slope)
    steepest = differences(lambda x: np.array([program.cost(x, p)]), w)[0]
    assert np.abs(slope - steepest).max() < 1e-6 * (1.0 + np.abs(steepest).max())


@pytest.mark.parametrize(("case", "free_time"), CASES)
def test_second_derivatives_are_those_of_the_lagrangian_and_both_forms_agree(case, free_time):
    program, w, p, lam = program_of(case, free_time)
    slope, blocks = program.lagrangian(w, p, 1.3, lam)
    full = np.empty(program.full_hessian.sparsity.nnz())
    program.full_hessian(blocks, full)
    upper = np.empty(program.upper_hessian.sparsity.nnz())
    program.upper_hessian(blocks, upper)
    H = matrix(program.full_hessian.sparsity, full)
    assert np.array_equal(np.triu(H), matrix(program.upper_hessian.sparsity, upper))
    wanted = differences(lambda x: program.lagrangian(x, p, 1.3, lam)[0], w)
    assert np.abs(H - wanted).max() < 1e-6 * (1.0 + np.abs(wanted).max())
    plain, jacobian = np.empty(program.size), np.empty(program.jacobian_gather.sparsity.nnz())
    program.gradient(w, p, plain)
    program.jacobian(w, p, jacobian)
    pull = matrix(program.jacobian_gather.sparsity, jacobian).T @ lam
    assert np.abs(slope - 1.3 * plain - pull).max() < 1e-11 * (1.0 + np.abs(slope).max())


def test_of_many_bodies_solvers_are_told_no_entries_that_are_always_nothing():
    """Shares of the entries that are something at a generic iterate, where derivatives come as dense columns. Measured:
    0.991 and 0.992; of all entries of the columns 0.17 and 0.30 are."""
    program, w, p, lam = program_of("pusher", free_time=False)
    assert program.run.large
    first, second = (np.empty(g.sparsity.nnz()) for g in (program.jacobian_gather, program.full_hessian))
    program.jacobian(w, p, first)
    program.full_hessian(program.lagrangian(w, p, 1.3, lam)[1], second)
    assert np.count_nonzero(first) > 0.95 * first.size
    assert np.count_nonzero(second) > 0.95 * second.size


@pytest.mark.parametrize("case", ["free flight", "car", "boat", "ground"])
def test_a_plan_is_the_same_whether_unknowns_of_a_step_are_eliminated_or_variables(case, monkeypatch):
    vehicle, task = task_of(case)
    task = dataclasses.replace(task, steps=16, weights=Weights())
    eliminated = Planner().plan(vehicle, task)
    monkeypatch.setattr("sim.planner.transcription.model._ELIMINATED", 0)
    free = Planner().plan(vehicle, task)
    assert free.result.w.size > eliminated.result.w.size
    assert eliminated.solved
    assert free.solved
    assert eliminated.cost == pytest.approx(free.cost, rel=1e-6)  # 3e-8
    assert np.abs(eliminated.motion.nodes - free.motion.nodes).max() < 1e-3  # 8e-5


def test_unknowns_leave_no_residual_at_any_iterate_and_without_a_solution_the_defect_says_so():
    program, w, p, _ = program_of("free flight", free_time=False)
    assert program.imbalance(w, p) < 1e-12  # 3e-16
    wild = w.copy()
    wild[9:12] += 1e8
    assert not program.imbalance(wild, p) < 1.0  # 8e48: a spin beyond what double precision can step


@pytest.mark.parametrize("steps", [4, 8, 16])
def test_few_long_steps_end_in_a_plan_and_do_not_keep_the_solver_for_ever(steps):
    heli, flight = forest(steps)
    boat = sim.vehicle("boat", wind=(0.0, -6.0))
    drift = Task(
        start=boat.state(), goal=Goal(boat.state(x=0.4, y=0.1, theta=2.0)), duration_s=12.0, steps=steps
    )
    for vehicle, wanted in ((heli, dataclasses.replace(flight, obstacles=())), (boat, drift)):
        plan = Planner().plan(vehicle, wanted)
        assert plan.solved
        assert plan.backend == "fatrop"


def test_a_solver_that_does_not_come_back_is_left_behind_and_another_one_plans():
    # In a process of its own: what is left behind runs until that ends. The first call stands still.
    script = """
import dataclasses, sys, threading
import sim.planner.solvers.backends as backends
from sim.planner import Planner
from tests.sim.planner_tasks import forest
class Stuck(backends.WatchedCall):
    made = 0
    def __init__(self, call):
        Stuck.made += 1
        super().__init__(threading.Event().wait if Stuck.made == 1 else call)
backends.WatchedCall, backends._SILENT_S = Stuck, 0.5
heli, task = forest(16)
plan = Planner().plan(heli, dataclasses.replace(task, obstacles=()), explain=False, starts=1)
sys.exit(0 if plan.solved and plan.backend == "ipopt" else 1)
"""
    assert subprocess.run([sys.executable, "-c", script], timeout=1500, check=False).returncode == 0


def test_solvers_that_are_left_behind_do_not_abort_the_process_as_it_ends():
    # Given up after 20 ms, they are amid their iterations then. Without a solver's being held at the end three of five
    # such processes aborted ("terminate called without an active exception").
    script = """
import sim.planner.solvers.backends as backends
from sim.planner import Planner
from sim.planner.api import task_of_scene
from sim.scene import load_scene
backends._SILENT_S, backends._LOOK_S = 0.0, 0.02
Planner().plan(*task_of_scene(load_scene("plan-canyon")), explain=False, starts=1)
"""
    for _ in range(5):
        done = subprocess.run(
            [sys.executable, "-c", script], timeout=600, check=False, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr


def test_solvers_that_never_ask_again_do_not_keep_a_process_from_its_end():
    # In steps of seven hours a solver looks for its first direction for ever. By the clock it is waited for as long as
    # may be here, as on a machine where others take all turns.
    script = """
import sim
import sim.planner.solvers.oracle as oracle
from sim.planner import Goal, Planner, Task
oracle._HELD_S = 1e9
craft = sim.vehicle("helicopter")
start = craft.default_state()
node = start.node.copy()
node[craft.node_layout.velocity] = (-0.5, 0.3, 0.4, 2.0, -1.0, 3.0)
plan = Planner().plan(craft, Task(start, Goal(craft.state_at_node(node)), 1e5, steps=4), starts=1, time_limit_s=0.4)
assert not plan.solved
"""
    assert subprocess.run([sys.executable, "-c", script], timeout=600, check=False).returncode == 0


def test_a_solver_that_was_left_behind_in_one_task_takes_no_guess_from_the_next():
    script = """
import dataclasses, sys, threading
import sim.planner.solvers.backends as backends
from sim.planner import Planner
from tests.sim.planner_tasks import forest
class Stuck(backends.WatchedCall):
    made = 0
    def __init__(self, call):
        Stuck.made += 1
        super().__init__(threading.Event().wait if Stuck.made == 1 else call)
heli, task = forest(16)
fresh = Planner().plan(heli, task, processes=1)
backends.WatchedCall, backends._SILENT_S = Stuck, 0.5
planner = Planner()
planner.plan(heli, task, explain=False, starts=1)
again = planner.plan(heli, task, processes=1)
print(fresh.tried, again.tried, fresh.cost, again.cost)
sys.exit(0 if again.tried == fresh.tried > 2 and again.cost < 1.001 * fresh.cost else 1)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], timeout=1500, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
