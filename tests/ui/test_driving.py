"""Held keys become sticks, sticks the wheel and the pedals, and these a lap between the cones."""

import math

from sim.commands import PilotInput, SetPilotInput
from sim.scene import load_scene
from sim.simulation.lanes.snapshot import LaneStatus
from tests.driving import REACTION_S, further, keys_for, steering
from tests.sim.simulation_scenes import simulation
from ui.input.desk import HeldKeys
from ui.input.keymap import keymap_of
from ui.input.profile import moved

FRAME_S = 0.05
LAP_S = 300.0
"""Simulated time within which the lap has to be done: at the cruising speed it takes a quarter of that."""


def test_keys_drive_a_lap_between_the_cones() -> None:
    driving, keys, sticks = simulation(load_scene("drive")), HeldKeys(keymap_of("car").vehicle), PilotInput()
    grounds = driving.run.world.grounds
    lap, passed, worst = grounds.lap, 0, 0.0
    while passed < len(lap) - 12:
        now = driving.snapshot
        assert now.clock_s < LAP_S, f"{passed} of {len(lap)} points passed"
        flown = now.lanes[0]
        T_wb = flown.T_wb
        lane = {
            "x_w": T_wb[:3, 3],
            "heading_rad": math.atan2(T_wb[1, 0], T_wb[0, 0]),
            "v_b": flown.twist_b[3:],
            "shape": flown.shape,
        }
        bend, off = steering(lap, lane, REACTION_S)
        worst, passed = max(worst, off), further(lap, passed, lane)
        keys.release_all()
        for name in keys_for(bend, off, lane, REACTION_S):
            keys.press(name.upper())
        sticks = moved(sticks, keys.actions, FRAME_S)
        driving.submit(SetPilotInput(sticks))
        driving.advance(FRAME_S)
    assert driving.snapshot.lanes[0].status is LaneStatus.RUNNING
    assert worst < grounds.lap_half_width_m - 0.8  # 0.60 m measured
