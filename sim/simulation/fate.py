"""What a vehicle has run into since the last look, and whether it bears that."""

import numpy as np

from sim.outfit import outfit_of
from sim.simulation.coupling import Coupling
from sim.simulation.footing import Footing
from sim.simulation.verdict import Verdict, collision, wreck
from sim.vehicles import Vehicle


def fate(
    vehicle: Vehicle, node: np.ndarray, twist_b: np.ndarray, footing: Footing, coupling: Coupling | None
) -> Verdict | None:
    """Why it stops, on the ground, in water or at what stands in the way; None where it goes on."""
    outfit, verdict = outfit_of(vehicle.name), None
    impact = footing.take_impact()
    if outfit.contact.fragile:
        speed_mps = float(np.linalg.norm(twist_b[3:]))
        verdict = wreck(impact, footing.under_water(node), speed_mps)
    met_mps = impact.skids_mps if coupling is None else max(impact.skids_mps, coupling.take_impact_mps())
    return verdict or collision(met_mps, outfit.footprint)
