"""Draws vehicles: loads each model once, poses its parts, and takes part in every pass.

Fast rotors are coned discs on which the blades are streaks, seen blended and casting a thin shadow.
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cache

import moderngl
import numpy as np

from render.frame import Clothes, DrawnVehicle, Film, View
from render.passes.targets import PassContext
from render.programs import Programs, uniform, vertex_array
from render.vehicles.links import LinkModels, SolidModels
from render.vehicles.rigs import Disc, RigPose, dressed_bodies, rig_pose
from sim.models.asset import box_asset, cart_asset, has_model, load_model, on_wheels
from sim.models.solids import MAX_MATERIALS, MAX_NODES, ModelAsset
from sim.multibody.shapes import STAND
from sim.platform.errors import InputError
from sim.platform.values import dataclass
from sim.vehicle_config import VehicleConfig

SHUTTER_RAD = 0.26
"""Angle that the blades sweep while the shutter is open."""
_RINGS, _SECTORS = 7, 96


class RotorDiscs:
    """Owns the disc mesh and its two programs."""

    def __init__(self, ctx: moderngl.Context, programs: Programs):
        vertices, triangles = _disc_mesh()
        self._mesh, self._triangles = ctx.buffer(vertices), ctx.buffer(triangles)
        self._seen = programs.load("models/rotor.vert", "models/rotor.frag")
        self._cast = programs.load("models/rotor.vert", "models/rotor_shadow.frag", DEPTH_ONLY=1)
        layout = [(self._mesh, "2f", "polar")]
        self._arrays = {
            program.glo: vertex_array(ctx, program, layout, self._triangles)
            for program in (self._seen, self._cast)
        }

    def draw(self, disc: Disc, vehicle: DrawnVehicle, context: PassContext) -> None:
        """Draw in the pass "blend" or "shadow"."""
        program = self._cast if context.name == "shadow" else self._seen
        world = np.ascontiguousarray((vehicle.T_wb @ disc.T_bd).T, "f4")
        uniform(program, "world_from_disc").write(world)
        rotor = disc.rotor
        uniform(program, "extent").value = (rotor.root_m, rotor.radius_m, rotor.coning_rad)
        values: dict[str, object] = {
            "blades": (float(rotor.blades), rotor.chord_m, disc.spin_rad, SHUTTER_RAD),
            "tip_band": rotor.tip_band_m,
            "ghost_tint": (*vehicle.tint, 1.0 if vehicle.ghost else 0.0),
            "presence": vehicle.presence,
        }
        for name, value in values.items():
            if name in program:
                uniform(program, name).value = value
        self._arrays[program.glo].render(moderngl.TRIANGLES)

    def release(self) -> None:
        """Free the mesh and the arrays."""
        for array in self._arrays.values():
            array.release()
        self._triangles.release()
        self._mesh.release()


def _disc_mesh() -> tuple[np.ndarray, np.ndarray]:
    """(n, 2) float32 vertices (share of the radius from root to tip, azimuth [rad]), (m, 3) int32 triangles of them."""
    share, azimuth = np.linspace(0, 1, _RINGS), np.linspace(0, 2 * np.pi, _SECTORS + 1)
    vertices = np.stack(np.meshgrid(share, azimuth, indexing="ij"), axis=2)
    number = np.arange(share.size * azimuth.size).reshape(share.size, azimuth.size)
    low, high = number[:-1, :-1], number[1:, :-1]
    low_next, high_next = number[:-1, 1:], number[1:, 1:]
    triangles = np.stack([low, high, high_next, low, high_next, low_next], axis=2)
    return np.ascontiguousarray(vertices.reshape(-1, 2), "f4"), triangles.reshape(-1, 3).astype("i4")


_LAYOUT = ("3f 3f 3f 4f", "position", "normal", "part", "paint")
_FAR_M = 90.0
"""Beyond this the coarse model stands in."""
_DIALS_M = 4.0
"""From a vehicle's ball, beyond which software GL does not work out instruments: it does so in every pixel."""
_SMOOTHED, _SEEN_PX = 0.6, 6
"""Share of a picture that vehicles' edges are smoothed in at most; what is seen smaller is left out."""
_CORNERS = np.array([(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)])
_NEAR_M = 0.1
"""Before the eye, where a box about a part has to begin."""
_PLAIN_TINT = (1.0, 1.0, 1.0)
_DRY = (0.0, 0.0, 0.0, 0.0)
Plane = tuple[float, float, float]
"""Height at the world's origin [m], slopes along x and y."""


@dataclass(frozen=True, slots=True)
class _Loaded:
    """One model on the GPU, with an array for each program it is drawn with."""

    source: object
    """What it belongs to: another config of that name has a model of its own."""
    asset: ModelAsset
    vertices: moderngl.Buffer
    opaque: moderngl.Buffer
    glass: moderngl.Buffer | None
    boxes: np.ndarray
    """(nodes, 8, 3) m, each node's frame: corners of a box about it; nan where nothing is in it."""


def _boxes(asset: ModelAsset) -> np.ndarray:
    found = np.full((len(asset.nodes), 8, 3), np.nan)
    owner = asset.vertices[:, 8].astype(int)
    for node in np.flatnonzero(np.bincount(owner)).tolist():  # np.unique loads NumPy's masked arrays
        places = asset.vertices[owner == node, :3]
        ends = np.array([places.min(axis=0), places.max(axis=0)])
        found[node] = ends[_CORNERS, [0, 1, 2]]
    return found


class ModelLibrary:
    """Owns the GL side of all models. `draw` is called once per vehicle and pass."""

    def __init__(self, ctx: moderngl.Context, programs: Programs):
        self._ctx = ctx
        self._stack = ExitStack()
        self._loaded: dict[tuple[object, ...], _Loaded] = {}
        self._arrays: dict[tuple[int, int, bool], moderngl.VertexArray] = {}
        self._materials_of: dict[int, tuple[_Loaded, Clothes]] = {}
        self._body = programs.load("models/body.vert", "models/body.frag")
        self._from_afar = programs.load("models/body.vert", "models/body.frag", NO_DIALS=1)
        self._untouched = programs.load("models/body.vert", "models/body.frag", NO_DIALS=1, UNTOUCHED=1)
        self._glass = programs.load("models/body.vert", "models/glass.frag")
        self._ghost = programs.load("models/body.vert", "models/ghost.frag")
        self._depth = programs.load("models/body.vert", "models/depth.frag", DEPTH_ONLY=1)
        self._discs = RotorDiscs(ctx, programs)
        self._stack.callback(self._discs.release)
        self.water: Callable[[DrawnVehicle], Plane] | None = None
        """The surface of the water about a vehicle, whose hull is wet up to a little above it; None without any."""
        self.film: Callable[[DrawnVehicle], Film | None] | None = None
        """What water has come on the deck of a vehicle."""
        self.carried: DrawnVehicle | None = None
        """Whose picture is looked for where it was."""
        self._links = LinkModels(ctx, programs)
        self._stack.callback(self._links.release)
        self._solids = SolidModels(ctx, programs)
        self._stack.callback(self._solids.release)

    def radius_m(self, vehicle: DrawnVehicle) -> float:
        """Bounding sphere about the body origin, rotors included."""
        return self._load(vehicle).asset.radius_m if _has_model(vehicle) else 2.0

    def ball(self, vehicle: DrawnVehicle) -> tuple[np.ndarray, float]:
        """(centre (3,), radius [m]) of a ball about it; once it has broken, about all that has not come off."""
        return vehicle.ball or (vehicle.hull_T_w[:3, 3], self.radius_m(vehicle))

    def in_view(self, vehicles: Sequence[DrawnVehicle], frustum: np.ndarray) -> list[DrawnVehicle]:
        """Those whose spheres reach into a frustum (6, 4)."""
        normals, offsets = frustum[:, :3], frustum[:, 3]
        return [v for v in vehicles if (normals @ v.T_wb[:3, 3] + offsets > -self.radius_m(v)).all()]

    def rectangles(
        self, vehicles: Sequence[DrawnVehicle], view: View, size_px: tuple[int, int]
    ) -> list[tuple[int, int, int, int]]:
        """Left, bottom, width, height in pixels of what solid vehicles take of a picture: the largest ones, apart from
        each other, as far as they do not cover much of it."""
        found: list[np.ndarray] = []
        for vehicle in vehicles:
            solid = not vehicle.ghost and np.isfinite(vehicle.T_wb).all()
            corners = self._seen_corners(vehicle, view) if solid else None
            if corners is None:
                continue
            box = np.clip((corners + 1.0) * 0.5 * size_px + np.array([[-2.0], [2.0]]), 0.0, size_px)
            while touched := [
                k for k, other in enumerate(found) if (box[0] < other[1]).all() and (other[0] < box[1]).all()
            ]:
                for other in [found.pop(k) for k in reversed(touched)]:
                    box = np.array([np.minimum(box[0], other[0]), np.maximum(box[1], other[1])])
            found.append(box)
        found.sort(key=lambda box: -float(np.prod(box[1] - box[0])))
        left = _SMOOTHED * size_px[0] * size_px[1]
        taken = []
        for box in found:
            low, high = np.floor(box[0]).astype(int), np.ceil(box[1]).astype(int)
            left -= float(np.prod(high - low))
            if (high - low >= _SEEN_PX).all() and left >= 0.0:
                taken.append((int(low[0]), int(low[1]), int(high[0] - low[0]), int(high[1] - low[1])))
        return taken

    def _seen_corners(self, vehicle: DrawnVehicle, view: View) -> np.ndarray | None:
        """(2, 2) low and high corner of what it takes of a picture, -1..1; None where it is about the eye."""
        if vehicle.ball is None and _has_model(vehicle):
            loaded, pose = self._load(vehicle), rig_pose(vehicle)
            matrices = _node_matrices(loaded.asset, vehicle, pose, pose.hidden)[: len(loaded.boxes)]
            kept = [name not in pose.hidden for name in loaded.asset.nodes]
            w = (
                np.einsum("nij,nkj->nki", matrices[kept, :, :3], loaded.boxes[kept])
                + matrices[kept, None, :, 3]
            )
            seen = w[np.isfinite(w).all(axis=(1, 2))].reshape(-1, 3) @ view.view[:3, :3].T + view.view[:3, 3]
            if len(seen) and seen[:, 2].max() < -_NEAR_M:
                places = seen @ view.projection[:2, :3].T / -seen[:, 2:]
                return np.array([places.min(axis=0), places.max(axis=0)])
        centre, radius_m = self.ball(vehicle)
        middle = view.view[:3, :3] @ centre + view.view[:3, 3]
        if -middle[2] <= 1.05 * radius_m:
            return None
        at, reach = view.projection[:2, :3] @ middle, view.projection[[0, 1], [0, 1]] * radius_m
        return np.array([at - reach, at + reach]) / -middle[2]

    def draw(self, vehicle: DrawnVehicle, context: PassContext) -> None:
        """Draw one vehicle in one pass; poses that are not finite are skipped."""
        if not np.isfinite(vehicle.T_wb).all() or (vehicle.ghost and context.name != "blend"):
            return
        if vehicle.solids is not None:
            self._solids.draw(vehicle, context)
            return
        if vehicle.links:
            self._links.draw(vehicle, context)
        dressed = dressed_bodies(vehicle)
        for one in dressed:
            self._draw_model(one, context)
        if not _has_model(vehicle) and (vehicle.links or dressed):
            return
        if vehicle.links and _of_other_bodies(vehicle):
            return
        self._draw_model(vehicle, context)

    def _draw_model(self, vehicle: DrawnVehicle, context: PassContext) -> None:
        loaded = self._choose(vehicle, context)
        pose = rig_pose(vehicle)
        if context.name == "shadow":
            self._submit(self._depth, loaded, vehicle, pose, context)
        elif context.name == "opaque":
            self._draw_opaque(loaded, vehicle, pose, context)
        elif vehicle.ghost:
            _set(self._ghost, "presence", vehicle.presence)
            self._culled(self._ghost, loaded, vehicle, pose, context, face="back")
        elif loaded.glass is not None:
            far_panes = context.quality.full_materials  # seen through the near ones
            inside = _sits_in(context.view, vehicle)
            faces = ("front",) if inside else (("front", "back") if far_panes else ("back",))
            for face in faces:
                self._culled(self._glass, loaded, vehicle, pose, context, face=face, glass=True)
        if context.name != "opaque":
            for disc in pose.discs:
                self._discs.draw(disc, vehicle, context)

    def warm_up(self, vehicles: Sequence[DrawnVehicle], context: PassContext) -> None:
        """In the opaque pass: have the program compiled by which vehicles are drawn that something has befallen."""
        for vehicle in () if context.quality.full_materials else vehicles:
            self.draw(replace(vehicle, wreck=True), context)

    def release(self) -> None:
        """Free every buffer and array."""
        self._stack.close()

    def _choose(self, vehicle: DrawnVehicle, context: PassContext) -> _Loaded:
        """The model's file at the level of detail that the pass can show, or the box."""
        if not _has_model(vehicle):
            if on_wheels(vehicle.model):
                return self._loaded.get(("cart",)) or self._upload(("cart",), cart_asset())
            half_m = vehicle.config.model.box_half_m
            key = ("box", *half_m)
            return self._loaded.get(key) or self._upload(key, box_asset(half_m))
        far = float(np.linalg.norm(context.view.eye_w - vehicle.hull_T_w[:3, 3])) > _FAR_M
        coarse = context.mirrored or context.quality.name == "software" or (far and context.name != "shadow")
        coarse = coarse and not _sits_in(context.view, vehicle)
        return self._load(vehicle, far=coarse and _has_model(vehicle, far=True))

    def _load(self, vehicle: DrawnVehicle, *, far: bool = False) -> _Loaded:
        key, config = (vehicle.model, far), vehicle.config
        loaded = self._loaded.get(key)
        if loaded is not None and loaded.source is config:
            return loaded
        try:
            asset = load_model(vehicle.model, far=far)
        except InputError:
            if loaded is None:
                raise
            asset = loaded.asset  # saved half way: the one before it is good still
        if loaded is not None:
            self._free(loaded)
        return self._upload(key, asset, config)

    def _free(self, loaded: _Loaded) -> None:
        """Give back what is not drawn any more."""
        mine = [key for key in self._arrays if key[1] == loaded.vertices.glo]
        for array in [self._arrays.pop(key) for key in mine]:
            array.release()
        for buffer in (loaded.vertices, loaded.opaque, loaded.glass):
            if buffer is not None:
                buffer.release()

    def _upload(self, key: tuple[object, ...], asset: ModelAsset, source: object = None) -> _Loaded:
        vertices = self._own(self._ctx.buffer(np.ascontiguousarray(asset.vertices)))
        opaque = self._own(self._ctx.buffer(np.ascontiguousarray(asset.opaque)))
        glass = self._own(self._ctx.buffer(np.ascontiguousarray(asset.glass))) if len(asset.glass) else None
        loaded = self._loaded[key] = _Loaded(source, asset, vertices, opaque, glass, _boxes(asset))
        return loaded

    def _own(self, buffer: moderngl.Buffer) -> moderngl.Buffer:
        self._stack.callback(buffer.release)
        return buffer

    def _array(self, program: moderngl.Program, loaded: _Loaded, glass: bool) -> moderngl.VertexArray:
        key = (program.glo, loaded.vertices.glo, glass)
        if key not in self._arrays:
            index = loaded.glass if glass else loaded.opaque
            array = vertex_array(self._ctx, program, [(loaded.vertices, *_LAYOUT)], index)
            self._stack.callback(array.release)
            self._arrays[key] = array
        return self._arrays[key]

    def _draw_opaque(
        self, loaded: _Loaded, vehicle: DrawnVehicle, pose: RigPose, context: PassContext
    ) -> None:
        off_m = float(np.linalg.norm(context.view.eye_w - vehicle.hull_T_w[:3, 3]))
        afar = not context.quality.full_materials and off_m > _DIALS_M + self.radius_m(vehicle)
        floats = vehicle.config.hull is not None and self.water is not None
        film = self.film(vehicle) if self.film is not None else None
        untouched = afar and not (floats or film or vehicle.wreck or context.light.rain)
        # What befalls others is shown by the program that is there already for looks from near.
        afloat = self._from_afar if afar and (floats or film) else self._body
        body = self._untouched if untouched else afloat
        _set(body, "dials", not afar)
        _set(body, "attitude", _attitude(vehicle.T_wb))
        _set(body, "carried", 1.0 if vehicle is self.carried else 0.0)
        _set(body, "scorch", 1.0 if vehicle.wreck else 0.0)
        _set(body, "wet", (*self.water(vehicle), 1.0) if floats and self.water is not None else _DRY)
        rows, size_run = film or (None, _DRY)
        _set(body, "film_size", size_run)
        if rows is not None:
            _write(body, "film_rows", rows)
        self._culled(body, loaded, vehicle, pose, context, face="back")

    def _culled(
        self,
        program: moderngl.Program,
        loaded: _Loaded,
        vehicle: DrawnVehicle,
        pose: RigPose,
        context: PassContext,
        *,
        face: str,
        glass: bool = False,
    ) -> None:
        """Draws with one side of the faces removed; a mirrored camera sees the winding turned."""
        if context.mirrored:
            face = "front" if face == "back" else "back"
        self._ctx.enable(moderngl.CULL_FACE)
        self._ctx.cull_face = face
        self._submit(program, loaded, vehicle, pose, context, glass=glass)
        self._ctx.cull_face = "back"
        self._ctx.disable(moderngl.CULL_FACE)

    def _submit(
        self,
        program: moderngl.Program,
        loaded: _Loaded,
        vehicle: DrawnVehicle,
        pose: RigPose,
        context: PassContext,
        *,
        glass: bool = False,
    ) -> None:
        model = vehicle.config.model
        hidden = pose.hidden.union(vehicle.absent, model.not_in_ghosts if vehicle.ghost else ())
        if _sits_in(context.view, vehicle) and context.name != "shadow":
            hidden = hidden.union(model.occupants)
        _write(program, "world_from_node", _node_matrices(loaded.asset, vehicle, pose, hidden))
        looks, clothes = self._materials_of.get(program.glo, (None, ()))
        if looks is not loaded or clothes != vehicle.clothes:
            _write_materials(program, loaded.asset, vehicle.clothes)
            self._materials_of[program.glo] = loaded, vehicle.clothes
        amount = 0.0 if vehicle.tint == _PLAIN_TINT else 1.0
        _set(program, "tint", (*vehicle.tint, amount))
        self._array(program, loaded, glass).render(moderngl.TRIANGLES)


def _of_other_bodies(vehicle: DrawnVehicle) -> bool:
    """Parts of its model go with bodies that it has not: it is drawn as links alone, as a chain of rods is."""
    parts = vehicle.config.model.parts
    return any(part.body and part.body not in {*vehicle.bodies, STAND} for part in parts)


def _has_model(vehicle: DrawnVehicle, *, far: bool = False) -> bool:
    """Whether there is such a model; asked several times a frame, looked up once for each config."""
    return _is_there(vehicle.model, vehicle.config, far)


@cache
def _is_there(name: str, config: VehicleConfig, far: bool) -> bool:
    return has_model(name, far=far)


def _sits_in(view: View, vehicle: DrawnVehicle) -> bool:
    """Whether the eye of a cockpit view is in this vehicle."""
    return view.inside and not vehicle.ghost and float(np.linalg.norm(view.eye_w - vehicle.T_wb[:3, 3])) < 3.0


def _node_matrices(
    asset: ModelAsset, vehicle: DrawnVehicle, pose: RigPose, hidden: frozenset[str]
) -> np.ndarray:
    """(MAX_NODES, 3, 4) float32, the rows that are not (0, 0, 0, 1); a hidden node shrinks to a point."""
    T_wb, pieces = vehicle.T_wb, vehicle.pieces
    matrices = np.zeros((MAX_NODES, 4, 4))
    count = len(asset.nodes)
    matrices[:count] = T_wb
    matrices[:count, :3, 3] += asset.pivots @ T_wb[:3, :3].T
    for k, name in enumerate(asset.nodes):
        if name in hidden:
            matrices[k, :3, :3] = 0.0
        elif name in pose.placed:
            matrices[k] = pose.placed[name]
        elif name in pose.nodes:
            matrices[k] = matrices[k] @ pose.nodes[name]
        if pieces:
            matrices[k] = pieces.get(name, pieces[""]) @ matrices[k]
    return matrices[:, :3].astype("f4")


def _attitude(T_wb: np.ndarray) -> tuple[float, float, float]:
    """(roll right-wing-down, pitch nose-up, heading) [rad] for the instruments."""
    forward, left, up = T_wb[:3, 0], T_wb[:3, 1], T_wb[:3, 2]
    pitch = float(np.arcsin(np.clip(forward[2], -1, 1)))
    return float(np.arctan2(left[2], up[2])), pitch, float(np.arctan2(forward[1], forward[0]))


def _set(program: moderngl.Program, name: str, value: object) -> None:
    if name in program:
        uniform(program, name).value = value


def _write_materials(program: moderngl.Program, asset: ModelAsset, clothes: Clothes) -> None:
    table = np.zeros((4, MAX_MATERIALS, 4), "f4")
    table[:, : len(asset.materials)] = asset.materials.transpose(1, 0, 2)
    for name, colour in clothes:
        table[0, [k for k, look in enumerate(asset.looks) if look == name], :3] = colour
    for name, rows in zip(("base", "second", "accent", "glow"), table, strict=True):
        _write(program, name, rows)


def _write(program: moderngl.Program, name: str, array: np.ndarray) -> None:
    if name in program:
        member = uniform(program, name)
        member.write(np.ascontiguousarray(array[: member.array_length], "f4"))
