"""Impossible tasks are refused before solving, each with its reason; the program's derivatives are exact."""

import dataclasses

import casadi as ca
import numpy as np
import pytest
from scipy.interpolate import BSpline

import sim
from sim.groups import SE2
from sim.planner import Box, Capsule, Cylinder, Goal, Limits, Sphere, Waypoint, Weights, safe_ground
from sim.planner.task.clearance import clearance
from sim.planner.task.inputs import input_map_of
from sim.planner.task.scene_task import read_task
from sim.platform.toml_table import TomlTable
from sim.shapes import KINDS
from sim.vehicles import Control, HolonomicVehicle
from tests.sim.planner_tasks import BOAT, CROSSING, PLANNER, forest, hills, rest_to_rest, with_ground

HELI, FOREST = forest()


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


def test_the_jet_of_the_safe_ground_is_that_of_a_tensor_product_of_cubic_b_splines():
    ground = safe_ground(hills(), margin_m=1.5, low_m=(5.0, -10.0), high_m=(55.0, 10.0), spacing_m=1.5)
    at = np.random.default_rng(4).uniform((5, -10), (55, 10), (200, 2))
    (ox, oy), (nx, ny) = ground.origin_m, ground.control_m.shape
    kx, ky = (o + 1.5 * (np.arange(n + 4) - 2.0) for o, n in ((ox, nx), (oy, ny)))

    def derivative(a: int, b: int) -> np.ndarray:
        along_x = BSpline(kx, ground.control_m, 3).derivative(a)(at[:, 0])
        return np.array(
            [BSpline(ky, row, 3).derivative(b)(y) for row, y in zip(along_x, at[:, 1], strict=True)]
        )

    wanted = [derivative(a, b) for a, b in ((0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2))]
    assert np.abs(ground.jets(at) - np.stack(wanted, axis=1)).max() < 1e-11  # 1.0e-13
    assert np.abs(ground.height(at[:, 0], at[:, 1]) - wanted[0]).max() < 1e-11  # 3e-14


def test_a_place_that_is_no_number_has_a_jet_that_is_none_and_harms_no_other():
    _, task = with_ground()
    at = np.array([[10.0, 3.0], [np.nan, 3.0], [np.inf, -np.inf], [10.0, 3.0]])
    jets = task.ground.jets(at)
    assert not np.isfinite(jets[1:3]).all(axis=1).any()
    assert np.isfinite(jets[0]).all()
    assert np.array_equal(jets[0], jets[3])


def test_a_ridge_is_flown_over_with_the_wanted_distance_of_what_is_held_above_it():
    heli, task = with_ground()
    plan = PLANNER.plan(heli, task)
    assert plan.solved, plan.message
    R_bw = plan.trajectory.nodes[:, :9].reshape(-1, 3, 3)  # column after column of R_wb
    x = plan.trajectory.nodes[:, 9:12] + np.array(task.ground.held_b) @ R_bw
    fine = np.concatenate(
        [x[k] + (x[k + 1] - x[k]) * np.linspace(0, 1, 20)[:, None] for k in range(len(x) - 1)]
    )
    under = np.stack(np.meshgrid(np.linspace(0, 60, 241), np.linspace(-3, 3, 25)), axis=-1).reshape(-1, 2)
    soil = np.c_[under, hills().height(under[:, 0], under[:, 1])]
    assert 0.9 < min(np.linalg.norm(soil - p, axis=1).min() for p in fine) < 1.3


def test_thrust_vector_gives_the_helicopters_own_wrench():
    heli = sim.vehicle("helicopter", rotor_offset=0.4)
    chart, rng = input_map_of(heli), np.random.default_rng(0)
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
    smooth = ca.Function("d", [x], [kind.gap(x, ca.SX(obstacle.numbers()), ca.SX(margin))])
    points = rng.uniform(-4, 6, (4000, 3))
    true = obstacle.distance(points) - margin
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
        ({"goal": {"position": "nigh"}}, 'plan.goal.position: unknown "nigh"'),
        ({"obstacles": [{"kind": "wart"}]}, 'plan.obstacles[0].kind: unknown "wart"'),
        ({"steps": 2000}, "plan.steps: 2000 is refused"),
        ({"goal": {"fixed_shape": ["psi"]}}, 'plan.goal.fixed_shape: unknown "psi"'),
    ],
)
def test_task_files_are_read_strictly(change, words):
    table = TomlTable("x.toml", {"start": {}, "goal": {"position_m": [5.0, 0.0]}, **change}, "plan.")
    with pytest.raises(sim.InputError) as refusal:
        read_task(table, BOAT, None, "x", None)
    assert words in str(refusal.value)


class Raft(HolonomicVehicle):
    """On the plane, with no more than has to be declared."""

    name = "raft"
    group = SE2
    parameters = ()
    controls = (Control("u", "N", -1.0, 1.0, "Ahead."),)

    def inertia(self, q):
        return ca.diagcat(2.0, 3.0, 3.0)

    def control_wrench(self, u, q):
        return ca.vertcat(0.0, u[0], 0.0)


def test_a_task_of_what_moves_on_the_plane_is_read_whatever_declares_it():
    start = {"position_m": [1.0, 2.0], "heading_deg": 90.0, "velocity_mps": [3.0, 4.0], "omega_radps": 5.0}
    table = TomlTable("raft.toml", {"start": start, "goal": {"position_m": [6.0, 7.0]}}, "plan.")
    task = read_task(table, Raft(), None, "raft", None)
    np.testing.assert_allclose(task.start.node, [np.pi / 2, 1.0, 2.0, 5.0, 3.0, 4.0])
    np.testing.assert_allclose(task.goal.state.node, [0.0, 6.0, 7.0, 0.0, 0.0, 0.0])
