"""What acts on a vehicle within every step, as compiled functions that an environment supplies (rollouts.py)."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from sim.vehicles.forms.base import Vehicle


@dataclass(frozen=True, slots=True, eq=False)
class Inline:
    """An environment that kernels have within. Its numbers come with every call, in the tuple `env`.

    `env[0]` says whether it acts at all, its last array (6,) is where the mean body wrench of the last step is put.
    """

    module: str
    """Where the compiled functions named here are, which is imported when they are wanted."""
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

    def functions(self) -> tuple[Any, Any, Any]:
        """`wrench`, `refuses` and `undo`."""
        module = import_module(self.module)
        return getattr(module, self.wrench), getattr(module, self.refuses), getattr(module, self.undo)


def inline_of(inline: Inline | None, vehicle: Vehicle) -> Inline | None:
    """What acts on this vehicle."""
    return inline if inline is not None and inline.serves(vehicle) else None


FREE_TYPE = "Tuple(())"
"""Of `env` where nothing is inlined."""
