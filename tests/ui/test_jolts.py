"""Laws of what shakes a controller."""

from dataclasses import replace

import numpy as np
import pytest

from sim.simulation.lanes.snapshot import LaneStatus, Snapshot
from tests.ui import fakes
from ui.input.controllers import CRASH, Jolts


def moving(clock_s: float, v_b: tuple[float, float, float], **changes: object) -> Snapshot:
    lane = fakes.lane(twist_b=np.array([0.0, 0.0, 0.0, *v_b]), **changes)
    return replace(fakes.snapshot(), clock_s=clock_s, lanes=(lane,))


def test_a_blow_is_felt_by_its_change_of_speed_and_flying_is_not() -> None:
    jolts = Jolts()
    assert jolts.felt(moving(0.0, (0.0, 0.0, -4.0))) is None
    assert jolts.felt(moving(0.02, (0.0, 0.3, -4.4))) is None  # 2.5 g
    felt = jolts.felt(moving(0.04, (0.0, 0.3, 0.2)))
    assert felt is not None
    assert felt[0] == pytest.approx((4.6 - 0.6) / 8.0)
    assert jolts.felt(moving(0.06, (0.0, 0.3, 0.2))) is None


def test_a_crash_is_felt_once_and_a_fresh_start_is_none() -> None:
    jolts = Jolts()
    jolts.felt(moving(0.0, (20.0, 0.0, 0.0)))
    assert jolts.felt(moving(0.02, (0.0, 0.0, 0.0), status=LaneStatus.CRASHED)) == CRASH
    assert jolts.felt(moving(0.04, (0.0, 0.0, 0.0), status=LaneStatus.CRASHED)) is None
    assert jolts.felt(moving(0.0, (0.0, 0.0, 0.0), generation=1)) is None
