"""Plans through contact, and the step that they are made of: contact that holds where a step ends."""

import re
from dataclasses import replace
from functools import cache
from itertools import islice
from types import SimpleNamespace

import numpy as np
import pytest

import sim
from benchmarks.plan_contact import HOPPER, LEVEL, OF, PUSHER, QUADRUPED, pushes, replayed
from sim.commands import FlyPlan
from sim.contact.trees import FRICTION, TreeGround
from sim.integrators import integrator
from sim.multibody.pushing import from_box
from sim.multibody.shapes import STAND, Link, Touching
from sim.multibody.tree import WORLD, Body, Joint, tree
from sim.planner import Goal, Limits, Planner, Task, task_of_scene
from sim.planner.guess.pushing import pushed
from sim.planner.result.record import record_of
from sim.planner.solvers import attempt
from sim.planner.solvers.contact_bounds import touching
from sim.planner.task.task import usual_method
from sim.planner.transcription.constraints import PART
from sim.scene import load_scene
from sim.shapes import Box, Sphere
from sim.simulation import Simulation
from sim.steppers.dynamics import stepper_of
from sim.vehicles import ArticulatedVehicle
from sim.vehicles.forms.parameters import Control
from sim.world import load_world
from tests.sim.multibody.test_tree_contact import run, slope, thrown
from tests.sim.simulation_scenes import advance_to

G_MPS2 = 9.81
FAST = Limits(turn_radps=20.0, speed_mps=10.0)


@pytest.fixture(scope="module")
def planner():
    return Planner()


@pytest.fixture(scope="module")
def found(planner):
    """What is planned once: (vehicle, task, plan) of a random motion and (scene, plan) of a scene's task."""
    options = {"starts": 1, "explain": False, "time_limit_s": 600.0}

    @cache
    def of_drawn(of, seed, number):
        vehicle, drawn, _ = OF[of]
        task = next(islice(drawn(np.random.default_rng(seed)), number, None))
        return vehicle, task, planner.plan(vehicle, task, **options)

    @cache
    def of_scene(name):
        scene = load_scene(name)
        vehicle, task = task_of_scene(scene)
        return scene, Planner().plan(vehicle, task, method=scene.integrator, **options)

    return SimpleNamespace(of_drawn=of_drawn, of_scene=of_scene)


@pytest.mark.parametrize(
    ("of", "seed", "number"),
    [("hopper", 5, 0), ("hopper", 6, 0), ("hopper", 7, 0), ("pusher", 1, 0), ("quadruped", 0, 5)],
)
def test_random_motions_are_found_and_the_simulation_does_them(found, of, seed, number):
    """Nobody says when what touches. Where friction leaves a step several answers the plan is the simulation's: this
    push was done 31 mm beside its plan, and another trot 3 m (`benchmarks.plan_contact`)."""
    vehicle, task, plan = found.of_drawn(of, seed, number)
    assert plan.solved, plan.message
    off, deep = replayed(plan, vehicle)
    assert off < 1e-12  # measured 0
    assert deep < 1e-11
    columns, parts = vehicle.space.columns, task.goal.parts
    met = [i for i, name in enumerate(columns) if parts is None or name in parts]
    np.testing.assert_allclose(plan.motion.nodes[-1, met], task.goal.state.node[met], atol=1e-8)


@pytest.mark.parametrize("name", ["scara", "hopper"])
def test_what_need_touch_nothing_is_planned_as_if_there_were_no_contact(planner, name):
    """An arm beside a box that is to stay, and a hopper that falls, to where inputs lead them, in 5 and 36
    iterations. With contacts relaxed in turn, the box pushed in the first guess, 504 found no way of the arm, and 503
    the hopper's."""
    vehicle = sim.vehicle(name)
    start = vehicle.state({"up": 1.5}) if name == "hopper" else vehicle.default_state()
    controls = np.array([0.02 * c.high for c in vehicle.controls])
    method, step_s = usual_method(vehicle), 0.4 / 16
    flown = sim.simulate(vehicle, method, step=step_s, duration=0.4, initial=start, controls=controls)
    task = Task(start, Goal(flown.final), 0.4, steps=16, limits=FAST)
    plan = planner.plan(vehicle, task, starts=1, explain=False, time_limit_s=600.0)
    assert plan.solved, plan.message
    assert plan.iterations < 100
    off, _ = replayed(plan, vehicle)
    assert off < 1e-8


def test_what_the_simulation_does_otherwise_to_the_last_is_not_solved(planner, monkeypatch):
    """This push wants to be revised; where it may not be, its replay ends beside it, and one line says since when."""
    monkeypatch.setattr(attempt, "REVISIONS", 1)
    task = next(pushes(np.random.default_rng(1)))
    plan = planner.plan(PUSHER, task, starts=1, explain=False, time_limit_s=600.0)
    off, _ = replayed(plan, PUSHER)
    assert off > 1e-3  # measured 3.1e-2
    assert not plan.solved
    assert re.fullmatch(
        r"IPOPT stopped after \d+ iterations "
        r"\(the simulation does [1-3] of 40 steps otherwise, the first at [01]\.\d\d s\)\.",
        plan.message,
    )


@pytest.mark.parametrize(("number", "most"), [(0, 30), (1, 80)])
def test_the_next_plan_begins_with_the_contacts_that_the_simulation_has_settled(planner, found, number, most):
    """The same push with the box 20 mm further, after one that was revised: 14 iterations, and 73 with it to be revised
    again; of another 22, 348 where IPOPT may fall back on one weight of its barrier for long, and 221 where what pushes
    has one equation of friction, as feet have, while it is apart."""
    _, task, plan = found.of_drawn("pusher", 1, number)
    further = task.goal.state.node.copy()
    further[PUSHER.space.columns.index("box_ahead")] += 0.02
    goal = replace(task.goal, state=PUSHER.state_at_node(further))
    after = planner.plan(PUSHER, replace(task, goal=goal), warm=plan, explain=False, time_limit_s=600.0)
    assert after.solved, after.message
    assert after.iterations < most
    off, deep = replayed(after, PUSHER)
    assert off < 1e-12
    assert deep < 1e-11


@pytest.mark.parametrize(("ends", "what"), [((0.3, 0.53), "start"), ((0.53, 0.4), "goal")])
def test_a_foot_that_is_in_the_ground_at_an_end_is_refused(planner, ends, what):
    start, goal = (HOPPER.state({"up": up, "ahead": k}) for k, up in enumerate(ends))
    with pytest.raises(
        sim.InputError, match=rf"^task: {what} is 0\.\d+ m deep in the ground; allowed: [^\n]*$"
    ):
        planner.plan(HOPPER, sim.planner.Task(start, sim.planner.Goal(goal), 1.0, 40))


def test_forces_of_the_ground_are_those_that_it_can_give(planner):
    """Of a hop of a metre: none from afar, none beyond friction, against the slip; their impulse is the momentum."""
    start = HOPPER.default_state()
    goal = HOPPER.state({"ahead": 1.0, "up": start.q[1]})
    plan = planner.plan(
        HOPPER, sim.planner.Task(start, sim.planner.Goal(goal), 1.0, 40), starts=1, explain=False
    )
    assert plan.solved, plan.message
    y, z, _ = plan.problem.rows_of(plan.result.w, plan.numbers)
    up, along, ahead, back = z[:-1, 4:].T
    foot = np.array([_foot(q) for q in y[:, :4]])
    gaps = foot[1:, 1]
    aloft = gaps > 1e-6
    assert 1 < aloft.sum() < 35  # it hops
    assert np.abs(up[aloft]).max() < 1e-8
    assert np.abs(along[aloft]).max() < 1e-8
    assert gaps.min() > -1e-9
    assert up.min() > -1e-8
    assert (np.abs(along) - FRICTION * up).max() < 1e-8
    turned = np.diff(y[:, 2])
    # What of the sole touches at a step's beginning goes on around the foot's middle.
    slips = (np.diff(foot[:, 0]) - 0.03 * np.sin(turned)) / plan.step_s
    slides = ~aloft & (np.abs(slips) > 1e-6)
    np.testing.assert_allclose(along[slides], -np.sign(slips[slides]) * FRICTION * up[slides], atol=1e-7)
    np.testing.assert_allclose(ahead - back, slips, atol=1e-8)
    # Solved again, what is aloft has one equation of friction: beside it the other bound would leave no way inside.
    bounds, labels = touching(plan.problem, plan.numbers, plan.result.w), plan.problem.row_labels()
    rows = np.flatnonzero([row is not None and row.name == PART for _, row in labels]).reshape(len(up), -1)
    low, high = bounds.row_low[rows[aloft, 4:]], bounds.row_high[rows[aloft, 4:]]
    assert ((low == 0.0) & (high == 0.0)).sum(axis=1).tolist() == [1] * int(aloft.sum())
    assert (np.isinf(low) & np.isinf(high)).sum(axis=1).tolist() == [1] * int(aloft.sum())
    weight = float(HOPPER.tree.arrays.mass.sum()) * G_MPS2
    assert up.sum() * plan.step_s == pytest.approx(weight * plan.duration_s, rel=1e-9)  # from rest to rest
    assert along.sum() * plan.step_s == pytest.approx(0.0, abs=1e-8)


def test_four_legs_stand_up_and_the_simulation_does_it(planner):
    """From knees bent by 143 degrees; the feet bear the weight, and none leaves the ground without lifting off."""
    task = Task(QUADRUPED.standing(0.0, 1.25), Goal(QUADRUPED.standing()), 0.8, 20, limits=FAST)
    plan = planner.plan(QUADRUPED, task, starts=1, explain=False, time_limit_s=600.0)
    assert plan.solved, plan.message
    off, deep = replayed(plan, QUADRUPED)
    assert off < 1e-8  # measured 9.3e-13
    assert deep < 1e-11
    _, z, _ = plan.problem.rows_of(plan.result.w, plan.numbers)
    up = z[:-1, 11:15]
    weight = float(QUADRUPED.tree.arrays.mass.sum()) * G_MPS2
    assert up.min() > -1e-8
    assert up.sum() * plan.step_s == pytest.approx(weight * plan.duration_s, rel=1e-9)  # from rest to rest


def test_four_legs_trot_and_the_simulation_does_it(planner):
    """Nobody says which feet bear when. Over 0.6 m the feet of a diagonal are off the ground together, by turns."""
    task = Task(QUADRUPED.standing(), Goal(QUADRUPED.standing(0.6)), 1.04, 26, limits=FAST)
    plan = planner.plan(QUADRUPED, task, starts=1, explain=False, time_limit_s=600.0)
    assert plan.solved, plan.message
    off, deep = replayed(plan, QUADRUPED)
    assert off < 1e-12
    assert deep < 1e-11
    _, z, _ = plan.problem.rows_of(plan.result.w, plan.numbers)
    bears = z[:-1, 11:15] > 1e-3
    one, other = ~bears[:, :2].any(axis=1), ~bears[:, 2:].any(axis=1)  # a diagonal is off
    assert one.sum() >= 3
    assert other.sum() >= 3
    turns = np.flatnonzero(np.diff((one.astype(int) - other)[one | other]))
    assert len(turns) >= 1  # one after the other


def _foot(q):
    """(place of the foot's middle, height of its underside) by trigonometry alone."""
    length = 0.5 + q[3]
    return q[0] - length * np.sin(q[2]), q[1] - length * np.cos(q[2]) - 0.03


def test_no_end_is_below_the_ground_where_a_step_ends():
    """A person thrown at 7 m/s; contact by velocities at a step's beginning lets 2.5 mm through."""
    person = sim.vehicle("ragdoll")
    _, _, clearances, energies = run(
        person, TreeGround.under(person, slope(0.0)), thrown(person, 2.5), 1.5, "touching"
    )
    assert clearances.min() > -1e-6
    assert np.diff(energies).max() < 1e-3 * energies[0]


class Cart(ArticulatedVehicle):
    """A ball that a rail lets up and ahead, in a plane: what pushes it across gives way to nothing."""

    name = "cart"
    parameters = ()
    controls = ()

    def declare(self, q: SimpleNamespace):
        rails = [
            Joint("prismatic", axis=axis, name=name) for axis, name in (((1, 0, 0), "x"), ((0, 0, 1), "z"))
        ]
        return tree([Body("ball", WORLD, rails, mass=2.0, inertia=(0.1, 0.1, 0.1))])

    def shapes(self):
        return (Link("ball", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.1),)


@pytest.mark.parametrize("method", ["variational", "touching"])
def test_what_moves_in_a_plane_slides_to_rest_as_friction_says(method):
    """It stops after v^2 / (2 mu g)."""
    cart = Cart()
    start = cart.state({"x": 0.0, "z": 0.1}, {"x": 2.0}).node
    nodes, forces, clearances, _ = run(cart, TreeGround.under(cart, slope(0.0)), start, 0.5, method, 1e-3)
    assert nodes[-1, 0] == pytest.approx(2.0**2 / (2 * FRICTION * G_MPS2), rel=5e-3)
    assert nodes[-1, 2] == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(
        forces[100], [-FRICTION * 2.0 * G_MPS2, 0.0, 2.0 * G_MPS2], rtol=1e-6, atol=1e-9
    )
    assert clearances.min() > -1e-9


def test_the_touching_step_without_ground_is_the_variational_one():
    """To the bit."""
    person = sim.vehicle("ragdoll")
    high = thrown(person, 50.0)
    ends = [
        run(person, TreeGround.under(person, slope(0.0)), high, 0.2, method)[0][-1]
        for method in ("newton", "touching")
    ]
    np.testing.assert_array_equal(*ends)
    assert integrator("touching").looks > 0


def test_an_arm_pushes_a_box_and_the_simulation_does_it(found):
    """Nobody says when the ball touches. Step by step the simulation's is what was solved, measured within 2.3e-11.
    Errors that grow while the ball gets hold of the box have been fed back: the plan is what the simulation makes of
    its inputs, and ends where it is to, with nothing 1e-13 m deep."""
    _, plan = found.of_scene("plan-push")
    assert plan.solved, plan.message
    off, deep = replayed(plan, PUSHER)
    assert off < 1e-12
    assert deep < 1e-9
    assert _step_by_step(plan) < 5e-10
    nodes = plan.motion.nodes
    np.testing.assert_allclose(nodes[-1, 2:5], [-0.31, 0.1, 0.0], atol=1e-8)
    _, z, _ = plan.problem.rows_of(plan.result.w, plan.numbers)
    up, along, *_ = np.split(z[:-1, 5:], 4, axis=1)  # of two feet, then of the ball
    assert up.min() > -1e-7
    assert (np.abs(along) - FRICTION * up).max() < 1e-7
    pushed = up[:, 2] > 1e-3
    assert 1 < pushed.sum() < 39  # it comes, pushes, and the box slides and stands
    gaps = [_ball_gap(q) for q in nodes[1:, :5]]
    assert np.abs(np.array(gaps)[pushed]).max() < 1e-8
    assert min(gaps) > -1e-8
    # The box is pushed back by its own weight's friction: where it slides that is all that the ground gives.
    slides = (np.abs(np.diff(nodes[:, 2])) > 1e-4)[: len(up)]
    ground = np.sign(-np.diff(nodes[:, 2]))[slides] * FRICTION * up[slides, :2].sum(axis=1)
    np.testing.assert_allclose(along[slides, :2].sum(axis=1), ground, atol=1e-5)


@pytest.mark.parametrize("name", ["plan-push", "plan-hopper"])
def test_errors_of_what_is_planned_through_contact_are_fed_back_by_what_it_touches(found, name):
    """Flown with feedback it stays on its plan, measured within 4.1e-11 of its numbers. Gains that leave the ground out
    took the box 0.15 m past its mark, and inputs without the ground led 20 m astray."""
    scene, plan = found.of_scene(name)
    assert plan.solved, plan.message
    assert plan.open_loop_m < 1e-6  # measured 8e-10, 1.4e-10
    running = Simulation(scene, load_world(scene.world, seed=scene.seed))
    record = record_of(plan, "push")
    fly = FlyPlan(record.vehicle, record.integrator, record.step_s, record.nodes, record.controls, True)
    running.submit(fly)
    advance_to(running, plan.duration_s - 1e-3, 0.1)
    np.testing.assert_allclose(running.snapshot.lanes[0].node, plan.motion.nodes[-1], atol=1e-8)


def _step_by_step(plan):
    """By how much steps of the simulation from what was solved end beside the next ones."""
    y, _, controls = plan.problem.rows_of(plan.result.w, plan.numbers)
    p, h, stepper = PUSHER.parameter_vector, plan.step_s, stepper_of(PUSHER, plan.integrator)
    off = 0.0
    for k, u in enumerate(controls[: len(y) - 1]):
        ground = TreeGround.under(PUSHER, LEVEL)
        state = stepper.start(plan.motion.nodes[k], u, p, h)
        state[:10] = y[k]
        stepper.advance(state, u, np.zeros(stepper.dim), p, h, 1, ground.env)
        off = max(off, float(np.abs(state[:10] - y[k + 1]).max()))
    return off


def _ball_gap(q):
    """Between the arm's ball and the box, by trigonometry and an exact distance."""
    bent = q[0] + q[1]
    x, z = -0.6 * np.sin(q[0]) - 0.6 * np.sin(bent), 0.95 - 0.6 * np.cos(q[0]) - 0.6 * np.cos(bent)
    dx, dz, c, s = x - q[2], z - q[3], np.cos(q[4]), np.sin(q[4])
    inner = Box((0.0, 0.0, 0.0), (0.1, 0.1, 0.05))
    return inner.distance(np.array([[c * dx - s * dz, 0.0, s * dx + c * dz]]))[0] - 0.05 - 0.035


def test_a_ball_that_is_in_a_box_at_the_start_is_refused(planner):
    start = PUSHER.state({"shoulder": 0.5, "elbow": 0.5, "box ahead": -0.8, "box up": 0.1})
    goal = PUSHER.state({"shoulder": 1.0, "elbow": 0.0, "box ahead": 0.0, "box up": 0.1})
    with pytest.raises(
        sim.InputError, match=r"^task: start has forearm and box 0\.\d+ m in each other; [^\n]*$"
    ):
        planner.plan(PUSHER, Task(start, Goal(goal), 1.0, 40))


def test_how_far_a_point_is_from_a_box_is_what_its_shape_says():
    rng = np.random.default_rng(0)
    half = (0.3, 0.2, 0.1)
    for x in rng.uniform(-0.6, 0.6, (200, 3)):
        distance, n = from_box.py_func(tuple(x), half)
        assert distance == pytest.approx(Box((0.0, 0.0, 0.0), half).distance(x[None])[0], abs=1e-12)
        if distance > 1e-6:
            np.testing.assert_allclose(np.linalg.norm(n), 1.0, atol=1e-12)
            nearest = np.clip(x, -np.array(half), half)
            np.testing.assert_allclose(x - distance * np.array(n), nearest, atol=1e-12)


class Rail(ArticulatedVehicle):
    """A ball and a box on one rail each, along the same line."""

    name = "rail"
    parameters = ()
    controls = ()
    pushes = (("ball", "box"),)

    def declare(self, q: SimpleNamespace):
        slide = {name: Joint("prismatic", axis=(1, 0, 0), name=name) for name in ("x", "y")}
        return tree(
            [
                Body("ball", WORLD, slide["x"], mass=2.0, inertia=(0.1, 0.1, 0.1)),
                Body("box", WORLD, slide["y"], mass=4.0, inertia=(0.1, 0.1, 0.1)),
            ]
        )

    def shapes(self):
        return ()

    def touching(self):
        one = Touching("ball", Sphere((0.0, 0.0, 0.0), 0.1), np.eye(4))
        return one, Touching("box", Box((0.0, 0.0, 0.0), (0.2, 0.2, 0.2)), np.eye(4))


@pytest.mark.parametrize("method", ["variational", "touching"])
def test_a_ball_and_a_box_of_one_tree_go_on_together_after_a_blow(method):
    """Momentum is kept, and they part no more: 2 kg at 3 m/s and 4 kg at rest go on at 1 m/s."""
    rail = Rail()
    start = rail.state({"x": 0.0, "y": 0.6}, {"x": 3.0}).node
    ground = TreeGround.under(rail, slope(0.0))
    nodes, *_ = run(rail, ground, start, 0.5, method, 5e-3)
    np.testing.assert_allclose(nodes[-1, 2:], [1.0, 1.0], atol=1e-9)
    np.testing.assert_allclose(nodes[:, 2:] @ [2.0, 4.0], 6.0, atol=1e-9)
    assert min(ground.apart_m(node) for node in nodes) > -1e-9


class Buffer(Rail):
    """The same ball and box, beside a wall across the rail that both may run into."""

    name = "buffer"
    pushes = (("ball", "box"), ("end", STAND))

    def declare(self, q: SimpleNamespace):
        slide = {name: Joint("prismatic", axis=(1, 0, 0), name=name) for name in ("x", "y")}
        return tree(
            [
                Body("ball", WORLD, slide["x"], mass=2.0, inertia=(0.1, 0.1, 0.1)),
                Body("box", WORLD, slide["y"], mass=4.0, inertia=(0.1, 0.1, 0.1)),
                Body("end", "box", Joint("fixed"), position=(0.1, 0.0, 0.0), mass=0.0),
            ]
        )

    def touching(self):
        end = Touching("end", Sphere((0.0, 0.0, 0.0), 0.1), np.eye(4))
        return (*super().touching(), end, Touching(STAND, Box((1.5, 0.0, 0.0), (0.3, 0.3, 0.3)), np.eye(4)))


@pytest.mark.parametrize("method", ["variational", "touching"])
def test_what_is_pushed_stops_at_a_wall(method):
    """The box's end is at 1.2 m then, the ball behind it; without walls both go on for ever."""
    buffer = Buffer()
    start = buffer.state({"x": 0.0, "y": 0.6}, {"x": 3.0}).node
    ground = TreeGround.under(buffer, slope(0.0))
    nodes, *_ = run(buffer, ground, start, 1.5, method, 5e-3)
    np.testing.assert_allclose(nodes[-1], [0.7, 1.0, 0.0, 0.0], atol=1e-6)
    assert min(ground.apart_m(node) for node in nodes) > -1e-9


class Puck(ArticulatedVehicle):
    """A ball that two forces drive over a floor, a box that glides on it, and a block between the box and its mark."""

    name = "puck"
    parameters = ()
    controls = tuple(Control(f"force_{axis}", "N", -60.0, 60.0, "Of the ball.") for axis in "xy")
    torques = ("x", "y")
    pushes = (("ball", "box"), ("box", STAND), (STAND, "box"))
    across = (0.0, 0.0, 1.0)
    apart = frozenset({frozenset({"ball", "box"})})
    BLOCK = Box((0.6, 0.6, 0.0), (0.4, 0.4, 0.2))

    def declare(self, q: SimpleNamespace):
        axes = {"x": (1, 0, 0), "y": (0, 1, 0)}
        ball = [Joint("prismatic", axis=axis, damping=0.5, name=name) for name, axis in axes.items()]
        box = [Joint("prismatic", axis=axis, damping=10.0, name=f"box {name}") for name, axis in axes.items()]
        turn = Joint(axis=(0, 0, 1), damping=0.1, name="box turn")
        return tree(
            [
                Body("ball", WORLD, ball, mass=1.0, inertia=(0.1, 0.1, 0.1)),
                Body("box", WORLD, [*box, turn], mass=2.0, inertia=(0.03, 0.03, 0.03)),
            ]
        )

    def shapes(self):
        return ()

    def touching(self):
        ends = [(x, y, 0.0) for x in (-0.05, 0.05) for y in (-0.05, 0.05)]
        solids = [("ball", Sphere((0.0, 0.0, 0.0), 0.04)), ("box", Box((0.0, 0.0, 0.0), (0.1, 0.1, 0.1)))]
        solids += [("box", Sphere(end, 0.05)) for end in ends]
        solids += [(STAND, self.BLOCK), (STAND, Sphere((0.3, 0.3, 0.0), 0.1))]
        return tuple(Touching(body, shape, np.eye(4)) for body, shape in solids)


def _round_the_block(steps):
    puck = Puck()
    start, goal = (
        puck.state({"x": 1.2, "y": -0.1, "box x": x, "box y": y}) for x, y in ((0.6, 0.08), (0.08, 0.6))
    )
    return puck, Task(
        start,
        Goal(goal, "free", "free", parts=("box_x", "box_y", "box_turn")),
        0.05 * steps,
        steps,
        limits=FAST,
    )


def test_a_first_guess_leads_a_box_round_the_corner_of_a_wall():
    """Straight on it would go through half of the block. On its way past the corner it may graze it."""
    puck, task = _round_the_block(60)
    ways = list(pushed(puck, task, 60, 2))
    assert len(ways) == 2
    for way in ways:
        x, y = way[:, 2], way[:, 3]
        middle = np.c_[x, y, np.zeros_like(x)]
        assert Puck.BLOCK.distance(middle).min() > 0.09 - 1e-9
        np.testing.assert_allclose([x[0], y[0], x[-1], y[-1]], [0.6, 0.08, 0.08, 0.6], atol=1e-9)
        moved = np.abs(np.diff(middle, axis=0)).max(axis=1) > 1e-4
        ball = np.linalg.norm(way[:-1, :2] - way[:-1, 2:4], axis=1)
        assert ball[moved].max() < 0.2  # it is behind the box where that moves


def test_a_box_is_pushed_round_a_corner_and_the_simulation_does_it(planner):
    """Open loop, measured within 5e-10. With roots that were taken to be found as fast as before the first touch it
    ended 28 mm beside its plan."""
    puck, task = _round_the_block(40)
    plan = planner.plan(puck, task, starts=1, explain=False, time_limit_s=600.0)
    assert plan.solved, plan.message
    off, deep = replayed(plan, puck)
    assert off < 1e-8
    assert deep < 1e-9
    nodes = plan.motion.nodes
    np.testing.assert_allclose(nodes[-1, 2:5], [0.08, 0.6, 0.0], atol=1e-8)
    turned = np.arctan2(nodes[:, 3] - 0.6, nodes[:, 2] - 0.6)  # about the block's middle
    assert np.ptp(np.unwrap(turned)) > 1.5
    ends = [(x, y) for x in (-0.05, 0.05) for y in (-0.05, 0.05)]
    for x, y, turn in nodes[:, 2:5]:
        c, s = np.cos(turn), np.sin(turn)
        corners = np.array([[x + c * a - s * b, y + s * a + c * b, 0.0] for a, b in ends])
        core = Box((0.6, 0.6, 0.0), (0.3, 0.3, 0.1))  # its edges are rounded by 0.1 m, the box's by 0.05
        assert core.distance(corners).min() > 0.15 - 1e-8
