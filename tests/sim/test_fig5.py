"""The study of the car: equal commands, errors that fall as declared, the paper's claim about accuracy."""

import numpy as np
import pytest

from studies import fig5
from studies.report import Options, save


@pytest.fixture(scope="module")
def report():
    return fig5.run(Options(runs=4, seconds=6, seed=3), lambda text, share: None)


def column(report, method, name):
    at = {c: k for k, c in enumerate(report.columns)}
    return np.array([row[at[name]] for row in report.rows if row[at["method"]] == method])


@pytest.mark.parametrize(
    ("method", "order"), [("variational", 2), ("variational-exp-tln", 2), ("rk2", 2), ("rk4", 4)]
)
def test_errors_fall_with_the_declared_order(report, method, order):
    errors = column(report, method, "position_error_m")[:4]
    assert np.log2(errors[1] / errors[2]) == pytest.approx(order, abs=0.15)


def test_the_variational_car_is_as_accurate_as_rk2(report):
    """Measured over 50 runs of 60 s: 0.75 to 0.85."""
    for name in ("position_error_m", "heading_error_rad"):
        ratio = column(report, "variational", name) / column(report, "rk2", name)
        assert np.all((ratio > 0.3) & (ratio < 3))


def test_table_picture_and_claims_are_left_behind(report, tmp_path):
    assert [path.name for path in save(report, "fig5", tmp_path)] == ["fig5.csv", "fig5.png", "fig5.txt"]
    assert len((tmp_path / "fig5.csv").read_text().splitlines()) == 1 + len(fig5.METHODS) * len(
        fig5.STEPS_PER_SECOND
    )
