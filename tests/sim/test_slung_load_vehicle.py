"""Laws of the helicopter that carries a load on a chain of links: Newton with multipliers, what is kept, slack."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import sim

G = np.array([0.0, 0.0, -9.81])
HOOK = np.array([0.1, -0.05, -0.3])
WIND = np.array([2.0, -1.0, 0.5])
VALUES = {
    "mass": 5.0,
    "inertia": (0.15, 0.30, 0.35),
    "load_mass": 1.7,
    "load_drag": 0.03,
    "cable_length": 2.1,
    "cable_mass": 0.6,
    "drag": 0.05,
    "rotor_momentum": 0.4,
    "wind": WIND,
    "hook": HOOK,
}


def slung(links, **more):
    return sim.vehicle("helicopter-with-load", links=links, **{**VALUES, **more})


def generic_state(vehicle, rng):
    """Not in a plane, the links taut: they turn against each other, the body turns, too."""
    n = vehicle.link_count
    q = rng.normal(scale=0.4, size=(n, 3)) - [0.0, 0.0, 1.0]
    q /= np.linalg.norm(q, axis=1)[:, None]
    R = np.linalg.qr(rng.normal(scale=0.3, size=(3, 3)) + np.eye(3))[0]
    R = R @ np.diag(np.sign(np.diag(R)))
    return vehicle.state(
        R=R,
        x=rng.normal(size=3),
        omega=rng.normal(scale=0.5, size=3),
        v=rng.normal(size=3),
        direction=q,
        swing=np.cross(q, rng.normal(size=(n, 3))),
    )


def controls_at(t):
    """Generic: lift, tail and both tilts change all the time."""
    return np.array(
        [70.0 + 9.0 * np.sin(2 * t), 1.5 * np.cos(3 * t), 0.06 * np.sin(4 * t), 0.05 * np.cos(5 * t)]
    )


def hat(a):
    return np.cross(np.eye(3), a)


class WithMultipliers:
    """Newton and Euler for body and points, in places of the world; the links' pulls are multipliers of one dense
    system, their lengths twice differentiated. Nothing of it is the vehicle's."""

    def __init__(self, vehicle):
        v, n = vehicle.values, vehicle.link_count
        self.n, self.length, self.v = n, v["cable_length"] / n, v
        self.m = np.full(n, v["cable_mass"] / n)
        self.m[-1] += v["load_mass"]
        self.J = np.diag(v["inertia"])
        self.hook = np.array(v["hook"])
        self.controls = controls_at

    def start(self, vehicle, state):
        """R, x, Omega, v, places and velocities of the points."""
        at, y = vehicle.space.slices, state.node
        R, x = y[:9].reshape(3, 3).T, y[9:12]
        omega, v = y[12:15], R @ y[15:18]
        p, s, places, speeds = x + R @ self.hook, v + R @ np.cross(omega, self.hook), [], []
        for k in range(self.n):
            link = y[18 + 6 * k : 24 + 6 * k]
            p, s = p + self.length * link[:3], s + self.length * np.cross(link[3:], link[:3])
            places.append(p)
            speeds.append(s)
        assert len(at) >= 4
        return np.concatenate([R.ravel(), x, omega, v, *places, *speeds])

    def parts(self, y):
        n = self.n
        return (
            y[:9].reshape(3, 3), y[9:12], y[12:15], y[15:18],
            y[18 : 18 + 3 * n].reshape(n, 3), y[18 + 3 * n :].reshape(n, 3),
        )  # fmt: skip

    def solved(self, t, y):
        """(x'', Omega', accelerations of the points (n, 3), pulls (n,))."""
        R, x, omega, v, p, s = self.parts(y)
        n, c = self.n, self.v
        u, tail, pitch, roll = self.controls(t)
        lift = u * np.array([np.sin(pitch) * np.cos(roll), -np.sin(roll), np.cos(pitch) * np.cos(roll)])
        lift_at, tail_at = np.array([0, 0, c["rotor_offset"]]), np.array([-c["tail_offset"], 0, 0])
        through = v - np.array(c["wind"])
        force = R @ (lift - [0, tail, 0]) + c["mass"] * G - c["drag"] * np.linalg.norm(through) * through
        torque = np.cross(lift_at, lift) + np.cross(tail_at, [0, -tail, 0])
        torque = torque - np.cross(omega, self.J @ omega + [0, 0, c["rotor_momentum"]])
        size = 6 + 3 * n + n
        A, b = np.zeros((size, size)), np.zeros(size)
        A[:3, :3], A[3:6, 3:6] = c["mass"] * np.eye(3), self.J
        b[:3], b[3:6] = force, torque
        hook_w = R @ self.hook
        before, speed = x + hook_w, v + R @ np.cross(omega, self.hook)
        for k in range(n):
            own, pull = slice(6 + 3 * k, 9 + 3 * k), 6 + 3 * n + k
            way, relative = p[k] - before, s[k] - speed
            e = way / self.length
            A[own, own] = self.m[k] * np.eye(3)
            b[own] = self.m[k] * G
            if k == n - 1:
                air = s[k] - np.array(c["wind"])
                b[own] -= c["load_drag"] * np.linalg.norm(air) * air
            A[own, pull] = e
            # e . (a - a_before) = -|relative|^2 / L
            A[pull, own], b[pull] = e, -(relative @ relative) / self.length
            if k == 0:
                A[:3, pull] = -e
                A[3:6, pull] = -np.cross(self.hook, R.T @ e)
                A[pull, :3] = -e
                A[pull, 3:6] = e @ R @ hat(self.hook)
                b[pull] += e @ R @ np.cross(omega, np.cross(omega, self.hook))
            else:
                A[6 + 3 * (k - 1) : 9 + 3 * (k - 1), pull] = -e
                A[pull, 6 + 3 * (k - 1) : 9 + 3 * (k - 1)] = -e
            before, speed = p[k], s[k]
        z = np.linalg.solve(A, b)
        return z[:3], z[3:6], z[6 : 6 + 3 * n].reshape(n, 3), z[6 + 3 * n :]

    def rate(self, t, y):
        R, _, omega, v, _, s = self.parts(y)
        a, alpha, points, _ = self.solved(t, y)
        return np.concatenate([(R @ hat(omega)).ravel(), v, alpha, a, s.ravel(), points.ravel()])

    def at(self, y, t):
        return solve_ivp(self.rate, (0, t), y, method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]


@pytest.mark.parametrize("links", [1, 4])
def test_motion_is_that_of_a_body_and_points_with_multipliers(links):
    """Index-reduced Newton-Euler by SciPy to 1e-12, generic controls, wind and drag; measured 3e-8 m over 0.6 s."""
    vehicle = slung(links)
    start = generic_state(vehicle, np.random.default_rng(links))
    reference = WithMultipliers(vehicle)
    begin = reference.start(vehicle, start)
    run = sim.simulate(
        vehicle, "rkmk4", step=0.001, duration=0.6, initial=start, controls=lambda t, _: controls_at(t)
    )
    end = reference.at(begin, 0.6)
    R, x, _, _, p, _ = reference.parts(end)
    body, load = run.bodies["body"][-1], run.bodies["load"][-1]
    errors = [
        np.abs(body[:3, :3] - R).max(),
        np.abs(body[:3, 3] - x).max(),
        np.abs(load[:3, 3] - p[-1]).max(),
    ]
    assert max(errors) < 2e-7
    pulls = np.ravel(run.observables["tension"][0])
    np.testing.assert_allclose(pulls, reference.solved(0.0, begin)[3], rtol=1e-10, atol=1e-10)
    swing = np.array([p[-1] - (x + R @ HOOK)]).ravel()
    told = run.observables["swing"][-1]
    assert told == pytest.approx(np.arctan2(np.hypot(*swing[:2]), -swing[2]), abs=1e-6)


def test_rkmk4_is_of_fourth_order_on_it():
    """Halving the step divides the error by 2^4; measured slope 4.0."""
    vehicle = slung(2)
    start = generic_state(vehicle, np.random.default_rng(7))
    reference = WithMultipliers(vehicle)
    p = reference.parts(reference.at(reference.start(vehicle, start), 0.4))[4]
    errors = []
    for h in (0.02, 0.01, 0.005):
        run = sim.simulate(
            vehicle, "rkmk4", step=h, duration=0.4, initial=start, controls=lambda t, _: controls_at(t)
        )
        errors.append(np.linalg.norm(run.bodies["load"][-1, :3, 3] - p[-1]))
    assert np.log2(errors[1] / errors[2]) == pytest.approx(4.0, abs=0.3)


@pytest.mark.parametrize("links", [1, 4])
def test_free_of_weight_and_air_energy_and_all_momenta_are_kept(links):
    """Angular momentum about the world's origin, and linear, of all parts with the rotor; to the method's order."""
    free = slung(links, gravity=0.0, drag=0.0, load_drag=0.0)
    start = generic_state(free, np.random.default_rng(3))
    run = sim.simulate(free, "rkmk4", step=0.001, duration=1.0, initial=start)
    np.testing.assert_allclose(run.energy, run.energy[0], rtol=3e-10)
    np.testing.assert_allclose(run.momentum, np.broadcast_to(run.momentum[0], run.momentum.shape), atol=1e-8)
    assert run.observables["off_sphere"].max() < 1e-13


def test_hung_from_a_body_that_nothing_moves_it_swings_as_a_pendulum():
    """A thousand tons with the hook in its middle: the first link goes the pendulum's way."""
    vehicle = sim.vehicle(
        "helicopter-with-load",
        mass=1e6,
        inertia=(1e7, 1e7, 1e7),
        hook=(0, 0, 0),
        load_mass=1e-3,
        cable_mass=1e-6,
        cable_length=1.2,
    )
    alone = sim.vehicle("pendulum", length=1.2)
    q, w = np.array([0.6, 0.0, -0.8]), np.array([0.0, 1.1, 0.0])
    hover = [1e6 * 9.81 + 1.001e-3 * 9.81, 0, 0, 0]
    carried = sim.simulate(
        vehicle,
        "rkmk4",
        step=0.002,
        duration=2.0,
        initial=vehicle.state(direction=q, swing=w),
        controls=hover,
    )
    hung = sim.simulate(alone, "rkmk4", step=0.002, duration=2.0, initial=alone.state(direction=q, omega=w))
    np.testing.assert_allclose(carried.observables["swing"], np.ravel(hung.observables["swing"]), atol=1e-6)


def test_slack_is_told_from_the_moment_on_at_which_a_string_would_leave_its_circle():
    """A load thrown up round a body that stays: the string's pull ends where g cos = L omega^2 (closed form by energy).

    cos of the angle from upright at which it leaves: (omega_0^2 L / g - 2) / 3.
    """
    L, w0 = 1.0, np.sqrt(3.5 * 9.81)
    vehicle = sim.vehicle(
        "helicopter-with-load",
        mass=1e6,
        inertia=(1e7, 1e7, 1e7),
        hook=(0, 0, 0),
        load_mass=1e-3,
        cable_mass=1e-6,
        cable_length=L,
    )
    start = vehicle.state(swing=(0, w0, 0))
    run = sim.simulate(
        vehicle, "rkmk4", step=0.001, duration=1.0, initial=start, controls=[1e6 * 9.81 + 9.82e-3, 0, 0, 0]
    )
    slack = run.observables["slack"] > 0
    begins = int(np.argmax(slack))
    assert slack.any()
    assert not slack[:begins].any()
    cosine = (w0**2 * L / 9.81 - 2.0) / 3.0
    np.testing.assert_allclose(
        np.pi - run.observables["swing"][begins], np.arccos(cosine), atol=2 * w0 * 1e-3
    )
    np.testing.assert_allclose(run.observables["slack"][~slack], 0.0)


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        ({"links": 9}, "links = 9 is out of range; allowed: whole numbers, 1 to 8"),
        ({"links": 0}, "links = 0 is out of range"),
        ({"cable_length": 0.0}, "cable_length = 0.0 is out of range"),
        ({"cable_length": -1.0}, "cable_length = -1.0 is out of range"),
        ({"load_mass": 0.0}, "load_mass = 0.0 is out of range"),
    ],
)
def test_what_cannot_be_carried_is_refused_in_one_line(wrong, line):
    with pytest.raises(sim.InputError, match=line) as caught:
        sim.vehicle("helicopter-with-load", **wrong)
    assert "\n" not in str(caught.value)


def test_states_off_the_space_are_refused():
    vehicle = sim.vehicle("helicopter-with-load", links=2)
    with pytest.raises(sim.InputError, match="direction of link 1 has length 2; allowed: 1"):
        vehicle.state(direction=(0, 0, -2))
    with pytest.raises(sim.InputError, match="omega of link 1 turns it about itself"):
        vehicle.state(direction=(0, 0, -1), swing=(0, 0, 1))
    with pytest.raises(sim.InputError, match="R is no rotation matrix"):
        vehicle.state(R=2 * np.eye(3))
