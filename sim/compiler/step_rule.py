"""How adaptive methods choose their next step: the rule and the numbers of the mechanics survey's program."""

import casadi as ca

SAFETY, EXPONENT = 0.85, 0.25
LEAST, MOST = 0.2, 5.0


def growth(error: float, tolerance: float) -> float:
    """By what the step is multiplied after one with that error estimate, accepted or not."""
    return max(LEAST, min(MOST, SAFETY * (tolerance / max(error, 1e-300)) ** EXPONENT))


def symbolic_growth(error: ca.SX, tolerance: ca.SX) -> ca.SX:
    """The same of expressions."""
    share = SAFETY * (tolerance / ca.fmax(error, 1e-300)) ** EXPONENT
    return ca.fmax(LEAST, ca.fmin(MOST, share))
