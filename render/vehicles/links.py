"""What is drawn of a vehicle's bodies without a model: capsules and ropes; and over it ellipsoids of inertia, axes of
joints, contact shapes, the body that is chosen."""

from collections.abc import Sequence
from functools import lru_cache

import moderngl
import numpy as np

from render.frame import DrawnVehicle, Polyline, Surface
from render.land.mesh import Mesh
from render.passes.targets import PassContext
from render.programs import Programs, uniform, vertex_array
from render.vehicles.shown import ShownLane
from sim.contact.obstacles import PropsPicture
from sim.groups.numeric import turned_to
from sim.models.solids import MATERIALS, MAX_MATERIALS
from sim.multibody.shapes import ROPE, UNSEEN, Link
from sim.shapes import Shape
from sim.shapes.surface import capsule_surface, ellipsoid_surface, grid_indices
from sim.vehicle_config.mechanism import BodyMass, Mechanism, mechanism_of

Colour = tuple[float, float, float]
INERTIA: Colour = (0.95, 0.80, 0.30)
AXIS: Colour = (0.25, 0.70, 1.0)
CONTACT: Colour = (0.30, 0.95, 0.55)
CHOSEN: Colour = (1.0, 0.45, 0.05)
_DOT_M = 0.012
"""Radius of a contact point of what has no radius, of the distance from which the vehicle is looked at."""
_AXIS = 0.05
"""Half length of a joint's axis, likewise."""
_ABOUT = 1.12
"""Of the chosen body's capsules: how much thicker what is drawn about them is."""
_ANGLES = np.linspace(0.0, 2.0 * np.pi, 41)
_CIRCLE = np.column_stack([np.cos(_ANGLES), np.sin(_ANGLES), np.zeros(len(_ANGLES))])


def _mechanism(shown: ShownLane) -> Mechanism:
    return Mechanism() if shown.lane.mechanics is None else mechanism_of(shown.lane.mechanics)


def _pose(shown: ShownLane, body: str) -> np.ndarray | None:
    """(4, 4) where a body is drawn; an empty name is the main one."""
    return shown.T_wb if not body else shown.bodies.get(body)


def _placed(T_wb: np.ndarray, points_b: np.ndarray) -> np.ndarray:
    placed: np.ndarray = T_wb[:3, 3] + points_b @ T_wb[:3, :3].T
    return placed


def inertia_ellipsoids(shown: ShownLane) -> tuple[Surface, ...]:
    """About the centre of mass of every body that tells its mass and its moments."""
    found = []
    for each in _mechanism(shown).masses:
        T_wb = _pose(shown, each.body)
        if T_wb is None or each.half_m is None:
            continue
        points, normals, faces = ellipsoid_surface(each.half_m)
        corners, turned = faces.ravel(), T_wb[:3, :3] @ each.R_b
        points_w = _placed(T_wb, each.centre_b + points[corners] @ each.R_b.T)
        found.append(Surface(points_w, normals[corners] @ turned.T, INERTIA, 0.28))
    return tuple(found)


def inertia_rings(shown: ShownLane) -> tuple[Polyline, ...]:
    """Where their three planes cut the ellipsoids, and a cross at each centre of mass."""
    return tuple(line for each in _mechanism(shown).masses for line in _rings(shown, each))


def _rings(shown: ShownLane, mass: BodyMass) -> list[Polyline]:
    T_wb, half = _pose(shown, mass.body), mass.half_m
    if T_wb is None or half is None:
        return []
    rings = [half * np.roll(_CIRCLE, k, axis=1) for k in range(3)]
    arms = [0.25 * half * np.outer((-1.0, 1.0), axis) for axis in np.eye(3)]
    return [_line(T_wb, mass.centre_b + points @ mass.R_b.T, INERTIA, 2.0) for points in (*rings, *arms)]


def _line(T_wb: np.ndarray, points_b: np.ndarray, colour: Colour, width_px: float) -> Polyline:
    """Seen through the body that it is of, in which most of it lies."""
    return Polyline(_placed(T_wb, points_b), colour, np.full(len(points_b), 0.9), width_px, through=True)


def joint_axes(shown: ShownLane) -> tuple[Polyline, ...]:
    """A line along each hinge and slide; about a hinge a ring."""
    length, lines = _AXIS * shown.lane.config.camera.distance_m, []
    for axis in _mechanism(shown).axes:
        T_wb = _pose(shown, axis.body)
        if T_wb is None:
            continue
        ends = axis.at_b + length * np.outer((-1.0, 1.0), axis.axis_b)
        lines.append(_line(T_wb, ends, AXIS, 3.0))
        if not axis.slides:
            ring = 0.45 * length * _CIRCLE @ turned_to(axis.axis_b).T
            lines.append(_line(T_wb, axis.at_b + ring, AXIS, 2.0))
    return tuple(lines)


def contact_shapes(shown: ShownLane) -> tuple[Surface, ...]:
    """What of it touches the ground: balls at the ends of capsules, dots at points."""
    dot, found = _DOT_M * shown.lane.config.camera.distance_m, []
    for sphere in _mechanism(shown).contacts:
        T_wb = _pose(shown, sphere.body)
        if T_wb is None:
            continue
        radius = sphere.radius_m or dot
        points, normals, faces = ellipsoid_surface(np.full(3, 1.02 * radius))
        corners = faces.ravel()
        points_w = _placed(T_wb, sphere.at_b + points[corners])
        found.append(Surface(points_w, normals[corners] @ T_wb[:3, :3].T, CONTACT, 0.4))
    return tuple(found)


def chosen_body(shown: ShownLane, body: str) -> tuple[tuple[Surface, ...], tuple[Polyline, ...]]:
    """A shell about the capsules of a body, and a cross at its centre of mass; nothing where there is no such body."""
    T_wb = shown.bodies.get(body)
    if not body or T_wb is None:
        return (), ()
    shells = []
    for link in shown.lane.links:
        if link.body != body:
            continue
        begin, way = np.array(link.begin_b), np.subtract(link.end_b, link.begin_b)
        points, normals, faces = capsule_surface(_ABOUT * link.radius_m + 0.002, 0.5 * link.length_m)
        R_b = turned_to(way) if link.length_m > 1e-9 else np.eye(3)
        corners = faces.ravel()
        points_w = _placed(T_wb, begin + 0.5 * way + points[corners] @ R_b.T)
        shells.append(Surface(points_w, normals[corners] @ (T_wb[:3, :3] @ R_b).T, CHOSEN, 0.33))
    mass = _mechanism(shown).mass_of(body) or _mechanism(shown).mass_of("")
    centre = np.zeros(3) if mass is None else mass.centre_b
    arm = 0.6 * _AXIS * shown.lane.config.camera.distance_m
    cross = [_line(T_wb, centre + arm * np.outer((-1.0, 1.0), axis), CHOSEN, 3.0) for axis in np.eye(3)]
    return tuple(shells), tuple(cross)


PIECES = 5
"""Of a link."""


def runs_of(links: tuple[Link, ...]) -> list[tuple[Link, ...]]:
    """What hangs together, one after the other."""
    runs: list[list[Link]] = []
    follows = False
    for link in links:
        if link.finish == ROPE:
            if not follows:
                runs.append([])
            runs[-1].append(link)
        follows = link.finish == ROPE
    return [tuple(run) for run in runs]


def smooth(nodes: np.ndarray) -> np.ndarray:
    """(PIECES (n - 1) + 1, 3) points of the Catmull-Rom curve through nodes (n, 3), n > 1."""
    slopes = np.gradient(nodes, axis=0)
    t = np.linspace(0.0, 1.0, PIECES + 1)[:-1, None]
    a, b, c, d = 2 * t**3 - 3 * t**2 + 1, t**3 - 2 * t**2 + t, 3 * t**2 - 2 * t**3, t**3 - t**2
    begin, end, out, into = nodes[:-1, None], nodes[1:, None], slopes[:-1, None], slopes[1:, None]
    curve = (a * begin + b * out + c * end + d * into).reshape(-1, 3)
    return np.vstack([curve, nodes[-1]])


def along(begin: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """((n, 3, 4) poses of the middles with z along, (n,) lengths) of segments (n, 3)."""
    way = end - begin
    length = np.linalg.norm(way, axis=1)
    z = np.where(length[:, None] > 0.0, way / np.maximum(length, 1e-12)[:, None], np.array([0.0, 0.0, 1.0]))
    aside = np.where(np.abs(z[:, :1]) < 0.8, np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]))
    x = np.cross(aside, z)
    x /= np.linalg.norm(x, axis=1)[:, None]
    return np.stack([x, np.cross(z, x), z, begin + 0.5 * way], axis=-1), length


def strand_rows(run: tuple[Link, ...], T_wb: np.ndarray) -> np.ndarray:
    """(k, 15) instances as `links.instances_of` has them, of links whose bodies are at (n, 4, 4)."""
    begin, tip = np.array([link.begin_b for link in run]), np.array(run[-1].end_b)
    nodes = np.einsum("nij,nj->ni", T_wb[:, :3, :3], begin) + T_wb[:, :3, 3]
    points = smooth(np.vstack([nodes, T_wb[-1, :3, :3] @ tip + T_wb[-1, :3, 3]]))
    poses, length = along(points[:-1], points[1:])
    size = np.column_stack([np.full(len(length), run[0].radius_m), 0.5 * length, np.full(len(length), ROPE)])
    return np.concatenate([poses.reshape(-1, 12), size], axis=1)


_SECTORS, _RINGS = 12, 4
"""Of a capsule, and of each of its round ends."""
_FLOATS = 16
"""Of an instance on the GPU."""
_PLAIN_TINT = (1.0, 1.0, 1.0)


def capsule_mesh() -> Mesh:
    """Vertices (n, 7): position and normal on a ball, and the end of the capsule; z along it."""
    angles = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 2 * _RINGS + 1)
    rows = np.insert(angles, _RINGS, 0.0)  # the equator once for each end
    ends = np.repeat([-1.0, 1.0], [_RINGS + 1, _RINGS + 1])
    around = np.linspace(0.0, 2.0 * np.pi, _SECTORS + 1)
    ball = np.stack(
        [
            np.cos(rows)[:, None] * np.cos(around),
            np.cos(rows)[:, None] * np.sin(around),
            np.repeat(np.sin(rows)[:, None], len(around), axis=1),
        ],
        axis=-1,
    )
    end = np.repeat(ends[:, None, None], len(around), axis=1)
    vertices = np.concatenate([ball, ball, end], axis=-1).reshape(-1, 7)
    # The grid's triangles face inwards where rows go up and columns about z.
    return Mesh(vertices.astype("f4"), grid_indices(len(rows), len(around))[:, [0, 2, 1]])


@lru_cache(maxsize=16)
def instances_of(vehicle: DrawnVehicle) -> np.ndarray:
    """(n, 15) float32: three rows of the pose of each capsule's middle, z along it, radius, half length, material.

    Ropes are of more and shorter ones than their links.
    """
    index = {name: k for k, name in enumerate(vehicle.bodies)}
    T_wb = np.array([*vehicle.bodies.values()])
    rows = [np.zeros((0, _FLOATS - 1))]
    single = tuple(shape for shape in vehicle.links if shape.finish not in (UNSEEN, ROPE))
    if single:
        names, own, size = _resting(single)
        T = T_wb[[index[name] for name in names]]
        placed = T[:, :3, :3] @ own
        placed[:, :, 3] += T[:, :3, 3]
        rows.append(np.concatenate([placed.reshape(-1, 12), size], axis=1))
    rows += [strand_rows(run, T_wb[[index[shape.body] for shape in run]]) for run in runs_of(vehicle.links)]
    found: np.ndarray = np.concatenate(rows).astype("f4")
    return found


@lru_cache(maxsize=16)
def _resting(links: tuple[Link, ...]) -> tuple[tuple[str, ...], np.ndarray, np.ndarray]:
    """Bodies, poses (n, 3, 4) of the capsules' middles in their bodies, sizes (n, 3)."""
    own, length = along(np.array([s.begin_b for s in links]), np.array([s.end_b for s in links]))
    size = np.column_stack([[shape.radius_m for shape in links], 0.5 * length, [s.finish for s in links]])
    return tuple(shape.body for shape in links), own, size


class Instances:
    """Owns one mesh, and room for many of it: a draw call for all."""

    def __init__(self, ctx: moderngl.Context, programs: Programs, mesh: Mesh, room: int = 64):
        self._ctx = ctx
        self._vertices = ctx.buffer(np.ascontiguousarray(mesh.vertices))
        self._indices = ctx.buffer(np.ascontiguousarray(mesh.indices))
        self._programs = {
            "opaque": programs.load("models/link.vert", "models/body.frag", NO_DIALS=1),
            "blend": programs.load("models/link.vert", "models/ghost.frag", OF_MANY=1),
            "shadow": programs.load("models/link.vert", "models/depth.frag", DEPTH_ONLY=1),
        }
        self._reserve(room)

    def draw(self, rows: np.ndarray, tables: np.ndarray, vehicle: DrawnVehicle, context: PassContext) -> None:
        """Instances (n, 15) as `instances_of` has them, or (n, 16) with how much of each ghost is seen; tables (4,
        materials, 4) of `material_tables`."""
        if rows.shape[1] < _FLOATS:
            rows = np.column_stack([rows, np.full(len(rows), vehicle.presence)]).astype("f4")
        if len(rows) > self._room:
            self._release_instances()
            self._reserve(2 * len(rows))
        self._instances.orphan()
        self._instances.write(np.ascontiguousarray(rows))
        program = self._programs[context.name]
        _write_materials(program, tables)
        amount = 0.0 if vehicle.tint == _PLAIN_TINT else 1.0
        _set(program, "tint", (*vehicle.tint, amount))
        _set(program, "scorch", 1.0 if vehicle.wreck else 0.0)
        self._ctx.enable(moderngl.CULL_FACE)
        self._ctx.cull_face = "front" if context.mirrored else "back"
        self._arrays[context.name].render(moderngl.TRIANGLES, instances=len(rows))
        self._ctx.cull_face = "back"
        self._ctx.disable(moderngl.CULL_FACE)

    def release(self) -> None:
        """Free buffers and arrays."""
        self._release_instances()
        self._vertices.release()
        self._indices.release()

    def _reserve(self, room: int) -> None:
        self._room = room
        self._instances = self._ctx.buffer(reserve=4 * _FLOATS * room, dynamic=True)
        content = [
            (self._vertices, "3f 3f 1f", "position", "normal", "end"),
            (self._instances, "4f 4f 4f 4f/i", "row_x", "row_y", "row_z", "size"),
        ]
        self._arrays = {
            name: vertex_array(self._ctx, program, content, self._indices)
            for name, program in self._programs.items()
        }

    def _release_instances(self) -> None:
        for array in self._arrays.values():
            array.release()
        self._instances.release()


class LinkModels:
    """Draws the links of vehicles as capsules."""

    def __init__(self, ctx: moderngl.Context, programs: Programs):
        self._capsules = Instances(ctx, programs, capsule_mesh(), 512)

    def draw(self, vehicle: DrawnVehicle, context: PassContext) -> None:
        """One vehicle's links in one pass: solid ones in "opaque" and "shadow", ghosts in "blend"."""
        if vehicle.ghost != (context.name == "blend"):
            return
        rows = instances_of(vehicle)
        if len(rows) and np.isfinite(rows).all():
            self._capsules.draw(rows, _LINK_TABLES, vehicle, context)

    def release(self) -> None:
        """Free buffers and arrays."""
        self._capsules.release()


class SolidModels:
    """Draws a scene's props by their shapes: what is alike but for its place by one mesh."""

    def __init__(self, ctx: moderngl.Context, programs: Programs):
        self._ctx, self._loader = ctx, programs
        self._known: tuple[tuple[Shape, ...], tuple[tuple[float, float, float], ...]] = (), ()
        self._groups: list[tuple[Instances, np.ndarray]] = []
        self._tables, self._material = _LINK_TABLES, np.zeros(0)

    def draw(self, vehicle: DrawnVehicle, context: PassContext) -> None:
        """All of them in one pass: solid ones in "opaque" and "shadow", ghosts in "blend"."""
        solids = vehicle.solids
        if solids is None or vehicle.ghost != (context.name == "blend"):
            return
        if not np.isfinite(solids.poses_w).all():
            return
        if (solids.shapes, solids.colours) != self._known:
            self._load(solids)
        seen = np.ones(len(solids.shapes)) if vehicle.presences is None else vehicle.presences
        for instances, group in self._groups:
            which = group[seen[group] > 0.0]
            if not len(which):
                continue
            ones = np.ones(len(which))
            size = np.column_stack([ones, 0.0 * ones, self._material[which], seen[which]])
            rows = np.concatenate([solids.poses_w[which, :3].reshape(-1, 12), size], axis=1).astype("f4")
            instances.draw(rows, self._tables, vehicle, context)

    def release(self) -> None:
        """Free buffers and arrays."""
        for instances, _ in self._groups:
            instances.release()
        self._groups = []

    def _load(self, solids: PropsPicture) -> None:
        self.release()
        found: dict[bytes, tuple[np.ndarray, np.ndarray, list[int]]] = {}
        for k, (shape, T) in enumerate(zip(solids.shapes, solids.rest_w, strict=True)):
            points, normals, faces = shape.surface()
            own = np.zeros((len(points), 7), "f4")
            own[:, :3], own[:, 3:6] = (points - T[:3, 3]) @ T[:3, :3], normals @ T[:3, :3]
            # To a hundredth of a millimetre alike.
            key = np.round(own * 1e5).astype("i8").tobytes()
            found.setdefault(key, (own, faces, []))[2].append(k)
        self._groups = [
            (Instances(self._ctx, self._loader, Mesh(own, faces.astype("u4"))), np.array(which))
            for own, faces, which in found.values()
        ]
        colours = list(dict.fromkeys(solids.colours))[:MAX_MATERIALS]
        nearest = [np.abs(np.subtract(colours, one)).sum(axis=1).argmin() for one in solids.colours]
        self._material = np.array(nearest, float)
        self._tables = material_tables([(colour, 0.0, 0.6, 0.0) for colour in colours])
        self._known = solids.shapes, solids.colours


Material = tuple[tuple[float, float, float], float, float, float]
"""Linear RGB, metallic, roughness, finish."""


def material_tables(materials: Sequence[Material]) -> np.ndarray:
    """(4, MAX_MATERIALS, 4) as the shaders of bodies take them."""
    tables = np.zeros((4, MAX_MATERIALS, 4), "f4")
    for k, (colour, metallic, roughness, finish) in enumerate(materials):
        tables[0, k] = *colour, metallic
        tables[1, k] = *colour, roughness
        tables[2, k] = *colour, finish
        tables[3, k, 3] = 1.0
    return tables


_LINK_TABLES = material_tables(MATERIALS)


def _write_materials(program: moderngl.Program, tables: np.ndarray) -> None:
    for name, rows in zip(("base", "second", "accent", "glow"), tables, strict=True):
        if name in program:
            uniform(program, name).write(np.ascontiguousarray(rows[: uniform(program, name).array_length]))


def _set(program: moderngl.Program, name: str, value: object) -> None:
    if name in program:
        uniform(program, name).value = value
