"""The variational step of a tree as equations, which plans take: the very step that the recursions take."""

import casadi as ca
import numpy as np
import pytest

from sim.integrators import integrator
from sim.multibody.kinematics import move
from sim.steppers.bound_tree import BoundTree
from sim.steppers.dynamics import stepper_of
from sim.vehicles.forms.articulated import ArticulatedVehicle
from sim.vehicles.forms.parameters import Control
from tests.sim.multibody.sample_trees import generic_state, generic_tree

H = 0.01
VARIATIONAL = integrator("variational", solver="newton")


def random_vehicle(seed):
    """All joints of a random tree but the last are driven, some of them backwards in the controls' order."""
    declared = generic_tree(
        seed, root=("universal", "free", "ball")[seed % 3], rotor=0.2 * (seed % 2), drag=0.4 * (seed % 3)
    )
    joints = declared.velocity_names[:-1][::-1]

    class Random(ArticulatedVehicle):
        name = f"random-tree-{seed}"
        controls = tuple(Control(f"u{k}", "N m", -5.0, 5.0, "") for k in range(len(joints)))
        torques = joints

        def declare(self, q):
            return declared

    return Random()


def stepped(vehicle):
    """(y, u, z) -> residual, dresidual/dz, y after; node -> y at the start."""
    s = VARIATIONAL.scheme(vehicle)
    i = s.inputs
    numbers = [ca.SX.zeros(i.w.shape[0]), ca.SX(vehicle.parameter_vector), ca.SX(H)]

    def bare(x):
        return ca.substitute([x], [i.w, i.p, i.h], numbers)[0]

    step = ca.Function(
        "step", [s.y, i.u, s.z], [bare(x) for x in (s.residual, ca.jacobian(s.residual, s.z), s.y_next)]
    )
    begin = ca.Function("begin", [i.node], [bare(s.start)])
    return step, begin, ca.Function("node", [s.y], [bare(s.node)])


@pytest.mark.parametrize("seed", range(6))
def test_the_equations_of_a_step_are_the_recursions(seed):
    """Under torques, on random trees with joints of every kind, braked by the air or not: each step's root, its private
    state and its node."""
    vehicle = random_vehicle(seed)
    step, begin, node = stepped(vehicle)
    rng, p, nq = np.random.default_rng(seed), vehicle.parameter_vector, vehicle.tree.nq
    us = rng.uniform(-5.0, 5.0, (4, len(vehicle.controls)))
    state = np.concatenate(generic_state(vehicle.tree, seed))
    stepper = stepper_of(vehicle, VARIATIONAL)
    theirs = stepper.start(state, us[0], p, H)
    ours = np.array(begin(state)).ravel()
    z = np.zeros(vehicle.tree.nv)
    for u in us:
        for _ in range(30):
            residual, slope, _ = (np.array(x) for x in step(ours, u, z))
            z = z - np.linalg.solve(slope, residual.ravel())
        ours = np.array(step(ours, u, z)[2]).ravel()
        stepper.advance(theirs, u, np.zeros(vehicle.tree.nv), p, H, 1)
        wanted = theirs[: ours.size]
        assert ours == pytest.approx(wanted, abs=1e-9 * np.abs(wanted).max())  # measured 1.2e-11
        told = stepper.node(theirs, u, p, H)
        assert np.array(node(ours)).ravel() == pytest.approx(told, abs=1e-8)  # measured 7e-10
    assert nq + vehicle.tree.nv == ours.size


def test_torques_follow_from_how_a_step_goes():
    """What the planner does with them: one row of the residual is solved by each."""
    vehicle = random_vehicle(1)
    s = VARIATIONAL.scheme(vehicle)
    slope = np.array(ca.evalf(ca.densify(ca.substitute(ca.jacobian(s.residual, s.inputs.u), s.inputs.h, H))))
    wanted = np.zeros_like(slope)
    wanted[vehicle.driven, np.arange(slope.shape[1])] = -H / 2
    np.testing.assert_allclose(slope, wanted, atol=1e-16)


def test_bodies_are_where_the_recursions_place_them():
    vehicle = random_vehicle(2)
    q, v = generic_state(vehicle.tree, 5)
    x = ca.SX.sym("x", q.size + v.size)
    found = vehicle.bodies(x, None)
    assert next(iter(found)) == vehicle.tool
    bound = BoundTree(vehicle.tree, H)
    for name, T in bound.bodies(bound.start(q, v)).items():
        at = np.array(ca.Function("T", [x], [found[name]])(np.r_[q, v]))
        np.testing.assert_allclose(at, T, atol=1e-13)
    # The tool's twist is the rate of its pose: against differences along the motion of all joints.
    eps, T = 1e-6, ca.Function("T", [x], [found[vehicle.tool]])
    ends = []
    for side in (-eps, eps):
        moved = q.copy()
        move(vehicle.tree.arrays, moved, side * v)
        ends.append(np.array(T(np.r_[moved, v])))
    rate = np.linalg.solve(np.array(T(np.r_[q, v])), ends[1] - ends[0]) / (2 * eps)
    twist = np.array(ca.Function("twist", [x], [vehicle.twist(x, None)])(np.r_[q, v])).ravel()
    wanted = np.r_[rate[2, 1], rate[0, 2], rate[1, 0], rate[:3, 3]]
    np.testing.assert_allclose(twist, wanted, atol=1e-8)  # measured 3e-10
