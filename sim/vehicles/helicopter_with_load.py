"""The vehicles paper's helicopter with a load slung under it, on the mechanics survey's spheres."""

from sim.vehicles.forms.slung_load import LOAD_PARAMETERS, SlungLoad
from sim.vehicles.helicopter import Helicopter


class HelicopterWithLoad(SlungLoad):
    """Controls and parameters are the helicopter's; wind pushes the load, too, through its own drag."""

    name = "helicopter-with-load"
    carrier = Helicopter()
    parameters = (*LOAD_PARAMETERS, *Helicopter.parameters)
    controls = Helicopter.controls
