"""A person of jointed limbs that nothing drives: to be thrown."""

import math
from types import SimpleNamespace

import numpy as np

from sim.groups.numeric import triple
from sim.multibody.shapes import UNSEEN, Link
from sim.multibody.tree import Body, Joint, Tree, tree
from sim.vehicles.forms.articulated import ArticulatedVehicle
from sim.vehicles.forms.form import State
from sim.vehicles.forms.parameters import Parameter

Vector = tuple[float, float, float]

_X, _Y, _Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)

# Shares of stature and of body mass: R. Drillis, R. Contini, "Body Segment Parameters", 1966; P. de Leva, 1996.
_HIP, _SHOULDER = 0.060, 0.115
_TRUNK, _NECK, _HEAD = 0.19, 0.07, 0.075
_UPPER_ARM, _FOREARM, _THIGH, _SHANK, _FOOT = 0.186, 0.22, 0.245, 0.246, 0.11
_MASSES = {
    "pelvis": 0.142,
    "chest": 0.355,
    "head": 0.081,
    "upper arm": 0.028,
    "forearm": 0.022,
    "thigh": 0.100,
    "shank": 0.0465,
    "foot": 0.0145,
}


class Ragdoll(ArticulatedVehicle):
    """A person of fifteen limbs, limp but for a little stiffness and damping in joints that keep to their limits."""

    name = "ragdoll"
    meets_itself = True
    parameters = (
        Parameter("stature", "m", 1.75, 0.5, 5.0, "Height of who stands upright."),
        Parameter("mass", "kg", 75.0, 1.0, 1000.0, "Of all limbs together."),
        Parameter("damping", "N m s", 2.5, 0.0, 100.0, "Of every joint, in each of its directions."),
        Parameter(
            "armature", "kg m^2", 0.02, 0.0, 10.0, "Inertia of every joint's own: muscles move with a limb."
        ),
        Parameter("stiffness", "N m", 8.0, 0.0, 1000.0, "Of every joint, towards its rest."),
        Parameter("gravity", "m/s^2", 9.81, 0.0, 100.0, "Downward acceleration."),
    )

    def declare(self, q: SimpleNamespace) -> Tree:
        limbs = _limbs(q.stature)

        def hinges(*turns: tuple[Vector, float, float, str]) -> list[Joint]:
            return [
                Joint(
                    axis=axis,
                    limits=(math.radians(low), math.radians(high)),
                    damping=q.damping,
                    armature=q.armature,
                    stiffness=q.stiffness,
                    name=name,
                )
                for axis, low, high, name in turns
            ]

        def body(name: str, parent: str, place: Vector, joints: list[Joint]) -> Body:
            limb = limbs[name]
            begin, end = np.array(limb.begin_b), np.array(limb.end_b)
            mass = q.mass * _MASSES[name.removeprefix("left ").removeprefix("right ")]
            return Body(
                name,
                parent,
                joints,
                position=place,
                mass=mass,
                centre=triple(0.5 * (begin + end)),
                inertia=_inertia(mass, end - begin, limb.radius_m),
            )

        h = q.stature
        bodies = [
            body("pelvis", "world", (0.0, 0.0, 0.0), [Joint("free")]),
            body(
                "chest",
                "pelvis",
                (0.0, 0.0, 0.06 * h),
                hinges(
                    (_Y, -30.0, 75.0, "waist bend"),
                    (_X, -30.0, 30.0, "waist lean"),
                    (_Z, -35.0, 35.0, "waist turn"),
                ),
            ),
            body(
                "head",
                "chest",
                (0.0, 0.0, (_TRUNK + 0.03) * h),
                hinges((_Y, -50.0, 50.0, "neck nod"), (_Z, -60.0, 60.0, "neck turn")),
            ),
        ]
        for side, sign in (("left", 1.0), ("right", -1.0)):
            # Below a right angle, where swing and turn would be about one axis.
            outward = (-15.0, 60.0) if sign > 0.0 else (-60.0, 15.0)
            spread = (-20.0, 45.0) if sign > 0.0 else (-45.0, 20.0)
            bodies += [
                body(
                    f"{side} upper arm",
                    "chest",
                    (0.0, sign * _SHOULDER * h, _TRUNK * h),
                    hinges(
                        (_Y, -160.0, 60.0, f"{side} shoulder swing"),
                        (_X, *outward, f"{side} shoulder spread"),
                        (_Z, -70.0, 70.0, f"{side} shoulder turn"),
                    ),
                ),
                body(
                    f"{side} forearm",
                    f"{side} upper arm",
                    (0.0, 0.0, -_UPPER_ARM * h),
                    hinges((_Y, -145.0, 0.0, f"{side} elbow")),
                ),
                body(
                    f"{side} thigh",
                    "pelvis",
                    (0.0, sign * _HIP * h, -0.02 * h),
                    hinges(
                        (_Y, -120.0, 25.0, f"{side} hip swing"),
                        (_X, *spread, f"{side} hip spread"),
                        (_Z, -40.0, 40.0, f"{side} hip turn"),
                    ),
                ),
                body(
                    f"{side} shank",
                    f"{side} thigh",
                    (0.0, 0.0, -_THIGH * h),
                    hinges((_Y, 0.0, 145.0, f"{side} knee")),
                ),
                body(
                    f"{side} foot",
                    f"{side} shank",
                    (0.0, 0.0, -_SHANK * h),
                    hinges((_Y, -45.0, 30.0, f"{side} ankle")),
                ),
            ]
        return tree(bodies, (0.0, 0.0, -q.gravity))

    def shapes(self) -> tuple[Link, ...]:
        """What touches the ground and is taken hold of; it has a model."""
        return tuple(_limbs(float(np.max(self.values["stature"]))).values())

    def default_state(self) -> State:
        """Upright, arms and knees a little bent."""
        bent = {f"{side} elbow": -0.5 for side in ("left", "right")}
        bent |= {f"{side} knee": 0.15 for side in ("left", "right")}
        bent |= {"left shoulder spread": 0.5, "right shoulder spread": -0.5}
        return self.state(bent)


def _limbs(h: float) -> dict[str, Link]:
    """By name, of somebody of stature h [m]; frames in the limb's proximal joint, z up, x forward."""
    limbs = [
        Link("pelvis", (0.0, -0.045 * h, 0.0), (0.0, 0.045 * h, 0.0), 0.062 * h, UNSEEN),
        Link("chest", (0.0, 0.0, 0.035 * h), (0.0, 0.0, 0.135 * h), 0.082 * h, UNSEEN),
        Link("head", (0.0, 0.0, 0.025 * h), (0.015 * h, 0.0, _HEAD * h), 0.052 * h, UNSEEN, (False, True)),
    ]
    for side in ("left", "right"):
        limbs += [
            Link(f"{side} upper arm", *_down(_UPPER_ARM * h), 0.027 * h, UNSEEN, (True, False)),
            Link(f"{side} forearm", *_down(_FOREARM * h), 0.022 * h, UNSEEN),
            Link(f"{side} thigh", *_down(_THIGH * h), 0.043 * h, UNSEEN, (False, False)),
            Link(f"{side} shank", *_down(_SHANK * h), 0.030 * h, UNSEEN, (True, False)),
            Link(
                f"{side} foot", (-0.025 * h, 0.0, -0.02 * h), (0.095 * h, 0.0, -0.024 * h), 0.02 * h, UNSEEN
            ),
        ]
    return {limb.body: limb for limb in limbs}


def _down(length_m: float) -> tuple[Vector, Vector]:
    return (0.0, 0.0, 0.0), (0.0, 0.0, -length_m)


def _inertia(mass: float, way: np.ndarray, radius_m: float) -> np.ndarray:
    """(3, 3) about the middle, of a cylinder as long as a capsule and as thick."""
    length = float(np.linalg.norm(way)) + radius_m
    along = way / np.linalg.norm(way)
    across = mass * (length**2 / 12.0 + radius_m**2 / 4.0)
    inertia: np.ndarray = across * np.eye(3)
    inertia += (0.5 * mass * radius_m**2 - across) * np.outer(along, along)
    return inertia
