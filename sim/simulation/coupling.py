"""The flown lane's exchange with an environment that moves, at the moments at which its controls are evaluated."""

import casadi as ca
import numpy as np

from sim.environment.environment import BodyState, Environment, can_be_coupled
from sim.errors import InputError
from sim.simulation.method import Method
from sim.take.leg import Moment
from sim.take.playback import Playback
from sim.vehicles import HolonomicVehicle, Vehicle
from sim.vehicles.observation import Observation


class Coupling:
    """Two-way: the lane's main body pushes the environment with the opposite of what it gets."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self._begin = environment.checkpoint()
        self._inertia: tuple[Vehicle, np.ndarray] | None = None
        self._told: Vehicle | None = None

    def begin_anew(self) -> None:
        """The environment as it was at first."""
        self.environment.restore(self._begin)
        self._told = None

    def picture(self, vehicle: Vehicle) -> object:
        """Of the environment; None while what is flown does not take part."""
        return self.environment.picture() if can_be_coupled(vehicle) else None

    def impulse(
        self, method: Method, observation: Observation, T_wb: np.ndarray, time_s: float
    ) -> np.ndarray:
        """(dim,) on the vehicle at this moment, while the environment goes on to the next one of the grid."""
        vehicle, name = method.vehicle, next(iter(observation.layout.bodies))
        if self._told is not vehicle:
            self.environment.told(vehicle, time_s)
            self._told = vehicle
        body = BodyState(T_wb, observation.twist_b, self._inertia_b(vehicle))
        given = self.environment.exchange(time_s, method.control_period_s, {name: body})
        return vehicle.group.in_space.T @ np.asarray(given[name], float)

    def recover(self, method: Method, playback: Playback, moment: Moment) -> None:
        """The environment as it was at a recorded moment: from its last kept state before, among the same motions."""
        leg, pushes = moment.leg, moment.leg.pushes
        kept = 0 if pushes is None else int(np.sum(leg.point_steps[pushes.points] <= moment.step))
        if pushes is None or not kept:
            self.begin_anew()
            return
        self.environment.restore(pushes.environments[kept - 1])
        self._told = None
        first = int(leg.point_steps[pushes.points[kept - 1]])
        for step in pushes.steps[(pushes.steps >= first) & (pushes.steps < moment.step)].tolist():
            at = playback.moment(leg, step)
            seen = method.kernel.observe(playback.node(at), at.controls, method.parameters)
            self.impulse(method, seen, seen.poses[0], at.time_s)

    def _inertia_b(self, vehicle: Vehicle) -> np.ndarray:
        """(6, 6) of the main body. Raises InputError where it has none of its own."""
        if self._inertia is None or self._inertia[0] is not vehicle:
            check_can_be_coupled(vehicle)
            assert isinstance(vehicle, HolonomicVehicle)
            q = vehicle.symbols(ca.SX(vehicle.parameter_vector))
            own = np.array(ca.DM(ca.densify(vehicle.inertia(q))))
            E = vehicle.group.in_space
            self._inertia = vehicle, E @ own @ E.T
        return self._inertia[1]


def check_can_be_coupled(vehicle: Vehicle) -> None:
    """Raises InputError for what no impulse can act on alone."""
    if not can_be_coupled(vehicle):
        raise InputError(
            f"nothing that moves can be coupled to {vehicle.name}, which has {vehicle.form.value}"
        )
