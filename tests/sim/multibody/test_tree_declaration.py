"""Laws of how bodies are declared: where joints put them, and what is refused."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import sim
from sim.multibody.declaration import Body, Joint
from sim.multibody.observing import body_frames, frames
from sim.multibody.tree import tree

BRICK = {"mass": 2.0, "centre": (0.1, -0.2, 0.05), "inertia": (0.02, 0.03, 0.04)}


def moved(joint, q):
    """(4, 4) in the body's frame: a turn about a line, or a slide along it."""
    T, axis = np.eye(4), np.asarray(joint.axis) / np.linalg.norm(joint.axis)
    if joint.kind == "prismatic":
        T[:3, 3] = (q - joint.reference) * axis
        return T
    T[:3, :3] = Rotation.from_rotvec((q - joint.reference) * axis).as_matrix()
    T[:3, 3] = joint.anchor - T[:3, :3] @ joint.anchor
    return T


def test_several_joints_of_a_body_act_one_after_the_other_about_their_anchors():
    joints = (
        Joint("revolute", axis=(0.3, 1.0, 0.2), anchor=(0.1, 0.2, -0.3), reference=0.4, name="a"),
        Joint("prismatic", axis=(1.0, -0.3, 0.2), anchor=(9.0, 9.0, 9.0), reference=-0.2, name="b"),
        Joint("revolute", axis=(0.0, 0.5, 1.0), anchor=(-0.2, 0.0, 0.1), name="c"),
    )
    R = Rotation.from_rotvec([0.3, -0.8, 0.5]).as_matrix()
    t = tree([Body("brick", joint=joints, position=(1.0, 2.0, 3.0), R=R, **BRICK)])
    assert t.coordinate_names == ("a", "b", "c")
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, (1.0, 2.0, 3.0)
    for joint, q in zip(joints, (0.7, -0.5, 1.1), strict=True):
        T = T @ moved(joint, q)
    assert body_frames(t, np.array([0.7, -0.5, 1.1]))["brick"] == pytest.approx(T, abs=1e-14)


def test_a_body_weighs_as_much_wherever_its_joint_has_its_anchor():
    here = tree([Body("brick", joint=Joint("ball"), **BRICK)])
    there = tree([Body("brick", joint=Joint("ball", anchor=(0.3, -0.1, 0.2)), **BRICK)])
    centres = []
    for t in (here, there):
        carrier = frames(t, t.q0)[0]
        centres.append(carrier[:3, 3] + carrier[:3, :3] @ t.arrays.moment[0] / t.arrays.mass[0])
    assert centres[0] == pytest.approx(centres[1], abs=1e-15)


def test_a_rotor_on_a_ball_or_hinge_resists_as_its_armature_says():
    """From rest a torque tau turns the joint by tau t^2 / (2 (J + armature)), to the second order of a step."""
    for kind, size in (("revolute", 1), ("ball", 3)):
        t = tree(
            [Body("disc", joint=Joint(kind, armature=0.5), inertia=(0.1, 0.1, 0.1))],
            gravity_w=(0.0, 0.0, 0.0),
        )
        u = np.array([0.0, 0.0, 0.3][-size:])
        run = sim.simulate(t, step=1e-3, duration=1.0, controls=u)
        assert run.velocity[-1] == pytest.approx(u / 0.6, abs=1e-10)


@pytest.mark.parametrize(
    "bodies, said",
    [
        ([Body("a", joint=(Joint(name="j"), Joint(name="j", axis=(1.0, 0.0, 0.0))), **BRICK)], "'j'"),
        ([Body("a", joint=(), **BRICK)], "'a'"),
        ([Body("a", joint=(Joint("free"), Joint()), **BRICK)], "'a'"),
        ([Body("a", joint=Joint(armature=-1.0, name="hip"), **BRICK)], "'hip'"),
        ([Body("a", joint=Joint("ball", reference=1.0), **BRICK)], "reference"),
        ([Body("a", joint=Joint(anchor=(0.0, np.nan, 0.0)), **BRICK)], "anchor"),
        ([Body("a", mass=0.0)], "no inertia"),
        ([Body("a", joint=Joint("ball"), mass=1.0, centre=(0.0, 0.0, 1.0))], "no inertia"),
        ([Body("a", **BRICK), Body("b", "a", mass=0.0, joint=Joint("prismatic"))], "'b'"),
        ([Body("a", joint=Joint(limits=(1.0, -1.0)), **BRICK)], "wrong way"),
        ([Body("a", mass=1.0, inertia=(1.0, 1.0, -0.1))], "negative"),
        ([Body("a", "b", **BRICK), Body("b", "a", **BRICK)], "loops"),
        ([Body("a", drag=-1.0, **BRICK)], "drag"),
        ([Body("a", drag=np.nan, **BRICK)], "drag"),
    ],
)
def test_what_can_be_no_tree_is_refused_in_one_line(bodies, said):
    with pytest.raises(sim.InputError, match=said) as refused:
        tree(bodies)
    assert "\n" not in str(refused.value)
