"""Methods for trees of joints alone: recursions over the bodies in linear time, hand-written in `sim.multibody`.

`variational` serves trees as well; `riqn`, `newton` and `broyden` are other names of it, by how its root is found.
"""

import math
from dataclasses import dataclass

from sim.integrators.base import Integrator
from sim.platform.errors import InputError
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.form import TREES, Form

_PAPER = "multibody paper, sections 3 and 4"


@dataclass(frozen=True)
class Multibody(Integrator):
    """One recursion; its name says which one to the stepper of trees."""

    name: str
    order: int
    doc: str
    source: str
    force_evaluations: int
    kept: tuple[str, ...] = ()
    family: str = "multibody"
    tau: str = ""
    solver: str = ""
    alias_of: str = ""
    by_recursion: frozenset[Form] = TREES

    def keeps(self, vehicle: Vehicle) -> tuple[str, ...]:
        return self.kept


@dataclass(frozen=True)
class VariedMultibody(Multibody):
    """Its step is taken in parts in which joints turn by about `turn_rad`, taken together as a root of squares."""

    by_recursion: frozenset[Form] = frozenset({Form.TREE})
    turn_rad: float = 0.1
    options: tuple[str, ...] = ("turn_rad",)

    def __post_init__(self) -> None:
        if not (math.isfinite(self.turn_rad) and self.turn_rad > 0):
            raise InputError(
                f"{self.name}: turn_rad = {self.turn_rad!r} is no angle to turn by; allowed: above 0, e.g. 0.1"
            )


MULTIBODY: tuple[Multibody, ...] = (
    Multibody(
        "riqn",
        2,
        "The variational step of a tree, its root found by the recursive impulse-based quasi-Newton method: linear "
        "time in the number of bodies. Energy does not drift, momentum is kept.",
        _PAPER,
        1,
        ("momentum", "energy"),
        tau="cay",
        solver="riqn",
        alias_of="variational",
    ),
    Multibody(
        "newton",
        2,
        "The same step as riqn's by Newton's method with exact derivatives, in linear time too: fewer iterations, each "
        "of them dearer; what is stiff or fast it finds more surely.",
        "multibody paper, appendix 4",
        1,
        ("momentum", "energy"),
        tau="cay",
        solver="newton",
        alias_of="variational",
    ),
    Multibody(
        "broyden",
        2,
        "The same step as riqn's, whose quasi-Newton matrix learns from the iterations before.",
        "multibody paper, section 5",
        1,
        ("momentum", "energy"),
        tau="cay",
        solver="broyden",
        alias_of="variational",
    ),
    VariedMultibody(
        "riqn-variable",
        2,
        "riqn's step, divided into equal parts where joints turn fast, by a rule that runs backwards as well: energy "
        "stays in a band as with constant steps.",
        f"{_PAPER}; variable steps by Hairer and Soederlind 2005",
        1,
        ("momentum", "energy"),
        tau="cay",
        solver="riqn",
    ),
    Multibody(
        "semi-implicit-euler",
        1,
        "Velocities first by articulated-body accelerations, then the joints by these: what most engines of games and "
        "robots do. Cheap; its energy is off at first order in h, and drifts where the tree moves fast.",
        "multibody paper, section 5, comparators",
        1,
        by_recursion=frozenset({Form.TREE}),
    ),
)
