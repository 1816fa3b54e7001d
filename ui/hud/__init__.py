"""Instruments over the scene, drawn with draw lists: crisp at any scale, legible over bright and dark."""

from ui.hud.instruments import draw

__all__ = ["draw"]
