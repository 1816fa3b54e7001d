"""The snapshot of a lane: all values copied out of it."""

import math

import numpy as np

from sim.simulation.lane import Lane
from sim.simulation.snapshot import Deviation, LaneSnapshot, LaneStatus
from sim.vehicle_config import config_of
from sim.vehicles.forms.observation import Observation


def lane_picture(lane: Lane, span_s: float, deviation: Deviation | None = None) -> LaneSnapshot:
    """The lane as it is now, and its poses `span_s` (or a step, if that is longer) before."""
    node, m, footing, observer, look = lane.node, lane.dynamics, lane.footing, lane.observer, lane.look
    start, recent, stopped = observer.start, observer.trails.recent, lane.termination
    if lane.running:
        observer.cost.look(m, lane.state, lane.controls, footing.environment.probe())
    observation = lane.observation
    if observation.layout.of_step:
        observation = _with_step(lane, node)
    recent.add(lane.time_s, lane.poses_w)
    previous_s, previous_w, current_s, current_w = recent.pair(max(span_s, m.step_s))
    names = tuple(observation.layout.bodies)
    clearance = footing.environment.clearance_m(node)
    return LaneSnapshot(
        name=look.name,
        vehicle=m.vehicle.name,
        config=config_of(m.vehicle),
        integrator=m.integrator,
        step_s=m.step_s,
        tint=look.tint,
        ghost=look.ghost,
        generation=lane.generation,
        time_previous_s=previous_s,
        time_current_s=current_s,
        bodies_previous=dict(zip(names, previous_w, strict=True)),
        bodies=dict(zip(names, current_w, strict=True)),
        twist_b=observation.twist_b,
        shape=node[m.vehicle.node_layout.shape].copy(),
        controls=lane.controls.copy(),
        control_wrench_b=m.vehicle.twist_embedding @ observation.control_wrench_b,
        environment_wrench_b=lane.integration.environment_wrench_b.copy(),
        energy_J=observation.energy_J,
        energy_start_J=start.energy_J,
        momentum_w=m.vehicle.twist_embedding @ observation.momentum_w,
        momentum_start_w=start.momentum_w,
        newton_iterations=observer.tally.take(),
        step_cost_s=observer.cost.step_s,
        height_above_ground_m=clearance if math.isfinite(clearance) else math.nan,
        on_ground=footing.environment.touching,
        status=LaneStatus.RUNNING if stopped is None else stopped.status,
        status_text="" if stopped is None else stopped.text,
        parameters=m.vehicle.values,
        own_pilot=not lane.follows,
        deviation=deviation,
        observables=observation.observables,
        units=observation.layout.units,
        observables_start=start.observables,
        ways=observer.trails.rows(),
        pivot_w=None if footing.pivot_w is None else footing.pivot_w.copy(),
        links=m.vehicle.links,
        pull=None if lane.pull is None else (lane.pull.body, lane.pull.at_b, lane.pull.to_w),
        sea=footing.environment.water,
        aground=footing.environment.aground,
    )


def _with_step(lane: Lane, node: np.ndarray) -> Observation:
    """With what is told of the step that begins now."""
    m, ahead, u = lane.dynamics, lane.state.copy(), lane.controls
    m.kernel.advance(ahead, u, np.zeros(m.kernel.dim), m.parameters, m.step_s, 1)
    after = m.kernel.node(ahead, u, m.parameters, m.step_s)
    return m.kernel.observe_step(node, after, u, m.parameters, m.step_s)
