"""Where a paper's formula is not what it should be: the right one holds, by numbers of its own."""

import casadi as ca
import numpy as np
from scipy.special import ellipj, ellipk

import sim
from sim.compiler.loops import EXPONENT, SAFETY
from sim.integrators import INTEGRATORS
from sim.study import fig4, fig5
from sim.study.heavy_top import OMEGA, TOP, formulation
from sim.study.top_formulations import TopInSpace


def test_the_survey_top_follows_its_elliptic_function():
    """Gravity counts once and pulls down, inertia is about the fixed point: then the axis reaches straight down.

    The Lagrange top's u = cos(angle to the vertical) = u1 + (u2 - u1) sn^2; measured 4e-10 over half a second.
    """
    J, mgl = TOP.values["inertia"], 15.0 * 9.81 * 1.0
    across, along = J[0], J[1]
    vertical, axial = across * OMEGA[2], along * OMEGA[1]
    energy = (across * OMEGA[2] ** 2 + along * OMEGA[1] ** 2) / 2
    a, b = 2 * (energy - axial**2 / (2 * along)) / across, 2 * mgl / across
    # u'^2 = (a - b u)(1 - u^2) - ((vertical - axial u)/across)^2
    cubic = [
        b,
        -a - (axial / across) ** 2,
        -b + 2 * vertical * axial / across**2,
        a - (vertical / across) ** 2,
    ]
    u1, u2, u3 = np.sort(np.roots(cubic).real)
    assert abs(u1 + 1.0) < 1e-5
    h, steps = 1e-4, 5000
    up_b = formulation(TopInSpace, OMEGA, h, h * steps).observables["up_b"]
    m, t = (u2 - u1) / (u3 - u1), h * np.arange(steps + 1)
    sn, *_ = ellipj(ellipk(m) + np.sqrt(b * (u3 - u1)) / 2 * t, m)
    np.testing.assert_allclose(up_b[:, 1], u1 + (u2 - u1) * sn**2, rtol=0, atol=1e-8)


def test_the_first_guess_of_a_step_is_explicit_and_of_second_order():
    """The paper doubles h and uses the unknown; measured slope 2."""
    vehicle = sim.vehicle("helicopter")
    scheme = INTEGRATORS["variational"].scheme(vehicle)
    i = scheme.inputs
    known = [scheme.y, i.u, i.w, i.p, i.h]
    assert not ca.depends_on(scheme.guess, scheme.z)
    guess = ca.Function("guess", known, [scheme.guess])
    newton = ca.Function("r", [scheme.z, *known], [scheme.residual, ca.jacobian(scheme.residual, scheme.z)])
    start = ca.Function("start", [i.node, *known[1:]], [scheme.start])
    node = vehicle.state(omega=(0.5, -0.3, 0.8), v=(2.0, 0.5, -0.4)).node
    errors = []
    for h in (0.02, 0.01):
        rest = ([52.0, 0.4, 0.03, -0.02], np.zeros(6), vehicle.parameter_vector, h)
        y = start(node, *rest)
        first = z = guess(y, *rest)
        for _ in range(8):
            r, J = newton(z, y, *rest)
            z = z - ca.solve(J, r)
        errors.append(float(ca.norm_inf(z - first)))
    assert 1.8 < np.log2(errors[0] / errors[1]) < 3.2


def test_runs_of_the_figures_are_as_many_as_their_sections_say():
    """20 bodies for 240 s, 50 cars for 60 s: text and captions of the paper contradict each other."""
    assert fig4.run.__doc__.startswith("20 bodies for 240 s")
    assert fig5.run.__doc__.startswith("50 runs of 60 s")


def test_thrusters_of_the_boat_push_with_the_moment_of_their_arm():
    """c x e1 for both, same signs."""
    left, right = np.array([-1.2, 0.7, -0.2]), np.array([-1.0, -0.4, 0.1])
    vehicle = sim.vehicle("boat", thruster_left=left, thruster_right=right)
    u, p = ca.SX.sym("u", 2), ca.SX.sym("p", vehicle.parameter_count)
    wrench = ca.Function("f", [u, p], [vehicle.control_wrench(u, vehicle.symbols(p))])
    for k, arm in enumerate((left, right)):
        thrust = np.eye(2)[k] * 30.0
        expected = [np.cross(arm, [30.0, 0.0, 0.0])[2], 30.0, 0.0]
        np.testing.assert_allclose(
            np.array(wrench(thrust, vehicle.parameter_vector)).ravel(), expected, rtol=0, atol=1e-12
        )


def test_the_step_rule_is_that_of_the_surveys_program():
    """Exponent 1/4 and safety 0.85, not the text's 1/5; a step that the estimate e allows scales as (tol/e)^(1/4)."""
    assert (SAFETY, EXPONENT) == (0.85, 0.25)
