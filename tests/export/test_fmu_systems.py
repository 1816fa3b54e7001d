"""Units on other systems than this one: their files are what those load, and their machine code runs as it does here.

A program in C steps them (`stepper.c`): under Windows' own loader by Wine, on an ARM processor by QEMU; what is for
macOS is put in place by the program itself and bound to the C library that is here.
"""

import os
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import sim
from sim.platform.cache import cache_dir

pytest.importorskip("ziglang", reason="ziglang is not there, which compiles units")
fmpy = pytest.importorskip("fmpy", reason="FMPy is not there, which reads units")

STEPPER = Path(__file__).with_name("stepper.c")
ARM_LIBRARIES = Path("/usr/aarch64-linux-gnu")
WINE = shutil.which("wine64", path=f"{os.environ.get('PATH', '')}:/usr/lib/wine") or shutil.which("wine")
QEMU = shutil.which("qemu-aarch64") if ARM_LIBRARIES.exists() else None
STEP_S, STEPS = 0.01, 100


@dataclass(frozen=True)
class System:
    """Where a unit runs, and what runs its machine code here."""

    platform: str
    folder: str
    ending: str
    stepper: str
    """What the program in C is compiled for."""
    runner: tuple[str | None, ...] = ()


X86, ARM = "x86_64-linux-gnu.2.17", "aarch64-linux-gnu.2.17"
ON_ARM = (QEMU, "-L", str(ARM_LIBRARIES))
SYSTEMS = {
    "3.0": (
        System("linux", "x86_64-linux", "so", X86),
        System("linux", "aarch64-linux", "so", ARM, ON_ARM),
        System("windows", "x86_64-windows", "dll", "x86_64-windows-gnu", (WINE,)),
        System("macos", "x86_64-darwin", "dylib", X86),
        System("macos", "aarch64-darwin", "dylib", ARM, ON_ARM),
    ),
    "2.0": (
        System("linux", "linux64", "so", X86),
        System("windows", "win64", "dll", "x86_64-windows-gnu", (WINE,)),
        System("macos", "darwin64", "dylib", X86),
    ),
}
CASES = [
    pytest.param(
        version,
        system,
        id=system.folder,
        marks=pytest.mark.skipif(None in system.runner, reason="nothing is there that runs it"),
    )
    for version, systems in SYSTEMS.items()
    for system in systems
]


def vehicles() -> dict[str, sim.Vehicle]:
    return {
        "helicopter": sim.vehicle("helicopter", drag=0.1, wind=(3.0, -1.0, 0.5), mass=4.4),
        "delta-robot": sim.vehicle("delta-robot"),
    }


def start_of(vehicle: sim.Vehicle) -> object:
    turned = [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    return vehicle.state(R=turned, v=(8.0, 1.0, -2.0)) if vehicle.name == "helicopter" else None


@pytest.fixture(scope="module")
def units(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Path]:
    """Vehicle and version -> a unit for every system that is tried; for Windows, whose first use takes a minute of
    compiling, where something runs it."""
    folder = tmp_path_factory.mktemp("units")
    platforms = ("linux", "macos", *(("windows",) if WINE else ()))
    return {
        (name, version): sim.export_fmu(
            folder / f"{name}-{version}.fmu", vehicle, step=STEP_S, initial=start_of(vehicle),
            version=version, platforms=platforms,
        )
        for name, vehicle in vehicles().items()
        for version in SYSTEMS
    }  # fmt: skip


@pytest.fixture(scope="module")
def steppers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The program in C, by what it is compiled for."""
    folder, made = tmp_path_factory.mktemp("steppers"), {}
    kept = os.environ | {"ZIG_GLOBAL_CACHE_DIR": str(cache_dir("zig") or folder)}
    for target in (X86, ARM, *(("x86_64-windows-gnu",) if WINE else ())):
        made[target] = folder / f"stepper-{target}.exe"
        libraries = ("-lm", "-ldl") if "linux" in target else ()
        compiler = (sys.executable, "-m", "ziglang", "cc", "-O1", "-s", "-target", target)
        subprocess.run([*compiler, str(STEPPER), "-o", str(made[target]), *libraries], check=True, env=kept)
    return made


@pytest.mark.parametrize("name", list(vehicles()))
@pytest.mark.parametrize("version, system", CASES)
def test_a_unit_runs_on_its_system_as_its_vehicle_does_here(
    version: str,
    system: System,
    name: str,
    units: dict[tuple[str, str], Path],
    steppers: dict[str, Path],
    tmp_path: Path,
) -> None:
    vehicle, unit = vehicles()[name], units[name, version]
    times = STEP_S * np.arange(STEPS)[:, None]
    us = vehicle.neutral_controls + 0.02 * np.sin(times * (2.0 + np.arange(len(vehicle.controls))))
    run = sim.simulate(vehicle, step=STEP_S, duration=STEP_S * STEPS, controls=us, initial=start_of(vehicle))
    with zipfile.ZipFile(unit) as archive:
        inner = f"binaries/{system.folder}/{name.replace('-', '_')}.{system.ending}"
        library = Path(archive.extract(inner, tmp_path))
    told = fmpy.read_model_description(str(unit))
    at = {variable.name: variable.valueReference for variable in told.modelVariables}
    body = list(run.bodies)[-1]
    one_by_one = [""] if version == "3.0" else ["[1]", "[2]", "[3]"]
    places = [f"bodies.{body}.position{which}" for which in one_by_one]
    outputs = [f"{at[place]}:{3 // len(places)}" for place in places] + [str(at["energy"])]
    done = subprocess.run(
        [
            *system.runner, str(steppers[system.stepper]), f"./{library.name}", version,
            told.guid or told.instantiationToken,
            repr(STEP_S), str(STEPS), ",".join(str(at[f"controls.{control.name}"]) for control in vehicle.controls),
            ",".join(outputs),
        ],
        input="\n".join(" ".join(map(repr, row)) for row in us.tolist()),
        capture_output=True,
        text=True,
        check=False,
        cwd=library.parent,
        env=os.environ | {"WINEPREFIX": str(steppers[system.stepper].parent / "wine"), "WINEDEBUG": "-all"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = np.array([line.split() for line in done.stdout.strip().splitlines()], float)
    wanted = np.c_[run.bodies[body][:, :3, 3], run.energy]
    assert np.ptp(wanted[:, :3], axis=0).max() > 0.01
    assert np.abs(found - wanted).max() < 1e-12 * np.abs(wanted).max()  # 3e-15


@pytest.mark.parametrize("version", list(SYSTEMS))
def test_files_are_what_each_system_loads(version: str, units: dict[tuple[str, str], Path]) -> None:
    """By their own words: for which processor and from which system on, and whether they ask for anything else."""
    name = "helicopter"
    with zipfile.ZipFile(units[name, version]) as archive:
        files = {
            Path(inner).parent.name: archive.read(inner)
            for inner in archive.namelist()
            if "binaries" in inner
        }
    number = lambda data, at, size=4: int.from_bytes(data[at : at + size], "little")  # noqa: E731
    for folder, data in files.items():
        assert b"holonomy-fmu-" not in data, folder  # the folder in which it was compiled
        if "darwin" in folder:
            assert number(data, 0) == 0xFEEDFACF
            assert number(data, 4) == (0x0100000C if "aarch64" in folder else 0x01000007)
            assert number(data, 12) == 6  # a library
            commands, at = [], 32
            for _ in range(number(data, 16)):
                commands.append((number(data, at), data[at : at + number(data, at + 4)]))
                at += len(commands[-1][1])
            (built,) = [text for kind, text in commands if kind == 0x32]
            assert (number(built, 8), number(built, 12) >> 16) == (1, 11)  # macOS from 11 on
            asked = [text[24:].split(b"\0")[0] for kind, text in commands if kind == 0xC]
            assert asked == [b"/usr/lib/libSystem.B.dylib"]
            signed = any(kind == 0x1D for kind, _ in commands)
            assert signed or "aarch64" not in folder  # Apple's own processors load nothing else
        elif "win" in folder:
            head = number(data, 60)
            assert (data[:2], data[head : head + 4]) == (b"MZ", b"PE\0\0")
            assert number(data, head + 4, 2) == 0x8664
            assert number(data, head + 22, 2) & 0x2000  # a library
        else:
            assert data[:5] == b"\x7fELF\x02"
            assert number(data, 18, 2) == (183 if "aarch64" in folder else 62)
            assert number(data, 16, 2) == 3  # a library


def test_equal_vehicles_give_equal_units(units: dict[tuple[str, str], Path], tmp_path: Path) -> None:
    """To the byte, wherever and whenever they are compiled."""
    vehicle = vehicles()["helicopter"]
    platforms = ("linux", "macos", *(("windows",) if WINE else ()))
    again = sim.export_fmu(
        tmp_path / "again.fmu", vehicle, step=STEP_S, initial=start_of(vehicle), platforms=platforms
    )
    assert again.read_bytes() == units["helicopter", "3.0"].read_bytes()
