"""Connections and symmetry bases that are derived from constraints and Lagrangians alone."""

import casadi as ca
import numpy as np
import pytest

import sim
from sim.groups import SE3
from sim.planner import Goal, Task
from sim.vehicles import Control, NonholonomicVehicle, Parameter, ShapeCoordinate
from tests.sim.constrained_motion import ConstrainedSystem


class Racer(NonholonomicVehicle):
    """A roller racer: two carts on a hinge, an axle under each, moved on by swinging the hinge.

    Nothing but Lagrangian and constraints. The second cart's mass is in its turning alone.
    """

    name = "test-racer"
    parameters = (
        Parameter("mass", "kg", 9.0, 0.1, 1e3, "Of the first cart."),
        Parameter("inertia", "kg m^2", 0.7, 0.01, 1e3, "Of the first cart."),
        Parameter("tail_inertia", "kg m^2", 0.4, 0.01, 1e3, "Of the second cart."),
        Parameter("front", "m", 0.8, 0.01, 10.0, "From the first axle to the hinge."),
        Parameter("back", "m", 0.3, 0.01, 10.0, "From the hinge to the second axle."),
    )
    controls = (Control("f_hinge", "N m", -10.0, 10.0, "Torque at the hinge."),)
    shape_coordinates = (ShapeCoordinate("hinge", "rad", "Angle of the second cart.", -1.8, 1.8),)

    def lagrangian(self, r, u, xi, q):
        turning = q.inertia * xi[0] ** 2 + q.tail_inertia * (xi[0] + u[0]) ** 2
        return (q.mass * (xi[1] ** 2 + xi[2] ** 2) + turning) / 2

    def constraints(self, r, q):
        c, s = ca.cos(r[0]), ca.sin(r[0])
        first = ca.horzcat(0, 0, 0, 1)
        second = ca.horzcat(q.back, q.front * c + q.back, -s, c)
        return ca.vertcat(first, second)

    def shape_force(self, r, u, controls, q):
        return controls


def racer_in_world(mass, inertia, tail, front, back):
    """q = (hinge, theta, x, y): the same with multipliers; the second axle's velocity from its position."""

    def lagrangian(q, v):
        return (mass * (v[2] ** 2 + v[3] ** 2) + inertia * v[1] ** 2 + tail * (v[0] + v[1]) ** 2) / 2

    def constraints(q):
        heading = q[1] + q[0]
        hinge = q[2:] + front * ca.vertcat(ca.cos(q[1]), ca.sin(q[1]))
        axle = hinge + back * ca.vertcat(ca.cos(heading), ca.sin(heading))
        across = ca.horzcat(-ca.sin(heading), ca.cos(heading)) @ ca.jacobian(axle, q)
        return ca.vertcat(ca.horzcat(0, 0, -ca.sin(q[1]), ca.cos(q[1])), across)

    return ConstrainedSystem(lagrangian, constraints, 4)


def swinging(t):
    return 0.8 * np.sin(4.0 * t) - 0.3


def steady(t):
    return -0.3


def racer_truth(state, seconds, push):
    """Node at the end."""
    theta, x, y = state.node[:3]
    c, s = np.cos(theta), np.sin(theta)
    xi = state.velocity
    world = np.array([[c, -s], [s, c]]) @ xi[1:]
    system = racer_in_world(*Racer().parameter_vector)
    q, v = np.r_[state.shape, theta, x, y], np.r_[state.shape_velocity, xi[0], world]
    assert system.admissible(q, v) < 1e-12
    q, v = system.integrate(q, v, seconds, lambda t: np.array([push(t), 0, 0, 0]))
    c, s = np.cos(q[1]), np.sin(q[1])
    return np.r_[q[1:], v[1], np.array([[c, s], [-s, c]]) @ v[2:], q[0], v[0]]


class Unstopped(Racer):
    """No divisor keeps its sign here."""

    name = "test-unstopped"
    shape_coordinates = (ShapeCoordinate("hinge", "rad", "Angle of the second cart."),)


@pytest.mark.parametrize("kind", [Racer, Unstopped])
@pytest.mark.parametrize(("method", "order", "push"), [("variational", 2, swinging), ("rk4", 4, steady)])
def test_lagrangian_and_constraints_are_enough(kind, method, order, push):
    """Against equations with multipliers in world coordinates; measured orders 2.000 and 3.93."""
    racer = kind()
    state = racer.state(theta=0.4, x=1.0, shape=(0.5,), shape_velocity=(-0.6,), momentum=(2.0,))
    reference, errors = racer_truth(state, 1.0, push), []
    for h in (0.01, 0.005):
        rows = np.array([[push((k + 0.5) * h)] for k in range(round(1 / h))])
        run = sim.simulate(racer, method, step=h, duration=1.0, initial=state, controls=rows)
        errors.append(np.abs(run.nodes[-1] - reference).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.2)
    assert errors[1] < 1e-3


def numbers(vehicle, expression, r):
    return np.array(
        ca.evalf(ca.densify(expression(ca.SX(r), vehicle.symbols(ca.SX(vehicle.parameter_vector)))))
    )


def derived(name):
    """The vehicle as if it declared Lagrangian and constraints only."""
    kind = type(sim.vehicle(name))
    left_out = {
        "connection": NonholonomicVehicle.connection,
        "symmetry_basis": NonholonomicVehicle.symmetry_basis,
    }
    return type("LeftOut", (kind,), {"name": f"left-out-{name}", **left_out})()


def shapes(vehicle, count=20):
    rng = np.random.default_rng(8)
    stops = [(max(s.low, -3.0), min(s.high, 3.0)) for s in vehicle.shape_coordinates]
    return [np.array([rng.uniform(*s) for s in stops]) for _ in range(count)]


@pytest.mark.parametrize("name", ["car", "snakeboard", "rolling-disc"])
def test_the_papers_vehicles_follow_from_their_constraints(name):
    """Same span of directions; connections differ along these alone. Measured 4e-16."""
    given, own = sim.vehicle(name), derived(name)
    for r in shapes(given):
        A, e = (numbers(given, f, r) for f in (given.connection, given.symmetry_basis))
        A_own, e_own = (numbers(own, f, r) for f in (own.connection, own.symmetry_basis))
        assert e_own.shape == e.shape
        for inside in (e_own, A_own - A):
            outside = inside - e @ np.linalg.lstsq(e, inside, rcond=None)[0] if e.size else inside
            np.testing.assert_allclose(outside, 0.0, atol=1e-13)
    if name == "snakeboard":
        np.testing.assert_allclose(A_own, A, atol=1e-13)


def test_the_cars_connection_is_that_of_the_paper():
    """Eq. 18: (rho sigma / l, rho, 0) = -A."""
    car = sim.vehicle("car", wheelbase=2.0, wheel_radius=0.5)
    np.testing.assert_allclose(
        numbers(car, car.connection, (0.7, 0.3)), [[-0.075, 0], [-0.5, 0], [0, 0]], atol=1e-15
    )


def test_the_derived_connection_carries_no_momentum():
    racer = Racer()
    for r in shapes(racer):
        u = np.array([0.8])
        state = racer.state(shape=r, shape_velocity=u)
        np.testing.assert_allclose(state.velocity, -numbers(racer, racer.connection, r) @ u, atol=1e-13)


@pytest.mark.parametrize("method", ["variational", "rk4"])
def test_motion_does_not_depend_on_who_writes_the_basis(method):
    given, own = sim.vehicle("snakeboard"), derived("snakeboard")
    state = given.state(theta=0.3, shape=(0.1, -0.3), shape_velocity=(1.0, 0.2), momentum=(2.0,))
    runs = [
        sim.simulate(v, method, step=0.01, duration=1.0, initial=state, controls=[3.0, 0.1])
        for v in (given, own)
    ]
    np.testing.assert_allclose(runs[1].nodes[-1], runs[0].nodes[-1], atol=1e-11)


class Skewer(NonholonomicVehicle):
    """Three blades in space, turned by a shape, in rows that are neither independent nor sorted."""

    name = "test-skewer"
    group = SE3
    shape_coordinates = (ShapeCoordinate("fin", "rad", "Angle of the fin.", -0.9, 0.9),)

    def lagrangian(self, r, u, xi, q):
        return (ca.dot(xi, ca.SX([2, 3, 4, 5, 6, 7]) * xi) + u[0] ** 2 + 2 * u[0] * xi[2] + xi[3] * xi[1]) / 2

    def constraints(self, r, q):
        c, s = ca.cos(r[0]), ca.sin(r[0])
        one = ca.horzcat(0.2, 0, 0, 0.4, -s, c, 0)
        two = ca.horzcat(0, 0.1 * s, 0, 0, 0, 0, 1)
        return ca.vertcat(one, two, 2 * one - two)


def test_rows_may_repeat_each_other_and_directions_may_be_many():
    skewer = Skewer()
    for r in shapes(skewer):
        W, A, e = (
            numbers(skewer, f, r) for f in (skewer.constraints, skewer.connection, skewer.symmetry_basis)
        )
        np.testing.assert_allclose(W[:, 1:] @ e, 0.0, atol=1e-14)
        np.testing.assert_allclose(W[:, 1:] @ A, W[:, :1], atol=1e-14)
        assert e.shape == (6, 4)
        assert np.linalg.cond(e) < 20


def test_a_direction_that_is_lost_is_named():
    """A front fork that may turn across: there the vehicle cannot be told where to go."""

    class Crossed(NonholonomicVehicle):
        name = "test-crossed"
        shape_coordinates = (
            ShapeCoordinate("psi", "rad", "Roll angle."),
            ShapeCoordinate("phi", "rad", "Fork, without stops."),
        )

        def lagrangian(self, r, u, xi, q):
            return (ca.dot(u, u) + ca.dot(xi, xi)) / 2

        def constraints(self, r, q):
            front = ca.horzcat(0, 0, 1.1 * ca.cos(r[1]), -ca.sin(r[1]), ca.cos(r[1]))
            return ca.vertcat(ca.horzcat(-0.3, 0, 0, 1, 0), ca.horzcat(0, 0, 0, 0, 1), front)

    with pytest.raises(sim.InputError) as caught:
        Crossed()
    text = str(caught.value)
    assert text.startswith("vehicle 'test-crossed': the constraints lose a direction near psi = ")
    assert abs(abs(float(text.split("phi = ")[1].split(";")[0])) - np.pi / 2) < 0.1


def test_constraints_on_the_shape_alone_are_refused():
    class Towed(Racer):
        name = "test-towed"

        def constraints(self, r, q):
            return ca.vertcat(super().constraints(r, q), ca.horzcat(1, 0, 0, 0))

    with pytest.raises(
        sim.InputError, match="'test-towed': constraints bind 1 shape velocities to each other"
    ):
        Towed()


@pytest.mark.parametrize("declared", [False, True], ids=["derived", "declared"])
@pytest.mark.parametrize(("lost_at", "power"), [(0.3137, 1), (-0.81, 1), (0.5, 2), (0.9, 1)])
def test_a_direction_that_is_lost_between_samples_is_found(declared, lost_at, power):
    """A singular value that vanishes at one shape, with or without changing its sign, or at a stop."""

    class Folding(NonholonomicVehicle):
        name = "test-folding"
        shape_coordinates = (ShapeCoordinate("fold", "rad", "Where two blades meet.", -0.9, 0.9),)

        def lagrangian(self, r, u, xi, q):
            return (ca.dot(u, u) + ca.dot(xi, xi)) / 2

        def constraints(self, r, q):
            return ca.vertcat(ca.horzcat(0, 0, 0, 1), ca.horzcat(0, (r[0] - lost_at) ** power, 0, 1))

    class Declared(Folding):
        name = "test-folding-declared"

        def connection(self, r, q):
            return ca.SX(3, 1)

        def symmetry_basis(self, r, q):
            return ca.SX([0, 1, 0])

    with pytest.raises(sim.InputError, match="the constraints lose a direction near fold = ") as caught:
        (Declared if declared else Folding)()
    assert float(str(caught.value).split("fold = ")[1].split(";")[0]) == pytest.approx(lost_at, abs=0.01)


def test_a_line_of_lost_directions_is_found_among_two_coordinates():
    class Crossing(NonholonomicVehicle):
        name = "test-crossing"
        shape_coordinates = (
            ShapeCoordinate("a", "rad", "One.", -1.0, 1.0),
            ShapeCoordinate("b", "rad", "Two.", -1.0, 1.0),
        )

        def lagrangian(self, r, u, xi, q):
            return (ca.dot(u, u) + ca.dot(xi, xi)) / 2

        def constraints(self, r, q):
            gap = (r[0] - 0.2) ** 2 + (r[1] + 0.6) ** 2
            return ca.vertcat(ca.horzcat(0, 0, 0, 0, 1), ca.horzcat(0, 0, gap, 0, 1))

    with pytest.raises(sim.InputError, match=r"lose a direction near a = 0\.2, b = -0\.6"):
        Crossing()


@pytest.mark.parametrize(("ahead_m", "seconds"), [(2.0, 10.0), (-2.0, 6.0)])
def test_a_racer_that_goes_by_its_hinge_alone_is_planned(ahead_m: float, seconds: float) -> None:
    racer = Racer()
    task = Task(racer.state(), Goal(racer.state(x=ahead_m), velocity="free"), seconds)
    plan = sim.plan(racer, task, time_limit_s=60.0, starts=6)
    assert plan.solved, plan.message
    flown = sim.simulate(
        racer,
        plan.integrator,
        step=plan.step_s,
        duration=plan.duration_s,
        initial=task.start,
        controls=plan.controls[:-1],
    )
    assert np.abs(flown.nodes[-1, :3] - [0.0, ahead_m, 0.0]).max() < 1e-6
