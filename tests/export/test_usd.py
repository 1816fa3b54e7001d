"""USD of motions: usd-core's own checks have nothing to say, and what it reads is what was flown."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from export.file import export_motions
from export.motion import LaneMotion, motion_of_trajectory
from export.usd import FPS
from tests.export.flights import helicopter_flight, motion_of

pxr = pytest.importorskip("pxr", reason="usd-core is not there")


def written(path: Path, *motions: LaneMotion) -> Path:
    return export_motions(path, list(motions), title="test")


def errors_in(path: Path) -> list[str]:
    """What usd-core's validators find, all of them."""
    from pxr import Usd, UsdValidation

    registry = UsdValidation.ValidationRegistry()
    validators = registry.GetOrLoadAllValidators()
    assert len(validators) > 20
    stage = Usd.Stage.Open(str(path))
    found = UsdValidation.ValidationContext(validators).Validate(stage)
    return [f"{error.GetName()}: {error.GetMessage()}" for error in found]


@pytest.mark.parametrize("name", ["helicopter", "car", "pendulum", "spacecraft"])
def test_usd_core_has_nothing_to_say_against_what_is_written(name: str, tmp_path: Path) -> None:
    assert errors_in(written(tmp_path / "one.usdc", motion_of(name))) == []


def test_poses_of_all_bodies_are_those_that_were_flown(tmp_path: Path) -> None:
    from pxr import Usd, UsdGeom

    flights = [
        motion_of_trajectory(helicopter_flight(), "flown"),
        replace(motion_of_trajectory(helicopter_flight(method="rk4"), "rk4"), ghost=True),
        motion_of("pendulum"),
    ]
    stage = Usd.Stage.Open(str(written(tmp_path / "all.usdc", *flights)))
    assert UsdGeom.GetStageUpAxis(stage) == "Z"
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1.0
    for motion in flights:
        for body, poses in motion.bodies.items():
            prim = stage.GetPrimAtPath(f"/World/{motion.name}/{body}")
            for k in (0, 31, 199):
                moment = Usd.TimeCode(FPS * float(motion.time[k]))
                T = np.array(UsdGeom.Xformable(prim).ComputeLocalToWorldTransform(moment)).T
                # Measured: 3e-13, rounding of places a kilometre from the origin.
                assert np.abs(T - poses[k]).max() < 1e-11


def test_names_that_usd_does_not_allow_are_told_beside(tmp_path: Path) -> None:
    from pxr import Usd

    motion = replace(motion_of("rigid-body"), name="2 x RK4, h = 0.1 s")
    stage = Usd.Stage.Open(str(written(tmp_path / "odd.usda", motion)))
    prim = stage.GetPrimAtPath("/World/_2_x_RK4__h___0_1_s")
    assert prim.GetDisplayName() == motion.name
