"""Steps in parts lead back where they came from, keep energy in a band, are of second order and replay to the bit."""

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

import sim
from sim.commands import SetIntegrator, SetParameter
from sim.integrators import integrator
from sim.multibody.tree import Body, Joint, tree
from sim.recordings import load_take, save_take
from sim.steppers.dynamics import tree_stepper
from sim.vehicles.forms.articulated import ArticulatedVehicle
from sim.vehicles.forms.parameters import Parameter
from tests.sim.multibody.sample_trees import pendulum_chain
from tests.sim.multibody.test_tree_vehicles import chain_scene
from tests.sim.simulation_scenes import simulation

METHOD = "riqn-variable"


class Rods(ArticulatedVehicle):
    """As many rods as asked for, hung from one another."""

    name = "hung-rods"
    parameters = (Parameter("count", "", 3.0, 1.0, 9.0, "Rods.", structural=True),)

    def declare(self, q):
        return pendulum_chain(round(q.count))


class Rod(ArticulatedVehicle):
    """A pendulum: all of its mass half a metre below."""

    name = "one-rod"
    parameters = ()

    def declare(self, q):
        return tree([Body("rod", joint=Joint(axis=(1.0, 0.0, 0.0)), mass=2.0, centre=(0.0, 0.0, -0.5))])


class Moving:
    """A lane without its window: a vehicle under a method from coordinates q and velocities v."""

    def __init__(self, vehicle, q, v, h, method=METHOD, **options):
        self.stepper, self.p, self.h = (
            tree_stepper(vehicle, integrator(method, **options)),
            vehicle.parameter_vector,
            h,
        )
        self.nq, self.u, self.w = vehicle.tree.nq, np.zeros(0), np.zeros(vehicle.tree.nv)
        self.y = self.stepper.start(np.r_[q, v].astype(float), self.u, self.p, h)

    def step(self):
        """The number of parts."""
        assert self.stepper.advance(self.y, self.u, self.w, self.p, self.h, 1)[:2] == (1, 0)
        return int(self.y[-1])

    @property
    def node(self):
        return self.stepper.node(self.y, self.u, self.p, self.h)

    @property
    def energy_J(self):
        return self.stepper.observe(self.node, self.u, self.p).energy_J

    def turn_round(self):
        """The same node with its velocities reversed; ln rho is that of the step which would come next."""
        here, node = self.y.copy(), self.node
        self.step()
        ahead = self.y[-2]
        node[self.nq :] *= -1.0
        self.y = self.stepper.start(node, self.u, self.p, self.h)
        self.y[-2:] = ahead, here[-1]


def test_velocities_turned_round_lead_back_through_the_same_parts():
    q, v = np.array([1.5, -0.8, 0.4, 1.0]), np.array([2.0, -1.0, 4.0, 3.0])
    moving = Moving(Rods(count=4.0), q, v, 0.01, turn_rad=0.05)
    there = [moving.step() for _ in range(100)]
    assert min(there) == 1
    assert max(there) > 8
    moving.turn_round()
    assert [moving.step() for _ in range(100)] == there[::-1]
    # measured 4e-9 and 4e-8: neighbouring motions part
    assert moving.node[:4] == pytest.approx(q, abs=1e-6)
    assert moving.node[4:] == pytest.approx(-v, abs=1e-5)


def test_energy_stays_in_a_band_where_constant_steps_err_by_more_than_ten_times():
    bands = {}
    for method, options in ((METHOD, {"turn_rad": 0.05}), ("riqn", {})):
        moving = Moving(Rods(), np.array([2.5, 0.5, -0.7]), np.zeros(3), 0.01, method, **options)
        start, errors = moving.energy_J, []
        for _ in range(4000):
            moving.step()
            errors.append(abs(moving.energy_J - start))
        bands[method] = max(errors[:2000]), max(errors[2000:])
    first, last = bands[METHOD]
    assert last < 2.0 * first
    assert first < 0.025  # measured 0.018 J
    assert bands["riqn"][0] > 10.0 * first


def test_second_order_on_a_pendulum_by_its_elliptic_integral():
    k, w = np.sin(0.75), np.sqrt(9.81 / 0.5)
    errors, most = [], 0
    for h in (0.01, 0.005):
        moving, worst = Moving(Rod(), [1.5], [0.0], h, turn_rad=2.0 * h), 0.0
        for step in range(round(3.0 / h)):
            most = max(most, moving.step())
            exact = 2.0 * np.arcsin(k * ellipj(ellipk(k * k) - w * h * (step + 1), k * k)[0])
            worst = max(worst, abs(moving.node[0] - exact))
        errors.append(worst)
    assert most == 3
    assert errors[1] < 3e-4  # measured 2.5e-4
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.4)


def test_after_a_blow_the_parts_follow_the_joints_anew():
    rods = Rods()
    moving = Moving(rods, np.zeros(3), np.zeros(3), 0.01, turn_rad=0.05)
    assert [moving.step() for _ in range(5)] == [1] * 5
    moving.stepper.strike(rods, moving.y, np.array([0.1, 0.0, 0.2]), moving.u, moving.h)
    asked = np.sqrt(1.0 + np.sum((0.01 * moving.node[3:] / 0.05) ** 2))
    assert asked > 5.0
    assert moving.step() == pytest.approx(asked, abs=1.5)


def test_a_take_is_simulated_anew_to_the_bit_with_its_option(tmp_path):
    running = simulation(chain_scene())
    running.advance(0.3)
    running.submit(SetIntegrator(METHOD, ""))
    running.advance(1.2)
    running.submit(SetParameter("links", 10.0))  # keeps what was flown
    running.advance(0.1)
    (take,) = running.takes()[:1]
    saved = load_take(save_take(take, tmp_path / "chain.npz"))
    told = take.samples()
    np.testing.assert_array_equal(saved.samples().nodes, told.nodes)
    np.testing.assert_array_equal(saved.resimulate().samples().nodes, told.nodes)


def test_what_cannot_be_taken_in_parts_is_refused():
    with pytest.raises(sim.InputError, match="turn_rad"):
        integrator(METHOD, turn_rad=0.0)
