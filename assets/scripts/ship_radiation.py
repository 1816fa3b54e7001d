"""Works out what the ledger's ship radiates at rest and how waves from ahead push it, at rest and at its speed:
`python -m assets.scripts.ship_radiation FILE` writes what steps know of it. Needs `capytaine`.
"""

import json
import sys
from pathlib import Path

import numpy as np

from assets.scripts.radiation import fitted, seven_digits
from studies.reference.ship_in_waves import DENSITY, GRAVITY, GRIDS, SPEED_MPS, floating

FITTED_RADPS, PUSHED_RADPS = np.linspace(0.5, 9.0, 18), np.linspace(0.25, 5.0, 20)
STATES, WAYS = 8, {"Pitch": 1, "Heave": 5}
_STILL = 6
"""Times that what does not swing is fitted to radiate nothing: else the waves' momentum would not end."""


def write_tables(file: Path) -> None:
    """As vehicles' folders have them; one heading stands for all."""
    import capytaine as bem
    from capytaine.bem.airy_waves import froude_krylov_force

    body = floating(*GRIDS[0])
    solver, water = bem.BEMSolver(), {"body": body, "rho": DENSITY, "g": GRAVITY}

    def radiated(omega: float) -> np.ndarray:
        found = np.zeros((6, 6), complex)
        for way, at in WAYS.items():
            answer = solver.solve(bem.RadiationProblem(radiating_dof=way, omega=omega, **water))
            found[at, at] = complex(answer.added_masses[way], answer.radiation_dampings.get(way, 0.0))
        return found

    def pushed(omega: float, speed_mps: float) -> np.ndarray:
        come = bem.DiffractionProblem(omega=omega, wave_direction=np.pi, forward_speed=speed_mps, **water)
        scattered, pressed = solver.solve(come).forces, froude_krylov_force(come)
        found = np.zeros((1, 6), complex)
        for way, at in WAYS.items():
            found[0, at] = scattered[way] + pressed[way]
        return np.stack([found.real, found.imag], axis=-1)

    at_once = radiated(np.inf).real
    wide, near = (np.array([radiated(w) for w in omega]) for omega in (FITTED_RADPS, PUSHED_RADPS))
    wanted = wide.imag + 1j * FITTED_RADPS[:, None, None] * (wide.real - at_once)
    still = np.zeros((_STILL, 6, 6))
    F, G = fitted(np.r_[np.zeros(_STILL), FITTED_RADPS], np.concatenate([still, wanted]), STATES)
    at_rest, fast = (np.array([pushed(w, speed) for w in PUSHED_RADPS]) for speed in (0.0, SPEED_MPS))
    told = {
        "by": "capytaine 3.0.0",
        "omega_radps": seven_digits(PUSHED_RADPS),
        "added": seven_digits(near.real),
        "damping": seven_digits(near.imag),
        "added_at_once": seven_digits(at_once),
        "F": F.tolist(),
        "G": G.tolist(),
        "excited": seven_digits(at_rest),
        "under_way": [[SPEED_MPS, seven_digits(fast)]],
    }
    file.write_text(json.dumps(told) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_tables(Path(sys.argv[1]))
