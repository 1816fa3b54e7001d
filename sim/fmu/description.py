"""modelDescription.xml of an FMU, of FMI 2.0 or 3.0."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from sim.fmu.interface import Interface, Variable

_BASE = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")
_DERIVED = {
    "N": {"kg": 1, "m": 1, "s": -2},
    "J": {"kg": 1, "m": 2, "s": -2},
    "W": {"kg": 1, "m": 2, "s": -3},
    "Pa": {"kg": 1, "m": -1, "s": -2},
    "Hz": {"s": -1},
}
_FACTOR = re.compile(r"([A-Za-z]+)(?:\^(-?\d+))?")


@dataclass(frozen=True)
class About:
    """What a unit says of itself."""

    name: str
    identifier: str
    """Of its files of machine code."""
    token: str
    step_s: float
    directional: bool
    """Whether its outputs have derivatives."""
    doc: str


def description(version: str, about: About, interface: Interface) -> bytes:
    """The file. version: "2.0" or "3.0"."""
    root = _described3(about, interface) if version == "3.0" else _described2(about, interface)
    ElementTree.indent(root)
    return bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True))


def _root(version: str, about: About, token: str) -> Element:
    return Element(
        "fmiModelDescription",
        {
            "fmiVersion": version,
            "modelName": about.name,
            token: about.token,
            "description": about.doc,
            "generationTool": "Holonomy",
            "variableNamingConvention": "flat",
        },
    )


def _described3(about: About, interface: Interface) -> Element:
    root = _root("3.0", about, "instantiationToken")
    SubElement(
        root,
        "CoSimulation",
        {
            "modelIdentifier": about.identifier,
            "canGetAndSetFMUState": "true",
            "canSerializeFMUState": "true",
            "providesDirectionalDerivatives": _flag(about.directional),
            "canHandleVariableCommunicationStepSize": "true",
            "fixedInternalStepSize": repr(about.step_s),
        },
    )
    _units(root, interface.variables)
    _experiment(root, about)
    variables = SubElement(root, "ModelVariables")
    for number, variable in enumerate(interface.variables):
        element = SubElement(variables, "Float64", {"name": variable.name, "valueReference": str(number)})
        _told(element, variable, variable.start)
        if not variable.scalar:
            SubElement(element, "Dimension", {"start": str(variable.size)})
    structure = SubElement(root, "ModelStructure")
    for kind in ("Output", "InitialUnknown"):
        for number, variable in enumerate(interface.variables):
            if variable.causality == "output":
                SubElement(structure, kind, {"valueReference": str(number)})
    return root


def _described2(about: About, interface: Interface) -> Element:
    root = _root("2.0", about, "guid")
    SubElement(
        root,
        "CoSimulation",
        {
            "modelIdentifier": about.identifier,
            "canHandleVariableCommunicationStepSize": "true",
            "canGetAndSetFMUstate": "true",
            "canSerializeFMUstate": "true",
            "providesDirectionalDerivative": _flag(about.directional),
        },
    )
    _units(root, interface.variables)
    _experiment(root, about)
    variables = SubElement(root, "ModelVariables")
    outputs, index = [], 0
    for variable in interface.variables:
        for k in range(variable.size):
            index += 1
            name = variable.name if variable.scalar else f"{variable.name}[{k + 1}]"
            element = SubElement(
                variables, "ScalarVariable", {"name": name, "valueReference": str(variable.at + k)}
            )
            real = Element("Real")
            _told(element, variable, (), real)
            if variable.start:
                real.set("start", repr(variable.start[k]))
            element.append(real)
            if variable.causality == "output":
                outputs.append(str(index))
    structure = SubElement(root, "ModelStructure")
    for kind in ("Outputs", "InitialUnknowns"):
        within = SubElement(structure, kind)
        for output in outputs:
            SubElement(within, "Unknown", {"index": output})
    return root


def _told(
    element: Element, variable: Variable, start: tuple[float, ...], typed: Element | None = None
) -> None:
    """Attributes of a variable; typed: the element that has those of its type, where it is another one."""
    typed = element if typed is None else typed
    if variable.doc:
        element.set("description", variable.doc)
    element.set("causality", variable.causality)
    element.set("variability", "fixed" if variable.causality == "parameter" else "continuous")
    if variable.causality == "output":
        element.set("initial", "calculated")
    if variable.causality == "parameter":
        element.set("initial", "exact")
    if variable.unit:
        typed.set("unit", variable.unit)
    if math.isfinite(variable.low):
        typed.set("min", repr(float(variable.low)))
    if math.isfinite(variable.high):
        typed.set("max", repr(float(variable.high)))
    if start:
        element.set("start", " ".join(map(repr, start)))


def _experiment(root: Element, about: About) -> None:
    SubElement(
        root,
        "DefaultExperiment",
        {"startTime": "0.0", "stopTime": repr(100.0 * about.step_s), "stepSize": repr(about.step_s)},
    )


def _units(root: Element, variables: Iterable[Variable]) -> None:
    """All that are used, in SI's base units where they can be told."""
    element = SubElement(root, "UnitDefinitions")
    for name in dict.fromkeys(variable.unit for variable in variables if variable.unit):
        unit, powers = SubElement(element, "Unit", {"name": name}), base_units(name)
        if powers is not None:
            SubElement(unit, "BaseUnit", {base: str(power) for base, power in powers.items() if power})


def base_units(unit: str) -> dict[str, int] | None:
    """Powers of SI's base units of a unit as "kg m^2/s"; None for what is written otherwise."""
    found: dict[str, int] = dict.fromkeys(_BASE, 0)
    for place, part in enumerate(unit.split("/")):
        for factor in part.split():
            match = _FACTOR.fullmatch(factor)
            if factor == "1":
                continue
            if match is None or (match[1] not in _BASE and match[1] not in _DERIVED):
                return None
            power = int(match[2] or 1) * (-1 if place else 1)
            for base, exponent in _DERIVED.get(match[1], {match[1]: 1}).items():
                found[base] += power * exponent
    return found


def _flag(value: bool) -> str:
    return "true" if value else "false"
