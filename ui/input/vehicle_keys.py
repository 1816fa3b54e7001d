"""What flies each vehicle: its keys in its own words, and what of a gamepad serves it, out of its outfit."""

from sim.outfit import Keys, outfit_of
from ui.input.binding import KeyBinding


def vehicle_keys(vehicle: str) -> Keys:
    """Of a vehicle by its registry name; of one that says nothing, or that nobody knows, the names of the sticks."""
    return outfit_of(vehicle).keys


def bindings(keys: Keys) -> tuple[KeyBinding, ...]:
    """Stick axes, and other actions that are held by name."""
    return tuple(KeyBinding(held.action, held.keys, held.does, held.group) for held in keys.held)
