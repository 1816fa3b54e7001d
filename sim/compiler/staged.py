"""Prints the kernel of what a product of groups moves: maps part by part in loops, stages as calls.

Where one rigid body's step is one straight line of registers, here states are stretches of one array: the rate of the
vehicle is one function, moving a point by exponentials is another, with one loop for each run of equal parts. So the
text grows neither with the copies nor with the stages of the method.

Methods for what a group moves are arithmetic on a flow. Where the flow is the one here, each of its maps becomes a
call, each sum of stages a loop, and every state a stretch of the array: what the stages do is recorded while the
method's own step is carried out.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from itertools import zip_longest
from typing import Any

import casadi as ca

from sim.compiler.copies import Code, Piece, Place, Rows, loop
from sim.compiler.kernel_code import START
from sim.compiler.loops import STEP, Rollout, State
from sim.compiler.printer import Named
from sim.compiler.vector_code import Function, module
from sim.integrators.base import Integrator
from sim.integrators.flow import Flow
from sim.native.text import splat
from sim.platform.values import dataclass
from sim.spaces import Action
from sim.vehicles.forms.homogeneous import ActionVehicle
from sim.vehicles.forms.parameters import Quantities


@dataclass(frozen=True)
class Scaled:
    """factor * h^power, the step as a number of a combination."""

    factor: float = 1.0

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Combination):
            return Combination(
                other.size, {(at, power + 1): self.factor * c for (at, power), c in other.terms.items()}
            )
        return Scaled(self.factor * other)

    __rmul__ = __mul__

    def __truediv__(self, other: float) -> "Scaled":
        return Scaled(self.factor / other)


@dataclass(frozen=True)
class Combination:
    """A sum of stretches of the array: (start, power of h) -> coefficient."""

    size: int
    terms: Mapping[tuple[int, int], float] = field(default_factory=dict)

    def __add__(self, other: "Combination") -> "Combination":
        terms = dict(self.terms)
        for key, coefficient in other.terms.items():
            terms[key] = terms.get(key, 0.0) + coefficient
        return Combination(self.size, terms)

    def __mul__(self, factor: float) -> "Combination":
        return Combination(self.size, {key: factor * c for key, c in self.terms.items()})

    __rmul__ = __mul__

    def __neg__(self) -> "Combination":
        return -1.0 * self

    def __sub__(self, other: "Combination") -> "Combination":
        return self + -other

    def __truediv__(self, divisor: float) -> "Combination":
        return (1.0 / divisor) * self

    @property
    def start(self) -> int | None:
        """Where it stands as it is; None: it is a sum yet to be made."""
        ((at, power), coefficient), *more = self.terms.items()
        return at if not more and power == 0 and coefficient == 1.0 else None


@dataclass(frozen=True)
class Call:
    """A map of what stands at places of the array; the last one is the result's."""

    name: str
    places: tuple[int, ...]
    row: int | None = None
    """Where its row of controls begins, of the rate."""


@dataclass(frozen=True)
class Sum:
    """A combination, made at a place of the array."""

    out: int
    value: Combination


class StagedFlow(Flow):
    """Records what a step does."""

    def __init__(self, points: int, algebra: int, controls: int, samples: tuple[float, ...]) -> None:
        """Sizes of a point, of the algebra, of a row of controls; moments of the rows, none where one is held."""
        self.dim, self.steps = algebra, list[Call | Sum]()
        self.maps: set[str] = set()
        """Names of the generated functions that are called."""
        self._points, self._controls, self._samples = points, controls, samples
        self._made: dict[tuple[object, ...], Combination] = {}
        self.used = 0
        self.y: Any = self.new(points)

    node = start = free_velocity = ca.SX(0, 1)

    def new(self, size: int) -> Combination:
        """A stretch of its own."""
        at, self.used = self.used, self.used + size
        return Combination(size, {(at, 0): 1.0})

    def place(self, value: Combination) -> int:
        """Where it stands, made where it is a sum."""
        if value.start is not None:
            return value.start
        key = ("sum", *sorted(value.terms.items()))
        return self._once(key, value.size, lambda out: Sum(out, value))

    def _once(self, key: tuple[object, ...], size: int, step: Callable[[int], Call | Sum]) -> int:
        """What two products share is made once."""
        if key not in self._made:
            self._made[key] = made = self.new(size)
            assert made.start is not None
            self.steps.append(step(made.start))
        start = self._made[key].start
        assert start is not None
        return start

    def _called(self, name: str, size: int, *values: Combination, row: int | None = None) -> Combination:
        places = tuple(self.place(value) for value in values)
        self.maps.add(name)
        at = self._once((name, *places, row), size, lambda out: Call(name, (*places, out), row))
        return Combination(size, {(at, 0): 1.0})

    def rate(self, y: Any, moment: float) -> Any:
        rows = self._samples
        k = min(range(len(rows)), key=lambda i: abs(rows[i] - moment)) if rows else 0
        return self._called("rate", self.dim, y, row=k * self._controls)

    def moved(self, y: Any, x: Any) -> Any:
        return self._called("moved", self._points, y, x)

    def tangent(self, y: Any, x: Any) -> Any:
        return self._called("tangent", self._points, y, x)

    def dexp_inv(self, sigma: Any, x: Any) -> Any:
        return self._called("dexp_inv", self.dim, sigma, x)

    def moved_by_cayley(self, y: Any, x: Any) -> Any:
        return self._called("moved_by_cayley", self._points, y, x)

    def dcay_inv(self, sigma: Any, x: Any) -> Any:
        return self._called("dcay_inv", self.dim, sigma, x)

    def bracket(self, x: Any, z: Any) -> Any:
        return self._called("bracket", self.dim, x, z)

    def apart(self, lower: Any, end: Any) -> Any:
        return self._called("apart", self.dim, lower, end)

    def estimate(self, end: Any, x: Any) -> Any:
        """In the algebra itself (mechanics survey, section 4.1)."""
        return x


Map = Callable[[Action, ca.SX, ca.SX], ca.SX]

_MAPS: dict[str, tuple[Map, str, str, str]] = {
    "moved": (lambda part, y, x: part.moved(y, x), "space", "group", "space"),
    "tangent": (lambda part, y, x: part.generator(y, x), "space", "group", "space"),
    "dexp_inv": (lambda part, s, x: part.group.dexp_inv(s) @ x, "group", "group", "group"),
    "moved_by_cayley": (lambda part, y, x: part.moved_by_cayley(y, x), "space", "group", "space"),
    "dcay_inv": (lambda part, s, x: part.group.dcay_inv(s) @ x, "group", "group", "group"),
    "bracket": (lambda part, x, z: -(part.group.ad(x) @ z), "group", "group", "group"),
    "apart": (lambda part, y, z: part.space.difference(y, z), "space", "space", "displacement"),
}
"""Name -> (of one part, which sizes its two arguments and its result have)."""


def staged_module(vehicle: ActionVehicle, method: Integrator, samples: tuple[float, ...]) -> str:
    """Text of the module, with the functions `rollout` and `start` that other kernels have.

    samples: moments of sampled controls; none where a row is held over the step.
    """
    action, controls = vehicle.action, len(vehicle.controls)
    flow = StagedFlow(action.space.size, action.group.dim, controls, samples)
    end, difference = method.on_flow(flow, Scaled())
    places = {"y": flow.place(flow.y), "n": flow.place(end), "l": flow.place(flow.new(action.space.size))}
    error = None if difference is None else (flow.place(difference), difference.size)
    maps = [_mapped(name, action) for name in sorted(flow.maps - {"rate"})]
    rate, size = _rate_along(vehicle, flow.used) if vehicle.copies else (_rate(vehicle), flow.used)
    rollout = _rollout(flow, places, error, size, controls, samples)
    return module([*maps, rate, rollout, _start(action.space.size)])


def _copy(function: Function, to: str, of: str, size: int) -> None:
    function.declared.add("declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)")
    function.put(f"call void @llvm.memcpy.p0.p0.i64(ptr {to}, ptr {of}, i64 {8 * size}, i1 false)")


def _start(size: int) -> Function:
    """The private state of a node is the node."""
    function = Function()
    function.begin("start")
    function.pointers(*START)
    _copy(function, "%y", "%node", size)
    function.end()
    return function


def quantities(vehicle: ActionVehicle, code: Code, p: ca.SX) -> Quantities:
    """Parameters by name; of those that there is one of for each copy the stack."""
    found, at = vars(vehicle.symbols(p)).copy(), 0
    counts = vehicle.counts
    for q in vehicle.parameters:
        if q.per and q.name not in vehicle.absent:
            place = Place("p", begin=at, stride=q.size // counts[q.per])
            found[q.name] = code.rows(place, counts[q.per])
        at += q.size
    return Quantities(**found)


_RATE = "ptr %a, i64 %y, i64 %out, ptr noalias readonly %u, i64 %row, ptr noalias readonly %p"


def _rate(vehicle: ActionVehicle) -> Function:
    """The function that finds the algebra's element."""
    function = Function()
    function.begin("rate", _RATE, "void")
    y, u = ca.SX.sym("y", vehicle.action.space.size), ca.SX.sym("u", len(vehicle.controls))
    p = ca.SX.sym("p", vehicle.parameter_count)
    known = [(y, function.entry("%a", "%y")), (u, function.entry("%u", "%row")), (p, "%p")]
    found = function.expression(known, vehicle.generator(y, u, vehicle.symbols(p)))
    function.stored(function.entry("%a", "%out"), found)
    function.end("void")
    return function


def _rate_along(vehicle: ActionVehicle, begin: int) -> tuple[Function, int]:
    """The same for copies that a formula goes along, and how much room it needs."""
    action, function = vehicle.action, Function()
    function.begin("rate", _RATE, "void")
    u, p = ca.SX.sym("u", len(vehicle.controls)), ca.SX.sym("p", vehicle.parameter_count)
    code = Code(function, [(u, function.entry("%u", "%row")), (p, "%p")], "a", begin)
    point = code.rows(Place("a", "y", stride=action.space.size // vehicle.copies), vehicle.copies)
    found = vehicle.generator(point, u, quantities(vehicle, code, p))
    assert isinstance(found, Rows)
    x = ca.SX.sym("x", found.size)
    loop(function, found.count, [Piece([(x, found.place)], x, Place("a", "out", stride=found.size))])
    function.end("void")
    return function, code.used


def _mapped(name: str, action: Action) -> Function:
    """A map of the whole product: one loop for each run of equal parts, or of equal rows of parts."""
    one, *kinds = _MAPS[name]
    function = Function()
    function.begin(name, "ptr %a, i64 %y, i64 %x, i64 %out", "void")
    at = [0, 0, 0]
    for block, count in runs(action.parts or (action,)):
        sizes = [_sizes(part, kinds) for part in block]
        stride = [sum(column) for column in zip(*sizes, strict=True)]
        begin, pieces = at, []
        for part, size in zip(block, sizes, strict=True):
            x, z = ca.SX.sym("x", size[0]), ca.SX.sym("z", size[1])
            arguments = zip(("y", "x", "out"), begin, stride, strict=True)
            first, second, result = (Place("a", *each) for each in arguments)
            pieces.append(Piece([(x, first), (z, second)], one(part, x, z), result))
            begin = [first + n for first, n in zip(begin, size, strict=True)]
        loop(function, count, pieces)
        at = [first + count * n for first, n in zip(at, stride, strict=True)]
    function.end("void")
    return function


def runs(parts: Sequence[Action]) -> list[tuple[tuple[Action, ...], int]]:
    """(parts that stand beside each other, how often they do one after the other), the fewest parts in all."""
    found: list[tuple[tuple[Action, ...], int]] = []
    at = 0
    while at < len(parts):
        best: tuple[tuple[Action, ...], int] = ((parts[at],), 1)
        for size in range(1, (len(parts) - at) // 2 + 1):
            block, count = tuple(parts[at : at + size]), 1
            while all(
                a is b for a, b in zip_longest(block, parts[at + count * size : at + (count + 1) * size])
            ):
                count += 1
            if count > 1 and (count - 1) * size > (best[1] - 1) * len(best[0]):
                best = (block, count)
        found.append(best)
        at += len(best[0]) * best[1]
    return found


def _sizes(part: Action, kinds: Sequence[str]) -> list[int]:
    sizes = {"space": part.space.size, "group": part.group.dim, "displacement": part.space.dim}
    return [sizes[kind] for kind in kinds]


def _rollout(
    flow: StagedFlow,
    places: dict[str, int],
    error: tuple[int, int] | None,
    size: int,
    controls: int,
    samples: tuple[float, ...],
) -> Function:
    function, n = Function(), flow.y.size
    function.declared |= {"declare ptr @malloc(i64)", "declare void @free(ptr)"}
    function.begin("rollout")
    function.pointers(*STEP)
    function.put(f"%a = call ptr @malloc(i64 {8 * size})")
    state = _Stretches(function, flow, places, error, divided_rows=bool(error and samples))
    given = {"h": function.loaded("%h", 1)}
    _copy(function, state.begun, "%y", n)
    rollout = Rollout(function, given, n)
    if error is not None:
        rollout.divided(state, samples, controls)
    else:
        rollout.plain(state)
    _copy(function, "%y", state.far, n)
    _copy(function, "%node", state.begun, n)
    function.put("call void @free(ptr %a)")
    rollout.report()
    return function


class _Stretches(State):
    """States in stretches of the array."""

    def __init__(
        self,
        function: Function,
        flow: StagedFlow,
        places: dict[str, int],
        error: tuple[int, int] | None,
        *,
        divided_rows: bool,
    ) -> None:
        """places: of the state of the step `y`, the next one `n`, the last good one `l`; error: place and size.

        divided_rows: rows of controls come with every part of a step.
        """
        self._function, self._flow, self._places, self._error = function, flow, places, error
        self._divided_rows = divided_rows

    @property
    def begun(self) -> str:  # type: ignore[override]
        return self._address(self._places["l" if self._error else "y"])

    @property
    def far(self) -> str:  # type: ignore[override]
        return self._address(self._places["y" if self._error else "n"])

    def accept(self) -> None:
        self.take(self._address(self._places["y"]), self._address(self._places["n"]))

    def end(self) -> None:
        """It is there."""

    def take(self, to: str, of: str) -> None:
        _copy(self._function, to, of, self._flow.y.size)

    def advance(self, given: Named, over: str) -> tuple[str, str]:
        function, h = self._function, given["h"][0]
        controls = function.array(given["u"]) if self._divided_rows else "%u"
        for step in self._flow.steps:
            if isinstance(step, Sum):
                self._sum(step, h)
                continue
            places = [f"i64 {place}" for place in step.places]
            if step.row is not None:
                places += [f"ptr {controls}", f"i64 {step.row}", "ptr %p"]
            function.put(f"call void @{step.name}(ptr %a, {', '.join(places)})")
        total = self._total(self._places["n"], self._flow.y.size, lambda x: x)
        error = ""
        if self._error is not None:
            function.declared.add("declare double @llvm.sqrt.f64(double)")
            squares = self._total(*self._error, lambda x: function.new(f"fmul contract double {x}, {x}"))
            error = function.new(f"call double @llvm.sqrt.f64(double {squares})")
            total = function.new(f"fadd double {total}, {error}")
        return function.finite([total]), error

    def _address(self, place: int, index: str = "") -> str:
        at = self._function.entry("%a", place)
        return self._function.entry(at, index) if index else at

    def _sum(self, step: Sum, h: str) -> None:
        """out = sum of factors times stretches."""
        function, terms = self._function, []
        for (place, power), coefficient in step.value.terms.items():
            factor = splat(coefficient, 1)
            for _ in range(power):
                factor = function.new(f"fmul double {h}, {factor}")
            if coefficient:
                terms.append((place, factor))

        def entry(index: str, carried: list[str]) -> list[str]:
            total = splat(-0.0, 1)
            for place, factor in terms:
                (x,) = function.loaded(self._address(place, index), 1)
                product = function.new(f"fmul contract double {factor}, {x}")
                total = function.new(f"fadd contract double {total}, {product}")
            function.stored(self._address(step.out, index), [total])
            return carried

        function.times(step.value.size, [], entry)

    def _total(self, place: int, size: int, of: Callable[[str], str]) -> str:
        """Sum over a stretch."""
        function = self._function

        def entry(index: str, carried: list[str]) -> list[str]:
            (x,) = function.loaded(self._address(place, index), 1)
            return [function.new(f"fadd contract double {carried[0]}, {of(x)}")]

        return function.times(size, [splat(0.0, 1)], entry)[0]
