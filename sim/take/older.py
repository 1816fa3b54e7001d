"""Takes of the first version of the file: variational methods had another private state then."""

from dataclasses import replace

import casadi as ca
import numpy as np

from sim.integrators.variational import VARIATIONAL
from sim.sampled import between
from sim.take.leg import SAME_S, Leg

RESTATED = frozenset(method.name for method in VARIATIONAL)
"""Methods whose private state was the momentum that arrives at a node; now it is the node's."""
NOTE = "from an older version, whose inputs acted otherwise: goes on from its nodes, resimulated it goes another way"
_CONTACTS = 1
"""Entry of the memory of contact: how many points touch."""


def resumed(leg: Leg, time: np.ndarray, nodes: np.ndarray) -> Leg:
    """The leg with restart points made anew from the nodes (n, node size) that the file tells at `time` (n,).

    Methods whose private state is what it was keep their bits.
    """
    if leg.integrator.name not in RESTATED:
        return leg
    scheme, vehicle = leg.integrator.scheme(leg.vehicle), leg.vehicle
    i = scheme.inputs
    carried = scheme.start if scheme.carried is None else scheme.carried
    start = ca.Function("start", [i.node, i.u, i.w, i.p, i.h], [scheme.start, carried])
    states = []
    for step, memory in zip(leg.point_steps.tolist(), leg.memories, strict=True):
        at_s = leg.since_s + step * leg.step_s
        k = int(np.clip(np.searchsorted(time, at_s + SAME_S) - 1, 0, max(len(time) - 2, 0)))
        node = nodes[k]
        if len(time) > 1:
            share = np.clip((at_s - time[k]) / (time[k + 1] - time[k]), 0.0, 1.0)
            node = between(vehicle, nodes[k], nodes[k + 1], float(share))
        u, w = leg.controls_at(step), np.zeros(i.w.shape[0])
        stands = memory.size > _CONTACTS and memory[_CONTACTS] > 0
        state = start(node, u, w, vehicle.parameter_vector, leg.step_s)[int(stands)]
        states.append(np.array(state).ravel())
    return replace(leg, states=np.array(states))
