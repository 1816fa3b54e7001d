"""The text of a kernel module: one vehicle under one integrator as straight-line Python for numba.

`rollout` holds the state in local scalars, so that what depends only on parameters, controls and h
leaves the loop. How a step finds its unknowns: newton.py.
"""

import hashlib
import inspect
from types import ModuleType

import casadi as ca

from sim.compiler import robust
from sim.compiler.blocks import Block, silenced, solution_order
from sim.compiler.inline import FREE_TYPE, Inline, inline_of, inlined_step, told
from sim.compiler.loops import STEP_RULE, step_lines
from sim.compiler.naming import entries, known_of, scalars, tuple_of
from sim.compiler.newton import INLINE_UNKNOWNS, NEWTON_TOLERANCE, solve_lines
from sim.compiler.printer import straight_line
from sim.compiler.recorded import recorded
from sim.integrators.base import Scheme
from sim.vehicles.base import Vehicle
from sim.vehicles.observation import observation

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
        known_of(scheme, entries),
        [(block.residual, entries("r")), (ca.vec(block.jacobian.T), entries("J"))],
        "t",
    )
    signature = f"void({_A}, {_A}, {_A}, {_A}, {_A}, float64, {_A}, {_A})"
    evaluate = _decorated(signature, f"block_{k}", "z, y, u, w, p, h, r, J", lines)
    guess = straight_line(known_of(scheme, entries)[1:], [(scheme.guess, entries("z"))], "t")
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
        f"return tried, {tuple_of(scheme.z, 'unknowns[', ']')}",
    ]
    types = [f"UniTuple(float64, {n})" if n else "Tuple(())" for n in (z, w)]
    signature = f"Tuple((int64, {types[0]}))({types[0]}, {_A}, {_A}, {types[1]}, {_A}, float64)"
    return _decorated(signature, f"settled_{k}", "z, y, u, w, p, h", lines)


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


def _rollout(vehicle: Vehicle, scheme: Scheme, blocks: list[Block], inline: Inline | None) -> str:
    i = scheme.inputs
    ny, nz, nw = scheme.y.shape[0], scheme.z.shape[0], i.w.shape[0]
    widest = max(
        (len(b.unknowns) for b in blocks if not b.linear and len(b.unknowns) > INLINE_UNKNOWNS), default=0
    )
    work = (("z", nz), ("ww", nw), ("r", widest), ("J", widest * widest))
    known = known_of(scheme, scalars)
    others = [scheme.y, i.u, i.w, i.p, i.h]
    y_next = silenced(scheme.y_next, scheme.z, others)[0] if nz else scheme.y_next
    outputs = [(y_next, scalars("n"))] + ([] if scheme.error is None else [(scheme.error, scalars("e"))])
    advance = straight_line(known, outputs, "a")
    adaptive, divided = scheme.error is not None, scheme.error is not None or len(scheme.substeps) > 1
    node = straight_line(known, [(scheme.node, entries("node"))], "o")
    step = step_lines(scheme, solve_lines(scheme, blocks), advance)
    if inline:
        step = inlined_step(vehicle, scheme, inline, known_of(scheme, scalars)[1:], step)
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
