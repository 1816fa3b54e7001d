"""A delta robot: three driven arms and six rods carry a platform, which moves along three axes and does not turn."""

import math
from types import SimpleNamespace

import numpy as np

from sim.groups.numeric import triple
from sim.multibody.declaration import WORLD, Body, Joint, Loop
from sim.multibody.shapes import BRASS, DARK_STEEL, PAINTED, RUBBER, STAND, STEEL, Link
from sim.multibody.tree import Tree, tree
from sim.vehicles.forms.articulated import ClosedVehicle
from sim.vehicles.forms.form import State
from sim.vehicles.forms.parameters import Control, Parameter

LEGS = 3
PLATFORM = "platform"
ROD, BASE, PLATE, APART = 2.2, 0.6, 0.25, 0.2
"""Length of a rod; from the middle to the arms' bearings and to the rods' ends at the platform; half of what a leg's
two rods are apart. In units of an arm's length."""
BEGIN_RAD = 0.35
"""Of all arms, down from the horizontal: where the robot is declared and starts."""
_SIDES = {"left": 1.0, "right": -1.0}


class DeltaRobot(ClosedVehicle):
    """Three arms, each with two rods, carry a platform that does not turn. Five loops are closed at every step."""

    name = "delta-robot"
    parameters = (
        Parameter("arm", "m", 0.5, 0.05, 3.0, "Length of an arm, to which all others are in proportion."),
        Parameter("arm_mass", "kg", 0.8, 0.01, 500.0, "Of each arm."),
        Parameter("rod_mass", "kg", 0.15, 0.005, 100.0, "Of each rod."),
        Parameter("platform_mass", "kg", 0.5, 0.01, 500.0, "Of the platform."),
        Parameter("hold", "N m/rad", 150.0, 0.0, 5000.0, "Of the motors' springs; 0: arms are limp."),
        Parameter("damping", "N m s", 3.0, 0.0, 100.0, "Of the motors."),
        Parameter(
            "arm_1", "rad", BEGIN_RAD, -1.0, 1.5, "Where the first motor holds its arm, down from level."
        ),
        Parameter("arm_2", "rad", BEGIN_RAD, -1.0, 1.5, "The second."),
        Parameter("arm_3", "rad", BEGIN_RAD, -1.0, 1.5, "The third."),
        Parameter("gravity", "m/s^2", 9.81, 0.0, 100.0, "Downward acceleration."),
    )
    controls = tuple(
        Control(f"torque_{k}", "N m", -40.0, 40.0, f"Of motor {k}; positive presses its arm down.")
        for k in (1, 2, 3)
    )
    torques = tuple(f"arm {k}" for k in (1, 2, 3))

    def declare(self, q: SimpleNamespace) -> Tree:
        bodies = []
        for k, target in enumerate((q.arm_1, q.arm_2, q.arm_3)):
            out, across, reach, along = _leg(k)
            reach, along = q.arm * reach, q.arm * along
            motor = Joint(
                axis=triple(across),
                reference=BEGIN_RAD,
                stiffness=q.hold,
                rest=target,
                damping=q.damping,
            )
            at = triple(BASE * q.arm * out)
            bodies.append(_bar(f"arm {k + 1}", WORLD, motor, at, reach, q.arm_mass))
            for side, sign in _SIDES.items():
                swivel = Joint("universal", axis=triple(across), second_axis=triple(np.cross(across, along)))
                elbow = triple(reach + sign * APART * q.arm * across)
                bodies.append(_bar(f"rod {k + 1} {side}", f"arm {k + 1}", swivel, elbow, along, q.rod_mass))
        corner = _corner(0, "left", q.arm)
        flat = q.platform_mass * (PLATE * q.arm) ** 2 / 4.0
        bodies.append(
            Body(
                PLATFORM,
                "rod 1 left",
                Joint("ball", anchor=triple(corner)),
                position=triple(q.arm * _leg(0)[3] - corner),
                mass=q.platform_mass,
                inertia=(flat, flat, 2.0 * flat),
            )
        )
        return tree(bodies, (0.0, 0.0, -q.gravity))

    def close(self, q: SimpleNamespace) -> tuple[Loop, ...]:
        return tuple(
            Loop(
                f"rod {k + 1} {side}",
                triple(q.arm * _leg(k)[3]),
                PLATFORM,
                triple(_corner(k, side, q.arm)),
            )
            for k in range(LEGS)
            for side in _SIDES
            if (k, side) != (0, "left")
        )

    def shapes(self) -> tuple[Link, ...]:
        unit, none, parts = self._unit, (0.0, 0.0, 0.0), []
        still = (False, False)
        for k in range(LEGS):
            _, across, reach, along = _leg(k)
            parts.append(Link(f"arm {k + 1}", none, triple(unit * reach), 0.05 * unit, PAINTED, still))
            half = triple(APART * unit * across)
            wide = triple(unit * reach + half), triple(unit * reach - half)
            parts.append(Link(f"arm {k + 1}", *wide, 0.03 * unit, DARK_STEEL, still))
            parts += [
                Link(f"rod {k + 1} {side}", none, triple(unit * along), 0.02 * unit, STEEL, still)
                for side in _SIDES
            ]
            ends = [triple(_corner(k, side, unit)) for side in _SIDES]
            parts.append(Link(PLATFORM, ends[0], ends[1], 0.03 * unit, BRASS, still))
            parts.append(Link(PLATFORM, none, triple(PLATE * unit * _leg(k)[0]), 0.035 * unit, BRASS, still))
        parts.append(Link(PLATFORM, none, none, 0.075 * unit, DARK_STEEL, still))
        parts.append(Link(PLATFORM, none, (0.0, 0.0, -0.25 * unit), 0.03 * unit, RUBBER, still))
        return tuple(parts)

    @property
    def links(self) -> tuple[Link, ...]:  # type: ignore[override]
        """Arms, rods and platform; motors on a plate, and two posts that hold it."""
        unit, parts = self._unit, []
        for k in range(LEGS):
            out, across, _, _ = _leg(k)
            bearing, half = BASE * unit * out, 0.14 * unit * across
            parts.append(Link(STAND, triple(bearing - half), triple(bearing + half), 0.09 * unit, DARK_STEEL))
            parts.append(Link(STAND, (0.0, 0.0, 0.0), triple(bearing), 0.06 * unit, DARK_STEEL))
        aside, above = 2.3 * unit, 0.35 * unit
        beam = (0.0, -aside, above), (0.0, aside, above)
        parts.append(Link(STAND, *beam, 0.06 * unit, RUBBER))
        parts.append(Link(STAND, (0.0, 0.0, above), (0.0, 0.0, 0.0), 0.06 * unit, RUBBER))
        parts += [Link(STAND, top, (top[0], top[1], -self.stand_m), 0.06 * unit, RUBBER) for top in beam]
        return (*self.shapes(), *parts)

    @property
    def stand_m(self) -> float:  # type: ignore[override]
        """The platform stays above the ground with all arms down."""
        return (1.0 + ROD + 0.5) * self._unit

    def default_state(self) -> State:
        """All arms at `BEGIN_RAD`, at rest."""
        return self.state({f"arm {k}": BEGIN_RAD for k in (1, 2, 3)})

    @property
    def _unit(self) -> float:
        return float(np.max(self.values["arm"]))


def _leg(k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Of leg k: outward and across it (unit vectors), along its arm and along its rods, in units of an arm's length."""
    turn = 2.0 * math.pi * k / LEGS
    out = np.array([math.cos(turn), math.sin(turn), 0.0])
    across = np.array([-math.sin(turn), math.cos(turn), 0.0])
    reach = math.cos(BEGIN_RAD) * out - np.array([0.0, 0.0, math.sin(BEGIN_RAD)])
    inward = BASE + math.cos(BEGIN_RAD) - PLATE
    return out, across, reach, -inward * out - np.array([0.0, 0.0, math.sqrt(ROD**2 - inward**2)])


def _corner(k: int, side: str, unit: float) -> np.ndarray:
    """Where a rod meets the platform, in its frame [m]."""
    out, across, _, _ = _leg(k)
    return unit * (PLATE * out + _SIDES[side] * APART * across)


def _bar(
    name: str, parent: str, joint: Joint, at: tuple[float, float, float], way: np.ndarray, mass: float
) -> Body:
    """A slender bar that leads from its joint along `way` [m]."""
    length = float(np.linalg.norm(way))
    along = np.outer(way, way) / length**2
    slender = mass * length**2 * ((np.eye(3) - along) / 12.0 + 1e-3 * along)
    return Body(name, parent, joint, at, mass=mass, centre=triple(0.5 * way), inertia=slender)
