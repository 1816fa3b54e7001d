"""Shaders are files; what is wrong with one is said with its name and line."""

import pytest

from render.errors import DisplayError
from render.programs import SHADERS, Programs
from render.quality import PRESETS

FULLSCREEN = "out vec2 uv;\nvoid main() { uv = vec2(0.0); gl_Position = vec4(0.0); }\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "plain.vert").write_text(FULLSCREEN)
    return tmp_path


def test_an_error_in_an_included_file_names_that_file_and_line(ctx, folder):
    (folder / "part.glsl").write_text(
        "float half_of(float x) { return 0.5 * x; }\n\nfloat bad() { return nothing; }\n"
    )
    (folder / "top.frag").write_text('#include "part.glsl"\nout vec4 c;\nvoid main() { c = vec4(bad()); }\n')
    programs = Programs(ctx, defines={}, folders=(folder,))
    with pytest.raises(DisplayError, match=r"part\.glsl:3"):
        programs.load("plain.vert", "top.frag")


def test_an_error_after_an_include_keeps_its_own_line(ctx, folder):
    (folder / "part.glsl").write_text("float one() { return 1.0; }\n" * 1)
    (folder / "top.frag").write_text(
        'out vec4 c;\n#include "part.glsl"\n\nvoid main() { c = vec4(wrong); }\n'
    )
    with pytest.raises(DisplayError, match=r"top\.frag:4"):
        Programs(ctx, defines={}, folders=(folder,)).load("plain.vert", "top.frag")


def test_a_file_included_twice_is_read_once(ctx, folder):
    (folder / "a.glsl").write_text("float one() { return 1.0; }\n")
    (folder / "b.glsl").write_text('#include "a.glsl"\nfloat two() { return one() + 1.0; }\n')
    (folder / "top.frag").write_text(
        '#include "a.glsl"\n#include "b.glsl"\nout vec4 c;\nvoid main() { c = vec4(one() + two()); }\n'
    )
    programs = Programs(ctx, defines={}, folders=(folder,))
    programs.load("plain.vert", "top.frag")
    programs.release()


def test_a_missing_file_is_named_with_who_asked_for_it(ctx, folder):
    (folder / "top.frag").write_text('#include "absent.glsl"\nvoid main() {}\n')
    with pytest.raises(DisplayError, match=r"absent\.glsl, included by top\.frag"):
        Programs(ctx, defines={}, folders=(folder,)).load("plain.vert", "top.frag")


def test_defines_make_different_programs_and_equal_ones_share_one(ctx, folder):
    (folder / "top.frag").write_text("out vec4 c;\nvoid main() { c = vec4(SHADE); }\n")
    programs = Programs(ctx, defines={}, folders=(folder,))
    dark, bright = (
        programs.load("plain.vert", "top.frag", SHADE=0.1),
        programs.load("plain.vert", "top.frag", SHADE=0.9),
    )
    assert dark is not bright
    assert programs.load("plain.vert", "top.frag", SHADE=0.1) is dark
    programs.release()


@pytest.mark.parametrize("quality", PRESETS.values(), ids=lambda quality: quality.name)
@pytest.mark.parametrize(
    "files",
    [
        ("terrain.vert", "terrain.frag"),
        ("terrain_baked.vert", "terrain_baked.frag"),
        ("pad.vert", "pad.frag"),
        ("tank_frame.vert", "tank_frame.frag"),
        ("glass.vert", "glass.frag"),
        ("fullscreen.vert", "shafts.frag"),
        ("water.vert", "water.frag"),
        ("fullscreen.vert", "sky.frag"),
        ("fullscreen.vert", "tonemap.frag"),
    ],
    ids=lambda files: files[1],
)
def test_every_material_compiles_for_every_quality(ctx, quality, files):
    programs = Programs(ctx, defines=quality.defines)
    for planar in (0, 1):
        programs.load(*files, PLANAR_REFLECTION=planar)
    programs.release()


def test_every_shader_file_says_what_it_is():
    for path in SHADERS.rglob("*.*"):
        assert path.read_text(encoding="utf-8").startswith("//"), f"{path.name} has no opening comment"
