"""A rope, or an elastic rod, that hangs or lies free: a Cosserat rod that neither shears nor stretches."""

import math
from dataclasses import replace
from types import SimpleNamespace

from sim.multibody.declaration import Body, Joint, rod
from sim.multibody.shapes import BRASS, ROPE, Link
from sim.multibody.tree import Tree, tree
from sim.vehicles.forms.articulated import ArticulatedVehicle
from sim.vehicles.forms.form import State
from sim.vehicles.forms.parameters import Parameter

LEAN_RAD, ASIDE_RAD = 1.35, 0.25
"""Of the whole from hanging straight down at the start, and how far it is turned aside then."""
LOAD = "load"
_LINK = "rope"
_TOUCHING = 24
_DENSITY_KGPM3 = 8000.0
"""Of the load."""


class CosseratRope(ArticulatedVehicle):
    """A rope with bending and twist stiffness and a load at its end: hung by a pivot, or free."""

    name = "cosserat-rope"
    meets_itself = True
    parameters = (
        Parameter(
            "links",
            "",
            30.0,
            8.0,
            100.0,
            "Into which it is cut; another number starts anew.",
            structural=True,
        ),
        Parameter("held", "", 1.0, 0.0, 1.0, "1: its upper end is held; 0: it is free.", structural=True),
        Parameter("length", "m", 4.0, 0.5, 30.0, "Of the rope."),
        Parameter("mass", "kg", 3.0, 0.05, 200.0, "Of the rope."),
        Parameter("radius", "m", 0.03, 0.004, 0.1, "Of the rope."),
        Parameter("bending", "N m^2", 0.02, 0.0, 50.0, "E I: what is stiffer asks for shorter steps."),
        Parameter("twist", "N m^2", 0.01, 0.0, 50.0, "G J: as bending."),
        Parameter("damping", "N m s", 0.001, 0.0, 1.0, "Of every link against the one before."),
        Parameter("load", "kg", 1.5, 0.01, 500.0, "At its end."),
        Parameter("gravity", "m/s^2", 9.81, 0.0, 100.0, "Downward acceleration."),
    )

    def declare(self, q: SimpleNamespace) -> Tree:
        count = round(q.links)
        first, *others = rod(
            _LINK,
            length_m=q.length,
            mass_kg=q.mass,
            radius_m=q.radius,
            links=count,
            bending_Nm2=q.bending,
            twist_Nm2=q.twist,
            damping_Nms=q.damping,
        )
        if not q.held:
            first = replace(first, joint=Joint("free"))
        ball = 0.4 * q.load * load_radius_m(q.load) ** 2
        load = Body(
            LOAD,
            f"{_LINK} {count}",
            Joint("fixed"),
            position=(0.0, 0.0, -q.length / count),
            mass=q.load,
            inertia=(ball, ball, ball),
        )
        return tree([first, *others, load], (0.0, 0.0, -q.gravity))

    def shapes(self) -> tuple[Link, ...]:
        *links, load = self.tree.names
        count, each_m = len(links), self._number("length") / len(links)
        every = -(-count // _TOUCHING)
        radius, down = self._number("radius"), (0.0, 0.0, -each_m)
        strand = (
            Link(name, (0.0, 0.0, 0.0), down, radius, ROPE, (k == 0, k % every == every - 1))
            for k, name in enumerate(links)
        )
        middle = (0.0, 0.0, 0.0)
        return (
            *strand,
            Link(load, middle, middle, load_radius_m(self._number("load")), BRASS, (True, False)),
        )

    @property
    def stand_m(self) -> float:  # type: ignore[override]
        """Its lower end swings clear of the ground."""
        return self._number("length") + 2.0 * load_radius_m(self._number("load")) + 0.3

    def default_state(self) -> State:
        """Straight, held out to one side, at rest."""
        root = self.tree.names[0]
        across = -math.sin(0.5 * LEAN_RAD)
        turned = {
            f"{root} qw": math.cos(0.5 * LEAN_RAD),
            f"{root} qx": across * math.sin(ASIDE_RAD),
            f"{root} qy": across * math.cos(ASIDE_RAD),
        }
        return self.state(turned)


def load_radius_m(mass_kg: float) -> float:
    """Of a ball of metal."""
    return float((3.0 * mass_kg / (4.0 * math.pi * _DENSITY_KGPM3)) ** (1.0 / 3.0)) * 1.6
