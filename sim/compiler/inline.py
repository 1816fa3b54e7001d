"""What acts on a vehicle within every step, as compiled functions that an environment supplies: kernels call them.

A step whose motion these functions refuse is divided: the first half is tried alone, then the rest, with pieces that
grow again where they are accepted.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import casadi as ca

from sim.compiler.printer import straight_line
from sim.integrators.base import Scheme
from sim.vehicles.base import Vehicle

Naming = list[tuple[ca.SX, Callable[[int], str]]]

SMALLEST_SHARE = 2.0**-14
"""Of a step: shorter pieces are taken as they come."""
MOST_REFUSALS = 200
"""In one step; then the rest is taken as it comes."""


@dataclass(frozen=True, slots=True, eq=False)
class Inline:
    """An environment as part of a kernel. Its numbers come with every call, in the tuple `env`.

    `env[0]` tells whether it acts at all, its last array (6,) is told the mean body wrench of the last step.
    Functions are named by what `imports` brings in.
    """

    imports: str
    """One line of Python."""
    type: str
    """Of `env`, as numba writes types."""
    wrench: str
    """(pose (12,), free (6,), inertia (6,), h, env, wrench (6,)) -> whether it acts: writes the body wrench of a step
    that would reach the body twist `free`; inertia is the diagonal of the body's."""
    refuses: str
    """(pose before (12,), pose after (12,), env) -> whether a step that it acted in must be divided."""
    undo: str
    """(env): as before the last call of `wrench`."""
    serves: Callable[[Vehicle], bool]
    """Whether it acts on a vehicle at all."""
    nothing: Callable[[], tuple[Any, ...]]
    """`env` with which it does not act."""
    smooth: bool = False
    """Its wrench depends continuously on the motion, unlike that of an impact: a motion may begin in its midst."""


def inline_of(inline: Inline | None, vehicle: Vehicle) -> Inline | None:
    """What acts on this vehicle."""
    return inline if inline is not None and inline.serves(vehicle) else None


FREE_TYPE = "Tuple(())"
"""Of `env` where nothing is inlined."""


def inlined_step(
    vehicle: Vehicle, scheme: Scheme, inline: Inline, known: Naming, step: list[str]
) -> list[str]:
    """Body of the loop over steps: `step` advances y by `h` (a divided method by `whole`), in pieces where it must."""
    ny, size = scheme.y.shape[0], vehicle.group.pose_dim
    span = "whole" if scheme.error is not None or len(scheme.substeps) > 1 else "h"
    pose = scheme.node[:size]
    diagonal = ca.SX(ca.diag(vehicle.inertia(vehicle.symbols(scheme.inputs.p))))  # type: ignore[attr-defined]
    sensed = straight_line(
        known,
        [
            (pose, lambda k: f"pose[{k}]"),
            (scheme.free_velocity, lambda k: f"free[{k}]"),
            (diagonal, lambda k: f"inertia[{k}]"),
        ],
        "c",
    )
    reached = straight_line(known, [(pose, lambda k: f"reached[{k}]")], "e")
    return [
        *(f"b{k} = y{k}" for k in range(ny)),
        "ahead = full",
        "piece = full",
        "refusals = 0",
        "while ahead > 0.0:",
        "    piece = min(piece, ahead)",
        "    h = piece",
        *([f"    {span} = piece"] if span != "h" else []),
        "    acts = False",
        "    if env[0]:",
        *(f"        w{k} = w[{k}]" for k in range(6)),
        *_indented(sensed, 2),
        f"        acts = {inline.wrench}(pose, free, inertia, h, env, wrench)",
        *(f"        w{k} += wrench[{k}]" for k in range(6)),
        *(f"    s{k} = y{k}" for k in range(ny)),
        "    for once in range(1):",
        *_indented(step, 2),
        f"    if env[0] and piece > {SMALLEST_SHARE!r} * full and refusals < {MOST_REFUSALS}:",
        "        refused = acts and status != 0",
        "        if status == 0:",
        *_indented(reached, 3),
        f"            refused = {inline.refuses}(pose, reached, env)",
        "        if refused:",
        f"            {inline.undo}(env)",
        "            status = 0",
        "            refusals += 1",
        "            piece *= 0.5",
        *(f"            y{k} = s{k}" for k in range(ny)),
        "            continue",
        "    if status != 0:",
        *(f"        y{k} = b{k}" for k in range(ny)),
        "        break",
        "    if refusals > 0:",
        "        # What a divided step felt is told as its mean.",
        *(f"        felt[{k}] += piece * wrench[{k}]" for k in range(6)),
        "    ahead = ahead - piece if ahead > piece else 0.0",
        "    piece *= 2.0",
        "h = full",
        *([f"{span} = full"] if span != "h" else []),
        "if status != 0:",
        "    break",
        *(f"l{k} = b{k}" for k in range(ny)),
        "if refusals > 0:",
        "    for k in range(6):",
        "        wrench[k] = felt[k] / full",
        "        felt[k] = 0.0",
        *(f"    w{k} = w[{k}] + wrench[{k}]" for k in range(6)),
    ]


def told() -> list[str]:
    """After the last step: the wrench that was felt in it, in the tuple's last array."""
    return ["for k in range(6):", "    env[-1][k] = wrench[k]"]


def _indented(lines: list[str], depth: int) -> list[str]:
    return ["    " * depth + line for line in lines]
