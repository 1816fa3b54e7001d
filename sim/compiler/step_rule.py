"""How adaptive methods choose their next step: the rule and the numbers of the mechanics survey's program."""

from sim.compiled import allocating_nothing

SAFETY, EXPONENT = 0.85, 0.25
LEAST, MOST = 0.2, 5.0


@allocating_nothing("float64(float64, float64)", error_model="numpy")
def growth(error: float, tolerance: float) -> float:
    """By what the step is multiplied after one with that error estimate, accepted or not."""
    return max(LEAST, min(MOST, SAFETY * (tolerance / max(error, 1e-300)) ** EXPONENT))
