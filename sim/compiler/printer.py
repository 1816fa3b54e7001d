"""Prints the steps of methods as LLVM: of one vehicle, or of several in the parts of vector registers.

The blocks of an implicit step are solved in their order by Newton's method. A Jacobian may serve several updates. All
parts of a register iterate until the last of them has converged. A step of one vehicle that Newton's method does not
solve goes to the robust solver (robust.py), which is called by name; of several it is given up.
"""

from collections.abc import Sequence

import casadi as ca

from sim.compiler.blocks import Block, silenced, solution_order
from sim.compiler.vector_code import Function, Registers, splat
from sim.integrators.base import Scheme
from sim.symbolic import solve

NEWTON_TOLERANCE = 1e-9
"""Relative size of the last Newton update; the error after it is its square."""
REUSED_ACCURACY = 1e-15
"""Where a Jacobian serves more updates: relative error that the product of its first and last leaves."""
NEWTON_SWEEPS = 6
INLINE_UNKNOWNS = 3
"""Larger blocks are solved on arrays, with pivots."""
SOLVE, SETTLE = "holonomy_solve", "holonomy_settle"
"""Names by which kernels call the robust solver and its elimination."""

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

    def given(self) -> Named:
        """Registers of parameters and step, of controls and wrench where there are pointers to them."""
        i = self.scheme.inputs
        step = self.value("load double, ptr %h, align 8")
        if self.width > 1:
            first = self.value(f"insertelement {self.vector} poison, double {step}, i32 0")
            zeros = f"<{self.width} x i32> zeroinitializer"
            step = self.value(f"shufflevector {self.vector} {first}, {self.vector} poison, {zeros}")
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
        if self._robust and len(block.unknowns) > INLINE_UNKNOWNS:
            steps = self._large_update(values, y, z, block, stuck)
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
            first = self.value(f"fdiv {self.vector} {change}, {size}")
            square = self.value(f"fmul {self.vector} {first}, {first}")
            self._leave(square, splat(1.0, self.width), REUSED_ACCURACY, done)
            self._further(values, y, z, block, (own, kept, first, done))
        left = self.value(f"icmp slt i64 {tried}, {NEWTON_SWEEPS}")
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

    def _large_update(
        self, values: Named, y: Sequence[str], z: Sequence[str], block: Block, stuck: str
    ) -> list[str]:
        """Registers of Newton's update of more unknowns than are solved for in registers."""
        n = len(block.unknowns)
        r, J = self.expressions(self.known(values, y, z), block.residual, ca.vec(block.jacobian.T))
        right, matrix = self.array(r), self.array(J)
        self.declarations.add(f"declare i64 @{SOLVE}(i64, i64, i64)")
        addresses = [self.value(f"ptrtoint ptr {at} to i64") for at in (matrix, right)]
        solved = self.value(f"call i64 @{SOLVE}(i64 {addresses[0]}, i64 {addresses[1]}, i64 {n})")
        onward = self.fresh("regular")
        self.branch(self.value(f"icmp ne i64 {solved}, 0"), onward, stuck)
        self.label(onward)
        return self.loaded(right, n)

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
        self.declarations.add(f"declare i64 @{SETTLE}({', '.join(['i64'] * 11)}, double)")
        count, n = len(z), len(block.unknowns)
        work = self.variable(kind=f"[{settling(count, n)} x double]")
        addresses = [f"@block_{k}", "@guess", f"@unknowns_{k}", found, *given, "%p", work]
        equations, guess, unknowns, *arrays = [self.value(f"ptrtoint ptr {at} to i64") for at in addresses]
        numbers = ", ".join(f"i64 {a}" for a in (equations, guess, unknowns, n, count, *arrays))
        tried = self.value(f"call i64 @{SETTLE}({numbers}, double {values['h'][0]})")
        hopeless, onward = self.fresh("hopeless"), self.fresh("robust")
        self.branch(self.value(f"icmp slt i64 {tried}, 1"), hopeless, onward)
        self.label(hopeless)
        self.write(self.status, str(NEWTON_FAILED))
        self.jump(failed)
        self.label(onward)
        self.count(self.iterations, tried)
        numbers_found = self.loaded(found, count)
        self.write_all(own, [numbers_found[unknown] for unknown in block.unknowns])


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
