"""What several laws of the surroundings are about."""

import pytest

from sim.vehicle_config import config_named
from sim.vehicle_config.radiation import Radiation


@pytest.fixture(scope="session")
def radiation() -> Radiation:
    """Of the buoy."""
    hull = config_named("wave-buoy").hull
    assert hull is not None
    assert hull.radiation is not None
    return hull.radiation
