"""Laws of who is thrown off: sets out in the model's pose with the vehicle's motion, falls and comes to rest."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from assets.vehicles.snakeboard.model import RIDER
from render.frame import DrawnVehicle
from render.vehicles.crash_film import CrashFilm
from render.vehicles.wreckage import pieces_of
from sim.models.asset import load_model
from sim.platform.errors import InputError
from sim.platform.toml_table import TomlTable
from sim.scene import Start, load_scene
from sim.simulation import KernelStore
from sim.simulation.lanes.snapshot import LaneSnapshot
from sim.simulation.thrown import PERIOD_S, ThrownRider
from sim.vehicle_config import config_named
from sim.vehicle_config.model import read_rider
from sim.vehicle_config.terms import Names
from sim.vehicles import VEHICLES
from tests.sim.simulation_scenes import simulation, world

SPEED_MPS = 7.5
LASTS_S = 4.0
T_WB = np.array([[0.0, -1.0, 0.0, 3.0], [1.0, 0.0, 0.0, -5.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
TWIST_B = np.array([0.0, 0.0, 0.8, SPEED_MPS, 0.0, 0.0])


@cache
def fall() -> ThrownRider:
    """Off a snakeboard that went along y over the plaza, turning."""
    rider = config_named("snakeboard").model.rider
    assert rider is not None
    return ThrownRider(
        rider.limbs, rider.state(T_WB, TWIST_B, {"psi": 0.0}), world("plaza"), KernelStore(), LASTS_S
    )


def bodies(age_s: float) -> dict[str, np.ndarray]:
    found = fall().bodies(age_s, wait=True)
    assert found is not None
    return dict(found)


def middle_w(age_s: float) -> np.ndarray:
    """(3,) m, of the origins of all limbs."""
    return np.mean([T[:3, 3] for T in bodies(age_s).values()], axis=0)


def test_the_ragdoll_sets_out_in_the_pose_of_the_models_rider() -> None:
    """Joints, against those that the model is built from. Measured: 4.9 cm at the knees, 1.9 cm at all others."""
    at = {name: np.linalg.solve(T_WB, T) for name, T in bodies(0.0).items()}
    for k, side in enumerate(("left", "right")):
        for places, body in (
            (RIDER.hips, "thigh"),
            (RIDER.knees, "shank"),
            (RIDER.ankles, "foot"),
            (RIDER.elbows, "forearm"),
        ):
            far_m = np.linalg.norm(at[f"{side} {body}"][:3, 3] - places[k])
            assert far_m < (0.06 if body == "shank" else 0.025), (side, body)
    assert np.linalg.norm(at["head"][:3, 3] - RIDER.neck) < 0.025


def test_every_limb_sets_out_with_the_velocity_that_its_place_had_on_the_vehicle() -> None:
    """v + w x r, by the difference over the first three steps. Measured: 0.07 m/s at most, of gravity, turning and the
    joints' springs."""
    before, after = bodies(0.0), bodies(PERIOD_S)
    for name in ("pelvis", "chest", "head"):
        r_b = np.linalg.solve(T_WB, before[name])[:3, 3]
        expected = T_WB[:3, :3] @ (TWIST_B[3:] + np.cross(TWIST_B[:3], r_b))
        velocity = (after[name][:3, 3] - before[name][:3, 3]) / PERIOD_S
        np.testing.assert_allclose(velocity, expected, atol=0.15)


def test_who_is_thrown_flies_on_falls_and_lies_still_on_the_ground() -> None:
    """The mean of its limbs. Measured: 5.2 m on, 0.13 m above the ground, still to 0.02 mm over the last half second;
    the lowest limb's origin 5 cm above the ground."""
    begin, end = middle_w(0.0), middle_w(LASTS_S)
    assert begin[2] > 0.8
    assert end[1] - begin[1] > 2.0
    assert 0.05 < end[2] < 0.25
    assert np.linalg.norm(end - middle_w(LASTS_S - 0.5)) < 1e-3
    lowest = min(T[2, 3] for T in bodies(LASTS_S).values())
    assert lowest > 0.02


def test_joints_keep_together_all_the_way() -> None:
    """A shank hangs at its thigh's end, a thigh's length from the hip: to rounding at moments that are kept."""
    for moment in (20, 40, 80, 160):
        at = bodies(moment * PERIOD_S)
        for side in ("left", "right"):
            length_m = np.linalg.norm(at[f"{side} shank"][:3, 3] - at[f"{side} thigh"][:3, 3])
            assert length_m == pytest.approx(0.245 * 1.75, abs=1e-9)


def test_the_board_that_is_left_is_low_and_its_rider_is_drawn_as_a_body_once() -> None:
    scene = load_scene("skate")
    start = Start(position_w=(0.0, 14.0, 0.0), heading_rad=0.5 * math.pi, velocity_b=(SPEED_MPS, 0.0, 0.0))
    running = simulation(replace(scene, start=start))
    film, lane = CrashFilm(running.run.world), running.snapshot.lanes[0]
    for _ in range(120):
        if lane.status.value != "running":
            break
        lane = _observed(film, running)
    assert lane.status.value == "crashed"
    config = lane.config
    vehicle = DrawnVehicle("snakeboard", lane.T_wb, np.zeros(0), np.zeros(2), config, bodies=lane.bodies)
    film.go_on(0.2)
    whole, person, _ = film.broken(vehicle)
    assert whole.absent == {"legs", "torso", "shoe_front", "shoe_back"}
    assert person.config is not config
    assert dict(person.clothes)["jacket"] != load_model("ragdoll").materials[0, 0, :3].tolist()
    assert set(person.bodies) == set(VEHICLES[person.model]().tree.names)
    (hull,) = pieces_of(config.model, load_model("snakeboard"))
    assert 2.0 * hull.half_m[2] < 0.2  # m; with a rider 1.75


def _observed(film: CrashFilm, running) -> LaneSnapshot:
    snapshot = running.advance(1.0 / 60.0)
    film.observe(snapshot)
    return snapshot.lanes[0]


def test_a_joint_that_the_ragdoll_has_not_is_refused_in_one_line() -> None:
    table = TomlTable(
        "vehicle.toml",
        {"vehicle": "ragdoll", "nodes": ["rider"], "joints": {"left kne": 0.4}},
        "model.rider.",
    )
    with pytest.raises(InputError, match=r"left kne.*no such joint.*left knee") as refused:
        read_rider(table, Names(VEHICLES["snakeboard"]))
    assert "\n" not in str(refused.value)
