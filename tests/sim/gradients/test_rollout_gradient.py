"""Laws of a rollout's derivatives: they are what differences of rollouts approach, and adjoint to each other."""

import numpy as np
import pytest

import sim
from sim.platform.errors import InputError
from sim.vehicles.forms.form import TREES, Support
from sim.vehicles.forms.parameters import Value

H, STEPS = 0.01, 60
PAIRS = [
    ("helicopter", "variational-exact"),
    ("helicopter", "variational-exp"),
    ("helicopter", "rkmk4"),
    ("helicopter", "rk4"),
    ("spacecraft", "variational"),
    ("car", "variational-exact"),
    ("snakeboard", "variational-exact"),
    ("snakeboard", "rk4"),
    ("bicycle", "variational"),
]


def case(name: str) -> tuple[sim.Vehicle, sim.State, np.ndarray]:
    """A start out of every plane and forced controls that change."""
    vehicle, rng = sim.vehicle(name), np.random.default_rng(11)
    node, layout = vehicle.default_state().node.copy(), vehicle.node_layout
    node[layout.velocity] += 0.3 * rng.standard_normal(layout.velocity.stop - layout.velocity.start)
    controls = vehicle.neutral_controls + 0.2 * rng.standard_normal((STEPS, len(vehicle.controls)))
    return vehicle, vehicle.state_at_node(node), controls


def rolled(
    vehicle: sim.Vehicle, method: str, initial: sim.State, controls: np.ndarray, **more: int
) -> sim.Rollout:
    return sim.rollout_gradient(
        vehicle, method, step=H, duration=H * len(controls), initial=initial, controls=controls, **more
    )


def difference(nodes, scale: float) -> np.ndarray:
    """Of `nodes(change)` at 0: central differences, of which two lengths cancel the second order."""
    first, second = ((nodes(e) - nodes(-e)) / (2.0 * e) for e in (scale, 0.5 * scale))
    return (4.0 * second - first) / 3.0


@pytest.mark.parametrize("name, method", PAIRS)
def test_the_rollout_is_that_of_simulate_and_its_derivatives_are_what_differences_approach(
    name: str, method: str
) -> None:
    vehicle, initial, controls = case(name)
    run = rolled(vehicle, method, initial, controls)
    plain = sim.simulate(vehicle, method, step=H, duration=H * STEPS, initial=initial, controls=controls)
    assert np.abs(run.nodes - plain.nodes).max() < 1e-11  # measured: 6e-14
    rng = np.random.default_rng(2)
    du = rng.standard_normal(controls.shape)
    by_differences = difference(lambda e: rolled(vehicle, method, initial, controls + e * du).nodes, 1e-3)
    # Measured: up to 2e-10, which is the rounding of the differences.
    assert np.abs(run.forward(controls=du) - by_differences).max() < 1e-8
    for q in vehicle.parameters:
        if q.optional or not isinstance(q.default, float):
            continue
        value = float(vehicle.values[q.name])
        scale = 1e-3 * max(value, 0.1)
        if value - scale < q.low:
            continue

        def changed(e: float, key: str = q.name, at: float = value) -> np.ndarray:
            return rolled(vehicle.with_parameters(**{key: at + e}), method, initial, controls).nodes

        found, expected = run.forward(parameters={q.name: 1.0}), difference(changed, scale)
        assert np.abs(found - expected).max() < 1e-7 * (1.0 + np.abs(expected).max()), q.name


@pytest.mark.parametrize("name, method", PAIRS)
def test_the_adjoint_is_that_of_the_forward_derivative(name: str, method: str) -> None:
    """<w, J d> = <J' w, d> for whatever w and d: inputs, start and parameters, to rounding."""
    vehicle, initial, controls = case(name)
    run, rng = rolled(vehicle, method, initial, controls), np.random.default_rng(4)
    weights = rng.standard_normal(run.nodes.shape)
    gradient = run.adjoint(weights)
    du, d0 = rng.standard_normal(controls.shape), rng.standard_normal(vehicle.space.dim)
    scale = float(np.abs(weights * run.nodes).sum())
    assert (weights * run.forward(controls=du)).sum() == pytest.approx(
        (gradient.controls * du).sum(), abs=1e-12 * scale
    )
    assert (weights * run.forward(initial=d0)).sum() == pytest.approx(
        gradient.initial @ d0, abs=1e-12 * scale
    )
    for q in vehicle.parameters:
        direction = np.ones(np.shape(vehicle.values[q.name]))
        forward = (weights * run.forward(parameters={q.name: direction})).sum()
        assert forward == pytest.approx(
            np.sum(gradient.parameters[q.name]), abs=1e-11 * scale + 1e-9 * abs(forward)
        )


def test_the_start_turns_by_rotation_vectors_in_the_body() -> None:
    """Of the pose: nodes of a start that is displaced on the group."""
    vehicle, initial, controls = case("helicopter")
    run = rolled(vehicle, "variational-exact", initial, controls)

    def turned(e: float) -> np.ndarray:
        from sim.groups.numeric import rotation_exp

        node = initial.node.copy()
        R = node[:9].reshape(3, 3).T
        node[:9] = (R @ rotation_exp(e * np.array([0.3, -0.5, 0.7]))).T.ravel()
        return rolled(vehicle, "variational-exact", vehicle.state_at_node(node), controls).nodes

    d0 = np.zeros(vehicle.space.dim)
    d0[:3] = 0.3, -0.5, 0.7
    assert np.abs(run.forward(initial=d0) - difference(turned, 1e-3)).max() < 1e-8  # measured: 4e-11


def test_checkpoints_change_no_derivative() -> None:
    vehicle, initial, controls = case("helicopter")
    whole = rolled(vehicle, "variational-exact", initial, controls)
    kept = rolled(vehicle, "variational-exact", initial, controls, checkpoint_every=7)
    assert len(kept.checkpoints) == 1 + -(-STEPS // 7)
    assert np.array_equal(whole.nodes, kept.nodes)
    weights = np.random.default_rng(3).standard_normal(whole.nodes.shape)
    a, b = whole.adjoint(weights), kept.adjoint(weights)
    assert np.abs(a.controls - b.controls).max() < 1e-13 * np.abs(a.controls).max()
    assert np.abs(whole.jacobian(("mass",)) - kept.jacobian(("mass",))).max() < 1e-12
    assert kept.jacobian(("mass", "inertia")).shape == (STEPS + 1, vehicle.node_layout.size, 12 + 4)


def test_a_gradient_descends_to_inputs_that_reach_a_goal() -> None:
    """The squared distance from a hover two metres up, by gradient descent on the lift alone."""
    vehicle = sim.vehicle("helicopter")
    weight = vehicle.values["mass"] * vehicle.values["gravity"]  # type: ignore[operator]
    controls = np.tile([weight, 0.0, 0.0, 0.0], (100, 1))
    goal, height = 2.0, 11  # z of the pose
    for _ in range(60):
        run = rolled(vehicle, "variational-exact", vehicle.default_state(), controls)
        weights = np.zeros(run.nodes.shape[1])
        weights[height] = 2.0 * (run.nodes[-1, height] - goal)
        controls = controls - 800.0 * run.adjoint(weights).controls * [1.0, 0.0, 0.0, 0.0]
    assert run.nodes[-1, height] == pytest.approx(goal, abs=1e-3)


def test_what_cannot_be_differentiated_is_refused_in_one_line() -> None:
    vehicle, initial, controls = case("helicopter")
    with pytest.raises(InputError, match="rkmk54 divides its steps"):
        rolled(vehicle, "rkmk54", initial, controls)
    with pytest.raises(InputError, match="controls are a function"):
        sim.rollout_gradient(vehicle, controls=lambda t, state: np.zeros(4))
    run = rolled(vehicle, "rk4", initial, controls)
    with pytest.raises(InputError, match=r"weights are \(3,\); allowed: \(61, 18\) or \(18,\)"):
        run.adjoint(np.zeros(3))
    with pytest.raises(InputError, match="unknown parameter 'mess'; allowed: mass"):
        run.forward(parameters={"mess": 1.0})
    with pytest.raises(InputError, match="directions of initial"):
        run.forward(initial=np.zeros(5))
    with pytest.raises(InputError, match="weights = 'up' are not numeric"):
        run.adjoint("up")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="weights have entries that are not finite"):
        run.adjoint(np.full(18, np.nan))
    with pytest.raises(InputError, match="directions of mass = 'heavy' are not numeric"):
        run.forward(parameters={"mass": "heavy"})
    with pytest.raises(InputError, match="parameters = 3 are refused"):
        run.forward(parameters=3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="parameters = 'mass' are refused"):
        run.jacobian("mass")  # type: ignore[arg-type]
    spinning = vehicle.state(omega=(1e200, 1e200, 1.0))
    with pytest.raises(InputError, match="the step at t = 0 s has no solution"):
        rolled(vehicle, "rk4", spinning, controls)


@pytest.mark.parametrize("method", ["variational-exact", "variational-exp", "rkmk4"])
def test_at_rest_where_angles_are_zero_derivatives_are_numbers(method: str) -> None:
    vehicle = sim.vehicle("helicopter")
    controls = np.tile([vehicle.values["mass"] * 9.81, 0.0, 0.0, 0.0], (20, 1))  # type: ignore[operator]
    run = rolled(vehicle, method, vehicle.default_state(), controls)
    assert np.isfinite(run.jacobian(("mass", "inertia"))).all()
    assert np.isfinite(run.adjoint(np.ones(18)).controls).all()


def test_values_of_parameters_are_told_in_their_shapes() -> None:
    vehicle, initial, controls = case("helicopter")
    gradient = rolled(vehicle, "variational-exact", initial, controls).adjoint(np.ones(18))
    shapes: dict[str, Value] = dict(gradient.parameters)
    assert isinstance(shapes["mass"], float)
    assert len(shapes["inertia"]) == 3  # type: ignore[arg-type]


UNDIFFERENTIABLE = [name for name in sim.vehicles() if sim.vehicle(name).support is Support.WATER]


@pytest.mark.parametrize(
    "name",
    [name for name in sim.vehicles() if name not in UNDIFFERENTIABLE and sim.vehicle(name).form not in TREES],
)
def test_nothing_of_what_moves_a_vehicle_is_left_out_of_its_rollout(name: str) -> None:
    """At the method that is usual for it, under forced controls; measured: up to 1e-15."""
    vehicle, _, controls = case(name)
    run = sim.rollout_gradient(vehicle, step=H, duration=H * STEPS, controls=controls)
    plain = sim.simulate(vehicle, step=H, duration=H * STEPS, controls=controls)
    assert np.abs(run.nodes - plain.nodes).max() < 1e-11 * max(np.abs(plain.nodes).max(), 1.0)


@pytest.mark.parametrize("name", UNDIFFERENTIABLE)
def test_what_moves_by_water_is_refused_in_one_line(name: str) -> None:
    with pytest.raises(InputError, match=rf"^[^\n]* {name} [^\n]*allowed: vehicles [^\n]*$"):
        sim.rollout_gradient(name, step=H, duration=H * STEPS)
