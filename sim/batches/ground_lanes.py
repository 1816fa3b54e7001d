"""Lanes that touch the ground, driven without the interpreter: all steps of a range of lanes in one call."""

from functools import cache
from typing import Any

import numpy as np

from sim.compiled import compiled
from sim.compiler import Kernel
from sim.compiler.inline import Inline
from sim.compiler.rollouts import driver, start
from sim.contact.ground import Ground


def run_on_ground(
    kernel: Kernel,
    rows: tuple[np.ndarray, np.ndarray, np.ndarray],
    h: float,
    stretches: tuple[np.ndarray, np.ndarray],
    ground: Ground,
    lanes: np.ndarray,
    told: tuple[np.ndarray, np.ndarray],
) -> None:
    """Advance some lanes, each from its start with nothing remembered of the ground.

    rows: nodes (1 or lanes, n), controls (1 or lanes, 1 or stretches, n_controls), parameters (1 or lanes, n).
    stretches: steps of each, and (stretches + 1,) whether the node at its start, or at last the end, is kept.
    ground: is written to. told: nodes (lanes, kept, n) and steps done (lanes,), filled in. Releases the GIL.
    """
    method = kernel.integrator
    own = np.array([h, method.tolerance] if method.adaptive else [])
    room, w, nodes = np.empty((2, kernel.private_size)), np.zeros(kernel.dim), np.empty(kernel.node_size)
    memory = np.empty_like(ground.report)
    assert kernel.inline is not None
    machine, drive = kernel.module, _drive(kernel.inline)
    begin = machine.address("start")
    code = machine.code, begin, machine.address("start_carried") or begin
    drive(*code, lanes, *rows, h, *stretches, ground.env, ground.report, memory, own, w, room, nodes, *told)


@cache
def _drive(inline: Inline) -> Any:
    rollout = driver(inline).rollout

    @compiled(error_model="numpy")
    def drive(
        code: tuple[int, int, int],
        begin: int,
        begin_carried: int,
        lanes: np.ndarray,
        starts: np.ndarray,
        us: np.ndarray,
        ps: np.ndarray,
        h: float,
        counts: np.ndarray,
        keeps: np.ndarray,
        env: tuple[Any, ...],
        report: np.ndarray,
        memory: np.ndarray,
        own: np.ndarray,
        w: np.ndarray,
        room: np.ndarray,
        node: np.ndarray,
        seen: np.ndarray,
        done: np.ndarray,
    ) -> None:
        last, y, trial, wrench = len(counts), room[0], room[1], env[-1]
        size = len(y) - len(own)
        for lane in lanes:
            held = us[lane if len(us) > 1 else 0]
            p = ps[lane if len(ps) > 1 else 0]
            at = starts[lane if len(starts) > 1 else 0]
            start(begin, at, held[0], w, p, h, y)
            y[size:] = own
            # Whether the ground carries it from outside: a step is looked at.
            report[:] = 0.0
            trial[:] = y
            rollout(code, trial, held[0], w, p, h, 1, node, env)
            if np.any(wrench):
                start(begin_carried, at, held[0], w, p, h, y)
            report[:] = 0.0
            total, kept = 0, 0
            for s in range(last):
                u, ahead = held[s if len(held) > 1 else 0], counts[s]
                if keeps[s]:
                    did, status, _ = rollout(code, y, u, w, p, h, 1, seen[lane, kept], env)
                    kept, total, ahead = kept + 1, total + did, ahead - 1
                    if status:
                        break
                did, status, _ = rollout(code, y, u, w, p, h, ahead, node, env)
                total += did
                if status:
                    break
            else:
                # A node is told by the step that begins there.
                rollout(code, y, held[-1], w, p, h, 1, seen[lane, kept], env)
            done[lane] = total

    return drive
