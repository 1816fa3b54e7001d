"""The one protocol of what surrounds a vehicle: every kind of it remembers, forgets and looks ahead alike."""

import numpy as np
import pytest

from sim.environment.environment import KINDS, Environment, Impact, environment_of, kind_of
from sim.vehicles import vehicle, vehicles
from sim.world import load_world

ONE_OF_EACH = ("car", "helicopter", "helicopter-with-load", "ragdoll", "motorboat", "heavy-top")


@pytest.mark.parametrize("name", vehicles())
def test_every_vehicle_names_what_surrounds_it(name: str) -> None:
    assert vehicle(name).environment in KINDS


def test_every_kind_is_met_here() -> None:
    assert {vehicle(name).environment for name in ONE_OF_EACH} == set(KINDS)


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_an_environment_goes_on_from_its_checkpoint_and_looks_ahead_without_a_trace(name: str) -> None:
    own, world = vehicle(name), load_world("plain", seed=7)
    around, again = environment_of(own, world), environment_of(own, world)
    assert isinstance(around, kind_of(own))
    around.report[14:] += 0.25  # before that the sea of the water about a boat, which follows its parameters
    kept = around.checkpoint()
    again.restore(kept)
    np.testing.assert_array_equal(again.checkpoint()[4:], kept[4:])
    ahead = around.probe()
    ahead.report[:] = 7.0
    np.testing.assert_array_equal(around.checkpoint(), kept)
    around.forget()
    lasting = kind_of(own).lasting
    assert not around.checkpoint()[lasting:].any()
    np.testing.assert_array_equal(around.checkpoint()[4:lasting], kept[4:lasting])


@pytest.mark.parametrize("name", ["car", "heavy-top"])
def test_the_null_object_does_nothing(name: str) -> None:
    own = vehicle(name)
    nothing, node = environment_of(own, load_world("plain", seed=7)), own.default_state().node
    assert type(nothing) is Environment
    assert nothing.env == ()
    assert nothing.impulse(node, 0.01) is None
    assert nothing.take_impact() == Impact(0.0, 0.0)
    assert nothing.touching
    assert not nothing.checkpoint().size
    np.testing.assert_array_equal(nothing.lift_out(node.copy()), node)


@pytest.mark.parametrize("name", ["helicopter", "helicopter-with-load", "ragdoll"])
def test_what_is_in_the_ground_is_lifted_out_and_no_higher(name: str) -> None:
    own = vehicle(name)
    around, node = environment_of(own, load_world("plain", seed=7)), own.default_state().node.copy()
    own.raised(node, -30.0)
    lifted = around.lift_out(node)
    least = min(around.clearance_m(lifted), around.load_clearance_m(lifted))
    assert least == pytest.approx(0.0, abs=1e-6)
    np.testing.assert_array_equal(around.lift_out(own.raised(lifted.copy(), 50.0)), own.raised(lifted, 50.0))


def test_without_a_world_only_what_floats_is_surrounded() -> None:
    assert environment_of(vehicle("motorboat")).env
    assert not any(environment_of(vehicle(name)).env for name in ("helicopter", "ragdoll", "car"))
