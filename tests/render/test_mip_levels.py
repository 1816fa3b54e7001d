"""Coarser levels of textures."""

import ctypes

import moderngl
import numpy as np
import pytest

from render.land.textures import build_levels, levels


@pytest.mark.parametrize("shape", [(8, 16, 4), (1, 32, 4), (7, 13, 2), (5, 1, 2)])
def test_every_level_has_the_mean_of_the_finest_and_a_slope_stays_one(shape: tuple[int, int, int]) -> None:
    rng = np.random.default_rng(1)
    image = rng.uniform(size=shape).astype(np.float32)
    found = levels(image)
    assert found[-1].shape[:2] == (1, 1)
    for level in found:
        np.testing.assert_allclose(level.mean(axis=(0, 1)), image.mean(axis=(0, 1)), rtol=1e-5)
    places = (np.arange(13, dtype=np.float32) + 0.5) / 13
    slope = np.broadcast_to(places[None, :, None], (2, 13, 1)).astype(np.float32)
    halved = levels(slope)[0][0, :, 0]
    np.testing.assert_allclose(
        halved, (np.arange(6) + 0.5) / 6, atol=0.004
    )  # of steps of 1/13; measured 0.0025


def _read(ctx: moderngl.Context, texture: moderngl.Texture, level: int, type_: str) -> np.ndarray:
    """Any level: moderngl reads only those that it has made."""
    get = ctypes.CFUNCTYPE(None, *[ctypes.c_uint] * 4, ctypes.c_void_p)(
        ctx.mglo._context.load_opengl_function("glGetTexImage")
    )
    width, height = max(texture.width >> level, 1), max(texture.height >> level, 1)
    found = np.zeros((height, width, texture.components), type_)
    texture.use(0)
    layout, kind = (
        {2: 0x8227, 4: 0x1908}[texture.components],
        {"u1": 0x1401, "u2": 0x1403, "f2": 0x140B}[type_],
    )
    get(0x0DE1, level, layout, kind, found.ctypes.data)
    return found


@pytest.mark.parametrize(
    ("components", "dtype", "type_", "scale"),
    [(4, "f1", "u1", 255), (2, "nu1", "u1", 255), (4, "nu2", "u2", 65535), (4, "f2", "f2", 1)],
)
def test_levels_are_what_gl_makes(
    ctx: moderngl.Context, components: int, dtype: str, type_: str, scale: int
) -> None:
    rng = np.random.default_rng(2)
    image = (rng.uniform(size=(16, 32, components)) * scale).astype(type_)
    ours, theirs = (ctx.texture((32, 16), components, image.tobytes(), dtype=dtype) for _ in range(2))
    build_levels(ctx, ours, image)
    theirs.build_mipmaps()
    for level in range(6):
        made, wanted = (_read(ctx, t, level, type_).astype(float) / scale for t in (ours, theirs))
        step = 2.0 / 255 if type_ == "u1" else 1e-3
        np.testing.assert_allclose(made, wanted, atol=1.6 * step)  # a rounding a level; measured 1.0
    ours.release()
    theirs.release()
