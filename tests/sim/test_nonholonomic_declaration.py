"""Mistakes in a vehicle's declaration are answered by one sentence that names the vehicle and the piece."""

import casadi as ca
import pytest

import sim
from sim.vehicles import Control, NonholonomicVehicle, Parameter, ShapeCoordinate
from sim.vehicles.car import Car
from sim.vehicles.snakeboard import Snakeboard


class Sled(NonholonomicVehicle):
    """A blade that a weight on a sliding mast pushes about: correct as it stands."""

    name = "sled"
    parameters = (Parameter("mass", "kg", 2.0, 0.1, 10.0, "Mass."),)
    controls = (Control("f_slide", "N", -10.0, 10.0, "Force on the weight."),)
    shape_coordinates = (ShapeCoordinate("slide", "m", "Offset of the weight."),)

    def lagrangian(self, r, u, xi, q):
        return q.mass * (xi[0] ** 2 + xi[1] ** 2 + xi[2] ** 2 + (u[0] + r[0] * xi[0]) ** 2) / 2

    def constraints(self, r, q):
        return ca.horzcat(0, -0.5, 0, 1)

    def connection(self, r, q):
        return ca.SX(3, 1)

    def symmetry_basis(self, r, q):
        return ca.vertcat(ca.horzcat(1, 0), ca.horzcat(0, 1), ca.horzcat(0.5, 0))

    def shape_force(self, r, u, controls, q):
        return controls


def test_a_sound_declaration_runs():
    run = sim.simulate(Sled(), step=0.01, duration=1.0, controls=[1.0])
    assert run.diverged_at is None
    assert run.shape[-1, 0] > 0.1


def slipping(self, r, q):
    return ca.SX([[0.1], [0.2], [0.3]])


def sideways(self, r, q):
    return ca.vertcat(ca.horzcat(1, 0), ca.horzcat(0, 1), ca.horzcat(0.5, 0.1))


def half_free(self, r, q):
    return ca.SX([1.0, 0.0, 0.5])


MISTAKES = {
    "connection A(r) does not annihilate the constraint directions: moving 'slide'": {"connection": slipping},
    "symmetry_basis: e_2 is outside the admissible set, it violates constraint 1": {
        "symmetry_basis": sideways
    },
    "symmetry_basis has 1 columns of rank 1, but the constraints leave the locked vehicle 2": {
        "symmetry_basis": half_free
    },
    "connection is 2 x 1, wanted 3 x 1": {"connection": lambda self, r, q: ca.SX(2, 1)},
    "symmetry_basis is 2 x 2, wanted 3 x n": {"symmetry_basis": lambda self, r, q: ca.SX(2, 2)},
    "constraints is 1 x 3, wanted n x 4": {"constraints": lambda self, r, q: ca.SX(1, 3)},
    "shape_force is 2 x 1, wanted 1 x 1": {"shape_force": lambda self, r, u, controls, q: ca.SX(2, 1)},
    "external_wrench is 6 x 1, wanted 3 x 1": {
        "external_wrench": lambda self, g, xi, controls, q: ca.SX(6, 1)
    },
    "lagrangian has no velocity terms": {"lagrangian": lambda self, r, u, xi, q: -q.mass * r[0]},
    "lagrangian gives 'slide' no positive kinetic energy": {
        "lagrangian": lambda self, r, u, xi, q: q.mass * ca.dot(xi, xi) / 2
    },
    "lagrangian is not quadratic in the velocities": {
        "lagrangian": lambda self, r, u, xi, q: q.mass * (ca.dot(xi, xi) + u[0] ** 4 + u[0] ** 2) / 2
    },
    "lagrangian cannot be evaluated": {"lagrangian": lambda self, r, u, xi, q: q.length * u[0] ** 2},
    "'slide' is commanded by 'f_pull', which is no control": {"commanded": {"slide": "f_pull"}},
    "commanded names 'mast', which is no shape coordinate": {"commanded": {"mast": "f_slide"}},
    "lagrangian depends on 'stray', which is none of its arguments": {
        "lagrangian": lambda self, r, u, xi, q: ca.SX.sym("stray") * (ca.dot(xi, xi) + u[0] ** 2)
    },
}


@pytest.mark.parametrize("sentence", MISTAKES)
def test_mistakes_are_named(sentence):
    wrong = type("Wrong", (Sled,), {"name": "wrong-sled", **MISTAKES[sentence]})
    with pytest.raises(sim.InputError) as caught:
        wrong()
    text = str(caught.value)
    assert text.startswith("vehicle 'wrong-sled': ")
    assert sentence in text
    assert "\n" not in text


@pytest.mark.parametrize("missing", ["lagrangian", "constraints"])
def test_a_missing_piece_is_named(missing):
    wrong = type("Wrong", (Sled,), {"name": "bare", missing: getattr(NonholonomicVehicle, missing)})
    with pytest.raises(sim.InputError, match=f"'bare' declares no {missing}"):
        wrong()


def test_a_wrong_sign_in_the_papers_connection_is_found():
    class Backwards(Car):
        name = "backwards"

        def connection(self, r, q):
            turn = q.wheel_radius / q.wheelbase * r[1]
            return ca.vertcat(ca.horzcat(turn, 0), ca.horzcat(q.wheel_radius, 0), ca.SX(1, 2))

    with pytest.raises(sim.InputError, match="moving 'psi' with xi = -A u violates constraint"):
        Backwards()


def test_a_symmetry_direction_with_the_wrong_sign_is_found():
    class Crossed(Snakeboard):
        name = "crossed"

        def symmetry_basis(self, r, q):
            e = super().symmetry_basis(r, q)
            return ca.vertcat(-e[0], e[1], e[2])

    with pytest.raises(sim.InputError, match="e_1 is outside the admissible set"):
        Crossed()


def test_parameters_without_a_positive_kinetic_energy_are_refused():
    """A rotor with more than the whole board's m l^2 = 7.35 takes more than there is."""
    board = sim.vehicle("snakeboard")
    assert board.with_parameters(rotor_inertia=7.3).values["rotor_inertia"] == 7.3
    for make in (lambda: board.with_parameters(rotor_inertia=20.0), lambda: Snakeboard(rotor_inertia=20.0)):
        with pytest.raises(sim.InputError, match="'snakeboard': lagrangian gives 'psi' no positive kinetic"):
            make()


def test_states_are_checked():
    board = sim.vehicle("snakeboard")
    for wrong, text in (
        ({"shape": (0.0,)}, "shape has shape"),
        ({"shape": (0.0, 1.5)}, "shape phi = 1.5 is beyond its stops, -1.3 to 1.3 rad"),
        ({"momentum": (1.0, 2.0)}, "momentum has shape"),
        ({"theta": float("nan")}, "not finite"),
        ({"shape_velocity": "fast"}, "is not numeric"),
    ):
        with pytest.raises(sim.InputError, match="vehicle 'snakeboard'") as caught:
            board.state(**wrong)
        assert text in str(caught.value)
