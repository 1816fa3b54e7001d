"""What there is to choose from: vehicles, integrators, scenes. Collected once; a vehicle is built when one asks."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from functools import cache, lru_cache, partial
from typing import TypeVar

from sim.integrators import KEPT, Integrator, integrators
from sim.planner.task.check import unplannable
from sim.platform.values import dataclass
from sim.scene.heading import scene_headings, scene_names
from sim.vehicles import VEHICLES, Vehicle
from sim.vehicles.forms.parameters import Parameter, Value

T = TypeVar("T")


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
    refusals: Mapping[str, str]
    """Vehicle name -> why this method does not serve it; vehicles that it serves are absent."""
    keeps: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Vehicle name -> what it keeps of its mechanics, in words."""
    unplannable: str = ""
    """Why nothing can be planned with it; empty where it can."""
    alias_of: str = ""
    """The method that this is another name of: the menu has that one."""

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
    by_name = {kind.name: kind for kind in kinds}
    made = cache(lambda name: by_name[name]())
    entries = {
        name: VehicleEntry(name, first_paragraph(kind.__doc__), _parameters(kind, made))
        for name, kind in by_name.items()
    }
    methods = {}
    for name, method in integrators().items():
        answers: _ByVehicle[str] = _ByVehicle(tuple(entries), partial(_refusal, method, made))
        kept: _ByVehicle[tuple[str, ...]] = _ByVehicle(tuple(entries), partial(_kept, method, made, answers))
        methods[name] = IntegratorEntry(
            name,
            method.family,
            method.order,
            method.tau,
            method.doc,
            method.source,
            answers,
            kept,
            unplannable(method),
            method.alias_of,
        )
    return Catalogue(entries, methods, _scenes(scenes))


def _refusal(method: Integrator, made: Callable[[str], Vehicle], vehicle: str) -> str:
    """Why a method does not serve a vehicle; empty where it does."""
    return method.serves(made(vehicle))


def _kept(
    method: Integrator, made: Callable[[str], Vehicle], refusals: Mapping[str, str], vehicle: str
) -> tuple[str, ...]:
    """What a method keeps of a vehicle's mechanics, in words."""
    return () if vehicle in refusals else tuple(KEPT[what] for what in method.keeps(made(vehicle)))


def _parameters(kind: type[Vehicle], made: Callable[[str], Vehicle]) -> tuple[Parameter, ...]:
    """As a new vehicle has them: where equations follow from some, the others may do so as well."""
    follow = any(parameter.structural for parameter in kind.parameters)
    return tuple(made(kind.name).parameters if follow else kind.parameters)


class _ByVehicle(Mapping[str, T]):
    """What is so of some vehicles, asked for when somebody wants to know: to make them all takes long."""

    def __init__(self, vehicles: tuple[str, ...], ask: Callable[[str], T]) -> None:
        """`ask` tells it of one, empty where it is not so."""
        self._vehicles, self._ask = vehicles, cache(ask)

    def __getitem__(self, vehicle: str) -> T:
        if vehicle not in self._vehicles or not (told := self._ask(vehicle)):
            raise KeyError(vehicle)
        return told

    def __iter__(self) -> Iterator[str]:
        return (vehicle for vehicle in self._vehicles if vehicle in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _scenes(names: tuple[str, ...]) -> dict[str, SceneEntry]:
    found = {}
    for name, heading in scene_headings(names).items():
        kind = PLAN if heading.plans and not heading.races else COMPARE if heading.compares else MOVE
        found[name] = SceneEntry(name, heading.title, heading.text, kind)
    return found


def first_paragraph(doc: str | None) -> str:
    """A docstring's first paragraph on one line."""
    return " ".join((doc or "").split("\n\n")[0].split())
