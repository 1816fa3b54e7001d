"""What tests of the simulation share."""

import pytest

import sim.planner.service.planner as service
from sim.planner.solvers.attempt import deadline_in

PATIENCE = 10.0


@pytest.fixture(autouse=True)
def patient_planner(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time limits are for those who wait in front of a window: a busy machine must not change what is found."""
    monkeypatch.setattr(service, "deadline_in", lambda limit_s: deadline_in(PATIENCE * limit_s))
