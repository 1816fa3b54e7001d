"""Exports and videos out of the real window."""

import sys
from pathlib import Path

import av
import numpy as np
import pytest
from mcap.reader import make_reader

from tests.app.desktop import App, Screen

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs an X screen of its own")


def test_what_was_flown_is_exported_and_what_is_seen_is_filmed(tmp_path: Path) -> None:
    screen = Screen(960, 900)
    app = App(screen, tmp_path, "plain", "--quality", "software", "--size", "900x840")
    try:
        app.wait_until(lambda p: p["clock_s"] > 1.0, timeout_s=120, what="it flies")
        app.click("tab/Takes")
        app.click("sharing/ground")
        app.click("sharing/export")
        app.wait_until(lambda p: list(tmp_path.glob("exports/*.glb")), timeout_s=60, what="it is exported")
        app.wait_frames(10)
        app.click("sharing/share")
        app.wait_until(lambda p: list(tmp_path.glob("exports/*.html")), timeout_s=60, what="it is shared")
        app.click("sharing/log")
        app.wait_until(lambda p: "sharing/end-log" in p["widgets"], timeout_s=30, what="it is logged")
        app.click("sharing/record")
        app.wait_until(lambda p: "sharing/progress" in p["widgets"], timeout_s=30, what="it is filmed")
        app.wait_frames(10)
        app.click("sharing/keep")
        seen = app.wait_until(lambda p: list(tmp_path.glob("exports/*.mp4")), timeout_s=60, what="it is kept")
        app.click("sharing/record")
        app.click("sharing/cancel")
        app.wait_until(lambda p: "sharing/record" in p["widgets"], timeout_s=30, what="it is given up")
        assert seen["gl_errors"] == []
        app.click("sharing/end-log")
        app.wait_until(lambda p: "sharing/log" in p["widgets"], timeout_s=30, what="the log has ended")
    finally:
        app.close()
        screen.close()
    assert sorted(path.suffix for path in tmp_path.glob("exports/*")) == [".glb", ".html", ".mcap", ".mp4"]
    (log,) = tmp_path.glob("exports/*.mcap")
    with log.open("rb") as file:
        times = [m.log_time for _, topic, m in make_reader(file).iter_messages() if topic.topic == "/tf"]
    assert len(times) > 5
    assert times == sorted(times)
    (film,) = tmp_path.glob("exports/*.mp4")
    with av.open(str(film)) as container:
        frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    assert len(frames) >= 5
    assert np.std(frames[-1]) > 5.0  # a picture of something
