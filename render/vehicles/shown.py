"""A lane as it is seen: its bodies at the moment of the frame, perhaps apart from their place, and their looks."""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace

import numpy as np

from render.frame import Arrow, DrawnVehicle, Polyline
from sim.contact.obstacles import PropsPicture
from sim.groups.numeric import median, rotation_log
from sim.multibody.shapes import STAND, Link
from sim.platform.values import dataclass
from sim.simulation.lanes.snapshot import LaneSnapshot, LaneStatus
from sim.vehicle_config import VehicleConfig

Colour = tuple[float, float, float]


def wreck_marker(place_w: np.ndarray, size_m: float, colour: Colour) -> tuple[Polyline, ...]:
    """Lines about the place (3,) m: a ring, a cross in it, and a mast that is seen from afar."""
    angle = np.linspace(0.0, 2.0 * np.pi, 33)
    ring = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(33)])
    arm = np.sqrt(0.5) * np.array([[1.0, 1.0, 0.0], [-1.0, -1.0, 0.0]])
    turned = arm * [1.0, -1.0, 1.0]
    mast = np.array([[0.0, 0.0, -0.4], [0.0, 0.0, 3.0]])
    shapes = (ring, arm, turned, mast)
    return tuple(
        Polyline(place_w + size_m * shape, colour, np.full(len(shape), 0.9), width_px=3.0) for shape in shapes
    )


_LEAST_PRESENCE, _SEEN_APART = 0.12, 0.45
"""Of ghosts: what is left where they coincide with the flown vehicle, and how far apart [sizes] they are seen whole."""
_PROP_SEEN_APART, _PROP_ALIKE = 0.5, 0.02
"""Of ghosts' props: how far apart [their reaches] they are seen whole, and at which share of that they are not seen."""
_BOTH_SIDES = 0.25
"""Of its height has to be above, and as much below a place, for what stands about it."""
_HAND = (1.0, 0.85, 0.25)
CORD = (0.05, 0.05, 0.05)


@dataclass(frozen=True, slots=True)
class ShownLane:
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


def ends_w(links: tuple[Link, ...], bodies: Mapping[str, np.ndarray]) -> np.ndarray:
    """(n, 3) both ends of all that is drawn of the bodies, whose poses are given."""
    moving = [shape for shape in links if shape.body in bodies]
    ends = [bodies[shape.body] @ (*end, 1.0) for shape in moving for end in (shape.begin_b, shape.end_b)]
    return np.array(ends).reshape(-1, 4)[:, :3]


def reach_m(links: tuple[Link, ...], bodies: Mapping[str, np.ndarray], place_w: np.ndarray) -> float:
    """From a place (3,) to the farthest end of what is drawn of the bodies."""
    return float(np.linalg.norm(ends_w(links, bodies) - place_w, axis=1).max())


def middle_m(
    links: tuple[Link, ...], bodies: Mapping[str, np.ndarray], place_w: np.ndarray, lift_m: float
) -> float:
    """How high the middle of what is drawn of the bodies is above a place (3,) at which it is held; 0 where it stands
    on the place or hangs below as the lift of its framing says."""
    heights_m = ends_w(links, bodies)[:, 2] - place_w[2]
    low, high = float(heights_m.min()), float(heights_m.max())
    about = min(-low, high) > _BOTH_SIDES * (high - low)
    other = (-low > high) == (lift_m > 0.0)
    return 0.5 * (low + high) if about or other else 0.0


def moved(T_wb: np.ndarray, shift_w: np.ndarray) -> np.ndarray:
    """The pose (4, 4) shifted in the world by (3,) m."""
    shifted = T_wb.copy()
    shifted[:3, 3] += shift_w
    return shifted


def pull(shown: ShownLane, props: Mapping[int, np.ndarray]) -> tuple[Polyline, ...]:
    """The spring between a hand and what it pulls; props: poses (4, 4) of those about it, by number."""
    if shown.lane.pull is None:
        return ()
    body, at_b, to_w = shown.lane.pull
    T_wb = shown.bodies.get(body) if isinstance(body, str) else props.get(body)
    if T_wb is None:
        return ()
    ends = np.array([(T_wb @ (*at_b, 1.0))[:3], np.array(to_w) + shown.shift_w])
    return (Polyline(points_w=ends, colour=_HAND, alpha=np.full(2, 0.95), width_px=3.5),)


def cords(shown: ShownLane) -> tuple[Polyline, ...]:
    """Its springs and tendons."""
    found, bodies = [], _with_stand(shown)
    for cord in shown.lane.cords:
        if cord.bodies <= bodies.keys():
            points_w = cord.points_w(bodies)
            found.append(Polyline(points_w, CORD, np.ones(len(points_w)), width_px=3.0))
    return tuple(found)


def wreck(shown: ShownLane) -> tuple[Polyline, ...]:
    if shown.lane.status is LaneStatus.RUNNING or not shown.lane.ghost:
        return ()
    size_m = 0.2 * shown.lane.config.camera.distance_m
    return wreck_marker(shown.T_wb[:3, 3], size_m, shown.lane.tint)


def presence(T_wb: np.ndarray, flown_T_wb: np.ndarray, size_m: float) -> float:
    """How much is to be seen of a ghost of this size: little while it would only cover the flown vehicle."""
    turned = float(np.linalg.norm(rotation_log(flown_T_wb[:3, :3].T @ T_wb[:3, :3])))
    apart_m = float(np.linalg.norm(T_wb[:3, 3] - flown_T_wb[:3, 3])) + 0.5 * size_m * turned
    share = min(apart_m / (_SEEN_APART * size_m), 1.0)
    return _LEAST_PRESENCE + (1.0 - _LEAST_PRESENCE) * share * share * (3.0 - 2.0 * share)


def props_drawn(
    piles: Sequence[tuple[ShownLane, PropsPicture]], flown: ShownLane, highlight: str
) -> tuple[DrawnVehicle, ...]:
    """Each lane's props as one thing: those of the highlighted lane, or else of the first, are solid.

    Of the others what lies elsewhere than there is a ghost in the lane's tint. Lanes that are drawn apart have all of
    theirs.
    """
    solid = next((k for k, (shown, _) in enumerate(piles) if shown.lane.name == highlight), 0)
    found, nothing = [], np.zeros(0)
    for k, (shown, props) in enumerate(piles):
        seen = None
        if k != solid and not shown.apart:
            seen = props_presence(props, piles[solid][1])
            if not seen.any():
                continue
        if shown.shift_w.any():
            poses_w = props.poses_w.copy()
            poses_w[:, :3, 3] += shown.shift_w
            props = replace(props, poses_w=poses_w)
        tint = flown.lane.tint if k == solid and not shown.apart else shown.lane.tint
        found.append(
            DrawnVehicle(
                "props",
                np.eye(4),
                nothing,
                nothing,
                flown.lane.config,
                tint=tint,
                ghost=seen is not None,
                still=True,
                solids=props,
                presences=seen,
            )
        )
    return tuple(found)


def props_presence(props: PropsPicture, others: PropsPicture) -> np.ndarray:
    """(n,) how much is to be seen of each prop of a ghost's: nothing where it lies as that of the others."""
    if props.shapes != others.shapes:
        return np.ones(len(props.shapes))
    apart = props.poses_w[:, :3] - others.poses_w[:, :3]
    turned = np.linalg.norm(apart[:, :, :3], axis=(1, 2)) / np.sqrt(2.0)
    apart_m = np.linalg.norm(apart[:, :, 3], axis=1) + turned * props.reach_m
    share = np.clip(apart_m / (_PROP_SEEN_APART * props.reach_m) - _PROP_ALIKE, 0.0, 1.0)
    return np.asarray(share * share * (3.0 - 2.0 * share))


def _with_stand(shown: ShownLane) -> Mapping[str, np.ndarray]:
    """The bodies, and what stands still where it holds them."""
    if shown.lane.pivot_w is None or not shown.lane.links:
        return shown.bodies
    stand = np.eye(4)
    stand[:3, 3] = shown.lane.pivot_w + shown.shift_w
    return {**shown.bodies, STAND: stand}


def _turns(config: VehicleConfig) -> bool:
    """Whether anything on it turns with time, so that no two moments look alike."""
    return any(each.model.turns for each in (config, *config.looks.values()))


def drawn(shown: ShownLane, flown: ShownLane, highlight: str = "") -> DrawnVehicle:
    lane = shown.lane
    stopped = lane.status is not LaneStatus.RUNNING
    ghost = lane.name != highlight if highlight else lane.ghost and not (stopped or shown.apart)
    seen = 1.0
    if ghost and not shown.apart and np.isfinite(flown.T_wb).all():
        seen = presence(shown.T_wb, flown.T_wb, 0.5 * lane.config.camera.distance_m)
    return DrawnVehicle(
        model=lane.vehicle,
        config=lane.config,
        T_wb=shown.T_wb,
        controls=lane.controls,
        shape=lane.shape,
        parameters=lane.parameters,
        time_s=shown.time_s if _turns(lane.config) else 0.0,
        tint=lane.tint,
        ghost=ghost,
        presence=seen,
        wreck=lane.status is LaneStatus.CRASHED or (stopped and lane.ghost),
        bodies=_with_stand(shown),
        observables=lane.observables,
        links=tuple(shape for shape in lane.links if shape.body != STAND) if ghost else lane.links,
    )


FORCE_ARROW = 0.3
"""Drawn length of the largest force seen on a lane, of the distance from which the vehicle is looked at."""
_MOMENTUM_ARROW_M = 0.75
"""Drawn length of a top's angular momentum at its start (of what set out at rest: at any time), and of its axes."""
_AXES_M = 3.0
_LEAST_SPEED_MPS, _VELOCITY_ARROW_S = 0.3, 0.3
"""Slower than this there is no arrow; how long it is for a slow speed. A fast one's grows no longer than a force's."""
_CONTACT_ARROW, _LONGEST_CONTACT_ARROW = 0.08, 0.3
"""Drawn length of the median contact force, and of any at most, of the distance from which the vehicle is looked at."""
ARROW_COLOURS = {
    "contact": (1.0, 0.85, 0.10),
    "control": (1.0, 0.45, 0.05),
    "environment": (0.10, 0.75, 0.95),
    "velocity": (0.25, 0.95, 0.20),
    "momentum": (0.85, 0.25, 0.95),
    "x": (0.90, 0.06, 0.05),
    "y": (0.08, 0.70, 0.10),
    "z": (0.06, 0.22, 0.95),
}


def contact_arrows(contacts: np.ndarray, distance_m: float) -> list[Arrow]:
    """Of points (k, 6) that touch and their forces; those that bear nothing have none."""
    sizes = np.linalg.norm(contacts[:, 3:], axis=1)
    bearing = contacts[np.isfinite(sizes) & (sizes > 1e-6)]
    if not len(bearing):
        return []
    sizes = np.linalg.norm(bearing[:, 3:], axis=1)
    lengths = np.minimum(_CONTACT_ARROW * sizes / median(sizes), _LONGEST_CONTACT_ARROW) * distance_m
    ways = bearing[:, 3:] * (lengths / sizes)[:, None]
    return [
        Arrow(x, way, ARROW_COLOURS["contact"], through=True)
        for x, way in zip(bearing[:, :3], ways, strict=True)
    ]


class LaneArrows:
    """Keeps the scale of force arrows: the largest force seen on each lane, whoever exerts it."""

    def __init__(self) -> None:
        self._largest_force_N: dict[tuple[str, str], float] = {}

    def note(self, lane: LaneSnapshot) -> None:
        key = (lane.name, lane.vehicle)
        sizes = [
            float(np.linalg.norm(each[3:])) for each in (lane.control_wrench_b, lane.environment_wrench_b)
        ]
        for size in filter(np.isfinite, sizes):
            self._largest_force_N[key] = max(self._largest_force_N.get(key, 1e-9), size)

    def of(self, shown: ShownLane, *, forces: bool, frame: bool) -> list[Arrow]:
        """`forces`: control and environment force, and velocity; of what is held its angular momentum.

        `frame`: body axes.
        """
        arrows: list[Arrow] = []
        R, origin = shown.T_wb[:3, :3], shown.T_wb[:3, 3]
        if forces:
            longest_m = FORCE_ARROW * shown.lane.config.camera.distance_m
            scale = longest_m / self._largest_force_N.get((shown.lane.name, shown.lane.vehicle), 1.0)
            arrows += [
                Arrow(origin, scale * R @ shown.lane.control_wrench_b[3:], ARROW_COLOURS["control"]),
                Arrow(origin, scale * R @ shown.lane.environment_wrench_b[3:], ARROW_COLOURS["environment"]),
            ]
            velocity_w = R @ shown.lane.twist_b[3:]
            speed_mps = float(np.linalg.norm(velocity_w))
            if speed_mps > _LEAST_SPEED_MPS:
                length_m = longest_m * np.tanh(_VELOCITY_ARROW_S * speed_mps / longest_m)
                arrows.append(Arrow(origin, length_m / speed_mps * velocity_w, ARROW_COLOURS["velocity"]))
        start = shown.lane.momentum_start_w[:3]
        held = shown.lane.pivot_w is not None
        if forces and held:
            now_w = shown.lane.momentum_w[:3]
            largest = max(float(np.linalg.norm(start)), float(np.linalg.norm(now_w)), 1e-9)
            arrows.append(Arrow(origin, _MOMENTUM_ARROW_M / largest * now_w, ARROW_COLOURS["momentum"]))
        if frame:
            size_m = _MOMENTUM_ARROW_M if held else _AXES_M
            arrows += [Arrow(origin, size_m * R[:, k], ARROW_COLOURS[axis]) for k, axis in enumerate("xyz")]
        return arrows
