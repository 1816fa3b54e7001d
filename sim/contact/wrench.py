"""Contact of one rigid body with the ground, as an impulse spread over a step.

Once a step, the twist that the body would have without contact is corrected so that no contact
point moves into the ground: a point that is a gap away may close that gap within the step but not
more, a touching point may not approach, and each point's tangential impulse keeps within its
Coulomb cone, stopping the point where it can (Moreau's sweeping process in the velocity form of
Jean: M. Jean, "The non-smooth contact dynamics method", 1999). The impulses come from Newton's
method, and from projected Gauss-Seidel sweeps over the points where that finds none. There is no
spring, hence no stiffness that would bound the step: the same law holds from a millisecond to half
a second. With zero restitution the impulse takes kinetic energy out and never adds any, except the
slow push that lifts a sunk point out again.

"""

import numpy as np

from sim.contact.rows import (
    AIM,
    FIRST,
    GAP,
    IMPULSE,
    POINT,
    SECOND,
    all_finite,
    face_rows,
    point_velocity,
    put,
    respond_along_ground,
    seek_rows,
    touch_speed,
    world_step,
)
from sim.contact.solver import EQUATIONS, SOLVED_WIDTH, law_missed, solve_by_newton, solve_rows
from sim.environment.environment import BORNE, NONE_BORNE, TOLD
from sim.native.function import inline_fastmath

SPEED = SOLVED_WIDTH
"""Column of a row: speed of the touch [m/s]."""
SLIP = SPEED + 1
"""Column of a row: speed along the ground after the step's impulses [m/s]."""
WORKSPACE_WIDTH = SLIP + 1
SPARE_ROWS = EQUATIONS + 2
"""Of the workspace of k points, (2 k + SPARE_ROWS, WORKSPACE_WIDTH): equations, a twist, what `top_about` knows."""
LOADS = 16
"""Where the remembered contact forces begin in a report: three numbers a point; TOLD numbers come behind."""
_REBOUND_MPS = 0.2
_HERE_M = 0.02
_FEW_SWEEPS, _LAST_SWEEPS = 20, 60
_TOLERANCE_MPS = 1e-12
_ROUNDING = 1e-16
_ORIGIN = np.zeros(3)


@inline_fastmath
def _remember(pose: np.ndarray, xi: np.ndarray, h: float, report: np.ndarray) -> None:
    """Keep the twist and the position that this step ends with, for the touch speed of the next."""
    put(report[4:10], xi)
    dx, dy, dz = world_step(pose, xi, _ORIGIN, h)
    report[10] = pose[9] + dx
    report[11] = pose[10] + dy
    report[12] = pose[11] + dz
    report[13] = 1.0
    report[14] = h


@inline_fastmath
def _forget_if_moved(pose: np.ndarray, xi: np.ndarray, h: float, report: np.ndarray) -> None:
    """Drop the remembered twist when the body is not where it was heading (teleport, reset)."""
    change = 0.0
    away = 0.0
    for k in range(3):
        change += (xi[3 + k] - report[7 + k]) ** 2
        away += (pose[9 + k] - report[10 + k]) ** 2
    speed = np.sqrt(xi[3] * xi[3] + xi[4] * xi[4] + xi[5] * xi[5])
    # A divided step begins where a whole one ended.
    if away > _HERE_M**2 and np.sqrt(away) > _HERE_M + max(h, report[14]) * (np.sqrt(change) + 0.5 * speed):
        report[13] = 0.0


@inline_fastmath
def recall(work: np.ndarray, h: float, report: np.ndarray) -> None:
    """Start from the forces of the step before: a standing body is solved at once, at any step."""
    loads = report[LOADS : report.shape[0] - TOLD]
    if report[13] == 0.0:
        for k in range(loads.shape[0]):
            loads[k] = 0.0
    previous = -1
    for k in range(work.shape[0]):
        point = int(work[k, POINT])
        if point != previous and work[k, GAP] < _REBOUND_MPS * h:
            for direction in range(3):
                work[k, IMPULSE + direction] = h * loads[3 * point + direction]
        previous = point


@inline_fastmath
def tell_touches(
    work: np.ndarray,
    speeds: np.ndarray,
    slips: np.ndarray,
    points: np.ndarray,
    h: float,
    report: np.ndarray,
) -> None:
    """Write who touched, how fast, the forces borne, and how fast those slip."""
    told = report.shape[0] - TOLD
    for k in range(LOADS, told):
        report[k] = 0.0
    previous, per_s = -1, 1.0 / h
    touching, greatest, crash = 0.0, report[0], report[3]
    for k in range(work.shape[0]):
        point = int(work[k, POINT])
        at = LOADS + 3 * point
        if point != previous:
            report[at] = work[k, IMPULSE] * per_s
            report[at + 1] = work[k, IMPULSE + 1] * per_s
            report[at + 2] = work[k, IMPULSE + 2] * per_s
        if work[k, IMPULSE] > 0.0:
            report[told] += work[k, IMPULSE]
            report[told + 1] = max(report[told + 1], slips[k])
            touching += 1.0 if point != previous or work[k - 1, IMPULSE] <= 0.0 else 0.0
            greatest = max(greatest, speeds[k])
            if points[point, 3] > 0.5:
                crash = max(crash, speeds[k])
        previous = point
    report[0], report[1], report[3] = greatest, touching, crash


@inline_fastmath
def _solve(
    work: np.ndarray,
    xi: np.ndarray,
    xi_free: np.ndarray,
    inertia: np.ndarray,
    friction: float,
    system: np.ndarray,
    tolerance_mps: float,
) -> None:
    """Impulses of the rows and the twist after them: by Newton's method, where that fails from what sweeps lead to."""
    if solve_by_newton(work, xi, xi_free, inertia, friction, system, tolerance_mps):
        return
    respond_along_ground(work, inertia)
    put(xi, xi_free)
    solve_rows(work, xi, inertia, friction, _FEW_SWEEPS)
    if solve_by_newton(work, xi, xi_free, inertia, friction, system, tolerance_mps):
        return
    put(xi, xi_free)
    solve_rows(work, xi, inertia, friction, _LAST_SWEEPS)


@inline_fastmath
def _still(xi: np.ndarray, tolerance_mps: float) -> None:
    """A twist (6,) below the tolerance becomes none: by impulses that stay it would add up step by step, and gaps with
    its sum, until they had to be corrected."""
    greatest = 0.0
    for k in range(6):
        greatest = max(greatest, abs(xi[k]))
    if greatest < tolerance_mps:
        for k in range(6):
            xi[k] = 0.0


@inline_fastmath
def _touch(
    pose: np.ndarray,
    xi_free: np.ndarray,
    inertia: np.ndarray,
    h: float,
    frame: np.ndarray,
    points: np.ndarray,
    wrench_b: np.ndarray,
    report: np.ndarray,
    workspace: np.ndarray,
    used: int,
) -> None:
    """The wrench of a step in which points meet the ground, as the first `used` rows of the workspace note."""
    spare = workspace.shape[0] - SPARE_ROWS
    system, xi, work = (
        workspace[spare : spare + EQUATIONS],
        workspace[spare + EQUATIONS, 0:6],
        workspace[:used],
    )
    face_rows(work, pose, inertia, h)
    for k in range(work.shape[0]):
        work[k, SPEED] = touch_speed(work[k], xi_free, h, frame[5], report)
        rebound = (frame[4] * work[k, SPEED]) ** 2 - 2.0 * frame[5] * max(work[k, GAP], 0.0)
        if rebound > _REBOUND_MPS**2:
            work[k, AIM] = max(work[k, AIM], np.sqrt(rebound))
    recall(work, h, report)
    # Gaps are no better known than places are, and velocities no better than gaps over the step.
    rounding = _ROUNDING * (abs(pose[9]) + abs(pose[10]) + abs(pose[11]))
    tolerance = _TOLERANCE_MPS + rounding / h
    if law_missed(work, xi, xi_free, inertia, frame[3]) < tolerance:
        report[15] = 0.0
        _still(xi, tolerance)
    else:
        _solve(work, xi, xi_free, inertia, frame[3], system, tolerance)
        report[15] = 1.0
    for k in range(work.shape[0]):
        along, across = point_velocity(xi, work[k], FIRST), point_velocity(xi, work[k], SECOND)
        work[k, SLIP] = np.sqrt(along * along + across * across)
    tell_touches(work, work[:, SPEED], work[:, SLIP], points, h, report)
    for k in range(6):
        wrench_b[k] = (xi[k] - xi_free[k]) * inertia[k] / h
    _remember(pose, xi, h, report)


@inline_fastmath
def ground_wrench(
    pose: np.ndarray,
    xi_free: np.ndarray,
    inertia: np.ndarray,
    h: float,
    heights: np.ndarray,
    frame: np.ndarray,
    points: np.ndarray,
    wrench_b: np.ndarray,
    report: np.ndarray,
    ceiling: float,
    workspace: np.ndarray,
) -> bool:
    """Write the mean contact wrench of one step: contact impulse / h, (6,) (torque, force), body frame.

    pose (12,): R_wb column-major, then x_w, at the start of the step. xi_free (6,): body twist at
    the end of the step without contact. inertia (6,): (J1, J2, J3, m, m, m). heights (ny, nx)
    float32 and frame (x0_m, y0_m, spacing_m, friction, restitution, gravity_mps2): the ground.
    points (k, 4): body-frame contact points [m]; last column 1 where touching is a crash, else 0.
    report (16 + 3 k + TOLD,) is updated, see `GroundArrays`. ceiling: no ground that points can reach in the step is
    higher: what stays above it is looked at no closer. A state that is not finite gets no contact.
    Returns whether any point meets the ground.
    """
    for k in range(6):
        wrench_b[k] = 0.0
    report[1] = report[report.shape[0] - 1] = 0.0
    if not (all_finite(pose) and all_finite(xi_free)):
        report[2] = np.nan
        return False
    _forget_if_moved(pose, xi_free, h, report)
    used, touches, report[2] = seek_rows(workspace, pose, xi_free, h, heights, frame, points, ceiling)
    if not touches:
        _remember(pose, xi_free, h, report)
        return False
    _touch(pose, xi_free, inertia, h, frame, points, wrench_b, report, workspace, used)
    return True


def borne_by_ground(
    report: np.ndarray, bodies: np.ndarray, spheres: np.ndarray, poses_w: np.ndarray
) -> np.ndarray:
    """(k, BORNE) what bore in the step that a report tells of, of round ends (n, 4) of bodies (n,), with the level's
    normal, which is near enough for what is seen and heard."""
    loads = report[LOADS : LOADS + 3 * len(bodies) : 3]
    bear = np.flatnonzero(loads > 0.0)
    if not len(bear):
        return NONE_BORNE
    found, frames = np.zeros((len(bear), BORNE)), poses_w[bodies[bear]]
    found[:, 0] = bodies[bear]
    found[:, 1:4] = np.einsum("nij,nj->ni", frames[:, :3, :3], spheres[bear, :3]) + frames[:, :3, 3]
    found[:, 3] -= spheres[bear, 3]
    found[:, 6], found[:, 7] = 1.0, loads[bear] * report[14]
    return found
