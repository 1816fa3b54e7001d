"""Prints the steps of methods as LLVM: of one vehicle, or of several in the parts of vector registers.

The blocks of an implicit step are solved in their order by Newton's method. A Jacobian may serve several updates. All
parts of a register iterate until the last of them has converged. A step of one vehicle that Newton's method does not
solve goes to the robust solver (robust.py), which is called by name; of several it is given up.
"""

from collections.abc import Sequence
from itertools import combinations

import casadi as ca
import numpy as np

from sim.compiler.vector_code import Function, Known, Lines, Registers
from sim.integrators.base import Scheme
from sim.native.text import register_types, splat
from sim.platform.values import dataclass
from sim.symbolic import solve

_SAMPLES = 4
_ZERO = 1e-11
SMALL = 3
"""Blocks up to this size are solved as they are."""


@dataclass(frozen=True)
class Block:
    """Unknowns that are solved together, after the blocks before them."""

    unknowns: tuple[int, ...]
    residual: ca.SX
    """(n,) free of the unknowns of later blocks."""
    jacobian: ca.SX
    """(n, n) with silent entries removed."""
    linear: bool
    """The Jacobian does not depend on the block's own unknowns."""


def silenced(expressions: ca.SX, unknowns: ca.SX, others: list[ca.SX]) -> tuple[ca.SX, np.ndarray]:
    """`expressions` with every unknown that a row does not really depend on set to zero there.

    Also returns the (rows, unknowns) mask of true dependence.
    """
    mask = _nonzero(ca.jacobian(expressions, unknowns), [unknowns, *others])
    rows = []
    for i in range(expressions.shape[0]):
        silent = [j for j in range(unknowns.shape[0]) if not mask[i, j]]
        row = expressions[i]
        if silent:
            row = ca.substitute(row, ca.vertcat(*[unknowns[j] for j in silent]), ca.SX.zeros(len(silent)))
        rows.append(row)
    return ca.vertcat(*rows), mask


def solution_order(scheme: Scheme) -> list[Block]:
    """Blocks of the scheme's residual in the order in which they are solved; empty for explicit methods."""
    z = scheme.z
    if z.shape[0] == 0:
        return []
    others = [scheme.y, scheme.inputs.u, scheme.inputs.w, scheme.inputs.p, scheme.inputs.h]
    residual, mask = silenced(scheme.residual, z, others)
    rows, columns = np.nonzero(mask)
    pattern = ca.Sparsity.triplet(mask.shape[0], mask.shape[1], rows.tolist(), columns.tolist())
    count, row_order, column_order, row_starts, column_starts, _, _ = pattern.btf()
    blocks = []
    # The first block of this form depends on itself only, every further one on those before it.
    for b in range(count):
        block_rows = row_order[row_starts[b] : row_starts[b + 1]]
        unknowns = tuple(column_order[column_starts[b] : column_starts[b + 1]])
        r = residual[list(block_rows)]
        own = z[list(unknowns)]
        jacobian = ca.jacobian(r, own)
        own_mask = mask[np.ix_(block_rows, unknowns)]
        jacobian = ca.densify(jacobian) * ca.DM(own_mask.astype(float))
        jacobian = ca.sparsify(ca.SX(jacobian))
        block = Block(unknowns, r, jacobian, _constant_in(jacobian, own, z, others))
        blocks += [block] if block.linear or len(unknowns) <= SMALL else _condensed(block, z, others)
    return blocks


def _condensed(block: Block, z: ca.SX, others: list[ca.SX]) -> list[Block]:
    """A smaller nonlinear block, with the unknowns that its others determine linearly put in; then one of these.

    Row i is taken to be the equation of unknown i, as it is for a step of length zero.
    """
    n = len(block.unknowns)
    own = z[list(block.unknowns)]
    # Of each row of the Jacobian, whether its entry j varies with unknown k.
    slopes = [ca.jacobian(ca.densify(block.jacobian[i, :]).T, own) for i in range(n)]
    touched = [_nonzero(slope, [z, *others]) for slope in slopes]
    for size in range(n - 1, 0, -1):
        for chosen in combinations(range(n), size):
            part = list(chosen)
            # Linear: none of their own entries in these rows' Jacobian varies with any of them.
            if any(touched[i][np.ix_(part, part)].any() for i in part):
                continue
            kept = [i for i in range(n) if i not in part]
            J = block.jacobian
            A, B = J[part, part], J[part, kept]
            at_zero = ca.substitute(block.residual[part], own[part], ca.SX.zeros(size))
            matrix = ca.substitute(A, own[part], ca.SX.zeros(size))
            value = solve(matrix, -at_zero)
            slope = solve(A, -B)
            residual, direct, through = ca.substitute(
                [block.residual[kept], ca.densify(J[kept, kept]), ca.densify(J[kept, part] @ slope)],
                [own[part]],
                [value],
            )
            names = tuple(block.unknowns[i] for i in kept)
            inner = Block(names, residual, ca.sparsify(direct + through), False)
            after = Block(tuple(block.unknowns[i] for i in part), block.residual[part], A, True)
            return [inner, after]
    return [block]


def _nonzero(expression: ca.SX, symbols: list[ca.SX]) -> np.ndarray:
    """Which entries of an expression are not zero everywhere."""
    f = ca.Function("f", symbols, [ca.densify(expression)])
    mask = np.zeros(expression.shape, bool)
    for sample in _random_points(symbols):
        mask |= np.abs(np.array(f(*sample))) > _ZERO
    return mask


def _constant_in(jacobian: ca.SX, own: ca.SX, z: ca.SX, others: list[ca.SX]) -> bool:
    f = ca.Function("J", [z, *others], [ca.densify(jacobian)])
    indices = [int(k) for k in range(z.shape[0]) if ca.depends_on(own, z[k])]
    for sample in _random_points([z, *others]):
        first = np.array(f(*sample))
        for scale in (-3.0, 0.1):
            moved = sample[0].copy()
            moved[indices] = scale * moved[indices] + 0.3
            if np.abs(np.array(f(moved, *sample[1:])) - first).max() > 1e-10 * (1 + np.abs(first).max()):
                return False
    return True


def _random_points(symbols: list[ca.SX]) -> list[list[np.ndarray]]:
    """Everyday numbers, and small ones, at which nothing has run into a stop that would hide a dependence."""
    rng = np.random.default_rng(7)
    scales = (1.0, 0.03) * _SAMPLES
    return [[scale * rng.uniform(0.2, 1.4, x.shape[0]) for x in symbols] for scale in scales]


NEWTON_TOLERANCE = 1e-9
"""Relative size of the last Newton update; the error after it is its square."""
REUSED_ACCURACY = 1e-15
"""Where a Jacobian serves more updates: relative error that the product of its first and last leaves."""
NEWTON_SWEEPS = 6
INLINE_UNKNOWNS = 3
"""Larger blocks are solved on arrays, with pivots."""
SOLVE, SETTLE = "holonomy_solve", "holonomy_settle"
"""Names by which kernels call the robust solver and its elimination."""

EQUATIONS = ("z", "y", "u", "w", "p", "h", "r", "J")
"""Table of a block's equations, functions of the module of their own; without the last two of the guess."""

NEWTON_FAILED = 1
"""How a rollout ends that has a step without a solution."""

Named = dict[str, list[str]]
"""Symbol -> the registers of its entries."""


def settling(count: int, n: int) -> int:
    """How many numbers the robust solver works in, with n unknowns out of so many."""
    return 9 + 2 * count + 2 * n + n * n


class Printer(Function):
    """A function that takes steps of a method."""

    def __init__(self, scheme: Scheme, width: int, *, robust: bool = False) -> None:
        """robust: with what comes where Newton's method does not converge, of one vehicle."""
        super().__init__(width)
        self.scheme, self._robust = scheme, robust
        self.status = self.iterations = ""
        """Variables of a rollout; without them nobody counts."""
        self._arrays: dict[str, str] = {}
        """What equations are called with that are too long to be printed twice, by `EQUATIONS`; and their table."""

    def given(self) -> Named:
        """Registers of parameters and step, of controls and wrench where there are pointers to them."""
        i = self.scheme.inputs
        step = self.spread(self.new("load double, ptr %h, align 8"), self.width)
        found = {"p": self.loaded("%p", i.p.numel()), "h": [step]}
        found["u"] = self.loaded("%u", i.u.numel()) if "u" in self.named else []
        none = [splat(0.0, self.width)] * i.w.numel()
        return found | {"w": self.loaded("%w", i.w.numel()) if "w" in self.named else none}

    def known(self, values: Named, y: Sequence[str], z: Sequence[str]) -> list[tuple[ca.SX, Registers]]:
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
        large = [len(block.unknowns) for block in blocks if self._large(block)]
        if large:
            self._arrays = self._written(values, y, max(large))
            self._call("guess")
            z = self.loaded(self._arrays["z"], self.scheme.z.numel())
        else:
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
        if self._large(block):
            steps = self._large_update(z, k, len(block.unknowns), stuck)
        elif inverse is not None:
            update = inverse @ block.residual
            kept, steps = self.expressions(self.known(values, y, z), ca.vec(inverse), update)
        else:
            steps = self.expression(self.known(values, y, z), solve(block.jacobian, block.residual))
        change, size = self._updated(own, z, block, steps)
        if self.iterations:
            self.count(self.iterations)
        tried = self.count(sweeps)
        if inverse is None:
            self._leave(change, size, NEWTON_TOLERANCE, done)
        else:
            first = self.new(f"fdiv {self.vector} {change}, {size}")
            square = self.new(f"fmul {self.vector} {first}, {first}")
            self._leave(square, splat(1.0, self.width), REUSED_ACCURACY, done)
            self._further(values, y, z, block, (own, kept, first, done))
        left = self.new(f"icmp slt i64 {tried}, {NEWTON_SWEEPS}")
        self.branch(left, again, stuck)
        self.label(stuck)
        z[:] = self._with(z, block, self.read_all(own))
        self._unsettled(values, y, z, block, k, own, failed)
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
                factor = self.new(f"fmul {self.vector} {first}, {first}")
                enough = self.new(f"fmul {self.vector} {factor}, {change}")
                limit = self.new(f"fmul {self.vector} {size}, {splat(REUSED_ACCURACY, self.width)}")
                onward = self.fresh("further")
                self.branch(self.all(self.new(f"fcmp ole {self.vector} {enough}, {limit}")), onward, past)
                self.label(onward)
            z[:] = self._with(z, block, self.read_all(own))
            steps = self.expression([*self.known(values, y, z), (entry, kept)], again)
            change, size = self._updated(own, z, block, steps)
            left = self.new(f"fmul {self.vector} {first}, {change}")
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
            z[unknown] = self.new(f"fsub {self.vector} {z[unknown]}, {step}")
            self.write(variable, z[unknown])
            change = self.new(f"fadd {self.vector} {change}, {self.intrinsic('fabs', self.vector, step)}")
            size = self.new(f"fadd {self.vector} {size}, {self.intrinsic('fabs', self.vector, z[unknown])}")
        return change, size

    def _leave(self, change: str, size: str, share: float, done: str) -> None:
        """Go to a label where the change is at most that share of the size, in all parts of the register."""
        limit = self.new(f"fmul {self.vector} {size}, {splat(share, self.width)}")
        settled = self.all(self.new(f"fcmp ole {self.vector} {change}, {limit}"))
        onward = self.fresh("check")
        self.branch(settled, done, onward)
        self.label(onward)

    def _large(self, block: Block) -> bool:
        """Whether a block is solved on arrays, by the equations that the robust solver has, too."""
        return self._robust and not block.linear and len(block.unknowns) > INLINE_UNKNOWNS

    def _written(self, values: Named, y: Sequence[str], n: int) -> dict[str, str]:
        """Arrays of what equations depend on, and for those of at most n unknowns; their table is "table"."""
        arrays = {"z": self.array([splat(0.0, 1)] * self.scheme.z.numel()), "y": self.array(y)}
        arrays |= {name: self.array(values[name]) for name in ("u", "w", "h")} | {"p": "%p"}
        arrays |= {"r": self.variable(kind=f"[{n} x double]"), "J": self.variable(kind=f"[{n * n} x double]")}
        table = self.variable(kind=f"[{len(EQUATIONS)} x ptr]")
        for place, name in enumerate(EQUATIONS):
            at = self.new(f"getelementptr ptr, ptr {table}, i64 {place}")
            self.put(f"store ptr {arrays[name]}, ptr {at}, align 8")
        return arrays | {"table": table}

    def _call(self, name: str) -> None:
        """A function of the module with that table."""
        self.put(f"call i64 @{name}(ptr {self._arrays['table']}, i64 0)")

    def _large_update(self, z: Sequence[str], k: int, n: int, stuck: str) -> list[str]:
        """Registers of Newton's update of the n unknowns of the k-th block, more than are solved for in registers."""
        self.stored(self._arrays["z"], z)
        self._call(f"block_{k}")
        self.declared.add(f"declare i64 @{SOLVE}(i64, i64, i64)")
        addresses = [self.new(f"ptrtoint ptr {self._arrays[name]} to i64") for name in ("J", "r")]
        solved = self.new(f"call i64 @{SOLVE}(i64 {addresses[0]}, i64 {addresses[1]}, i64 {n})")
        onward = self.fresh("regular")
        self.branch(self.new(f"icmp ne i64 {solved}, 0"), onward, stuck)
        self.label(onward)
        return self.loaded(self._arrays["r"], n)

    def _unsettled(
        self,
        values: Named,
        y: Sequence[str],
        z: list[str],
        block: Block,
        k: int,
        own: Sequence[str],
        failed: str,
    ) -> None:
        """What comes where Newton's method does not converge: the robust solver, on arrays.

        k: number of the block. The block that is being filled ends open, to go on with what `own` holds.
        """
        if not self._robust:
            self.jump(failed)
            self.label(self.fresh("never"))
            return
        found = self.array(z)
        given = [self.array(registers) for registers in (y, values["u"], values["w"])]
        self.declared.add(f"declare i64 @{SETTLE}({', '.join(['i64'] * 11)}, double)")
        count, n = len(z), len(block.unknowns)
        work = self.variable(kind=f"[{settling(count, n)} x double]")
        addresses = [f"@block_{k}", "@guess", f"@unknowns_{k}", found, *given, "%p", work]
        equations, guess, unknowns, *arrays = [self.new(f"ptrtoint ptr {at} to i64") for at in addresses]
        numbers = ", ".join(f"i64 {a}" for a in (equations, guess, unknowns, n, count, *arrays))
        tried = self.new(f"call i64 @{SETTLE}({numbers}, double {values['h'][0]})")
        hopeless, onward = self.fresh("hopeless"), self.fresh("robust")
        self.branch(self.new(f"icmp slt i64 {tried}, 1"), hopeless, onward)
        self.label(hopeless)
        self.write(self.status, str(NEWTON_FAILED))
        self.jump(failed)
        self.label(onward)
        self.count(self.iterations, tried)
        numbers_found = self.loaded(found, count)
        self.write_all(own, [numbers_found[unknown] for unknown in block.unknowns])


class Directions(Lines):
    """Those of derivatives along all unit vectors at once: in vector registers, a part for each, what depends on the
    direction; the rest in single numbers."""

    def __init__(self, prefix: str, known: Known, direction: ca.SX, expressions: Sequence[ca.SX]) -> None:
        """direction: symbols that stand for one of them."""
        self._many, self._wide = direction.numel(), dict[str, str]()
        units = [
            f"<{', '.join(f'double {splat(float(i == k), 1)}' for i in range(self._many))}>"
            for k in range(self._many)
        ]
        super().__init__(prefix, [*known, (direction, units)], expressions, 1)

    def _operation(self, op: int, x: list[str]) -> str:
        if self._width > 1 or not any(self._turns(a) for a in x):
            return super()._operation(op, x)
        if op == ca.OP_DIV and not self._turns(x[1]):
            return self._operation(ca.OP_MUL, [x[0], self._operation(ca.OP_INV, x[1:])])
        operands = [a if self._turns(a) else self._spread(a) for a in x]
        self._of_width(self._many)
        found = super()._operation(op, operands)
        self._of_width(1)
        self._wide[found] = found
        return found

    def derivatives(self, k: int) -> list[str]:
        """Registers of the entries of an expression that is linear in the direction."""
        none = splat(0.0, self._many)
        return [register if self._turns(register) else none for register in self.registers(k)]

    def _turns(self, register: str) -> bool:
        """Whether it depends on the direction."""
        return register.startswith("<") or self._wide.get(register) == register

    def _spread(self, number: str) -> str:
        """The same number in all parts."""
        if number not in self._wide:
            self._wide[number] = self.spread(number, self._many)
        return self._wide[number]


def linearised(function: Function, known: Known, wanted: ca.SX, unknowns: ca.SX, jacobian: str) -> list[str]:
    """Registers of an expression's entries; its derivatives by symbols go to an address, row after row.

    Whole rows side by side: entry by entry they are several times the text.
    """
    n = unknowns.numel()
    direction = ca.SX.sym("direction", n)
    along = ca.jtimes(wanted, unknowns, direction)
    lines = Directions(f"{function.fresh('e')}.", known, direction, (wanted, along))
    function.lines += lines.lines
    function.declared |= lines.declared
    vector, _ = register_types(n)
    for i, row in enumerate(lines.derivatives(1)):
        function.put(f"store {vector} {row}, ptr {function.entry(jacobian, i * n)}, align 8")
    return lines.registers()


def end_of(scheme: Scheme) -> ca.SX:
    """The next state, without unknowns that it does not depend on."""
    if not scheme.z.numel():
        return scheme.y_next
    i = scheme.inputs
    return silenced(scheme.y_next, scheme.z, [scheme.y, i.u, i.w, i.p, i.h])[0]


def served(scheme: Scheme, most: int = INLINE_UNKNOWNS) -> list[Block] | None:
    """Blocks of a step that several vehicles take at once; None where steps are divided, or blocks are larger."""
    if scheme.error is not None or scheme.substeps != (1.0,):
        return None
    blocks = solution_order(scheme)
    large = any(not block.linear and len(block.unknowns) > most for block in blocks)
    return None if large else blocks
