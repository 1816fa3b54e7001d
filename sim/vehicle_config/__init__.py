"""What a vehicle is to eyes, hands and ground, as data: `assets/vehicles/NAME/vehicle.toml`, or a folder of one's own.

Mechanics are the vehicle's own file in `sim/vehicles`; everything else that used to need its name stands here. The door
is `config_of`, of a vehicle; a name is looked up by `config_named`, where files are read.
"""

from sim.vehicle_config.config import Camera, Contact, HullConfig, TrailConfig, VehicleConfig
from sim.vehicle_config.instruments import PLOTTED, Bar, Dial, Instruments, Plotted, Readout
from sim.vehicle_config.model import Model, Move, Part, Rotor, TracksConfig
from sim.vehicle_config.modes import Keys, Modes, StickKeys
from sim.vehicle_config.registry import (
    ASSETS,
    FALLBACK_FILE,
    VEHICLE_FOLDER,
    config_named,
    config_of,
    fallback,
    read_for,
)
from sim.vehicle_config.terms import Term, named_values

__all__ = [
    "ASSETS",
    "Bar",
    "Camera",
    "Contact",
    "Dial",
    "FALLBACK_FILE",
    "HullConfig",
    "Instruments",
    "Keys",
    "Model",
    "Modes",
    "Move",
    "PLOTTED",
    "Part",
    "Plotted",
    "Readout",
    "Rotor",
    "StickKeys",
    "Term",
    "TracksConfig",
    "TrailConfig",
    "VEHICLE_FOLDER",
    "VehicleConfig",
    "config_named",
    "config_of",
    "fallback",
    "named_values",
    "read_for",
]
