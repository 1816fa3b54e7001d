"""Prints the kernel of a vehicle by a method as LLVM: its start, its steps, and what an environment asks of it.

All functions are given a table of the addresses of their arrays and a number; tables are those named here.
"""

from collections.abc import Callable

import casadi as ca

from sim.compiler.blocks import Block, solution_order
from sim.compiler.loops import STEP, Rollout, State
from sim.compiler.printer import Named, Printer, end_of
from sim.compiler.vector_code import Function, constants, module, splat
from sim.integrators.base import Scheme
from sim.vehicles.forms.base import Vehicle

START = ("node", "u", "w", "p", "h", "y")
SENSE = ("y", "u", "w", "p", "h", "pose", "free", "inertia")
POSE = ("y", "u", "w", "p", "h", "pose")
EQUATIONS = ("z", "y", "u", "w", "p", "h", "r", "J")
"""Table of a block's equations, and without the last two of the guess."""
Filled = Callable[[Printer], None]


def kernel_module(vehicle: Vehicle, scheme: Scheme, *, amid: bool) -> str:
    """Text of the module; amid: with what an environment needs that acts in every step."""
    blocks = solution_order(scheme)
    starts: dict[str, ca.SX | None] = {"start": scheme.start}
    if amid:
        starts |= {"start_carried": scheme.carried, "start_pushed": scheme.pushed}
    functions: list[Function] = [rollout(Printer(scheme, 1, robust=True), blocks)]
    functions += [_start(scheme, name, wanted) for name, wanted in starts.items() if wanted is not None]
    if amid:
        functions += [_sense(vehicle, scheme), _pose(vehicle, scheme)]
    nonlinear = [(k, block) for k, block in enumerate(blocks) if not block.linear]
    if nonlinear:
        functions.append(_guess(scheme))
    functions += [_equations(scheme, block, k) for k, block in nonlinear]
    indices = [constants(f"@unknowns_{k}", "i64", block.unknowns) for k, block in nonlinear]
    shares = [] if len(scheme.substeps) == 1 else [constants("@shares", "double", scheme.substeps)]
    return module(functions, *shares, *indices)


def rollout(printer: Printer, blocks: list[Block], table: tuple[str, ...] = STEP) -> Printer:
    """Steps until they are done or one fails; then y is the last good state, and node that of the last step's start."""
    scheme = printer.scheme
    ny, i = scheme.y.numel(), scheme.inputs
    printer.begin("rollout")
    printer.pointers(*table)
    parts = scheme.error is not None or scheme.substeps != (1.0,)
    given, state = printer.given(), _Registers(printer, blocks, parts=parts)
    steps = Rollout(printer, given, ny)
    printer.status, printer.iterations = steps.status, steps.iterations
    if scheme.error is not None:
        steps.divided(state, i.samples, i.u.numel() // max(len(i.samples), 1))
    elif parts:
        steps.composed(state, scheme.substeps, i.u.numel() if i.samples else 0)
    else:
        steps.plain(state)
    printer.stored("%y", printer.read_all(state.far))
    known = printer.known(given, printer.read_all(state.begun), printer.read_all(state.z))
    printer.stored("%node", printer.expression(known, scheme.node))
    steps.report()
    return printer


class _Registers(State):
    """Numbers of a scheme's state and unknowns in registers."""

    def __init__(self, printer: Printer, blocks: list[Block], *, parts: bool) -> None:
        """parts: of a step in parts."""
        self._printer, self._blocks, self._scheme = printer, blocks, printer.scheme
        begin = printer.loaded("%y", self._scheme.y.numel())
        self.begun, self.far = printer.variables(begin), printer.variables(begin)
        """Where the step begins, and how far it has come."""
        self.z = printer.variables([splat(0.0, printer.width)] * self._scheme.z.numel())
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
        self._after, estimate = printer.expressions(printer.known(given, y, z), end_of(scheme), error)
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


def _evaluated(scheme: Scheme, name: str, table: tuple[str, ...], fill: Filled) -> Printer:
    """A function that fills arrays of its table."""
    printer = Printer(scheme, 1)
    printer.begin(name)
    printer.pointers(*table)
    fill(printer)
    printer.end()
    return printer


def _start(scheme: Scheme, name: str, wanted: ca.SX) -> Printer:
    def fill(printer: Printer) -> None:
        node, values, i = scheme.inputs.node, printer.given(), scheme.inputs
        symbols = ((i.u, "u"), (i.w, "w"), (i.p, "p"), (i.h, "h"))
        known = [(node, printer.loaded("%node", node.numel())), *((x, values[k]) for x, k in symbols)]
        printer.stored("%y", printer.expression(known, wanted))

    return _evaluated(scheme, name, START, fill)


def _sense(vehicle: Vehicle, scheme: Scheme) -> Printer:
    """What a wrench is found from: pose, velocity that the step would reach without it, diagonal of the inertia."""
    pose, free = scheme.node[: vehicle.group.pose_dim], scheme.free_velocity
    diagonal = ca.SX(ca.diag(vehicle.inertia(vehicle.symbols(scheme.inputs.p))))  # type: ignore[attr-defined]

    def fill(printer: Printer) -> None:
        known = printer.known(printer.given(), printer.loaded("%y", scheme.y.numel()), ())[1:]
        found = printer.expressions(known, pose, free, diagonal)
        for array, registers in zip(("%pose", "%free", "%inertia"), found, strict=True):
            printer.stored(array, registers)

    return _evaluated(scheme, "sense", SENSE, fill)


def _pose(vehicle: Vehicle, scheme: Scheme) -> Printer:
    def fill(printer: Printer) -> None:
        known = printer.known(printer.given(), printer.loaded("%y", scheme.y.numel()), ())[1:]
        printer.stored("%pose", printer.expression(known, scheme.node[: vehicle.group.pose_dim]))

    return _evaluated(scheme, "pose", POSE, fill)


def _guess(scheme: Scheme) -> Printer:
    def fill(printer: Printer) -> None:
        known = printer.known(printer.given(), printer.loaded("%y", scheme.y.numel()), ())[1:]
        printer.stored("%z", printer.expression(known, scheme.guess))

    return _evaluated(scheme, "guess", EQUATIONS[:-2], fill)


def _equations(scheme: Scheme, block: Block, k: int) -> Printer:
    """Residual and Jacobian, row after row, of a block."""

    def fill(printer: Printer) -> None:
        y, z = printer.loaded("%y", scheme.y.numel()), printer.loaded("%z", scheme.z.numel())
        known = printer.known(printer.given(), y, z)
        r, J = printer.expressions(known, block.residual, ca.vec(block.jacobian.T))
        printer.stored("%r", r)
        printer.stored("%J", J)

    return _evaluated(scheme, f"block_{k}", EQUATIONS, fill)
