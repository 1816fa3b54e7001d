"""A group that acts on a space, as a value: the methods of the mechanics survey need nothing else."""

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca

from sim.groups import LieGroup
from sim.groups.product import ProductGroup, Translations
from sim.groups.se3 import SE3, position_of, rotation_of
from sim.groups.so3 import SO3
from sim.spaces.base import Euclidean, GroupSpace, Space
from sim.spaces.product import Power, Product
from sim.spaces.sphere import Sphere, TangentBundle


@dataclass(frozen=True)
class Action:
    """From the left: acting with k, then with g, is acting with g k."""

    group: LieGroup
    space: Space
    act: Callable[[ca.SX, ca.SX], ca.SX]
    """(g, point) -> point."""
    parts: tuple["Action", ...] = ()
    """Of a product, in the order in which their numbers stand; equal ones are one object."""

    def moved(self, a: ca.SX, x: ca.SX) -> ca.SX:
        """exp(x) . a"""
        return self.act(self.group.exp(x), a)

    def moved_by_cayley(self, a: ca.SX, x: ca.SX) -> ca.SX:
        """cay(x) . a"""
        return self.act(self.group.cay(x), a)

    def generator(self, a: ca.SX, x: ca.SX) -> ca.SX:
        """d/dt exp(t x) . a at t = 0, of the point's size: derived, not declared."""
        g, identity = ca.SX.sym("g", self.group.pose_dim), ca.SX(self.group.identity())
        rate = self.group.left_tangent(identity) @ x
        return ca.substitute(ca.jtimes(self.act(g, a), g, rate), g, ca.densify(identity))


def by_left_translation(group: LieGroup, space: GroupSpace | None = None) -> Action:
    """A group on itself, under a name of its own if wanted."""
    return Action(group, space or GroupSpace(group), group.compose)


def rotations_of_sphere() -> Action:
    """SO(3) on S^2."""
    return Action(SO3, Sphere(), lambda g, q: ca.reshape(g, 3, 3) @ q)


def motions_of_tangent_bundle(bundle: TangentBundle) -> Action:
    """SE(3) on TS^2: (A, a) . (q, omega) = (A q, A omega + a x A q) (mechanics survey, section 5)."""

    def act(g: ca.SX, point: ca.SX) -> ca.SX:
        A = rotation_of(g)
        q = A @ point[:3]
        return ca.vertcat(q, A @ point[3:] + ca.cross(position_of(g), q))

    return Action(SE3, bundle, act)


def translations(space: Euclidean) -> Action:
    """R^n on itself."""
    return Action(Translations(space.size), space, lambda g, x: x + g)


def side_by_side(*actions: Action) -> Action:
    """The product group on the product of the spaces, part by part."""
    return _product(actions, Product(tuple(a.space for a in actions)))


def copies(action: Action, count: int) -> Action:
    """The same action on so many copies of its space, whose names are numbered from 1."""
    return _product((action,) * count, Power(action.space, count))


def _product(actions: tuple[Action, ...], space: Product) -> Action:
    group = ProductGroup(tuple(a.group for a in actions))

    def act(g: ca.SX, point: ca.SX) -> ca.SX:
        parts = zip(actions, group.elements(g), space.points(point), strict=True)
        return ca.vertcat(*[a.act(element, own) for a, element, own in parts])

    return Action(group, space, act, tuple(part for a in actions for part in a.parts or (a,)))
