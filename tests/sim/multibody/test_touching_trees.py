"""Bodies of trees that touch props, each other and what stands: what they exchange, against closed forms."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.rough_piles import gaps_m, props_of
from sim.commands import Retake, Scrub, SetPaused
from sim.contact.bodies import Pile, Prop
from sim.contact.obstacles.guests import guest_of
from sim.contact.pair_rows import Mechanism
from sim.environment.environment import JointedState
from sim.integrators import INTEGRATORS
from sim.multibody.kinematics import move
from sim.scene import load_scene
from sim.shapes import Box, Capsule, Sphere
from sim.simulation import Simulation
from sim.steppers.dynamics import stepper_of
from sim.vehicles import VEHICLES, vehicle
from sim.vehicles.forms.robot import load_robot
from sim.world import load_world

SCENE = """
title = "x"
vehicle = "ragdoll"
integrator = "riqn"
step_s = 0.005
[world]
name = "plain"
[start]
position_m = [0.0, 0.0, {height}]
{more}
"""


def _running(folder: Path, height: float, more: str = "") -> Simulation:
    path = folder / "own.toml"
    path.write_text(SCENE.format(height=height, more=more))
    scene = load_scene(path)
    return Simulation(scene, load_world(scene.world, seed=scene.seed))


def _apart_m(running: Simulation) -> float:
    """Least distance between two bodies of the vehicle that meet each other."""
    own = len(guest_of(running.run.vehicle).props)
    return float(gaps_m(running)[-own:, -own:].min())


@pytest.mark.parametrize("name", ["ragdoll", "six-axis-arm", "four-bar-linkage"])
def test_velocities_that_a_tree_answers_with_are_those_that_its_poses_change_by(name: str) -> None:
    """By central differences of poses, and by the kinetic energy of the answers. Measured: 2e-9, 2e-12."""
    tree = vehicle(name)
    kernel, p = stepper_of(tree, INTEGRATORS["variational"], None), tree.parameter_vector
    node = tree.default_state().node.copy()
    nq, nv = tree.tree.nq, tree.tree.nv
    jacobian, mobility = kernel.moved_by(node[:nq], 0.0, p)
    rng, h = np.random.default_rng(2), 1e-6
    impulse = rng.normal(size=nv)
    v = mobility @ impulse
    np.testing.assert_allclose(v, kernel.answer(node[:nq], impulse, p), atol=1e-9 * np.abs(v).max())
    seen = []
    for sign in (-0.5, 0.5):
        q = node[:nq].copy()
        move(tree.tree.arrays, q, sign * h * v)
        seen.append(kernel.observe(np.r_[q, np.zeros(nv)], tree.neutral_controls, p).poses.copy())
    rate = (seen[1] - seen[0]) / h
    twists = jacobian @ v
    np.testing.assert_allclose(rate[:, :3, 3], twists[:, 3:], atol=1e-6 * np.abs(twists).max())
    middle = kernel.observe(np.r_[node[:nq], np.zeros(nv)], tree.neutral_controls, p).poses
    spun = rate[:, :3, :3] @ middle[:, :3, :3].transpose(0, 2, 1)
    omega = np.stack([spun[:, 2, 1], spun[:, 0, 2], spun[:, 1, 0]], axis=1)
    np.testing.assert_allclose(omega, twists[:, :3], atol=1e-5 * np.abs(twists).max())


def test_what_loops_hold_answers_a_blow_as_a_try_does() -> None:
    """Mean velocities over 10 ms, dampers of motors within, against differences of two runs. Measured: 0.2 % of the
    answer, symmetric to 6e-14; 15 % and 25 % where velocities are led to the loops' tangent as if without dampers."""
    tree, h, parts = vehicle("delta-robot"), 5e-4, 20
    kernel, p, u = stepper_of(tree, INTEGRATORS["riqn"], None), tree.parameter_vector, tree.neutral_controls
    node = tree.default_state().node.copy()
    nq, nv = tree.tree.nq, tree.tree.nv
    _, mobility = kernel.moved_by(node[:nq], h * parts, p)
    np.testing.assert_allclose(mobility, mobility.T, atol=1e-9 * np.abs(mobility).max())
    assert np.linalg.eigvalsh(mobility).min() > -1e-9 * np.abs(mobility).max()
    impulse, found = np.random.default_rng(3).normal(size=nv) * 1e-3, []
    for sign in (1.0, -1.0):
        y = kernel.start(node, u, p, h)
        kernel.strike(tree, y, sign * impulse, u, h)
        assert kernel.advance(y, u, np.zeros(nv), p, h, parts)[1] == 0
        found.append(kernel.mean_velocity(node[:nq], kernel.node(y, u, p, h)[:nq], h * parts))
    answer = 0.5 * (found[0] - found[1])
    np.testing.assert_allclose(mobility @ impulse, answer, atol=0.02 * np.abs(answer).max())


def test_solids_off_their_joint_follow_its_arc() -> None:
    """An arm turns fast in all of its joints: by its mechanism every solid comes to where joints lead it, three
    centimetres from where the velocities at the beginning alone would. Measured: 7e-18 m."""
    tree, dt_s, rng = vehicle("six-axis-arm"), 0.05, np.random.default_rng(4)
    kernel, p, u = stepper_of(tree, INTEGRATORS["riqn"], None), tree.parameter_vector, tree.neutral_controls
    q, v = tree.default_state().node[: tree.tree.nq].copy(), rng.normal(0.0, 4.0, tree.tree.nv)
    jacobian, mobility = kernel.moved_by(q, dt_s, p)
    led = q.copy()
    move(tree.tree.arrays, led, dt_s * v)
    frames, ahead = (
        np.concatenate([kernel.observe(np.r_[each, 0.0 * v], u, p).poses, np.eye(4)[None]])
        for each in (q, led)
    )
    J = np.concatenate([jacobian, np.zeros((1, 6, len(v)))])
    jointed = JointedState(frames, J, mobility, v, v, ahead, False)
    guest = guest_of(tree)
    T_w, mechanism = guest.mechanism(jointed, dt_s)
    moved_w = T_w[:, :3, 3] + dt_s * (mechanism.jacobian @ mechanism.velocity)[:, 3:]
    there_w = (ahead[guest.bodies] @ guest.T_b)[:, :3, 3]
    np.testing.assert_allclose(moved_w, there_w, atol=1e-12)
    straight_w = T_w[:, :3, 3] + dt_s * (mechanism.jacobian[:, :, :-1] @ v)[:, 3:]
    assert np.linalg.norm(straight_w - there_w, axis=1).max() > 0.01


def test_a_rod_on_a_pivot_gives_a_ball_what_the_closed_form_says() -> None:
    """Without rebound: w' = I w / (I + m d^2), the ball leaves with d w'. Measured: 4e-16."""
    inertia, m, d, omega = 0.7, 0.4, 0.9, 3.0
    rod = Prop(Capsule((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 0.05), 1.0, 0.0)
    r = 0.1
    ball = Prop(Sphere((d, 0.15, 0.0), r), m, 0.0)
    pile = Pile([ball], visitors=[rod], gravity_mps2=0.0, sleeps=False)
    T = rod.shape.solid().T_w
    J = np.zeros((1, 6, 1))
    J[0, 2, 0], J[0, 4, 0] = 1.0, T[0, 3]
    mechanism = Mechanism(J, np.array([[1.0 / inertia]]), np.array([omega]), np.zeros((1, 1), bool), False)
    pile.visit(T[None], mechanism)
    pushed = pile.step(1e-9)
    after = inertia * omega / (inertia + m * d**2)
    assert mechanism.velocity[0] == pytest.approx(after, rel=1e-9)
    assert pile.state[0, 16] == pytest.approx(d * after, rel=1e-9)
    assert pushed[0] == pytest.approx(inertia * (after - omega), rel=1e-9)


@pytest.mark.parametrize("away_m", [0.031, 0.045, 0.06])
def test_what_is_met_within_a_step_has_gone_from_its_beginning(away_m: float) -> None:
    """A plate on a slide gets at the beginning of a step what meets it later: it has gone on for all of the step.

    Where it is then, the ball touches it. Measured: 1e-8 m; 12 to 25 mm apart where it goes on from the blow alone.
    """
    plate_kg, ball_kg, r, h, half = 2.0, 5.0, 0.1, 0.01, 0.02
    plate = Prop(Box((0.0, 0.0, 0.0), (0.3, half, 0.3)), 1.0, 0.0)
    ball = Prop(Sphere((0.0, -half - r - away_m, 0.0), r), ball_kg, 0.0, velocity_w=(0.0, 7.0, 0.0))
    pile = Pile([ball], visitors=[plate], gravity_mps2=0.0, sleeps=False)
    J = np.zeros((1, 6, 1))
    J[0, 4, 0] = 1.0
    pile.visit(
        plate.T_w[None], Mechanism(J, np.eye(1) / plate_kg, np.zeros(1), np.zeros((1, 1), bool), False)
    )
    pushed = pile.step(h)
    assert pushed[0] > 0.5
    assert ball_kg * pile.state[0, 16] + pushed[0] == pytest.approx(7.0 * ball_kg, rel=1e-12)
    reached_m = h * pushed[0] / plate_kg
    assert reached_m - half - r - pile.state[0, 10] == pytest.approx(0.0, abs=1e-5)


def test_a_ragdoll_and_a_ball_that_hits_it_keep_their_momentum(tmp_path) -> None:
    """Across gravity, which acts on both. Measured: 1e-13 of 60 N s."""
    ball = """
[[props]]
kind = "ball"
at_m = [-1.2, 0.03, 31.1]
mass_kg = 10
velocity_mps = [6.0, 0.4, 0.0]
"""
    running = _running(tmp_path, 31.0, ball)
    kept = []
    for _ in range(60):
        snapshot = running.advance(0.01)
        kept.append(snapshot.lanes[0].momentum_w[3:5] + props_of(running).momentum_w[3:5])
        speed = props_of(running).momentum_w[3] / 10.0
    assert speed < 5.0  # it was met
    np.testing.assert_allclose(kept, np.tile([60.0, 4.0], (60, 1)), atol=1e-9)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_arms_of_a_thrown_ragdoll_do_not_pass_through_its_chest(tmp_path, seed: int) -> None:
    """Deepest overlap of bodies that meet, after each control period.

    Measured: 3.4 mm at a blow; at rest 0.2 to 2.6 mm, where one limb lies on another.
    """
    spin = np.random.default_rng(seed).normal(size=3) * 5.0
    running = _running(
        tmp_path, 2.5, f"omega_radps = [{spin[0]}, {spin[1]}, {spin[2]}]\nvelocity_mps = [2.0, 0.0, 1.0]"
    )
    deepest, met = [], 0
    for _ in range(250):
        running.advance(0.01)
        apart = _apart_m(running)
        deepest.append(-apart)
        met += apart < 1e-3
    assert met > 0
    assert max(deepest) < 0.008
    assert np.median(deepest[-50:]) < 4e-3


@pytest.mark.parametrize(
    ("height", "held", "seconds"), [(1.0, 0, 4.0), (0.0, 1, 5.0)], ids=["let fall", "swung through itself"]
)
def test_a_rope_does_not_pass_through_itself(tmp_path, height: float, held: int, seconds: float) -> None:
    """Of all of its links but neighbours. Measured: 0.13 mm, 0.04 mm; 59 and 97 mm of its 60 where they do not meet."""
    more = "" if held else "omega_radps = [0.5, 0.5, 0.0]"
    path = tmp_path / "own.toml"
    path.write_text(
        SCENE.format(height=height, more=f"{more}\n[parameters.cosserat-rope]\nheld = {held}")
        .replace("ragdoll", "cosserat-rope")
        .replace("0.005", "0.002")
        .replace("plain", "hall")
    )
    scene = load_scene(path)
    running, closest = Simulation(scene, load_world(scene.world, seed=scene.seed)), np.inf
    for _ in range(round(100 * seconds)):
        running.advance(0.01)
        closest = min(closest, _apart_m(running))
    assert -1e-3 < closest < 1e-3


def test_a_ragdoll_that_falls_down_a_stair_stays_out_of_it() -> None:
    """Of the first 2.5 s, in which its joints reach their limits. Measured: 0.06 mm, 0.03 to 0.09 mm from eight starts
    within a millimetre; 0.1 mm where it is looked at three times only how the joints answer, 5 mm where it is not. With
    the steps' edges rounded 0.44 mm; 2 mm where a limb that lies over an edge touches the flat side alone.
    """
    scene = load_scene("stairs")
    running, deepest, really = Simulation(scene, load_world(scene.world, seed=scene.seed)), 0.0, 0.0
    own = len(guest_of(scene.vehicle).props)
    for _ in range(250):
        running.advance(0.01)
        deepest = max(deepest, running.snapshot.environment.overlap_m)
        really = max(really, -gaps_m(running)[-own:].min())
    assert 1e-5 < deepest < 1e-4
    assert really < 1e-4


@pytest.mark.parametrize("seed", [0, 2, 5, 6])
def test_a_ragdoll_thrown_over_the_canyons_edge_gains_no_energy(seed: int) -> None:
    """Of some 80 kJ, at blows of 20 m/s and more, at which limbs wedge each other in at the limits of their joints.
    Without a bound to what impulses give, three of these end where a step has no solution, at up to 52 MJ."""
    rng, scene = np.random.default_rng(seed), load_scene("ragdoll")
    start = scene.start
    thrown = tuple(np.array(start.velocity_b) + rng.normal(0.0, 2.0, 3))
    start = replace(start, velocity_b=thrown, omega_b=tuple(rng.normal(0.0, 3.0, 3)))
    running = Simulation(replace(scene, start=start), load_world(scene.world, seed=scene.seed))
    running.advance(0.0)
    energy_J = [running.snapshot.lanes[0].energy_J]
    for _ in range(330):
        running.advance(0.01)
        energy_J.append(running.snapshot.lanes[0].energy_J)
    assert running.snapshot.lanes[0].time_current_s > 3.29
    assert np.diff(energy_J).max() < 50.0  # 7 at most
    assert energy_J[-1] < energy_J[0]


def test_a_take_of_a_ragdoll_among_props_goes_on_to_the_bit(tmp_path) -> None:
    boxes = """
[[props]]
kind = "box"
centre_m = [0.3, 0.0, 0.25]
half_m = [0.25, 0.25, 0.25]
mass_kg = 8
"""
    running = _running(tmp_path, 1.6, boxes)
    running.advance(0.8)
    running.advance(0.7)
    end = running.snapshot
    running.submit(Scrub(0.8))
    running.submit(Retake())
    running.submit(SetPaused(False))
    running.advance(0.7)
    again = running.snapshot
    for name, T in end.lanes[0].bodies.items():
        np.testing.assert_array_equal(T, again.lanes[0].bodies[name])
    np.testing.assert_array_equal(end.environment.poses_w, again.environment.poses_w)


FINGERS = """<mujoco model="fingers">
<contact><exclude body1="one" body2="two"/></contact>
<worldbody><body name="palm"><freejoint/><geom size=".05"/>{}</body></worldbody></mujoco>"""
FINGER = """<body name="{}" pos="0 {} .3"><joint axis="1 0 0"/><geom type="capsule" fromto="0 0 0 0 0 .3" size=".02"
contype="{}" conaffinity="{}"/></body>"""


def test_what_a_file_excludes_does_not_meet(tmp_path) -> None:
    """As MuJoCo has it: pairs that are excluded, and those of which no bits meet."""
    fingers = "".join(
        FINGER.format(name, 0.1 * k, kind, others)
        for k, (name, kind, others) in enumerate(
            (("one", 1, 1), ("two", 1, 1), ("three", 1, 1), ("four", 2, 2))
        )
    )
    path = tmp_path / "fingers.xml"
    path.write_text(FINGERS.format(fingers))
    kind = VEHICLES[load_robot(path, VEHICLES)]
    try:
        guest = guest_of(kind())
        names = [kind().tree.names[k] for k in guest.bodies]
        met = {frozenset((names[i], names[j])) for i, j in np.argwhere(guest.meets)}
        assert met == {frozenset(("one", "three")), frozenset(("two", "three"))}
    finally:
        del VEHICLES[kind.name]


def test_an_arm_pushes_a_box_into_a_corner() -> None:
    """It stays on its table, between rim and gripper. Measured: 0.5 m aside, overlaps of 0.25 mm at most."""
    scene = load_scene("push")
    running = Simulation(scene, load_world(scene.world, seed=scene.seed))
    begin, deepest = running.advance(0.0).environment.poses_w[3, :3, 3].copy(), 0.0
    for _ in range(60):
        snapshot = running.advance(0.05)
        deepest = max(deepest, running.snapshot.environment.overlap_m)
    box = snapshot.environment.poses_w[3, :3, 3]
    assert np.linalg.norm(box[:2] - begin[:2]) > 0.15
    assert box[2] == pytest.approx(1.05, abs=2e-3)
    assert deepest < 1e-3
