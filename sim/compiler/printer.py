"""Prints the steps of methods as LLVM: of one vehicle, or of several in the parts of vector registers.

Expressions become instructions on registers; the blocks of an implicit step are solved in their order by Newton's
method. A Jacobian may serve several updates. All parts of a register iterate until the last of them has converged.
"""

from collections.abc import Sequence

import casadi as ca

from sim.compiler.blocks import Block, solution_order
from sim.compiler.vector_code import Body, register_types, splat, type_suffix
from sim.integrators.base import Scheme
from sim.symbolic import solve

NEWTON_TOLERANCE = 1e-9
"""Relative size of the last Newton update; the error after it is its square."""
REUSED_ACCURACY = 1e-15
"""Where a Jacobian serves more updates: relative error that the product of its first and last leaves."""
NEWTON_SWEEPS = 6
INLINE_UNKNOWNS = 3
"""Larger blocks are solved on arrays, with pivots."""

Named = dict[str, list[str]]
"""Symbol -> the registers of its entries."""
Known = Sequence[tuple[ca.SX, Sequence[str]]]
"""Symbols with the registers of their entries."""


class Lines(Body):
    """Instructions of expressions whose inputs are registers."""

    def __init__(self, prefix: str, known: Known, expressions: Sequence[ca.SX], width: int) -> None:
        self._given = [list(names) for _, names in known]
        self._found: dict[tuple[str, int], str] = {}
        dense = [ca.densify(ca.vec(expression)) for expression in expressions]
        function = ca.Function("f", [symbols for symbols, _ in known], dense, {"cse": True})
        super().__init__(function, frozenset(), None, prefix=prefix, width=width)

    def _load(self, argument: int, entry: int) -> str:
        return self._given[argument][entry]

    def _store(self, array: str, size: int, entry: int, vector: str) -> None:
        self._found[array, entry] = vector

    def registers(self, k: int = 0) -> list[str]:
        """Registers of the entries of an expression."""
        zero = splat(0.0, self._width)
        return [self._found.get((f"out{k}", entry), zero) for entry in range(self._f.size1_out(k))]


class Function:
    """One function under construction: (table of addresses, whole number) -> whole number."""

    def __init__(self, width: int) -> None:
        """width: how many numbers stand side by side in its registers."""
        self.width = width
        self.vector, self.bits = register_types(width)
        self.lines: list[str] = []
        self.declarations: set[str] = set()
        self._variables: dict[str, str] = {}
        self._count = self._entry = 0
        self.block = "entry"
        """Label of the basic block that is being filled, for phis."""

    def begin(self, name: str) -> None:
        self.lines.append(f"define i64 @{name}(ptr noalias %table, i64 %n) {{")
        self.label("entry")
        self._entry = len(self.lines)

    def end(self) -> None:
        self.lines[self._entry : self._entry] = [
            f"  {name} = alloca {kind}, align 8" for name, kind in self._variables.items()
        ]
        self.lines.append("}")

    def fresh(self, word: str) -> str:
        self._count += 1
        return f"{word}{self._count}"

    def add(self, *lines: str) -> None:
        self.lines += [line if line.endswith(":") else f"  {line}" for line in lines]

    def label(self, name: str) -> None:
        self.add(f"{name}:")
        self.block = name

    def jump(self, label: str) -> None:
        self.add(f"br label %{label}")

    def branch(self, condition: str, yes: str, no: str) -> None:
        self.add(f"br i1 {condition}, label %{yes}, label %{no}")

    def value(self, text: str) -> str:
        name = f"%{self.fresh('x')}"
        self.add(f"{name} = {text}")
        return name

    def variable(self, begin: str | None = None, kind: str = "") -> str:
        """Something that may be written again: LLVM keeps it in a register. kind: of a register, where none is said."""
        name = f"%{self.fresh('var')}"
        self._variables[name] = kind or self.vector
        if begin is not None:
            self.write(name, begin)
        return name

    def variables(self, begin: Sequence[str]) -> list[str]:
        return [self.variable(register) for register in begin]

    def read(self, variable: str) -> str:
        return self.value(f"load {self._variables[variable]}, ptr {variable}, align 8")

    def write(self, variable: str, register: str) -> None:
        self.add(f"store {self._variables[variable]} {register}, ptr {variable}, align 8")

    def read_all(self, variables: Sequence[str]) -> list[str]:
        return [self.read(variable) for variable in variables]

    def write_all(self, variables: Sequence[str], registers: Sequence[str]) -> None:
        for variable, register in zip(variables, registers, strict=True):
            self.write(variable, register)

    def count(self, variable: str, by: str = "1") -> str:
        """Make a whole number larger; returns its register."""
        more = self.value(f"add i64 {self.read(variable)}, {by}")
        self.write(variable, more)
        return more

    def array(self, registers: Sequence[str]) -> str:
        """Address of numbers that are written down for another function."""
        at = self.variable(kind=f"[{max(len(registers), 1)} x {self.vector}]")
        self.stored(at, registers)
        return at

    def expression(self, known: Known, wanted: ca.SX) -> list[str]:
        """Registers of an expression's entries."""
        return self.expressions(known, wanted)[0]

    def expressions(self, known: Known, *wanted: ca.SX) -> list[list[str]]:
        """Registers of the entries of expressions that share what they have in common."""
        if all(each.numel() == 0 for each in wanted):
            return [[] for _ in wanted]
        lines = Lines(self.fresh("e"), known, wanted, self.width)
        self.lines += lines.lines
        self.declarations |= lines.declarations
        return [lines.registers(k) for k in range(len(wanted))]

    def pointers(self, *names: str) -> None:
        """Addresses out of the table, as registers of these names."""
        for k, name in enumerate(names):
            self.add(f"%at_{name} = getelementptr ptr, ptr %table, i64 {k}")
            self.add(f"%{name} = load ptr, ptr %at_{name}, align 8")

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


class Printer(Function):
    """A function that takes steps of a method."""

    def __init__(self, scheme: Scheme, width: int) -> None:
        super().__init__(width)
        self.scheme = scheme

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
        for k, block in enumerate(blocks):
            own = self.scheme.z[list(block.unknowns)]
            if block.linear:
                none = ca.SX.zeros(len(block.unknowns))
                rest, matrix = (ca.substitute(part, own, none) for part in (block.residual, block.jacobian))
                found = self.expression(self.known(values, y, z), solve(matrix, -rest))
                for unknown, register in zip(block.unknowns, found, strict=True):
                    z[unknown] = register
            else:
                self._newton(values, y, z, block, k, failed)
        return z

    def _newton(
        self, values: Named, y: Sequence[str], z: list[str], block: Block, k: int, failed: str
    ) -> None:
        """Newton's method on one block, in place of its registers in z."""
        again, done, stuck = self.fresh("again"), self.fresh("solved"), self.fresh("stuck")
        own = self.variables([z[unknown] for unknown in block.unknowns])
        sweeps = self.variable("0", "i64")
        self.jump(again)
        self.label(again)
        z[:] = self._with(z, block, self.read_all(own))
        kept: list[str] = []
        inverse, update = self._inverse(block), ca.SX(0, 1)
        if len(block.unknowns) > INLINE_UNKNOWNS:
            steps = self.large_update(values, y, z, block, k, stuck)
        elif inverse is not None:
            update = inverse @ block.residual
            kept, steps = self.expressions(self.known(values, y, z), ca.vec(inverse), update)
        else:
            steps = self.expression(self.known(values, y, z), solve(block.jacobian, block.residual))
        change, size = self._updated(own, z, block, steps)
        self.counted()
        tried = self.count(sweeps)
        if inverse is None:
            self._leave(change, size, NEWTON_TOLERANCE, done)
        else:
            first = self.value(f"fdiv {self.vector} {change}, {size}")
            square = self.value(f"fmul {self.vector} {first}, {first}")
            self._leave(square, splat(1.0, self.width), REUSED_ACCURACY, done)
            self._further(values, y, z, block, (own, kept, first, done))
        left = self.value(f"icmp slt i64 {tried}, {NEWTON_SWEEPS}")
        self.branch(left, again, stuck)
        self.label(stuck)
        z[:] = self._with(z, block, self.read_all(own))
        self.unsettled(values, y, z, block, k, own, failed)
        self.jump(done)
        self.label(done)
        z[:] = self._with(z, block, self.read_all(own))

    def _inverse(self, block: Block) -> ca.SX | None:
        """Of the Jacobian, where it serves several updates."""
        n = len(block.unknowns)
        if self.scheme.updates_per_jacobian == 1 or n > INLINE_UNKNOWNS:
            return None
        return ca.horzcat(*[solve(block.jacobian, unit) for unit in ca.horzsplit(ca.SX.eye(n))])

    def _further(
        self,
        values: Named,
        y: Sequence[str],
        z: list[str],
        block: Block,
        begun: tuple[list[str], list[str], str, str],
    ) -> None:
        """With the Jacobian of the first: each leaves `first` of the error before it, and is made where that is enough.

        begun: variables of the unknowns, registers of the inverse and of `first`, label where all have converged.
        """
        own, kept, first, done = begun
        n, past = len(block.unknowns), self.fresh("past")
        entry = ca.SX.sym("inverse", n * n)
        again, change, size = ca.reshape(entry, n, n) @ block.residual, "", ""
        for k in range(self.scheme.updates_per_jacobian - 1):
            if k:
                # Worth it only where it is enough.
                factor = self.value(f"fmul {self.vector} {first}, {first}")
                enough = self.value(f"fmul {self.vector} {factor}, {change}")
                limit = self.value(f"fmul {self.vector} {size}, {splat(REUSED_ACCURACY, self.width)}")
                onward = self.fresh("further")
                self.branch(self.all(self.value(f"fcmp ole {self.vector} {enough}, {limit}")), onward, past)
                self.label(onward)
            z[:] = self._with(z, block, self.read_all(own))
            steps = self.expression([*self.known(values, y, z), (entry, kept)], again)
            change, size = self._updated(own, z, block, steps)
            left = self.value(f"fmul {self.vector} {first}, {change}")
            self._leave(left, size, REUSED_ACCURACY, done)
        self.jump(past)
        self.label(past)

    def _with(self, z: list[str], block: Block, registers: Sequence[str]) -> list[str]:
        """The unknowns with other registers of a block's."""
        found = list(z)
        for unknown, register in zip(block.unknowns, registers, strict=True):
            found[unknown] = register
        return found

    def _updated(self, own: list[str], z: list[str], block: Block, steps: Sequence[str]) -> tuple[str, str]:
        """Take steps off a block's unknowns. Returns registers of the steps' size, and of 1 + that of the unknowns."""
        change, size = splat(0.0, self.width), splat(1.0, self.width)
        for variable, unknown, step in zip(own, block.unknowns, steps, strict=True):
            z[unknown] = self.value(f"fsub {self.vector} {z[unknown]}, {step}")
            self.write(variable, z[unknown])
            change = self.value(f"fadd {self.vector} {change}, {self.absolute(step)}")
            size = self.value(f"fadd {self.vector} {size}, {self.absolute(z[unknown])}")
        return change, size

    def _leave(self, change: str, size: str, share: float, done: str) -> None:
        """Go to a label where the change is at most that share of the size, in all parts of the register."""
        limit = self.value(f"fmul {self.vector} {size}, {splat(share, self.width)}")
        settled = self.all(self.value(f"fcmp ole {self.vector} {change}, {limit}"))
        onward = self.fresh("check")
        self.branch(settled, done, onward)
        self.label(onward)

    def counted(self) -> None:
        """One more Jacobian was made: of several vehicles nobody counts."""

    def large_update(
        self, values: Named, y: Sequence[str], z: Sequence[str], block: Block, k: int, stuck: str
    ) -> list[str]:
        """Registers of Newton's update of more unknowns than are solved for in registers."""
        raise NotImplementedError

    def unsettled(
        self,
        values: Named,
        y: Sequence[str],
        z: list[str],
        block: Block,
        k: int,
        own: Sequence[str],
        failed: str,
    ) -> None:
        """What comes where Newton's method does not converge: of several vehicles the step is given up.

        k: number of the block. The block that is being filled ends open, to go on with what `own` holds.
        """
        self.jump(failed)
        self.label(self.fresh("never"))


def served(scheme: Scheme) -> list[Block] | None:
    """Blocks of a step that several vehicles take at once; None where steps are divided, or blocks are large."""
    if scheme.error is not None or scheme.substeps != (1.0,):
        return None
    blocks = solution_order(scheme)
    large = any(not block.linear and len(block.unknowns) > INLINE_UNKNOWNS for block in blocks)
    return None if large else blocks
