"""Scene files are refused with one line that names file, key and what is allowed."""

import tomllib
from pathlib import Path

import numpy as np
import pytest

from sim.integrators import integrators
from sim.platform.errors import InputError
from sim.scene import CAMERAS, PADS, SCENE_FOLDER, WORLDS, load_scene, scene_names, with_overrides
from sim.vehicles import vehicles
from sim.world import load_world, worlds
from tests.sim.simulation_scenes import simulation
from ui.features.scenes.gallery import path_of

REFUSED = {
    "unknown key": ('vehicel = "helicopter"', "vehicel", "vehicle"),
    "unknown vehicle": ('vehicle = "helicoptre"', "vehicle", "helicopter"),
    "unknown integrator": ('integrator = "rk5"', "integrator", "rk4"),
    "unknown world": ('[world]\nname = "mars"', "world.name", "canyon"),
    "unknown key in a table": ("[world]\nsead = 3", "world.sead", "seed"),
    "seed of the wrong type": ("[world]\nseed = 1.5", "world.seed", "whole number"),
    "unknown camera": ('camera = "drone"', "camera", "chase"),
    "unknown flight mode": ('flight_mode = "magic"', "flight_mode", "attitude"),
    "unknown pad": ('[start]\npad = "roof"', "start.pad", "landing"),
    "pad and position": ('[start]\npad = "start"\nposition_m = [0, 0, 1]', "start.pad", "one of the two"),
    "step out of range": ("step_s = 3.0", "step_s", "0.5"),
    "step not a number": ("step_s = nan", "step_s", "0.5"),
    "step infinite": ("step_s = inf", "step_s", "0.5"),
    "step a text": ('step_s = "fast"', "step_s", "0.5"),
    "step true": ("step_s = true", "step_s", "0.5"),
    "position too short": ("[start]\nposition_m = [0.0, 1.0]", "start.position_m", "3 numbers"),
    "position not finite": ("[start]\nposition_m = [0.0, nan, 1.0]", "start.position_m", "3 numbers"),
    "parameters of an unknown vehicle": (
        "[parameters.zeppelin]\nmass = 1.0",
        "parameters.zeppelin",
        "helicopter",
    ),
    "unknown parameter": ("[parameters.helicopter]\nmas = 1.0", "parameters.helicopter.mas", "mass"),
    "parameter out of range": ("[parameters.helicopter]\nmass = -1.0", "parameters.helicopter.mass", "kg"),
    "parameter not a number": ("[parameters.helicopter]\nmass = nan", "parameters.helicopter.mass", "finite"),
    "parameter of the wrong length": (
        "[parameters.helicopter]\ninertia = [1.0, 2.0]",
        "parameters.helicopter.inertia",
        "3 numbers",
    ),
    "parameter a text": ('[parameters.helicopter]\nmass = "heavy"', "parameters.helicopter.mass", "finite"),
    "lane with an unknown integrator": ('[[lanes]]\nintegrator = "rk5"', "lanes[0].integrator", "rk4"),
    "lane with an unknown key": ("[[lanes]]\ncolor = 3", "lanes[0].color", "tint"),
    "lane with an integrator that does not serve": (
        'vehicle = "car"\n[[lanes]]\nintegrator = "variational-split"',
        "lanes[0].integrator",
        "holonomic",
    ),
    "more lanes than there can be": ("[[lanes]]\n" * 8, "lanes", "7"),
    "two lanes of one name": ('[[lanes]]\nname = "a"\n[[lanes]]\nname = "a"', "lanes[1].name", "no other"),
    "a lane called as the flown one": ('[[lanes]]\nname = "flown"', "lanes[0].name", "no other"),
    "lanes not a list": ("lanes = 3", "lanes", "[[lanes]]"),
    "table a number": ("world = 3", "world", "[world]"),
    "unknown environment": ('[environment]\nkind = "kite"', "environment.kind", "water-box"),
    "unknown key of an environment": ("[environment]\nmass = 3.0", "environment.mass", "cell_m"),
    "environment of what no impulse is declared for": (
        'vehicle = "quadrotors-with-load"\nintegrator = "rkmk4"\n[environment]\nkind = "water-box"',
        "environment",
        "can be coupled",
    ),
    "sun below the horizon": ("[sun]\nelevation_deg = -3.0", "sun.elevation_deg", "90"),
    "swell where there is no sea": ("[sea]\nwind_mps = 5.0", "sea", 'the world "sea"'),
    "swell under what floats": (
        'vehicle = "motorboat"\n[world]\nname = "sea"\n[sea]\nwind_mps = 5.0',
        "sea",
        "its own parameters",
    ),
    "unknown key of the swell": ('[world]\nname = "sea"\n[sea]\nwind = 5.0', "sea.wind", "wind_mps"),
    "not TOML": ("vehicle = = 3", "not valid TOML", "line 1"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_wrong_scene_file_is_refused_with_file_key_and_what_is_allowed(case: str, tmp_path: Path) -> None:
    content, key, allowed = REFUSED[case]
    path = tmp_path / "odd.toml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_scene(path)
    message = str(caught.value)
    assert "odd.toml" in message
    assert key in message
    assert allowed in message
    assert "\n" not in message


def test_a_file_that_begins_with_a_mark_of_its_encoding_is_read(tmp_path: Path) -> None:
    path = tmp_path / "marked.toml"
    path.write_text("step_s = 0.02", encoding="utf-8-sig")
    assert load_scene(path).step_s == 0.02


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("", rf"allowed: \S+, .*\({len(scene_names())} in all\)"),
        ("canyno", "allowed: canyon, "),
        ("../canyon", "allowed: canyon, "),
        ("missing.toml", "missing.toml: .*No such file"),
    ],
)
def test_an_unknown_scene_is_refused_with_the_scenes_there_are(name: str, told: str) -> None:
    with pytest.raises(InputError, match=told) as caught:
        load_scene(name)
    assert "\n" not in str(caught.value)


def test_a_folder_or_binary_file_is_refused_in_one_line(tmp_path: Path) -> None:
    folder = tmp_path / "folder.toml"
    folder.mkdir()
    binary = tmp_path / "binary.toml"
    binary.write_bytes(bytes(range(256)))
    for path in (folder, binary):
        with pytest.raises(InputError) as caught:
            load_scene(path)
        assert path.name in str(caught.value)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", scene_names())
def test_every_scene_of_the_project_loads_and_its_parameters_are_taken(name: str) -> None:
    scene = load_scene(name)
    assert scene.title
    assert scene.text
    text = (SCENE_FOLDER / f"{name}.toml").read_text(encoding="utf-8")
    for kind, values in tomllib.loads(text).get("parameters", {}).items():
        instance = scene.vehicle_named(kind)
        for key, value in values.items():
            assert set(np.ravel(instance.values[key])) == set(np.ravel(value))


def test_an_empty_scene_file_is_the_default_scene(tmp_path: Path) -> None:
    path = tmp_path / "empty.toml"
    path.write_text("")
    scene = load_scene(path)
    assert (scene.vehicle.name, scene.integrator, scene.start.pad) == (
        "helicopter",
        "variational-exact",
        "start",
    )
    assert 0.0 < scene.sun.elevation_deg < 90.0


def test_names_in_scenes_are_the_names_of_the_world() -> None:
    assert worlds() == WORLDS
    assert tuple(pad.name for pad in load_world("plain").pads) == PADS


@pytest.mark.parametrize(
    ("override", "allowed"),
    [
        ({"vehicle": "zeppelin"}, "helicopter"),
        ({"integrator": "rk5"}, "rk4"),
        ({"step_s": 0.0}, "0.0001"),
        ({"step_s": float("nan")}, "0.5"),
        ({"step_s": float("inf")}, "0.5"),
        ({"camera": "drone"}, CAMERAS[0]),
    ],
)
def test_a_wrong_override_is_refused_with_option_and_what_is_allowed(override: dict, allowed: str) -> None:
    with pytest.raises(InputError) as caught:
        with_overrides(load_scene("canyon"), **override)
    assert str(caught.value).startswith(f"--{next(iter(override)).removesuffix('_s')}: ")
    assert allowed in str(caught.value)


@pytest.mark.parametrize("kind", vehicles())
def test_an_override_keeps_the_rest_of_the_scene(kind: str) -> None:
    scene = load_scene("canyon")
    changed = with_overrides(scene, vehicle=kind, step_s=0.02)
    assert (changed.vehicle.name, changed.step_s) == (kind, 0.02)
    assert changed.integrator in integrators()
    assert (changed.world, changed.start) == (scene.world, scene.start)
    assert changed.vehicle_named(scene.vehicle.name).values == scene.vehicle.values


def test_every_scene_has_its_small_picture() -> None:
    assert not [name for name in scene_names() if not path_of(name).is_file()]


def test_a_scene_begins_at_its_own_speed(tmp_path: Path) -> None:
    path = tmp_path / "slow.toml"
    path.write_text('vehicle = "car"\nspeed = 0.125\n[world]\nname = "plain"\n')
    assert simulation(load_scene(path)).snapshot.speed == 0.125
    path.write_text('vehicle = "car"\nspeed = 9.0\n[world]\nname = "plain"\n')
    with pytest.raises(InputError, match=r"^[^\n]*speed[^\n]*allowed: a number from 0.03125 to 8[^\n]*$"):
        load_scene(path)
