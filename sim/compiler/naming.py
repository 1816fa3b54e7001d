"""Names in generated code: of local scalars, entries of arrays and the symbols of a scheme."""

from collections.abc import Callable, Sequence

import casadi as ca

from sim.integrators.base import Scheme


def scalars(prefix: str) -> Callable[[int], str]:
    """Names of local scalars."""
    return lambda i: f"{prefix}{i}"


def entries(array: str) -> Callable[[int], str]:
    """Names of array entries."""
    return lambda i: f"{array}[{i}]"


def named(names: Sequence[str]) -> Callable[[int], str]:
    """Given names."""
    return lambda i: names[i]


def known_of(
    scheme: Scheme, naming: Callable[[str], Callable[[int], str]]
) -> list[tuple[ca.SX, Callable[[int], str]]]:
    """The unknowns first, then all that a step is given."""
    i = scheme.inputs
    return [
        (scheme.z, naming("z")),
        (scheme.y, naming("y")),
        (i.u, naming("u")),
        (i.w, naming("w")),
        (i.p, naming("p")),
        (i.h, lambda _: "h"),
    ]


def tuple_of(column: ca.SX, before: str, after: str = "") -> str:
    """Of numbers with such names."""
    return "(" + "".join(f"{before}{i}{after}, " for i in range(column.shape[0])) + ")"
