"""Tasks with costs, constraints, references, numbers and parameters of a user's own."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import sim
from sim.planner import Goal, Limits, PathConstraint, Reference, Task, Weights
from sim.planner.result.record import record_of
from sim.planner.result.store import load_record, save_record
from sim.planner.task.inputs import input_map_of
from sim.recordings import Take
from tests.sim.planner_tasks import EFFORT_ONLY, PLANNER, replayed, unit_effort

BOAT = sim.vehicle("boat")
BERTH = Task(BOAT.state(), Goal(BOAT.state(x=22.0, y=8.0, theta=1.57)), duration_s=20.0, steps=64)
V_X = BOAT.space.columns.index("v_x_mps")

HELI, MOTORBOAT = sim.vehicle("helicopter"), sim.planner.calm_water(sim.vehicle("motorboat"))
ACROSS = Task(
    HELI.state(x=(0.0, 0.0, 5.0)), Goal(HELI.state(x=(15.0, 3.0, 6.0)), rotation="upright"), 5.0, steps=48
)
AHEAD = Task(
    MOTORBOAT.state_of((0.0, 0.0, 0.0), np.zeros(3)),
    Goal(MOTORBOAT.state_of((0.6, 25.0, 6.0), np.zeros(3))),
    20.0,
    steps=48,
)


def planned(vehicle: sim.Vehicle, task: Task, **options: object) -> sim.planner.Plan:
    plan = PLANNER.plan(vehicle, task, starts=1, **options)  # type: ignore[arg-type]
    assert plan.solved, plan.message
    return plan


def test_a_cost_of_ones_own_is_the_integral_of_its_expression() -> None:
    task = replace(BERTH, cost=lambda node: 0.1 * node["y_m"] ** 2)
    plan = planned(BOAT, task)
    y = plan.trajectory.nodes[:, 2]
    by_trapezoid = 0.1 * plan.step_s * float((y[1:] ** 2 + y[:-1] ** 2).sum()) / 2
    assert plan.costs["own"] == pytest.approx(by_trapezoid, rel=1e-12)
    assert plan.cost == pytest.approx(sum(plan.costs.values()), rel=1e-12)
    assert float((y**2).mean()) < float((planned(BOAT, BERTH).trajectory.nodes[:, 2] ** 2).mean())


def test_relations_of_state_time_and_controls_are_kept_at_every_node() -> None:
    most_N = 52.0
    task = replace(
        BERTH,
        constraints=(
            lambda node: node["v_x_mps"] <= 1.45,
            PathConstraint(lambda node, time: node["y_m"] >= 0.5 * time - 2.5, "leave the shore"),
            PathConstraint(
                lambda controls: [controls["u_left"] <= most_N, controls["u_left"] >= -most_N], "motor"
            ),
        ),
    )
    plan = planned(BOAT, task)
    nodes, flown = plan.trajectory.nodes, replayed(plan)
    assert nodes[:, V_X].max() == pytest.approx(1.45, abs=1e-6)
    assert (nodes[:, 2] - (0.5 * plan.trajectory.time - 2.5)).min() == pytest.approx(0.0, abs=1e-6)
    assert np.abs(plan.controls[:-1, 0]).max() == pytest.approx(most_N, abs=1e-4)
    assert np.abs(flown.nodes - nodes).max() < 1e-9  # measured 2e-13


def test_an_equation_of_ones_own_holds_along_the_motion() -> None:
    """A boat that turns by so much a metre ahead, and ends on a line: its bow follows the way that it has gone."""
    task = replace(
        BERTH,
        goal=Goal(BERTH.goal.state, position="free", rotation="free", velocity="free"),
        constraints=(
            PathConstraint(lambda node: node["omega_z_radps"] == 0.05 * node["v_x_mps"], "circle"),
            PathConstraint(lambda node: node["x_m"] == 12.0, "line", at="end"),
        ),
    )
    plan = planned(BOAT, task)
    nodes = plan.trajectory.nodes
    assert nodes[:, 3] == pytest.approx(0.05 * nodes[:, V_X], abs=1e-7)
    assert nodes[-1, 1] == pytest.approx(12.0, abs=1e-7)
    ahead_m = plan.step_s * float((nodes[1:, V_X] + nodes[:-1, V_X]).sum()) / 2
    assert nodes[-1, 0] == pytest.approx(0.05 * ahead_m, rel=1e-3)


def test_bounds_by_the_names_of_coordinates_and_velocities_may_be_one_sided() -> None:
    """A boat whose goal lies behind it goes astern, or turns where it may not."""
    goal = Goal(BOAT.state(x=-6.0), rotation="free")
    task = Task(BOAT.state(), goal, duration_s=30.0, steps=64)
    free = planned(BOAT, task)
    ahead = PLANNER.plan(BOAT, replace(task, limits=Limits(columns={"v_x_mps": (0.0, np.inf)})))
    assert ahead.solved, ahead.message
    assert free.trajectory.nodes[:, V_X].min() < -0.2
    assert ahead.trajectory.nodes[:, V_X].min() > -1e-7
    assert ahead.cost > free.cost


def test_bodies_of_a_tree_are_in_reach_of_ones_own_terms() -> None:
    arm = sim.vehicle("six-axis-arm", hold=0.0)
    start, goal = arm.state({"turn": -0.5, "shoulder": 0.2}), arm.state({"turn": 0.6, "shoulder": 0.5})
    task = Task(start, Goal(goal), 1.5, steps=48, limits=Limits(turn_radps=6.0), weights=Weights(comfort=0.0))
    free = planned(arm, task).trajectory.bodies["gripper"][:, 2, 3]
    low, t = float(free[[0, -1]].min()) - 0.01, 1.5 * np.linspace(0.0, 1.0, 49)
    over = PathConstraint(
        lambda bodies, parameters, time: (
            bodies["gripper"][2, 3] >= parameters["low"] + 0.2 * ca.sin(np.pi * time / 1.5)
        ),
        "over",
    )
    bowed = planned(arm, replace(task, constraints=(over,), numbers={"low": low}))
    spare = bowed.trajectory.bodies["gripper"][:, 2, 3] - (low + 0.2 * np.sin(np.pi * t / 1.5))
    assert spare.min() == pytest.approx(0.0, abs=1e-6)
    assert (free - (low + 0.2 * np.sin(np.pi * t / 1.5))).min() < -0.02


def test_a_tail_rotor_that_is_switched_off_does_nothing() -> None:
    heli = sim.vehicle("helicopter")
    task = Task(
        heli.state(x=(0.0, 0.0, 5.0)),
        Goal(heli.state(x=(20.0, 3.0, 5.0)), rotation="upright"),
        duration_s=6.0,
        steps=48,
        limits=Limits(controls={"u_psi": (0.0, 0.0)}),
    )
    plan = planned(heli, task)
    assert not plan.controls[:, 1].any()
    assert np.abs(replayed(plan).nodes - plan.trajectory.nodes).max() < 1e-9  # measured 9e-14


def test_a_mass_that_is_found_with_the_motion_is_the_closed_forms() -> None:
    """Rest to rest costs 12 m^2 d^2 / T^3; lightness costs 4 / m: the sum is least at m^3 = T^3 / (6 d^2)."""
    body = sim.vehicle("rigid-body", mass=2.0)
    task = Task(
        body.state(), Goal(body.state(x=(3.0, 0.0, 0.0))), 4.0, steps=64, weights=EFFORT_ONLY,
        effort_scale=unit_effort(body), free_parameters={"mass": (0.5, 5.0)},
        end_cost=lambda parameters: 4.0 / parameters["mass"],
    )  # fmt: skip
    plan = planned(body, task)
    exact = (4.0**3 / (6.0 * 3.0**2)) ** (1.0 / 3.0)
    assert plan.found_parameters["mass"] == pytest.approx(
        exact, rel=2e-4
    )  # measured 8e-5, of second order in h
    assert plan.vehicle.values["mass"] == plan.found_parameters["mass"]
    assert np.abs(replayed(plan).nodes - plan.trajectory.nodes).max() < 1e-9


@pytest.mark.parametrize(
    ("vehicle", "low", "high", "price"), [(HELI, 2.0, 12.0, 20.0), (BOAT, 60.0, 300.0, 100.0)]
)
def test_a_mass_that_is_found_is_the_best_of_fixed_ones_where_the_task_says_what_effort_is(
    vehicle: sim.Vehicle, low: float, high: float, price: float
) -> None:
    """Where it does not, a fixed mass brings its own unit along, in which heavier helicopters fly for less."""
    task = replace(
        ACROSS if vehicle is HELI else replace(BERTH, steps=40),
        end_cost=lambda parameters: price / parameters["mass"],
        effort_scale=dict.fromkeys(input_map_of(vehicle).names, 50.0 if vehicle is HELI else 120.0),
    )
    plan = planned(vehicle, replace(task, free_parameters={"mass": (low, high)}))
    best = plan.found_parameters["mass"]
    assert 1.01 * low < best < 0.99 * high
    less, same, more = (
        planned(vehicle.with_parameters(mass=share * best), task).cost for share in (0.97, 1.0, 1.03)
    )
    assert same == pytest.approx(plan.cost, rel=1e-6)
    assert same < min(less, more)


def test_a_number_of_the_task_that_is_found_makes_a_least_maximum() -> None:
    def below(top: float | None) -> Task:
        return replace(
            BERTH,
            numbers={"top": top or 3.0},
            free_parameters={} if top else {"top": (0.0, 10.0)},
            end_cost=lambda parameters: 10.0 * parameters["top"],
            constraints=(lambda node, parameters: node["v_x_mps"] <= parameters["top"],),
        )

    plan = planned(BOAT, below(None))
    top = plan.found_parameters["top"]
    assert plan.trajectory.nodes[:, V_X].max() == pytest.approx(top, abs=1e-6)
    for other in (0.995 * top, 1.005 * top):
        assert planned(BOAT, below(other)).cost > plan.cost


def test_changing_a_number_or_making_the_function_anew_builds_nothing() -> None:
    def at_most(number: float) -> Task:
        return replace(
            BERTH,
            numbers={"v": number},
            constraints=(lambda node, parameters: node["v_x_mps"] <= parameters["v"],),
        )

    first = planned(BOAT, at_most(1.5))
    again = planned(BOAT, at_most(1.4))
    assert again.problem is first.problem
    assert again.trajectory.nodes[:, V_X].max() == pytest.approx(1.4, abs=1e-6)


def test_a_reference_is_followed_as_closely_as_its_weights_say() -> None:
    t = np.linspace(0.0, 20.0, 81)
    free = Goal(BERTH.goal.state, position="free", rotation="free", velocity="free")
    missed = []
    for weight in (0.1, 10.0, 1000.0):
        reference = Reference(
            t, {"x_m": 1.1 * t, "y_m": 3.0 * np.sin(0.15 * t)}, {"x_m": weight, "y_m": weight}
        )
        plan = planned(BOAT, replace(BERTH, goal=free, reference=reference))
        missed.append(np.abs(plan.trajectory.nodes[:, 1:3] - reference.at(plan.trajectory.time))[20:].max())
    assert missed[0] > 5 * missed[1] > 25 * missed[2]


def test_a_recorded_motion_is_a_reference_and_a_table_is_the_same(tmp_path) -> None:  # type: ignore[no-untyped-def]
    plan = planned(BOAT, BERTH)
    flown = replayed(plan)
    take = Take.of_trajectory(flown)
    take.csv(tmp_path / "flown.csv")
    columns = ("x_m", "y_m")
    for reference in (Reference.of(take, columns), Reference.read(tmp_path / "flown.csv", columns)):
        assert reference.at(plan.trajectory.time) == pytest.approx(plan.trajectory.nodes[:, 1:3], abs=1e-9)
    with pytest.raises(sim.InputError, match="no column 'z_m'; allowed"):
        Reference.read(tmp_path / "flown.csv", ("z_m",))
    for read in (lambda: Reference.of(take, "x_m"), lambda: Reference.read(tmp_path / "flown.csv", "x_m")):
        with pytest.raises(sim.InputError, match=r"columns = 'x_m' are refused; allowed: \['x_m'\]"):
            read()


@pytest.mark.parametrize("of", ["trajectory", "take", "arrays"])
def test_a_motion_is_gone_on_from_whatever_holds_it(of: str) -> None:
    """From a motion around a buoy on one side the plan stays on that side."""
    buoy = sim.planner.Cylinder((10.0, 4.0, 0.0), 1.5)
    task = replace(BERTH, obstacles=(buoy,))
    plan = PLANNER.plan(BOAT, task)
    other = next(p for p in plan.alternatives if p.solved)
    given = {
        "trajectory": other.trajectory,
        "take": Take.of_trajectory(replayed(other)),
        "arrays": (other.trajectory.nodes, other.controls),
    }[of]
    again = PLANNER.plan(BOAT, replace(task, duration_s=20.2), warm=given)
    assert again.solved
    assert again.cost == pytest.approx(other.cost, rel=0.05)
    assert again.cost > 1.05 * plan.cost


def test_a_plan_with_functions_of_ones_own_is_stored_without_them(tmp_path) -> None:  # type: ignore[no-untyped-def]
    task = replace(
        BERTH, numbers={"v": 1.45}, constraints=(lambda node, parameters: node["v_x_mps"] <= parameters["v"],)
    )
    record = record_of(planned(BOAT, task), "own")
    loaded = load_record(save_record(record, tmp_path))
    assert loaded.task is not None
    assert loaded.task.numbers == {"v": 1.45}
    assert not loaded.task.constraints


@pytest.mark.parametrize(("vehicle", "task"), [(HELI, ACROSS), (MOTORBOAT, AHEAD)], ids=["air", "flat water"])
def test_what_was_flown_is_followed_gone_on_from_and_bounded_in_the_air_and_on_flat_water(
    vehicle: sim.Vehicle,
    task: Task,
    tmp_path,  # type: ignore[no-untyped-def]
) -> None:
    plan = planned(vehicle, task)
    take = Take.of_trajectory(replayed(plan))
    take.csv(tmp_path / "flown.csv")
    columns = ("y_m", "v_x_mps")
    free = replace(task.goal, position="free", rotation="free", velocity="free")
    of_take, of_table = (
        planned(vehicle, replace(task, goal=free, reference=reference))
        for reference in (
            Reference.of(take, columns, weight=1e3),
            Reference.read(tmp_path / "flown.csv", columns, weight=1e3),
        )
    )
    assert of_take.cost == pytest.approx(of_table.cost, rel=1e-9)
    at = [vehicle.space.columns.index(name) for name in columns]
    missed = np.abs(of_take.motion.nodes - plan.motion.nodes)[:, at].max()
    assert missed < 0.05 * np.abs(plan.motion.nodes[:, at]).max()
    slower = replace(task, duration_s=1.02 * task.duration_s)
    again, anew = planned(vehicle, slower, warm=take), planned(vehicle, slower)
    assert again.cost == pytest.approx(anew.cost, rel=1e-6)
    assert again.iterations < anew.iterations

    fastest = 0.9 * float(plan.motion.nodes[:, at[1]].max())
    bounded = planned(vehicle, replace(task, limits=Limits(columns={"v_x_mps": (-np.inf, fastest)})))
    own = PathConstraint(lambda node, parameters: node["v_x_mps"] <= parameters["fastest"], "fast")
    related = planned(vehicle, replace(task, numbers={"fastest": fastest}, constraints=(own,)))
    assert bounded.motion.nodes[:, at[1]].max() == pytest.approx(fastest, abs=1e-6)
    price = bounded.duals["v_x_mps"].sum()
    assert price == pytest.approx(related.duals["fast"].sum(), rel=1e-4)
    assert price == pytest.approx(-float(related.sensitivity("fastest").cost), rel=1e-4)
    assert price > 1e-4


def no(**terms: object) -> Task:
    return replace(BERTH, **terms)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("task", "words"),
    [
        (no(cost=3), "cost = 3 is refused; allowed: a function of node"),
        (no(cost=lambda nod: 1), "cost has an argument 'nod'; allowed: node"),
        (no(cost=lambda node: node["v"]), "unknown number of the state 'v'; allowed"),
        (no(cost=lambda node: node["velocity"]), "cost gives 3 x 1 numbers; allowed: one"),
        (no(cost=lambda node: ca.norm_2(node["velocity"])), "no first derivative by omega_z_radps at the start"),
        (no(cost=lambda node: ca.fabs(node["x_m"]) ** 1.5), "no second derivative by x_m at the start"),
        (no(cost=lambda node: node["x_m"] <= 3), "cost gives a relation"),
        (no(cost=lambda node: ca.MX.sym("x")), "allowed: one expression of what it is given"),
        (no(end_cost=lambda node: ca.SX.sym("x")), "end_cost depends on a symbol 'x' of its own"),
        (no(cost=lambda node: 1 // 0), "cost has raised ZeroDivisionError"),
        (no(constraints=(lambda node: node["x_m"],)), "allowed: relations as a <= b"),
        (no(constraints=(lambda node: True,)), "gives True whatever the motion"),
        (no(constraints=(lambda node: 0 <= node["x_m"] <= 3,)), "as a <= b <= c does; allowed: "),
        (no(constraints=(lambda node: node["x_m"] <= 3,)), "goal breaks 'constraint 1' by 19"),
        (no(constraints=(lambda node: node["x_m"] >= 3,)), "start breaks 'constraint 1' by 3"),
        (no(constraints=(lambda parameters: parameters["mass"] <= 3,)), "neither the state nor the controls"),
        (no(constraints=lambda node: node["x_m"] <= 3), "allowed: a sequence of functions"),
        (no(constraints=(PathConstraint(lambda node: node["x_m"] <= 30, at="start"),)), "allowed: path, end"),
        (no(numbers={"mass": 3.0}), "is a parameter of boat; allowed: another name"),
        (no(numbers={"v": float("nan")}), "number v = nan"),
        (no(free_parameters={"mas": (1.0, 2.0)}), "unknown free parameter 'mas'; allowed"),
        (no(free_parameters={"mass": (3.0, 1.0)}), "mass is left 3 to 1; allowed"),
        (no(limits=Limits(columns={"v": (0.0, 1.0)})), "unknown number of the state 'v'; allowed"),
        (no(limits=Limits(columns={"x_m": (1.0, 30.0)})), "start has x_m = 0; allowed: 1 to 30"),
        (no(reference=Reference([0, 1], {"q": [0, 1]})), "unknown number of the state 'q'; allowed"),  # type: ignore[arg-type]
        (no(reference=Reference([0, 1], {"x_m": [0, 1]}), free_duration=(10, 30)), "a duration that is not free"),  # type: ignore[arg-type]
    ],
)  # fmt: skip
def test_what_is_wrong_with_ones_own_terms_is_said_in_one_line(task: Task, words: str) -> None:
    with pytest.raises(sim.InputError) as error:
        PLANNER.plan(BOAT, task)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_a_relation_that_cannot_be_kept_is_named_in_the_failure() -> None:
    task = replace(BERTH, constraints=(PathConstraint(lambda node: node["v_x_mps"] <= 0.4, "slow harbour"),))
    plan = PLANNER.plan(BOAT, task, starts=1)
    assert not plan.solved
    assert "slow harbour" in plan.message


def test_a_cost_that_leaves_the_inputs_open_is_told_with_what_to_weigh() -> None:
    """A hundred thousand for the square of the height, and inputs at some twenty: weighed less it is planned."""
    heli = sim.vehicle("helicopter")
    task = Task(
        heli.state(x=(0.0, 0.0, 5.0)),
        Goal(heli.state(x=(15.0, 3.0, 6.0)), rotation="upright"),
        5.0,
        steps=48,
        cost=lambda node, parameters: parameters["weight"] * node["z_m"] ** 2,
        numbers={"weight": 1e5},
    )
    plan = PLANNER.plan(heli, task, starts=1)
    assert not plan.solved
    assert "What may help: the task's own weighed some " in plan.message
    times = float(plan.message.rpartition("some ")[2].partition(" times")[0])
    planned(heli, replace(task, numbers={"weight": 1e5 / times}))
