"""A model as arrays: one vertex table for all parts, one row of factors a material."""

from dataclasses import dataclass

import numpy as np

MAX_NODES = 64
MAX_MATERIALS = 32
"""Both as declared in shaders/models/parts.glsl."""

FINISHES = ("plain", "livery", "dial", "glass", "flame", "coat")
PAINT_FAR = 9.0


@dataclass(frozen=True, slots=True)
class ModelAsset:
    """Geometry in node frames; a node's rest pose is a shift by its pivot from the body frame."""

    vertices: np.ndarray
    """(n, 13) float32: position 3, normal 3, (open sky share, material, node), paint 4."""
    opaque: np.ndarray
    """(k, 3) uint32."""
    glass: np.ndarray
    """(k, 3) uint32, drawn blended."""
    nodes: tuple[str, ...]
    pivots: np.ndarray
    """(nodes, 3) m, body frame."""
    materials: np.ndarray
    """(materials, 4, 4) float32 rows: colour+metallic, second+roughness, accent+finish, emissive+alpha."""
    radius_m: float
    """Of the bounding sphere about the body origin, in the rest pose."""
