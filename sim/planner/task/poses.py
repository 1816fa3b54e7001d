"""Headings, rotations and places of states and nodes, and flat poses made of them, as SE(2) and SE(3) store them."""

from dataclasses import replace

import numpy as np

from sim.groups import SE2
from sim.planner.task.bodies import acted, body_poses, planar
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.form import State

_HEADING = SE2.columns.index("heading_rad")


def heading_rad(state: State) -> float:
    """Of what moves on a plane; turns are counted."""
    return float(state.node[state.layout.pose][_HEADING])


def planar_pose(state: State) -> np.ndarray:
    """(3,) heading, x, y."""
    return np.r_[heading_rad(state), place(state)]


def place(state: State) -> np.ndarray:
    """(2,) on a plane, (3,) in space, m."""
    assert state.group is not None
    return state.node[state.layout.pose][state.group.position]


def shifted(state: State, by_w: np.ndarray) -> State:
    """With its place moved by (2,) on a plane, (3,) in space, m."""
    assert state.group is not None
    node = state.node.copy()
    node[state.layout.pose][state.group.position] += by_w
    return replace(state, node=node)


def rotation_wb(state: State) -> np.ndarray:
    """(3, 3), in space."""
    return state.pose[:3, :3]


def positions(vehicle: Vehicle, nodes: np.ndarray) -> np.ndarray:
    """(n, 3) world positions of flat nodes, of their main body; on a plane z = 0."""
    if acted(vehicle):
        return body_poses(vehicle, nodes)[:, :3, 3]
    places = np.atleast_2d(nodes)[:, vehicle.group.position]
    if not planar(vehicle):
        return places
    out = np.zeros((len(places), 3))
    out[:, :2] = places
    return out


def planar_poses(headings: np.ndarray, places: np.ndarray) -> np.ndarray:
    """(n, 3) flat poses of headings (n,) at places (n, 2 or 3), whose height does not count."""
    return np.c_[headings, places[:, :2]]


def spatial_poses(R_wb: np.ndarray, places: np.ndarray) -> np.ndarray:
    """(n, 12) flat poses of rotations (n, 3, 3) at places (n, 3)."""
    return np.c_[R_wb.transpose(0, 2, 1).reshape(-1, 9), places]
