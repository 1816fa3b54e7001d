"""Puts the helicopter together."""

from collections.abc import Mapping

from assets.scripts.cut import split
from assets.scripts.gltf import Material, Node
from assets.vehicles.helicopter import interior, outline, rotors, running_gear

WHITE = (0.74, 0.73, 0.70)
TEAL = (0.012, 0.075, 0.105)
AMBER = (0.80, 0.26, 0.015)

DETAILS = {"model": 1.0, "far": 0.22}
CELL_M = 0.05
REACH_M = 1.5

MATERIALS: Mapping[str, Material] = {
    "livery": Material(WHITE, roughness=0.24, finish="livery", second=TEAL, accent=AMBER),
    "glass": Material((0.020, 0.030, 0.034), roughness=0.03, alpha=0.42, finish="glass"),
    "metal": Material((0.56, 0.57, 0.58), metallic=1.0, roughness=0.32),
    "metal_dark": Material((0.16, 0.165, 0.17), metallic=0.8, roughness=0.45),
    "hub": Material((0.10, 0.105, 0.11), metallic=0.4, roughness=0.42),
    "skid": Material((0.085, 0.09, 0.095), metallic=0.2, roughness=0.45),
    "exhaust": Material((0.20, 0.155, 0.125), metallic=0.85, roughness=0.55),
    "soot": Material((0.004, 0.004, 0.004), roughness=0.95),
    "grille": Material((0.02, 0.02, 0.022), metallic=0.3, roughness=0.55),
    "black": Material((0.018, 0.018, 0.019), roughness=0.55),
    "lining": Material((0.26, 0.255, 0.245), roughness=0.85),
    "floor": Material((0.060, 0.062, 0.066), roughness=0.9),
    "seat": Material((0.13, 0.075, 0.045), roughness=0.62),
    "belt": Material((0.035, 0.04, 0.05), roughness=0.8),
    "panel": Material((0.022, 0.022, 0.024), roughness=0.75),
    "dial": Material((0.008, 0.008, 0.009), roughness=0.35, emissive=(0.06, 0.06, 0.055), finish="dial"),
    "screen": Material((0.006, 0.007, 0.008), roughness=0.15, emissive=(0.35, 0.35, 0.35), finish="dial"),
    "overall": Material((0.045, 0.065, 0.055), roughness=0.9),
    "skin": Material((0.42, 0.24, 0.16), roughness=0.6),
    "helmet": Material((0.62, 0.62, 0.60), roughness=0.3),
    "blade": Material((0.075, 0.078, 0.082), roughness=0.5),
    "tip": Material((0.75, 0.52, 0.03), roughness=0.4),
    "lens": Material((0.75, 0.78, 0.80), roughness=0.08, emissive=(0.15, 0.15, 0.14)),
    "red_light": Material((0.55, 0.02, 0.015), roughness=0.15, emissive=(0.9, 0.03, 0.02)),
    "green_light": Material((0.02, 0.40, 0.06), roughness=0.15, emissive=(0.02, 0.7, 0.08)),
}


def build(detail: float = 1.0) -> list[Node]:
    """All nodes, in the body frame; `detail` below 0.6 leaves out what a far view cannot show."""
    body, glass = Node("body"), Node("glass", occludes=False)
    skin = outline.fuselage(detail)
    skin = skin.painted(outline.body_paint(skin.positions))
    panes, shell = split(skin, skin.paint[:, 0])
    body.add("livery", shell)
    glass.add("glass", panes)
    cowling = outline.cowling(detail)
    body.add("livery", cowling.painted(outline.cowling_paint(cowling.positions)))
    return [
        body,
        interior.build(detail),
        interior.build_pilot(detail),
        running_gear.build_skids(detail),
        running_gear.build_tail(detail),
        running_gear.build_fittings(detail),
        *rotors.build(detail),
        glass,
    ]
