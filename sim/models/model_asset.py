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

    def meshes(self, part: int) -> list[tuple[int, np.ndarray, np.ndarray, np.ndarray]]:
        """What a node is made of: material, positions (n, 3), normals (n, 3), triangles (m, 3), in the node's frame."""
        triangles = np.concatenate([self.opaque, self.glass])
        owner, materials = self.vertices[:, 8].astype(int), self.vertices[:, 7].astype(int)
        mine = triangles[owner[triangles[:, 0]] == part]
        found = []
        for material in np.unique(materials[mine[:, 0]]).tolist():
            corners = mine[materials[mine[:, 0]] == material]
            used, indices = np.unique(corners, return_inverse=True)
            table = self.vertices[used]
            found.append((material, table[:, :3], table[:, 3:6], indices.reshape(-1, 3)))
        return found
