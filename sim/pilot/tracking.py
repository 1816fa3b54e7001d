"""Time-varying LQR along a plan, on the group: errors live in the tangent space of the planned node.

The plan's own integrator is linearised by central differences, so whatever is simulated is what is regulated.
"""

from dataclasses import dataclass

import numpy as np

from sim.compiler import Kernel
from sim.pilot.rotation import rotation_exp, rotation_vector
from sim.vehicles import Vehicle

_EPS = 1e-5
_POSITION_M, _ANGLE_RAD, _SPEED_MPS, _TURN_RADPS, _SHAPE = 0.5, 0.15, 1.0, 0.5, 0.2
"""Errors that cost as much as `_INPUT_SHARE` of a control's range."""
_INPUT_SHARE = 0.2


@dataclass(frozen=True, eq=False)
class Track:
    """Reference nodes and the gains that lead back to them."""

    vehicle: Vehicle
    nodes: np.ndarray
    """(N+1, node size) as a pilot senses them: velocities with the inputs of the step before."""
    gains: np.ndarray
    """(N, n_controls, n_errors)."""

    def correction(self, k: int, node: np.ndarray) -> np.ndarray:
        """What to add to the planned inputs of step k; nothing after the last step."""
        if not 0 <= k < len(self.gains):
            return np.zeros(self.gains.shape[1])
        return -self.gains[k] @ difference(self.vehicle, self.nodes[k], node)


def track(vehicle: Vehicle, kernel: Kernel, step_s: float, first: np.ndarray, controls: np.ndarray) -> Track:
    """Gains along the open-loop replay of `controls` (N+1, n_controls) from the node `first`."""
    p, count = vehicle.parameter_vector, len(controls) - 1
    first, controls = np.ascontiguousarray(first), np.ascontiguousarray(controls)
    nodes = _replayed(vehicle, kernel, step_s, first, controls)
    scale = _scale(vehicle)
    Q = np.diag(1.0 / scale**2)
    R = np.diag(1.0 / (_INPUT_SHARE * _ranges(vehicle, controls)) ** 2)
    S = 10.0 * Q
    gains = np.zeros((count, controls.shape[1], len(scale)))
    for k in reversed(range(count)):
        A, B = _linearised(vehicle, kernel, p, step_s, nodes[k], controls[k])
        gains[k] = np.linalg.solve(R + B.T @ S @ B, B.T @ S @ A)
        S = Q + A.T @ S @ (A - B @ gains[k])
        S = 0.5 * (S + S.T)
    return Track(vehicle, nodes, gains)


def difference(vehicle: Vehicle, reference: np.ndarray, node: np.ndarray) -> np.ndarray:
    """Error of a node against another: pose as a body-frame twist, then velocity and shape as they are."""
    pose = vehicle.node_layout.pose
    there, here = reference[pose], node[pose]
    if vehicle.group.name == "SE2":
        turn = np.arctan2(np.sin(here[0] - there[0]), np.cos(here[0] - there[0]))
        c, s = np.cos(there[0]), np.sin(there[0])
        dx, dy = here[1:] - there[1:]
        error = np.array([turn, c * dx + s * dy, -s * dx + c * dy])
    else:
        R, Q = there[:9].reshape(3, 3).T, here[:9].reshape(3, 3).T
        error = np.concatenate((rotation_vector(R.T @ Q), R.T @ (here[9:] - there[9:])))
    return np.concatenate((error, node[pose.stop :] - reference[pose.stop :]))


def moved(vehicle: Vehicle, reference: np.ndarray, error: np.ndarray) -> np.ndarray:
    """The node that differs from `reference` by `error`."""
    pose, dim = vehicle.node_layout.pose, vehicle.group.dim
    there, node = reference[pose], reference.copy()
    if vehicle.group.name == "SE2":
        c, s = np.cos(there[0]), np.sin(there[0])
        node[pose] = there + np.array([error[0], c * error[1] - s * error[2], s * error[1] + c * error[2]])
    else:
        R = there[:9].reshape(3, 3).T
        node[pose.start : pose.start + 9] = (R @ rotation_exp(error[:3])).T.ravel()
        node[pose.start + 9 : pose.stop] = there[9:] + R @ error[3:6]
    node[pose.stop :] += error[dim:]
    return node


def _replayed(
    vehicle: Vehicle, kernel: Kernel, h: float, first: np.ndarray, controls: np.ndarray
) -> np.ndarray:
    p, nothing = vehicle.parameter_vector, np.zeros(kernel.dim)
    y = kernel.start(first, controls[0], p, h)
    nodes = [kernel.node(y, controls[0], p, h)]
    for u in controls[:-1]:
        kernel.rollout(y, u, nothing, p, h, 1)
        nodes.append(kernel.node(y, u, p, h))
    return np.array(nodes)


def _linearised(
    vehicle: Vehicle, kernel: Kernel, p: np.ndarray, h: float, node: np.ndarray, u: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Error after one step by error before it (A), and by input (B)."""
    nothing = np.zeros(kernel.dim)

    def after(start: np.ndarray, inputs: np.ndarray) -> np.ndarray:
        y = kernel.start(start, u, p, h)
        kernel.rollout(y, inputs, nothing, p, h, 1)
        return kernel.node(y, inputs, p, h)

    middle, scale = after(node, u), _scale(vehicle)
    reach = _EPS * _ranges(vehicle, u[None])
    A = np.zeros((len(scale), len(scale)))
    B = np.zeros((len(scale), len(u)))
    for i, size in enumerate(_EPS * scale):
        e = np.zeros(len(scale))
        e[i] = size
        ends = (after(moved(vehicle, node, sign * e), u) for sign in (1.0, -1.0))
        A[:, i] = np.subtract(*(difference(vehicle, middle, end) for end in ends)) / (2.0 * size)
    for i, size in enumerate(reach):
        e = np.zeros(len(u))
        e[i] = size
        ends = (after(node, u + sign * e) for sign in (1.0, -1.0))
        B[:, i] = np.subtract(*(difference(vehicle, middle, end) for end in ends)) / (2.0 * size)
    return A, B


def _scale(vehicle: Vehicle) -> np.ndarray:
    """Errors that cost one."""
    n = len(vehicle.shape_coordinates)
    if vehicle.group.name == "SE2":
        pose, speed = [_ANGLE_RAD, *[_POSITION_M] * 2], [_TURN_RADPS, *[_SPEED_MPS] * 2]
    else:
        pose, speed = (
            [*[_ANGLE_RAD] * 3, *[_POSITION_M] * 3],
            [*[_TURN_RADPS] * 3, *[_SPEED_MPS] * 3],
        )
    return np.array([*pose, *speed, *[_SHAPE] * n, *[2.0 * _SHAPE] * n])


def _ranges(vehicle: Vehicle, controls: np.ndarray) -> np.ndarray:
    """Half of what each control may do; of an endless one, what the plan asks of it."""
    used = np.maximum(np.abs(controls).max(axis=0), 1.0)
    reach = np.array([0.5 * (c.high - c.low) for c in vehicle.controls])
    return np.where(np.isfinite(reach) & (reach < 1e4 * used), reach, used)
