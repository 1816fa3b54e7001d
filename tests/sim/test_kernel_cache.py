"""Laws of the cache of machine code: what is damaged, missing or somebody else's costs a compilation, not the run."""

import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sim
from sim.compiler import kernel_text
from sim.compiler.kernel import load_kernel
from sim.native.function import Native, native
from sim.platform.progress import compilations_reported


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOLONOMY_CACHE", str(tmp_path))
    return tmp_path / "nodes"


def compiled_anew(function: Any, *given: float, **options: Any) -> tuple[float, bool]:
    """(what it returns, whether it was compiled for that) of a function that has no machine code in this process."""
    told: list[str] = []
    with compilations_reported(told.append):
        return Native(function, options)(*given), bool(told)


@pytest.fixture
def twice(folder: Path) -> Callable[[], tuple[float, bool]]:
    """(twice 3, whether it was compiled): anew in every call."""

    def doubled(x: float) -> float:
        return 2.0 * x

    return lambda: compiled_anew(doubled, 3.0)


def code_of(folder: Path) -> Path:
    (only,) = folder.glob("*.o")
    return only


def test_what_was_compiled_once_is_loaded(twice: Callable[[], tuple[float, bool]]) -> None:
    assert twice() == (6.0, True)
    assert twice() == (6.0, False)


@pytest.mark.parametrize("share", np.linspace(0.0, 0.999, 30))
def test_a_flipped_bit_anywhere_costs_a_compilation(
    share: float, twice: Callable[[], tuple[float, bool]], folder: Path
) -> None:
    twice()
    path = code_of(folder)
    whole = path.read_bytes()
    damaged = bytearray(whole)
    damaged[int(share * len(whole))] ^= 1 << int(8 * share)
    path.write_bytes(damaged)
    assert twice() == (6.0, True)
    assert path.read_bytes() != damaged
    assert twice() == (6.0, False)


def test_half_a_file_costs_a_compilation(twice: Callable[[], tuple[float, bool]], folder: Path) -> None:
    twice()
    for path in folder.iterdir():
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert twice() == (6.0, True)
    assert twice() == (6.0, False)


@pytest.mark.skipif(sys.platform == "win32", reason="there the system keeps users' folders apart")
def test_a_file_that_others_may_write_is_not_believed(
    twice: Callable[[], tuple[float, bool]], folder: Path
) -> None:
    twice()
    code_of(folder).chmod(0o666)
    assert twice() == (6.0, True)
    assert code_of(folder).stat().st_mode & 0o077 == 0
    assert twice() == (6.0, False)


def test_code_is_named_by_what_it_is_made_of(folder: Path) -> None:
    def made(inner: float, outer: float, arithmetic: bool) -> bool:
        before = {*folder.glob("*.o")}
        table = np.array([inner, 1.0])

        @native(fastmath=("contract",) if arithmetic else ())
        def called(x: float) -> float:
            return x * table[0]

        def calling(x: float) -> float:
            return called(x) + outer

        found, anew = compiled_anew(calling, 2.0)
        assert found == 2.0 * inner + outer
        assert anew == bool({*folder.glob("*.o")} - before)
        return anew

    assert made(3.0, 1.0, False)
    assert not made(3.0, 1.0, False)
    assert made(3.0, 2.0, False)
    assert made(4.0, 2.0, False)
    assert made(4.0, 2.0, True)
    assert not made(4.0, 2.0, False)


def test_a_kernel_of_many_bodies_runs_in_a_process_that_has_not_made_it(folder: Path) -> None:
    """Made in one process and read in the other, both come to the same bits."""
    program = """
import numpy, sim
vehicle = sim.vehicle("quadrotors-with-load", quadrotors=1)
run = sim.simulate(vehicle, "lie-euler", step=0.01, duration=0.05, controls=numpy.array([1.0, 2.0, 3.0]))
print(run.nodes[-1].tobytes().hex())
"""
    told = [
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert told[0] == told[1] != ""
    assert len([*folder.with_name("kernels").glob("holonomy_quadrotors*.ll")]) == 1
    assert len([*folder.glob("*.o")]) > 0


def test_the_generated_text_is_there_to_be_read(folder: Path) -> None:
    made = kernel_text(sim.vehicle("rigid-body"), sim.integrators()["lie-euler"])
    load_kernel(made)
    assert (folder.with_name("kernels") / f"{made.name}.ll").read_text() == made.text


PRINTS = """
import hashlib, sim
from sim.compiler import kernel, kernel_text
from sim.vehicles import VEHICLES
printed, module = [], kernel.kernel_module
kernel.kernel_module = lambda *given, **named: printed.append(given) or module(*given, **named)
class Own(VEHICLES["car"]):
    name = "own"
made = kernel_text({vehicle}, sim.integrators()["variational"])
print(made.name, hashlib.sha256(made.text.encode()).hexdigest(), made.scheme_size, made.moments, made.calls)
print(len(printed))
"""
CAR = 'sim.vehicle("car")'


def printed(vehicle: str) -> tuple[str, int]:
    """(what tells of a kernel's text, how often it was printed) of a process of its own."""
    program = [sys.executable, "-c", PRINTS.replace("{vehicle}", vehicle)]
    told, count = subprocess.run(program, capture_output=True, text=True, check=True).stdout.splitlines()
    return told, int(count)


def test_a_text_is_printed_once_for_all_processes_and_all_values_of_parameters(folder: Path) -> None:
    first, count = printed(CAR)
    assert count == 1
    for vehicle in (CAR, 'sim.vehicle("car", mass=1300.0)'):
        assert printed(vehicle) == (first, 0)


def test_a_damaged_text_is_printed_anew(folder: Path) -> None:
    first, _ = printed(CAR)
    (path,) = folder.with_name("texts").iterdir()
    path.write_bytes(path.read_bytes().replace(b"fadd", b"fsub", 1))
    assert printed(CAR) == (first, 1)


def test_the_text_of_a_vehicle_of_ones_own_is_printed_by_every_process(folder: Path) -> None:
    first, _ = printed("Own()")
    assert printed("Own()") == (first, 1)


RUN = """
import sim
flight = sim.simulate(sim.vehicle("rigid-body"), "lie-euler", step=0.1, duration=1.0)
from sim.platform.cache import cache_dir
print(len(flight.time), cache_dir("kernels"))
"""


PLACE = "from sim.platform.cache import cache_dir; print(cache_dir('kernels'))"


def run(program: str, **variables: str) -> tuple[str, list[str]]:
    """(what it prints, its warnings) of a process with no other variables than these and the search path."""
    root = Path(sim.__file__).resolve().parents[1]
    environment = {"PYTHONPATH": str(root), **variables}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env=environment,
        cwd=variables.get("PWD", str(root)),
        capture_output=True,
        text=True,
        timeout=1500,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr.splitlines()


def in_the_way(tmp_path: Path) -> str:
    (tmp_path / "file").write_text("in the way")
    return str(tmp_path / "file" / "folder")


def test_without_a_cache_everything_works_after_one_warning(tmp_path: Path) -> None:
    printed, (warning,) = run(RUN, HOLONOMY_CACHE=in_the_way(tmp_path))
    assert printed == "11 None"
    assert warning.startswith("holonomy: the cache ")
    assert "cannot be made (Not a directory); HOLONOMY_CACHE may name a folder" in warning


FULL = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))  # as a full disk: what is longer cannot be written
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits of the system")
def test_a_full_disk_costs_time_and_one_warning_and_leaves_nothing_half(tmp_path: Path) -> None:
    # Python would leave half of a module's bytecode beside it, which ends whoever reads it next.
    printed, (warning,) = run(FULL + RUN, HOLONOMY_CACHE=str(tmp_path), PYTHONDONTWRITEBYTECODE="1")
    assert printed == f"11 {tmp_path / 'kernels'}"
    assert "cannot be written (File too large); starts take longer" in warning
    assert [path.name for path in (tmp_path / "kernels").iterdir() if path.name.endswith(".part")] == []
    assert run(RUN, HOLONOMY_CACHE=str(tmp_path))[1] == []


@pytest.mark.skipif(sys.platform == "win32", reason="needs permissions of the system")
@pytest.mark.parametrize("inner", ["", "kernels"])
def test_a_folder_that_others_may_write_is_refused(tmp_path: Path, inner: str) -> None:
    open_to_all = tmp_path / inner
    open_to_all.mkdir(exist_ok=True)
    open_to_all.chmod(0o777)
    printed, (warning,) = run(PLACE, HOLONOMY_CACHE=str(tmp_path))
    assert printed == "None"
    assert f"the cache {open_to_all} is not used: another user may write it" in warning
    assert "mode 777" in warning
    open_to_all.chmod(0o1777 if not inner else 0o755)  # as /tmp: nobody may move what is another's
    assert run(PLACE, HOLONOMY_CACHE=str(tmp_path)) == (str(tmp_path / "kernels"), [])


HOMES = {
    "no variables": ({}, ".cache/holonomy/kernels"),
    "empty ones": ({"XDG_CACHE_HOME": "", "HOLONOMY_CACHE": ""}, ".cache/holonomy/kernels"),
    "relative ones": ({"XDG_CACHE_HOME": "~/.cache"}, ".cache/holonomy/kernels"),
    "another place": ({"XDG_CACHE_HOME": "{home}/elsewhere"}, "elsewhere/holonomy/kernels"),
}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux's conventions")
@pytest.mark.parametrize("case", HOMES)
def test_the_cache_is_where_the_platform_has_it(case: str, tmp_path: Path) -> None:
    variables, place = HOMES[case]
    home = tmp_path / "home"
    home.mkdir()
    given = {name: value.format(home=home) for name, value in variables.items()}
    assert run(PLACE, HOME=str(home), PWD=str(tmp_path), **given) == (str(home / place), [])
    assert [path.name for path in tmp_path.iterdir()] == ["home"]


UNKNOWN = """
import os
if os.geteuid() == 0:
    import sim.platform.cache, sim.platform.errors
    os.setuid(54321)
else:
    import pwd

    def nobody(uid):
        raise KeyError(uid)

    pwd.getpwuid = nobody
from sim.platform.cache import cache_dir
print(cache_dir("kernels"))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux's conventions")
def test_a_user_whom_nobody_knows_and_who_has_no_home_gets_no_cache_and_one_warning(tmp_path: Path) -> None:
    printed, (warning,) = run(UNKNOWN, PWD=str(tmp_path))
    assert printed == "None"
    assert warning == (
        "holonomy: there is no home for a cache; HOLONOMY_CACHE may name a folder; starts take longer"
    )
    assert list(tmp_path.iterdir()) == []
