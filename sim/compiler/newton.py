"""Text that finds the unknowns of a step: linear blocks at once, others by Newton's method.

The Jacobian's solution is written out, and may serve further updates; a step that does not converge at once goes to
the robust solver (robust.py).
"""

import casadi as ca

from sim.compiler.blocks import Block
from sim.compiler.naming import known_of, named, scalars, tuple_of
from sim.compiler.printer import straight_line
from sim.integrators.base import Scheme
from sim.symbolic import solve

NEWTON_TOLERANCE = 1e-9
"""Relative size of the last Newton update; the error after it is its square."""
REUSED_ACCURACY = 1e-15
"""Where a Jacobian serves more updates: relative error that the product of its first and last leaves."""
NEWTON_SWEEPS = 6
INLINE_UNKNOWNS = 3
"""Larger blocks are solved on arrays: written out, they take long to compile."""


def solve_lines(scheme: Scheme, blocks: list[Block]) -> list[str]:
    """Unknowns into z0.. ; sets `failed` where a block has no solution."""
    known = known_of(scheme, scalars)
    lines = straight_line(known[1:], [(scheme.guess, scalars("z"))], "g") if blocks else []
    nonlinear = 0
    for b, block in enumerate(blocks):
        own = scheme.z[list(block.unknowns)]
        names = [f"z{i}" for i in block.unknowns]
        if block.linear:
            at_zero = ca.substitute(block.residual, own, ca.SX.zeros(len(names)))
            jacobian = ca.substitute(block.jacobian, own, ca.SX.zeros(len(names)))
            lines += straight_line(known, [(solve(jacobian, -at_zero), named(names))], f"b{b}_")
            continue
        lines += _newton_lines(scheme, block, nonlinear)
        nonlinear += 1
    return lines


def _newton_lines(scheme: Scheme, block: Block, k: int) -> list[str]:
    """Newton's method on one block, then the robust solver where it did not converge."""
    names = [f"z{i}" for i in block.unknowns]
    update = [f"d{i}" for i in block.unknowns]
    to_arrays = [
        *(f"z[{i}] = z{i}" for i in range(scheme.z.shape[0])),
        *(f"y[{i}] = y{i}" for i in range(scheme.y.shape[0])),
        *(f"ww[{i}] = w{i}" for i in range(scheme.inputs.w.shape[0])),
    ]
    change = " + ".join(f"abs({d})" for d in update)
    size = " + ".join(f"abs({z})" for z in names)
    apply = [f"{z} -= {d}" for z, d in zip(names, update, strict=True)]
    known = known_of(scheme, scalars)
    before: list[str] = []
    small = [f"if {change} <= {NEWTON_TOLERANCE!r} * (1.0 + {size}):", "    converged = True", "    break"]
    if len(names) > INLINE_UNKNOWNS:
        before = to_arrays
        sweep = [
            f"block_{k}(z, y, u, ww, p, h, r, J)",
            f"if not solve_in_place(J, r, {len(names)}):",
            "    break",
            *(f"{d} = r[{i}]" for i, d in enumerate(update)),
            *apply,
            *(f"z[{i}] = z{i}" for i in block.unknowns),
            "iterations += 1",
            *small,
        ]
    elif scheme.updates_per_jacobian > 1:
        inverse = ca.horzcat(*[solve(block.jacobian, unit) for unit in ca.horzsplit(ca.SX.eye(len(names)))])
        entry = ca.SX.sym("inverse", inverse.numel())
        kept, again = ca.vec(inverse), ca.reshape(entry, *inverse.shape) @ block.residual
        sweep = [
            *straight_line(
                known, [(kept, scalars("v")), (inverse @ block.residual, named(update))], f"b{k}_"
            ),
            *apply,
            f"first = ({change}) / (1.0 + {size})",
            "iterations += 1",
            f"if first * first <= {REUSED_ACCURACY!r}:",
            "    converged = True",
            "    break",
            *_further_updates(
                [*straight_line([*known, (entry, scalars("v"))], [(again, named(update))], f"c{k}_"), *apply],
                change,
                size,
                scheme.updates_per_jacobian - 1,
            ),
        ]
    else:
        solution = [(solve(block.jacobian, block.residual), named(update))]
        sweep = [*straight_line(known, solution, f"b{k}_"), *apply, "iterations += 1", *small]
    return [
        *before,
        "converged = False",
        f"for sweep in range({NEWTON_SWEEPS}):",
        *("    " + s for s in sweep),
        "if not converged:",
        *(f"    y[{i}] = y{i}" for i in range(scheme.y.shape[0])),
        f"    tried, solution = settled_{k}({tuple_of(scheme.z, 'z')}, y, u, {tuple_of(scheme.inputs.w, 'w')}, p, h)",
        *(f"    z{i} = solution[{i}]" for i in block.unknowns),
        "    if tried < 0:",
        "        status = 1",
        "        break",
        "    iterations += tried",
    ]


def _further_updates(update: list[str], change: str, size: str, count: int) -> list[str]:
    """With the Jacobian of the first: each leaves `first` of the error before it, and is made where that is enough."""
    accurate = f"* ({change}) <= {REUSED_ACCURACY!r} * (1.0 + {size}):"
    lines = [*update, f"if first {accurate}", "    converged = True", "    break"]
    if count == 1:
        return lines
    further = _further_updates(update, change, size, count - 1)
    return [*lines, f"if first * first {accurate}", *("    " + line for line in further)]
