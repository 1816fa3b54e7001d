"""Prints the kernel of one vehicle by one method as LLVM: its start, its steps, and what an environment asks of it.

All functions are given a table of the addresses of their arrays and a number; tables are those named here. A step that
Newton's method does not solve goes to the robust solver (robust.py), which is called by name.
"""

from collections.abc import Callable, Sequence

import casadi as ca

from sim.compiler.blocks import Block, silenced, solution_order
from sim.compiler.loops import NEWTON_FAILED, STEP, Rollout, State
from sim.compiler.printer import Named, Printer
from sim.compiler.robust import SETTLE, SOLVE
from sim.compiler.vector_code import splat
from sim.integrators.base import Scheme
from sim.vehicles.forms.base import Vehicle

START = ("node", "u", "w", "p", "h", "y")
SENSE = ("y", "u", "w", "p", "h", "pose", "free", "inertia")
POSE = ("y", "u", "w", "p", "h", "pose")
EQUATIONS = ("z", "y", "u", "w", "p", "h", "r", "J")
"""Table of a block's equations, and without the last two of the guess."""


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
    printer, ny, i = _Step(scheme), scheme.y.numel(), scheme.inputs
    printer.begin("rollout")
    printer.pointers(*STEP)
    parts = scheme.error is not None or scheme.substeps != (1.0,)
    given, state = printer.given(), _Registers(printer, blocks, parts=parts)
    rollout = Rollout(printer, given, ny)
    printer.status, printer.iterations = rollout.status, rollout.iterations
    if scheme.error is not None:
        rollout.divided(state, i.samples, i.u.numel() // max(len(i.samples), 1))
    elif scheme.substeps != (1.0,):
        rollout.composed(state, scheme.substeps, i.u.numel() if i.samples else 0)
    else:
        rollout.plain(state)
    printer.stored("%y", printer.read_all(state.far))
    known = printer.known(given, printer.read_all(state.begun), printer.read_all(state.z))
    printer.stored("%node", printer.expression(known, scheme.node))
    rollout.report()
    printer.end()
    return printer


class _Registers(State):
    """Numbers of a scheme's state and unknowns in registers."""

    def __init__(self, printer: Printer, blocks: list[Block], *, parts: bool) -> None:
        """parts: of a step in parts."""
        self._printer, self._blocks, self._scheme = printer, blocks, printer.scheme
        begin = printer.loaded("%y", self._scheme.y.numel())
        self.begun, self.far = printer.variables(begin), printer.variables(begin)
        """Where the step begins, and how far it has come."""
        self.z = printer.variables([splat(0.0, 1)] * self._scheme.z.numel())
        self._at = self.far if parts else self.begun
        self._after: list[str] = []

    def begin(self) -> None:
        self._printer.write_all(self.far, self._printer.read_all(self.begun))

    def advance(self, given: Named, over: str) -> tuple[str, str]:
        printer, scheme = self._printer, self._scheme
        y = printer.read_all(self._at)
        z = printer.solved(given, y, self._blocks, over)
        printer.write_all(self.z, z)
        error = ca.SX(0, 1) if scheme.error is None else scheme.error
        self._after, estimate = printer.expressions(printer.known(given, y, z), _end(scheme), error)
        return printer.finite([*self._after, *estimate]), next(iter(estimate), "")

    def accept(self) -> None:
        self._printer.write_all(self._at, self._after)

    def end(self) -> None:
        if self._at is self.begun:
            self._printer.write_all(self.far, self._after)

    def onward(self) -> None:
        self._printer.write_all(self.begun, self._printer.read_all(self.far))

    def fail(self) -> None:
        self._printer.write_all(self.far, self._printer.read_all(self.begun))


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
