"""Laws of vehicles with closed loops: on lanes, in takes, under the hand."""

import numpy as np
import pytest

import sim
from sim.commands import PilotInput, Pull, SetPilotInput
from sim.integrators import integrators
from sim.multibody.loops import Closure
from sim.platform.errors import InputError
from sim.recordings import load_take, save_take
from sim.scene import load_scene, with_overrides
from sim.steppers.bound_tree import BoundTree
from sim.steppers.dynamics import tree_stepper
from tests.sim.simulation_scenes import simulation

SCENE = load_scene("linkage")


def linkage(**values):
    return sim.vehicle(SCENE.vehicle.name, **values)


def closure(vehicle):
    return Closure(vehicle.tree, vehicle.loops_with(vehicle.parameter_vector))


def widest_gap(vehicle, nodes):
    return max(np.abs(closure(vehicle).gaps(q)).max() for q in nodes[:, : vehicle.tree.nq])


def test_a_lane_takes_the_steps_of_the_closed_tree_and_stays_closed():
    """Measured 3e-10 rad after 200 steps of what doubles in 0.3 s, and gaps of 1.6e-11 m."""
    vehicle, h = linkage(damping=0.05), 0.005
    run = sim.simulate(vehicle, "riqn", step=h, duration=1.0, controls=[3.0])
    plain = BoundTree(vehicle.tree, h, loops=vehicle.loops_with(vehicle.parameter_vector))
    start = vehicle.default_state().node
    motion = plain.start(start[:3], start[3:])
    plain.advance(motion, 200, np.array([3.0, 0.0, 0.0]))
    np.testing.assert_allclose(run.nodes[-1, :3], motion.q, atol=1e-8)
    assert widest_gap(vehicle, run.nodes) < 1e-10


def test_energy_stays_in_a_band_of_the_steps_second_order():
    """Measured 0.043 J at 5 ms and 0.011 J at 2.5 ms, of 43 J."""
    bands = [np.ptp(sim.simulate(linkage(), "riqn", step=h, duration=5.0).energy) for h in (5e-3, 2.5e-3)]
    assert bands[0] < 0.06
    assert 3.4 < bands[0] / bands[1] < 4.6


def test_velocities_at_the_nodes_keep_the_loop_closed_to_first_order():
    vehicle = linkage()
    run = sim.simulate(vehicle, "newton", step=0.005, duration=0.5)
    for node in run.nodes[::20]:
        G, _ = closure(vehicle).slopes(node[:3])
        assert np.abs(G @ node[3:]).max() < 1e-9


@pytest.mark.parametrize("method", ["riqn", "rk4", "riqn-variable"])
def test_the_answer_to_an_impulse_is_that_of_the_whole_linkage(method):
    """Measured 1e-14: what the pin of the loop gives is in it, and no impulse moves it apart."""
    vehicle = linkage()
    stepper, p = tree_stepper(vehicle, integrators()[method]), vehicle.parameter_vector
    q = vehicle.default_state().node[:3].copy()
    G, _ = closure(vehicle).slopes(q)
    answers = np.column_stack([stepper.answer(q, impulse, p) for impulse in np.eye(3)])
    np.testing.assert_allclose(G @ answers, 0.0, atol=1e-10)
    np.testing.assert_allclose(answers, answers.T, atol=1e-12)
    assert np.linalg.matrix_rank(answers, 1e-9) == 1  # one degree of freedom is left


@pytest.mark.parametrize("method", ["riqn", "rk4", "semi-implicit-euler", "riqn-variable"])
def test_what_was_driven_and_pulled_is_replayed_to_the_bit(tmp_path, method):
    running = simulation(with_overrides(SCENE, integrator=method))
    running.submit(SetPilotInput(PilotInput(pitch=0.7)))
    running.advance(0.6)
    running.submit(Pull("", "rocker", (0.5, 0.0, 0.0), (0.9, 0.2, 2.0)))
    running.advance(0.6)
    (take,) = running.takes()
    saved = load_take(save_take(take, tmp_path / "linkage.npz"))
    np.testing.assert_array_equal(saved.resimulate().samples().nodes, take.samples().nodes)
    vehicle = linkage()
    assert widest_gap(vehicle, take.samples().nodes) < 1e-10
    free = sim.simulate(vehicle, method, step=SCENE.step_s, duration=1.2)
    assert np.abs(free.nodes[-1, :3] - take.samples().nodes[-1, :3]).max() > 0.1


def test_all_methods_of_trees_close_loops_but_the_one_whose_contact_holds_where_steps_end():
    chain = sim.vehicle("chain")
    served = {name for name, method in integrators().items() if not method.serves(linkage())}
    assert served == {name for name, method in integrators().items() if not method.serves(chain)} - {
        "touching"
    }
    said = "touching serves what has a tree of bodies and joints; four-bar-linkage has a tree .* with closed loops"
    with pytest.raises(InputError, match=said):
        with_overrides(SCENE, integrator="touching")


def test_a_start_with_an_open_loop_is_refused():
    vehicle = linkage()
    with pytest.raises(InputError, match=r"the loop of 'rocker' is open by \d"):
        sim.simulate(
            vehicle, "riqn", step=0.005, duration=0.1, initial=vehicle.state([1.0, 0.0, 0.0], [0.0] * 3)
        )
