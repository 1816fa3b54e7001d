"""How often known parameters come out of noisy flights within three standard errors.

    python -m benchmarks.identification [--flights 100]

Each flight has noise of its own; mass, inertia, drag and rotor offset are unknown at once.
"""

import argparse
import time

import numpy as np

import sim
from tests.sim.identification.synthetic import flown, measured

UNKNOWN = ("mass", "inertia", "drag", "rotor_offset")


def main() -> None:
    """Prints the share, and how errors compare with what is said of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--flights", type=int, default=100)
    flights = parser.parse_args().flights
    true = sim.vehicle("helicopter", mass=5.4, inertia=(0.17, 0.33, 0.31), drag=0.12, rotor_offset=0.36)
    guess, rows = sim.vehicle("helicopter", drag=0.05), []
    begun = time.perf_counter()
    for seed in range(flights):
        found = sim.identify(guess, measured(flown(true, seed=seed), 1000 + seed), UNKNOWN)
        pairs = [
            (np.atleast_1d(f[n]) for f in (found.values, true.values, found.standard_errors)) for n in UNKNOWN
        ]
        rows.append(np.concatenate([(value - right) / error for value, right, error in pairs]))
    errors = np.abs(rows)
    print(f"{flights} flights, {(time.perf_counter() - begun) / flights:.2f} s each")
    print(f"all parameters within three standard errors: {(errors < 3.0).all(axis=1).sum()} of {flights}")
    print(f"numbers within three standard errors: {(errors < 3.0).mean():.4f} (normal: 0.9973)")
    print(f"mean square error in standard errors: {np.mean(errors**2):.2f}")


if __name__ == "__main__":
    main()
