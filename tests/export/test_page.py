"""Pages of motions: what a real browser shows of them is what was flown, without network and without complaint."""

import json
import re
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from scipy.spatial.transform import Rotation, Slerp

import app
import sim
from export.file import export_motions
from export.ground import ground_under
from export.motion import STEPS_S, motion_of_take, motion_of_trajectory
from export.nodes import Keyframes
from export.packing import MOMENT_S, PackedArrays
from sim.recordings import Take
from sim.scene import load_scene
from sim.world import load_world
from tests.export.browser import Browser, browser, installed
from tests.export.flights import helicopter_flight, motion_of
from tests.patience import wait_until

needs_browser = pytest.mark.skipif(not installed(), reason="there is no chromedriver")
READY = "window.holonomy"


def spun(seed: int) -> sim.Trajectory:
    """A rigid body thrown and tumbling about no axis of its own, a kilometre from the origin."""
    rng = np.random.default_rng(seed)
    body = sim.vehicle("rigid-body", inertia=(1.0, 2.3, 3.1))
    state = body.state(x=(1000.0, -2000.0, 300.0), omega=rng.normal(size=3) * 3.0, v=rng.normal(size=3) * 8.0)
    return sim.simulate(body, "variational", step=0.005, duration=4.0, initial=state)


@needs_browser
def test_a_browser_finds_the_poses_of_the_take_in_the_page(tmp_path: Path, chromium: Browser) -> None:
    run = spun(3)
    take = Take.of_trajectory(run)
    other = replace(motion_of("car"), name="car beside", ghost=True, tint=(0.2, 0.6, 1.0))
    motions = [motion_of_take(take, every_s=STEPS_S, name="thrown"), other]
    page = export_motions(tmp_path / "thrown.html", motions, title="A <b>throw</b> & </script> tumble")
    chromium.open(page, READY)
    chromium.run("holonomy.playing = false")
    for step in (0, 1, 77, 333, 500, 799, 800):
        found = np.array(chromium.run(f"return holonomy.poses({0.005 * step})")[0])
        off = np.linalg.norm(found[:3, 3] - run.pose[step, :3, 3])
        turn = np.linalg.norm(Rotation.from_matrix(found[:3, :3].T @ run.pose[step, :3, :3]).as_rotvec())
        assert off < 1e-4  # 5e-5
        assert turn < 1e-4  # 5e-5
    assert chromium.run("return document.title") == "A <b>throw</b> & </script> tumble"
    assert (
        chromium.run("return document.querySelector('h1').textContent") == "A <b>throw</b> & </script> tumble"
    )
    assert chromium.run("return performance.getEntriesByType('resource').length") == 0
    assert chromium.complaints() == []


@needs_browser
def test_links_that_whip_keep_every_key_and_are_where_they_were(tmp_path: Path, chromium: Browser) -> None:
    """No key can be left out of such a motion; all are rounded by more instead."""
    run = sim.simulate(sim.vehicle("chain", links=12), step=0.01, duration=9.0)
    motion = motion_of_trajectory(run)
    chromium.open(export_motions(tmp_path / "whip.html", [motion], title="whip"), READY)
    tracks = about_of(tmp_path / "whip.html")["tracks"]
    assert max(rows for _, _, rows, *_ in tracks) == len(run.time)
    chromium.run("holonomy.playing = false")
    worst_m, worst_rad = 0.0, 0.0
    for step in (0, 1, 333, 612, 747, 748, 899, 900):
        found = np.array(
            chromium.run(
                f"holonomy.poses({0.01 * step});"
                "return holonomy.tracks.map((track) => track.node.matrixWorld.elements)"
            )
        )
        T = found.reshape(-1, 4, 4).swapaxes(1, 2)
        flown = np.array([poses[step] for poses in run.bodies.values()])
        worst_m = max(worst_m, np.linalg.norm(T[:, :3, 3] - flown[:, :3, 3], axis=1).max())
        turned = Rotation.from_matrix(T[:, :3, :3].swapaxes(1, 2) @ flown[:, :3, :3])
        worst_rad = max(worst_rad, turned.magnitude().max())
    assert worst_m < 1e-4  # 8.1e-5
    assert worst_rad < 1e-4  # 7.5e-5


@needs_browser
def test_a_flight_over_land_is_seen_and_can_be_scrubbed_and_plotted(
    tmp_path: Path, chromium: Browser
) -> None:
    motion = motion_of_trajectory(helicopter_flight(2.0), "flown")
    page = export_motions(
        tmp_path / "flight.html", [motion], title="flight", ground=ground_under(load_world("plain"), [motion])
    )
    chromium.open(page, READY)
    chromium.run("holonomy.playing = false; holonomy.seek(1.0)")
    # In one go: between two, a frame may set it back to the time that is shown.
    chromium.run(
        "const t = document.querySelector('#time'); t.value = 0.25; t.dispatchEvent(new Event('input'))"
    )
    assert chromium.run("return holonomy.time") == pytest.approx(0.5)
    chromium.run("dispatchEvent(new KeyboardEvent('keydown', {code: 'ArrowRight'}))")
    assert chromium.run("return holonomy.time") == pytest.approx(0.6)
    plots = chromium.run("return [...document.querySelectorAll('#plots select')].map((s) => s.value)")
    assert plots == ["energy [J]", "position.z [m]", "velocity.x [m/s]"]
    names = chromium.run(
        "return [...document.querySelectorAll('#plots select')[0].options].map((o) => o.value)"
    )
    assert {"velocity.y [m/s]", "omega.z [rad/s]"} <= set(names)
    chromium.run("const s = document.querySelector('#camera'); s.value = 'chase'; return s.value")
    with Image.open(chromium.picture(tmp_path / "seen.png")) as seen:
        picture = np.asarray(seen.convert("RGB"), float)[40:420]
    assert picture.std() > 15.0  # 31; an empty canvas has 0
    assert chromium.complaints() == []


CAMERA = """
const v = holonomy, choose = (id, value) => {
  const list = document.querySelector(id);
  list.value = value;
  list.dispatchEvent(new Event('change'));
};
const look = () => {
  const way = v.orbit.target.clone().sub(v.camera.position), place = v.mains[0].getWorldPosition(way.clone());
  const ahead = way.clone().set(1, 0, 0).transformDirection(v.mains[0].matrixWorld);
  const off = Math.atan2(way.y, way.x) - Math.atan2(ahead.y, ahead.x);
  return [Math.atan2(Math.sin(off), Math.cos(off)), way.length(), way.z, v.camera.position.distanceTo(place)];
};
const go = (time, rate, seconds) => {
  v.seek(time);
  for (let k = 0; k < rate * seconds; k++) v.draw(1 / rate);
  return look();
};
v.playing = false;
"""


@needs_browser
def test_the_chase_camera_stands_behind_and_turns_with_the_vehicle_as_fast_at_any_rate_of_pictures(
    tmp_path: Path, chromium: Browser
) -> None:
    """In one script each, between two of which the page draws by itself."""
    page = export_motions(tmp_path / "chase.html", [motion_of_trajectory(circling())], title="chase")
    chromium.open(page, f"{READY} && holonomy.first_ms")
    begin = "choose('#camera', 'follow'); go(0, 1, 1); choose('#camera', 'chase');"
    behind = chromium.run(f"{CAMERA} {begin} return go(0, 1, 1)")
    assert abs(behind[0]) < 1e-6  # rad off the heading
    slow, fast, settled = (
        np.array(chromium.run(f"{CAMERA} {begin} go(0, 1, 1); return go(1.0, {rate}, {seconds})"))
        for rate, seconds in ((10, 0.2), (60, 0.2), (60, 3.0))
    )
    assert 0.1 < abs(slow[0]) < 0.5  # 0.20 of 1 rad
    np.testing.assert_allclose(slow, fast, atol=1e-6)
    np.testing.assert_allclose(settled[0], 0.0, atol=1e-6)
    for seen in (slow, settled):
        np.testing.assert_allclose(seen[1:], behind[1:], rtol=1e-6)  # as near and as high as before
    before, after, stays = chromium.run(
        f"{CAMERA} choose('#camera', 'follow'); const a = go(0, 1, 1), b = go(1.0, 60, 1);"
        "choose('#camera', 'free'); const at = v.camera.position.clone(); go(2.0, 60, 1);"
        "return [a, b, at.distanceTo(v.camera.position)]"
    )
    assert after[0] - before[0] == pytest.approx(-1.0, abs=0.01)  # what the vehicle has turned by
    assert after[3] == pytest.approx(before[3], rel=1e-6)
    assert stays < 1e-6


def circling() -> sim.Trajectory:
    """A body that turns to the left by one radian a second as it goes."""
    body = sim.vehicle("rigid-body")
    start = body.state(x=(50.0, 0.0, 2.0), omega=(0.0, 0.0, 1.0), v=(3.0, 0.5, 0.2))
    return sim.simulate(body, "variational", step=0.01, duration=3.0, initial=start)


@needs_browser
def test_a_page_plays_as_fast_as_is_chosen_and_begins_anew_at_its_end(
    tmp_path: Path, chromium: Browser
) -> None:
    page = export_motions(tmp_path / "speed.html", [motion_of("car")], title="speed")
    chromium.open(page, f"{READY} && holonomy.first_ms")
    offered = chromium.run("return [...document.querySelector('#speed').options].map((o) => Number(o.value))")
    assert offered == [0.1, 0.25, 0.5, 1, 2, 4]
    for speed in offered:
        played = chromium.run(
            f"{CAMERA} choose('#speed', {speed}); v.seek(0.5); v.playing = true; v.draw(0.2);"
            "const there = v.time; v.playing = false; return there"
        )
        assert played == pytest.approx(0.5 + 0.2 * speed)
    ended = chromium.run(
        f"{CAMERA} choose('#speed', 4); v.seek(1.9); v.playing = true; v.draw(0.2); v.playing = false; return v.time"
    )
    assert ended == 0.0
    assert chromium.complaints() == []


@needs_browser
def test_without_a_graphics_card_pictures_are_coarse_in_motion_and_fine_at_rest(
    tmp_path: Path, chromium: Browser
) -> None:
    page = export_motions(tmp_path / "coarse.html", [motion_of("car")], title="coarse")
    size = "const c = document.querySelector('#view canvas'); return c.width / c.clientWidth"
    chromium.open(page, f"{READY} && holonomy.pictures > 1")
    assert chromium.run(size) <= 0.5
    chromium.run("holonomy.play(false)")
    wait_until(lambda: chromium.run("return holonomy.rests"))
    drawn = chromium.run("return holonomy.pictures")
    assert chromium.run(size) == 1.0
    time.sleep(0.3)
    assert chromium.run("return holonomy.pictures") == drawn  # at rest nothing is drawn
    chromium.run("dispatchEvent(new KeyboardEvent('keydown', {code: 'ArrowRight'})); holonomy.draw(0.01)")
    assert chromium.run(size) <= 0.5
    # On a slow machine no picture in motion may come between a touch and the one at rest.
    chromium.run("holonomy.seek(1.25); holonomy.touched = -1e9")
    wait_until(lambda: chromium.run("return holonomy.rests"))
    assert chromium.run("return document.querySelector('#clock').textContent") == "1.25 s"


@needs_browser
def test_arrows_are_the_forces_that_bend_the_flight(tmp_path: Path, chromium: Browser) -> None:
    """Against mass times what the flown places tell of the acceleration; one scale for all moments."""
    run = helicopter_flight(2.0)
    motion = motion_of_trajectory(run)
    chromium.open(export_motions(tmp_path / "forces.html", [motion], title="forces"), READY)
    chromium.run("holonomy.playing = false; document.querySelector('#forces').click()")
    mass, gravity = (run.vehicle.values[name] for name in ("mass", "gravity"))
    scales = []
    for step in (20, 77, 123, 180):
        before, here, after = run.pose[step - 1 : step + 2, :3, 3]
        needed_N = mass * ((after - 2.0 * here + before) / 0.01**2 + [0.0, 0.0, gravity])
        place, way = np.array(
            chromium.run(
                f"holonomy.seek({0.01 * step}); holonomy.draw(0);"
                "const {arrow} = holonomy.arrows[0], [shaft, head] = arrow.children;"
                "const tip = arrow.position.clone().set(0, head.position.y + head.scale.y, 0);"
                "tip.applyQuaternion(arrow.quaternion);"
                "return [arrow.position.toArray(), tip.toArray()]"
            )
        )
        assert np.linalg.norm(place - here) < 1e-3
        turn = np.cross(way, needed_N) / np.linalg.norm(way) / np.linalg.norm(needed_N)
        assert np.linalg.norm(turn) < 2e-3  # 3e-4
        scales.append(np.linalg.norm(way) / np.linalg.norm(needed_N))
    assert np.ptp(scales) < 2e-3 * np.mean(scales)
    assert chromium.run("return holonomy.arrows.map((each) => each.arrow.visible)") == [True]
    chromium.run("dispatchEvent(new KeyboardEvent('keydown', {code: 'KeyV'})); holonomy.draw(0)")
    assert chromium.run("return holonomy.arrows.map((each) => each.arrow.visible)") == [False]
    assert chromium.complaints() == []


@needs_browser
def test_a_page_of_a_planned_run_shows_the_plan_from_start_to_goal(tmp_path: Path, chromium: Browser) -> None:
    page = tmp_path / "dock.html"
    assert app.main(["plan-boat-docking", "--headless", "--plan", "--export", str(page)]) == 0
    chromium.open(page, READY)
    chromium.run("holonomy.playing = false")
    start, goal = (
        np.array(chromium.run(f"return holonomy.poses({at})")[0]) for at in ("0", "holonomy.about.duration_s")
    )
    ghosts = np.array(
        chromium.run(
            "return holonomy.plan.children.filter((n) => !n.isMesh)"
            ".map((n) => n.children[0].matrixWorld.elements)"
        )
    ).reshape(-1, 4, 4)
    assert len(ghosts) > 3
    for stands, wanted in ((ghosts[0].T, start), (ghosts[-1].T, goal)):
        assert np.abs(stands - wanted).max() < 1e-3  # 6e-6
    assert goal[:2, 3] == pytest.approx([22.0, 8.0], abs=1e-3)
    assert chromium.run("return holonomy.plan.children.filter((n) => n.isLine2).length") > 3
    assert chromium.run("return holonomy.plan.children.filter((n) => n.isMesh && !n.isLine2).length") >= 2
    said = chromium.run("return document.querySelector('#caption').textContent")
    assert "Solved by" in said
    assert "Cost" in said
    chromium.run("dispatchEvent(new KeyboardEvent('keydown', {code: 'KeyP'}))")
    assert chromium.run("return holonomy.plan.visible") is False
    assert chromium.complaints() == []


def test_a_page_tells_what_its_scene_claims_and_what_became_of_each_lane(tmp_path: Path) -> None:
    page = tmp_path / "blowup.html"
    assert app.main(["blowup", "--headless", "--seconds", "2.2", "--export", str(page)]) == 0
    about = about_of(page)
    scene = load_scene("blowup")
    told = [line["text"] for line in about["caption"]]
    assert about["title"] == scene.title
    assert told[:2] == [scene.comparison.caption, scene.comparison.note]
    assert [lane["name"] for lane in about["lanes"]] == ["flown", *(lane.name for lane in scene.lanes)]
    flown, rk4, rk2, coarse = told[2:]
    assert re.search(r"under variational, .*; holds, .* and .* rad off", flown)
    assert "holds" in rk4
    assert re.search(r"under rk2, .*; diverged, energy past 30000 J at t = 1\.8", rk2)
    assert "holds" in coarse


def test_a_measured_flight_is_a_lane_of_the_page(tmp_path: Path) -> None:
    """That is simulated by nobody, so that there is no take of it."""
    run = helicopter_flight(1.0)
    table, page = tmp_path / "gps.csv", tmp_path / "both.html"
    export_motions(table, [motion_of_trajectory(run, "gps")])
    asked = ["plain", "--headless", "--seconds", "1", "--ghost", str(table), "--export", str(page)]
    assert app.main(asked) == 0
    flown, *_, ghost = about_of(page)["lanes"]
    assert (flown["name"], flown["ghost"]) == ("flown", False)
    assert (ghost["name"], ghost["ghost"]) == ("gps", True)
    assert ghost["trail"][1] > 2


def about_of(page: Path) -> dict[str, Any]:
    found = re.search(r'id="about">(.*?)</script>', page.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    return json.loads(found[1])


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 4), st.floats(1e-6, 1e-2))
def test_packed_numbers_come_back_to_half_of_their_unit(seed: int, columns: int, unit: float) -> None:
    """By sums over sums, as their reader has them; where one was unknown, it is."""
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(1, 200))
    values = np.cumsum(rng.normal(size=(rows, columns)), axis=0) * 10.0 ** rng.integers(-3, 6)
    values[rng.random(values.shape) < 0.1] = np.nan
    packed = PackedArrays()
    packed.add(rng.normal(size=7), 1e-3)
    first, count, width, units, low = packed.add(values, unit)
    assert (count, width) == values.shape
    assert (np.array(units) >= unit).all()
    planes = np.frombuffer(packed.bytes(), np.uint8).reshape(4, -1)[:, first:].astype(np.int64)
    zigzag = (planes << np.array([[0], [8], [16], [24]])).sum(axis=0).reshape(columns, rows)
    whole = (zigzag >> 1) ^ -(zigzag & 1)
    for _ in range(3):
        whole = np.cumsum(whole, axis=1)
    whole = whole.T
    back = np.where(whole < 0, np.nan, np.array(low) + whole * np.array(units))
    assert np.array_equal(np.isnan(back), np.isnan(values))
    assert np.nanmax(np.abs(back - values) / np.array(units), initial=0.0) < 0.5001


def test_moments_of_a_long_motion_keep_their_unit() -> None:
    day = np.arange(0.0, 86_400.0, 0.5)
    _, _, _, (unit,), _ = PackedArrays().add(day, MOMENT_S)
    assert unit == MOMENT_S


def test_what_has_gone_beyond_all_measure_is_written_all_the_same() -> None:
    _, _, _, (unit,), (low,) = PackedArrays().add(np.array([0.0, 1.0, 1e30, -1e30, 5.0]), MOMENT_S)
    assert low == -1e30
    assert 2e30 / unit < 2.0**53


def test_a_curve_that_blows_up_keeps_the_digits_of_what_went_before() -> None:
    calm = 1.0 + 0.01 * np.sin(np.linspace(0.0, 9.0, 1000))
    blown = np.append(calm, 10.0 ** np.arange(1, 13))
    _, _, _, (unit,), _ = PackedArrays().add_curve(blown)
    assert unit < 1e-6  # 3e-7


@needs_browser
@pytest.mark.parametrize("size", [(390, 844), (640, 360), (320, 568)], ids=["upright", "flat", "small"])
def test_on_a_phone_nothing_covers_anything_and_fingers_find_what_they_touch(
    size: tuple[int, int], tmp_path: Path
) -> None:
    motions = [motion_of_trajectory(helicopter_flight(1.0), name) for name in ("exact", "another one")]
    page = export_motions(tmp_path / "phone.html", motions, title="A flight with a title")
    with browser() as phone:
        phone.as_phone(*size)
        phone.open(page, f"{READY} && holonomy.first_ms")
        phone.run("holonomy.playing = false; holonomy.seek(0)")
        boxes = phone.run(
            "return Object.fromEntries([...document.querySelectorAll('#view, #caption, #lanes, #bar > *')]"
            ".map((e) => [e.id, e.getBoundingClientRect()]).map(([n, r]) => [n, [r.x, r.y, r.right, r.bottom]]))"
        )
        for name, (left, top, right, bottom) in boxes.items():
            assert 0 <= left < right <= size[0], name
            assert 0 <= top < bottom <= size[1], name
        caption, lanes, view = boxes["caption"], boxes["lanes"], boxes["view"]
        assert caption[3] <= lanes[1] or caption[2] <= lanes[0] or lanes[3] <= caption[1]
        assert view[3] - view[1] > 0.5 * size[1]  # 0.53 at least
        assert all(boxes[n][3] - boxes[n][1] >= 40 for n in ("play", "time", "speed", "camera"))
        left, top, right, bottom = phone.run(
            "const r = document.querySelector('#plots canvas').getBoundingClientRect();"
            "return [r.x, r.y, r.right, r.bottom]"
        )
        finger = {"x": 0.25 * (left + 46) + 0.75 * right, "y": 0.5 * (top + bottom)}
        phone.tell("Input.dispatchTouchEvent", type="touchStart", touchPoints=[finger])
        phone.tell("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        assert phone.run("return holonomy.time") == pytest.approx(0.75, abs=0.12)
        assert phone.complaints() == []


@needs_browser
def test_without_webgl_the_plots_stay(tmp_path: Path) -> None:
    page = export_motions(tmp_path / "plots.html", [motion_of("pendulum")], title="plots")
    with browser("--disable-3d-apis") as without:
        without.open(page, READY)
        assert without.run("return document.querySelector('#notice').textContent").startswith("No picture: ")
        assert without.run("return document.querySelectorAll('#plots canvas').length") == 3
        without.run("holonomy.playing = false; holonomy.seek(0.5)")
        assert without.run("return holonomy.time") == pytest.approx(0.5)


def test_a_minute_of_flight_is_a_page_of_less_than_five_megabytes(tmp_path: Path) -> None:
    motion = motion_of_trajectory(helicopter_flight(60.0))
    page = export_motions(
        tmp_path / "minute.html",
        [motion],
        title="minute",
        ground=ground_under(load_world("canyon"), [motion]),
    )
    assert page.stat().st_size < 5_000_000


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.floats(1e-5, 1e-2))
def test_thinned_keys_give_back_the_motion_by_interpolation(seed: int, off: float) -> None:
    """Read by SciPy's own interpolation between rotations; the motion has a corner, a rest and a fast spin."""
    rng = np.random.default_rng(seed)
    time = np.sort(rng.uniform(0.0, 5.0, 400))
    place = np.cumsum(rng.normal(size=(400, 3)) * (time[:, None] > 2.0), axis=0) * 0.01
    spin = rng.normal(size=3) * 4.0
    turn = Rotation.from_rotvec(np.maximum(time - 1.0, 0.0)[:, None] * spin)
    scale = 1.0 + 0.1 * np.sin(time)[:, None] * rng.normal(size=3)
    track = Keyframes(time, place, turn.as_quat(), scale, time < 4.0)
    few = track.thinned(off, off)
    assert few.shown.sum() > 0
    assert (few.shown[np.searchsorted(few.time, time, side="right") - 1] == track.shown).all()
    back = Slerp(few.time, Rotation.from_quat(few.rotation))(time)
    assert (back.inv() * turn).magnitude().max() < 1.01 * off
    for fine, coarse in ((place, few.translation), (scale, few.scale)):
        straight = np.stack([np.interp(time, few.time, column) for column in coarse.T], axis=1)
        assert np.linalg.norm(straight - fine, axis=1).max() < 1.01 * off


def test_a_still_motion_keeps_two_keys() -> None:
    still = np.zeros((500, 3))
    track = Keyframes(
        np.linspace(0.0, 1.0, 500),
        still,
        np.tile([0.0, 0.0, 0.0, 1.0], (500, 1)),
        still + 1.0,
        np.ones(500, bool),
    )
    assert len(track.thinned(1e-4, 1e-4).time) == 2
