"""The eye's adaptation: in a tunnel it opens, slower than it closes again in daylight."""

import math

import numpy as np

from sim.world import World
from sim.world.props import Tunnel
from sim.world.terrain import smoothstep

IN_TUNNEL = 1.7
"""By which a tunnel's picture is exposed longer than one of the day around it."""
_MOUTH_M = 5.0
"""So far within a tunnel nothing of the day outside counts."""
_OPENS_S, _CLOSES_S = 0.8, 0.25
"""Time constants."""
_SAME = 0.004
"""As near to what it goes towards it has arrived: pictures at rest are to become alike."""


class Adaptation:
    """Of the camera's eye in one world."""

    def __init__(self, world: World) -> None:
        self._tunnels = () if world.grounds is None else world.grounds.tunnels
        self.gain = 1.0
        """Of the exposure."""

    def go_on(self, eye_w: np.ndarray, dt_s: float) -> float:
        """The gain, dt_s later, of an eye at (3,) m."""
        depth_m = max((_depth_m(tunnel, eye_w) for tunnel in self._tunnels), default=0.0)
        wanted = 1.0 + (IN_TUNNEL - 1.0) * smoothstep(0.0, _MOUTH_M, depth_m)
        constant_s = _OPENS_S if wanted > self.gain else _CLOSES_S
        self.gain = wanted + (self.gain - wanted) * math.exp(-dt_s / constant_s)
        if abs(self.gain - wanted) < _SAME:
            self.gain = wanted
        return self.gain


def _depth_m(tunnel: Tunnel, eye_w: np.ndarray) -> float:
    """How far it is to the nearer mouth from within; 0 outside."""
    c, s = math.cos(tunnel.heading_rad), math.sin(tunnel.heading_rad)
    x, y = float(eye_w[0]) - tunnel.centre_m[0], float(eye_w[1]) - tunnel.centre_m[1]
    along, aside = abs(c * x + s * y), abs(c * y - s * x)
    high_m = tunnel.spring_m + math.sqrt(max(tunnel.half_width_m**2 - aside**2, 0.0))
    if aside > tunnel.half_width_m or not 0.0 <= eye_w[2] <= high_m:
        return 0.0
    return max(0.5 * tunnel.length_m - along, 0.0)
