"""Parameters of trees that are found with their motion: polynomials of declarations, and optima over fixed values."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import sim
from sim.multibody.observing import body_frames, mass_matrix
from sim.multibody.tree import WORLD, Body, Joint, tree
from sim.planner import Goal, Limits, Planner, Task, Weights
from sim.platform.errors import InputError
from sim.vehicles.forms.articulated import ArticulatedVehicle
from sim.vehicles.forms.fitted_tree import fitted
from sim.vehicles.forms.parameters import Control, Parameter


class Reacher(ArticulatedVehicle):
    """Two links in a vertical plane; the first hangs from a spring, the second is as long as it is wanted."""

    name = "reacher"
    parameters = tuple(
        Parameter(name, unit, default, 0.01, 200.0, "")
        for name, unit, default in (
            ("length", "m", 0.6),
            ("tip", "kg", 0.5),
            ("spring", "N m", 10.0),
            ("strength", "", 1.0),
        )
    )
    controls = tuple(Control(name, "N m", -80.0, 80.0, "") for name in ("shoulder", "elbow"))
    torques = ("shoulder", "elbow")

    def declare(self, q):
        a, m = q.length, 1.0 + 2.0 * q.length
        return tree(
            [
                Body(
                    "upper",
                    WORLD,
                    Joint(axis=(0.0, 1.0, 0.0), damping=0.2, stiffness=q.spring, rest=-1.5, name="shoulder"),
                    mass=2.0,
                    centre=(0.0, 0.0, -0.25),
                    inertia=(0.05, 0.05, 0.01),
                ),
                # A rod whose mass goes with its length, and what it holds: the centre of both is a quotient.
                Body(
                    "fore",
                    "upper",
                    Joint(axis=(0.0, 1.0, 0.0), damping=0.1, name="elbow"),
                    position=(0.0, 0.0, -0.5),
                    mass=m + q.tip,
                    centre=(0.0, 0.0, -a * (m / 2 + q.tip) / (m + q.tip)),
                    inertia=(m * a**2 / 12 + 0.01, m * a**2 / 12 + 0.01, 0.002),
                ),
                Body(
                    "hand",
                    "fore",
                    Joint("fixed"),
                    position=(0.0, 0.0, -a),
                    mass=0.1,
                    inertia=(1e-4, 1e-4, 1e-4),
                ),
            ]
        )


ARM = Reacher()
TASK = Task(
    ARM.state({"shoulder": -0.4, "elbow": 0.5}),
    Goal(ARM.state({"shoulder": -1.8, "elbow": -0.6})),
    1.2,
    steps=24,
    weights=Weights(comfort=0.0),
    limits=Limits(turn_radps=15.0),
)


@pytest.fixture(scope="module")
def planner():
    return Planner()


def test_equations_of_a_tree_are_those_of_each_value_that_is_found():
    """Arrays, kinematics and the mass matrix, against declarations made at these values."""
    made = fitted(ARM, ((0, 0.3, 1.1), (1, 0.1, 2.0)))
    rng = np.random.default_rng(3)
    node, p = ca.SX.sym("node", 4), ca.SX.sym("p", 4)
    symbolic, _ = made.symbolic_with(p)
    hand = made.bodies(node, made.symbols(p))["hand"]
    momenta = symbolic.momenta(node[:2], node[2:])
    both = ca.Function("both", [node, p], [hand, momenta])
    for _ in range(5):
        x = rng.uniform(-1.0, 1.0, 4)
        other = ARM.with_parameters(length=rng.uniform(0.3, 1.1), tip=rng.uniform(0.1, 2.0))
        found = both(x, other.parameter_vector)
        np.testing.assert_allclose(np.array(found[0]), body_frames(other.tree, x[:2])["hand"], atol=1e-12)
        wanted = mass_matrix(other.tree.arrays, x[:2]) @ x[2:]
        np.testing.assert_allclose(np.array(found[1]).ravel(), wanted, rtol=1e-10)  # measured 6e-12


@pytest.mark.parametrize("name, low, high", [("spring", 1.0, 60.0), ("length", 0.35, 1.0)])
def test_a_parameter_is_found_whose_plan_is_the_cheapest_of_all_values(planner, name, low, high):
    """Long arms are paid for, short ones too: by the task's own cost, which does not know the dynamics."""
    own = {} if name == "spring" else {"cost": lambda parameters: -0.08 * ca.log(parameters["length"])}
    task = replace(TASK, free_parameters={name: (low, high)}, **own)
    plan = planner.plan(ARM, task, starts=1)
    assert plan.solved, plan.message
    best = plan.found_parameters[name]
    assert low + 1e-3 < best < high - 1e-3
    costs = []
    for share in (0.97, 1.0, 1.03):
        fixed = ARM.with_parameters(**{name: share * best})
        there = replace(TASK, **own)
        costs.append(planner.plan(fixed, there, starts=1).cost)
    assert costs[1] == pytest.approx(plan.cost, rel=1e-8)  # measured 3e-13
    assert costs[1] < min(costs[0], costs[2])
    tips = (planner.plan(ARM.with_parameters(tip=0.5 + by), task, starts=1).cost for by in (-1e-3, 1e-3))
    behind, ahead = tips
    assert plan.sensitivity("tip").cost == pytest.approx((ahead - behind) / 2e-3, rel=1e-4)
    flown = sim.simulate(
        plan.vehicle,
        plan.integrator,
        step=plan.step_s,
        duration=1.2,
        initial=plan.task.start,
        controls=plan.controls[:-1],
    )
    np.testing.assert_allclose(flown.nodes[-1], TASK.goal.state.node, atol=1e-8)


def test_a_hand_whose_arm_may_grow_reaches_what_it_could_not(planner):
    """Its place is priced, 1.3 m from the shoulder; with the length that it has it comes to 1.1 m."""
    long = ARM.with_parameters(length=0.8)
    state = long.state({"shoulder": -0.9, "elbow": 0.0})
    wanted = body_frames(long.tree, state.node[:2])["hand"][:3, 3]
    assert np.linalg.norm(wanted) > 1.29
    reach = lambda bodies: ca.sumsqr(bodies["hand"][:3, 3] - ca.DM(wanted))  # noqa: E731
    task = replace(
        TASK,
        goal=Goal(state, parts=("velocity",), position="free", rotation="free"),
        end_cost=lambda bodies: 1e4 * reach(bodies),
        free_parameters={"length": (0.4, 1.0)},
    )
    plan = planner.plan(ARM, task, starts=1)
    assert plan.solved, plan.message
    hand = body_frames(plan.vehicle.tree, plan.motion.nodes[-1, :2])["hand"][:3, 3]
    assert np.linalg.norm(hand - wanted) < 0.05
    assert plan.found_parameters["length"] > 0.72


def test_what_makes_another_tree_and_what_closes_loops_is_no_number_to_be_found(planner):
    linkage = sim.vehicle("four-bar-linkage")
    ends = [linkage.closed_state({"crank": angle}) for angle in (-1.5, 1.2)]
    task = Task(ends[0], Goal(ends[1]), 1.0, limits=Limits(turn_radps=20.0))
    with pytest.raises(InputError, match="crank changes where loops of four-bar-linkage close"):
        planner.plan(linkage, replace(task, free_parameters={"crank": (0.2, 0.4)}), starts=1)
    hopper = sim.vehicle("hopper")
    jump = Task(hopper.state(), Goal(hopper.state()), 1.0, free_parameters={"mass": (1.0, 9.0)})
    with pytest.raises(InputError, match="touches is told by numbers"):
        planner.plan(hopper, jump, starts=1)


def test_a_mass_of_a_closed_linkage_is_found_with_its_motion(planner):
    linkage = sim.vehicle("four-bar-linkage")
    ends = [linkage.closed_state({"crank": angle}) for angle in (-1.5, 1.2)]
    task = Task(
        ends[0],
        Goal(ends[1]),
        1.0,
        steps=24,
        limits=Limits(turn_radps=20.0),
        weights=Weights(comfort=0.0),
        cost=lambda parameters: 0.5 / parameters["rocker_mass"],
        free_parameters={"rocker_mass": (0.05, 20.0)},
    )
    plan = planner.plan(linkage, task, starts=1)
    assert plan.solved, plan.message
    best = plan.found_parameters["rocker_mass"]
    assert 0.06 < best < 19.0
    fixed = planner.plan(
        linkage.with_parameters(rocker_mass=best), replace(task, free_parameters={}), starts=1
    )
    assert fixed.cost == pytest.approx(plan.cost, rel=1e-5)
