"""Raw mode: sticks move the controls of the equations of motion directly, nothing is stabilised."""

import numpy as np

from sim.commands import PilotInput
from sim.outfit import named_values, outfit_of
from sim.outfit.outfit import Mix
from sim.pilot.contract import Sensed
from sim.pilot.hand import pushed
from sim.pilot.righting import righted
from sim.vehicles import Vehicle


class RawPilot:
    """Serves every vehicle, as its outfit says; remembers nothing."""

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """Full stick is the full throw; centred sticks are the hover, or the neutral controls."""
        raw = outfit_of(vehicle.name).raw
        if raw.pushed_axle:
            wanted = pushed(raw.pushed_axle, sticks, sensed, vehicle)
        else:
            wanted = mixed(raw.mixes or usual_mixes(vehicle), sticks, vehicle)
        if raw.righting is not None and raw.righting.action in sticks.actions:
            wanted = righted(raw.righting, wanted, sensed, vehicle)
        low = np.array([control.low for control in vehicle.controls])
        high = np.array([control.high for control in vehicle.controls])
        return np.clip(wanted, low, high)


def mixed(mixes: tuple[Mix, ...], sticks: PilotInput, vehicle: Vehicle) -> np.ndarray:
    """Controls, not yet within their ranges; those without a mix stay neutral."""
    deflections = {
        "pitch": sticks.pitch,
        "roll": sticks.roll,
        "yaw": sticks.yaw,
        "throttle": sticks.throttle,
        "ahead": min(max(sticks.pitch + sticks.throttle, -1.0), 1.0),
        "right": min(max(sticks.roll + sticks.yaw, -1.0), 1.0),
    }
    values = named_values(vehicle, parameters=vehicle.values)
    by_control = {mix.control: mix for mix in mixes}
    wanted = []
    for control in vehicle.controls:
        mix = by_control.get(control.name)
        if mix is None:
            wanted.append(control.neutral)
            continue
        share = sum(part * deflections[stick] for stick, part in mix.sticks)
        rest = control.neutral if mix.rest is None else mix.rest.value(values)
        if mix.reach is not None:
            reach = mix.reach.value(values)
        else:
            reach = control.high - rest if share > 0.0 else rest - control.low
        wanted.append(rest + share * reach)
    return np.array(wanted)


def usual_mixes(vehicle: Vehicle) -> tuple[Mix, ...]:
    """Controls named after a stick follow it; where none is, the first two go with the stick ahead and to the left."""
    by_name = {"pitch": "pitch", "roll": "roll", "yaw": "yaw", "thrust": "throttle"}
    named = tuple(
        Mix(control.name, ((by_name[control.name], 1.0),))
        for control in vehicle.controls
        if control.name in by_name
    )
    in_order = zip(vehicle.controls, (("ahead", 1.0), ("right", -1.0)), strict=False)
    return named or tuple(Mix(control.name, (stick,)) for control, stick in in_order)
