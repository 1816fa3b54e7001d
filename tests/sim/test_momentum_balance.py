"""Laws of momentum's account: what controls put in is their impulse in the world, and who keeps momentum loses none."""

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from sim.commands import KeepAccount, PilotInput, Push, SetPilotInput
from sim.compiler.kernel import compile_kernel
from sim.integrators import INTEGRATORS
from sim.integrators.impulses import momentum_balance
from sim.scene import LaneSpec
from sim.vehicles import vehicle
from studies.ledger.optima import HangGlider
from tests.sim.simulation_scenes import helicopter_scene, simulation

H, STEPS = 0.01, 200
THEOREM = tuple(m for m in INTEGRATORS.values() if m.family in ("variational", "symplectic"))


def driven(of, method, *, steered: bool, h: float = H, steps: int = STEPS, seed: int = 1):
    """Tumbling under random controls: (node rows, control rows, put in, lost, largest momentum met)."""
    rng = np.random.default_rng(seed)
    node = of.default_state().node.copy()
    node[of.node_layout.velocity] += rng.normal(size=of.group.dim) * 1.5
    rows = rng.normal(size=(STEPS, len(of.controls))) * (0.3 if steered else 0.0) + of.neutral_controls
    u = np.repeat(rows, steps // STEPS, axis=0)
    kernel, p = compile_kernel(of, method), of.parameter_vector
    nodes, *_ = kernel.trajectory(kernel.start(node, u[0], p, h), u, p, h, steps)
    still = np.zeros((of.wrench_size, 1))
    found = momentum_balance(of, method)(nodes[:-1].T, nodes[1:].T, u.T, still, still, p, h)
    put_in, lost = (np.array(part).sum(axis=1) for part in found)
    momentum = kernel.observe_all(nodes, np.vstack([u, u[-1:]]), p, h).momentum
    return nodes, u, put_in, lost, np.abs(momentum).max()


@pytest.mark.parametrize("name", ["rigid-body", "helicopter", "quadrotor", "heavy-top", "boat"])
def test_what_keeps_momentum_loses_rounding_whatever_controls_weight_and_drag_do(name):
    of, tried = vehicle(name), 0
    for method in THEOREM:
        if method.serves(of) or "momentum" not in method.keeps(of) or method.arc_of(of) is None:
            continue
        tried += 1
        *_, put_in, lost, size = driven(of, method, steered=True)
        assert np.abs(put_in).max() > 1e-3 * size / STEPS, method.name
        assert np.abs(lost).max() < 1e-12 * size, method.name  # 2e-14 measured
    assert tried >= 3


def test_what_controls_do_by_the_velocity_is_in_the_account():
    """A wing's lift: the hang glider's, from a random motion. Measured: 7e-15 of the momentum."""
    of, tried = HangGlider(), 0
    for method in THEOREM:
        if method.serves(of) or "momentum" not in method.keeps(of) or method.arc_of(of) is None:
            continue
        tried += 1
        assert "energy" not in method.keeps(of), method.name
        *_, lost, size = driven(of, method, steered=True)
        assert np.abs(lost).max() < 1e-12 * size, method.name
    assert tried >= 3


def test_runge_kutta_and_truncated_steps_lose_momentum_of_a_free_body():
    free = vehicle("rigid-body", gravity=0.0)
    for name in ("rk4", "variational"):
        nodes, _, put_in, lost, size = driven(free, INTEGRATORS[name], steered=False)
        np.testing.assert_array_equal(put_in, 0.0)
        assert np.abs(lost).max() > 1e-9 * size, name  # 3e-8 and 2e-5 measured
        kernel, p, u = compile_kernel(free, INTEGRATORS[name]), free.parameter_vector, free.neutral_controls
        first, last = (kernel.observe(node, u, p).momentum_w for node in (nodes[0], nodes[-1]))
        np.testing.assert_allclose(lost, last - first, atol=1e-13 * size)


@pytest.mark.parametrize("name", ["variational-exact", "rk4", "symplectic-1"])
def test_what_controls_put_in_is_the_integral_of_their_wrench_in_the_world(name):
    """Against the same flight by a solver of tight tolerance, whose integral is one more equation of it."""
    of, method = vehicle("helicopter"), INTEGRATORS[name]
    nodes, u, put_in, _, _ = driven(of, method, steered=True)
    at, p, motion = of.node_layout, of.parameter_vector, motion_of(of)

    def rate(_: float, y: np.ndarray, row: np.ndarray) -> np.ndarray:
        moved, wrench_b = (np.array(part).ravel() for part in motion(y[: at.size], row))
        R, x = y[:9].reshape(3, 3).T, y[9:12]
        torque, force = R @ wrench_b[:3], R @ wrench_b[3:]
        return np.concatenate([moved, torque + np.cross(x, force), force])

    y = np.concatenate([nodes[0], np.zeros(of.group.dim)])
    for row in u[:50]:
        y = solve_ivp(rate, (0.0, H), y, args=(row,), rtol=1e-10, atol=1e-10).y[:, -1]
    still = np.zeros((of.wrench_size, 1))
    begun = momentum_balance(of, method)(nodes[:50].T, nodes[1:51].T, u[:50].T, still, still, p, H)[0]
    told = np.array(begun).sum(axis=1)
    scale = np.abs(y[at.size :]).max()
    allowed = {"variational-exact": 2e-4, "rk4": 2e-7, "symplectic-1": 5e-2}[name]
    np.testing.assert_allclose(told, y[at.size :], atol=allowed * scale)
    assert np.abs(put_in).max() > 0.0


def motion_of(of) -> ca.Function:
    """(node, controls) -> its rate, and the controls' wrench in the body's frame."""
    node, u, at = ca.SX.sym("node", of.node_layout.size), ca.SX.sym("u", len(of.controls)), of.node_layout
    g, xi, q = node[at.pose], node[at.velocity], of.symbols(ca.SX(of.parameter_vector))
    turned, free = of.group.left_tangent(g) @ xi, ca.SX(of.group.dim, 1)
    rate = ca.vertcat(turned, of.acceleration(g, xi, u, free, q))
    return ca.Function("motion", [node, u], [ca.densify(rate), ca.densify(of.control_wrench(u, q))])


def test_lanes_tell_it_while_it_is_wanted_pushed_or_not_and_fly_the_same_bits():
    lanes = (LaneSpec("rk4", 0.002), LaneSpec("variational-exact", 0.01))
    scene = helicopter_scene(lanes=lanes, integrator="variational-exact", step_s=0.002)
    told, untold = simulation(scene), simulation(scene)
    told.submit(KeepAccount(on=True))
    for running in (told, untold):
        for k in range(30):
            stick = PilotInput(throttle=1.0, pitch=0.4 * np.sin(0.3 * k))
            running.submit(SetPilotInput(stick))
            if k == 20:
                running.submit(Push("", "body", (0.3, 0.1, 0.2), (80.0, 40.0, 0.0)))
            running.advance(0.05)
    seen, plain = told.advance(0.05), untold.advance(0.05)
    for lane, other in zip(seen.lanes, plain.lanes, strict=True):
        np.testing.assert_array_equal(lane.node, other.node)
        assert other.momentum_account_w is None
        size = np.abs(lane.momentum_w).max()
        put_in, lost = lane.momentum_account_w
        assert np.abs(put_in).max() > 0.1 * size, lane.integrator
        assert np.abs(lost).max() < (1e-4 if lane.integrator == "rk4" else 1e-11) * size, lane.integrator
    told.submit(KeepAccount(on=False))
    assert told.advance(0.05).lanes[0].momentum_account_w is None
