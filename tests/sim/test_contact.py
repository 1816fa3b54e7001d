"""Laws of contact with the ground, at steps from a millisecond to half a second.

The driver below is the plainest one: twist first, then pose with the new twist. It is its own, so
that these laws speak of the contact alone.
"""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import sim
from sim.contact.ground import GroundArrays
from sim.contact.rows import AIM, gather_rows
from sim.contact.solver import EQUATIONS, solve_by_newton
from sim.contact.wrench import SPARE_ROWS, ground_wrench
from sim.native.function import native
from sim.world import load_world
from sim.world.terrain import Terrain

GRAVITY = 9.81
INERTIA = np.array([560.0, 2300.0, 2000.0, 1100.0, 1100.0, 1100.0])
SKIDS = np.array([(x, y, -1.4, 0.0) for x in (-1.6, 0.05, 1.7) for y in (-1.0, 1.0)])
STEPS_S = (0.001, 0.01, 0.1, 0.5)
MU = 0.7


def terrain(height: Callable[[np.ndarray, np.ndarray], np.ndarray] = lambda x, y: 0.0 * x) -> Terrain:
    axis = np.arange(-64.0, 65.0)
    heights = height(axis[None, :] + 0.0 * axis[:, None], axis[:, None] + 0.0 * axis[None, :])
    return Terrain(np.ascontiguousarray(heights, np.float32), (-64.0, -64.0), 1.0)


@native
def turn(R: np.ndarray, x: float, y: float, z: float) -> None:
    """R exp of the vector (x, y, z) [rad] in place, Rodrigues: each row r becomes r + a r x w + b (r x w) x w."""
    angle = math.sqrt(x * x + y * y + z * z)
    a = 1.0 - angle**2 / 6.0 if angle < 1e-4 else math.sin(angle) / angle
    b = 0.5 if angle < 1e-4 else 2.0 * (math.sin(0.5 * angle) / angle) ** 2
    for k in range(3):
        r, s, t = R[k]
        u, v, w = s * z - t * y, t * x - r * z, r * y - s * x
        R[k, 0] = r + a * u + b * (v * z - w * y)
        R[k, 1] = s + a * v + b * (w * x - u * z)
        R[k, 2] = t + a * w + b * (u * y - v * x)


@native
def advance(R, x, omega, v_w, push_w, inertia, h, n, heights, frame, points, report, room):  # type: ignore[no-untyped-def]
    """n steps in place: twist, contact, pose. Returns the greatest gain of kinetic energy by contact [J]."""
    J, m = inertia[:3], inertia[3]
    wrench, pose, free, after, L = np.empty(6), np.empty(12), np.empty(6), np.empty(6), np.empty(3)
    gained = 0.0
    for _ in range(n):
        for k in range(3):
            L[k] = J[k] * omega[k]
        free[0] = omega[0] + h * (L[1] * omega[2] - L[2] * omega[1]) / J[0]
        free[1] = omega[1] + h * (L[2] * omega[0] - L[0] * omega[2]) / J[1]
        free[2] = omega[2] + h * (L[0] * omega[1] - L[1] * omega[0]) / J[2]
        for k in range(3):
            v_w[k] += h * (push_w[k] / m - (GRAVITY if k == 2 else 0.0))
        for k in range(3):
            free[3 + k] = R[0, k] * v_w[0] + R[1, k] * v_w[1] + R[2, k] * v_w[2]
            pose[9 + k] = x[k]
            for j in range(3):
                pose[3 * k + j] = R[j, k]
        ground_wrench(pose, free, inertia, h, heights, frame, points, wrench, report, np.inf, room)
        gain = 0.0
        for k in range(6):
            after[k] = free[k] + h * wrench[k] / inertia[k]
            gain += 0.5 * inertia[k] * (after[k] ** 2 - free[k] ** 2)
        gained = max(gained, gain)
        for k in range(3):
            omega[k] = after[k]
            v_w[k] = R[k, 0] * after[3] + R[k, 1] * after[4] + R[k, 2] * after[5]
            x[k] += h * v_w[k]
        turn(R, h * omega[0], h * omega[1], h * omega[2])
    return gained


class ContactBody:
    """A rigid body under gravity on a ground, with a constant push at its centre of mass."""

    def __init__(self, ground: GroundArrays, x: tuple[float, float, float], h: float) -> None:
        self.ground, self.h = ground, h
        self.R, self.x = np.eye(3), np.array(x)
        self.omega, self.v_w = np.zeros(3), np.zeros(3)
        self.push_w = np.zeros(3)
        self.gained = 0.0
        """Greatest growth of kinetic energy by contact in a step of the last run [J]."""

    def steps(self, n: int) -> "ContactBody":
        g = self.ground
        self.R = np.ascontiguousarray(self.R)
        self.gained = advance(
            self.R, self.x, self.omega, self.v_w, self.push_w, INERTIA, self.h, n,
            g.heights, g.frame, g.points, g.report, g.workspace,
        )  # fmt: skip
        return self

    def step(self) -> None:
        self.steps(1)

    def run(self, seconds: float) -> "ContactBody":
        return self.steps(round(seconds / self.h))

    @property
    def energy(self) -> float:
        m = INERTIA[3]
        kinetic = 0.5 * (INERTIA[:3] @ self.omega**2 + m * self.v_w @ self.v_w)
        return float(kinetic + m * GRAVITY * self.x[2])

    @property
    def tilt_rad(self) -> float:
        return float(np.arccos(np.clip(self.R[2, 2], -1.0, 1.0)))


def standing(h: float, points: np.ndarray = SKIDS, **options: float) -> ContactBody:
    return ContactBody(GroundArrays.of(terrain(), points, **{"friction": MU, **options}), (3.3, -2.7, 1.4), h)


@pytest.mark.parametrize("h", STEPS_S)
def test_a_body_at_rest_stays_at_rest(h: float) -> None:
    body = standing(h).run(60.0)
    assert np.linalg.norm(body.x - [3.3, -2.7, 1.4]) < 1e-9  # measured 0 to 1e-13
    assert body.tilt_rad < 1e-7
    assert body.ground.report[0] < 1e-5
    assert body.ground.report[1] > 0


@pytest.mark.parametrize("h", [0.001, 0.002, 0.003, 0.005, 0.007, 0.01, 0.012, 0.015, 0.02, 0.05, 0.1, 0.5])
@pytest.mark.parametrize("slope, fallen_m", [(0.0, 0.0), (0.0, 0.2), (0.4, 0.0)])
def test_a_body_at_rest_is_held_by_the_impulses_of_the_step_before(
    h: float, slope: float, fallen_m: float
) -> None:
    """Put down, fallen from a lean, and on a slope; a third of steps correct it where small twists add up."""
    ground = terrain(lambda x, y: slope * x)
    body = ContactBody(GroundArrays.of(ground, SKIDS, friction=MU), (0.0, 0.0, 0.0), h)
    body.R = Rotation.from_rotvec([fallen_m / 5.0, -np.arctan(slope), fallen_m]).as_matrix()
    body.x = body.R @ [0.0, 0.0, 1.4] + [0.0, 0.0, fallen_m]
    body.run(20.0)
    corrected = 0
    for _ in range(400):
        body.step()
        corrected += int(body.ground.report[15])
    assert corrected == 0
    assert max(np.abs(body.v_w).max(), np.abs(body.omega).max()) < 1e-14  # measured 2e-16


def test_tangents_turn_no_farther_than_the_normal_so_that_remembered_forces_keep_their_direction() -> None:
    """On level ground the normal's shares along the body's axes are rounding, whichever is smaller."""
    ground, h = GroundArrays.of(terrain(), SKIDS, friction=MU), 0.01
    found = []
    for tilt in ((1e-15, -2e-15, 0.0), (2e-15, 1e-15, 0.0)):
        R = Rotation.from_rotvec(tilt).as_matrix()
        pose = np.concatenate([R.T.ravel(), [3.3, -2.7, 1.4]])
        used = gather_rows(
            ground.workspace, pose, np.zeros(6), INERTIA, h, ground.heights, ground.frame, SKIDS, np.inf
        )
        found.append(ground.workspace[:used, 3:12].copy())
    assert len(found[0]) == len(SKIDS)
    np.testing.assert_allclose(found[0], found[1], atol=1e-13)  # measured 3e-15; 1 by the least share


@pytest.mark.parametrize("h", STEPS_S)
def test_a_body_at_rest_on_a_slope_below_the_friction_angle_stays(h: float) -> None:
    slope = 0.4
    lean = np.arctan(slope)
    body = ContactBody(
        GroundArrays.of(terrain(lambda x, y: slope * x), SKIDS, friction=MU), (0.0, 0.0, 0.0), h
    )
    body.R = Rotation.from_rotvec([0.0, -lean, 0.0]).as_matrix()
    body.x = body.R @ np.array([0.0, 0.0, 1.4])
    begin = body.x.copy()
    body.run(60.0)
    assert np.linalg.norm(body.x - begin) < 1e-3


@pytest.mark.parametrize("h", (0.001, 0.01, 0.1))
def test_a_body_slides_down_a_slope_beyond_the_friction_angle(h: float) -> None:
    slope, mu = 0.5, 0.2
    lean = np.arctan(slope)
    body = ContactBody(
        GroundArrays.of(terrain(lambda x, y: slope * x), SKIDS, friction=mu), (0.0, 0.0, 0.0), h
    )
    body.R = Rotation.from_rotvec([0.0, -lean, 0.0]).as_matrix()
    body.x = body.R @ np.array([40.0, 0.0, 1.4])
    body.run(2.0)
    expected = GRAVITY * (np.sin(lean) - mu * np.cos(lean)) * 2.0
    assert np.linalg.norm(body.v_w) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("h, tolerance", [(0.001, 0.005), (0.01, 0.05), (0.1, 0.45)])
def test_a_sliding_body_stops_after_v_squared_over_two_mu_g(h: float, tolerance: float) -> None:
    body = standing(h)
    body.v_w = np.array([8.0, 0.0, 0.0])
    body.run(4.0)
    assert np.linalg.norm(body.v_w) < 1e-9
    assert body.x[0] - 3.3 == pytest.approx(64.0 / (2.0 * MU * GRAVITY), abs=tolerance)
    assert abs(body.x[1] + 2.7) < 1e-9


@pytest.mark.parametrize("h", STEPS_S)
def test_a_push_below_the_cone_moves_nothing_and_one_beyond_it_accelerates(h: float) -> None:
    m = INERTIA[3]
    held = standing(h)
    held.push_w = np.array([0.0, 0.85 * MU * m * GRAVITY, 0.0])
    held.run(10.0)
    assert np.linalg.norm(held.x - [3.3, -2.7, 1.4]) < 1e-5
    moved = standing(h)
    moved.push_w = np.array([1.2 * MU * m * GRAVITY, 0.0, 0.0])
    moved.run(3.0)
    assert moved.v_w[0] == pytest.approx(0.2 * MU * GRAVITY * 3.0, rel=1e-6)


@pytest.mark.parametrize("h", STEPS_S)
def test_a_dropped_body_reports_its_impact_speed(h: float) -> None:
    body = standing(h)
    body.x[2] += 2.0
    body.run(3.0)
    lost = GRAVITY * h  # the driver itself falls half a step short of the parabola
    assert body.ground.report[0] == pytest.approx(np.sqrt(2.0 * GRAVITY * 2.0), abs=0.5 * lost + 1e-3)
    assert body.x[2] == pytest.approx(1.4, abs=1e-6)
    assert np.linalg.norm(body.v_w) < 1e-6


def test_only_crash_points_report_crashes() -> None:
    tail = np.vstack([SKIDS, [-6.2, 0.0, -0.1, 1.0]])
    level = standing(0.01, tail)
    level.x[2] += 1.0
    level.run(2.0)
    assert level.ground.report[0] > 4.0
    assert level.ground.report[3] == 0.0
    nose_up = standing(0.01, tail)
    nose_up.R = Rotation.from_rotvec([0.0, -0.5, 0.0]).as_matrix()
    nose_up.x[2] += 3.0
    nose_up.run(1.0)
    assert nose_up.ground.report[3] > 2.0


@pytest.mark.parametrize("h", (0.001, 0.01, 0.1))
@pytest.mark.parametrize("share, falls", [(0.9, False), (1.1, True)])
def test_tilted_below_the_tipping_angle_it_comes_back_and_beyond_it_falls(
    h: float, share: float, falls: bool
) -> None:
    body = standing(h)
    tip = np.arctan(1.0 / 1.4)
    lean = share * tip
    body.R = Rotation.from_rotvec([lean, 0.0, 0.0]).as_matrix()
    # turned about the right skid
    body.x = np.array([0.0, -1.0, 0.0]) - body.R @ np.array([0.0, -1.0, -1.4])
    body.run(0.05)
    assert (body.omega[0] > 0.0) == falls or abs(body.omega[0]) < 1e-9
    if not falls:
        body.run(8.0)
        assert body.tilt_rad < 0.02


@pytest.mark.parametrize("h", STEPS_S)
def test_pushed_above_its_tipping_force_it_tips_and_below_it_stands(h: float) -> None:
    tipping_N = INERTIA[3] * GRAVITY * 1.0 / 1.4
    standing_body = standing(h, friction=5.0)
    standing_body.push_w = np.array([0.0, 0.9 * tipping_N, 0.0])
    standing_body.run(3.0)
    assert standing_body.tilt_rad < 1e-6
    tipping = standing(h, friction=5.0)
    tipping.push_w = np.array([0.0, 1.3 * tipping_N, 0.0])
    tipping.run(1.5)
    assert tipping.tilt_rad > 0.05


@pytest.mark.parametrize("h", (0.001, 0.01, 0.1, 0.5))
@pytest.mark.parametrize("seed", range(4))
def test_contact_takes_energy_and_never_gives_any(h: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    hills = terrain(lambda x, y: 1.5 * np.sin(0.31 * x + seed) * np.cos(0.23 * y) + 0.2 * x)
    body = ContactBody(GroundArrays.of(hills, SKIDS, friction=MU), (0.0, 0.0, 0.0), h)
    body.x = np.array([0.0, 0.0, float(hills.height(0.0, 0.0)) + 3.0])
    body.R = Rotation.from_rotvec(0.5 * rng.normal(size=3)).as_matrix()
    body.v_w = 6.0 * rng.normal(size=3)
    body.omega = 0.5 * rng.normal(size=3)
    m = INERTIA[3]
    for _ in range(round(8.0 / h)):
        body.step()
        sunk = -min(body.ground.report[2], 0.0)
        # the push that lifts a sunk point: at most (0.1 + depth) m/s
        assert body.gained <= 0.5 * m * (0.1 + 1.5 * sunk) ** 2 + 1e-6 * m, (body.gained, sunk)


@pytest.mark.parametrize("h", STEPS_S)
def test_total_energy_of_a_tumbling_landing_ends_below_its_start(h: float) -> None:
    body = standing(h)
    body.x[2] += 1.0
    body.v_w = np.array([3.0, 1.0, 0.0])
    body.R = Rotation.from_rotvec([0.15, -0.2, 0.3]).as_matrix()
    begin = highest = body.energy
    for _ in range(round(10.0 / h)):
        body.step()
        highest = max(highest, body.energy)
    assert highest <= begin * (1.0 + 1e-9)
    assert body.energy == pytest.approx(INERTIA[3] * GRAVITY * 1.4, rel=0.02)


@pytest.mark.parametrize("h", STEPS_S)
def test_with_lift_above_its_weight_it_takes_off(h: float) -> None:
    body = standing(h)
    body.push_w = np.array([0.0, 0.0, 1.1 * INERTIA[3] * GRAVITY])
    body.run(2.0)
    assert body.v_w[2] == pytest.approx(0.1 * GRAVITY * 2.0, rel=1e-9)
    assert body.ground.report[1] == 0.0


@pytest.mark.parametrize("h", (0.01, 0.1, 0.5))
def test_a_fast_body_does_not_pass_through_a_wall(h: float) -> None:
    wall = terrain(lambda x, y: 30.0 / (1.0 + np.exp(-4.0 * (x - 20.0))))
    point = np.array([[0.0, 0.0, 0.0, 1.0]])
    body = ContactBody(GroundArrays.of(wall, point, friction=0.0), (0.0, 0.0, 8.0), h)
    body.v_w = np.array([40.0, 0.0, 0.0])
    for _ in range(round(2.0 / h)):
        body.step()
        depth = float(wall.height(body.x[0], body.x[1]) - body.x[2]) * float(
            wall.normal(body.x[0], body.x[1])[2]
        )
        assert depth < 0.15 + 3.0 * h  # measured 1.2 m at 20 m a step
    assert body.ground.report[3] > 20.0


def test_a_sunk_body_is_lifted_out_slowly() -> None:
    body = standing(0.01)
    body.x[2] -= 0.3
    fastest = 0.0
    for _ in range(400):
        body.step()
        fastest = max(fastest, body.v_w[2])
    assert fastest < 0.45
    assert body.x[2] == pytest.approx(1.4, abs=2e-3)


def test_a_state_that_is_not_finite_gets_no_contact() -> None:
    body = standing(0.01)
    body.v_w[2] = np.nan
    body.step()
    assert np.isnan(body.v_w[2])
    assert body.ground.report[1] == 0.0


def test_restitution_bounces_to_less_than_the_drop() -> None:
    body = standing(0.001, restitution=0.5)
    body.x[2] += 1.0
    peak = bounced = 0.0
    for _ in range(1200):
        body.step()
        bounced = max(bounced, body.v_w[2])
        if body.v_w[2] > 0.0 or peak > 0.0:
            peak = max(peak, body.x[2] - 1.4)
    assert bounced == pytest.approx(0.5 * np.sqrt(2.0 * GRAVITY), rel=0.02)
    assert peak == pytest.approx(0.25, abs=0.03)


def test_impulses_of_newton_s_method_keep_the_law_of_every_point() -> None:
    """Signorini's conditions, Coulomb's cone, and sliding straight against the impulse; on hills, at any attitude."""
    rng = np.random.default_rng(11)
    hills = terrain(lambda x, y: 1.5 * np.sin(0.31 * x) * np.cos(0.23 * y) + 0.2 * x)
    legs = np.array([(x, y, z, 0.0) for x in (-1.6, 1.7) for y in (-1.0, 1.0) for z in (-1.4, 0.6)])
    ground, h, found = GroundArrays.of(hills, legs, friction=MU), 0.01, 0
    workspace, tried = ground.workspace, 120
    system = workspace[-SPARE_ROWS : -SPARE_ROWS + EQUATIONS]
    for _ in range(tried):
        R = Rotation.from_rotvec(0.4 * rng.normal(size=3)).as_matrix()
        x = np.array([*rng.uniform(-20.0, 20.0, 2), 0.0])
        below = R @ legs[:, :3].T
        x[2] = float(np.max(hills.height(x[0] + below[0], x[1] + below[1]) - below[2])) - 1e-4
        pose, free = np.concatenate([R.T.ravel(), x]), rng.normal(size=6) * [0.3, 0.3, 0.3, 2.0, 2.0, 2.0]
        used = gather_rows(workspace, pose, free, INERTIA, h, ground.heights, ground.frame, legs, np.inf)
        work, xi = workspace[:used], np.empty(6)
        if not solve_by_newton(work, xi, free, INERTIA, MU, system, 1e-12):
            continue
        found += 1
        r, frames, impulses = work[:, :3], work[:, 3:12].reshape(-1, 3, 3), work[:, 12:15]
        pushes = np.einsum("kij,ki->kj", frames, impulses)
        momentum = np.concatenate([np.cross(r, pushes).sum(axis=0), pushes.sum(axis=0)])
        np.testing.assert_allclose(INERTIA * (xi - free), momentum, atol=1e-6)  # N s
        velocity = np.einsum("kij,kj->ki", frames, xi[3:] + np.cross(xi[:3], r))
        normal, spare = impulses[:, 0], velocity[:, 0] - work[:, AIM]
        assert normal.min() >= 0.0
        assert spare.min() > -1e-11
        assert np.abs(normal * spare).max() < 1e-7
        along, bound = np.linalg.norm(impulses[:, 1:], axis=1), MU * normal
        assert (along <= bound * (1.0 + 1e-9) + 1e-9).all()
        speed = np.linalg.norm(velocity[:, 1:], axis=1)
        sliding = (speed > 1e-9) & (normal > 0.0)
        np.testing.assert_allclose(along[sliding], bound[sliding], rtol=1e-7)
        against = np.einsum("ki,ki->k", impulses[:, 1:], velocity[:, 1:])
        np.testing.assert_allclose(against[sliding], -(along * speed)[sliding], rtol=1e-6, atol=1e-9)
    assert found > 0.7 * tried  # measured 96 of 120; sweeps do the rest


@pytest.mark.parametrize(
    ("method", "late_steps"), [("variational", 0.5), ("variational-exp", 0.5), ("rk4", 0.0)]
)
def test_lift_off_is_half_a_step_late_for_the_variational_family(method: str, late_steps: float) -> None:
    """From rest under half as much lift again as weight: y = a t^2 / 2, less a t times what it is late by."""
    vehicle, ground = sim.vehicle("quadrotor"), load_world("plain", seed=7)
    rise = 0.5 * GRAVITY
    each = 1.5 * float(vehicle.values["mass"]) * float(vehicle.values["gravity"]) / 4.0
    start = vehicle.state(x=(0.0, 0.0, float(ground.terrain.height(0.0, 0.0)) + 0.17))
    for step in (0.02, 0.01, 0.005):
        rest, flown = round(0.2 / step), round(0.5 / step)
        lift = np.repeat([np.zeros(4), np.full(4, each)], [rest, flown], axis=0)
        run = sim.batch(vehicle, method, start, lift, step=step, duration=0.7, world=ground)
        risen = run.nodes[0, -1, 11] - start.node[11]
        too_low = rise * 0.5**2 / 2.0 - risen
        assert too_low == pytest.approx(rise * 0.5 * late_steps * step, abs=2e-5)  # measured 1e-11 off
