"""Grids that are smoothed, against scipy.ndimage."""

import numpy as np
import pytest
from scipy import ndimage

from sim.world.smoothing import lowest_around, mean_around, smoothed, thinned_mean

RNG = np.random.default_rng(3)
SHAPES = ((37,), (61, 23), (1, 40), (300, 170))
ROUNDING = 4
"""Units of the last place of the largest number: processors may round a product and a sum at once (0 is measured where
they do not; 2 of means, which are added up in another order)."""


def _check(grid: np.ndarray, ours: np.ndarray, scipys: np.ndarray) -> None:
    assert ours.dtype == grid.dtype
    least = float(np.spacing(np.abs(grid).max()))
    np.testing.assert_allclose(ours, scipys, rtol=0.0, atol=ROUNDING * least)


def _grid(shape: tuple[int, ...], dtype: type) -> np.ndarray:
    return np.cumsum(RNG.normal(size=shape), axis=0).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("spread", [0.6, 2.5, 9.0])
def test_a_grid_is_smoothed_as_scipy_has_it(shape: tuple[int, ...], dtype: type, spread: float) -> None:
    grid = _grid(shape, dtype)
    _check(grid, smoothed(grid, spread), ndimage.gaussian_filter(grid, spread))
    _check(
        grid,
        smoothed(grid, spread, beyond="edge", wide=3.0),
        ndimage.gaussian_filter(grid, spread, mode="nearest", truncate=3.0),
    )
    spreads = (0.0, spread)[-grid.ndim :]
    _check(grid, smoothed(grid, spreads), ndimage.gaussian_filter(grid, spreads))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("reach", [0, 1, 2, 5])
def test_the_lowest_around_is_scipys_least(shape: tuple[int, ...], reach: int) -> None:
    grid = _grid(shape, np.float32)
    least = ndimage.minimum_filter(grid, size=2 * reach + 1, mode="nearest")
    np.testing.assert_array_equal(lowest_around(grid, reach), least)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("every", [1, 2, 3, 4])
def test_means_of_what_is_left_out_are_scipys(every: int, axis: int) -> None:
    grid = _grid((61, 23, 3), np.float32)
    mean = ndimage.uniform_filter1d(grid, every, axis=axis, mode="nearest")
    left = np.moveaxis(np.moveaxis(mean, axis, 0)[::every], 0, axis)
    _check(grid, thinned_mean(grid, every, axis), left)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("count", [1, 2, 5, 8])
def test_means_around_are_scipys_to_the_rounding_of_their_sums(shape: tuple[int, ...], count: int) -> None:
    grid = _grid(shape, np.float64)
    mean = ndimage.uniform_filter(grid, count)
    # Sums go on from one end to the other: 8.4e-15 of the largest is measured.
    np.testing.assert_allclose(mean_around(grid, count), mean, rtol=0.0, atol=1e-13 * np.abs(grid).max())
