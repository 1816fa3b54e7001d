"""Bodies about a point: the racket's flips, Lagrange's and Kovalevskaya's tops, by elliptic functions and integrals.

E. T. Whittaker, "A Treatise on the Analytical Dynamics of Particles and Rigid Bodies", chapter VI; S. Kovalevskaya,
"Sur le probleme de la rotation d'un corps solide autour d'un point fixe", Acta Mathematica 12, 1889.
"""

import math

import numpy as np
from scipy.special import ellipj

import sim
from sim.groups.numeric import rotation_exp
from studies.ledger.peers import peers_of_free
from studies.ledger.problem import Problem

RACKET_INERTIA, RACKET_RADPS, RACKET_S = (1.0, 2.0, 3.0), (1.73, 0.0, 1.0), 10.0
"""Nearly about the middle axis at the flips; its component is zero at the start."""
STEP_S = 1e-3


def racket_truth() -> np.ndarray:
    """(3,) rad/s by Jacobi's functions, L^2 > 2 T I2."""
    a, b, c = RACKET_INERTIA
    p, _, r = RACKET_RADPS
    twice_energy, square = a * p**2 + c * r**2, (a * p) ** 2 + (c * r) ** 2
    rate = math.sqrt((c - b) * (square - twice_energy * a) / (a * b * c))
    modulus = (b - a) * (twice_energy * c - square) / ((c - b) * (square - twice_energy * a))
    sn, cn, dn, _ = ellipj(rate * RACKET_S, modulus)
    return np.array([p * cn, math.sqrt((twice_energy * c - square) / (b * (c - b))) * sn, r * dn])


def thrown(
    inertia: tuple[float, float, float], omega: tuple[float, float, float]
) -> tuple[sim.Vehicle, sim.State]:
    """A body without weight that spins so [rad/s]."""
    body = sim.vehicle("rigid-body", mass=1.0, inertia=inertia, gravity=0.0)
    return body, body.state(omega=omega)


def racket() -> np.ndarray:
    """(3,) rad/s."""
    body, start = thrown(RACKET_INERTIA, RACKET_RADPS)
    run = sim.simulate(body, "variational-6", step=STEP_S, duration=RACKET_S, initial=start)
    return np.asarray(run.velocity[-1, :3])


MASS, ARM_M, GRAVITY = 24.0, 0.25, 9.81
LAGRANGE_INERTIA, LEAN_RAD, SPIN_RADPS, LAGRANGE_S = (2.1, 2.1, 1.1), 0.8, 30.0, 5.0


def lagrange_truth() -> float:
    """Height of the axis: u' ^2 is a cubic of u, whose roots bound the nutation."""
    across, _, along = LAGRANGE_INERTIA
    u, weight, spin = math.cos(LEAN_RAD), MASS * GRAVITY * ARM_M, along * SPIN_RADPS
    vertical, energy = spin * u, weight * u
    squared = np.polymul([-1.0, 0.0, 1.0], [-2.0 * weight / across, 2.0 * energy / across])
    cubic = np.polysub(squared, np.polymul([-spin, vertical], [-spin, vertical]) / across**2)
    low, _, far = np.sort(np.roots(cubic).real)
    rate = math.sqrt(weight * (far - low) / (2.0 * across))
    _, cn, dn, _ = ellipj(rate * LAGRANGE_S, (u - low) / (far - low))
    return float(low + (u - low) * (cn / dn) ** 2)


def leaning(lean_rad: float, spin_radps: float) -> tuple[sim.Vehicle, sim.State]:
    """Lagrange's top, let go while it spins about its axis."""
    top = sim.vehicle(
        "heavy-top", mass=MASS, arm=(0.0, 0.0, ARM_M), inertia=LAGRANGE_INERTIA, gravity=GRAVITY
    )
    c, s = math.cos(lean_rad), math.sin(lean_rad)
    return top, top.state(R=np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]), omega=(0.0, 0.0, spin_radps))


def lagrange() -> float:
    """Height of the axis, of a unit vector."""
    top, start = leaning(LEAN_RAD, SPIN_RADPS)
    run = sim.simulate(top, "variational-6", step=STEP_S, duration=LAGRANGE_S, initial=start)
    return float(run.pose[-1, 2, 2])


def kovalevskayas() -> tuple[sim.Vehicle, sim.State]:
    """Her top, its weight across the axis."""
    top = sim.vehicle("heavy-top", mass=1.0, arm=(1.0, 0.0, 0.0), inertia=(2.0, 2.0, 1.0), gravity=3.0)
    return top, top.state(omega=(1.2, 0.7, 0.9))


def kovalevskaya() -> np.ndarray:
    """The fourth integral over 10 s in units of its start, |(p + i q)^2 - m g l (R31 + i R32) / I3|^2."""
    top, start = kovalevskayas()
    run = sim.simulate(top, "variational-6", step=STEP_S, duration=10.0, initial=start)
    p, q = run.velocity[:, 0], run.velocity[:, 1]
    up_b = run.pose[:, 2, :3]
    kept = np.abs((p + 1j * q) ** 2 - 3.0 * (up_b[:, 0] + 1j * up_b[:, 1])) ** 2
    return np.asarray(kept / kept[0])


SPUN_INERTIA, SPUN_RADPS, SPUN_S = (0.8, 0.8, 1.3), (0.4, -0.3, 6.0), 20.0


def spun_truth() -> np.ndarray:
    """(3, 3) attitude of a free symmetric body: it turns about its axis, which goes round its momentum."""
    across, _, along = SPUN_INERTIA
    L = np.array(SPUN_INERTIA) * SPUN_RADPS
    precession, own = L / across, (1.0 - along / across) * SPUN_RADPS[2]
    return np.asarray(rotation_exp(SPUN_S * precession) @ rotation_exp(np.array([0.0, 0.0, SPUN_S * own])))


def spun() -> np.ndarray:
    """(3, 3)"""
    body, start = thrown(SPUN_INERTIA, SPUN_RADPS)
    run = sim.simulate(body, "variational-6", step=5e-3, duration=SPUN_S, initial=start)
    return np.asarray(run.pose[-1, :3, :3])


THRUST_NM = 0.9


def spinning_up_truth() -> np.ndarray:
    """(3,) rad/s of a symmetric body under a torque that is fixed across it: w' = i k w + M / I, w = p + i q."""
    across, _, along = SPUN_INERTIA
    k = (1.0 - along / across) * -SPUN_RADPS[2]
    w, push = complex(*SPUN_RADPS[:2]), THRUST_NM / across
    turned = np.exp(1j * k * SPUN_S)
    w = w * turned + push * (turned - 1.0) / (1j * k)
    return np.array([w.real, w.imag, SPUN_RADPS[2]])


def weightless() -> tuple[sim.Vehicle, sim.State]:
    """A spinning body held at its centre."""
    top = sim.vehicle("heavy-top", mass=1.0, inertia=SPUN_INERTIA, gravity=0.0)
    return top, top.state(omega=SPUN_RADPS)


def spinning_up() -> np.ndarray:
    """(3,) rad/s."""
    top, start = weightless()
    run = sim.simulate(
        top, "variational-6", step=5e-3, duration=SPUN_S, initial=start, controls=[THRUST_NM, 0.0, 0.0]
    )
    return np.asarray(run.velocity[-1])


def sleeping_truth() -> float:
    """rad/s above which a top sleeps: 2 sqrt(m g l I1) / I3."""
    return 2.0 * math.sqrt(MASS * GRAVITY * ARM_M * LAGRANGE_INERTIA[0]) / LAGRANGE_INERTIA[2]


def sleeping() -> float:
    """rad/s, where two eigenvalues meet: the square of what they are apart is linear in that of the spin."""

    def squared(spin: float) -> float:
        values = sim.linearise(*leaning(0.0, spin)).eigenvalues
        own = values[np.argsort(values.imag)][:2]  # both of one sense, seen from the body that turns
        return float(((own[0] - own[1]) ** 2).real)

    low, high = (squared(spin) for spin in (15.0, 35.0))
    return float(math.sqrt(15.0**2 - low * (35.0**2 - 15.0**2) / (high - low)))


def tumbling_truth() -> float:
    """1/s: how fast a turn about the middle axis is left, Omega sqrt((I2 - I1) (I3 - I2) / (I1 I3))."""
    a, b, c = RACKET_INERTIA
    return 5.0 * math.sqrt((b - a) * (c - b) / (a * c))


def tumbling() -> float:
    """1/s."""
    return float(sim.linearise(*thrown(RACKET_INERTIA, (0.0, 5.0, 0.0))).eigenvalues.real.max())


PROBLEMS = (
    Problem(
        name="racket",
        title="A racket's flips (Dzhanibekov)",
        quantity="body angular velocity at 10 s [rad/s]",
        source="closed form, Jacobi's elliptic functions",
        truth=racket_truth,
        known_digits=13,
        ours=racket,
        step="variational-6, 1 ms",
        motion_s=RACKET_S,
        least_digits=11.0,
        peers=peers_of_free(RACKET_INERTIA, RACKET_RADPS, RACKET_S, STEP_S, lambda moved: moved[0]),
        reason="the same digits from steps of 4 to 0.5 ms: rounding, which the flips amplify",
        scene=lambda: thrown(RACKET_INERTIA, RACKET_RADPS),
    ),
    Problem(
        name="lagrange-top",
        title="Lagrange's top, nutation",
        quantity="height of the axis at 5 s [1]",
        source="closed form, Jacobi's elliptic functions",
        truth=lagrange_truth,
        known_digits=13,
        ours=lagrange,
        step="variational-6, 1 ms",
        motion_s=LAGRANGE_S,
        least_digits=12.0,
        reason="rounding of 5,000 steps",
        scene=lambda: leaning(LEAN_RAD, SPIN_RADPS),
    ),
    Problem(
        name="kovalevskaya-top",
        title="Kovalevskaya's top, fourth integral",
        quantity="|(p + iq)^2 - m g l (R31 + i R32) / I3|^2 over its start, 10 s [1]",
        source="Kovalevskaya 1889",
        truth=lambda: np.ones(1),
        known_digits=15,
        ours=kovalevskaya,
        step="variational-6, 1 ms",
        motion_s=10.0,
        least_digits=12.0,
        reason="a method keeps what Noether's theorem gives, and this integral only as its order says",
        scene=kovalevskayas,
    ),
    Problem(
        name="free-symmetric-body",
        title="A free symmetric body (Euler, Poinsot)",
        quantity="rotation matrix at 20 s [1]",
        source="closed form, regular precession",
        truth=spun_truth,
        known_digits=14,
        ours=spun,
        step="variational-6, 5 ms",
        motion_s=SPUN_S,
        least_digits=9.0,
        peers=peers_of_free(SPUN_INERTIA, SPUN_RADPS, SPUN_S, 5e-3, lambda moved: moved[1]),
        scene=lambda: thrown(SPUN_INERTIA, SPUN_RADPS),
    ),
    Problem(
        name="thruster-across",
        title="A spinning body with a thruster across its axis",
        quantity="body angular velocity at 20 s [rad/s]",
        source="closed form, Leimanis 1965",
        truth=spinning_up_truth,
        known_digits=14,
        ours=spinning_up,
        step="variational-6, 5 ms",
        motion_s=SPUN_S,
        least_digits=9.0,
        scene=weightless,
        held={"torque_x": THRUST_NM},
    ),
    Problem(
        name="sleeping-top",
        title="Speed above which a top sleeps",
        quantity="critical spin [rad/s]",
        source="closed form, Lagrange 1788",
        truth=sleeping_truth,
        known_digits=15,
        ours=sleeping,
        step="linearised",
        least_digits=9.0,
        scene=lambda: leaning(0.02, 1.05 * sleeping_truth()),
    ),
    Problem(
        name="tumbling",
        title="How fast a turn about the middle axis is left",
        quantity="growth rate [1/s]",
        source="closed form, Euler 1758",
        truth=tumbling_truth,
        known_digits=15,
        ours=tumbling,
        step="linearised",
        least_digits=12.0,
        scene=lambda: thrown(RACKET_INERTIA, (0.01, 5.0, 0.0)),
    ),
)
