"""Takes that an older program wrote are read, play as they were flown, and tell where they cannot to the bit."""

from pathlib import Path

import numpy as np
import pytest

from sim.take import load_take

DATA = Path(__file__).parents[1] / "data"


@pytest.mark.parametrize(
    ("name", "told", "bound"),
    [
        # Controls and ground of the app; the method's private state is what it was. Measured 1e-16.
        ("take-1-helicopter-flown", False, 1e-12),
        # Wheels: the private state is what it was, though the method's name is one of those told of. Measured 2e-18.
        ("take-1-car-variational", True, 1e-12),
        # Inputs that change at every step of 20 ms, whose rows acted about their nodes then. Measured 0.47 rad/s in
        # the angular velocity after three seconds.
        ("take-1-helicopter-variational", True, 0.6),
    ],
)
def test_a_take_of_the_version_before_plays_near_the_nodes_that_it_tells(name, told, bound, tmp_path):
    path = DATA / f"{name}.npz"
    take = load_take(path)
    assert (take.note != "") == told
    assert "\n" not in take.note
    with np.load(path) as file:
        nodes = file["nodes"]
    played = take.trajectory
    assert played.nodes.shape == nodes.shape
    assert np.ptp(nodes, axis=0).max() > 1.0, "it moved"
    np.testing.assert_allclose(played.nodes, nodes, rtol=0.0, atol=bound)
    take.csv(tmp_path / "take.csv")
    assert len((tmp_path / "take.csv").read_text().splitlines()) == len(nodes) + 1
    again = take.resimulate(integrator="rk4").trajectory
    assert np.isfinite(again.nodes).all()
