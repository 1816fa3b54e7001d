"""The variables of an FMU: a vehicle's parameters, its start, its controls, and what is observed of it."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import casadi as ca
import numpy as np

from sim.groups.so3 import quaternion_of
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
