"""Kernels at work: rollouts of one vehicle and of many, free or amid an environment, whatever the vehicle.

What is vehicle and method is machine code at an address (kernel_code.py); what is here is compiled once a machine, for
an environment together with its functions. A step whose motion the environment refuses is divided: the first half is
tried alone, then the rest, with pieces that grow again where they are accepted.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from sim.compiled import compiled
from sim.compiler.calls import called
from sim.compiler.inline import FREE_TYPE, Inline

SMALLEST_SHARE = 2.0**-14
"""Of a step: shorter pieces are taken as they come."""
MOST_REFUSALS = 200
"""In one step; then the rest is taken as it comes."""
_TABLE, _COUNTS, _STEP, _ROOM = 0, 8, 10, 11
"""Where the table stands in an array of whole numbers, what is counted, and the step's bits."""

FREELY, AMID = ("rollout",) * 3, ("rollout", "sense", "pose")
"""Functions of kernels that are called freely, and amid an environment."""

Rollout = Callable[..., tuple[int, int, int]]
_A, _AA = "float64[::1]", "float64[:, ::1]"


@dataclass(frozen=True, slots=True, eq=False)
class Driver:
    """The functions that run kernels. `code` are the addresses of a kernel's functions, as `Code` has them."""

    rollout: Rollout
    """(code, y, u, w, p, h, n, node, env) -> steps done, status, iterations."""
    trajectory: Callable[..., tuple[int, int]]
    """(code, y, us, ws, p, h, n, nodes, env) -> steps done, iterations: with every node recorded."""
    many: Callable[..., None]
    """(code, ys, w, us, ps, h, n, nodes, done, env): lane after lane."""


@compiled(f"void(int64, {_A}, {_A}, {_A}, {_A}, float64, {_A})", error_model="numpy")
def start(
    code: int, node: np.ndarray, u: np.ndarray, w: np.ndarray, p: np.ndarray, h: float, y: np.ndarray
) -> None:
    """Fill in the private state of a node by the code of one of a kernel's starts."""
    step = np.array([h])
    table = np.array(
        [
            node.ctypes.data,
            u.ctypes.data,
            w.ctypes.data,
            p.ctypes.data,
            step.ctypes.data,
            y.ctypes.data,
        ]
    )
    called(code, table.ctypes.data, 0)
    table[0], step[0] = 0, 0.0  # both are there until here


@cache
def driver(inline: Inline | None) -> Driver:
    """Of kernels amid an environment; None: in free space."""
    if inline is None:
        return Driver(_free, _free_trajectory, lanes(_free))
    rollout = _amid(inline)
    return Driver(rollout, trajectories(rollout, inline.type), lanes(rollout))


@cache
def prepared_driver(inline: Inline | None) -> str:
    """Name of what `driver` leaves in the cache, with a digest of all sources of what acts."""
    told = hashlib.sha256(Path(__file__).read_bytes())
    package = "" if inline is None else inline.module.split(".")[1]
    for file in sorted((Path(__file__).parents[1] / package).rglob("*.py")) if package else ():
        told.update(file.read_bytes())
    return f"driver_{inline.module if inline else ''}_{told.hexdigest()[:16]}"


def rollout_type(env: str) -> str:
    """Numba's signature of a rollout with such numbers of an environment."""
    code = "UniTuple(int64, 3)"
    return f"Tuple((int64, int64, int64))({code}, {_A}, {_A}, {_A}, {_A}, float64, int64, {_A}, {env})"


@compiled(f"int64[::1]({_A}, {_A}, {_A}, {_A}, float64, {_A})", error_model="numpy")
def _table(
    y: np.ndarray, u: np.ndarray, w: np.ndarray, p: np.ndarray, h: float, node: np.ndarray
) -> np.ndarray:
    """Of a rollout, with the step and the counts behind it in the same array."""
    table = np.empty(_ROOM, np.int64)
    at = table.ctypes.data
    table.view(np.float64)[_STEP] = h
    table[0], table[1], table[2], table[3] = y.ctypes.data, u.ctypes.data, w.ctypes.data, p.ctypes.data
    table[4], table[5], table[6] = at + 8 * _STEP, node.ctypes.data, at + 8 * _COUNTS
    return table


@compiled(rollout_type(FREE_TYPE), error_model="numpy")
def _free(
    code: tuple[int, int, int],
    y: np.ndarray,
    u: np.ndarray,
    w: np.ndarray,
    p: np.ndarray,
    h: float,
    n: int,
    node: np.ndarray,
    env: tuple[Any, ...],
) -> tuple[int, int, int]:
    """Steps of a kernel that nothing acts on."""
    table = _table(y, u, w, p, h, node)
    status = called(code[0], table.ctypes.data, n)
    return table[_COUNTS], status, table[_COUNTS + 1]


@compiled(
    f"Tuple((int64, int64))(UniTuple(int64, 3), {_A}, {_AA}, {_AA}, {_A}, float64, int64, {_AA}, {FREE_TYPE})",
    error_model="numpy",
)
def _free_trajectory(
    code: tuple[int, int, int],
    y: np.ndarray,
    us: np.ndarray,
    ws: np.ndarray,
    p: np.ndarray,
    h: float,
    n: int,
    nodes: np.ndarray,
    env: tuple[Any, ...],
) -> tuple[int, int]:
    """The same with every node recorded."""
    u_stride = 8 * us.shape[1] * (us.shape[0] > 1)
    w_stride = 8 * ws.shape[1] * (ws.shape[0] > 1)
    table, total = _table(y, us[0], ws[0], p, h, nodes[0]), 0
    for k in range(n):
        table[5] = nodes.ctypes.data + 8 * nodes.shape[1] * k
        status = called(code[0], table.ctypes.data, 1)
        total += table[_COUNTS + 1]
        if status != 0:
            return k, total
        if k < n - 1:
            table[1] += u_stride
            table[2] += w_stride
    last, none = y.copy(), np.zeros(ws.shape[1])
    table[0], table[2], table[5] = last.ctypes.data, none.ctypes.data, nodes[n].ctypes.data
    called(code[0], table.ctypes.data, 1)
    last[0] = none[0] if len(none) else 0.0  # both are there until here
    return n, total


def _amid(inline: Inline) -> Rollout:
    """Steps of a kernel that something acts on within each of them."""
    wrench_of, refuses, undo = inline.functions()

    @compiled(rollout_type(inline.type), error_model="numpy")
    def rollout(
        code: tuple[int, int, int],
        y: np.ndarray,
        u: np.ndarray,
        w: np.ndarray,
        p: np.ndarray,
        h: float,
        n: int,
        node: np.ndarray,
        env: tuple[Any, ...],
    ) -> tuple[int, int, int]:
        pose, reached = np.empty(12), np.empty(12)
        free, inertia, wrench, felt, acting = (
            np.empty(6),
            np.empty(6),
            np.zeros(6),
            np.zeros(6),
            w.copy(),
        )
        begun, before, spare = y.copy(), y.copy(), np.empty(len(node))
        table, sense, reach = np.empty(_ROOM, np.int64), np.empty(8, np.int64), np.empty(6, np.int64)
        at, step = table.ctypes.data, table.view(np.float64)
        table[0], table[1], table[2], table[3] = (
            y.ctypes.data,
            u.ctypes.data,
            acting.ctypes.data,
            p.ctypes.data,
        )
        table[4], table[6] = at + 8 * _STEP, at + 8 * _COUNTS
        for k in range(5):
            sense[k] = reach[k] = table[k]
        sense[5], sense[6], sense[7] = pose.ctypes.data, free.ctypes.data, inertia.ctypes.data
        reach[5] = reached.ctypes.data
        done = status = iterations = 0
        if n == 0 or not h > 0.0:
            step[_STEP], table[5] = h, node.ctypes.data
            called(code[0], at, 0)
        for _ in range(n):
            ahead, piece, refusals = h, h, 0
            while ahead > 0.0:
                piece = min(piece, ahead)
                step[_STEP] = piece
                acts = False
                if env[0]:
                    for k in range(6):
                        acting[k] = w[k]
                    called(code[1], sense.ctypes.data, 0)
                    acts = wrench_of(pose, free, inertia, piece, env, wrench)
                    for k in range(6):
                        acting[k] += wrench[k]
                for k in range(len(y)):
                    before[k] = y[k]
                # The node is that of the first piece, which begins where the step does.
                table[5] = node.ctypes.data if ahead == h else spare.ctypes.data
                status = called(code[0], at, 1)
                iterations += table[_COUNTS + 1]
                if env[0] and piece > SMALLEST_SHARE * h and refusals < MOST_REFUSALS:
                    refused = acts and status != 0
                    if status == 0:
                        called(code[2], reach.ctypes.data, 0)
                        refused = refuses(pose, reached, env)
                    if refused:
                        undo(env)
                        if refusals == 0:
                            for k in range(len(y)):
                                begun[k] = before[k]
                        status = 0
                        refusals += 1
                        piece *= 0.5
                        for k in range(len(y)):
                            y[k] = before[k]
                        continue
                if status != 0:
                    for k in range(len(y)):
                        y[k] = begun[k] if refusals > 0 else before[k]
                    break
                if refusals > 0:
                    # What a divided step felt is reported as its mean.
                    for k in range(6):
                        felt[k] += piece * wrench[k]
                ahead = ahead - piece if ahead > piece else 0.0
                piece *= 2.0
            if status != 0:
                break
            if refusals > 0:
                for k in range(6):
                    wrench[k] = felt[k] / h
                    felt[k] = 0.0
            done += 1
        last = env[-1]
        for k in range(6):
            last[k] = wrench[k]
        return done, status, iterations

    return rollout


def trajectories(rollout: Rollout, env: str) -> Callable[..., tuple[int, int]]:
    """With every node recorded, by a rollout."""
    code = "UniTuple(int64, 3)"
    types = f"{code}, {_A}, {_AA}, {_AA}, {_A}, float64, int64, {_AA}, {env}"

    @compiled(f"Tuple((int64, int64))({types})", error_model="numpy")
    def trajectory(
        code: tuple[int, int, int],
        y: np.ndarray,
        us: np.ndarray,
        ws: np.ndarray,
        p: np.ndarray,
        h: float,
        n: int,
        nodes: np.ndarray,
        env: tuple[Any, ...],
    ) -> tuple[int, int]:
        held, constant = us.shape[0] == 1, ws.shape[0] == 1
        total = 0
        for k in range(n):
            u = us[0] if held else us[k]
            w = ws[0] if constant else ws[k]
            _, status, iterations = rollout(code, y, u, w, p, h, 1, nodes[k], env)
            total += iterations
            if status != 0:
                return k, total
        last = y.copy()
        u = us[0] if held else us[n - 1]
        rollout(code, last, u, np.zeros(ws.shape[1]), p, h, 1, nodes[n], env)
        return n, total

    return trajectory


def lanes(rollout: Rollout) -> Callable[..., None]:
    """Lane after lane by a rollout; compiled by those who first run many."""

    @compiled(error_model="numpy")
    def many(
        code: tuple[int, int, int],
        ys: np.ndarray,
        w: np.ndarray,
        us: np.ndarray,
        ps: np.ndarray,
        h: float,
        n: int,
        nodes: np.ndarray,
        done: np.ndarray,
        env: tuple[Any, ...],
    ) -> None:
        for lane in range(ys.shape[0]):
            u = us[0] if us.shape[0] == 1 else us[lane]
            p = ps[0] if ps.shape[0] == 1 else ps[lane]
            steps, status, _ = rollout(code, ys[lane], u, w, p, h, n, nodes[lane], env)
            done[lane] = steps
            if status == 0:
                rollout(code, ys[lane].copy(), u, w, p, h, 1, nodes[lane], env)

    return many
