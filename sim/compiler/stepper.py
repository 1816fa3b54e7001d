"""The stepper: all that lanes, takes and plots know of what advances a vehicle, and what acts within its steps.

Rollouts of a vehicle, free or amid an environment, whatever the vehicle. What is vehicle and method is
machine code at an address (kernel_code.py); what is here is compiled once a machine, for an environment together with
its functions. A step whose motion the environment refuses is divided: the first half is tried alone, then the rest,
with pieces that grow again where they are accepted.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from sim.integrators.base import Integrator
from sim.native.function import native, versions
from sim.native.types import called
from sim.platform.cache import source_digest
from sim.platform.errors import InputError
from sim.platform.values import dataclass
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.impulses import struck
from sim.vehicles.forms.observation import Observation, ObservationLayout, Observed

FREE: tuple[Any, ...] = ()
"""`env` where nothing acts from outside within a step."""
FREE_TYPE = "Tuple(())"
"""Its type, as signatures have it."""


@dataclass(frozen=True, slots=True, eq=False)
class Inline:
    """An environment that kernels have within. Its numbers come with every call, in the tuple `env`.

    `env[0]` says whether it acts at all, its last array (6,) is where the mean body wrench of the last step is put.
    """

    module: str
    """Where the compiled functions named here are, which is imported when they are wanted."""
    type: str
    """Of `env`, as signatures have types."""
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

    def functions(self) -> tuple[Any, Any, Any]:
        """`wrench`, `refuses` and `undo`."""
        module = import_module(self.module)
        return getattr(module, self.wrench), getattr(module, self.refuses), getattr(module, self.undo)


def inline_of(inline: Inline | None, vehicle: Vehicle) -> Inline | None:
    """What acts on this vehicle."""
    return inline if inline is not None and inline.serves(vehicle) else None


class Stepper(ABC):
    """Fixed steps of one vehicle by one method, for any values of its parameters. It holds no state of a motion.

    y is the method's private state, flat; a node the public one (pose, velocity, shape), flat as
    `vehicle.node_layout` says; u the controls, held over a step; w (dim,) a further body wrench, or force on joints;
    p the parameters; h the step [s]; `env` the numbers of an inlined environment, whose arrays a step may write to.
    """

    integrator: Integrator
    """The method."""
    dim: int
    """Of the vehicle's velocity."""
    private_size: int
    """Of y."""
    layout: ObservationLayout
    """Of what is observed."""
    inline: Inline | None
    """The environment that acts within its steps; None: `env` is always empty."""
    moments: tuple[float, ...]
    """Shares of a step at which one that was asked for sampled controls wants them: u is then a row for each, one after
    the other in one flat array."""

    @abstractmethod
    def start(
        self, node: np.ndarray, u: np.ndarray, p: np.ndarray, h: float, env: tuple[Any, ...] = FREE
    ) -> np.ndarray:
        """Private state for a node, perhaps carried by the environment: the discrete Legendre transform where the
        method has one. The arrays in `env` are written to, as by a step."""

    @abstractmethod
    def advance(
        self,
        y: np.ndarray,
        u: np.ndarray,
        w: np.ndarray,
        p: np.ndarray,
        h: float,
        n: int,
        env: tuple[Any, ...] = FREE,
    ) -> tuple[int, int, int]:
        """Advance y in place by n steps in one call without the GIL.

        Returns (steps done, status, iterations); y is the last good state. The environment's wrench is found anew each
        step.
        """

    @abstractmethod
    def node(
        self,
        y: np.ndarray,
        u: np.ndarray,
        p: np.ndarray,
        h: float,
        *,
        w: np.ndarray | None = None,
        env: tuple[Any, ...] = FREE,
    ) -> np.ndarray:
        """Pose and velocity of a private state, from the step that begins there."""

    @abstractmethod
    def trajectory(
        self,
        y: np.ndarray,
        us: np.ndarray,
        p: np.ndarray,
        h: float,
        n: int,
        env: tuple[Any, ...] = FREE,
    ) -> tuple[np.ndarray, int, int]:
        """Nodes (n+1, node_size) of n steps under us (1 or n, n_controls), nan after a failure; steps done,
        iterations."""

    @abstractmethod
    def observe_all(self, nodes: np.ndarray, us: np.ndarray, p: np.ndarray, h: float = 1.0) -> Observed:
        """What is observed of nodes (n, node_size) a step h apart, under us (1 or n, n_controls).

        Observables of a step are nan at the last node.
        """

    def observe(self, node: np.ndarray, u: np.ndarray, p: np.ndarray) -> Observation:
        """All that is observed of one node; observables of a step are nan."""
        return Observation(self.layout, self.observe_all(node[None], u[None], p).rows[0])

    def observe_step(
        self, node: np.ndarray, after: np.ndarray, u: np.ndarray, p: np.ndarray, h: float
    ) -> Observation:
        """All that is observed of a node and the step h that leads to the next one."""
        return Observation(self.layout, self.observe_all(np.stack([node, after]), u[None], p, h).rows[0])

    @abstractmethod
    def observed_later(
        self, nodes: np.ndarray, us: np.ndarray, p: np.ndarray, h: float
    ) -> tuple[np.ndarray, Observed]:
        """Energies (n,) of the nodes at once, and what `observe_all` tells of them when it is asked for."""

    def strike(self, vehicle: Vehicle, y: np.ndarray, impulse: np.ndarray, u: np.ndarray, h: float) -> None:
        """Change a private state in place as an impulse (impulse_size,) does at once, by its momentum alone.

        A wrench that is held over a step would turn with the body, and give another momentum in space.
        """
        p = vehicle.parameter_vector
        y[:] = self.start(struck(vehicle, self.node(y, u, p, h), impulse), u, p, h)

    def checkpoint(self, y: np.ndarray) -> np.ndarray:
        """(k,) all that the motion goes on from, to be kept."""
        return y.copy()

    def restored(self, checkpoint: np.ndarray) -> np.ndarray:
        """The private state of a checkpoint. Raises InputError for one of another version."""
        if checkpoint.shape != (self.private_size,):
            raise InputError(
                f"the states of {self.integrator.name} are {len(checkpoint)} numbers, here they are "
                f"{self.private_size}: they come from another version"
            )
        return checkpoint.copy()


SMALLEST_SHARE = 2.0**-14
"""Of a step: shorter pieces are taken as they come."""
MOST_REFUSALS = 200
"""In one step; then the rest is taken as it comes."""
TABLE = 32
"""Whole numbers that a rollout works in: three tables, and what is counted."""
_SENSE, _REACH, _COUNTS = 8, 16, 24
POSE, TWIST = 12, 6
_ROOM = 2 * POSE + 4 * TWIST + 1

FREELY, AMID = ("rollout",) * 3, ("rollout", "sense", "pose")
"""Functions of kernels that are called freely, and amid an environment."""

Rollout = Callable[..., tuple[int, int, int]]
_A, _AA = "float64[::1]", "float64[:, ::1]"
_WORK = f"int64[::1], {_A}"


def workspace(private: int, wrench: int, node: int) -> tuple[np.ndarray, np.ndarray]:
    """What a rollout works in: whole numbers, and room for states, wrenches and a node of these sizes."""
    return np.empty(TABLE, np.int64), np.zeros(_ROOM + 2 * private + wrench + node)


@dataclass(frozen=True, slots=True, eq=False)
class Driver:
    """The functions that run kernels. `code` are the addresses of a kernel's functions, `work` a `workspace`."""

    rollout: Rollout
    """(code, *work, y, u, w, p, h, n, node, env) -> steps done, status, iterations."""
    trajectory: Callable[..., tuple[int, int]]
    """(code, *work, y, us, ws, p, h, n, nodes, env) -> steps done, iterations: with every node recorded."""


@cache
def driver(inline: Inline | None) -> Driver:
    """Of kernels amid an environment; None: in free space."""
    rollout = _free if inline is None else _amid(inline)
    return Driver(rollout, trajectories(rollout))


@cache
def prepared_driver(inline: Inline | None) -> str:
    """Name of what `driver` leaves in the cache, with a digest of all sources of that and of what acts."""
    here, acting = Path(__file__).parent, "" if inline is None else inline.module
    folders = [here, *([here.parent / acting.split(".")[1]] if acting else [])]
    return f"driver_{acting}_{source_digest(*folders, others=versions())}"


def _rollout_type(env: str) -> str:
    """Signature of a rollout with such numbers of an environment."""
    code = "UniTuple(int64, 3)"
    return (
        f"Tuple((int64, int64, int64))({code}, {_WORK}, {_A}, {_A}, {_A}, {_A}, float64, int64, {_A}, {env})"
    )


@native(_rollout_type(FREE_TYPE))
def _free(
    code: tuple[int, int, int],
    table: np.ndarray,
    room: np.ndarray,
    y: np.ndarray,
    u: np.ndarray,
    w: np.ndarray,
    p: np.ndarray,
    h: float,
    n: int,
    node: np.ndarray,
    env: tuple[Any, ...],
) -> tuple[int, int, int]:
    """Steps of a kernel that nothing acts on.

    A start has the same table, y being the node and the node the private state to be filled in.
    """
    room[0] = h
    table[0], table[1], table[2], table[3] = y.ctypes.data, u.ctypes.data, w.ctypes.data, p.ctypes.data
    table[4], table[5] = room.ctypes.data, node.ctypes.data
    table[6] = table.ctypes.data + 8 * _COUNTS
    status = called(code[0], table.ctypes.data, n)
    return table[_COUNTS], status, table[_COUNTS + 1]


start = _free
"""(code of a start, *work, node, u, w, p, h, 0, y, ()): fills in the private state y of a node."""


def _amid(inline: Inline) -> Rollout:
    """Steps of a kernel that something acts on within each of them."""
    wrench_of, refuses, undo = inline.functions()

    @native(_rollout_type(inline.type))
    def rollout(
        code: tuple[int, int, int],
        table: np.ndarray,
        room: np.ndarray,
        y: np.ndarray,
        u: np.ndarray,
        w: np.ndarray,
        p: np.ndarray,
        h: float,
        n: int,
        node: np.ndarray,
        env: tuple[Any, ...],
    ) -> tuple[int, int, int]:
        size, used = len(y), 1 + 2 * POSE
        pose, reached = room[1 : 1 + POSE], room[1 + POSE : used]
        free, inertia = room[used : used + TWIST], room[used + TWIST : used + 2 * TWIST]
        wrench, felt = room[used + 2 * TWIST : used + 3 * TWIST], room[used + 3 * TWIST : used + 4 * TWIST]
        used += 4 * TWIST
        begun, before = room[used : used + size], room[used + size : used + 2 * size]
        acting = room[used + 2 * size : used + 2 * size + len(w)]
        spare = room[used + 2 * size + len(w) :]
        for k in range(TWIST):
            wrench[k] = felt[k] = 0.0
        for k in range(len(w)):
            acting[k] = w[k]
        at = table.ctypes.data
        table[0], table[1], table[2] = y.ctypes.data, u.ctypes.data, acting.ctypes.data
        table[3], table[4], table[6] = p.ctypes.data, room.ctypes.data, at + 8 * _COUNTS
        for k in range(5):
            table[_SENSE + k] = table[_REACH + k] = table[k]
        table[_SENSE + 5], table[_SENSE + 6] = pose.ctypes.data, free.ctypes.data
        table[_SENSE + 7], table[_REACH + 5] = inertia.ctypes.data, reached.ctypes.data
        done = status = iterations = 0
        if n == 0 or not h > 0.0:
            room[0], table[5] = h, node.ctypes.data
            called(code[0], at, 0)
        for _ in range(n):
            ahead, piece, refusals = h, h, 0
            while ahead > 0.0:
                piece = min(piece, ahead)
                room[0] = piece
                acts = False
                if env[0]:
                    for k in range(6):
                        acting[k] = w[k]
                    called(code[1], at + 8 * _SENSE, 0)
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
                        called(code[2], at + 8 * _REACH, 0)
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


def trajectories(rollout: Rollout) -> Callable[..., tuple[int, int]]:
    """With every node recorded, by a rollout; compiled by those who first record one."""

    @native
    def trajectory(
        code: tuple[int, int, int],
        table: np.ndarray,
        room: np.ndarray,
        y: np.ndarray,
        us: np.ndarray,
        ws: np.ndarray,
        p: np.ndarray,
        h: float,
        n: int,
        nodes: np.ndarray,
        env: tuple[Any, ...],
    ) -> tuple[int, int]:
        total = 0
        for k in range(n):
            u, w = us[min(k, us.shape[0] - 1)], ws[min(k, ws.shape[0] - 1)]
            _, status, iterations = rollout(code, table, room, y, u, w, p, h, 1, nodes[k], env)
            total += iterations
            if status != 0:
                return k, total
        return n, total

    return trajectory
