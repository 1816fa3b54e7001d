"""Laws of derivatives through trees of joints: by inputs, start and whatever their declarations make of parameters."""

import numpy as np
import pytest

import sim
from sim.analysis import gradient_steps
from sim.multibody.tree import WORLD, Body, Joint, tree
from sim.platform.errors import InputError
from sim.vehicles.forms.articulated import ArticulatedVehicle
from sim.vehicles.forms.numbered_tree import numbered
from sim.vehicles.forms.parameters import Control, Parameter
from tests.sim.gradients.test_rollout_gradient import difference

H, STEPS = 0.01, 60
BOUNDS = {"low": 0.0, "high": 50.0}


class Arm(ArticulatedVehicle):
    """Two hinges askew and a slide with springs, friction and drag, and a ball joint at the end."""

    name = "skew-arm"
    parameters = tuple(
        Parameter(name, unit, default, BOUNDS["low"], BOUNDS["high"], "")
        for name, unit, default in (
            ("length", "m", 0.7),
            ("upper", "kg", 2.0),
            ("tip", "kg", 0.8),
            ("friction", "N m s", 0.4),
            ("spring", "N m", 6.0),
            ("gravity", "m/s^2", 9.81),
            ("drag", "kg/m", 0.4),
        )
    )
    controls = tuple(Control(f"u{k}", "N m", -9.0, 9.0, "") for k in range(3))
    torques = ("shoulder", "slide", "elbow")

    def declare(self, q):
        a = q.length
        bodies = [
            Body(
                "upper",
                WORLD,
                Joint(axis=(0.2, 1.0, 0.1), damping=q.friction, armature=0.02, name="shoulder"),
                mass=q.upper,
                centre=(0.1 * a, 0.0, -0.5 * a),
                inertia=tuple(q.upper * a**2 * x for x in (0.08, 0.09, 0.02)),
            ),
            Body(
                "rod",
                "upper",
                Joint(
                    "prismatic", axis=(0.0, 0.3, 1.0), stiffness=40.0 * q.spring, damping=2.0, name="slide"
                ),
                position=(0.0, 0.0, -a),
                mass=0.5,
                inertia=(0.01, 0.02, 0.01),
            ),
            Body(
                "fore",
                "rod",
                Joint(
                    axis=(1.0, 0.2, 0.0), stiffness=q.spring, rest=0.3, limits=(-2.5, 2.5), damping=q.friction
                ),
                position=(0.05, 0.0, -0.2),
                mass=q.tip,
                centre=(0.0, 0.02, -0.3 * a),
                inertia=tuple(q.tip * x for x in (0.03, 0.03, 0.004)),
                drag=q.drag,
            ),
        ]
        bodies[-1] = Body(**{**vars(bodies[-1]), "joint": _named(bodies[-1].joint, "elbow")})
        end = Body("ball", "fore", Joint("ball", damping=0.05), position=(0.0, 0.0, -a), mass=0.3,
                   centre=(0.0, 0.03, -0.1), inertia=(0.004, 0.005, 0.003))  # fmt: skip
        return tree([*bodies, end], (0.0, 0.0, -q.gravity))


def _named(joint, name):
    return Joint(**{**vars(joint), "name": name})


def case(**parameters):
    vehicle, rng = Arm(**parameters), np.random.default_rng(5)
    node = vehicle.state({"shoulder": 0.6, "slide": 0.02, "elbow": -0.4}).node.copy()
    node[vehicle.node_layout.velocity] += 0.4 * rng.standard_normal(vehicle.tree.nv)
    t = H * np.arange(400)
    controls = np.stack([8.0 * np.sin((2.0 + k) * t + k) for k in range(3)], axis=1)
    return vehicle, vehicle.state_at_node(node), controls


def rolled(vehicle, initial, controls):
    return sim.rollout_gradient(
        vehicle, "variational", step=H, duration=H * len(controls), initial=initial, controls=controls
    )


def test_the_rollout_is_that_of_the_recursions_and_its_derivatives_are_what_differences_approach():
    vehicle, initial, controls = case()
    controls = controls[:STEPS]
    run = rolled(vehicle, initial, controls)
    plain = sim.simulate(vehicle, "newton", step=H, duration=H * STEPS, initial=initial, controls=controls)
    assert np.abs(run.nodes - plain.nodes).max() < 1e-8  # measured 6e-11
    rng = np.random.default_rng(2)
    du = rng.standard_normal(controls.shape)
    found, expected = (
        run.forward(controls=du),
        difference(lambda e: rolled(vehicle, initial, controls + e * du).nodes, 1e-3),
    )
    assert np.abs(found - expected).max() < 1e-7 * (1.0 + np.abs(expected).max())
    for q in vehicle.parameters:
        value = float(vehicle.values[q.name])

        def changed(e, key=q.name, at=value):
            return rolled(vehicle.with_parameters(**{key: at + e}), initial, controls).nodes

        found, expected = run.forward(parameters={q.name: 1.0}), difference(changed, 1e-3 * value)
        assert np.abs(expected).max() > 1e-3, q.name
        assert np.abs(found - expected).max() < 1e-7 * (1.0 + np.abs(expected).max()), q.name


def test_the_adjoint_is_that_of_the_forward_derivative():
    vehicle, initial, controls = case()
    run, rng = rolled(vehicle, initial, controls[:STEPS]), np.random.default_rng(4)
    weights = rng.standard_normal(run.nodes.shape)
    gradient, scale = run.adjoint(weights), float(np.abs(weights * run.nodes).sum())
    du, d0 = rng.standard_normal((STEPS, 3)), rng.standard_normal(vehicle.space.dim)
    ways = {
        "controls": (run.forward(controls=du), (gradient.controls * du).sum()),
        "initial": (run.forward(initial=d0), gradient.initial @ d0),
        **{
            q.name: (run.forward(parameters={q.name: 1.0}), gradient.parameters[q.name])
            for q in vehicle.parameters
        },
    }
    for name, (forward, back) in ways.items():
        assert (weights * forward).sum() == pytest.approx(back, rel=1e-10, abs=1e-11 * scale), name


def test_slopes_of_a_declaration_are_exact_for_polynomials_also_at_a_bound():
    """Inertias go with the square of the length; a friction of 0 has a slope as well."""
    vehicle = Arm(friction=0.0)
    made, slopes = numbered(vehicle)
    places, names = list(made.numbers.places), [q.name for q in vehicle.parameters]
    own = vehicle.tree.arrays.inertia[0]
    for k in range(6):
        slope = slopes[places.index(("inertia", k)), names.index("length")]
        assert slope == pytest.approx(2.0 * own[k] / 0.7, rel=1e-11, abs=1e-14)  # measured 3e-14
    assert slopes[places.index(("damping", 0)), names.index("friction")] == pytest.approx(1.0, rel=1e-12)
    assert made.parameter_vector[: len(places)] == pytest.approx(
        [getattr(vehicle.tree.arrays, name).flat[at] for name, at in places], abs=0.0
    )


def test_masses_frictions_and_stiffnesses_come_out_of_a_noisy_motion():
    """Within three standard errors, in at least 4 of 5 motions, whose errors are as large as they are said to be."""
    unknown = ("upper", "tip", "friction", "spring")
    true, initial, controls = case(upper=2.6, tip=0.6, friction=0.55, spring=8.0)
    run = sim.simulate(true, "newton", step=H, duration=H * len(controls), initial=initial, controls=controls)
    rows, space = [], true.space
    noise = np.r_[np.full(true.tree.nv, 0.004), np.full(true.tree.nv, 0.03)]
    for seed in range(5):
        rng, nodes = np.random.default_rng(seed), run.nodes.copy()
        for node in nodes:
            node[:] = np.array(space.displaced(node, noise * rng.standard_normal(space.dim))).ravel()
        told = sim.Recording(
            run.time, nodes, run.controls, frozenset({"rotation", "position", "omega", "velocity"})
        )
        found = sim.identify(Arm(), told, unknown, method="variational")
        assert found.converged
        assert found.confounded == ()
        assert found.noise["rotation"] == pytest.approx(0.004, rel=0.1)
        rows.append([(found.values[n] - true.values[n]) / found.standard_errors[n] for n in unknown])
        assert max(found.standard_errors[n] / true.values[n] for n in unknown) < 0.02
    assert (np.abs(rows) < 3.0).all(axis=1).sum() >= 4
    assert 0.3 < np.mean(np.square(rows)) < 2.2


LINKAGE_STEP_S = 0.005


def rolled_linkage(vehicle, initial, controls):
    return sim.rollout_gradient(
        vehicle,
        "variational",
        step=LINKAGE_STEP_S,
        duration=LINKAGE_STEP_S * len(controls),
        initial=initial,
        controls=controls,
    )


def linkage_case(**parameters):
    """Thrown and driven, with friction, all around its crank."""
    vehicle = sim.vehicle("four-bar-linkage", damping=0.3, **parameters)
    start = vehicle.closed_state({"crank": 0.7}).node.copy()
    start[vehicle.node_layout.velocity] = vehicle.following(start[vehicle.node_layout.pose]) @ (3.0,)
    controls = 40.0 * np.sin(0.11 * np.arange(300)[:, None] + 0.4)
    return vehicle, vehicle.state_at_node(start), controls


def test_a_rollout_with_loops_is_the_simulations_and_so_are_its_derivatives():
    """By inputs, by every parameter, the lengths that the loop closes by among them, and by the start along what the
    loop lets it: against differences of rollouts, of sixth order."""
    vehicle, initial, controls = linkage_case()
    controls = controls[:STEPS]
    run = rolled_linkage(vehicle, initial, controls)
    plain = sim.simulate(
        vehicle,
        "newton",
        step=LINKAGE_STEP_S,
        duration=LINKAGE_STEP_S * STEPS,
        initial=initial,
        controls=controls,
    )
    assert np.abs(run.nodes - plain.nodes).max() < 1e-8  # measured 1e-10
    rng = np.random.default_rng(3)
    weights, du = rng.standard_normal(run.nodes.shape), rng.standard_normal(controls.shape)
    gradient = run.adjoint(weights)
    ways = {
        "controls": (
            run.forward(controls=du),
            difference(lambda e: rolled_linkage(vehicle, initial, controls + e * du).nodes, 1e-2),
            (gradient.controls * du).sum(),
        )
    }
    for q in vehicle.parameters:
        value = float(vehicle.values[q.name])

        def changed(e, key=q.name, at=value):
            return rolled_linkage(vehicle.with_parameters(**{key: at + e}), initial, controls).nodes

        # A longer crank lengthens all bars: where it began is closed there as well.
        ways[q.name] = (
            run.forward(parameters={q.name: 1.0}),
            difference(changed, 2e-3 * value),
            gradient.parameters[q.name],
        )
    d0 = np.concatenate([vehicle.following(initial.q) @ (1.0,), np.zeros(vehicle.tree.nv)])

    def begun(e):
        start = vehicle.led_to(initial.q, initial.q[vehicle.leading_places] + e)
        return rolled_linkage(vehicle, vehicle.state(start, initial.v), controls).nodes

    ways["initial"] = (run.forward(initial=d0), difference(begun, 2e-3), gradient.initial @ d0)
    for name, (found, expected, back) in ways.items():
        assert np.abs(expected).max() > 1e-3, name
        assert np.abs(found - expected).max() < 1e-7 * (1.0 + np.abs(expected).max()), name  # measured 2e-9
        assert (weights * found).sum() == pytest.approx(back, rel=1e-9), name


def test_masses_and_friction_of_a_linkage_come_out_of_a_noisy_motion():
    """Within three standard errors; angles and rates of all its joints are measured."""
    unknown = ("coupler_mass", "rocker_mass", "damping")
    true, initial, controls = linkage_case(coupler_mass=2.6, rocker_mass=1.1)
    run = sim.simulate(
        true, "newton", step=LINKAGE_STEP_S, duration=LINKAGE_STEP_S * 300, initial=initial, controls=controls
    )
    noise = np.r_[np.full(3, 0.004), np.full(3, 0.03)]
    nodes = run.nodes + noise * np.random.default_rng(1).standard_normal(run.nodes.shape)
    told = sim.Recording(
        run.time, nodes, run.controls, frozenset({"rotation", "position", "omega", "velocity"})
    )
    found = sim.identify(linkage_case()[0], told, unknown, method="variational")
    assert found.converged
    for name in unknown:
        assert abs(found.values[name] - true.values[name]) < 3.0 * found.standard_errors[name], name
        assert found.standard_errors[name] < 0.05 * true.values[name], name


def test_derivatives_are_the_same_compiled_and_evaluated_as_they_are(monkeypatch):
    vehicle, initial, controls = case()
    found = []
    for most in (gradient_steps.MOST_UNKNOWNS, 0):
        monkeypatch.setattr(gradient_steps, "MOST_UNKNOWNS", most)
        run = rolled(vehicle, initial, controls[:20])
        gradient = run.adjoint(np.ones(run.nodes.shape))
        back = [gradient.controls, gradient.initial, np.array([*gradient.parameters.values()])]
        found.append([run.nodes, run.forward(parameters={"length": 1.0}), *back])
    for compiled, evaluated in zip(*found, strict=True):
        scale = 1.0 + np.abs(compiled).max()
        np.testing.assert_allclose(evaluated, compiled, atol=1e-11 * scale)  # measured 7e-15


@pytest.mark.parametrize(
    "name, options, length",
    [
        ("chain", {"links": 20.0, "pinned": 2.0}, "link_length"),
        ("ragdoll", {}, "stature"),
        ("delta-robot", {}, "arm"),
    ],
)
def test_trees_of_many_joints_have_derivatives_that_differences_approach(name, options, length):
    vehicle, step_s, steps = sim.vehicle(name, **options), 0.002, 8
    controls = 3.0 * np.random.default_rng(1).standard_normal((steps, len(vehicle.controls)))

    def ended(made, us=controls):
        return sim.rollout_gradient(made, step=step_s, duration=steps * step_s, controls=us)

    def moved(made, us=controls):
        """By the recursions, which share nothing with the equations that are differentiated."""
        finder = "newton" if name == "chain" else None
        return sim.simulate(made, finder, step=step_s, duration=steps * step_s, controls=us).nodes

    run = ended(vehicle)
    np.testing.assert_allclose(run.nodes, moved(vehicle), atol=1e-7)  # measured 2e-9
    weights = np.random.default_rng(2).standard_normal(run.nodes.shape[1])
    gradient = run.adjoint(weights)
    value = vehicle.values[length]

    def changed(e):
        return moved(vehicle.with_parameters(**{length: value * (1.0 + e)}))[-1] @ weights

    expected = difference(changed, 1e-3) / value
    assert gradient.parameters[length] == pytest.approx(expected, rel=1e-7)  # measured 2e-9
    along = run.forward(parameters={length: 1.0})[-1] @ weights
    assert along == pytest.approx(gradient.parameters[length], rel=1e-9)
    if len(vehicle.controls):
        du = np.ones_like(controls)
        expected = difference(lambda e: moved(vehicle, controls + e * du)[-1] @ weights, 1e-2)
        assert (gradient.controls * du).sum() == pytest.approx(expected, rel=1e-7)  # measured 4e-10


def test_what_has_no_derivatives_is_refused_in_one_line():
    vehicle, _, controls = case()
    with pytest.raises(InputError, match=r"^'elbow' is beyond its limit at t = [^\n]*allowed: -2.5 to 2.5$"):
        rolled(vehicle, vehicle.state({"elbow": 2.48}, {"elbow": 4.0}), controls[:20])
    with pytest.raises(InputError, match="semi-implicit-euler moves a skew-arm by a recursion"):
        sim.rollout_gradient(vehicle, "semi-implicit-euler", duration=0.1)
