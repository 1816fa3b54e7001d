"""Laws of comparisons of controllers over seeded cases."""

from pathlib import Path

import numpy as np
import pytest

import sim
from sim.control.feedback import Geometric, Lqr, Pid


def test_equal_seeds_give_equal_cases_and_equal_scores() -> None:
    one, other = (sim.cases("quadrotor", 4, seed=5, wind_mps=1.0) for _ in range(2))
    assert all(np.array_equal(a.initial.node, b.initial.node) for a, b in zip(one, other, strict=True))
    assert one[0].vehicle.values == other[0].vehicle.values
    assert not np.array_equal(one[0].initial.node, sim.cases("quadrotor", 1, seed=6)[0].initial.node)
    first, second = (sim.compare([Pid], cases, duration=2.0) for cases in (one, other))
    assert all(np.array_equal(first.scores[name], second.scores[name]) for name in first.scores)


def test_a_comparison_is_a_table_and_a_picture_and_tells_who_failed(tmp_path: Path) -> None:
    class Broken(sim.Controller):
        def control(self, t, state, sticks, memory):
            return np.full(4, 1.8 / int(state.x[2] > 99.99))

    found = sim.compare(
        [Geometric, Pid(place=3.0), Pid, Broken], sim.cases("quadrotor", 5, seed=2), duration=8.0
    )
    assert found.names == ("Geometric", "Pid 1", "Pid 2", "Broken")
    assert found.scores["final_m"].shape == (4, 5)
    assert found.scores["final_m"][:2].max() < 0.2  # 0.08 measured
    assert {k for k, _ in found.faults} == {3}
    assert all("ZeroDivisionError" in text for text in found.faults.values())
    lines = str(found).splitlines()
    assert len(lines) == 5
    assert lines[4].endswith(str(len(found.faults)))
    late = found.scores["settled_s"][2] == np.inf  # not within eight seconds, of which it has failed in none
    assert late.any()
    assert "never" in lines[3]
    assert found.failed.sum(axis=1).tolist() == [0, 0, 0, len(found.faults)]
    assert repr(found) == str(found)
    figure = found.plot(tmp_path / "found.png")
    assert [axis.get_xlabel() for axis in figure.axes] == list(found.scores)
    assert (tmp_path / "found.png").stat().st_size > 5000


def test_a_hundred_cases_tell_which_of_two_is_better_and_each_is_the_same_alone() -> None:
    cases = sim.cases("quadrotor", 100, seed=7, wind_mps=0.5)
    found = sim.compare([Geometric, Pid], cases, step=0.02, duration=2.5)
    assert found.scores["final_m"].shape == (2, 100)
    assert not found.failed.any()
    better = (found.scores["final_m"][0] < found.scores["final_m"][1]).mean()
    assert better > 0.9  # 1.0 measured
    alone = sim.compare([Pid], cases[41:42], step=0.02, duration=2.5)
    assert all(alone.scores[name][0, 0] == found.scores[name][1, 41] for name in found.scores)


def test_a_score_of_ones_own_counts() -> None:
    found = sim.compare(
        [Lqr(effort=0.1), Lqr(effort=10.0)],
        sim.cases("quadrotor", 2, seed=3, tilt_rad=0.1),
        duration=3.0,
        score=lambda traj, case: {"swing": float(np.ptp(traj.controls))},
    )
    assert (found.scores["swing"][0] > found.scores["swing"][1]).all(), "what costs less is used more"


def test_nothing_to_compare_is_refused_in_one_line() -> None:
    with pytest.raises(sim.InputError, match="allowed: one or more of each"):
        sim.compare([], sim.cases("quadrotor", 1))
    with pytest.raises(sim.InputError, match="cases = 0 is refused"):
        sim.cases("quadrotor", 0)
    for name in ("car", "six-axis-arm"):
        with pytest.raises(
            sim.InputError, match=f"a {name} does not fly in space; allowed: sim.Case for each"
        ):
            sim.cases(name, 1)
    with pytest.raises(sim.InputError, match=r"controller = 'pid' is none; .*, as sim.control.feedback.Pid"):
        sim.compare(["pid"], sim.cases("quadrotor", 1))
