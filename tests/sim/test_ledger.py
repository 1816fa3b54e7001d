"""Problems with known answers are answered to the digits that the ledger says."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from studies.ledger import problems
from studies.ledger.__main__ import main
from studies.ledger.problem import Problem, digits, solve


@pytest.mark.parametrize("problem", problems(), ids=lambda problem: problem.name)
def test_an_answer_has_its_digits(problem: Problem) -> None:
    found = solve(problem, timed=False)
    assert found.digits >= problem.least_digits, f"{found.ours} for {found.truth}"
    assert found.digits >= min(problem.known_digits, 8) or problem.reason, (
        "digits are missing without a reason"
    )


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
    refused = CliRunner().invoke(main, ["squaring-the-circle"])
    assert refused.exit_code == 2
    assert "andrews" in refused.output
