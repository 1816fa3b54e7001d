"""Prints loops that go from copy to copy of a thing in arrays, as LLVM: text does not grow with the copies.

A formula that goes along copies (`sim.symbolic.along`) becomes such a loop. Chains of rods under the variational method
on products of spheres go in linear time: places are found by one multiplier a rod, then velocities.
The discrete Lagrangian of Lee, Leok and McClamroch (2009) on products of spheres, kinetic energy of the straight way
between two nodes less the mean potential of both, is stationary where each bob is pushed along the rods of the node
that the step begins at, so that the rods at its end have their lengths: N quadratic equations, tridiagonal. Velocities
at the end are those of its discrete Legendre transform.
"""

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from sim.compiler.kernel_code import START
from sim.compiler.loops import STEP, Rollout, State
from sim.compiler.printer import NEWTON_FAILED, Named
from sim.compiler.vector_code import Function, Known, Registers, module
from sim.native.text import splat
from sim.platform.values import dataclass
from sim.symbolic import Stack, Step, first_only, last_only
from sim.vehicles.forms.rods import Bob, LinkedRods


@dataclass(frozen=True)
class Place:
    """Where numbers stand in an array: in copy i, number k at `array[argument + begin + stride * i + k]`."""

    array: str
    """Its register, or a constant's name."""
    argument: str = ""
    """Name of the argument that says where it begins; empty: at the array's own beginning."""
    begin: int = 0
    stride: int = 0


@dataclass(frozen=True, eq=False)
class Piece:
    """An expression for each copy: inputs are columns of symbols."""

    inputs: Sequence[tuple[ca.SX, Place]]
    expression: ca.SX
    result: Place


def loop(function: Function, count: int, pieces: Sequence[Piece]) -> None:
    """The pieces of one copy after the other; all that a piece reads is read before anything of it is written."""

    def copy(index: str, carried: list[str]) -> list[str]:
        for piece in pieces:
            inputs = [(symbols, _address(function, place, index)) for symbols, place in piece.inputs]
            found = function.expression(inputs, piece.expression)
            function.stored(_address(function, piece.result, index), found)
        return carried

    function.times(count, [], copy)


def sweep(
    function: Function,
    count: int,
    carried: tuple[ca.SX, ca.SX],
    known: Known,
    columns: Sequence[tuple[ca.SX, Place]],
    results: Sequence[tuple[ca.SX, Place]],
    onward: ca.SX,
    *,
    backward: bool,
) -> list[str]:
    """Along the copies, something is carried on from each to the next: (its symbols, what it begins with).

    known: what is the same for all copies; columns: symbols of each; results: expressions of each; onward: what
    the next one is handed. Returns registers of what is carried on after the last one.
    """
    symbols, begin = carried

    def copy(index: str, carry: list[str]) -> list[str]:
        at = function.new(f"sub i64 {count - 1}, {index}") if backward else index
        inputs: list[tuple[ca.SX, Registers]] = [(symbols, carry), *known]
        inputs += [(x, _address(function, place, at)) for x, place in columns]
        *found, following = function.expressions(inputs, *(ca.vec(x) for x, _ in results), onward)
        for (_, place), registers in zip(results, found, strict=True):
            function.stored(_address(function, place, at), registers)
        return following

    return function.times(count, function.expression(known, begin), copy)


def _address(function: Function, place: Place, index: str) -> str:
    """Register of where the numbers of a copy begin."""
    at = place.array if place.array[0] in "@%" else f"%{place.array}"
    if place.argument:
        at = function.entry(at, f"%{place.argument}")
    if place.stride:
        at = function.row(at, place.stride, index)
    return function.entry(at, place.begin)


@dataclass(frozen=True, eq=False)
class Rows(Stack):
    """A stack in an array of the function: copy i has `size` numbers there."""

    code: "Code"
    place: Place
    size: int
    count: int

    def along(self, step: Step, carried: ca.SX, stacks: Sequence[Any], *, backward: bool) -> list[Stack]:
        return list(self.code.loop(step, carried, stacks, backward=backward)[1])


class Code:
    """A function under construction, which keeps what it needs between its loops in one of its arrays."""

    def __init__(self, function: Function, known: Known, room: str, begin: int = 0) -> None:
        """known: expressions that are no stacks; begin: from where on the array `room` is free."""
        self.used = begin
        self._function, self._known, self._room = function, known, room

    def rows(self, place: Place, count: int) -> Rows:
        """A stack that is there."""
        return Rows(self, place, place.stride, count)

    def room(self, size: int, count: int) -> Rows:
        """A stack that is to be filled."""
        begin, self.used = self.used, self.used + size * count
        return self.rows(Place(self._room, begin=begin, stride=size), count)

    def loop(
        self,
        step: Step,
        carried: ca.SX,
        stacks: Sequence[Any],
        *,
        backward: bool = False,
        into: Sequence[Rows | None] = (),
    ) -> tuple[list[str], list[Rows]]:
        """One loop over the copies. Registers of what it carries on at the end, and the results.

        into: stacks for the first results, instead of new ones.
        """
        rows = [stack if isinstance(stack, Rows) else self._constant(stack) for stack in stacks]
        count, carry = max(row.count for row in rows), ca.SX.sym("carried", carried.shape[0])
        columns = [ca.SX.sym("column", row.size) for row in rows]
        onward, *results = step(carry, *columns)
        given = [*into, *[None] * (len(results) - len(into))]
        found = [own or self.room(result.numel(), count) for own, result in zip(given, results, strict=True)]
        last = sweep(
            self._function,
            count,
            (carry, ca.SX(carried)),
            self._known,
            [(column, row.place) for column, row in zip(columns, rows, strict=True)],
            [(result, row.place) for result, row in zip(results, found, strict=True)],
            ca.SX(onward),
            backward=backward,
        )
        return last, found

    def _constant(self, numbers: np.ndarray) -> Rows:
        flat = np.ascontiguousarray(np.asarray(numbers, float).T).ravel()
        return self.rows(Place(self._function.constant(flat), stride=numbers.shape[0]), numbers.shape[1])


SWEEPS = 50
ACCURACY = 1e-15
"""Of the squared lengths, as a share."""
_REPEATS = 3
"""Times that forces which depend on the velocity at the end are found."""
_ENDLESS = 1e300
_ROOM = 44
"""Numbers a rod that a step works in."""


def rods_module(vehicle: LinkedRods) -> str:
    """Text of the module; the private state is directions, velocities of the bobs, multipliers."""
    return module([_rollout(vehicle), _start(vehicle)])


class _Rods:
    """Stacks of linked rods in arrays of a function, a copy each rod."""

    def __init__(self, vehicle: LinkedRods, function: Function, room: str) -> None:
        self.count = vehicle.link_count
        u, p = ca.SX.sym("u", len(vehicle.controls)), ca.SX.sym("p", vehicle.parameter_count)
        self.h = ca.SX.sym("h")
        self.code = Code(function, [(u, "%u"), (p, "%p"), (self.h, "%h")], room)
        begin = np.cumsum([0, *(q.size for q in vehicle.parameters)])[:-1]
        at = {q.name: int(k) for q, k in zip(vehicle.parameters, begin, strict=True)}
        self.mass, self.length = (self.stack("p", at[name], 1) for name in ("mass", "length"))
        self._ends = first_only(self.count), last_only(self.count)
        self._vehicle, self._u, self._q = vehicle, u, vehicle.symbols(p)

    def stack(self, array: str, begin: int, size: int, stride: int = 0) -> Rows:
        """Of numbers that stand in an array, `size` of them for each rod."""
        return Rows(self.code, Place(array, begin=begin, stride=stride or size), size, self.count)

    @property
    def each(self) -> tuple[object, ...]:
        """Stacks that `force` takes."""
        return self.mass, self.length, *self._ends

    def force(self, direction: ca.SX, velocity: ca.SX, *rod: ca.SX) -> ca.SX:
        """(3,) on a bob beside the rods' pulls."""
        return self._vehicle.bob_force(Bob(direction, velocity, *rod), self._u, self._q)

    @property
    def repeats(self) -> int:
        """How often forces are found at the end of a step."""
        direction, v = ca.SX.sym("q", 3), ca.SX.sym("v", 3)
        rod = [ca.SX.sym(name) for name in ("m", "length", "first", "last")]
        return _REPEATS if ca.depends_on(self.force(direction, v, *rod), v) else 1


def _start(vehicle: LinkedRods) -> Function:
    """Velocities of the bobs from those of the rods."""
    function, n = Function(), vehicle.link_count
    function.begin("start")
    function.pointers(*START)
    rods = _Rods(vehicle, function, "y")
    node = rods.stack("node", 0, 6)
    state = [rods.stack("y", 0, 3), rods.stack("y", 3 * n, 3), rods.stack("y", 6 * n, 1)]

    def down(before: ca.SX, at: ca.SX, length: ca.SX) -> tuple[ca.SX, ...]:
        velocity = length * ca.cross(at[3:], at[:3]) + before
        return velocity, at[:3], velocity, ca.SX.zeros(1)

    rods.code.loop(down, ca.SX.zeros(3), [node, rods.length], into=state)
    function.end()
    return function


def _rollout(vehicle: LinkedRods) -> Function:
    function = Function()
    function.begin("rollout")
    function.pointers(*STEP)
    state = _Motion(vehicle, function)
    rollout = Rollout(function, {}, 0)
    state.iterations, state.status = rollout.iterations, rollout.status
    rollout.plain(state)
    state.report()
    rollout.report()
    return function


class _Motion(State):
    """Where the step begins, and how far it has come: directions, velocities and multipliers."""

    iterations = status = ""

    def __init__(self, vehicle: LinkedRods, function: Function) -> None:
        n = vehicle.link_count
        room = function.variable(kind=f"[{_ROOM * n} x double]")
        self._rods, self._function = _Rods(vehicle, function, room), function
        code = self._rods.code
        self.begun, self.far = ([code.room(size, n) for size in (3, 3, 1)] for _ in range(2))
        self._given = [self._rods.stack("y", at * n, size) for at, size in ((0, 3), (3, 3), (6, 1))]
        self.take(self.begun, self._given)

    def accept(self) -> None:
        self.take(self.begun, self.far)

    def end(self) -> None:
        """It is there."""

    def take(self, to: list[Rows], of: list[Rows]) -> None:
        self._rods.code.loop(lambda none, *each: (none, *each), ca.SX(0, 1), of, into=to)

    def report(self) -> None:
        """Write down the end's state, and the node of the last step's start."""
        rods = self._rods
        assert rods.code.used <= _ROOM * rods.count
        self.take(self._given, self.far)

        def told(before: ca.SX, q: ca.SX, v: ca.SX, length: ca.SX) -> tuple[ca.SX, ...]:
            return v, ca.vertcat(q, ca.cross(q, (v - before) / length))

        q, v, _ = self.begun
        rods.code.loop(told, ca.SX.zeros(3), [q, v, rods.length], into=[rods.stack("node", 0, 6)])

    def advance(self, given: Named, over: str) -> tuple[str, str]:
        rods, h, (q, v, pull) = self._rods, self._rods.h, self.begun
        loop = rods.code.loop

        def below(after: ca.SX, q: ca.SX, pull: ca.SX) -> tuple[ca.SX, ...]:
            return ca.vertcat(q, pull * q), after[:3], after[3:]

        def free(none: ca.SX, q: ca.SX, v: ca.SX, mass: ca.SX, *rod: ca.SX) -> tuple[ca.SX, ...]:
            return none, v + h / 2 * rods.force(q, v, mass, *rod) / mass

        _, (q_below, hung) = loop(below, ca.SX.zeros(6), [q, pull], backward=True)
        _, (mean,) = loop(free, ca.SX(0, 1), [q, v, *rods.each])
        _, multipliers = loop(lambda none, x: (none, x), ca.SX(0, 1), [pull], into=[self.far[2]])
        ways, moved = self._placed(q, q_below, hung, mean, multipliers[0], over)

        def arrived(none: ca.SX, way: ca.SX, mean: ca.SX, moved: ca.SX) -> tuple[ca.SX, ...]:
            return none, way / ca.norm_2(way), mean + moved / h

        (direction, velocity, _) = self.far
        loop(arrived, ca.SX(0, 1), [ways, mean, moved], into=[direction, velocity])
        self._stretching_nothing(direction, velocity)
        return "true", ""

    def _placed(
        self, q: Rows, q_below: Rows, hung: Rows, mean: Rows, pull: Rows, over: str
    ) -> tuple[Rows, Rows]:
        """Rods' ways at the end of the step, not yet of their lengths to rounding, and what pulls move the bobs by.

        hung: what the next rods pull each bob with. pull: the multipliers, at first a guess, written to. Jumps to
        `over` where Newton's method leads to no solution.
        """
        rods, function, h = self._rods, self._function, self._rods.h
        again, onward, solved, lost = (function.fresh(word) for word in ("sweep", "onward", "placed", "lost"))
        sweeps = function.variable("0", "i64")
        function.jump(again)
        function.label(again)

        def down(before: ca.SX, *rod: ca.SX) -> tuple[ca.SX, ...]:
            q, after, hung, mean, pull, mass, length = rod
            mean_before, q_before, moved_before = before[:3], before[3:6], before[6:9]
            inverse_before, diagonal_before, right_before, upper_before, worst = ca.vertsplit(before[9:])
            moved = (hung - pull * q) / mass
            way = length * q + h * (mean - mean_before) + moved - moved_before
            lower = ca.dot(way, q_before) * inverse_before
            upper = ca.dot(way, after) / mass
            square = length * length
            right = (square - ca.dot(way, way)) / 2
            off = ca.fabs(right) / square
            share = lower / diagonal_before
            diagonal = -(1 / mass + inverse_before) * ca.dot(way, q) - share * upper_before
            # What is no number stays the worst.
            worst = ca.if_else(worst >= off, worst, off)
            right = right - share * right_before
            following = ca.vertcat(mean, q, moved, 1 / mass, diagonal, right, upper, worst)
            return following, way, moved, ca.vertcat(diagonal, right, upper)

        def up(after: ca.SX, row: ca.SX, q: ca.SX, pull: ca.SX) -> tuple[ca.SX, ...]:
            change = (row[1] - row[2] * after[0]) / row[0]
            pull = pull + change
            return ca.vertcat(change, pull * q), pull, after[1:]

        begin = ca.vertcat(ca.SX.zeros(10), 1, ca.SX.zeros(3))
        stacks = [q, q_below, hung, mean, pull, rods.mass, rods.length]
        last, (ways, moved, rows) = rods.code.loop(down, begin, stacks)
        tried = function.count(sweeps)
        number = function.new(f"uitofp i64 {tried} to double")
        n, worst = ca.SX.sym("n"), ca.SX.sym("worst")
        (small, possible) = function.expression(
            [(n, [number]), (worst, last[-1:])],
            ca.vertcat(worst <= ACCURACY * (1 + n), ca.logic_and(worst < _ENDLESS, n < SWEEPS)),
        )
        zero = splat(0.0, 1)
        going = function.fresh("going")
        function.branch(function.new(f"fcmp une double {small}, {zero}"), solved, going)
        function.label(going)
        function.branch(function.new(f"fcmp une double {possible}, {zero}"), onward, lost)
        function.label(lost)
        function.write(self.status, str(NEWTON_FAILED))
        function.jump(over)
        function.label(onward)
        rods.code.loop(up, ca.SX.zeros(4), [rows, q, pull], backward=True, into=[pull, hung])
        function.jump(again)
        function.label(solved)
        function.count(self.iterations, tried)
        return ways, moved

    def _stretching_nothing(self, q: Rows, v: Rows) -> None:
        """Add half of the forces' impulse at the end, and take from the velocities what would change lengths."""
        rods, h = self._rods, self._rods.h

        def down(before: ca.SX, *rod: ca.SX) -> tuple[ca.SX, ...]:
            q, v, mean, mass = rod[:4]
            q_before, v_before = before[:3], before[3:6]
            inverse_before, diagonal_before, right_before = ca.vertsplit(before[6:])
            v = mean + h / 2 * rods.force(q, v, *rod[3:]) / mass
            beside = -ca.dot(q, q_before) * inverse_before
            share = beside / diagonal_before
            diagonal = 1 / mass + inverse_before - share * beside
            right = ca.dot(v - v_before, q) - share * right_before
            return ca.vertcat(q, v, 1 / mass, diagonal, right), v, ca.vertcat(diagonal, right, beside)

        def up(after: ca.SX, row: ca.SX, q: ca.SX, v: ca.SX, mass: ca.SX) -> tuple[ca.SX, ...]:
            pull = (row[1] - after[0] * after[1]) / row[0]
            return ca.vertcat(row[2], pull, q), v + (after[1] * after[2:] - pull * q) / mass

        _, (mean,) = rods.code.loop(lambda none, x: (none, x), ca.SX(0, 1), [v])
        begin = ca.vertcat(ca.SX.zeros(7), 1, 0)
        for _ in range(rods.repeats):
            _, (_, rows) = rods.code.loop(down, begin, [q, v, mean, *rods.each], into=[v])
            rods.code.loop(up, ca.SX.zeros(5), [rows, q, v, rods.mass], backward=True, into=[v])
