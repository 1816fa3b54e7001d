"""Elastic rods and ropes: a Cosserat rod that neither shears nor stretches, as a chain of poses on ball joints.

Nodes are poses on SE(3), a link's length apart along -z of the one before; between two of them the turn is the
strain, which bending and twist stiffness resist: the springs' V is that of the rod's curvature held over the length
between the middles of two links. At a clamped end that is half a link. What is stiff and thin asks for short steps:
the fastest mode's period falls with the square of a link's length.
"""

import numpy as np
from numpy.typing import ArrayLike

from sim.multibody.declaration import WORLD, Body, Joint
from sim.platform.errors import InputError, number, quote, whole

MOST_LINKS = 500
_LARGEST = 1e100
"""Of lengths and masses: their squares are numbers."""


def rod(
    name: str,
    parent: str = WORLD,
    *,
    length_m: float,
    mass_kg: float,
    radius_m: float,
    links: int = 20,
    bending_Nm2: float = 0.0,
    twist_Nm2: float = 0.0,
    damping_Nms: float = 0.0,
    clamped: bool = False,
    position: tuple[float, float, float] = (0.0, 0.0, 0.0),
    R: ArrayLike = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
) -> tuple[Body, ...]:
    """Bodies `NAME 1` to `NAME n` for `tree`, straight along -z of R at `position` in the parent's frame when at rest.

    bending_Nm2, twist_Nm2: E I and G J, for a rope none or little. damping_Nms: of each joint. clamped: its upper end
    is held in direction, not only in place. What hangs on its end has the last link as its parent, at
    (0, 0, -length/n). Raises InputError.
    """
    if not isinstance(name, str) or not name:
        raise InputError(f"a rod's name is {quote(name)}; allowed: text")
    for what, value in (("length_m", length_m), ("mass_kg", mass_kg), ("radius_m", radius_m)):
        if number(f"rod {name!r}: {what}", value, above=0.0) > _LARGEST:
            raise InputError(f"rod {name!r}: {what} = {quote(value)} is refused; allowed: up to {_LARGEST:g}")
    for what, value in (("bending_Nm2", bending_Nm2), ("twist_Nm2", twist_Nm2), ("damping_Nms", damping_Nms)):
        number(f"rod {name!r}: {what}", value, low=0.0)
    if not isinstance(clamped, bool | np.bool):
        raise InputError(f"rod {name!r}: clamped = {quote(clamped)} is refused; allowed: True, False")
    if whole(f"rod {name!r}: links", links, "links") > MOST_LINKS:
        raise InputError(f"rod {name!r}: links = {quote(links)} is refused; allowed: 1 to {MOST_LINKS}")
    each_m, each_kg = length_m / links, mass_kg / links
    across = each_kg * (each_m**2 / 12.0 + radius_m**2 / 4.0)
    bodies = []
    for k in range(links):
        held = 1.0 if k else 2.0 if clamped else 0.0
        bend, twist = held * bending_Nm2 / each_m, held * twist_Nm2 / each_m
        bodies.append(
            Body(
                f"{name} {k + 1}",
                f"{name} {k}" if k else parent,
                Joint("ball", stiffness=(bend, bend, twist), damping=damping_Nms),
                position=(0.0, 0.0, -each_m) if k else position,
                R=np.eye(3) if k else R,
                mass=each_kg,
                centre=(0.0, 0.0, -0.5 * each_m),
                inertia=(across, across, 0.5 * each_kg * radius_m**2),
            )
        )
    return tuple(bodies)
