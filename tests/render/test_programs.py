"""Shaders are files; what is wrong with one is said with its name and line."""

import moderngl
import numpy as np
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
    assert programs.where(SHADE=0.9).load("plain.vert", "top.frag") is bright
    assert programs.where(SHADE=0.9).load("plain.vert", "top.frag", SHADE=0.1) is dark
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


def test_tones_are_those_of_agx(ctx: moderngl.Context) -> None:
    """Against its definition: logarithm, Wrensch's polynomial, power 1.4, saturation 1.24."""
    programs = Programs(ctx, defines={})
    rng = np.random.default_rng(4)
    light = np.exp2(rng.uniform(-14.0, 6.0, (64, 64, 4))).astype("f4")
    texture, target = ctx.texture((64, 64), 4, light, dtype="f4"), ctx.framebuffer([ctx.texture((64, 64), 4)])
    program = programs.load("fullscreen.vert", "tonemap.frag")
    program["exposure"].value = 1.0
    texture.use(0)
    target.use()
    ctx.enable_only(moderngl.NOTHING)
    ctx.vertex_array(program, []).render(vertices=3)
    drawn = np.frombuffer(target.read(components=3), "u1").reshape(64, 64, 3) / 255.0
    middle = (np.arange(64) + 0.5) / 64.0 - 0.5
    vignette = 1.0 - 0.55 * (middle[:, None] ** 2 + middle**2)
    inward = [
        [0.842479062253094, 0.0784335999999992, 0.0792237451477643],
        [0.0423282422610123, 0.878468636469772, 0.0791661274605434],
        [0.0423756549057051, 0.0784336, 0.879142973793104],
    ]
    stops = np.log2(light[..., :3] * vignette[..., None] @ np.array(inward).T)
    x = ((stops + 12.47393) / (4.026069 + 12.47393)).clip(0.0, 1.0)
    polynomial = np.polyval([15.5, -40.14, 31.96, -6.868, 0.4298, 0.1191, -0.00232], x)
    y = polynomial.clip(0.0) ** 1.4
    y = y @ [0.2126, 0.7152, 0.0722] * np.ones((3, 1, 1)) * -0.24 + np.moveaxis(1.24 * y, -1, 0)
    outward = np.linalg.inv(inward)
    wanted = np.moveaxis(np.tensordot(outward, y, 1), 0, -1).clip(0.0, 1.0)
    np.testing.assert_allclose(drawn, wanted, atol=1.1 / 255.0)  # a half of noise, a half of rounding
