"""The recursions of a tree on CasADi expressions: the very functions that are compiled, run as plain Python.

They are generic in their scalar: one number where they are compiled, eight at once where bodies are rigid (`simd`), an
expression here. What asks for a number's value is a leaf of its own, and `LEAVES` has what stands in for it.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import field
from types import FunctionType, SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np

from sim.multibody import articulated, continuous, kinematics, loops, recursions, spatial, springs, wraps
from sim.multibody.arrays import ARC, HUNG, NODE, TreeArrays
from sim.multibody.tree import Tree
from sim.platform.values import dataclass
from sim.symbolic import solve


def _one_at_a_time(n: int, i: int) -> int:
    """No eight bodies at once."""
    return -1


def _cos_sin(x: Any) -> tuple[Any, Any]:
    return ca.cos(x), ca.sin(x)


def _length_of(x: Any) -> Any:
    return ca.sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + 1e-30)


def _beyond(x: Any, low: Any, high: Any) -> Any:
    below = ca.fmin(x - low, 0.0) if _bounds(low) else 0.0
    return below + (ca.fmax(x - high, 0.0) if _bounds(high) else 0.0)


def _picked(x: Any, a: Any, b: Any) -> Any:
    return ca.if_else(x > 0.0, a, b)


def _root(x: Any) -> Any:
    return ca.sqrt(ca.fmax(x, 0.0) + 1e-30)


def _bounds(limit: Any) -> bool:
    """What is a parameter does; of numbers those that are finite."""
    return isinstance(limit, ca.SX) or math.isfinite(limit)


_PLACED = 4
LEAVES: dict[Any, Callable[..., Any]] = {
    kinematics.eight_at: _one_at_a_time,
    spatial.tangent: ca.tan,
    spatial.cos_sin: _cos_sin,
    spatial.length_of: _length_of,
    spatial.larger: ca.fmax,
    springs.beyond: _beyond,
    wraps.picked: _picked,
    wraps.root: _root,
    wraps.angle: ca.atan2,
}
"""Compiled functions that branch on values -> the same of expressions."""


def generic(compiled: Any) -> Callable[..., Any]:
    """A compiled function as plain Python, with all that it calls, for expressions in place of numbers."""
    if compiled in LEAVES:
        return LEAVES[compiled]
    source = compiled.py_func
    names: dict[str, Any] = {"__builtins__": __builtins__}
    function = FunctionType(source.__code__, names, source.__name__, source.__defaults__)
    _made[compiled] = function
    for name in source.__code__.co_names:
        found = source.__globals__.get(name)
        if hasattr(found, "py_func"):
            names[name] = _made.get(found) or generic(found)
        elif name in source.__globals__:
            names[name] = found
    return function


_made: dict[Any, Callable[..., Any]] = {}


@dataclass(frozen=True, eq=False)
class SymbolicTree:
    """A tree's recursions on expressions. Coordinates q (nq,), velocities v and impulses (nv,) are columns, as `arrays`
    has them; h [s] is a step. Limits of joints are left to whoever bounds the coordinates."""

    tree: Tree
    changed: TreeArrays | None = None
    """In place of the tree's, with expressions for some of the numbers."""
    changed_loops: loops.LoopArrays | None = None
    """Likewise of its loops."""
    _placed: dict[tuple[int, ...], tuple[ca.SX, np.ndarray]] = field(default_factory=dict, repr=False)
    """Frames of bodies at coordinates that were asked for lately: each is asked for many times in a step."""

    @property
    def arrays(self) -> TreeArrays:
        return self.tree.arrays if self.changed is None else self.changed

    def frames(self, q: ca.SX) -> list[tuple[ca.SX, ca.SX]]:
        """(rotation (3, 3), position (3,)) in the world of each body of the arrays."""
        node = self._node(q)
        found: list[tuple[ca.SX, ca.SX]] = []
        for i, parent in enumerate(self.arrays.parent):
            x = ca.vertcat(*node[i, 9:12])
            R = ca.reshape(ca.vertcat(*node[i, :9]), 3, 3).T
            found.append((R, x if parent < 0 else found[parent][1] + x))
        return found

    def step(self, q: ca.SX, d: ca.SX, b: ca.SX, h: ca.SX | float) -> tuple[ca.SX, ca.SX, ca.SX]:
        """(residual impulse (nv,), q, b at the node that it leads to) of a step with increments d from q with the
        impulse b. What acts on the tree is not in it: half of its impulse belongs to either end."""
        arrays, n, nv, zeros = self.arrays, self.tree.n, self.tree.nv, self._zeros
        moves, arc, wrench, residual = _entries(d), zeros(n, ARC), zeros(n, 6), zeros(nv)
        _RESIDUAL(arrays, self._node(q), moves, _entries(b), arrays.damping, h, arc, wrench, residual)
        after = self.move(q, d)
        arrived = self._node_impulses(after, moves, h, h, arc)
        if not self.tree.arrays.springs[:, 3].any():
            return _column(residual), after, arrived
        # Of dampers, whose impulse over the step is -damping times the change of length, half acts at either end.
        half = -0.5 * _column(arrays.springs[:, 3]) * (self.spring_lengths(after) - self.spring_lengths(q))
        at_begin, at_end = (self.along(where, self.spring_lengths, half) for where in (q, after))
        return _column(residual) - at_begin, after, arrived + at_end

    def driven(self, q: ca.SX, u: ca.SX) -> ca.SX:
        """(nv,) generalised forces at q of the controls' (nv + m,), the last of them along driven tendons."""
        places = self.tree.arrays.driven.tolist()
        if not places:
            return u
        lengths, nv = lambda moved: self.spring_lengths(moved)[places], self.tree.nv
        return u[:nv] + self.along(q, lengths, u[nv:])

    def spring_lengths(self, q: ca.SX) -> ca.SX:
        """(k,) [m]."""
        node, at = self._node(q), _entries(q)
        return ca.vertcat(*(_LENGTH(self.arrays, node, at, k) for k in range(len(self.arrays.springs))))

    def move(self, q: ca.SX, d: ca.SX) -> ca.SX:
        """(nq,) coordinates after the increments d."""
        moved = _entries(q)
        _MOVE(self.arrays, moved, _entries(d))
        return _column(moved)

    def node_force(self, q: ca.SX) -> ca.SX:
        """(nv,) generalised force of gravity and springs."""
        return self._node_impulses(q, self._zeros(self.tree.nv), 1.0, 1.0, self._zeros(self.tree.n, ARC))

    def momenta(self, q: ca.SX, v: ca.SX) -> ca.SX:
        """(nv,) M(q) v."""
        n, out = self.tree.n, self._zeros(self.tree.nv)
        _MOMENTA(self.arrays, self._node(q), _entries(v), self._zeros(n, ARC), self._zeros(n, 6), out)
        return _column(out)

    def velocities(self, q: ca.SX, p: ca.SX) -> ca.SX:
        """(nv, k) M(q)^-1 p of momenta or impulses p, a column each, by the articulated-body algorithm."""
        n, nv, zeros = self.tree.n, self.tree.nv, self._zeros
        node, none, factor, found = self._node(q), zeros(nv), zeros(n, 21), []
        _FACTORISE(self.arrays, node, none, 0.0, zeros(n, HUNG + 1), factor)
        for column in ca.horzsplit(p):
            out = zeros(nv)
            _SOLVE(
                self.arrays,
                node,
                none,
                0.0,
                factor,
                _entries(column),
                zeros(n, 6),
                zeros(nv),
                zeros(n, 6),
                out,
            )
            found.append(_column(out))
        return ca.horzcat(*found)

    def forces(self, q: ca.SX, v: ca.SX) -> ca.SX:
        """(nv,) M(q) v' where nothing acts from outside: gravity, springs, damping, air, and what velocities do."""
        arrays, n, nv, zeros = self.arrays, self.tree.n, self.tree.nv, self._zeros
        node, out, twists, wrench = self._node(q), zeros(nv), zeros(n, ARC), zeros(n, 6)
        _VELOCITY_FORCES(arrays, node, _entries(v), twists, zeros(n, 12), wrench, out)
        force = self.node_force(q) - _column(out) - _column(arrays.damping) * v
        if arrays.springs.shape[0]:
            _DAMP(arrays, node, _entries(q), twists, wrench)
            _GATHER(arrays, node, wrench, out)
            force += _column(out)
        if arrays.air_carriers.shape[0]:
            force += self._air_forces(q, v)
        return force

    def air_impulse(self, q: ca.SX, b: ca.SX, h: ca.SX) -> ca.SX:
        """(nv,) what the air gives in half of a step h to a node with the impulse b, as `continuous.air_impulse`."""
        if not self.arrays.air_carriers.shape[0]:
            return ca.SX.zeros(self.tree.nv)
        v = self.velocities(q, b - h / 2 * self.node_force(q))
        slowed = v + h / 4 * self.velocities(q, self._air_forces(q, v))
        return h / 2 * self._air_forces(q, slowed)

    def _air_forces(self, q: ca.SX, v: ca.SX) -> ca.SX:
        zeros, out = self._zeros, self._zeros(self.tree.nv)
        ws = SimpleNamespace(node=self._node(q), arc=zeros(self.tree.n, ARC), wrench=zeros(self.tree.n, 6))
        _AIR_FORCES(self.arrays, ws, _entries(v), out)
        return _column(out)

    def gaps(self, q: ca.SX, closure: loops.Closure) -> ca.SX:
        """(m,) of closed loops of the tree, as `Closure.gaps` has them."""
        closing = SimpleNamespace(frames=self._zeros(self.tree.n, 12), gaps=self._zeros(closure.size))
        ws = SimpleNamespace(after=self._zeros(self.tree.n, NODE))
        ends = closure.rigid if self.changed_loops is None else self.changed_loops
        _OPEN_GAPS(self.arrays, ws, ends, closing, _entries(q))
        return _column(closing.gaps)

    def loop_impulse(self, q: ca.SX, closure: loops.Closure, impulses: ca.SX) -> ca.SX:
        """(nv,) generalised impulse of impulses (m,) between the ends of loops, in the world's frame [N s]: along the
        slopes of the gaps, by the increments of the joints."""
        return self.along(q, lambda moved: self.gaps(moved, closure), impulses)

    def kept_closed(
        self, q: ca.SX, v: ca.SX, closure: loops.Closure, gaps: Sequence[int]
    ) -> tuple[ca.SX, ca.SX]:
        """(q, v) as `Closure.closed` brings them to where loops are closed, of the gaps that no others imply: q to
        first order in what they are open by there."""
        open_by, slopes, answers, response = self._response(q, closure, gaps)
        q = self.move(q, -answers @ solve(response, open_by))
        _, slopes, answers, response = self._response(q, closure, gaps)
        return q, v - answers @ solve(response, slopes @ v)

    def _response(
        self, q: ca.SX, closure: loops.Closure, gaps: Sequence[int]
    ) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX]:
        """Of some of the gaps: (themselves, slopes G, M^-1 G', G M^-1 G')."""
        d, none = ca.SX.sym("d", self.tree.nv), ca.SX.zeros(self.tree.nv)
        moved = self.gaps(self.move(q, d), closure)[list(gaps)]
        open_by, slopes = (
            ca.substitute(ca.densify(part), d, none) for part in (moved, ca.jacobian(moved, d))
        )
        answers = self.velocities(q, slopes.T)
        return open_by, slopes, answers, slopes @ answers

    def along(self, q: ca.SX, of: Callable[[ca.SX], ca.SX], impulses: ca.SX) -> ca.SX:
        """(nv,) of impulses (m,) along the slopes of what `of` has of coordinates (m,)."""
        d = ca.SX.sym("d", self.tree.nv)
        along = ca.gradient(ca.dot(impulses, of(self.move(q, d))), d)
        return ca.SX(ca.substitute(ca.densify(along), d, ca.SX.zeros(self.tree.nv)))

    def _node(self, q: ca.SX) -> np.ndarray:
        key = tuple(entry.element_hash() for entry in _entries(q))
        if key not in self._placed:
            node = self._zeros(self.tree.n, NODE)
            _PLACE(self.arrays, _entries(q), node)
            self._placed[key] = q, node
            for old in [*self._placed][:-_PLACED]:
                del self._placed[old]
        return self._placed[key][1].copy()

    def _node_impulses(
        self, q: ca.SX, d: np.ndarray, h: ca.SX | float, kick: ca.SX | float, arc: np.ndarray
    ) -> ca.SX:
        """Momenta that arrive at q with the arc of increments d, and `kick` seconds of gravity and springs there."""
        arrays, wrench, out = self.arrays, self._zeros(self.tree.n, 6), self._zeros(self.tree.nv)
        node = self._node(q)
        _NODE_IMPULSES(arrays, node, _entries(q), d, arrays.damping, h, kick, arc, wrench, out)
        return _column(out)

    @staticmethod
    def _zeros(*shape: int) -> np.ndarray:
        return np.full(shape, 0.0, object)


def _entries(column: ca.SX) -> np.ndarray:
    column = ca.densify(ca.SX(column))
    entries = np.empty(column.numel(), object)
    for k, entry in enumerate(column.elements()):
        entries[k] = entry
    return entries


def _column(entries: np.ndarray) -> ca.SX:
    return ca.SX(ca.vertcat(*entries))


_PLACE, _MOVE = generic(kinematics.place), generic(kinematics.move)
_RESIDUAL, _NODE_IMPULSES = generic(recursions.discrete_inverse_dynamics), generic(recursions.node_impulses)
_MOMENTA = generic(kinematics.momenta)
_FACTORISE, _SOLVE = generic(articulated.factorise), generic(articulated.solve)
_VELOCITY_FORCES, _AIR_FORCES = generic(continuous.velocity_forces), generic(continuous.air_forces)
_LENGTH, _DAMP, _GATHER = (
    generic(springs.spring_length),
    generic(springs.damp_springs),
    generic(kinematics.gather),
)
_OPEN_GAPS = generic(loops.open_gaps)
