"""The compiled step is the symbolic step, and says when it has no solution."""

import platform
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import sim
from sim.compiler import NOT_FINITE, OK, compile_kernel, kernel_text, robust
from sim.compiler.kernel import _compiled
from sim.compiler.printer import solution_order
from sim.environment.environment import default_start
from sim.integrators import INTEGRATORS
from sim.native.objects import assembly
from sim.vehicles.rigid_body import RigidBody


def serving(vehicle):
    return [n for n, i in INTEGRATORS.items() if not i.serves(vehicle) and not getattr(i, "adaptive", False)]


def symbolic_step(vehicle, scheme):
    """(y_next, node) by CasADi's own evaluator, with its own Newton method, over the scheme's substeps."""
    i = scheme.inputs
    known = [scheme.y, i.u, i.w, i.p, i.h]
    end = ca.Function("end", [scheme.z, *known], [scheme.y_next, scheme.node])
    residual = ca.Function("r", [scheme.z, *known], [scheme.residual, ca.jacobian(scheme.residual, scheme.z)])
    guess = ca.Function("g", known, [scheme.guess])

    def part(*a):
        z = guess(*a)
        for _ in range(30 if scheme.z.shape[0] else 0):
            r, J = residual(z, *a)
            z = z - ca.solve(J, r)
        return end(z, *a)

    def step(y, u, w, p, h):
        nodes = []
        for share in scheme.substeps:
            y, node = part(y, u, w, p, h * share)
            nodes.append(node)
        return y, nodes[0]

    return step


@pytest.mark.parametrize(
    ("name", "method"), [(v, m) for v in ("rigid-body", "helicopter") for m in serving(sim.vehicle(v))]
)
def test_compiled_step_is_the_symbolic_step(name, method):
    """To 1e-12 on random states, a helicopter with every extension on, a body without any; measured 2e-14."""
    rng = np.random.default_rng(11)
    extras = {"rotor_momentum": 0.3, "drag": 0.2} if name == "helicopter" else {}
    vehicle = sim.vehicle(name, **extras)
    kernel, scheme = compile_kernel(vehicle, INTEGRATORS[method]), INTEGRATORS[method].scheme(vehicle)
    step, p, h = symbolic_step(vehicle, scheme), vehicle.parameter_vector, 0.03
    start = ca.Function(
        "s",
        [scheme.inputs.node, scheme.inputs.u, scheme.inputs.w, scheme.inputs.p, scheme.inputs.h],
        [scheme.start],
    )
    for _ in range(5):
        axis = rng.normal(size=3)
        R = _rotation(axis)
        node = vehicle.state(R=R, x=rng.normal(size=3), omega=rng.normal(size=3), v=rng.normal(size=3)).node
        u = rng.normal(size=len(vehicle.controls))
        w = rng.normal(size=6)
        y = kernel.start(node, u, p, h)
        np.testing.assert_allclose(y, np.array(start(node, u, np.zeros(6), p, h)).ravel(), rtol=0, atol=1e-12)
        expected_y, expected_node = (np.array(x).ravel() for x in step(y, u, w, p, h))
        np.testing.assert_allclose(kernel.node(y, u, p, h, w=w), expected_node, rtol=0, atol=1e-12)
        assert kernel.advance(y, u, w, p, h, 1)[:2] == (1, OK)
        np.testing.assert_allclose(y, expected_y, rtol=0, atol=1e-12)


def _rotation(axis):
    from scipy.spatial.transform import Rotation

    return Rotation.from_rotvec(axis).as_matrix()


@pytest.mark.parametrize("method", ["rk2", "rk4"])
def test_a_loop_over_stages_is_the_symbolic_step(method):
    """To 1e-12 of its numbers, of a bicycle, whose rate is long; measured 1e-16."""
    rng, vehicle, h = np.random.default_rng(3), sim.vehicle("bicycle"), 0.02
    scheme = INTEGRATORS[method].scheme(vehicle)
    assert scheme.stages is not None
    held, sampled = (kernel_text(vehicle, INTEGRATORS[method], sampled=each).text for each in (False, True))
    assert len(held) < len(sampled)  # where controls are sampled, stages come one after the other
    kernel, step = compile_kernel(vehicle, INTEGRATORS[method]), symbolic_step(vehicle, scheme)
    y = kernel.start(default_start(vehicle).node, vehicle.neutral_controls, vehicle.parameter_vector, h)
    for _ in range(5):
        u, w = rng.normal(size=len(vehicle.controls)), rng.normal(size=vehicle.wrench_size)
        expected = np.array(step(y, u, w, vehicle.parameter_vector, h)[0]).ravel()
        assert kernel.advance(y, u, w, vehicle.parameter_vector, h, 1)[:2] == (1, OK)
        np.testing.assert_allclose(y, expected, rtol=1e-12, atol=1e-12)


def test_isotropic_mass_decouples_rotation_and_makes_translation_linear():
    """Found from the declaration, not told."""
    blocks = solution_order(INTEGRATORS["variational"].scheme(sim.vehicle("helicopter")))
    assert [(sorted(b.unknowns), b.linear) for b in blocks if not b.linear] == [([0, 1, 2], False)]
    assert sorted(k for b in blocks if b.linear for k in b.unknowns) == [3, 4, 5]


def test_a_step_that_is_not_finite_is_refused_and_the_last_good_state_kept():
    body = sim.vehicle("rigid-body", inertia=(0.4, 1.6, 1.9))
    kernel, p, u = compile_kernel(body, INTEGRATORS["rk4"]), body.parameter_vector, np.zeros(6)
    y = kernel.start(body.state(omega=(0.05, 20.0, 0.05)).node, u, p, 0.25)
    done, status, _ = kernel.advance(y, u, np.zeros(6), p, 0.25, 10_000)
    assert status == NOT_FINITE
    assert done < 10_000
    assert np.all(np.isfinite(y))


def test_a_row_is_held_over_its_step():
    """A row a step equals a function of time that holds it."""
    vehicle = sim.vehicle("helicopter")
    rows = np.array([[50 + np.sin(k), 0.1 * k, 0.01, 0.0] for k in range(40)])
    a = sim.simulate(vehicle, step=0.02, duration=0.8, controls=rows)
    b = sim.simulate(vehicle, step=0.02, duration=0.8, controls=lambda t, state: rows[int(t / 0.02 + 1e-9)])
    np.testing.assert_allclose(a.nodes[:-1], b.nodes[:-1], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(b.controls, rows)


def test_restarting_from_a_node_continues_the_run():
    """`final` into `initial`; measured 2e-15."""
    vehicle = sim.vehicle("helicopter", drag=0.1)
    u = [50.0, 0.2, 0.01, -0.01]
    whole = sim.simulate(vehicle, step=0.02, duration=1.0, controls=u)
    half = sim.simulate(vehicle, step=0.02, duration=0.5, controls=u)
    rest = sim.simulate(vehicle, step=0.02, duration=0.5, controls=u, initial=half.final)
    np.testing.assert_allclose(rest.nodes[-1], whole.nodes[-1], rtol=0, atol=1e-12)


def test_an_operation_that_has_no_machine_code_is_refused_by_its_name():
    class Odd(RigidBody):
        name = "odd-body"

        def dissipative_wrench(self, g, xi, q):
            return ca.vertcat(ca.SX(3, 1), -ca.erf(xi[3:]))

    with pytest.raises(
        sim.InputError, match=r"odd-body under rk4: the operation 'erf' .* has no compiled form"
    ):
        compile_kernel(Odd(), INTEGRATORS["rk4"])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: sim.vehicle("zeppelin"), ("zeppelin", "helicopter")),
        (lambda: sim.vehicle("helicopter", mas=1.0), ("mas", "mass")),
        (lambda: sim.vehicle("helicopter", mass=float("nan")), ("mass", "0.001")),
        (lambda: sim.vehicle("helicopter", mass=-1.0), ("mass", "0.001")),
        (lambda: sim.vehicle("helicopter", inertia=(1.0, 2.0)), ("inertia", "3 numbers")),
        (lambda: sim.vehicle("helicopter", mass="heavy"), ("mass", "number")),
        (lambda: sim.simulate(sim.vehicle("rigid-body"), "rk7"), ("rk7", "variational")),
        (lambda: sim.simulate(sim.vehicle("rigid-body"), step=0.0), ("step", "above 0")),
        (lambda: sim.simulate(sim.vehicle("rigid-body"), step=float("inf")), ("step", "above 0")),
        (lambda: sim.simulate(sim.vehicle("rigid-body"), duration=-1.0), ("duration",)),
        (lambda: sim.simulate(sim.vehicle("helicopter"), controls=[1.0, 2.0]), ("controls", "u_c")),
        (lambda: sim.simulate(sim.vehicle("helicopter"), controls=[np.nan] * 4), ("controls", "finite")),
        (lambda: sim.vehicle("rigid-body").state(R=np.ones((3, 3))), ("R", "rotation")),
        (lambda: sim.vehicle("rigid-body").state(x=(1.0, np.inf, 0.0)), ("x", "finite")),
    ],
)
def test_bad_input_is_refused_in_one_line_that_names_it(call, words):
    with pytest.raises(sim.InputError) as refusal:
        call()
    message = str(refusal.value)
    assert "\n" not in message
    for word in words:
        assert word in message


def test_the_robust_solver_is_there_from_the_first_step_on_that_needs_it():
    """A spacecraft that turns by 56 rad a step, where Newton's method alone ends, after steps at which it does not."""
    others = robust.announced(), robust.compiled()  # what kernels of this process jump to
    robust.announced.cache_clear()
    robust.compiled.cache_clear()
    _compiled.cache_clear()
    vehicle = sim.vehicle("spacecraft")
    kernel, p = compile_kernel(vehicle, INTEGRATORS["variational"]), vehicle.parameter_vector
    u, ends = vehicle.neutral_controls, []
    start = vehicle.state(omega=(40.0, -25.0, 30.0)).node
    for step, needed in ((1e-3, 0), (1.0, 1), (1.0, 1)):
        y = kernel.start(start, u, p, step)
        done, status, _ = kernel.advance(y, u, np.zeros(kernel.dim), p, step, 50)
        assert (done, status) == (50, OK)
        assert robust.compiled.cache_info().currsize == needed
        ends.append(y)
    np.testing.assert_array_equal(ends[1], ends[2])
    assert others


def test_the_page_about_machine_code_shows_what_is_printed():
    page = (Path(sim.__file__).parents[1] / "docs" / "machine-code.md").read_text(encoding="utf-8")
    shown = page.split("```llvm\n")[1].split("```")[0].splitlines()
    printed = kernel_text(sim.vehicle("car"), INTEGRATORS["variational"]).text
    assert len(shown) > 10
    assert "\n".join(f"  {line}" for line in shown) in printed
    blocks = solution_order(INTEGRATORS["variational"].scheme(sim.vehicle("spacecraft")))
    assert str([(block.unknowns, block.linear) for block in blocks]) in page
    assert "divsd" in assembly(printed) or platform.machine() != "x86_64"
