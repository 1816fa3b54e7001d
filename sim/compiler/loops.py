"""What happens within one step of a rollout: the method's step as it is, composed of several, or divided."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sim.compiler.step_rule import LEAST
from sim.integrators.base import Scheme

STEP_RULE = "from sim.compiler.staged_parts import growth"
"""What a module with divided steps imports."""
SMALLEST_SHARE = 1e-9
"""An adaptive method gives up where it would have to go below this share of the step."""

POINTS = 6
"""Sampled controls of adaptive methods are the polynomial through as many points of the step: Chebyshev's, which leave
out its ends, where controls may jump."""


@dataclass(frozen=True)
class Registers:
    """How generated code holds states: `y` that of the step, `n` the next one, `l` the last good one."""

    copy: Callable[[str, str], list[str]]
    """(to, from) -> lines."""
    total: Callable[[str], str]
    """An expression that is finite where all of its numbers are."""


def moments(scheme: Scheme) -> tuple[float, ...]:
    """Shares of the whole step at which a scheme with sampled controls wants its rows, in their order."""
    if scheme.error is not None:
        return divided_moments(scheme.inputs.samples)
    begun = np.cumsum((0.0, *scheme.substeps[:-1]))
    return tuple(
        float(b + share * c)
        for b, share in zip(begun, scheme.substeps, strict=True)
        for c in scheme.inputs.samples
    )


def divided_moments(samples: tuple[float, ...]) -> tuple[float, ...]:
    """The same of methods that divide the step by themselves."""
    if not samples:
        return ()
    return tuple(float(x) for x in (1 - np.cos((np.arange(POINTS) + 0.5) * np.pi / POINTS)) / 2)


def divided_step(held: Registers, samples: tuple[float, ...], controls: int, advance: list[str]) -> list[str]:
    """Inner steps as long as the error estimate `e0` of `advance` allows; samples: moments of rows of controls."""
    return [
        *_polynomial_lines(samples, controls),
        *_divided(held, [*_evaluated(samples, controls), *advance]),
    ]


def _divided(held: Registers, advance: list[str]) -> list[str]:
    return [
        *held.copy("l", "y"),
        "left = whole",
        "while left > 0.0:",
        "    last = not 0.0 < trial < left",
        "    h = left if last else trial",
        *_indented(advance),
        "    iterations += 1",
        f"    good = math.isfinite({held.total('n')} + e0)",
        f"    factor = growth(e0, tolerance) if good else {LEAST}",
        "    if good and e0 <= tolerance:",
        *("        " + line for line in held.copy("y", "n")),
        "        trial = max(trial, h * factor) if last else h * factor",
        "        left = 0.0 if last else left - h",
        "    else:",
        "        trial = h * factor",
        f"        if trial < {SMALLEST_SHARE} * whole:",
        "            status = 1 if good else 2",
        "            break",
        "h = whole",
        *_abandoned(held),
    ]


def _polynomial_lines(samples: tuple[float, ...], size: int) -> list[str]:
    """Coefficients of the sampled controls over the step, `c<power>_<control>`."""
    at = divided_moments(samples)
    if not at:
        return []
    inverse = np.linalg.inv(np.vander(at, increasing=True))
    return [
        f"c{power}_{k} = " + " + ".join(f"{w!r} * u[{i * size + k}]" for i, w in enumerate(row.tolist()))
        for power, row in enumerate(inverse)
        for k in range(size)
    ]


def _evaluated(samples: tuple[float, ...], size: int) -> list[str]:
    """Controls of an inner step's stages."""
    lines = []
    for j, c in enumerate(samples):
        lines.append(f"at = (whole - left + {c!r} * h) / whole")
        for k in range(size):
            nested = f"c{POINTS - 1}_{k}"
            for power in reversed(range(POINTS - 1)):
                nested = f"c{power}_{k} + at * ({nested})"
            lines.append(f"u{j * size + k} = {nested}")
    return lines


def finite(held: Registers) -> list[str]:
    """Leaves the loop where the next state is not."""
    return [f"if not math.isfinite({held.total('n')}):", "    status = 2", "    break"]


def _abandoned(held: Registers) -> list[str]:
    return ["if status != 0:", *("    " + line for line in held.copy("y", "l")), "    break"]


def _indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]
