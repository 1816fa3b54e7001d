"""The motor boat in a simulation and in the library: takes replay to the bit, and the sea goes on through changes."""

import dataclasses

import casadi as ca
import numpy as np
import pytest

import sim
from sim.commands import PilotInput, SetParameter, SetPilotInput
from sim.environment.environment import TOLD
from sim.planner.task.task import check_can_plan
from sim.platform.errors import InputError
from sim.recordings import Take
from sim.scene import Start, load_scene
from sim.simulation import Simulation
from sim.vehicles import known_vehicle
from sim.water.wrench import CLOCK
from tests.sim.simulation_scenes import simulation


def sailing() -> Simulation:
    scene = load_scene("harbour")
    return simulation(dataclasses.replace(scene, start=Start(position_w=(0.0, 0.0, -0.9))))


def sail(running: Simulation, seconds: float, pitch: float, roll: float) -> None:
    running.submit(SetPilotInput(PilotInput(pitch=pitch, roll=roll)))
    running.advance(seconds)


def test_a_take_of_the_motorboat_replays_and_resimulates_to_the_bit() -> None:
    running = sailing()
    sail(running, 1.3, 0.8, 0.2)
    running.submit(SetParameter("waves", 15.0))
    sail(running, 1.7, 0.5, -0.6)
    own = running.run.flown
    take = Take(name="test", segments=own.recorder.segments(own.time_s), world="harbour")
    moment = take.playback().at(take.end_s)
    water = own.footing.environment
    np.testing.assert_array_equal(moment.state, own.state)
    np.testing.assert_array_equal(moment.memory[CLOCK:], water.report[CLOCK:-TOLD])
    # The sea's clock went on through the change.
    assert water.report[CLOCK] == pytest.approx(own.time_s, abs=1e-9)
    np.testing.assert_array_equal(take.resimulate().samples().nodes, take.samples().nodes)


def test_a_change_of_a_parameter_that_changes_nothing_leaves_the_motion() -> None:
    """Told every tenth of a second over 2 s in waves and wind, with the sticks moved: measured 9e-16, and 0.02 where
    starts ignore the water."""

    def ends(*, told: bool) -> np.ndarray:
        running = sailing()
        for k in range(20):
            if told:
                running.submit(SetParameter("waves", 6.0))
            sail(running, 0.1, 0.8, 0.5 if k < 10 else -0.7)
        return running.run.flown.node.copy()

    assert np.abs(ends(told=True) - ends(told=False)).max() < 1e-9


def test_in_the_library_it_floats() -> None:
    boat = sim.vehicle("motorboat", waves=0.0)
    still = sim.simulate(boat, "variational", step=0.02, duration=6.0)
    # measured 2.3 mm: so far above the origin it lies at rest
    assert np.abs(still.pose[-1, 2, 3]) < 0.01
    driven = sim.simulate(
        boat, "variational", step=0.02, duration=6.0, controls=lambda t, state: np.array([300.0, 300.0])
    )
    held = sim.simulate(boat, "variational", step=0.02, duration=6.0, controls=np.array([300.0, 300.0]))
    # The same force by either way of giving it.
    np.testing.assert_allclose(driven.nodes, held.nodes, atol=1e-12)
    assert driven.observables["speed_through_water"][-1] > 2.0


@pytest.mark.parametrize("more", [{}, {"mass": 360.0}, {"mass": 700.0}])
def test_it_starts_in_equilibrium(more: dict[str, float]) -> None:
    """Next to nothing moves on calm water, by script, in a batch and in a scene; measured 2e-5 in 10 s, where a boat
    that is put upright into its waterline moves by 4e-2."""
    boat = sim.vehicle("motorboat", waves=0.0, **more)
    still = sim.simulate(boat, "variational", step=0.02, duration=10.0)
    assert np.abs(still.pose - still.pose[0]).max() < 2e-4
    many = sim.batch(boat, "variational", step=0.02, duration=0.1)
    np.testing.assert_array_equal(many.nodes[0, 0], still.nodes[0])
    running = simulation(
        dataclasses.replace(
            load_scene("open-sea"),
            flight_mode="raw",
            environment=None,
            start=Start(),
            vehicle=known_vehicle("motorboat", waves=0.0, **more),
        )
    )
    begins = running.advance(0.02).lanes[0].T_wb
    np.testing.assert_allclose(running.advance(4.0).lanes[0].T_wb, begins, atol=2e-4)


def test_plans_refuse_what_floats() -> None:
    with pytest.raises(InputError, match="motorboat floats"):
        check_can_plan(sim.vehicle("motorboat"))


def test_thrusters_that_steer_push_as_hard_and_turn_her_more() -> None:
    u = np.array([700.0, 150.0])

    def wrench(**parameters: float) -> np.ndarray:
        boat = sim.vehicle("motorboat", **parameters)
        q = boat.symbols(ca.SX(boat.parameter_vector))
        return np.array(ca.DM(boat.control_wrench(ca.SX(u.tolist()), q))).ravel()

    fixed, steered = wrench(), wrench(steering=0.6)
    angle = 0.6 * 550.0 / 1350.0
    force = 850.0 * np.array([np.cos(angle), np.sin(angle), 0.0])
    np.testing.assert_allclose(steered[3:], force, atol=1e-9)
    torque = sum(
        np.cross([-1.2, y, -0.2], thrust * np.array([np.cos(angle), np.sin(angle), 0.0]))
        for y, thrust in zip((0.5, -0.5), u, strict=True)
    )
    np.testing.assert_allclose(steered[:3], torque, atol=1e-9)
    np.testing.assert_array_equal(fixed[3:], [850.0, 0.0, 0.0])
    assert steered[2] < 1.8 * fixed[2] < 0.0  # both to starboard
