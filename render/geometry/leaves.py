"""The picture on the leaf cards: four twigs of small leaves."""

from typing import TYPE_CHECKING

import numpy as np

from sim.world.store import cached_arrays, package_digest

if TYPE_CHECKING:
    from PIL import ImageDraw

_DIGEST = package_digest(__file__, ("leaves",))
_TILES = 2
_OVERSAMPLING = 4
_STEMS = 10


def _twig(draw: "ImageDraw.ImageDraw", size: float, rng: np.random.Generator) -> None:
    """One tile: stems that fan out from the lower middle, with leaves along them."""
    for stem in range(_STEMS):
        angle = 1.9 * ((stem + rng.uniform(0.2, 0.8)) / _STEMS - 0.5)
        length = size * rng.uniform(0.6, 0.92) / (1.0 + 0.45 * abs(angle))
        bend = rng.normal(0.0, 0.35)
        for k in range(34):
            t = (k + 1) / 34
            lean = angle + bend * t
            x = 0.5 * size + length * t * np.sin(lean)
            y = 0.96 * size - length * t * np.cos(lean)
            turn = lean + (1.0 if k % 2 else -1.0) * rng.uniform(0.6, 1.2)
            _leaf(draw, x, y, turn, size * rng.uniform(0.04, 0.07) * (1.15 - 0.4 * t), rng)


def _leaf(
    draw: "ImageDraw.ImageDraw", x: float, y: float, turn: float, length: float, rng: np.random.Generator
) -> None:
    """A pointed oval, lighter or darker by chance."""
    along = np.array([np.sin(turn), -np.cos(turn)])
    across = np.array([along[1], -along[0]])
    t = np.linspace(0.0, 1.0, 9)
    width = 0.42 * np.sin(np.pi * t**0.8)
    spine, half = np.outer(2.0 * t, along), np.outer(width, across)
    edge = np.concatenate([spine + half, (spine - half)[::-1]])
    shade = rng.uniform(0.62, 1.3)
    red, green, blue = (int(min(255.0, c * shade)) for c in (122, 134, 104))
    draw.polygon([(x + length * a, y + length * b) for a, b in edge], fill=(red, green, blue, 255))


def leaf_atlas(size: int = 256, seed: int = 5) -> np.ndarray:
    """(size, size, 4) uint8, straight alpha, 2 x 2 twigs; row 0 is the top of the picture (v = 1).

    RGB is a grey-green multiplier of mean about one half; it is filled in under the transparent part
    too, so that filtering draws no dark rim.
    """
    name = f"leaves-{size}-{seed}-{_DIGEST}"
    return cached_arrays("meshes", name, lambda: {"leaves": _draw_atlas(size, seed)})["leaves"]


def _draw_atlas(size: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng([seed, 505])
    big = size * _OVERSAMPLING
    tile = big // _TILES
    from PIL import Image, ImageDraw  # takes a while, and the picture is kept

    image = Image.new("RGBA", (big, big), (0, 0, 0, 0))
    for row in range(_TILES):
        for column in range(_TILES):
            part = Image.new("RGBA", (tile, tile), (0, 0, 0, 0))
            _twig(ImageDraw.Draw(part), tile, rng)
            image.paste(part, (column * tile, row * tile))
    pixels = np.asarray(image, np.float64).reshape(size, _OVERSAMPLING, size, _OVERSAMPLING, 4)
    alpha = pixels[..., 3:].mean(axis=(1, 3)) / 255.0
    colour = (pixels[..., :3] * (pixels[..., 3:] > 0)).mean(axis=(1, 3))
    colour = np.where(alpha > 0.02, colour / np.maximum(alpha, 0.02), (122.0, 134.0, 104.0))
    return np.concatenate([np.clip(colour, 0, 255), 255.0 * alpha], axis=-1).astype(np.uint8)
