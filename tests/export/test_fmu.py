"""Units for co-simulation: FMPy finds nothing to complain of in them, and runs them as `sim.simulate` runs vehicles."""

import ctypes
import subprocess
import zipfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import sim
from export.file import export_motions
from export.motion import motion_of_trajectory
from sim.compiler.kernel import compile_kernel
from sim.fmu.description import base_units
from sim.groups.numeric import quaternion_of
from sim.platform.errors import InputError
from sim.platform.processes import GivenUp

pytest.importorskip("ziglang", reason="ziglang is not there, which compiles units")
fmpy = pytest.importorskip("fmpy", reason="FMPy is not there, which runs units")

HERE = ("linux",)


@pytest.fixture(scope="module")
def units(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    """Helicopters for both versions; with drag and wind, so that everything acts."""
    folder = tmp_path_factory.mktemp("units")
    vehicle = sim.vehicle("helicopter", drag=0.1, wind=(3.0, -1.0, 0.5), mass=4.4)
    turned = vehicle.state(R=[[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], v=(8.0, 1.0, -2.0))
    made = {
        version: sim.export_fmu(
            folder / f"helicopter-{version}.fmu",
            vehicle,
            "variational",
            step=0.01,
            initial=turned,
            version=version,
            platforms=HERE,
        )
        for version in ("3.0", "2.0")
    }
    return SimpleNamespace(vehicle=vehicle, start=turned, of=made)


def stirred(count: int) -> np.ndarray:
    """(count, 4) controls of the helicopter that change with every step."""
    t = 0.01 * np.arange(count)[:, None]
    return np.array([47.0, 0.0, 0.01, 0.0]) + [6.0, 0.3, 0.02, 0.02] * np.sin(t * [3.1, 2.3, 4.7, 3.9])


def opened(path: Path, folder: Path) -> SimpleNamespace:
    """A unit of version 3.0 that was instantiated and initialized, with its variables by name."""
    from fmpy.fmi3 import FMU3Slave

    told = fmpy.read_model_description(str(path))
    unzipped = fmpy.extract(str(path), unzipdir=str(folder))
    slave = FMU3Slave(
        guid=told.guid,
        unzipDirectory=unzipped,
        modelIdentifier=told.coSimulation.modelIdentifier,
        instanceName="one",
    )
    slave.instantiate()
    return SimpleNamespace(slave=slave, at={v.name: v.valueReference for v in told.modelVariables})


def begun(unit: SimpleNamespace, u: np.ndarray) -> None:
    unit.slave.enterInitializationMode(startTime=0.0)
    set_controls(unit, u)
    unit.slave.exitInitializationMode()


def set_controls(unit: SimpleNamespace, u: np.ndarray) -> None:
    names = [name for name in unit.at if name.startswith("controls.")]
    unit.slave.setFloat64([unit.at[name] for name in names], list(u))


def read(unit: SimpleNamespace, name: str, size: int) -> np.ndarray:
    return np.array(unit.slave.getFloat64([unit.at[name]], nValues=size))


@pytest.mark.parametrize("version", ["3.0", "2.0"])
def test_fmpy_has_no_complaint_and_its_run_is_the_vehicles(units: SimpleNamespace, version: str) -> None:
    from fmpy.validation import validate_fmu

    path = str(units.of[version])
    assert validate_fmu(path) == []
    found = fmpy.simulate_fmu(path, stop_time=3.0, output_interval=0.01)
    run = sim.simulate(units.vehicle, "variational", step=0.01, duration=3.0, initial=units.start)

    def column(name: str, size: int) -> np.ndarray:
        if version == "3.0":
            return found[name]
        return np.stack([found[f"{name}[{k + 1}]"] for k in range(size)], axis=1)

    pose = run.bodies["body"]
    assert np.abs(column("bodies.body.position", 3) - pose[:, :3, 3]).max() < 1e-12  # 2e-13 m
    quaternions = np.array([quaternion_of(R) for R in pose[:, :3, :3]])
    assert np.abs(column("bodies.body.quaternion", 4) - quaternions).max() < 1e-12  # 1e-15
    assert np.abs(column("omega", 3) - run.velocity[:, :3]).max() < 1e-12  # 4e-16
    assert np.abs(found["energy"] - run.energy).max() < 1e-12 * np.abs(run.energy).max()  # 2e-15
    assert np.abs(found["observables.lift_over_weight"] - run.observables["lift_over_weight"]).max() < 1e-12


@pytest.mark.parametrize(
    "vehicle, method",
    [
        (sim.vehicle("snakeboard"), "variational"),
        (sim.vehicle("pendulum", links=3), "rkmk4"),
        (sim.vehicle("rigid-body"), "rkmk54"),
        (sim.vehicle("quadrotor", motor_lag=0.05), "variational-6"),
        (sim.vehicle("ragdoll"), "variational"),
        (sim.vehicle("delta-robot"), "variational"),
        (sim.vehicle("delta-robot"), "rk4"),
    ],
    ids=lambda x: x if isinstance(x, str) else x.name,
)
def test_other_forms_and_methods_run_as_they_do_here(
    vehicle: sim.Vehicle, method: str, tmp_path: Path
) -> None:
    """Constraints, a space of its own, steps that divide themselves, steps in parts with actuators that lag; trees of
    joints, one thrown (4e-14 m off after 5 m) and one with closed loops by impulses and by accelerations."""
    path = sim.export_fmu(tmp_path / "unit.fmu", vehicle, method, 0.02, version="2.0", platforms=HERE)
    found = fmpy.simulate_fmu(str(path), stop_time=1.0, output_interval=0.02)
    run = sim.simulate(vehicle, method, step=0.02, duration=1.0)
    for name, T in run.bodies.items():
        place = np.stack([found[f"bodies.{name}.position[{k}]"] for k in (1, 2, 3)], axis=1)
        assert np.abs(place - T[:, :3, 3]).max() < 1e-12, name
    assert np.abs(found["energy"] - run.energy).max() < 1e-12 * max(1.0, np.abs(run.energy).max())


def test_a_whip_is_off_by_no_more_than_its_last_bits_make_of_it(tmp_path: Path) -> None:
    """A rope at whose end everything grows: what differs is how two compilers round."""
    vehicle, step_s, steps = sim.vehicle("cosserat-rope"), 0.01, 100
    path = sim.export_fmu(tmp_path / "rope.fmu", vehicle, "riqn", step_s, version="3.0", platforms=HERE)
    found = fmpy.simulate_fmu(str(path), stop_time=steps * step_s, output_interval=step_s)
    run, other = (
        sim.simulate(one, "riqn", step=step_s, duration=steps * step_s)
        for one in (vehicle, vehicle.with_parameters(gravity=np.nextafter(9.81, 0.0)))
    )
    place = run.bodies["load"][:, :3, 3]
    off = np.abs(found["bodies.load.position"] - place).max(axis=1)
    of_last_bits = np.abs(other.bodies["load"][:, :3, 3] - place).max(axis=1)
    assert off[:41].max() < 1e-11  # 8e-13 m
    assert of_last_bits.max() > 1e-8  # 2e-6 m: it whips
    assert off.max() < 30.0 * of_last_bits.max()  # 0.6 times


def test_controls_of_every_step_and_whole_rows_at_once(units: SimpleNamespace, tmp_path: Path) -> None:
    us = stirred(200)
    run = sim.simulate(
        units.vehicle, "variational", step=0.01, duration=2.0, initial=units.start, controls=us
    )
    unit = opened(units.of["3.0"], tmp_path)
    begun(unit, us[0])
    for k, u in enumerate(us):
        set_controls(unit, u)
        assert np.abs(read(unit, "velocity", 3) - run.velocity[k, 3:]).max() < 1e-12
        unit.slave.doStep(0.01 * k, 0.01)
    assert np.abs(read(unit, "bodies.body.position", 3) - run.pose[-1][:3, 3]).max() < 1e-12
    unit.slave.terminate()
    unit.slave.freeInstance()


def test_a_state_that_was_kept_goes_on_to_the_bit(units: SimpleNamespace, tmp_path: Path) -> None:
    us = stirred(100)
    unit = opened(units.of["3.0"], tmp_path)
    begun(unit, us[0])
    ends = []
    kept = None
    for attempt in range(3):
        if attempt == 1:
            unit.slave.setFMUState(kept)
        if attempt == 2:  # in bytes, as a program would put it on a disk
            unit.slave.setFMUState(unit.slave.deserializeFMUState(unit.slave.serializeFMUState(kept)))
        for k in range(attempt and 50, 100):
            if attempt == 0 and k == 50:
                kept = unit.slave.getFMUState()
            set_controls(unit, us[k])
            unit.slave.doStep(0.01 * k, 0.01)
        ends.append(np.r_[read(unit, "bodies.body.position", 3), read(unit, "momentum", 6)])
    np.testing.assert_array_equal(ends[0], ends[1])
    np.testing.assert_array_equal(ends[0], ends[2])
    unit.slave.reset()
    begun(unit, us[0])
    unit.slave.doStep(0.0, 1.0)  # a hundred steps at once, under what is held
    held = sim.simulate(
        units.vehicle, "variational", step=0.01, duration=1.0, initial=units.start, controls=us[0]
    )
    assert np.abs(read(unit, "bodies.body.position", 3) - held.pose[-1][:3, 3]).max() < 1e-12
    unit.slave.terminate()
    unit.slave.freeInstance()


def test_derivatives_are_those_that_differences_approach(units: SimpleNamespace, tmp_path: Path) -> None:
    """The step's state stays: of a heavier vehicle with the same momentum another velocity comes out."""
    unit, u, eps = opened(units.of["3.0"], tmp_path), stirred(60)[-1], 1e-5
    begun(unit, u)
    unit.slave.doStep(0.0, 0.6)
    kernel = compile_kernel(units.vehicle, sim.integrators()["variational"])
    p, h = units.vehicle.parameter_vector, 0.01
    y = kernel.start(units.start.node, u, p, h)
    kernel.advance(y, u, np.zeros(6), p, h, 60)

    def seen(of_mass: float, of_lift: float) -> np.ndarray:
        changed, pulled = p.copy(), u.copy()
        changed[0] += of_mass
        pulled[0] += of_lift
        node = kernel.node(y, pulled, changed, h)
        told = kernel.observe(node, pulled, changed)
        return np.r_[told.twist_b[3:], told.energy_J, told.observables["lift_over_weight"]]

    wanted = [unit.at[name] for name in ("velocity", "energy", "observables.lift_over_weight")]
    for known, step in (("mass", (eps, 0.0)), ("controls.u_c", (0.0, eps))):
        exact = np.array(unit.slave.getDirectionalDerivative(wanted, [unit.at[known]], [1.0], 5))
        differences = (seen(*step) - seen(*(-x for x in step))) / (2.0 * eps)
        assert np.abs(exact).max() > 1e-3
        assert np.abs(exact - differences).max() < 1e-7 * np.abs(exact).max()  # 5e-10
    unit.slave.terminate()
    unit.slave.freeInstance()


def test_a_tree_of_joints_runs_goes_back_and_tells_derivatives_as_it_does_here(tmp_path: Path) -> None:
    """By the very recursions that advance it here, with a start of its own and torques that change with every step."""
    arm = sim.vehicle("six-axis-arm", hand_mass=3.0)
    start = arm.state({name: 0.1 * k for k, name in enumerate(arm.tree.coordinate_names)})
    us = 20.0 * np.sin(0.05 * np.arange(100)[:, None] * [3.1, 2.3, 4.7, 3.9, 5.3, 1.7])
    run = sim.simulate(arm, "variational", step=0.01, duration=1.0, initial=start, controls=us)
    path = sim.export_fmu(
        tmp_path / "arm.fmu", arm, "variational", 0.01, initial=start, platforms=HERE, version="3.0"
    )
    unit = opened(path, tmp_path / "unzipped")
    begun(unit, us[0])
    kept = None
    for k, u in enumerate(us):
        set_controls(unit, u)
        assert abs(read(unit, "energy", 1)[0] - run.energy[k]) < 1e-12 * np.abs(run.energy).max()
        if k == 60:
            kept = unit.slave.getFMUState()
        unit.slave.doStep(0.01 * k, 0.01)
    names = [name for name in unit.at if name.startswith("joints.")]
    end = np.array([read(unit, name, 1)[0] for name in names])
    assert np.abs(end - run.nodes[-1]).max() < 1e-11  # 3e-14
    unit.slave.setFMUState(unit.slave.deserializeFMUState(unit.slave.serializeFMUState(kept)))
    for k in range(60, 100):
        set_controls(unit, us[k])
        unit.slave.doStep(0.01 * k, 0.01)
    np.testing.assert_array_equal([read(unit, name, 1)[0] for name in names], end)
    size = len(arm.tree.velocity_names)
    wanted = [unit.at[f"observables.{name}"] for name in ("torque", "angle")]
    driven = [unit.at[f"controls.{control.name}"] for control in arm.controls]
    slopes = np.array(unit.slave.getDirectionalDerivative(wanted, driven[2:3], [2.0], 2 * size))
    expected = np.r_[2.0 * np.eye(size)[arm.driven[2]], np.zeros(size)]
    assert np.abs(slopes - expected).max() < 1e-9  # of a control the torque alone; 2e-12
    unit.slave.terminate()
    unit.slave.freeInstance()


def test_a_step_that_plain_newton_does_not_solve_is_solved_there_too(tmp_path: Path) -> None:
    """By the solver of last resort, as LLVM text in the unit: large steps of a fast tumble need it."""
    vehicle = sim.vehicle("rigid-body", inertia=(1.0, 2.0, 3.5))
    fast = vehicle.state(omega=(1.0, 14.0, 1.0))
    run = sim.simulate(vehicle, "variational", step=0.25, duration=5.0, initial=fast)
    path = sim.export_fmu(tmp_path / "unit.fmu", vehicle, "variational", 0.25, initial=fast, platforms=HERE)
    found = fmpy.simulate_fmu(str(path), stop_time=5.0, output_interval=0.25)
    assert run.newton_iterations > 6 * 20  # more than six a step: Newton's own sweeps are not enough
    assert np.abs(found["omega"] - run.velocity[:, :3]).max() < 1e-11  # 5e-13


def test_it_runs_without_python_and_exports_all_functions(units: SimpleNamespace, tmp_path: Path) -> None:
    """Loaded by a process of its own without anything of the project; FMI wants every function to be there."""
    with zipfile.ZipFile(units.of["3.0"]) as unit:
        names = unit.namelist()
        assert {"modelDescription.xml", "binaries/x86_64-linux/helicopter.so"} <= set(names)
        unit.extractall(tmp_path)
    library = ctypes.CDLL(str(tmp_path / "binaries/x86_64-linux/helicopter.so"))
    from fmpy import fmi3

    source = Path(fmi3.__file__).read_text(encoding="utf-8")
    wanted = {word for word in source.replace("'", " ").split() if word.startswith("fmi3") and word.isalnum()}
    functions = [name for name in wanted if name[4:5].isupper() and "Callback" not in name]
    assert all(
        hasattr(library, name) for name in functions if name.startswith(("fmi3Get", "fmi3Set", "fmi3Do"))
    )
    linked = subprocess.run(
        ["ldd", str(tmp_path / "binaries/x86_64-linux/helicopter.so")],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "python" not in linked


def test_a_run_is_exported_as_the_unit_that_flew_it(
    units: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("export.fmu.PLATFORMS", HERE)
    run = sim.simulate(units.vehicle, "variational", step=0.01, duration=0.5, initial=units.start)
    path = export_motions(tmp_path / "run.fmu", [motion_of_trajectory(run)])
    found = fmpy.simulate_fmu(str(path), stop_time=0.5, output_interval=0.01)
    assert np.abs(found["bodies.body.position"] - run.pose[:, :3, 3]).max() < 1e-12


def test_a_unit_says_what_it_is_compiled_for_and_leaves_nothing_when_it_is_given_up(
    units: SimpleNamespace, tmp_path: Path
) -> None:
    """While the compiler works: a first unit takes minutes."""
    said: list[tuple[str, float]] = []

    def report(text: str, share: float) -> None:
        said.append((text, share))
        if len(said) == 2:
            raise GivenUp

    run = sim.simulate(units.vehicle, "variational", step=0.01, duration=0.1, initial=units.start)
    with pytest.raises(GivenUp):
        export_motions(tmp_path / "run.fmu", [motion_of_trajectory(run)], report=report)
    assert "x86_64" in said[0][0]
    assert said[0][1] == 0.0
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "change, said",
    [
        ({"vehicle": "motorboat"}, "water that carries a motorboat"),
        ({"vehicle": "chain", "method": "riqn-variable"}, "divides its steps"),
        ({"vehicle": "ship"}, "ship"),
        ({"path": "unit.zip"}, "ending in .fmu"),
        ({"version": "1.0"}, "allowed: 3.0, 2.0"),
        ({"platforms": ("amiga",)}, "allowed: linux, windows, macos"),
        ({"step": 0.0}, "seconds above 0"),
        ({"path": "nowhere/unit.fmu"}, "cannot be written"),
        ({"method": "rk5000"}, "rk5000"),
    ],
)
def test_what_cannot_be_exported_is_refused_in_a_line(change: dict, said: str, tmp_path: Path) -> None:
    given = {"path": "unit.fmu", "vehicle": "helicopter", "platforms": HERE} | change
    path = tmp_path / given.pop("path")
    with pytest.raises(InputError, match=said) as refused:
        sim.export_fmu(path, **given)
    assert "\n" not in str(refused.value)
    with pytest.raises(InputError, match="export_fmu: 3 is refused"):
        sim.export_fmu(3, "helicopter")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_wrong_use_of_a_unit_is_refused_and_changes_nothing(units: SimpleNamespace, tmp_path: Path) -> None:
    from fmpy.fmi1 import FMICallException

    unit = opened(units.of["3.0"], tmp_path)
    with pytest.raises(FMICallException):
        unit.slave.setFloat64([unit.at["mass"]], [-1.0])
    begun(unit, stirred(1)[0])
    for wrong in (
        lambda: unit.slave.doStep(0.0, 0.0137),
        lambda: unit.slave.doStep(5.0, 0.01),
        lambda: unit.slave.setFloat64([unit.at["mass"]], [5.0]),
        lambda: unit.slave.setFloat64([unit.at["energy"]], [5.0]),
        lambda: unit.slave.setFloat64([unit.at["controls.u_c"]], [float("nan")]),
        lambda: unit.slave.getFloat64([9999]),
    ):
        with pytest.raises(FMICallException):
            wrong()
    unit.slave.doStep(0.0, 0.01)
    run = sim.simulate(
        units.vehicle, "variational", step=0.01, duration=0.01, initial=units.start, controls=stirred(1)[0]
    )
    assert np.abs(read(unit, "bodies.body.position", 3) - run.pose[-1][:3, 3]).max() < 1e-12
    unit.slave.terminate()
    unit.slave.freeInstance()


def test_units_of_quantities_are_told_in_base_units() -> None:
    assert base_units("kg m^2/s") == dict.fromkeys(base_units("1"), 0) | {"kg": 1, "m": 2, "s": -1}
    assert base_units("N m")["s"] == -2
    assert base_units("N s/m, N m s") is None
