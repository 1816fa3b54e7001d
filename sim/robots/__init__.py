"""Robots out of URDF and MJCF files: read within bounds, parsed by the mujoco package, turned into trees of joints."""
