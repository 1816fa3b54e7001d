"""How the motor boat, which remembers no waves, heaves and pitches against what panels say of her.

`python -m assets.scripts.boat_in_waves` lays waves from ahead, low ones of one length after the other, against her
hull at rest: once by linear potential flow (added mass, damping and forces of `capytaine`, an extra that wants an
environment of its own), once by steps of the boat as she is. Then what either makes of the seas that winds raise, as
root mean squares over the spectrum.
"""

import logging

import numpy as np

import sim
from assets.scripts.radiation import FOLDERS, panelled
from sim.integrators import INTEGRATORS
from sim.steppers.dynamics import stepper_of
from sim.vehicle_config.config import HullMesh
from sim.vehicles import Vehicle
from sim.water.immersion import GRAVITY, WATER_DENSITY
from sim.water.ocean.waves import frequency_spectrum
from sim.water.water import WATER, Afloat
from studies.ledger.hydrodynamics import in_one_wave

NAME = "motorboat"
OMEGA_RADPS = np.linspace(1.2, 6.0, 17)
LOW_M, STEP_S, LASTS_S, PERIODS = 0.02, 0.01, 25.0, 6
"""Of the waves in which steps are looked at, for how many periods in the end."""
WINDS_MPS, FETCH_M = (3.0, 5.0, 8.0, 12.0), 20e3
_DOFS = ("Heave", "Pitch")


def by_panels(boat: Vehicle) -> np.ndarray:
    """(m, 2) heave and pitch of a wave of height 1 [1, rad/m]."""
    import capytaine as bem
    from capytaine.bem.airy_waves import froude_krylov_force

    logging.getLogger("capytaine").setLevel(logging.ERROR)
    mass = float(np.max(boat.values["mass"]))
    turning = float(np.asarray(boat.values["inertia"])[1])
    ((_, body),) = panelled(HullMesh.read(FOLDERS / NAME / "hull.obj"), mass)
    standing = body.compute_hydrostatic_stiffness(rho=WATER_DENSITY, g=GRAVITY)
    stiff = standing.sel(influenced_dof=list(_DOFS), radiating_dof=list(_DOFS)).values
    solver, found = bem.BEMSolver(), []
    for omega in OMEGA_RADPS:
        around = {"body": body, "omega": float(omega), "rho": WATER_DENSITY, "g": GRAVITY}
        system = stiff - omega**2 * np.diag([mass, turning]).astype(complex)
        for column, way in enumerate(_DOFS):
            answer = solver.solve(bem.RadiationProblem(radiating_dof=way, **around), method="direct")
            for row, felt in enumerate(_DOFS):
                added, damping = answer.added_masses[felt], answer.radiation_dampings[felt]
                system[row, column] -= omega**2 * added + 1j * omega * damping
        come = bem.DiffractionProblem(wave_direction=np.pi, **around)
        pressed, scattered = froude_krylov_force(come), solver.solve(come, method="direct").forces
        found.append(np.abs(np.linalg.solve(system, [pressed[way] + scattered[way] for way in _DOFS])))
    return np.array(found)


def by_steps(boat: Vehicle) -> np.ndarray:
    """The same of the boat as she is, by the variational method."""
    kernel, p = stepper_of(boat, INTEGRATORS["variational"], WATER), boat.parameter_vector
    none, count, t = boat.neutral_controls, round(LASTS_S / STEP_S), np.arange(0.0, LASTS_S + 1e-9, STEP_S)
    found = []
    for omega in OMEGA_RADPS:
        around = in_one_wave(boat, (-(omega**2) / GRAVITY, 0.0), LOW_M, points=16)
        y = kernel.start(Afloat.start(boat).node, none, p, STEP_S, around.probe().env)
        nodes, *_ = kernel.trajectory(y, none[None], p, STEP_S, count, around.env)
        pose, last = nodes[:, boat.node_layout.pose], t > t[-1] - PERIODS * 2.0 * np.pi / omega
        turning = np.stack([np.cos(omega * t), np.sin(omega * t), np.ones_like(t), t], axis=1)[last]
        swings = np.linalg.lstsq(turning, pose[last][:, [11, 2]], rcond=None)[0]
        found.append(np.hypot(swings[0], swings[1]) / LOW_M)
    return np.array(found)


def in_a_sea(moved: np.ndarray, wind_mps: float) -> np.ndarray:
    """(2,) root mean squares of heave [m] and pitch [rad] in waves of that wind, all of them from ahead."""
    omega = np.linspace(OMEGA_RADPS[0], OMEGA_RADPS[-1], 400)
    energy = np.array([frequency_spectrum(float(w), wind_mps, FETCH_M) for w in omega])
    of_each = np.stack([np.interp(omega, OMEGA_RADPS, column) for column in moved.T], axis=1)
    return np.asarray(np.sqrt((energy[:, None] * of_each**2).sum(axis=0) * (omega[1] - omega[0])))


def main() -> None:
    """Tables of both."""
    boat = sim.vehicle(NAME, waves=0.0, gusts=0.0)
    panels, steps = by_panels(boat), by_steps(boat)
    print("rad/s  wave [m]  heave over height: panels  ours   pitch over slope: panels  ours")
    for omega, one, other in zip(OMEGA_RADPS, panels, steps, strict=True):
        k = omega**2 / GRAVITY
        print(f"{omega:5.2f}  {2.0 * np.pi / k:8.2f}  {one[0]:25.3f}  {other[0]:4.3f}", end="")
        print(f"  {one[1] / k:24.3f}  {other[1] / k:4.3f}")
    print("wind [m/s]  heave [m]: panels  ours   pitch [rad]: panels  ours")
    for wind in WINDS_MPS:
        (heave, pitch), (heaves, pitches) = in_a_sea(panels, wind), in_a_sea(steps, wind)
        print(f"{wind:10.0f}  {heave:17.4f}  {heaves:.4f}  {pitch:18.4f}  {pitches:.4f}")


if __name__ == "__main__":
    main()
