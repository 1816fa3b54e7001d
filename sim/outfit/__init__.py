"""What a vehicle is to eyes, hands and ground, as data: `assets/vehicles/NAME/vehicle.toml`, or a folder of one's own.

Mechanics are the vehicle's own file in `sim/vehicles`; everything else that used to need its name stands here.
"""

from sim.outfit.instruments import PLOTTED, Bar, Dial, Instruments, Plotted, Row
from sim.outfit.moving_model import Model, Move, Part, Rotor
from sim.outfit.outfit import Camera, Contact, Hull, Keys, Modes, Outfit, StickKeys, Tracks, Trail
from sim.outfit.registry import ASSETS, FALLBACK_FILE, VEHICLE_FOLDER, outfit_of, read_for
from sim.outfit.term import Term
from sim.outfit.values import named_values

__all__ = [
    "ASSETS",
    "FALLBACK_FILE",
    "PLOTTED",
    "VEHICLE_FOLDER",
    "Bar",
    "Dial",
    "Camera",
    "Contact",
    "Hull",
    "Instruments",
    "Keys",
    "Model",
    "Modes",
    "Move",
    "Outfit",
    "Part",
    "Plotted",
    "Rotor",
    "Row",
    "StickKeys",
    "Term",
    "Tracks",
    "Trail",
    "named_values",
    "outfit_of",
    "read_for",
]
