"""Plans through contact, and the step that they are made of: contact that holds where a step ends."""

from types import SimpleNamespace

import numpy as np
import pytest

import sim
from benchmarks.plan_contact import HOPPER, replayed, tasks
from sim.contact.trees import FRICTION, TreeGround
from sim.integrators import integrator
from sim.multibody.shapes import Link
from sim.multibody.tree import WORLD, Body, Joint, tree
from sim.planner import Planner
from sim.vehicles import ArticulatedVehicle
from tests.sim.multibody.test_tree_contact import run, slope, thrown

G_MPS2 = 9.81


@pytest.fixture(scope="module")
def planner():
    return Planner()


@pytest.mark.parametrize("seed", [5, 6, 7])
def test_random_hops_are_found_and_the_simulation_does_them(planner, seed):
    """Nobody says when the foot touches. Measured over 16: 1e-9 and 1e-14 m at most (`benchmarks.plan_contact`)."""
    task = next(tasks(np.random.default_rng(seed)))
    plan = planner.plan(HOPPER, task, starts=1, explain=False)
    assert plan.solved, plan.message
    off, deep = replayed(plan)
    assert off < 1e-8
    assert deep < 1e-11
    np.testing.assert_allclose(plan.motion.nodes[-1], task.goal.state.node, atol=1e-8)


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
    weight = float(HOPPER.tree.arrays.mass.sum()) * G_MPS2
    assert up.sum() * plan.step_s == pytest.approx(weight * plan.duration_s, rel=1e-9)  # from rest to rest
    assert along.sum() * plan.step_s == pytest.approx(0.0, abs=1e-8)


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
