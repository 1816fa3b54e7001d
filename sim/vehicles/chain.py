"""A chain of rods, each hinged across the one before: what the multibody paper measures its integrators by."""

import math
from types import SimpleNamespace

from sim.multibody.shapes import DARK_STEEL, STEEL, Link
from sim.multibody.tree import WORLD, Body, Joint, Tree, tree
from sim.vehicles.forms.articulated import ArticulatedVehicle
from sim.vehicles.forms.form import State
from sim.vehicles.forms.parameters import Control, Parameter

LEAN_RAD = 1.25
"""Of the first link from hanging straight down, at the start."""
_TOUCHING = 24
"""Ends of links that feel the ground, spread along the chain."""
_THICK = 0.24
"""Radius of a link as a fraction of its length."""
_MOTOR = ("pinned", 2)


class Chain(ArticulatedVehicle):
    """A chain of rods whose hinges turn by a right angle from each to the next, as in a real chain."""

    name = "chain"
    meets_itself = True
    parameters = (
        Parameter(
            "links", "", 50.0, 2.0, 200.0, "Number of links; another number starts anew.", structural=True
        ),
        Parameter(
            "pinned",
            "",
            1.0,
            0.0,
            2.0,
            "1: its upper end is held; 2: a motor turns it there, and all hinges are parallel; 0: it is free.",
            structural=True,
        ),
        Parameter("link_length", "m", 0.15, 0.01, 5.0, "Of each link."),
        Parameter("link_mass", "kg", 0.3, 1e-4, 1e4, "Of each link."),
        Parameter("damping", "N m s", 0.0, 0.0, 10.0, "Of every hinge."),
        Parameter("stiffness", "N m", 0.0, 0.0, 1e4, "Of every hinge, towards straight."),
        Parameter("gravity", "m/s^2", 9.81, 0.0, 100.0, "Downward acceleration."),
    )

    controls = (
        Control(
            "torque", "N m", -200.0, 200.0, "At the pivot; positive swings the chain to -x.", only=_MOTOR
        ),
    )

    @property
    def torques(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("link 1",) if self.controls else ()

    def declare(self, q: SimpleNamespace) -> Tree:
        count = round(q.links)
        each_m, each_kg = q.link_length, q.link_mass
        radius = radius_m(each_m)
        across = each_kg * (each_m**2 + 3.0 * radius**2) / 12.0
        along = each_kg * radius**2 / 2.0
        return tree(
            [
                Body(
                    f"link {k + 1}",
                    WORLD if k == 0 else f"link {k}",
                    Joint("free")
                    if k == 0 and not q.pinned
                    else Joint(
                        axis=_AXES[0 if q.pinned == 2 else k % 2], damping=q.damping, stiffness=q.stiffness
                    ),
                    position=(0.0, 0.0, -each_m if k else 0.0),
                    mass=each_kg,
                    centre=(0.0, 0.0, -0.5 * each_m),
                    inertia=(across, across, along),
                )
                for k in range(count)
            ],
            (0.0, 0.0, -q.gravity),
        )

    def shapes(self) -> tuple[Link, ...]:
        each_m = self._number("link_length")
        radius, count = radius_m(each_m), len(self.tree.names)
        every = -(-count // _TOUCHING)
        return tuple(
            Link(
                name,
                (0.0, 0.0, 0.0),
                (0.0, 0.0, -each_m),
                radius,
                DARK_STEEL if k % 2 else STEEL,
                (k == 0, k % every == every - 1 or k == count - 1),
            )
            for k, name in enumerate(self.tree.names)
        )

    @property
    def stand_m(self) -> float:  # type: ignore[override]
        """Its lower end swings clear of the ground."""
        return self._number("links") * self._number("link_length") + 0.6

    def default_state(self) -> State:
        """Straight, held out to one side, at rest: the hinges that cannot turn that way are bent a little."""
        tree_ = self.tree
        if self.free:
            half = 0.5 * LEAN_RAD
            turned = {f"{tree_.names[0]} qw": math.cos(half), f"{tree_.names[0]} qy": -math.sin(half)}
            return self.state({**turned, tree_.velocity_names[6]: 0.02})
        return self.state({tree_.names[0]: -LEAN_RAD, tree_.names[1]: 0.02})


_AXES = ((0.0, 1.0, 0.0), (1.0, 0.0, 0.0))


def radius_m(link_m: float) -> float:
    """Of a link of that length."""
    return _THICK * link_m
