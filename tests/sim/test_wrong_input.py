"""Whatever is given to a script's functions, a mistake is answered by one short line."""

import math
import sys
from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest

import sim
from sim.integrators import integrator
from sim.platform.errors import MOST_CHARACTERS, InputError, numbers, one_of, quote

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
        ({"controls": [1j] * 6}, "controls of 'rigid-body' are not numeric"),
        ({"controls": ["1"] * 6}, "controls of 'rigid-body' are not numeric"),
        ({"controls": np.ma.masked_less(np.arange(6.0), 3)}, "controls of 'rigid-body' are not numeric"),
        ({"step": "0.01"}, "step = '0.01' is not possible"),
        (
            {"controls": lambda t: [0.0] * 6},
            "controls: too many positional arguments; allowed: a function of",
        ),
        ({"controls": lambda t, now, *, gain: [0.0] * 6}, "controls: missing a required"),
    ],
)
def test_simulate_refuses_in_one_line(arguments: dict, told: str) -> None:
    with pytest.raises(InputError) as refusal:
        sim.simulate(**{"vehicle": "rigid-body", "duration": 0.1, **arguments})
    assert told in str(refusal.value)
    assert "\n" not in str(refusal.value)


BODY = sim.Body("b", joint=sim.Joint("revolute"), inertia=(1.0, 1.0, 1.0))
LISTS_OF_SEVERAL_LENGTHS = [[1.0, 2.0], [3.0]]


class Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError("no words")


def batch(**arguments: object) -> object:
    return sim.batch("rigid-body", "rk4", **{"duration": 0.1, **arguments})  # type: ignore[arg-type]


def rod(**arguments: object) -> object:
    usual = {"name": "r", "length_m": 1.0, "mass_kg": 1.0, "radius_m": 0.01}
    return sim.tree(sim.rod(**{**usual, **arguments}))  # type: ignore[arg-type]


def joint(**arguments: object) -> object:
    return sim.tree([sim.Body("b", joint=sim.Joint(**arguments), inertia=(1.0, 1.0, 1.0))])  # type: ignore[arg-type]


def body(**arguments: object) -> object:
    return sim.tree([sim.Body(**{"name": "b", "inertia": (1.0, 1.0, 1.0), **arguments})])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ask", "arguments", "told"),
    [
        (sim.simulate, {"vehicle": "rigid-body", "method": Unprintable()}, "unknown integrator"),
        (sim.vehicle, {"name": "rigid-body", "mass": "2020"}, "is not a number"),
        (sim.vehicle("car").state, {"shape": LISTS_OF_SEVERAL_LENGTHS}, "shape = [[1.0, 2.0], [3.0]] is not"),
        (
            sim.vehicle("car").state,
            {"momentum": LISTS_OF_SEVERAL_LENGTHS},
            "momentum = [[1.0, 2.0], [3.0]] is",
        ),
        (sim.vehicle("rigid-body").state, {"shape": LISTS_OF_SEVERAL_LENGTHS}, "shape = [[1.0, 2.0], [3.0]]"),
        (sim.vehicle("pendulum").state, {"direction": LISTS_OF_SEVERAL_LENGTHS}, "is not numeric"),
        (integrator, {"name": "rkmk54", "tolerance": HUGE}, "tolerance = a number of hundreds of digits"),
        (batch, {"parameters": 3}, "parameters = 3 are refused; allowed: a dict"),
        (batch, {"parameters": np.zeros(3)}, "are refused; allowed: a dict"),
        (batch, {"parameters": {"mass": 1j}}, "mass = 1j are not numeric"),
        (batch, {"every": "x"}, "every = 'x' is refused; allowed: 1 or more steps"),
        (batch, {"every": math.nan}, "every = nan is refused"),
        (batch, {"every": HUGE}, "every = a number of hundreds of digits is refused"),
        (batch, {"threads": -1}, "threads = -1 is refused; allowed: 1 or more threads"),
        (batch, {"world": "canyon"}, "world = 'canyon' is none"),
        (batch, {"progress": 3}, "progress = 3 is refused"),
        (sim.batch_bytes, {"vehicle": "nope", "lanes": 3, "steps": 3}, "unknown vehicle 'nope'"),
        (sim.batch_bytes, {"vehicle": "car", "lanes": -3, "steps": 3}, "lanes = -3 is refused"),
        (sim.steady, {"vehicle": "helicopter", "state": 5}, "state = 5 does not fit vehicle 'helicopter'"),
        (sim.root_locus, {"vehicle": "bicycle", "over": "speed", "values": []}, "values are none; allowed"),
        (
            sim.root_locus,
            {"vehicle": "bicycle", "over": "speed", "values": [2.0], "state": 5},
            "state = 5 does not fit",
        ),
        (
            sim.receding_horizon,
            {"vehicle": "car", "task": 5, "duration_s": 1.0},
            "task = 5 is refused; allowed: a Task",
        ),
        (sim.rollout_gradient, {"vehicle": "rigid-body", "initial": 3}, "initial = 3 does not fit vehicle"),
        (
            sim.rollout_gradient,
            {"vehicle": "rigid-body", "checkpoint_every": "x", "duration": 0.1},
            "checkpoint_every = 'x' is refused",
        ),
        (sim.identify, {"vehicle": 3, "recording": "x", "unknown": ["mass"]}, "vehicle = 3 is none"),
        (sim.identify, {"vehicle": "car", "recording": 3, "unknown": ["mass"]}, "recording = 3 is none"),
        (sim.sweep, {"question": abs, "over": 3}, "over = 3 is refused; allowed: a dict of axes"),
        (sim.sweep, {"question": abs, "over": {"x": LISTS_OF_SEVERAL_LENGTHS}}, "axis 'x'"),
        (sim.sweep, {"question": abs, "over": {"x": [1.0]}, "workers": -1}, "workers = -1 is refused"),
        (sim.sweep, {"question": abs, "over": {"x": [1.0]}, "chunk": "x"}, "chunk = 'x' is refused"),
        (sim.sweep, {"question": abs, "over": {"x": [1.0]}, "store": 3}, "store = 3 is refused"),
        (sim.sweep, {"question": abs, "over": {"x": [1.0]}, "scheduler": 3}, "scheduler = 3 is refused"),
        (sim.read_robot, {"path": None}, "a robot's file or folder = None is none"),
        (rod, {"name": 3}, "a rod's name is 3"),
        (rod, {"parent": []}, "its parent is []"),
        (rod, {"length_m": None}, "rod 'r': length_m = None is refused; allowed: above 0"),
        (rod, {"length_m": 1e308}, "length_m = 1e+308 is refused; allowed: up to"),
        (rod, {"bending_Nm2": "x"}, "bending_Nm2 = 'x' is refused; allowed: from 0"),
        (rod, {"links": 10**9}, "links = 1000000000 is refused; allowed: 1 to 500"),
        (joint, {"limits": 3}, "limits of its joint = 3; allowed: the lowest and the highest"),
        (joint, {"rest": None}, "rest of its joint = None is refused"),
        (joint, {"damping": "x"}, "damping of its joint = 'x' is not numeric"),
        (joint, {"kind": []}, "unknown joint []"),
        (joint, {"name": 3}, "name = 3 of its joint"),
        (body, {"joint": 3}, "joint = 3 is none; allowed: a Joint"),
        (body, {"mass": None}, "body 'b': mass = None is refused"),
        (body, {"R": LISTS_OF_SEVERAL_LENGTHS}, "is not numeric"),
        (body, {"inertia": "x"}, "inertia = 'x' is not numeric"),
        (body, {"added_inertia": np.full((6, 6), math.nan)}, "added_inertia wants"),
        (body, {"drag": "x"}, "drag = 'x' is refused"),
        (sim.tree, {"bodies": 3}, "bodies = 3 are none; allowed: a list"),
        (sim.tree, {"bodies": [BODY], "gravity_w": math.nan}, "gravity_w of the tree has shape ()"),
        (sim.tree, {"bodies": [BODY], "gravity_w": (0.0, 0.0, math.nan)}, "not finite"),
        (
            sim.simulate,
            {"vehicle": sim.tree([BODY]), "controls": LISTS_OF_SEVERAL_LENGTHS, "duration": 0.1},
            "controls of 'tree'",
        ),
    ],
)
def test_every_function_refuses_in_one_line(ask: Callable[..., object], arguments: dict, told: str) -> None:
    with pytest.raises(InputError) as refusal:
        ask(**arguments)
    assert told in str(refusal.value)
    assert str(refusal.value).isprintable()
    assert len(str(refusal.value)) <= MOST_CHARACTERS


def test_what_runs_and_linearisations_are_asked_is_refused_in_one_line() -> None:
    car, helicopter = sim.vehicle("car"), sim.vehicle("helicopter")
    lanes = sim.batch(car, states=[car.state()] * 3, duration=0.1)
    linear = sim.linearise(helicopter)
    for ask, told in (
        (lambda: lanes.final(3), "lane = 3 is none; allowed: 0 to 2"),
        (lambda: lanes.lane_vehicle(-4), "lane = -4 is none"),
        (lambda: lanes.observed("x"), "lane = 'x' is none"),
        (lambda: lanes.table({"mass": np.zeros(2)}), "table: mass is (2,); allowed: (3,), one a lane"),
        (lambda: linear.state_of_mode(3, 1.0), "mode = 3 is refused"),
        (lambda: sim.cases(helicopter, 3, seed="x"), "seed = 'x' is refused"),
    ):
        with pytest.raises(InputError) as refusal:
            ask()
        assert told in str(refusal.value)
    np.testing.assert_array_equal(lanes.final(-1).node, lanes.final(2).node)
    assert lanes.table({"name": np.array(["a", "b", "c"])})["name"].shape == lanes.nodes.shape[:2]


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
    many = [f"canyon{k:02d}" for k in range(40)]
    assert one_of(many).startswith("canyon00, canyon01, canyon02, ")  # as given, where nothing is like any


def test_what_is_quoted_is_written_as_in_python_and_short() -> None:
    assert quote(1.5) == "1.5"
    assert quote("a\nb") == r"'a\nb'"
    for value in ("x" * 10**6, [[1.0] * 10**5] * 10**3, HUGE, b"x" * 10**6):
        assert len(quote(value)) < 300


def test_numbers_are_taken_while_another_thread_loads_masked_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy.ma", ModuleType("numpy.ma"))  # as it is before it has been run
    assert numbers("controls", [1.0, 2.0]).tolist() == [1.0, 2.0]
