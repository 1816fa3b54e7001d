"""Prints the kernel of a vehicle by a method as LLVM: its start, its steps, and what an environment asks of it.

All functions are given a table of the addresses of their arrays and a number; tables are those named here.
Many vehicles go side by side, one in each part of a vector register: steps are the same text as of one vehicle, on
vectors of `WIDTH` numbers. All vehicles of a register iterate until the last of them has converged. Where one does not,
or leaves the numbers, the register stops before that step and says so: the kernel of one vehicle, which has a robust
solver, goes on from there.

Derivatives of a rollout are exact: the steps recorded, then their adjoint or their tangent. Of an implicit step they go
through its equations, r(z, y, u, p) = 0, block by block: the adjoint solves with the transposed Jacobians in the
opposite order, so that nothing is iterated again.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache

import casadi as ca
import numpy as np

from sim.compiler.loops import STEP, Rollout, State
from sim.compiler.printer import (
    EQUATIONS,
    INLINE_UNKNOWNS,
    Block,
    Named,
    Printer,
    end_of,
    linearised,
    served,
    solution_order,
)
from sim.compiler.vector_code import Function, module
from sim.integrators.base import Integrator, Scheme, Stages
from sim.integrators.multibody import rollout_scheme, within_limits
from sim.native.objects import Engine, loaded
from sim.native.text import constants, splat
from sim.symbolic import solve
from sim.vehicles.forms.base import Structure, Vehicle
from sim.vehicles.forms.form import TREES

START = ("node", "u", "w", "p", "h", "y")
_LONG_RATE = 1000
"""Operations of a rate beyond which stages are a loop: shorter ones are faster one after the other."""
SENSE = ("y", "u", "w", "p", "h", "pose", "free", "inertia")
POSE = ("y", "u", "w", "p", "h", "pose")


def kernel_module(vehicle: Vehicle, scheme: Scheme, *, amid: bool) -> str:
    """Text of the module; amid: with what an environment needs that acts in every step."""
    blocks, node, y = solution_order(scheme), (scheme.inputs.node, "node"), (scheme.y, "y")
    starts: dict[str, ca.SX | None] = {"start": scheme.start}
    if amid:
        starts |= {"start_carried": scheme.carried, "start_pushed": scheme.pushed}
    functions: list[Function] = [rollout(Printer(scheme, 1, robust=True), blocks)]
    functions += [
        _evaluated(scheme, name, START, node, {"y": wanted})
        for name, wanted in starts.items()
        if wanted is not None
    ]
    if amid:
        pose = scheme.node[: vehicle.group.pose_dim]
        diagonal = ca.SX(ca.diag(vehicle.inertia(vehicle.symbols(scheme.inputs.p))))  # type: ignore[attr-defined]
        found = {"pose": pose, "free": scheme.free_velocity, "inertia": diagonal}
        functions.append(_evaluated(scheme, "sense", SENSE, y, found))
        functions.append(_evaluated(scheme, "pose", POSE, y, {"pose": pose}))
    nonlinear = [(k, block) for k, block in enumerate(blocks) if not block.linear]
    if nonlinear:
        functions.append(_evaluated(scheme, "guess", EQUATIONS[:-2], y, {"z": scheme.guess}))
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
        self.z = printer.variables([splat(0.0, printer.width)] * self._scheme.z.numel())
        self._at = self.far if parts else self.begun
        self._after: list[str] = []

    def take(self, to: list[str], of: list[str]) -> None:
        self._printer.write_all(to, self._printer.read_all(of))

    def advance(self, given: Named, over: str) -> tuple[str, str]:
        printer, scheme = self._printer, self._scheme
        y = printer.read_all(self._at)
        if scheme.stages is not None and ca.n_nodes(scheme.stages.rate) > _LONG_RATE:
            self._after = self._by_stages(scheme.stages, given, y)
            return printer.finite(self._after), ""
        z = printer.solved(given, y, self._blocks, over)
        printer.write_all(self.z, z)
        error = ca.SX(0, 1) if scheme.error is None else scheme.error
        self._after, estimate = printer.expressions(printer.known(given, y, z), end_of(scheme), error)
        return printer.finite([*self._after, *estimate]), next(iter(estimate), "")

    def _by_stages(self, stages: Stages, given: Named, y: list[str]) -> list[str]:
        """Registers of the state after the step, by a loop over its stages: text and time do not grow with them."""
        printer, scheme, n = self._printer, self._scheme, stages.state.numel()
        before, total, a, b = (ca.SX.sym(name, size) for name, size in zip("ktab", (n, n, 1, 1), strict=True))
        begun, h = scheme.y[:n], scheme.inputs.h
        rate = ca.substitute(stages.rate, stages.state, begun + h * (a * before))
        numbers = [(stages.moment, stages.tableau.c), (a, stages.tableau.subdiagonal), (b, stages.tableau.b)]
        arrays = [(symbol, printer.constant(np.repeat(row, printer.width))) for symbol, row in numbers]

        def stage(k: str, carried: list[str]) -> list[str]:
            known = [*printer.known(given, y, []), (before, carried[:n]), (total, carried[n:])]
            known += [(symbol, printer.loaded(printer.entry(array, k), 1)) for symbol, array in arrays]
            return printer.expression(known, ca.vertcat(rate, total + b * rate))

        end = printer.times(len(stages.tableau.b), [splat(0.0, printer.width)] * 2 * n, stage)[n:]
        after = ca.substitute(stages.after, stages.state, begun + h * total)
        return printer.expression([*printer.known(given, y, []), (total, end)], after)

    def accept(self) -> None:
        self._printer.write_all(self._at, self._after)

    def end(self) -> None:
        if self._at is self.begun:
            self._printer.write_all(self.far, self._after)


def _evaluated(
    scheme: Scheme, name: str, table: tuple[str, ...], state: tuple[ca.SX, str], wanted: Mapping[str, ca.SX]
) -> Printer:
    """A function that fills arrays of its table by name. state: symbols and array of what it is evaluated at."""
    printer, i = _begun(name, scheme, 1, table), scheme.inputs
    values, (symbols, array) = printer.given(), state
    at = [(symbols, printer.loaded(f"%{array}", symbols.numel()))]
    others = [(i.u, values["u"]), (i.w, values["w"]), (i.p, values["p"]), (i.h, values["h"])]
    found = printer.expressions([*at, *others], *wanted.values())
    for into, registers in zip(wanted, found, strict=True):
        printer.stored(f"%{into}", registers)
    printer.end()
    return printer


def _equations(scheme: Scheme, block: Block, k: int) -> Printer:
    """Residual and Jacobian, row after row, of a block."""
    printer = _begun(f"block_{k}", scheme, 1, EQUATIONS)
    y, z = printer.loaded("%y", scheme.y.numel()), printer.loaded("%z", scheme.z.numel())
    known = printer.known(printer.given(), y, z)
    own = scheme.z[list(block.unknowns)]
    if own.numel() > INLINE_UNKNOWNS:
        printer.stored("%r", linearised(printer, known, block.residual, own, "%J"))
    else:
        r, J = printer.expressions(known, block.residual, ca.vec(block.jacobian.T))
        printer.stored("%r", r)
        printer.stored("%J", J)
    printer.end()
    return printer


WIDTH = 8
LANES = ("y", "u", "p", "h", "node", "counts")
"""Table of the steps of a register's vehicles, as `loops.STEP`; arrays are (size, WIDTH), h and counts as there."""
MOST_JOINED = 8
"""Unknowns of a tree's step that are solved for together where trees go side by side: of more, code takes long to
make."""
MOST_UNKNOWNS = 12
"""Of a block of a rollout's equations that is differentiated."""
RECORD = ("y", "us", "p", "h", "ys", "zs", "nodes")
ADJOINT = ("lam", "gp", "us", "p", "h", "ys", "zs", "weights", "gus")
TANGENT = ("dy", "us", "dus", "p", "dp", "h", "ys", "zs", "dnodes")
"""Tables of the derivatives' functions. Arrays are (rows, size, width), those of one moment (size, width).

record: fills ys, zs and nodes of each step and leaves the state after the last one in y; returns the steps done.
adjoint: from lam, the sensitivity to the state after the last step, to that before the first; `weights` are the
sensitivities to the nodes, and gus, gp are added to.
tangent: dy is carried on along directions side by side, dnodes are filled.
"""


@lru_cache(maxsize=64)
def lane_code(structure: Structure, integrator: Integrator) -> Engine | None:
    """What owns `rollout`, the steps of `WIDTH` vehicles, of a pair.

    None for methods whose steps are divided or whose unknowns hang together in larger blocks.
    """
    scheme = within_limits(rollout_scheme(integrator, structure), structure.vehicle)
    blocks = served(scheme, MOST_JOINED if structure.vehicle.form in TREES else INLINE_UNKNOWNS)
    if blocks is None:
        return None
    return loaded(module([rollout(Printer(scheme, WIDTH), blocks, LANES)]), optimised=True)


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


@lru_cache(maxsize=32)
def gradient_code(structure: Structure, integrator: Integrator) -> Engine | None:
    """What owns `record` and `adjoint` of a pair.

    None for methods whose steps are divided or whose unknowns hang together in large blocks.
    """
    scheme = rollout_scheme(integrator, structure)
    blocks = served(scheme, MOST_UNKNOWNS)
    if blocks is None:
        return None
    return loaded(module([_record(scheme, 1, blocks), _adjoint(scheme, 1, blocks)]), optimised=True)


@lru_cache(maxsize=32)
def tangent_code(structure: Structure, integrator: Integrator, width: int) -> Engine:
    """What owns `tangent` of a pair that `gradient_code` serves, for so many directions."""
    scheme = rollout_scheme(integrator, structure)
    blocks = served(scheme, MOST_UNKNOWNS)
    assert blocks is not None
    return loaded(module([_tangent(scheme, width, blocks)]), optimised=True)


def _begun(name: str, scheme: Scheme, width: int, table: tuple[str, ...]) -> Printer:
    printer = Printer(scheme, width)
    printer.begin(name)
    printer.pointers(*table)
    return printer


def _record(scheme: Scheme, width: int, blocks: list[Block]) -> Printer:
    printer, size = _begun("record", scheme, width, RECORD), scheme.inputs.u.numel()
    values = printer.given()
    done = printer.variable("0", "i64")

    def step(k: str, y: list[str]) -> list[str]:
        own = {**values, "u": printer.loaded(printer.row("%us", size, k), size)}
        z = printer.solved(own, y, blocks, "over")
        known = printer.known(own, y, z)
        node, after = printer.expression(known, scheme.node), printer.expression(known, scheme.y_next)
        taken = printer.fresh("taken")
        printer.branch(printer.finite([*node, *after]), taken, "over")
        printer.label(taken)
        for array, registers in (("ys", y), ("zs", z), ("nodes", node)):
            printer.stored(printer.row(f"%{array}", len(registers), k), registers)
        printer.count(done)
        return after

    printer.stored("%y", printer.times("%n", printer.loaded("%y", scheme.y.numel()), step))
    printer.jump("over")
    printer.label("over")
    printer.end(f"i64 {printer.read(done)}")
    return printer


def _adjoint(scheme: Scheme, width: int, blocks: list[Block]) -> Printer:
    printer, i = _begun("adjoint", scheme, width, ADJOINT), scheme.inputs
    lam, weight = ca.SX.sym("lam", scheme.y.numel()), ca.SX.sym("weight", scheme.node.numel())
    outcome = ca.dot(lam, scheme.y_next) + ca.dot(weight, scheme.node)
    mus = [ca.SX.sym("mu", len(block.unknowns)) for block in blocks]

    def without(first: int) -> ca.SX:
        """The outcome less what the blocks from one on take of it."""
        taken = zip(mus[first:], blocks[first:], strict=True)
        return outcome - sum((ca.dot(mu, block.residual) for mu, block in taken), ca.SX(0))

    values = printer.given()
    sizes = {"us": i.u.numel(), "ys": scheme.y.numel(), "zs": scheme.z.numel(), "weights": weight.numel()}
    begin = [*printer.loaded("%lam", sizes["ys"]), *printer.loaded("%gp", i.p.numel())]

    def step(k: str, state: list[str]) -> list[str]:
        backwards = printer.new(f"sub i64 %last, {k}")
        rows = {name: printer.row(f"%{name}", size, backwards) for name, size in sizes.items()}
        u, y, z, w = (printer.loaded(rows[name], size) for name, size in sizes.items())
        own = {**values, "u": u}
        lams, gps = state[: len(y)], state[len(y) :]
        known = [*printer.known(own, y, z), (lam, lams), (weight, w)]
        for b in reversed(range(len(blocks))):
            # J' mu = what is left of the sensitivity to this block's unknowns, later blocks taken off.
            block = blocks[b]
            left = ca.gradient(without(b + 1), scheme.z[list(block.unknowns)])
            found = solve(block.jacobian.T, ca.densify(left))
            known.append((mus[b], printer.expression(known, found)))
        # In one sweep: three of them would be as many times the text.
        slope = ca.densify(ca.gradient(without(0), ca.vertcat(scheme.y, i.u, i.p)))
        slopes, ends = printer.expression(known, slope), (len(y), len(y) + len(u))
        by_y, by_u, by_p = slopes[: ends[0]], slopes[ends[0] : ends[1]], slopes[ends[1] :]
        at = printer.row("%gus", sizes["us"], backwards)
        printer.stored(at, _sum(printer, printer.loaded(at, sizes["us"]), by_u))
        return [*by_y, *_sum(printer, gps, by_p)]

    printer.put("%last = sub i64 %n, 1")
    after = printer.times("%n", begin, step)
    printer.stored("%lam", after[: sizes["ys"]])
    printer.stored("%gp", after[sizes["ys"] :])
    printer.end("i64 %n")
    return printer


def _tangent(scheme: Scheme, width: int, blocks: list[Block]) -> Printer:
    printer, i = _begun("tangent", scheme, width, TANGENT), scheme.inputs
    dy, du, dp, dz = (
        ca.SX.sym(name, x.numel())
        for name, x in (("dy", scheme.y), ("du", i.u), ("dp", i.p), ("dz", scheme.z))
    )

    def along(expression: ca.SX, unknowns: ca.SX) -> ca.SX:
        """Its change, with that of some of the unknowns; those of the others are left out."""
        by, direction = ca.vertcat(scheme.y, i.u, i.p, scheme.z), ca.vertcat(dy, du, dp, unknowns)
        return ca.jtimes(expression, by, direction)

    values = printer.given()
    dps = printer.loaded("%dp", i.p.numel())
    sizes = {"us": i.u.numel(), "dus": i.u.numel(), "ys": scheme.y.numel(), "zs": scheme.z.numel()}
    begin = printer.loaded("%dy", sizes["ys"])

    def step(k: str, state: list[str]) -> list[str]:
        u, dus, y, z = (printer.loaded(printer.row(f"%{n}", size, k), size) for n, size in sizes.items())
        dzs = [splat(0.0, printer.width)] * sizes["zs"]
        fixed = [*printer.known({**values, "u": u}, y, z), (dy, state), (du, dus), (dp, dps)]
        for block in blocks:
            # Unknowns of later blocks are not in the residual, its own have moved by nothing yet.
            found = printer.expression([*fixed, (dz, dzs)], solve(block.jacobian, -along(block.residual, dz)))
            for unknown, register in zip(block.unknowns, found, strict=True):
                dzs[unknown] = register
        known = [*fixed, (dz, dzs)]
        count = scheme.node.numel()
        found = printer.expression(known, ca.densify(along(ca.vertcat(scheme.node, scheme.y_next), dz)))
        printer.stored(printer.row("%dnodes", count, k), found[:count])
        return found[count:]

    printer.stored("%dy", printer.times("%n", begin, step))
    printer.end("i64 %n")
    return printer


def _sum(printer: Printer, a: Sequence[str], b: Sequence[str]) -> list[str]:
    return [printer.new(f"fadd {printer.vector} {x}, {y}") for x, y in zip(a, b, strict=True)]
