"""Laws of what floats: statics and small motions against closed forms, drift with the stream, and the sea's clock."""

import math

import casadi as ca
import numpy as np
import pytest

import sim
from sim.compiler import Kernel, compile_kernel
from sim.platform.errors import InputError
from sim.vehicle_config.config import HullMesh
from sim.vehicles.forms.form import Support
from sim.vehicles.forms.holonomic import HolonomicVehicle
from sim.vehicles.forms.parameters import Control, Parameter, Quantities
from sim.vehicles.motorboat import Motorboat
from sim.vehicles.rigid_body import GRAVITY, INERTIA, MASS, weight_potential
from sim.water.immersion import at_rest
from sim.water.ocean import Ocean, Sea
from sim.water.water import WATER, Water, Weather, water_about
from sim.water.wrench import CLOCK, FROM, TOWARDS, feel_water, sea_at

G, LENGTH, BEAM, DRAFT, KG = 9.81, 4.0, 2.0, 0.2, 1600.0
CALM = Weather(Sea(0.0))


class Barge(HolonomicVehicle):
    """The box of the closed forms: 4 m by 2 m, 1600 kg, pushed ahead."""

    name = "barge"
    parameters = (MASS, INERTIA, GRAVITY, Parameter("added", "kg", (0.0, 0.0, 0.0), 0.0, 1e6, "Water."))
    controls = (Control("ahead", "N", -1e5, 1e5, "Push."),)

    @property
    def support(self) -> Support:
        return Support.WATER

    def inertia(self, q: Quantities) -> ca.SX:
        return ca.diagcat(ca.diag(q.inertia), ca.diag(q.mass + q.added))

    def potential(self, g: ca.SX, q: Quantities) -> ca.SX:
        return weight_potential(g, q)

    def control_wrench(self, u: ca.SX, q: Quantities) -> ca.SX:
        return ca.vertcat(0, 0, 0, u, 0, 0)


BARGE = Barge(mass=KG, inertia=(700.0, 2500.0, 2700.0), gravity=G)
SHAPE = HullMesh.box(LENGTH, BEAM, 1.0, cells=(8, 4, 4))
AFLOAT_M = 0.5 - DRAFT
"""Height of the box's middle over the water."""


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    return compile_kernel(BARGE, sim.integrators()["variational"], WATER)


def water(weather: Weather = CALM, *, drag: float = 0.0, points: int = 16, **more: float) -> Water:
    return Water.of(SHAPE, weather, drag=drag, mass=KG, points=points, **more)  # type: ignore[arg-type]


def run(
    kernel: Kernel,
    about: Water,
    *,
    seconds: float,
    h: float = 0.005,
    ahead: float = 0.0,
    vehicle: Barge = BARGE,
    **state: object,
) -> np.ndarray:
    """Nodes (n + 1, 18)."""
    state = {"x": (0.0, 0.0, AFLOAT_M), **state}
    u, p = np.array([ahead]), vehicle.parameter_vector
    y = kernel.start(vehicle.state(**state).node, u, p, h, about.probe().env)  # type: ignore[arg-type]
    n = round(seconds / h)
    nodes, done, _ = kernel.trajectory(y, u[None], p, h, n, about.env)
    assert done == n
    return nodes


def rolled(angle: float, axis: int = 0) -> np.ndarray:
    c, s = math.cos(angle), math.sin(angle)
    R, i, j = np.eye(3), (axis + 1) % 3, (axis + 2) % 3
    R[i, i], R[i, j], R[j, i], R[j, j] = c, -s, s, c
    return R


def frequency(signal: np.ndarray, h: float) -> float:
    """By the first and the last upward crossing of zero."""
    up = np.flatnonzero((signal[:-1] < 0) & (signal[1:] >= 0))
    at = up - signal[up] / (signal[up + 1] - signal[up])
    return 2 * math.pi * (len(at) - 1) / ((at[-1] - at[0]) * h)


def test_a_box_floats_at_its_draft() -> None:
    height, wetted = at_rest(SHAPE, KG)
    assert height == pytest.approx(AFLOAT_M, abs=1e-12)
    assert wetted == pytest.approx(LENGTH * BEAM + 2 * DRAFT * (LENGTH + BEAM), abs=1e-9)


def test_what_lies_still_on_still_water_stays_still(kernel: Kernel) -> None:
    nodes = run(kernel, water(drag=50.0, impact=0.5, air=1.0), seconds=20.0, h=0.02)
    # measured 5e-14 m and 4e-15: rounding of the hydrostatic sum
    assert np.abs(nodes[:, :12] - nodes[0, :12]).max() < 1e-10
    assert np.abs(nodes[:, 12:]).max() < 1e-10


def test_heave_has_the_frequency_of_its_draft(kernel: Kernel) -> None:
    h = 0.002
    nodes = run(kernel, water(), seconds=9.5, h=h, x=(0.0, 0.0, AFLOAT_M + 0.05))
    # sqrt(g / d) = 7.00357 rad/s; a step makes it faster by (omega h)^2 / 24 = 8e-6. Measured 5.7e-5 rad/s off.
    assert frequency(nodes[:, 11] - AFLOAT_M, h) == pytest.approx(math.sqrt(G / DRAFT), abs=2e-4)
    # Nothing takes energy: the tenth swing is as high as the first (measured 1e-6 m).
    assert nodes[-1000:, 11].max() == pytest.approx(AFLOAT_M + 0.05, abs=1e-4)


def test_roll_has_the_frequency_of_its_metacentric_height(kernel: Kernel) -> None:
    # GM = I_waterplane / volume - BG, and omega^2 = m g GM / J.
    gm = (LENGTH * BEAM**3 / 12) / (LENGTH * BEAM * DRAFT) - (0.5 - DRAFT / 2)
    h = 0.002
    nodes = run(kernel, water(), seconds=9.5, h=h, R=rolled(0.01))
    roll = np.arctan2(nodes[:, 5], nodes[:, 8])
    expected = math.sqrt(KG * G * gm / 700.0)
    assert frequency(roll, h) == pytest.approx(expected, rel=2e-4)  # measured 2.7e-5


def test_righting_moment_has_its_lever_at_large_angles() -> None:
    # Scribanti's formula for vertical sides: GZ = sin(phi) (GM + BM tan^2(phi) / 2), while deck and bottom keep clear.
    phi = 0.15
    bm, bg = BEAM**2 / (12 * DRAFT), 0.5 - DRAFT / 2
    rows = SHAPE.vertices @ rolled(phi).T
    hull = HullMesh.of(rows, SHAPE.triangles)
    height, _ = at_rest(hull, KG)
    about = Water.of(hull, CALM, drag=0.0, mass=KG, points=16)
    wrench = np.zeros(6)
    pose = np.r_[np.eye(3).ravel(), 0.0, 0.0, height]
    feel_water(pose, np.zeros(6), np.ones(6), 1e-9, about.env, wrench)
    lever = math.sin(phi) * (bm - bg + bm * math.tan(phi) ** 2 / 2)
    assert wrench[0] == pytest.approx(-KG * G * lever, rel=1e-9)


def test_surge_under_drag_is_the_closed_form(kernel: Kernel) -> None:
    force, drag, seconds = 400.0, 300.0, 12.0
    errors = []
    for h in (0.02, 0.01):
        nodes = run(kernel, water(drag=drag), seconds=seconds, h=h, ahead=force)
        time = h * np.arange(len(nodes))
        exact = force / drag * (1 - np.exp(-drag * time / KG))
        errors.append(np.abs(nodes[:, 15] - exact).max())
    # measured 2.5e-3 and 1.2e-3 m/s: velocity through the water is taken once a step, of first order
    assert errors[1] < 2e-3
    assert errors[0] / errors[1] == pytest.approx(2.0, abs=0.3)


def test_a_stiff_drag_takes_all_motion_and_turns_none_round(kernel: Kernel) -> None:
    nodes = run(kernel, water(drag=1e7), seconds=1.0, h=0.05, v=(2.0, 0.0, 0.0))
    # measured -3e-7 m/s: stopping tilts it a little
    assert nodes[1:, 15].min() > -1e-5
    assert nodes[3, 15] < 1e-4  # measured -2e-7 m/s


def test_a_boat_drifts_with_the_current_on_any_heading() -> None:
    current = (0.3, -0.2)
    vehicle = BARGE.with_parameters(added=(50.0, 900.0, 700.0))
    kernel = compile_kernel(vehicle, sim.integrators()["variational"], WATER)
    added = np.array([0, 0, 0, 50.0, 900.0, 700.0])
    R = rolled(0.8, 2)
    about = Water.of(
        SHAPE, Weather(Sea(0.0), current_mps=current), drag=300.0, impact=0.4, mass=KG, added=added, points=16
    )
    v = R.T @ [*current, 0.0]
    nodes = run(kernel, about, seconds=20.0, h=0.02, R=R, v=v, vehicle=vehicle)
    # Adrift there is no turning moment, though its inertia differs by direction. Measured 7.4e-5 rad/s and 4.5e-4 m/s,
    # of first order in the step.
    assert np.abs(nodes[:, 12:15]).max() < 3e-4
    assert np.abs(nodes[-1, 15:] - v).max() < 2e-3
    still = Water.of(
        SHAPE, Weather(Sea(0.0), current_mps=current), drag=300.0, mass=KG, added=added, points=16
    )
    begun = run(kernel, still, seconds=120.0, h=0.02, R=R, vehicle=vehicle)
    drift = begun[-1, :9].reshape(3, 3).T @ begun[-1, 15:]
    assert drift[:2] == pytest.approx(current, abs=1e-3)  # measured 2.7e-5


def test_hull_and_ocean_meet_the_same_water(kernel: Kernel) -> None:
    sea = Sea(7.0, 0.4, 40e3, 1.0, seed=3)
    about, ocean = water(Weather(sea), drag=100.0, points=32), Ocean(sea, points=32)
    run(kernel, about, seconds=2.0, h=0.05)
    corner, lattices = about.kept[7], about.kept[6]
    number = int(about.kept[3][:, 0].min())
    spacing = about.about[3 + 2]
    index = np.arange(36)
    x, y = np.meshgrid((corner[0] + index) * spacing, (corner[1] + index) * spacing)
    height = ocean.height(x, y, number / 20.0)
    # the same grids, read by the same functions
    assert np.array_equal(lattices[number % 2][..., 0], height)


def test_a_run_is_the_same_from_any_remembered_moment(kernel: Kernel) -> None:
    weather = Weather(Sea(9.0, 0.4, 40e3), (3.0, 4.0), 0.3, (0.2, 0.1))
    about, p, u, h = (
        water(weather, drag=100.0, impact=0.5, air=1.0),
        BARGE.parameter_vector,
        np.zeros(1),
        0.02,
    )
    y = kernel.start(BARGE.state(x=(3.0, -2.0, AFLOAT_M)).node, u, p, h, about.probe().env)
    nothing = np.zeros(6)
    kernel.advance(y, u, nothing, p, h, 150, about.env)
    about.change(Weather(Sea(14.0, 1.4, 60e3), (5.0, 0.0)))
    kernel.advance(y, u, nothing, p, h, 90, about.env)
    kept_y, kept = y.copy(), about.report.copy()
    kernel.advance(y, u, nothing, p, h, 200, about.env)
    other = water(Weather(Sea(14.0, 1.4, 60e3), (5.0, 0.0)), drag=100.0, impact=0.5, air=1.0)
    other.report[:] = kept
    other.change(Weather(Sea(14.0, 1.4, 60e3), (5.0, 0.0)))
    kernel.advance(kept_y, u, nothing, p, h, 200, other.env)
    assert np.array_equal(y, kept_y)
    assert np.array_equal(about.report, other.report)


@pytest.mark.parametrize("method", ["variational", "variational-exact", "variational-exp", "rk4", "rkmk4"])
@pytest.mark.parametrize("h", [0.01, 0.1])
def test_a_start_at_a_node_is_the_motion_that_has_this_node(method: str, h: float) -> None:
    """In the midst of waves and gusts: private states to measured 1e-15 of their size; without the wrench's share they
    differ by 0.017 and 0.22."""
    weather = Weather(Sea(9.0, 0.4, 40e3), (3.0, 4.0), 0.3, (0.2, 0.1))
    about = water(weather, drag=900.0, impact=0.5, air=1.0)
    kernel = compile_kernel(BARGE, sim.integrators()[method], WATER)
    p, u = BARGE.parameter_vector, np.array([600.0])
    begin = BARGE.state(
        R=rolled(0.3), x=(3.0, -2.0, AFLOAT_M + 0.2), omega=(0.3, -0.2, 0.5), v=(2.0, 0.7, -0.4)
    )
    y = kernel.start(begin.node, u, p, h, about.probe().env)
    np.testing.assert_allclose(kernel.node(y, u, p, h, env=about.probe().env), begin.node, rtol=0, atol=1e-12)
    kernel.advance(y, u, np.zeros(6), p, h, 7, about.env)
    node = kernel.node(y, u, p, h, env=about.probe().env)
    again = kernel.start(node, u, p, h, about.probe().env)
    np.testing.assert_allclose(again, y, rtol=0, atol=1e-11 * np.abs(y).max())


def test_a_sea_that_is_told_to_change_does_so_without_a_jump() -> None:
    about = water(Weather(Sea(2.0, 6.0)))
    about.report[CLOCK] = 10.0
    about.change(Weather(Sea(20.0, -6.0)))
    seas = np.empty((2000, 4))
    for k in range(2000):
        sea_at(about.report, 10.0 + k * 0.005, seas[k])
    assert seas[0] == pytest.approx(about.report[FROM : FROM + 4])
    assert seas[-1] == pytest.approx(about.report[TOWARDS : TOWARDS + 4])
    assert np.abs(np.diff(seas[:, 0])).max() < 0.02
    # from 6 rad to -6 rad the short way round
    assert np.ptp(seas[:, 1]) == pytest.approx(4 * math.pi - 12.0, abs=1e-9)


def test_ten_minutes_of_storm_with_random_throttle_stay_finite() -> None:
    """Rougher than the scene's, and drawn by half as many points."""
    vehicle = Motorboat(waves=26.0, fetch=200e3, wind=(18.0, 9.0), gusts=0.4)
    kernel = compile_kernel(vehicle, sim.integrators()["variational"], WATER)
    about, p, h = water_about(vehicle, points=64), vehicle.parameter_vector, 0.04
    rng = np.random.default_rng(8)
    us = np.repeat(rng.uniform(-450.0, 900.0, (600, 2)), 25, axis=0)
    y = kernel.start(vehicle.state().node, us[0], p, h, about.probe().env)
    nodes, done, _ = kernel.trajectory(y, us, p, h, len(us), about.env)
    assert done == len(us)
    assert np.isfinite(nodes).all()
    # It keeps to the surface: measured 5.2 m from the mean level; upside down for 11 % of the time, and upright again.
    assert np.abs(nodes[:, 11]).max() < 8.0


def test_added_mass_and_thrust_of_the_motorboat_follow_the_paper() -> None:
    boat = Motorboat()
    q = boat.symbols(ca.SX(boat.parameter_vector))
    wrench = np.array(ca.DM(ca.densify(boat.control_wrench(ca.SX([2.0, 3.0]), q)))).ravel()
    c = np.array(boat.values["thruster_left"])
    # (0, c3, -c2, 1, 0, 0) u for each thruster at c
    left = 2.0 * np.array([0.0, c[2], -c[1], 1.0, 0.0, 0.0])
    right = 3.0 * np.array([0.0, c[2], c[1], 1.0, 0.0, 0.0])
    assert wrench == pytest.approx(left + right)
    inertia = np.array(ca.DM(ca.densify(boat.inertia(q))))
    assert len(set(np.diag(inertia)[3:])) == 3


def test_a_mass_that_its_hull_cannot_carry_is_one_line() -> None:
    with pytest.raises(InputError, match="9000 kg sink"):
        Water.of(SHAPE, CALM, drag=1.0, mass=9000.0, points=16)
