"""The page Modes: what is asked for, what is said of eigenvalues, and a mode as the picture gets it."""

from dataclasses import replace

import numpy as np
import pytest

import sim
from tests.ui import fakes
from tests.ui.bench import Bench
from ui.features.modes.locus import Asked, ModesView, Watched, worked_out
from ui.features.modes.panel import CancelModes, FindModes, ModesFields, draw_modes, mode_seen, said


def bicycle(speed_mps=5.0):
    vehicle = sim.vehicle("bicycle")
    state = vehicle.riding(speed_mps)
    T_wb = fakes.pose(yaw=0.7, x=(3.0, 4.0, 0.0))
    lane = fakes.lane(
        vehicle="bicycle",
        mechanics=vehicle,
        node=state.node,
        controls=np.zeros(3),
        T_wb=T_wb,
        T_wb_previous=T_wb,
    )
    return vehicle, fakes.snapshot(lane)


def test_what_flies_is_asked_for_over_twice_its_speed(bench: Bench) -> None:
    _, snapshot = bicycle()
    (asked,) = bench.click("modes/find", draw_modes, snapshot)
    assert isinstance(asked, FindModes)
    assert (asked.asked.over, asked.asked.values[0], asked.asked.values[-1]) == ("speed", 0.0, 10.0)
    assert np.array_equal(asked.asked.node, snapshot.lanes[0].node)
    bench.context.show(ModesView(running=True, done=3, count=41))
    assert bench.click("modes/cancel", draw_modes, snapshot) == [CancelModes()]
    assert "modes/find" not in bench.context.rects
    bench.frame(draw_modes, fakes.snapshot(fakes.lane(mechanics=None)))
    assert "modes/cancel" not in bench.context.rects


def test_of_a_boat_the_mechanics_on_flat_water_are_asked_for(bench: Bench) -> None:
    """Under way it neither turns nor drifts: both die away; its ghost stays with the boat."""
    boat = sim.vehicle("motorboat")
    node = boat.default_state().node.copy()
    node[boat.node_layout.velocity] = (0.0, 0.0, 0.0, 2.0, 0.0, 0.0)
    lane = fakes.lane(vehicle="motorboat", mechanics=boat, node=node, controls=boat.neutral_controls)
    (asked,) = bench.click("modes/find", draw_modes, fakes.snapshot(lane))
    assert asked.asked.vehicle.name == "calm-water"
    assert (asked.asked.over, asked.asked.values[-1]) == ("speed", 10.0)
    locus = worked_out(replace(asked.asked, values=(1.0, 2.0)), lambda *_: None)
    assert all(motion is not None and motion.stable for motion in locus.motions)
    bench.context.show(ModesView(locus=locus, serial=1))
    bench.frame(draw_modes, fakes.snapshot(lane))
    watched = bench.context.of(Watched)
    watched.serial, watched.value, watched.mode = 1, 1, 0
    ghost = mode_seen(bench.context, lane)
    assert ghost is not None
    assert ghost.ghost
    assert np.array_equal(ghost.node, node)


def test_what_stands_is_asked_for_over_speeds_ahead(bench: Bench) -> None:
    """At rest a speed is what rounding leaves, of either sign; only what runs backwards is asked for so."""
    spans = []
    for speed_mps in (-1e-9, 1e-9, -3.0):
        (asked,) = bench.click("modes/find", draw_modes, bicycle(speed_mps)[1])
        spans.append((asked.asked.values[0], asked.asked.values[-1]))
    assert spans == [(0.0, 10.0), (0.0, 10.0), (-10.0, 0.0)]


def test_a_mode_is_seen_as_a_ghost_that_leans_where_the_bicycle_is(bench: Bench) -> None:
    """Weave at 3.5 m/s grows: its ghost stays at the place, upright at no moment but in passing, and rigid."""
    vehicle, snapshot = bicycle()
    lane = snapshot.lanes[0]
    locus = worked_out(
        Asked(vehicle, lane.node, lane.controls, "speed", (3.0, 3.5, 5.0, 6.5)), lambda *_: None
    )
    assert [motion is not None and motion.stable for motion in locus.motions] == [False, False, True, False]
    bench.context.show(ModesView(locus=locus, serial=1))
    bench.frame(draw_modes, snapshot)
    assert bench.context.of(ModesFields).value == 2  # the present speed
    assert mode_seen(bench.context, lane) is None
    bench.context.of(ModesFields).value = 1
    bench.click("modes/watch/0", draw_modes, snapshot)
    assert locus.motions[1].modes[0].eigenvalue.real > 0.3
    assert locus.motions[1].modes[0].eigenvalue.imag > 1.0
    leans = []
    for seconds in np.linspace(0.0, locus.motions[1].modes[0].duration_s, 20, endpoint=False):
        bench.context.of(Watched).seconds = seconds
        ghost = mode_seen(bench.context, lane)
        assert ghost.ghost
        for T_w in ghost.bodies.values():
            assert np.abs(T_w[:3, :3].T @ T_w[:3, :3] - np.eye(3)).max() < 1e-6
            assert np.linalg.norm(T_w[:2, 3] - (3.0, 4.0)) < 2.5
        leans.append(ghost.node[vehicle.node_layout.shape][0])
    assert 0.1 < max(leans) - min(leans) < 0.8
    weave, pose = locus.motions[1].modes[0], vehicle.node_layout.pose
    times = np.linspace(0.0, weave.duration_s, 200, endpoint=False)
    ways = np.abs([weave.node(np.zeros(vehicle.node_layout.size), t)[pose] for t in times]).max(axis=0)
    # What sways most, sideways by v / |lambda| of the heading, is 0.5 m at its largest: at the end, as the weave grows.
    assert ways[2] == pytest.approx(0.5, rel=0.02)
    sideways = np.abs(weave.sway[pose])
    assert sideways[2] == pytest.approx(3.5 / abs(weave.eigenvalue) * sideways[0], rel=1e-6)
    bench.click("modes/watch/0", draw_modes, snapshot)
    assert mode_seen(bench.context, lane) is None
    for at, value in ((0.9, 3), (0.3, 1)):  # 3.0 to 6.5 m/s from left to right
        bench.click("modes/plot", draw_modes, snapshot, at=at)
        assert bench.context.of(ModesFields).value == value


@pytest.mark.parametrize(
    "root, text",
    [
        (0j, "0: stays"),
        (-2.0 + 0j, "-2: halves in 0.347 s"),
        (0.5 + 6.2831853j, "0.5 \N{PLUS-MINUS SIGN} 6.283i: 1 Hz, doubles in 1.39 s"),
        (3j, "0 \N{PLUS-MINUS SIGN} 3i: 0.477 Hz, stays"),
    ],
)
def test_what_becomes_of_a_mode_is_said(root: complex, text: str) -> None:
    assert said(root) == text
