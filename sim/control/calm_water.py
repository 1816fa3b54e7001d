"""What floats on waves, as plans and pilots see it: surge, sway and yaw of its hull on flat water.

Its mass and the water that moves along, its drag and its thrusters are those of the floating craft, summed over what of
its hull is under water at rest (`sim.control.planar_craft`). A uniform current is exact (Kirchhoff's equations for the
velocity through the water); of wind a steady force is known, as it was measured. Left out are waves, gusts, heave,
roll, pitch and thrusters that turn.
"""

from dataclasses import replace

import casadi as ca
import numpy as np

from sim.control.helm import over_ground
from sim.control.pilot import Sensed
from sim.control.planar_craft import (
    CURRENT,
    DRAG,
    ENDS,
    FORCE,
    INERTIA,
    LEFT,
    MASS_X,
    MASS_Y,
    RIGHT,
    SIDES,
    SPAN,
    TORQUE,
    TURNED,
    TURNING,
    Disturbance,
    numbers_of,
    turned_momentum,
    water_drag,
)
from sim.groups import SE2
from sim.groups.numeric import upright
from sim.groups.se2 import heading_of, plane_rotation
from sim.integrators import Integrator
from sim.steppers.dynamics import Dynamics, stepper_of
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.form import State
from sim.vehicles.forms.holonomic import HolonomicVehicle
from sim.vehicles.forms.parameters import Control, Parameter, Quantities

LEFT_OUT = "waves, gusts, heave, roll, pitch and thrusters that turn"
"""What plans for flat water do not know."""
_STILL_MPS = 1e-3
"""Below it the pressure on the hull is rounded off: a speed has no derivative at rest."""


class CalmWater(HolonomicVehicle):
    """Body origin at the centre of mass. Its numbers are those of `calm_water`; it looks like the craft it is of."""

    name = "calm-water"
    group = SE2
    parameters = (
        Parameter(
            "mass", "kg", (505.0, 610.0), 1e-3, 1e9, "Ahead and aside, with the water that moves along."
        ),
        Parameter("added_mass", "kg", (25.0, 130.0), 0.0, 1e9, "Of the water alone."),
        Parameter("inertia", "kg m^2", 580.0, 1e-6, 1e10, "About the vertical, with the water."),
        Parameter("drag", "N s/m, m^2", (90.0, 1.0), 0.0, 1e7, "Linear, and mean square of where it acts."),
        Parameter("pressure", "kg/m", (0.0, 0.0), 0.0, 1e7, "Of ends and sides that run into the water."),
        Parameter(
            "turning", "kg, kg m", (0.0, 0.0), -1e8, 1e8, "The same of turning: coupled, and by itself."
        ),
        Parameter(
            "arms", "m", (-0.5, 0.5), -100.0, 100.0, "Of the left and the right thrust about the vertical."
        ),
        Parameter("current", "m/s", (0.0, 0.0), -5.0, 5.0, "Of the water, world x and y."),
        Parameter("push", "N", (0.0, 0.0), -1e7, 1e7, "Steady force, as the wind's, world x and y."),
        Parameter("torque", "N m", 0.0, -1e7, 1e7, "Steady, about the vertical."),
    )
    controls = (
        Control("u_left", "N", -450.0, 900.0, "Thrust of the left thruster, ahead."),
        Control("u_right", "N", -450.0, 900.0, "Thrust of the right thruster, ahead."),
    )

    def inertia(self, q: Quantities) -> ca.SX:
        return ca.diagcat(q.inertia, q.mass[0], q.mass[1])

    def control_wrench(self, u: ca.SX, q: Quantities) -> ca.SX:
        return ca.vertcat(q.arms[0] * u[0] + q.arms[1] * u[1], u[0] + u[1], 0)

    def dissipative_wrench(self, g: ca.SX, xi: ca.SX, q: Quantities) -> ca.SX:
        """Of the water by the velocity through it, of what the current changes about the added mass, and the push."""
        R, r, added = plane_rotation(heading_of(g)), xi[0], (q.added_mass[0], q.added_mass[1])
        stream = R.T @ q.current
        through = xi[1:] - stream
        speed = ca.sqrt(ca.sumsqr(through) + _STILL_MPS**2)
        drag, pressure, turning = ((each[0], each[1]) for each in (q.drag, q.pressure, q.turning))
        ahead, aside, about = water_drag(drag, pressure, turning, (through[0], through[1], r), speed)
        # The inertia takes the added mass along with the velocity over ground; it goes with the one through the water.
        through_water = turned_momentum(added, (through[0], through[1], r))
        over_ground = turned_momentum(added, (xi[1], xi[2], r))
        # Seen from the boat the stream turns the other way.
        ahead += through_water[0] - over_ground[0] + added[0] * r * stream[1]
        aside += through_water[1] - over_ground[1] - added[1] * r * stream[0]
        about += through_water[2] - over_ground[2]
        force = R.T @ q.push
        return ca.vertcat(about + q.torque, ahead + force[0], aside + force[1])


def calm_water(craft: Vehicle, numbers: np.ndarray | None = None) -> CalmWater:
    """The planar vehicle of a floating one. numbers: of the craft in a current and under a steady force, as
    `Disturbance.adjusted` gives them; None: still air, and the current that the craft has. Raises InputError for what
    has no hull."""
    known = numbers_of(craft) if numbers is None else numbers
    values = {name: np.asarray(value, float) for name, value in craft.values.items()}
    current = known[CURRENT : CURRENT + 2] if numbers is not None else values.get("current", np.zeros(2))
    calm = CalmWater(
        mass=tuple(known[[MASS_X, MASS_Y]].tolist()),
        added_mass=tuple(values["added_mass"][:2].tolist()),
        inertia=float(known[INERTIA]),
        drag=tuple(known[[DRAG, SPAN]].tolist()),
        pressure=tuple(known[[ENDS, SIDES]].tolist()),
        turning=tuple(known[[TURNED, TURNING]].tolist()),
        arms=tuple(known[[LEFT, RIGHT]].tolist()),
        current=tuple(current.tolist()),
        push=tuple(known[FORCE : FORCE + 2].tolist()),
        torque=float(known[TORQUE]),
    )
    calm.looks = type(craft)
    return calm


def seen_from_above(calm: Vehicle, state: State) -> State:
    """The planar state of a floating craft's, over ground. calm: its `calm_water`."""
    x, y, theta, v_x, v_y, turn = over_ground(sensed_afloat(state))
    return calm.state_of((theta, x, y), (turn, *(upright(theta)[:2, :2].T @ (v_x, v_y))))


def floating(craft: Vehicle, state: State) -> State:
    """Of the craft, where a planar state has it, as deep as it lies in still water."""
    theta, x, y, turn, v_x, v_y = state.node
    return craft.state(R=upright(theta), x=(x, y, 0.0), omega=(0.0, 0.0, turn), v=(v_x, v_y, 0.0))  # type: ignore[no-any-return]


def sensed_afloat(state: State) -> Sensed:
    """What a pilot knows of a craft's state."""
    node, at = state.node, state.layout
    R_wb, (omega_b, v_b) = node[at.pose][:9].reshape(3, 3).T, np.split(node[at.velocity], 2)
    return Sensed(R_wb, node[at.pose][9:12], omega_b, v_b, node=node)


class CalmWaterObserver:
    """Finds out under way what plans need to know of a craft on waves: the current, and the steady force of wind and
    waves, by how the craft moves otherwise than on flat water (`Disturbance`)."""

    def __init__(
        self, craft: Vehicle, scheme: Integrator, step_s: float, *, every_step: bool = False
    ) -> None:
        """How plans predict: by which method, step, and whether controls change at each. Raises InputError for what has
        no hull."""
        self._craft, self._numbers, self._disturbance = craft, numbers_of(craft), Disturbance()
        calm = self.vehicle()
        self.known = Dynamics(calm, stepper_of(calm, scheme), step_s, every_step)
        """On flat water, as it was known at the last `learn`."""

    def see(self, sensed: Sensed, controls: np.ndarray, dt_s: float) -> None:
        """A moment; the controls act from then on. A craft that has changed meanwhile goes on being learnt about."""
        if sensed.dynamics is not None and sensed.dynamics.vehicle is not self._craft:
            self._craft = sensed.dynamics.vehicle
            self._numbers = numbers_of(self._craft)
        self._disturbance.see(self._numbers, over_ground(sensed), controls[:2], dt_s)

    def learn(self) -> None:
        """Have plans know what is known by now."""
        self.known = replace(self.known, vehicle=self.vehicle())

    def vehicle(self) -> CalmWater:
        """As it is known by now."""
        return calm_water(self._craft, self._disturbance.adjusted(self._numbers))

    def seen(self, sensed: Sensed) -> Sensed:
        """The same moment, with the state and the dynamics that plans know."""
        x, y, theta, v_x, v_y, turn = over_ground(sensed)
        c, s = np.cos(theta), np.sin(theta)
        node = np.array([theta, x, y, turn, c * v_x + s * v_y, c * v_y - s * v_x])
        return replace(sensed, node=node, dynamics=self.known)
