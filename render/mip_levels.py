"""A texture's coarser levels, averaged here: software GL compiles a program for every format that it averages itself,
which takes a quarter of a second at a start."""

import ctypes

import moderngl
import numpy as np

_TEX_IMAGE = ctypes.CFUNCTYPE(
    None,
    ctypes.c_uint,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_uint,
    ctypes.c_uint,
    ctypes.c_void_p,
)
_PIXEL_STORE = ctypes.CFUNCTYPE(None, ctypes.c_uint, ctypes.c_int)
_TEXTURE_2D, _UNPACK_ALIGNMENT = 0x0DE1, 0x0CF5
_FORMATS = {  # (components, dtype) -> internal format, format, type of OpenGL
    (2, "nu1"): (0x822B, 0x8227, 0x1401),
    (4, "f1"): (0x8058, 0x1908, 0x1401),
    (4, "nu1"): (0x8058, 0x1908, 0x1401),
    (4, "nu2"): (0x805B, 0x1908, 0x1403),
    (4, "f2"): (0x881A, 0x1908, 0x140B),
}
_ANY_UNIT = 0


def build_levels(ctx: moderngl.Context, texture: moderngl.Texture, image: np.ndarray) -> None:
    """In place of `texture.build_mipmaps()`, of a texture whose finest level is `image` (ny, nx, channels)."""
    # Not part of moderngl's interface: where a version lacks it, GL averages.
    loader = getattr(ctx.mglo, "_context", None)
    formats = _FORMATS.get((texture.components, texture.dtype))
    if loader is None or formats is None:
        texture.build_mipmaps()
        return
    internal, layout, kind = formats
    tex_image = _TEX_IMAGE(loader.load_opengl_function("glTexImage2D"))
    texture.use(_ANY_UNIT)
    _PIXEL_STORE(loader.load_opengl_function("glPixelStorei"))(_UNPACK_ALIGNMENT, 1)
    for level, averaged in enumerate(levels(image), start=1):
        height, width = averaged.shape[:2]
        tex_image(_TEXTURE_2D, level, internal, width, height, 0, layout, kind, averaged.ctypes.data)


def levels(image: np.ndarray) -> list[np.ndarray]:
    """Of an image (ny, nx, channels), from half its size down to one texel, of its own type."""
    found = []
    exact = image.astype(np.float32)
    while max(exact.shape[:2]) > 1:
        exact = _halved(_halved(exact, 0), 1)
        rounded = np.rint(exact) if image.dtype.kind == "u" else exact
        found.append(np.ascontiguousarray(rounded.astype(image.dtype)))
    return found


def _halved(image: np.ndarray, axis: int) -> np.ndarray:
    """Means of what lies under each texel of a row half as long; of an odd row texels count by the part that does."""
    count = image.shape[axis]
    if count == 1:
        return image
    half, moved = count // 2, np.moveaxis(image, axis, 0)
    if count % 2 == 0:
        return np.moveaxis((moved[0::2] + moved[1::2]) * np.float32(0.5), 0, axis)
    first = 2 * np.arange(half)
    past = ((np.arange(half) + 1) / count).astype(np.float32).reshape(-1, *[1] * (image.ndim - 1))
    before = ((half - np.arange(half)) / count).astype(np.float32).reshape(past.shape)
    middle = np.float32(half / count)
    return np.moveaxis(before * moved[first] + middle * moved[first + 1] + past * moved[first + 2], 0, axis)
