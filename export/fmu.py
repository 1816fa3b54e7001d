"""What flew as a co-simulation unit: the vehicle, method, step and start of the first motion that tells its own."""

from pathlib import Path

from export.nodes import Content
from sim.fmu.export import PLATFORMS, VERSIONS, write_unit
from sim.platform.errors import InputError


def write_fmu(path: Path, content: Content) -> None:
    """Write the unit. Raises OSError, and InputError where there is none of such a vehicle."""
    origins = [motion.origin for motion in content.motions if motion.origin is not None and not motion.ghost]
    if not origins:
        raise InputError(f"{content.file_name}: no lane tells its vehicle; allowed: a run or a take")
    first = origins[0]
    flown = first.vehicle, first.integrator, first.step_s, first.start
    write_unit(path, *flown, VERSIONS[0], PLATFORMS, content.report)
