"""Robots from URDF and MJCF files: `reading.read_robot` gives a tree of joints with its shapes and motors.

What is read stays within bounds (`files`); `mjcf` and `urdf` say what may be read, `model` what becomes of it.
"""
