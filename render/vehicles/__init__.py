"""Vehicles in the picture: from snapshots to frames, what they leave behind, and the drawing of their models.

`scene_view` makes a frame out of a snapshot; `library` draws models, whose arrays come from `sim.models`.
"""
