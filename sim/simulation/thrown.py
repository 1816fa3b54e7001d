"""Somebody who has been thrown off a vehicle, simulated as a tree of limbs in a thread, ahead of who looks."""

import logging
import threading
from collections.abc import Mapping

import numpy as np

from sim.groups.numeric import poses_between
from sim.platform.errors import InputError
from sim.scene import Scene, Start
from sim.simulation.lanes.kernels import KernelStore
from sim.simulation.simulation import Simulation
from sim.vehicles import Vehicle
from sim.vehicles.forms.form import State
from sim.world import World

_LOG = logging.getLogger(__name__)
_STEP_S, _METHOD = 0.005, "riqn"
"""As in scenes of limbs alone."""
PERIOD_S = 3.0 * _STEP_S
"""Between two of the poses that are kept."""


class ThrownRider:
    """A fall from its first moment on, which meets the world's ground and blocks, and itself."""

    def __init__(
        self, limbs: Vehicle, state: State, world: World, kernels: KernelStore, lasts_s: float
    ) -> None:
        """state: of the limbs as they are thrown. kernels: are kept there for the next fall."""
        start = Start(node=(limbs.name, tuple(state.node.tolist())))
        self._scene = Scene(
            name="fall",
            title="A fall",
            world=world.name,
            vehicle=limbs,
            integrator=_METHOD,
            step_s=_STEP_S,
            flight_mode="raw",
            start=start,
        )
        self._world, self._kernels = world, kernels
        self._count = round(lasts_s / PERIOD_S) + 1
        self._kept: list[Mapping[str, np.ndarray]] = []
        self._more = threading.Condition()
        self._over = False
        self._thread = threading.Thread(target=self._run, name="fall", daemon=True)
        self._thread.start()

    def bodies(self, age_s: float, *, wait: bool = False) -> Mapping[str, np.ndarray] | None:
        """(4, 4) by body, so long after the throw or as far as it is simulated; None before the first moment is.

        wait: until it is simulated.
        """
        at = min(max(age_s / PERIOD_S, 0.0), self._count - 1.0)
        later = int(np.ceil(at))
        with self._more:
            while wait and not self._over and len(self._kept) <= later:
                self._more.wait()
            if not self._kept:
                return None
            last = len(self._kept) - 1
            begin, end = self._kept[min(int(at), last)], self._kept[min(later, last)]
        poses = poses_between(np.array([*begin.values()]), np.array([*end.values()]), at - int(at))
        return dict(zip(end, poses, strict=True))

    def close(self) -> None:
        """Nobody looks any more."""
        self._over = True

    def _run(self) -> None:
        try:
            simulation = Simulation(self._scene, self._world, kernels=self._kernels)
            while not self._over and len(self._kept) < self._count:
                moment = simulation.snapshot if not self._kept else simulation.advance(PERIOD_S)
                with self._more:
                    self._kept.append(moment.lanes[0].bodies)
                    self._more.notify_all()
        except InputError as error:
            _LOG.warning("nobody is seen falling: %s", error)
        finally:
            with self._more:
                self._over = True
                self._more.notify_all()
