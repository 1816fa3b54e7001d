"""Machine code that advances many vehicles side by side: one in each part of a vector register.

The same blocks as in a kernel of one vehicle, printed as LLVM on vectors of `WIDTH` numbers. All vehicles of a register
iterate until the last of them has converged. Where one does not, or leaves the numbers, the register stops before
that step and says so: the kernel of one vehicle, which has a robust solver, goes on from there.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import casadi as ca
import numpy as np

from sim.compiler.blocks import Block, silenced, solution_order
from sim.compiler.columns import Body, splat
from sim.compiler.objects import loaded
from sim.compiler.source import INLINE_UNKNOWNS, NEWTON_SWEEPS, NEWTON_TOLERANCE
from sim.integrators.base import Integrator, Scheme
from sim.symbolic import solve
from sim.vehicles.structure import Structure

WIDTH = 8
_V = f"<{WIDTH} x double>"
_B = f"<{WIDTH} x i1>"


@dataclass(frozen=True, eq=False)
class LaneCode:
    """Addresses of two functions of (table of addresses, steps).

    The table has y (ny, WIDTH), u (nu, WIDTH), p (np, WIDTH), h (1,) and node (size, WIDTH). `advance` takes so many
    steps and returns how many it has done, y being the last good state; `node` fills in the node.
    """

    advance: int
    node: int
    engine: object
    """Owns the code."""


@lru_cache(maxsize=64)
def lane_code(structure: Structure, integrator: Integrator) -> LaneCode | None:
    """Of a pair; None for methods whose steps are divided or whose unknowns hang together in larger blocks."""
    scheme = integrator.scheme(structure.vehicle)
    if scheme.error is not None or scheme.substeps != (1.0,):
        return None
    blocks = solution_order(scheme)
    if any(not block.linear and len(block.unknowns) > INLINE_UNKNOWNS for block in blocks):
        return None
    engine = loaded(_module(scheme, blocks), optimised=True)
    return LaneCode(engine.get_function_address("advance"), engine.get_function_address("node"), engine)


Named = dict[str, list[str]]
"""Symbol -> the registers of its entries."""


class _Lines(Body):
    """Instructions of an expression whose inputs are registers."""

    def __init__(self, prefix: str, known: Sequence[tuple[ca.SX, Sequence[str]]], expression: ca.SX) -> None:
        self._given = [list(names) for _, names in known]
        self.found: dict[int, str] = {}
        dense = ca.densify(ca.vec(expression))
        function = ca.Function("f", [symbols for symbols, _ in known], [dense])
        super().__init__(function, frozenset(), None, prefix=prefix, width=WIDTH)

    def _load(self, argument: int, entry: int) -> str:
        return self._given[argument][entry]

    def _store(self, array: str, size: int, entry: int, vector: str) -> None:
        self.found[entry] = vector

    @property
    def registers(self) -> list[str]:
        """Registers of the expression's entries."""
        return [self.found.get(entry, splat(0.0, WIDTH)) for entry in range(self._f.size1_out(0))]


class _Printer:
    """One function under construction."""

    def __init__(self, scheme: Scheme) -> None:
        self.scheme = scheme
        self.lines: list[str] = []
        self.declarations: set[str] = set()
        self._count = 0
        self.block = "entry"
        """Label of the basic block that is being filled, for phis."""

    def fresh(self, word: str) -> str:
        self._count += 1
        return f"{word}{self._count}"

    def add(self, *lines: str) -> None:
        self.lines += [line if line.endswith(":") else f"  {line}" for line in lines]

    def label(self, name: str) -> None:
        self.add(f"{name}:")
        self.block = name

    def value(self, text: str) -> str:
        name = f"%{self.fresh('x')}"
        self.add(f"{name} = {text}")
        return name

    def expression(self, known: Sequence[tuple[ca.SX, Sequence[str]]], wanted: ca.SX) -> list[str]:
        """Registers of an expression's entries."""
        if wanted.numel() == 0:
            return []
        lines = _Lines(self.fresh("e"), known, wanted)
        self.lines += lines.lines
        self.declarations |= lines.declarations
        return lines.registers

    def arrays(self) -> Named:
        """Addresses from the table; u, p and h are loaded, y is not."""
        i = self.scheme.inputs
        sizes = {"y": self.scheme.y.numel(), "u": i.u.numel(), "p": i.p.numel()}
        found: Named = {}
        for k, name in enumerate(("y", "u", "p", "h", "node")):
            self.add(f"%at_{name} = getelementptr ptr, ptr %table, i64 {k}")
            self.add(f"%{name} = load ptr, ptr %at_{name}, align 8")
        for name in ("y", "u", "p"):
            found[name] = [self._loaded(name, entry) for entry in range(sizes[name])]
        one = self.value("load double, ptr %h, align 8")
        first = self.value(f"insertelement {_V} poison, double {one}, i32 0")
        shuffle = f"shufflevector {_V} {first}, {_V} poison, <{WIDTH} x i32> zeroinitializer"
        found["h"] = [self.value(shuffle)]
        found["w"] = [splat(0.0, WIDTH)] * i.w.numel()
        return found

    def _loaded(self, array: str, entry: int) -> str:
        at = self.value(f"getelementptr {_V}, ptr %{array}, i64 {entry}")
        return self.value(f"load {_V}, ptr {at}, align 8")

    def stored(self, array: str, registers: Sequence[str]) -> None:
        for entry, register in enumerate(registers):
            at = self.value(f"getelementptr {_V}, ptr %{array}, i64 {entry}")
            self.add(f"store {_V} {register}, ptr {at}, align 8")

    def known(self, values: Named, y: Sequence[str], z: Sequence[str]) -> list[tuple[ca.SX, Sequence[str]]]:
        s, i = self.scheme, self.scheme.inputs
        return [
            (s.z, z),
            (s.y, y),
            (i.u, values["u"]),
            (i.w, values["w"]),
            (i.p, values["p"]),
            (i.h, values["h"]),
        ]

    def solved(self, values: Named, y: Sequence[str], blocks: list[Block], failed: str) -> list[str]:
        """Registers of the unknowns; jumps to `failed` where some have no solution."""
        if not blocks:
            return []
        zeros = [splat(0.0, WIDTH)] * self.scheme.z.numel()
        z = self.expression(self.known(values, y, zeros)[1:], self.scheme.guess)
        for block in blocks:
            own = self.scheme.z[list(block.unknowns)]
            if block.linear:
                none = ca.SX.zeros(len(block.unknowns))
                rest, matrix = (ca.substitute(part, own, none) for part in (block.residual, block.jacobian))
                found = self.expression(self.known(values, y, z), solve(matrix, -rest))
                for unknown, register in zip(block.unknowns, found, strict=True):
                    z[unknown] = register
            else:
                self._newton(values, y, z, block, failed)
        return z

    def _newton(self, values: Named, y: Sequence[str], z: list[str], block: Block, failed: str) -> None:
        """Newton's method on one block, in place of its registers in z."""
        before, loop, done = self.block, self.fresh("again"), self.fresh("solved")
        self.add(f"br label %{loop}")
        self.label(loop)
        begin = len(self.lines)
        time = f"%{self.fresh('time')}"
        entering = {unknown: f"%{self.fresh('z')}" for unknown in block.unknowns}
        guesses = {unknown: z[unknown] for unknown in block.unknowns}
        for unknown, register in entering.items():
            z[unknown] = register
        update = self.expression(self.known(values, y, z), solve(block.jacobian, block.residual))
        change, size = splat(0.0, WIDTH), splat(1.0, WIDTH)
        for unknown, step in zip(block.unknowns, update, strict=True):
            z[unknown] = self.value(f"fsub {_V} {entering[unknown]}, {step}")
            change = self.value(f"fadd {_V} {change}, {self.absolute(step)}")
            size = self.value(f"fadd {_V} {size}, {self.absolute(z[unknown])}")
        limit = self.value(f"fmul {_V} {size}, {splat(NEWTON_TOLERANCE, WIDTH)}")
        settled = self.all(self.value(f"fcmp ole {_V} {change}, {limit}"))
        later = self.value(f"add i64 {time}, 1")
        check = self.fresh("check")
        self.add(f"br i1 {settled}, label %{done}, label %{check}")
        end = self.fresh("back")
        self.label(check)
        left = self.value(f"icmp slt i64 {later}, {NEWTON_SWEEPS}")
        self.add(f"br i1 {left}, label %{end}, label %{failed}")
        self.label(end)
        self.add(f"br label %{loop}")
        phis = [f"  {time} = phi i64 [ 0, %{before} ], [ {later}, %{end} ]"]
        phis += [
            f"  {entering[k]} = phi {_V} [ {guesses[k]}, %{before} ], [ {z[k]}, %{end} ]"
            for k in block.unknowns
        ]
        self.lines[begin:begin] = phis
        self.label(done)

    def absolute(self, register: str) -> str:
        name = f"@llvm.fabs.v{WIDTH}f64"
        self.declarations.add(f"declare {_V} {name}({_V})")
        return self.value(f"call {_V} {name}({_V} {register})")

    def all(self, bits: str) -> str:
        name = f"@llvm.vector.reduce.and.v{WIDTH}i1"
        self.declarations.add(f"declare i1 {name}({_B})")
        return self.value(f"call i1 {name}({_B} {bits})")

    def finite(self, registers: Sequence[str]) -> str:
        """Whether all of them are: their sum less itself is no number where one is not."""
        total = splat(0.0, WIDTH)
        for register in registers:
            total = self.value(f"fadd {_V} {total}, {register}")
        nothing = self.value(f"fsub {_V} {total}, {total}")
        return self.all(self.value(f"fcmp ord {_V} {nothing}, {nothing}"))


def _module(scheme: Scheme, blocks: list[Block]) -> str:
    texts, declarations = [], set()
    for build in (_advance, _node):
        printer = _Printer(scheme)
        build(printer, blocks)
        texts.append("\n".join(printer.lines))
        declarations |= printer.declarations
    return "\n".join([*texts, *sorted(declarations)])


Build = Callable[[_Printer, list[Block]], None]


def _advance(printer: _Printer, blocks: list[Block]) -> None:
    """Steps until they are done or one fails."""
    scheme = printer.scheme
    printer.lines.append("define i64 @advance(ptr noalias %table, i64 %n) {")
    printer.label("entry")
    values = printer.arrays()
    printer.add("%none = icmp slt i64 %n, 1", "br i1 %none, label %over, label %step")
    printer.label("step")
    begin = len(printer.lines)
    y = [f"%y{k}" for k in range(len(values["y"]))]
    z = printer.solved(values, y, blocks, "over")
    others = [scheme.y, scheme.inputs.u, scheme.inputs.w, scheme.inputs.p, scheme.inputs.h]
    wanted = silenced(scheme.y_next, scheme.z, others)[0] if scheme.z.numel() else scheme.y_next
    after = printer.expression(printer.known(values, y, z), wanted)
    good = printer.finite(after)
    printer.add(f"br i1 {good}, label %taken, label %over")
    last = printer.block
    printer.label("taken")
    # Stored at every step: one that fails later leaves the last good state.
    printer.stored("y", after)
    printer.add(
        "%later = add i64 %k, 1",
        "%more = icmp slt i64 %later, %n",
        "br i1 %more, label %step, label %through",
    )
    phis = ["  %k = phi i64 [ 0, %entry ], [ %later, %taken ]"]
    phis += [
        f"  %y{k} = phi {_V} [ {values['y'][k]}, %entry ], [ {after[k]}, %taken ]" for k in range(len(y))
    ]
    printer.lines[begin:begin] = phis
    printer.label("through")
    printer.add("ret i64 %n")
    printer.label("over")
    # Whoever jumps here has done as many steps as the counter says.
    failing = [line for line in printer.lines if "label %over" in line]
    assert failing, last
    printer.add(f"%did = phi i64 {_incoming(printer.lines)}", "ret i64 %did")
    printer.lines.append("}")


def _incoming(lines: Sequence[str]) -> str:
    """Of the block `over`: (steps done, block) of all that jump there."""
    found, block = [], ""
    for line in lines:
        if line.endswith(":"):
            block = line.removesuffix(":")
        elif "label %over" in line:
            found.append(f"[ {'0' if block == 'entry' else '%k'}, %{block} ]")
    return ", ".join(found)


def _node(printer: _Printer, blocks: list[Block]) -> None:
    """The public state where the next step begins; 0 where that step has no solution, else 1."""
    scheme = printer.scheme
    printer.lines.append("define i64 @node(ptr noalias %table, i64 %n) {")
    printer.label("entry")
    values = printer.arrays()
    z = printer.solved(values, values["y"], blocks, "over")
    found = printer.expression(printer.known(values, values["y"], z), scheme.node)
    printer.stored("node", found)
    printer.add("ret i64 1")
    printer.label("over")
    printer.add("ret i64 0")
    printer.lines.append("}")


def gathered(rows: np.ndarray) -> np.ndarray:
    """(groups, size, WIDTH) of rows (lanes, size); the last row fills what is left over."""
    lanes, size = rows.shape
    groups = -(-lanes // WIDTH)
    full = np.concatenate([rows, np.repeat(rows[-1:], groups * WIDTH - lanes, axis=0)])
    return np.ascontiguousarray(full.reshape(groups, WIDTH, size).swapaxes(1, 2))


def scattered(groups: np.ndarray, lanes: int) -> np.ndarray:
    """(lanes, size) of what `gathered` gave."""
    count, size, _ = groups.shape
    return np.ascontiguousarray(groups.swapaxes(1, 2).reshape(count * WIDTH, size)[:lanes])
