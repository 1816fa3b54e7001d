"""Laws of what is remembered from one session to the next."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from sim.scene import load_scene
from ui.desktop.session import Memories
from ui.settings.view_settings import MEMORY, MOST_FILES, Remembered, ViewSettings


def test_what_was_kept_comes_back(tmp_path: Path) -> None:
    assert MEMORY.read(tmp_path) == Remembered()
    view = ViewSettings(trail=False, arrows=True, exposure=1.5, plot_s=40.0)
    kept = Remembered().looked_at(view).opened_scene("plain").opened_scene("canyon").opened_scene("plain")
    kept = replace(kept.opened_file("/tmp/a.npz"), quality="low", panels=False).with_camera(
        "plain", "tower", "chase"
    )
    MEMORY.write(tmp_path, kept)
    assert MEMORY.read(tmp_path) == kept
    assert kept.scenes == ("plain", "canyon")
    assert kept.camera_of("plain", "chase") == "tower"
    assert kept.camera_of("plain", "cockpit") == "cockpit"  # another than the scene's was asked for
    shown = kept.view("low")
    assert (shown.trail, shown.arrows, shown.exposure, shown.plot_s) == (False, True, 1.5, 40.0)
    assert kept.with_camera("plain", "chase", "chase").cameras == {}


def test_only_the_last_files_are_kept() -> None:
    kept = Remembered()
    for number in range(3 * MOST_FILES):
        kept = kept.opened_file(str(number))
    assert kept.files == tuple(str(number) for number in range(3 * MOST_FILES - 1, 2 * MOST_FILES - 1, -1))


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[]", "[" * 100_000, '{"version": 99}', '{"look": {"exposure": 1e300}}'),
        *(
            '{"look": {"plot_s": NaN}}',
            '{"quality": "ultra"}',
            '{"cameras": {"a": ["b", "b"]}}',
            '{"scenes": ["\\u0000"]}',
        ),
        json.dumps({"files": ["a"] * 5000}),
    ],
)
def test_broken_settings_are_set_aside(text: str, tmp_path: Path) -> None:
    (tmp_path / MEMORY.name).write_text(text)
    assert MEMORY.read(tmp_path) == Remembered()
    assert [path.name for path in tmp_path.iterdir()] == [f"{MEMORY.name}.damaged"]


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    MEMORY.write(tmp_path / "missing", Remembered())


def test_a_scenes_file_is_remembered_however_it_was_opened(tmp_path: Path) -> None:
    path = tmp_path / "yard.toml"
    path.write_text('vehicle = "car"\n[world]\nname = "plain"\n')
    memories = Memories(tmp_path, "software")
    memories.opened(ViewSettings(), load_scene(path))
    assert memories.kept.files == (str(path),)
    assert memories.kept.scenes == ()
    memories.opened(ViewSettings(), load_scene("canyon"))
    assert (memories.kept.files, memories.kept.scenes) == ((str(path),), ("canyon",))
