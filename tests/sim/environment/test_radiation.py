"""Laws of a hull that remembers its waves. How it comes to rest is held to potential flow by the ledger's sphere."""

import json
from concurrent.futures import Future
from pathlib import Path

import numpy as np
import pytest

import sim
from assets.scripts import radiation as radiation_script
from sim.commands import KeepTake
from sim.platform.errors import InputError
from sim.recordings.playback import Playback
from sim.scene import load_scene
from sim.simulation import Simulation
from sim.vehicle_config.config import HullMesh
from sim.vehicle_config.radiation import Radiation
from sim.water.carried import turn_momentum
from sim.water.excitation import remembered
from sim.water.immersion import GRAVITY, VERTEX_WIDTH, WATER_DENSITY
from sim.water.ocean.waves import DEEP_M, group_speed_mps, wave_number
from sim.water.water import water_about
from sim.water.wrench import ABOUT, DEPTH, FADE, LATTICE, MEAN, SAMPLES, SPACING, SURFACE, immerse
from sim.world import load_world
from sim.world.path import Stream

FILE = Path(__file__).parents[3] / "assets" / "vehicles" / "wave-buoy" / "radiation.json"


def test_the_system_is_passive_and_near_to_what_panels_say(radiation: Radiation) -> None:
    F, _ = radiation.system
    assert np.linalg.eigvalsh(F + F.T)[-1] <= 1e-9
    assert np.linalg.eigvals(F).real.max() < 0.0
    torque_x, torque_y, torque_z, ahead, across, up = radiation.error()
    assert max(ahead, across, torque_x, torque_y) < 0.001
    assert up < 0.003
    assert torque_z == 0.0  # a sphere that turns about its axis makes no waves


def test_systems_have_the_states_that_the_command_makes_where_it_is_not_told(radiation: Radiation) -> None:
    """Of each way of radiating: heave, and surge and sway with what couples to them."""
    for told in (radiation, *radiation.beside):
        assert len(told.system[0]) == 3 * radiation_script.STATES


def test_over_a_shallow_bed_the_same_holds_of_another_system(radiation: Radiation) -> None:
    """Measured: 0.9 % at most."""
    shallow = radiation.over(12.0)
    assert (radiation.depth_m, shallow.depth_m) == (DEEP_M, 10.0)
    assert radiation.over(800.0) is radiation
    F, _ = shallow.system
    assert np.linalg.eigvalsh(F + F.T)[-1] <= 1e-9
    assert shallow.error().max() < 0.012
    buoy = sim.vehicle("wave-buoy", depth=10.0)
    np.testing.assert_array_equal(water_about(buoy).radiation[0], F)


@pytest.mark.parametrize("depth_m", (10.0, DEEP_M))
def test_long_waves_carry_away_what_haskinds_relation_says(radiation: Radiation, depth_m: float) -> None:
    """B = k |X|^2 / (4 rho g c_g) in heave (Newman 1962), X being that of long waves: stiffness less inertia.

    Measured at the lowest frequency: 0.7 % over the bed, 0.2 % in deep water.
    """
    told = radiation.over(depth_m)
    omega, added, damping = told.omega_radps[0], told.added[0, 5, 5], told.damping[0, 5, 5]
    k = wave_number(float(omega), depth_m)
    mass = 2.0 / 3.0 * np.pi * 5.0**3 * WATER_DENSITY
    force = WATER_DENSITY * GRAVITY * np.pi * 5.0**2 - omega**2 * (mass + added)
    carried = k * force**2 / (4.0 * WATER_DENSITY * GRAVITY * group_speed_mps(k, depth_m))
    assert damping == pytest.approx(carried, rel=0.01)


def test_the_buoys_inertia_has_the_water_that_moves_along_at_once(radiation: Radiation) -> None:
    values = sim.vehicle("wave-buoy").values
    told = np.diag(radiation.added_at_once)  # yaw: 208 kg m^2 of the panels
    np.testing.assert_allclose([*values["added_inertia"], *values["added_mass"]], told, rtol=2e-3, atol=300.0)


def heave(current: tuple[float, float], moving: tuple[float, float], turned_rad: float) -> np.ndarray:
    """Heave (n,) of one let go from 0.4 m with a lean, in such a current."""
    buoy = sim.vehicle("wave-buoy", current=current)
    c, s = np.cos(turned_rad), np.sin(turned_rad)
    R = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    start = buoy.state(R=R, x=(3.0, -2.0, -1.6), v=tuple(R.T @ (*moving, 0.0)))
    run = sim.simulate(buoy, "variational", step=0.01, duration=6.0, initial=start)
    assert run.diverged_at is None
    return run.pose[:, 2, 3]


def test_what_drifts_with_the_current_heaves_as_in_still_water() -> None:
    """Whatever way it looks: the memory has the velocity through the water, in the body's axes."""
    still = heave((0.0, 0.0), (0.0, 0.0), 0.0)
    adrift = heave((0.7, -0.4), (0.7, -0.4), 1.1)
    assert np.ptp(still) > 0.5
    np.testing.assert_allclose(adrift, still, atol=2e-3)


def test_waves_that_it_sends_out_bring_it_to_rest() -> None:
    """No drag: extremes of its heave shrink, and what it sends ahead slows it down sideways, too."""
    buoy = sim.vehicle("wave-buoy")
    start = buoy.state(x=(0.0, 0.0, -1.2))
    run = sim.simulate(buoy, "variational", step=0.02, duration=40.0, initial=start)
    z = run.pose[:, 2, 3] + 2.0
    turns = np.abs(z[1:-1][np.diff(np.sign(np.diff(z))) != 0])
    turns = turns[turns > 1e-3]
    assert len(turns) > 5
    assert (np.diff(turns) < 0.0).all()
    assert np.abs(z[-100:]).max() < 0.02


def test_the_momentum_of_waves_sent_out_is_turned_along_and_does_no_work(radiation: Radiation) -> None:
    """Kirchhoff: force p x omega, torque L x omega + p x v of what the hull has through the water; and the momentum is
    the integral of the force that the waves exert."""
    rng = np.random.default_rng(3)
    n = len(radiation.system[0])
    state, momentum = rng.normal(size=n), rng.normal(size=(6, n))
    twist, stream = rng.normal(size=(2, 6))
    damping, load = np.zeros((6, 6)), np.zeros(6)
    turn_momentum(momentum, state, stream, damping, load)
    L, p = np.split(momentum @ state, 2)
    (omega, v), felt = np.split(twist - stream, 2), load - damping @ twist
    np.testing.assert_allclose(
        felt, np.r_[np.cross(L, omega) + np.cross(p, v), np.cross(p, omega)], atol=1e-12
    )
    np.testing.assert_allclose(damping, -damping.T, atol=1e-15)
    F, G = radiation.system
    h, x, pushed, way = 1e-3, np.zeros(n), np.zeros(6), np.zeros(6)
    told = remembered(radiation, DEEP_M, np.zeros((0, 5)), np.ones(6))[6]
    for step in range(2000):
        v = np.sin(3.0 * h * (step + 0.5)) * np.ones(6)
        before, x = x, np.linalg.solve(np.eye(n) - 0.5 * h * F, (np.eye(n) + 0.5 * h * F) @ x + h * G @ v)
        pushed, way = pushed + 0.5 * h * G.T @ (before + x), way + h * v
    still = np.linalg.solve(F.T, G).T @ G  # what a fit has at no frequency: nothing, but for its error
    np.testing.assert_allclose(told @ x - still @ way, pushed, atol=1e-6 * np.abs(pushed).max())


def test_pressure_of_a_wave_fades_with_depth() -> None:
    """Of linear waves: rho g (-z + eta e^(-k d)), d under the surface; where it does not fade, the whole column."""
    eta, k, level = 0.7, 0.35, -0.2
    now = np.zeros((LATTICE, LATTICE, SAMPLES))
    now[..., SURFACE], now[..., FADE] = eta, k
    about = np.zeros(ABOUT)
    about[SPACING], about[MEAN], about[DEPTH] = 1.0, level, DEEP_M
    vertices = np.array([[0.0, 0.0, z] for z in (0.9, 0.5, 0.2, -1.0, -4.0)])
    pose, still = np.r_[np.eye(3).ravel(), 0.3, -0.4, 0.0], Stream.still()
    d = level + eta - vertices[:, 2]
    for fades, head in ((True, level - vertices[:, 2] + eta * np.exp(-k * d.clip(0.0))), (False, d)):
        rows = np.zeros((len(vertices), VERTEX_WIDTH))
        corner, river = np.array([-8, -8, 1, 1, 1]), (still.velocity_w, still.frame)
        immerse(vertices, pose, now, corner, about, river, np.empty(SAMPLES), rows, fades)
        np.testing.assert_allclose(rows[:, 3], head, atol=1e-14)


def test_a_take_replays_to_the_bit() -> None:
    world = load_world("sea")
    simulation = Simulation(load_scene("buoy"), world)
    for _ in range(30):
        simulation.advance(0.05)
    reply: Future = Future()
    simulation.submit(KeepTake(reply))
    simulation.advance(0.0)
    segment = reply.result(timeout=10).segments[0]
    playback = Playback([segment], lambda: world)
    assert np.array_equal(playback.node(playback.moment(segment, segment.steps)), simulation.run.flown.node)


@pytest.mark.parametrize(
    "change, told",
    [
        ({"F": [[1.0]], "G": [[0.0] * 6]}, "eigenvalue 2; allowed: none above 0"),
        ({"F": [[-1.0]], "G": [[0.0] * 5]}, r"G has shape \(1, 5\); allowed: \(1, 6\)"),
        ({"F": [], "G": []}, "shape|states"),
        ({"damping": [[1.0]]}, "cannot be read|damping has shape"),
        ({"by": 3}, "cannot be read as a hull's radiation"),
        ({"hull": "x"}, "cannot be read as a hull's radiation"),
        ({"excited": [[[[0.0, 0.0]] * 5]]}, r"excited has shape \(1, 1, 5, 2\); allowed: \(40, 1, 6, 2\)"),
        ({"excited": [[], []]}, "excited has shape"),
        (
            {"under_way": [[2.0, [[[[0.0, 0.0]] * 6]]]]},
            r"under_way, 2 m/s, has shape \(1, 1, 6, 2\); allowed",
        ),
        (
            {"excited": None, "under_way": [[2.0, []]]},
            r"under_way has speeds \[2.0\]; allowed: rising from 0",
        ),
        ({"excited": [[[[0.0, 0.0]] * 6], []]}, "cannot be read as a hull's radiation"),
    ],
)
def test_other_numbers_are_refused_in_a_line(tmp_path: Path, change: dict[str, object], told: str) -> None:
    file = tmp_path / "radiation.json"
    file.write_text(json.dumps({**json.loads(FILE.read_text()), **change}))
    with pytest.raises(InputError, match=told) as refused:
        Radiation.read(file)
    assert "radiation.json" in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", ["car", "nothing"])
def test_what_has_no_hull_is_refused_in_a_line(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["radiation", name])
    monkeypatch.setattr(radiation_script, "find_spec", lambda library: library)
    with pytest.raises(SystemExit, match="2"):
        radiation_script.main()
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.endswith(f"{name} has no hull.obj in its folder; allowed: motorboat, wave-buoy")


def test_without_capytaine_it_is_said_how_to_have_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["radiation", "wave-buoy"])
    monkeypatch.setattr(radiation_script, "find_spec", lambda library: None)
    with pytest.raises(SystemExit, match="2"):
        radiation_script.main()
    assert 'pip install "holonomy[hydrodynamics]"' in capsys.readouterr().err.splitlines()[-1]


def test_panels_that_are_too_long_are_divided_and_the_surface_stays() -> None:
    """Its area and what it encloses, to rounding."""
    hull = HullMesh.read(radiation_script.FOLDERS / "motorboat" / "hull.obj")

    def measured(points: np.ndarray, triangles: np.ndarray) -> tuple[float, float, float]:
        a, b, c = np.moveaxis(points[triangles], 1, 0)
        normal = np.cross(b - a, c - a) / 2.0
        longest = max(np.linalg.norm(x - y, axis=1).max() for x, y in ((a, b), (b, c), (c, a)))
        return np.linalg.norm(normal, axis=1).sum(), (normal * a).sum() / 3.0, longest

    *before, longest = measured(hull.vertices, np.asarray(hull.triangles))
    *after, left = measured(*radiation_script.divided(hull.vertices, np.asarray(hull.triangles), 0.2))
    assert longest > 0.5
    assert left <= 0.2
    assert after == pytest.approx(before, rel=1e-12)
