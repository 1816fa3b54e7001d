"""Prints the kernel of one vehicle by one method as LLVM: its start, its steps, and what an environment asks of it.

All functions are given a table of the addresses of their arrays and a number; tables are those named here. A step that
Newton's method does not solve goes to the robust solver (robust.py), which is called by name.
"""

from collections.abc import Callable, Sequence

import casadi as ca
import numpy as np

from sim.compiler.blocks import Block, silenced, solution_order
from sim.compiler.lane_printer import Named, Printer
from sim.compiler.loops import POINTS, SMALLEST_SHARE, divided_moments
from sim.compiler.robust import SETTLE, SOLVE
from sim.compiler.step_rule import LEAST, symbolic_growth
from sim.compiler.vector_code import splat
from sim.integrators.base import Scheme
from sim.vehicles.base import Vehicle

STEP = ("y", "u", "w", "p", "h", "node", "counts")
"""Table of `rollout`: y is written to, node that of the last step's start, counts steps done and Newton's iterations.
It returns the status."""
START = ("node", "u", "w", "p", "h", "y")
SENSE = ("y", "u", "w", "p", "h", "pose", "free", "inertia")
POSE = ("y", "u", "w", "p", "h", "pose")
EQUATIONS = ("z", "y", "u", "w", "p", "h", "r", "J")
"""Table of a block's equations, and without the last two of the guess."""

OK, NEWTON_FAILED, NOT_FINITE = 0, 1, 2


def kernel_module(vehicle: Vehicle, scheme: Scheme, *, amid: bool) -> str:
    """Text of the module; amid: with what an environment needs that acts in every step."""
    blocks = solution_order(scheme)
    starts: dict[str, ca.SX | None] = {"start": scheme.start}
    if amid:
        starts |= {"start_carried": scheme.carried, "start_pushed": scheme.pushed}
    printers = [_rollout(scheme, blocks)]
    printers += [_start(scheme, name, wanted) for name, wanted in starts.items() if wanted is not None]
    if amid:
        printers += [_sense(vehicle, scheme), _pose(vehicle, scheme)]
    nonlinear = [(k, block) for k, block in enumerate(blocks) if not block.linear]
    if nonlinear:
        printers.append(_guess(scheme))
    printers += [_equations(scheme, block, k) for k, block in nonlinear]
    declarations = set[str]().union(*(printer.declarations for printer in printers))
    lines = [line for printer in printers for line in printer.lines]
    indices = [_constants(f"unknowns_{k}", "i64", block.unknowns) for k, block in nonlinear]
    shares = [] if len(scheme.substeps) == 1 else [_constants("shares", "double", scheme.substeps)]
    return "\n".join([*shares, *indices, *lines, *sorted(declarations)]) + "\n"


def _constants(name: str, kind: str, numbers: Sequence[float]) -> str:
    entries = ", ".join(f"{kind} {splat(x, 1) if kind == 'double' else x}" for x in numbers)
    return f"@{name} = internal constant [{len(numbers)} x {kind}] [{entries}]"


class _Step(Printer):
    """Steps of one vehicle, which count their iterations and do not give up where there is a robust solver."""

    def __init__(self, scheme: Scheme) -> None:
        super().__init__(scheme, 1)
        self.status = self.iterations = ""

    def given(self) -> Named:
        """Registers of all that a step depends on beside its state."""
        i = self.scheme.inputs
        own = self.constants()
        return own | {"u": self.loaded("%u", i.u.numel()), "w": self.loaded("%w", i.w.numel())}

    def counted(self) -> None:
        self.count(self.iterations)

    def large_update(
        self, values: Named, y: Sequence[str], z: Sequence[str], block: Block, k: int, stuck: str
    ) -> list[str]:
        n = len(block.unknowns)
        known = self.known(values, y, z)
        r, J = self.expressions(known, block.residual, ca.vec(block.jacobian.T))
        right, matrix = self.array(r), self.array(J)
        self.declarations.add(f"declare i64 @{SOLVE}(i64, i64, i64)")
        addresses = [self.value(f"ptrtoint ptr {at} to i64") for at in (matrix, right)]
        solved = self.value(f"call i64 @{SOLVE}(i64 {addresses[0]}, i64 {addresses[1]}, i64 {n})")
        onward = self.fresh("regular")
        self.branch(self.value(f"icmp ne i64 {solved}, 0"), onward, stuck)
        self.label(onward)
        return self.loaded(right, n)

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
        """The robust solver, on arrays."""
        found = self.array(z)
        given = [self.array(registers) for registers in (y, values["u"], values["w"])]
        self.declarations.add(f"declare i64 @{SETTLE}({', '.join(['i64'] * 10)}, double)")
        addresses = [f"@block_{k}", "@guess", f"@unknowns_{k}", found, *given, "%p"]
        equations, guess, unknowns, *arrays = [self.value(f"ptrtoint ptr {at} to i64") for at in addresses]
        sizes = str(len(block.unknowns)), str(len(z))
        numbers = ", ".join(f"i64 {a}" for a in (equations, guess, unknowns, *sizes, *arrays))
        tried = self.value(f"call i64 @{SETTLE}({numbers}, double {values['h'][0]})")
        hopeless, onward = self.fresh("hopeless"), self.fresh("robust")
        self.branch(self.value(f"icmp slt i64 {tried}, 0"), hopeless, onward)
        self.label(hopeless)
        self.write(self.status, str(NEWTON_FAILED))
        self.jump(failed)
        self.label(onward)
        self.count(self.iterations, tried)
        numbers_found = self.loaded(found, len(z))
        self.write_all(own, [numbers_found[unknown] for unknown in block.unknowns])


def _rollout(scheme: Scheme, blocks: list[Block]) -> Printer:
    """Steps until they are done or one fails; then y is the last good state."""
    printer, ny = _Step(scheme), scheme.y.numel()
    printer.begin("rollout")
    printer.pointers(*STEP)
    values, begin = printer.given(), printer.loaded("%y", ny)
    y, last = printer.variables(begin), printer.variables(begin)
    z = printer.variables([splat(0.0, 1)] * scheme.z.numel())
    printer.status, printer.iterations = printer.variable("0", "i64"), printer.variable("0", "i64")
    done = printer.variable("0", "i64")
    step = _Rollout(printer, blocks, values, y, last, z)
    print_step = step.plain if scheme.substeps == (1.0,) else step.composed
    if scheme.error is not None:
        print_step = step.divided
        step.begin_divided()
    printer.jump("next")
    printer.label("next")
    more = printer.value(f"icmp slt i64 {printer.read(done)}, %n")
    printer.branch(more, "step", "over")
    printer.label("step")
    print_step("over")
    printer.count(done)
    printer.jump("next")
    printer.label("over")
    printer.stored("%y", printer.read_all(y))
    if scheme.error is not None:
        step.end_divided()
    known = printer.known(values, printer.read_all(last), printer.read_all(z))
    printer.stored("%node", printer.expression(known, scheme.node))
    for k, count in enumerate((done, printer.iterations)):
        at = printer.value(f"getelementptr i64, ptr %counts, i64 {k}")
        printer.add(f"store i64 {printer.read(count)}, ptr {at}, align 8")
    printer.add(f"ret i64 {printer.read(printer.status)}")
    printer.end()
    return printer


class _Rollout:
    """The three ways in which methods take a step: as it is, composed of several, divided as their error wants."""

    def __init__(
        self,
        printer: _Step,
        blocks: list[Block],
        values: Named,
        y: list[str],
        last: list[str],
        z: list[str],
    ) -> None:
        """y, last, z: variables of the state, of the state where the last step began, and of the unknowns."""
        self._printer, self._blocks, self._values = printer, blocks, values
        self._y, self._last, self._z = y, last, z
        self._scheme = printer.scheme

    def _once(self, values: Named, y: list[str], over: str) -> list[str]:
        """Registers of the state after one step; jumps to `over` where there is none."""
        printer, scheme = self._printer, self._scheme
        z = printer.solved(values, y, self._blocks, over)
        printer.write_all(self._z, z)
        after = printer.expression(printer.known(values, y, z), _end(scheme))
        good, bad, onward = printer.finite(after), printer.fresh("bad"), printer.fresh("good")
        printer.branch(good, onward, bad)
        printer.label(bad)
        printer.write(printer.status, str(NOT_FINITE))
        printer.jump(over)
        printer.label(onward)
        return after

    def plain(self, over: str) -> None:
        y = self._printer.read_all(self._y)
        after = self._once(self._values, y, over)
        self._printer.write_all(self._last, y)
        self._printer.write_all(self._y, after)

    def composed(self, over: str) -> None:
        """The equations are solved with shares of the step; controls may have rows for each."""
        printer, i = self._printer, self._scheme.inputs
        count, size = len(self._scheme.substeps), i.u.numel() if i.samples else 0
        printer.write_all(self._last, printer.read_all(self._y))
        at = printer.variable("0", "i64")
        part, after_all, given_up = (printer.fresh(word) for word in ("part", "whole", "given_up"))
        printer.jump(part)
        printer.label(part)
        k = printer.read(at)
        place = printer.value(f"getelementptr double, ptr @shares, i64 {k}")
        share = printer.value(f"load double, ptr {place}, align 8")
        own = self._values | {"h": [printer.value(f"fmul double {self._values['h'][0]}, {share}")]}
        if size:
            own["u"] = printer.loaded(printer.row("%u", size, k), size)
        after = self._once(own, printer.read_all(self._y), given_up)
        printer.write_all(self._y, after)
        more = printer.value(f"icmp slt i64 {printer.count(at)}, {count}")
        printer.branch(more, part, after_all)
        printer.label(given_up)
        printer.write_all(self._y, printer.read_all(self._last))
        printer.jump(over)
        printer.label(after_all)

    def begin_divided(self) -> None:
        """Before the first step: the inner step and the tolerance, which stand behind the scheme's own state."""
        printer, i = self._printer, self._scheme.inputs
        trial, self._tolerance = printer.loaded("%y", len(self._y) + 2)[-2:]
        self._trial = printer.variable(trial)
        self._left = printer.variable()
        controls = i.u.numel() // max(len(i.samples), 1)
        self._controls = _Polynomials(printer, i.samples, controls) if i.samples else None

    def end_divided(self) -> None:
        """The inner step is told the next call."""
        printer = self._printer
        at = printer.value(f"getelementptr double, ptr %y, i64 {len(self._y)}")
        printer.add(f"store double {printer.read(self._trial)}, ptr {at}, align 8")

    def divided(self, over: str) -> None:
        """Inner steps as long as the error estimate allows."""
        printer, scheme, whole = self._printer, self._scheme, self._values["h"][0]
        assert scheme.error is not None
        words = ("part", "accepted", "refused", "whole", "given_up")
        part, accepted, refused, after_all, given_up = (printer.fresh(word) for word in words)
        printer.write_all(self._last, printer.read_all(self._y))
        printer.write(self._left, whole)
        printer.jump(part)
        printer.label(part)
        left, trial = printer.read(self._left), printer.read(self._trial)
        above = printer.value(f"fcmp ogt double {trial}, {splat(0.0, 1)}")
        below = printer.value(f"fcmp olt double {trial}, {left}")
        inner = printer.value(f"and i1 {above}, {below}")
        h = printer.value(f"select i1 {inner}, double {trial}, double {left}")
        own = self._values | {"h": [h]}
        if self._controls is not None:
            own["u"] = self._controls.rows(left, h, whole)
        known = printer.known(own, printer.read_all(self._y), ())
        after, (error,) = printer.expressions(known, _end(scheme), scheme.error)
        good = printer.finite([*after, error])
        printer.count(printer.iterations)
        e, tolerance = ca.SX.sym("e"), ca.SX.sym("tolerance")
        grown = printer.expression(
            [(e, [error]), (tolerance, [self._tolerance])], symbolic_growth(e, tolerance)
        )[0]
        factor = printer.value(f"select i1 {good}, double {grown}, double {splat(LEAST, 1)}")
        next_trial = printer.value(f"fmul double {h}, {factor}")
        small = printer.value(f"fcmp ole double {error}, {self._tolerance}")
        printer.branch(printer.value(f"and i1 {good}, {small}"), accepted, refused)
        printer.label(accepted)
        printer.write_all(self._y, after)
        larger = printer.value(f"fcmp ogt double {next_trial}, {trial}")
        most = printer.value(f"select i1 {larger}, double {next_trial}, double {trial}")
        printer.write(self._trial, printer.value(f"select i1 {inner}, double {next_trial}, double {most}"))
        printer.write(self._left, printer.value(f"fsub double {left}, {h}"))
        printer.branch(inner, part, after_all)
        printer.label(refused)
        printer.write(self._trial, next_trial)
        least = printer.value(f"fmul double {whole}, {splat(SMALLEST_SHARE, 1)}")
        printer.branch(printer.value(f"fcmp olt double {next_trial}, {least}"), given_up, part)
        printer.label(given_up)
        status = printer.value(f"select i1 {good}, i64 {NEWTON_FAILED}, i64 {NOT_FINITE}")
        printer.write(printer.status, status)
        printer.write_all(self._y, printer.read_all(self._last))
        printer.jump(over)
        printer.label(after_all)


class _Polynomials:
    """Sampled controls of divided steps: the polynomial through the rows of the whole step."""

    def __init__(self, printer: Printer, samples: tuple[float, ...], size: int) -> None:
        self._printer, self._samples, self._size = printer, samples, size
        at = divided_moments(samples)
        given = ca.SX.sym("u", size * len(at))
        inverse = ca.DM(np.linalg.inv(np.vander(at, increasing=True)))
        found = ca.reshape(given, size, len(at)) @ inverse.T
        numbers = printer.loaded("%u", size * len(at))
        self._coefficients = printer.expression([(given, numbers)], found)

    def rows(self, left: str, h: str, whole: str) -> list[str]:
        """Registers of the controls at the moments of an inner step, what is left of the whole one."""
        coefficients = ca.SX.sym("c", self._size, POINTS)
        remaining, inner, full = ca.SX.sym("left"), ca.SX.sym("h"), ca.SX.sym("whole")
        rows = []
        for share in self._samples:
            at, row = (full - remaining + share * inner) / full, coefficients[:, POINTS - 1]
            for power in reversed(range(POINTS - 1)):
                row = coefficients[:, power] + at * row
            rows.append(row)
        known = [
            (ca.vec(coefficients), self._coefficients),
            (remaining, [left]),
            (inner, [h]),
            (full, [whole]),
        ]
        return self._printer.expression(known, ca.vertcat(*rows))


def _end(scheme: Scheme) -> ca.SX:
    """The next state, without unknowns that it does not depend on."""
    if not scheme.z.numel():
        return scheme.y_next
    i = scheme.inputs
    return silenced(scheme.y_next, scheme.z, [scheme.y, i.u, i.w, i.p, i.h])[0]


def _evaluated(scheme: Scheme, name: str, table: tuple[str, ...], fill: Callable[[_Step], None]) -> Printer:
    """A function that fills arrays of its table."""
    printer = _Step(scheme)
    printer.begin(name)
    printer.pointers(*table)
    fill(printer)
    printer.add("ret i64 0")
    printer.end()
    return printer


def _start(scheme: Scheme, name: str, wanted: ca.SX) -> Printer:
    def fill(printer: _Step) -> None:
        node, values, i = scheme.inputs.node, printer.given(), scheme.inputs
        symbols = ((i.u, "u"), (i.w, "w"), (i.p, "p"), (i.h, "h"))
        known = [(node, printer.loaded("%node", node.numel())), *((x, values[k]) for x, k in symbols)]
        printer.stored("%y", printer.expression(known, wanted))

    return _evaluated(scheme, name, START, fill)


def _sense(vehicle: Vehicle, scheme: Scheme) -> Printer:
    """What a wrench is found from: pose, velocity that the step would reach without it, diagonal of the inertia."""
    pose, free = scheme.node[: vehicle.group.pose_dim], scheme.free_velocity
    diagonal = ca.SX(ca.diag(vehicle.inertia(vehicle.symbols(scheme.inputs.p))))  # type: ignore[attr-defined]

    def fill(printer: _Step) -> None:
        known = printer.known(printer.given(), printer.loaded("%y", scheme.y.numel()), ())[1:]
        found = printer.expressions(known, pose, free, diagonal)
        for array, registers in zip(("%pose", "%free", "%inertia"), found, strict=True):
            printer.stored(array, registers)

    return _evaluated(scheme, "sense", SENSE, fill)


def _pose(vehicle: Vehicle, scheme: Scheme) -> Printer:
    def fill(printer: _Step) -> None:
        known = printer.known(printer.given(), printer.loaded("%y", scheme.y.numel()), ())[1:]
        printer.stored("%pose", printer.expression(known, scheme.node[: vehicle.group.pose_dim]))

    return _evaluated(scheme, "pose", POSE, fill)


def _guess(scheme: Scheme) -> Printer:
    def fill(printer: _Step) -> None:
        known = printer.known(printer.given(), printer.loaded("%y", scheme.y.numel()), ())[1:]
        printer.stored("%z", printer.expression(known, scheme.guess))

    return _evaluated(scheme, "guess", EQUATIONS[:-2], fill)


def _equations(scheme: Scheme, block: Block, k: int) -> Printer:
    """Residual and Jacobian, row after row, of a block."""

    def fill(printer: _Step) -> None:
        y, z = printer.loaded("%y", scheme.y.numel()), printer.loaded("%z", scheme.z.numel())
        known = printer.known(printer.given(), y, z)
        r, J = printer.expressions(known, block.residual, ca.vec(block.jacobian.T))
        printer.stored("%r", r)
        printer.stored("%J", J)

    return _evaluated(scheme, f"block_{k}", EQUATIONS, fill)
