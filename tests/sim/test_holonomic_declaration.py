"""Mistakes in a holonomic vehicle's declaration are answered by one line: the vehicle, the method, what is allowed."""

import casadi as ca
import numpy as np
import pytest

import sim
from sim.groups import SE2, SO3
from sim.vehicles import Control, HolonomicVehicle, Parameter

MASS = Parameter("mass", "kg", 2.0, 0.1, 10.0, "Mass.")
PUSH = Control("u_x", "N", -1.0, 4.0, "Push ahead.")


class Pod(HolonomicVehicle):
    """A body that is pushed ahead and dragged: correct as it stands."""

    name = "pod"
    parameters = (
        MASS,
        Parameter("arm", "m", 0.3, -5.0, 5.0, "Of the product of inertia."),
        Parameter("gravity", "m/s^2", 9.81, 0.0, 20.0, "Down."),
    )
    controls = (PUSH,)

    def inertia(self, q):
        spin = ca.blockcat([[2, q.arm, 0], [q.arm, 3, 0], [0, 0, 4]])
        return ca.diagcat(spin, q.mass * ca.SX.eye(3))

    def potential(self, g, q):
        return q.mass * q.gravity * g[11]

    def control_wrench(self, u, q):
        return ca.vertcat(0, 0, 0, u[0], 0, 0)

    def dissipative_wrench(self, g, xi, q):
        return ca.vertcat(-0.1 * xi[:3], -0.4 * ca.sqrt(ca.dot(xi[3:], xi[3:]) + 1e-12) * xi[3:])


def test_a_sound_declaration_flies():
    run = sim.simulate(Pod(), step=0.01, duration=1.0, controls=[3.0])
    assert run.diverged_at is None
    assert run.pose[-1, 2, 3] < -3.0


class Numbers(HolonomicVehicle):
    """What it declares is numbers, in numpy's arrays."""

    name = "numbers"
    controls = (PUSH,)

    def inertia(self, q):
        return np.diag([1.0, 2.0, 3.0, 4.0, 4.0, 4.0])

    def momentum_bias(self, q):
        return np.array([0.0, 0.0, 0.3, 0.0, 0.0, 0.0])

    def control_wrench(self, u, q):
        return np.array([0.1, 0.0, 0.0, 1.0, 0.0, 0.0])

    def dissipative_wrench(self, g, xi, q):
        return np.zeros(6)


class Expressions(Numbers):
    """The same as CasADi's expressions."""

    name = "expressions"

    def inertia(self, q):
        return ca.SX(ca.diag([1.0, 2.0, 3.0, 4.0, 4.0, 4.0]))

    def momentum_bias(self, q):
        return ca.SX([0.0, 0.0, 0.3, 0.0, 0.0, 0.0])

    def control_wrench(self, u, q):
        return ca.SX([0.1, 0.0, 0.0, 1.0, 0.0, 0.0])


FAMILIES = {
    method.family: name for name, method in sim.integrators().items() if not method.serves(Expressions())
}


@pytest.mark.parametrize(
    "method", ["variational-exact", "variational-split", "newmark", "implicit-rk2", *FAMILIES.values()]
)
def test_numbers_in_arrays_are_declarations_like_expressions(method):
    """Measured: to the bit."""
    one, other = (sim.simulate(kind(), method, step=0.02, duration=0.2) for kind in (Numbers, Expressions))
    np.testing.assert_array_equal(one.nodes, other.nodes)
    np.testing.assert_array_equal(one.energy, other.energy)


def left_from_another(self, g, q):
    return q.mass * ca.SX.sym("xi_3") ** 2


def fails_inside(self, u, q):
    thrust = u[0]
    return ca.vertcat(thrust, undeclared)  # noqa: F821


UNDECLARED = fails_inside.__code__.co_firstlineno + 2


def asymmetric(self, q):
    inertia = ca.SX.eye(6)
    inertia[0, 4] = 0.25
    return inertia


def coupled_too_strongly(self, q):
    inertia = ca.SX.eye(6)
    inertia[1, 3] = inertia[3, 1] = 1.0
    return inertia


MISTAKES = [
    ({"inertia": HolonomicVehicle.inertia}, "declares no inertia(q)"),
    (
        {"inertia": lambda self, q: ca.SX.eye(3)},
        "inertia is 3 x 3, wanted 6 x 6; the group is SE3, 3 rows belong to SE2, or SO3 about a fixed point",
    ),
    (
        {"inertia": asymmetric},
        "inertia is not symmetric: row 1, column 5 is 0.25, row 5, column 1 is 0",
    ),
    (
        {"inertia": lambda self, q: ca.diagcat(1, 1, 0, q.mass, q.mass, q.mass)},
        "inertia is 0 along omega_z; every direction needs a positive one",
    ),
    (
        {"inertia": lambda self, q: ca.diagcat(1, 1, 1, q.mass, -q.mass, q.mass)},
        "inertia is -2 along v_y; every direction needs a positive one",
    ),
    (
        {"inertia": coupled_too_strongly},
        "inertia is singular: some motion of omega_y with v_x has no kinetic energy",
    ),
    (
        {"inertia": lambda self, q: ca.SX.eye(6) / (q.mass - 2.0)},
        "inertia is not finite with these parameters (row 1)",
    ),
    (
        {"inertia": lambda self, q: q.mass * q.u_x * ca.SX.eye(6)},
        "): AttributeError: q has no 'u_x', only the parameters: mass, arm, gravity",
    ),
    (
        {"inertia": lambda self, q: None},
        "inertia returns None, wanted a CasADi expression; is there a return?",
    ),
    (
        {"control_wrench": lambda self, u, q: [0, 0, 0, u[0], 0, 0]},
        "control_wrench returns a list, wanted a CasADi expression; join numbers by ca.vertcat(...)",
    ),
    (
        {"control_wrench": lambda self, u, q: ca.vertcat(u[0], 0, 0)},
        "control_wrench is 3 x 1, wanted 6 x 1; the group is SE3",
    ),
    (
        {"control_wrench": lambda self, u, q: ca.vertcat(u[1], ca.SX(5, 1))},
        "RuntimeError: Slice (start=1, stop=2, step=1) out of bounds with supplied length of 1",
    ),
    (
        {"control_wrench": fails_inside},
        f"control_wrench cannot be evaluated (test_holonomic_declaration.py, line {UNDECLARED}): NameError: ",
    ),
    ({"momentum_bias": lambda self, q: ca.SX([0, 0, 1])}, "momentum_bias is 3 x 1, wanted 6 x 1"),
    (
        {"dissipative_wrench": lambda self, g, xi, q: -0.4 * xi[3:]},
        "dissipative_wrench is 3 x 1, wanted 6 x 1",
    ),
    (
        {"dissipative_wrench": lambda self, g, xi, q: -ca.sqrt(ca.dot(xi, xi)) * xi},
        "dissipative_wrench's derivative is not finite at the default state; a small number under a root",
    ),
    ({"potential": lambda self, g, q: q.gravity * g}, "potential is 12 x 1, wanted 1 x 1"),
    (
        {"potential": left_from_another},
        "potential depends on 'xi_3', which is none of its arguments (g, q)",
    ),
    (
        {"potential": lambda self, g, q: -1 / ca.norm_2(g[9:])},
        "potential is not finite at the default state",
    ),
    (
        {"parameters": (Parameter("mass", "kg", -2.0, 0.1, 10.0, "Mass."),)},
        "parameters: mass: default = -2.0 is out of range; allowed: 0.1 to 10 kg",
    ),
    (
        {"parameters": (Parameter("mass", "kg", (1.0, 30.0), 0.1, 10.0, "Masses."),)},
        "parameters: mass: default = (1.0, 30.0) is out of range; allowed: 0.1 to 10 kg",
    ),
    (
        {"parameters": (Parameter("mass", "kg", 2.0, 10.0, 0.1, "Mass."),)},
        "parameters: mass: low = 10 is above high = 0.1",
    ),
    ({"parameters": (MASS, MASS)}, "parameters: name 'mass' is refused; allowed, once each"),
    ({"parameters": MASS}, "parameters = Parameter(name='mass'"),
    (
        {"controls": (Control("u_x", "N", 1.0, -1.0, "Push."),)},
        "controls: u_x: low = 1 is above high = -1",
    ),
    (
        {"controls": (Control("u_x", "N", 2.0, 4.0, "Push."),)},
        "controls: u_x: neutral = 0.0 is out of range; allowed: 2 to 4 N",
    ),
    (
        {"controls": (Control("u_x", "N", float("nan"), 4.0, "Push."),)},
        "controls: u_x: low = nan, high = 4; allowed: numbers",
    ),
    ({"controls": (PUSH, PUSH)}, "controls: name 'u_x' is refused; allowed, once each"),
    ({"group": None}, "group = None is refused; allowed: SE3, SE2, SO3 of sim.groups"),
    ({"group": SE2}, "inertia is 6 x 6, wanted 3 x 3; the group is SE2, 6 rows belong to SE3"),
    (
        {"default_state": lambda self: np.zeros(18)},
        "default_state returns a ndarray, wanted what self.state_of(...) makes",
    ),
    (
        {"bodies": lambda self, node, q: {"body": ca.SX.eye(3)}},
        "bodies: 'body' has shape (3, 3), wanted a matrix T_wb (4, 4)",
    ),
    ({"bodies": lambda self, node, q: node}, "bodies returns a SX, wanted a dict of name: T_wb"),
    (
        {"observables": lambda self, node, u, q: {"thrust": u[0]}},
        "observables returns a dict, wanted a tuple of Observable",
    ),
    (
        {"observables": lambda self, node, u, q: (u[3],)},
        "observables cannot be evaluated (test_holonomic_declaration.py, line ",
    ),
    ({"default_state": lambda self: self.state(R=2 * np.eye(3))}, "R is no rotation matrix"),
]


@pytest.mark.parametrize(("wrong", "line"), MISTAKES, ids=[line[:50] for _, line in MISTAKES])
def test_mistakes_are_named_in_one_line(wrong, line):
    kind = type("Wrong", (Pod,), {"name": "wrong-pod", **wrong})
    with pytest.raises(sim.InputError) as caught:
        kind()
    text = str(caught.value)
    assert text.startswith("vehicle 'wrong-pod'")
    assert line in text
    assert "\n" not in text
    assert len(text) < 300


def test_parameters_that_make_the_inertia_singular_are_refused():
    pod = Pod()
    assert pod.with_parameters(arm=2.4).values["arm"] == 2.4
    for make in (
        lambda: pod.with_parameters(arm=2.5),
        lambda: Pod(arm=2.5),
        lambda: pod.with_parameters(arm=-4.0),
    ):
        with pytest.raises(
            sim.InputError, match="'pod': inertia is not positive: some motion of omega_x with omega_y"
        ):
            make()
    with pytest.raises(sim.InputError, match="'pod': inertia is singular"):
        pod.with_parameters(arm=float(np.sqrt(6.0)))


def test_bodies_in_the_plane_and_about_a_point_are_checked_alike():
    class Raft(HolonomicVehicle):
        name = "raft"
        group = SE2

        def inertia(self, q):
            return ca.diagcat(1, 2, 0)

    with pytest.raises(sim.InputError, match="'raft': inertia is 0 along v_y"):
        Raft()

    class Globe(Raft):
        name = "globe"
        group = SO3

    with pytest.raises(sim.InputError, match="'globe': inertia is 0 along omega_z"):
        Globe()


def test_states_of_another_group_are_told_how_they_are_made():
    class Raft(HolonomicVehicle):
        name = "raft"
        group = SE2

        def inertia(self, q):
            return ca.diagcat(1, 2, 2)

    raft = Raft()
    np.testing.assert_array_equal(raft.default_state().node, np.zeros(6))
    with pytest.raises(sim.InputError, match="'raft': is not on SE3; use state_of"):
        raft.state(x=(1.0, 2.0, 0.0))
