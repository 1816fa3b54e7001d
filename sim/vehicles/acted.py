"""Systems on any space that a group acts on: they say which element of the algebra moves them (mechanics survey)."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from sim.spaces import Action, Space
from sim.vehicles.base import Vehicle
from sim.vehicles.form import Form
from sim.vehicles.parametrised import Quantities
from sim.vehicles.state import NodeLayout, State
from sim.vehicles.support import Support


class ActionVehicle(Vehicle):
    """Subclasses declare `action` and `generator`; y' is the motion of y that the generator's element makes.

    The state is a point of the action's space, velocities included. All methods take and return CasADi SX.
    """

    form = Form.GROUP_ACTION
    twist_embedding = np.zeros((6, 0))
    action: Action
    copies: int = 0
    """Where the action is that of so many equal copies, `generator` may be handed stacks in place of columns, its
    point and the parameters that there is one of for each copy, and gives a stack back (`sim.stack`); 0: it may not."""

    leader: str = ""
    """A part of the space, a place and its velocity in the world, that the controls accelerate and all else follows by
    a law of the vehicle's own; empty: there is none."""

    def generator(self, point: Any, u: ca.SX, q: Quantities) -> Any:
        """f: M -> g, (dim of the acting group,)."""
        raise TypeError(f"vehicle {self.name!r} declares no generator(point, u, q)")

    @property
    def space(self) -> Space:
        return self.action.space

    @cached_property
    def node_layout(self) -> NodeLayout:
        """The whole state is configuration; what stands where in it is told by `space`."""
        size = self.space.size
        none = slice(size, size)
        return NodeLayout(slice(0, size), none, none, none, none, size)

    def named(self, node: ca.SX) -> dict[str, ca.SX]:
        """The parts of a point by their names."""
        return {name: node[at] for name, at in self.space.slices.items()}

    def configuration_rate(self, node: ca.SX, q: Quantities) -> ca.SX:
        """With neutral controls, which no body's velocity depends on."""
        return self.action.generator(node, self.generator(node, ca.SX(self.neutral_controls), q))

    def twist(self, node: ca.SX, q: Quantities) -> ca.SX:
        """(6,) of the main body, from the rate of its pose."""
        T = next(iter(self.bodies(node, q).values()))
        rate = ca.reshape(ca.jtimes(ca.vec(T), node, self.configuration_rate(node, q)), 4, 4)
        W = T[:3, :3].T @ rate[:3, :3]
        omega = ca.vertcat(W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]) / 2
        return ca.vertcat(omega, T[:3, :3].T @ rate[:3, 3])

    def control_wrench(self, u: ca.SX, q: Quantities) -> ca.SX:
        """Of the momentum's size; nothing that is shown unless the vehicle says so."""
        return ca.SX(self.twist_embedding.shape[1], 1)

    @property
    def angular(self) -> np.ndarray:
        """Its node has no velocity of its own: energy and finite numbers are what a motion is judged by."""
        return np.zeros(0, bool)

    @property
    def wrench_size(self) -> int:
        """Nothing from outside acts on it within a step but through its controls."""
        return 0

    @property
    def impulse_size(self) -> int:
        return len(self.space.velocities)

    def conjugate_velocities(self, node: ca.SX, q: Quantities) -> ca.SX:
        """Those of the node."""
        return node[list(self.space.velocities)]

    @property
    def support(self) -> Support:
        return Support.STAND

    def bodies(self, node: ca.SX, q: Quantities) -> Mapping[str, ca.SX]:
        """Nothing is seen of it unless it says what."""
        return {"body": ca.SX.eye(4)}

    @property
    def touching(self) -> tuple[tuple[str, tuple[float, float, float], float], ...]:
        """Balls that touch the ground beside the points that its config has for the main body: body, centre in its
        frame, radius [m]. By default the ends of the other bodies' links."""
        main = next(
            iter(self.bodies(ca.SX(self.default_state().node), self.symbols(ca.SX(self.parameter_vector))))
        )
        return tuple(
            (link.body, end, link.radius_m)
            for link in self.links
            for end, touches in zip((link.begin_b, link.end_b), link.touches, strict=True)
            if touches and link.body != main
        )

    def poses(self, nodes: np.ndarray) -> np.ndarray:
        """(..., size) the points themselves."""
        return nodes

    def point(self, **parts: ArrayLike) -> State:
        """State from parts by name; those that are missing are the origin's. Raises InputError for wrong shapes."""
        node = self.space.origin()
        for name, value in parts.items():
            at = self.space.slices[name]
            node[at] = self._finite(name, value, (at.stop - at.start,))
        return self.state_at_node(node)

    def state_at_node(self, node: np.ndarray) -> State:
        return State(node.copy(), self.node_layout, None)

    def default_state(self) -> State:
        return self.point()

    def raised(self, node: np.ndarray, by_m: float) -> np.ndarray:
        """It starts as by itself, and stays there."""
        return node

    def state_in_space(self, T_wb: np.ndarray, twist_b: np.ndarray) -> State:
        """It has a place of its own: wherever it is put, it starts as by itself."""
        return self.default_state()
