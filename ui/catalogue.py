"""What there is to choose from: vehicles, integrators, scenes. Collected once, so that a frame builds no vehicles."""

from dataclasses import dataclass, field
from functools import lru_cache

from sim.errors import InputError
from sim.integrators import KEPT, integrators
from sim.planner.task.check import unplannable
from sim.scene_heading import scene_heading, scene_names
from sim.vehicles import VEHICLES, Vehicle
from sim.vehicles.parameter import Parameter, Value


@dataclass(frozen=True, slots=True)
class VehicleEntry:
    name: str
    doc: str
    parameters: tuple[Parameter, ...]

    def defaults(self) -> dict[str, Value]:
        return {parameter.name: parameter.default for parameter in self.parameters}


@dataclass(frozen=True, slots=True)
class IntegratorEntry:
    name: str
    family: str
    order: int
    tau: str
    doc: str
    source: str
    refusals: dict[str, str]
    """Vehicle name -> why this method does not serve it; vehicles that it serves are absent."""
    keeps: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Vehicle name -> what it keeps of its mechanics, in words."""
    unplannable: str = ""
    """Why nothing can be planned with it; empty where it can."""

    @property
    def facts(self) -> str:
        """One line: order, group difference map, family."""
        order = f"order {self.order}"
        tau = f"\N{GREEK SMALL LETTER TAU} = {self.tau}" if self.tau else ""
        return " \N{MIDDLE DOT} ".join(part for part in (self.family, order, tau) if part)


MOVE, COMPARE, PLAN = "Fly, drive, skate", "Methods side by side", "Plan"
SCENE_KINDS = (MOVE, COMPARE, PLAN)
"""In menu order."""


@dataclass(frozen=True, slots=True)
class SceneEntry:
    name: str
    title: str
    text: str
    kind: str = MOVE
    """One of SCENE_KINDS."""


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Everything by name, in menu order."""

    vehicles: dict[str, VehicleEntry]
    integrators: dict[str, IntegratorEntry]
    scenes: dict[str, SceneEntry]


def load_catalogue() -> Catalogue:
    """From the registries and the scenes folder; a scene that cannot be read is left out."""
    return _catalogue(tuple(VEHICLES.values()), scene_names())


@lru_cache(maxsize=1)
def _catalogue(kinds: tuple[type[Vehicle], ...], scenes: tuple[str, ...]) -> Catalogue:
    instances = {kind.name: kind() for kind in kinds}
    entries = {
        name: VehicleEntry(name, first_paragraph(type(v).__doc__), v.parameters)
        for name, v in instances.items()
    }
    methods = {}
    for name, method in integrators().items():
        answers = {vehicle_name: method.serves(v) for vehicle_name, v in instances.items()}
        methods[name] = IntegratorEntry(
            name,
            method.family,
            method.order,
            method.tau,
            method.doc,
            method.source,
            {vehicle_name: reason for vehicle_name, reason in answers.items() if reason},
            {
                vehicle_name: tuple(KEPT[what] for what in method.keeps(v))
                for vehicle_name, v in instances.items()
                if not answers[vehicle_name]
            },
            unplannable(method),
        )
    return Catalogue(entries, methods, _scenes(scenes))


def _scenes(names: tuple[str, ...]) -> dict[str, SceneEntry]:
    found = {}
    for name in names:
        try:
            heading = scene_heading(name)
        except InputError:
            continue
        kind = PLAN if heading.plans and not heading.races else COMPARE if heading.compares else MOVE
        found[name] = SceneEntry(name, heading.title, heading.text, kind)
    return found


def first_paragraph(doc: str | None) -> str:
    """A docstring's first paragraph on one line."""
    return " ".join((doc or "").split("\n\n")[0].split())
