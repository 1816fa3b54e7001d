"""Laws of who is thrown off: sets out in the model's pose with the vehicle's motion, falls and comes to rest."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from assets.vehicles.snakeboard.model import RIDER
from render.frame import DrawnVehicle, View, look_at, perspective
from render.vehicles.crash_film import CrashFilm
from render.vehicles.scene_view import SceneView
from render.vehicles.wreckage import pieces_of
from sim.contact.bodies import Prop
from sim.contact.obstacles.prop_kinds import Placed
from sim.contact.obstacles.props import PropsSpec
from sim.groups.numeric import upright
from sim.models.asset import load_model
from sim.platform.errors import InputError
from sim.platform.toml_table import TomlTable
from sim.scene import Start, load_scene
from sim.shapes import Box
from sim.simulation import KernelStore
from sim.simulation.lanes.snapshot import LaneSnapshot
from sim.simulation.thrown import PERIOD_S, Around, Thrown
from sim.vehicle_config import config_named
from sim.vehicle_config.model import read_rider
from sim.vehicle_config.terms import Names
from sim.vehicles import VEHICLES
from tests.sim.simulation_scenes import simulation, world

SPEED_MPS = 7.5
LASTS_S = 4.0
WALL_M = -1.5
T_WB = np.array([[0.0, -1.0, 0.0, 3.0], [1.0, 0.0, 0.0, -5.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
TWIST_B = np.array([0.0, 0.0, 0.8, SPEED_MPS, 0.0, 0.0])


@cache
def fall() -> Thrown:
    """Off a snakeboard that went along y over the plaza, turning."""
    rider = config_named("snakeboard").model.rider
    assert rider is not None
    who = rider.limbs, rider.state(T_WB, TWIST_B, {"psi": 0.0})
    return Thrown(Around(world("plaza")), tuple, LASTS_S, who, KernelStore())


def bodies(age_s: float) -> dict[str, np.ndarray]:
    found = fall().limbs(age_s, wait=True)
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


def test_limbs_are_heard_to_strike_the_ground_where_and_when_they_do() -> None:
    """Each within a limb's length of one then. Measured: 10 of them, the first 0.16 s after the throw."""
    fall().limbs(LASTS_S, wait=True)
    blows = fall().blows(LASTS_S)
    struck = [blow for blow in blows if blow.struck_mps > 0.0 and blow.on == "ground"]
    assert len(struck) > 5
    assert {blow.of for blow in blows} == {"rubber"}
    assert [blow.time_s for blow in blows] == sorted(blow.time_s for blow in blows)
    assert len({blow.number for blow in blows}) == len(blows)
    for blow in struck:
        about = [np.linalg.norm(T[:3, 3] - blow.place_w) for T in bodies(blow.time_s).values()]
        assert min(about) < 0.45
        assert abs(blow.place_w[2]) < 0.1
        assert blow.struck_mps < SPEED_MPS + 9.81 * LASTS_S


def test_joints_keep_together_all_the_way() -> None:
    """A shank hangs at its thigh's end, a thigh's length from the hip: to rounding at moments that are kept."""
    for moment in (20, 40, 80, 160):
        at = bodies(moment * PERIOD_S)
        for side in ("left", "right"):
            length_m = np.linalg.norm(at[f"{side} shank"][:3, 3] - at[f"{side} thigh"][:3, 3])
            assert length_m == pytest.approx(0.245 * 1.75, abs=1e-9)


def test_who_is_thrown_pushes_what_is_light_and_is_stopped_by_what_stays() -> None:
    """A wall stands across the way, a box of 4 kg before it, both askew. Measured: no limb's origin comes nearer to the
    wall than 4.7 cm; the box is pushed 1.2 m on."""
    rider = config_named("snakeboard").model.rider
    assert rider is not None
    light = Placed(Prop(Box((3.1, -3.2, 0.4), (0.5, 0.15, 0.4)), 4.0, 0.4), (0.5, 0.5, 0.5))
    wall = Placed(Prop(Box((3.0, WALL_M + 0.2, 1.5), (5.0, 0.2, 1.5)), 0.0, 0.5), (0.5, 0.5, 0.5))
    turned = [upright_at(one, turn) for one, turn in ((light, 0.3), (wall, -0.1))]
    who = rider.limbs, rider.state(T_WB, TWIST_B, {"psi": 0.0})
    placed = [one.at(T_w) for one, T_w in zip((light, wall), turned, strict=True)]
    thrown = Thrown(Around(world("plaza")), lambda: placed, 2.0, who, KernelStore())
    nearest, normal_w = np.inf, -turned[1][:3, 1]
    for age_s in np.arange(0.0, 2.0, 0.03):
        limbs = thrown.limbs(float(age_s), wait=True)
        assert limbs is not None
        gaps = [(T[:3, 3] - turned[1][:3, 3]) @ normal_w - 0.2 for T in limbs.values()]
        nearest = min(nearest, *gaps)
    begin, end = thrown.bodies_w(0.0), thrown.bodies_w(2.0)
    assert begin is not None
    assert end is not None
    np.testing.assert_allclose(begin, turned, atol=1e-12)
    np.testing.assert_array_equal(end[1], begin[1])
    assert nearest > 0.03
    assert np.linalg.norm(end[0, :2, 3] - begin[0, :2, 3]) > 0.2


def test_props_are_shown_where_who_was_thrown_has_pushed_them() -> None:
    """A box of 4 kg behind what a board runs into. Measured: 7 cm further 2.2 s after the blow."""
    light = Placed(Prop(Box((0.0, 19.0, 0.9), (1.0, 0.1, 0.9)), 4.0, 0.5), (0.5, 0.5, 0.5))
    start = Start(position_w=(0.0, 14.0, 0.0), heading_rad=0.5 * math.pi, velocity_b=(SPEED_MPS, 0.0, 0.0))
    running = simulation(replace(load_scene("skate"), start=start, environment=PropsSpec((light,))))
    scene = SceneView(running.run.world)
    while running.snapshot.lanes[0].status.value == "running":
        scene.observe(running.advance(1.0 / 60.0), np.inf)
        begin_m = seen_m(scene)
    assert begin_m == pytest.approx(19.0, abs=1e-3)
    for _ in range(11):
        scene.film.go_on(0.2)
    scene.observe(running.snapshot, np.inf)
    assert 0.02 < seen_m(scene) - begin_m < 0.5


def seen_m(scene: SceneView) -> float:
    """Along y, of the only prop in its picture."""
    at = np.array([-9.0, 12.0, 4.0])
    frame = scene.frame(View(at, look_at(at, np.array([0.0, 18.0, 1.0])), perspective(0.8, 1.6, 0.1, 500.0)))
    (solids,) = (each.solids for each in frame.vehicles if each.solids is not None)
    return float(solids.poses_w[0, 1, 3])


def upright_at(one: Placed, turn_rad: float) -> np.ndarray:
    """(4, 4) where its principal axes are, turned about the vertical."""
    T_w = one.prop.T_w.copy()
    T_w[:3, :3] = upright(turn_rad) @ T_w[:3, :3]
    return T_w


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
