"""Laws of the kernels' cache: what is damaged costs a compilation, not the run."""

import sys
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import sim
from sim.compiler import compile_kernel, kernel, kernel_file, load_module
from sim.vehicles import Control, HolonomicVehicle, Parameter

TEXT = """
from numba import njit


@njit("float64(float64)", cache=True)
def twice(x):
    return 2.0 * x
"""


@pytest.mark.parametrize("ending", [".nbi", ".nbc"])
def test_halves_of_compiled_functions_are_compiled_anew(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "holonomy_half.py"
    path.write_text(TEXT)

    def result() -> float:
        monkeypatch.delitem(sys.modules, path.stem, raising=False)
        return load_module(path).twice(3.0)

    assert result() == 6.0
    (damaged,) = (tmp_path / "__pycache__").glob(f"*{ending}")
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[: len(whole) // 2])
    assert result() == 6.0
    (again,) = (tmp_path / "__pycache__").glob(f"*{ending}")
    assert len(again.read_bytes()) == len(whole)


def test_half_a_text_is_written_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLONOMY_CACHE", str(tmp_path))
    method = sim.integrators()["lie-euler"]
    path = kernel_file(sim.vehicle("rigid-body"), method).path
    whole = path.read_text()
    path.write_text(whole[: len(whole) // 2])
    assert kernel_file(sim.vehicle("rigid-body"), method).path == path
    assert path.read_text() == whole


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Titles of the modules that are written out."""
    titles: list[str] = []
    source = kernel.module_source

    def counted(vehicle, scheme, title, **options):
        titles.append(title)
        return source(vehicle, scheme, title, **options)

    monkeypatch.setattr(kernel, "module_source", counted)
    return titles


class Probe(HolonomicVehicle):
    """A body of one's own, with an effect that can be switched off and a number that is no parameter."""

    name = "cache-probe"
    parameters = (
        Parameter("mass", "kg", 2.0, 0.1, 1e3, "Mass."),
        Parameter("drag", "N s/m", 0.0, 0.0, 10.0, "Linear drag.", optional=True),
    )
    controls = (Control("u_x", "N", -1.0, 1.0, "Push."),)

    def __init__(self, reach=(1.0, 2.0), **values):
        self.reach = np.array(reach)
        super().__init__(**values)

    def inertia(self, q):
        return ca.diagcat(self.reach[0], self.reach[1], 1.5, q.mass, q.mass, q.mass)

    def control_wrench(self, u, q):
        return ca.vertcat(0, 0, 0, u[0], 0, 0)

    def dissipative_wrench(self, g, xi, q):
        return ca.vertcat(ca.SX(3, 1), -q.drag * xi[3:])


def test_a_hundred_variants_of_a_vehicle_are_compiled_once(written: list[str]) -> None:
    body, ends = Probe(), []
    for k in range(100):
        run = sim.simulate(
            body.with_parameters(mass=1.0 + 0.01 * k), "lie-euler", step=0.1, duration=1.0, controls=[1.0]
        )
        ends.append(run.pose[-1, 0, 3])
    assert written == ["cache-probe under lie-euler"]
    assert len(set(ends)) == 100


def test_what_changes_the_equations_is_compiled_anew(written: list[str]) -> None:
    method = sim.integrators()["rk2"]
    one = compile_kernel(Probe(), method)
    assert compile_kernel(Probe(mass=7.0), method) is one
    assert compile_kernel(Probe((1.0, 2.0), mass=9.0), method) is one
    assert compile_kernel(Probe(drag=0.3), method) is not one
    assert compile_kernel(Probe(drag=0.3), method) is compile_kernel(Probe(drag=0.4), method)
    assert compile_kernel(Probe((1.0, 3.0)), method) is not one
    assert len(written) == 3
