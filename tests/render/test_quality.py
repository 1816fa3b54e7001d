"""The level of quality follows the renderer, and an old driver is told so."""

from types import SimpleNamespace

import pytest

from render.errors import DisplayError
from render.quality import PRESETS, choose, detect, preset, require_gl


def context(renderer: str, version: int = 450):
    return SimpleNamespace(info={"GL_RENDERER": renderer}, version_code=version, max_samples=8)


@pytest.mark.parametrize(
    "renderer",
    ["llvmpipe (LLVM 15.0.6, 256 bits)", "softpipe", "Google SwiftShader", "ANGLE (Google, SwiftShader)"],
)
def test_software_renderers_get_the_software_level(renderer):
    assert detect(context(renderer)) == "software"


def test_a_gpu_gets_the_high_level():
    assert detect(context("NVIDIA GeForce RTX 3060/PCIe/SSE2")) == "high"


def test_an_old_driver_is_refused_with_what_was_found():
    with pytest.raises(DisplayError, match=r"OpenGL 4\.1 or newer is needed, found OpenGL 3\.3 \(Old Card\)"):
        require_gl(context("Old Card", 330))


def test_an_unknown_level_names_those_that_exist():
    with pytest.raises(DisplayError, match="high, medium, low, software"):
        preset("ultra")


def test_software_renderers_never_filter_anisotropically():
    assert choose(context("llvmpipe"), "high").anisotropy == 1.0


def test_supersampling_replaces_other_antialiasing():
    quality = choose(context("NVIDIA"), "high", supersampling=2)
    assert (quality.samples, quality.fxaa) == (1, False)


def test_lower_levels_promise_fewer_triangles():
    budgets = [quality.terrain_triangles for quality in PRESETS.values()]
    assert budgets == sorted(budgets, reverse=True)


def test_a_huge_window_is_drawn_within_the_pixels_a_level_can_carry():
    width, height = PRESETS["software"].scene_px((3840, 2160))
    assert width * height <= 1.01 * PRESETS["software"].most_pixels
    assert width / height == pytest.approx(16 / 9, rel=0.01)


def test_supersampling_multiplies_the_scene():
    assert choose(context("llvmpipe"), "high", supersampling=2).scene_px((1280, 800), supersampling=2) == (
        2560,
        1600,
    )
