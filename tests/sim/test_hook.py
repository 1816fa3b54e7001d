"""A hook on a rope under a helicopter catches a crate, lifts it, sets it down, and lets it go."""

import numpy as np

from sim.commands import PilotInput, SetPilotInput
from sim.scene import load_scene
from sim.simulation import Simulation
from sim.simulation.runs.judge import Judge
from sim.world import load_world


def test_a_crate_is_caught_lifted_set_down_and_let_go() -> None:
    """The sling of 1.5 m never gets longer by more than 5 mm, and where the crate stands nothing has it any more."""
    scene = load_scene("crane")
    world = load_world(scene.world, seed=scene.seed)
    running, judge = Simulation(scene, world), Judge(scene.goals, scene.vehicle, world)
    tautest, highest = 0.0, 0.0
    for k in range(24):
        down = k < 3 or k > 10
        running.submit(SetPilotInput(PilotInput(throttle=-0.6 if down else 0.6)))
        seen = running.advance(0.4)
        crate, cord = seen.environment.poses_w[0], seen.environment.cords_w[0]
        done = judge.observe(seen).at
        assert done >= 1 or seen.environment.caught == -1
        tautest = max(tautest, float(np.linalg.norm(cord[1] - cord[0])))
        highest = max(highest, float(crate[2, 3]))
    assert highest > 2.0
    assert judge.progress.at == 1  # caught, but not carried to the plate
    assert seen.environment.caught == -1
    assert tautest < 1.505
    assert abs(crate[2, 3] - 0.6) < 5e-3
    np.testing.assert_allclose(cord[1] - cord[0], (0.0, 0.0, 1.5), atol=1e-3)  # it stands up: nothing has it
    assert seen.lanes[0].status.value == "running"
