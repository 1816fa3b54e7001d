"""Textures made from numbers: tileable noise, ripple slopes and the strata of the rock.

Coarser levels are averaged here: software GL compiles a program for every format that it averages itself, which takes a
quarter of a second at a start.
"""

import ctypes
from collections.abc import Sequence

import moderngl
import numpy as np

from sim.platform.cache import cached_arrays, source_digest
from sim.world import smoothing

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
    (1, "f1"): (0x8229, 0x1903, 0x1401),
    (2, "nu1"): (0x822B, 0x8227, 0x1401),
    (4, "f1"): (0x8058, 0x1908, 0x1401),
    (4, "nu1"): (0x8058, 0x1908, 0x1401),
    (4, "nu2"): (0x805B, 0x1908, 0x1403),
    (4, "f2"): (0x881A, 0x1908, 0x140B),
}
_ANY_UNIT = 0


def build_levels(
    ctx: moderngl.Context,
    texture: moderngl.Texture,
    image: np.ndarray,
    coarser: Sequence[np.ndarray] | None = None,
) -> None:
    """In place of `texture.build_mipmaps()`, of a texture whose finest level is `image` (ny, nx, channels).

    `coarser`: the other levels, if they are not its means.
    """
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
    for level, averaged in enumerate(levels(image) if coarser is None else coarser, start=1):
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


NOISE_PX, STRATA_PX = 512, 512
_NOISE_SEED, _STRATA_SEED = 3, 5
_DIGEST = source_digest(__file__, smoothing.__file__)
BLURRED_LEVEL = 5
"""Level of the strata ramp (32 samples, 11 m) that a vertex stands for; the bands within are drawn by pixel."""

STRATA_TOP_M = 180.0
STRATA_KEYS = (  # height [m], linear albedo; from the bed to the cap rock
    (0.0, (0.26, 0.15, 0.10)),
    (20.0, (0.30, 0.17, 0.11)),
    (28.0, (0.22, 0.105, 0.065)),
    (36.0, (0.36, 0.19, 0.11)),
    (58.0, (0.40, 0.215, 0.125)),
    (66.0, (0.46, 0.29, 0.18)),
    (70.0, (0.24, 0.115, 0.07)),
    (80.0, (0.33, 0.165, 0.095)),
    (92.0, (0.30, 0.14, 0.08)),
    (104.0, (0.43, 0.25, 0.15)),
    (120.0, (0.50, 0.35, 0.23)),
    (127.0, (0.30, 0.15, 0.09)),
    (135.0, (0.50, 0.37, 0.25)),
    (150.0, (0.56, 0.45, 0.33)),
    (180.0, (0.50, 0.40, 0.29)),
)


def spectral_noise(rng: np.random.Generator, exponent: float, *, lowest: float) -> np.ndarray:
    """(NOISE_PX, NOISE_PX) tileable noise of unit deviation whose amplitude falls as wave number to -exponent."""
    k = np.fft.fftfreq(NOISE_PX) * NOISE_PX
    wave = np.hypot(k[:, None], k[None, :])
    wave[0, 0] = np.inf
    shape = np.where(wave >= lowest, wave**-exponent, 0.0)
    field = np.fft.ifft2(np.fft.fft2(rng.normal(size=(NOISE_PX, NOISE_PX))) * shape).real
    return field / field.std()


def noise_image(dtype: type[np.unsignedinteger] = np.uint8) -> np.ndarray:
    """As `made_noise`, from the cache where it is there."""
    name = f"noise-{np.dtype(dtype).name}-{_DIGEST}"
    return cached_arrays("textures", name, lambda: {"image": made_noise(dtype)})["image"]


def made_noise(dtype: type[np.unsignedinteger]) -> np.ndarray:
    """(n, n, 4) tileable noise: R broad, G finer, B ridged, A grain. Steeper spectra look like hammered metal.

    Differences between texels of 8 bits come in steps, which near ground that is lit by its relief shows as a lattice.
    """
    rng = np.random.default_rng(_NOISE_SEED)
    broad = 0.5 + spectral_noise(rng, 1.85, lowest=2) / 5.5
    finer = 0.5 + spectral_noise(rng, 1.6, lowest=8) / 5.5
    ridged = 1.0 - np.abs(spectral_noise(rng, 1.6, lowest=3)) / 2.2
    grain = 0.5 + spectral_noise(rng, 0.5, lowest=24) / 5.5
    image = np.stack([broad, finer, ridged, grain], axis=-1)
    return (np.clip(image, 0.0, 1.0) * np.iinfo(dtype).max).astype(dtype)


GRAIN_LEVEL = 4
"""Of the noise on level ground: what is coarser is in the land's light map, what is finer in its grain."""
_GRAIN_KEPT = (1.0, 1.0, 1.0, 0.5)
"""Of the grain of level ground, in its levels before that: it is gone where it is not looked up any more."""
GRAIN_ONE = 128.0
"""What stands for no change, of 255."""


def material_images(*, full: bool) -> dict[str, list[np.ndarray]]:
    """What materials look up, by sampler: images (n, n, channels), finest first, from the cache where they are there.

    full: of a quality whose materials are evaluated in every fragment, which have no grain in a map.
    """
    kept = cached_arrays("textures", f"materials-{full:d}-{_DIGEST}", lambda: _material_images(full))
    found: dict[str, list[np.ndarray]] = {}
    for name, image in kept.items():  # as they were made: finest first
        found.setdefault(name.split()[0], []).append(image)
    return found


def _material_images(full: bool) -> dict[str, np.ndarray]:
    noise = noise_image()
    fine, slopes = noise_image(dtype=np.uint16) if full else noise, slope_image(noise)
    made = {"noise_map": [fine, *levels(fine)], "slope_map": [slopes, *levels(slopes)]}
    if not full:
        made["grain_map"] = grain_levels(noise)
    return {f"{name} {level}": image for name, images in made.items() for level, image in enumerate(images)}


def grain_levels(noise: np.ndarray) -> list[np.ndarray]:
    """(n, n, 2) uint8 and its coarser levels: how much brighter a place is, by GRAIN_ONE, of level ground than what is
    around it, and of bedding than its mean. From a noise image (n, n, 4) uint8, mixed as in `terrain_map.frag`.
    """
    r, g, _, a = np.moveaxis(noise / 255.0, -1, 0)
    level, bedding = 0.40 + 0.50 * g + 0.70 * a, 0.34 + 0.80 * r + 0.52 * g
    n, block = len(level), 2**GRAIN_LEVEL
    coarse = level.reshape(n // block, block, n // block, block).mean(axis=(1, 3))
    at = (np.arange(n) + 0.5) / block - 0.5
    low, part = np.floor(at).astype(int), (at - np.floor(at))[:, None]
    for _ in range(2):  # as GL looks it up between texels, along one axis and the other
        coarse = (coarse[low % len(coarse)] * (1.0 - part) + coarse[(low + 1) % len(coarse)] * part).T
    relief = np.stack([level / coarse, bedding], axis=-1)
    found = [np.clip(np.rint(GRAIN_ONE * relief), 0, 255).astype(np.uint8)]
    for number, averaged in enumerate(levels(found[0]), start=1):
        kept = _GRAIN_KEPT[number] if number < len(_GRAIN_KEPT) else 0.0
        faded = GRAIN_ONE + kept * (averaged[..., :1] - GRAIN_ONE)
        found.append(np.concatenate([np.rint(faded).astype(np.uint8), averaged[..., 1:]], axis=-1))
    return found


def slope_image(noise: np.ndarray) -> np.ndarray:
    """(n, n, 2) uint8 slopes of water ripples, 0.5 flat, from a noise image."""
    height = (noise[..., 1] + 0.8 * noise[..., 0]) / 255.0
    slopes = [(np.roll(height, -1, axis) - np.roll(height, 1, axis)) * 11.0 for axis in (1, 0)]
    return (np.clip(0.5 + 0.5 * np.stack(slopes, axis=-1), 0.0, 1.0) * 255.0).astype(np.uint8)


def strata_ramp() -> np.ndarray:
    """(STRATA_PX, 3) linear albedo over the height of the canyon, beds of a few metres drawn in by log-noise."""
    name = f"strata-{_DIGEST}"
    return cached_arrays("textures", name, lambda: {"ramp": _strata_ramp()})["ramp"]


def _strata_ramp() -> np.ndarray:
    rng = np.random.default_rng(_STRATA_SEED)
    height = np.linspace(0.0, STRATA_TOP_M, STRATA_PX)
    keys = [key for key, _ in STRATA_KEYS]
    colours = np.array([colour for _, colour in STRATA_KEYS])
    ramp = np.stack([np.interp(height, keys, colours[:, channel]) for channel in range(3)], axis=1)
    fine = smoothing.smoothed(rng.normal(size=STRATA_PX), 1.2) * 0.24
    beds = smoothing.smoothed(rng.normal(size=STRATA_PX), 5.0) * 0.66
    return ramp * np.exp(fine + beds)[:, None]


def tiled_texture(
    ctx: moderngl.Context,
    images: Sequence[np.ndarray],
    *,
    anisotropy: float = 1.0,
    smooth_levels: bool = True,
) -> moderngl.Texture:
    """A mip-mapped repeating texture of its levels (ny, nx, channels) uint8 or uint16; blended ones cost twice."""
    image, *coarser = images
    height, width, channels = image.shape
    depth = f"nu{image.dtype.itemsize}"  # normalised: 0..1
    texture = ctx.texture((width, height), channels, np.ascontiguousarray(image).tobytes(), dtype=depth)
    build_levels(ctx, texture, image, coarser)
    levels = moderngl.LINEAR_MIPMAP_LINEAR if smooth_levels else moderngl.LINEAR_MIPMAP_NEAREST
    texture.filter = (levels, moderngl.LINEAR)
    if anisotropy > 1.0:  # on software renderers the setting alone costs seconds a frame
        texture.anisotropy = anisotropy
    return texture


def band_contrast(ramp: np.ndarray) -> np.ndarray:
    """(size, 3) the ramp relative to its own mean over 2^BLURRED_LEVEL samples, as the texture's levels average it."""
    step = 2**BLURRED_LEVEL
    means = ramp.reshape(-1, step, 3).mean(axis=1)
    places, centres = np.arange(len(ramp)) + 0.5, (np.arange(len(means)) + 0.5) * step
    blurred = np.stack([np.interp(places, centres, means[:, channel]) for channel in range(3)], axis=1)
    return ramp / blurred


def ramp_texture(ctx: moderngl.Context, ramp: np.ndarray) -> moderngl.Texture:
    """A ramp (n, 3) along u, clamped at its ends, mip-mapped."""
    texels = np.ones((1, len(ramp), 4), dtype=np.float16)
    texels[0, :, :3] = ramp
    texture = ctx.texture((len(ramp), 1), 4, texels.tobytes(), dtype="f2")
    build_levels(ctx, texture, texels)
    texture.filter = (moderngl.LINEAR_MIPMAP_LINEAR, moderngl.LINEAR)
    texture.repeat_x = texture.repeat_y = False
    return texture


def leaf_texture(ctx: moderngl.Context, atlas: np.ndarray, *, smooth_levels: bool = True) -> moderngl.Texture:
    """Leaf cards: grey and coverage, mip-mapped, clamped; blended levels cost twice."""
    height, width, channels = atlas.shape
    texture = ctx.texture((width, height), channels, np.ascontiguousarray(atlas).tobytes())
    build_levels(ctx, texture, atlas)
    between = moderngl.LINEAR_MIPMAP_LINEAR if smooth_levels else moderngl.LINEAR_MIPMAP_NEAREST
    texture.filter = (between, moderngl.LINEAR)
    texture.repeat_x = texture.repeat_y = False
    return texture
