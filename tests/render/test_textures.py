"""Textures made from numbers."""

import numpy as np

from render.land.textures import GRAIN_LEVEL, GRAIN_ONE, grain_levels, levels, noise_image


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


def test_grain_and_what_is_coarser_together_are_all_of_the_noise_and_no_grain_is_left_where_it_is_not_looked_up():
    noise = noise_image()
    g, a = noise[..., 1] / 255.0, noise[..., 3] / 255.0
    finest, *coarser = grain_levels(noise)
    broad = levels(noise)[GRAIN_LEVEL - 1]
    wide = (0.40 + 0.50 * broad[..., 1] / 255.0 + 0.70 * broad[..., 3] / 255.0).repeat(16, 0).repeat(16, 1)
    both = finest[..., 0] / GRAIN_ONE * wide
    middles = np.ix_(
        np.arange(8, 512, 16), np.arange(8, 512, 16)
    )  # where the coarse level is looked up by itself
    np.testing.assert_allclose(both[middles], (0.40 + 0.50 * g + 0.70 * a)[middles], atol=0.02)  # 0.015
    assert all((level[..., 0] == GRAIN_ONE).all() for level in coarser[GRAIN_LEVEL - 1 :])
    assert finest[..., 0].std() > 10
    assert abs(finest[..., 1].mean() / GRAIN_ONE - 1.0) < 0.01
