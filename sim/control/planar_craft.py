"""A floating boat as its pilot thinks of it: surge, sway and yaw on flat water, pushed by a current and a steady force.

Kirchhoff's equations of what moves through water at rest, for the velocity through the water, which are exact in a
uniform current (T. I. Fossen, "Handbook of Marine Craft Hydrodynamics and Motion Control", 2011, section 8.2). Damping
is that of `sim.water.immersion`: linear drag, and the pressure of sides that run into the water, summed over the
part of the hull that is under water at rest. Waves are not in it.
"""

import math
from typing import Any

import numpy as np

from sim.groups.numeric import upright
from sim.platform.errors import InputError
from sim.vehicle_config import config_of
from sim.vehicles import Vehicle
from sim.water.immersion import WATER_DENSITY, at_rest

# the boat's numbers, by place
MASS_X, MASS_Y, INERTIA, DRAG = 0, 1, 2, 3
ENDS, SIDES, TURNED, TURNING = (
    4,
    5,
    6,
    7,
)  # [kg/m, kg/m, kg, kg m] pressure per speed: ahead, aside, coupling, yaw
SPAN = 8  # [m^2] mean square of how far ahead wet patches lie
LEFT, RIGHT = 9, 10  # [m] thrusters' arms about the vertical
CURRENT = 11  # (2,) of the water [m/s]
FORCE = 13  # (2,) of the wind and whatever else pushes [N]
TORQUE = 15  # [N m]
NUMBERS = 16

THETA, U, V, R = 2, 3, 4, 5
"""State (6,): place [m], heading [rad], velocity through the water in the body frame [m/s], turn rate [rad/s]."""


def driven_along(vehicle: Vehicle) -> bool:
    """Whether thrusters drive it along flat water, so that plans and pilots have mechanics of it."""
    return "thruster_left" in vehicle.values


def numbers_of(vehicle: Vehicle) -> np.ndarray:
    """(NUMBERS,) of a boat in still air and water. Raises InputError for what has no hull or no thrusters."""
    hull = config_of(vehicle).hull
    if hull is None or hull.surface is None:
        raise InputError(f"{vehicle.name} has no surface to float by")
    if not driven_along(vehicle):
        raise InputError(
            f"{vehicle.name} has nothing that drives it along flat water; allowed: what floats and has two thrusters"
        )
    surface, values = hull.surface, {name: np.asarray(value, float) for name, value in vehicle.values.items()}
    a, b, c = (surface.vertices[surface.triangles[:, k]] for k in range(3))
    middle, normal = (a + b + c) / 3.0, 0.5 * np.cross(b - a, c - a)
    height, _ = at_rest(surface, float(values["mass"].max()))
    wet = middle[:, 2] < -height
    area = np.linalg.norm(normal[wet], axis=1)
    along, across = (normal[wet, k] ** 2 / np.maximum(area, 1e-12) for k in range(2))
    ahead_m = middle[wet, 0]
    # Of two opposite patches one runs into the water.
    push = 0.25 * WATER_DENSITY * float(values["impact"].max())
    numbers = np.zeros(NUMBERS)
    numbers[[MASS_X, MASS_Y]] = values["mass"].max() + values["added_mass"][:2]
    numbers[INERTIA] = values["inertia"][2] + values["added_inertia"][2]
    numbers[DRAG] = values["drag"].max()
    numbers[ENDS], numbers[SIDES] = push * along.sum(), push * across.sum()
    numbers[TURNED], numbers[TURNING] = push * across @ ahead_m, push * across @ ahead_m**2
    numbers[SPAN] = float(area @ ahead_m**2 / area.sum())
    numbers[LEFT], numbers[RIGHT] = -values["thruster_left"][1], -values["thruster_right"][1]
    return numbers


def water_drag(
    drag: tuple[Any, Any],
    pressure: tuple[Any, Any],
    turning: tuple[Any, Any],
    through: tuple[Any, Any, Any],
    speed: Any,
) -> tuple[Any, Any, Any]:
    """Forces ahead and aside and the torque about the vertical of water that a hull runs through; numbers, or all
    expressions of CasADi.

    drag: linear, and the mean square of where it acts. pressure: per speed, of ends and sides. turning: the same of
    turning, coupled and by itself. through: velocity through the water, ahead and aside, turn rate. speed: its size.
    """
    (linear, span), (ends, sides), (turned, yaw), (u, v, r) = drag, pressure, turning, through
    coupled = turned * speed
    ahead = -(linear + ends * speed) * u
    aside = -(linear + sides * speed) * v - coupled * r
    about = -(linear * span + yaw * speed) * r - coupled * v
    return ahead, aside, about


def turned_momentum(mass: tuple[Any, Any], moving: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
    """Kirchhoff's forces ahead and aside and his torque, of masses ahead and aside that move and turn with the body;
    numbers, or all expressions of CasADi.

    moving: velocity ahead and aside, turn rate.
    """
    (along, across), (u, v, r) = mass, moving
    return across * v * r, -along * u * r, (along - across) * u * v


def rates(craft: np.ndarray, state: np.ndarray, thrust: np.ndarray) -> np.ndarray:
    """(3,) rates of the velocity through the water, and of turning."""
    numbers, (u, v, r) = craft.tolist(), state[[U, V, R]].tolist()
    c, s = math.cos(state[THETA]), math.sin(state[THETA])
    mass_x, mass_y, (force_x, force_y) = numbers[MASS_X], numbers[MASS_Y], numbers[FORCE : FORCE + 2]
    drag, pressure, turning = (
        (numbers[i], numbers[j]) for i, j in ((DRAG, SPAN), (ENDS, SIDES), (TURNED, TURNING))
    )
    ahead, aside, about = water_drag(drag, pressure, turning, (u, v, r), math.sqrt(u * u + v * v))
    turns_ahead, turns_aside, turns_about = turned_momentum((mass_x, mass_y), (u, v, r))
    left, right = thrust.tolist()
    ahead = left + right + c * force_x + s * force_y + (ahead + turns_ahead)
    aside = c * force_y - s * force_x + (aside + turns_aside)
    about = numbers[LEFT] * left + numbers[RIGHT] * right + numbers[TORQUE] + (about + turns_about)
    return np.array([ahead / mass_x, aside / mass_y, about / numbers[INERTIA]])


_EVERY_S = 0.1
_AT_FIRST = np.array([0.3, 0.3, 60.0, 60.0, 40.0])
"""Standard deviations."""
_WANDERS = np.array([0.02, 0.02, 10.0, 10.0, 6.0])
"""In a second."""
_WAVES = np.array([0.6, 0.9, 0.5])
"""What waves add to a measured acceleration: ahead and aside [m/s^2], turning [rad/s^2]; it evens out."""


class Disturbance:
    """Take in moments by `see`; `adjusted` gives a boat's numbers with what has been found out."""

    def __init__(self) -> None:
        self._mean, self._spread = np.zeros(5), np.diag(_AT_FIRST**2)
        self._last: np.ndarray | None = None
        self._thrust, self._since_s = np.zeros(2), 0.0

    @property
    def current_w(self) -> np.ndarray:
        """(2,) [m/s]."""
        return self._mean[:2]

    @property
    def force_w(self) -> np.ndarray:
        """(2,) [N]."""
        return self._mean[2:4]

    def adjusted(self, craft: np.ndarray) -> np.ndarray:
        """The boat's numbers in this current and under this force, world axes."""
        numbers = craft.copy()
        numbers[CURRENT : TORQUE + 1] = self._mean
        return numbers

    def see(self, craft: np.ndarray, ground: np.ndarray, thrust: np.ndarray, dt_s: float) -> None:
        """A moment; thrust (2,) acts from then on.

        ground (6,): place, heading, velocity over ground in the world, turn rate.
        """
        if self._last is None:
            self._last = ground.copy()
        self._thrust += thrust * dt_s
        self._since_s += dt_s
        if self._since_s < _EVERY_S - 1e-9:
            return
        self._learn(craft, self._last, ground, self._thrust / self._since_s, self._since_s)
        self._last, self._thrust, self._since_s = ground.copy(), np.zeros(2), 0.0

    def _learn(
        self, craft: np.ndarray, last: np.ndarray, now: np.ndarray, thrust: np.ndarray, span_s: float
    ) -> None:
        self._spread += np.diag(_WANDERS**2) * span_s
        turned = upright(last[THETA])[:2, :2]
        seen = np.array([*(turned.T @ (now[[U, V]] - last[[U, V]])), now[R] - last[R]]) / span_s
        expected, slope = self._expected(craft, last, thrust, self._mean), np.empty((3, 5))
        for k in range(5):
            shifted = self._mean.copy()
            shifted[k] += 1e-3 * _AT_FIRST[k]
            slope[:, k] = (self._expected(craft, last, thrust, shifted) - expected) / (1e-3 * _AT_FIRST[k])
        gain = self._spread @ slope.T @ np.linalg.inv(slope @ self._spread @ slope.T + np.diag(_WAVES**2))
        self._mean = self._mean + gain @ (seen - expected)
        self._spread = self._spread - gain @ slope @ self._spread
        self._spread = 0.5 * (self._spread + self._spread.T)

    def _expected(
        self, craft: np.ndarray, ground: np.ndarray, thrust: np.ndarray, pushed: np.ndarray
    ) -> np.ndarray:
        """(3,) acceleration over ground along the body's axes and of turning."""
        numbers = craft.copy()
        numbers[CURRENT : TORQUE + 1] = pushed
        state = through_water(numbers, ground)
        # The velocity's own axes turn with the boat, those of the water stay.
        r = state[R]
        return rates(numbers, state, thrust) + np.array([-r * state[V], r * state[U], 0.0])


def through_water(craft: np.ndarray, ground: np.ndarray) -> np.ndarray:
    """(6,) state of the planar boat from place, heading, velocity over ground in the world and turn rate."""
    state = ground.copy()
    state[[U, V]] = upright(ground[THETA])[:2, :2].T @ (ground[[U, V]] - craft[CURRENT : CURRENT + 2])
    return state
