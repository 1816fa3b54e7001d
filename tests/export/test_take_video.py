"""A take as a video of its own: the camera and the blur that are asked for, whole or not at all."""

import threading
from dataclasses import replace
from pathlib import Path

import av
import numpy as np
import pytest

import sim
from export.headless import TakeVideo, draw_take
from export.request import Request
from render.vehicles.rigs import rig_pose
from render.vehicles.shown import ShownLane, drawn
from sim.commands import ShowMeasured
from sim.platform.processes import GivenUp, run_in_process
from sim.recordings import Take, save_take
from sim.scene import load_scene
from sim.simulation import Simulation
from sim.simulation.lanes.snapshot import LaneSnapshot
from sim.simulation.opening import ghost_commands
from sim.world import load_world
from tests.export.flights import helicopter_flight

SIZE_PX = (96, 64)


def pictures(path: Path) -> np.ndarray:
    with av.open(str(path)) as film:
        return np.array([frame.to_ndarray(format="gray") for frame in film.decode(video=0)], float)


def test_a_take_is_drawn_beside_the_caller_by_the_camera_that_is_asked_for(tmp_path: Path) -> None:
    take, heard = tmp_path / "take.npz", []
    save_take(Take.of_trajectory(helicopter_flight(0.3)), take)

    order = TakeVideo(take, tmp_path / "chase.mp4", "chase", 2, SIZE_PX)
    run_in_process(
        draw_take,
        order,
        name="video",
        progress=heard.append,
        given_up=threading.Event(),
        tidy_s=20.0,
        allowed="allowed: nothing",
    )
    chased = pictures(order.path)
    assert chased.shape == (9, SIZE_PX[1], SIZE_PX[0])
    assert heard == sorted(heard)
    assert heard[-1] == 1.0
    other = TakeVideo(take, tmp_path / "overview.mp4", "overview", 1, SIZE_PX)
    draw_take(other, lambda share: None)
    seen = pictures(other.path)
    assert np.abs(seen[-1] - chased[-1]).mean() > 5.0

    given_up = threading.Event()
    heard.clear()

    def stop_at_once(share: float) -> None:
        given_up.set()

    with pytest.raises(GivenUp):
        run_in_process(
            draw_take,
            TakeVideo(take, tmp_path / "none.mp4", "chase", 1, SIZE_PX),
            name="video",
            progress=stop_at_once,
            given_up=given_up,
            tidy_s=20.0,
            allowed="allowed: nothing",
        )
    assert {path.name for path in tmp_path.iterdir()} == {"take.npz", "chase.mp4", "overview.mp4"}


def test_other_lanes_are_ghosts_beside_the_flown_one_on_the_same_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flight = helicopter_flight(0.3)
    take, other = tmp_path / "take.npz", tmp_path / "other.npz"
    save_take(Take.of_trajectory(flight), take)
    above = replace(flight, nodes=flight.nodes.copy())
    above.nodes[:, flight.vehicle.node_layout.pose.start + 11] += 4.0
    save_take(Take.of_trajectory(above), other)
    seen: list[tuple[LaneSnapshot, ...]] = []

    def look(simulation: Simulation, request: Request, **rest: object) -> None:
        for _ in range(10):
            simulation.advance(request.seconds / 10)
            seen.append(simulation.snapshot.lanes)

    monkeypatch.setattr("export.headless.run", look)
    draw_take(
        TakeVideo(take, tmp_path / "none.mp4", beside=(("higher", other, (0.2, 0.9, 0.4)),)),
        lambda share: None,
    )
    for flown, ghost in seen:
        assert (ghost.name, ghost.ghost, flown.ghost) == ("higher", True, False)
        assert ghost.tint == (0.2, 0.9, 0.4)
        np.testing.assert_allclose(
            ghost.T_wb[:3, 3] - flown.T_wb[:3, 3], (0.0, 0.0, 4.0), atol=2e-3
        )  # measured 5e-4
        np.testing.assert_allclose(ghost.T_wb[:3, :3], flown.T_wb[:3, :3], atol=3e-4)  # measured 8e-5
    assert np.linalg.norm(seen[-1][0].T_wb[:3, 3] - seen[0][0].T_wb[:3, 3]) > 5.0


def test_a_take_of_another_vehicle_goes_along_as_what_it_was(tmp_path: Path) -> None:
    """A car's beside a rigid body: where it was, on wheels that have turned."""
    vehicle = sim.vehicle("car")
    pedal = [400.0, 0.3] + [100.0, 0.1] * np.sin(0.05 * np.arange(100.0)[:, None])
    drive = sim.simulate(vehicle, step=0.01, duration=1.0, controls=pedal)
    save_take(Take.of_trajectory(drive), tmp_path / "car.npz")
    (command,) = ghost_commands(tmp_path / "car.npz")
    assert isinstance(command, ShowMeasured)
    scene = load_scene("plain")
    simulation = Simulation(scene, load_world(scene.world, seed=scene.seed))
    simulation.submit(command)
    turned = []
    for at in (50, 100):
        simulation.advance(0.5)
        flown, *_, ghost = simulation.snapshot.lanes
        assert (ghost.name, ghost.vehicle, ghost.ghost) == ("car", "car", True)
        assert flown.vehicle == "rigid-body"
        assert ghost.T_wb[:2, 3] == pytest.approx(drive.pose[at, :2, 2], abs=1e-3)
        assert set(ghost.bodies) == set(drive.bodies)
        assert ghost.shape == pytest.approx(
            drive.nodes[at, vehicle.node_layout.shape], abs=0.3
        )  # a sample behind
        shown, other = (ShownLane(lane, lane.time_current_s, lane.bodies) for lane in (ghost, flown))
        parts = rig_pose(drawn(shown, other))
        turned.append(np.stack([*parts.nodes.values(), *parts.placed.values()]))
    assert drive.pose[-1, 0, 2] > 0.5
    assert np.abs(turned[1] - turned[0]).max() > 0.1
