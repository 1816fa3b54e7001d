"""The camera: one of nine ways of looking, smoothed in wall time, never in the rock, never lost."""

import math

import numpy as np

from render.cameras.clearance import (
    Bumps,
    CameraInput,
    CameraSubject,
    Framing,
    GroundGuard,
    NoInput,
    Shot,
    Surroundings,
    framing_about,
)
from render.cameras.following import Chase, Crane, Orbit
from render.cameras.overview import Overview
from render.cameras.standing import Cockpit, FlyBy, Free, Tower
from render.frame import View, look_at, perspective
from sim.scene import CAMERAS
from sim.shapes.shape import Shape
from sim.vehicle_config import fallback

_JUMP_M = 30.0
"""A subject that moves this much further in a frame than its speed explains has been placed anew."""
_FARTHEST_M = 1e6
_ASIDE_RAD = 0.7
"""From the way that something has come to the bearing at which it is looked at."""
_TURNS: tuple[tuple[str, float], ...] = (
    ("fly-by", 5.0),
    ("chase", 7.0),
    ("crane", 8.0),
    ("tower", 7.0),
    ("orbit", 6.0),
)
"""Cameras and how long they are kept, s of wall time, as long as something moves."""
_OF_WAYS = ("fly-by", "tower", "chase")
"""Of what goes somewhere; what stays in its place is looked at by the others."""
_GOES_MPS = 1.5
_STILL_M = 1e-9
_HURRIED = 3.0
"""Times as soon a camera of ways gives its turn away once what it looks at goes no further."""


class Director:
    """Which camera of a film has its turn: a cut every few seconds, by whether there is a way to stand beside.

    Told of the subject once a frame.
    """

    def __init__(self) -> None:
        self._at, self._left_s = -1, 0.0
        self._last_T_wb = np.full((4, 4), np.nan)

    @property
    def kind(self) -> str:
        """The camera whose turn it is."""
        return _TURNS[max(self._at, 0)][0]

    def begin(self) -> None:
        """The next frame is the first one."""
        self._at, self._left_s = -1, 0.0

    def go_on(self, T_wb: np.ndarray, velocity_w: np.ndarray, dt_s: float) -> bool:
        """Whether there is a cut to another camera, dt_s of wall time later.

        T_wb (4, 4), velocity_w (3,) m/s: of the subject. While it does not move at all, as where time stands, a camera
        is kept.
        """
        still = bool(np.abs(T_wb - self._last_T_wb).max() < _STILL_M)
        self._last_T_wb = T_wb.copy()
        goes = float(np.linalg.norm(velocity_w)) > _GOES_MPS
        stays = not goes and self.kind in _OF_WAYS
        self._left_s -= 0.0 if still else (_HURRIED if stays else 1.0) * dt_s
        if self._at >= 0 and self._left_s > 0.0:
            return False
        before = self._at
        for _ in _TURNS:
            self._at = (self._at + 1) % len(_TURNS)
            if goes or self.kind not in _OF_WAYS:
                break
        self._left_s = _TURNS[self._at][1]
        return self._at != before


class CameraRig:
    """Holds all cameras, so that each keeps its own zoom and bearing while another is in use."""

    def __init__(self, kind: str = "chase", bumps: Bumps | None = None):
        """`bumps`: what lies and grows where it looks."""
        self._cameras: dict[str, Chase | Orbit | Crane | Cockpit | Tower | Free | Overview] = {
            "chase": Chase(),
            "orbit": Orbit(),
            "cockpit": Cockpit(),
            "tower": Tower(),
            "fly-by": FlyBy(),
            "crane": Crane(),
            "free": Free(),
            "overview": Overview(),
        }
        self._director = Director()
        self._guard = GroundGuard(bumps)
        self._kind = ""
        self._entered = False
        self._last_shot: Shot | None = None
        self._last_position_w: np.ndarray | None = None
        self.kind = kind

    @property
    def kind(self) -> str:
        """One of CAMERAS; a change cuts to the other camera with the next update."""
        return self._kind

    @kind.setter
    def kind(self, kind: str) -> None:
        if kind not in CAMERAS:
            raise ValueError(f"unknown camera {kind!r}; there are {', '.join(CAMERAS)}")
        if kind != self._kind:
            self._kind, self._entered = kind, False
            self._director.begin()

    @property
    def _turn(self) -> str:
        """Whose picture it is."""
        return self._director.kind if self._kind == "director" else self._kind

    @property
    def strolls(self) -> bool:
        """Whether the camera goes on and on by itself."""
        return isinstance(self._cameras[self._turn], Crane)

    def frame_scene(self, *, distance: float = 1.0, bearing_rad: float | None = None) -> None:
        """Stand back by `distance` times the usual, and let the orbiting camera look along a bearing."""
        for camera in self._cameras.values():
            if isinstance(camera, Chase | Orbit):
                camera.stand_back(distance)
        orbit = self._cameras["orbit"]
        if bearing_rad is not None and isinstance(orbit, Orbit):
            orbit.look_along(bearing_rad)
        self.cut()

    def step_out(self, T_wb: np.ndarray, velocity_w: np.ndarray) -> None:
        """Let the orbiting camera look at something from beside the way that it has come."""
        way = velocity_w[:2] if np.linalg.norm(velocity_w[:2]) > 1.0 else T_wb[:2, 0]
        orbit = self._cameras["orbit"]
        assert isinstance(orbit, Orbit)
        orbit.look_along(math.atan2(way[1], way[0]) + _ASIDE_RAD)
        self.cut()

    def mind(self, shapes: tuple[Shape, ...]) -> None:
        """What stands about: an eye rises over it, until it sees what is behind."""
        self._guard.mind(shapes)

    def watch(
        self,
        places_w: np.ndarray | None,
        covered: np.ndarray | None = None,
        room_m: float | None = None,
    ) -> None:
        """What the overview is of, (n, 3) m along a way; None: the subject alone.

        covered: (k, 2, 2) parts of the picture under which nothing of it is to lie, and the room about each place, as
        `Overview.watch` has them.
        """
        overview = self._cameras["overview"]
        assert isinstance(overview, Overview)
        overview.watch(places_w, np.zeros((0, 2, 2)) if covered is None else covered, room_m)

    def frame_places(self) -> None:
        """Let the overview frame its places anew, with a sweep."""
        overview = self._cameras["overview"]
        assert isinstance(overview, Overview)
        overview.frame()

    def stand_at(self, eye_w: np.ndarray, bearing_rad: float, pitch_rad: float) -> None:
        """Put the free camera there, without a sweep."""
        free = self._cameras["free"]
        assert isinstance(free, Free)
        free.stand_at(eye_w, bearing_rad, pitch_rad)
        if self._kind == "free":
            self._entered, self._last_shot = False, None

    def cut(self) -> None:
        """Frame the subject anew with the next update, without a sweep (a new scene, a reset)."""
        self._entered = False

    def update(
        self,
        T_wb: np.ndarray,
        twist_b: np.ndarray,
        dt_s: float,
        *,
        framing: Framing | None = None,
        reach_m: float = 0.0,
        held: bool = False,
        motion: CameraInput | None = None,
        world: Surroundings | None = None,
        aspect: float = 1.6,
    ) -> View:
        """The view after `dt_s` of wall time, following a body at T_wb (4, 4) with twist (omega, v) (6,).

        Values that are not finite keep the last view; `aspect` is width over height of the picture. reach_m, held: of
        what is drawn from its bodies, as `framing_about` takes them.
        """
        dt_s = min(max(dt_s, 0.0), 0.25) if np.isfinite(dt_s) else 0.0
        place = np.asarray(T_wb, float)
        if not np.isfinite(place).all() or np.abs(place[:3, 3]).max() > _FARTHEST_M:
            return _view(self._last_shot or _nowhere(), aspect)
        velocity_w = place[:3, :3] @ np.nan_to_num(np.asarray(twist_b, float)[3:6], posinf=0.0, neginf=0.0)
        subject = CameraSubject(
            place, velocity_w, framing_about(framing or fallback().camera, reach_m, held=held)
        )
        cut = self._kind == "director" and self._director.go_on(place, velocity_w, dt_s)
        if cut or not self._entered or self._jumped(subject, dt_s):
            self._enter(subject)
        self._last_position_w = subject.position_w.copy()
        shot = self._shot(subject, motion or NoInput(), dt_s, world, aspect)
        eye = self._guard.clear(world, shot.eye_w, shot.aim_w, dt_s) if not shot.inside else shot.eye_w
        self._last_shot = _from_eye(shot, eye)
        return _view(self._last_shot, aspect)

    def _enter(self, subject: CameraSubject) -> None:
        free = self._cameras["free"]
        if (
            self._kind == "free"
            and not self._entered
            and self._last_shot is not None
            and isinstance(free, Free)
        ):
            free.start_from(self._last_shot)
        self._cameras[self._turn].cut(subject)
        self._guard.reset()
        self._entered = True

    def _jumped(self, subject: CameraSubject, dt_s: float) -> bool:
        if self._last_position_w is None:
            return True
        explained = 2.0 * float(np.linalg.norm(subject.velocity_w)) * dt_s
        return float(np.linalg.norm(subject.position_w - self._last_position_w)) > _JUMP_M + explained

    def _shot(
        self,
        subject: CameraSubject,
        motion: CameraInput,
        dt_s: float,
        world: Surroundings | None,
        aspect: float,
    ) -> Shot:
        camera = self._cameras[self._turn]
        if isinstance(camera, Overview):
            return camera.shot(subject, motion, dt_s, world, aspect)
        if isinstance(camera, Tower | Free):
            return camera.shot(subject, motion, dt_s, world)
        return camera.shot(subject, motion, dt_s)


def _from_eye(shot: Shot, eye_w: np.ndarray) -> Shot:
    """The shot from where the ground lets it be; it keeps its aim."""
    forward = shot.forward_w
    if shot.aim_w is not None:
        way = shot.aim_w - eye_w
        size = float(np.linalg.norm(way))
        forward = way / size if size > 1e-6 else forward
    return Shot(
        eye_w, forward, shot.up_w, shot.fov_y_rad, shot.near_m, shot.far_m, shot.inside, aim_w=shot.aim_w
    )


def _nowhere() -> Shot:
    """What is seen before there has been anything to look at."""
    return Shot(np.array([-20.0, 0.0, 10.0]), np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0]), 0.8)


def _view(shot: Shot, aspect: float) -> View:
    return View(
        eye_w=shot.eye_w,
        view=look_at(shot.eye_w, shot.eye_w + shot.forward_w, tuple(shot.up_w)),
        projection=perspective(shot.fov_y_rad, max(aspect, 0.1), shot.near_m, shot.far_m),
        inside=shot.inside,
    )
