"""Laws of robots as vehicles: read as they are, held by servos, pulled, recorded, refused in one line."""

import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

import mujoco
import numpy as np
import pytest

import sim
from sim.commands import Pull, SetParameter, SetProps
from sim.multibody.observing import body_frames
from sim.multibody.shapes import STAND, UNSEEN
from sim.planner import task_of_scene
from sim.planner.task.bodies import body_poses
from sim.planner.task.handles import handles, moved
from sim.platform.errors import InputError
from sim.recordings import load_take, save_take
from sim.scene import load_scene, with_overrides
from sim.vehicle_config import config_of
from sim.vehicles import VEHICLES, enter_own, is_robot_file, known_vehicle, robot_reference
from sim.vehicles.forms.custom import OwnClass
from tests.sim.simulation_scenes import simulation

ARM = load_scene("robot").vehicle.name

URDF = """<robot name="{name}">
  <link name="base"><inertial><mass value="3"/><inertia ixx=".1" ixy="0" ixz="0" iyy=".1" iyz="0" izz=".1"/></inertial>
    <visual><geometry><box size=".4 .4 .2"/></geometry></visual></link>
  <link name="leg"><inertial><origin xyz="0 0 -.3"/><mass value="2"/>
      <inertia ixx=".06" ixy="0" ixz="0" iyy=".06" iyz="0" izz=".01"/></inertial>
    <visual><origin xyz="0 0 -.3"/><geometry><cylinder radius=".05" length=".6"/></geometry></visual></link>
  <joint name="hip" type="revolute"><parent link="base"/><child link="leg"/><origin xyz="0 .2 0"/><axis xyz="0 1 0"/>
    <limit lower="-1.5" upper="2" effort="40" velocity="5"/></joint>
</robot>"""


@pytest.fixture
def leg(tmp_path, registry):
    path = tmp_path / "leg.urdf"
    path.write_text(URDF.format(name="one leg"))
    return path


def test_a_limp_robot_moves_as_its_file_says(leg):
    """By the same recursions: to the bit."""
    vehicle, robot = known_vehicle(enter_own(str(leg)), hold=0.0), sim.read_robot(leg)
    start = robot.tree.state({"hip": 1.1}, {"hip": -0.4})
    own = sim.simulate(vehicle, "riqn", step=0.002, duration=0.5, initial=vehicle.state(start.q, start.v))
    plain = sim.simulate(robot.tree, "riqn", step=0.002, duration=0.5, initial=start)
    np.testing.assert_array_equal(own.nodes[:, :1], plain.pose)
    assert (vehicle.name, vehicle.support.name) == ("one-leg", "STAND")


def test_a_servo_swings_in_as_a_damped_oscillator_does(leg):
    """One hinge, no weight: inertia times (q'' + 2 zeta w q' + w^2 (q - target)) = 0. Measured 1.6e-5 rad at 1 ms."""
    w, zeta, target, q0 = 12.0, 0.7, 0.9, -0.5
    vehicle = known_vehicle(enter_own(str(leg)), hold=w, gravity=0.0, hip_target=target)
    run = sim.simulate(vehicle, "riqn", step=1e-3, duration=0.6, initial=vehicle.state({"hip": q0}))
    fast = w * np.sqrt(1.0 - zeta**2)
    swing = np.exp(-zeta * w * run.time) * (
        np.cos(fast * run.time) + zeta * w / fast * np.sin(fast * run.time)
    )
    np.testing.assert_allclose(run.nodes[:, 0], target + (q0 - target) * swing, atol=5e-5)


def test_an_arm_that_is_held_rests_with_its_joints_at_their_targets(tmp_path, registry):
    """Whatever it weighs, also with springs of its own: four hinges and a slide, in no plane."""
    weight = '<inertial mass="{}" pos=".1 .05 -.2" diaginertia=".02 .03 .01"/>'
    slide = '<joint name="e" type="slide" axis="1 2 3" range="-.5 .5"/>'
    inner = f'<body name="e" pos=".1 .1 .2">{slide}{weight.format(0.7)}</body>'
    for name, axis, kg in (
        ("d", "0 1 1", 1.5),
        ("c", "1 0 0", 2.0),
        ("b", "0 1 0", 4.0),
        ("a", "1 2 0", 3.0),
    ):
        own = 'stiffness="8" springref="40"' if name == "c" else ""
        joint = f'<joint name="{name}" axis="{axis}" {own}/>'
        inner = f'<body name="{name}" pos=".2 0 .3">{joint}{weight.format(kg)}{inner}</body>'
    path = tmp_path / "crooked.xml"
    path.write_text(f"<mujoco><worldbody>{inner}</worldbody></mujoco>")
    targets = {"a_target": 0.4, "b_target": -0.7, "c_target": 1.1, "d_target": 0.3, "e_target": 0.2}
    vehicle = known_vehicle(enter_own(str(path)), **targets)
    run = sim.simulate(vehicle, "riqn", step=2e-3, duration=8.0, initial=vehicle.default_state())
    assert run.pose[-1] == pytest.approx(list(targets.values()), abs=1e-9)  # 3e-11: it has swung in
    moon = known_vehicle(vehicle.name, **targets, gravity=1.6)
    run = sim.simulate(moon, "riqn", step=2e-3, duration=8.0, initial=moon.default_state())
    assert run.pose[-1] == pytest.approx(list(targets.values()), abs=1e-9)


def test_controls_are_the_motors_and_targets_keep_to_the_limits(leg):
    vehicle = known_vehicle(enter_own(str(leg)))
    assert [(c.name, c.unit, c.low, c.high) for c in vehicle.controls] == [("hip", "N m", -40.0, 40.0)]
    target = next(q for q in vehicle.parameters if q.name == "hip_target")
    assert (target.low, target.high, target.default, target.unit) == (-1.5, 2.0, 0.0, "rad")
    with pytest.raises(InputError, match=r"hip_target = 2\.5 is out of range; allowed: -1.5 to 2 rad"):
        vehicle.with_parameters(hip_target=2.5)
    keys = config_of(vehicle).keys
    assert [held.action for held in keys.held] == ["yaw+", "yaw-"]


def test_a_joint_that_its_file_puts_beyond_its_limits_starts_at_the_limit(leg):
    """Where a spring of the limit would throw it."""
    leg.write_text(leg.read_text().replace('lower="-1.5"', 'lower="0.1"'))
    vehicle = known_vehicle(enter_own(str(leg)))
    assert vehicle.default_state().node[0] == 0.1
    assert next(q for q in vehicle.parameters if q.name == "hip_target").default == 0.1
    run = sim.simulate(vehicle, "riqn", step=0.002, duration=0.5)
    assert run.diverged_at is None
    assert np.abs(run.nodes[:, 1]).max() < 1.0


def test_one_that_floats_falls_as_a_body_does_and_rests_on_what_it_has(leg):
    name = enter_own(f"{leg}:free")
    vehicle = known_vehicle(name)
    run = sim.simulate(vehicle, "riqn", step=1e-3, duration=0.4, initial=vehicle.default_state())
    weight = 5.0 * 9.81
    np.testing.assert_allclose(run.momentum[:, 5], -weight * run.time, atol=1e-9)
    running = simulation(with_overrides(load_scene("robot"), vehicle=name))
    running.submit(SetParameter("hold", 30.0))
    lane = running.advance(4.0).lanes[0]
    assert lane.environment_wrench_b[5] == pytest.approx(weight, rel=0.02)
    assert lane.height_above_ground_m == pytest.approx(0.0, abs=2e-3)


def test_what_a_file_lets_touch_nothing_touches_nothing(tmp_path, registry):
    """An unseen balloon about a ball, of which the ball alone meets the ground: as high as mujoco has it at rest."""
    text = """<mujoco><worldbody><geom type="plane" size="5 5 1"/><body name="ball" pos="0 0 .5"><freejoint/>
        <geom size=".1"/><geom size=".3" group="3" contype="0" conaffinity="0"/></body></worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 1000)
    path = tmp_path / "balloon.xml"
    path.write_text(text)
    vehicle = known_vehicle(enter_own(str(path)))
    lane = simulation(with_overrides(load_scene("robot"), vehicle=vehicle.name)).advance(2.0).lanes[0]
    assert lane.bodies["ball"][2, 3] == pytest.approx(data.qpos[2], abs=2e-3)  # 0.1; mujoco's contact is soft
    assert data.qpos[2] == pytest.approx(0.1, abs=2e-3)


def test_steps_are_no_longer_than_the_file_asks_for_and_gravity_is_in_its_units(tmp_path, registry):
    path, text = tmp_path / "fly.xml", '<mujoco><option timestep="{}" gravity="0 0 -9810"/>{}</mujoco>'
    body = '<worldbody><body><joint/><geom size="10" pos="50 0 0"/></body></worldbody>'
    scene = load_scene("robot")
    for asked, taken in ((3e-4, 3e-4), (0.05, scene.step_s), (1e-7, 1e-4)):
        path.write_text(text.format(asked, body))
        flown = with_overrides(scene, vehicle=str(path))
        assert flown.step_s == pytest.approx(taken)
        assert flown.vehicle.values["gravity"] == pytest.approx(9810.0)
    assert with_overrides(scene, vehicle=str(path), step_s=0.004).step_s == 0.004


def test_a_robot_whose_file_shows_nothing_stands_on_the_lowest_of_its_links(tmp_path, registry):
    weight = '<inertial mass="1" pos="0 0 -.2" diaginertia=".01 .01 .01"/>'
    path = tmp_path / "bones.xml"
    path.write_text(
        f'<mujoco><worldbody><body name="a"><joint/>{weight}<body name="b" pos="0 0 -.4"><joint/>{weight}'
        "</body></body></worldbody></mujoco>"
    )
    vehicle = known_vehicle(enter_own(str(path)))
    below = max(shape.radius_m for shape in vehicle.shapes() if shape.body == "b")
    assert vehicle.stand_m == pytest.approx(0.8 + below)  # as far as the mass of the last one reaches


def test_what_was_posed_and_pulled_is_replayed_to_the_bit(tmp_path):
    running = simulation(replace(load_scene("robot"), world="plain"))
    running.submit(SetParameter("shoulder_target", 0.6))
    running.advance(0.3)
    running.submit(Pull("flown", "gripper", (0.1, 0.0, 0.0), (0.3, 0.8, 1.0)))
    pulled = running.advance(0.8).lanes[0]
    assert pulled.observables["angle"][0] > 0.02  # nothing but the hand turns it about the vertical
    (take,) = running.takes()
    saved = load_take(save_take(take, tmp_path / "arm.npz"))
    np.testing.assert_array_equal(saved.resimulate().samples().nodes, take.samples().nodes)


def test_a_robot_is_opened_by_its_file_in_the_scene_of_robots(leg):
    scene = load_scene(str(leg))
    assert (scene.vehicle.name, scene.integrator, scene.world) == (
        "one-leg",
        "riqn",
        load_scene("robot").world,
    )
    assert with_overrides(load_scene("canyon"), vehicle=str(leg)).integrator in ("riqn", "rk4")


def test_a_robot_of_a_file_is_known_to_another_process_that_has_not_read_it(leg):
    vehicle = known_vehicle(enter_own(str(leg)), hold=0.0)
    vehicle.symbolic  # noqa: B018  what holds expressions stays behind
    node, own = vehicle.default_state().node, OwnClass.of(type(vehicle))
    assert own is not None
    leg.unlink()
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), initializer=own) as pool:
        T = pool.submit(foot, vehicle, node).result()
    np.testing.assert_array_equal(T, foot(vehicle, node))
    assert OwnClass.of(type(load_scene("robot").vehicle)) is None


def foot(vehicle, node):
    """(4, 4) of its tool."""
    return body_poses(vehicle, node)[0]


def test_the_scene_of_robots_plans_for_whatever_arm_stands_there_and_does_without_for_others(leg):
    scene = load_scene("robot")
    vehicle, task = task_of_scene(scene)
    (tool,) = handles(vehicle, task)
    assert (vehicle.values["hold"], scene.vehicle.values["hold"], tool.turns) == (0.0, 10.0, "xyz")
    np.testing.assert_allclose(
        tool.T_w, body_frames(vehicle.tree, task.start.node[:6])["gripper"], atol=1e-12
    )
    c, s = np.cos(0.2), np.sin(0.2)
    T = tool.T_w @ np.array([[1, 0, 0, 0.02], [0, c, -s, -0.05], [0, s, c, 0.04], [0, 0, 0, 1]])
    np.testing.assert_allclose(handles(vehicle, moved(vehicle, task, "goal", T))[0].T_w, T, atol=1e-5)
    one, its = task_of_scene(with_overrides(scene, vehicle=str(leg)))
    assert (one.name, its.goal.rotation, task.goal.rotation) == ("one-leg", "free", "fixed")
    for name in ("ragdoll", "car", "chain"):
        assert with_overrides(scene, vehicle=name).plan is None
    running = simulation(scene)
    running.submit(SetProps(()))
    assert "plan" not in running.snapshot.message


def test_looks_and_touch_come_from_the_shapes_of_its_file(leg):
    vehicle = known_vehicle(enter_own(str(leg)))
    assert [(solid.body, solid.shape) for solid in vehicle.solids] == [("world", "box"), ("leg", "cylinder")]
    parts = {part.nodes: part.body for part in config_of(vehicle).model.parts}
    assert parts == {("world",): STAND, ("leg",): "leg"}
    assert vehicle.stand_m == pytest.approx(0.6)  # the leg hangs down to 0.6 m below the base
    (along,) = vehicle.shapes()
    assert (along.body, along.finish, along.radius_m) == ("leg", UNSEEN, 0.05)
    np.testing.assert_allclose(
        sorted((along.begin_b, along.end_b)), [(0, 0, -0.55), (0, 0, -0.05)], atol=1e-12
    )
    corners = known_vehicle(enter_own(f"{leg}:free")).shapes()
    ends = {end for shape in corners if shape.body == "base" and shape.touches[0] for end in (shape.begin_b, shape.end_b)}  # fmt: skip # noqa: E501
    assert {tuple(np.round(end, 6)) for end in ends} == {(x, y, z) for x in (-0.2, 0.2) for y in (-0.2, 0.2) for z in (-0.1, 0.1)}  # fmt: skip # noqa: E501


def test_a_mesh_that_is_turned_stands_on_its_own_lowest_point_and_a_skinned_body_shows_what_is_under_it(
    tmp_path, registry
):
    """A cone on its tip, turned by 45 degrees; three bodies of four show nothing but what is hidden from viewers."""
    hidden = "".join(
        f'<body name="b{k}"><joint/><geom size=".1" group="4" pos="0 0 {k}"/></body>' for k in range(3)
    )
    path = tmp_path / "skinned.xml"
    path.write_text(
        '<mujoco><asset><mesh name="cone" vertex="0 0 0  .2 0 1  -.2 0 1  0 .2 1  0 -.2 1"/></asset><worldbody>'
        f'<body name="a" euler="45 0 0"><joint/><geom type="mesh" mesh="cone"/></body>{hidden}</worldbody></mujoco>'
    )
    vehicle = known_vehicle(enter_own(str(path)))
    assert {solid.body for solid in vehicle.solids} == {"a", "b0", "b1", "b2"}
    assert vehicle.stand_m == pytest.approx(0.1)  # the sphere of b0
    path.write_text(path.read_text().replace('group="4" ', "").replace('pos="0 0 0"', 'pos="0 0 5"'))
    vehicle = known_vehicle(enter_own(str(path)))
    assert vehicle.stand_m == pytest.approx(0.0, abs=1e-6)


def test_where_a_file_shows_nothing_links_without_shapes_are_drawn_as_capsules(tmp_path, registry):
    """Beside those that have shapes for contact."""
    weight = '<inertial mass="1" pos="0 0 -.2" diaginertia=".01 .01 .01"/>'
    path = tmp_path / "bare.xml"
    path.write_text(
        f'<mujoco><worldbody><body name="a" pos="0 0 1"><joint/>{weight}<body name="b" pos="0 0 -.4"><joint/>'
        f'<geom size=".1" group="4"/>{weight}</body></body></worldbody></mujoco>'
    )
    vehicle = known_vehicle(enter_own(str(path)))
    assert {shape.body for shape in vehicle.shapes()} == {"a", "b"}


def test_a_take_of_a_file_opens_with_controls_that_it_has_gained_since(tmp_path, registry):
    """In their places, by name; what is new is neutral, so that the motion is the same to the bit."""
    text = """<mujoco><worldbody><body name="upper"><joint name="hip" axis="0 1 0"/><geom size="0.1" pos="0 0 -0.3"/>
    <body name="lower" pos="0 0 -0.5"><joint name="knee" axis="0 1 0"/><geom size="0.1" pos="0 0 -0.3"/></body></body>
    </worldbody><actuator><motor name="second" joint="knee"/></actuator></mujoco>"""
    path = tmp_path / "leg.xml"
    path.write_text(text)
    running = simulation(replace(load_scene(str(path)), world="plain", trim={"knee": 0.7}))
    running.advance(1.2)
    (take,) = running.takes()
    saved, nodes = save_take(take, tmp_path / "leg.npz"), take.samples().nodes
    path.write_text(text.replace("<actuator>", '<actuator><motor name="first" joint="hip"/>'))
    assert enter_own(str(path)) == take.vehicle.name
    opened = load_take(saved)
    assert [c.name for c in opened.vehicle.controls] == ["hip", "knee"]
    assert all((segment.controls == (0.0, 0.7)).all() for segment in opened.segments)
    np.testing.assert_array_equal(opened.samples().nodes, nodes)


def test_names_of_files_never_take_those_of_vehicles_or_of_other_files(leg, tmp_path):
    car, other = tmp_path / "car.urdf", tmp_path / "other.urdf"
    car.write_text(URDF.format(name="car"))
    other.write_text(URDF.format(name="one leg"))
    car_before = VEHICLES["car"]
    assert enter_own(str(car)) == "car-robot"
    assert VEHICLES["car"] is car_before
    assert enter_own(str(leg)) == "one-leg"
    assert enter_own(str(other)) == "one-leg-robot"
    first = VEHICLES["one-leg"]
    assert enter_own(str(leg)) == "one-leg"
    assert VEHICLES["one-leg"] is not first


def test_meshes_of_the_package_are_read_and_none_from_outside(tmp_path, registry):
    package = tmp_path / "one_package"
    for folder in (package / "urdf", package / "meshes"):
        folder.mkdir(parents=True)
    (package / "package.xml").write_text("<package/>")
    mesh = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"
    (package / "meshes" / "tip.obj").write_text(mesh)
    (tmp_path / "outside.obj").write_text(mesh)
    text = URDF.format(name="packed").replace(
        '<cylinder radius=".05" length=".6"/>', '<mesh filename="{mesh}"/>'
    )
    path = package / "urdf" / "packed.urdf"
    path.write_text(text.replace("{mesh}", "package://one_package/meshes/tip.obj"))
    vehicle = known_vehicle(enter_own(str(path)))
    assert [len(solid.faces) for solid in vehicle.solids] == [0, 4]
    path.write_text(text.replace("{mesh}", "../../outside.obj"))
    with pytest.raises(
        InputError, match=r"packed.urdf: .*'../../outside.obj' is not in the model's folder"
    ) as told:
        enter_own(str(path))
    assert "\n" not in str(told.value)


def test_a_scene_reads_no_robot_from_outside_its_folder(leg, tmp_path):
    folder = tmp_path / "scene"
    folder.mkdir()
    scene = folder / "mine.toml"
    scene.write_text('vehicle = "../leg.urdf"\nintegrator = "riqn"\n')
    with pytest.raises(InputError, match="lies outside the scene's folder; allowed: one within"):
        load_scene(scene, trusted=False)
    scene.write_text('vehicle = "leg.urdf"\nintegrator = "riqn"\n')
    leg.rename(folder / "leg.urdf")
    assert load_scene(scene).vehicle.name == "one-leg"


def test_without_the_parser_a_file_is_refused_in_one_line_and_the_arm_moves(tmp_path, registry, monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    path = tmp_path / "leg.urdf"
    path.write_text(URDF.format(name="leg"))
    with pytest.raises(
        InputError, match=r"leg\.urdf: robots are read by the mujoco package.*pip install"
    ) as told:
        load_scene(str(path))
    assert "\n" not in str(told.value)
    assert load_scene("robot").vehicle.name == ARM


@pytest.mark.parametrize(
    ("file", "beside", "told"),
    [
        (
            "arm.step",
            None,
            r"--model: 'arm.step' is no robot's file; allowed: .urdf, .xml, .mjcf, or with :free",
        ),
        ("arm.urdf", "car", "--model: refused beside --vehicle; allowed: one of the two"),
    ],
)
def test_what_is_no_model_is_refused(file, beside, told):
    with pytest.raises(InputError, match=told):
        robot_reference(file, beside)
    assert is_robot_file("x.URDF:free")
    assert not is_robot_file("vehicle.py:Robot")


def test_a_file_that_is_not_there_is_told_by_its_name(registry):
    with pytest.raises(InputError, match=r"vehicle file 'nowhere.urdf' is not there"):
        load_scene("nowhere.urdf")


def test_joints_that_move_no_inertia_together_are_refused_by_name(tmp_path, registry):
    """Two hinges about one axis, with a link between them that weighs nothing."""
    path = tmp_path / "twin.xml"
    path.write_text(
        '<mujoco model="twin"><worldbody><body name="a"><joint name="first" axis="0 1 0"/>'
        '<joint name="second" axis="0 1 0"/><geom size=".1" pos="0 0 -1"/></body></worldbody></mujoco>'
    )
    with pytest.raises(InputError, match=r"twin\.xml: joints first, second: together they move no inertia"):
        enter_own(str(path))
    assert "twin" not in VEHICLES
