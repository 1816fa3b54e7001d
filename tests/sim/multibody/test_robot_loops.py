"""Loops that a robot's file closes: read as points that bodies share, moved by impulses that keep them together."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import sim
from sim.multibody.stepping import OK
from sim.steppers.bound_tree import BoundTree
from sim.vehicles import enter_own, known_vehicle
from tests.sim.multibody.four_bar import GROUND, LENGTHS, MASSES, by_multipliers, closed_angles

ANGLES = closed_angles(1.2)


def four_bar_file(folder, equality):
    """Three bars on hinges across x and z, which stand closed where all coordinates are zero."""
    bars = ""
    for k, (length, mass) in enumerate(zip(LENGTHS, MASSES, strict=True)):
        across = mass * length**2 / 12
        bars += (
            f'<body name="bar {k}" pos="{LENGTHS[k - 1] if k else 0.0} 0 0" axisangle="0 -1 0 {ANGLES[k]}">'
            f'<joint name="pin {k}" axis="0 -1 0"/>'
            f'<inertial pos="{0.5 * length} 0 0" mass="{mass}" diaginertia="{across} {across} {across}"/>'
        )
    path = folder / "bars.xml"
    path.write_text(
        f'<mujoco><compiler angle="radian"/><worldbody><site name="bearing" pos="{GROUND} 0 0"/>{bars}'
        f'<site name="end" pos="{LENGTHS[2]} 0 0"/>{3 * "</body>"}</worldbody>'
        f"<equality>{equality}</equality></mujoco>"
    )
    return path


@pytest.mark.parametrize(
    "equality",
    [
        f'<connect body1="bar 2" anchor="{LENGTHS[2]} 0 0"/>',
        f'<connect body1="world" body2="bar 2" anchor="{GROUND} 0 0"/>',
        '<connect site1="end" site2="bearing"/>',
    ],
)
def test_a_connected_file_moves_as_equations_with_multipliers(tmp_path, equality):
    """Measured 1.2e-4 rad at 2 ms, a quarter of what it is at 4 ms."""
    robot = sim.read_robot(four_bar_file(tmp_path, equality))
    closed = BoundTree(robot.tree, 2e-3, loops=robot.loops)
    motion = closed.start(robot.start.q, robot.start.v)
    assert closed.advance(motion, 400)[1] == OK
    exact, _ = by_multipliers(ANGLES, 0.8)
    np.testing.assert_allclose(np.cumsum(ANGLES + motion.q), exact, atol=1e-3)


def test_a_connected_file_is_a_vehicle_whose_loops_stay_closed(tmp_path, registry):
    path = four_bar_file(tmp_path, f'<connect body1="bar 2" anchor="{LENGTHS[2]} 0 0"/>')
    vehicle = known_vehicle(enter_own(str(path)), hold=0.0)
    run = sim.simulate(vehicle, "riqn", step=2e-3, duration=0.8)
    exact, _ = by_multipliers(ANGLES, 0.8)
    np.testing.assert_allclose(np.cumsum(ANGLES + run.nodes[-1, :3]), exact, atol=1e-3)


def weights(rng):
    """Mass and inertia of a body, of no symmetry, as a file has them."""
    c, m = 0.1 * rng.normal(size=3), rng.uniform(0.5, 2.0)
    return (
        f'<inertial pos="{c[0]} {c[1]} {c[2]}" mass="{m}" fullinertia="0.02 0.03 0.025 0.001 0.002 -0.003"/>'
    )


@pytest.mark.parametrize(
    "equality",
    [
        '<weld body1="arm" body2="hand"/>',
        '<weld body1="hand" body2="arm" anchor="0.1 0.2 0.3"/>',
        '<weld site1="on hand" site2="on arm"/>',
    ],
)
def test_a_welded_file_moves_as_one_whose_body_is_fixed(tmp_path, equality):
    """To rounding: both are one variational step. Measured 2e-11 m."""
    arm, hand = (weights(np.random.default_rng(k)) for k in (1, 2))
    pose = 'pos="0.3 0.1 -0.2" axisangle="1 2 -1 0.7"'
    site = 'pos="0.4 0.3 -0.1" axisangle="0 1 1 0.2"'
    place = Rotation.from_rotvec(0.7 * np.array([1, 2, -1]) / np.sqrt(6))
    here = place.inv().apply(np.array([0.4, 0.3, -0.1]) - [0.3, 0.1, -0.2])
    turned = (place.inv() * Rotation.from_rotvec(0.2 * np.array([0, 1, 1]) / np.sqrt(2))).as_quat(
        scalar_first=True
    )
    same = 'pos="{} {} {}" quat="{} {} {} {}"'.format(*here, *turned)
    paths = []
    for name, inside, outside, closing in (
        ("fixed", f'<body name="hand" {pose}>{hand}</body>', "", ""),
        (
            "welded",
            "",
            f'<body name="hand" {pose}><freejoint/>{hand}<site name="on hand" {same}/></body>',
            equality,
        ),
    ):
        paths.append(tmp_path / f"{name}.xml")
        paths[-1].write_text(
            f'<mujoco><compiler angle="radian"/><worldbody><body name="arm"><joint axis="1 0.3 0"/>{arm}'
            f'<site name="on arm" {site}/>{inside}</body>{outside}</worldbody><equality>{closing}</equality></mujoco>'
        )
    fixed, welded = (sim.read_robot(path) for path in paths)
    one, other = BoundTree(fixed.tree, 2e-3), BoundTree(welded.tree, 2e-3, loops=welded.loops)
    begun, closed = one.start(fixed.start.q, fixed.start.v), other.start(welded.start.q, welded.start.v)
    assert one.advance(begun, 300)[1] == other.advance(closed, 300)[1] == OK
    np.testing.assert_allclose(other.bodies(closed)["hand"], one.bodies(begun)["hand"], atol=1e-9)
    assert abs(begun.q[0]) > 0.5


def test_joints_of_a_file_follow_others_by_its_polynomial(tmp_path, registry):
    """From where the file places them; a vehicle of it starts where they do."""
    arm = weights(np.random.default_rng(1))
    (tmp_path / "geared.xml").write_text(
        '<mujoco><compiler angle="radian"/><worldbody>'
        f'<body name="a"><joint name="a" axis="1 0 0" ref="0.2"/>{arm}</body>'
        f'<body name="b" pos="1 0 0"><joint name="b" axis="1 0 0" ref="-0.1"/>{arm}</body></worldbody>'
        '<equality><joint joint1="a" joint2="b" polycoef="0.05 2 0.5 -0.1 0.01"/></equality></mujoco>'
    )
    (tmp_path / "mimic.urdf").write_text(
        '<robot name="mimic"><link name="world"/>'
        + "".join(
            f'<link name="{name}"><inertial><origin xyz="0.1 0.2 0.3"/><mass value="1"/>'
            '<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
            f'<joint name="{name}" type="continuous"><parent link="world"/><child link="{name}"/>'
            f'<axis xyz="1 0 0"/>{more}</joint>'
            for name, more in (("a", '<mimic joint="b" multiplier="-0.5" offset="0.1"/>'), ("b", ""))
        )
        + "</robot>"
    )
    for file, follows in (
        ("geared.xml", lambda b: 0.2 + np.polynomial.Polynomial([0.05, 2, 0.5, -0.1, 0.01])(b + 0.1)),
        ("mimic.urdf", lambda b: 0.1 - 0.5 * b),
    ):
        vehicle = known_vehicle(enter_own(str(tmp_path / file)), hold=0.0)
        run = sim.simulate(vehicle, "variational", step=2e-3, duration=1.0)
        a, b = run.nodes[:, :2].T
        np.testing.assert_allclose(a, follows(b), atol=1e-10)
        assert np.ptp(b) > 0.3


def test_tendons_between_two_sites_pull_as_mujocos(tmp_path):
    """A spring with a damper and one that only pulls. Measured 4e-6 rad from MuJoCo's RK4 at 0.1 ms."""
    mujoco = pytest.importorskip("mujoco")
    path = tmp_path / "tendons.xml"
    path.write_text(
        '<mujoco><option timestep="1e-4" integrator="RK4"/><worldbody><site name="top" pos="0.5 0.2 0.6"/>'
        f'<body name="a"><joint axis="0 1 0.2"/>{weights(np.random.default_rng(1))}<site name="a" pos="0.4 0 0.1"/>'
        f'<body name="b" pos="0.5 0 0"><joint axis="0.1 1 0"/>{weights(np.random.default_rng(2))}'
        '<site name="b" pos="0.2 0 0.2"/></body></body></worldbody><tendon>'
        '<spatial stiffness="60" damping="4"><site site="top"/><site site="b"/></spatial>'
        '<spatial stiffness="30" springlength="0 0.4"><site site="top"/><site site="a"/></spatial>'
        "</tendon></mujoco>"
    )
    robot = sim.read_robot(path)
    assert robot.notes == ()
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 8000)
    for method, off in (("variational", 1e-4), ("rk4", 1e-6)):
        run = sim.simulate(robot.tree, method, step=1e-3, duration=0.8, initial=robot.start)
        np.testing.assert_allclose(run.nodes[-1, :2], data.qpos, atol=off)
    assert np.abs(data.qpos).max() > 0.1


def test_what_closes_no_loop_is_told_by_name(tmp_path):
    idle = f'<connect name="idle" body1="bar 2" anchor="{LENGTHS[2]} 0 0" active="false"/>'
    robot = sim.read_robot(four_bar_file(tmp_path, idle))
    assert robot.loops == ()
    assert robot.notes == ("an equality is left out: connect 'idle'",)
