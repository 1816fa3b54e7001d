"""The text of a kernel module for what a product of groups moves: maps part by part in loops, stages as calls.

Where one rigid body's step is one straight line of scalars, here states are arrays: the rate of the vehicle is one
function, moving a point by exponentials is another, with one loop for each run of equal parts. So the time to compile
grows neither with the copies nor with the stages of the method. These functions are LLVM text, made once (`native`); a
rate that goes along copies has loops of its own, which numba compiles.
"""

from collections.abc import Callable, Sequence
from itertools import zip_longest

import casadi as ca

from sim.compiler.inline import FREE_TYPE
from sim.compiler.loops import STEP_RULE, Registers, divided_step, finite
from sim.compiler.native import NativeFunction, Piece, Place, native_source
from sim.compiler.recorded import recorded
from sim.compiler.stages import Scaled, StagedFlow
from sim.compiler.sweeps import Code, Naming, Rows
from sim.integrators.base import Integrator
from sim.spaces import Action
from sim.vehicles.acted import ActionVehicle
from sim.vehicles.parametrised import Quantities

_A = "float64[::1]"
_ARITHMETIC = '{"contract"}'
_HEADER = '''"""Generated: {title}. Do not edit."""

import math

import numpy as np

from sim.compiled import compiled
from sim.compiler.branchless import where
from sim.compiler.native import linked
from sim.compiler.staged_parts import length, start, total
{imports}
'''

Map = Callable[[Action, ca.SX, ca.SX], ca.SX]

_MAPS: dict[str, tuple[Map, str, str, str]] = {
    "moved": (lambda part, y, x: part.moved(y, x), "space", "group", "space"),
    "tangent": (lambda part, y, x: part.generator(y, x), "space", "group", "space"),
    "dexp_inv": (lambda part, s, x: part.group.dexp_inv(s) @ x, "group", "group", "group"),
    "rolled": (lambda part, y, x: part.rolled(y, x), "space", "group", "space"),
    "dcay_inv": (lambda part, s, x: part.group.dcay_inv(s) @ x, "group", "group", "group"),
    "bracket": (lambda part, x, z: -(part.group.ad(x) @ z), "group", "group", "group"),
    "apart": (lambda part, y, z: part.space.difference(y, z), "space", "space", "displacement"),
}
"""Name -> (of one part, which sizes its two arguments and its result have)."""


def staged_source(vehicle: ActionVehicle, method: Integrator, samples: tuple[float, ...], title: str) -> str:
    """Python source of the kernel module, with the functions that straight-line kernels have but for `observe`.

    samples: moments of sampled controls; none where a row is held over the step.
    """
    action, controls = vehicle.action, len(vehicle.controls)
    flow = StagedFlow(action.space.size, action.group.dim, controls, samples, native_rate=not vehicle.copies)
    end, difference = method.on_flow(flow, Scaled())
    places = {"y": flow.place(flow.y), "n": flow.place(end), "l": flow.place(flow.new(action.space.size))}
    error = None if difference is None else (flow.place(difference), difference.size)
    native = [_mapped(name, action) for name in sorted(flow.maps - {"rate"})]
    size, rate = flow.used, ""
    if vehicle.copies:
        rate, size = _rate_along(vehicle, flow.used)
    else:
        native.append(_rate(vehicle))
    parts = [
        _HEADER.format(title=title, imports="" if error is None else STEP_RULE),
        native_source(native),
        *([rate] if rate else []),
        _rollout(flow, places, error, size, controls, samples),
        recorded(FREE_TYPE),
    ]
    return "\n\n".join(parts)


def _function(signature: str, name: str, arguments: str, body: list[str]) -> str:
    lines = "\n".join("    " + line for line in body)
    head = f'@compiled("{signature}", error_model="numpy", fastmath={_ARITHMETIC})'
    return f"{head}\ndef {name}({arguments}):\n{lines}\n"


def quantities(vehicle: ActionVehicle, code: Code, p: ca.SX) -> Quantities:
    """Parameters by name; of those that there is one of for each copy the stack."""
    found, at = vars(vehicle.symbols(p)).copy(), 0
    counts = vehicle.counts
    for q in vehicle.parameters:
        if q.per and q.name not in vehicle.absent:
            found[q.name] = Rows(code, "p", str(at), q.size // counts[q.per], counts[q.per])
        at += q.size
    return Quantities(**found)


def _rate(vehicle: ActionVehicle) -> NativeFunction:
    """The function that finds the algebra's element."""
    function = NativeFunction("rate", ("a", "y", "out", "u", "row", "p"), ("a", "u", "p"))
    y, u = ca.SX.sym("y", vehicle.action.space.size), ca.SX.sym("u", len(vehicle.controls))
    p = ca.SX.sym("p", vehicle.parameter_count)
    known = [(y, Place("a", "y")), (u, Place("u", "row")), (p, Place("p"))]
    function.loop(1, [Piece(known, vehicle.generator(y, u, vehicle.symbols(p)), Place("a", "out"))])
    return function


def _rate_along(vehicle: ActionVehicle, begin: int) -> tuple[str, int]:
    """The same for copies that a formula goes along, and how much room it needs."""
    action = vehicle.action
    u, p = ca.SX.sym("u", len(vehicle.controls)), ca.SX.sym("p", vehicle.parameter_count)
    known: list[Naming] = [(u, lambda k: f"u[row + {k}]"), (p, lambda k: f"p[{k}]")]
    code = Code(known, "a", begin)
    point = Rows(code, "a", "y", action.space.size // vehicle.copies, vehicle.copies)
    found = vehicle.generator(point, u, quantities(vehicle, code, p))
    assert isinstance(found, Rows)
    copy = [f"for i in range({action.group.dim}):", f"    a[out + i] = {found.array}[{found.start} + i]"]
    arguments = f"void({_A}, int64, int64, {_A}, int64, {_A})"
    text = _function(arguments, "rate", "a, y, out, u, row, p", [*code.lines, *copy])
    named = [f"{name} = np.array({numbers.tolist()!r})" for name, numbers in code.constants.items()]
    return "\n".join([*named, "", "", text]) if named else text, code.used


def _mapped(name: str, action: Action) -> NativeFunction:
    """A map of the whole product: one loop for each run of equal parts, or of equal rows of parts."""
    one, *kinds = _MAPS[name]
    function = NativeFunction(name, ("a", "y", "x", "out"), ("a",))
    at = [0, 0, 0]
    for block, count in runs(action.parts or (action,)):
        sizes = [_sizes(part, kinds) for part in block]
        stride = [sum(column) for column in zip(*sizes, strict=True)]
        begin, pieces = at, []
        for part, size in zip(block, sizes, strict=True):
            x, z = ca.SX.sym("x", size[0]), ca.SX.sym("z", size[1])
            arguments = zip(("y", "x", "out"), begin, stride, strict=True)
            first, second, result = (Place("a", *each) for each in arguments)
            pieces.append(Piece([(x, first), (z, second)], one(part, x, z), result))
            begin = [first + n for first, n in zip(begin, size, strict=True)]
        function.loop(count, pieces)
        at = [first + count * n for first, n in zip(at, stride, strict=True)]
    return function


def runs(parts: Sequence[Action]) -> list[tuple[tuple[Action, ...], int]]:
    """(parts that stand beside each other, how often they do one after the other), the fewest parts in all."""
    found: list[tuple[tuple[Action, ...], int]] = []
    at = 0
    while at < len(parts):
        best: tuple[tuple[Action, ...], int] = ((parts[at],), 1)
        for size in range(1, (len(parts) - at) // 2 + 1):
            block, count = tuple(parts[at : at + size]), 1
            while all(
                a is b for a, b in zip_longest(block, parts[at + count * size : at + (count + 1) * size])
            ):
                count += 1
            if count > 1 and (count - 1) * size > (best[1] - 1) * len(best[0]):
                best = (block, count)
        found.append(best)
        at += len(best[0]) * best[1]
    return found


def _sizes(part: Action, kinds: Sequence[str]) -> list[int]:
    sizes = {"space": part.space.size, "group": part.group.dim, "displacement": part.space.dim}
    return [sizes[kind] for kind in kinds]


def _rollout(
    flow: StagedFlow,
    places: dict[str, int],
    error: tuple[int, int] | None,
    size: int,
    controls: int,
    samples: tuple[float, ...],
) -> str:
    n = flow.y.size
    held = Registers(
        lambda to, of: [f"for i in range({n}):", f"    a[{places[to]} + i] = a[{places[of]} + i]"],
        lambda of: f"total(a, {places[of]}, {n})",
    )
    divided = error is not None
    if error is not None:
        rows = [f"v[{k}] = u{k}" for k in range(controls * len(samples))]
        advance = [*rows, *flow.lines, f"e0 = length(a, {error[0]}, {error[1]})"]
        step = divided_step(held, samples, controls, advance)
    else:
        step = [*flow.lines, *finite(held), *held.copy("l", "y"), *held.copy("y", "n")]
    body = [
        f"a = np.empty({size})",
        "a_at, p_at = a.ctypes.data, p.ctypes.data",
        f"for i in range({n}):",
        f"    a[{places['y']} + i] = y[i]",
        *held.copy("l", "y"),
        *([f"trial = y[{n}]", f"tolerance = y[{n + 1}]", "whole = h"] if divided else []),
        f"v = np.empty({controls * len(samples)})" if divided and samples else "v = u",
        "v_at = v.ctypes.data",
        "done = 0",
        "status = 0",
        "iterations = 0",
        "for step in range(n):",
        *("    " + line for line in [*step, "done += 1"]),
        f"for i in range({n}):",
        f"    y[i] = a[{places['y']} + i]",
        *([f"y[{n}] = trial"] if divided else []),
        "# The node where the last step began, for display and swapping.",
        f"for i in range({n}):",
        f"    node[i] = a[{places['l']} + i]",
        "return done, status, iterations",
    ]
    signature = f"Tuple((int64, int64, int64))({_A}, {_A}, {_A}, {_A}, float64, int64, {_A}, {FREE_TYPE})"
    return _function(signature, "rollout", "y, u, w, p, h, n, node, env", body)
