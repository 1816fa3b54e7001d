"""The flown lane's exchange with an environment that moves, at the moments at which its controls are evaluated."""

from collections.abc import Callable

import numpy as np

from sim.environment.environment import BodyState, Environment, can_be_coupled
from sim.platform.errors import InputError
from sim.recordings.leg import Moment
from sim.recordings.playback import Playback
from sim.simulation.method import Method
from sim.vehicles import Vehicle
from sim.vehicles.impulses import answers
from sim.vehicles.observation import Observation


class Coupling:
    """Two-way: the lane's main body pushes the environment with the opposite of what it gets."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self._begin = environment.checkpoint()
        self._told: Vehicle | None = None

    def begin_anew(self) -> None:
        """The environment as it was at first."""
        self.environment.restore(self._begin)
        self._told = None

    def picture(self, vehicle: Vehicle) -> object:
        """Of the environment; None while what is flown does not take part."""
        return self.environment.picture() if can_be_coupled(vehicle) else None

    def impulse(
        self, method: Method, node: np.ndarray, observation: Observation, T_wb: np.ndarray, time_s: float
    ) -> np.ndarray | None:
        """(wrench_size,) on the vehicle at this moment, while the environment goes on to the next one of the grid.

        None where it is not touched at all.
        """
        vehicle, name = method.vehicle, next(iter(observation.layout.bodies))
        if self._told is not vehicle:
            self.environment.told(vehicle, time_s)
            self._told = vehicle
        dt_s, bodies = method.control_period_s, {}
        if self.environment.within_reach(T_wb, observation.twist_b, dt_s):
            bodies = {name: BodyState(T_wb, observation.twist_b, _inertia_b(vehicle, node))}
        given = self.environment.exchange(time_s, dt_s, bodies)
        return vehicle.group.twist_embedding.T @ np.asarray(given[name], float) if name in given else None

    def take_impact_mps(self) -> float:
        """Greatest speed at which something that stays in place was met since the last call."""
        return self.environment.take_impact_mps()

    def recover(
        self, method: Method, playback: Playback, moment: Moment, placed: Callable[[Observation], np.ndarray]
    ) -> None:
        """The environment as it was at a recorded moment: from its last kept state before, among the same motions.

        placed: pose (4, 4) in the world of the main body that is told of.
        """
        leg, pushes = moment.leg, moment.leg.pushes
        kept = 0 if pushes is None else int(np.sum(leg.point_steps[pushes.points] <= moment.step))
        if pushes is None or not kept:
            self.begin_anew()
            return
        self.environment.restore(pushes.environments[kept - 1])
        self._told = None
        first = int(leg.point_steps[pushes.points[kept - 1]])
        period = method.control_steps
        for step in range(-(-first // period) * period, moment.step, period):
            at = playback.moment(leg, step)
            node = playback.node(at)
            seen = method.kernel.observe(node, at.controls, method.parameters)
            self.impulse(method, node, seen, placed(seen), at.time_s)
        self.take_impact_mps()


def _inertia_b(vehicle: Vehicle, node: np.ndarray) -> np.ndarray:
    """(6, 6) of the main body: the inverse of its mobility, and nothing along what constraints do not let it move."""
    check_can_be_coupled(vehicle)
    wrenches = np.eye(vehicle.impulse_size)[:, : vehicle.wrench_size]
    A, E = answers(vehicle, node, wrenches)[vehicle.node_layout.velocity], vehicle.group.twist_embedding
    return np.linalg.pinv(E @ A @ E.T, hermitian=True)


def check_can_be_coupled(vehicle: Vehicle) -> None:
    """Raises InputError for what no impulse can act on alone."""
    if not can_be_coupled(vehicle):
        raise InputError(
            f"nothing that moves can be coupled to {vehicle.name}, which has {vehicle.form.value}"
        )
