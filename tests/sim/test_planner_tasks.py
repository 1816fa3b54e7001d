"""Impossible tasks are refused before solving, each with its reason; the program's derivatives are exact."""

import dataclasses

import casadi as ca
import numpy as np
import pytest

import sim
from sim.planner import Box, Capsule, Cylinder, Goal, Limits, Sphere, Task, Waypoint, Weights, safe_ground
from sim.planner.clearance import clearance
from sim.planner.guess import guess
from sim.planner.inputs import input_chart
from sim.planner.obstacles import KINDS, true_distance
from sim.planner.parameters import parameters
from sim.planner.scene_task import read_task
from sim.planner.shape import problem_shape, scales_of
from sim.planner.transcription import transcribe
from sim.toml_table import TomlTable
from sim.world.terrain import Terrain
from tests.sim.planner_tasks import PLANNER, forest, rest_to_rest


def hills() -> Terrain:
    """A ridge across the way."""
    x = np.arange(0.0, 61.0)
    y = np.arange(-20.0, 21.0)
    heights = 6.0 * np.exp(-(((x[None, :] - 30.0) / 4.0) ** 2)) + 0.05 * np.sin(y[:, None])
    return Terrain(np.ascontiguousarray(heights, np.float32), (0.0, -20.0), 1.0)


def with_ground(margin_m: float = 1.0) -> tuple[sim.Vehicle, Task]:
    heli, task = forest()
    ground = safe_ground(hills(), margin_m=margin_m, low_m=(8.0, -10.0), high_m=(52.0, 10.0), spacing_m=1.5)
    start, goal = heli.state(x=(10, 0, 3)), Goal(heli.state(x=(50, 0, 3)))
    return heli, dataclasses.replace(
        task, start=start, goal=goal, obstacles=(), ground=ground, duration_s=10.0, clearance_m=margin_m
    )


HELI, FOREST = forest()
BOAT = sim.vehicle("boat")
CROSSING = Task(start=BOAT.state(), goal=Goal(BOAT.state(x=10.0)), duration_s=10.0)


@pytest.mark.parametrize(
    ("vehicle", "task", "words"),
    [
        (BOAT, dataclasses.replace(CROSSING, duration_s=0.0), "duration_s = 0"),
        (BOAT, dataclasses.replace(CROSSING, duration_s=-3.0), "duration_s = -3"),
        (BOAT, dataclasses.replace(CROSSING, duration_s=float("nan")), "duration_s = nan"),
        (BOAT, dataclasses.replace(CROSSING, steps=2), "steps = 2"),
        (BOAT, dataclasses.replace(CROSSING, free_duration=(5.0, 2.0)), "free duration"),
        (
            BOAT,
            dataclasses.replace(CROSSING, obstacles=(Cylinder((0.2, 0, 0), 1.0, "pile"),)),
            "start is inside obstacle pile",
        ),
        (
            BOAT,
            dataclasses.replace(CROSSING, obstacles=(Sphere((10.0, 0.2, 0), 0.5),)),
            "goal is inside obstacle sphere 1",
        ),
        (BOAT, dataclasses.replace(CROSSING, obstacles=(Sphere((5.0, 0.2, 0), -0.5),)), "sizes must be above 0"),
        (
            BOAT,
            dataclasses.replace(CROSSING, limits=Limits(controls={"u_left": (50.0, 10.0)})),
            "bounds contradict each other: u_left from 50 to 10",
        ),
        (
            BOAT,
            dataclasses.replace(CROSSING, limits=Limits(controls={"u_left": (400.0, 500.0)})),
            "bounds contradict each other: u_left",
        ),
        (BOAT, dataclasses.replace(CROSSING, limits=Limits(controls={"u_c": (0.0, 1.0)})), "unknown control 'u_c'"),
        (
            BOAT,
            dataclasses.replace(CROSSING, limits=Limits(low_w=(3, 0, 0), high_w=(1, 0, 0))),
            "bounds contradict each other: x from 3 to 1",
        ),
        (
            BOAT,
            dataclasses.replace(CROSSING, limits=Limits(low_w=(1, -9, -9), high_w=(20, 9, 9))),
            "start is outside the bounds",
        ),
        (BOAT, dataclasses.replace(CROSSING, weights=Weights(effort=-1.0)), "weight effort"),
        (BOAT, dataclasses.replace(CROSSING, waypoints=(Waypoint((5, 0, 0), 0.0),)), "tolerance"),
        (BOAT, dataclasses.replace(CROSSING, waypoints=(Waypoint((5, 0, 0), 0.5, 40.0),)), "at 40 s"),
        (HELI, CROSSING, "does not fit vehicle 'helicopter'"),
    ],
)  # fmt: skip
def test_impossible_tasks_are_refused_with_the_reason(vehicle, task, words):
    with pytest.raises(sim.InputError) as refusal:
        PLANNER.plan(vehicle, task)
    assert words in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(("height", "words"), [(-2.0, "goal is under ground"), (0.4, "too low to keep 1 m")])
def test_a_goal_in_the_ground_or_too_near_to_it_is_refused(height, words):
    heli, task = with_ground()
    low = dataclasses.replace(task, goal=Goal(heli.state(x=(50, 0, height))))
    with pytest.raises(sim.InputError, match=words):
        PLANNER.plan(heli, low)


def test_safe_ground_lies_above_every_point_that_is_too_near_to_the_terrain():
    terrain, margin = hills(), 1.5
    ground = safe_ground(terrain, margin_m=margin, low_m=(5.0, -10.0), high_m=(55.0, 10.0), spacing_m=1.5)
    rng = np.random.default_rng(2)
    x, y = rng.uniform(5, 55, 400), rng.uniform(-10, 10, 400)
    z = ground.height(x, y)
    fine = np.stack(np.meshgrid(np.linspace(0, 60, 301), np.linspace(-20, 20, 201)), axis=-1).reshape(-1, 2)
    soil = np.c_[fine, terrain.height(fine[:, 0], fine[:, 1])]
    nearest = [np.linalg.norm(soil - p, axis=1).min() for p in np.c_[x, y, z]]
    assert min(nearest) > margin - 0.15  # the terrain's samples are 1 m apart
    jet = np.array(ground.jet().map(400)(np.stack([x, y])))
    assert np.abs(jet[0] - z).max() < 1e-9


def test_a_ridge_is_flown_over_with_the_wanted_distance():
    heli, task = with_ground()
    plan = PLANNER.plan(heli, task)
    assert plan.solved, plan.message
    x = plan.trajectory.nodes[:, 9:12]
    fine = np.concatenate(
        [x[k] + (x[k + 1] - x[k]) * np.linspace(0, 1, 20)[:, None] for k in range(len(x) - 1)]
    )
    fx = np.linspace(0, 60, 241)
    soil = np.c_[fx, np.zeros_like(fx), hills().height(fx, np.zeros_like(fx))]
    assert min(np.linalg.norm(soil - p, axis=1).min() for p in fine) > 0.9


@pytest.mark.parametrize("free_time", [False, True])
@pytest.mark.parametrize("case", ["forest", "ground", "boat", "snakeboard"])
def test_jacobian_and_hessian_agree_with_differences(case, free_time):
    tasks = {
        "forest": forest(8),
        "ground": with_ground(),
        "boat": (
            BOAT,
            dataclasses.replace(
                CROSSING, weights=Weights(1, 1, 1, 1, 1, 1, 1), limits=Limits(rates={"u_left": 9.0})
            ),
        ),
    }
    if case == "snakeboard":
        board = sim.vehicle("snakeboard")
        vehicle, task = (
            board,
            Task(start=board.state(), goal=Goal(board.state(y=0.5), velocity="free"), duration_s=4.0),
        )
    else:
        vehicle, task = tasks[case]
    task = dataclasses.replace(task, steps=8, free_duration=(1.0, 90.0) if free_time else None)
    shape = problem_shape(vehicle, sim.integrators()["variational"], task)
    t = transcribe(dataclasses.replace(shape, scales=scales_of(vehicle, task)))
    p, rng = parameters(t, vehicle, task), np.random.default_rng(4)
    w = guess(t, vehicle, task) + 1e-2 * rng.normal(size=t.low.size)
    lam, d = rng.normal(size=t.row_low.size), rng.normal(size=t.low.size)
    h = 1e-6

    def slope(f, i):
        return (np.array(f(w + h * d)[i]).ravel() - np.array(f(w - h * d)[i]).ravel()) / (2 * h)

    _, J = t.jacobian(w, p)
    exact = np.array(J @ ca.DM(d)).ravel()
    assert np.abs(slope(lambda x: t.value(x, p), 1) - exact).max() < 1e-5 * max(1.0, np.abs(exact).max())
    pull, H = t.hessian(w, p, 1.0, lam)
    J_lam = np.array(t.gradient(w, p)[1]).ravel() + np.array(J.T @ ca.DM(lam)).ravel()
    assert np.abs(np.array(pull).ravel() - J_lam).max() < 1e-9 * max(1.0, np.abs(J_lam).max())
    exact = np.array(H @ ca.DM(d)).ravel()
    assert np.abs(slope(lambda x: t.hessian(x, p, 1.0, lam), 0) - exact).max() < 1e-4 * max(
        1.0, np.abs(exact).max()
    )


def test_thrust_vector_gives_the_helicopters_own_wrench():
    heli = sim.vehicle("helicopter", rotor_offset=0.4)
    chart, rng = input_chart(heli), np.random.default_rng(0)
    u = np.stack([rng.uniform(20, 80, 50), rng.uniform(-5, 5, 50), *rng.uniform(-0.4, 0.4, (2, 50))], axis=1)
    a = chart.planned(u)
    assert np.abs(chart.controls(a) - u).max() < 1e-12
    U, p = ca.SX.sym("u", 4), ca.SX(heli.parameter_vector)
    wrench = ca.Function("w", [U], [heli.control_wrench(U, heli.symbols(p))])
    own = np.array(wrench.map(50)(u.T)).T
    assert np.abs(a @ chart.columns().T - own).max() < 1e-12


@pytest.mark.parametrize(
    "obstacle",
    [
        Sphere((1, 2, 3), 1.5),
        Cylinder((1, 2, 0), 1.5),
        Capsule((0, 0, 0), (2, 1, 3), 0.7),
        Box((1, 0, 2), (1.0, 2.0, 0.5), 0.7),
    ],
)
def test_signed_distances_of_the_optimiser_change_sign_on_the_true_surface(obstacle):
    rng, kind = np.random.default_rng(1), KINDS[obstacle.kind]
    x, margin = ca.SX.sym("x", 3), 0.2
    smooth = ca.Function("d", [x], [kind.distance(x, ca.SX(obstacle.numbers()), ca.SX(margin))])
    points = rng.uniform(-4, 6, (4000, 3))
    true = true_distance(obstacle, points) - margin
    told = np.array(smooth.map(4000)(points.T)).ravel()
    clear = np.abs(true) > 0.03  # edges of the box are rounded
    assert (np.sign(true[clear]) == np.sign(told[clear])).all()


def test_clearance_is_measured_between_the_nodes():
    body, task = rest_to_rest(8)
    poses = np.tile(np.r_[np.eye(3).ravel(), 0, 0, 0], (2, 1))
    poses[1, 9] = 10.0
    ball = dataclasses.replace(task, obstacles=(Sphere((5.0, 1.5, 0.0), 1.0),))
    clear = clearance(body, poses, ball)
    assert clear.least_m == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"durration_s": 3.0}, "plan.durration_s: unknown key"),
        ({"weights": {"effrt": 1.0}}, "plan.weights.effrt: unknown key"),
        ({"goal": {"position": "near"}}, 'plan.goal.position: unknown "near"'),
        ({"obstacles": [{"kind": "cone"}]}, 'plan.obstacles[0].kind: unknown "cone"'),
        ({"steps": 2000}, "plan.steps: 2000 is refused"),
        ({"goal": {"fixed_shape": ["psi"]}}, 'plan.goal.fixed_shape: unknown "psi"'),
    ],
)
def test_task_files_are_read_strictly(change, words):
    table = TomlTable("x.toml", {"start": {}, "goal": {"position_m": [5.0, 0.0]}, **change}, "plan.")
    with pytest.raises(sim.InputError) as refusal:
        read_task(table, BOAT, None, "x", None)
    assert words in str(refusal.value)
