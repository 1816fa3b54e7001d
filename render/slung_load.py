"""A load on a rope under what is flown, as things in the picture."""

import numpy as np

from render.frame import DrawnVehicle, Polyline
from sim.environment.slung_load import LoadPicture

_MODEL = "crates"
_ROPE = (0.03, 0.03, 0.03)


def hanging(
    load: LoadPicture, T_wb: np.ndarray, time_s: float, shift_w: np.ndarray
) -> tuple[DrawnVehicle, Polyline]:
    """(load, rope) at a simulated time, under a carrier at (4, 4) T_wb that is drawn `shift_w` from its place."""
    x_w = load.x_w + (time_s - load.time_s) * load.v_w + shift_w
    stands = np.eye(4)
    stands[:3, :3] *= load.radius_m
    stands[:3, 3] = x_w - [0.0, 0.0, load.radius_m]
    body = DrawnVehicle(
        model=_MODEL, T_wb=stands, controls=np.zeros(0), shape=np.zeros(0), time_s=time_s, still=True
    )
    hook_w = T_wb[:3, :3] @ load.hook_b + T_wb[:3, 3]
    return body, Polyline(np.stack([hook_w, x_w]), _ROPE, np.ones(2), 2.0)
