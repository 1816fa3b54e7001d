"""A crank, a coupler and a rocker on two bearings: the simplest loop of joints, driven at the crank."""

import math
from types import SimpleNamespace

import numpy as np

from sim.multibody.declaration import WORLD, Body, Joint, Loop
from sim.multibody.shapes import BRASS, DARK_STEEL, PAINTED, RUBBER, STAND, STEEL, Link
from sim.multibody.tree import Tree, tree
from sim.vehicles.forms.articulated import ClosedVehicle
from sim.vehicles.forms.form import State
from sim.vehicles.forms.parameters import Control, Parameter

CRANK, COUPLER, ROCKER = "crank", "coupler", "rocker"
LENGTHS = {CRANK: 1.0, COUPLER: 2.75, ROCKER: 2.0}
BEARINGS = 2.5
"""From one fixed bearing to the other; like the lengths in units of the crank's: it goes round (Grashof)."""
BEGIN_RAD, BEGIN_RADPS = 1.0, 9.0
_ACROSS = (0.0, -1.0, 0.0)
"""Positive angles turn x to z."""
_THICK, _APART = 0.11, 0.24
"""Radius of a bar, and how far one is before the other, in units of the crank."""
_FINISH = {CRANK: PAINTED, COUPLER: STEEL, ROCKER: DARK_STEEL}


class FourBarLinkage(ClosedVehicle):
    """A four-bar linkage: a crank that goes round, a coupler, a rocker that swings. Loops are closed at every step."""

    name = "four-bar-linkage"
    parameters = (
        Parameter(
            "crank", "m", 0.4, 0.05, 3.0, "Length of the crank, to which all others are in proportion."
        ),
        Parameter("crank_mass", "kg", 4.0, 0.01, 500.0, "Of the crank."),
        Parameter("coupler_mass", "kg", 2.0, 0.01, 500.0, "Of the coupler."),
        Parameter("rocker_mass", "kg", 1.5, 0.01, 500.0, "Of the rocker."),
        Parameter("damping", "N m s", 0.0, 0.0, 50.0, "Of every joint but the last one."),
        Parameter("gravity", "m/s^2", 9.81, 0.0, 100.0, "Downward acceleration."),
    )
    controls = (
        Control("torque", "N m", -40.0, 40.0, "At the crank's bearing; positive turns it up from +x."),
    )
    torques = (CRANK,)

    def declare(self, q: SimpleNamespace) -> Tree:
        masses = {CRANK: q.crank_mass, COUPLER: q.coupler_mass, ROCKER: q.rocker_mass}
        bodies, parent, at = [], WORLD, 0.0
        for name, share in LENGTHS.items():
            length, mass = share * q.crank, masses[name]
            across = mass * length**2 / 12.0
            along = 0.5 * mass * (_THICK * q.crank) ** 2
            bodies.append(
                Body(
                    name,
                    parent,
                    Joint(axis=_ACROSS, damping=q.damping),
                    position=(at, 0.0, 0.0),
                    mass=mass,
                    centre=(0.5 * length, 0.0, 0.0),
                    inertia=(along, across, across),
                )
            )
            parent, at = name, length
        return tree(bodies, (0.0, 0.0, -q.gravity))

    def close(self, q: SimpleNamespace) -> tuple[Loop, ...]:
        return (
            Loop(ROCKER, (LENGTHS[ROCKER] * q.crank, 0.0, 0.0), other_point=(BEARINGS * q.crank, 0.0, 0.0)),
        )

    def shapes(self) -> tuple[Link, ...]:
        unit = self._unit
        bars = []
        for k, (name, share) in enumerate(LENGTHS.items()):
            y = (0.5 - 0.5 * (k % 2)) * _APART * unit - _APART * unit * (k % 2)
            bars.append(
                Link(
                    name, (0.0, y, 0.0), (share * unit, y, 0.0), _THICK * unit, _FINISH[name], (False, False)
                )
            )
        return tuple(bars)

    @property
    def links(self) -> tuple[Link, ...]:  # type: ignore[override]
        """Bars, the pins between them, and the posts that bear them."""
        unit = self._unit
        reach, far, thick = 1.6 * _APART * unit, BEARINGS * unit, 0.5 * _THICK * unit
        pins = [Link(name, (0.0, -reach, 0.0), (0.0, reach, 0.0), thick, BRASS) for name in LENGTHS]
        end = LENGTHS[ROCKER] * unit
        pins.append(Link(ROCKER, (end, -reach, 0.0), (end, reach, 0.0), thick, BRASS))
        posts = [
            Link(STAND, (x, reach, 0.0), (x, reach, -self.stand_m), 1.2 * _THICK * unit, RUBBER)
            for x in (0.0, far)
        ]
        return (*self.shapes(), *pins, *posts)

    @property
    def stand_m(self) -> float:  # type: ignore[override]
        """The crank goes round above the ground."""
        return 2.4 * self._unit

    def default_state(self) -> State:
        """The crank on its way up, the coupler above the line of the bearings."""
        angles = closed_angles(BEGIN_RAD)
        return self.state(angles, np.array([BEGIN_RADPS, *rates(angles, BEGIN_RADPS)]))

    @property
    def _unit(self) -> float:
        return float(np.max(self.values["crank"]))


def closed_angles(crank_rad: float) -> np.ndarray:
    """(3,) the joints' angles with the crank there: circles of coupler and rocker about their ends meet above."""
    a, b, c = LENGTHS.values()
    pin, bearing = a * np.array([math.cos(crank_rad), math.sin(crank_rad)]), np.array([BEARINGS, 0.0])
    far = float(np.linalg.norm(bearing - pin))
    along = (b**2 - c**2 + far**2) / (2.0 * far)
    x, y = (bearing - pin) / far
    top = pin + along * np.array([x, y]) + math.sqrt(b**2 - along**2) * np.array([-y, x])
    coupler, rocker = (math.atan2(*(to - at)[::-1]) for at, to in ((pin, top), (top, bearing)))
    return np.array([crank_rad, coupler - crank_rad, rocker - coupler])


def rates(angles: np.ndarray, crank_radps: float) -> np.ndarray:
    """(2,) of the other two joints with which the loop stays closed."""
    turned, lengths = np.cumsum(angles), np.array([*LENGTHS.values()])
    J = lengths * np.array([-np.sin(turned), np.cos(turned)])
    coupler, rocker = np.linalg.solve(J[:, 1:], -J[:, 0] * crank_radps)
    return np.array([coupler - crank_radps, rocker - coupler])
