"""Any moment of a take, rolled on from the nearest restart point by the kernels that made it."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sim.environment.environment import Environment, environment_of, kind_of
from sim.integrators import Integrator
from sim.platform.validation import number
from sim.recordings.leg import SAME_S, Leg, Moment, strike
from sim.steppers import Stepper
from sim.steppers.choice import stepper_of
from sim.vehicles import Vehicle
from sim.vehicles.forms.base import Structure
from sim.vehicles.forms.observation import Observed
from sim.world import World, load_world

Kernels = Callable[[Vehicle, Integrator, bool], Stepper]
"""(vehicle, integrator, with ground contact) -> what advances it."""


def compiled(vehicle: Vehicle, integrator: Integrator, contact: bool) -> Stepper:
    """The kernel of a pair, compiled or from the cache on disk."""
    return stepper_of(vehicle, integrator, kind_of(vehicle).inline if contact else None)


@dataclass(frozen=True, eq=False)
class Samples:
    """Nodes of a take at moments that increase."""

    time: np.ndarray
    """(n,) s."""
    nodes: np.ndarray
    """(n, node size)."""
    controls: np.ndarray
    """(n, n_controls) that act from then on; at the end those of the last step."""
    observed: Observed
    """What is told of the nodes; observables of a step are those of the step that begins there."""
    newton_iterations: int
    """In all steps together."""


class Playback:
    """Looks into a take. `world`: the take's own, where it is loaded already; else it is loaded when it is felt."""

    def __init__(
        self, legs: tuple[Leg, ...], world: Callable[[], World], *, kernels: Kernels = compiled
    ) -> None:
        self._legs, self._world, self._source = legs, world, kernels
        self._known: list[tuple[Leg, Stepper]] = []
        self._last: Moment | None = None

    def kernel(self, leg: Leg) -> Stepper:
        """What advances a leg."""
        for known, kernel in self._known:
            if _kind(known) == _kind(leg):
                return kernel
        kernel = self._source(leg.vehicle, leg.integrator, leg.contact)
        self._known.append((leg, kernel))
        return kernel

    def restart(self, leg: Leg, point: int) -> tuple[np.ndarray, Environment]:
        """Private state and ground of a restart point, to go on from.

        Raises InputError where another version of the integrator made them.
        """
        state = self.kernel(leg).restored(leg.states[point])
        return state, self.ground(leg, leg.memories[point])

    def ground(self, leg: Leg, memory: np.ndarray) -> Environment:
        """What it feels, with this memory."""
        if not memory.size:
            return Environment(leg.vehicle)
        around = environment_of(leg.vehicle, self._world())
        around.restore(memory)
        return around

    def at(self, time_s: float) -> Moment:
        """The last step that begins by then; the first or the last of all where there is none."""
        leg = self._legs[0]
        for later in self._legs[1:]:
            if later.begin_s <= time_s + SAME_S:
                leg = later
        return self.moment(leg, leg.step_at(time_s))

    def moment(self, leg: Leg, step: int) -> Moment:
        """A step of a leg, to the bit."""
        point = int(np.searchsorted(leg.point_steps, step, side="right")) - 1
        begin, last = int(leg.point_steps[point]), self._last
        if last is not None and last.leg is leg and begin <= last.step <= step:
            begin, state, ground = last.step, last.state.copy(), self.ground(leg, last.memory)
        else:
            state, ground = self.restart(leg, point)
        kernel, p = self.kernel(leg), leg.vehicle.parameter_vector
        nothing = np.zeros(kernel.dim)
        for controls, impulse, count in leg.pushed(begin, step):
            if impulse is not None:
                strike(kernel, leg.vehicle, state, impulse, controls, leg.step_s)
            kernel.advance(state, controls, nothing, p, leg.step_s, count, ground.env)
        memory = ground.checkpoint()
        self._last = Moment(leg, step, state, memory, leg.controls_at(step))
        return self._last

    def node(self, moment: Moment) -> np.ndarray:
        """Pose, velocity and shape of a moment, flat."""
        leg = moment.leg
        ground = self.ground(leg, moment.memory.copy())
        p = leg.vehicle.parameter_vector
        return self.kernel(leg).node(moment.state, moment.controls, p, leg.step_s, env=ground.env)

    def samples(self, every_s: float = 0.0) -> Samples:
        """Nodes at all steps, or only at those that begin `every_s` seconds or more after the one before.

        Raises InputError for what is no such time.
        """
        every_s = number("every_s", every_s, low=0.0)
        last = self._legs[-1]
        parts = [part for leg in self._legs for part in self._leg_samples(leg, every_s, last=leg is last)]
        time, nodes, controls, rows = (np.concatenate([columns[k] for columns, _ in parts]) for k in range(4))
        observed = Observed(self.kernel(last).layout, rows)
        return Samples(time, nodes, controls, observed, sum(iterations for _, iterations in parts))

    def _leg_samples(self, leg: Leg, every_s: float, *, last: bool) -> list[tuple[list[np.ndarray], int]]:
        kernel, p = self.kernel(leg), leg.vehicle.parameter_vector
        stride = max(int(np.ceil(every_s / leg.step_s - SAME_S)), 1)
        bounds = [*leg.point_steps.tolist(), leg.steps]
        parts: list[tuple[list[np.ndarray], int]] = []
        for point, (begin, end) in enumerate(pairwise(bounds)):
            ending = last and point == len(leg.point_steps) - 1
            if end == begin and not ending:
                continue
            rows = leg.rows(begin, end) if end > begin else leg.controls_at(begin)[None]
            state, ground = self.restart(leg, point)
            nodes, _, iterations = self.rolled(leg, begin, end, state, ground)
            steps = np.arange(begin, end + 1)
            kept = (steps - leg.first_step) % stride == 0
            kept[-1] = ending
            us = np.vstack([rows, leg.controls_at(end)])[: len(steps)]
            if ending:
                nodes[-1] = kernel.node(state, us[-1], p, leg.step_s, env=ground.env)
            observed = kernel.observe_all(nodes, us, p, leg.step_s)
            columns = (leg.since_s + steps * leg.step_s, nodes, us, observed.rows)
            parts.append(([column[kept] for column in columns], iterations))
        return parts

    def rolled(
        self, leg: Leg, begin: int, end: int, state: np.ndarray, ground: Environment
    ) -> tuple[np.ndarray, int, int]:
        """Nodes (end - begin + 1, node size), each before any impulse there, steps done, and iterations.

        `state` and `ground` go on to the end.
        """
        kernel, p, h = self.kernel(leg), leg.vehicle.parameter_vector, leg.step_s
        rows = leg.rows(begin, end) if end > begin else leg.controls_at(begin)[None]
        if leg.pushes is None or end == begin:
            return kernel.trajectory(state, rows, p, h, end - begin, ground.env)
        nodes, at, total = np.full((end - begin + 1, leg.vehicle.node_layout.size), np.nan), 0, 0
        for impulse, count in leg.pushes.divided(begin, end):
            us = np.ascontiguousarray(rows[at : at + count])
            met = kernel.node(state, us[0], p, h, env=ground.probe().env)
            if impulse is not None:
                strike(kernel, leg.vehicle, state, impulse, us[0], h)
            part, done, iterations = kernel.trajectory(state, us, p, h, count, ground.env)
            nodes[at : at + count + 1], nodes[at] = part, met
            at, total = at + done, total + iterations
            if done < count:
                break
        return nodes, at, total


def _kind(leg: Leg) -> tuple[object, ...]:
    """What its kernel depends on."""
    return Structure.of(leg.vehicle), leg.integrator, leg.contact


def world_of(name: str, seed: int) -> Callable[[], World]:
    """Loads a world once it is needed."""
    known: list[World] = []

    def load() -> World:
        if not known:
            known.append(load_world(name, seed=seed))
        return known[0]

    return load
