"""Modes of the steady motion near the present one: eigenvalues over a parameter or the speed, each mode to be seen."""
