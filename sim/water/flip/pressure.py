"""The linear system that takes divergence out of the water: a row for each full cell, the surface between cells.

Unknowns are p dt / (rho cell^2) [1/s], so that a face's velocity [cells/s] changes by the difference of its cells.
Where a full cell meets an empty one, pressure vanishes at the surface between their centres, where the density passes
one half (ghost fluid: F. Gibou et al. 2002), not at the next centre.
"""

import numpy as np

from sim.compiled import allocating_nothing

FULL = 0.5
"""A cell with at least this density is water."""
_NEAREST = 0.1
"""The surface is taken no nearer to a centre than this share of a cell: the row would be too stiff."""
_LEAST_OPEN = 0.05
_SPREADING = 0.25
"""Share of a cell's surplus of particles that a step's flow out of it takes away ..."""
_SLACK = 0.05
"""... beyond this much, which chance makes."""
_MOST_SURPLUS = 0.5


@allocating_nothing
def surface_share(full: np.float32, empty: np.float32) -> np.float32:
    """How far from the full cell's centre the surface is on the way to the empty one's."""
    share = (full - np.float32(FULL)) / (full - empty)
    return min(max(share, np.float32(_NEAREST)), np.float32(1.0))


@allocating_nothing
def assemble(
    density: np.ndarray,
    faces: np.ndarray,
    blocked: np.ndarray,
    dt: np.float32,
    diagonal: np.ndarray,
    inverse: np.ndarray,
    links: tuple[np.ndarray, np.ndarray, np.ndarray],
    right: np.ndarray,
) -> None:
    """diagonal, links (to the lower neighbour along x, y, z), right side: all (nz + 2, ny + 2, nx + 2) float32.

    The right side takes the velocity of the water through what is open; the body's own share is added by its columns.
    """
    nz, ny, nx = density.shape
    one, none = np.float32(1.0), np.float32(0.0)
    along_x, along_y, along_z = links
    for k in range(1, nz - 1):
        for j in range(1, ny - 1):
            for i in range(1, nx - 1):
                diagonal[k, j, i] = none
                inverse[k, j, i] = none
                right[k, j, i] = none
                along_x[k, j, i] = none
                along_y[k, j, i] = none
                along_z[k, j, i] = none
                here = density[k, j, i]
                if here < FULL:
                    continue
                left, far_right = one - blocked[0, k, j, i], one - blocked[0, k, j, i + 1]
                near, far = one - blocked[1, k, j, i], one - blocked[1, k, j + 1, i]
                low, top = one - blocked[2, k, j, i], one - blocked[2, k + 1, j, i]
                divergence = far_right * faces[0, k, j, i + 1] - left * faces[0, k, j, i]
                divergence += far * faces[1, k, j + 1, i] - near * faces[1, k, j, i]
                divergence += top * faces[2, k + 1, j, i] - low * faces[2, k, j, i]
                left = none if i == 1 else left
                far_right = none if i == nx - 2 else far_right
                near = none if j == 1 else near
                far = none if j == ny - 2 else far
                low = none if k == 1 else low
                top = none if k == nz - 2 else top
                if left + far_right + near + far + low + top < _LEAST_OPEN:
                    continue
                total, within = none, True
                for side in range(6):
                    if side == 0:
                        share, there = left, density[k, j, i - 1]
                    elif side == 1:
                        share, there = far_right, density[k, j, i + 1]
                    elif side == 2:
                        share, there = near, density[k, j - 1, i]
                    elif side == 3:
                        share, there = far, density[k, j + 1, i]
                    elif side == 4:
                        share, there = low, density[k - 1, j, i]
                    else:
                        share, there = top, density[k + 1, j, i]
                    if there < FULL and share > none:
                        share = share / surface_share(here, there)
                        within = False
                    total += share
                surplus = here - one
                if surplus > _SLACK:
                    surplus = min(surplus - np.float32(_SLACK), np.float32(_MOST_SURPLUS))
                elif surplus < -_SLACK and within:
                    surplus = max(surplus + np.float32(_SLACK), np.float32(-_MOST_SURPLUS))
                else:
                    surplus = none
                diagonal[k, j, i] = total
                inverse[k, j, i] = one / total
                right[k, j, i] = np.float32(_SPREADING) * surplus / dt - divergence
                along_x[k, j, i] = left if density[k, j, i - 1] >= FULL else none
                along_y[k, j, i] = near if density[k, j - 1, i] >= FULL else none
                along_z[k, j, i] = low if density[k - 1, j, i] >= FULL else none
    # A neighbour that has no room of its own has no row.
    for k in range(1, nz - 1):
        for j in range(1, ny - 1):
            for i in range(1, nx - 1):
                if diagonal[k, j, i] == none:
                    continue
                if diagonal[k, j, i - 1] == none:
                    along_x[k, j, i] = none
                if diagonal[k, j - 1, i] == none:
                    along_y[k, j, i] = none
                if diagonal[k - 1, j, i] == none:
                    along_z[k, j, i] = none


@allocating_nothing
def release(
    density: np.ndarray,
    diagonal: np.ndarray,
    blocked: np.ndarray,
    pressure: np.ndarray,
    faces: np.ndarray,
    valid: np.ndarray,
) -> None:
    """Change the faces' velocities by the pressure, and mark as known those that water moves through."""
    nz, ny, nx = density.shape
    one, none = np.float32(1.0), np.float32(0.0)
    for c in range(3):
        a, b, d = int(c == 2), int(c == 1), int(c == 0)
        for k in range(1 + a, nz - 1):
            for j in range(1 + b, ny - 1):
                for i in range(1 + d, nx - 1):
                    lower_wet = diagonal[k - a, j - b, i - d] > none
                    upper_wet = diagonal[k, j, i] > none
                    open_share = one - blocked[c, k, j, i]
                    if open_share < _LEAST_OPEN:
                        valid[c, k, j, i] = 0
                        continue
                    if not (lower_wet or upper_wet):
                        continue
                    lower, upper = pressure[k - a, j - b, i - d], pressure[k, j, i]
                    if lower_wet and upper_wet:
                        faces[c, k, j, i] -= upper - lower
                    elif lower_wet:
                        there = density[k, j, i]
                        share = surface_share(density[k - a, j - b, i - d], there) if there < FULL else one
                        faces[c, k, j, i] += lower / share
                    else:
                        there = density[k - a, j - b, i - d]
                        share = surface_share(density[k, j, i], there) if there < FULL else one
                        faces[c, k, j, i] -= upper / share
                    valid[c, k, j, i] = 1
