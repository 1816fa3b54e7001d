"""What the outputs of an autopilot's board do to a vehicle's controls (`[pwm]` of its `vehicle.toml`)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sim.platform.toml_table import TomlTable
from sim.vehicle_config.terms import Names, Term, constant, read_term
from sim.vehicles.forms.parameters import Control

CHANNELS = 32
CENTRE_US, HALF_US = 1500.0, 500.0


@dataclass(frozen=True, slots=True)
class Servo:
    """One control: rest + reach * sum of weight * (pulse - 1500 us) / 500 us."""

    control: str
    weights: tuple[tuple[int, float], ...]
    """(channel, from 1 on, weight)."""
    reach: Term
    rest: Term

    def value(self, pwm_us: Sequence[float], values: Mapping[str, float]) -> float | None:
        """In the control's unit; None where a channel is off, as a pulse of 0 says, or is not there.

        values: named numbers of the vehicle, which its terms may use.
        """
        pulses = [pwm_us[channel - 1] if channel <= len(pwm_us) else 0.0 for channel, _ in self.weights]
        if not all(pulses):
            return None
        share = sum(w * (us - CENTRE_US) / HALF_US for (_, w), us in zip(self.weights, pulses, strict=True))
        return self.rest.value(values) + self.reach.value(values) * share


def read_servos(table: TomlTable, controls: Sequence[Control], known: Names) -> tuple[Servo, ...]:
    """`[pwm]`: a table a control. Raises InputError."""
    found, names = [], [c.name for c in controls]
    for name in table.names():
        if name not in names:
            raise table.error(name, f"unknown control; allowed: {', '.join(names)}")
        inner = table.table(name)
        keys = [(k, f"ch{k}") for k in range(1, CHANNELS + 1)]
        weights = tuple(
            (k, inner.number(key, 0.0, low=-10.0, high=10.0)) for k, key in keys if inner.has(key)
        )
        if not weights:
            raise table.error(name, f"names no channel; allowed: ch1 to ch{CHANNELS}, each a weight")
        reach = read_term(inner, "reach", known)
        rest = read_term(inner, "rest", known, constant(0.0))
        inner.finish()
        found.append(Servo(name, weights, reach, rest))
    table.finish()
    return tuple(found)
