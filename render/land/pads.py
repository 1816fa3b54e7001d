"""Landing pads: a slab with a painted H, and the apron of earth about it.

Vertices (n, 8) float32: position 3 (world), normal 3, uv 2 = metres in the pad's frame, u along its heading and v to
the left: the paint is drawn from uv. The top is the ground of the physics.
"""

from collections.abc import Sequence
from itertools import pairwise

import moderngl
import numpy as np

from render.land.mesh import Mesh, quad_indices
from render.passes.context import PassContext
from render.programs import Programs, Resources, vertex_array
from sim.shapes.surface import upright
from sim.world import Pad


class Pads:
    """All pads of a world in one draw call."""

    def __init__(self, ctx: moderngl.Context, programs: Programs, meshes: Sequence[Mesh]):
        """`meshes`: vertices (n, 8) position, normal, uv in metres of the pad; indices (m, 3)."""
        self._resources = Resources()
        self._arrays: dict[str, moderngl.VertexArray] = {}
        if not meshes:
            return
        before = np.cumsum([0] + [len(mesh.vertices) for mesh in meshes[:-1]])
        vertices = np.concatenate([mesh.vertices for mesh in meshes]).astype("f4")
        indices = np.concatenate([mesh.indices.ravel() + n for mesh, n in zip(meshes, before, strict=True)])
        index = self._resources.own(ctx.buffer(indices.astype("u4")))
        content = [
            (self._resources.own(ctx.buffer(vertices)), "3f 3f 2f", "position", "normal", "uv"),
        ]
        for name, files in (
            ("opaque", ("pad.vert", "pad.frag")),
            ("shadow", ("terrain_depth.vert", "depth.frag")),
        ):
            array = vertex_array(ctx, programs.load(*files), content, index)
            self._arrays[name] = self._resources.own(array)

    def draw(self, context: PassContext) -> None:
        """Draw every pad into an opaque or shadow pass."""
        array = self._arrays.get("shadow" if context.name == "shadow" else "opaque")
        if array is not None:
            array.render(moderngl.TRIANGLES)

    def release(self) -> None:
        """Free buffers and arrays."""
        self._resources.close()


_BEVEL_M = 0.12
_EDGE_M = 0.03
"""How far down the slab's side is to be seen."""
_APRON_M, _FALL_M, _DEPTH_M = (2.0, 4.0), (0.06, 0.30), 0.6
"""How far the earth about it reaches out and down, first gently, and how deep it ends: the drawn ground is sunk under
the slab, and between its vertices there would be a trench beside it."""


def _ring(half_m: float, z_m: float) -> np.ndarray:
    """Corners of a square, counter-clockwise seen from above, (4, 3)."""
    corners = np.array([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]) * half_m
    return np.column_stack([corners, np.full(4, z_m)])


def _quad(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions (4, 3) and the face normal repeated."""
    normal = np.cross(corners[1] - corners[0], corners[3] - corners[0])
    return corners, np.repeat(normal[None, :] / np.linalg.norm(normal), 4, axis=0)


def pad_mesh(pad: Pad) -> Mesh:
    """A bevelled square slab of half side `pad.radius_m`, its top at the pad's centre height, in its apron."""
    rings = [
        _ring(pad.radius_m + _APRON_M[1], -_DEPTH_M),
        _ring(pad.radius_m + _APRON_M[1], -_FALL_M[1]),
        _ring(pad.radius_m + _APRON_M[0], -_FALL_M[0]),
        _ring(pad.radius_m, -_EDGE_M),
        _ring(pad.radius_m - _BEVEL_M, 0.0),
    ]
    faces = [_quad(rings[-1])]
    for low, high in pairwise(rings):
        for k in range(4):
            ahead = (k + 1) % 4
            faces.append(_quad(np.array([low[k], low[ahead], high[ahead], high[k]])))
    local = np.concatenate([corners for corners, _ in faces])
    normals = np.concatenate([normal for _, normal in faces])
    R = upright(pad.heading_rad)
    vertices = np.hstack([local @ R.T + pad.centre_w, normals @ R.T, local[:, :2]])
    return Mesh(vertices.astype(np.float32), quad_indices(len(faces)))
