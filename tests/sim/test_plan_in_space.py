"""Plans through contact of a robot from a file whose root floats: four legs of three joints each, in space."""

from pathlib import Path

import numpy as np
import pytest

import sim
from benchmarks.plan_contact import LEVEL, replayed
from benchmarks.plan_walking import tasks
from sim.contact.trees import FRICTION, TreeGround
from sim.multibody.robots.robot import MOST_TOUCHING
from sim.planner import Goal, Limits, Planner, Task
from sim.planner.api import method_of_scene, task_of_scene
from sim.planner.task.legs import standing
from sim.scene import load_scene
from tests.sim.multibody.test_robot_files import URDF, written
from tests.sim.multibody.test_robots_of_others import example_robot_data

DOG = Path(__file__).parents[2] / "examples" / "dog" / "dog.xml"
LEGS = ("fore_left", "fore_right", "hind_left", "hind_right")
G_MPS2, LINK_M, FOOT_M = 9.81, 0.2, 0.02
FAST = Limits(turn_radps=20.0, speed_mps=10.0)


@pytest.fixture(scope="module")
def dog():
    return sim.vehicle(str(DOG), hold=0.0)


@pytest.fixture(scope="module")
def turned_aside(dog):
    """The plan of a motion without symmetry: up from low, ahead, aside and round."""
    goal = _standing(dog, 0.8, place=(0.4, 0.06), heading_rad=0.15)
    task = Task(_standing(dog, 1.0), Goal(goal), 1.04, 26, limits=FAST)
    return Planner().plan(dog, task, starts=1, explain=False, time_limit_s=900.0)


def _standing(dog, hip_rad, place=(0.0, 0.0), heading_rad=0.0):
    """At rest with its feet under its hips."""
    turns = (("hip", hip_rad), ("knee", -2.0 * hip_rad))
    state = dog.state({f"{leg}_{joint}": turn for leg in LEGS for joint, turn in turns})
    state.node[:4] = np.cos(heading_rad / 2), 0.0, 0.0, np.sin(heading_rad / 2)
    state.node[4:7] = *place, 2.0 * LINK_M * np.cos(hip_rad) + FOOT_M
    return state


def _forces(plan, dog):
    """(N, feet, 3) of the ground on the feet in the world, in the order of `dog.bearing`."""
    _, z, _ = plan.problem.rows_of(plan.result.w, plan.numbers)
    up, ahead, aside = z[:-1, dog.tree.nv :].reshape(len(z) - 1, 3, -1).transpose(1, 0, 2)
    return np.stack([ahead, aside, up], axis=2)


def test_legs_are_found_in_a_file_and_those_of_a_diagonal_follow_each_other(dog):
    first, second = ({foot.removesuffix("_shank") for foot in pair} for pair in (dog.feet[:2], dog.feet[2:]))
    assert {frozenset(first), frozenset(second)} == {
        frozenset({"fore_left", "hind_right"}),
        frozenset({"fore_right", "hind_left"}),
    }
    assert dog.tool == "trunk"


def test_feet_feel_the_ground_however_many_other_ends_there_are(tmp_path):
    """With all that is shown colliding, more ends touch than there is room for: evenly chosen ones left feet out."""
    text = DOG.read_text(encoding="utf-8").replace('class="shown" ', "")
    text = text.replace(
        'type="capsule" fromto="-0.02 0 0 0.02 0 0" size="0.038"', 'type="box" size="0.03 0.03 0.03"'
    )
    rough = sim.vehicle(str(written(tmp_path, text, "rough.xml")))
    assert sum(any(link.touches) for link in rough.shapes()) == MOST_TOUCHING
    assert len(rough.bearing) == 4


def test_an_arm_has_no_feet_whether_it_floats_or_not(tmp_path):
    arm = written(tmp_path, URDF, "arm.urdf")
    assert not sim.vehicle(f"{arm}:free").feet
    assert not sim.vehicle(str(arm)).feet


def test_a_hand_that_is_held_up_is_no_foot(tmp_path):
    """The dog with a fore leg raised by a right angle at its side."""
    text = DOG.read_text(encoding="utf-8")
    raised = text.replace('name="fore_left_yoke" pos', 'name="fore_left_yoke" euler="1.5707963 0 0" pos')
    assert raised != text
    robot = sim.vehicle(str(written(tmp_path, raised, "raised.xml")))
    assert sorted(robot.feet) == ["fore_right_shank", "hind_left_shank", "hind_right_shank"]


def test_a_dog_steps_aside_and_round_and_the_simulation_does_it(turned_aside, dog):
    plan = turned_aside
    assert plan.solved, plan.message
    off, deep = replayed(plan, dog)
    assert off < 1e-12
    assert deep < 1e-11
    np.testing.assert_allclose(plan.motion.nodes[-1], plan.task.goal.state.node, atol=1e-8)
    forces = _forces(plan, dog)
    along = np.linalg.norm(forces[..., :2], axis=2)
    assert forces[..., 2].min() > -1e-7
    assert (along - FRICTION * forces[..., 2]).max() < 1e-6
    lifted = (forces[..., 2] < 1e-3).sum(axis=0)
    assert (lifted >= 3).all()  # each foot is off the ground for some steps


def test_momenta_change_by_what_the_ground_and_gravity_give_as_mujoco_has_them(turned_aside, dog):
    """Both of them, about the world's origin, in every step: half of gravity's impulse at either end, that of the feet
    where it begins."""
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_path(str(DOG))
    data, mass, h = mujoco.MjData(model), model.body_mass.sum(), turned_aside.step_s
    names, momenta, moments, feet = dog.tree.coordinate_names, [], [], []
    for node in turned_aside.motion.nodes:
        q, v = node[: dog.tree.nq], node[dog.tree.nq :]
        data.qpos[:7] = [*q[4:7], *q[:4]]
        mujoco.mj_kinematics(model, data)
        R = data.xmat[1].reshape(3, 3)
        data.qvel[:6] = [*(R @ v[3:6]), *v[:3]]
        for joint in names[7:]:
            at = model.joint(joint)
            data.qpos[at.qposadr] = q[names.index(joint)]
            data.qvel[at.dofadr] = v[names.index(joint) - 1]
        mujoco.mj_forward(model, data)
        mujoco.mj_subtreeVel(model, data)
        p, x = mass * data.subtree_linvel[1], data.subtree_com[1]
        momenta.append(np.r_[p, data.subtree_angmom[1] + np.cross(x, p)])
        weight = np.array([0.0, 0.0, -mass * G_MPS2])
        moments.append(np.r_[weight, np.cross(x, weight)])
        shanks = [data.body(link.body) for link in dog.bearing]
        feet.append(
            [b.xpos + b.xmat.reshape(3, 3) @ (0.0, 0.0, -LINK_M) - (0.0, 0.0, FOOT_M) for b in shanks]
        )
    forces, momenta, moments = _forces(turned_aside, dog), np.array(momenta), np.array(moments)
    ground = np.concatenate([forces, np.cross(feet[:-1], forces)], axis=2).sum(axis=1)
    given = h * (0.5 * (moments[:-1] + moments[1:]) + ground)
    np.testing.assert_allclose(np.diff(momenta, axis=0), given, atol=1e-9)  # measured 1e-11
    assert np.abs(np.diff(momenta, axis=0)).max() > 0.5  # it moves


def _replayed_plan(robot, task):
    """That the simulation does as it says, on the ground and not in it."""
    plan = Planner().plan(robot, task, starts=1, explain=False, time_limit_s=900.0)
    assert plan.solved, plan.message
    off, deep = replayed(plan, robot)
    assert off < 1e-12  # measured 0
    assert deep < 1e-11
    return plan


def _rises(robot, low, high, off_Ns):
    """From rest to rest within 0.8 s, and the ground gives what gravity takes."""
    plan = _replayed_plan(robot, Task(low, Goal(high), 0.8, 20, limits=FAST))
    given = plan.step_s * _forces(plan, robot).sum(axis=(0, 1))
    weight_N = float(robot.tree.arrays.mass.sum()) * G_MPS2
    np.testing.assert_allclose(given, [0.0, 0.0, weight_N * plan.duration_s], atol=off_Ns)


def test_a_dog_stands_up_and_the_ground_bears_its_weight(dog):
    """From rest to rest."""
    _rises(dog, _standing(dog, 1.1), _standing(dog, 0.75), off_Ns=1e-7)


@pytest.mark.parametrize("share", [0.45, 0.75, 0.95])
def test_what_walks_stands_with_its_feet_under_its_hips(dog, share):
    """Its knees bend by twice what hips do, whose cosine is the share of the legs' reach."""
    hip_rad = np.arccos(share)
    found, wanted = standing(dog, share, 0.3), _standing(dog, hip_rad, place=(0.3, 0.0))
    np.testing.assert_allclose(found.node, wanted.node, atol=1e-5)


def test_a_window_offers_plans_on_foot_of_what_walks_and_of_nothing_else_that_floats(tmp_path):
    """Of a robot's file that is opened as any is."""
    scene = load_scene(str(DOG))
    vehicle, task = task_of_scene(scene)
    assert method_of_scene(scene, vehicle) == "touching"
    assert set(task.bodies) == {"trunk"}
    assert max(radius for *_, radius in task.body) > 0.04
    ground = TreeGround.under(vehicle, LEVEL)
    for state in (task.start, task.goal.state):
        assert abs(ground.clearance_m(state.node)) < 1e-9
    nearer, further = (state.node[4:7] for state in (task.start, task.goal.state))
    assert further[0] > nearer[0]
    assert further[2] > nearer[2]
    arm = written(tmp_path, URDF, "arm.urdf")
    assert load_scene(f"{arm}:free").plan is None
    held = load_scene(str(arm))
    assert method_of_scene(held, held.vehicle) == held.integrator


@pytest.mark.parametrize(
    "file", ["a1_description/urdf/a1.urdf", "anymal_b_simple_description/robots/anymal.urdf"]
)
def test_quadrupeds_of_others_stand_up_though_their_files_tell_of_no_rotors(file):
    """The second one's fore legs are not like its hind legs."""
    robot = sim.vehicle(f"{example_robot_data() / 'robots' / file}:free", hold=0.0)
    weight_N = float(robot.tree.arrays.mass.sum()) * G_MPS2
    _rises(robot, standing(robot, 0.45), standing(robot, 0.75), off_Ns=1e-7 * weight_N)


def test_a_quadruped_of_others_stands_up_and_trots_two_metres_in_one_plan():
    """Legs that are bent to less than half their reach at first; each foot is off the ground several times."""
    file = example_robot_data() / "robots" / "a1_description/urdf/a1.urdf"
    robot = sim.vehicle(f"{file}:free", hold=0.0)
    task = tasks(robot, 2.0)["both"]
    plan = _replayed_plan(robot, task)
    begun, ended = plan.motion.nodes[[0, -1], 4:7]
    np.testing.assert_allclose(ended[:2] - begun[:2], [2.0, 0.0], atol=1e-8)
    assert ended[2] - begun[2] > 0.1
    bears = _forces(plan, robot)[..., 2] > 1e-3
    assert ((bears[1:] & ~bears[:-1]).sum(axis=0) >= 3).all()
