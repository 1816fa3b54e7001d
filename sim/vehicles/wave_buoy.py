"""A sphere that floats half under water and radiates waves: the first of the hulls that the IEA's OES Task 10 compares.

Its numbers are those of Wendt et al. 2019 (radius 5 m, 261.8 t, centre of mass 2 m under water). It meets the water as
any hull does (`sim.water.wrench`); what is its own is that it remembers the waves that it has made, by potential flow,
so that it comes to rest without any drag. The winch of a power take-off pulls it down or lets it go.
"""

import dataclasses

import casadi as ca

from sim.vehicles.forms.parameters import Control, Quantities
from sim.vehicles.motorboat import ABOUT, BODY, Floating

_DEFAULTS: dict[str, float | tuple[float, ...]] = {
    "mass": 261.8e3,
    "inertia": (1.69e6, 1.69e6, 2.61e6),
    "added_mass": (71.51e3, 71.51e3, 130.91e3),
    "added_inertia": (0.2860e6, 0.2860e6, 0.0),
    "drag": 0.0,
    "impact": 0.0,
    "air_drag": 0.4,
    "waves": 0.0,
}


class WaveBuoy(Floating):
    """Body origin at the centre of mass, 2 m under the sphere's middle."""

    name = "wave-buoy"
    parameters = tuple(
        dataclasses.replace(parameter, default=_DEFAULTS.get(parameter.name, parameter.default))
        for parameter in (*BODY, *ABOUT)
    )
    controls = (Control("winch", "N", -1e6, 1e6, "Pull of the winch, down along the hull's axis."),)

    def control_wrench(self, u: ca.SX, q: Quantities) -> ca.SX:
        """Along the hull's own axis, at the origin."""
        return ca.vertcat(0, 0, 0, 0, 0, -u[0])
