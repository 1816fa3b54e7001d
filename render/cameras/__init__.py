"""The ways of looking at a vehicle, and what they share: springs, framing, staying out of the rock.

`rig` is the door: it holds all cameras and gives the view of a frame.
"""
