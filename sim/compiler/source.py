"""The text of a kernel module: one vehicle under one integrator as straight-line Python for numba.

`rollout` holds the state in local scalars, so that what depends only on parameters, controls and h
leaves the loop. Each nonlinear block of unknowns is solved by Newton's method with the Jacobian's
solution written out; a step that does not converge at once goes to the robust solver (robust.py).
"""

import hashlib
import inspect
from collections.abc import Callable, Sequence
from types import ModuleType

import casadi as ca

from sim.compiler import robust
from sim.compiler.blocks import Block, silenced, solution_order
from sim.compiler.inline import FREE_TYPE, Inline, inline_of, inlined_step, told
from sim.compiler.loops import STEP_RULE, step_lines
from sim.compiler.printer import straight_line
from sim.compiler.recorded import recorded
from sim.integrators.base import Scheme
from sim.symbolic import solve
from sim.vehicles.base import Vehicle
from sim.vehicles.observation import observation

NEWTON_TOLERANCE = 1e-9
"""Relative size of the last Newton update; the error after it is its square."""
REUSED_ACCURACY = 1e-15
"""Where a Jacobian serves two updates: relative error that the product of the last two leaves, or the square of one."""
NEWTON_SWEEPS = 6
INLINE_UNKNOWNS = 3
"""Larger blocks are solved on arrays: written out, they take long to compile."""

_ARITHMETIC = '{"contract"}'
"""Products and sums may be fused. Nothing else: reordering spoils the series near zero angle, and steps that are not
finite have to be seen."""

_HEADER = '''"""Generated: {title}. Do not edit."""

import math

import numpy as np

from sim.compiled import compiled
from sim.compiler.branchless import where
{imports}
'''


_INLINE_ARRAYS = (
    "full = h",
    "pose = np.empty(12)",
    "reached = np.empty(12)",
    "free = np.empty(6)",
    "inertia = np.empty(6)",
    "wrench = np.zeros(6)",
    "felt = np.zeros(6)",
)


def scalars(prefix: str) -> Callable[[int], str]:
    """Names of local scalars."""
    return lambda i: f"{prefix}{i}"


def entries(array: str) -> Callable[[int], str]:
    """Names of array entries."""
    return lambda i: f"{array}[{i}]"


def named(names: Sequence[str]) -> Callable[[int], str]:
    """Given names."""
    return lambda i: names[i]


def module_source(vehicle: Vehicle, scheme: Scheme, title: str, inline: Inline | None = None) -> str:
    """Python source of the kernel module; `inline` acts in every step of the vehicles that it serves."""
    blocks = solution_order(scheme)
    nonlinear = [b for b in blocks if not b.linear]
    inline = inline_of(inline, vehicle)
    imports = (
        [
            f"# robust solver {_digest(robust)}",
            "from sim.compiler.robust import copy_into, largest, solve_in_place",
        ]
        if nonlinear
        else []
    )
    imports += [inline.imports] if inline else []
    imports += [STEP_RULE] if scheme.error is not None else []
    parts = [_HEADER.format(title=title, imports="\n".join(imports))]
    for k, block in enumerate(nonlinear):
        parts.append(_robust_functions(scheme, block, k))
    parts.append(_start(scheme, scheme.start, "start"))
    if inline and inline.smooth and scheme.pushed is not None:
        parts.append(_start(scheme, scheme.pushed, "start_pushed"))
    elif inline and scheme.carried is not None:
        parts.append(_start(scheme, scheme.carried, "start_carried"))
    parts.append(_rollout(vehicle, scheme, blocks, inline))
    parts.append(recorded(inline.type if inline else FREE_TYPE))
    parts.append(_observe(vehicle, scheme))
    return "\n\n".join(parts)


def _digest(module: ModuleType) -> str:
    return hashlib.sha256(inspect.getsource(module).encode()).hexdigest()[:16]


def _known(
    scheme: Scheme, naming: Callable[[str], Callable[[int], str]]
) -> list[tuple[ca.SX, Callable[[int], str]]]:
    i = scheme.inputs
    return [
        (scheme.z, naming("z")),
        (scheme.y, naming("y")),
        (i.u, naming("u")),
        (i.w, naming("w")),
        (i.p, naming("p")),
        (i.h, lambda _: "h"),
    ]


def _indented(lines: list[str], depth: int) -> str:
    pad = "    " * depth
    return "\n".join(pad + line for line in lines)


def _decorated(signature: str, name: str, arguments: str, body: list[str]) -> str:
    head = f'@compiled("{signature}", error_model="numpy", fastmath={_ARITHMETIC})'
    return f"{head}\ndef {name}({arguments}):\n{_indented(body, 1)}\n"


_A = "float64[::1]"


def _robust_functions(scheme: Scheme, block: Block, k: int) -> str:
    """Residual and Jacobian of a block on arrays, and its robust solution."""
    n = len(block.unknowns)
    lines = straight_line(
        _known(scheme, entries),
        [(block.residual, entries("r")), (ca.vec(block.jacobian.T), entries("J"))],
        "t",
    )
    signature = f"void({_A}, {_A}, {_A}, {_A}, {_A}, float64, {_A}, {_A})"
    evaluate = _decorated(signature, f"block_{k}", "z, y, u, w, p, h, r, J", lines)
    guess = straight_line(_known(scheme, entries)[1:], [(scheme.guess, entries("z"))], "t")
    guess_function = _decorated(
        f"void({_A}, {_A}, {_A}, {_A}, {_A}, float64)", f"guess_{k}", "z, y, u, w, p, h", guess
    )
    text = robust.CONTINUATION.format(
        size=n,
        unknowns=scheme.z.shape[0],
        indices=f"({', '.join(map(str, block.unknowns))},)",
        evaluate=f"block_{k}",
        guess=f"guess_{k}",
        tolerance=repr(NEWTON_TOLERANCE),
    )
    body = text.strip().splitlines()
    solver = _decorated(
        f"int64({_A}, {_A}, {_A}, {_A}, {_A}, float64)", f"robust_{k}", "z, y, u, w, p, h", body
    )
    return "\n\n".join([evaluate, guess_function, solver, _settled(scheme, k)])


def _settled(scheme: Scheme, k: int) -> str:
    """The robust solution for a rollout, which holds numbers: arrays in its loop would cost as much as a step."""
    z, w = scheme.z.shape[0], scheme.inputs.w.shape[0]
    lines = [
        f"unknowns, wrench = np.empty({z}), np.empty({w})",
        *(f"unknowns[{i}] = z[{i}]" for i in range(z)),
        *(f"wrench[{i}] = w[{i}]" for i in range(w)),
        f"tried = robust_{k}(unknowns, y, u, wrench, p, h)",
        f"return tried, {_tuple(scheme.z, 'unknowns[', ']')}",
    ]
    types = [f"UniTuple(float64, {n})" if n else "Tuple(())" for n in (z, w)]
    signature = f"Tuple((int64, {types[0]}))({types[0]}, {_A}, {_A}, {types[1]}, {_A}, float64)"
    return _decorated(signature, f"settled_{k}", "z, y, u, w, p, h", lines)


def _tuple(column: ca.SX, before: str, after: str = "") -> str:
    """Of numbers with such names."""
    return "(" + "".join(f"{before}{i}{after}, " for i in range(column.shape[0])) + ")"


def _start(scheme: Scheme, expression: ca.SX, name: str) -> str:
    i = scheme.inputs
    known = [
        (i.node, entries("node")),
        (i.u, entries("u")),
        (i.w, entries("w")),
        (i.p, entries("p")),
        (i.h, lambda _: "h"),
    ]
    lines = straight_line(known, [(expression, entries("y"))], "t")
    return _decorated(f"void({_A}, {_A}, {_A}, {_A}, float64, {_A})", name, "node, u, w, p, h, y", lines)


def _solve_lines(scheme: Scheme, blocks: list[Block]) -> list[str]:
    """Unknowns into z0.. ; sets `failed` where a block has no solution."""
    known = _known(scheme, scalars)
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
    known = _known(scheme, scalars)
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
    elif scheme.reuse_jacobian:
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
            *straight_line([*known, (entry, scalars("v"))], [(again, named(update))], f"c{k}_"),
            *apply,
            f"if first * ({change}) <= {REUSED_ACCURACY!r} * (1.0 + {size}):",
            "    converged = True",
            "    break",
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
        f"    tried, solution = settled_{k}({_tuple(scheme.z, 'z')}, y, u, {_tuple(scheme.inputs.w, 'w')}, p, h)",
        *(f"    z{i} = solution[{i}]" for i in block.unknowns),
        "    if tried < 0:",
        "        status = 1",
        "        break",
        "    iterations += tried",
    ]


def _rollout(vehicle: Vehicle, scheme: Scheme, blocks: list[Block], inline: Inline | None) -> str:
    i = scheme.inputs
    ny, nz, nw = scheme.y.shape[0], scheme.z.shape[0], i.w.shape[0]
    widest = max(
        (len(b.unknowns) for b in blocks if not b.linear and len(b.unknowns) > INLINE_UNKNOWNS), default=0
    )
    work = (("z", nz), ("ww", nw), ("r", widest), ("J", widest * widest))
    known = _known(scheme, scalars)
    others = [scheme.y, i.u, i.w, i.p, i.h]
    y_next = silenced(scheme.y_next, scheme.z, others)[0] if nz else scheme.y_next
    outputs = [(y_next, scalars("n"))] + ([] if scheme.error is None else [(scheme.error, scalars("e"))])
    advance = straight_line(known, outputs, "a")
    adaptive, divided = scheme.error is not None, scheme.error is not None or len(scheme.substeps) > 1
    node = straight_line(known, [(scheme.node, entries("node"))], "o")
    step = step_lines(scheme, _solve_lines(scheme, blocks), advance)
    if inline:
        step = inlined_step(vehicle, scheme, inline, _known(scheme, scalars)[1:], step)
    loop = [*step, "done += 1"]
    body = [
        *(f"y{k} = y[{k}]" for k in range(ny)),
        *(f"l{k} = y[{k}]" for k in range(ny)),
        *([f"trial = y[{ny}]", f"tolerance = y[{ny + 1}]"] if adaptive else []),
        *(["whole = h"] if divided else []),
        *(f"z{k} = 0.0" for k in range(nz)),
        *([] if divided and i.samples else [f"u{k} = u[{k}]" for k in range(i.u.shape[0])]),
        *(f"w{k} = w[{k}]" for k in range(nw)),
        *(f"p{k} = p[{k}]" for k in range(i.p.shape[0])),
        *(f"{a} = np.empty({k})" for a, k in work if widest),
        *(_INLINE_ARRAYS if inline else []),
        "done = 0",
        "status = 0",
        "iterations = 0",
        "for step in range(n):",
        *("    " + line for line in loop),
        *(f"y[{k}] = y{k}" for k in range(ny)),
        *([f"y[{ny}] = trial"] if adaptive else []),
        *(told() if inline else []),
        "# The node where the last step began, for display and swapping.",
        *(f"y{k} = l{k}" for k in range(ny)),
        *node,
        "return done, status, iterations",
    ]
    env = inline.type if inline else FREE_TYPE
    signature = f"Tuple((int64, int64, int64))({_A}, {_A}, {_A}, {_A}, float64, int64, {_A}, {env})"
    return _decorated(signature, "rollout", "y, u, w, p, h, n, node, env", body)


def _observe(vehicle: Vehicle, scheme: Scheme) -> str:
    """All that is told of many nodes, one after the other."""
    i, size = scheme.inputs, vehicle.node_layout.size
    node, after, u = ca.SX.sym("node", size), ca.SX.sym("after", size), ca.SX.sym("u", len(vehicle.controls))
    _, row = observation(vehicle, node, after, u, i.h, vehicle.symbols(i.p))
    known = [
        (node, lambda k: f"nodes[row, {k}]"),
        (after, lambda k: f"nodes[after, {k}]"),
        (u, lambda k: f"u[{k}]"),
        (i.p, entries("p")),
        (i.h, lambda _: "h"),
    ]
    lines = straight_line(known, [(row, lambda k: f"out[row, {k}]")], "t")
    body = [
        "for row in range(nodes.shape[0]):",
        "    after = min(row + 1, nodes.shape[0] - 1)",
        "    u = us[0] if us.shape[0] == 1 else us[min(row, us.shape[0] - 1)]",
        *("    " + line for line in lines),
    ]
    signature = f"void(float64[:, ::1], float64[:, ::1], {_A}, float64, float64[:, ::1])"
    return _decorated(signature, "observe", "nodes, us, p, h, out", body)
