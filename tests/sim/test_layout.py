"""Laws of what is placed by hand: it is saved as it stands, counts in flight, and edits can be undone."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sim.commands import Reset, SetLayout
from sim.groups.numeric import rotation_about, upright
from sim.platform.errors import InputError
from sim.scene import SCENE_FOLDER, load_scene
from sim.scene.layout import Layout, scene_with_layout
from sim.scene.race import Instant, crossing_s
from tests.sim.simulation_scenes import fly, simulation, world
from ui.features.edits import Edits

SCENES = ("race-slalom", "canyon", "harbour", "plan-car-parking")
"""With a race; with goals at pads and along a way; on water; with a plan."""
SOLES_M = 1.4


def edited(layout: Layout, name: str, rng: np.random.Generator) -> Layout:
    """A dozen random edits, one after the other."""
    ground = world(name)
    for _ in range(12):
        names = [handle.name for handle in layout.handles(ground, SOLES_M)]
        chosen = names[rng.integers(len(names))]
        T_w = np.eye(4)
        yaw, pitch, roll = rng.uniform(-1.5, 1.5, 3)
        T_w[:3, :3] = upright(yaw) @ rotation_about(1, pitch) @ rotation_about(0, roll)
        T_w[:3, 3] = rng.uniform(-80.0, 80.0, 3)
        match rng.integers(6):
            case 0 | 1:
                layout = layout.moved(chosen, T_w)
            case 2:
                layout = layout.scaled(chosen, float(rng.uniform(0.3, 3.0)))
            case 3:
                layout = layout.copied(chosen)[0]
            case 4:
                layout = layout.with_one(str(rng.choice(["gate", "goal"])), T_w[:3, 3], float(rng.normal()))[
                    0
                ]
            case _:
                layout = layout.grounded(chosen, ground, SOLES_M)
    return layout


@pytest.mark.parametrize("name", SCENES)
def test_a_saved_scene_has_everything_where_it_was_put(name: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(31)
    scene, text = load_scene(name), (SCENE_FOLDER / f"{name}.toml").read_text()
    before = Layout.of(scene)
    assert scene_with_layout(text, before, before) == text
    for k in range(3):
        after = edited(before, scene.world, rng)
        path = tmp_path / f"own-{k}.toml"
        path.write_text(scene_with_layout(text, before, after))
        read = Layout.of(load_scene(path))
        ground = world(scene.world)
        places, saved = after.handles(ground, SOLES_M), read.handles(ground, SOLES_M)
        assert [handle.name for handle in saved] == [handle.name for handle in places]
        for one, other in zip(places, saved, strict=True):
            assert other.T_w == pytest.approx(one.T_w, abs=1e-9)
        assert [goal.title for goal in read.goals] == [goal.title for goal in after.goals]
        for one, other in zip(after.goals, read.goals, strict=True):
            assert other.conditions == one.conditions or other.place != one.place
            assert (other.place is None) == (one.place is None)
            if one.place is not None:
                assert other.place.within_m == pytest.approx(one.place.within_m)
        if after.course is not None:
            sizes = [(gate.half_width_m, gate.half_height_m) for gate in after.course.gates]
            assert [(gate.half_width_m, gate.half_height_m) for gate in read.course.gates] == [
                pytest.approx(size) for size in sizes
            ]


def test_what_is_put_elsewhere_in_flight_counts_from_then_on_and_is_undone() -> None:
    running = simulation(load_scene("race-slalom"))
    edits, clock_s = Edits(), 0.0

    def seen() -> None:
        nonlocal clock_s
        for _ in range(2):
            clock_s += 1.0
            edits.observe(running.snapshot, None, clock_s, busy=False)

    seen()
    before = running.snapshot.layout
    fly(running, 0.5)
    standing = running.snapshot.race
    T_w = np.eye(4)
    T_w[:3, 3] = 5.0, -12.0, 3.0
    after = before.moved("start", T_w).moved("gate 0", T_w)
    running.submit(SetLayout(after))
    fly(running, 0.1)
    seen()
    assert running.snapshot.layout == after
    assert running.snapshot.race.course.gates[0].centre_w == (5.0, -12.0, 3.0)
    assert running.snapshot.race is not standing
    running.submit(Reset())
    lane = fly(running, 0.0)
    assert lane.T_wb[:2, 3] == pytest.approx([5.0, -12.0], abs=1e-9)
    fly(running, 0.1)
    seen()
    for by, wanted in ((-1, before), (1, after)):
        for asked in edits.step(by, clock_s):
            running.submit(asked)
        fly(running, 0.1)
        assert running.snapshot.layout == wanted
    running.submit(SetLayout(replace(after, course=replace(after.course, gates=after.course.gates[:1]))))
    fly(running, 0.1)
    assert "a race of 1 gates is refused" in running.snapshot.message
    assert running.snapshot.layout == after


def test_a_new_gate_faces_the_way_it_was_put_up_for_and_comes_with_a_second() -> None:
    layout = Layout.of(replace(load_scene("canyon"), race=None))
    one, name = layout.with_one("gate", np.array([10.0, 4.0, 1.0]), 0.7)
    assert name == "gate 0"
    assert len(one.course.gates) == 2
    first, second = one.course.gates
    begin, end = (np.array(first.centre_w) + along * first.frame()[0] for along in (-5.0, 40.0))
    way = (end - begin) / 2.0
    flight = Instant(0.0, begin, way), Instant(2.0, end, way)
    assert crossing_s(first, *flight) == pytest.approx(10.0 / 45.0)
    assert crossing_s(second, *flight) == pytest.approx(60.0 / 45.0)
    assert crossing_s(first, *(Instant(t, x, -way) for t, x in ((0.0, end), (2.0, begin)))) is None
    assert first.centre_w[2] - first.half_height_m == pytest.approx(1.0)
    assert one.without("gate 1").course is None
    assert math.isclose(second.heading_rad, 0.7)


def test_more_goals_than_a_file_may_have_are_refused() -> None:
    scene = load_scene("canyon")
    many = replace(Layout.of(scene), goals=25 * scene.goals[:1])
    with pytest.raises(InputError, match="goals are refused"):
        many.put_into(scene)
