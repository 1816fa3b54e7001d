"""Four legs of two links under a trunk, in a vertical plane: what standing up and trotting are planned for."""

from itertools import combinations
from math import cos
from types import SimpleNamespace

from sim.multibody.shapes import DARK_STEEL, PAINTED, RUBBER, STEEL, Link
from sim.multibody.tree import WORLD, Body, Joint, Tree, tree
from sim.vehicles.forms.articulated import ArticulatedVehicle
from sim.vehicles.forms.form import State
from sim.vehicles.forms.parameters import Control, Parameter

_X, _Y, _Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
_HIPS_M, _SIDE_M, _FOOT_M = 0.18, 0.11, 0.02
"""How far hips are ahead or back of the trunk's middle, and to its sides; radius of a foot."""
LEGS = (
    ("fore left", 1.0, 1.0),
    ("hind right", -1.0, -1.0),
    ("fore right", 1.0, -1.0),
    ("hind left", -1.0, 1.0),
)
"""Names, and on which side ahead and to the left. Those of a diagonal follow each other: they trot together."""
_HIP_RAD = 0.8
"""As it stands."""
_BODIES = ("trunk", *(f"{name} {part}" for name, _, _ in LEGS for part in ("thigh", "shank")))


class Quadruped(ArticulatedVehicle):
    """A trunk that moves ahead, up and by its pitch; hips and knees of four legs turn by motors, feet are points."""

    name = "quadruped"
    parameters = (
        Parameter("mass", "kg", 6.0, 0.1, 1000.0, "Of the trunk."),
        Parameter("leg_mass", "kg", 1.2, 1e-3, 100.0, "Of a thigh and a shank together."),
        Parameter(
            "link_length", "m", 0.2, 0.05, 2.0, "Of a thigh, and of a shank to the middle of its foot."
        ),
        Parameter("gravity", "m/s^2", 9.81, 0.0, 100.0, "Downward acceleration."),
    )
    controls = tuple(
        Control(
            f"{name.replace(' ', '_')}_{joint}_torque",
            "N m",
            -33.5,
            33.5,
            f"Of the {joint} of the {name} leg: above zero the foot goes back.",
        )
        for name, _, _ in LEGS
        for joint in ("hip", "knee")
    )
    torques = tuple(f"{name} {joint}" for name, _, _ in LEGS for joint in ("hip", "knee"))
    feet = tuple(f"{name} shank" for name, _, _ in LEGS)
    apart = frozenset(frozenset(pair) for pair in combinations(_BODIES, 2))
    """Its legs swing past each other, and plans need not keep them clear."""

    def declare(self, q: SimpleNamespace) -> Tree:
        length, thigh, shank = q.link_length, 0.8 * q.leg_mass, 0.2 * q.leg_mass
        free = [
            Joint("prismatic", axis=_X, name="ahead"),
            Joint("prismatic", axis=_Z, name="up"),
            Joint(axis=_Y, name="pitch"),
        ]
        bodies = [
            Body("trunk", WORLD, free, mass=q.mass, inertia=(0.004 * q.mass, 0.02 * q.mass, 0.02 * q.mass))
        ]
        for name, ahead, left in LEGS:
            for part, parent, place, mass, limits in (
                ("hip", "trunk", (ahead * _HIPS_M, left * _SIDE_M, 0.0), thigh, (-1.2, 2.6)),
                ("knee", f"{name} thigh", (0.0, 0.0, -length), shank, (-2.7, -0.4)),
            ):
                across = mass * length**2 / 12.0
                bodies.append(
                    Body(
                        f"{name} {'thigh' if part == 'hip' else 'shank'}",
                        parent,
                        Joint(axis=_Y, limits=limits, armature=0.01, damping=0.05, name=f"{name} {part}"),
                        position=place,
                        mass=mass,
                        centre=(0.0, 0.0, -0.5 * length),
                        inertia=(across, across, 0.1 * across),
                    )
                )
        return tree(bodies, (0.0, 0.0, -q.gravity))

    def shapes(self) -> tuple[Link, ...]:
        length, none = self._number("link_length"), (False, False)
        found = [
            Link("trunk", (-0.22, y, 0.01), (0.22, y, 0.01), 0.05, PAINTED, none)
            for y in (-0.045, 0.0, 0.045)
        ]
        for name, _, _ in LEGS:
            thigh, shank = f"{name} thigh", f"{name} shank"
            found += [
                Link(thigh, (0.0, -0.02, 0.0), (0.0, 0.02, 0.0), 0.045, DARK_STEEL, none),
                Link(thigh, (0.0, 0.0, 0.0), (0.0, 0.0, -length), 0.022, PAINTED, none),
                Link(shank, (0.0, 0.0, 0.0), (0.0, 0.0, -length), 0.013, STEEL, none),
                Link(shank, (0.0, 0.0, -length), (0.0, 0.0, -length), _FOOT_M, RUBBER, (False, True)),
            ]
        return tuple(found)

    @property
    def stand_m(self) -> float:  # type: ignore[override]
        """Its heights are over the ground."""
        return 0.0

    @property
    def tool(self) -> str:
        return "trunk"

    def default_state(self) -> State:
        """At rest on all its feet, knees bent."""
        return self.standing()

    def standing(self, ahead: float = 0.0, hip: float = _HIP_RAD) -> State:
        """At rest with its feet under its hips, so low as thighs that are turned by `hip` [rad] let it be."""
        legs = {
            f"{name} {joint}": turn
            for name, _, _ in LEGS
            for joint, turn in (("hip", hip), ("knee", -2.0 * hip))
        }
        up = 2.0 * self._number("link_length") * cos(hip) + _FOOT_M
        return self.state({"ahead": ahead, "up": up, **legs})
