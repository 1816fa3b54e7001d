"""Studies leave a table, a picture and their claims; what cannot be run is refused."""

import csv

import pytest
from click.testing import CliRunner

import sim
from studies import free_body, orders, trees
from studies.__main__ import main
from studies.report import LOCAL, Options, save


def test_large_step_study_finds_its_claims_and_saves_them(tmp_path):
    report = free_body.fig3(Options(seconds=10.0), lambda text, share: None)
    assert all(claim.holds for claim in report.claims)
    table, picture, claims = save(report, "fig3", tmp_path)
    with table.open() as file:
        rows = list(csv.reader(file))
    assert rows[0] == list(free_body.ORBIT_COLUMNS)
    assert len(rows) == 1 + len(free_body.METHODS) * 101
    assert picture.stat().st_size > 10_000
    assert claims.read_text().startswith("yes")


def test_chains_keep_their_energy_and_converge_as_the_multibody_paper_says():
    energy = trees.fig2(Options(seconds=4.0), lambda text, share: None)
    assert all(claim.holds for claim in energy.claims[:2])
    assert len(energy.rows) == trees.SAMPLES + 1
    iterations = trees.fig4(Options(seconds=0.05), lambda text, share: None)
    assert all(claim.holds for claim in iterations.claims)


def test_the_study_of_orders_has_a_case_for_every_method():
    cases = orders.all_cases()
    methods = {name: m for name, m in sim.integrators().items() if not m.adaptive}
    assert {orders.served(method, cases) for method in methods.values()} == set(cases)


def test_the_study_of_orders_finds_the_same_on_a_cluster():
    pytest.importorskip("distributed", reason="dask.distributed is not there")
    names = ("rk2", "variational-exact")
    alone, many = (
        orders.errors_by_method(names, 0.25, where, lambda text, share: None) for where in (None, LOCAL)
    )
    assert alone == many
    assert len(alone["rk2"]) == len(orders.STEPS)


def test_a_study_that_runs_on_no_cluster_says_so(tmp_path):
    result = CliRunner().invoke(main, ["fig3", "--cluster", "local", "--out", str(tmp_path)])
    assert result.exit_code == 2
    assert "allowed for: orders" in result.output


@pytest.mark.parametrize("name", ["fig99", ""])
def test_unknown_study_is_refused(name, tmp_path):
    result = CliRunner().invoke(main, [name, "--out", str(tmp_path)])
    assert result.exit_code == 2
    assert "allowed" in result.output
    assert not list(tmp_path.iterdir())
