"""Machine code of a rollout's exact derivatives: the steps recorded, then their adjoint or their tangent.

Derivatives are those of the symbolic step. Of an implicit one they go through its equations, r(z, y, u, p) = 0, block
by block: the adjoint solves with the transposed Jacobians in the opposite order, so that nothing is iterated again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import casadi as ca

from sim.compiler.blocks import Block
from sim.compiler.objects import loaded
from sim.compiler.printer import Printer, served
from sim.compiler.vector_code import splat
from sim.integrators.base import Integrator
from sim.symbolic import solve
from sim.vehicles.forms.base import Structure

RECORD = ("y", "us", "p", "h", "ys", "zs", "nodes")
ADJOINT = ("lam", "gp", "us", "p", "h", "ys", "zs", "weights", "gus")
TANGENT = ("dy", "us", "dus", "p", "dp", "h", "ys", "zs", "dnodes")
"""Tables of addresses of the three functions. Arrays are (rows, size, width), those of one moment (size, width)."""


@dataclass(frozen=True, eq=False)
class GradientCode:
    """Addresses of functions of (table, steps), and the sizes of the arrays that they take.

    record: fills ys, zs and nodes of each step and leaves the state after the last one in y; returns the steps done.
    adjoint: from lam, the sensitivity to the state after the last step, to that before the first; `weights` are the
    sensitivities to the nodes, and gus, gp are added to. tangent: dy is carried on, dnodes are filled.
    """

    record: int
    adjoint: int
    tangent: int
    width: int
    y: int
    z: int
    engine: object
    """Owns the code."""


@lru_cache(maxsize=32)
def gradient_code(structure: Structure, integrator: Integrator, width: int) -> GradientCode | None:
    """Of a pair; None for methods whose steps are divided or whose unknowns hang together in large blocks."""
    scheme = integrator.scheme(structure.vehicle)
    blocks = served(scheme)
    if blocks is None:
        return None
    texts, declarations = [], set()
    for name, build in (("record", _record), ("adjoint", _adjoint), ("tangent", _tangent)):
        printer = Printer(scheme, width)
        printer.begin(name)
        build(printer, blocks)
        printer.end()
        texts.append("\n".join(printer.lines))
        declarations |= printer.declarations
    engine = loaded("\n".join([*texts, *sorted(declarations)]), optimised=True)
    record, adjoint, tangent = (
        engine.get_function_address(name) for name in ("record", "adjoint", "tangent")
    )
    return GradientCode(record, adjoint, tangent, width, scheme.y.numel(), scheme.z.numel(), engine)


def _record(printer: Printer, blocks: list[Block]) -> None:
    scheme = printer.scheme
    size = scheme.inputs.u.numel()
    printer.pointers(*RECORD)
    values = printer.constants()
    begin_y = printer.loaded("%y", scheme.y.numel())

    def body(y: list[str], k: str) -> list[str]:
        own = {**values, "u": printer.loaded(printer.row("%us", size, k), size)}
        z = printer.solved(own, y, blocks, "over")
        known = printer.known(own, y, z)
        node, after = printer.expression(known, scheme.node), printer.expression(known, scheme.y_next)
        good = printer.finite([*node, *after])
        taken = printer.fresh("taken")
        printer.add(f"br i1 {good}, label %{taken}, label %over")
        printer.label(taken)
        for array, registers in (("ys", y), ("zs", z), ("nodes", node)):
            printer.stored(printer.row(f"%{array}", len(registers), k), registers)
        return after

    after = _loop(printer, begin_y, body)
    printer.stored("%y", after)
    printer.add("ret i64 %n")
    failing = _jumping(printer.lines, "over")
    printer.label("over")
    if failing:
        printer.add(f"%did = phi i64 {failing}", "ret i64 %did")
    else:
        printer.add("ret i64 0")


def _adjoint(printer: Printer, blocks: list[Block]) -> None:
    scheme, i = printer.scheme, printer.scheme.inputs
    lam, weight = ca.SX.sym("lam", scheme.y.numel()), ca.SX.sym("weight", scheme.node.numel())
    outcome = ca.dot(lam, scheme.y_next) + ca.dot(weight, scheme.node)
    mus = [ca.SX.sym("mu", len(block.unknowns)) for block in blocks]
    whole = outcome - sum((ca.dot(mu, b.residual) for mu, b in zip(mus, blocks, strict=True)), ca.SX(0))
    printer.pointers(*ADJOINT)
    values = printer.constants()
    sizes = {"us": i.u.numel(), "ys": scheme.y.numel(), "zs": scheme.z.numel(), "weights": weight.numel()}
    begin = [*printer.loaded("%lam", sizes["ys"]), *printer.loaded("%gp", i.p.numel())]

    def body(state: list[str], k: str) -> list[str]:
        backwards = printer.value(f"sub i64 %last, {k}")
        rows = {name: printer.row(f"%{name}", size, backwards) for name, size in sizes.items()}
        u, y, z, w = (printer.loaded(rows[name], size) for name, size in sizes.items())
        own = {**values, "u": u}
        lams, gps = state[: len(y)], state[len(y) :]
        known = [*printer.known(own, y, z), (lam, lams), (weight, w)]
        for b in reversed(range(len(blocks))):
            # J' mu = what is left of the sensitivity to this block's unknowns, later blocks taken off.
            block, others = blocks[b], mus[b + 1 :]
            left = outcome - sum(
                (ca.dot(mu, later.residual) for mu, later in zip(others, blocks[b + 1 :], strict=True)),
                ca.SX(0),
            )
            own_z = scheme.z[list(block.unknowns)]
            found = solve(block.jacobian.T, ca.densify(ca.gradient(left, own_z)))
            known.append((mus[b], printer.expression(known, found)))
        by_y, by_u, by_p = (ca.densify(ca.gradient(whole, x)) for x in (scheme.y, i.u, i.p))
        gu = printer.expression(known, by_u)
        at = printer.row("%gus", sizes["us"], backwards)
        printer.stored(at, _sum(printer, printer.loaded(at, sizes["us"]), gu))
        return [*printer.expression(known, by_y), *_sum(printer, gps, printer.expression(known, by_p))]

    printer.add("%last = sub i64 %n, 1")
    after = _loop(printer, begin, body)
    printer.stored("%lam", after[: sizes["ys"]])
    printer.stored("%gp", after[sizes["ys"] :])
    printer.add("ret i64 %n")


def _tangent(printer: Printer, blocks: list[Block]) -> None:
    scheme, i = printer.scheme, printer.scheme.inputs
    dy, du, dp, dz = (
        ca.SX.sym(name, x.numel())
        for name, x in (("dy", scheme.y), ("du", i.u), ("dp", i.p), ("dz", scheme.z))
    )

    def along(expression: ca.SX, unknowns: ca.SX) -> ca.SX:
        """Its change, with that of some of the unknowns; those of the others are left out."""
        ways = [(scheme.y, dy), (i.u, du), (i.p, dp)]
        total = ca.SX.zeros(expression.shape)
        for by, direction in ways:
            if by.numel():
                total += ca.jtimes(expression, by, direction)
        return total + (ca.jtimes(expression, scheme.z, unknowns) if unknowns.numel() else 0)

    printer.pointers(*TANGENT)
    values = printer.constants()
    dps = printer.loaded("%dp", i.p.numel())
    sizes = {"us": i.u.numel(), "dus": i.u.numel(), "ys": scheme.y.numel(), "zs": scheme.z.numel()}
    begin = printer.loaded("%dy", sizes["ys"])

    def body(state: list[str], k: str) -> list[str]:
        u, dus, y, z = (printer.loaded(printer.row(f"%{n}", size, k), size) for n, size in sizes.items())
        dzs = [splat(0.0, printer.width)] * sizes["zs"]
        fixed = [*printer.known({**values, "u": u}, y, z), (dy, state), (du, dus), (dp, dps)]
        for block in blocks:
            # Unknowns of later blocks are not in the residual, its own have moved by nothing yet.
            found = printer.expression([*fixed, (dz, dzs)], solve(block.jacobian, -along(block.residual, dz)))
            for unknown, register in zip(block.unknowns, found, strict=True):
                dzs[unknown] = register
        known = [*fixed, (dz, dzs)]
        node = printer.expression(known, along(scheme.node, dz))
        printer.stored(printer.row("%dnodes", len(node), k), node)
        return printer.expression(known, along(scheme.y_next, dz))

    after = _loop(printer, begin, body)
    printer.stored("%dy", after)
    printer.add("ret i64 %n")


def _sum(printer: Printer, a: Sequence[str], b: Sequence[str]) -> list[str]:
    return [printer.value(f"fadd {printer.vector} {x}, {y}") for x, y in zip(a, b, strict=True)]


def _loop(printer: Printer, begin: list[str], body: Callable[[list[str], str], list[str]]) -> list[str]:
    """n times `body` (registers of the state, register of the count); returns the registers after the last time."""
    before, step, done = printer.block, printer.fresh("step"), printer.fresh("done")
    none = printer.value("icmp slt i64 %n, 1")
    printer.add(f"br i1 {none}, label %{done}, label %{step}")
    printer.label(step)
    at = len(printer.lines)
    state = [f"%{printer.fresh('s')}" for _ in begin]
    after = body(state, "%k")
    end = printer.block
    printer.add("%later = add i64 %k, 1", "%more = icmp slt i64 %later, %n")
    printer.add(f"br i1 %more, label %{step}, label %{done}")
    phis = [f"  %k = phi i64 [ 0, %{before} ], [ %later, %{end} ]"]
    phis += [
        f"  {s} = phi {printer.vector} [ {b}, %{before} ], [ {a}, %{end} ]"
        for s, b, a in zip(state, begin, after, strict=True)
    ]
    printer.lines[at:at] = phis
    printer.label(done)
    last = [f"%{printer.fresh('t')}" for _ in begin]
    printer.add(
        *(
            f"{t} = phi {printer.vector} [ {b}, %{before} ], [ {a}, %{end} ]"
            for t, b, a in zip(last, begin, after, strict=True)
        )
    )
    return last


def _jumping(lines: Sequence[str], label: str) -> str:
    """(count of steps, block) of all that jump to a label."""
    found, block = [], ""
    for line in lines:
        if line.endswith(":"):
            block = line.removesuffix(":")
        elif f"label %{label}" in line:
            found.append(f"[ %k, %{block} ]")
    return ", ".join(found)
