"""Works out what a floating hull radiates and how waves push it: `python -m assets.scripts.radiation NAME`, with
`--states N`, `--depth M`, `--headings N`, `--bands N N N`.

It writes `radiation.json` into the vehicle's folder, from the surface by which it floats at rest in deep still water,
and `radiation-M.json` from that over a level bed M metres under the surface. Headings are ways in which waves
come, evenly about the hull.
A body of revolution whose `model.py` has `wetted(bands)`, its meridian under water, is worked out by rings of panels,
three times with ever more of them, and what comes of panels ever smaller is taken: of what is left one part goes with
their size and one with its square. Of other hulls the panels are those of `hull.obj`, divided until none is long.
Needs `capytaine` (BSD-like; it wants an older pandas than the rest, so best in an environment of its own). States are
those of each direction in which the hull may move. Run anew, panels give the same numbers; the system's are others, as
many matrices say the same, and what they say differs by less than it is off.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import least_squares

from assets.scripts.build import script_of
from sim.platform.errors import one_of
from sim.vehicle_config.config import HullMesh
from sim.vehicle_config.radiation import transfer
from sim.vehicles import known_vehicle
from sim.water.immersion import GRAVITY, WATER_DENSITY, afloat
from sim.water.ocean.waves import DEEP_M, frequency_radps, group_speed_mps, wave_number

FOLDERS = Path(__file__).resolve().parent.parent / "vehicles"
DOFS = ("Roll", "Pitch", "Yaw", "Surge", "Sway", "Heave")
"""Torque before force."""
LARGEST_KA, STEPS = 9.0, 40
"""Wave number times half the hull's length at the highest frequency, and how many frequencies there are."""
LEAST_KD = 0.25
"""Wave number times depth under which capytaine may find no Green's function."""
STATES, HEADINGS = 12, 24
BANDS = (16, 24, 32)
"""Of panels from the waterline down, four times as many around."""
Meridian = Callable[[int], list[tuple[float, float]]]
LONGEST = 0.14
"""Of half the hull's length, an edge of a panel: a fifth of the shortest waves."""
_COUPLED = 1e-2
"""Of the roots of the diagonals: less is taken for nothing."""
_FELT = 0.05
"""Of the root of the strongest damping of its kind: what a way of moving has to have, else it radiates nothing."""
_WEAK = 1e-3
"""Of the damping of a group's strongest way of moving: what is weaker is left out."""
_BEGINNINGS = 2


def main() -> None:
    """Work it out, fit it and write it."""
    asked = argparse.ArgumentParser()
    asked.add_argument("name")
    asked.add_argument("--states", type=int, default=STATES)
    asked.add_argument("--depth", type=float, default=DEEP_M)
    asked.add_argument("--headings", type=int, default=HEADINGS)
    asked.add_argument("--bands", type=int, nargs="+", default=BANDS)
    told = asked.parse_args()
    folder, depth_m = FOLDERS / told.name, told.depth
    if find_spec("capytaine") is None:
        asked.error('needs capytaine, which is not there; pip install "holonomy[hydrodynamics]"')
    if not (folder / "hull.obj").is_file():
        floats = sorted(file.parent.name for file in FOLDERS.glob("*/hull.obj"))
        asked.error(f"{told.name} has no hull.obj in its folder; allowed: {one_of(floats, told.name)}")
    hull = HullMesh.read(folder / "hull.obj")
    mass_kg = float(np.max(known_vehicle(told.name).values["mass"]))
    meridian = getattr(script_of(folder), "wetted", None)
    parts = panelled(hull, mass_kg) if meridian is None else turned(hull, mass_kg, meridian, told.bands)
    half_m = 0.5 * float(np.ptp(hull.vertices[:, 0]))
    omega, added, damping, at_once, excited = flow(
        parts, half_m, np.inf if depth_m >= DEEP_M else depth_m, told.headings
    )
    print("Haskind's relation off by", np.round(taken(omega, depth_m, excited, damping), 5).tolist())
    F, G = fitted(omega, damping + 1j * omega[:, None, None] * (added - at_once), told.states)
    file = {
        "by": "capytaine 3.0.0, direct method",
        "depth_m": depth_m,
        "omega_radps": seven_digits(omega),
        "added": seven_digits(added),
        "damping": seven_digits(damping),
        "added_at_once": seven_digits(at_once),
        "F": F.tolist(),
        "G": G.tolist(),
        "excited": seven_digits(np.stack([excited.real, excited.imag], axis=-1)),
    }
    name = "radiation.json" if depth_m >= DEEP_M else f"radiation-{depth_m:g}.json"
    (folder / name).write_text(json.dumps(file) + "\n", encoding="utf-8")


def seven_digits(array: np.ndarray) -> list[object]:
    """Of each number, for a file."""
    return np.vectorize(lambda x: float(f"{x:.7g}"))(array).tolist()  # type: ignore[no-any-return]


def panelled(hull: HullMesh, mass_kg: float) -> list[tuple[float, Any]]:
    """A weight of 1, and the body of capytaine that floats by a hull's own surface."""
    import capytaine as bem

    rests = afloat(hull, mass_kg)
    longest_m = LONGEST * 0.5 * float(np.ptp(hull.vertices[:, 0]))
    points, triangles = divided(
        hull.vertices @ rests[:3, :3].T + rests[:3, 3], np.asarray(hull.triangles), longest_m
    )
    mesh = bem.Mesh(vertices=points, faces=np.insert(triangles, 3, triangles[:, 0], axis=1)).immersed_part()
    return [(1.0, _body(mesh, mesh.generate_lid(), rests[:3, 3]))]


def divided(points: np.ndarray, triangles: np.ndarray, longest_m: float) -> tuple[np.ndarray, np.ndarray]:
    """The same surface, corners (n, 3) and triangles (m, 3), with none whose edges are longer: each is halved across
    its longest edge until then."""
    while True:
        lengths = np.linalg.norm(points[triangles] - points[np.roll(triangles, -1, axis=1)], axis=-1)
        turn = (lengths.argmax(axis=1)[:, None] + np.arange(3)) % 3
        a, b, c = np.take_along_axis(triangles, turn, axis=1).T
        long = lengths.max(axis=1) > longest_m
        if not long.any():
            return points, triangles
        edges, which = np.unique(np.sort(np.stack([a, b], 1)[long], axis=1), axis=0, return_inverse=True)
        middle = len(points) + which.ravel()
        points = np.concatenate([points, points[edges].mean(axis=1)])
        halves = [np.stack([a[long], middle, c[long]], 1), np.stack([middle, b[long], c[long]], 1)]
        triangles = np.concatenate([np.stack([a, b, c], 1)[~long], *halves])


def turned(
    hull: HullMesh, mass_kg: float, meridian: Meridian, bands: Sequence[int]
) -> list[tuple[float, Any]]:
    """Bodies of revolution of ever smaller panels, and the weights by which what holds of them is taken together."""
    size = 1.0 / np.array(bands)
    weights = np.linalg.solve(np.array([size**k for k in range(len(bands))]), np.eye(len(bands))[0])
    origin = afloat(hull, mass_kg)[:3, 3]
    return [
        (float(weight), _revolved(np.array(meridian(count)), 4 * count, mass_kg / WATER_DENSITY, origin))
        for weight, count in zip(weights, bands, strict=True)
    ]


def _revolved(points: np.ndarray, sides: int, volume_m3: float, origin_w: np.ndarray) -> Any:
    """The body whose meridian goes through points (n, 2), radius and height, as large as it takes to displace that."""
    turn = 2.0 * np.pi / sides
    r, z = points[:, 0], points[:, 1] - points[0, 1]
    held = 0.5 * sides * np.sin(turn) / 3.0 * float(-np.diff(z) @ (r[:-1] ** 2 + r[:-1] * r[1:] + r[1:] ** 2))
    larger = (volume_m3 / held) ** (1.0 / 3.0)
    r, z = larger * r, larger * z
    inner = np.linspace(r[0], 0.0, round(2.0 / np.pi * len(r)) + 1)
    return _body(_wedges(r, z, sides, -1.0), _wedges(inner, np.zeros(len(inner)), sides, -1.0), origin_w)


def _wedges(r: np.ndarray, z: np.ndarray, sides: int, down: float) -> Any:
    """Rings of panels about the vertical, whose normals point `down` on the whole."""
    import capytaine as bem

    angles = 2.0 * np.pi / sides * np.arange(2)
    corners = np.stack([np.outer(r, np.cos(angles)), np.outer(r, np.sin(angles)), np.stack([z, z], 1)], -1)
    k = 2 * np.arange(len(r) - 1)
    faces = np.stack([k, k + 2, k + 3, k + 1], axis=-1)
    wedge = bem.Mesh(vertices=corners.reshape(-1, 3), faces=faces)
    if down * (wedge.faces_normals[:, 2] @ wedge.faces_areas) > 0.0:
        return bem.RotationSymmetricMesh(wedge, n=sides, axis="z+")
    return bem.RotationSymmetricMesh(
        bem.Mesh(vertices=corners.reshape(-1, 3), faces=faces[:, ::-1]), n=sides, axis="z+"
    )


def _body(mesh: Any, lid: Any, origin_w: np.ndarray) -> Any:
    import capytaine as bem

    origin = tuple(origin_w)
    return bem.FloatingBody(
        mesh, lid_mesh=lid, dofs=bem.rigid_body_dofs(rotation_center=origin), center_of_mass=origin
    )


def flow(
    parts: list[tuple[float, Any]], half_m: float, depth_m: float, headings: int
) -> tuple[np.ndarray, ...]:
    """Frequencies (m,) [rad/s], A and B (m, 6, 6) there, and A at once (6, 6), of a hull of half such a length, as
    weights of several bodies have it.

    Then what waves of height 1 do to it when it is held, (m, headings, 6) complex, by their own pressure and by that of
    the waves which it scatters. depth_m: of a level bed, or inf.
    """
    last = np.sqrt(LARGEST_KA * GRAVITY / half_m)
    first = max(
        last / STEPS, float(frequency_radps(LEAST_KD / depth_m, depth_m)) if depth_m < DEEP_M else 0.0
    )
    omega = np.linspace(first, last, STEPS)
    A, B = np.zeros((2, STEPS + 1, 6, 6))
    forces = np.zeros((STEPS, headings, 6), complex)
    for at, w in enumerate((*omega, np.inf)):
        for weight, body in parts:
            radiated, pushed = _at_frequency(body, float(w), depth_m, headings)
            A[at] += weight * radiated.real
            B[at] += weight * radiated.imag
            if np.isfinite(w):
                forces[at] += weight * pushed
        print(f"{w:.3f} rad/s", flush=True)
    added, damping, at_once = _clean(A[:-1], B[:-1], A[-1])
    # Haskind: waves do nothing where no waves are sent out.
    return omega, added, damping, at_once, forces * (np.einsum("kii->ki", damping) > 0.0)[:, None]


@cache
def _solver(decomposition: str) -> Any:
    import capytaine as bem

    return bem.BEMSolver(green_function=bem.Delhommeau(finite_depth_prony_decomposition_method=decomposition))


def _at_frequency(body: Any, w: float, depth_m: float, headings: int) -> tuple[np.ndarray, np.ndarray]:
    """A + i B (6, 6) of a body, and what waves of height 1 do to it (headings, 6), none at infinite frequency."""
    import capytaine as bem
    from capytaine.bem.airy_waves import froude_krylov_force

    # Over a bed the decomposition in Fortran has no outliers; at infinite frequency it is not to be had.
    solver = _solver("python" if np.isinf(w) else "fortran")
    around = {"body": body, "omega": w, "water_depth": depth_m, "rho": WATER_DENSITY, "g": GRAVITY}
    found, forces = np.zeros((6, 6), complex), np.zeros((headings, 6), complex)
    for column, dof in enumerate(DOFS):
        answer = solver.solve(bem.RadiationProblem(radiating_dof=dof, **around), method="direct")
        for row, felt in enumerate(DOFS):
            found[row, column] = complex(answer.added_masses[felt], answer.radiation_dampings[felt])
    for column in range(headings if np.isfinite(w) else 0):
        come = bem.DiffractionProblem(wave_direction=2.0 * np.pi * column / headings, **around)
        pressed, scattered = froude_krylov_force(come), solver.solve(come, method="direct").forces
        forces[column] = [pressed[dof] + scattered[dof] for dof in DOFS]
    return 0.5 * (found + found.T), forces


def taken(omega: np.ndarray, depth_m: float, forces: np.ndarray, damping: np.ndarray) -> np.ndarray:
    """(6,) by how much damping (m, 6, 6) is off from what forces (m, headings, 6) say, over the largest damping."""
    k = np.array([wave_number(float(w), depth_m) for w in omega])
    scale = k / (4.0 * WATER_DENSITY * GRAVITY * group_speed_mps(k, depth_m))
    own = np.einsum("kii->ki", damping)
    off = np.abs(scale[:, None] * (np.abs(forces) ** 2).mean(axis=1) - own).max(axis=0)
    return off / np.maximum(own.max(axis=0), 1e-300)


def _clean(
    added: np.ndarray, damping: np.ndarray, at_once: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same without what the hull's symmetry says to be nothing, and panels do not."""
    size = np.sqrt(np.einsum("kii->ki", damping).max(axis=0).clip(0.0))
    radiates = size > _FELT * np.repeat([size[:3].max(), size[3:].max()], 3)
    kept = np.abs(damping).max(axis=0) > _COUPLED * np.outer(size, size)
    kept = (kept | np.eye(6, dtype=bool)) & np.outer(radiates, radiates)
    at_once = at_once * (kept | np.eye(6, dtype=bool))
    return np.where(kept, added, at_once), damping * kept, at_once


def fitted(omega: np.ndarray, exact: np.ndarray, states: int) -> tuple[np.ndarray, np.ndarray]:
    """F (n, n) and G (n, 6) of a passive system near to exact (m, 6, 6), directions that couple taken together."""
    size = np.abs(exact).max(axis=0)
    left, systems = [k for k in range(6) if size[k, k] > 0.0], []
    while left:
        group = [left.pop(0)]
        for k in group:
            group += [j for j in left if size[k, j] > 0.0]
            left = [j for j in left if j not in group]
        F, G = _fitted_group(omega, exact[:, group][:, :, group], states)
        wide = np.zeros((len(F), 6))
        wide[:, group] = G
        systems.append((F, wide))
        error = (
            np.abs(transfer(F, G, omega) - exact[:, group][:, :, group]).max(axis=0) / size[group][:, group]
        )
        print([DOFS[k] for k in group], "off by", np.round(error, 5).tolist())
    n = sum(len(F) for F, _ in systems)
    F, G, at = np.zeros((n, n)), np.zeros((n, 6)), 0
    for own, wide in systems:
        F[at : at + len(own), at : at + len(own)], G[at : at + len(own)] = own, wide
        at += len(own)
    return F, G


def _fitted_group(omega: np.ndarray, exact: np.ndarray, states: int) -> tuple[np.ndarray, np.ndarray]:
    """As `fitted`, all of it coupled; in units in which frequencies and forces are of order one."""
    slow = omega[np.argmax(np.abs(np.einsum("kii->k", exact)))]
    unit = np.sqrt(np.abs(np.einsum("kii->ki", exact)).max(axis=0) / slow)
    wanted = exact / (np.outer(unit, unit) * slow)
    strength, ways = np.linalg.eigh(wanted.real.sum(axis=0))
    ways = ways[:, strength > _WEAK * strength[-1]]  # a sphere sways and rolls as one
    wanted = ways.T @ wanted @ ways
    ports = ways.shape[1]
    n = states * ports
    upper = np.triu_indices(n, 1)
    lower = np.tril_indices(n)

    def system(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        S, L = np.zeros((n, n)), np.zeros((n, n))
        S[upper], L[lower] = x[: len(upper[0])], x[len(upper[0]) : len(upper[0]) + len(lower[0])]
        return S - S.T - L @ L.T, x[-n * ports :].reshape(n, ports)

    def off(x: np.ndarray) -> np.ndarray:
        gap = transfer(*system(x), omega / slow) - wanted
        return np.concatenate([gap.real.ravel(), gap.imag.ravel()])

    def slopes(x: np.ndarray) -> np.ndarray:
        F, G = system(x)
        L = np.zeros((n, n))
        L[lower] = x[len(upper[0]) : len(upper[0]) + len(lower[0])]
        resolvent = np.linalg.inv(1j * (omega / slow)[:, None, None] * np.eye(n) - F)
        left, right = G.T @ resolvent, resolvent @ G
        by_F = np.einsum("mai,mjb->mabij", left, right)
        by_S = by_F - np.swapaxes(by_F, 3, 4)
        by_L = -np.einsum("mabik,kj->mabij", by_F + np.swapaxes(by_F, 3, 4), L)
        by_G = np.einsum("mai,bj->mabij", left, np.eye(ports)) + np.einsum(
            "mib,aj->mabij", right, np.eye(ports)
        )
        columns = (
            by_S[..., upper[0], upper[1]],
            by_L[..., lower[0], lower[1]],
            by_G.reshape(*by_G.shape[:3], -1),
        )
        J = np.concatenate(columns, axis=-1).reshape(-1, len(x))
        return np.concatenate([J.real, J.imag])

    best = None
    for seed in range(_BEGINNINGS):
        random = np.random.default_rng(seed)
        S, L, G = np.zeros((n, n)), 0.02 * random.standard_normal((n, n)), np.zeros((n, ports))
        middles = np.geomspace(0.5, 2.5, (states + 1) // 2) * random.uniform(0.8, 1.25)
        for k in range(0, n - 1, 2):
            S[k, k + 1] = middles[(k // 2) % len(middles)]
            L[k, k] = 0.8
            G[k, (k // 2) // len(middles) % ports] = 0.6
        G += 0.05 * random.standard_normal(G.shape)
        begun = np.concatenate([S[upper], L[lower], G.ravel()])
        found = least_squares(off, begun, slopes, max_nfev=200)
        if best is None or found.cost < best.cost:
            best = found
    assert best is not None
    F, G = system(best.x)
    return F * slow, G @ ways.T * unit * slow


if __name__ == "__main__":
    main()
