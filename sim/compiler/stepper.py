"""The stepper: all that lanes, takes and plots know of what advances a vehicle, and what acts within its steps."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

import numpy as np

from sim.integrators.base import Integrator
from sim.platform.errors import InputError
from sim.vehicles.forms.base import Vehicle
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


class Stepper(Protocol):
    """Fixed steps of one vehicle by one method, for any values of its parameters. It holds no state of a motion.

    y is the method's private state, flat; a node the public one (pose, velocity, shape), flat as
    `vehicle.node_layout` says; u the controls, held over a step; w (dim,) a further body wrench; p the parameters;
    h the step [s]; `env` the numbers of an inlined environment, whose arrays a step may write to.
    """

    @property
    def integrator(self) -> Integrator:
        """The method."""

    @property
    def dim(self) -> int:
        """Of the vehicle's velocity."""

    @property
    def layout(self) -> ObservationLayout:
        """Of what is observed."""

    @property
    def inline(self) -> object | None:
        """The environment that acts within its steps; None: `env` is always empty."""

    def start(
        self, node: np.ndarray, u: np.ndarray, p: np.ndarray, h: float, env: tuple[Any, ...] = FREE
    ) -> np.ndarray:
        """Private state for a node, perhaps carried by the environment."""

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
        """Advance y in place by n steps. Returns (steps done, status, iterations); y is the last good state."""

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
        """Pose and node velocity of a private state."""

    def trajectory(
        self,
        y: np.ndarray,
        us: np.ndarray,
        p: np.ndarray,
        h: float,
        n: int,
        env: tuple[Any, ...] = FREE,
    ) -> tuple[np.ndarray, int, int]:
        """Nodes (n+1, node_size) of n steps under us (1 or n, n_controls); steps done, iterations."""

    def observe(self, node: np.ndarray, u: np.ndarray, p: np.ndarray) -> Observation:
        """All that is told of one node."""

    def observe_step(
        self, node: np.ndarray, after: np.ndarray, u: np.ndarray, p: np.ndarray, h: float
    ) -> Observation:
        """All that is told of a node and the step h that leads to the next one."""

    def observe_all(self, nodes: np.ndarray, us: np.ndarray, p: np.ndarray, h: float = 1.0) -> Observed:
        """What is told of nodes (n, node_size) a step h apart."""

    def observed_later(
        self, nodes: np.ndarray, us: np.ndarray, p: np.ndarray, h: float
    ) -> tuple[np.ndarray, Observed]:
        """Energies (n,) of the nodes at once, and what `observe_all` tells of them when it is asked for."""

    def checkpoint(self, y: np.ndarray) -> np.ndarray:
        """(k,) all that the motion goes on from, to be kept."""

    def restored(self, checkpoint: np.ndarray) -> np.ndarray:
        """The private state of a checkpoint. Raises InputError for one of another version."""


class SampledStepper(Stepper, Protocol):
    """One whose controls are a row for each of its own moments of a step, one after the other in one flat array."""

    @property
    def moments(self) -> tuple[float, ...]:
        """Shares of the step."""


def kept_state(checkpoint: np.ndarray, size: int, integrator: Integrator) -> np.ndarray:
    """A private state of `size` numbers that was kept. Raises InputError for one of another version."""
    if checkpoint.shape != (size,):
        raise InputError(
            f"the states of {integrator.name} are {len(checkpoint)} numbers, here they are {size}: "
            "they come from another version"
        )
    return checkpoint.copy()
