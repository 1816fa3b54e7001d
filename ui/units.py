"""The units in which a pilot reads speeds, heights and distances."""

SI, AIR = "SI", "kt, ft"
UNITS = (SI, AIR)
_IN_AIR = {"m/s": (1.0 / 0.514444, "kt"), "km/h": (1.0 / 1.852, "kt"), "m": (1.0 / 0.3048, "ft")}


def read(value: float, unit: str, units: str) -> tuple[float, str]:
    """A value in `unit` as it is read: (number, unit). What has no other unit in the air stays as it is."""
    factor, other = _IN_AIR.get(unit, (1.0, unit)) if units == AIR else (1.0, unit)
    return value * factor, other


def distance(metres: float, units: str) -> str:
    """'120 m' or '394 ft'."""
    value, unit = read(metres, "m", units)
    return f"{value:.0f} {unit}"
