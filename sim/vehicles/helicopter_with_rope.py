"""A helicopter with a load on a rope: a free body that its rotors drive, a Cosserat rod that hangs from its hook."""

from functools import lru_cache
from types import SimpleNamespace

import casadi as ca
import numpy as np

from sim.multibody.declaration import Body, Joint, rod
from sim.multibody.observing import body_motions
from sim.multibody.shapes import PAINTED, ROPE, UNSEEN, Link
from sim.multibody.tree import Tree, tree
from sim.vehicles.cosserat_rope import load_radius_m
from sim.vehicles.forms.articulated import ArticulatedVehicle, PlumbLine
from sim.vehicles.forms.form import State
from sim.vehicles.forms.parameters import Parameter, Quantities
from sim.vehicles.forms.slung_load import LOAD_PARAMETERS
from sim.vehicles.helicopter import Helicopter

CARRIER, LOAD = "helicopter", "load"
_LINK = "rope"
_OWN = ("mass", "inertia", "rotor_offset", "tail_offset", "rotor_momentum", "drag", "wind", "gravity")
"""Of the helicopter's parameters."""


class HelicopterWithRope(ArticulatedVehicle):
    """Controls are the helicopter's. The rope bends, twists and folds, and pushes no more than it resists bending."""

    name = "helicopter-with-rope"
    meets_itself = True
    tool = LOAD  # type: ignore[assignment]
    parameters = (
        Parameter("links", "", 16.0, 4.0, 60.0, "Of the rope; another number starts anew.", structural=True),
        Parameter(
            "twists",
            "",
            1.0,
            0.0,
            1.0,
            "1: links twist against each other; 0: they hang in pairs of hinges, which plans are made for.",
            structural=True,
        ),
        Parameter("rope_length", "m", 12.0, 0.5, 100.0, "From the hook to the load."),
        Parameter("rope_mass", "kg", 12.0, 0.05, 500.0, "Of the rope."),
        Parameter("rope_radius", "m", 0.03, 0.004, 0.2, "Of the rope."),
        Parameter("bending", "N m^2", 2.0, 0.0, 500.0, "E I: what is stiffer asks for shorter steps."),
        Parameter("twist", "N m^2", 0.5, 0.0, 500.0, "G J: as bending."),
        Parameter(
            "damping",
            "N m s",
            0.01,
            0.0,
            50.0,
            "Of every link against the one before; more asks for shorter steps.",
        ),
        Parameter("load_mass", "kg", 300.0, 0.1, 1e4, "At the rope's end."),
        *(parameter for parameter in LOAD_PARAMETERS if parameter.name == "load_drag"),
        Parameter("hook", "m", (0.0, 0.0, -0.8), -1e2, 1e2, "Where the rope hangs from, body frame."),
        *(parameter for parameter in Helicopter.parameters if parameter.name in _OWN),
    )
    controls = Helicopter.controls

    @property
    def hanging_kg(self) -> float:  # type: ignore[override]
        """Of rope and load."""
        return self._number("rope_mass") + self._number("load_mass")

    @property
    def hangs_from_m(self) -> float:
        """From the hook to the load."""
        return self._number("rope_length")

    def load_off_hook(self, node: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(3,) way from hook to load [m] and its rate of change [m/s], in the world, of a flat node."""
        at = self.node_layout
        moving = body_motions(self.tree, node[at.pose], node[at.velocity])
        (T_wb, v_w), (T_wl, load_w) = moving[CARRIER], moving[LOAD]
        hook_b, omega_b = np.asarray(self.values["hook"], float), node[at.velocity][:3]
        way = T_wl[:3, 3] - T_wb[:3, 3] - T_wb[:3, :3] @ hook_b
        return way, load_w - v_w - T_wb[:3, :3] @ np.cross(omega_b, hook_b)

    def declare(self, q: SimpleNamespace) -> Tree:
        count = round(q.links)
        ball = 0.4 * q.load_mass * load_radius_m(q.load_mass) ** 2
        rope = rod(
            _LINK,
            CARRIER,
            length_m=q.rope_length,
            mass_kg=q.rope_mass,
            radius_m=q.rope_radius,
            links=count,
            bending_Nm2=q.bending,
            twist_Nm2=q.twist,
            damping_Nms=q.damping,
            twists=bool(q.twists),
            position=tuple(q.hook),
        )
        return tree(
            [
                Body(
                    CARRIER,
                    joint=Joint("free"),
                    mass=q.mass,
                    inertia=tuple(q.inertia),
                    drag=q.drag,
                    rotor_momentum=_rotor_momentum(q.rotor_momentum),
                ),
                *rope,
                Body(
                    LOAD,
                    f"{_LINK} {count}",
                    Joint("fixed"),
                    position=(0.0, 0.0, -q.rope_length / count),
                    mass=q.load_mass,
                    inertia=(ball, ball, ball),
                    drag=q.load_drag,
                ),
            ],
            (0.0, 0.0, -q.gravity),
            wind_w=q.wind,
        )

    def plumb_lines(self, q: SimpleNamespace) -> dict[str, PlumbLine]:
        return {"swing": (CARRIER, q.hook, LOAD, (0.0, 0.0, 0.0))}

    def forces(self, u: ca.SX, q: Quantities) -> ca.SX:
        return ca.vertcat(_wrench()(u, q.rotor_offset, q.tail_offset), ca.SX.zeros(self.tree.nv - 6))

    def joint_forces(self, u: np.ndarray, p: np.ndarray) -> np.ndarray:
        """The rotors' wrench on the free body, in its frame."""
        q = self.quantities(p)
        forces = np.zeros(self.tree.nv)
        forces[:6] = _wrench()(u, q.rotor_offset, q.tail_offset).full().ravel()
        return forces

    def shapes(self) -> tuple[Link, ...]:
        """The rope, the load, and the skids that it stands on, which its model shows."""
        count, middle = round(self._number("links")), (0.0, 0.0, 0.0)
        down, radius = (0.0, 0.0, -self._number("rope_length") / count), self._number("rope_radius")
        every = -(-count // 8)
        strand = (
            Link(f"{_LINK} {k + 1}", middle, down, radius, ROPE, (False, k % every == every - 1))
            for k in range(count)
        )
        skids = (Link(CARRIER, (-1.6, y, -1.35), (1.7, y, -1.35), 0.05, UNSEEN) for y in (-1.0, 1.0))
        ball = Link(LOAD, middle, middle, load_radius_m(self._number("load_mass")), PAINTED, (True, False))
        return (*skids, *strand, ball)

    @property
    def links(self) -> tuple[Link, ...]:  # type: ignore[override]
        """The rope and its load; the helicopter has a model."""
        return tuple(shape for shape in self.shapes() if shape.body != CARRIER)

    def default_state(self) -> State:
        """At rest at the origin, the rope hanging straight down."""
        return self.state()


def _rotor_momentum(along_z: float) -> np.ndarray:
    """(3,) kg m^2/s, body frame."""
    bias = Helicopter().momentum_bias(Quantities(rotor_momentum=along_z))
    return np.array(ca.evalf(bias)).ravel()[:3]


@lru_cache(maxsize=1)
def _wrench() -> ca.Function:
    """(u, rotor offset, tail offset) -> (6,) torque and force in the body frame."""
    u, rotor, tail = ca.SX.sym("u", 4), ca.SX.sym("d_t"), ca.SX.sym("d_r")
    q = Quantities(rotor_offset=rotor, tail_offset=tail)
    return ca.Function("wrench", [u, rotor, tail], [Helicopter().control_wrench(u, q)])
