"""Instruments over the scene, drawn with draw lists: crisp at any scale, legible over bright and dark."""
