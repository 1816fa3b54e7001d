"""Landing pads: a slab with a painted H."""

from collections.abc import Sequence
from contextlib import ExitStack

import moderngl
import numpy as np

from render.geometry.mesh import Mesh
from render.passes import PassContext
from render.programs import Programs
from render.vertex_arrays import vertex_array


class Pads:
    """All pads of a world in one draw call."""

    def __init__(self, ctx: moderngl.Context, programs: Programs, meshes: Sequence[Mesh]):
        """`meshes`: vertices (n, 8) position, normal, uv in metres of the pad; indices (m, 3)."""
        self._resources = ExitStack()
        self._arrays: dict[str, moderngl.VertexArray] = {}
        if not meshes:
            return
        before = np.cumsum([0] + [len(mesh.vertices) for mesh in meshes[:-1]])
        vertices = np.concatenate([mesh.vertices for mesh in meshes]).astype("f4")
        indices = np.concatenate([mesh.indices.ravel() + n for mesh, n in zip(meshes, before, strict=True)])
        buffers = ctx.buffer(vertices), ctx.buffer(indices.astype("u4"))
        content = [(buffers[0], "3f 3f 2f", "position", "normal", "uv")]
        for name, files in (
            ("opaque", ("pad.vert", "pad.frag")),
            ("shadow", ("terrain_depth.vert", "depth.frag")),
        ):
            self._arrays[name] = vertex_array(ctx, programs.load(*files), content, buffers[1])
        for resource in (*buffers, *self._arrays.values()):
            self._resources.callback(resource.release)

    def draw(self, context: PassContext) -> None:
        """Draw every pad into an opaque or shadow pass."""
        array = self._arrays.get("shadow" if context.name == "shadow" else "opaque")
        if array is not None:
            array.render(moderngl.TRIANGLES)

    def release(self) -> None:
        """Free buffers and arrays."""
        self._resources.close()
