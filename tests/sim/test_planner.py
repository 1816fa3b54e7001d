"""Laws of optimal control: closed forms, replays, clearances, refusals."""

import dataclasses

import numpy as np
import pytest

import sim
from sim.planner import Box, Capsule, Cylinder, Goal, Limits, Planner, Sphere, Task, Waypoint, Weights
from tests.sim.planner_tasks import EFFORT_ONLY, PLANNER, forest, replayed, rest_to_rest, unit_effort, yaw


def test_rest_to_rest_effort_is_12_d2_over_T3_and_its_error_falls_with_the_square_of_h():
    exact = 12 * 3.0**2 / 4.0**3
    errors = []
    for steps in (16, 32, 64):
        plan = PLANNER.plan(*rest_to_rest(steps), starts=1)
        assert plan.solved
        errors.append(abs(plan.cost - exact))
    slopes = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(np.abs(slopes - 2.0) < 0.15), slopes


def test_rest_to_rest_force_is_linear_in_time():
    plan = PLANNER.plan(*rest_to_rest(64), starts=1)
    force = plan.controls[:-1, 3]
    line = np.linspace(force[0], force[-1], len(force))
    assert np.abs(force - line).max() < 1e-5
    # Held over the step, the first row is the mean of 1.125 (1 - 2 t/T) over it, to second order.
    assert force[0] == pytest.approx(1.125 * (1 - 1 / 64), rel=1e-3)
    assert np.abs(plan.controls[:, [0, 1, 2, 4, 5]]).max() < 1e-7


def test_turn_about_a_principal_axis_costs_12_J_theta_squared_over_T3():
    body, angle, duration = sim.vehicle("rigid-body", mass=2.0), 2.0, 4.0
    task = Task(
        start=body.state(),
        goal=Goal(body.state(R=yaw(angle))),
        duration_s=duration,
        steps=64,
        weights=EFFORT_ONLY,
        effort_scale=unit_effort(body),
    )
    plan = PLANNER.plan(body, task, starts=1)
    assert plan.solved
    # Cayley instead of the true angle: second order in h omega.
    assert plan.cost == pytest.approx(12 * (3.0 * angle) ** 2 / duration**3, rel=1e-3)


@pytest.mark.parametrize("steps", [16, 64])
def test_least_time_with_bounded_force_is_bang_bang(steps):
    body, _ = rest_to_rest(steps)
    distance, force = 3.0, 1.5
    task = Task(
        start=body.state(),
        goal=Goal(body.state(x=(distance, 0, 0))),
        duration_s=5.0,
        free_duration=(1.0, 20.0),
        steps=steps,
        weights=Weights(effort=1e-5, comfort=0.0, time=1.0),
        limits=Limits(controls={"force_x": (-force, force)}),
        effort_scale=unit_effort(body),
    )
    plan = PLANNER.plan(body, task, starts=1)
    assert plan.solved
    assert plan.duration_s == pytest.approx(2.0 * np.sqrt(distance / force), abs=1e-5)
    pushing = plan.controls[1:-1, 3]
    assert (np.abs(np.abs(pushing) - force) < 1e-2).mean() > 0.9


@pytest.mark.parametrize(
    "scene",
    ["plan-boat-docking", "plan-boat-station", "plan-car-tunnel", "plan-car-parking", "plan-helicopter-landing",
     "plan-rigid-body-turn"],
)  # fmt: skip
def test_plans_of_scenes_are_solved_and_replay_exactly_in_the_simulation(scene):
    plan = sim.plan(None, scene, planner=PLANNER)
    assert plan.solved, plan.message
    assert plan.defect < 1e-8
    assert plan.kkt < 1e-5
    # measured: 1e-14 .. 2e-9
    assert np.abs(replayed(plan).pose - plan.trajectory.pose).max() < 1e-7


def test_snakeboard_reaches_its_place_by_wriggling():
    plan = sim.plan(None, "plan-snakeboard-sideways", planner=PLANNER)
    assert plan.solved, plan.message
    assert plan.trajectory.nodes[-1, 1:3] == pytest.approx([0.0, 0.6], abs=1e-6)
    assert np.abs(replayed(plan).pose - plan.trajectory.pose).max() < 1e-7


def test_helicopter_among_pillars_keeps_clear_between_the_nodes_too():
    plan = PLANNER.plan(*forest(), starts=1)
    assert plan.solved, plan.message
    x = plan.trajectory.nodes[:, 9:12]
    fine = np.concatenate(
        [x[k] + (x[k + 1] - x[k]) * np.linspace(0, 1, 30)[:, None] for k in range(len(x) - 1)]
    )
    for pillar in plan.task.obstacles:
        distance = np.hypot(*(fine[:, :2] - np.array(pillar.centre_w[:2])).T) - pillar.radius_m
        assert distance.min() > plan.task.clearance_m - 5e-3
    assert plan.clearance_m == pytest.approx(plan.task.clearance_m, abs=0.05)


def test_replay_at_half_the_step_differs_by_order_h_squared():
    """The same held inputs at h, h/2: the end moves by O(h^2) of the refined plan."""
    errors = []
    for steps in (32, 64):
        heli, task = forest(steps)
        plan = PLANNER.plan(heli, dataclasses.replace(task, obstacles=()), starts=1)
        assert plan.solved
        run = sim.simulate(
            heli, "variational", step=plan.step_s / 2, duration=plan.duration_s, initial=task.start,
            controls=np.repeat(plan.controls[:-1], 2, axis=0),
        )  # fmt: skip
        errors.append(np.abs(run.nodes[-1, 9:12] - plan.trajectory.nodes[-1, 9:12]).max())
    assert errors[0] / errors[1] > 3.0, errors


def test_waypoint_is_met_and_dragging_it_goes_on_from_the_plan():
    heli, task = forest()
    task = dataclasses.replace(task, obstacles=(), waypoints=(Waypoint((9.0, 4.0, 5.0), 0.3, 3.0),))
    plan = PLANNER.plan(heli, task, starts=1)
    at = round(3.0 / plan.step_s)
    assert np.linalg.norm(plan.trajectory.nodes[at, 9:12] - [9.0, 4.0, 5.0]) < 0.3 + 1e-6
    moved = dataclasses.replace(task, waypoints=(Waypoint((9.0, 4.5, 5.0), 0.3, 3.0),))
    warm, cold = PLANNER.plan(heli, moved, warm=plan), PLANNER.plan(heli, moved)
    assert warm.solved
    assert warm.cost == pytest.approx(cold.cost, rel=1e-5)
    assert warm.build_seconds < 0.1


@pytest.mark.parametrize("method", ["variational-exp", "variational-split", "rk4"])
def test_any_method_with_a_residual_can_be_planned_and_replays(method):
    heli, task = forest(40)
    plan = PLANNER.plan(heli, dataclasses.replace(task, obstacles=()), method=method, starts=1)
    assert plan.solved, plan.message
    assert np.abs(replayed(plan).pose - plan.trajectory.pose).max() < 1e-7


def test_costs_of_all_methods_agree():
    heli, task = forest(64)
    task = dataclasses.replace(task, obstacles=())
    costs = [
        PLANNER.plan(heli, task, method=m, starts=1).cost for m in ("variational", "variational-split", "rk4")
    ]
    assert np.ptp(costs) / costs[0] < 0.02, costs


@pytest.mark.parametrize(
    "obstacle",
    [
        Sphere((9.0, 0.7, 3.5), 2.0),
        Capsule((9.0, -3.0, 3.5), (9.0, 1.0, 3.5), 1.0),
        Box((9.0, 0.2, 3.0), (1.0, 2.0, 3.0), 0.4),
    ],
)
def test_every_kind_of_obstacle_is_flown_around(obstacle):
    heli, task = forest()
    plan = PLANNER.plan(heli, dataclasses.replace(task, obstacles=(obstacle,)), starts=1)
    assert plan.solved, plan.message
    assert plan.clearance_m > task.clearance_m - 5e-3


def test_a_closed_wall_is_named_with_time_and_amount():
    boat = sim.vehicle("boat")
    wall = tuple(Cylinder((8.0, y, 0.0), 1.5, f"pier {i}") for i, y in enumerate(np.arange(-10, 11, 2.5)))
    task = Task(
        start=boat.state(),
        goal=Goal(boat.state(x=16.0)),
        duration_s=20.0,
        steps=40,
        obstacles=wall,
        limits=Limits(low_w=(-2.0, -8.0, -1.0), high_w=(18.0, 8.0, 1.0)),
    )
    plan = PLANNER.plan(boat, task, time_limit_s=5.0, starts=1)
    assert plan.status == "infeasible"
    assert any("pier" in b.constraint and b.amount > 0.05 for b in plan.violations)
    assert "pier" in plan.message
    assert "What may help" in plan.message


def test_too_little_time_is_said_to_miss_the_goal():
    boat = sim.vehicle("boat")
    task = Task(start=boat.state(), goal=Goal(boat.state(x=40.0)), duration_s=4.0, steps=32)
    plan = PLANNER.plan(boat, task, time_limit_s=5.0, starts=1)
    assert plan.status == "infeasible"
    assert "goal" in plan.message
    assert "more time" in plan.message


@pytest.mark.parametrize("solver", ["fatrop", "ipopt"])
def test_stopping_at_an_iteration_keeps_its_iterate_and_the_planner_goes_on_working(solver):
    seen = []
    heli, task = forest()
    plan = PLANNER.plan(heli, task, solver=solver, show=lambda it: seen.append(it) or len(seen) < 4, starts=1)
    assert plan.status == "stopped"
    assert len(seen) == 4
    assert np.abs(plan.trajectory.nodes[:, 9:12] - seen[-1].places_w).max() < 1e-12
    assert PLANNER.plan(heli, task, solver=solver, starts=1).solved


def test_input_rates_and_limits_are_kept():
    boat = sim.vehicle("boat")
    limits = Limits(speed_mps=1.6, controls={"u_left": (-40.0, 70.0)}, rates={"u_left": 8.0})
    task = Task(start=boat.state(), goal=Goal(boat.state(x=12.0, y=4.0)), duration_s=16.0, limits=limits)
    plan = PLANNER.plan(boat, task, starts=1)
    assert plan.solved, plan.message
    left = plan.controls[:, 0]
    assert left.min() > -40.0 - 1e-6
    assert left.max() < 70.0 + 1e-6
    assert np.abs(np.diff(left)).max() / plan.step_s < 8.0 + 1e-5
    assert np.abs(plan.trajectory.velocity[:, 1:]).max() < 1.7


def test_a_file_of_ipopts_options_in_the_current_folder_is_not_obeyed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ipopt.opt").write_text("max_iter 0\noutput_file told.txt\nfile_print_level 5\n")
    assert Planner().plan(*rest_to_rest(16), solver="ipopt", starts=1).solved
    assert [path.name for path in tmp_path.iterdir()] == ["ipopt.opt"]


def test_what_a_prompt_shows_of_a_result_is_one_short_line() -> None:
    car = sim.vehicle("car", mass=900.0)
    results = [car, sim.vehicle("chain").tree, sim.simulate(car, duration=0.1), sim.linearise("boat")]
    results.append(PLANNER.plan(*rest_to_rest(16), starts=1))
    for result in results:
        assert "\n" not in repr(result)
        assert len(repr(result)) < 120
    assert repr(car) == "<vehicle car, mass = 900.0>"
    assert "solved" in repr(results[-1])
