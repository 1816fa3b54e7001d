"""Laws of the light that ripples gather: hardly any is made, none without depth, and it goes along the bent sun."""

import moderngl
import numpy as np
import pytest

from render.land.textures import levels, noise_image, slope_image, tiled_texture
from render.light import Light
from render.passes.targets import unbind
from render.passes.uniforms import FrameUniforms
from render.programs import SAMPLER_UNITS, Programs
from render.still import view_from

SIDE = 256
MEASURE = """#include "frame.glsl"
#include "caustics.glsl"
in vec2 uv;
out float gathered;
uniform vec3 corner;
uniform float span_m;
void main() { gathered = caustics(corner + vec3(span_m * gl_FragCoord.xy / SIDE, 0.0), 0.0, CAUSTIC_SHARP_M); }
"""
BEARING = np.array([0.6, 0.0, 0.8])


@pytest.fixture
def gathered(ctx, tmp_path):
    """Of a square bed with its corner at a place, seen from 3 m over its middle by a large picture."""
    (tmp_path / "measure.frag").write_text(MEASURE)
    programs = Programs(ctx, defines={"SIDE": f"{SIDE}.0"}, folders=(tmp_path,))
    program = programs.load("fullscreen.vert", "measure.frag")
    array = ctx.vertex_array(program, [])
    image = slope_image(noise_image())
    slopes = tiled_texture(ctx, [image, *levels(image)], anisotropy=1.0, smooth_levels=True)
    slopes.use(SAMPLER_UNITS["slope_map"])
    texture = ctx.texture((SIDE, SIDE), 1, dtype="f4")
    target = ctx.framebuffer([texture])
    uniforms = FrameUniforms(ctx)
    light = Light(BEARING, np.ones(3), np.zeros((9, 3)))
    uniforms.set_light(light, water_level_m=0.0)

    def seen(corner: tuple[float, float, float], span_m: float = 12.0, away_m: float = 3.0) -> np.ndarray:
        middle = np.add(corner, (0.5 * span_m, 0.5 * span_m, 0.0))
        view = view_from(np.add(middle, (0.1, 0.0, away_m)), middle, (4000, 4000))
        uniforms.set_view(view, (4000, 4000), wall_s=2.0)
        uniforms.upload()
        uniforms.bind()
        target.use()
        ctx.enable_only(moderngl.NOTHING)
        program["corner"].value, program["span_m"].value = corner, span_m
        array.render(moderngl.TRIANGLES, vertices=3)
        return np.frombuffer(texture.read(), np.float32).reshape(SIDE, SIDE)

    yield seen
    unbind(ctx)
    for resource in (array, target, texture, slopes, uniforms, programs):
        resource.release()


@pytest.mark.parametrize("depth_m", [0.5, 2.0, 6.0])
def test_as_much_light_is_gathered_as_is_kept_off(gathered, depth_m):
    light = gathered((0.0, 0.0, -depth_m))
    assert np.mean(light) == pytest.approx(1.0, abs=0.25)  # measured: 1.18, 0.95, 1.07
    assert np.std(light) > 0.05


def test_at_the_surface_and_from_afar_light_is_even(gathered):
    assert np.abs(gathered((0.0, 0.0, 0.0)) - 1.0).max() < 1e-6
    assert np.std(gathered((0.0, 0.0, -2.0), away_m=4000.0)) < 0.02


def test_bright_places_lie_one_below_the_other_along_the_bent_sun(gathered):
    ray = np.array([*(BEARING[:2] / 1.333), 0.0])
    down = -1.0 * ray / np.sqrt(1.0 - ray @ ray) - (0.0, 0.0, 1.0)
    above, below = gathered((0.0, 0.0, -2.0)), gathered(tuple(np.array([0.0, 0.0, -2.0]) + down))
    aside = gathered((0.0, 0.0, -3.0))
    alike, unlike = (np.corrcoef(above.ravel(), other.ravel())[0, 1] for other in (below, aside))
    assert alike > 0.6  # measured: 0.71; 0.001
    assert unlike < 0.2
