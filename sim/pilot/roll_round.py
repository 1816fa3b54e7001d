"""Rolling a disc upright round a circle.

It is a gyroscope: near upright, rolling at a rate r, a lean to the right by d turns it to the right by J_axle r d /
J_diameter, whatever it leans by. So the turn rate is steered by the rate of the lean, and the torque of the lean
carries what weight and bend do not balance.
"""

import math

import numpy as np

from sim.commands import PilotInput
from sim.pilot.airframe import scalar
from sim.pilot.contract import Automatic, Sensed
from sim.pilot.errand import Errand
from sim.vehicles import Vehicle

SPEED_MPS, CIRCLE_M = 4.0, 8.0
LEAN_PER_S, TURN_PER_S, ROLL_PER_S = 6.0, 2.0, 1.0
"""Bandwidths of the rate of the lean, of the turn rate by it, and of the speed."""
_MOST_RADPS = 0.8
"""Of the lean."""
_SLOW_RADPS = 1.0
"""Rolling slower than about this it is set upright instead: its turns do not follow the lean."""


class RollRoundPilot(Automatic):
    """Serves a disc whose shape is lean and roll, with a torque for each. To the left, wherever it is."""

    def __init__(self, errand: Errand) -> None:
        del errand

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """(torque of the lean, torque of the roll) [N m]."""
        mass, radius, axial, across, gravity = (
            scalar(vehicle.values[name])
            for name in ("mass", "radius", "axial_inertia", "diametral_inertia", "gravity")
        )
        at, node = vehicle.node_layout, sensed.node
        lean, (lean_rate, roll_rate) = float(node[at.shape][0]), node[at.shape_velocity]
        turn, speed = float(node[at.velocity][0]), radius * float(roll_rate)
        sine, cosine = math.sin(lean), math.cos(lean)
        by_lean = axial / across * float(roll_rate)
        slow = (axial / across * _SLOW_RADPS) ** 2
        share = by_lean / (by_lean**2 + slow)
        wanted = -TURN_PER_S * (speed / CIRCLE_M - turn) * share
        wanted -= TURN_PER_S * lean * (slow / (by_lean**2 + slow)) ** 2
        wanted = min(max(wanted, -_MOST_RADPS), _MOST_RADPS)
        free = mass * radius * (gravity * sine + cosine * turn * (speed + radius * sine * turn))
        free += cosine * turn * (axial * (float(roll_rate) + sine * turn) - across * sine * turn)
        inertia = mass * radius**2 + across
        rate = min(LEAN_PER_S, 0.4 / dt_s)
        leaning = inertia * rate * (wanted - float(lean_rate)) - free
        rolling = (mass * radius**2 + axial) * ROLL_PER_S * (SPEED_MPS - speed) / radius
        low = np.array([control.low for control in vehicle.controls])
        high = np.array([control.high for control in vehicle.controls])
        return np.clip([leaning, rolling], low, high)
