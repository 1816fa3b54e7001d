"""A tree with the values of its parameters, and the room that its steps take in one thread."""

from dataclasses import dataclass

import numpy as np

from sim.multibody.arrays import Workspace, workspace
from sim.multibody.limits import limit_springs
from sim.multibody.tree import Tree
from sim.vehicles.forms.articulated import ArticulatedVehicle, PlumbLine

Limits = tuple[np.ndarray, np.ndarray]

LIMIT_STEP_S = 0.005
"""Limits of joints are no stiffer than steps of this length bear, so that what is told of their energy holds for all
steps up to it."""


@dataclass(frozen=True, slots=True, eq=False)
class LaidTree:
    """A tree with the parameters' values, and the room that its steps take."""

    tree: Tree
    ws: Workspace
    offsets: np.ndarray
    """(bodies, 12) rotations row by row, positions."""
    lines: np.ndarray
    """(k, 8) as `tell` has them."""
    limits: dict[float, Limits]
    """By the step [s]."""
    stages: np.ndarray
    torques: np.ndarray
    """(3, nv) room for a step's."""
    tally: np.ndarray

    def limits_at(self, h: float) -> Limits:
        step_s = max(h, LIMIT_STEP_S)
        if step_s not in self.limits:
            self.limits[step_s] = limit_springs(self.tree, step_s, self.ws)
        return self.limits[step_s]


def lay(vehicle: ArticulatedVehicle, p: np.ndarray) -> LaidTree:
    """With the parameters p."""
    tree = vehicle.tree_with(p)
    return LaidTree(
        tree=tree,
        ws=workspace(tree.arrays),
        offsets=np.ascontiguousarray([np.r_[T[:3, :3].ravel(), T[:3, 3]] for T in tree.offsets]),
        lines=_lines(tree, vehicle.plumb_lines(vehicle.quantities(p))),
        limits={},
        stages=np.zeros((6, tree.nv)),
        torques=np.zeros((3, tree.nv)),
        tally=np.zeros(2),
    )


def _lines(tree: Tree, declared: dict[str, PlumbLine]) -> np.ndarray:
    rows = np.zeros((len(declared), 8))
    for row, line in zip(rows, declared.values(), strict=True):
        for at, (body, point) in zip((0, 4), (line[:2], line[2:]), strict=True):
            k = tree.names.index(body)
            row[at], row[at + 1 : at + 4] = tree.carriers[k], (tree.offsets[k] @ np.r_[point, 1.0])[:3]
    return rows
