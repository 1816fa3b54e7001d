"""What a crash throws, simulated in a thread ahead of who looks: pieces of a vehicle, who was on it, and props."""

import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sim.groups.numeric import poses_between
from sim.platform.errors import InputError
from sim.platform.values import dataclass
from sim.scene import Scene, Start
from sim.simulation.lanes.kernels import KernelStore
from sim.simulation.simulation import Simulation
from sim.vehicles import Vehicle
from sim.vehicles.forms.form import State
from sim.world import World

if TYPE_CHECKING:
    from sim.contact.obstacles.blows import Blow
    from sim.contact.obstacles.prop_kinds import Placed
    from sim.contact.obstacles.props import Props
    from sim.water.water import Weather

_LOG = logging.getLogger(__name__)
_STEP_S, _METHOD = 0.005, "riqn"
"""As in scenes of limbs alone."""
PERIOD_S = 3.0 * _STEP_S
"""Between two of the poses that are kept."""
_Moment = tuple[Mapping[str, np.ndarray], np.ndarray]
"""The limbs' poses, and those of the bodies (n, 4, 4)."""
_TOLD_S = 10.0
"""So long is told of a blow: rings on water run on."""


@dataclass(frozen=True, slots=True, eq=False)
class Around:
    """Where it happens."""

    world: World
    weather: "Weather | None" = None
    """Whose waves there are; None: the water is calm."""
    time_s: float = 0.0
    """At which the waves stand still, as the clock does."""


class Thrown:
    """From its first moment on: all meet the ground, what stands about, boulders, water and each other."""

    def __init__(
        self,
        around: Around,
        placed: Callable[[], Sequence["Placed"]],
        lasts_s: float,
        who: tuple[Vehicle, State] | None = None,
        kernels: KernelStore | None = None,
    ) -> None:
        """placed: gives props and pieces as they are then, within its thread. who: limbs, thrown so. kernels: are
        kept there for the next one."""
        self._around, self._placed, self._who = around, placed, who
        self._kernels = kernels
        self._count = round(lasts_s / PERIOD_S) + 1
        self._kept: list[_Moment] = []
        self._blows: list[Blow] = []
        self._told = [0, 0]
        """The last ones by their numbers, of what is placed and of limbs."""
        self._more = threading.Condition()
        self._over = False
        self._thread = threading.Thread(target=self._run, name="fall", daemon=True)
        self._thread.start()

    def limbs(self, age_s: float, *, wait: bool = False) -> Mapping[str, np.ndarray] | None:
        """(4, 4) by limb, so long after the throw or as far as it is simulated; None before the first moment is,
        and of nobody.

        wait: until it is simulated.
        """
        found = None if self._who is None else self._about(age_s, wait)
        if found is None:
            return None
        (begin, _), (end, _), share = found
        poses = poses_between(np.array([*begin.values()]), np.array([*end.values()]), share)
        return dict(zip(end, poses, strict=True))

    def bodies_w(self, age_s: float, *, wait: bool = False) -> np.ndarray | None:
        """(n, 4, 4) of the principal axes of what is placed, as `limbs`."""
        found = self._about(age_s, wait)
        if found is None:
            return None
        (_, begin), (_, end), share = found
        return poses_between(begin, end, share)

    def blows(self, age_s: float, *, wait: bool = False) -> "tuple[Blow, ...]":
        """What has been struck in the last seconds, as far as it is simulated, the latest last; times are counted from
        the throw."""
        self._about(age_s, wait)
        with self._more:
            return tuple(blow for blow in self._blows if age_s - _TOLD_S < blow.time_s <= age_s)

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
            moments = self._moments()
            while not self._over and len(self._kept) < self._count:
                moment, *told = next(moments)
                with self._more:
                    for k, blows in enumerate(told):
                        fresh = [blow for blow in blows if blow.number > self._told[k]]
                        self._told[k] = max([self._told[k], *(blow.number for blow in fresh)])
                        count = len(self._blows) + 1
                        self._blows += [replace(blow, number=n) for n, blow in enumerate(fresh, count)]
                    self._blows.sort(key=lambda blow: blow.time_s)  # of limbs are told a period later
                    self._kept.append(moment)
                    self._more.notify_all()
        except InputError as error:
            _LOG.warning("nothing is seen falling: %s", error)
        finally:
            with self._more:
                self._over = True
                self._more.notify_all()

    def _moments(self) -> "Iterator[tuple[_Moment, tuple[Blow, ...], tuple[Blow, ...]]]":
        """One after the other, without end, with the last blows of what is placed and of limbs."""
        props = self._props()
        if self._who is None:
            age_s = 0.0
            while True:
                yield ({}, props.poses_w), props.blows, ()
                props.meet(age_s, PERIOD_S, None)
                age_s += PERIOD_S
        limbs, state = self._who
        scene = Scene(
            name="fall",
            title="A fall",
            world=self._around.world.name,
            vehicle=limbs,
            integrator=_METHOD,
            step_s=_STEP_S,
            flight_mode="raw",
            start=Start(node=(limbs.name, tuple(state.node.tolist()))),
        )
        simulation = Simulation(scene, self._around.world, kernels=self._kernels, environment=props)
        moment = simulation.snapshot
        while True:
            yield (moment.lanes[0].bodies, props.poses_w), props.blows, moment.lanes[0].blows
            moment = simulation.advance(PERIOD_S)

    def _props(self) -> "Props":
        from sim.contact.obstacles.props import Props  # its kernels are loaded where bodies touch

        world, who = self._around.world, self._who
        props = Props(tuple(self._placed()), world, None if who is None else who[0], None)
        if world.water_level_m is not None:
            from sim.water.floating import FloatingBodies  # water takes half a second

            props.surroundings = FloatingBodies(
                world, self._around.weather, props.shapes, stands_at_s=self._around.time_s
            )
        return props
