"""Plans for trees whose joints close loops: the step that they are made of, what they replay and what they cost."""

import dataclasses

import casadi as ca
import numpy as np
import pytest
from scipy.interpolate import BSpline
from scipy.optimize import least_squares

import sim
from sim.planner import Goal, Limits, Planner, Task, Weights
from sim.planner.task.inputs import holding
from sim.vehicles.delta_robot import DeltaRobot
from sim.vehicles.four_bar_linkage import closed_angles

EXACT = sim.integrators()["newton"]
LINKAGE = sim.vehicle("four-bar-linkage")


class BrakedDelta(DeltaRobot):
    """One whose platform and first rod the air brakes."""

    name = "braked-delta"

    def declare(self, q):
        bare = super().declare(q)
        braked = [bare.carriers[bare.names.index(name)] for name in ("platform", "rod 1 left")]
        air = np.array([[0.02, -0.01, 0.03, 40.0], [0.1, 0.0, -0.2, 15.0]])
        return dataclasses.replace(bare, arrays=bare.arrays._replace(air_carriers=np.array(braked), air=air))


@pytest.mark.parametrize(
    "vehicle", [LINKAGE, sim.vehicle("delta-robot"), BrakedDelta()], ids=lambda v: v.name
)
def test_the_equations_of_a_closed_step_are_those_that_the_simulation_takes(vehicle):
    """Their root, found by Newton's method, beside the recursions' own."""
    scheme = EXACT.scheme(vehicle)
    i, nq = scheme.inputs, vehicle.tree.nq
    outputs = [scheme.residual, scheme.y_next, scheme.start, ca.jacobian(scheme.residual, scheme.z)]
    step = ca.Function("step", [scheme.y, scheme.z, i.u, i.w, i.p, i.h, i.node], outputs)
    start, h, u = vehicle.default_state(), 0.005, np.full(len(vehicle.controls), 3.0)
    flown = sim.simulate(vehicle, EXACT, step=h, duration=4 * h, initial=start, controls=u)
    z, rest = np.zeros(scheme.z.shape[0]), (np.zeros(i.w.shape[0]), vehicle.parameter_vector, h, start.node)
    y = np.array(step(np.zeros(scheme.y.shape[0]), z, u, *rest)[2]).ravel()
    for k in range(1, 5):
        for _ in range(10):
            residual, _, _, slope = (np.array(x) for x in step(y, z, u, *rest))
            z = z - np.linalg.solve(slope, residual).ravel()
        y = np.array(step(y, z, u, *rest)[1]).ravel()
        assert y[:nq] == pytest.approx(flown.nodes[k, :nq], abs=1e-10)  # measured 6e-12


@pytest.mark.parametrize("vehicle", [LINKAGE, sim.vehicle("delta-robot")], ids=lambda v: v.name)
def test_what_holds_a_mechanism_against_its_weight_leaves_it_at_rest(vehicle):
    """With its leading joints anywhere: the loops' own forces hold the others."""
    rng, first = np.random.default_rng(3), vehicle.default_state().node
    names = vehicle.tree.coordinate_names
    start = vehicle.closed_state(
        {names[i]: float(first[i] + rng.uniform(-0.3, 0.3)) for i in vehicle.leading_places}
    )
    flown = sim.simulate(
        vehicle, EXACT, step=0.01, duration=0.5, initial=start, controls=holding(vehicle, start.node)
    )
    assert flown.nodes[-1] == pytest.approx(start.node, abs=1e-9)  # measured 1.4e-11


def linkage_task(**options):
    goal = Goal(LINKAGE.closed_state({"crank": 1.2}))
    return Task(LINKAGE.closed_state({"crank": -1.5}), goal, 1.0, limits=Limits(turn_radps=20.0), **options)


def test_a_start_whose_loop_is_open_is_refused_as_the_simulation_refuses_it():
    at, task = LINKAGE.node_layout, linkage_task()
    node = task.start.node.copy()
    node[at.pose.start] += 0.1
    with pytest.raises(
        sim.InputError, match=r"start: the loop of .* is open by .* m; allowed: vehicle.closed_state"
    ):
        sim.plan(LINKAGE, dataclasses.replace(task, start=LINKAGE.state_at_node(node)))


@pytest.fixture(scope="module")
def planner():
    return Planner()


def test_a_linkage_is_brought_from_rest_to_rest_and_the_simulation_replays_it(planner):
    task = linkage_task(steps=48)
    plan = planner.plan(LINKAGE, task, method=EXACT, starts=1)
    assert plan.solved, plan.message
    flown = sim.simulate(
        LINKAGE, EXACT, step=plan.step_s, duration=1.0, initial=task.start, controls=plan.controls[:-1]
    )
    assert np.abs(flown.nodes - plan.motion.nodes).max() < 1e-7  # measured 2e-10
    assert plan.motion.nodes[-1] == pytest.approx(task.goal.state.node, abs=1e-9)
    gaps = [LINKAGE.closure.gaps(node[LINKAGE.node_layout.pose]) for node in plan.motion.nodes]
    assert np.abs(gaps).max() < 1e-9


def least_effort_of_a_crank(start_rad, goal_rad, duration_s):
    """Integral of the squared torque over motions that are B-splines of fifth degree of the crank's angle alone.

    Everything else of the linkage is a function of it: an inertia J and a height of the weights V, both by geometry.
    """
    unit, g = 0.4, 9.81
    masses, lengths = np.array([4.0, 2.0, 1.5]), np.array([1.0, 2.75, 2.0]) * unit

    def places(theta):
        """(3, 3): x, z of the middles and turns of the bars."""
        turns = np.cumsum(closed_angles(theta))
        ends = np.concatenate(
            [[[0.0, 0.0]], np.cumsum(lengths[:, None] * np.c_[np.cos(turns), np.sin(turns)], axis=0)]
        )
        return np.c_[(ends[1:] + ends[:-1]) / 2, turns]

    grid = np.linspace(min(start_rad, goal_rad) - 0.3, max(start_rad, goal_rad) + 0.3, 400)
    at = np.array([places(theta) for theta in grid])
    rate = np.gradient(np.unwrap(at, axis=0), grid, axis=0, edge_order=2)
    bars = masses * lengths**2 / 12.0
    J = (masses * (rate[:, :, 0] ** 2 + rate[:, :, 1] ** 2) + bars * rate[:, :, 2] ** 2).sum(axis=1)
    V = g * (masses * at[:, :, 1]).sum(axis=1)
    inertia, height = (BSpline(*_spline(grid, values)) for values in (J, V))
    times, weights = np.polynomial.legendre.leggauss(200)
    t = duration_s * (times + 1) / 2
    degree, free = 5, 16
    knots = np.r_[np.zeros(degree), np.linspace(0, 1, free - degree + 5), np.ones(degree)] * duration_s
    count = len(knots) - degree - 1

    def torque(middle):
        c = np.r_[[start_rad] * 2, middle, [goal_rad] * 2]
        spline = BSpline(knots, c, degree)
        theta, first, second = spline(t), spline(t, 1), spline(t, 2)
        tau = inertia(theta) * second + inertia(theta, 1) * first**2 / 2 + height(theta, 1)
        return tau * np.sqrt(weights * duration_s / 2)

    found = least_squares(torque, np.linspace(start_rad, goal_rad, count)[2:-2])
    return float((torque(found.x) ** 2).sum())


def _spline(x, y):
    from scipy.interpolate import make_interp_spline

    made = make_interp_spline(x, y, 5)
    return made.t, made.c, made.k


def test_a_linkage_costs_what_its_crank_alone_does_by_geometry(planner):
    """Another transcription and other mechanics: one degree of freedom, the loop solved by circles."""
    exact = least_effort_of_a_crank(-1.5, 1.2, 1.0)
    task = linkage_task(steps=96, weights=Weights(comfort=0.0), effort_scale={"torque": 1.0})
    plan = planner.plan(LINKAGE, task, method=EXACT, starts=1)
    assert plan.solved, plan.message
    assert plan.cost == pytest.approx(exact, rel=5e-3)  # measured below


def test_a_mechanism_that_nothing_drives_is_told_in_one_line_and_nowhere_else(capfd, planner):
    """Whether its time is given or found, in which there are still more equations than unknowns."""
    off = Limits(controls={"torque": (0.0, 0.0)})
    undriven = dataclasses.replace(linkage_task(), limits=off)
    with pytest.raises(sim.InputError, match="nothing is left to choose: torque of four-bar-linkage is held"):
        planner.plan(LINKAGE, undriven)
    plan = planner.plan(LINKAGE, dataclasses.replace(undriven, free_duration=(0.5, 3.0)), starts=1)
    assert not plan.solved
    assert "\n" not in plan.message
    assert capfd.readouterr() == ("", "")


def test_a_joint_that_follows_others_is_said_not_to_lead():
    with pytest.raises(
        sim.InputError, match="'rocker' follows other joints of four-bar-linkage; allowed: crank"
    ):
        LINKAGE.closed_state({"rocker": 1.0})
