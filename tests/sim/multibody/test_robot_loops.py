"""Loops that a robot's file closes: read as points that bodies share, moved by impulses that keep them together."""

import numpy as np
import pytest

import sim
from sim.multibody.stepping import OK
from sim.steppers.bound_tree import BoundTree
from sim.vehicles import VEHICLES, enter_own, known_vehicle
from tests.sim.multibody.four_bar import GROUND, LENGTHS, MASSES, by_multipliers, closed_angles

ANGLES = closed_angles(1.2)


def four_bar_file(folder, equality):
    """Three bars on hinges across x and z, which stand closed where all coordinates are zero."""
    bars = ""
    for k, (length, mass) in enumerate(zip(LENGTHS, MASSES, strict=True)):
        across = mass * length**2 / 12
        bars += (
            f'<body name="bar {k}" pos="{LENGTHS[k - 1] if k else 0.0} 0 0" axisangle="0 -1 0 {ANGLES[k]}">'
            f'<joint name="pin {k}" axis="0 -1 0"/>'
            f'<inertial pos="{0.5 * length} 0 0" mass="{mass}" diaginertia="{across} {across} {across}"/>'
        )
    path = folder / "bars.xml"
    path.write_text(
        f'<mujoco><compiler angle="radian"/><worldbody><site name="bearing" pos="{GROUND} 0 0"/>{bars}'
        f'<site name="end" pos="{LENGTHS[2]} 0 0"/>{3 * "</body>"}</worldbody>'
        f"<equality>{equality}</equality></mujoco>"
    )
    return path


@pytest.mark.parametrize(
    "equality",
    [
        f'<connect body1="bar 2" anchor="{LENGTHS[2]} 0 0"/>',
        f'<connect body1="world" body2="bar 2" anchor="{GROUND} 0 0"/>',
        '<connect site1="end" site2="bearing"/>',
    ],
)
def test_a_connected_file_moves_as_equations_with_multipliers(tmp_path, equality):
    """Measured 1.2e-4 rad at 2 ms, a quarter of what it is at 4 ms."""
    robot = sim.read_robot(four_bar_file(tmp_path, equality))
    closed = BoundTree(robot.tree, 2e-3, loops=robot.loops)
    motion = closed.start(robot.start.q, robot.start.v)
    assert closed.advance(motion, 400)[1] == OK
    exact, _ = by_multipliers(ANGLES, 0.8)
    np.testing.assert_allclose(np.cumsum(ANGLES + motion.q), exact, atol=1e-3)


@pytest.fixture
def registry():
    """What a test enters is forgotten after it."""
    before = dict(VEHICLES)
    yield
    VEHICLES.clear()
    VEHICLES.update(before)


def test_a_connected_file_is_a_vehicle_whose_loops_stay_closed(tmp_path, registry):
    path = four_bar_file(tmp_path, f'<connect body1="bar 2" anchor="{LENGTHS[2]} 0 0"/>')
    vehicle = known_vehicle(enter_own(str(path)), hold=0.0)
    run = sim.simulate(vehicle, "riqn", step=2e-3, duration=0.8)
    exact, _ = by_multipliers(ANGLES, 0.8)
    np.testing.assert_allclose(np.cumsum(ANGLES + run.nodes[-1, :3]), exact, atol=1e-3)


def test_what_is_no_point_that_bodies_share_is_refused_or_told_by_name(tmp_path):
    with pytest.raises(sim.InputError, match="weld 'stuck' closes a loop; allowed: connect"):
        sim.read_robot(four_bar_file(tmp_path, '<weld name="stuck" body1="bar 2"/>'))
    idle = f'<connect name="idle" body1="bar 2" anchor="{LENGTHS[2]} 0 0" active="false"/>'
    robot = sim.read_robot(four_bar_file(tmp_path, idle))
    assert robot.loops == ()
    assert robot.notes == ("an equality is left out: connect 'idle'",)
