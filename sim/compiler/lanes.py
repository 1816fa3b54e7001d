"""Machine code that advances many vehicles side by side: one in each part of a vector register.

The same blocks as in a kernel of one vehicle, printed as LLVM on vectors of `WIDTH` numbers. All vehicles of a register
iterate until the last of them has converged. Where one does not, or leaves the numbers, the register stops before
that step and says so: the kernel of one vehicle, which has a robust solver, goes on from there.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sim.compiler.blocks import Block, silenced
from sim.compiler.objects import loaded
from sim.compiler.printer import Printer, served
from sim.integrators.base import Integrator, Scheme
from sim.vehicles.forms.base import Structure

WIDTH = 8
_V = f"<{WIDTH} x double>"
_TABLE = ("y", "u", "p", "h", "node")


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
    blocks = served(scheme)
    if blocks is None:
        return None
    engine = loaded(_module(scheme, blocks), optimised=True)
    return LaneCode(engine.get_function_address("advance"), engine.get_function_address("node"), engine)


def _module(scheme: Scheme, blocks: list[Block]) -> str:
    texts, declarations = [], set()
    for build in (_advance, _node):
        printer = Printer(scheme, WIDTH)
        build(printer, blocks)
        texts.append("\n".join(printer.lines))
        declarations |= printer.declarations
    return "\n".join([*texts, *sorted(declarations)])


Build = Callable[[Printer, list[Block]], None]


def _advance(printer: Printer, blocks: list[Block]) -> None:
    """Steps until they are done or one fails."""
    scheme = printer.scheme
    printer.begin("advance")
    printer.pointers(*_TABLE)
    values = printer.constants()
    values["u"] = printer.loaded("%u", scheme.inputs.u.numel())
    values["y"] = printer.loaded("%y", scheme.y.numel())
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
    printer.stored("%y", after)
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
    printer.end()


def _incoming(lines: Sequence[str]) -> str:
    """Of the block `over`: (steps done, block) of all that jump there."""
    found, block = [], ""
    for line in lines:
        if line.endswith(":"):
            block = line.removesuffix(":")
        elif "label %over" in line:
            found.append(f"[ {'0' if block == 'entry' else '%k'}, %{block} ]")
    return ", ".join(found)


def _node(printer: Printer, blocks: list[Block]) -> None:
    """The public state where the next step begins; 0 where that step has no solution, else 1."""
    scheme = printer.scheme
    printer.begin("node")
    printer.pointers(*_TABLE)
    values = printer.constants()
    values["u"] = printer.loaded("%u", scheme.inputs.u.numel())
    values["y"] = printer.loaded("%y", scheme.y.numel())
    z = printer.solved(values, values["y"], blocks, "over")
    found = printer.expression(printer.known(values, values["y"], z), scheme.node)
    printer.stored("%node", found)
    printer.add("ret i64 1")
    printer.label("over")
    printer.add("ret i64 0")
    printer.end()


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
