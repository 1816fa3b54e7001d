"""Ways on the planner's grid."""

import itertools

import numpy as np
import pytest
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import dijkstra

from sim.planner.guess.grid import cheapest_cells
from sim.planner.guess.route import route
from sim.shapes import Cylinder, Sphere

NEIGHBOURS = [(i, j, k) for i in (-1, 0, 1) for j in (-1, 0, 1) for k in (-1, 0, 1) if (i, j, k) != (0, 0, 0)]
KNIGHTS = [(i, j, 0) for i in range(-2, 3) for j in range(-2, 3) if np.gcd(i, j) == 1]


def maze(shape: tuple[int, int, int], seed: int) -> np.ndarray:
    """Cells at random prices, a third of them closed."""
    rng = np.random.default_rng(seed)
    cost = rng.uniform(1.0, 3.0, shape)
    cost[rng.uniform(size=shape) < 0.35] = np.inf
    cost[0, 0, 0] = 1.0
    return cost


def step_price(cost: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
    return float(np.linalg.norm(a - b) * (cost[tuple(a)] + cost[tuple(b)]) / 2)


def least_prices(cost: np.ndarray, moves: list[tuple[int, int, int]]) -> np.ndarray:
    """Of the ways from cell 0 to every cell, by Dijkstra's algorithm over the graph of all steps."""
    number = np.arange(cost.size).reshape(cost.shape)
    edges = []
    for cell in np.argwhere(np.isfinite(cost)):
        for there in cell + np.array(moves):
            inside = (there >= 0).all() and (there < cost.shape).all()
            if inside and np.isfinite(cost[tuple(there)]):
                edges.append((number[tuple(cell)], number[tuple(there)], step_price(cost, cell, there)))
    tails, heads, lengths = np.array(edges).T
    graph = coo_matrix((lengths, (tails.astype(int), heads.astype(int))), shape=(cost.size, cost.size))
    return dijkstra(graph.tocsr(), indices=0)


@pytest.mark.parametrize(("shape", "moves"), [((9, 8, 7), NEIGHBOURS), ((24, 17, 1), KNIGHTS)])
def test_the_way_through_a_grid_is_the_cheapest_and_made_of_its_steps(shape, moves):
    cost = maze(shape, seed=4)
    least = least_prices(cost, moves)
    ends = np.random.default_rng(5).permutation(np.flatnonzero(np.isfinite(cost)))[:40]
    found = 0
    for end in ends:
        cells = cheapest_cells(cost, np.array(moves), 0, int(end))
        if not np.isfinite(least[end]):
            assert cells.size == 0
            continue
        found += 1
        assert (cells[0], cells[-1]) == (0, end)
        places = np.stack(np.unravel_index(cells, shape), axis=1)
        assert {tuple(s) for s in np.diff(places, axis=0)} <= set(moves)
        price = sum(step_price(cost, a, b) for a, b in itertools.pairwise(places))
        assert abs(price - least[end]) < 1e-12 * max(price, 1.0)  # 2e-15
    assert found > 10


def test_what_is_walled_in_is_reached_by_no_way():
    cost = np.ones((12, 12, 1))
    cost[4:9, 4:9] = np.inf
    cost[6, 6] = 1.0
    assert cheapest_cells(cost, np.array(NEIGHBOURS), 0, 6 * 12 + 6).size == 0


def test_a_way_keeps_away_from_everything_and_leads_through_the_stations():
    stations = np.array([[0.0, 0.0, 5.0], [20.0, 2.0, 6.0], [40.0, 0.0, 5.0]])
    obstacles = (Cylinder((10.0, 1.0, 0.0), 3.0), Sphere((30.0, 0.0, 5.0), 4.0))
    far = np.full(3, 1e3)
    way = route(stations, obstacles, None, radius_m=1.0, plane=False, low=-far, high=far)
    assert way is not None
    assert np.abs(way[:, None] - stations).max(axis=2).min(axis=0).max() < 1e-12
    share = np.linspace(0.0, 1.0, 200)[:, None, None]
    along = (way[:-1] + share * np.diff(way, axis=0)).reshape(-1, 3)
    assert (np.linalg.norm(along[:, :2] - [10.0, 1.0], axis=1) > 4.0).all()
    assert (np.linalg.norm(along - [30.0, 0.0, 5.0], axis=1) > 5.0).all()
    assert len(way) > 3


def test_stations_within_one_cell_are_both_on_the_way():
    stations = np.array([[0.0, 0.0, 0.0], [50.0, 0.0, 0.0], [50.01, 0.0, 0.0]])
    far = np.full(3, 1e3)
    obstacles = (Cylinder((25.0, 0.0, 0.0), 4.0),)
    way = route(stations, obstacles, None, radius_m=1.0, plane=True, low=-far, high=far)
    assert way is not None
    assert np.array_equal(way[-2:], stations[1:])
