"""What happens within one step of a rollout: the method's step as it is, composed of several, or divided."""

import numpy as np

from sim.integrators.base import Scheme

SAFETY, EXPONENT = 0.85, 0.25
"""Step rule of adaptive methods: the numbers of the mechanics survey's program."""
SMALLEST_SHARE = 1e-9
"""An adaptive method gives up where it would have to go below this share of the step."""

_POINTS = 6
"""Sampled controls of adaptive methods are the polynomial through as many points of the step: Chebyshev's, which leave
out its ends, where controls may jump."""


def moments(scheme: Scheme) -> tuple[float, ...]:
    """Shares of the whole step at which a scheme with sampled controls wants its rows, in their order."""
    if not scheme.inputs.samples:
        return ()
    if scheme.error is not None:
        return tuple((1 - np.cos((np.arange(_POINTS) + 0.5) * np.pi / _POINTS)) / 2)
    begun = np.cumsum((0.0, *scheme.substeps[:-1]))
    return tuple(
        float(b + share * c)
        for b, share in zip(begun, scheme.substeps, strict=True)
        for c in scheme.inputs.samples
    )


def step_lines(scheme: Scheme, solve: list[str], advance: list[str]) -> list[str]:
    """Body of the loop over steps, from the lines that solve and advance once by `h`.

    A failure sets `status` and leaves the loop with the last good state in y0.. .
    """
    ny = scheme.y.shape[0]
    if scheme.error is not None:
        return [*_polynomial_lines(scheme), *_divided(ny, [*_evaluated(scheme), *advance])]
    once = [*solve, *advance, *_finite(ny)]
    keep = [f"l{k} = y{k}" for k in range(ny)]
    accept = [f"y{k} = n{k}" for k in range(ny)]
    if scheme.substeps == (1.0,):
        return [*once, *keep, *accept]
    size = scheme.inputs.u.shape[0] if scheme.inputs.samples else 0
    return [
        *keep,
        *(["row = 0"] if size else []),
        f"for share in {scheme.substeps!r}:",
        "    h = whole * share",
        *(f"    u{k} = u[row + {k}]" for k in range(size)),
        *([f"    row += {size}"] if size else []),
        *_indented([*once, *accept]),
        "h = whole",
        *_abandoned(ny),
    ]


def _divided(ny: int, advance: list[str]) -> list[str]:
    """Inner steps as long as the error estimate `e0` allows."""
    finite = " + ".join(f"n{k}" for k in range(ny))
    return [
        *(f"l{k} = y{k}" for k in range(ny)),
        "left = whole",
        "while left > 0.0:",
        "    last = not 0.0 < trial < left",
        "    h = left if last else trial",
        *_indented(advance),
        "    iterations += 1",
        f"    good = math.isfinite({finite} + e0)",
        "    factor = 0.2",
        "    if good:",
        f"        factor = max(0.2, min(5.0, {SAFETY} * (tolerance / max(e0, 1e-300)) ** {EXPONENT}))",
        "    if good and e0 <= tolerance:",
        *(f"        y{k} = n{k}" for k in range(ny)),
        "        trial = max(trial, h * factor) if last else h * factor",
        "        left = 0.0 if last else left - h",
        "    else:",
        "        trial = h * factor",
        f"        if trial < {SMALLEST_SHARE} * whole:",
        "            status = 1 if good else 2",
        "            break",
        "h = whole",
        *_abandoned(ny),
    ]


def _polynomial_lines(scheme: Scheme) -> list[str]:
    """Coefficients of the sampled controls over the step, `c<power>_<control>`."""
    at = moments(scheme)
    if not at:
        return []
    inverse = np.linalg.inv(np.vander(at, increasing=True))
    size = scheme.inputs.u.shape[0] // len(scheme.inputs.samples)
    return [
        f"c{power}_{k} = " + " + ".join(f"{w!r} * u[{i * size + k}]" for i, w in enumerate(row.tolist()))
        for power, row in enumerate(inverse)
        for k in range(size)
    ]


def _evaluated(scheme: Scheme) -> list[str]:
    """Controls of an inner step's stages."""
    samples = scheme.inputs.samples
    size = scheme.inputs.u.shape[0] // max(len(samples), 1)
    lines = []
    for j, c in enumerate(samples):
        lines.append(f"at = (whole - left + {c!r} * h) / whole")
        for k in range(size):
            nested = f"c{_POINTS - 1}_{k}"
            for power in reversed(range(_POINTS - 1)):
                nested = f"c{power}_{k} + at * ({nested})"
            lines.append(f"u{j * size + k} = {nested}")
    return lines


def _finite(ny: int) -> list[str]:
    return [
        f"if not math.isfinite({' + '.join(f'n{k}' for k in range(ny))}):",
        "    status = 2",
        "    break",
    ]


def _abandoned(ny: int) -> list[str]:
    return ["if status != 0:", *(f"    y{k} = l{k}" for k in range(ny)), "    break"]


def _indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]
