"""Answers that owe nothing to the simulation: equations derived in plain coordinates, solved to twelve digits.

Only CasADi, which differentiates, and SciPy, which integrates, are used here; `sim` is not.
"""
