"""A mechanism as data: bodies on joints, loops, springs; as a tree to be stepped, and in MuJoCo's language."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from sim.multibody.declaration import WORLD, Body, Given, Loop, Spring, TreeState
from sim.multibody.tree import Tree, tree
from sim.steppers.bound_tree import BoundTree, advance_composed

_KINDS = {"revolute": "hinge", "prismatic": "slide"}


@dataclass(frozen=True, eq=False, kw_only=True)
class Mechanism:
    """Its joints are revolute or prismatic."""

    bodies: Sequence[Body]
    """All parents before their children."""
    gravity_w: tuple[float, float, float]
    """m/s^2."""
    loops: Sequence[Loop] = ()
    springs: Sequence[Spring] = ()
    q: Given = field(default_factory=dict)
    """Coordinates at the start, by the bodies' names or in their order."""
    v: Given = field(default_factory=dict)

    @cached_property
    def tree(self) -> Tree:
        """Its arrays."""
        return tree(self.bodies, self.gravity_w, springs=self.springs)

    @property
    def start(self) -> TreeState:
        """Raises InputError."""
        return self.tree.state(self.q, self.v)

    def moved(
        self,
        seconds: float,
        step_s: float,
        parts: tuple[float, ...] = (1.0,),
        *,
        torques: ArrayLike | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """((n,), (n,)) in the bodies' order, by steps of `riqn`, composed of `parts` where there are several.

        torques: (nv,) held at the joints.
        """
        tolerance = 1e-14 if len(parts) > 1 else 1e-12
        bound = BoundTree(self.tree, step_s, loops=self.loops, tolerance=tolerance)
        begun = self.start
        motion, steps = bound.start(begun.q, begun.v), round(seconds / step_s)
        held = None if torques is None else np.asarray(torques, float)
        if len(parts) > 1:
            status = advance_composed(bound, motion, steps, step_s, parts, torques=held)
        else:
            _, status = bound.advance(motion, steps, held)
        if status:
            raise ArithmeticError(f"a step has no root: {status}")
        names = self.tree.coordinate_names
        order = [names.index(body.name) for body in self.bodies]
        return motion.q[order], bound.velocity(motion)[order]

    def by_mujoco(
        self,
        seconds: float,
        step_s: float,
        *,
        torques: ArrayLike | None = None,
        stiff_s: float = 0.0,
    ) -> tuple[np.ndarray, np.ndarray]:
        """The same by MuJoCo's Runge-Kutta method. Raises ImportError without it.

        Its loops give way: stiff_s is their time constant, at least two steps, which is what 0 stands for.
        """
        import mujoco

        model = mujoco.MjModel.from_xml_string(self.as_mjcf(step_s, max(stiff_s, 2.0 * step_s)))
        data = mujoco.MjData(model)
        begun = self.start
        names = self.tree.coordinate_names
        order = [names.index(model.joint(k).name) for k in range(model.njnt)]
        data.qpos[:], data.qvel[:] = begun.q[order], begun.v[order]
        if torques is not None:
            data.qfrc_applied[:] = np.asarray(torques, float)[order]
        for _ in range(round(seconds / step_s)):
            mujoco.mj_step(model, data)
        joints = [data.joint(body.name) for body in self.bodies]
        return np.array([x.qpos[0] for x in joints]), np.array([x.qvel[0] for x in joints])

    def as_mjcf(self, step_s: float, stiff_s: float) -> str:
        """A model in MuJoCo's XML; what loops close are balls there, of hinges two, a length apart on their axis."""
        inside: dict[str, str] = {}
        sites: dict[str, str] = {}

        def site(name: str, body: str, point: ArrayLike) -> None:
            sites[body] = sites.get(body, "") + f'<site name="{name}" pos="{_text(point)}"/>'

        for k, spring in enumerate(self.springs):
            site(f"spring {k} 0", spring.body, spring.point)
            site(f"spring {k} 1", spring.other, spring.other_point)
        closed, solref = "", f'solref="{stiff_s!r} 1" solimp="0.9999 0.9999 0.001"'
        for k, loop in enumerate(self.loops):
            for i, (point, other) in enumerate(_pins(loop)):
                site(f"loop {k} {i} 0", loop.body, point)
                site(f"loop {k} {i} 1", loop.other, other)
                closed += f'<connect site1="loop {k} {i} 0" site2="loop {k} {i} 1" {solref}/>'
        for body in reversed(self.bodies):
            joint = body.joint
            assert not isinstance(joint, Sequence)
            inertia = np.asarray(body.inertia, float)
            text = (
                f'<body name="{body.name}" pos="{_text(body.position)}">'
                f'<joint name="{body.name}" type="{_KINDS[joint.kind]}" axis="{_text(joint.axis)}"/>'
                f'<inertial pos="{_text(body.centre)}" mass="{body.mass!r}" diaginertia="{_text(inertia)}"/>'
                f"{sites.get(body.name, '')}{inside.get(body.name, '')}</body>"
            )
            inside[body.parent] = text + inside.get(body.parent, "")
        drawn = "".join(
            f'<spatial stiffness="{s.stiffness!r}" damping="{s.damping!r}" '
            f'springlength="{_text(s.rest)}">'
            f'<site site="spring {k} 0"/><site site="spring {k} 1"/></spatial>'
            for k, s in enumerate(self.springs)
        )
        return (
            f'<mujoco><option gravity="{_text(self.gravity_w)}" integrator="RK4" timestep="{step_s!r}" '
            f'tolerance="1e-15" iterations="200"/><worldbody>{sites.get(WORLD, "")}{inside[WORLD]}</worldbody>'
            f"<equality>{closed}</equality><tendon>{drawn}</tendon></mujoco>"
        )


def _pins(loop: Loop) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    """Points of the loop's body, and where they stay in the other one."""
    at, there = np.asarray(loop.point, float), np.asarray(loop.other_point, float)
    if loop.joint.kind == "ball":
        return ((at, there),)
    along = np.asarray(loop.joint.axis, float)
    along /= np.linalg.norm(along)
    return (at, there), (at + along, there + np.asarray(loop.R, float) @ along)


def _text(numbers: ArrayLike) -> str:
    return " ".join(repr(float(x)) for x in np.ravel(np.asarray(numbers, float)))


def extrapolated(answers: Sequence[np.ndarray]) -> np.ndarray:
    """From steps each half of the one before, of a method whose error is a series in the step's square."""
    table, factor = [np.asarray(answer, float) for answer in answers], 4.0
    while len(table) > 1:
        table = [(factor * finer - coarser) / (factor - 1.0) for coarser, finer in pairwise(table)]
        factor *= 4.0
    return table[0]
