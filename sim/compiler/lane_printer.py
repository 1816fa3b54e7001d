"""Prints the steps of methods as LLVM on vectors: one vehicle, or one direction of a derivative, in each part.

Expressions become instructions on registers; the blocks of an implicit step are solved in their order by Newton's
method, in which all parts of a register iterate until the last of them has converged.
"""

from collections.abc import Sequence

import casadi as ca

from sim.compiler.blocks import Block, solution_order
from sim.compiler.newton import INLINE_UNKNOWNS, NEWTON_SWEEPS, NEWTON_TOLERANCE
from sim.compiler.vector_code import Body, register_types, splat, type_suffix
from sim.integrators.base import Scheme
from sim.symbolic import solve

Named = dict[str, list[str]]
"""Symbol -> the registers of its entries."""
Known = Sequence[tuple[ca.SX, Sequence[str]]]
"""Symbols with the registers of their entries."""


class Lines(Body):
    """Instructions of an expression whose inputs are registers."""

    def __init__(self, prefix: str, known: Known, expression: ca.SX, width: int) -> None:
        self._given = [list(names) for _, names in known]
        self.found: dict[int, str] = {}
        dense = ca.densify(ca.vec(expression))
        function = ca.Function("f", [symbols for symbols, _ in known], [dense])
        super().__init__(function, frozenset(), None, prefix=prefix, width=width)

    def _load(self, argument: int, entry: int) -> str:
        return self._given[argument][entry]

    def _store(self, array: str, size: int, entry: int, vector: str) -> None:
        self.found[entry] = vector

    @property
    def registers(self) -> list[str]:
        """Registers of the expression's entries."""
        return [self.found.get(entry, splat(0.0, self._width)) for entry in range(self._f.size1_out(0))]


class Printer:
    """One function under construction."""

    def __init__(self, scheme: Scheme, width: int) -> None:
        self.scheme, self.width = scheme, width
        self.vector, self.bits = register_types(width)
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

    def expression(self, known: Known, wanted: ca.SX) -> list[str]:
        """Registers of an expression's entries."""
        if wanted.numel() == 0:
            return []
        lines = Lines(self.fresh("e"), known, wanted, self.width)
        self.lines += lines.lines
        self.declarations |= lines.declarations
        return lines.registers

    def pointers(self, *names: str) -> None:
        """Addresses out of the table, as registers of these names."""
        for k, name in enumerate(names):
            self.add(f"%at_{name} = getelementptr ptr, ptr %table, i64 {k}")
            self.add(f"%{name} = load ptr, ptr %at_{name}, align 8")

    def constants(self) -> Named:
        """Parameters, step and the wrench, which is none, from %p and %h."""
        step = self.value("load double, ptr %h, align 8")
        if self.width > 1:
            first = self.value(f"insertelement {self.vector} poison, double {step}, i32 0")
            zeros = f"<{self.width} x i32> zeroinitializer"
            step = self.value(f"shufflevector {self.vector} {first}, {self.vector} poison, {zeros}")
        i = self.scheme.inputs
        none = [splat(0.0, self.width)] * i.w.numel()
        return {"p": self.loaded("%p", i.p.numel()), "h": [step], "w": none}

    def row(self, array: str, size: int, k: str) -> str:
        """Where the k-th row of an array (rows, size, width) begins; k: a register."""
        offset = self.value(f"mul i64 {k}, {size}")
        return self.value(f"getelementptr {self.vector}, ptr {array}, i64 {offset}")

    def loaded(self, array: str, size: int) -> list[str]:
        """Entries at an address."""
        found = []
        for entry in range(size):
            at = self.value(f"getelementptr {self.vector}, ptr {array}, i64 {entry}")
            found.append(self.value(f"load {self.vector}, ptr {at}, align 8"))
        return found

    def stored(self, array: str, registers: Sequence[str]) -> None:
        """Entries to an address."""
        for entry, register in enumerate(registers):
            at = self.value(f"getelementptr {self.vector}, ptr {array}, i64 {entry}")
            self.add(f"store {self.vector} {register}, ptr {at}, align 8")

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
        zeros = [splat(0.0, self.width)] * self.scheme.z.numel()
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
        change, size = splat(0.0, self.width), splat(1.0, self.width)
        for unknown, step in zip(block.unknowns, update, strict=True):
            z[unknown] = self.value(f"fsub {self.vector} {entering[unknown]}, {step}")
            change = self.value(f"fadd {self.vector} {change}, {self.absolute(step)}")
            size = self.value(f"fadd {self.vector} {size}, {self.absolute(z[unknown])}")
        limit = self.value(f"fmul {self.vector} {size}, {splat(NEWTON_TOLERANCE, self.width)}")
        settled = self.all(self.value(f"fcmp ole {self.vector} {change}, {limit}"))
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
            f"  {entering[k]} = phi {self.vector} [ {guesses[k]}, %{before} ], [ {z[k]}, %{end} ]"
            for k in block.unknowns
        ]
        self.lines[begin:begin] = phis
        self.label(done)

    def absolute(self, register: str) -> str:
        name = f"@llvm.fabs.{type_suffix(self.width)}"
        self.declarations.add(f"declare {self.vector} {name}({self.vector})")
        return self.value(f"call {self.vector} {name}({self.vector} {register})")

    def all(self, bits: str) -> str:
        if self.width == 1:
            return bits
        name = f"@llvm.vector.reduce.and.v{self.width}i1"
        self.declarations.add(f"declare i1 {name}({self.bits})")
        return self.value(f"call i1 {name}({self.bits} {bits})")

    def finite(self, registers: Sequence[str]) -> str:
        """Whether all of them are: their sum less itself is no number where one is not."""
        total = splat(0.0, self.width)
        for register in registers:
            total = self.value(f"fadd {self.vector} {total}, {register}")
        nothing = self.value(f"fsub {self.vector} {total}, {total}")
        return self.all(self.value(f"fcmp ord {self.vector} {nothing}, {nothing}"))


def served(scheme: Scheme) -> list[Block] | None:
    """Blocks of a step that can be printed; None where steps are divided, or unknowns hang together in large ones."""
    if scheme.error is not None or scheme.substeps != (1.0,):
        return None
    blocks = solution_order(scheme)
    large = any(not block.linear and len(block.unknowns) > INLINE_UNKNOWNS for block in blocks)
    return None if large else blocks
