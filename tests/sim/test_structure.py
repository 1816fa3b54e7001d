"""What methods keep of the mechanics: coadjoint orbits, the symplectic form, tolerances."""

import numpy as np
import pytest

import sim
from sim.compiler import compile_kernel
from sim.groups import SO3
from sim.integrators import INTEGRATORS, integrator
from sim.integrators.lie_group import LIE_GROUP
from sim.vehicles.heavy_top import HeavyTop
from studies.heavy_top import FORMULATIONS, SLOW, TOP, TopLiePoisson, formulation

SYMPLECTIC = (
    "variational-exp",
    "variational-cay",
    "variational-4",
    "variational-6",
    "galerkin-4",
    "galerkin-6",
    "symplectic-0",
    "symplectic-half",
    "symplectic-1",
)


@pytest.mark.parametrize("method", LIE_GROUP, ids=lambda m: m.name)
def test_explicit_lie_group_methods_keep_coadjoint_orbits(method):
    """Casimirs |Gamma|^2 and Pi.Gamma of the heavy top on se(3)*, 200 steps at h = 0.02; measured 3e-14."""
    top = TopLiePoisson(**TOP.values)
    run = sim.simulate(top, method, step=0.02, duration=4.0, initial=top.turning(4 * SLOW))
    Pi, Gamma = run.observables["momentum_b"], run.observables["up_b"]
    assert np.abs((Gamma**2).sum(1) - 1).max() < 2e-13
    product = (Pi * Gamma).sum(1)
    assert np.abs(product - product[0]).max() < 1e-12 * np.abs(Pi).max()
    assert np.abs(Gamma[-1] - Gamma[0]).max() > 0.1


def test_formulations_of_the_heavy_top_agree():
    """All that the survey has, and the vehicle that is flown, at h = 1 ms; measured 2e-14."""
    flown = sim.simulate(TOP, "rkmk5", step=1e-3, duration=0.5, initial=TOP.state(omega=SLOW))
    for kind in FORMULATIONS.values():
        run = formulation(kind, SLOW, 1e-3, 0.5)
        assert np.abs(run.observables["up_b"] - flown.pose[:, 2]).max() < 1e-11
        assert np.abs(run.energy - flown.energy).max() < 1e-9
        assert np.abs(run.momentum[:, 2] - flown.momentum[:, 2]).max() < 1e-10


def symplectic_form(mu):
    """Of T*SO(3), left-trivialised: <dmu2, eta1> - <dmu1, eta2> + <mu, eta1 x eta2>."""
    hat = np.array([[0, mu[2], -mu[1]], [-mu[2], 0, mu[0]], [mu[1], -mu[0], 0]])
    return np.block([[hat, np.eye(3)], [-np.eye(3), np.zeros((3, 3))]])


def rotation(w):
    return np.array(SO3.function("exp")(w)).reshape(3, 3).T


@pytest.mark.parametrize("method", SYMPLECTIC)
def test_one_step_is_symplectic(method):
    """Central differences of the step at h = 0.1 from node to node; measured 4e-10."""
    top, h, eps = HeavyTop(inertia=(2.0, 3.0, 4.0), mass=1.0, arm=(0.0, 1.0, 0.0)), 0.1, 1e-5
    kernel, p, u = compile_kernel(top, INTEGRATORS[method]), top.parameter_vector, np.zeros(3)
    J = np.array(top.values["inertia"])
    R0, mu0 = rotation([0.3, -0.5, 0.2]), J * [1.0, -2.0, 0.7]

    def step(d):
        node = top.state(R=R0 @ rotation(d[:3]), omega=(mu0 + d[3:]) / J).node
        y = kernel.start(node, u, p, h)
        assert kernel.advance(y, u, np.zeros(3), p, h, 1)[:2] == (1, 0)
        end = kernel.node(y, u, p, h)
        return end[:9].reshape(3, 3).T, J * end[9:]

    R1, mu1 = step(np.zeros(6))
    D = np.zeros((6, 6))
    for i in range(6):
        (Ra, ma), (Rb, mb) = (step(s * eps * np.eye(6)[i]) for s in (1, -1))
        S = R1.T @ (Ra - Rb) / (2 * eps)
        D[:, i] = np.r_[S[2, 1] - S[1, 2], S[0, 2] - S[2, 0], S[1, 0] - S[0, 1], (ma - mb) / eps] / 2
    assert np.abs(D.T @ symplectic_form(mu1) @ D - symplectic_form(mu0)).max() < 1e-7


def test_the_symplectic_form_catches_a_method_that_is_not():
    test = test_one_step_is_symplectic
    with pytest.raises(AssertionError):
        test("newmark")


@pytest.mark.parametrize("method", ["rkmk54", "cf43"])
def test_adaptive_error_follows_the_tolerance_at_any_outer_step(method):
    """A tolerance a hundred times smaller makes the error some hundred times smaller; measured 40 to 160."""
    body = sim.vehicle("rigid-body")
    start = body.state(omega=(0.8, 2.1, -0.5), v=(0.5, 0.2, -0.3))

    def end(tolerance, step):
        chosen = integrator(method, tolerance=tolerance)
        return sim.simulate(body, chosen, step=step, duration=4.0, initial=start).nodes[-1]

    exact = end(1e-13, 0.5)
    errors = [np.abs(end(t, 2.0) - exact).max() for t in (1e-5, 1e-7, 1e-9)]
    ratios = np.array(errors[:-1]) / errors[1:]
    assert np.all((ratios > 15) & (ratios < 600))
    np.testing.assert_allclose(end(1e-12, 0.1), exact, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("rkmk54", {"tolerance": 0.0}),
        ("cf43", {"tolerance": -1e-6}),
        ("rkmk54", {"tolerance": float("nan")}),
        ("variational", {"alpha": 1.5}),
        ("rk4", {"tolerance": 1e-6}),
    ],
)
def test_options_that_cannot_work_are_refused_in_one_line(name, options):
    with pytest.raises(sim.InputError) as refusal:
        integrator(name, **options)
    assert "\n" not in str(refusal.value)
    assert "allowed" in str(refusal.value)
