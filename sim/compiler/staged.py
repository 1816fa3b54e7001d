"""The text of a kernel module for what a product of groups moves: maps part by part in loops, stages as calls.

Where one rigid body's step is one straight line of scalars, here states are arrays: the rate of the vehicle is one
function, moving a point by exponentials is another, with one loop for each run of equal parts. So the time to compile
grows neither with the copies nor with the stages of the method.
"""

from collections.abc import Callable, Sequence
from itertools import zip_longest

import casadi as ca

from sim.compiler.inline import FREE_TYPE
from sim.compiler.loops import STEP_RULE, Registers, divided_step, finite
from sim.compiler.printer import straight_line
from sim.compiler.recorded import recorded
from sim.compiler.stages import Scaled, StagedFlow
from sim.compiler.sweeps import Code, Naming, Rows
from sim.integrators.base import Integrator
from sim.spaces import Action
from sim.vehicles.acted import ActionVehicle
from sim.vehicles.base import Quantities

_A = "float64[::1]"
_ARITHMETIC = '{"contract"}'
_HEADER = '''"""Generated: {title}. Do not edit."""

import math

import numpy as np

from sim.compiled import compiled
from sim.compiler.branchless import where
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
    flow = StagedFlow(action.space.size, action.group.dim, controls, samples)
    end, difference = method.on_flow(flow, Scaled())
    places = {"y": flow.place(flow.y), "n": flow.place(end), "l": flow.place(flow.new(action.space.size))}
    error = None if difference is None else (flow.place(difference), difference.size)
    rate, size = _rate(vehicle, flow.used)
    parts = [
        _HEADER.format(title=title, imports="" if error is None else STEP_RULE),
        _TOTAL,
        rate,
        *(_mapped(name, action) for name in sorted(flow.maps - {"rate"})),
        _START,
        _rollout(flow, places, error, size, controls, samples),
        recorded(FREE_TYPE),
    ]
    return "\n\n".join(parts)


def _function(signature: str, name: str, arguments: str, body: list[str]) -> str:
    lines = "\n".join("    " + line for line in body)
    head = f'@compiled("{signature}", error_model="numpy", fastmath={_ARITHMETIC})'
    return f"{head}\ndef {name}({arguments}):\n{lines}\n"


_TOTAL = f"""@compiled("float64({_A}, int64, int64)", error_model="numpy")
def total(a, at, size):
    found = 0.0
    for i in range(size):
        found += a[at + i]
    return found


@compiled("float64({_A}, int64, int64)", error_model="numpy")
def length(a, at, size):
    found = 0.0
    for i in range(size):
        found += a[at + i] * a[at + i]
    return math.sqrt(found)
"""

_START = f"""@compiled("void({_A}, {_A}, {_A}, {_A}, float64, {_A})", error_model="numpy")
def start(node, u, w, p, h, y):
    for i in range(node.shape[0]):
        y[i] = node[i]
"""


def quantities(vehicle: ActionVehicle, code: Code, p: ca.SX) -> Quantities:
    """Parameters by name; of those that there is one of for each copy the stack."""
    found, at = vars(vehicle.symbols(p)).copy(), 0
    counts = vehicle.counts
    for q in vehicle.parameters:
        if q.per and q.name not in vehicle.absent:
            found[q.name] = Rows(code, "p", str(at), q.size // counts[q.per], counts[q.per])
        at += q.size
    return Quantities(**found)


def _rate(vehicle: ActionVehicle, begin: int) -> tuple[str, int]:
    """The function that finds the algebra's element, and how much room it needs."""
    action = vehicle.action
    u, p = ca.SX.sym("u", len(vehicle.controls)), ca.SX.sym("p", vehicle.parameter_count)
    known: list[Naming] = [(u, lambda k: f"u[row + {k}]"), (p, lambda k: f"p[{k}]")]
    code = Code(known, "a", begin)
    if vehicle.copies:
        point = Rows(code, "a", "y", action.space.size // vehicle.copies, vehicle.copies)
        found = vehicle.generator(point, u, quantities(vehicle, code, p))
        assert isinstance(found, Rows)
        copy = [
            f"for i in range({action.group.dim}):",
            f"    a[out + i] = {found.array}[{found.start} + i]",
        ]
        body = [*code.lines, *copy]
    else:
        y = ca.SX.sym("y", action.space.size)
        known = [(y, lambda k: f"a[y + {k}]"), *known]
        element = vehicle.generator(y, u, vehicle.symbols(p))
        body = straight_line(known, [(element, lambda k: f"a[out + {k}]")], "t")
    text = _function(f"void({_A}, int64, int64, {_A}, int64, {_A})", "rate", "a, y, out, u, row, p", body)
    named = [f"{name} = np.array({numbers.tolist()!r})" for name, numbers in code.constants.items()]
    return "\n".join([*named, "", "", text]) if named else text, code.used


def _mapped(name: str, action: Action) -> str:
    """A map of the whole product: one loop for each run of equal parts, or of equal rows of parts."""
    one, *kinds = _MAPS[name]
    body, at = [], [0, 0, 0]
    for block, count in runs(action.parts or (action,)):
        sizes = [_sizes(part, kinds) for part in block]
        stride = [sum(column) for column in zip(*sizes, strict=True)]
        body.append(f"for i in range({count}):")
        begin = at
        for part, size in zip(block, sizes, strict=True):
            x, z = ca.SX.sym("x", size[0]), ca.SX.sym("z", size[1])
            names = [_entry(*each) for each in zip(("y", "x", "out"), begin, stride, strict=True)]
            lines = straight_line([(x, names[0]), (z, names[1])], [(one(part, x, z), names[2])], "t")
            body += ["    " + line for line in lines]
            begin = [first + n for first, n in zip(begin, size, strict=True)]
        at = [first + count * n for first, n in zip(at, stride, strict=True)]
    return _function(f"void({_A}, int64, int64, int64)", name, "a, y, x, out", body)


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


def _entry(array: str, begin: int, stride: int) -> Callable[[int], str]:
    return lambda k: f"a[{array} + {stride} * i + {begin + k}]"


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
        f"for i in range({n}):",
        f"    a[{places['y']} + i] = y[i]",
        *held.copy("l", "y"),
        *([f"trial = y[{n}]", f"tolerance = y[{n + 1}]", "whole = h"] if divided else []),
        f"v = np.empty({controls * len(samples)})" if divided and samples else "v = u",
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
