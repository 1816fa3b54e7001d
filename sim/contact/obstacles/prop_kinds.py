"""What `[[props]]` of a scene may put up: kinds with their usual sizes and materials, rows and walls of them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sim.contact.bodies import Prop
from sim.groups.numeric import euler_angles, upright
from sim.platform.toml_table import TomlTable
from sim.platform.values import dataclass
from sim.shapes import KINDS, Box, Capsule, ConvexMesh, Drum, Shape, Sphere
from sim.shapes.shape import FAR_M, Vector
from sim.vehicle_config.config import MATERIALS

MOST_PROPS = 1000
_HERE = (0.0, 0.0, 0.0)
_WEDGE = (
    (-1.0, -0.6, 0.0),
    (1.0, -0.6, 0.0),
    (1.0, 0.6, 0.0),
    (-1.0, 0.6, 0.0),
    (1.0, -0.6, 0.5),
    (1.0, 0.6, 0.5),
)


@dataclass(frozen=True, slots=True)
class _Usual:
    shape: Shape
    density_kgpm3: float
    friction: float
    restitution: float
    colour: Vector
    material: str


USUAL: Mapping[str, _Usual] = {
    "ball": _Usual(Sphere(_HERE, 0.25), 60.0, 0.5, 0.6, (0.80, 0.16, 0.08), "rubber"),
    "barrel": _Usual(Drum(_HERE, 0.3, 0.45), 120.0, 0.5, 0.1, (0.10, 0.30, 0.62), "metal"),
    "brick": _Usual(Box(_HERE, (0.2, 0.4, 0.2)), 250.0, 0.6, 0.0, (0.45, 0.13, 0.06), "stone"),
    "domino": _Usual(Box(_HERE, (0.05, 0.2, 0.4)), 500.0, 0.45, 0.0, (0.70, 0.66, 0.55), "wood"),
    "plank": _Usual(Box(_HERE, (1.5, 0.15, 0.03)), 600.0, 0.6, 0.0, (0.55, 0.36, 0.16), "wood"),
    "ramp": _Usual(ConvexMesh(_WEDGE), 0.0, 0.8, 0.0, (0.45, 0.46, 0.48), "stone"),
}
"""What may be asked for by its name alone. Without a density it stays where it is."""
_PLAIN = _Usual(Sphere(_HERE, 0.5), 300.0, 0.6, 0.1, (0.5, 0.5, 0.5), "wood")


@dataclass(frozen=True, slots=True)
class Placed:
    """A prop and how it looks."""

    prop: Prop
    colour: Vector
    """Linear RGB."""
    sling_m: float = 0.0
    """Length of a cord on its top by which hooks catch it; 0: it has none."""
    material: str = "wood"
    """How it sounds, and what flies off it."""

    def at(self, T_w: np.ndarray) -> "Placed":
        """It at rest with its principal axes at a pose (4, 4)."""
        shape, T = self.prop.shape, self.prop.shape.solid().T_w
        pitch = roll = yaw = 0.0
        if isinstance(shape, ConvexMesh | Capsule):
            # Neither has a heading: their points are put there.
            M = T_w @ np.linalg.inv(T)
            if isinstance(shape, ConvexMesh):
                shape = replace(shape, points_w=tuple(_carried(M, point) for point in shape.points_w))
            else:
                shape = replace(shape, start_w=_carried(M, shape.start_w), end_w=_carried(M, shape.end_w))
        else:
            R, (x, y, z) = T_w[:3, :3], (T_w[:3, 3] - T[:3, 3]).tolist()
            yaw, pitch, roll = euler_angles(R)
            if shape.turns:
                shape, yaw = shape.moved((x, y, z), yaw), 0.0
            else:
                shape = shape.moved((x, y, z))
        prop = replace(
            self.prop,
            shape=shape,
            pitch_rad=pitch,
            roll_rad=roll,
            yaw_rad=yaw,
            velocity_w=_HERE,
            omega_w=_HERE,
        )
        return replace(self, prop=prop)

    def scaled(self, factor: float) -> "Placed":
        """It larger by a factor, of the same density."""
        prop = self.prop
        larger = replace(prop, shape=prop.shape.scaled(factor), mass_kg=factor**3 * prop.mass_kg)
        return replace(self, prop=larger, sling_m=factor * self.sling_m)

    def text(self) -> dict[str, Any]:
        """Its table in a scene file; the inverse of what is read there."""
        prop, shape = self.prop, self.prop.shape
        told: dict[str, Any] = {"kind": shape.kind, **shape.text()}
        if not shape.turns:
            told["heading_deg"] = math.degrees(prop.yaw_rad)
        told |= {"sling_m": self.sling_m} if self.sling_m else {}
        told |= {"stays": True} if prop.mass_kg == 0.0 else {"mass_kg": prop.mass_kg}
        told |= {
            "friction": prop.friction,
            "restitution": prop.restitution,
            "rolling_m": prop.rolling_m,
            "spinning_m": prop.spinning_m,
            "pitch_deg": math.degrees(prop.pitch_rad),
            "roll_deg": math.degrees(prop.roll_rad),
            "skew_deg": math.degrees(prop.skew_rad),
            "velocity_mps": list(prop.velocity_w),
            "omega_radps": list(prop.omega_w),
            "colour": list(self.colour),
            "material": self.material,
        }
        return {
            key: value for key, value in told.items() if value not in (0.0, [0.0, 0.0, 0.0]) or key in _SAID
        }


_SAID = ("friction", "restitution", "colour")
"""Not usually 0."""


def _carried(T_w: np.ndarray, point: Vector) -> Vector:
    x, y, z = (T_w[:3, :3] @ point + T_w[:3, 3]).tolist()
    return x, y, z


def scene_with_props(text: str, placed: Sequence[Placed]) -> str:
    """The text of a scene file with these props in place of its own."""
    import tomlkit  # is for who writes

    scene = tomlkit.parse(text)
    scene.pop("props", None)
    if placed:
        tables = tomlkit.aot()
        for one in placed:
            own = tomlkit.table()
            own.update(one.text())
            tables.append(own)
        scene["props"] = tables
    return tomlkit.dumps(scene)


def usual(kind: str) -> Placed:
    """What `[[props]]` puts up of a kind by its name alone, at the world's origin."""
    one = USUAL[kind]
    mass_kg = one.density_kgpm3 * one.shape.solid().volume_m3
    return Placed(Prop(one.shape, mass_kg, one.friction, one.restitution), one.colour, material=one.material)


def read_placed(table: TomlTable) -> tuple[Placed, ...]:
    """Of `[[props]]`. Raises InputError, one line with file, key and what is allowed."""
    found = tuple(placed for own in table.tables("props") for placed in _read(own))
    if len(found) > MOST_PROPS:
        raise table.error("props", f"are {len(found)} bodies; allowed: {MOST_PROPS}")
    return found


def _read(table: TomlTable) -> list[Placed]:
    """One table: a body, or a row of `count` of them, each `step_m` on and turned by `turn_deg`, in `layers`."""
    kind = table.name("kind", (*USUAL, *(name for name, shape in KINDS.items() if shape.is_body)), "box")
    usual = USUAL.get(kind, _PLAIN)
    x, y, z = table.numbers("at_m", _HERE, low=-FAR_M, high=FAR_M, count=3)
    shape = usual.shape if kind in USUAL else KINDS[kind].read(table, "", "")
    heading = shape.heading
    if kind in USUAL or not shape.turns:
        heading = math.radians(table.number("heading_deg", 0.0, low=-360.0, high=360.0))
    solid = shape.solid()
    colour = table.numbers("colour", usual.colour, low=0.0, high=1.0, count=3)
    stays = table.flag("stays", usual.density_kgpm3 == 0.0)
    mass_kg = table.number("mass_kg", max(usual.density_kgpm3 * solid.volume_m3, 1e-3), low=1e-3, high=1e6)
    velocity = table.numbers("velocity_mps", _HERE, low=-1e3, high=1e3, count=3)
    omega = table.numbers("omega_radps", _HERE, low=-1e3, high=1e3, count=3)
    prop = Prop(
        shape,
        0.0 if stays else mass_kg,
        table.number("friction", usual.friction, low=0.0, high=10.0),
        table.number("restitution", usual.restitution, low=0.0, high=1.0),
        table.number("rolling_m", 0.0, low=0.0, high=10.0),
        table.number("spinning_m", 0.0, low=0.0, high=10.0),
        math.radians(table.number("pitch_deg", 0.0, low=-360.0, high=360.0)),
        math.radians(table.number("roll_deg", 0.0, low=-360.0, high=360.0)),
        (velocity[0], velocity[1], velocity[2]),
        (omega[0], omega[1], omega[2]),
        skew_rad=math.radians(table.number("skew_deg", 0.0, low=-90.0, high=90.0)),
    )
    count = table.integer("count", 1, low=1, high=MOST_PROPS)
    sling_m = table.number("sling_m", 0.0, low=0.0, high=20.0)
    material = table.name("material", MATERIALS, usual.material)
    layers = table.integer("layers", 1, low=1, high=100)
    extent = np.ptp(shape.extremes_w, axis=0) if kind in USUAL else 2.0 * np.ones(3)
    step_m = table.number("step_m", float(extent[1]), low=-1e3, high=1e3)
    rise_m = table.number("rise_m", float(extent[2]), low=0.0, high=1e3)
    turn = math.radians(table.number("turn_deg", 0.0, low=-180.0, high=180.0))
    across = math.radians(table.number("row_deg", 90.0, low=-360.0, high=360.0))
    layer_turn = math.radians(table.number("layer_turn_deg", 0.0, low=-180.0, high=180.0))
    table.finish()
    bond = layers > 1 and layer_turn == 0.0
    found = []
    for layer in range(layers):
        # A wall's layers stand over the joints of those below; others are turned about their middle.
        aside, faces = 0.5 * step_m * (layer % 2 if bond else 1 - count), heading + layer * layer_turn
        place = np.array([x, y, z + layer * rise_m]) + aside * upright(faces + across)[:, 0]
        if not bond:
            place += 0.5 * step_m * (count - 1) * upright(heading + across)[:, 0]
        for k in range(count - (layer % 2 if bond else 0)):
            shade = 1.0 - 0.12 * ((3 * k + 2 * layer) % 4)  # so that each is seen in a wall
            at = (float(place[0]), float(place[1]), float(place[2]))
            moved = _turned(shape, at, faces)
            yaw = 0.0 if shape.turns or isinstance(shape, ConvexMesh) else faces
            shaded = tuple(shade * part for part in colour)
            own = replace(prop, shape=moved, yaw_rad=yaw)
            found.append(Placed(own, shaded, sling_m, material))  # type: ignore[arg-type]
            faces += turn
            place = place + step_m * upright(faces - 0.5 * turn + across)[:, 0]
    return found


def _turned(shape: Shape, at: Vector, heading_rad: float) -> Shape:
    """A shape with its heading at another place; what has none stays as it is, and a mesh turns about the origin."""
    if shape.turns:
        return shape.moved(at, heading_rad)
    if not isinstance(shape, ConvexMesh):
        return shape.moved(at)
    points = np.array(shape.points_w) @ upright(heading_rad).T + at
    return replace(shape, points_w=tuple((float(a), float(b), float(c)) for a, b, c in points))
