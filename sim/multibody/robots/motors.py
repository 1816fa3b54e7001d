"""What mujoco's parser made of a file's actuators: motors and servos of joints and tendons.

An actuator's force is gain * command + force - stiffness * l - damping * l', l its length: a servo is a spring and a
damper along it, and a motor whose command moves the spring's rest.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from sim.multibody.robots.robot import Motor

_HINGE = 2
"""From this number of mujoco's on a joint is a slide or a hinge."""
_JOINT, _JOINT_IN_PARENT, _TENDON = 0, 1, 3
"""By mujoco's number of what an actuator acts on."""


class Law(NamedTuple):
    """Of the force that an actuator has along the joint's coordinate or the tendon's length that it acts on."""

    gain: float
    """Of the command."""
    force: float
    stiffness: float
    damping: float
    limits: tuple[float, float]
    """Of the command."""

    @property
    def is_servo(self) -> bool:
        return bool(self.force or self.stiffness or self.damping)

    @property
    def rest(self) -> float:
        """Length at which a servo has no force without a command."""
        return self.force / self.stiffness if self.stiffness else 0.0


def law_of(model: Any, a: int) -> Law | None:
    """Of actuator a; None where it is no straight line in its command, its length and its rate, or that of a servo
    which is cut off at a force."""
    law = _straight(model, a)
    if law is None or not model.actuator_forcelimited[a]:
        return law
    gain = float(model.actuator_gainprm[a, 0])
    if law.is_servo or not gain:
        return None
    low, high = sorted(model.actuator_forcerange[a] / gain)
    low, high = np.clip(law.limits, low, high)
    return law._replace(limits=(float(low), float(high)))


def _straight(model: Any, a: int) -> Law | None:
    """Of actuator a without its force range."""
    gains, bends = model.actuator_gainprm[a], model.actuator_biasprm[a]
    affine = model.actuator_biastype[a] == 1
    plain = model.actuator_dyntype[a] == 0 and model.actuator_gaintype[a] == 0
    if not plain or not (affine or model.actuator_biastype[a] == 0):
        return None
    gear, limits = float(model.actuator_gear[a, 0]), np.array([-np.inf, np.inf])
    gain = gear * float(gains[0])
    force, stiffness, damping = (gear * float(bends[0]), *(-(gear**2) * bends[1:3])) if affine else (0.0,) * 3
    if model.actuator_ctrllimited[a]:
        limits = np.array(model.actuator_ctrlrange[a], float)
    law = Law(gain, force, float(stiffness), float(damping), (float(limits[0]), float(limits[1])))
    if law.stiffness < 0.0 or law.damping < 0.0 or (law.force and not law.stiffness):
        return None
    return law


def is_cut_off(model: Any, a: int) -> bool:
    """Whether actuator a is a servo, were it not for its force range."""
    if not model.actuator_forcelimited[a] or law_of(model, a) is not None:
        return False
    return _straight(model, a) is not None


def joint_of(model: Any, a: int) -> int:
    """The hinge or slide that an actuator drives, by mujoco's number; -1 for none."""
    on, at = int(model.actuator_trntype[a]), int(model.actuator_trnid[a, 0])
    return at if on in (_JOINT, _JOINT_IN_PARENT) and model.jnt_type[at] >= _HINGE else -1


def held(model: Any, j: int, stiffness: float, rest: float) -> tuple[float, float, float]:
    """(stiffness, rest, damping) of a hinge or slide with a spring of its own and those of its servos."""
    springs, damping = [(stiffness, rest)], 0.0
    for a in range(model.nu):
        law = law_of(model, a) if joint_of(model, a) == j else None
        if law is not None:
            springs.append((law.stiffness, law.rest))
            damping += law.damping
    total = sum(k for k, _ in springs)
    moved = len({at for k, at in springs if k}) > 1
    return total, sum(k * at for k, at in springs) / total if moved else _rest(springs, rest), damping


def _rest(springs: Iterable[tuple[float, float]], otherwise: float) -> float:
    """The one that all of them have."""
    return next((at for k, at in springs if k), otherwise)


def pulling(model: Any, t: int) -> Iterable[Law]:
    """Laws of the actuators along tendon t that can be told by a spring and a motor."""
    for a in range(model.nu):
        if model.actuator_trntype[a] == _TENDON and model.actuator_trnid[a, 0] == t:
            law = law_of(model, a)
            if law is not None and _rests(model, t, law):
                yield law


def _rests(model: Any, t: int, law: Law) -> bool:
    """Whether there is such a length: one along points is not below 0."""
    begin = int(model.tendon_adr[t])
    return law.rest >= 0.0 or bool(model.wrap_type[begin] == 1)


def driven(model: Any, a: int, joints: Sequence[str], tendons: Sequence[str | None]) -> str:
    """Name of the joint or tendon that actuator a drives as one of the tree's; nothing where it is left out.

    tendons: their names, None for one that the tree does not have.
    """
    law, joint = law_of(model, a), joint_of(model, a)
    if law is None:
        return ""
    if joint >= 0:
        return joints[joint]
    if model.actuator_trntype[a] != _TENDON:
        return ""
    t = int(model.actuator_trnid[a, 0])
    return tendons[t] or "" if _rests(model, t, law) else ""


def motors(model: Any, joints: Sequence[str], tendons: Sequence[str | None]) -> Iterable[Motor]:
    """Of joints and tendons by their names, as `driven` has them."""
    for a in range(model.nu):
        law, name = law_of(model, a), driven(model, a, joints, tendons)
        if law is not None and name:
            yield Motor(model.actuator(a).name or f"motor {a}", name, law.gain, law.limits)


def efforts(model: Any, joints: Sequence[str]) -> Iterable[Motor]:
    """Of a URDF, which names no motors: the effort of each joint that has one."""
    for j in np.flatnonzero(model.jnt_actfrclimited).tolist() if model.nu == 0 else ():
        effort = float(model.jnt_actfrcrange[j, 1])
        if effort > 0.0:
            yield Motor(joints[j], joints[j], effort, (-1.0, 1.0))
