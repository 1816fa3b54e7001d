"""The ledger of truth: problems with known answers, what ours are, and how many digits agree.

A problem, or a family of them, is a file of this folder with a tuple PROBLEMS; `python -m studies.ledger` finds it.
"""

import importlib
import pkgutil

from studies.ledger.problem import Problem


def problems() -> tuple[Problem, ...]:
    """All of them, in the order of the files' names."""
    found: list[Problem] = []
    for module in pkgutil.iter_modules(__path__):
        if not module.name.startswith("_"):
            found += getattr(importlib.import_module(f"{__name__}.{module.name}"), "PROBLEMS", ())
    return tuple(found)
