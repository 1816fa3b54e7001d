"""Laws of a plan's picture: it lies where the plan is, fades, turns red where it fails."""

from dataclasses import replace

import numpy as np
import pytest

from render.frame import Frame, View
from render.plan.shapes import HELD
from render.plan.view import ALTERNATIVE, FAILED, KEPT, PRESENT, STALE, PlanScene
from sim.planner import Box, Capsule, Cylinder, Goal, Iterate, Sphere, Task, Violation
from sim.planner.result.active_constraints import ActiveConstraint
from sim.planner.service.session import FADE_S, FadingIterate, PlanView
from sim.planner.task.motions import Motion
from sim.planner.task.refusal import Refusal
from sim.vehicles import vehicle
from sim.world import load_world
from tests.sim.plan_samples import BOAT, record, task

EMPTY = Frame(View(np.zeros(3), np.eye(4), np.eye(4)), ())


def picture(now_s: float = 0.0, **changes) -> Frame:
    view = replace(PlanView(BOAT, task(), plan=record()), **changes)
    return PlanScene(load_world("plain", seed=7)).added(EMPTY, view, now_s)


def colours(frame: Frame) -> set[tuple[float, float, float]]:
    return {surface.colour for surface in frame.surfaces}


def test_ghosts_run_from_the_plans_start_to_its_end_with_their_thrust() -> None:
    frame = picture()
    places = np.array([vehicle.T_wb[:3, 3] for vehicle in frame.vehicles])
    assert all(vehicle.ghost for vehicle in frame.vehicles)
    np.testing.assert_allclose(places[[0, -1], :2], [[0.0, 0.0], [10.0, 0.0]])
    # Both thrusters push ahead.
    assert all(arrow.vector_w[0] > 0.0 for arrow in frame.arrows)


def test_ghosts_keep_apart_and_those_of_a_turn_on_the_spot_are_spread_in_time() -> None:
    still = record(nodes=np.zeros((5, BOAT.node_layout.size)))
    assert len(picture(plan=still).vehicles) == 2
    nodes = record().nodes.copy()
    nodes[:, 1] *= 100.0
    many = np.array([vehicle.T_wb[:3, 3] for vehicle in picture(plan=record(nodes=nodes)).vehicles])
    assert 2 < len(many) <= 9
    ahead = np.linalg.norm(np.diff(many, axis=0), axis=1)
    assert ahead.min() > 4.0


def test_ghosts_of_what_walks_stand_clear_of_each_other() -> None:
    """Two metres on its feet, which swing to and fro under it: no ghost is in another."""
    dog = vehicle("quadruped")
    start = dog.default_state().node
    nodes = np.repeat(start[None], 41, axis=0)
    nodes[:, 0] += np.linspace(0.0, 2.0, 41)
    joints = slice(3, dog.tree.nq)
    nodes[:, joints] += (
        0.3 * np.sin(np.linspace(0.0, 20.0, 41))[:, None] * np.linspace(1.0, -1.0, dog.tree.nq - 3)
    )
    walked = record(vehicle=dog, nodes=nodes, controls=np.zeros((41, len(dog.controls))), step_s=0.05)
    there = Task(dog.state_at_node(start), Goal(dog.state_at_node(nodes[-1])), 2.0, steps=40)
    view = PlanView(dog, there, plan=walked)
    ghosts = [v for v in PlanScene(load_world("plain", seed=7)).added(EMPTY, view, 0.0).vehicles if v.ghost]
    places = np.array([ghost.T_wb[:3, 3] for ghost in ghosts])
    assert len(ghosts) >= 2
    assert np.linalg.norm(np.diff(places, axis=0), axis=1).min() > 0.7  # 1.0; 0.5 by the way of a foot


def test_no_ghost_stands_in_the_vehicle_itself() -> None:
    ghosts = picture().vehicles
    solid = replace(ghosts[0], ghost=False)
    view = PlanView(BOAT, task(), plan=record())
    frame = PlanScene(load_world("plain", seed=7)).added(replace(EMPTY, vehicles=(solid,)), view, 0.0)
    np.testing.assert_allclose(
        [v.T_wb[:3, 3] for v in frame.vehicles if v.ghost], [v.T_wb[:3, 3] for v in ghosts[1:]]
    )
    assert len(frame.arrows) == len(ghosts)


def test_a_turn_on_the_spot_is_drawn_by_the_ways_of_nose_side_and_top() -> None:
    nodes = np.zeros((5, BOAT.node_layout.size))
    nodes[:, 0] = np.linspace(0.0, 1.0, 5)
    frame = picture(plan=record(nodes=nodes))
    ends = [line.points_w[-1] - line.points_w[0] for line in frame.lines if len(line.points_w) == 5]
    # The nose goes round by the angle of the turn: its chord is 2 r sin(1/2) with r = 0.24 x 8.5 m.
    assert np.linalg.norm(ends, axis=1).max() == pytest.approx(2.0 * 2.04 * np.sin(0.5), rel=1e-6)
    assert len(picture().lines) < len(frame.lines)


def test_kept_plans_have_their_own_colours_and_may_be_left_out() -> None:
    kept = (record("one"), record("two"))
    assert {KEPT[0], KEPT[1]} <= colours(picture(kept=kept))
    shown = colours(picture(kept=kept, hidden=frozenset({"one"})))
    assert KEPT[0] not in shown
    assert KEPT[1] in shown


def test_the_reach_runs_from_the_start_over_plan_and_waypoints_to_the_goal() -> None:
    scene = PlanScene(load_world("plain", seed=7))
    alone = scene.reach(PlanView(BOAT, replace(task(), obstacles=())))
    np.testing.assert_allclose(alone[[0, -1], :2], [[0.0, 0.0], [10.0, 0.0]])
    assert len(alone) == 3
    assert len(scene.reach(PlanView(BOAT, task(), plan=record()))) == 3 + len(record().nodes)


def test_without_a_plan_the_reach_runs_over_what_has_to_be_kept_clear_of() -> None:
    scene = PlanScene(load_world("plain", seed=7))
    obstacles = (
        Sphere((4.0, 30.0, 8.0), 2.0),
        Box((5.0, -40.0, 3.0), (1.0, 6.0, 3.0), heading_rad=0.5 * np.pi),
        Cylinder((60.0, 0.0, 0.0), 1.0),
        Capsule((0.0, 0.0, 70.0), (0.0, 9.0, 70.0), 1.0),
        Box((0.0, 0.0, 0.0), (500.0, 1.0, 1.0), look="kerb"),
    )
    asked = replace(task(), obstacles=obstacles)
    reach = scene.reach(PlanView(BOAT, asked))
    np.testing.assert_allclose(reach[[0, -1], :2], [[0.0, 0.0], [10.0, 0.0]])
    np.testing.assert_allclose(reach.max(0), [61.0, 32.0, 70.0])
    np.testing.assert_allclose(reach[:, :2].min(0), [-1.0, -41.0])
    np.testing.assert_array_equal(
        scene.reach(PlanView(BOAT, asked, plan=record())), scene.reach(PlanView(BOAT, task(), plan=record()))
    )
    moved = scene.reach(PlanView(BOAT, asked, (0.0, 0.0, 5.0)))
    np.testing.assert_allclose(moved[:, 2].max(), 75.0)


def test_with_a_plan_the_reach_runs_over_what_moves_where_it_is_at_the_end() -> None:
    scene, flown = PlanScene(load_world("plain", seed=7)), record()
    buoys = (Sphere((4.0, 30.0, 8.0), 2.0, name="drifts"), Sphere((4.0, -30.0, 8.0), 2.0, name="lies"))
    drift = Motion(("drifts",), velocity_mps=(0.0, 3.0, 0.0))
    asked = replace(task(), obstacles=buoys, motions=(drift,))
    reach = scene.reach(PlanView(BOAT, asked, plan=flown))
    np.testing.assert_allclose(reach[[0, -1], :2], [[0.0, 0.0], [10.0, 0.0]])
    np.testing.assert_allclose(reach[:, 1].max(), 32.0 + 3.0 * flown.duration_s)
    assert reach[:, 1].min() > -2.0


def test_the_ribbon_is_green_light_red_or_grey() -> None:
    assert PRESENT in colours(picture())
    assert FAILED in colours(picture(plan=record(status="infeasible")))
    assert STALE in colours(picture(stale=True))


def test_a_plan_of_another_task_pales_unless_it_is_about_to_follow() -> None:
    for dated in ({"stale": True}, {"stale": True, "phase": "following", "outrun": True}):
        frame = picture(**dated)
        assert STALE in colours(frame)
        assert PRESENT not in colours(frame)
        assert all(vehicle.tint == STALE for vehicle in frame.vehicles)
        assert frame.arrows == ()
    assert PRESENT in colours(picture(stale=True, phase="following"))


def test_rungs_cross_the_ribbon_at_every_second() -> None:
    # 10 m in 8 s: 1.25 m apart, from edge to edge.
    lines = [line for line in picture().lines if line.width_px == 1.3]
    (points,) = (line.points_w for line in lines)
    across = np.abs(np.diff(points[:, 1])) > 0.1
    np.testing.assert_allclose(points[:-1][across][:, 0], 1.25 * np.arange(1, 8), atol=1e-9)
    np.testing.assert_allclose(points[1:][across][:, 0], points[:-1][across][:, 0], atol=1e-9)


def test_what_holds_the_plan_stands_out() -> None:
    by_limit = ActiveConstraint("u_left at most 30 N", ((4.0, 6.0),))
    by_buoy = ActiveConstraint("touches buoy", ((4.0, 4.0),), obstacle=0)
    assert HELD not in colours(picture())
    frame = picture(plan=record(active=(by_limit, by_buoy)))
    edges = [line.points_w for line in frame.lines if line.colour == HELD]
    assert len(edges) == 2
    np.testing.assert_allclose([edge[[0, -1], 0] for edge in edges], [[5.0, 7.5]] * 2)
    (skin,) = (surface for surface in frame.surfaces if surface.colour == HELD)
    np.testing.assert_allclose(skin.corners_w.mean(axis=0)[:2], [5.0, 2.0], atol=0.05)


def test_an_obstacle_that_a_refusal_is_about_is_red() -> None:
    frame = picture(
        refusal=Refusal(
            "goal is inside obstacle buoy or its clearance by 1 m",
            ("goal", "obstacle 0"),
            "inside an obstacle",
        ),
        stale=True,
    )
    (red,) = (surface for surface in frame.surfaces if surface.colour == FAILED)
    np.testing.assert_allclose(red.corners_w.mean(axis=0)[:2], [5.0, 2.0], atol=0.05)


def test_a_failure_is_marked_in_red_at_its_place() -> None:
    violation = Violation(
        "obstacle buoy is entered", 2.0, 0.4, "m", (5.0, 1.5, 0.0), "obstacle 0", missed=False
    )
    frame = picture(plan=record(status="infeasible", violations=(violation,)))
    marks = [s for s in frame.surfaces if s.colour == FAILED]
    middles = np.array([s.corners_w.mean(axis=0)[:2] for s in marks])
    assert np.linalg.norm(middles - [5.0, 1.5], axis=1).min() < 0.1
    # The obstacle that is to blame is red, too.
    assert np.linalg.norm(middles - [5.0, 2.0], axis=1).min() < 0.1


def test_only_the_obstacle_that_is_to_blame_is_red_named_or_not() -> None:
    names = ("east", "north-east", "")
    obstacles = tuple(Cylinder((5.0, 5.0 + 8.0 * k, 0.0), 1.0, name) for k, name in enumerate(names))
    for guilty in range(3):
        violation = Violation(
            "it is entered", 2.0, 0.4, "m", (0.0, -9.0, 0.0), f"obstacle {guilty}", missed=False
        )
        frame = picture(
            task=task(obstacles=obstacles), plan=record(status="infeasible", violations=(violation,))
        )
        red = np.array([s.corners_w.mean(axis=0)[:2] for s in frame.surfaces if s.colour == FAILED])
        hit = [bool(np.linalg.norm(red - o.centre_w[:2], axis=1).min() < 0.1) for o in obstacles]
        assert hit == [k == guilty for k in range(3)]


def test_iterates_fade_and_are_gone() -> None:
    places = Iterate(0, 1.0, 1.0, record().places_w).places_w

    def brightest(now_s: float) -> float:
        few, more = picture(now_s), picture(now_s, iterates=(FadingIterate(places, 0.0),))
        extra = more.lines[len(few.lines) :]
        return max((float(np.max(line.alpha)) for line in extra), default=0.0)

    assert brightest(0.0) > brightest(0.5 * FADE_S) > 0.0
    assert brightest(FADE_S) == 0.0


def test_kept_plans_have_colours_of_their_own() -> None:
    kept = (record("one"), record("two"))
    alone = colours(picture())
    assert len(colours(picture(kept=kept)) - alone) == 2


def test_other_ways_are_thin_lines_of_a_plan_that_is_not_out_of_date() -> None:
    nodes = record().nodes.copy()
    nodes[1:-1, 2] += 3.0
    plan = record(alternatives=(record("way 2", nodes=nodes),))

    def thin(**changes) -> list:
        return [line for line in picture(plan=plan, **changes).lines if line.colour == ALTERNATIVE]

    (line,) = thin()
    np.testing.assert_allclose(line.points_w[:, :2], nodes[:, 1:3])
    assert line.width_px <= 2.0
    assert thin(stale=True) == []
