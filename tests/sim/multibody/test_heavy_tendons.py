"""Laws of tendons that have inertia: a body without weight turns as each grows, and a gear turns it."""

import re

import numpy as np
import pytest

import sim
from sim.multibody.observing import body_frames, mass_matrix
from sim.multibody.robots.model import start_of
from sim.multibody.stepping import OK
from sim.steppers.bound_tree import BoundTree
from sim.vehicles import enter_own, known_vehicle
from tests.sim.multibody.test_files_by_equations import drawn, moments, words
from tests.sim.multibody.test_tendons import branched, fixed, led, spatial

SECONDS = 0.2


def heavy(rng, text):
    """The first two tendons through points and the first of joints have inertia."""
    return re.sub(
        '(<(?:spatial|fixed) name="(?:t0|t1|f0)")', lambda found: f'{found[1]} armature="{rng.uniform(0.2, 2.0)}"', text
    )  # fmt: skip


def chained(rng):
    """A chain without branches, as `branched` otherwise."""
    bodies, joints, sites = "", [], ["w0", "w1"]
    for k, kind in enumerate(("hinge", "slide", "ball", "hinge", "slide")):
        m, c, J = drawn(rng)
        joint = '<joint type="ball"/>'
        if kind != "ball":
            joints.append(f"j{k}")
            joint = f'<joint name="j{k}" type="{kind}" axis="{words(rng.normal(size=3))}"/>'
        sites.append(f"s{k}")
        bodies += (
            f'<body name="b{k}" pos="{words(0.4 * rng.normal(size=3))}">{joint}<inertial pos="{words(c)}" mass="{m}" '
            f'fullinertia="{words(moments(J))}"/><site name="s{k}" pos="{words(0.3 * rng.normal(size=3))}"/>'
        )
    tendons = "".join(spatial(rng, f"t{k}", sites) for k in range(3)) + fixed(rng, "f0", joints)
    return (
        f'<mujoco><compiler angle="radian"/><worldbody><site name="w0" pos="0.3 -0.2 1"/><site name="w1" '
        f'pos="-0.5 0.4 0.2"/>{bodies}{5 * "</body>"}</worldbody><tendon>{tendons}</tendon></mujoco>'
    )


@pytest.mark.parametrize("seed", range(6))
def test_inertia_of_tendons_joins_all_that_they_move_and_mujocos_what_is_in_line(tmp_path, seed):
    """Of branches MuJoCo 4.0.0 leaves out what couples one to another. Measured: 3e-15 of the largest with its own
    slopes, and with its own matrix along each line of bodies."""
    mujoco = pytest.importorskip("mujoco")
    rng, path = np.random.default_rng(seed), tmp_path / "heavy.xml"
    path.write_text(heavy(rng, branched(rng)))
    robot, model = sim.read_robot(path), mujoco.MjModel.from_xml_path(str(path))
    data, theirs, nv = mujoco.MjData(model), np.zeros((model.nv, model.nv)), model.nv
    mujoco.mj_integratePos(model, data.qpos, rng.normal(size=nv), 0.5)
    mujoco.mj_forward(model, data)
    mujoco.mj_fullM(model, data, theirs)
    velocities = np.array([start_of(robot.tree, data.qpos, e).v for e in np.eye(nv)])
    q = start_of(robot.tree, data.qpos, np.zeros(nv)).q
    ours = velocities @ mass_matrix(robot.tree.arrays, q) @ velocities.T
    light = mujoco.MjModel.from_xml_path(str(path))
    light.tendon_armature[:] = 0.0
    rates, whole = np.zeros((model.ntendon, nv)), np.zeros((nv, nv))
    mujoco.mj_forward(light, data)
    mujoco.mj_fullM(light, data, whole)
    for k in range(nv):
        data.qvel[:] = np.eye(nv)[k]
        mujoco.mj_forward(light, data)
        rates[:, k] = data.ten_velocity
    whole += rates.T @ (model.tendon_armature[:, None] * rates)
    size = np.abs(whole).max()
    np.testing.assert_allclose(ours, whole, atol=1e-12 * size)
    in_line = np.zeros((nv, nv), bool)
    for i in range(nv):
        j = i
        while j >= 0:
            in_line[i, j] = in_line[j, i] = True
            j = model.dof_parentid[j]
    np.testing.assert_allclose(ours[in_line], theirs[in_line], atol=1e-12 * size)
    assert np.abs(ours - theirs).max() > 1e-3 * size


def by_mujoco(mujoco, model, qpos, qvel):
    """Coordinates and velocities after SECONDS."""
    data = mujoco.MjData(model)
    model.opt.timestep, model.opt.integrator = 1e-4, mujoco.mjtIntegrator.mjINT_RK4
    data.qpos[:], data.qvel[:] = qpos, qvel
    mujoco.mj_step(model, data, round(SECONDS / 1e-4))
    mujoco.mj_kinematics(model, data)
    return data


def off_by(robot, model, data, q):
    """Largest distance of any body's points from where MuJoCo has them."""
    poses, worst = body_frames(robot.tree, q), 0.0
    for i in range(1, model.nbody):
        T, x = poses[model.body(i).name], np.array([0.1, 0.2, 0.3])
        theirs = data.xpos[i] + data.xmat[i].reshape(3, 3) @ x
        worst = max(worst, np.abs(T[:3, :3] @ x + T[:3, 3] - theirs).max())
    return worst


@pytest.mark.parametrize("seed", range(6))
def test_trees_whose_tendons_have_inertia_move_as_mujocos(tmp_path, seed):
    """Of chains, whose matrix MuJoCo has whole: to the second order of the step."""
    mujoco = pytest.importorskip("mujoco")
    rng, path = np.random.default_rng(seed), tmp_path / "heavy.xml"
    path.write_text(heavy(rng, chained(rng)))
    robot, model = sim.read_robot(path), mujoco.MjModel.from_xml_path(str(path))
    assert robot.notes == ()
    count = sum(led(model, t) for t in np.flatnonzero(model.tendon_armature))
    assert robot.tree.nv == model.nv + count > model.nv
    begun = mujoco.MjData(model)
    mujoco.mj_integratePos(model, begun.qpos, rng.normal(size=model.nv), 0.5)
    qvel = rng.normal(size=model.nv)
    data, start, off = by_mujoco(mujoco, model, begun.qpos, qvel), start_of(robot.tree, begun.qpos, qvel), []
    for h in (2e-3, 1e-3):
        bound = BoundTree(robot.tree, h, loops=robot.loops)
        motion = bound.start(start.q, start.v)
        assert np.abs(bound.velocity(motion) - start.v).max() < 1e-8
        assert bound.advance(motion, round(SECONDS / h))[1] == OK
        off.append(off_by(robot, model, data, motion.q))
    assert off[0] / off[1] == pytest.approx(4.0, rel=0.2)
    model.tendon_armature[:] = 0.0
    assert off_by(robot, model, by_mujoco(mujoco, model, begun.qpos, qvel), motion.q) > 10.0 * off[1]


PENDULUM = """<mujoco><compiler angle="radian"/><worldbody><body name="rod"><joint name="rod" axis="0 1 0"/><inertial
pos="0 0 -0.5" mass="1" diaginertia="0.01 0.01 0.01"/><geom name="bob" size="0.1" pos="0 0 -0.5"/></body></worldbody>
<tendon><fixed name="cord" armature="0.7"><joint joint="rod" coef="0.6"/></fixed></tendon></mujoco>"""


@pytest.mark.parametrize("method", ["variational", "rk4", "riqn-variable"])
def test_a_pendulum_on_a_heavy_cord_swings_as_its_whole_inertia_says(tmp_path, registry, method):
    """m l^2 + I + a c^2 in place of m l^2 + I; as a vehicle, against its own equation by small steps."""
    path = tmp_path / "pendulum.xml"
    path.write_text(PENDULUM)
    vehicle = known_vehicle(enter_own(str(path)), hold=0.0)
    assert [p.name for p in vehicle.parameters if "target" in p.name] == ["rod_target"]
    assert vehicle.tool == "rod"
    inertia, angle, rate, h = 0.25 + 0.01 + 0.7 * 0.6**2, 1.0, 0.0, 1e-4
    for _ in range(round(1.0 / h)):
        rate += h * -9.81 * 0.5 * np.sin(angle + 0.5 * h * rate) / inertia
        angle += h * rate
    start = vehicle.closed_state({"rod": 1.0})
    run = sim.simulate(vehicle, method, step=1e-3, duration=1.0, initial=start)
    assert run.nodes[-1, 0] == pytest.approx(angle, abs=1e-3)
    assert run.nodes[:, 1] == pytest.approx(0.6 * run.nodes[:, 0], abs=1e-9)
