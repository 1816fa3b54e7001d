"""Cones, kerbs, walls, roads and painted lines: all that is laid out on a level ground."""

from contextlib import ExitStack

import moderngl
import numpy as np

from render.geometry.props import PropMesh, posed_cone
from render.passes import PassContext
from render.programs import Programs
from render.vertex_arrays import vertex_array
from sim.contact.obstacles import ObstaclesPicture
from sim.contact.obstacles.cones import CENTRE_M

_FORMAT = ("3f 3f 2f 2f 1f", "position", "normal", "uv", "surface", "sky_share")


class Props:
    """One mesh, one draw call a pass; only solids cast shadows. Cones may be moved."""

    def __init__(self, ctx: moderngl.Context, programs: Programs, mesh: PropMesh):
        self._resources = ExitStack()
        self._mesh = mesh
        self._vertices = vertices = self._owned(
            ctx.buffer(np.ascontiguousarray(mesh.vertices, "f4"), dynamic=True)
        )
        self._placed: dict[int, np.ndarray] = {}
        """Poses (4, 4) at which cones are drawn that do not stand where they stood at first."""
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

    def place_cones(self, picture: ObstaclesPicture | None) -> None:
        """Put the cones that have moved where they are, and all others back; None: none has."""
        moved = {} if picture is None else {int(k): picture.poses[k] for k in np.flatnonzero(picture.moved)}
        for k, pose in moved.items():
            if k < self._mesh.cones and not np.array_equal(self._placed.get(k), pose):
                self._write_cone(k, posed_cone(pose, CENTRE_M))
        for k in self._placed.keys() - moved.keys():
            size = len(posed_cone(np.eye(4), 0.0))
            self._write_cone(k, self._mesh.vertices[k * size : (k + 1) * size])
        self._placed = moved

    def _write_cone(self, k: int, rows: np.ndarray) -> None:
        data = np.ascontiguousarray(rows, "f4")
        self._vertices.write(data, offset=k * data.nbytes)

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
