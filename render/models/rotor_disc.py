"""Fast rotors: a coned disc on which the blades are streaks, seen blended and casting a thin shadow."""

import moderngl
import numpy as np

from render.frame import DrawnVehicle
from render.models.rigs import Disc
from render.passes import PassContext
from render.programs import Programs
from render.vertex_arrays import vertex_array

SHUTTER_RAD = 0.26
"""Angle that the blades sweep while the shutter is open."""
_RINGS, _SECTORS = 7, 96


class RotorDiscs:
    """Owns the disc mesh and its two programs."""

    def __init__(self, ctx: moderngl.Context, programs: Programs):
        self._mesh = ctx.buffer(_disc_mesh())
        self._seen = programs.load("models/rotor.vert", "models/rotor.frag")
        self._cast = programs.load("models/rotor.vert", "models/rotor_shadow.frag", DEPTH_ONLY=1)
        layout = [(self._mesh, "2f", "polar")]
        self._arrays = {
            program.glo: vertex_array(ctx, program, layout) for program in (self._seen, self._cast)
        }

    def draw(self, disc: Disc, vehicle: DrawnVehicle, context: PassContext) -> None:
        """Draw in the pass "blend" or "shadow"."""
        program = self._cast if context.name == "shadow" else self._seen
        world = np.ascontiguousarray((vehicle.T_wb @ disc.T_bd).T, "f4")
        program["world_from_disc"].write(world)
        rotor = disc.rotor
        program["extent"].value = (rotor.root_m, rotor.radius_m, rotor.coning_rad)
        values: dict[str, object] = {
            "blades": (float(rotor.blades), rotor.chord_m, disc.spin_rad, SHUTTER_RAD),
            "tip_band": rotor.tip_band_m,
            "ghost_tint": (*vehicle.tint, 1.0 if vehicle.ghost else 0.0),
            "presence": vehicle.presence,
        }
        for name, value in values.items():
            if name in program:
                program[name].value = value
        self._arrays[program.glo].render(moderngl.TRIANGLES)

    def release(self) -> None:
        """Free the mesh and the arrays."""
        for array in self._arrays.values():
            array.release()
        self._mesh.release()


def _disc_mesh() -> np.ndarray:
    """(n, 2) float32 triangles of (share of the radius from root to tip, azimuth [rad])."""
    share, azimuth = np.linspace(0, 1, _RINGS), np.linspace(0, 2 * np.pi, _SECTORS + 1)
    s, a = np.meshgrid(share, azimuth, indexing="ij")
    grid = np.stack([s, a], axis=2)
    low, high = grid[:-1, :-1], grid[1:, :-1]
    low_next, high_next = grid[:-1, 1:], grid[1:, 1:]
    triangles = np.stack([low, high, high_next, low, high_next, low_next], axis=2)
    return np.ascontiguousarray(triangles.reshape(-1, 2), "f4")
