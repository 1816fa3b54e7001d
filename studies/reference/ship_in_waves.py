"""A hull of a container ship's main dimensions in head waves: heave and pitch by panels.

`python -m studies.reference.ship_in_waves` prints what the ledger keeps. It needs `capytaine` (BSD-like; best in an
environment of its own). Two grids tell how many digits are known. What steps know of the hull is by the coarser one:
`python -m assets.scripts.ship_radiation`.
"""

from typing import Any

import numpy as np

LENGTH_M, BEAM_M, DRAFT_M, MIDSHIP = 6.0702, 0.8498, 0.2850, 0.985
WATERLINE, AREAS = 4.56, 1.945
"""Powers of the distance from amidships over half the length, by which half breadths and areas of sections fall."""
SPEED_MPS, GYRADIUS, DENSITY, GRAVITY = 2.017, 0.25, 1000.0, 9.81
WAVES_M = np.array([3.949, 5.164, 6.979, 8.321, 11.840])
GRIDS = ((40, 8), (56, 11))
"""Panels along the hull and down each side."""


def section(along: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Half breadth [m] at the waterline, and by which power of depth over draft it falls, at places from -1 to 1."""
    half = 0.5 * BEAM_M * (1.0 - np.abs(along) ** WATERLINE)
    fullness = MIDSHIP * 0.5 * BEAM_M * (1.0 - np.abs(along) ** AREAS) / half
    return half, fullness / (1.0 - fullness)


def displaced_m3() -> float:
    """By the areas of its sections."""
    return MIDSHIP * BEAM_M * DRAFT_M * LENGTH_M * AREAS / (AREAS + 1.0)


def stiffness() -> np.ndarray:
    """(2,) of heave [N/m] and pitch [N m], the centre of mass being in the waterline and that of buoyancy below it."""
    x = np.linspace(-1.0, 1.0, 4001)
    half, power = section(np.clip(x, -0.999999, 0.999999))
    place = 0.5 * LENGTH_M * x
    below = 2.0 * half * DRAFT_M**2 * power / (2.0 * (power + 2.0))
    parts = 2.0 * half, 2.0 * half * place**2 - below
    return DENSITY * GRAVITY * np.array([np.trapezoid(part, place) for part in parts])


def frequencies() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(5,) each: wave numbers [1/m], frequencies and those of encounter [rad/s]."""
    k = 2.0 * np.pi / WAVES_M
    omega = np.sqrt(GRAVITY * k)
    return k, omega, omega + k * SPEED_MPS


def panels(along: int, down: int) -> tuple[np.ndarray, np.ndarray]:
    """Corners (n, 3) [m] and faces (m, 4) of the hull below the waterline."""
    places = np.clip(-np.cos(np.linspace(0.0, np.pi, along + 1)), -0.9995, 0.9995)
    depth = np.sin(np.linspace(0.0, 0.5 * np.pi, down + 1))
    half, power = section(places)
    y = half[:, None] * (1.0 - depth[None, :] ** power[:, None])
    x, z = np.meshgrid(0.5 * LENGTH_M * places, -DRAFT_M * depth, indexing="ij")
    corners = [np.stack([x, side * y, z], axis=-1).reshape(-1, 3) for side in (1.0, -1.0)]
    k = np.arange((along + 1) * (down + 1)).reshape(along + 1, down + 1)
    left = np.stack([k[:-1, :-1], k[1:, :-1], k[1:, 1:], k[:-1, 1:]], axis=-1).reshape(-1, 4)
    return np.concatenate(corners), np.concatenate([left, left[:, ::-1] + k.size])


def floating(along: int, down: int) -> Any:
    """The hull as a body of capytaine; panels across its waterplane, half as many as down a side, keep the water inside
    from swinging, without which damping in pitch is off by half at the frequency of the shortest wave."""
    import capytaine as bem

    corners, faces = (part[: len(part) // 2] for part in panels(along, down))
    rim, rows = corners.reshape(along + 1, down + 1, 3)[:, :1], down // 2
    lid = rim * np.stack([np.ones(rows + 1), np.linspace(1.0, 0.0, rows + 1), np.zeros(rows + 1)], axis=-1)
    k = np.arange((along + 1) * (rows + 1)).reshape(along + 1, rows + 1)
    across = np.stack([k[:-1, :-1], k[1:, :-1], k[1:, 1:], k[:-1, 1:]], axis=-1).reshape(-1, 4)

    def halves(points: np.ndarray, quads: np.ndarray) -> Any:
        mesh = bem.Mesh(vertices=points, faces=quads)
        if mesh.faces_normals[:, 2] @ mesh.faces_areas > 0.0:
            mesh = bem.Mesh(vertices=points, faces=quads[:, ::-1])
        return bem.ReflectionSymmetricMesh(mesh, plane="xOz")

    return bem.FloatingBody(
        halves(corners, faces),
        lid_mesh=halves(lid.reshape(-1, 3), across),
        dofs=bem.rigid_body_dofs(rotation_center=(0, 0, 0)),
        center_of_mass=(0, 0, 0),
    )


def motions(along: int, down: int) -> tuple[np.ndarray, np.ndarray]:
    """(5, 4) what it radiates, and (5, 2) heave over height and pitch over slope of the waves."""
    import capytaine as bem
    from capytaine.bem.airy_waves import froude_krylov_force

    ways, body = ("Heave", "Pitch"), floating(along, down)
    stiff = np.diag(stiffness())
    mass = DENSITY * displaced_m3() * np.diag([1.0, (GYRADIUS * LENGTH_M) ** 2])
    solver, radiated, found = bem.BEMSolver(), [], []
    for k, omega, met in zip(*frequencies(), strict=True):
        A, B = np.zeros((2, 2)), np.zeros((2, 2))
        for column, way in enumerate(ways):
            answer = solver.solve(
                bem.RadiationProblem(body=body, radiating_dof=way, omega=met, rho=DENSITY, g=GRAVITY)
            )
            A[:, column] = [answer.added_masses[each] for each in ways]
            B[:, column] = [answer.radiation_dampings[each] for each in ways]
        come = bem.DiffractionProblem(
            body=body, omega=omega, wave_direction=np.pi, rho=DENSITY, g=GRAVITY, forward_speed=SPEED_MPS
        )
        scattered, pressed = solver.solve(come).forces, froude_krylov_force(come)
        force = np.array([scattered[way] + pressed[way] for way in ways])
        radiated.append((A[0, 0], B[0, 0], A[1, 1], B[1, 1]))
        # Pitch lowers the bow; terms of speed.
        a, b, U = A[0, 0], B[0, 0], SPEED_MPS
        A = A + np.array([[0.0, -U / met**2 * b], [U / met**2 * b, (U / met) ** 2 * a]])
        B = B + np.array([[0.0, U * a], [-U * a, (U / met) ** 2 * b]])
        moved = np.linalg.solve(stiff - met**2 * (mass + A) - 1j * met * B, force)
        found.append((abs(moved[0]), abs(moved[1]) / k))
    return np.array(radiated), np.array(found)


def main() -> None:
    """Of both grids."""
    for grid in GRIDS:
        radiated, found = motions(*grid)
        print(grid, "heave", found[:, 0].round(3).tolist(), "pitch", found[:, 1].round(3).tolist())
        print([[float(f"{x:.5g}") for x in row] for row in radiated])


if __name__ == "__main__":
    main()
