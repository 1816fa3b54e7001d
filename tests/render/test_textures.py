"""Textures made from numbers."""

import numpy as np

from render.land.textures import noise_image


def test_noise_is_the_same_at_either_depth_and_deep_noise_has_no_steps():
    coarse, deep = noise_image(), noise_image(dtype=np.uint16)
    assert np.abs(coarse / 255.0 - deep / 65535.0).max() < 1.0 / 255.0
    steps = [np.abs(np.diff(image[..., 0].astype(int), axis=0)) for image in (coarse, deep)]
    assert np.median(steps[0]) <= 3  # texel to texel a handful of levels, which relief shows as a lattice
    assert np.median(steps[1]) > 200


def test_noise_repeats_without_a_seam():
    noise = noise_image(dtype=np.uint16)[..., 0].astype(float)
    inner = np.abs(np.diff(noise, axis=0)).mean()
    seam = np.abs(noise[0] - noise[-1]).mean()
    assert seam < 1.5 * inner
