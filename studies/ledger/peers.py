"""What other programs give on the same problems: MuJoCo and Pinocchio, each by Runge's and Kutta's method.

Both are handed the same bodies, joints, springs and loops. MuJoCo's loops give way and come back within two steps.
Pinocchio tells accelerations under constraints alone; its Runge-Kutta step is written here, in Python, so that its
time is rather that of Python. Baumgarte's correction holds its loops, with a time constant of ten steps, which of two,
four, ten and fifty is best over the loops of the ledger, as is the proximal term of 1e-6 where constraints are implied.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sim.multibody.declaration import WORLD, Joint, Loop
from studies.ledger.mechanism import Mechanism
from studies.ledger.problem import Peer

Moved = tuple[np.ndarray, np.ndarray]
"""Coordinates and velocities in the bodies' order."""
_HELD_STEPS, _PROXIMAL = 10.0, 1e-6
_KINDS = {"revolute": "hinge", "prismatic": "slide"}


def peers_of(
    of: Mechanism, seconds: float, step_s: float, read: Callable[[Moved], ArrayLike], step: str = ""
) -> tuple[Peer, ...]:
    """Both programs' answers with a step, of which `step` tells where it is not ours."""
    return (
        Peer("MuJoCo", lambda: read(by_mujoco(of, seconds, step_s)), step),
        Peer("Pinocchio", lambda: read(by_pinocchio(of, seconds, step_s)), step),
    )


def peers_of_free(
    inertia: tuple[float, float, float],
    omega: tuple[float, float, float],
    seconds: float,
    step_s: float,
    read: Callable[[Moved], ArrayLike],
) -> tuple[Peer, ...]:
    """The same of a body that nothing holds: `read` is given its angular velocity (3,) and attitude (3, 3)."""
    return (
        Peer("MuJoCo", lambda: read(free_by_mujoco(inertia, omega, seconds, step_s))),
        Peer("Pinocchio", lambda: read(free_by_pinocchio(inertia, omega, seconds, step_s))),
    )


def by_mujoco(of: Mechanism, seconds: float, step_s: float) -> Moved:
    """A mechanism after so many seconds. Raises ImportError without MuJoCo."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(as_mjcf(of, step_s))
    data = mujoco.MjData(model)
    begun = of.start
    names = of.tree.coordinate_names
    order = [names.index(model.joint(k).name) for k in range(model.njnt)]
    data.qpos[:], data.qvel[:] = begun.q[order], begun.v[order]
    for name, torque in of.torques.items():
        data.joint(name).qfrc_applied[0] = torque
    for _ in range(round(seconds / step_s)):
        mujoco.mj_step(model, data)
    joints = [data.joint(body.name) for body in of.bodies]
    return np.array([x.qpos[0] for x in joints]), np.array([x.qvel[0] for x in joints])


def as_mjcf(of: Mechanism, step_s: float) -> str:
    """A model in MuJoCo's XML; what loops close are balls there, of hinges two, a length apart on their axis."""
    inside: dict[str, str] = {}
    sites: dict[str, str] = {}

    def site(name: str, body: str, point: ArrayLike) -> None:
        sites[body] = sites.get(body, "") + f'<site name="{name}" pos="{_text(point)}"/>'

    for k, spring in enumerate(of.springs):
        site(f"spring {k} 0", spring.body, spring.point)
        site(f"spring {k} 1", spring.other, spring.other_point)
    closed, solref = "", f'solref="{2.0 * step_s!r} 1" solimp="0.9999 0.9999 0.001"'
    for k, loop in enumerate(of.loops):
        for i, (point, other) in enumerate(_pins(loop)):
            site(f"loop {k} {i} 0", loop.body, point)
            site(f"loop {k} {i} 1", loop.other, other)
            closed += f'<connect site1="loop {k} {i} 0" site2="loop {k} {i} 1" {solref}/>'
    for body in reversed(of.bodies):
        joint = _joint(body.joint)
        inertia = np.asarray(body.inertia, float)
        text = (
            f'<body name="{body.name}" pos="{_text(body.position)}">'
            f'<joint name="{body.name}" type="{_KINDS[joint.kind]}" axis="{_text(joint.axis)}"/>'
            f'<inertial pos="{_text(body.centre)}" mass="{body.mass!r}" diaginertia="{_text(inertia)}"/>'
            f"{sites.get(body.name, '')}{inside.get(body.name, '')}</body>"
        )
        inside[body.parent] = text + inside.get(body.parent, "")
    drawn = "".join(
        f'<spatial stiffness="{s.stiffness!r}" damping="{s.damping!r}" '
        f'springlength="{_text(s.rest)}">'
        f'<site site="spring {k} 0"/><site site="spring {k} 1"/></spatial>'
        for k, s in enumerate(of.springs)
    )
    return (
        f'<mujoco><option gravity="{_text(of.gravity_w)}" integrator="RK4" timestep="{step_s!r}" '
        f'tolerance="1e-15" iterations="200"/><worldbody>{sites.get(WORLD, "")}{inside[WORLD]}</worldbody>'
        f"<equality>{closed}</equality><tendon>{drawn}</tendon></mujoco>"
    )


def free_by_mujoco(
    inertia: tuple[float, float, float], omega: tuple[float, float, float], seconds: float, step_s: float
) -> Moved:
    """(3,) rad/s and (3, 3) attitude of a body that nothing holds. Raises ImportError without MuJoCo."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option gravity="0 0 0" integrator="RK4" timestep="{step_s!r}"/><worldbody><body><freejoint/>'
        f'<inertial pos="0 0 0" mass="1" diaginertia="{_text(inertia)}"/></body></worldbody></mujoco>'
    )
    data = mujoco.MjData(model)
    data.qvel[3:] = omega
    for _ in range(round(seconds / step_s)):
        mujoco.mj_step(model, data)
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, data.qpos[3:])
    return np.array(data.qvel[3:]), R.reshape(3, 3)


def by_pinocchio(of: Mechanism, seconds: float, step_s: float) -> Moved:
    """A mechanism after so many seconds. Raises ImportError without Pinocchio."""
    import pinocchio

    model = pinocchio.Model()
    model.gravity.linear = np.asarray(of.gravity_w, float)
    joints = {WORLD: 0}
    kinds = {
        "revolute": pinocchio.JointModelRevoluteUnaligned,
        "prismatic": pinocchio.JointModelPrismaticUnaligned,
    }

    def at(point: ArrayLike) -> Any:
        return pinocchio.SE3(np.eye(3), np.asarray(point, float))

    for body in of.bodies:
        joint = _joint(body.joint)
        axis = np.asarray(joint.axis, float)
        placed = pinocchio.SE3(np.asarray(body.R, float), np.asarray(body.position, float))
        turning = kinds[joint.kind](axis / np.linalg.norm(axis))
        joints[body.name] = model.addJoint(joints[body.parent], turning, placed, body.name)
        inertia = pinocchio.Inertia(body.mass, np.asarray(body.centre, float), np.diag(body.inertia))
        model.appendBodyToJoint(joints[body.name], inertia, at(np.zeros(3)))

    def frame(name: str, body: str, point: ArrayLike) -> int:
        kind = pinocchio.FrameType.OP_FRAME
        return int(model.addFrame(pinocchio.Frame(name, joints[body], 0, at(point), kind)))

    drawn = [
        (s, frame(f"{k} 0", s.body, s.point), frame(f"{k} 1", s.other, s.other_point))
        for k, s in enumerate(of.springs)
    ]
    closed = pinocchio.StdVec_RigidConstraintModel()
    for loop in of.loops:
        for point, other in _pins(loop):
            held = pinocchio.RigidConstraintModel(
                pinocchio.ContactType.CONTACT_3D,
                model,
                joints[loop.body],
                at(point),
                joints[loop.other],
                at(other),
                pinocchio.ReferenceFrame.LOCAL,
            )
            back = held.m_baumgarte_parameters
            back.Kp, back.Kd = 1.0 / (_HELD_STEPS * step_s) ** 2, 2.0 / (_HELD_STEPS * step_s)
            held.setBaumgarteCorrectorParameters(back)
            closed.append(held)
    data, forces = model.createData(), pinocchio.StdVec_RigidConstraintData()
    for held in closed:
        forces.append(held.createData())
    pinocchio.initConstraintDynamics(model, data, closed, forces)
    proximal = pinocchio.ProximalSettings(1e-14, _PROXIMAL, 20)
    torque = np.zeros(model.nv)
    for name, value in of.torques.items():
        torque[model.joints[joints[name]].idx_v] = value
    along_world = pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED

    def rate(state: np.ndarray) -> np.ndarray:
        q, v = state[: model.nq], state[model.nq :]
        pushed = torque.copy()
        if drawn:
            pinocchio.computeJointJacobians(model, data, q)
            pinocchio.updateFramePlacements(model, data)
        for spring, one, other in drawn:
            apart = data.oMf[one].translation - data.oMf[other].translation
            length = float(np.linalg.norm(apart))
            of_one, of_other = (
                pinocchio.getFrameJacobian(model, data, k, along_world)[:3] for k in (one, other)
            )
            slope = apart @ (of_one - of_other) / length
            beyond = length - np.clip(length, *np.broadcast_to(spring.rest, 2))
            pushed -= slope * (spring.stiffness * beyond + spring.damping * (slope @ v))
        if of.loops:
            return np.r_[v, pinocchio.constraintDynamics(model, data, q, v, pushed, closed, forces, proximal)]
        return np.r_[v, pinocchio.aba(model, data, q, v, pushed)]

    begun, names = of.start, list(of.tree.coordinate_names)
    order = [names.index(body.name) for body in of.bodies]
    places = [model.joints[joints[body.name]].idx_q for body in of.bodies]
    q, v = np.zeros(model.nq), np.zeros(model.nv)
    q[places], v[places] = begun.q[order], begun.v[order]
    q, v = np.split(_runge_kutta(rate, np.r_[q, v], round(seconds / step_s), step_s), 2)
    return q[places], v[places]


def free_by_pinocchio(
    inertia: tuple[float, float, float], omega: tuple[float, float, float], seconds: float, step_s: float
) -> Moved:
    """(3,) rad/s and (3, 3) attitude of a body that nothing holds. Raises ImportError without Pinocchio."""
    import pinocchio

    model = pinocchio.Model()
    model.gravity.linear = np.zeros(3)
    turning = model.addJoint(0, pinocchio.JointModelSpherical(), pinocchio.SE3.Identity(), "body")
    body = pinocchio.Inertia(1.0, np.zeros(3), np.diag(inertia))
    model.appendBodyToJoint(turning, body, pinocchio.SE3.Identity())
    data, none = model.createData(), np.zeros(3)

    def rate(state: np.ndarray) -> np.ndarray:
        along, w, v = state[:3], state[3], state[4:]
        turning = 0.5 * np.r_[w * v + pinocchio.skew(along) @ v, -along @ v]
        return np.r_[turning, pinocchio.aba(model, data, state[:4] / np.linalg.norm(state[:4]), v, none)]

    begun = np.r_[pinocchio.neutral(model), omega]
    end = _runge_kutta(rate, begun, round(seconds / step_s), step_s)
    turned = pinocchio.Quaternion(end[:4]).normalized().toRotationMatrix()
    return end[4:], np.array(turned)


def _runge_kutta(
    rate: Callable[[np.ndarray], np.ndarray], state: np.ndarray, steps: int, step_s: float
) -> np.ndarray:
    """Of y' = rate(y)."""
    y, h = state, step_s
    for _ in range(steps):
        first = rate(y)
        second = rate(y + h / 2.0 * first)
        third = rate(y + h / 2.0 * second)
        y = y + h / 6.0 * (first + 2.0 * second + 2.0 * third + rate(y + h * third))
    return y


def _joint(declared: object) -> Joint:
    """A mechanism's bodies hang on one each."""
    assert isinstance(declared, Joint)
    return declared


def _pins(loop: Loop) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    """Points of the loop's body, and where they stay in the other one."""
    at, there = np.asarray(loop.point, float), np.asarray(loop.other_point, float)
    if loop.joint.kind == "ball":
        return ((at, there),)
    along = np.asarray(loop.joint.axis, float)
    along /= np.linalg.norm(along)
    return (at, there), (at + along, there + np.asarray(loop.R, float) @ along)


def _text(numbers: ArrayLike) -> str:
    return " ".join(repr(float(x)) for x in np.ravel(np.asarray(numbers, float)))
