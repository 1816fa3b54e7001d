"""What all staged kernels have in common."""

import math

import numpy as np

from sim.compiled import allocating_nothing
from sim.compiler import step_rule

_A = "float64[::1]"

growth = allocating_nothing("float64(float64, float64)", error_model="numpy")(step_rule.growth)
"""By what the step is multiplied after one with that error estimate."""


@allocating_nothing(f"float64({_A}, int64, int64)", error_model="numpy")
def total(a: np.ndarray, at: int, size: int) -> float:
    """Sum of a stretch: finite where all of its numbers are."""
    found = 0.0
    for i in range(size):
        found += a[at + i]
    return found


@allocating_nothing(f"float64({_A}, int64, int64)", error_model="numpy")
def length(a: np.ndarray, at: int, size: int) -> float:
    """Euclidean norm of a stretch."""
    found = 0.0
    for i in range(size):
        found += a[at + i] * a[at + i]
    return math.sqrt(found)


@allocating_nothing(f"void({_A}, {_A}, {_A}, {_A}, float64, {_A})", error_model="numpy")
def start(node: np.ndarray, u: np.ndarray, w: np.ndarray, p: np.ndarray, h: float, y: np.ndarray) -> None:
    """The private state of a node is the node."""
    for i in range(node.shape[0]):
        y[i] = node[i]
