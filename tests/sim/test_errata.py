"""Where a paper's formula is not what it should be: the right one holds, by numbers of its own."""

import casadi as ca
import numpy as np
import pytest
from scipy.special import ellipj, ellipk

import sim
from sim.compiler import compile_kernel
from sim.compiler.loops import EXPONENT, SAFETY, growth
from sim.groups import SE2, SE3, SO3
from sim.integrators import INTEGRATORS
from sim.multibody.stepping import OK
from sim.steppers.bound_tree import BoundTree
from studies import fig5, free_body, survey
from studies.heavy_top import OMEGA, TOP, TopInSpace, formulation
from studies.report import Options
from tests.sim.multibody.sample_trees import pendulum_chain


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


def test_runs_of_the_figures_are_as_many_as_their_sections_say(monkeypatch):
    """20 bodies for 240 s, 50 cars for 60 s: text and captions of the paper contradict each other."""

    class Asked(Exception):
        """What a study is about to run."""

    def bodies(count, seconds, seed):
        raise Asked(count, seconds)

    def cars(runs, seconds, seed, progress):
        raise Asked(runs, seconds)

    monkeypatch.setattr(free_body, "random_bodies", bodies)
    monkeypatch.setattr(fig5, "measure", cars)
    for study, wanted in ((free_body.fig4, (20, 240.0)), (fig5.run, (50, 60))):
        with pytest.raises(Asked) as asked:
            study(Options(), lambda told, share: None)
        assert asked.value.args == wanted


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
    for share in (2.0**-8, 1.0, 16.0):
        assert growth(1e-6 / share, 1e-6) == pytest.approx(max(0.2, min(5.0, 0.85 * share**0.25)), rel=1e-12)


@pytest.mark.parametrize("name", ["rigid-body", "helicopter", "boat", "heavy-top", "spacecraft"])
def test_momentum_is_the_derivative_of_the_energy_of_motion(name):
    """l = <I xi, xi> / 2, with the half that the paper's section 3.1 leaves out."""
    vehicle = sim.vehicle(name)
    node, p = ca.SX.sym("node", vehicle.node_layout.size), ca.SX.sym("p", vehicle.parameter_count)
    q, xi = vehicle.symbols(p), node[vehicle.node_layout.velocity]
    slope = ca.gradient(vehicle.energy(node, q), node)[vehicle.node_layout.velocity]
    apart = ca.Function("d", [node, p], [slope - vehicle.momentum(xi, q) + vehicle.momentum_bias(q)])
    moving = vehicle.default_state().node + 0.3
    assert np.abs(np.array(apart(moving, vehicle.parameter_vector))).max() < 1e-12


def test_the_snakeboard_has_half_of_its_velocities_square_and_the_rotors_rate_in_its_momentum():
    """l = (u, xi)' M (u, xi) / 2 and mu = (m l^2 xi_1 + I u_psi, m xi_2, m xi_3): u_psi, not u_phi."""
    board = sim.vehicle("snakeboard")
    m, rotor, wheel, half = board.parameter_vector
    r, u, xi = np.array([0.4, -0.3]), np.array([1.3, -0.7]), np.array([0.6, 1.1, -0.2])
    M = np.diag([rotor, 2 * wheel, m * half**2, m, m])
    M[0, 2] = M[2, 0] = rotor
    velocity = np.r_[u, xi]
    q = board.symbols(ca.SX(board.parameter_vector))
    _, by_shape, mu = board.gradients(ca.SX(r), ca.SX(u), ca.SX(xi), q)
    assert float(board.lagrangian(ca.SX(r), ca.SX(u), ca.SX(xi), q)) == pytest.approx(
        velocity @ M @ velocity / 2
    )
    np.testing.assert_allclose(np.array(ca.DM(ca.vertcat(by_shape, mu))).ravel(), M @ velocity, atol=1e-12)
    np.testing.assert_allclose(
        np.array(ca.DM(mu)).ravel(), [m * half**2 * xi[0] + rotor * u[0], m * xi[1], m * xi[2]], atol=1e-12
    )


def test_the_printed_translation_factor_is_another_map_and_loses_spatial_momentum():
    """B = (1 - w/2)^-1 = (4 + 2 w + w w')/(4 + |w|^2); 2 (2 + w)/(4 + |w|^2) is SO(3)'s own dcay, 0.056 away."""
    w = np.array([0.6, -0.5, 0.4])
    W = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
    right = np.linalg.inv(np.eye(3) - W / 2)
    np.testing.assert_allclose((4 * np.eye(3) + 2 * W + np.outer(w, w)) / (4 + w @ w), right, atol=1e-15)
    for v in np.eye(3):
        x = np.array(SE3.function("cay")(np.r_[w, v])).ravel()[9:]
        np.testing.assert_allclose(x, right @ v, atol=1e-15)
    assert np.abs(2 * (2 * np.eye(3) + W) / (4 + w @ w) - right).max() > 0.05


def test_the_planar_cayley_map_of_nothing_is_the_identity():
    """The printed sign of a diagonal entry gives -1, with the determinant 1 all the same."""
    np.testing.assert_array_equal(
        SE2.to_matrix(np.array(SE2.function("cay")(np.zeros(3))).ravel()), np.eye(3)
    )


def test_a_start_by_the_legendre_transform_is_of_second_order_and_by_a_repeated_velocity_of_first():
    """What comes before the first step: p_0 = I xi(0), or the momentum of an arc that had xi(0) already."""
    top = sim.vehicle("heavy-top", mass=6.0, inertia=(2.0, 2.7, 1.1), arm=(0.05, -0.04, 0.25))
    kernel = compile_kernel(top, INTEGRATORS["variational-cay"])
    start = top.state(omega=(0.6, -0.4, 2.5)).node
    p, u, still = top.parameter_vector, top.neutral_controls, np.zeros(3)
    xi = start[9:]
    mu = np.array([2.0, 2.7, 1.1]) * xi
    exact = sim.simulate(
        top, "rkmk54", step=0.01, duration=1.0, initial=top.state(omega=(0.6, -0.4, 2.5))
    ).nodes[-1]

    def error(steps, repeated):
        h = 1.0 / steps
        y = kernel.start(start, u, p, h)
        if repeated:
            arm_b = -9.81 * 6.0 * np.cross([0.05, -0.04, 0.25], [0.0, 0.0, 1.0])
            y[9:] = np.array(SO3.function("dcay_inv")(-h * xi)).T @ mu + h / 2 * arm_b
        kernel.advance(y, u, still, p, h, steps)
        return np.abs(kernel.node(y, u, p, h) - exact)[:9].max()

    slopes = [np.log2(error(100, repeated) / error(200, repeated)) for repeated in (False, True)]
    assert slopes == pytest.approx([2.0, 1.0], abs=0.1)


def test_the_root_of_a_step_is_judged_by_increments_so_that_units_of_mass_do_not_matter():
    """A residual is an impulse, rounded to about M eps / h; judged absolutely the heavy chain would never settle."""
    light, heavy = pendulum_chain(8), pendulum_chain(8, mass=1e6)
    q, v = np.linspace(-1.0, 1.2, 8), np.linspace(2.0, -1.0, 8)
    ends = []
    for chain in (light, heavy):
        stepper = BoundTree(chain, 1e-3, tolerance=1e-12)
        motion = stepper.start(q, v)
        assert stepper.advance(motion, 200) == (200, OK)
        ends.append((motion.q, stepper.workspace.tally.copy()))
    np.testing.assert_allclose(ends[0][0], ends[1][0], rtol=0, atol=1e-9)
    np.testing.assert_allclose(ends[0][1], ends[1][1], rtol=0.02, atol=0)


def test_the_surveys_pendula_start_in_a_plane_and_generic_ones_do_not():
    """Its directions never leave the x-z plane, where commutators vanish; those of the studies' start do at once."""
    vehicle = survey.chain(2)
    for start, across in ((survey.planar(vehicle), 1e-12), (survey.generic(vehicle), None)):
        run = sim.simulate(vehicle, "rkmk4", step=0.005, duration=1.0, initial=start)
        aside = np.abs(run.nodes.reshape(-1, 2, 6)[..., 1]).max()
        assert aside < across if across else aside > 0.1
