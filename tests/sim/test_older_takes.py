"""Takes that an older program wrote are read, play as they were flown, and tell where they cannot to the bit."""

from pathlib import Path

import numpy as np
import pytest

from sim.commands import PlayTake, Resimulate
from sim.recordings import load_take, save_take
from sim.scene import Scene
from sim.simulation import Simulation
from tests.app.program import run_app
from tests.sim.simulation_scenes import world

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


def test_what_an_older_take_cannot_is_told_where_it_is_opened_and_resimulated(tmp_path):
    """One line each time, also of what was saved again since; the way it goes is 0.12 m off after three seconds."""
    take = load_take(DATA / "take-1-helicopter-variational.npz")
    running = Simulation(Scene("s", "S", world=take.world, vehicle=take.vehicle), world(take.world))
    for command in (PlayTake(take), Resimulate("rk4")):
        running.submit(command)
        message = running.advance(0.0).message
        assert take.note in message
        assert "resimulated it goes another way" in message
        assert "\n" not in message
    again = load_take(save_take(take, tmp_path / "again.npz"))
    assert again.note == take.note
    newer = save_take(take.resimulate(), tmp_path / "newer.npz")
    assert load_take(newer).note == take.note
    apart = take.resimulate(integrator="variational-exact").samples().nodes[-1] - take.samples().nodes[-1]
    assert np.linalg.norm(apart[take.vehicle.group.position]) < 0.3


def test_a_run_without_a_window_tells_it_too(tmp_path):
    shown = run_app(
        str(DATA / "take-1-helicopter-variational.npz"), "--headless", "--csv", str(tmp_path / "old.csv")
    )
    assert shown.returncode == 0
    assert "from an older version" in shown.stdout + shown.stderr


@pytest.mark.parametrize("name", ["take-2-helicopter-rkmk54", "take-2-quadrotors-with-load-rkmk4"])
def test_a_take_of_kernels_by_another_compiler_is_flown_again_as_it_was(name):
    """Its kernels were made by numba, with other arithmetic fused: measured 4e-15 and 3e-15 after two seconds."""
    take, nodes = load_take(DATA / f"{name}.npz"), np.load(DATA / f"{name}.npy")
    again = take.resimulate().trajectory.nodes
    assert np.ptp(nodes, axis=0).max() > 0.5, "it moved"
    for played in (take.trajectory.nodes, again):
        np.testing.assert_allclose(played, nodes, rtol=0.0, atol=1e-9)
