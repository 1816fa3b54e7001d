"""Robots from URDF and MJCF files: `reading.read_robot` gives a tree of joints with shapes and motors."""
