"""Laws of a box of water that is open to the sea about it: rest, waves through it, volume, momentum, and takes."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sim.commands import PilotInput, SetParameter, SetPilotInput
from sim.environment.environment import BodyState, environment_of
from sim.integrators import integrator
from sim.platform.errors import InputError
from sim.recordings import Take
from sim.scene import load_scene
from sim.simulation import Simulation
from sim.simulation.lanes.recorder import Recorder
from sim.steppers.dynamics import Dynamics, stepper_of
from sim.vehicle_config.config import HullMesh
from sim.vehicles import vehicle
from sim.water.flip import Floating, FloatingBody, Tank, TankBox, TankWater
from sim.water.flip.coupled import SeaBox
from sim.water.flip.open_sea import SeaAround
from sim.water.flip.picture import pictured
from sim.water.ocean import Sea
from sim.water.water import Water, Weather
from sim.world import load_world
from tests.sim.environment.test_flip import BOX_M, CELL_M, G, at, momentum_left, move, solid_box

SCENES = Path(__file__).parents[3] / "scenes"


def around(sea: Sea, current_mps: tuple[float, float] = (0.0, 0.0)) -> SeaAround:
    return SeaAround(
        Water.of(HullMesh.box(1.0, 1.0, 1.0), Weather(sea), drag=0.0, mass=1.0).state, current_mps
    )


def box(cells: tuple[int, int, int], cell_m: float = CELL_M) -> TankBox:
    x, y, z = (-0.5 * n * cell_m for n in cells)
    return TankBox(cells, cell_m, (x, y, z))


def test_in_a_calm_sea_nothing_moves() -> None:
    share = 0.4
    tank = Tank(
        box((24, 24, 16)), floating=Floating.of(HullMesh.box(*BOX_M), CELL_M), around=around(Sea(0.0))
    )
    T, V, inertia = at(0.1, -0.1, BOX_M[2] * (0.5 - share)), np.zeros(6), solid_box(share)
    tank.begin_at(0.0, T)
    begun, corner = T.copy(), tank.box.corner_w
    heights = []
    for _ in range(120):
        impulse = tank.advance(1 / 30, FloatingBody(T, V, inertia))
        turned = np.kron(np.eye(2), T[:3, :3])
        V = V + turned @ np.linalg.solve(inertia, turned.T @ impulse)
        V[5] -= G / 30
        T = move(T, V, 1 / 30)
        heights.append(float(T[2, 3]))
    speed_mps = np.linalg.norm(tank.velocity.astype(float), axis=1) * CELL_M
    assert math.sqrt(float((speed_mps**2).mean())) < 0.04  # measured 0.029: what settles at first
    assert np.abs(T[:2, 3] - begun[:2, 3]).max() < 0.06  # m in 4 s; measured 0.030
    assert T[2, 2] > 0.999
    assert np.mean(heights[60:]) == pytest.approx(begun[2, 3], abs=0.5 * CELL_M)  # measured 0.06 cells
    assert tank.box.corner_w == corner


def test_the_waves_of_the_sea_go_through_the_box() -> None:
    cell = 0.3
    tank = Tank(box((32, 32, 16), cell), around=around(Sea(7.0, 0.4, 60e3), (0.3, -0.2)))
    off, heights = [], []
    for step in range(300):
        sea = tank.sea.height[1:-1, 1:-1].copy()
        tank.advance(1 / 30)
        if step >= 60:
            own = pictured(tank).height_m / cell + 1.0
            off.append((own - sea)[8:-8, 8:-8] * cell)
            heights.append(sea[8:-8, 8:-8] * cell)
    assert np.std(off) < 0.2 * np.std(heights)  # measured 0.125
    assert abs(np.mean(off)) < 0.1 * np.std(heights)  # measured 0.032


def test_what_goes_out_does_not_come_back() -> None:
    def ring(open_to: SeaAround | None) -> np.ndarray:
        """Energy of motion of a ring of waves about 2.8 m long that begins in the middle."""
        grid = box((32, 32, 16))
        tank = Tank(grid, around=open_to) if open_to else Tank(grid, 1.2)
        x, y, z = (tank.place - 1.0 - 0.5 * np.array(grid.cells)).T * CELL_M
        squares = (x**2 + y**2) / 0.8
        tank.velocity[:, 2] = 1.2 / CELL_M * (1 - squares) * np.exp(-squares + 2.2 * np.minimum(z, 0.0))
        energies = []
        for _ in range(210):
            tank.advance(1 / 30)
            energies.append(float((tank.velocity.astype(float) ** 2).sum()))
        return np.array(energies) / energies[2]

    opened, closed = ring(around(Sea(0.0))), ring(None)
    assert opened[-60:].mean() < 0.25 * closed[-60:].mean()  # measured 0.185, most of it drops at the surface


@pytest.mark.parametrize("wind", [0.0, 8.0])
def test_impulse_on_body_water_and_what_is_beyond_the_border_is_zero(wind: float) -> None:
    tank = Tank(
        box((24, 16, 16)), floating=Floating.of(HullMesh.box(*BOX_M), CELL_M), around=around(Sea(wind))
    )
    T = move(at(0.1, -0.1, 0.05), np.array([0.2, -0.3, 0.5, 0, 0, 0]), 1.0)
    body = FloatingBody(T, np.array([0.3, 0.1, -0.2, 0.5, -0.4, -0.8]), solid_box(0.4))
    tank.begin_at(3.0, T)
    for _ in range(3):
        tank.advance(1 / 60, body)
    total, walls = momentum_left(tank)
    assert np.abs(total).max() < 1e-3 * np.abs(walls).max()
    assert np.abs(tank.impulse[3:]).max() > 1.0


def test_the_box_goes_with_the_body_by_whole_cells_and_keeps_its_water() -> None:
    tank = Tank(box((24, 24, 16)), around=around(Sea(0.0)))
    steady = np.diag([1e9] * 6)
    tank.floating = None
    begun = tank.count
    for step in range(60):
        place = at(4.0 * step / 30, -1.5 * step / 30, 0.0)
        tank._go_with(FloatingBody(place, np.zeros(6), steady))
        tank.advance(1 / 30)
        cells = np.asarray(tank.box.corner_w) / CELL_M
        assert np.abs(cells - cells.round()).max() < 1e-6
        assert (
            np.abs(np.asarray(tank.box.corner_w) + 0.5 * tank.box.size_m - place[:3, 3])[:2].max()
            < 2.1 * CELL_M
        )
    assert tank.count == pytest.approx(begun, rel=0.02)
    speed_mps = np.linalg.norm(tank.velocity.astype(float), axis=1) * CELL_M
    assert math.sqrt(float((speed_mps**2).mean())) < 0.03  # measured 0.010


@pytest.mark.parametrize("off_m", [1e8, 1e30, math.inf, math.nan])
def test_a_body_beyond_all_measure_leaves_the_box_and_its_water_where_they_are(off_m: float) -> None:
    tank = Tank(box((24, 24, 16)), around=around(Sea(0.0)))
    corner, begun = tank.box.corner_w, tank.count
    tank._go_with(FloatingBody(at(off_m, -off_m, 0.0), np.zeros(6), np.eye(6)))
    assert (tank.box.corner_w, tank.count) == (corner, begun)


def test_an_open_box_goes_on_to_the_bit_from_a_checkpoint_while_the_sea_changes() -> None:
    hull = HullMesh.box(*BOX_M)

    def water() -> TankWater:
        tank = Tank(box((16, 16, 16)), floating=Floating.of(hull, CELL_M), around=around(Sea(5.0)))
        return TankWater(tank, hull.vertices)

    def run(water: TankWater, steps: range) -> list[np.ndarray]:
        got = []
        for n in steps:
            water.renew(vehicle("motorboat", waves=5.0 if n < 9 else 12.0), 0.01 * n)
            body = BodyState(at(0.05 * n, 0.0, 0.0), np.array([0, 0, 0.1, 5.0, 0, 0]), solid_box(0.4))
            got.append(water.exchange(0.01 * n, 0.01, {"hull": body})["hull"])
        return got

    first, second = water(), water()
    begun = run(first, range(13))
    kept = first.checkpoint()
    went_on = run(first, range(13, 30))
    second.restore(kept)
    assert np.array_equal(run(second, range(13, 30)), went_on)
    assert np.abs(begun).max() > 0.0
    # A take keeps several, of water that has become more or less meanwhile.
    later = first.checkpoint()
    assert later.size != kept.size
    body = vehicle("rigid-body")
    dynamics = Dynamics(body, stepper_of(body, integrator("variational")), 0.01)
    recorder, controls, state = Recorder(), body.neutral_controls, body.state().node
    for step, box_state in ((0, kept), (5000, later)):
        recorder.note(dynamics, 0.0, step, controls, state, environment_of(body), None, box_state)
    log = recorder.segments(60.0)[0].impulse_log
    assert log is not None
    second.restore(log.environments[0])
    assert np.array_equal(run(second, range(13, 30)), went_on)


def test_the_boat_in_splashing_sea_stays_whole_and_its_take_replays_to_the_bit() -> None:
    scene = load_scene("open-sea")
    moving = scene.environment
    assert isinstance(moving, SeaBox)
    small = replace(moving, box=TankBox((24, 24, 16), 0.3))
    running = Simulation(replace(scene, environment=small), load_world("sea"))
    running.submit(SetPilotInput(PilotInput(pitch=0.9, roll=0.3)))
    running.advance(1.0)
    running.submit(SetParameter("waves", 9.0))
    running.advance(1.5)
    flown = running.run.flown
    take = Take(name="open-sea", segments=flown.recorder.segments(flown.time_s), world="sea")
    np.testing.assert_array_equal(take.playback().at(take.end_s).state, flown.state)
    assert flown.running
    place = flown.placement.T_wb[:3, 3]
    assert np.linalg.norm(place[:2]) > 1.0
    assert abs(place[2]) < 1.0
    assert flown.placement.T_wb[2, 2] > 0.8


def test_a_sea_box_for_what_does_not_float_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text((SCENES / "open-sea.toml").read_text().replace("cells_x = 48", "cells_x = 20"))
    with pytest.raises(InputError, match="cells_x") as refused:
        load_scene(str(path))
    assert "\n" not in str(refused.value)
    with pytest.raises(InputError, match="does not float"):
        SeaBox(TankBox((16, 16, 16), 0.2)).begun(vehicle("rigid-body"), np.eye(4), load_world("plain"))
