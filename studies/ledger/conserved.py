"""What must stay as it is, over longer motions: energy of IFToMM's mechanisms, what free bodies keep.

The library of benchmarks of M. Gonzalez, D. Dopico, U. Lugris, J. Cuadrado, "A benchmarking system for MBS simulation
software", Multibody System Dynamics 16, 2006, judges its mechanisms by how far their energy drifts, over 10 s for those
that fall; what a motor has done is taken off, and what dampers have taken is added. Steps are those of the window's
lanes, but the squeezer's and the governor's.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np
from scipy.integrate import cumulative_simpson

import sim
from sim.multibody.declaration import TreeState
from sim.steppers.bound_tree import BoundTree
from studies.ledger.flexible import opened as flexible
from studies.ledger.linkages import GRAVITY, ROD_M, SINGLE, parallelograms
from studies.ledger.mechanism import Mechanism
from studies.ledger.orbits import OBLATE, TUMBLING_INERTIA, TUMBLING_RADPS, TUMBLING_V, TUMBLING_X, Satellite
from studies.ledger.problem import Problem
from studies.ledger.spatial_mechanisms import BRICARD, DAMPING, GOVERNOR, GOVERNOR_RADPS
from studies.ledger.squeezer import SQUEEZER, STEP_S, TORQUE_NM, seen

FALL_S, SQUEEZED_S, TUMBLES_S, ORBITS_S = 10.0, 0.05, 60.0, 100.0
BRICARD_J = 30.0
"""About what it begins with, of which most moves."""
GOVERNED_STEP_S = 5e-5
"""Its dampers settle within a tenth of a millisecond."""


def widest(values: np.ndarray) -> float:
    """One and the largest change since the first row."""
    return 1.0 + float(np.abs(values - values[0]).max())


def fallen(mechanism: Mechanism, step_s: float, unit_J: float) -> float:
    """One and the largest change of energy in that unit."""
    vehicle, start = mechanism.opened("ledger-conserved")
    run = sim.simulate(vehicle, "rk4", step=step_s, duration=FALL_S, initial=start)
    return widest(run.energy / unit_J)


def row_J(n: int) -> float:
    """Of n four-bars in a row, between the lowest and the highest."""
    return 2.0 * GRAVITY * ((n + 1) / 2 + n)


def squeezed() -> float:
    """One and the largest change of energy less the motor's work, over all of that."""
    crank = SQUEEZER.tree.coordinate_names.index("K1")
    open_tree = BoundTree(SQUEEZER.tree, STEP_S)

    def told(state: TreeState) -> tuple[float, float]:
        return open_tree.energy_J(open_tree.start(state.q, state.v)), TORQUE_NM * float(state.q[crank])

    energy, work = np.array(SQUEEZER.moved_explicitly(SQUEEZED_S, STEP_S, told, every=5)).T
    return widest((energy - work) / np.ptp(work))


def governed() -> float:
    """One and the largest change of energy and what the dampers have taken, over what the turning has to begin with."""
    vehicle, start = GOVERNOR.opened("ledger-conserved")
    run = sim.simulate(vehicle, "rk4", step=GOVERNED_STEP_S, duration=FALL_S, initial=start)
    _, slider, *rods = run.nodes[:, :4].T
    _, rate, *turns = run.nodes[:, 4:].T
    power: np.ndarray = np.zeros(len(slider))
    for angle, turn in zip(rods, turns, strict=True):
        # From the slider to the middle of a rod, in the plane of both.
        aside, up = 0.5 * np.sin(angle), 0.5 + 0.5 * np.cos(angle) - slider
        closing = aside * 0.5 * np.cos(angle) * turn - up * (0.5 * np.sin(angle) * turn + rate)
        power += DAMPING * closing**2 / (aside**2 + up**2)
    taken = cumulative_simpson(power, dx=GOVERNED_STEP_S, initial=0.0)
    turning_J = 0.5 * run.momentum[0, 2] * GOVERNOR_RADPS
    return widest((run.energy + taken) / turning_J)


def drifted() -> np.ndarray:
    """(6,) one and the largest change of each part of the momentum, over the largest."""
    vehicle, start = flexible()
    momentum = sim.simulate(vehicle, "riqn", step=5e-3, duration=TUMBLES_S, initial=start).momentum
    return 1.0 + np.abs(momentum - momentum[0]).max(axis=0) / np.abs(momentum[0]).max()


def shorter_body() -> tuple[Satellite, sim.State]:
    """As the tumbling long body, a tenth of its length, so that it does not fall to the centre."""
    body = Satellite(inertia=tuple(1e-2 * np.array(TUMBLING_INERTIA)), oblate=OBLATE, gradient=1.0)
    return body, body.state(x=TUMBLING_X, v=TUMBLING_V, omega=TUMBLING_RADPS)


def orbited() -> np.ndarray:
    """(2,) one and the largest change of energy, and of angular momentum about the centre's axis, over their size."""
    body, start = shorter_body()
    run = sim.simulate(body, "variational-6", step=5e-3, duration=ORBITS_S, initial=start)
    kept: Sequence[np.ndarray] = (run.energy, run.momentum[:, 2])
    return np.array([widest(values / abs(values[0])) for values in kept])


_FALLING = (
    ("rod", "A rod that swings about its end (A01)", SINGLE, 1e-3, GRAVITY * ROD_M[0] ** 2, "pendulum"),
    ("one-four-bar", "One four-bar (A02)", parallelograms(1), 2e-3, row_J(1), "two-four-bars"),
    ("forty-four-bars", "Forty four-bars (A02)", parallelograms(40), 5e-3, row_J(40), "forty-four-bars"),
    ("bricard", "Bricard's mechanism (A04)", BRICARD, 5e-3, BRICARD_J, "bricard"),
)
PROBLEMS = (
    *(
        Problem(
            name=f"energy-{name}",
            title=f"{title}: energy over 10 s",
            quantity="1 + largest change of energy over its range [1]",
            source="conservation; Gonzalez et al. 2006",
            truth=lambda: 1.0,
            known_digits=15,
            ours=partial(fallen, mechanism, step_s, unit_J),
            step=f"rk4, {1e3 * step_s:g} ms",
            motion_s=FALL_S,
            least_digits=8.0,
            scene=partial(mechanism.opened, f"ledger-energy-{name}"),
            shown=lambda: {"integrator": "rk4"},
            pictured_by=pictured_by,
        )
        for name, title, mechanism, step_s, unit_J, pictured_by in _FALLING
    ),
    Problem(
        name="energy-andrews",
        title="Andrews' squeezer (A03): energy less its motor's work over 0.05 s",
        quantity="1 + largest change over all of that work [1]",
        source="conservation; Gonzalez et al. 2006",
        truth=lambda: 1.0,
        known_digits=15,
        ours=squeezed,
        step="Dormand and Prince with loops, order 8, 0.2 ms",
        motion_s=SQUEEZED_S,
        least_digits=8.0,
        scene=lambda: SQUEEZER.enlarged(20.0).opened("ledger-energy-andrews"),
        shown=seen,
        pictured_by="andrews",
    ),
    Problem(
        name="energy-governor",
        title="Stiff flyball governor (A05): energy and what its dampers have taken, over 10 s",
        quantity="1 + largest change of both together over the energy of the turning [1]",
        source="conservation; Gonzalez et al. 2006",
        truth=lambda: 1.0,
        known_digits=15,
        ours=governed,
        step=f"rk4, {1e3 * GOVERNED_STEP_S:g} ms",
        motion_s=FALL_S,
        least_digits=8.0,
        scene=lambda: GOVERNOR.opened("ledger-energy-governor"),
        pictured_by="governor",
    ),
    Problem(
        name="flexible-spacecraft-momentum",
        title="A spacecraft with two arrays on springs tumbles: its momentum over 60 s",
        quantity="1 + largest change of angular and linear momentum over the largest [1]",
        source="conservation, Noether 1918",
        truth=lambda: np.ones(6),
        known_digits=15,
        ours=drifted,
        step="riqn, 5 ms",
        motion_s=TUMBLES_S,
        least_digits=11.0,
        scene=flexible,
        pictured_by="flexible-spacecraft",
    ),
    Problem(
        name="oblate-tumbling-kept",
        title="A body about an oblate centre, which turns it: what is kept in a time of 100",
        quantity="1 + largest change of energy, and of angular momentum about the centre's axis, over their size [1]",
        source="conservation, Noether 1918",
        truth=lambda: np.ones(2),
        known_digits=15,
        ours=orbited,
        step="variational-6, 1257 steps a revolution",
        motion_s=ORBITS_S,
        least_digits=8.0,
        scene=shorter_body,
        pictured_by="oblate-tumbling",
    ),
)
