"""What a robot's file says is what its tree has; what could harm or mislead is refused in one line."""

import os
import re
import subprocess
import sys
from pathlib import Path

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import sim
from sim.multibody.arrays import workspace
from sim.multibody.kinematics import momenta, place
from sim.multibody.observing import body_frames
from sim.multibody.robots import files, urdf
from sim.multibody.robots.model import start_of
from sim.multibody.robots.reading import read_robot

TETRAHEDRON = "v 0 0 0\nv .3 0 0\nv 0 .2 0\nv 0 0 .4\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
CORNERS, FACES = (
    ((0, 0, 0), (0.3, 0, 0), (0, 0.2, 0), (0, 0, 0.4)),
    ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)),
)

ARM = """<mujoco model="arm">
  <compiler angle="degree" meshdir="shapes"/>
  <option gravity="0.5 -1 -9" timestep="0.004"><flag contact="disable"/></option>
  <default><joint damping="0.3" armature="0.02"/><default class="stiff"><joint stiffness="4"/></default></default>
  <asset>
    <texture name="wood" type="2d" file="/etc/passwd"/>
    <material name="wood" texture="wood" rgba="0.4 0.3 0.2 1"/>
    <mesh name="wedge" file="wedge.obj" scale="1 1.2 0.8"/>
  </asset>
  <include file="parts/actuators.xml"/>
  <worldbody>
    <light pos="0 0 3"/>
    <geom name="floor" type="plane" size="0 0 1"/>
    <body name="stand" pos="0.1 0.2 0.3" euler="10 20 30">
      <geom type="box" size="0.1 0.2 0.3"/>
      <body name="shoulder" pos="0 0 0.3" euler="0 40 0">
        <joint name="yaw" type="hinge" axis="0 0.1 1" pos="0.02 0.01 0" range="-100 120"/>
        <joint name="lift" type="slide" axis="0.2 1 0" ref="0.05" springref="0.1" class="stiff"/>
        <joint name="pitch" type="hinge" axis="0 1 0.3" pos="0 0 0.05" ref="15" springref="30" class="stiff"/>
        <geom type="mesh" mesh="wedge" material="wood" density="700"/>
        <body name="plate" pos="0 0 0.2" quat="1 0.2 0 0.1"><geom type="cylinder" size="0.1 0.02"/>
          <body name="hand" pos="0 0.1 0.1">
            <joint name="wrist" type="ball" pos="0.01 0 -0.02"/>
            <inertial pos="0.01 0.02 0.03" mass="0.7" fullinertia="0.02 0.03 0.025 0.002 -0.001 0.003"/>
            <geom type="capsule" fromto="0 0 0 0.1 0.1 0.2" size="0.03" group="4"/>
          </body>
        </body>
      </body>
    </body>
    <body name="drone" pos="1 0 2"><freejoint name="flight"/><geom type="ellipsoid" size="0.1 0.2 0.3"/></body>
  </worldbody>
  <keyframe><key name="bent" qpos="0.3 0.1 0.2 1 0 0 0 1 0 2 1 0 0 0" qvel="0 0 0 0 0 0 1 2 3 0 0 0"/></keyframe>
</mujoco>"""

ACTUATORS = """<mujoco><actuator>
  <motor name="turn" joint="yaw" gear="20" ctrlrange="-1 0.5" ctrllimited="true"/>
  <position name="hold" joint="pitch" kp="10"/>
  <general name="lag" joint="pitch" dyntype="filter" dynprm="0.1"/>
</actuator></mujoco>"""

SOME = '<inertial><mass value="3"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial>'
LINKS = f"""<link name="base">{SOME}
  </link><link name="virtual"/><link name="tip">
  <inertial><origin xyz=".1 .2 .3" rpy=".4 .5 .6"/><mass value="2"/>
    <inertia ixx=".02" iyy=".03" izz=".04" ixy=".001" ixz="-.002" iyz=".003"/></inertial>
  <visual name="tip"><geometry><mesh filename="package://arm/wedge.obj"/></geometry></visual>
  <collision name="tip"><geometry><sphere radius=".1"/></geometry></collision></link>"""
JOINTS = """<joint name="a" type="revolute"><parent link="base"/><child link="virtual"/>
  <origin xyz="0 .1 .2" rpy=".1 .2 .3"/><axis xyz="0 1 0"/>
 <limit lower="-1" upper="2" effort="1" velocity="1"/><dynamics damping=".3"/></joint>
  <joint name="b" type="prismatic"><parent link="virtual"/><child link="tip"/><axis xyz="1 0 1"/>
  <limit lower="0" upper="1" effort="1" velocity="1"/></joint>"""
URDF = f'<robot name="arm">{LINKS}{JOINTS}</robot>'


def written(folder, text=ARM, name="arm.xml"):
    (folder / "shapes").mkdir(exist_ok=True)
    (folder / "parts").mkdir(exist_ok=True)
    (folder / "shapes/wedge.obj").write_text(TETRAHEDRON)
    (folder / "wedge.obj").write_text(TETRAHEDRON)
    (folder / "parts/actuators.xml").write_text(ACTUATORS)
    (folder / name).write_text(text)
    return folder / name


def mass_matrix(t, q):
    ws, M = workspace(t.arrays), np.zeros((t.nv, t.nv))
    place(t.arrays, q, ws.node)
    for a in range(t.nv):
        momenta(t.arrays, ws.node, np.eye(t.nv)[a], ws.arc, ws.wrench, M[a])
    return M


def test_places_and_inertias_of_an_mjcf_are_mujocos(tmp_path):
    path = written(tmp_path)
    robot, rng = read_robot(path), np.random.default_rng(0)
    t = robot.tree
    m = mujoco.MjModel.from_xml_string(
        ARM.replace('file="/etc/passwd"', 'builtin="flat" width="8" height="8"'),
        {"parts/actuators.xml": ACTUATORS.encode(), "shapes/wedge.obj": TETRAHEDRON.encode()},
    )
    d = mujoco.MjData(m)
    for _ in range(3):
        d.qpos[:], d.qvel[:] = rng.normal(size=m.nq), rng.normal(size=m.nv)
        mujoco.mj_normalizeQuat(m, d.qpos)
        mujoco.mj_forward(m, d)
        state = start_of(t, d.qpos, d.qvel)
        for name, T in body_frames(t, state.q).items():
            assert T[:3, 3] == pytest.approx(d.body(name).xpos, abs=1e-14)
            assert T[:3, :3].ravel() == pytest.approx(d.body(name).xmat, abs=1e-14)
        energy = 0.5 * state.v @ mass_matrix(t, state.q) @ state.v
        M = np.zeros((m.nv, m.nv))
        mujoco.mj_fullM(m, d, M)
        assert energy == pytest.approx(0.5 * d.qvel @ M @ d.qvel, rel=1e-13)
    assert t.arrays.gravity_w == pytest.approx([0.5, -1.0, -9.0])
    assert robot.step_s == 0.004


def test_shapes_motors_keyframes_and_notes_of_an_mjcf(tmp_path):
    robot = read_robot(written(tmp_path))
    t = robot.tree
    by_shape = {geom.shape: geom for geom in robot.geoms}
    assert sorted(by_shape) == ["box", "capsule", "cylinder", "ellipsoid", "mesh", "plane"]
    assert by_shape["box"].body == by_shape["plane"].body == "world"
    assert by_shape["box"].T[:3, 3] == pytest.approx([0.1, 0.2, 0.3])
    wedge = by_shape["mesh"]
    assert wedge.rgba == pytest.approx((0.4, 0.3, 0.2, 1.0))
    corners = wedge.vertices @ wedge.T[:3, :3].T + wedge.T[:3, 3]  # in the body's frame they are the file's
    assert np.sort(corners.max(0)) == pytest.approx([0.24, 0.3, 0.32])
    assert np.abs(corners.min(0)).max() < 1e-6
    assert not by_shape["capsule"].drawn
    assert by_shape["capsule"].size_m[:2] == pytest.approx([0.03, 0.5 * np.sqrt(0.06)])
    torques = robot.torques({"turn": 3.0})
    assert torques[t.velocity_names.index("yaw")] == 10.0
    assert np.count_nonzero(torques) == 1
    assert t.arrays.limits[0] == pytest.approx(np.radians([-100, 120]))
    bent = robot.keyframes["bent"]
    assert bent.q[t.coordinate_names.index("pitch")] == pytest.approx(0.2)
    assert bent.v[t.velocity_names.index("flight vx")] == 1.0
    assert [motor.name for motor in robot.motors] == ["turn", "hold"]
    assert len(robot.notes) == 1
    assert "lag" in robot.notes[0]


def test_a_urdf_is_read_with_links_that_weigh_nothing(tmp_path):
    robot = read_robot(written(tmp_path, URDF, "arm.urdf"))
    t = robot.tree
    assert t.coordinate_names == ("a", "b")
    assert t.arrays.limits == pytest.approx(np.array([[-1.0, 2.0], [0.0, 1.0]]))
    assert t.arrays.damping == pytest.approx([0.3, 0.0])
    m = mujoco.MjModel.from_xml_string(
        URDF.replace("package://arm/", "").replace('"virtual"/>', f'"virtual">{SOME}</link>', 1),
        {"wedge.obj": TETRAHEDRON.encode()},
    )
    m.body_mass[1] = m.body_inertia[1] = 0.0
    d, M = mujoco.MjData(m), np.zeros((2, 2))
    d.qpos[:] = 0.3, -0.4
    mujoco.mj_forward(m, d)
    mujoco.mj_fullM(m, d, M)
    assert mass_matrix(t, np.array([0.3, -0.4])) == pytest.approx(M, abs=1e-13)
    assert body_frames(t, d.qpos)["tip"][:3, 3] == pytest.approx(d.body("tip").xpos, abs=1e-14)
    drawn = {geom.shape: geom.drawn for geom in robot.geoms}
    assert drawn == {"mesh": True, "sphere": False}


PUCK = """<robot name="slab"><link name="table"><inertial><mass value="3"/>
  <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
 <link name="puck"><inertial><origin xyz=".1 .02 .03"/><mass value=".7"/>
  <inertia ixx=".004" ixy=".0005" ixz="0" iyy=".005" iyz=".0002" izz=".006"/></inertial></link>
 <joint name="slides" type="planar"><parent link="table"/><child link="puck"/>
  <origin xyz=".1 -.2 .4" rpy=".3 .2 -.5"/><axis xyz="0 0 1"/></joint></robot>"""


def test_a_planar_joint_of_a_urdf_slides_and_turns_as_one_that_is_declared(tmp_path):
    t = read_robot(written(tmp_path, PUCK, "slab.urdf")).tree
    assert t.coordinate_names == ("slides_TX", "slides_TY", "slides_RZ")
    q, v = np.array([0.3, -0.4, 0.7]), np.array([1.0, -2.0, 3.0])
    turn = Rotation.from_euler("xyz", [0.3, 0.2, -0.5])
    puck = sim.Body(
        "puck",
        joint=sim.Joint("planar"),
        position=(0.1, -0.2, 0.4),
        R=turn.as_matrix(),
        mass=0.7,
        centre=(0.1, 0.02, 0.03),
        inertia=((0.004, 0.0005, 0.0), (0.0005, 0.005, 0.0002), (0.0, 0.0002, 0.006)),
    )
    declared = sim.tree([puck])
    assert mass_matrix(t, q) == pytest.approx(mass_matrix(declared, q), abs=1e-13)
    place_w = np.array([0.1, -0.2, 0.4]) + turn.apply([0.3, -0.4, 0.0])
    assert body_frames(t, q)["puck"][:3, 3] == pytest.approx(place_w, abs=1e-14)
    ours, theirs = (
        sim.simulate(tree, step=1e-3, duration=0.3, initial=tree.state(q=q, v=v)) for tree in (t, declared)
    )
    np.testing.assert_allclose(ours.bodies["puck"], theirs.bodies["puck"], atol=1e-9)


def test_remarks_of_the_parser_are_not_printed(tmp_path):
    ball = '<collision name="ball"><geometry><sphere radius=".1"/></geometry></collision>'
    path = written(tmp_path, URDF.replace("<collision", f"{2 * ball}<collision"), "arm.urdf")
    before = sorted(tmp_path.iterdir())
    code = f"import sim; sim.read_robot({str(path)!r})"
    away = {**os.environ, "PYTHONPATH": str(Path(sim.__file__).parents[1])}
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=away, capture_output=True, text=True)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
    assert sorted(tmp_path.iterdir()) == before


def test_limits_that_are_equal_are_told_and_left_out(tmp_path):
    text = URDF.replace('lower="0" upper="1"', 'lower="0" upper="0"')
    robot = read_robot(written(tmp_path, text, "arm.urdf"))
    assert any("'b'" in note for note in robot.notes)
    assert np.isinf(robot.tree.arrays.limits[1]).all()


def test_a_joint_that_moves_nothing_that_weighs_is_told_and_fixed(tmp_path):
    """As of a hand's last phalanges in others' files; the rest moves as if it had been fixed."""
    finger = """<link name="nail"/><joint name="c" type="{}"><parent link="tip"/><child link="nail"/>
      <origin xyz=".1 0 0"/><limit lower="-1" upper="1" effort="3" velocity="1"/><mimic joint="a"/></joint></robot>"""
    with_joint = URDF.replace("</robot>", finger.format("revolute"))
    robot = read_robot(written(tmp_path, with_joint, "arm.urdf"))
    assert [note for note in robot.notes if "'c'" in note] == ["<joint> 'c' moves no inertia, and is fixed"]
    assert robot.tree.coordinate_names == ("a", "b")
    assert not robot.loops
    q = np.array([0.3, 0.6])
    alone = read_robot(written(tmp_path, URDF, "arm.urdf")).tree
    assert mass_matrix(robot.tree, q) == pytest.approx(mass_matrix(alone, q), abs=1e-15)


def collada(*triangles):
    """A scene of triangles in colours, in millimetres; its one node stands 5 mm along x."""
    effects = materials = geometries = placed = ""
    for k, (colour, corners) in enumerate(triangles):
        effects += f"""<effect id="e{k}"><profile_COMMON><technique sid="c"><lambert><diffuse><color>{colour}</color>
          </diffuse></lambert></technique></profile_COMMON></effect>"""
        materials += f'<material id="m{k}"><instance_effect url="#e{k}"/></material>'
        numbers = " ".join(str(x) for corner in corners for x in corner)
        geometries += f"""<geometry id="g{k}"><mesh>
          <source id="s{k}"><float_array id="f{k}" count="9">{numbers}</float_array><technique_common>
          <accessor source="#f{k}" count="3" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
          <param name="Z" type="float"/></accessor></technique_common></source>
          <vertices id="v{k}"><input semantic="POSITION" source="#s{k}"/></vertices>
          <triangles material="a" count="1"><input semantic="VERTEX" source="#v{k}" offset="0"/><p>0 1 2</p></triangles>
          </mesh></geometry>"""
        placed += f"""<instance_geometry url="#g{k}"><bind_material><technique_common>
          <instance_material symbol="a" target="#m{k}"/></technique_common></bind_material></instance_geometry>"""
    return f"""<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
      <asset><unit name="millimetre" meter="0.001"/><up_axis>Y_UP</up_axis></asset>
      <library_effects>{effects}</library_effects><library_materials>{materials}</library_materials>
      <library_geometries>{geometries}</library_geometries><library_visual_scenes><visual_scene id="all">
      <node><translate>5 0 0</translate>{placed}</node></visual_scene></library_visual_scenes>
      <scene><instance_visual_scene url="#all"/></scene></COLLADA>"""


def test_a_collada_mesh_is_shown_where_and_in_the_colours_that_it_says(tmp_path):
    red = ("0.8 0.1 0.1 1", [(0, 0, 0), (100, 0, 0), (0, 200, 0)])
    blue = ("0.1 0.2 0.9 1", [(0, 0, 300), (100, 0, 300), (0, 200, 400)])
    (tmp_path / "paint.dae").write_text(collada(red, blue))
    shown = '<visual><origin xyz="0 0 .5"/><geometry><mesh filename="paint.dae"/></geometry></visual>'
    robot = read_robot(written(tmp_path, URDF.replace("<collision", shown + "<collision", 1), "arm.urdf"))
    pieces = [geom for geom in robot.geoms if len(geom.faces) == 1]
    assert len(pieces) == 2
    for (colour, corners), geom in zip((red, blue), pieces, strict=True):
        assert geom.rgba == pytest.approx([float(x) for x in colour.split()])
        place_b = geom.vertices @ geom.T[:3, :3].T + geom.T[:3, 3]
        wanted = np.array(corners) * 1e-3 + (0.005, 0.0, 0.5)
        apart_m = np.linalg.norm(place_b[:, None] - wanted, axis=2)
        assert apart_m.min(axis=0) == pytest.approx(0.0, abs=1e-7)
        assert apart_m.min(axis=1) == pytest.approx(0.0, abs=1e-7)


@pytest.mark.parametrize("content", [collada(), "no mesh", "<!DOCTYPE x>" + collada()])
def test_a_collada_mesh_that_shows_nothing_is_told_and_left_out(tmp_path, content):
    (tmp_path / "none.dae").write_text(content)
    shown = '<visual><geometry><mesh filename="none.dae"/></geometry></visual>'
    robot = read_robot(written(tmp_path, URDF.replace("<collision", shown + "<collision", 1), "arm.urdf"))
    (note,) = (note for note in robot.notes if "none.dae" in note)
    assert "left out" in note
    assert "\n" not in note


def test_a_urdf_of_older_words_is_the_one_of_todays(tmp_path):
    """What dampens a joint had another name; some files begin with an empty line or end with a zero byte."""
    today = read_robot(written(tmp_path, URDF, "arm.urdf")).tree
    older = "\n" + '<?xml version="1.0"?>' + URDF.replace("<dynamics", "<joint_properties") + "\0"
    before = read_robot(written(tmp_path, older, "older.urdf")).tree
    assert np.any(today.arrays.damping)
    np.testing.assert_array_equal(before.arrays.damping, today.arrays.damping)


def test_a_spherical_joint_of_a_urdf_is_a_ball(tmp_path):
    text = URDF.replace('type="revolute"', 'type="spherical"')
    assert text != URDF
    robot = read_robot(written(tmp_path, text, "arm.urdf"))
    assert any("'a'" in note for note in robot.notes)
    assert (robot.tree.nq, robot.tree.nv) == (5, 4)


def test_shapes_of_no_size_are_told_and_left_out(tmp_path):
    nothing = '<visual><geometry><sphere radius="0.0"/></geometry></visual>'
    text = URDF.replace("<collision", nothing + "<collision", 1)
    told, before = (read_robot(written(tmp_path, each, "arm.urdf")) for each in (text, URDF))
    assert len(told.geoms) == len(before.geoms)
    assert any("no size" in note for note in told.notes)


def test_the_root_of_a_urdf_floats_where_asked_for(tmp_path):
    robot = read_robot(written(tmp_path, URDF, "arm.urdf"), free=True)
    assert robot.tree.nv == 8
    run = sim.simulate(robot.tree, step=0.01, duration=0.5)
    fallen = run.bodies["base"][-1, :3, 3]
    assert run.momentum[-1, 3:] == pytest.approx([0.0, 0.0, -9.81 * 5.0 * 0.5], abs=1e-10)
    assert fallen[2] < -1.0


def test_a_urdf_floats_by_a_joint_of_its_own_on_the_world(tmp_path):
    """Which is a link of that name."""
    text = URDF.replace('"arm">', '"arm"><link name="world"/>').replace(
        "</robot>",
        '<joint name="f" type="floating"><parent link="world"/><child link="base"/></joint></robot>',
    )
    t = read_robot(written(tmp_path, text, "arm.urdf")).tree
    asked = read_robot(written(tmp_path, URDF, "arm.urdf"), free=True).tree
    assert (t.nv, t.names) == (asked.nv, asked.names)


ASCII_STL = "solid box\n" + "".join(
    "facet normal 0 0 1\nouter loop\n"
    + "".join(f"vertex {' '.join(map(str, CORNERS[k]))}\n" for k in face)
    + "endloop\nendfacet\n"
    for face in FACES
)


def test_an_stl_mesh_of_text_is_the_mesh_that_its_words_say(tmp_path):
    """Volume, by way of the mass, as of the same tetrahedron in the format OBJ."""
    masses = []
    for name, content in (("wedge.obj", TETRAHEDRON), ("wedge.stl", ASCII_STL)):
        path = written(tmp_path, ARM.replace("wedge.obj", name))
        (tmp_path / "shapes" / name).write_text(content)
        masses.append(read_robot(path).tree.arrays.mass)
    assert masses[0] == pytest.approx(masses[1], rel=1e-6)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (ASCII_STL.replace("vertex", "vortex", 1), "three vertices"),
        (ASCII_STL.replace("vertex 0", "vertex zero", 1), "three vertices"),
        (ASCII_STL.replace("vertex 0", "vertex nan", 1), "not finite"),
        ("solid nothing\nendsolid", "wedge.stl"),
    ],
)
def test_an_stl_of_text_that_is_none_is_refused(tmp_path, content, said):
    path = written(tmp_path, ARM.replace("wedge.obj", "wedge.stl"))
    (tmp_path / "shapes/wedge.stl").write_text(content)
    message = refusal(path)
    assert said in message
    assert "wedge.stl" in message


def body(inside, outside="", assets=""):
    world = f'<worldbody><body name="b">{inside}<geom size=".1"/></body></worldbody>'
    return f"<mujoco><asset>{assets}</asset>{world}{outside}</mujoco>"


MANY = '<replicate count="9999">'
HINGE = '<joint name="knee"/>'
DEEP = '<body name="b"><joint/><geom size=".1"/>' * 450
REFUSED = {
    "expanding entities": (
        '<!DOCTYPE m [<!ENTITY a "xxxx"><!ENTITY b "&a;&a;">]><mujoco model="&b;"><worldbody/></mujoco>',
        "document type",
    ),
    "a file as an entity": (
        '<!DOCTYPE m [<!ENTITY a SYSTEM "/etc/passwd">]><mujoco>&a;</mujoco>',
        "document type",
    ),
    "ten megabytes": (body(HINGE) + " " * (10 << 20), "too large"),
    "an include from above": (
        body(HINGE, '<include file="../secret.xml"/>'),
        "secret.xml' is not in the model's folder",
    ),
    "an include by its place": (body(HINGE, '<include file="/etc/passwd"/>'), "not in the model's folder"),
    "an include by a link": (
        body(HINGE, '<include file="link.xml"/>'),
        "link.xml' is not in the model's folder",
    ),
    "an include of itself": (body(HINGE, '<include file="arm.xml"/>'), "more than once"),
    "a mesh from above": (body(HINGE, assets='<mesh name="m" file="../secret.obj"/>'), "mesh 'm'"),
    "a mesh by a link": (body(HINGE, assets='<mesh name="m" file="link.obj"/>'), "mesh 'm'"),
    "a mesh that is missing": (
        body(HINGE, assets='<mesh name="m" file="none.stl"/>'),
        "mesh 'm': file 'none.stl'",
    ),
    "a mesh of no kind": (body(HINGE, assets='<mesh name="m" file="arm.xml"/>'), ".stl"),
    "a damaged mesh": (body(HINGE, assets='<mesh name="m" file="torn.stl"/>'), "torn"),
    "a model in a model": (body(HINGE, assets='<model name="m" file="arm.xml"/>'), "'m'"),
    "an unknown element": (body(HINGE + '<wheel name="w"/>'), "unknown element <wheel> 'w'"),
    "an unknown section": (body(HINGE, "<wheels/>"), "unknown element <wheels>"),
    "an unknown joint": (
        body('<joint name="knee" type="rotary"/>'),
        "<joint> 'knee': unknown joint 'rotary'",
    ),
    "limits the wrong way": (body('<joint name="knee" limited="true" range="2 1"/>'), "'knee'"),
    "no inertia": (body(HINGE + '<inertial mass="1" pos="0 0 0" diaginertia="0 0 0"/>'), "'b'"),
    "negative inertia": (body(HINGE + '<inertial mass="1" pos="0 0 0" diaginertia="1 1 -1"/>'), "'b'"),
    "negative mass": (body(HINGE + '<inertial mass="-1" pos="0 0 0" diaginertia="1 1 1"/>'), "'b'"),
    "a number that is none": (
        body('<joint name="knee" damping="nan"/>'),
        "'knee': damping = 'nan' is not finite",
    ),
    "negative damping": (body('<joint name="knee" damping="-1"/>'), "'knee'"),
    "a loop": (
        body(HINGE, '<equality><weld name="shut" body1="b" body2="b"/></equality>'),
        "'shut'",
    ),
    "too deep": (f"<mujoco><worldbody>{DEEP}{'</body>' * 450}</worldbody></mujoco>", "too deeply nested"),
    "endless copies": (
        f"<mujoco><worldbody>{2 * MANY}<body/>{2 * '</replicate>'}</worldbody></mujoco>",
        "too many elements",
    ),
    "a plugin": (body(HINGE + '<plugin plugin="x"/>'), "<plugin>"),
    "a free joint that is not the root's": (
        body(HINGE + '<body name="c"><freejoint name="off"/><geom size=".1"/></body>'),
        "<freejoint> 'off': a free joint in <body> 'c', which hangs on another body",
    ),
    "a free joint by its type": (
        body(HINGE + '<frame><body name="c"><joint name="off" type="free"/></body></frame>'),
        "<joint> 'off': a free joint in <body> 'c'",
    ),
    "no joint": (body(""), "has no joint; with :free after the file's name its root floats"),
    "no XML": ("knees and toes", "no robot model"),
    "another root": ("<sdf/>", "<mujoco>, <robot>"),
}
REFUSED_URDF = {
    "a link on two joints": (URDF.replace('child link="virtual"', 'child link="tip"'), "no loops"),
    "a ring": (f'<robot name="r">{LINKS}{JOINTS.replace("base", "tip")}</robot>', "no loops"),
    "two roots": (f'<robot name="r">{LINKS}<link name="other"/>{JOINTS}</robot>', "hang on nothing"),
    "an unknown link": (
        URDF.replace('parent link="base"', 'parent link="bass"'),
        "<joint> 'a': unknown parent link 'bass'",
    ),
    "an unknown joint": (URDF.replace('"prismatic"', '"screw"'), "<joint> 'b': unknown joint 'screw'"),
    "a floating joint that is not the root's": (
        URDF.replace('"prismatic"', '"floating"'),
        "<joint> 'b': a floating joint hangs on link 'virtual'; allowed: on a root called 'world'",
    ),
    "an unknown element": (
        URDF.replace("<dynamics", "<dynamite"),
        "unknown element <dynamite> in <joint> 'a'",
    ),
    "limits the wrong way": (URDF.replace('lower="-1"', 'lower="3"'), "<joint> 'a': limits 3 .. 2"),
    "a missing mesh": (URDF.replace("arm/wedge", "arm/edge"), "<link> 'tip': mesh"),
    "a mesh elsewhere": (
        URDF.replace("package://arm/wedge.obj", "file:///etc/edge.obj"),
        "<link> 'tip': mesh",
    ),
    "negative inertia": (URDF.replace('izz=".04"', 'izz="-.04"'), "'tip'"),
    "a moment of five numbers": (
        URDF.replace('xyz=".1 .2 .3"', 'xyz=".1 .2"'),
        "<link> 'tip': <inertial>: xyz",
    ),
    "nothing that weighs": (
        URDF.replace('<mass value="2"/>', '<mass value="0"/>').replace(
            'ixx=".02" iyy=".03" izz=".04" ixy=".001" ixz="-.002" iyz=".003"', ""
        ),
        "no inertia",
    ),
}


def refusal(path):
    with pytest.raises(sim.InputError) as refused:
        read_robot(path)
    message = str(refused.value)
    assert "\n" not in message
    assert path.name in message
    return message


@pytest.mark.parametrize("case", REFUSED)
def test_bad_mjcf_is_refused_in_one_line_with_file_and_name(tmp_path, case):
    text, said = REFUSED[case]
    folder = tmp_path / "robot"
    folder.mkdir()
    (tmp_path / "secret.xml").write_text("<mujoco/>")
    (tmp_path / "secret.obj").write_text(TETRAHEDRON)
    (folder / "link.xml").symlink_to(tmp_path / "secret.xml")
    (folder / "link.obj").symlink_to(tmp_path / "secret.obj")
    (folder / "torn.stl").write_bytes(b"\0" * 90)
    path = written(folder, text)
    assert said in refusal(path)


@pytest.mark.parametrize("case", REFUSED_URDF)
def test_bad_urdf_is_refused_in_one_line_with_file_and_name(tmp_path, case):
    text, said = REFUSED_URDF[case]
    assert said in refusal(written(tmp_path, text, "arm.urdf"))


def test_files_that_are_none_are_refused(tmp_path):
    assert "cannot be read" in refusal(tmp_path / "none.xml")
    assert "no ordinary file" in refusal(tmp_path)


def test_meshes_are_bounded_all_together(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MOST_MESH_BYTES", 50)
    assert "too large" in refusal(written(tmp_path))


def test_where_the_parser_is_missing_one_line_says_how_it_is_installed(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    assert re.search(
        r"in a clone \./run installs it, elsewhere pip install 'mujoco>=", refusal(written(tmp_path))
    )


BODY = '<body><joint axis="0 1 0"/><geom size=".1"/></body>'
ENDLESS = {
    "copies of nothing": '<replicate count="2000000000"/>' + BODY,
    "copies of a body": f'<replicate count="30000" offset="1 0 0">{BODY}</replicate>',
    "copies of copies": f'<replicate count="200"><replicate count="200"/></replicate>{BODY}',
    "bodies": BODY * 20_000,
    "attributes": "<body "
    + " ".join(f"a{k}='1'" for k in range(200_000))
    + "><joint/><geom size='.1'/></body>",
    "shapes": "<body><joint/>" + 50_000 * "<geom size='.1'/>" + "</body>",
    "keyframes": BODY + "</worldbody><keyframe>" + 50_000 * "<key/>" + "</keyframe><worldbody>",
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("what", ENDLESS)
def test_what_the_parser_would_not_come_back_from_is_refused_before_it_is_asked(what, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(mujoco.MjSpec, "from_string", lambda *given, **more: asked.append(given))
    told = refusal(written(tmp_path, f"<mujoco><worldbody>{ENDLESS[what]}</worldbody></mujoco>"))
    assert re.search(r"allowed: \d+$", told)
    assert not asked


def deep_urdf(count, branches):
    """Links on random ones of the latest `branches`, turned and weighed at random."""
    rng = np.random.default_rng(5)
    lines, hung = ['<robot name="deep"><link name="l0"/>'], []
    for k in range(1, count):
        J = rng.uniform(1.0, 1.5, 3)
        lines.append(
            f'<link name="l{k}"><inertial><origin xyz="0 .01 .02" rpy=".1 0 .2"/><mass value="{rng.uniform(0.1, 1)}"/>'
            f'<inertia ixx="{J[0]}" iyy="{J[1]}" izz="{J[2]}" ixy="0" ixz="0" iyz="0"/></inertial>'
            '<visual><geometry><box size=".1 .2 .3"/></geometry></visual></link>'
        )
        parent = rng.integers(max(k - branches, 0), k)
        numbers = [" ".join(map(str, rng.uniform(-0.3, 0.3, 3))) for _ in range(3)]
        hung.append(
            f'<joint name="j{k}" type="continuous"><parent link="l{parent}"/><child link="l{k}"/>'
            f'<origin xyz="{numbers[0]}" rpy="{numbers[1]}"/><axis xyz="{numbers[2]}"/></joint>'
        )
    return "\n".join([*lines, *rng.permutation(hung), "</robot>"])


def test_a_deep_urdf_is_the_same_robot_as_by_the_parsers_own_tree(tmp_path, monkeypatch):
    """Where chains are deep links are handed to the parser side by side; measured: 2e-15."""
    path = written(tmp_path, deep_urdf(40, 3), "deep.urdf")
    plain = read_robot(path)
    monkeypatch.setattr(urdf, "_DEEPEST_LINK", 2)
    other = read_robot(path)
    angles = dict(
        zip(plain.tree.coordinate_names, np.random.default_rng(1).normal(size=plain.tree.nq), strict=True)
    )
    one, two = (
        body_frames(r.tree, np.array([angles[n] for n in r.tree.coordinate_names])) for r in (plain, other)
    )
    assert one.keys() == two.keys()
    for name in one:
        np.testing.assert_allclose(one[name], two[name], atol=1e-13)
    order = [other.tree.coordinate_names.index(name) for name in plain.tree.coordinate_names]
    first = mass_matrix(plain.tree, np.array([angles[n] for n in plain.tree.coordinate_names]))
    second = mass_matrix(other.tree, np.array([angles[n] for n in other.tree.coordinate_names]))
    np.testing.assert_allclose(second[np.ix_(order, order)], first, rtol=1e-12, atol=1e-12)
    assert {(g.body, g.shape) for g in plain.geoms} == {(g.body, g.shape) for g in other.geoms}


@pytest.mark.timeout(60)
def test_a_chain_of_as_many_links_as_there_may_be_is_read(tmp_path):
    """The parser itself refuses a thousand and some in a row."""
    robot = read_robot(written(tmp_path, deep_urdf(files.MOST_BODIES - 1, 1), "chain.urdf"))
    assert robot.tree.nv == files.MOST_BODIES - 2
    told = refusal(written(tmp_path, deep_urdf(files.MOST_BODIES + 1, 1), "longer.urdf"))
    assert told.endswith(f"has {files.MOST_BODIES + 1} links; allowed: {files.MOST_BODIES}")
