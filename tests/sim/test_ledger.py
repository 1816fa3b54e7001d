"""Problems with known answers are answered to the digits that the ledger says."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.interpolate import CubicSpline

import sim
import studies.ledger
from sim.commands import SetPilotInput
from sim.controllers import PilotInput
from sim.scene import load_scene
from sim.simulation import Simulation
from sim.simulation.lanes.placing import Footing
from sim.simulation.lanes.snapshot import LaneStatus
from sim.simulation.runs.scene_setup import start_node
from sim.vehicle_config import config_of
from sim.vehicle_config.radiation import transfer
from sim.vehicles.forms.form import Support
from sim.world import load_world
from studies.ledger import problems
from studies.ledger.__main__ import DRAWN, main, page
from studies.ledger.hydrodynamics import (
    PUBLISHED_M,
    decay_truth,
    released,
    small_decay,
    small_decay_truth,
    spectrum,
)
from studies.ledger.phases import bounded_truth, oscillated
from studies.ledger.problem import Problem, ProblemResult, digits, solve
from studies.ledger.scenes import load_problem, scene_names
from studies.ledger.squeezer import END_S, PUBLISHED, SQUEEZER, published


@pytest.mark.parametrize("problem", problems(), ids=lambda problem: problem.name)
def test_an_answer_has_its_digits(problem: Problem) -> None:
    found = solve(problem, timed=False)
    assert found.digits >= problem.least_digits, f"{found.ours} for {found.truth}"
    assert found.digits >= min(problem.known_digits, 8) or problem.reason, (
        "digits are missing without a reason"
    )


@pytest.mark.parametrize(
    "problem",
    [p for p in problems() if any(peer.program == "Pinocchio" for peer in p.peers)],
    ids=lambda problem: problem.name,
)
def test_pinocchio_is_asked_the_same(problem: Problem) -> None:
    """By its own accelerations, loops and springs. Measured: 6.5 digits or more."""
    pytest.importorskip("pinocchio", reason="the package pin is not installed (extra reference)")
    (peer,) = (peer for peer in problem.peers if peer.program == "Pinocchio")
    assert digits(peer.answer(), problem.truth(), problem.scale) > 6.0


def test_numbers_that_others_print_are_off_by_more_than_two_ways_of_ours() -> None:
    """Van der Pol's cost, 7.4e-7 of 1 from that of two ways which agree to 1.1e-10; a sphere's first trough, 2.2 mm
    from two which agree to 0.2 mm."""
    by_shooting, *_ = bounded_truth()
    assert oscillated(40) == pytest.approx(by_shooting, rel=1e-9)
    assert abs(2.95369916 / by_shooting - 1.0) > 5e-7
    (trough, _), (in_time, _) = small_decay_truth(), decay_truth(0.02) / 0.02
    assert in_time == pytest.approx(trough, abs=3e-4)
    assert abs(PUBLISHED_M[0] - trough) > 2e-3


def test_what_a_floating_sphere_is_off_by_is_its_panels_and_their_fit() -> None:
    """Of 5.5e-5 at the first trough -2.6e-5 comes with what panels say of its waves, and 7.5e-5 with the fitted
    system; hull, buoyancy and steps leave 0.6e-5."""
    hull = config_of(sim.vehicle("wave-buoy")).hull
    assert hull is not None
    assert hull.radiation is not None
    told, (omega, added, damping) = hull.radiation, spectrum()
    within = omega <= told.omega_radps[-1]
    by_panels = added.copy(), damping.copy()
    by_panels[0][within] = CubicSpline(told.omega_radps, told.added[:, 5, 5])(omega[within])
    by_panels[1][within] = CubicSpline(told.omega_radps, told.damping[:, 5, 5])(omega[within])
    answer = transfer(*told.system, omega)[:, 5, 5]
    at_once = told.added_at_once[5, 5]
    truth, ours = small_decay_truth()[0], small_decay()[0]
    panels = released(omega, *by_panels)[0]
    fit = released(omega, at_once + answer.imag / omega, answer.real, at_once)[0]
    assert ours - truth == pytest.approx(5.5e-5, abs=1e-5)
    assert panels - truth == pytest.approx(-2.6e-5, abs=1e-5)
    assert fit - panels == pytest.approx(7.5e-5, abs=1e-5)
    assert abs(ours - fit) < 1e-5


@pytest.mark.parametrize("seed", range(2))
def test_the_motorcycle_is_ridden_by_keys_and_the_tractor_driven(seed: int) -> None:
    """Keys at random for half a minute, with help: a lean of 0.38 and 0.44 rad at most."""
    keys, leans = np.random.default_rng(seed).integers(-1, 2, (75, 2)), []
    simulation = begun("ledger-motorcycle")
    for roll, pitch in keys:
        simulation.submit(SetPilotInput(PilotInput(roll=float(roll), pitch=float(pitch))))
        leans += [simulation.advance(0.1).lanes[0].scalar("lean") for _ in range(4)]
    assert simulation.advance(0.1).lanes[0].status is LaneStatus.RUNNING
    assert np.abs(leans).max() < 0.6
    simulation = begun("ledger-tractor-with-plough")
    simulation.submit(SetPilotInput(PilotInput(pitch=1.0, roll=0.5)))
    driven = [simulation.advance(0.1).lanes[0] for _ in range(50)][-1]
    assert driven.twist_b[2] < -0.3  # to the right
    assert driven.twist_b[3] > 3.5


def test_the_scene_of_head_waves_has_a_boat_under_way_against_them() -> None:
    """Hands off for half a minute; measured 2.2 m/s, and her way 0.11 rad from where the waves come from."""
    simulation = begun("ledger-ship-in-head-waves")
    begins = simulation.snapshot.lanes[0].T_wb[:2, 3]
    lane = simulation.advance(30.0).lanes[0]
    way, towards = lane.T_wb[:2, 3] - begins, lane.parameters["waves_direction"]
    assert np.linalg.norm(way) / 30.0 > 1.5
    assert -way @ [np.cos(towards), np.sin(towards)] > 0.95 * np.linalg.norm(way)
    assert np.ptp([simulation.advance(0.25).lanes[0].scalar("trim") for _ in range(40)]) > 0.1


def begun(name: str) -> Simulation:
    """A problem's scene in its world."""
    scene = load_problem(name)
    return Simulation(scene, load_world(scene.world, seed=scene.seed))


def test_digits_are_those_of_the_largest_difference_over_the_largest_number() -> None:
    assert digits([100.0, 1.001], [100.0, 1.0]) == pytest.approx(5.0)
    assert digits(1.001, 1.0, 10.0) == pytest.approx(4.0)
    assert digits([np.nan, 1.0], [1.0, 1.0]) == 0.0
    assert digits(3.0, 3.0) > 15.0


def test_the_command_tells_numbers_for_programs_and_refuses_what_there_is_not() -> None:
    told = CliRunner().invoke(main, ["--json", "pendulum"])
    assert told.exit_code == 0, told.output
    (row,) = json.loads(told.stdout)
    assert row["name"] == "pendulum"
    assert row["digits"] > 9.0
    assert row["peers"]["MuJoCo"]["digits"] > 7.0
    refused = CliRunner().invoke(main, ["andrew"])
    assert refused.exit_code == 2
    assert "andrews" in refused.output


def test_the_list_has_every_problem_and_works_none_out() -> None:
    told = CliRunner().invoke(main, ["--list"])
    assert [line.split()[0] for line in told.stdout.splitlines()] == [p.name for p in problems()]
    assert "Meijaard" in CliRunner().invoke(main, ["--list", "bicycle"]).stdout


def test_the_page_counts_problems_and_those_that_give_up_and_other_ways_apart() -> None:
    told = np.ones(1)
    kinds = ((False, ""), (False, ""), (True, ""), (False, "one"), (False, "one"))
    made = [
        ProblemResult(
            replace(problem, gives_up=gives_up, another_way_of=of, motion_s=0.0), told, told, agreed, 0.1
        )
        for problem, (gives_up, of), agreed in zip(problems(), kinds, (9.0, 2.0, 2.0, 9.0, 2.0), strict=False)
    ]
    written = page(made)
    assert (
        "Of 3 problems 1 agree to 8 digits or all that are known, by steps in real time: 1 of the 2 that are to,\n"
        "and 0 of 1 that" in written
    )
    assert "Of 2 rows that go other ways to an answer 1 do." in written
    assert written.index("## Other ways") < written.index("## What is given up")


def test_what_steps_slower_than_it_moves_is_said_and_does_not_agree() -> None:
    told, moving = np.ones(1), replace(problems()[0], gives_up=False, another_way_of="", motion_s=0.3)
    made = [
        ProblemResult(replace(moving, name=name), told, told, 9.0, cpu_s) for name, cpu_s in CPU_S.items()
    ]
    late, soon = made
    assert (late.pace, soon.pace) == (pytest.approx(0.75), pytest.approx(1.5))
    assert (late.agrees, soon.agrees) == (False, True)
    written = page(made)
    assert "Of 2 problems 1 agree" in written
    assert "Of 2 rows that have\ntime in them 1 are in real time: not late." in written
    assert "| 400 ms | 0.75 |" in written
    still = ProblemResult(replace(moving, motion_s=0.0), told, told, 9.0, 0.4)
    assert still.agrees
    assert "| 400 ms |  |" in page([still])


CPU_S = {"late": 0.4, "soon": 0.2}


@pytest.mark.parametrize("problem", problems(), ids=lambda problem: problem.name)
def test_a_row_that_tells_the_length_of_its_steps_tells_that_of_its_motion(problem: Problem) -> None:
    """What is planned tells how many they are, what is linearised or read at a moment nothing."""
    assert bool(re.search(r"\d (us|ms|s)\b|a revolution", problem.step)) == (problem.motion_s > 0.0) or (
        problem.step.startswith("phases of the surface")
    )


@pytest.mark.parametrize("way", [p for p in problems() if p.another_way_of], ids=lambda way: way.name)
def test_another_way_asks_the_same_of_a_problem_that_goes_its_own(way: Problem) -> None:
    asked = next(problem for problem in problems() if problem.name == way.another_way_of)
    assert not asked.another_way_of
    assert (way.quantity, way.source, way.known_digits) == (asked.quantity, asked.source, asked.known_digits)
    assert np.array_equal(way.truth(), asked.truth())


@pytest.mark.parametrize("problem", [p for p in problems() if p.held], ids=lambda problem: problem.name)
def test_the_scene_holds_the_controls_that_its_problem_holds(problem: Problem) -> None:
    """Not beside what centred sticks give: a helicopter's lift was held twice."""
    flight = begun(f"ledger-{problem.name}")
    flown = flight.advance(0.02).lanes[0]
    names = [control.name for control in flight.run.vehicle.controls]
    held = {name: flown.controls[names.index(name)] for name in problem.held}
    assert held == pytest.approx(dict(problem.held), abs=1e-12)


@pytest.mark.parametrize("name", scene_names())
def test_a_problem_is_opened_where_it_starts(name: str) -> None:
    scene = load_problem(name)
    problem = next(p for p in problems() if f"ledger-{p.name}" == name)
    assert problem.scene is not None
    if isinstance(problem.scene, str):
        shown = load_scene(problem.scene)
        assert scene.title == problem.title
        own = ("name", "title", "text", "vehicle", "goals", "onward", *problem.shown())
        assert replace(scene, **{name: getattr(shown, name) for name in own}) == shown
        return
    if "start" in problem.shown():  # a bystander of what its props do
        assert scene.environment is not None
        return
    vehicle, begun = problem.scene()
    node = start_node(
        scene.start, scene.vehicle, Footing(scene.vehicle, load_world(scene.world, seed=scene.seed))
    )
    assert node == pytest.approx(begun.node)
    free = vehicle.support is Support.NOTHING
    weightless = free and not np.any(vehicle.values.get("gravity", 0.0))
    assert (scene.world == "orbit") == (weightless and "world" not in problem.shown())
    assert scene.vehicle.name == vehicle.name
    assert set(scene.trim) <= {control.name for control in vehicle.controls}
    assert problem.held.keys() <= scene.trim.keys()


def test_a_problem_is_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Command, page, suite and scenes find it."""
    (tmp_path / "seconds_pendulum.py").write_text(
        """
import math
import sim
from studies.ledger.pendula import going_round
from studies.ledger.problem import Problem

PROBLEMS = (
    Problem(
        name="frequency-of-a-bob",
        title="How fast a bob swings",
        quantity="frequency [rad/s]",
        source="closed form, Huygens 1673",
        truth=lambda: math.sqrt(9.81 / 1.2),
        known_digits=15,
        ours=lambda: sim.linearise(*going_round(0.0, 0.0)).eigenvalues.imag.max(),
        step="linearised",
        least_digits=12.0,
        scene=lambda: going_round(0.2, 0.0),
    ),
)
"""
    )
    monkeypatch.setattr(studies.ledger, "__path__", [*studies.ledger.__path__, str(tmp_path)])
    page = tmp_path / "page.md"
    told = CliRunner().invoke(main, ["frequency-of-a-bob", "--json", "--markdown", str(page)])
    assert json.loads(told.stdout)[0]["digits"] > 12.0
    assert "How fast a bob swings" in page.read_text(encoding="utf-8")
    assert load_problem("ledger-frequency-of-a-bob").vehicle.name == "pendulum"


def test_every_problem_is_a_scene_and_has_a_picture() -> None:
    """Its own, or that of a problem which looks the same."""
    pictures = {path.stem for path in DRAWN.glob("*.jpg")}
    for problem in problems():
        assert problem.scene is not None, problem.name
        assert (problem.pictured_by or problem.name) in pictures, problem.name
    assert pictures == {problem.pictured_by or problem.name for problem in problems()}


def test_a_scene_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    """By likeness, however they are written; the command does the same."""
    for given, like in (
        ("ledger-andrew", "ledger-andrews, "),
        ("ledger-KOVALEVSKY-Top", "ledger-kovalevskaya-top, "),
        ("ledger-shalow-bed", "ledger-shallow-bed, "),
    ):
        with pytest.raises(sim.InputError, match=f"allowed: {like}") as refused:
            load_problem(given)
        assert len(str(refused.value)) < 300
        told = CliRunner().invoke(main, [given.removeprefix("ledger-")])
        assert f"allowed: {like.removeprefix('ledger-')}" in told.output
        assert told.exit_code != 0
    assert len(scene_names()) >= 28


def test_an_enlarged_mechanism_moves_alike() -> None:
    """The squeezer, twenty times as large."""
    moved = SQUEEZER.enlarged(20.0).moved(END_S / 3, 1e-4)
    assert published(moved) == pytest.approx(published(SQUEEZER.moved(END_S / 3, 1e-4)), abs=1e-9)
    assert np.abs(published(moved)).max() < np.abs(PUBLISHED).max()
