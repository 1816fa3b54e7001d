"""A body on one telescopic leg in a vertical plane: what planning through contact is tried on."""

from types import SimpleNamespace

from sim.multibody.shapes import DARK_STEEL, PAINTED, STEEL, Link
from sim.multibody.tree import WORLD, Body, Joint, Tree, tree
from sim.vehicles.forms.articulated import ArticulatedVehicle
from sim.vehicles.forms.form import State
from sim.vehicles.forms.parameters import Control, Parameter

_X, _Y, _Z, _DOWN = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, -1.0)
_FOOT_M, _LEAST_M, _MOST_M = 0.03, -0.2, 0.25


class Hopper(ArticulatedVehicle):
    """A trunk on rails that let it go ahead and up, a hip, and a leg that pushes; nothing else holds it up."""

    name = "hopper"
    parameters = (
        Parameter("mass", "kg", 10.0, 0.1, 1000.0, "Of the trunk."),
        Parameter("leg_mass", "kg", 0.6, 1e-3, 100.0, "Of thigh and shank together."),
        Parameter("leg_length", "m", 0.5, 0.1, 5.0, "From the hip to the foot's middle, half pushed out."),
        Parameter("gravity", "m/s^2", 9.81, 0.0, 100.0, "Downward acceleration."),
    )
    controls = (
        Control("hip_torque", "N m", -60.0, 60.0, "Of the hip: above zero the foot goes back."),
        Control("leg_force", "N", -600.0, 600.0, "Of the leg: above zero it pushes."),
    )
    torques = ("hip", "leg")
    feet = ("shank",)

    def declare(self, q: SimpleNamespace) -> Tree:
        thigh, shank = 0.6 * q.leg_mass, 0.4 * q.leg_mass
        across = thigh * (0.5 * q.leg_length) ** 2 / 12.0
        spread = 0.01 * q.mass
        return tree(
            [
                Body(
                    "trunk",
                    WORLD,
                    [Joint("prismatic", axis=_X, name="ahead"), Joint("prismatic", axis=_Z, name="up")],
                    mass=q.mass,
                    inertia=(spread, spread, spread),
                ),
                Body(
                    "thigh",
                    "trunk",
                    Joint(axis=_Y, name="hip"),
                    mass=thigh,
                    centre=(0.0, 0.0, -0.25 * q.leg_length),
                    inertia=(across, across, 0.1 * across),
                ),
                Body(
                    "shank",
                    "thigh",
                    Joint(
                        "prismatic",
                        axis=_DOWN,
                        limits=(_LEAST_M * q.leg_length / 0.5, _MOST_M * q.leg_length / 0.5),
                        name="leg",
                    ),
                    mass=shank,
                    centre=(0.0, 0.0, -0.75 * q.leg_length),
                    inertia=(across, across, 0.1 * across),
                ),
            ],
            (0.0, 0.0, -q.gravity),
        )

    def shapes(self) -> tuple[Link, ...]:
        length, none = self._number("leg_length"), (False, False)
        return (
            Link("trunk", (-0.16, 0.0, 0.04), (0.16, 0.0, 0.04), 0.09, PAINTED),
            Link("thigh", (0.0, 0.0, 0.0), (0.0, 0.0, -0.6 * length), 0.035, DARK_STEEL, none),
            Link("shank", (0.0, 0.0, -0.4 * length), (0.0, 0.0, -length), _FOOT_M, STEEL, (False, True)),
        )

    @property
    def stand_m(self) -> float:  # type: ignore[override]
        """Its heights are over the ground."""
        return 0.0

    @property
    def tool(self) -> str:
        return "trunk"

    def default_state(self) -> State:
        """At rest on its foot, leg upright."""
        return self.state({"up": self._number("leg_length") + _FOOT_M})
