"""What `[[props]]` of a scene may put up: kinds with their usual sizes and materials, rows and walls of them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from sim.contact.bodies import Prop
from sim.platform.toml_table import TomlTable
from sim.shapes import KINDS, Box, ConvexMesh, Drum, Shape, Sphere
from sim.shapes.shape import FAR_M, Vector
from sim.shapes.surface import upright

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


USUAL: Mapping[str, _Usual] = {
    "ball": _Usual(Sphere(_HERE, 0.25), 60.0, 0.5, 0.6, (0.80, 0.16, 0.08)),
    "barrel": _Usual(Drum(_HERE, 0.3, 0.45), 120.0, 0.5, 0.1, (0.10, 0.30, 0.62)),
    "brick": _Usual(Box(_HERE, (0.2, 0.4, 0.2)), 250.0, 0.6, 0.0, (0.45, 0.13, 0.06)),
    "domino": _Usual(Box(_HERE, (0.05, 0.2, 0.4)), 500.0, 0.45, 0.0, (0.70, 0.66, 0.55)),
    "plank": _Usual(Box(_HERE, (1.5, 0.15, 0.03)), 600.0, 0.6, 0.0, (0.55, 0.36, 0.16)),
    "ramp": _Usual(ConvexMesh(_WEDGE), 0.0, 0.8, 0.0, (0.45, 0.46, 0.48)),
}
"""What may be asked for by its name alone. Without a density it stays where it is."""
_PLAIN = _Usual(Sphere(_HERE, 0.5), 300.0, 0.6, 0.1, (0.5, 0.5, 0.5))


@dataclass(frozen=True, slots=True)
class Placed:
    """A prop and how it looks."""

    prop: Prop
    colour: Vector
    """Linear RGB."""


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
    if kind in USUAL:
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
    )
    count = table.integer("count", 1, low=1, high=MOST_PROPS)
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
            moved = shape.moved(at, faces) if shape.turns or kind not in USUAL else _turned(shape, at, faces)
            found.append(Placed(replace(prop, shape=moved), tuple(shade * part for part in colour)))  # type: ignore[arg-type]
            faces += turn
            place = place + step_m * upright(faces - 0.5 * turn + across)[:, 0]
    return found


def _turned(shape: Shape, at: Vector, heading_rad: float) -> Shape:
    """A shape about the origin with its heading at another place; what is round has none."""
    if not isinstance(shape, ConvexMesh):
        return shape.moved(at)
    points = np.array(shape.points_w) @ upright(heading_rad).T + at
    return replace(shape, points_w=tuple((float(a), float(b), float(c)) for a, b, c in points))
