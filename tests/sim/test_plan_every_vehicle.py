"""Every vehicle with controls is planned, or refused for a reason of mechanics."""

import numpy as np
import pytest

import sim
from benchmarks.random_plans import plannable, reachable
from sim.analysis.gradient_steps import check_differentiable
from sim.integrators import integrator
from sim.planner import Goal, Limits, Task, calm_water
from sim.planner.task.bodies import velocities
from sim.planner.task.inputs import input_map_of
from sim.planner.task.task import check_can_plan, usual_method
from sim.vehicles.forms.form import Form
from tests.sim.planner_tasks import replayed

REFUSED = {
    "motorboat": "floats on waves",
    "wave-buoy": "floats on waves.*, and drifts",
}
"""Vehicles whose mechanics no plan knows, and what of them."""
ELSEWHERE = {
    "quadrotors-with-load": "test_plan_spaces plans one by its law, and two by the scene plan-quadrotors",
    "helicopter-with-load": "test_plan_spaces plans the scene plan-sling and flies it with feedback",
    "helicopter-with-rope": "no test plans it: test_plan_trees has what holds it and what of it is refused",
    "hopper": "no plan is found to where held inputs take it; test_plan_contact plans its hops",
    "quadruped": "held inputs let it fall; test_plan_contact has it stand up and trot",
    "scara": "held inputs turn its arm into the block; test_plan_contact plans its way round that",
    "pusher": "held inputs drop its box's arm; test_plan_contact plans its pushes",
}
"""Vehicles that are left out here, and why."""


def nearby(vehicle: sim.Vehicle) -> Task:
    """At rest as it is by default, to where a little more than what holds it takes it in half a second."""
    node, inputs = vehicle.default_state().node.copy(), input_map_of(vehicle)
    node[[i for i, _ in velocities(vehicle)]] = 0.0
    node[vehicle.node_layout.shape_velocity] = 0.0
    start, held = vehicle.state_at_node(node), np.array(vehicle.neutral_controls)
    if inputs.size != len(vehicle.controls) or vehicle.form is Form.EULER_POINCARE:
        held = inputs.controls(inputs.trim(node[vehicle.node_layout.pose])[None])[0]
    low, high = np.array([[c.low, c.high] for c in vehicle.controls]).T
    controls = np.clip(held + np.minimum(0.01 * (high - low), 0.1), 0.9 * low, 0.9 * high)
    flown = sim.simulate(
        vehicle, usual_method(vehicle), step=0.5 / 16, duration=0.5, initial=start, controls=controls
    )
    fast = Limits(speed_mps=100.0, turn_radps=60.0)
    return Task(start, Goal(flown.final), 0.5, steps=16, limits=fast, name=vehicle.name)


@pytest.mark.parametrize("name", [n for n in sim.vehicles() if n not in ELSEWHERE])
def test_every_vehicle_with_controls_is_planned_or_refused_for_its_mechanics(name: str) -> None:
    vehicle = sim.vehicle(name)
    reason = REFUSED.get(name) or (None if vehicle.controls else "no controls")
    if reason is None:
        plan = sim.plan(vehicle, nearby(vehicle), starts=1, explain=False)
        assert plan.solved, plan.message
        assert np.isfinite(plan.sensitivity("duration_s").end).all()
        assert np.isfinite(plan.feedback.gains).all()
        return
    start = vehicle.default_state()
    with pytest.raises(sim.InputError, match=reason):
        sim.plan(vehicle, Task(start, Goal(start), 0.5, steps=16))


@pytest.mark.parametrize("seed", [4, 5])
def test_a_disc_is_planned_aside_to_where_only_products_of_its_inputs_lead(seed: int) -> None:
    """Next to rest what a single input does there is next to nothing, and multipliers are large."""
    disc = plannable("rolling-disc")
    assert disc is not None
    task = reachable(disc, seed)
    assert task is not None
    plan = sim.plan(disc, task, starts=1, explain=False)
    assert plan.solved, plan.message
    assert plan.defect < 1e-9  # at most 8e-10
    assert np.abs(replayed(plan).pose[-1] - task.goal.state.pose).max() < 1e-7


def test_a_hopper_that_is_to_lie_on_its_trunk_is_told_that_nothing_leads_there() -> None:
    """Only its foot is among a plan's contacts; the simulation lets the trunk bear."""
    hopper = plannable("hopper")
    assert hopper is not None
    task = reachable(hopper, 0)
    assert task is not None
    assert task.goal.state.node[1] == pytest.approx(0.05, abs=1e-9)  # half as high as the trunk
    plan = sim.plan(hopper, task, starts=1)
    assert not plan.solved
    assert "goal's up is missed" in plan.message


@pytest.mark.parametrize("name", sim.vehicles())
def test_what_a_refusal_proposes_in_a_vehicle_s_place_can_be_planned_and_differentiated(name: str) -> None:
    """Both refusals name its mechanics on flat water, and never where there are none."""
    vehicle = sim.vehicle(name)
    told = []
    for asked in (
        lambda: check_can_plan(vehicle),
        lambda: check_differentiable(vehicle, integrator("variational")),
    ):
        try:
            asked()
        except sim.InputError as refusal:
            told.append(str(refusal))
    if not any("calm_water" in refusal for refusal in told):
        return
    calm = calm_water(vehicle)
    check_can_plan(calm)
    check_differentiable(calm, integrator("variational"))
