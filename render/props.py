"""Cones, kerbs, walls, roads and painted lines: all that is laid out on a level ground."""

from contextlib import ExitStack

import moderngl
import numpy as np

from render.geometry.props import PropMesh
from render.passes import PassContext
from render.programs import Programs
from render.vertex_arrays import vertex_array

_FORMAT = ("3f 3f 2f 2f 1f", "position", "normal", "uv", "surface", "sky_share")


class Props:
    """One mesh, one draw call a pass; only solids cast shadows."""

    def __init__(self, ctx: moderngl.Context, programs: Programs, mesh: PropMesh):
        self._resources = ExitStack()
        vertices = self._owned(ctx.buffer(np.ascontiguousarray(mesh.vertices, "f4")))
        indices = self._owned(ctx.buffer(np.ascontiguousarray(mesh.indices, "u4")))
        self._solid = mesh.solid
        content = [(vertices, *_FORMAT)]
        self._opaque = self._owned(
            vertex_array(ctx, programs.load("prop.vert", "prop.frag"), content, indices)
        )
        depth = programs.load("terrain_depth.vert", "depth.frag")
        self._shadow = self._owned(vertex_array(ctx, depth, content, indices))

    def _owned(self, resource):
        self._resources.callback(resource.release)
        return resource

    def draw(self, context: PassContext) -> None:
        """Draw everything into an opaque pass, the solids into a shadow pass."""
        if context.name == "shadow":
            if self._solid:
                self._shadow.render(moderngl.TRIANGLES, vertices=self._solid)
        elif context.mirrored:  # from below, what lies in the ground would cover all that stands on it
            if self._solid:
                self._opaque.render(moderngl.TRIANGLES, vertices=self._solid)
        else:
            self._opaque.render(moderngl.TRIANGLES)

    def release(self) -> None:
        """Free buffers and arrays."""
        self._resources.close()
