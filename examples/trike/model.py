"""The tricycle's model: a frame with a saddle, two driven wheels, and a fork with its wheel."""

from collections.abc import Mapping

import numpy as np

from assets.scripts.gltf import Material, Node
from assets.scripts.mesh import both_sides
from assets.scripts.shapes import box, tube
from assets.scripts.wheel import rim, tyre

WHEELBASE, RADIUS, HALF_TRACK = 1.1, 0.3, 0.33
DETAILS = {"model": 1.0}
CELL_M = 0.02

MATERIALS: Mapping[str, Material] = {
    "paint": Material((0.02, 0.16, 0.30), metallic=0.2, roughness=0.25),
    "steel": Material((0.55, 0.56, 0.57), metallic=1.0, roughness=0.3),
    "rubber": Material((0.022, 0.022, 0.023), roughness=0.8),
    "leather": Material((0.16, 0.055, 0.02), roughness=0.6),
}


def build(detail: float = 1.0) -> list[Node]:
    """Nodes `frame`, `rear_wheels`, `fork`, `front_wheel`; pivots are where the vehicle's bodies have their origins."""
    sides = max(int(40 * detail), 12)
    return [_frame(), _rear_wheels(sides), _fork(), _front_wheel(sides)]


def _frame() -> Node:
    frame = Node("frame")
    spine = [(0.0, 0.0, RADIUS), (0.35, 0.0, 0.42), (0.75, 0.0, 0.72), (WHEELBASE - 0.07, 0.0, 0.86)]
    frame.add("paint", tube(np.array(spine), 0.028, sides=14))
    stay = [(0.30, 0.0, 0.40), (0.16, 0.0, 0.62), (0.10, 0.0, 0.80)]
    frame.add("paint", tube(np.array(stay), 0.022, sides=12))
    frame.add("leather", box((0.30, 0.19, 0.06), bevel=0.02, taper=(0.85, 0.6)).moved((0.10, 0.0, 0.84)))
    basket = box((0.34, 0.46, 0.02), bevel=0.005).moved((-0.12, 0.0, 0.62))
    frame.add("steel", basket)
    post = tube(np.array([(0.0, 0.17, RADIUS), (-0.12, 0.17, 0.62)]), 0.012)
    frame.add("steel", both_sides(post))
    return frame


def _rear_wheels(sides: int) -> Node:
    wheels = Node("rear_wheels", pivot=(0.0, 0.0, RADIUS))
    for side in (-1.0, 1.0):
        place = (0.0, side * HALF_TRACK, RADIUS)
        wheels.add("rubber", tyre(RADIUS, 0.05, sides=sides).moved(place))
        wheels.add("steel", rim(RADIUS, 0.045, spokes=8, sides=sides).moved(place))
    ends = np.array([(0.0, -HALF_TRACK, RADIUS), (0.0, HALF_TRACK, RADIUS)])
    wheels.add("steel", tube(ends, 0.016, sides=12))
    return wheels


def _fork() -> Node:
    fork = Node("fork", pivot=(WHEELBASE, 0.0, 0.0))
    blade = [(WHEELBASE, 0.05, RADIUS), (WHEELBASE - 0.03, 0.05, 0.66), (WHEELBASE - 0.07, 0.03, 0.76)]
    fork.add("paint", both_sides(tube(np.array(blade), 0.016, sides=12)))
    stem = [(WHEELBASE - 0.06, 0.0, 0.74), (WHEELBASE - 0.10, 0.0, 1.02)]
    fork.add("steel", tube(np.array(stem), 0.02, sides=12))
    bar = [(-0.34, 0.30), (-0.16, 0.29), (-0.11, 0.18), (-0.10, 0.0)]
    bar_w = np.array([(WHEELBASE + x, y, 1.02) for x, y in bar])
    fork.add("steel", both_sides(tube(bar_w, 0.013, sides=10)))
    return fork


def _front_wheel(sides: int) -> Node:
    wheel = Node("front_wheel", pivot=(WHEELBASE, 0.0, RADIUS))
    place = (WHEELBASE, 0.0, RADIUS)
    wheel.add("rubber", tyre(RADIUS, 0.05, sides=sides).moved(place))
    wheel.add("steel", rim(RADIUS, 0.045, spokes=8, sides=sides).moved(place))
    return wheel
