"""A mechanism as data: bodies on joints, loops, springs; as a tree to be stepped, and as a vehicle."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from types import SimpleNamespace
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from sim.multibody.declaration import WORLD, Body, Gear, Given, Loop, Spring, Tendon, TreeState
from sim.multibody.shapes import BRASS, PAINTED, STEEL, Link, hinges_of, links_of
from sim.multibody.tree import Tree, tree
from sim.steppers.bound_tree import BoundTree
from sim.vehicles.forms.articulated import ArticulatedVehicle, ClosedVehicle
from sim.vehicles.forms.form import State
from sim.vehicles.forms.parameters import Control
from studies.ledger.composed import advance_composed, advance_explicit

_Ends = TypeVar("_Ends", Loop, Spring)
Measured = TypeVar("Measured")
_METAL = 2700.0
"""kg/m^3, of what is drawn."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Mechanism:
    """Its joints are revolute or prismatic."""

    bodies: Sequence[Body]
    """All parents before their children."""
    gravity_w: tuple[float, float, float]
    """m/s^2."""
    loops: Sequence[Loop] = ()
    springs: Sequence[Spring] = ()
    tendons: Sequence[Tendon] = ()
    """Of mechanisms that stand upright as they are and have no peers; likewise what follows."""
    gears: Sequence[Gear] = ()
    q: Given = field(default_factory=dict)
    """Coordinates at the start, by the bodies' names or in their order."""
    v: Given = field(default_factory=dict)
    torques: Mapping[str, float] = field(default_factory=dict)
    """Held at joints, by the bodies' names [N m or N]."""
    shown_step_s: float = 0.005
    """Of its scene."""
    shown_speed: float = 1.0
    """Simulated seconds per second in its scene."""

    @cached_property
    def tree(self) -> Tree:
        """Its arrays."""
        return tree(self.bodies, self.gravity_w, springs=(*self.springs, *self.tendons))

    @property
    def closing(self) -> tuple[Loop | Gear, ...]:
        """Loops and gears."""
        return (*self.loops, *self.gears)

    @property
    def start(self) -> TreeState:
        """Raises InputError."""
        return self.tree.state(self.q, self.v)

    def moved(
        self,
        seconds: float,
        step_s: float,
        parts: tuple[float, ...] = (1.0,),
    ) -> tuple[np.ndarray, np.ndarray]:
        """((n,), (n,)) in the bodies' order, by steps of `riqn`, composed of `parts` where there are several."""
        tolerance = 1e-14 if len(parts) > 1 else 1e-12
        bound = BoundTree(self.tree, step_s, loops=self.closing, tolerance=tolerance)
        begun = self.start
        motion, steps = bound.start(begun.q, begun.v), round(seconds / step_s)
        held = np.array([self.torques.get(name, 0.0) for name in self.tree.velocity_names])
        if len(parts) > 1:
            status = advance_composed(bound, motion, steps, step_s, parts, torques=held)
        else:
            _, status = bound.advance(motion, steps, held)
        if status:
            raise ArithmeticError(f"a step has no root: {status}")
        names = self.tree.coordinate_names
        order = [names.index(body.name) for body in self.bodies]
        return motion.q[order], bound.velocity(motion)[order]

    def moved_explicitly(
        self, seconds: float, step_s: float, measure: Callable[[TreeState], Measured], every: int
    ) -> list[Measured]:
        """What is measured where it starts and after every so many steps of twelve stages
        (`composed.advance_explicit`), in coordinates and velocities of the tree."""
        bound = BoundTree(self.tree, step_s, loops=self.closing, tolerance=1e-14)
        begun = self.start
        q, v = bound.closing.closed(begun.q, begun.v, bound.tolerance)
        state = TreeState(np.array(q), np.array(v))
        held = np.array([self.torques.get(name, 0.0) for name in self.tree.velocity_names])
        told = [measure(state)]
        for _ in range(round(seconds / step_s) // every):
            advance_explicit(bound, state.q, state.v, every, held)
            told.append(measure(state))
        return told

    def angles(self, state: TreeState) -> np.ndarray:
        """(n,) coordinates in the bodies' order."""
        names = self.tree.coordinate_names
        return np.array(state.q[[names.index(body.name) for body in self.bodies]])

    def upright(self) -> "Mechanism":
        """Turned about the world's origin such that y, along which it was drawn, points up; the same where z does."""
        down = np.asarray(self.gravity_w, float)
        if down[2] < 0.0:
            return self
        Q = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])

        def turned(point: ArrayLike) -> tuple[float, float, float]:
            x, y, z = (Q @ np.asarray(point, float)).tolist()
            return x, y, z

        return replace(
            self,
            bodies=[
                replace(body, R=Q @ np.asarray(body.R, float), position=turned(body.position))
                if body.parent == WORLD
                else body
                for body in self.bodies
            ],
            gravity_w=turned(down),
            loops=[
                replace(loop, R=Q @ np.asarray(loop.R, float), other_point=turned(loop.other_point))
                if loop.other == WORLD
                else loop
                for loop in self.loops
            ],
            springs=[
                replace(spring, other_point=turned(spring.other_point)) if spring.other == WORLD else spring
                for spring in self.springs
            ],
        )

    def enlarged(self, by: float) -> "Mechanism":
        """So many times as large and as heavy as before, which turns alike: inertia and torques grow by the square."""

        def longer(point: ArrayLike) -> tuple[float, float, float]:
            x, y, z = (by * np.asarray(point, float)).tolist()
            return x, y, z

        def apart(ends: _Ends) -> _Ends:
            return replace(ends, point=longer(ends.point), other_point=longer(ends.other_point))

        return replace(
            self,
            bodies=[
                replace(
                    body,
                    position=longer(body.position),
                    centre=longer(body.centre),
                    inertia=by**2 * np.asarray(body.inertia, float),
                )
                for body in self.bodies
            ],
            gravity_w=longer(self.gravity_w),
            loops=[apart(loop) for loop in self.loops],
            springs=[replace(apart(s), rest=(by * np.array(s.rest)).tolist()) for s in self.springs],
            torques={name: by**2 * torque for name, torque in self.torques.items()},
        )

    def opened(self, name: str) -> tuple[ArticulatedVehicle, State]:
        """As a vehicle of that name, whose controls are the torques, and where it starts."""
        form = ClosedVehicle if self.closing else ArticulatedVehicle
        own = {
            "name": name,
            "__doc__": f"The mechanism of the ledger's problem {name.removeprefix('ledger-')}.",
            "mechanism": self.upright(),
            "torques": tuple(self.torques),
            "controls": tuple(
                Control(joint, "N m", -10.0 * abs(torque), 10.0 * abs(torque), "At the joint.")
                for joint, torque in self.torques.items()
            ),
        }
        vehicle = type(name, (HeldMechanism, form), own)()
        return vehicle, vehicle.default_state()


class HeldMechanism(ArticulatedVehicle):
    """A mechanism held by the world; subclasses are made by `Mechanism.opened`."""

    mechanism: ClassVar[Mechanism]

    def declare(self, q: SimpleNamespace) -> Tree:
        return self.mechanism.tree

    def close(self, q: SimpleNamespace) -> tuple[Loop | Gear, ...]:
        """Its loops."""
        return self.mechanism.closing

    def default_state(self) -> State:
        """As the problem has it."""
        begun = self.mechanism.start
        return self.state(begun.q, begun.v)

    def shapes(self) -> tuple[Link, ...]:
        """As slender as its mass in light metal is, one member in another finish than the next; what reaches nowhere
        is a ball."""
        masses = {body.name: body.mass for body in self.mechanism.bodies}
        rods = [
            replace(
                link,
                radius_m=float(
                    np.clip(
                        np.sqrt(masses[link.body] / (np.pi * _METAL * link.length_m)),
                        0.05 * link.length_m,
                        0.08 * link.length_m,
                    )
                ),
                finish=(PAINTED, STEEL, BRASS)[i % 3],
            )
            for i, link in enumerate(links_of(self.tree))
        ]
        left = set(masses) - {rod.body for rod in rods}
        here = (0.0, 0.0, 0.0)
        balls = [
            Link(name, here, here, (0.24 * masses[name] / _METAL) ** (1.0 / 3.0), PAINTED)
            for name in masses
            if name in left and masses[name]
        ]
        return (*rods, *balls)

    @property
    def stand_m(self) -> float:  # type: ignore[override]
        """Clear of the ground, by how far links of one after the other could come, at most 3 m."""
        return min(3.0, float(sum(np.linalg.norm(body.position) for body in self.mechanism.bodies))) + 1.0

    @cached_property
    def links(self) -> tuple[Link, ...]:  # type: ignore[override]
        """Its bodies and hinges; of what holds it there would be several, and they would hide it."""
        shapes = self.shapes()
        return (*shapes, *hinges_of(self.tree, shapes))


def extrapolated(answers: Sequence[np.ndarray | float], power: int = 2) -> np.ndarray:
    """From steps each half of the one before, of a method whose error is a series in the step, or in its square."""
    table, times = [np.asarray(answer, float) for answer in answers], 2.0**power
    factor = times
    while len(table) > 1:
        table = [(factor * finer - coarser) / (factor - 1.0) for coarser, finer in pairwise(table)]
        factor *= times
    return table[0]


def finest(answer: Callable[[int], float], steps: int) -> float:
    """What grids of so many steps, twice and four times as many lead to."""
    return float(extrapolated([answer(steps * k) for k in (1, 2, 4)]))
