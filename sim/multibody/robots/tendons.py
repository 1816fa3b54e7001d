"""What mujoco's parser made of a file's tendons, as tendons of the tree."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from sim.groups.numeric import triple
from sim.multibody.declaration import Strand, Tendon
from sim.multibody.tree import Tree, point_of

_JOINT, _PULLEY, _SITE = 1, 2, 3
"""By mujoco's numbers of what a tendon goes by."""
_EQUAL_TENDONS = 3
"""By mujoco's number of an equality's type."""
Point = tuple[str, tuple[float, float, float]]


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
        """By joints, sites and pulleys alone, round nothing."""
        return all(self._model.wrap_type[k] in (_JOINT, _PULLEY, _SITE) for k in self._wraps(t))

    def _has_a_way(self, declared: Tree, t: int) -> bool:
        """Whether its length can change."""
        return bool(self.joints_of(t)) or any(
            len({point_of(declared, *point)[0] for point in strand.points}) > 1 for strand in self._strands(t)
        )

    def _strands(self, t: int) -> list[Strand]:
        """Between its pulleys."""
        model, found = self._model, list[tuple[list[Point], float]]()
        for k in self._wraps(t):
            if model.wrap_type[k] == _PULLEY:
                found.append(([], float(model.wrap_prm[k])))
            elif model.wrap_type[k] == _SITE:
                site = int(model.wrap_objid[k])
                name, T = self._carrier(int(model.site_bodyid[site]))
                found = found or [([], 1.0)]
                found[-1][0].append((name, triple(T[:3, :3] @ model.site_pos[site] + T[:3, 3])))
        return [Strand(points, divisor) for points, divisor in found if len(points) > 1]

    def joints_of(self, t: int) -> dict[str, float]:
        """Joints whose coordinates are in its length, and how many times."""
        found = dict[str, float]()
        for k in self._wraps(t):
            if self._model.wrap_type[k] == _JOINT:
                name = self._joints[int(self._model.wrap_objid[k])]
                found[name] = found.get(name, 0.0) + float(self._model.wrap_prm[k])
        return {name: share for name, share in found.items() if share}

    def _strength(self, t: int) -> tuple[float, float]:
        """(stiffness, damping)."""
        model = self._model
        stiffness, damping = (np.atleast_1d(x[t])[0] for x in (model.tendon_stiffness, model.tendon_damping))
        return float(stiffness), float(damping)

    def is_served(self, t: int) -> bool:
        """Whether its length is one of the tree's, or what it does is nothing that the tree would feel."""
        return self._moves[t] or (self._is_led(t) or not any(self._strength(t)))

    def couples(self, e: int) -> bool:
        """Whether equality e is one of lengths that the tree has."""
        model = self._model
        ends = [int(t) for t in (model.eq_obj1id[e], model.eq_obj2id[e]) if t >= 0]
        return bool(model.eq_type[e] == _EQUAL_TENDONS and all(self._moves[t] for t in ends))

    def springs(self) -> Iterable[Tendon]:
        """Of those that pull, damp or are held to a length."""
        model = self._model
        held = {int(t) for e in range(model.neq) if model.eq_active0[e] and self.couples(e)
                for t in (model.eq_obj1id[e], model.eq_obj2id[e])}  # fmt: skip
        for t in range(model.ntendon):
            stiffness, damping = self._strength(t)
            if self._moves[t] and (stiffness or damping or t in held):
                low, high = (float(x) for x in model.tendon_lengthspring[t])
                joints = self.joints_of(t)
                yield Tendon(
                    self._strands(t),
                    joints,
                    stiffness,
                    damping,
                    (low, high),
                    self.names[t] if t in held else "",
                )

    def left_out(self) -> list[str]:
        """Names of those with more than stiffness and damping, or round shapes."""
        model = self._model
        bent = (model.tendon_stiffnesspoly, model.tendon_dampingpoly)
        more = (model.tendon_frictionloss, model.tendon_limited, model.tendon_armature)
        return [
            self.names[t]
            for t in range(model.ntendon)
            if not self.is_served(t) or any(np.any(x[t]) for x in (*bent, *more))
        ]
