"""A layout that was kept comes back; a file that imgui has not written never reaches it."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from imgui_bundle import imgui

from ui.window.backend import open_context
from ui.window.layout import (
    MOST_BYTES,
    MOST_DEEP,
    LayoutFile,
    build,
    check_layout,
    dock_newcomer,
    is_built,
    scene_rect,
)

GOOD = """[Window][Scene]
Pos=904,375
Size=376,425
Collapsed=0
DockId=0x00000004,1
LastUsed=20261122

[Window][WindowOverViewport_11111111]
Pos=0,0
Size=1280,800
Collapsed=0

[Table][0x1D2C3B4A,2]
RefScale=13
Column 0  Width=63
Column 1  Weight=1.0000 Sort=0v

[Docking][Data]
DockSpace   ID=0x08BD597D Window=0x1BBC0F80 Pos=0,0 Size=1280,800 Split=X
  DockNode  ID=0x00000003 Parent=0x08BD597D SizeRef=902,626 CentralNode=1
  DockNode  ID=0x00000004 Parent=0x08BD597D SizeRef=902,172 Selected=0xBD2490C2
"""


def shown(text: str) -> str:
    """What imgui has to say of a layout after some frames with docked windows."""
    close = open_context(text)
    try:
        io = imgui.get_io()
        io.backend_flags |= imgui.BackendFlags_.renderer_has_textures.value
        io.display_size, io.delta_time = (1280.0, 800.0), 1.0 / 60.0
        for _ in range(3):
            imgui.new_frame()
            dock_id = imgui.dock_space_over_viewport(
                0, None, imgui.DockNodeFlags_.passthru_central_node.value
            )
            scene_rect(dock_id)
            for name in ("Scene", "Plan"):
                imgui.begin(name)
                imgui.text(name)
                imgui.end()
            imgui.render()
        return imgui.save_ini_settings_to_memory()
    finally:
        close()


def test_what_imgui_writes_is_read_again(tmp_path: Path) -> None:
    file = LayoutFile(tmp_path / "layout.ini")
    assert file.read() == ""
    assert not list(tmp_path.iterdir())
    written = shown(GOOD)
    assert "DockId=0x00000004" in written
    file.write(written)
    assert file.read() == written
    assert shown(written) == written


def docked(text: str, places: dict[str, str]) -> tuple[str, dict[str, int]]:
    """(layout, window -> node) after some frames of a layout, built where there is none."""
    close = open_context(text)
    try:
        io = imgui.get_io()
        io.backend_flags |= imgui.BackendFlags_.renderer_has_textures.value
        io.display_size, io.delta_time = (1280.0, 800.0), 1.0 / 60.0
        for _ in range(3):
            imgui.new_frame()
            dock_id = imgui.dock_space_over_viewport(0)
            if not is_built(dock_id):
                build(dock_id, (1280.0, 800.0), 1.0, places)
            for name, place in places.items():
                dock_newcomer(place, places)
                imgui.begin(name)
                imgui.text(name)
                imgui.end()
            imgui.render()
        nodes = {name: imgui.internal.find_window_by_name(name).dock_id for name in places}
        return imgui.save_ini_settings_to_memory(), nodes
    finally:
        close()


def test_a_window_that_a_kept_layout_does_not_know_becomes_a_tab_beside_its_kind() -> None:
    places = {
        "Upper": "upper",
        "Lower": "lower",
        "Plots": "below",
        "New below": "below",
        "New upper": "upper",
    }
    kept, _ = docked("", {name: place for name, place in places.items() if "New" not in name})
    _, nodes = docked(kept, places)
    assert nodes["New below"] == nodes["Plots"] != nodes["Lower"]
    assert nodes["New upper"] == nodes["Upper"] != nodes["Plots"]
    assert all(nodes.values())


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    LayoutFile(tmp_path / "missing" / "layout.ini").write(GOOD)


def chain(length: int) -> str:
    """So many splits within splits."""
    rows = ["[Docking][Data]", "DockSpace ID=0x00000001 Pos=0,0 Size=9,9 Split=X"]
    for k in range(length):
        for node, split in ((2 * k + 2, ""), (2 * k + 3, " Split=Y" if k + 1 < length else "")):
            rows.append(f"DockNode ID=0x{node:08X} Parent=0x{max(2 * k + 1, 1):08X} SizeRef=9,9{split}")
    return "\n".join(rows)


def test_splits_within_splits_have_a_bound() -> None:
    check_layout(chain(MOST_DEEP))
    with pytest.raises(ValueError, match="too deeply"):
        check_layout(chain(MOST_DEEP + 1))


NODE = "DockNode  ID=0x00000004 Parent=0x08BD597D"
BROKEN = {
    "text": b"\x00\x01rubbish",
    "encoding": GOOD.encode() + b"\xff\xfe",
    "large": b"[Window][Scene]\n" + b"Pos=0,0\n" * (MOST_BYTES // 8),
    "absurd number": GOOD.replace("Size=376,425", "Size=99999999999,425").encode(),
    "no number": GOOD.replace("Size=376,425", "Size=nan,425").encode(),
    "absurd table": GOOD.replace("4A,2]", "4A,99999999]").encode(),
    "of itself": GOOD.replace(NODE, "DockNode  ID=0x00000004 Parent=0x00000004").encode(),
    "of nothing": GOOD.replace(NODE, "DockNode  ID=0x00000004 Parent=0x000000FF").encode(),
    "twice": GOOD.replace(NODE, "DockNode  ID=0x00000003 Parent=0x08BD597D").encode(),
    "half a split": "\n".join(GOOD.splitlines()[:-1]).encode(),
    "deep": chain(50_000)[: MOST_BYTES - 1].encode(),
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
def test_a_broken_layout_is_set_aside(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "layout.ini"
    path.write_bytes(content)
    assert LayoutFile(path).read() == ""
    assert [p.name for p in tmp_path.iterdir()] == ["layout.ini.damaged"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="has no such files")
@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo], ids=["folder", "pipe"])
def test_what_is_no_file_is_set_aside_and_nobody_waits(tmp_path: Path, make: Callable[[Path], None]) -> None:
    path = tmp_path / "layout.ini"
    make(path)
    assert LayoutFile(path).read() == ""
    LayoutFile(path).write(GOOD)
    assert LayoutFile(path).read() == GOOD


def test_whatever_the_grammar_lets_through_imgui_can_bear() -> None:
    rng = np.random.default_rng(4)
    good, tried = shown(GOOD), 0
    places = [at for at, letter in enumerate(good) if letter in "0123456789ABCDEFXY,-"]
    for _ in range(400):
        text = list(good)
        for at in rng.choice(places, rng.integers(1, 4)):
            text[at] = str(rng.choice(list("0123456789ABCDEFXY,-")))
        mutated = "".join(text)
        try:
            check_layout(mutated)
        except ValueError:
            continue
        tried += 1
        shown(mutated)
    assert tried > 40
