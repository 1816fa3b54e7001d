"""Menus are made from what the library really has."""

from pathlib import Path

import pytest

import sim.scene.heading
from sim.scene import load_scene, scene_names
from sim.scene.heading import SceneHeading, scene_heading, scene_headings
from ui.settings.catalogue import first_paragraph, load_catalogue


def test_the_catalogue_holds_every_vehicle_method_and_scene() -> None:
    catalogue = load_catalogue()
    assert tuple(catalogue.vehicles) == tuple(sim.vehicles())
    assert tuple(catalogue.integrators) == tuple(sim.integrators())
    assert tuple(catalogue.scenes) == scene_names()
    for entry in catalogue.integrators.values():
        assert entry.doc
        assert f"order {entry.order}" in entry.facts
    for vehicle in catalogue.vehicles.values():
        assert vehicle.doc
        assert all(parameter.doc and parameter.low <= parameter.high for parameter in vehicle.parameters)


def test_a_heading_says_of_every_scene_what_the_scene_itself_does() -> None:
    for name in scene_names():
        scene = load_scene(name)
        own_task = scene.plan is not None and not scene.plan.again().has("vehicle")
        plans, races = own_task and not scene.plan_optional, scene.race is not None
        told = SceneHeading(scene.title, scene.text, plans, races, bool(scene.comparison.caption))
        assert scene_heading(name) == told


def test_a_tooltip_is_the_first_paragraph_on_one_line() -> None:
    assert first_paragraph("One\n  line.\n\nMore.") == "One line."
    assert first_paragraph(None) == ""


def test_headings_that_were_kept_are_those_of_the_files_as_they_are_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLONOMY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(sim.scene.heading, "SCENE_FOLDER", tmp_path)
    file = tmp_path / "one.toml"
    for title in ("First", "Second"):
        file.write_text(f'title = "{title}"\ntext = "A  text."\n[race]\n')
        for _ in range(2):  # made, then read
            told = scene_headings(("one", "none"))
            assert told == {"one": SceneHeading(title, "A text.", plans=False, races=True, compares=False)}
    file.write_text("title = ")
    assert scene_headings(("one",)) == scene_headings(("one",)) == {}
