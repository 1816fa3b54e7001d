"""modelDescription.xml of an FMU, of FMI 2.0 or 3.0.

The variables of an FMU: a vehicle's parameters, its start, its controls, and what is observed of it."""

import math
import re
from collections.abc import Iterable, Iterator
from typing import Literal
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import casadi as ca
import numpy as np

from sim.groups.so3 import quaternion_of
from sim.platform.values import dataclass
from sim.vehicles import State, Vehicle
from sim.vehicles.forms.articulated import ArticulatedVehicle
from sim.vehicles.forms.observation import ObservationLayout, layout_of, observation

Causality = Literal["independent", "parameter", "input", "output"]


@dataclass(frozen=True)
class Variable:
    """One number or a short vector."""

    name: str
    causality: Causality
    unit: str
    doc: str
    at: int
    """Where it begins in the flat array of all values."""
    size: int
    scalar: bool
    """One number that is no vector of one."""
    start: tuple[float, ...] = ()
    """Of what may be set."""
    low: float = -math.inf
    high: float = math.inf


@dataclass(frozen=True)
class Output:
    """Something observed, as an expression."""

    name: str
    unit: str
    doc: str
    value: ca.SX
    scalar: bool


@dataclass(frozen=True)
class Interface:
    """Of a vehicle with a start. The flat array holds time, parameters, the start's node, controls and outputs."""

    variables: tuple[Variable, ...]
    node: ca.SX
    u: ca.SX
    p: ca.SX
    row: ca.SX
    """What is observed, of trees, which observe by a recursion; else nothing."""
    outputs: ca.SX
    """All outputs one after the other, of the symbols above."""

    @staticmethod
    def of(vehicle: Vehicle, start: State) -> "Interface":
        """What does not act is no variable: parameters by which it is another system, and optional ones that are 0.

        Of trees none is: how a tree follows from its parameters is the Python of its declaration.
        """
        node = ca.SX.sym("node", vehicle.node_layout.size)
        u, p = ca.SX.sym("u", len(vehicle.controls)), ca.SX.sym("p", vehicle.parameter_count)
        variables = [Variable("time", "independent", "s", "Time.", 0, 1, True)]
        at = 1
        for q in vehicle.parameters:
            if not (q.structural or q.name in vehicle.absent or isinstance(vehicle, ArticulatedVehicle)):
                value = vehicle.values[q.name]
                numbers = tuple(float(x) for x in np.ravel(value))
                scalar = isinstance(value, int | float)
                variables.append(
                    Variable(q.name, "parameter", q.unit, q.doc, at, q.size, scalar, numbers, q.low, q.high)
                )
            at += q.size
        for column, number in zip(vehicle.space.columns, start.node.tolist(), strict=True):
            doc = "Of the state at the start."
            variables.append(Variable(f"initial.{column}", "parameter", "", doc, at, 1, True, (number,)))
            at += 1
        for c, neutral in zip(vehicle.controls, vehicle.neutral_controls.tolist(), strict=True):
            variables.append(Variable(f"controls.{c.name}", "input", c.unit, c.doc, at, 1, True, (neutral,)))
            at += 1
        layout, row, told = _observed(vehicle, node, u, p)
        found = tuple(_outputs(vehicle, layout, told, node))
        for output in found:
            size = output.value.numel()
            variables.append(
                Variable(output.name, "output", output.unit, output.doc, at, size, output.scalar)
            )
            at += size
        outputs = ca.vertcat(*[ca.densify(ca.vec(output.value)) for output in found])
        return Interface(tuple(variables), node, u, p, row, outputs)


def _observed(vehicle: Vehicle, node: ca.SX, u: ca.SX, p: ca.SX) -> tuple[ObservationLayout, ca.SX, ca.SX]:
    """The layout of what is observed, a symbol that stands for it or nothing, and the row."""
    if isinstance(vehicle, ArticulatedVehicle):
        layout = layout_of(vehicle)
        row = ca.SX.sym("row", layout.size)
        return layout, row, row
    layout, row = observation(vehicle, node, node, u, ca.SX(1), vehicle.symbols(p))
    return layout, ca.SX(0, 1), row


def _outputs(vehicle: Vehicle, layout: ObservationLayout, row: ca.SX, node: ca.SX) -> Iterator[Output]:
    """What `sim.simulate` observes of a node; what belongs to a whole step is left out."""
    yield Output("energy", "J", "Total energy.", row[0], True)
    yield Output("momentum", "", "Spatial momentum, angular first.", row[layout.momentum], False)
    twist = row[layout.twist]
    yield Output("omega", "rad/s", "Angular velocity of the main body in its frame.", twist[:3], False)
    yield Output("velocity", "m/s", "Velocity of the main body in its frame.", twist[3:], False)
    for name, at in layout.bodies.items():
        T = row[at]
        R = ca.reshape(T[:9], 3, 3)
        yield Output(f"bodies.{name}.position", "m", "Place in the world, z up.", T[9:], False)
        turned = "Unit quaternion w, x, y, z, body to world."
        yield Output(f"bodies.{name}.quaternion", "", turned, quaternion_of(R), False)
    for k, c in enumerate(vehicle.shape_coordinates):
        at, rate = vehicle.node_layout.shape.start, vehicle.node_layout.shape_velocity.start
        yield Output(f"shape.{c.name}", c.unit, c.doc, node[at + k], True)
        yield Output(f"shape_rate.{c.name}", f"{c.unit}/s", f"Rate of {c.name}.", node[rate + k], True)
    if isinstance(vehicle, ArticulatedVehicle):
        for k, column in enumerate(vehicle.space.columns):
            yield Output(f"joints.{column}", "", "Coordinate or velocity of a joint.", node[k], True)
    for name, at in layout.observables.items():
        if name not in layout.of_step:
            value = row[at]
            yield Output(f"observables.{name}", layout.units[name], "", value, value.numel() == 1)


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
