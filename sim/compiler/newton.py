"""When Newton's method has found the unknowns of a step, and how long it tries."""

NEWTON_TOLERANCE = 1e-9
"""Relative size of the last Newton update; the error after it is its square."""
REUSED_ACCURACY = 1e-15
"""Where a Jacobian serves more updates: relative error that the product of its first and last leaves."""
NEWTON_SWEEPS = 6
INLINE_UNKNOWNS = 3
"""Larger blocks are solved on arrays, with pivots."""
