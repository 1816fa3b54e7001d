"""Whatever is given to a script's functions, a mistake is answered by one short line."""

import math

import numpy as np
import pytest

import sim
from sim.errors import MOST_CHARACTERS, InputError, one_of, quote

HUGE = 10**400


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"vehicle": "helicoptre"}, "unknown vehicle 'helicoptre'; allowed: helicopter"),
        ({"vehicle": None}, "vehicle = None is none; allowed: a name"),
        ({"vehicle": sim.Vehicle}, "is none; allowed: a name"),
        ({"method": "rk5"}, "unknown integrator 'rk5'; allowed: rk"),
        ({"method": 3}, "unknown integrator 3"),
        ({"method": ["rk4"]}, "unknown integrator"),
        ({"step": "x"}, "step = 'x' is not possible; allowed: seconds above 0"),
        ({"step": None}, "step = None is not possible"),
        ({"step": 0}, "step = 0 is not possible; allowed: seconds above 0"),
        ({"step": HUGE}, "step = a number of hundreds of digits is not possible"),
        ({"step": 1e-320}, "allowed: up to"),
        ({"step": math.nan}, "step = nan is not possible"),
        ({"duration": -1.0}, "duration = -1.0 is not possible; allowed: seconds from 0"),
        ({"duration": [1.0]}, "duration = [1.0] is not possible"),
        ({"duration": math.inf}, "duration = inf is not possible"),
        ({"initial": 3}, "initial = 3 does not fit vehicle 'rigid-body'; allowed: vehicle.state(...)"),
        ({"initial": np.zeros(18)}, "does not fit vehicle"),
        ({"initial": sim.vehicle("car").state()}, "does not fit vehicle"),
        ({"controls": "x"}, "controls of 'rigid-body' are not numeric"),
        ({"controls": np.zeros((1, 1, 6))}, "controls of 'rigid-body' are (1, 1, 6)"),
        ({"controls": [HUGE] * 6}, "controls of 'rigid-body' are not numeric"),
    ],
)
def test_simulate_refuses_in_one_line(arguments: dict, told: str) -> None:
    with pytest.raises(InputError) as refusal:
        sim.simulate(**{"vehicle": "rigid-body", "duration": 0.1, **arguments})
    assert told in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_simulate_takes_the_name_of_a_vehicle() -> None:
    by_name = sim.simulate("rigid-body", "rk4", duration=0.1)
    np.testing.assert_array_equal(
        by_name.pose, sim.simulate(sim.vehicle("rigid-body"), "rk4", duration=0.1).pose
    )


@pytest.mark.parametrize("value", [HUGE, -HUGE, "x" * 10_000, [1.0] * 10_000, {"a": {"b": {"c": {"d": {}}}}}])
def test_a_parameter_that_is_huge_is_refused_shortly(value: object) -> None:
    with pytest.raises(InputError) as refusal:
        sim.vehicle("rigid-body", mass=value)
    assert len(str(refusal.value)) < 250


def test_a_refusal_is_one_printable_line_of_bounded_length() -> None:
    for text in ("a\nb", "\x1b[31mred", "\ud800", "x" * 10**6, "\n" * 10**6, "é\u2028" * 10_000):
        said = str(InputError(f"the file {text} is odd; allowed: others"))
        assert said.isprintable()
        assert len(said) <= MOST_CHARACTERS
        assert said.startswith("the file ")
        assert said.endswith("is odd; allowed: others")
    assert str(InputError("a\nb")) == r"a\nb"
    assert str(InputError("short")) == "short"


def test_of_many_names_those_are_told_that_are_most_like_what_was_given() -> None:
    told = one_of(sim.integrators(), "rk5")
    assert told.startswith("rk")
    assert "rk4" in told
    assert told.endswith(f"({len(sim.integrators())} in all)")
    assert len(told) < 200
    assert one_of(("a", "b"), "c") == "a, b"
    assert one_of(()) == "nothing"


def test_what_is_quoted_is_written_as_in_python_and_short() -> None:
    assert quote(1.5) == "1.5"
    assert quote("a\nb") == r"'a\nb'"
    for value in ("x" * 10**6, [[1.0] * 10**5] * 10**3, HUGE, b"x" * 10**6):
        assert len(quote(value)) < 300
