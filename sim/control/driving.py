"""Driving: a car by throttle and wheel or along a line, a bicycle that its handlebar keeps up,
a board that winds its torso and steers its feet."""

import math
from functools import lru_cache
from typing import ClassVar

import casadi as ca
import numpy as np

from sim.control.airframe import scalar
from sim.control.flying import Route, make_route
from sim.control.pilot import Automatic, Mission, Sensed
from sim.controllers import PilotInput
from sim.groups.numeric import heading_of, turn_between
from sim.platform.values import dataclass
from sim.vehicle_config import config_of
from sim.vehicle_config.modes import Driving, GaitConfig, Riding
from sim.vehicles import Vehicle
from sim.vehicles.forms.base import Structure
from sim.vehicles.forms.nonholonomic import NonholonomicVehicle

_SPEED_GAIN = 3.0
"""Acceleration per missing speed near a limit [1/s]."""
_STEER_GAIN = 9.0


class DrivePilot:
    """Serves vehicles with wheel torque and rate of sigma (tangent of the steering angle); remembers nothing.

    Stick forward or throttle up drives; back brakes, then reverses. Roll or yaw steers.
    """

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """(torque on the rear wheels [N m], rate of sigma [1/s])."""
        limits = config_of(vehicle).modes.driving
        pedal = min(max(sticks.pitch + sticks.throttle, -1.0), 1.0)
        wheel = -min(max(sticks.roll + sticks.yaw, -1.0), 1.0)
        speed = float(sensed.v_b[0])
        acceleration = _wanted_acceleration(limits, pedal, speed, dt_s)
        return driven(vehicle, sensed, acceleration, reach(vehicle, speed) * wheel, dt_s)


def reach(vehicle: Vehicle, speed_mps: float) -> float:
    """Largest tangent of the steering angle at a speed: what the tyres hold sideways."""
    limits = config_of(vehicle).modes.driving
    wheelbase = scalar(vehicle.values["wheelbase"])
    return min(limits.steering_limit, limits.side_limit_mps2 * wheelbase / max(speed_mps * speed_mps, 1e-6))


def driven(
    vehicle: Vehicle, sensed: Sensed, acceleration_mps2: float, sigma_wanted: float, dt_s: float
) -> np.ndarray:
    """(torque, rate of sigma) that accelerate so and turn the wheels to that tangent, within the ranges."""
    shape = sensed.node[vehicle.node_layout.shape]
    sigma = float(shape[1])
    fastest = config_of(vehicle).modes.driving.steering_rate
    rate = min(max(min(_STEER_GAIN, 1.0 / dt_s) * (sigma_wanted - sigma), -fastest), fastest)
    low = [control.low for control in vehicle.controls]
    high = [control.high for control in vehicle.controls]
    return np.clip([_inertia(vehicle, shape) * acceleration_mps2, rate], low, high)


def _wanted_acceleration(limits: Driving, pedal: float, speed: float, dt_s: float) -> float:
    """m/s^2 ahead."""
    gain = min(_SPEED_GAIN, 0.5 / dt_s)
    if pedal * speed < 0.0 and abs(speed) > 0.4:
        return limits.brake_mps2 * pedal
    if abs(pedal) < 0.02:
        return -math.copysign(min(limits.coasting_mps2, gain * abs(speed)), speed)
    limit = limits.speed_limit_mps if pedal > 0.0 else limits.reverse_limit_mps
    room = gain * (limit - abs(speed))
    return math.copysign(1.0, pedal) * min(limits.acceleration_mps2 * abs(pedal), room)


def _inertia(vehicle: Vehicle, shape: np.ndarray) -> float:
    """Torque on the wheels [N m] per acceleration [m/s^2] in that shape."""
    return float(_rolling_inertia(Structure.of(vehicle))(shape, vehicle.parameter_vector))


@lru_cache(maxsize=16)
def _rolling_inertia(structure: Structure) -> ca.Function:
    """(shape, parameters) -> momentum of the wheels per speed of the car and all that it pulls."""
    vehicle = structure.vehicle
    assert isinstance(vehicle, NonholonomicVehicle)
    r, p = ca.SX.sym("r", len(vehicle.shape_coordinates)), ca.SX.sym("p", vehicle.parameter_count)
    q, rate = vehicle.symbols(p), ca.SX.sym("rate")
    u = vehicle.shape_velocity(r, rate, ca.SX.zeros(len(vehicle.controls)), q)
    _, by_shape, mu = vehicle.gradients(r, u, vehicle.body_velocity(r, u, ca.SX(0, 1), q), q)
    momentum = vehicle.momenta(r, by_shape, mu, q)
    return ca.Function("inertia", [r, p], [ca.jacobian(momentum, rate) / q.wheel_radius])


_TOWED, _FREE, _TURNED_PER_M = 0.5, 0.7, 0.1
"""Shares of the wheel's travel that the tightest circle of the last trailer needs, and up to which another circle is
gone over to; how much of the way from straight on to the tightest one on a metre: a train answers slowly, and first the
wrong way."""
_CIRCLES = tuple(np.linspace(-1.0, 1.0, 21).tolist())
_BACKING_MPS = 0.05


class TowPilot(DrivePilot):
    """Serves cars with trailers, whose angles are the shape coordinates behind the steering; remembers the circle on
    which it backs.

    On a circle each trailer has its angle; what they are off is steered away by the regulator of a train that backs
    straight.
    """

    def __init__(self) -> None:
        self._circle: float | None = None
        """-1 to 1, positive to the left; None while it does not back."""

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """(torque on the rear wheels [N m], rate of sigma [1/s])."""
        speed, limits = float(sensed.v_b[0]), config_of(vehicle).modes.driving
        pedal = min(max(sticks.pitch + sticks.throttle, -1.0), 1.0)
        if speed > -_BACKING_MPS and (pedal >= 0.0 or speed > _BACKING_MPS):
            self._circle = None
            return super().controls(sticks, sensed, vehicle, dt_s)
        wheel = -min(max(sticks.roll + sticks.yaw, -1.0), 1.0)
        if self._circle is None:
            self._circle = min(
                _CIRCLES, key=lambda circle: float(np.linalg.norm(_bent(vehicle, sensed, circle)[1]))
            )
        change = _TURNED_PER_M * abs(speed) * dt_s
        further = self._circle + min(max(wheel - self._circle, -change), change)
        sigma, further_sigma = (_backed(vehicle, sensed, circle) for circle in (self._circle, further))
        if abs(further_sigma) < _FREE * limits.steering_limit:
            self._circle, sigma = further, further_sigma
        sigma = min(max(sigma, -limits.steering_limit), limits.steering_limit)
        return driven(vehicle, sensed, _wanted_acceleration(limits, pedal, speed, dt_s), sigma, dt_s)


def _backed(vehicle: Vehicle, sensed: Sensed, circle: float) -> float:
    """Tangent of the steering angle that backs the last trailer on a circle: -1 to 1, positive to the left."""
    bend, off = _bent(vehicle, sensed, circle)
    return scalar(vehicle.values["wheelbase"]) * (bend - float(_straightening(*_train(vehicle)) @ off))


def _train(vehicle: Vehicle) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """How far hitches are behind the axles before them, and from there to the trailers' axles [m]."""
    hitches, bars = (tuple(np.ravel(vehicle.values[name]).tolist()) for name in ("hitches", "bars"))
    return hitches, bars


def _bent(vehicle: Vehicle, sensed: Sensed, circle: float) -> tuple[float, np.ndarray]:
    """Curvature of the car's way [1/m] while the last trailer is on a circle, -1 to 1, positive to the left; and what
    the trailers' angles are off those that they have on it (trailers,) [rad]."""
    limit = config_of(vehicle).modes.driving.steering_limit
    (hitches, bars), angles = _train(vehicle), sensed.node[vehicle.node_layout.shape][2:]
    tightest_m2 = (scalar(vehicle.values["wheelbase"]) / (_TOWED * limit)) ** 2
    tightest_m2 += sum(hitch * hitch - bar * bar for hitch, bar in zip(hitches, bars, strict=True))
    bend, off = circle / math.sqrt(max(tightest_m2, bars[-1] ** 2)), np.zeros(len(bars))
    for k in reversed(range(len(bars))):
        pulled = bend / math.sqrt(max(1.0 + bend * bend * (bars[k] ** 2 - hitches[k] ** 2), 0.1))
        off[k] = angles[k] + math.atan(bars[k] * bend) + math.atan(hitches[k] * pulled)
        bend = pulled
    return bend, off


@lru_cache(maxsize=16)
def _straightening(hitches: tuple[float, ...], bars: tuple[float, ...]) -> np.ndarray:
    """(trailers,) curvature of the car's way per angle [1/m] that straightens a train which backs: of all, the least
    squares of angles [rad] and of the curvature [1/m] over the way."""
    from scipy.linalg import solve_continuous_are  # takes a while to import

    before, rows, n = np.eye(len(bars) + 1)[-1], [], len(bars)
    for k in range(n):  # curvatures of ways, as linear functions of the angles and of the car's
        own = -(np.eye(n + 1)[k] + hitches[k] * before) / bars[k]
        rows.append(before - own)
        before = own
    A, B = np.array(rows)[:, :n], np.array(rows)[:, n:]
    return np.asarray(B.T @ solve_continuous_are(A, B, np.eye(n), np.eye(1)))[0]


LEAST_AHEAD_M, AHEAD_S = 3.5, 0.5
"""The point that is pursued is so far ahead, and so many seconds of driving if that is more."""
CRUISE, SIDEWAYS, BRAKING = 0.85, 0.6, 0.4
"""Shares of the config's limits of speed, sideways acceleration and brake."""
_SMOOTHING_M = 4.0
_TURNING_MPS = 3.5
"""While the line is not ahead."""
_GAIN = 2.0
"""Acceleration per missing speed [1/s]."""


class LineDrive(Automatic):
    """Round and round a closed line, to the end of another one; without a line the car is brought to rest."""

    ahead_s: ClassVar = AHEAD_S

    def __init__(self, mission: Mission) -> None:
        line = mission.line_w
        self._line = np.column_stack([line, np.zeros(len(line))])
        self._closed = mission.closed
        self._lap_m = float(np.linalg.norm(np.diff(np.vstack((line, line[:1])), axis=0), axis=1).sum())
        self._route: Route | None = None
        self._arc_m: float | None = None

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """(torque on the rear wheels [N m], rate of sigma [1/s])."""
        limits = config_of(vehicle).modes.driving
        speed = float(sensed.v_b[0])
        if len(self._line) < 2:
            return self.moved(vehicle, sensed, _towards(0.0, speed, limits.brake_mps2, dt_s), 0.0, dt_s)
        if self._route is None:
            line = np.vstack([self._line] * 3 + [self._line[:1]]) if self._closed else self._line
            self._route = make_route(
                line,
                cruise_mps=CRUISE * limits.speed_limit_mps,
                sideways=SIDEWAYS * limits.side_limit_mps2,
                braking=BRAKING * limits.brake_mps2,
                smoothing_m=_SMOOTHING_M,
            )
        route, level_w = self._route, np.array([sensed.x_w[0], sensed.x_w[1], 0.0])
        arc = self._arc_m = self._round(route.nearest(level_w, self._arc_m))
        ahead_m = max(LEAST_AHEAD_M, self.ahead_s * abs(speed))
        ahead = route.at(arc + ahead_m)
        x, y = (sensed.R_wb.T @ (ahead.point_w - level_w))[:2]
        sigma = 2.0 * scalar(vehicle.values["wheelbase"]) * float(y) / max(float(x * x + y * y), 1.0)
        wanted = min(route.at(arc).speed_mps, ahead.speed_mps + 0.5 * limits.brake_mps2)
        most = reach(vehicle, speed)
        if x < abs(y):
            wanted, sigma = min(wanted, _TURNING_MPS), float(np.copysign(most, y))
        pull = min(_towards(wanted, speed, limits.brake_mps2, dt_s), limits.acceleration_mps2)
        return self.moved(vehicle, sensed, pull, min(max(sigma, -most), most), dt_s)

    def moved(
        self, vehicle: Vehicle, sensed: Sensed, acceleration_mps2: float, sigma: float, dt_s: float
    ) -> np.ndarray:
        """(n_controls,) that accelerate so, on a way of the curvature sigma over the wheelbase."""
        return driven(vehicle, sensed, acceleration_mps2, sigma, dt_s)

    def _round(self, arc_m: float) -> float:
        """Of a closed line, which is laid out three times over, the middle counts."""
        if not self._closed:
            return arc_m
        return 0.5 * self._lap_m + (arc_m - 0.5 * self._lap_m) % self._lap_m


def _towards(wanted_mps: float, speed_mps: float, brake_mps2: float, dt_s: float) -> float:
    """m/s^2 towards a speed, braking no harder than that."""
    return max(min(_GAIN, 0.5 / dt_s) * (wanted_mps - speed_mps), -brake_mps2)


_LEAST_MPS = 1.0
"""Slower than this, steering is taken to hold a bicycle up as it does at this speed."""


class BalancePilot:
    """Serves bicycles whose shape is lean, pitch, steering and the wheels' angles; remembers the lean it asks for.

    That of an inverted pendulum whose foot the front wheel steers: with h the height of the centre of mass and b the
    wheelbase, the lean (positive to the right) obeys lean'' = g/h lean + v^2 / (b h) steer, steer positive to the left.
    """

    def __init__(self) -> None:
        self._lean = 0.0

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """(torque on the handlebar, of the rider's weight, on the rear wheel) [N m]."""
        law = config_of(vehicle).modes.balancing
        pedal = min(max(sticks.pitch + sticks.throttle, -1.0), 1.0)
        side = min(max(sticks.roll + sticks.yaw, -1.0), 1.0)
        span = law.fast_mps - law.cruise_mps if pedal > 0.0 else law.cruise_mps - law.slow_mps
        pull = 2.0 * (law.cruise_mps + pedal * span - float(sensed.v_b[0]))
        return self.leaning(vehicle, sensed, law.lean_rad * side, pull, dt_s)

    def leaning(
        self, vehicle: Vehicle, sensed: Sensed, lean: float, pull_mps2: float, dt_s: float
    ) -> np.ndarray:
        """(3,) that bring it to that lean [rad], as far as the speed allows, and accelerate it so."""
        law, at = config_of(vehicle).modes.balancing, vehicle.node_layout
        names = ("wheelbase", "tilt", "gravity", "rear_radius", "frame_mass")
        base, tilt, gravity, radius, mass = (scalar(vehicle.values[name]) for name in names)
        height = float(np.ravel(vehicle.values["frame_centre"])[1])
        now, _, steer = sensed.node[at.shape][:3]
        lean_rate, _, steer_rate = sensed.node[at.shape_velocity][:3]
        square = max(abs(float(sensed.v_b[0])), _LEAST_MPS) ** 2
        # Half of the handlebar's travel is left to catch a fall.
        most = math.atan(0.5 * law.steering_limit_rad * math.cos(tilt) * square / (gravity * base))
        change = law.lean_rate_radps * dt_s
        wanted = min(max(lean, -most), most)
        self._lean += min(max(wanted - self._lean, -change), change)
        gain = min(law.lean_gain, 0.2 / dt_s)
        fall = gravity / height * math.sin(now)
        turn = base * height / square * (fall + gain**2 * (now - self._lean) + 1.6 * gain * lean_rate)
        asked = -math.atan(turn) / math.cos(tilt)
        asked = min(max(asked, -law.steering_limit_rad), law.steering_limit_rad)
        torque = law.grip_Nm * (asked - steer) - law.grip_damping_Nms * steer_rate
        pull = min(max(pull_mps2, -law.acceleration_mps2), law.acceleration_mps2)
        low = [control.low for control in vehicle.controls]
        high = [control.high for control in vehicle.controls]
        return np.clip([torque, 0.0, mass * radius * pull], low, high)


class LineRide(LineDrive):
    """Along a line on a bicycle: it leans as its speed and the curvature of the way ask."""

    ahead_s: ClassVar = 1.6
    """A bend begins with the lean, which takes its time."""

    def __init__(self, mission: Mission) -> None:
        super().__init__(mission)
        self._rider = BalancePilot()

    def moved(
        self, vehicle: Vehicle, sensed: Sensed, acceleration_mps2: float, sigma: float, dt_s: float
    ) -> np.ndarray:
        """(3,) torques; it never rides slower than it can be held up."""
        law, speed = config_of(vehicle).modes.balancing, float(sensed.v_b[0])
        base, gravity = scalar(vehicle.values["wheelbase"]), scalar(vehicle.values["gravity"])
        lean = min(max(-math.atan(speed**2 * sigma / (base * gravity)), -law.lean_rad), law.lean_rad)
        pull = max(acceleration_mps2, 2.0 * (law.slow_mps - speed))
        return self._rider.leaning(vehicle, sensed, lean, pull, dt_s)


_STIFFNESS = 11.0
"""Natural frequency of torso and feet about what is asked of them [rad/s]."""
_TURNABOUT_MPS = 0.2
"""Going backwards at twice this, the feet are steered the other way."""
_EASE_S = 0.5
"""A gait swells and fades over about this time."""


@dataclass(frozen=True, slots=True)
class RideState:
    """What is remembered between control periods."""

    gait: str = ""
    time_s: float = 0.0
    """In the gait."""
    strength: float = 0.0
    """0 standing .. 1 in full swing."""
    asked: tuple[float, float] = (0.0, 0.0)
    """Torso and feet asked for last [rad]."""


class RidePilot:
    """Serves vehicles with torques on a torso and on the feet that steer."""

    def __init__(self) -> None:
        self._state = RideState()

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """Roll or yaw turns the feet, pitch winds the torso; the actions of the config's gaits swing both."""
        riding = config_of(vehicle).modes.riding
        state = self._state = _next(riding, self._state, sticks, float(sensed.v_b[0]), dt_s)
        at = vehicle.node_layout
        r, u = sensed.node[at.shape], sensed.node[at.shape_velocity]
        inertia = _inertias(vehicle, float(r[1]))
        stiffness = min(_STIFFNESS, 0.25 / dt_s)
        pull = stiffness**2 * (np.array(state.asked) - r) - 2.0 * stiffness * u
        low = [control.low for control in vehicle.controls]
        high = [control.high for control in vehicle.controls]
        return np.clip(inertia * pull, low, high)


def _next(riding: Riding, state: RideState, sticks: PilotInput, ahead_mps: float, dt_s: float) -> RideState:
    """One control period on."""
    gaits = {each.action: each for each in riding.gaits}
    held = next((name for name in gaits if name in sticks.actions), "")
    gait = held or state.gait
    step = dt_s / _EASE_S
    strength = min(state.strength + step, 1.0) if held else max(state.strength - step, 0.0)
    begun = held != "" and held != state.gait
    time_s = 0.0 if begun else state.time_s + dt_s
    torso = riding.twist_rad * min(max(sticks.pitch + sticks.throttle, -1.0), 1.0)
    # Right is right of the way the board goes: gaits drive it backwards.
    way = min(max(1.0 + ahead_mps / _TURNABOUT_MPS, -1.0), 1.0)
    feet = riding.steer_rad * way * min(max(sticks.roll + sticks.yaw, -1.0), 1.0)
    if gait in gaits:
        swing = _swing(gaits[gait], time_s)
        torso, feet = torso + strength * swing[0], feet + strength * swing[1]
    limit = riding.feet_limit_rad
    asked = (torso, min(max(feet, -limit), limit))
    return RideState(gait if strength > 0.0 else "", time_s, strength, asked)


def _swing(gait: GaitConfig, time_s: float) -> tuple[float, float]:
    return (
        gait.torso_rad * math.sin(gait.torso_radps * time_s),
        gait.feet_rad * math.sin(gait.feet_radps * time_s + gait.phase_rad),
    )


def _inertias(vehicle: Vehicle, phi: float) -> np.ndarray:
    """(2,) kg m^2 that torso and feet have for their torques, the board's recoil taken into account."""
    values = {name: scalar(value) for name, value in vehicle.values.items()}
    rotor = values["rotor_inertia"]
    recoil = rotor * math.sin(phi) ** 2 / (values["mass"] * values["half_length"] ** 2)
    return np.array([rotor * max(1.0 - recoil, 0.1), 2.0 * values["wheel_inertia"]])


CRUISE_MPS = 1.4
CIRCLE_M = 5.0
"""Round the last place."""
REACHED_M = 1.0
_TURN_PER_S = 0.5
"""Turn rate of the course per radian that it is off."""
_MOST_STICK, _LEAST_BENT_MPS = 0.7, 0.5
_EVENED_S = 0.7
"""The course that counts is evened out: every swing of the torso turns the board to and fro."""


class SkatePilot(Automatic):
    """Sticks and gaits of `RidePilot`, given by the course."""

    def __init__(self, mission: Mission) -> None:
        self._ride = RidePilot()
        self._left = [np.array(place) for place in mission.places_w]
        self._circled: np.ndarray | None = None
        self._course: np.ndarray | None = None
        """(2,) unit vector that it goes along, evened out."""

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """(torque of the torso, torque of the feet) [N m]."""
        riding = config_of(vehicle).modes.riding
        board = heading_of(sensed.R_wb)
        astern = -np.array([math.cos(board), math.sin(board)])  # the gait drives it backwards
        before = astern if self._course is None else self._course
        self._course = before - math.expm1(-dt_s / _EVENED_S) * (astern - before)
        place = sensed.x_w[:2]
        if self._left and float(np.linalg.norm(self._left[0] - place)) < REACHED_M:
            self._circled = self._left.pop(0)
        if self._circled is None and not self._left:
            self._circled = place.copy()
        speed = -float(sensed.v_b[0])
        off = turn_between(math.atan2(self._course[1], self._course[0]), self._wanted(place))
        turn = _TURN_PER_S * off + (0.0 if self._left else speed / CIRCLE_M)
        # Both axles turned by phi, one against the other, bend the way by tan(phi) over their distance from the middle.
        bend = turn / max(speed, _LEAST_BENT_MPS) * scalar(vehicle.values["half_length"])
        stick = min(max(-math.atan(bend) / riding.steer_rad, -_MOST_STICK), _MOST_STICK)
        held = (
            frozenset({riding.gaits[0].action}) if riding.gaits and speed < CRUISE_MPS else frozenset[str]()
        )
        return self._ride.controls(PilotInput(roll=stick, actions=held), sensed, vehicle, dt_s)

    def _wanted(self, place: np.ndarray) -> float:
        """Course [rad] to the next place, or round the last one, counter-clockwise."""
        if self._left:
            to = self._left[0] - place
            return math.atan2(float(to[1]), float(to[0]))
        assert self._circled is not None
        out = place - self._circled
        away = float(np.linalg.norm(out))
        bearing = math.atan2(float(out[1]), float(out[0]))
        return bearing + 0.5 * math.pi + math.atan(0.8 * (away - CIRCLE_M))
