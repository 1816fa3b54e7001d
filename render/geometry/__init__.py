"""Meshes and placements as arrays: no window, no GL."""
