"""Laws of the pictures that the window makes of a user's own scenes."""

import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from ui.features.scenes.gallery import SIZE_PX
from ui.features.scenes.own import keep_picture, own_picture, own_scenes, wants_picture
from ui.settings.view_settings import VARIABLE


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "settings"))
    path = tmp_path / "yard.toml"
    path.write_text('vehicle = "car"')
    return str(path)


def test_a_picture_is_kept_in_the_shape_of_a_card_about_its_middle(scene: str) -> None:
    pixels = np.zeros((300, 900, 3), np.uint8)
    pixels[:, 300:600] = 200  # what is left and right of it has no room in a card
    assert wants_picture(scene)
    keep_picture(scene, pixels, SIZE_PX, [scene])
    with Image.open(own_picture(scene)) as picture:
        assert picture.size == SIZE_PX
        shown = np.asarray(picture).astype(int)
    assert abs(shown[:, 60:130] - 200).max() < 12
    assert not wants_picture(scene)


def test_another_is_wanted_once_the_file_has_changed(scene: str) -> None:
    keep_picture(scene, np.zeros((60, 96, 3), np.uint8), SIZE_PX, [scene])
    later = os.path.getmtime(own_picture(scene)) + 10.0
    os.utime(scene, (later, later))
    assert wants_picture(scene)


def test_pictures_of_what_is_shown_no_more_go(scene: str) -> None:
    other = scene.replace("yard", "alley")
    for path in (scene, other):
        keep_picture(path, np.zeros((60, 96, 3), np.uint8), SIZE_PX, [scene, other])
    assert own_picture(scene).is_file()
    keep_picture(other, np.zeros((60, 96, 3), np.uint8), SIZE_PX, [other])
    assert not own_picture(scene).exists()
    assert own_picture(other).is_file()


def test_a_folder_that_cannot_be_written_costs_only_the_picture(scene: str) -> None:
    own_picture(scene).parent.write_text("in the way")
    keep_picture(scene, np.zeros((60, 96, 3), np.uint8), SIZE_PX, [scene])
    assert wants_picture(scene)


def test_only_files_of_scenes_are_cards() -> None:
    assert [entry.title for entry in own_scenes(["/a/one.toml", "/a/take.npz", "/a/robot.urdf"])] == ["one"]
