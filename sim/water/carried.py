"""Water that goes along with a hull: by how much it changes the motion, and what motion the sea has about all of it.

Of all motions of a rigid body that is the one which is nearest to the water's over the wetted surface, by the square of
the difference, summed over the area. A hull that is small beside the waves has the water's velocity where it is; along
a long one they cancel. So relative motion has its diffraction, too: that the added mass of sections along a ship goes
with the water of each of them (N. Salvesen, E. O. Tuck, O. Faltinsen, "Ship motions and sea loads", 1970).
"""

import math

import numpy as np

from sim.native.function import native

_DEPTH, _VELOCITY = 3, 4


@native
def wetted_areas(rows: np.ndarray, triangles: np.ndarray, areas: np.ndarray) -> None:
    """Write the part of the wetted area that is each vertex's, areas (n,) [m^2]; rows as `VERTEX_WIDTH` says.

    A vertex gets wet over a depth as long as its patches are wide, so that nothing jumps.
    """
    areas[:] = 0.0
    for corners in triangles:
        a, b, c = rows[corners[0]], rows[corners[1]], rows[corners[2]]
        ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
        vx, vy, vz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
        nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        third = math.sqrt(nx * nx + ny * ny + nz * nz) / 6.0
        for k in range(3):
            areas[corners[k]] += third
    for k in range(len(areas)):
        width = math.sqrt(areas[k])
        if width > 0.0:
            areas[k] *= min(max(0.5 + rows[k, _DEPTH] / width, 0.0), 1.0)


@native
def nearest_motion(rows: np.ndarray, areas: np.ndarray, motion: np.ndarray) -> None:
    """Write the rigid motion (omega, velocity of the origin), world axes, that is nearest to the water's."""
    total = 0.0
    middle, mean, spin = np.zeros(3), np.zeros(3), np.zeros(3)
    for k in range(len(areas)):
        total += areas[k]
        for i in range(3):
            middle[i] += areas[k] * rows[k, i]
            mean[i] += areas[k] * rows[k, _VELOCITY + i]
    motion[:] = 0.0
    if total <= 0.0:
        return
    for i in range(3):
        middle[i] /= total
        mean[i] /= total
    second = np.zeros((3, 3))
    for k in range(len(areas)):
        x, y, z = rows[k, 0] - middle[0], rows[k, 1] - middle[1], rows[k, 2] - middle[2]
        u, v, w = (
            rows[k, _VELOCITY] - mean[0],
            rows[k, _VELOCITY + 1] - mean[1],
            rows[k, _VELOCITY + 2] - mean[2],
        )
        area = areas[k]
        spin[0] += area * (y * w - z * v)
        spin[1] += area * (z * u - x * w)
        spin[2] += area * (x * v - y * u)
        second[0, 0] += area * (y * y + z * z)
        second[1, 1] += area * (z * z + x * x)
        second[2, 2] += area * (x * x + y * y)
        second[0, 1] -= area * x * y
        second[1, 2] -= area * y * z
        second[2, 0] -= area * z * x
    xx, yy, zz = second[0, 0], second[1, 1], second[2, 2]
    xy, yz, zx = second[0, 1], second[1, 2], second[2, 0]
    # Cramer's rule; what lies in a line turns about it not at all
    a, b, c = yy * zz - yz * yz, yz * zx - xy * zz, xy * yz - yy * zx
    determinant = xx * a + xy * b + zx * c
    if determinant > 1e-12 * (xx + yy + zz) ** 3:
        d, e, f = zz * xx - zx * zx, zx * xy - yz * xx, xx * yy - xy * xy
        motion[0] = (a * spin[0] + b * spin[1] + c * spin[2]) / determinant
        motion[1] = (b * spin[0] + d * spin[1] + e * spin[2]) / determinant
        motion[2] = (c * spin[0] + e * spin[1] + f * spin[2]) / determinant
    motion[3] = mean[0] - motion[1] * middle[2] + motion[2] * middle[1]
    motion[4] = mean[1] - motion[2] * middle[0] + motion[0] * middle[2]
    motion[5] = mean[2] - motion[0] * middle[1] + motion[1] * middle[0]


@native
def _add_cross(by: float, a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """out += by (a x b)."""
    out[0] += by * (a[1] * b[2] - a[2] * b[1])
    out[1] += by * (a[2] * b[0] - a[0] * b[2])
    out[2] += by * (a[0] * b[1] - a[1] * b[0])


@native
def carry_along(
    added: np.ndarray,
    inertia: np.ndarray,
    h: float,
    stream: np.ndarray,
    rate: np.ndarray,
    twist: np.ndarray,
) -> None:
    """Change a twist by what the water that goes along does in h beyond what its inertia at rest says.

    Kirchhoff's equations hold for the velocity through the water, those of the vehicle for the velocity over ground.
    stream (6,): the motion of the water, body axes; rate (6,): its change, of its turning what the hull meets of it.
    """
    omega, v, mass = twist[:3], twist[3:], added[3:]
    stream_b, rate_b = stream[3:], rate[3:]
    through, carried, torque = np.empty(3), np.empty(3), np.zeros(3)
    for k in range(3):
        through[k] = v[k] - stream_b[k]
        carried[k] = mass[k] * through[k]
    _add_cross(1.0, carried, through, torque)
    for k in range(3):
        carried[k] = mass[k] * v[k]
    _add_cross(-1.0, carried, v, torque)
    for k in range(3):
        torque[k] += added[k] * rate[k]
    for k in range(3):
        omega[k] += h * torque[k] / inertia[k]
    turning, force = np.zeros(3), np.zeros(3)
    _add_cross(1.0, omega, stream_b, turning)
    for k in range(3):
        force[k] = mass[k] * (rate_b[k] - turning[k])
        carried[k] = mass[k] * stream_b[k]
    _add_cross(-1.0, carried, omega, force)
    for k in range(3):
        v[k] += h * force[k] / inertia[3 + k]


@native
def turn_momentum(
    momentum: np.ndarray, state: np.ndarray, stream: np.ndarray, damping: np.ndarray, load: np.ndarray
) -> None:
    """Have the momentum of the radiated waves be turned and carried on by the hull that they go along with (Kirchhoff):
    force p x omega and torque L x omega + p x v, which do no work."""
    L, p = np.zeros(3), np.zeros(3)
    for i in range(len(state)):
        for k in range(3):
            L[k] += momentum[k, i] * state[i]
            p[k] += momentum[3 + k, i] * state[i]
    turning = np.zeros((6, 6))
    for k in range(3):
        a, b = (k + 1) % 3, (k + 2) % 3
        turning[b, a], turning[a, b] = L[k], -L[k]
        turning[b, 3 + a], turning[a, 3 + b] = p[k], -p[k]
        turning[3 + b, a], turning[3 + a, b] = p[k], -p[k]
    for k in range(6):
        for j in range(6):
            damping[k, j] -= turning[k, j]
            load[k] -= turning[k, j] * stream[j]
