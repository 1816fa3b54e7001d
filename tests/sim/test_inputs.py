"""What a row of inputs means, for every method: it is held over its step; functions are sampled where the method is."""

from functools import cache

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import sim
from sim.compiler import compile_kernel
from sim.contact.ground import GROUND, GroundArrays
from sim.environment.environment import Environment
from sim.groups import SO3
from sim.integrators import INTEGRATORS
from sim.steppers.trajectory import sampled_run
from sim.vehicles.forms.nonholonomic import NonholonomicVehicle
from sim.world.terrain import Terrain

TURNED = np.array(SO3.function("exp")([0.4, -0.3, 0.2])).reshape(3, 3).T
SPIN, SPEED = (0.5, -0.3, 0.8), (2.0, 0.5, -0.4)
INERTIA = (0.15, 0.30, 0.35)


def helicopter():
    vehicle = sim.vehicle("helicopter", inertia=INERTIA, rotor_momentum=0.4, drag=0.2, wind=(1.0, -2.0, 0.5))
    return (
        vehicle,
        vehicle.state(R=TURNED, omega=SPIN, v=SPEED),
        [50.0, 0.4, 0.03, -0.02],
        [8.0, 0.5, 0.03, 0.04],
    )


def rigid_body():
    vehicle = sim.vehicle("rigid-body", gravity=9.81)
    mean, swing = [0.3, -0.2, 0.5, 1.0, -2.0, 4.0], [0.5, 0.8, -0.4, 3.0, 2.0, -1.0]
    return vehicle, vehicle.state(R=TURNED, omega=SPIN, v=SPEED), mean, swing


def heavy_top():
    vehicle = sim.vehicle("heavy-top", mass=6.0, inertia=(2.0, 2.7, 1.1), arm=(0.05, -0.04, 0.25))
    return vehicle, vehicle.state(R=TURNED, omega=(0.6, -0.4, 3.5)), [0.5, -1.0, 0.3], [3.0, 2.0, -1.0]


def boat():
    vehicle = sim.vehicle("boat", wind=(3.0, -4.0))
    return vehicle, vehicle.state(theta=0.3, omega=0.2, v=(1.5, -0.2)), [60.0, 40.0], [50.0, -70.0]


def car():
    vehicle = sim.vehicle("car")
    start = vehicle.state(theta=0.2, shape=(0.0, 0.3), shape_velocity=(12.0, 0.0))
    return vehicle, start, [400.0, 0.1], [900.0, 0.8]


def snakeboard():
    vehicle = sim.vehicle("snakeboard")
    start = vehicle.state(theta=0.2, shape=(0.1, 0.3), shape_velocity=(1.0, 0.2), momentum=(4.0,))
    return vehicle, start, [5.0, 0.05], [20.0, 0.4]


VEHICLES = (helicopter, rigid_body, heavy_top, boat, car, snakeboard)
STEPS = {1: (40, 80), 2: (24, 48), 3: (24, 48), 4: (24, 48), 5: (12, 24), 6: (10, 20)}
DURATION_S = 0.8
BLOCKS = 2


@cache
def declared(make):
    return make()


def rate_of(vehicle):
    """The continuous equations: rate of (pose, velocity), or of (pose, r, P, p), from state and controls."""
    at, g = vehicle.node_layout, ca.SX.sym("g", vehicle.group.pose_dim)
    u, q, none = ca.SX.sym("u", len(vehicle.controls)), vehicle.symbols(ca.SX(vehicle.parameter_vector)), None
    if isinstance(vehicle, NonholonomicVehicle):
        r = ca.SX.sym("r", len(vehicle.shape_coordinates))
        m = ca.SX.sym("m", len(vehicle.dynamic) + vehicle.symmetry_basis(r, q).shape[1])
        rates, xi = vehicle.velocities(r, m, u, q)
        none = vehicle.external_wrench(g, xi, u, q)
        inner, x = ca.vertcat(rates, vehicle.momentum_rates(r, rates, xi, none, u, q)), ca.vertcat(g, r, m)
        node = ca.SX.sym("node", at.size)
        _, by_shape, mu = vehicle.gradients(node[at.shape], node[at.shape_velocity], node[at.velocity], q)
        momenta = vehicle.momenta(node[at.shape], by_shape, mu, q)
        into = ca.Function("into", [node], [ca.vertcat(node[at.pose], node[at.shape], momenta)])
        seen = ca.vertcat(g, xi, r, rates)
    else:
        xi = ca.SX.sym("xi", vehicle.group.dim)
        inner, x = vehicle.acceleration(g, xi, u, ca.SX.zeros(vehicle.group.dim), q), ca.vertcat(g, xi)
        node = ca.SX.sym("node", at.size)
        into, seen = ca.Function("into", [node], [node]), x
    rate = ca.Function("rate", [x, u], [ca.vertcat(vehicle.group.left_tangent(g) @ xi, inner)], {"cse": True})
    return rate, into, ca.Function("seen", [x, u], [seen])


def laws(make):
    """name -> controls by (time, flat node): blocks that change at fixed times, smooth, and fed back."""
    vehicle, _, mean, swing = declared(make)
    mean, swing, at = np.array(mean), np.array(swing), vehicle.node_layout
    signs = np.cos(2.0 * np.arange(8.0 * len(mean))).reshape(8, -1)
    phases = 1.3 * np.arange(len(mean))

    def blocks(t, node):
        return mean + swing * signs[min(int(t / DURATION_S * BLOCKS + 1e-10), BLOCKS - 1)]

    def smooth(t, node):
        return mean + swing * np.sin(5.0 * t + phases)

    def feedback(t, node):
        turn, first = node[at.velocity][0], node[at.pose][-1]
        return mean + swing * (np.sin(first + phases) - 0.6 * turn) + 0.3 * swing * np.cos(3.0 * t)

    return {"blocks": blocks, "smooth": smooth, "feedback": feedback}


@cache
def exact(make, name):
    """Node at the end, by a tight integration between the moments where the law jumps."""
    vehicle, start, *_ = declared(make)
    rate, into, seen = rate_of(vehicle)
    law = laws(make)[name]
    y, time_s, eps = np.array(into(start.node)).ravel(), 0.0, 1e-9
    still, fed_back = np.array(declared(make)[2]), name == "feedback"
    for end in np.linspace(0, DURATION_S, BLOCKS + 1)[1:]:

        def slope(t, y, end=end):
            t = min(t, end - eps)
            u = law(t, np.array(seen(y, still)).ravel() if fed_back else None)
            return np.array(rate(y, u)).ravel()

        y = solve_ivp(slope, (time_s, end), y, method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
        time_s = end
    return y, seen


def error(vehicle, exact_y, seen, controls, node):
    wanted = np.array(seen(exact_y, controls)).ravel()
    at = vehicle.node_layout
    apart = node - wanted
    scale = np.maximum(np.abs(wanted), 1.0)
    # Angles of poses are not wrapped, and what is commanded is no result.
    parts = [apart[at.pose], apart[at.velocity], apart[at.shape]]
    scales = [scale[at.pose], scale[at.velocity], scale[at.shape]]
    return float(np.abs(np.concatenate(parts) / np.concatenate(scales)).max())


CASES = [
    (make, name)
    for make in VEHICLES
    for name, method in INTEGRATORS.items()
    if not method.adaptive and not method.serves(make()[0])
]


@pytest.mark.parametrize(("make", "name"), CASES, ids=[f"{m.__name__}-{n}" for m, n in CASES])
def test_every_method_keeps_its_order_under_inputs_that_change(make, name):
    """Slope over the last halving, not below the declared order less 0.3: rows that change at fixed times, functions
    of time, and (up to second order) of the state."""
    vehicle, start, *_ = declared(make)
    method = INTEGRATORS[name]
    held, sampled = compile_kernel(vehicle, method), compile_kernel(vehicle, method, sampled=True)
    p, still = vehicle.parameter_vector, np.zeros(vehicle.group.dim)
    found = {}
    for kind, law in laws(make).items():
        errors = []
        for n in STEPS[method.order if kind != "feedback" else min(method.order, 2)]:
            h = DURATION_S / n
            if kind == "blocks":
                u = law(0.0, None)
                y = held.start(start.node, u, p, h)
                for k in range(n):
                    u = law(k * h, None)
                    held.advance(y, u, still, p, h, 1)
                node = held.node(y, u, p, h)
            else:
                nodes, _, _, _ = sampled_run(
                    sampled,
                    vehicle,
                    start,
                    lambda t, state, law=law: law(t, state.node),
                    h,
                    n,
                    Environment(vehicle),
                )
                node = nodes[-1]
                u = law(DURATION_S, node)
            y_exact, seen = exact(make, kind)
            errors.append(error(vehicle, y_exact, seen, u, node))
        slope = np.log2(errors[-2] / errors[-1])
        found[kind] = (slope, errors[-1])
        order = method.order if kind != "feedback" else min(method.order, 2)
        assert slope > order - 0.3 or errors[-1] < 1e-9, f"{kind}: slope {slope:.2f}, errors {errors}"


@pytest.mark.parametrize("method", ["variational-exact", "variational", "rk2"])
def test_a_force_that_sets_in_at_half_time_moves_a_body_by_one_eighth(method):
    """Held from t = 1/2 on: x(1) = 1/8 exactly, at any step."""
    body = sim.vehicle("rigid-body")
    for n in (16, 64):
        u = np.zeros((n, 6))
        u[n // 2 :, 3] = 1
        run = sim.simulate(body, method, step=1 / n, duration=1, controls=u)
        assert abs(run.pose[-1, 0, 3] - 0.125) < 1e-13
        assert abs(run.velocity[-1, 3] - 0.5) < 1e-13


@pytest.mark.parametrize("method", ["rk4", "variational-4", "rkmk54"])
def test_compiled_methods_sample_functions_of_time_where_they_are(method):
    """Error at h and h/2; an adaptive method keeps its tolerance at any outer step."""
    top, start, *_ = declared(heavy_top)
    law = laws(heavy_top)["smooth"]
    y_exact, seen = exact(heavy_top, "smooth")
    errors = []
    for n in (8, 16):
        run = sim.simulate(
            top,
            method,
            step=DURATION_S / n,
            duration=DURATION_S,
            initial=start,
            controls=lambda t, state: law(t, None),
        )
        errors.append(error(top, y_exact, seen, law(DURATION_S, None), run.nodes[-1]))
    if INTEGRATORS[method].adaptive:
        assert max(errors) < 1e-5
    else:
        assert np.log2(errors[0] / errors[1]) > 3.6


def test_what_stands_on_the_ground_shows_no_velocity():
    """From the first node on, though gravity's half impulse and contact's whole one act at different moments."""
    axis = np.zeros((65, 65), np.float32)
    points = np.array([(a, b, -0.3, 0.0) for a in (-0.4, 0.5) for b in (-0.3, 0.3)])
    vehicle = sim.vehicle("rigid-body", mass=5.0, inertia=INERTIA, gravity=9.81)
    kernel = compile_kernel(vehicle, INTEGRATORS["variational-exact"], GROUND)
    ground = GroundArrays.of(Terrain(axis, (-32.0, -32.0), 1.0), points)
    node, u, p, h = vehicle.state(x=(0.2, 0.1, 0.3)).node, np.zeros(6), vehicle.parameter_vector, 0.01
    state = kernel.start(node, u, p, h, ground.env)
    for _ in range(50):
        seen = kernel.node(state, u, p, h, env=ground.env)
        assert np.abs(seen[vehicle.node_layout.velocity]).max() < 1e-6
        kernel.advance(state, u, np.zeros(6), p, h, 1, ground.env)
    assert abs(seen[11] - 0.3) < 1e-6
