"""A task as a sparse nonlinear program: the integrator's own step as constraints, exact derivatives of one node."""
