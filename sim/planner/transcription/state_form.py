"""Which numbers of an integrator's private state are variables of a plan, and which of them its ends leave open.

Of a rotation, two columns are enough.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property

import casadi as ca
import numpy as np

from sim.integrators.base import Scheme
from sim.planner.task.bodies import (
    planar,
    quaternions,
    rotations,
    velocities,
)
from sim.planner.transcription.shape import ProblemShape
from sim.platform.values import dataclass


@dataclass(frozen=True)
class Slots:
    """A flat vector cut into named pieces, in order."""

    sizes: dict[str, int]

    @property
    def size(self) -> int:
        return sum(self.sizes.values())

    def slice(self, name: str) -> slice:
        """Where a piece stands."""
        at = 0
        for key, size in self.sizes.items():
            if key == name:
                return slice(at, at + size)
            at += size
        raise KeyError(name)

    def split(self, vector: ca.SX) -> dict[str, ca.SX]:
        """Pieces of a column, as columns: CasADi makes a row of nothing where the whole is one number."""
        return {name: ca.reshape(vector[self.slice(name)], size, 1) for name, size in self.sizes.items()}

    def pack(self, **pieces: object) -> np.ndarray:
        """Flat array of all pieces, each given by name."""
        assert set(pieces) == set(self.sizes), set(pieces) ^ set(self.sizes)
        parts = [np.asarray(pieces[name], float).ravel() for name in self.sizes]
        for part, (name, size) in zip(parts, self.sizes.items(), strict=True):
            assert part.size == size, (name, part.size, size)
        return np.concatenate(parts) if parts else np.zeros(0)

    def tile(self, vectors: np.ndarray, name: str) -> np.ndarray:
        """(n, size of the piece) of rows of flat vectors."""
        return vectors[:, self.slice(name)]


@dataclass(frozen=True, eq=False)
class StateForm:
    """Where y has the entries of rotations R, their first columns are the other two's cross products.

    That saves a sixth of the state of a rigid body and, unlike a chart, is singular nowhere.
    """

    size: int
    """Of y."""
    turned: tuple[int, ...]
    """Where the nine entries of rotations begin in y, column after column, in growing order."""

    @cached_property
    def kept(self) -> np.ndarray:
        """Entries of y that are variables."""
        first = [begin + i for begin in self.turned for i in range(3)]
        return np.setdiff1d(np.arange(self.size), first)

    def expanded(self, x: ca.SX) -> ca.SX:
        """y of variables."""
        pieces, at = [], 0
        for k, begin in enumerate(self.turned):
            start = begin - 3 * k
            pieces += [x[at:start], ca.cross(x[start : start + 3], x[start + 3 : start + 6])]
            at = start
        return ca.vertcat(*pieces, x[at:]) if pieces else x

    def expanded_rows(self, x: np.ndarray) -> np.ndarray:
        """(n, size) of y from (n, kept) variables."""
        if not self.turned:
            return x
        y = np.empty((len(x), self.size))
        y[:, self.kept] = x
        for begin in self.turned:
            (a, b, c), (d, e, f) = y[:, begin + 3 : begin + 6].T, y[:, begin + 6 : begin + 9].T
            y[:, begin], y[:, begin + 1], y[:, begin + 2] = b * f - c * e, c * d - a * f, a * e - b * d
        return y


def state_form(scheme: Scheme, rotations: Sequence[int]) -> StateForm:
    """Of a scheme, for a vehicle in whose nodes the entries of rotations begin at these places."""
    y, node = scheme.y, scheme.node
    kept = {y[i].element_hash(): i for i in range(y.shape[0])}
    turned = []
    for begin in rotations:
        entries = [node[begin + i] for i in range(9)]
        places = [kept.get(e.element_hash(), -1) if e.is_symbolic() else -1 for e in entries]
        if places[0] >= 0 and places == list(range(places[0], places[0] + 9)):
            turned.append(places[0])
    return StateForm(y.shape[0], tuple(sorted(turned)))


def by_velocities(scheme: Scheme, mass: np.ndarray) -> Scheme:
    """A tree's scheme with velocities in place of the impulses b of y = (q, b), which they are with this mass."""
    places = scheme.y.shape[0] - len(mass)
    c, inverse = ca.SX.sym("c", len(mass)), ca.DM(np.linalg.inv(mass))
    y = ca.vertcat(scheme.y[:places], c)

    def measured(state: ca.SX) -> ca.SX:
        return ca.vertcat(state[:places], inverse @ state[places:])

    before = ca.vertcat(scheme.y[:places], ca.DM(mass) @ c)
    named = {name: getattr(scheme, name) for name in ("residual", "guess", "node", "free_velocity", "parts")}
    named |= {"y_next": measured(scheme.y_next), "start": measured(scheme.start)}
    changed = ca.substitute(list(named.values()), [scheme.y], [before])
    return replace(scheme, y=y, **dict(zip(named, changed, strict=True)))  # type: ignore[arg-type]


@dataclass(frozen=True)
class OpenEnds:
    """Indices of variables of the private state, and behind them of the inputs of the node before."""

    found: frozenset[int]
    """The start does not say them."""
    periodic: list[int]
    """End as they begin; `begin` holds what they are at the first node."""
    rotated: tuple[int, ...]
    """Entries of the main body's rotation: six in space; on a plane cosine and sine, none where its heading is one."""
    quaternions: tuple[tuple[int, ...], ...] = ()
    """Four entries of each rotation of a joint that is found."""


def open_ends(
    shape: ProblemShape,
    scheme: Scheme,
    form: StateForm,
    component: Callable[[int], int | None],
    remembered: int,
) -> OpenEnds:
    """remembered: inputs of the node before that are part of the state."""
    vehicle, open_start = shape.vehicle, shape.open_start
    if not open_start.found | open_start.periodic:
        return OpenEnds(frozenset(), [], ())
    moving, at = {i for i, _ in velocities(vehicle)}, vehicle.node_layout
    moving |= set(range(at.shape_velocity.start, at.shape_velocity.stop))
    kept, made_of = scheme.y[form.kept.tolist()], {}
    for i in range(at.size):
        there = component(i)
        if there is not None:
            made_of[i] = {there}
        elif i not in moving:
            made_of[i] = set(np.flatnonzero(ca.which_depends(scheme.node[i], kept, 1, False)).tolist())
    momenta = set(range(form.kept.size)).difference(*made_of.values())

    def variables(numbers: Iterable[int]) -> frozenset[int]:
        """That numbers of a node are made of."""
        return frozenset[int]().union(*(made_of.get(i, momenta) for i in numbers))

    turned = variables([0] if planar(vehicle) else [b + i for b in rotations(vehicle) for i in range(9)])
    periodic = sorted(variables(open_start.periodic))
    if moving & open_start.periodic:
        periodic += range(form.kept.size, form.kept.size + remembered)
    found, nodes = variables(open_start.found), range(at.size)
    joints = (tuple(sorted(variables(nodes[turning]))) for turning in quaternions(vehicle))
    turning = tuple(entries for entries in joints if found.issuperset(entries))
    return OpenEnds(found, periodic, tuple(sorted(turned)) if len(turned) > 1 else (), turning)
