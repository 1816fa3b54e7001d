"""Laws of what kernels are compiled for: equations, whatever the numbers in them."""

import casadi as ca
import numpy as np
import pytest

import sim
from sim.compiler import compile_kernel, kernel
from sim.vehicles import Control, HolonomicVehicle, Parameter


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Vehicles whose modules are written out."""
    names: list[str] = []
    source = kernel.kernel_module

    def counted(vehicle, scheme, **options):
        names.append(vehicle.name)
        return source(vehicle, scheme, **options)

    monkeypatch.setattr(kernel, "kernel_module", counted)
    return names


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
    assert written == ["cache-probe"]
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
