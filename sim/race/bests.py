"""Personal bests: the quickest lap of a scene with a vehicle, kept in the user's folder."""

import re
from pathlib import Path

import numpy as np

from sim.arrays_file import arrays_in
from sim.errors import InputError
from sim.race.course import Course
from sim.race.lap import Lap
from sim.replacing import replacing
from sim.user_files import refusals

_TURNED = 1e-6
"""By how much a matrix may be off a rotation."""


def best_file(folder: Path, scene: str, vehicle: str, course: Course) -> Path:
    """Where it is kept: another course under the same name has another file."""
    name = re.sub(r"[^A-Za-z0-9_-]", "_", f"{scene}-{vehicle}")[:80]
    return folder / f"{name}-{course.key}.npz"


def read_best(path: Path, course: Course) -> Lap | None:
    """None where nothing is kept. Raises InputError, one line with the file, where it is no lap of the course."""
    if not path.exists():
        return None
    with refusals(path, "no lap"), arrays_in(path) as arrays:
        splits, time, poses = (
            np.asarray(arrays.array(name), float) for name in ("splits_s", "time_s", "poses")
        )
        return _checked(splits, time, poses, course)


def write_best(path: Path, lap: Lap) -> None:
    """Under a temporary name first. Raises InputError where it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as draft, draft.open("wb") as file:
            np.savez_compressed(
                file, splits_s=np.array(lap.splits_s), time_s=lap.time, poses=lap.poses.reshape(-1, 16)
            )
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None


def _checked(splits: np.ndarray, time: np.ndarray, poses: np.ndarray, course: Course) -> Lap:
    fits = splits.shape == (course.passages,) and time.ndim == 1 and poses.shape == (len(time), 16)
    if not fits or len(time) < 2:
        raise InputError(f"{len(splits)} times and {len(time)} moments are no lap of {course.passages} gates")
    if not all(np.isfinite(part).all() for part in (splits, time, poses)):
        raise InputError("holds numbers that are not finite")
    if splits[0] != 0.0 or np.any(np.diff(splits) <= 0.0) or np.any(np.diff(time) <= 0.0):
        raise InputError("its times do not increase from 0")
    T_wb = poses.reshape(-1, 4, 4)
    R = T_wb[:, :3, :3]
    off = np.abs(R @ R.transpose(0, 2, 1) - np.eye(3)).max()
    if off > _TURNED or np.linalg.det(R).min() < 0.0 or np.any(T_wb[:, 3] != [0.0, 0.0, 0.0, 1.0]):
        raise InputError("its poses are none")
    return Lap(tuple(splits.tolist()), time, T_wb)
