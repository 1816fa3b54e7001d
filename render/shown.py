"""A lane as it is seen: its bodies at the moment of the frame, perhaps apart from their place, and their looks."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from render.cameras.framing import framing_of
from render.frame import DrawnVehicle, Polyline
from render.wreck import wreck_marker
from sim.groups.numeric import rotation_log
from sim.multibody.shapes import STAND, Capsule
from sim.snapshot import LaneSnapshot, LaneStatus
from sim.vehicle_config import config_of

_LEAST_PRESENCE, _SEEN_APART = 0.12, 0.45
"""Of ghosts: what is left where they coincide with the flown vehicle, and how far apart [sizes] they are seen whole."""
_BOTH_SIDES = 0.25
"""Of its height has to be above, and as much below a place, for what stands about it."""
_HAND = (1.0, 0.85, 0.25)


@dataclass(frozen=True, slots=True)
class Shown:
    """One lane at the moment of the frame."""

    lane: LaneSnapshot
    time_s: float
    bodies: Mapping[str, np.ndarray]
    """Name -> (4, 4), where they are drawn."""
    shift_w: np.ndarray = field(default_factory=lambda: np.zeros(3))
    """(3,) m by which it is drawn apart from its true place."""
    apart: bool = False
    """Whether lanes are drawn apart: then none has to be seen through."""

    @property
    def T_wb(self) -> np.ndarray:
        """(4, 4) of the main body."""
        return next(iter(self.bodies.values()))

    @property
    def true_T_wb(self) -> np.ndarray:
        """(4, 4) of the main body where it is, not where it is drawn."""
        return moved(self.T_wb, -self.shift_w)


def reach_m(links: tuple[Capsule, ...], bodies: Mapping[str, np.ndarray], place_w: np.ndarray) -> float:
    """From a place (3,) to the farthest end of what is drawn of the bodies."""
    moving = [shape for shape in links if shape.body in bodies]
    ends = (bodies[shape.body] @ (*end, 1.0) for shape in moving for end in (shape.begin_b, shape.end_b))
    return float(max(np.linalg.norm(end[:3] - place_w) for end in ends))


def middle_m(links: tuple[Capsule, ...], bodies: Mapping[str, np.ndarray], place_w: np.ndarray) -> float:
    """How high the middle of what is drawn of the bodies is above a place (3,) about which it stands; 0 where all of it
    is above the place or hangs below."""
    moving = [shape for shape in links if shape.body in bodies]
    ends = [bodies[shape.body] @ (*end, 1.0) for shape in moving for end in (shape.begin_b, shape.end_b)]
    low, high = (float(limit([end[2] for end in ends])) - place_w[2] for limit in (min, max))
    return 0.5 * (low + high) if min(-low, high) > _BOTH_SIDES * (high - low) else 0.0


def moved(T_wb: np.ndarray, shift_w: np.ndarray) -> np.ndarray:
    """The pose (4, 4) shifted in the world by (3,) m."""
    shifted = T_wb.copy()
    shifted[:3, 3] += shift_w
    return shifted


def pull(shown: Shown) -> tuple[Polyline, ...]:
    """The spring between a hand and what it pulls."""
    if shown.lane.pull is None or shown.lane.pull[0] not in shown.bodies:
        return ()
    body, at_b, to_w = shown.lane.pull
    ends = np.array([(shown.bodies[body] @ (*at_b, 1.0))[:3], np.array(to_w) + shown.shift_w])
    return (Polyline(points_w=ends, colour=_HAND, alpha=np.full(2, 0.95), width_px=3.5),)


def wreck(shown: Shown) -> tuple[Polyline, ...]:
    if shown.lane.status is LaneStatus.RUNNING or not shown.lane.ghost:
        return ()
    size_m = 0.2 * framing_of(shown.lane.vehicle).distance_m
    return wreck_marker(shown.T_wb[:3, 3], size_m, shown.lane.tint)


def presence(T_wb: np.ndarray, flown_T_wb: np.ndarray, size_m: float) -> float:
    """How much is to be seen of a ghost of this size: little while it would only cover the flown vehicle."""
    turned = float(np.linalg.norm(rotation_log(flown_T_wb[:3, :3].T @ T_wb[:3, :3])))
    apart_m = float(np.linalg.norm(T_wb[:3, 3] - flown_T_wb[:3, 3])) + 0.5 * size_m * turned
    share = min(apart_m / (_SEEN_APART * size_m), 1.0)
    return _LEAST_PRESENCE + (1.0 - _LEAST_PRESENCE) * share * share * (3.0 - 2.0 * share)


def _with_stand(shown: Shown) -> Mapping[str, np.ndarray]:
    """The bodies, and what stands still where it holds them."""
    if shown.lane.pivot_w is None or not shown.lane.links:
        return shown.bodies
    stand = np.eye(4)
    stand[:3, 3] = shown.lane.pivot_w + shown.shift_w
    return {**shown.bodies, STAND: stand}


def _turns(vehicle: str) -> bool:
    """Whether anything on it turns with time, so that no two moments look alike."""
    model = config_of(vehicle).model
    return model.turns or any(config_of(look).model.turns for _, look in model.wears)


def drawn(shown: Shown, flown: Shown, highlight: str = "") -> DrawnVehicle:
    lane = shown.lane
    wreck = lane.status is not LaneStatus.RUNNING
    ghost = lane.name != highlight if highlight else lane.ghost and not (wreck or shown.apart)
    seen = 1.0
    if ghost and not shown.apart and np.isfinite(flown.T_wb).all():
        seen = presence(shown.T_wb, flown.T_wb, 0.5 * framing_of(lane.vehicle).distance_m)
    return DrawnVehicle(
        model=lane.vehicle,
        T_wb=shown.T_wb,
        controls=lane.controls,
        shape=lane.shape,
        parameters=lane.parameters,
        time_s=shown.time_s if _turns(lane.vehicle) else 0.0,
        tint=lane.tint,
        ghost=ghost,
        presence=seen,
        wreck=wreck,
        bodies=_with_stand(shown),
        observables=lane.observables,
        links=tuple(shape for shape in lane.links if shape.body != STAND) if ghost else lane.links,
    )
