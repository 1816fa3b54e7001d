"""What is to be assigned next to whatever the user moves or presses. Pure."""

from dataclasses import dataclass, field

from ui.input.profile import Calibration, DeviceNow

FAR = 0.5
"""A move of an axis that is meant, in raw units from where it was when the listening began."""


@dataclass(frozen=True, slots=True)
class ForAxis:
    """Whichever axis is moved far moves this from now on."""

    target: str


@dataclass(frozen=True, slots=True)
class ForButton:
    """Whichever button is pressed does this from now on."""

    action: str


@dataclass(frozen=True, slots=True)
class ForKey:
    """Whichever key is pressed does this from now on."""

    scope: str
    action: str


@dataclass(frozen=True, slots=True)
class ForRange:
    """How far this axis goes to either side; it is left at rest when the listening begins."""

    guid: str
    source: str


Listening = ForAxis | ForButton | ForKey | ForRange


@dataclass(slots=True)
class Ear:
    """Hears the axes while it listens."""

    rest: dict[tuple[int, str], float] = field(default_factory=dict)
    """Where each axis of each device was at first."""
    low: float = 0.0
    high: float = 0.0
    centre: float = 0.0

    @classmethod
    def at(cls, devices: tuple[DeviceNow, ...], listening: Listening) -> "Ear":
        """As the devices stand."""
        rest = {(id(device), axis): value for device in devices for axis, value in device.axes.items()}
        centre = 0.0
        if isinstance(listening, ForRange):
            centre = next(
                (d.axes.get(listening.source, 0.0) for d in devices if d.guid == listening.guid), 0.0
            )
        return cls(rest, centre, centre, centre)

    def moved(self, devices: tuple[DeviceNow, ...]) -> tuple[DeviceNow, str, bool] | None:
        """(device, axis, whether it went down) of the axis that has moved farthest, once one has moved far."""
        best: tuple[float, DeviceNow, str] | None = None
        for device in devices:
            for axis in device.moved:
                away = device.axes[axis] - self.rest.get((id(device), axis), 0.0)
                if abs(away) > max(FAR, 0.0 if best is None else abs(best[0])):
                    best = (away, device, axis)
        return None if best is None else (best[1], best[2], best[0] < 0.0)

    def widen(self, devices: tuple[DeviceNow, ...], listening: ForRange) -> Calibration:
        """The range that has been seen so far; a side that was not gone to is as far as the other."""
        for device in devices:
            if device.guid == listening.guid and listening.source in device.axes:
                value = device.axes[listening.source]
                self.low, self.high = min(self.low, value), max(self.high, value)
        return Calibration(self.low, self.centre, self.high)
