"""Optimal control: the integrators' own update equations as constraints of a sparse nonlinear program."""
