"""Where signs go that must lie within a picture and not on one another."""

from collections.abc import Sequence

Box = tuple[float, float, float, float]
"""x, y, width, height; y down."""


def placed(wanted: Box, within: Box, taken: Sequence[Box], *, step: float) -> Box:
    """The box, moved into `within` and then up or down, as little as needed, until it is clear of those taken.

    Where there is no room it stays: rather on another one than outside.
    """
    x, y, width, height = wanted
    left, top, room, depth = within
    x = min(max(x, left), max(left + room - width, left))
    lowest = max(top + depth - height, top)
    y = min(max(y, top), lowest)
    steps = int(depth / step) + 1
    for k in range(2 * steps):
        # Upwards first, then downwards, ever farther.
        moved = y + (k + 1) // 2 * step * (1.0 if k % 2 == 0 else -1.0)
        box = (x, moved, width, height)
        if top <= moved <= lowest and not any(overlap(box, other) for other in taken):
            return box
    return x, y, width, height


def overlap(one: Box, other: Box) -> bool:
    """Whether two boxes have more than an edge in common."""
    return all(one[k] < other[k] + other[k + 2] and other[k] < one[k] + one[k + 2] for k in (0, 1))
