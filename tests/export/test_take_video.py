"""A take as a video of its own: the camera and the blur that are asked for, whole or not at all."""

import threading
from dataclasses import replace
from pathlib import Path

import av
import numpy as np
import pytest

from export.request import Request
from export.take_video import TakeVideo, draw_take
from sim.aside import GivenUp
from sim.beside import answered_beside
from sim.simulation import Simulation
from sim.snapshot import LaneSnapshot
from sim.take import Take, save_take
from tests.export.flights import helicopter_flight

SIZE_PX = (96, 64)


def pictures(path: Path) -> np.ndarray:
    with av.open(str(path)) as film:
        return np.array([frame.to_ndarray(format="gray") for frame in film.decode(video=0)], float)


def test_a_take_is_drawn_beside_the_caller_by_the_camera_that_is_asked_for(tmp_path: Path) -> None:
    take, heard = tmp_path / "take.npz", []
    save_take(Take.of_trajectory(helicopter_flight(0.3)), take)

    order = TakeVideo(take, tmp_path / "chase.mp4", "chase", 2, SIZE_PX)
    answered_beside(
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
        answered_beside(
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
    draw_take(TakeVideo(take, tmp_path / "none.mp4", beside=(("higher", other),)), lambda share: None)
    for flown, ghost in seen:
        assert (ghost.name, ghost.ghost, flown.ghost) == ("higher", True, False)
        np.testing.assert_allclose(
            ghost.T_wb[:3, 3] - flown.T_wb[:3, 3], (0.0, 0.0, 4.0), atol=2e-3
        )  # measured 5e-4
        np.testing.assert_allclose(ghost.T_wb[:3, :3], flown.T_wb[:3, :3], atol=3e-4)  # measured 8e-5
    assert np.linalg.norm(seen[-1][0].T_wb[:3, 3] - seen[0][0].T_wb[:3, 3]) > 5.0
