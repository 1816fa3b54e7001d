"""Laws of forces of controls along tendons: of files' motors and servos, in trees of no pattern, by all methods."""

import re

import casadi as ca
import numpy as np
import pytest

import sim
from sim.multibody.observing import spatial_momentum
from sim.multibody.robots.model import start_of
from sim.multibody.stepping import OK
from sim.multibody.symbolic import SymbolicTree
from sim.multibody.tree import with_springs
from sim.planner import Goal, Task
from sim.platform.errors import InputError
from sim.steppers.bound_tree import BoundTree
from sim.vehicles import enter_own, known_vehicle
from sim.vehicles.forms.articulated import ArticulatedVehicle
from sim.vehicles.forms.parameters import Control
from tests.sim.multibody.test_tendons import branched, in_mujocos, led, loose, rings, strung
from tests.sim.multibody.test_wraps import wrapped


def actuators(rng, model):
    """Motors and servos of every tendon that a tree can have; of two of them two."""
    names = [model.tendon(t).name for t in range(model.ntendon)]
    found = ""
    for k, name in enumerate([*names, *names[:2]]):
        gear, kp, kv = rng.normal(), rng.uniform(1, 9), rng.uniform(0, 2)
        found += rng.choice(
            [
                f'<motor name="a{k}" tendon="{name}" gear="{gear}" ctrlrange="-0.5 2" ctrllimited="true"/>',
                f'<position name="a{k}" tendon="{name}" gear="{gear}" kp="{kp}" kv="{kv}"/>',
                f'<velocity name="a{k}" tendon="{name}" gear="{gear}" kv="{kv}"/>',
                f'<general name="a{k}" tendon="{name}" gear="{abs(gear)}" gainprm="{kp}" biastype="affine" '
                f'biasprm="{rng.uniform(0, 1)} {-kp} {-kv}"/>',
                f'<motor name="a{k}" tendon="{name}" gear="{gear}" forcelimited="true" forcerange="-0.3 0.4"/>',
            ]
        )
    return f"<actuator>{found}</actuator></mujoco>"


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("tree_of", [branched, wrapped])
def test_motors_and_servos_along_tendons_are_mujocos(tmp_path, tree_of, seed):
    """Measured: 5e-15 of the largest force, round shapes 7e-8, which is how exactly MuJoCo finds where a string touches
    a ring."""
    mujoco = pytest.importorskip("mujoco")
    rng, path = np.random.default_rng(seed), tmp_path / "driven.xml"
    text = tree_of(rng)
    bare = mujoco.MjModel.from_xml_string(text)
    path.write_text(text.replace("</mujoco>", actuators(rng, bare)))
    robot, model = sim.read_robot(path), mujoco.MjModel.from_xml_path(str(path))
    dead = sorted(
        {bare.tendon(t).name for t in range(bare.ntendon) if tree_of is branched and not led(bare, t)}
    )
    of = {model.actuator(a).name: model.tendon(model.actuator_trnid[a, 0]).name for a in range(model.nu)}
    assert {motor.name for motor in robot.motors} == {name for name, on in of.items() if on not in dead}
    data = mujoco.MjData(model)
    form, slack = SymbolicTree(robot.tree), SymbolicTree(with_springs(robot.tree, ()))
    for _ in range(3):
        mujoco.mj_integratePos(model, data.qpos, rng.normal(size=model.nv), 0.5)
        data.qvel[:] = rng.normal(size=model.nv)
        data.ctrl[:] = 3.0 * rng.normal(size=model.nu)
        mujoco.mj_forward(model, data)
        state = start_of(robot.tree, data.qpos, data.qvel)
        q, v = ca.SX(state.q), ca.SX(state.v)
        commands = {motor.name: float(data.actuator(motor.name).ctrl[0]) for motor in robot.motors}
        driven = form.driven(q, ca.SX(robot.torques(commands)))
        ours = np.array(ca.DM(form.forces(q, v) - slack.forces(q, v) + driven)).ravel()
        theirs = data.qfrc_actuator + data.qfrc_spring + data.qfrc_damper
        size = 1e-11 if tree_of is branched else 1e-6
        np.testing.assert_allclose(
            in_mujocos(model, robot, data, ours), theirs, atol=size * np.abs(theirs).max()
        )


def test_servos_of_joints_are_mujocos_beside_springs_of_their_own(tmp_path):
    """Two of one joint, one that only brakes, one over a gear; what has a force range or is no straight line
    is told."""
    mujoco = pytest.importorskip("mujoco")
    rng, path = np.random.default_rng(2), tmp_path / "servos.xml"
    actuators = (
        '<position name="a" joint="j0" gear="1.5" kp="7" kv="0.4"/><general name="b" joint="j0" gainprm="3" '
        'biastype="affine" biasprm="0.6 -5 -0.3"/><velocity name="c" joint="j1" gear="-2" kv="0.7"/><position name="d" '
        'joint="j1" kp="4"/><position name="e" joint="j0" kp="2" forcelimited="true" forcerange="-1 1"/><general '
        'name="f" joint="j1" gaintype="affine" gainprm="1 2 0"/>'
    )
    text = branched(rng).replace("</mujoco>", f"<actuator>{actuators}</actuator></mujoco>")
    text = re.sub('type="hinge"', 'type="hinge" stiffness="2" springref="0.3" damping="0.2"', text)
    path.write_text(text)
    robot, model = sim.read_robot(path), mujoco.MjModel.from_xml_path(str(path))
    assert robot.notes == (
        "servos with a force range are left out: e",
        "actuators that are no motors or servos of joints and tendons are left out: f",
    )
    data, commands = mujoco.MjData(model), {"a": 0.4, "b": -0.7, "c": 1.1, "d": 2.0}
    mujoco.mj_integratePos(model, data.qpos, rng.normal(size=model.nv), 0.5)
    data.qvel[:] = rng.normal(size=model.nv)
    for name, command in commands.items():
        data.actuator(name).ctrl[0] = command
    model.actuator_biasprm[4] = 0.0
    mujoco.mj_forward(model, data)
    state = start_of(robot.tree, data.qpos, data.qvel)
    q, v = ca.SX(state.q), ca.SX(state.v)
    arrays = robot.tree.arrays
    slack = SymbolicTree(
        with_springs(robot.tree, ()), arrays._replace(
            stiffness=0.0 * arrays.stiffness, damping=0.0 * arrays.damping, springs=np.zeros((0, 7))
        )
    )  # fmt: skip
    ours = SymbolicTree(robot.tree).forces(q, v) - slack.forces(q, v) + ca.SX(robot.torques(commands))
    theirs = data.qfrc_actuator + data.qfrc_spring + data.qfrc_damper
    found = in_mujocos(model, robot, data, np.array(ca.DM(ours)).ravel())
    np.testing.assert_allclose(found, theirs, atol=1e-11 * np.abs(theirs).max())


def pulled(damping=0.0):
    """The tendons of `strung`, both driven."""

    def of(rng):
        rope, share = strung(damping=damping)(rng)
        return [
            sim.Tendon(rope.strands, {}, rope.stiffness, damping, 4.0, name="rope", driven=True),
            sim.Tendon((), share.joints, 8.0, damping, 0.1, name="share", driven=True),
        ]

    return of


METHODS = {
    "variational": (2e-3, 2),
    "riqn-variable": (2e-3, 2),
    "rk4": (8e-3, 4),
    "semi-implicit-euler": (1e-3, 1),
}
"""Step [s] and order."""


def driven_run(tree, method, step, start, hold_s=0.08):
    """Of 0.4 s under forces that change every 0.08 s."""
    rng = np.random.default_rng(7)
    held = np.repeat(4.0 * rng.normal(size=(5, 2)), round(hold_s / step), axis=0)
    controls = np.hstack([np.zeros((len(held), tree.nv)), held])
    return sim.simulate(tree, method, step=step, duration=0.4, initial=start, controls=controls).nodes[-1]


@pytest.mark.parametrize("method", METHODS)
def test_a_driven_tree_approaches_one_motion_by_the_order_of_each_method(method):
    """With dampers. The motion is RK4's at 0.5 ms."""
    tree = rings(np.random.default_rng(1), pulled(damping=1.0))
    start = tree.state(*loose(tree, np.random.default_rng(2)))
    exact = driven_run(tree, "rk4", 5e-4, start)
    step, order = METHODS[method]
    off = [np.abs(driven_run(tree, method, h, start) - exact).max() for h in (step, 0.5 * step)]
    assert off[0] / off[1] == pytest.approx(2.0**order, rel=0.35)
    assert off[1] < 0.02
    still = sim.simulate(tree, method, step=step, duration=0.4, initial=start).nodes[-1]
    assert np.abs(still - exact).max() > 30.0 * off[1]


def test_forces_along_tendons_within_a_free_tree_keep_its_momentum():
    """They pull and push by what changes with the shape. Measured over 4 s: 1e-13."""
    tree = rings(np.random.default_rng(1), pulled())
    bound, rng = BoundTree(tree, 2e-3), np.random.default_rng(3)
    motion = bound.start(*loose(tree, np.random.default_rng(2)))
    before = spatial_momentum(tree, motion.q, bound.velocity(motion))
    for _ in range(100):
        held = np.r_[np.zeros(tree.nv), 5.0 * rng.normal(size=2)]
        assert bound.advance(motion, 20, held)[1] == OK
    after = spatial_momentum(tree, motion.q, bound.velocity(motion))
    np.testing.assert_allclose(after, before, atol=1e-10)


def test_the_work_along_a_tendon_is_the_change_of_energy():
    """A force that stays does as much as its length grows, in a band of the step's square."""
    tree, force, off = rings(np.random.default_rng(1), pulled()), np.array([-3.0, 2.0]), []
    lengths = ca.Function("lengths", [q := ca.SX.sym("q", tree.nq)], [SymbolicTree(tree).spring_lengths(q)])
    for h in (4e-3, 2e-3):
        bound = BoundTree(tree, h)
        motion = bound.start(*loose(tree, np.random.default_rng(2)))

        def balance(bound=bound, motion=motion):
            return bound.energy_J(motion) - float(force @ np.array(lengths(motion.q)).ravel())

        begun, worst = balance(), 0.0
        for _ in range(100):
            bound.advance(motion, round(0.02 / h), np.r_[np.zeros(tree.nv), force])
            worst = max(worst, abs(balance() - begun))
        off.append(worst)
    assert off[0] / off[1] == pytest.approx(4.0, rel=0.35)


ARM = """<mujoco><compiler angle="radian"/><worldbody><site name="top" pos="0.2 0 0.3"/><body name="arm">
<joint name="arm" axis="0 1 0" damping="0.2"/><inertial pos="0.3 0 0" mass="1" diaginertia="0.01 0.04 0.04"/>
<site name="on" pos="0.25 0 0.02"/><body name="fore" pos="0.5 0 0"><joint name="fore" axis="0 1 0" damping="0.1"/>
<inertial pos="0.2 0 0" mass="0.5" diaginertia="0.01 0.01 0.01"/><site name="tip" pos="0.2 0 0.05"/></body></body>
</worldbody><tendon><spatial name="flexor"><site site="top"/><site site="on"/><site site="tip"/></spatial>
<fixed name="pair"><joint joint="arm" coef="0.5"/><joint joint="fore" coef="-1"/></fixed></tendon><actuator>
<position name="flex" tendon="flexor" kp="60" kv="4"/><motor name="couple" tendon="pair" gear="2" ctrlrange="-1 1"
ctrllimited="true"/></actuator></mujoco>"""


def test_a_file_driven_along_its_tendons_moves_as_mujoco_moves_it(tmp_path, registry):
    """As a vehicle. Measured: 2.4e-4 rad at 1 ms, a quarter of that at half of it."""
    mujoco = pytest.importorskip("mujoco")
    path = tmp_path / "arm.xml"
    path.write_text(ARM)
    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.timestep, model.opt.integrator = 1e-4, mujoco.mjtIntegrator.mjINT_RK4
    data, theirs, steps = mujoco.MjData(model), [], 2000
    commands = np.array([[0.3 + 0.1 * np.sin(0.004 * k), np.cos(0.003 * k)] for k in range(steps)])
    for command in commands:
        data.ctrl[:] = command
        mujoco.mj_step(model, data, 10)
        theirs.append(data.qpos.copy())
    vehicle = known_vehicle(enter_own(str(path)), hold=0.0)
    assert vehicle.robot.notes == ()
    assert [(c.name, c.unit) for c in vehicle.controls] == [("flexor", "N"), ("pair", "N m")]
    forces, off = commands * [motor.gear for motor in vehicle.robot.motors], []
    for parts in (1, 2):
        held = np.repeat(forces, parts, axis=0)
        run = sim.simulate(vehicle, "variational", step=1e-3 / parts, duration=2.0, controls=held)
        off.append(np.abs(run.nodes[parts::parts, :2] - theirs).max())
    assert off[0] / off[1] == pytest.approx(4.0, rel=0.1)
    assert off[1] < 1e-4
    assert np.ptp(theirs, axis=0).min() > 0.3


class Hauled(ArticulatedVehicle):
    """An arm that a rope hauls, with no other motor."""

    name = "hauled"
    parameters = ()
    controls = (Control("haul", "N", -40.0, 0.0, ""),)
    torques = ("rope",)

    def declare(self, q):
        arm = sim.Body("arm", "world", sim.Joint(axis=(0.0, 1.0, 0.0), damping=0.3), mass=1.0,
                       centre=(0.3, 0.0, 0.0), inertia=(0.01, 0.04, 0.04))  # fmt: skip
        rope = sim.Strand([("world", (0.1, 0.0, 0.6)), ("arm", (0.4, 0.0, 0.02))])
        return sim.tree([arm], springs=[sim.Tendon([rope], name="rope", driven=True)])


def test_what_a_rope_hauls_is_linearised_as_differences_and_held_by_its_moment():
    vehicle = Hauled()
    state = vehicle.state({"arm": 0.2})
    tree, q = vehicle.tree, np.array([0.2])
    slope = np.array(ca.DM(SymbolicTree(tree).driven(ca.SX(q), ca.SX([0.0, 1.0])))).ravel()
    weight = BoundTree(tree, 1e-3).node_force(q)
    held = float(-weight[0] / slope[0])
    assert -40.0 < held < 0.0
    run = sim.simulate(vehicle, "variational", step=5e-3, duration=0.3, initial=state, controls=[held])
    assert np.abs(run.nodes[:, 0] - 0.2).max() < 1e-9
    found = sim.linearise(vehicle, state, [held])

    def rate(at, u):
        short = sim.simulate(
            vehicle, "rk4", step=1e-6, duration=1e-6, initial=vehicle.state({"arm": at}), controls=[u]
        )
        return short.nodes[-1, 1] / 1e-6

    assert found.B[1, 0] == pytest.approx((rate(0.2, held + 1.0) - rate(0.2, held - 1.0)) / 2.0, rel=1e-4)
    by_place = (rate(0.201, held) - rate(0.199, held)) / 0.002
    assert found.A[1, 0] == pytest.approx(by_place, rel=1e-3)


def test_what_is_planned_along_a_rope_is_what_a_run_does():
    vehicle = Hauled()
    start, goal = vehicle.state({"arm": 0.4}), vehicle.state({"arm": -0.3})
    plan = sim.plan(vehicle, Task(start, Goal(goal), 1.0))
    assert plan.status == "solved"
    flown = sim.simulate(
        vehicle, "variational", step=plan.step_s, duration=1.0, initial=start, controls=plan.controls[:-1]
    )
    assert np.abs(flown.nodes - plan.motion.nodes).max() < 1e-6
    np.testing.assert_allclose(flown.nodes[-1], goal.node, atol=1e-6)


@pytest.mark.parametrize(
    ("names", "what"),
    [(("",), "driven tendon's name is ''"), (("arm",), "'arm'"), (("rope", "rope"), "'rope'")],
)
def test_a_driven_tendon_has_a_name_of_its_own(names, what):
    arm = sim.Body("arm", inertia=(0.1, 0.1, 0.1))
    tendons = [sim.Tendon((), {"arm": 1.0}, name=name, driven=True) for name in names]
    with pytest.raises(InputError, match=what) as error:
        sim.tree([arm], springs=tendons)
    assert "\n" not in str(error.value)
