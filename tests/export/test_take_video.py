"""A take as a video of its own: the camera and the blur that are asked for, whole or not at all."""

import threading
from pathlib import Path

import av
import numpy as np
import pytest

from export.take_video import TakeVideo, draw_take
from sim.aside import GivenUp
from sim.beside import answered_beside
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
