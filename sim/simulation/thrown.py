"""Somebody who has been thrown off a vehicle, simulated as a tree of limbs in a thread, ahead of who looks."""

import logging
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from sim.contact.obstacles.obstacles import PropsPicture
from sim.environment.environment import CoupledSpec
from sim.groups.numeric import poses_between
from sim.platform.errors import InputError
from sim.scene import Scene, Start
from sim.simulation.lanes.kernels import KernelStore
from sim.simulation.simulation import Simulation
from sim.vehicles import Vehicle
from sim.vehicles.forms.form import State
from sim.world import World

if TYPE_CHECKING:
    from sim.contact.obstacles.prop_kinds import Placed

_LOG = logging.getLogger(__name__)
_STEP_S, _METHOD = 0.005, "riqn"
"""As in scenes of limbs alone."""
PERIOD_S = 3.0 * _STEP_S
"""Between two of the poses that are kept."""
_Moment = tuple[Mapping[str, np.ndarray], np.ndarray]
"""The limbs' poses, and those of the props (n, 4, 4)."""


class ThrownRider:
    """A fall from its first moment on, which meets the world's ground and blocks, props, and itself."""

    def __init__(
        self,
        limbs: Vehicle,
        state: State,
        world: World,
        kernels: KernelStore,
        lasts_s: float,
        placed: Sequence["Placed"] = (),
    ) -> None:
        """state: of the limbs as they are thrown. kernels: are kept there for the next fall. placed: props, as they lie
        then."""
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
            environment=_among(tuple(placed)),
        )
        self._world, self._kernels = world, kernels
        self._count = round(lasts_s / PERIOD_S) + 1
        self._kept: list[_Moment] = []
        self._more = threading.Condition()
        self._over = False
        self._thread = threading.Thread(target=self._run, name="fall", daemon=True)
        self._thread.start()

    def bodies(self, age_s: float, *, wait: bool = False) -> Mapping[str, np.ndarray] | None:
        """(4, 4) by body, so long after the throw or as far as it is simulated; None before the first moment is.

        wait: until it is simulated.
        """
        found = self._about(age_s, wait)
        if found is None:
            return None
        (begin, _), (end, _), share = found
        poses = poses_between(np.array([*begin.values()]), np.array([*end.values()]), share)
        return dict(zip(end, poses, strict=True))

    def props_w(self, age_s: float, *, wait: bool = False) -> np.ndarray | None:
        """(n, 4, 4) of the props' principal axes, as `bodies`."""
        found = self._about(age_s, wait)
        if found is None:
            return None
        (_, begin), (_, end), share = found
        return poses_between(begin, end, share)

    def _about(self, age_s: float, wait: bool) -> tuple[_Moment, _Moment, float] | None:
        """The moments that are kept before and after, and how far it is from the one to the other."""
        at = min(max(age_s / PERIOD_S, 0.0), self._count - 1.0)
        later = int(np.ceil(at))
        with self._more:
            while wait and not self._over and len(self._kept) <= later:
                self._more.wait()
            if not self._kept:
                return None
            last = len(self._kept) - 1
            return self._kept[min(int(at), last)], self._kept[min(later, last)], at - int(at)

    def close(self) -> None:
        """Nobody looks any more."""
        self._over = True

    def _run(self) -> None:
        try:
            simulation = Simulation(self._scene, self._world, kernels=self._kernels)
            while not self._over and len(self._kept) < self._count:
                moment = simulation.snapshot if not self._kept else simulation.advance(PERIOD_S)
                with self._more:
                    self._kept.append((moment.lanes[0].bodies, _props_w(moment.environment)))
                    self._more.notify_all()
        except InputError as error:
            _LOG.warning("nobody is seen falling: %s", error)
        finally:
            with self._more:
                self._over = True
                self._more.notify_all()


def _among(placed: tuple["Placed", ...]) -> CoupledSpec | None:
    if not placed:
        return None
    from sim.contact.obstacles.props import PropsSpec  # its kernels are loaded where there are some

    return PropsSpec(placed)


def _props_w(around: object) -> np.ndarray:
    return around.poses_w if isinstance(around, PropsPicture) else np.zeros((0, 4, 4))
