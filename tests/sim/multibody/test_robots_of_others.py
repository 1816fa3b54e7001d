"""Models that no one here wrote move as MuJoCo's own RK4 moves them.

MuJoCo parses each file itself, so that what we make of it is judged from outside. On both sides contacts and joint
limits are off and commands 0; on MuJoCo's also what a robot's notes say is left out: dry friction, equalities, the
medium's drag, damping of free joints, other actuators than motors and servos.
"""

import dataclasses
import importlib.util
import xml.etree.ElementTree as ET
from pathlib import Path

import mujoco
import numpy as np
import pytest

from sim.multibody.observing import body_frames
from sim.multibody.robots.model import start_of
from sim.multibody.robots.reading import read_robot
from sim.multibody.stepping import OK
from sim.platform.errors import InputError
from sim.steppers.bound_tree import BoundTree

REFERENCE_STEP_S, SAMPLES = 1e-4, 20
OFF_AXIS_M = np.array([0.1, 0.1, 0.1])

GYMNASIUM = (
    *("ant", "half_cheetah", "hopper", "humanoid", "humanoidstandup", "inverted_double_pendulum"),
    *("inverted_pendulum", "point", "pusher", "reacher", "swimmer", "walker2d"),
)
DM_CONTROL = (
    *(
        "acrobot",
        "ball_in_cup",
        "cartpole",
        "cheetah",
        "dog",
        "finger",
        "fish",
        "hopper",
        "humanoid",
        "humanoid_CMU",
    ),
    *("pendulum", "point_mass", "quadruped", "reacher", "swimmer", "walker"),
)
"""Without manipulator and stacker, on which MuJoCo's RK4 blows up at 0.1 ms where the equalities of their tendons are
off."""
URDF = {
    "a1_description/urdf/a1": 1e-4,
    "baxter_description/urdf/baxter": 1e-4,
    "centauro_description/urdf/centauro": 1e-4,
    "double_pendulum_description/urdf/double_pendulum": 1e-4,
    "g1_description/urdf/g1_29dof_rev_1_0": 5e-5,
    "go2_description/urdf/go2": 1e-4,
    "iris_description/robots/iris": 1e-4,
    "kinova_description/robots/kinova": 1e-4,
    "laikago_description/urdf/laikago": 1e-4,
    "panda_description/urdf/panda": 1e-4,
    "so_arm_description/urdf/so100": 1.25e-5,
    "solo_description/robots/solo12": 1e-4,
    "talos_data/robots/talos_reduced": 1e-4,
    "ur_description/urdf/ur5_robot": 1e-4,
    "xarm_description/urdf/xarm7": 1e-4,
    "z1_description/urdf/z1": 1e-4,
}
"""And our step [s]."""


WHY_NOT = (
    *(
        "has no joint",
        "no inertia",
        "negative principal moment",
        "must be larger than mjMINVAL",
        "has no <link>",
    ),
    *("is not in the model's folder", "begins with <", "repeated name 'grid'"),
)


@pytest.fixture(autouse=True)
def a_folder_for_mujocos_log(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def installed(package, within=""):
    """Folder of an installed package, which is not imported."""
    spec = importlib.util.find_spec(package)
    if spec is None:
        pytest.skip(f"the package {package} is not installed (extra robot-models)")
    return Path(next(iter(spec.submodule_search_locations))) / within


def example_robot_data():
    for site in (Path(p) for p in importlib.import_module("site").getsitepackages()):
        if (folder := site / "cmeel.prefix/share/example-robot-data").is_dir():
            return folder
    return pytest.skip("the package example-robot-data is not installed (extra robot-models)")


def parsed_by_mujoco(path, motors):
    """An MjModel without what the tree does not have, shapes of a URDF aside; motors: names of those it has."""
    if path.suffix == ".urdf":
        root = ET.parse(path).getroot()
        for link in root.findall("link"):
            for shape in (*link.findall("visual"), *link.findall("collision")):
                link.remove(shape)
        m = mujoco.MjModel.from_xml_string(ET.tostring(root, encoding="unicode"))
    else:
        m = mujoco.MjModel.from_xml_path(str(path))
    off = mujoco.mjtDisableBit
    m.opt.disableflags |= off.mjDSBL_CONTACT | off.mjDSBL_LIMIT | off.mjDSBL_FRICTIONLOSS
    m.opt.disableflags |= off.mjDSBL_EQUALITY
    m.actuator_biasprm[[a for a in range(m.nu) if m.actuator(a).name not in motors]] = 0.0
    m.opt.integrator, m.opt.timestep = mujoco.mjtIntegrator.mjINT_RK4, REFERENCE_STEP_S
    m.opt.density = m.opt.viscosity = 0.0
    m.body_gravcomp[:] = 0.0
    for j in np.flatnonzero(m.jnt_type == mujoco.mjtJoint.mjJNT_FREE):
        m.dof_damping[m.jnt_dofadr[j] : m.jnt_dofadr[j] + 6] = 0.0
    return m


def apart(path, folder, step_s):
    """Largest distance of any body's point from where MuJoCo has it in one second, as a share of the longest way."""
    robot = read_robot(path, folder=folder, meshes=False)
    unlimited, springs = np.tile([-np.inf, np.inf], (robot.tree.nv, 1)), robot.tree.arrays.springs.copy()
    springs[springs[:, 4] != 0.0, 1:3] = -np.inf, np.inf
    arrays = robot.tree.arrays._replace(limits=unlimited, springs=springs)
    t = dataclasses.replace(robot.tree, arrays=arrays)
    m = parsed_by_mujoco(path, {motor.name for motor in robot.motors})
    d = mujoco.MjData(m)
    d.qvel[:] = 0.5 * np.random.default_rng(0).normal(size=m.nv)
    start = start_of(t, d.qpos, d.qvel)
    stepper = BoundTree(t, step_s, tolerance=1e-12)
    motion = stepper.start(start.q, start.v)
    ids = {name: mujoco.mj_name2id(m, mujoco.mjtObj.mjOBJ_BODY, name) for name in t.names}
    ids = {name: i for name, i in ids.items() if i >= 0}  # its URDF reader merges what is fixed
    assert ids
    ours, theirs = [], []
    for k in range(SAMPLES + 1):
        if k:
            n = round(1.0 / SAMPLES / step_s)
            assert stepper.advance(motion, n) == (n, OK)
            mujoco.mj_step(m, d, round(1.0 / SAMPLES / REFERENCE_STEP_S))
        mujoco.mj_kinematics(m, d)
        poses = body_frames(t, motion.q)
        points = {name: m.body_ipos[i] + OFF_AXIS_M for name, i in ids.items()}
        ours.append([poses[n][:3, 3] + poses[n][:3, :3] @ x for n, x in points.items()])
        theirs.append([d.xpos[ids[n]] + d.xmat[ids[n]].reshape(3, 3) @ x for n, x in points.items()])
    assert d.warning[mujoco.mjtWarning.mjWARN_BADQACC].number == 0
    theirs = np.array(theirs)
    span = np.linalg.norm(theirs - theirs[0], axis=-1).max()
    return np.linalg.norm(np.array(ours) - theirs, axis=-1).max() / span


@pytest.mark.parametrize("name", GYMNASIUM)
def test_a_second_of_gymnasiums_models_is_mujocos(name):
    path = installed("gymnasium", f"envs/mujoco/assets/{name}.xml")
    assert apart(path, None, 1e-4) < 1e-3  # measured 7e-7 at most


@pytest.mark.parametrize("name", DM_CONTROL)
def test_a_second_of_dm_controls_models_is_mujocos(name):
    path = installed("dm_control", f"suite/{name}.xml")
    assert apart(path, None, 1e-4) < 1e-3  # measured 7e-7 at most


@pytest.mark.parametrize("name", URDF)
def test_a_second_of_urdf_models_is_mujocos(name):
    folder = example_robot_data()
    assert apart(folder / f"robots/{name}.urdf", folder, URDF[name]) < 1e-3  # measured 4e-4 at most


def test_every_model_of_these_packages_is_read_or_refused_in_a_line():
    """What is refused has no joint, no inertia or no <link>, or lacks a file; MuJoCo reads none of it with joints."""
    packages = [installed("gymnasium", "envs/mujoco/assets"), installed("dm_control"), example_robot_data()]
    read, refused = 0, {}
    for folder in packages:
        for path in sorted([*folder.rglob("*.xml"), *folder.rglob("*.urdf")]):
            if "locomotion" in path.parts:  # many megabytes of meshes
                continue
            try:
                read_robot(path, folder=folder, meshes=False)
                read += 1
            except InputError as error:
                refused[path.name] = str(error)
    assert read >= 100  # measured 106
    for name, message in refused.items():
        assert "\n" not in message
        assert name[-20:] in message
        assert any(why in message for why in WHY_NOT), message


def test_meshes_of_urdf_models_are_found_in_their_folder():
    folder = example_robot_data()
    robot = read_robot(folder / "robots/talos_data/robots/talos_reduced.urdf", folder=folder)
    meshes = [geom for geom in robot.geoms if geom.shape == "mesh"]
    assert len(meshes) > 50
    for geom in meshes:
        assert geom.faces.max() < len(geom.vertices)
        assert np.ptp(geom.vertices, axis=0).max() < 2.0
