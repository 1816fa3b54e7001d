"""What mujoco's parser made of a file's tendons, as tendons of the tree."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from sim.groups.numeric import pose_matrix, triple
from sim.multibody.arrays import workspace
from sim.multibody.declaration import Body, Gear, Strand, Tendon, Wrap
from sim.multibody.kinematics import momenta, place
from sim.multibody.robots.motors import pulling
from sim.multibody.springs import spring_length, spring_rate
from sim.multibody.tree import Tree, point_of

_JOINT, _PULLEY, _SITE, _SPHERE, _CYLINDER = 1, 2, 3, 4, 5
"""By mujoco's numbers of what a tendon goes by."""
_KINDS = (_JOINT, _PULLEY, _SITE, _SPHERE, _CYLINDER)
_EQUAL_TENDONS = 3
"""By mujoco's number of an equality's type."""
Point = tuple[str, tuple[float, float, float]]


def _middle(each: Point | Wrap) -> Point:
    """A point of its body."""
    return (each.body, each.centre) if isinstance(each, Wrap) else each


def polynomial(linear: np.ndarray, bent: np.ndarray) -> tuple[float, float, float]:
    """A stiffness, and what the square and the cube of the way are multiplied with."""
    return float(np.atleast_1d(linear)[0]), float(bent[0]), float(bent[1])


INERTIA_OF = "inertia of "
"""Before a tendon's name: the body without weight that turns as the tendon grows, and its coordinate."""


def with_inertias(declared: Tree, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates and velocities of a file's joints, and behind them those of its tendons' inertias."""
    a, space = declared.arrays, workspace(declared.arrays)
    names = [name.removeprefix(INERTIA_OF) for name in declared.coordinate_names[len(q) :]]
    springs = [declared.spring_names.index(name) for name in names]
    q, v = np.r_[q, np.zeros(len(names))], np.r_[v, np.zeros(len(names))]
    place(a, q, space.node)
    momenta(a, space.node, v, space.arc, space.wrench, space.spare)
    for k, spring in enumerate(springs, -len(names)):
        q[k] = spring_length(a, space.node, q, spring)
        v[k] = spring_rate(a, space.node, space.arc, spring)
    return q, v


class Tendons:
    """Those of a model, by mujoco's numbers."""

    def __init__(
        self,
        model: Any,
        carrier: Callable[[int], tuple[str, np.ndarray]],
        joints: Sequence[str],
        declared: Tree,
    ) -> None:
        """carrier: (name of what carries a body of the model, pose (4, 4) of the body in it). joints: their names.

        declared: the tree without them.
        """
        self._model, self._carrier, self._joints = model, carrier, joints
        self.names = [self._name(declared, t) for t in range(model.ntendon)]
        self._moves = [self._is_led(t) and self._has_a_way(declared, t) for t in range(model.ntendon)]

    def _name(self, declared: Tree, t: int) -> str:
        given = self._model.tendon(t).name
        return given if given and given not in declared.coordinate_names else f"tendon {given or t}"

    def _wraps(self, t: int) -> range:
        begin = int(self._model.tendon_adr[t])
        return range(begin, begin + int(self._model.tendon_num[t]))

    def _is_led(self, t: int) -> bool:
        """By joints, sites, pulleys and round shapes."""
        return all(self._model.wrap_type[k] in _KINDS for k in self._wraps(t))

    def _has_a_way(self, declared: Tree, t: int) -> bool:
        """Whether its length can change."""
        return bool(self.joints_of(t)) or any(
            len({point_of(declared, *_middle(each))[0] for each in strand.points}) > 1
            for strand in self._strands(t)
        )

    def _carrier_of_site(self, site: int) -> tuple[str, np.ndarray]:
        """(name of what carries it, its place (3,) there)."""
        name, T = self._carrier(int(self._model.site_bodyid[site]))
        return name, T[:3, :3] @ self._model.site_pos[site] + T[:3, 3]

    def _carrier_of_geom(self, geom: int) -> tuple[str, np.ndarray]:
        """(name of what carries it, its pose (4, 4) there)."""
        model = self._model
        name, T = self._carrier(int(model.geom_bodyid[geom]))
        R = Rotation.from_quat(model.geom_quat[geom], scalar_first=True).as_matrix()
        return name, T @ pose_matrix(R, model.geom_pos[geom])

    def _strands(self, t: int) -> list[Strand]:
        """Between its pulleys."""
        model, found = self._model, list[tuple[list[Point | Wrap], float]]()
        for k in self._wraps(t):
            kind, at = int(model.wrap_type[k]), int(model.wrap_objid[k])
            if kind == _PULLEY:
                found.append(([], float(model.wrap_prm[k])))
                continue
            found = found or [([], 1.0)]
            if kind == _SITE:
                name, place = self._carrier_of_site(at)
                found[-1][0].append((name, triple(place)))
            elif kind in (_SPHERE, _CYLINDER):
                found[-1][0].append(self._wrap(at, int(model.wrap_prm[k]), kind == _CYLINDER))
        return [Strand(points, divisor) for points, divisor in found if len(points) > 1]

    def _wrap(self, geom: int, site: int, endless: bool) -> Wrap:
        name, T = self._carrier_of_geom(geom)
        beside, place = self._carrier_of_site(site) if site >= 0 else ("", None)
        return Wrap(
            name,
            triple(T[:3, 3]),
            float(self._model.geom_size[geom, 0]),
            triple(T[:3, 2]) if endless else None,
            None if place is None else triple(place),
            beside,
        )

    def joints_of(self, t: int) -> dict[str, float]:
        """Joints whose coordinates are in its length, and how many times."""
        found = dict[str, float]()
        for k in self._wraps(t):
            if self._model.wrap_type[k] == _JOINT:
                name = self._joints[int(self._model.wrap_objid[k])]
                found[name] = found.get(name, 0.0) + float(self._model.wrap_prm[k])
        return {name: share for name, share in found.items() if share}

    def _stiffness(self, t: int) -> tuple[float, float, float]:
        return polynomial(self._model.tendon_stiffness[t], self._model.tendon_stiffnesspoly[t])

    def _damping(self, t: int) -> float:
        return float(np.atleast_1d(self._model.tendon_damping[t])[0])

    def _is_heavy(self, t: int) -> bool:
        return bool(self._moves[t] and self._model.tendon_armature[t])

    def inertias(self) -> Iterable[Body]:
        """Of tendons that have any: without weight, each turns by as much as its tendon grows."""
        for t in filter(self._is_heavy, range(self._model.ntendon)):
            name, moment = INERTIA_OF + self.names[t], float(self._model.tendon_armature[t])
            yield Body(name, mass=0.0, inertia=(moment, moment, moment))

    def inertia_gears(self) -> Iterable[Gear]:
        """That turn these."""
        for t in filter(self._is_heavy, range(self._model.ntendon)):
            yield Gear(INERTIA_OF + self.names[t], self.names[t])

    @property
    def driven_names(self) -> list[str | None]:
        """Of all, None for those along which the tree has no force of a control."""
        return [name if moves else None for name, moves in zip(self.names, self._moves, strict=True)]

    def is_served(self, t: int) -> bool:
        """Whether its length is one of the tree's, or what it does is nothing that the tree would feel."""
        return (
            self._moves[t]
            or self._is_led(t)
            or not (any(self._stiffness(t)) or self._damping(t) or self._model.tendon_limited[t])
        )

    def couples(self, e: int) -> bool:
        """Whether equality e is one of lengths that the tree has."""
        model = self._model
        ends = [int(t) for t in (model.eq_obj1id[e], model.eq_obj2id[e]) if t >= 0]
        return bool(model.eq_type[e] == _EQUAL_TENDONS and all(self._moves[t] for t in ends))

    def springs(self) -> Iterable[Tendon]:
        """Of those that pull, damp, are driven, held to a length or within lengths; and of servos along them."""
        model = self._model
        held = {int(t) for e in range(model.neq) if model.eq_active0[e] and self.couples(e)
                for t in (model.eq_obj1id[e], model.eq_obj2id[e])}  # fmt: skip
        for t in range(model.ntendon):
            stiffness, damping = self._stiffness(t), self._damping(t)
            limits = self._model.tendon_range[t] if model.tendon_limited[t] else (-np.inf, np.inf)
            if not self._moves[t]:
                continue
            laws = list(pulling(model, t))
            named = bool(laws or t in held or model.tendon_limited[t] or self._is_heavy(t))
            strands, joints = self._strands(t), self.joints_of(t)
            if any(stiffness) or damping or named:
                low, high = (float(x) for x in model.tendon_lengthspring[t])
                yield Tendon(
                    strands,
                    joints,
                    stiffness,
                    damping,
                    (low, high),
                    (float(limits[0]), float(limits[1])),
                    self.names[t] if named else "",
                    bool(laws),
                )
            for law in laws:
                if law.is_servo:
                    yield Tendon(strands, joints, law.stiffness, law.damping, law.rest)

    def left_out(self) -> list[str]:
        """Names of those with more than stiffness, damping, limits and inertia."""
        model = self._model
        more = (model.tendon_dampingpoly, model.tendon_frictionloss)
        return [
            self.names[t]
            for t in range(model.ntendon)
            if not self.is_served(t) or any(np.any(x[t]) for x in more)
        ]
