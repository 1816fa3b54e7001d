"""Machine code that evaluates one expression for many columns at once: SX -> LLVM -> a function of arrays.

Where the kernels advance one state many times, an optimiser wants values and derivatives of one node's
expressions at all nodes. Columns stand side by side in vector registers, so an instruction does its work for
`WIDTH` of them. LLVM's text is printed directly and selected without optimising, as CasADi has shared what can be
shared: thousands of instructions are compiled in tenths of a second, and run no slower than after a second of passes.
"""

import ctypes
import re
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache, partial

import casadi as ca
import numpy as np

from sim.compiler.vector_code import Function, Instructions, module
from sim.native.function import native
from sim.native.objects import Engine, Loading, loaded
from sim.native.text import splat
from sim.native.types import called
from sim.platform.values import dataclass
from sim.vehicles.forms.base import Structure
from sim.vehicles.forms.observation import observation

WIDTH = 4
_REGISTER = re.compile(r"%\w+")


@dataclass(frozen=True)
class Repeated:
    """A function (..., z, ...) -> (z, change), carried out again and again."""

    argument: int
    """Which input z is: it is overwritten."""
    below: float
    """Until the changes (1,) of columns that stand side by side are below this, or not a number."""
    most: int
    """Times."""


@dataclass(frozen=True)
class Along:
    """A function that is linear in one of its inputs, for every column of the others along each unit vector: what does
    not depend on the direction is worked out once."""

    argument: int
    """Which input that is: it is given as the identity."""


class _Columns(Instructions):
    """Those of a pass over columns that stand side by side; with `along` what does not depend on the direction, which
    is worked out once, and in `turned` what does."""

    def __init__(
        self, function: ca.Function, shared: frozenset[int], repeated: Repeated | None, along: Along | None
    ) -> None:
        self._shared, self._repeated, self._along = shared, repeated, along
        self._starts: dict[str, list[str]] = {}
        self.turned: list[str] = []
        self._turning = {"%direction"}
        """Registers that depend on the direction."""
        self.results: dict[int, dict[int, str]] = {0: {}, 1: {}}
        """Outputs of a repeated function, which are stored only when all inputs have been read."""
        super().__init__(function, "v", WIDTH)
        if repeated is not None:
            for entry, vector in self.results[0].items():
                self._put(f"in{repeated.argument}", function.size1_in(repeated.argument), entry, vector)

    def new(self, text: str) -> str:
        if self._along is None or self._turning.isdisjoint(_REGISTER.findall(text)):
            return super().new(text)
        name = f"%{self.fresh()}"
        self._turning.add(name)
        self.turned.append(f"  {name} = {text}")
        return name

    def _start(self, array: str, size: int) -> list[str]:
        """Where the columns of this pass start in an array."""
        if array not in self._starts:
            counters = [f"%c{lane}" for lane in range(self._width)]
            if self._along is not None and array.startswith("out"):
                counters = [self.new(f"add i64 %first{lane}, %direction") for lane in range(self._width)]
            offsets = [self.new(f"mul i64 {counter}, {size}") for counter in counters]
            self._starts[array] = [
                self.new(f"getelementptr double, ptr %{array}, i64 {offset}") for offset in offsets
            ]
        return self._starts[array]

    def _load(self, argument: int, entry: int) -> str:
        array = f"in{argument}"
        if self._along is not None and argument == self._along.argument:
            row = self.new(f"mul i64 %direction, {self._f.size1_in(argument)}")
            array = self.new(f"getelementptr double, ptr %{array}, i64 {row}").removeprefix("%")
        if argument in self._shared or (self._along is not None and argument == self._along.argument):
            at = self.new(f"getelementptr double, ptr %{array}, i64 {entry}")
            one = self.new(f"load double, ptr {at}, align 8")
            return self.spread(one, self._width)
        vector = "poison"
        for lane, start in enumerate(self._start(array, self._f.size1_in(argument))):
            at = self.new(f"getelementptr double, ptr {start}, i64 {entry}")
            one = self.new(f"load double, ptr {at}, align 8")
            vector = self.new(f"insertelement {self._vector} {vector}, double {one}, i32 {lane}")
        return vector

    def _store(self, result: int, entry: int, register: str) -> None:
        if self._repeated is None:
            self._put(f"out{result}", self._f.size1_out(result), entry, register)
        else:
            self.results[result][entry] = register

    def _put(self, array: str, size: int, entry: int, vector: str) -> None:
        for lane, start in enumerate(self._start(array, size)):
            at = self.new(f"getelementptr double, ptr {start}, i64 {entry}")
            one = self.new(f"extractelement {self._vector} {vector}, i32 {lane}")
            lines = self.lines if self._along is None else self.turned
            lines.append(f"  store double {one}, ptr {at}, align 8")


class ColumnKernel:
    """A function of columns: inputs (size, n) or, where shared, (size,); outputs (size, n). Columns are contiguous.

    With `along` outputs are (size, directions, n): matrices, column after column.
    """

    def __init__(
        self,
        function: ca.Function,
        shared: Sequence[int] = (),
        repeated: Repeated | None = None,
        along: Along | None = None,
    ) -> None:
        """shared: indices of the inputs that are the same for all columns. Where repeated there are no other outputs.

        Raises TypeError for an operation that has no compiled form here.
        """
        text = _module(function, frozenset(shared), repeated, along)
        self._shared = frozenset(shared)
        self.sizes_in = tuple(function.size1_in(i) for i in range(function.n_in()))
        self.sizes_out = () if repeated else tuple(function.size1_out(i) for i in range(function.n_out()))
        self._loading = Loading(text)

    @cached_property
    def address(self) -> int:
        """Of machine code that is given a table of the arrays' addresses and the number of columns."""
        return int(self._loading.engine.get_function_address("columns"))

    @cached_property
    def _call(self) -> Callable[[int, int], None]:
        return ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(self.address)

    def __call__(self, n: int, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray]) -> None:
        """Fill the outputs; all arrays are float64 and contiguous, column after column."""
        at = table(
            inputs, outputs
        )  # kept: other threads run during the call, and take memory that nobody holds
        self._call(at.ctypes.data, n)

    def rows(self, *given: np.ndarray) -> np.ndarray:
        """(n, size) of the only output, for inputs (n, size), or (size,) where shared."""
        inputs = [np.ascontiguousarray(a, float) for a in given]
        n = next(len(a) for i, a in enumerate(inputs) if i not in self._shared)
        out = np.empty((n, self.sizes_out[0]))
        self(n, inputs, [out])
        return out


def table(inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray]) -> np.ndarray:
    """Where the arrays are, as a kernel's machine code wants to be told; it holds no references to them."""
    return np.array([a.ctypes.data for a in (*inputs, *outputs)], np.int64)


def _module(
    function: ca.Function, shared: frozenset[int], repeated: Repeated | None, along: Along | None
) -> str:
    body, code = _Columns(function, shared, repeated, along), Function(WIDTH)
    arrays = [f"in{i}" for i in range(function.n_in())]
    arrays += [] if repeated else [f"out{i}" for i in range(function.n_out())]
    code.begin("columns", "ptr %table, i64 %n", "void")
    code.pointers(*arrays)
    code.put("%last = sub i64 %n, 1", "%empty = icmp slt i64 %n, 1")
    code.branch("%empty", "done", "loop")
    code.label("loop")
    code.put("%k = phi i64 [ 0, %entry ], [ %next, %settled ]")
    # Columns past the end repeat the last one: no second, scalar copy of the code.
    for lane in range(WIDTH):
        code.put(f"%raw{lane} = add i64 %k, {lane}")
        code.put(f"%c{lane} = call i64 @llvm.smin.i64(i64 %raw{lane}, i64 %last)")
        if along is not None:
            code.put(f"%first{lane} = mul i64 %c{lane}, {function.size1_in(along.argument)}")
    if along is not None:
        code.lines += body.lines
        _in_turn(code, body, function.size1_in(along.argument))
    elif repeated is not None:
        _again(code, body, repeated)
    else:
        code.lines += body.lines
        code.jump("settled")
    code.label("settled")
    code.put(f"%next = add i64 %k, {WIDTH}", "%more = icmp slt i64 %next, %n")
    code.branch("%more", "loop", "done")
    code.label("done")
    code.end("void")
    code.declared |= {*body.declared, "declare i64 @llvm.smin.i64(i64, i64)"}
    return module([code])


def _in_turn(code: Function, body: _Columns, directions: int) -> None:
    """Direction after direction."""
    code.jump("turned")
    code.label("turned")
    code.put("%direction = phi i64 [ 0, %loop ], [ %following, %turned ]")
    code.lines += body.turned
    code.put("%following = add i64 %direction, 1", f"%left = icmp slt i64 %following, {directions}")
    code.branch("%left", "turned", "settled")


def _again(code: Function, body: _Columns, repeated: Repeated) -> None:
    """Once more while any column still changes."""
    any_of, changes = f"@llvm.vector.reduce.or.v{WIDTH}i1", body.results[1][0]
    code.declared.add(f"declare i1 {any_of}({code.bits})")
    code.jump("again")
    code.label("again")
    code.put("%time = phi i64 [ 1, %loop ], [ %later, %again ]")
    code.lines += body.lines
    code.put(
        f"%moves = fcmp oge {code.vector} {changes}, {splat(repeated.below, WIDTH)}",
        f"%any = call i1 {any_of}({code.bits} %moves)",
        f"%left = icmp slt i64 %time, {repeated.most}",
        "%repeat = and i1 %any, %left",
        "%later = add i64 %time, 1",
    )
    code.branch("%repeat", "again", "settled")


Launch = tuple[ColumnKernel, int, Sequence[np.ndarray], Sequence[np.ndarray]]
"""(kernel, columns, inputs, outputs)."""


class Launches:
    """Kernels to be run again and again on the same arrays."""

    def __init__(self, *launches: Launch, after: Sequence[Callable[[], None]] = ()) -> None:
        """after: what is to be done with what they have found."""
        self._kept = [(kernel, table(given, out), given, out) for kernel, _, given, out in launches]
        rows = [
            (kernel.address, addresses.ctypes.data, launch[1])
            for (kernel, addresses, _, _), launch in zip(self._kept, launches, strict=True)
        ]
        self._table = np.array(rows, np.int64).reshape(-1, 3)
        self._after = tuple(after)

    def __call__(self) -> None:
        _launched(self._table)
        for each in self._after:
            each()


@native("void(int64[:, ::1])")
def _launched(table: np.ndarray) -> None:
    """Run kernels in turn: rows of (machine code, its table of arrays, columns)."""
    for i in range(table.shape[0]):
        called(table[i, 0], table[i, 1], table[i, 2])


_TABLE = ("node", "after", "u", "p", "h", "row")
_AA = "float64[:, ::1]"
_SHORT = 3000
"""Lines: to optimise more takes longer than it saves."""

Observe = Callable[[np.ndarray, np.ndarray, np.ndarray, float, np.ndarray], None]
"""(nodes, us, p, h, rows): fills the rows with what is observed of nodes (n, node size) a step h apart.

us (k, n_controls): the last row goes on."""


def observer(structure: Structure) -> Observe:
    """Of a vehicle."""
    return partial(_observe, structure)


def _observe(
    structure: Structure, nodes: np.ndarray, us: np.ndarray, p: np.ndarray, h: float, rows: np.ndarray
) -> None:
    address, _ = _code(structure)
    observer_rows(address, nodes, us, p, h, rows)


@lru_cache(maxsize=256)
def _code(structure: Structure) -> tuple[int, Engine]:
    """Address of a function of one row, and what owns it."""
    vehicle = structure.vehicle
    size = vehicle.node_layout.size
    node, after, u = ca.SX.sym("node", size), ca.SX.sym("after", size), ca.SX.sym("u", len(vehicle.controls))
    p, h = ca.SX.sym("p", vehicle.parameter_count), ca.SX.sym("h")
    _, row = observation(vehicle, node, after, u, h, vehicle.symbols(p))
    function = Function(1)
    function.begin("observe")
    function.pointers(*_TABLE)
    symbols = zip(_TABLE, (node, after, u, p, h), strict=False)
    known = [(x, function.loaded(f"%{name}", x.numel())) for name, x in symbols]
    function.stored("%row", function.expression(known, row))
    function.end()
    short = len(function.lines) < _SHORT
    engine = loaded(module([function]), optimised=short)
    return engine.get_function_address("observe"), engine


@native(f"void(int64, {_AA}, {_AA}, float64[::1], float64, {_AA})")
def observer_rows(
    code: int, nodes: np.ndarray, us: np.ndarray, p: np.ndarray, h: float, rows: np.ndarray
) -> None:
    step, table, n = np.empty(1), np.empty(6, np.int64), nodes.shape[0]
    step[0] = h
    table[3], table[4] = p.ctypes.data, step.ctypes.data
    for k in range(n):
        table[0] = nodes[k].ctypes.data
        table[1] = nodes[min(k + 1, n - 1)].ctypes.data
        table[2] = us[min(k, us.shape[0] - 1)].ctypes.data
        table[5] = rows[k].ctypes.data
        called(code, table.ctypes.data, 0)


def energies(structure: Structure, nodes: np.ndarray, p: np.ndarray) -> np.ndarray:
    """(n,) J at nodes (n, node size) under parameters p, which costs a fraction of all that can be observed."""
    return _energy(structure).rows(nodes, p)[:, 0]


@lru_cache(maxsize=256)
def _energy(structure: Structure) -> ColumnKernel:
    vehicle = structure.vehicle
    node, p = ca.SX.sym("node", vehicle.node_layout.size), ca.SX.sym("p", vehicle.parameter_count)
    energy = ca.densify(vehicle.energy(node, vehicle.symbols(p)))
    return ColumnKernel(ca.Function("energy", [node, p], [energy], {"cse": True}), (1,))
