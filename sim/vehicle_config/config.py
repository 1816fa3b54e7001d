"""How a vehicle touches the ground, is flown, looked at and drawn: read strictly from its `vehicle.toml`.

Every refusal is one line with file, key and what is allowed.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sim.groups import SE2
from sim.multibody.robots.robot import Geom
from sim.platform.errors import InputError, one_of, quote
from sim.platform.toml_table import TomlTable
from sim.platform.values import dataclass
from sim.vehicle_config.instruments import Instruments, Sensing, read_instruments, read_sensing
from sim.vehicle_config.model import Model, TracksConfig, read_model, read_tracks
from sim.vehicle_config.modes import Keys, Modes, Raw, read_keys, read_modes, read_raw
from sim.vehicle_config.radiation import Radiation
from sim.vehicle_config.terms import Declared, Names, Term, constant, read_term
from sim.vehicles.forms.parameters import Control

MOST_TRIANGLES, _SAME_M = 20000, 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class HullMesh:
    """Triangles (n, 3) into vertices (k, 3) [m]; several closed pieces may lie side by side."""

    vertices: np.ndarray
    triangles: np.ndarray

    @staticmethod
    def of(vertices: ArrayLike, triangles: ArrayLike, where: str = "hull") -> "HullMesh":
        """Vertices at the same place become one.

        Raises InputError, naming the edge, where the surface is open or folded onto itself, and where it is inside out.
        """
        points, faces = np.array(vertices, float), np.array(triangles, np.int64)
        if points.ndim != 2 or points.shape[1] != 3 or not np.isfinite(points).all():
            raise InputError(f"{where}: vertices are (k, 3) finite numbers, not {points.shape}")
        if faces.ndim != 2 or faces.shape[1] != 3 or not 4 <= len(faces) <= MOST_TRIANGLES:
            raise InputError(f"{where}: {len(faces)} triangles; allowed: 4 to {MOST_TRIANGLES}")
        if faces.min() < 0 or faces.max() >= len(points):
            raise InputError(f"{where}: a triangle names vertex {int(faces.max())} of {len(points)}")
        _, first, inverse = np.unique(
            np.round(points / _SAME_M).astype(np.int64), axis=0, return_index=True, return_inverse=True
        )
        points, faces = points[first], inverse.ravel()[faces]
        distinct = (faces != np.roll(faces, 1, axis=1)).all(axis=1)
        faces = faces[distinct]
        _check_closed(points, faces, where)
        hull = HullMesh(np.ascontiguousarray(points), np.ascontiguousarray(faces))
        if hull.volume_m3 <= 0.0:
            raise InputError(
                f"{where}: its triangles face inwards; allowed: counter-clockwise seen from outside"
            )
        return hull

    @staticmethod
    def box(
        length: float, beam: float, height: float, *, cells: tuple[int, int, int] = (1, 1, 1)
    ) -> "HullMesh":
        """A box about the origin, its faces divided into that many cells along x, y, z."""
        vertices: list[np.ndarray] = []
        triangles: list[np.ndarray] = []
        half = 0.5 * np.array([length, beam, height])
        for axis in range(3):
            a, b = (axis + 1) % 3, (axis + 2) % 3
            u, v = (np.linspace(-1.0, 1.0, cells[k] + 1) for k in (a, b))
            for side in (-1.0, 1.0):
                grid = np.zeros((len(u), len(v), 3))
                grid[..., a], grid[..., b], grid[..., axis] = u[:, None], v[None, :], side
                index = np.arange(grid[..., 0].size).reshape(len(u), len(v)) + sum(map(len, vertices))
                corner = [index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]]
                first, second, third, fourth = (c.ravel() for c in corner)
                quads = [np.stack([first, second, third], 1), np.stack([first, third, fourth], 1)]
                faces = np.concatenate(quads)
                triangles.append(faces if side > 0 else faces[:, ::-1])
                vertices.append(grid.reshape(-1, 3) * half)
        return HullMesh.of(np.concatenate(vertices), np.concatenate(triangles))

    @staticmethod
    def read(path: Path) -> "HullMesh":
        """From a Wavefront file: `v` and `f` lines, faces of three corners or more.

        Raises InputError with the line for what cannot be read, and as `of` does.
        """
        vertices: list[list[float]] = []
        faces: list[tuple[int, int, int]] = []
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{path}: cannot be read: {error}") from None
        for number, line in enumerate(lines, 1):
            kind, *words = line.split() or [""]
            try:
                if kind == "v":
                    vertices.append([float(word) for word in words[:3]])
                elif kind == "f":
                    corner = [int(word.split("/")[0]) - 1 for word in words]
                    faces += [(corner[0], corner[k], corner[k + 1]) for k in range(1, len(corner) - 1)]
            except ValueError:
                raise InputError(f"{path}: line {number}: not a vertex or face: {line.strip()!r}") from None
        return HullMesh.of(vertices, faces, str(path))

    @property
    def volume_m3(self) -> float:
        a, b, c = (self.vertices[self.triangles[:, k]] for k in range(3))
        return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)

    @property
    def outermost(self) -> np.ndarray:
        """(k, 3) [m] the vertices that lie farthest out in one of 98 directions: what touches a flat ground first."""
        steps = np.array([n for n in np.ndindex(5, 5, 5) if max(abs(k - 2) for k in n) == 2]) - 2
        farthest = np.argmax(self.vertices @ steps.T, axis=0)
        return np.ascontiguousarray(self.vertices[np.unique(farthest)])

    @property
    def reach_m(self) -> float:
        """Greatest distance of a point from the body origin."""
        return float(np.linalg.norm(self.vertices, axis=1).max())


def _check_closed(points: np.ndarray, faces: np.ndarray, where: str) -> None:
    """Every edge has one face on either side."""
    edges = Counter((int(a), int(b)) for face in faces for a, b in zip(face, np.roll(face, -1), strict=True))
    for (a, b), count in edges.items():
        if count != edges.get((b, a), 0):
            ends = " to ".join("(" + ", ".join(f"{x:g}" for x in points[k]) + ")" for k in (a, b))
            raise InputError(
                f"{where}: the surface is not closed at the edge from {ends} m: a face is missing or turned round there"
            )


CHANNELS = 32
CENTRE_US, HALF_US = 1500.0, 500.0


@dataclass(frozen=True, slots=True)
class Servo:
    """One control: rest + reach * sum of weight * (pulse - 1500 us) / 500 us."""

    control: str
    weights: tuple[tuple[int, float], ...]
    """(channel, from 1 on, weight)."""
    reach: Term
    rest: Term

    def value(self, pwm_us: Sequence[float], values: Mapping[str, float]) -> float | None:
        """In the control's unit; None where a channel is off, as a pulse of 0 says, or is not there.

        values: named numbers of the vehicle, which its terms may use.
        """
        pulses = [pwm_us[channel - 1] if channel <= len(pwm_us) else 0.0 for channel, _ in self.weights]
        if not all(pulses):
            return None
        share = sum(w * (us - CENTRE_US) / HALF_US for (_, w), us in zip(self.weights, pulses, strict=True))
        return self.rest.value(values) + self.reach.value(values) * share


def read_servos(table: TomlTable, controls: Sequence[Control], known: Names) -> tuple[Servo, ...]:
    """`[pwm]`: a table a control. Raises InputError."""
    found, names = [], [c.name for c in controls]
    for name in table.names():
        if name not in names:
            raise table.error(name, f"unknown control; allowed: {', '.join(names)}")
        inner = table.table(name)
        keys = [(k, f"ch{k}") for k in range(1, CHANNELS + 1)]
        weights = tuple(
            (k, inner.number(key, 0.0, low=-10.0, high=10.0)) for k, key in keys if inner.has(key)
        )
        if not weights:
            raise table.error(name, f"names no channel; allowed: ch1 to ch{CHANNELS}, each a weight")
        reach = read_term(inner, "reach", known)
        rest = read_term(inner, "rest", known, constant(0.0))
        inner.finish()
        found.append(Servo(name, weights, reach, rest))
    table.finish()
    return tuple(found)


_FAR_M = 1e4


@dataclass(frozen=True, slots=True, eq=False)
class Contact:
    """Where it touches the ground."""

    points: np.ndarray
    """(k, 4) body points [m]; the fourth number is 1 where a touch breaks the vehicle, else 0."""
    fragile: bool = False
    """A hard touch, or water over what breaks, ends the flight."""

    @property
    def soles_m(self) -> float:
        """Height of the body origin above level ground when the vehicle stands [m]."""
        return -float(self.points[:, 2].min())


MATERIALS = ("wood", "stone", "metal", "rubber")
"""Of which what strikes may be."""


@dataclass(frozen=True, slots=True)
class Camera:
    """How much room it takes in a picture, and where its pilot's eyes are; body frame."""

    distance_m: float
    """Of the chase camera."""
    lift_m: float
    """Aim above the body origin."""
    eye_b: tuple[float, float, float]
    """Of the pilot."""
    enclosed: bool
    """The pilot sits inside a modelled cabin."""


@dataclass(frozen=True, slots=True)
class TrailConfig:
    """Which point draws the trail, and how."""

    point_b: tuple[float, float, float] = (0.0, 0.0, 0.0)
    along: str = ""
    """Observable whose way gives the direction of the point from the origin, where the trail follows one."""
    kept_s: float = 14.0
    """Simulated time after which a trail has faded."""
    spacing_m: float = 0.35
    clear_m: float | None = None
    """No trail nearer than this to where the vehicle is; None: as the camera's distance suggests."""
    alpha: float = 0.65
    fading: float = 1.5
    """How fast it fades with age: 1 evenly, more at first the higher."""


@dataclass(frozen=True, slots=True)
class HullConfig:
    """What parts the water, in the body frame."""

    bow_m: float
    stern_m: float
    half_beam_m: float
    surface: HullMesh | None = None
    """The closed surface by which it floats."""
    radiation: Radiation | None = None
    """What it remembers of the waves that it makes; None: nothing."""
    screws: tuple["Screw", ...] = ()


@dataclass(frozen=True, slots=True)
class Screw:
    """What throws water astern while it pushes ahead."""

    at_m: tuple[float, float, float]
    """In the body frame."""
    push: Term
    """Share of all that it can, -1..1."""


@dataclass(frozen=True, slots=True)
class Footprint:
    """What meets walls and cones, quays and buoys: a rectangle seen from above, in the body frame."""

    centre_m: tuple[float, float]
    half_m: tuple[float, float]
    """Half its length and half its width."""
    crash_mps: float = 8.0
    """What stays in place and is met faster than this ends the ride."""
    towed: "tuple[tuple[str, Footprint], ...]" = ()
    """Of further bodies that go as the main one does, by their names."""

    @property
    def array(self) -> np.ndarray:
        """(4,) centre x, y, half length, half width."""
        return np.array([*self.centre_m, *self.half_m])

    @property
    def reach_m(self) -> float:
        """From the body origin to the farthest corner."""
        (x, y), (length, width) = self.centre_m, self.half_m
        return float(np.hypot(abs(x) + length, abs(y) + width))


@dataclass(frozen=True, slots=True)
class Fall:
    """What leans farther than this either way lies on the ground, and its ride has ended."""

    lean: str
    """Name of the observable [rad]."""
    most_rad: float


@dataclass(frozen=True, slots=True, eq=False)
class VehicleConfig:
    """Everything about a vehicle but its mechanics. Immutable: a changed file makes another one."""

    name: str
    """Of the vehicle; empty for what is none."""
    folder: Path | None
    """Of its files; None for vehicles that have none."""
    contact: Contact
    modes: Modes
    raw: Raw
    keys: Keys
    instruments: Instruments
    camera: Camera
    trail: TrailConfig
    model: Model
    sensors: Sensing = field(default_factory=Sensing)
    """What its controllers may measure, and how well."""
    servos: tuple[Servo, ...] = ()
    """By which an autopilot's board moves its controls; empty: by none."""
    hull: HullConfig | None = None
    tracks: TracksConfig | None = None
    footprint: Footprint | None = None
    fall: Fall | None = None
    """None for what cannot fall over."""
    solids: tuple[Geom, ...] = ()
    """Shapes of its bodies, by which it is drawn where its folder has no model."""
    marker: str = ""
    """The body at whose origin its distance from another motion is measured; empty: the main one."""
    material: str = "metal"
    """By which its blows are heard and seen."""
    looks: Mapping[str, "VehicleConfig"] = field(default_factory=dict)
    """By name: of the vehicles that some of its bodies look like."""

    def look_of(self, body: str) -> "VehicleConfig | None":
        """Of the vehicle that a body of this name looks like, where that is one of its own."""
        look = self.model.look_of(body)
        return None if look is None else self.looks[look]

    def file(self, name: str) -> Path | None:
        """A file of its folder, where it is there."""
        path = None if self.folder is None else self.folder / name
        return path if path is not None and path.is_file() else None


def read_config(
    path: Path | None,
    source: str,
    folder: Path | None,
    vehicle: Declared | None,
    fallback: VehicleConfig | None,
    others: Mapping[str, Callable[[], VehicleConfig]] | None = None,
) -> VehicleConfig:
    """The config in a file, checked against what the vehicle calls its numbers.

    path: None for a folder without the file. source: what refusals call it. fallback: stands in for the sections that
    are not there; None where there is none, then contact, keys, instruments and camera have to be.
    others: configs that `like` may name, which then stand in for its place. Raises InputError.
    """
    table = TomlTable(source, {}) if path is None else TomlTable.read(path, source, lines=True)
    known = Names(vehicle)
    like = others[table.name("like", tuple(others), "")]() if others and table.has("like") else None
    fallback = like or fallback

    def section(name: str, read: Any, usual: Any) -> Any:
        """One section by its reader, or the usual one; sections are all or nothing."""
        if usual is None and not table.has(name):
            raise table.error(name, f"is missing; allowed: [{name}]")
        return table.optional(name, read) if table.has(name) else usual

    config = VehicleConfig(
        name="" if vehicle is None else vehicle.name,
        folder=folder,
        contact=section("contact", _read_contact, fallback and fallback.contact),
        modes=section("modes", lambda t: read_modes(t, vehicle), like.modes if like else Modes()),
        raw=section("raw", lambda t: read_raw(t, vehicle, known), like.raw if like else Raw()),
        keys=section("keys", read_keys, fallback and fallback.keys),
        instruments=section(
            "instruments",
            lambda t: read_instruments(t, known, fallback.instruments if fallback else Instruments()),
            fallback and fallback.instruments,
        ),
        camera=section("camera", _read_camera, fallback and fallback.camera),
        trail=section("trail", _read_trail, like.trail if like else TrailConfig()),
        model=section("model", lambda t: read_model(t, known), fallback and fallback.model),
        sensors=section("sensors", read_sensing, like.sensors if like else Sensing()),
        servos=section(
            "pwm",
            lambda t: read_servos(t, () if vehicle is None else vehicle.controls, known),
            like.servos if like else (),
        ),
        hull=table.optional("hull", lambda t: _read_hull(t, folder, known)),
        tracks=table.optional("tracks", lambda t: read_tracks(t, known)),
        footprint=table.optional("footprint", lambda t: _read_footprint(t, known, vehicle)),
        fall=table.optional("fall", lambda t: _read_fall(t, known)),
        marker=table.name("marker", known.bodies, "") if table.has("marker") else "",
        material=table.name("material", MATERIALS, like.material if like else "metal"),
    )
    table.finish()
    return config


def _read_footprint(table: TomlTable, known: Names, vehicle: Declared | None) -> Footprint:
    """What meets walls and cones. Of a vehicle in the plane alone the main body's motion decides what others' do."""

    def rectangle(of: TomlTable) -> tuple[tuple[float, float], tuple[float, float]]:
        x, y = of.numbers("centre_m", (0.0, 0.0), low=-_FAR_M, high=_FAR_M, count=2)
        length, width = of.numbers("half_m", (0.5, 0.5), low=1e-3, high=_FAR_M, count=2)
        return (x, y), (length, width)

    def towed(of: TomlTable) -> tuple[str, Footprint]:
        if getattr(vehicle, "group", None) is not SE2:
            name = "this" if vehicle is None else vehicle.name
            raise table.error("towed", f"{name} tows nothing; allowed: vehicles in the plane, of SE2")
        found = of.name("body", known.bodies[1:], ""), Footprint(*rectangle(of))
        of.finish()
        return found

    crash_mps = table.number("crash_mps", 8.0, low=0.0, high=1e6)
    return Footprint(*rectangle(table), crash_mps, tuple(map(towed, table.tables("towed"))))


def _read_fall(table: TomlTable, known: Names) -> Fall:
    """From where on it has fallen over."""
    if not table.has("lean"):
        raise table.error("lean", f"is missing; allowed: {one_of(known.scalars, '')}")
    return Fall(
        table.name("lean", known.scalars, ""), table.number("most_rad", 1.0, low=0.0, high=float(np.pi))
    )


def _read_contact(table: TomlTable) -> Contact:
    """Points that it stands on, rings and points that break."""
    rows = [(*point, 0.0) for point in _points(table, "stands_on_m")]
    for ring in table.tables("ring"):
        x, y, z = ring.numbers("centre_m", (0.0, 0.0, 0.0), low=-_FAR_M, high=_FAR_M, count=3)
        radius_m = ring.number("radius_m", 1.0, low=0.0, high=_FAR_M)
        count = ring.integer("points", 12, low=3, high=64)
        broken = float(ring.flag("breaks", False))
        for angle in 2.0 * np.pi / count * np.arange(count):
            rows.append((x + radius_m * np.cos(angle), y + radius_m * np.sin(angle), z, broken))
        ring.finish()
    rows += [(*point, 1.0) for point in _points(table, "breaks_m")]
    if not rows:
        raise table.error("stands_on_m", "no point; allowed: a list of body points [m]")
    return Contact(np.array(rows, float), fragile=table.flag("fragile", False))


def _points(table: TomlTable, key: str) -> list[tuple[float, float, float]]:
    value = table.raw(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise table.error(key, f"{quote(value)} is refused; allowed: a list of [x, y, z]")
    wrapped = table.with_values({f"{key}[{k}]": item for k, item in enumerate(value)})
    found = (wrapped.numbers(name, (), low=-_FAR_M, high=_FAR_M, count=3) for name in wrapped.names())
    return [(x, y, z) for x, y, z in found]


def _read_camera(table: TomlTable) -> Camera:
    x, y, z = table.numbers("eye_m", (0.0, 0.0, 0.8), low=-_FAR_M, high=_FAR_M, count=3)
    return Camera(
        distance_m=table.number("distance_m", 7.0, low=0.1, high=_FAR_M),
        lift_m=table.number("lift_m", 0.3, low=-_FAR_M, high=_FAR_M),
        eye_b=(x, y, z),
        enclosed=table.flag("enclosed", False),
    )


def _read_trail(table: TomlTable) -> TrailConfig:
    usual = TrailConfig()
    x, y, z = table.numbers("point_m", usual.point_b, low=-_FAR_M, high=_FAR_M, count=3)
    return TrailConfig(
        point_b=(x, y, z),
        along=table.text("along"),
        kept_s=table.number("kept_s", usual.kept_s, low=0.1, high=600.0),
        spacing_m=table.number("spacing_m", usual.spacing_m, low=1e-4, high=100.0),
        clear_m=table.number("clear_m", 0.0, low=0.0, high=100.0) or None,
        alpha=table.number("alpha", usual.alpha, low=0.0, high=1.0),
        fading=table.number("fading", usual.fading, low=0.0, high=10.0),
    )


def _read_hull(table: TomlTable, folder: Path | None, known: Names) -> HullConfig:
    name, radiation = table.text("surface"), table.text("radiation")
    for key, file in (("surface", name), ("radiation", radiation)):
        if file and (folder is None or Path(file).name != file):
            raise table.error(key, f"{quote(file)} is refused; allowed: a file of the vehicle's folder")
    return HullConfig(
        bow_m=table.number("bow_m", 1.0, low=-_FAR_M, high=_FAR_M),
        stern_m=table.number("stern_m", -1.0, low=-_FAR_M, high=_FAR_M),
        half_beam_m=table.number("half_beam_m", 0.5, low=0.0, high=_FAR_M),
        surface=HullMesh.read(folder / name) if name and folder is not None else None,
        radiation=Radiation.read(folder / radiation) if radiation and folder is not None else None,
        screws=tuple(_read_screw(screw, known) for screw in table.tables("screws")),
    )


def _read_screw(table: TomlTable, known: Names) -> Screw:
    """What throws water astern."""
    x, y, z = table.numbers("at_m", (0.0, 0.0, 0.0), low=-_FAR_M, high=_FAR_M, count=3)
    screw = Screw((x, y, z), read_term(table, "push", known))
    table.finish()
    return screw
