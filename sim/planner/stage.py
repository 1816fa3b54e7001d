"""One node of the optimisation as expressions: variables, next state, constraints, cost.

The dynamics are the integrator's scheme and nothing else: its private state y is the state, its
unknowns z and the planned inputs a are the controls, its residual is an equality and its y_next
closes the gap to the next node.
"""

from dataclasses import dataclass

import casadi as ca
import numpy as np

from sim.groups.se2 import plane_rotation
from sim.groups.so3 import vee
from sim.integrators.base import Scheme
from sim.planner.inputs import InputChart, Row, input_chart
from sim.planner.obstacles import KINDS
from sim.planner.shape import ProblemShape, control_limits
from sim.planner.symbols import Slots
from sim.vehicles.holonomic import HolonomicVehicle

BODY_NUMBERS = 4
_FAR = 1e9


@dataclass(frozen=True)
class Stage:
    """Expressions in the scaled variables v = (state, controls) of one node."""

    v: ca.SX
    unscale: np.ndarray
    """Physical variables = unscale * v."""
    next_state: ca.SX
    """Scaled state of the next node."""
    rows: tuple[Row, ...]
    cost: ca.SX
    node: ca.SX
    """Public state in SI units."""
    low: np.ndarray
    """Bounds of v."""
    high: np.ndarray


class StageModel:
    """Builds the running and the last stage of a problem, with the symbols that they share."""

    def __init__(self, shape: ProblemShape) -> None:
        self.shape = shape
        self.vehicle = shape.vehicle
        self.chart: InputChart = input_chart(shape.vehicle)
        self.scheme: Scheme = shape.integrator.scheme(shape.vehicle)
        i = self.scheme.inputs
        outputs = [self.scheme.residual, self.scheme.y_next, self.scheme.node, self.scheme.start]
        free = [self.scheme.y, self.scheme.z, i.u, i.w, i.p, i.h, i.node]
        self.step = ca.Function("step", free, outputs, {"cse": True})
        self.ends_with_controls = bool(
            self.scheme.z.shape[0] or any(ca.which_depends(self.scheme.node, i.u, 1, False))
        )
        self.parameters = Slots(self._parameter_sizes())
        self.p = ca.SX.sym("P", self.parameters.size)
        self.given = self.parameters.split(self.p)
        self.stage_parameters = Slots({"quadrature": 1, "margin": 1, "waypoint": 4 if shape.waypoints else 0})
        self.s = ca.SX.sym("S", self.stage_parameters.size)
        self.jet = ca.SX.sym("jet", 6)
        self.jet_at = ca.SX.sym("at", 2)

    # Sizes.

    def _parameter_sizes(self) -> dict[str, int]:
        node, n = self.vehicle.node_layout.size, self.chart.size
        sizes = {
            "vehicle": self.vehicle.parameter_count,
            "duration": 1,
            "weights": 7,
            "effort": n,
            "start": node,
            "goal": node,
            "body": BODY_NUMBERS * self.shape.body_count,
            "safety_range": 1,
            "clearance": 1,
            "price": 1,
        }
        for kind, count in self.shape.obstacles.items():
            sizes[kind] = count * KINDS[kind].size
        return sizes

    @property
    def state(self) -> Slots:
        """Pieces of the state."""
        return Slots(
            {
                "y": self.scheme.y.shape[0],
                "previous": self.chart.size if self.shape.remembers_inputs else 0,
                "h": int(self.shape.free_time),
            }
        )

    @property
    def controls(self) -> Slots:
        """Pieces of the running stages' controls."""
        return Slots({"a": self.chart.size, "z": self.scheme.z.shape[0], "slack": int(self.shape.elastic)})

    def _last_controls(self, missed: int) -> Slots:
        a, z = (self.chart.size, self.scheme.z.shape[0]) if self.ends_with_controls else (0, 0)
        return Slots({"a": a, "z": z, "slack": int(self.shape.elastic), "missed": missed})

    # Scaling.

    def _y_scale(self) -> np.ndarray:
        """Positions, shapes and momenta (or velocities, where y holds those) by their magnitudes, the rest by one."""
        size, s = self.scheme.y.shape[0], self.shape.scales
        scale = np.ones(size)
        shape = self.vehicle.node_layout.shape
        named = [(i, s.length_m) for i in self._position_indices()]
        named += [(shape.start + i, x) for i, x in enumerate(s.shape)]
        for index, magnitude in named:
            found = _component(self.scheme.node[index], self.scheme.y)
            if found is not None:
                scale[found] = magnitude
        velocities = isinstance(self.vehicle, HolonomicVehicle) and self._velocity_is_state
        scale[size - s.momenta.size :] = s.unknowns if velocities else s.momenta
        return scale

    def _z_scale(self) -> np.ndarray:
        return self.shape.scales.unknowns[: self.scheme.z.shape[0]]

    def _position_indices(self) -> range:
        return range(1, 3) if self.vehicle.group.name == "SE2" else range(9, 12)

    # Stages.

    def running(self) -> Stage:
        """A node with a step after it."""
        return self._stage(self.controls, last=False)

    def last(self) -> Stage:
        """The last node: no step, but the goal; inputs only where the node velocity depends on them."""
        missed = 2 * len(self.goal_rows(self.vehicle_node_symbol())) if self.shape.elastic else 0
        return self._stage(self._last_controls(missed), last=True)

    def vehicle_node_symbol(self) -> ca.SX:
        return ca.SX.sym("node", self.vehicle.node_layout.size)

    def _stage(self, controls: Slots, *, last: bool) -> Stage:
        state, s = self.state, self.shape.scales
        v = ca.SX.sym("v", state.size + controls.size)
        unscale = np.concatenate(
            [
                self._y_scale(),
                np.tile(s.inputs, int(self.shape.remembers_inputs)),
                np.full(int(self.shape.free_time), s.step_s),
                s.inputs if controls.sizes["a"] else np.zeros(0),
                self._z_scale() if controls.sizes["z"] else np.zeros(0),
                np.ones(controls.size - controls.sizes["a"] - controls.sizes["z"]),
            ]
        )
        x = state.split(unscale[: state.size] * v[: state.size])
        c = controls.split(unscale[state.size :] * v[state.size :])
        h = x["h"] if self.shape.free_time else self.given["duration"] / self.shape.steps
        has_a = bool(controls.sizes["a"])
        a = c["a"] if has_a else ca.SX.zeros(self.chart.size)
        z = c["z"] if controls.sizes["z"] else ca.SX.zeros(self.scheme.z.shape[0])
        residual, y_next, node, _ = self._step(x["y"], z, a, h)
        rows = [*self._residual_rows(residual)] if has_a or not self.ends_with_controls else []
        if last and not self.ends_with_controls:
            rows = []
        slack = c["slack"] if controls.sizes["slack"] else ca.SX(0)
        rows += self._input_rows(a, x["previous"], h, last=last) if has_a else []
        rows += self._place_rows(node, slack)
        rows += self._velocity_rows(node, z) if has_a else []
        if last:
            rows += self._goal_rows_with_slack(node, c)
        cost = self._cost(node, a, z, x["previous"], h, last=last)
        cost = cost + self.given["price"] * (
            h * self.shape.steps * slack + ca.sum1(c.get("missed", ca.SX.zeros(1)))
        )
        following = [y_next / self._y_scale()]
        following += [a / s.inputs] if self.shape.remembers_inputs else []
        following += [x["h"] / s.step_s] if self.shape.free_time else []
        low, high = self._bounds(state, controls, unscale, node, x["y"], v)
        return Stage(v, unscale, ca.vertcat(*following), tuple(rows), cost, node, low, high)

    def _step(self, y: ca.SX, z: ca.SX, a: ca.SX, h: ca.SX) -> tuple[ca.SX, ...]:
        u, w = self.chart.controls_and_wrench(a, self.given["vehicle"])
        return self.step(y, z, u, w, self.given["vehicle"], h, self.given["start"])

    def initial_rows(self, stage: Stage) -> tuple[Row, ...]:
        """The first state is the discrete Legendre transform of the start (which takes half of the first impulse)."""
        state = self.state
        x = state.split(stage.unscale[: state.size] * stage.v[: state.size])
        c = self.controls.split(stage.unscale[state.size :] * stage.v[state.size :])
        h = x["h"] if self.shape.free_time else self.given["duration"] / self.shape.steps
        start = self._step(x["y"], c["z"], c["a"], h)[3]
        difference = (x["y"] - start) / self._y_scale()
        return tuple(Row("start", difference[i], 0.0, 0.0) for i in range(difference.shape[0]))

    def ground_position(self, v: ca.SX) -> ca.SX:
        """(x, y) of the body, where there is ground: plain components of the state."""
        unscale, at = self._y_scale(), self._position_indices()
        found = [_component(self.scheme.node[i], self.scheme.y) for i in (at[0], at[1])]
        assert None not in found, "ground wants a method whose state holds the position"
        return ca.vertcat(*[unscale[i] * v[i] for i in found])

    @property
    def place_indices(self) -> list[int]:
        """Components of the state that are the position in the world."""
        found = [_component(self.scheme.node[i], self.scheme.y) for i in self._position_indices()]
        return [i for i in found if i is not None]

    # Constraints.

    def _residual_rows(self, residual: ca.SX) -> list[Row]:
        scaled = residual / self.shape.scales.momenta[: residual.shape[0]]
        return [Row("dynamics", scaled[i], 0.0, 0.0) for i in range(residual.shape[0])]

    def _input_rows(self, a: ca.SX, previous: ca.SX, h: ca.SX, *, last: bool) -> list[Row]:
        rows = list(self.chart.rows(a, control_limits(self.vehicle, self.shape.limits)))
        for i, name in enumerate(self.chart.names):
            if name in self.shape.limits.rates:
                allowed = self.shape.limits.rates[name]
                change = (a[i] - previous[i]) / (allowed * h)
                rows.append(Row(f"rate of {name}", change, -1.0, 1.0))
        return rows

    def points(self, node: ca.SX) -> list[tuple[ca.SX, ca.SX]]:
        """(centre in the world (3,), radius) of the balls that stand for the vehicle."""
        body = ca.reshape(self.given["body"], BODY_NUMBERS, self.shape.body_count)
        if self.vehicle.group.name == "SE2":
            R = ca.diagcat(plane_rotation(node[0]), 1)
            x = ca.vertcat(node[1:3], 0)
        else:
            R, x = ca.reshape(node[:9], 3, 3), node[9:12]
        return [(x + R @ body[:3, j], body[3, j]) for j in range(self.shape.body_count)]

    def _distances(self, node: ca.SX) -> list[tuple[str, ca.SX]]:
        """Signed distances [m] of every ball to every obstacle."""
        out = []
        for kind, count in self.shape.obstacles.items():
            numbers = ca.reshape(self.given[kind], KINDS[kind].size, count)
            for j in range(count):
                for x, radius in self.points(node):
                    margin = radius + self.given["clearance"] + self.s[1]
                    out.append((f"{kind} {j}", KINDS[kind].distance(x, numbers[:, j], margin)))
        return out

    def _height_over_ground(self, node: ca.SX) -> ca.SX:
        """Above the smooth ground: a second-order model about `jet_at`, exact there with its derivatives."""
        x = node[9:12]
        d = x[:2] - self.jet_at
        b = self.jet
        ground = (
            b[0]
            + b[1] * d[0]
            + b[2] * d[1]
            + (b[3] * d[0] ** 2 + 2 * b[4] * d[0] * d[1] + b[5] * d[1] ** 2) / 2
        )
        return x[2] - ground - self.s[1]

    def _place_rows(self, node: ca.SX, slack: ca.SX) -> list[Row]:
        unit = self.shape.scales.length_m
        rows = [
            Row(name, distance / unit + slack, 0.0, np.inf, "m", unit, soft=True)
            for name, distance in self._distances(node)
        ]
        if self.shape.ground is not None:
            height = self._height_over_ground(node) / unit
            rows.append(Row("ground", height + slack, 0.0, np.inf, "m", unit, soft=True))
        if self.shape.waypoints:
            place, tolerance = self.s[2:5], self.s[5]
            d = (self.points(node)[0][0] - place) / tolerance
            rows.append(Row("waypoint", (ca.dot(d, d) - 1) / 2 - slack, -np.inf, 0.0, "m", 1.0, soft=True))
        return rows

    def _velocity_rows(self, node: ca.SX, z: ca.SX) -> list[Row]:
        """For methods whose unknowns are no body velocity; otherwise these are plain bounds."""
        if self.unknown_is_velocity or self._velocity_is_state:
            return []
        limits, xi = self.shape.limits, node[self.vehicle.node_layout.velocity]
        turns = 1 if xi.shape[0] == 3 else 3
        rows = []
        for i in range(xi.shape[0]):
            if xi[i].is_zero():
                continue
            bound = limits.turn_radps if i < turns else limits.speed_mps
            rows.append(Row("turn rate" if i < turns else "speed", xi[i] / bound, -1.0, 1.0))
        return rows

    @property
    def unknown_is_velocity(self) -> bool:
        return isinstance(self.vehicle, HolonomicVehicle) and self.scheme.z.shape[0] == self.vehicle.group.dim

    @property
    def _velocity_is_state(self) -> bool:
        xi = self.scheme.node[self.vehicle.node_layout.velocity]
        return all(_component(xi[i], self.scheme.y) is not None for i in range(xi.shape[0]))

    def goal_rows(self, node: ca.SX) -> list[tuple[str, str, ca.SX]]:
        """(part, demand, miss) of every row of the goal that is not free, in SI units."""
        at, goal = self.vehicle.node_layout, self.given["goal"]
        position, rotation, velocity, shape, shape_velocity = self.shape.demands
        plane = self.vehicle.group.name == "SE2"
        there = self._position_indices()
        out = [("position", str(position), node[i] - goal[i]) for i in there]
        if plane:
            out.append(("rotation", str(rotation), ca.sin(node[0] - goal[0])))
        elif rotation == "upright":
            out += [("rotation", "fixed", node[2]), ("rotation", "fixed", node[5])]
        else:
            miss = vee(ca.reshape(goal[:9], 3, 3).T @ ca.reshape(node[:9], 3, 3))
            out += [("rotation", str(rotation), miss[i]) for i in range(3)]
        xi = node[at.velocity] - goal[at.velocity]
        out += [("velocity", str(velocity), xi[i]) for i in range(xi.shape[0])]
        for name, where, wanted in (
            ("shape", at.shape, shape),
            ("shape velocity", at.shape_velocity, shape_velocity),
        ):
            miss = node[where] - goal[where]
            out += [(name, "fixed", miss[i]) for i in wanted]  # type: ignore[attr-defined]
        return [row for row in out if row[1] != "free"]

    def _goal_scale(self, part: str) -> float:
        s = self.shape.scales
        return {"position": s.length_m, "velocity": s.speed_mps}.get(part, 1.0)

    def _goal_rows_with_slack(self, node: ca.SX, c: dict[str, ca.SX]) -> list[Row]:
        rows = []
        units = {"position": "m", "rotation": "rad", "velocity": "m/s"}
        for i, (part, demand, miss) in enumerate(self.goal_rows(node)):
            scale = self._goal_scale(part)
            give = c["missed"][2 * i] - c["missed"][2 * i + 1] if self.shape.elastic else ca.SX(0)
            low, high = (0.0, 0.0) if demand == "fixed" else (-1.0, 1.0)
            rows.append(
                Row(f"goal {part}", miss / scale + give, low, high, units.get(part, ""), scale, soft=True)
            )
        return rows

    # Cost.

    def _cost(self, node: ca.SX, a: ca.SX, z: ca.SX, previous: ca.SX, h: ca.SX, *, last: bool) -> ca.SX:
        terms = self.cost_terms(node, a, z, previous, h, last=last)
        return sum((self.given["weights"][i] * term for i, term in terms.items()), ca.SX(0))

    def cost_terms(
        self, node: ca.SX, a: ca.SX, z: ca.SX, previous: ca.SX, h: ca.SX, *, last: bool
    ) -> dict[int, ca.SX]:
        """Index of a weight -> what this node adds to the term, for the terms that the problem has."""
        share, effort, has = self.s[0] * h, self.given["effort"], self.shape.costs
        terms = {0: share * ca.dot(effort, a * a)}
        if "smoothness" in has and not last:
            change = a - previous
            terms[1] = ca.dot(effort, change * change) / h
        if "time" in has and not last:
            terms[2] = h
        if "safety" in has:
            terms[4] = share * self._nearness(node)
        if "terminal" in has and last:
            terms[6] = self._missed(node)
        # An arc's own velocity, where there is one, is a plain variable and belongs to the step after the node.
        xi = z if self.unknown_is_velocity else node[self.vehicle.node_layout.velocity]
        turns = 1 if xi.shape[0] == 3 else 3
        along = (ca.SX(0) if last else h) if self.unknown_is_velocity else share
        if "distance" in has:
            terms[3] = along * ca.sqrt(ca.dot(xi[turns:], xi[turns:]) + 1e-6)
        if "comfort" in has:
            terms[5] = along * ca.dot(xi[:turns], xi[:turns])
        return terms

    def _nearness(self, node: ca.SX) -> ca.SX:
        distances = [d for _, d in self._distances(node)]
        if self.shape.ground is not None:
            distances.append(self._height_over_ground(node))
        return sum((ca.exp(-d / self.given["safety_range"]) for d in distances), ca.SX(0))

    def _missed(self, node: ca.SX) -> ca.SX:
        at, goal = self.vehicle.node_layout, self.given["goal"]
        d = node[list(self._position_indices())] - goal[list(self._position_indices())]
        xi = node[at.velocity] - goal[at.velocity]
        return ca.dot(d, d) + ca.dot(xi, xi)

    # Bounds.

    def _bounds(
        self, state: Slots, controls: Slots, unscale: np.ndarray, node: ca.SX, y: ca.SX, v: ca.SX
    ) -> tuple[np.ndarray, np.ndarray]:
        low, high = np.full(v.shape[0], -np.inf), np.full(v.shape[0], np.inf)
        for index, a, b in self._node_bounds():
            found = _component(self.scheme.node[index], self.scheme.y)
            if found is not None:
                low[found], high[found] = max(low[found], a), min(high[found], b)
        if self.shape.free_time:
            low[state.slice("h")] = 1e-4
        offset = state.size
        if controls.sizes["a"]:
            where = _shifted(controls.slice("a"), offset)
            low[where], high[where] = self.chart.box(control_limits(self.vehicle, self.shape.limits)).T
        if controls.sizes["z"] and self.unknown_is_velocity:
            where = _shifted(controls.slice("z"), offset)
            bound = self._velocity_bound()
            low[where], high[where] = -bound, bound
        low[offset + controls.size - sum(controls.sizes[n] for n in controls.sizes if n not in "az") :] = 0.0
        return low / unscale, high / unscale

    def _velocity_bound(self) -> np.ndarray:
        limits, n = self.shape.limits, self.vehicle.group.dim
        turns = 1 if n == 3 else 3
        return np.r_[np.full(turns, limits.turn_radps), np.full(n - turns, limits.speed_mps)]

    def _node_bounds(self) -> list[tuple[int, float, float]]:
        """(index in the node, low, high) of components that are variables themselves."""
        limits, at = self.shape.limits, self.vehicle.node_layout
        out = []
        for axis, index in enumerate(self._position_indices()):
            low = limits.low_w[axis] if limits.low_w else -np.inf
            high = limits.high_w[axis] if limits.high_w else np.inf
            out.append((index, low, high))
        if limits.tilt_rad is not None and self.vehicle.group.name == "SE3":
            out.append((8, float(np.cos(limits.tilt_rad)), np.inf))
        if self._velocity_is_state:
            bound = self._velocity_bound()
            out += [(at.velocity.start + i, -b, b) for i, b in enumerate(bound)]
        for i, coordinate in enumerate(self.vehicle.shape_coordinates):
            low, high = limits.shape.get(coordinate.name, (-np.inf, np.inf))
            inside = 1e-3 * min(coordinate.high - coordinate.low, 1.0)
            low, high = max(low, coordinate.low + inside), min(high, coordinate.high - inside)
            out.append((at.shape.start + i, low, high))
        return out


def _shifted(where: slice, offset: int) -> slice:
    return slice(where.start + offset, where.stop + offset)


def _component(scalar: ca.SX, vector: ca.SX) -> int | None:
    """Index of a plain symbol in a vector of symbols; None if it is none of them."""
    if not scalar.is_symbolic():
        return None
    wanted = scalar.element_hash()
    return next((i for i in range(vector.shape[0]) if vector[i].element_hash() == wanted), None)
