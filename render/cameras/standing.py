"""Cameras that do not circle: the pilot's eyes, a tower on the ground, a free eye."""

import math

import numpy as np

from render.cameras.clearance import (
    CameraInput,
    CameraSubject,
    Shot,
    Surroundings,
    clear_share,
    floor_z,
    looking_at,
)
from render.cameras.following import DRAG_RAD_PER_PX, KEYS_RAD_PER_S, ZOOM_PER_CLICK, Spring, left_after

_UP = np.array([0.0, 0.0, 1.0])


class Cockpit:
    """The pilot's eyes; the head turns with the mouse and looks ahead again by itself."""

    _FOV_RAD = math.radians(64.0)
    _REST_PITCH_RAD = math.radians(-7.0)
    _WAIT_S, _RETURN_S = 2.0, 0.5

    def __init__(self) -> None:
        self._turn_rad, self._pitch_rad, self._zoom, self._idle_s = 0.0, 0.0, 1.0, 1e9
        self._head = Spring(14.0)

    def cut(self, _subject: CameraSubject) -> None:
        """Look ahead at once."""
        self._head.snap(np.array([self._turn_rad, self._pitch_rad]))

    def shot(self, subject: CameraSubject, motion: CameraInput, dt_s: float) -> Shot:
        """The picture of this frame: fixed to the body, without lag."""
        right = DRAG_RAD_PER_PX * motion.drag_px[0] + KEYS_RAD_PER_S * dt_s * motion.orbit[0]
        up = DRAG_RAD_PER_PX * motion.drag_px[1] + KEYS_RAD_PER_S * dt_s * motion.orbit[1]
        self._idle_s = 0.0 if right != 0.0 or up != 0.0 else self._idle_s + dt_s
        self._turn_rad = min(max(self._turn_rad - right, -2.4), 2.4)
        self._pitch_rad = min(max(self._pitch_rad + up, -1.2), 1.2)
        self._zoom = min(max(self._zoom * ZOOM_PER_CLICK**motion.zoom, 0.4), 1.25)
        if self._idle_s > self._WAIT_S:
            share = left_after(dt_s, self._RETURN_S)
            self._turn_rad, self._pitch_rad = self._turn_rad * share, self._pitch_rad * share
        turn, pitch = self._head.step(np.array([self._turn_rad, self._pitch_rad]), dt_s)
        pitch += self._REST_PITCH_RAD
        R = subject.T_wb[:3, :3]
        forward_b = np.array(
            [math.cos(pitch) * math.cos(turn), math.cos(pitch) * math.sin(turn), math.sin(pitch)]
        )
        eye_w = subject.position_w + R @ np.array(subject.framing.eye_b)
        inside = subject.framing.enclosed
        near = 0.12 if inside else 0.3
        return Shot(eye_w, R @ forward_b, R[:, 2], self._FOV_RAD * self._zoom, near_m=near, inside=inside)


class Tower:
    """A lookout on the ground ahead of the vehicle; another one is taken when this has lost sight of it."""

    _REACH_M, _PATIENCE_S = 260.0, 1.2
    _SPOTS: tuple[tuple[float, float], ...] = (
        (70.0, 28.0),
        (70.0, -28.0),
        (45.0, 40.0),
        (45.0, -40.0),
        (110.0, 15.0),
        (25.0, 18.0),
        (12.0, -14.0),
    )

    def __init__(self) -> None:
        self._eye_w: np.ndarray | None = None
        self._unseen_s, self._zoom = 0.0, 1.0
        self._aim, self._fov = Spring(6.0), Spring(2.5)

    def cut(self, _subject: CameraSubject) -> None:
        """Choose a lookout anew."""
        self._eye_w = None

    def shot(
        self, subject: CameraSubject, motion: CameraInput, dt_s: float, world: Surroundings | None
    ) -> Shot:
        """The picture of this frame."""
        self._zoom = min(max(self._zoom * ZOOM_PER_CLICK**motion.zoom, 0.3), 3.0)
        chosen = self._eye_w is None or self._lost(subject, world, dt_s)
        if chosen:
            self._eye_w = self._choose(subject, world)
            self._unseen_s = 0.0
        eye = self._eye_w
        assert eye is not None
        distance = max(float(np.linalg.norm(subject.aim_w - eye)), 1.0)
        wanted = math.log(self._wanted_fov_rad(subject, distance))
        if chosen:
            self._aim.snap(subject.aim_w, subject.velocity_w)
            self._fov.snap(wanted)
        aim, fov = self._aim.step(subject.aim_w, dt_s), math.exp(float(self._fov.step(wanted, dt_s)))
        shot = looking_at(eye, aim, fov)
        return Shot(shot.eye_w, shot.forward_w, shot.up_w, fov, near_m=0.8)

    def _wanted_fov_rad(self, subject: CameraSubject, distance_m: float) -> float:
        """As wide as the vehicle, which is looked at over some distance, asks for."""
        wanted = 2.0 * math.atan(0.62 * subject.framing.distance_m * self._zoom / distance_m)
        return min(max(wanted, math.radians(4.0)), math.radians(70.0))

    def _lost(self, subject: CameraSubject, world: Surroundings | None, dt_s: float) -> bool:
        assert self._eye_w is not None
        if np.linalg.norm(subject.aim_w - self._eye_w) > self._reach_m(subject):
            return True
        hidden = clear_share(world, self._eye_w, subject.aim_w) < 0.98
        self._unseen_s = self._unseen_s + dt_s if hidden else 0.0
        return self._unseen_s > self._PATIENCE_S

    def _reach_m(self, subject: CameraSubject) -> float:
        """How far away the vehicle is lost."""
        return self._REACH_M

    def _choose(self, subject: CameraSubject, world: Surroundings | None) -> np.ndarray:
        """The first spot ahead and aside with a clear view; over the vehicle's shoulder where there is none."""
        scale = subject.framing.distance_m / 16.5
        ahead = (
            subject.velocity_w[:2] if np.linalg.norm(subject.velocity_w[:2]) > 2.0 else subject.T_wb[:2, 0]
        )
        ahead = ahead / max(float(np.linalg.norm(ahead)), 1e-9)
        aside = np.array([-ahead[1], ahead[0]])
        eye = subject.aim_w + np.array([0.0, 0.0, 2.0 * scale])
        for forward, left in self._SPOTS:
            spot = np.zeros(3)
            spot[:2] = subject.position_w[:2] + scale * (forward * ahead + left * aside)
            ground = floor_z(world, spot)
            low = subject.position_w[2] - 12.0 * scale
            spot[2] = max(ground + 1.5 * scale, min(low, ground + 40.0)) if np.isfinite(ground) else low
            eye = spot
            if clear_share(world, spot, subject.aim_w) >= 1.0:
                break
        return eye


class FlyBy(Tower):
    """Close beside the way ahead with a wide lens: the vehicle comes up, rushes past and is gone; then the next one."""

    _REACH_M, _PATIENCE_S = 95.0, 0.6
    _SPOTS = ((62.0, 9.0), (62.0, -9.0), (40.0, 12.0), (40.0, -12.0), (25.0, 10.0), (14.0, -9.0))
    _WIDE_RAD = math.radians(58.0)

    def _wanted_fov_rad(self, subject: CameraSubject, distance_m: float) -> float:
        return min(max(self._WIDE_RAD * self._zoom, math.radians(12.0)), math.radians(75.0))

    def _reach_m(self, subject: CameraSubject) -> float:
        return self._REACH_M * subject.framing.distance_m / 16.5


class Free:
    """An eye of its own: drag to look, pan to slide, scroll to go forward, arrows to walk."""

    _FOV_RAD = math.radians(50.0)
    _WALK_MPS, _SLIDE_PER_PX, _CLICK_M = 18.0, 0.06, 3.0

    def __init__(self) -> None:
        self._wanted_w: np.ndarray | None = None
        self._bearing_rad, self._pitch_rad = 0.0, 0.0
        self._eye, self._look = Spring(10.0), Spring(14.0)

    def start_from(self, shot: Shot) -> None:
        """Begin where another camera was."""
        self._wanted_w = np.array(shot.eye_w)
        forward = shot.forward_w
        self._bearing_rad = math.atan2(forward[1], forward[0])
        self._pitch_rad = math.asin(min(max(float(forward[2]), -1.0), 1.0))
        self._eye.snap(self._wanted_w)
        self._look.snap(np.array([self._bearing_rad, self._pitch_rad]))

    def stand_at(self, eye_w: np.ndarray, bearing_rad: float, pitch_rad: float) -> None:
        """Be there at once, and look that way."""
        self._wanted_w = np.array(eye_w, float)
        self._bearing_rad, self._pitch_rad = bearing_rad, pitch_rad
        self._eye.snap(self._wanted_w)
        self._look.snap(np.array([bearing_rad, pitch_rad]))

    def cut(self, subject: CameraSubject) -> None:
        """Stay; a first start without another camera looks at the subject from aside."""
        if self._wanted_w is None:
            eye = subject.aim_w + subject.framing.distance_m * np.array([-0.8, -0.5, 0.35])
            self.start_from(looking_at(eye, subject.aim_w, self._FOV_RAD))

    def shot(
        self, subject: CameraSubject, motion: CameraInput, dt_s: float, world: Surroundings | None
    ) -> Shot:
        """The picture of this frame; the wish itself is kept above the ground."""
        if self._wanted_w is None:
            self.cut(subject)
        self._bearing_rad -= DRAG_RAD_PER_PX * motion.drag_px[0]
        self._pitch_rad = min(max(self._pitch_rad + DRAG_RAD_PER_PX * motion.drag_px[1], -1.5), 1.5)
        forward = _direction(self._bearing_rad, self._pitch_rad)
        right = np.array([math.sin(self._bearing_rad), -math.cos(self._bearing_rad), 0.0])
        walk = self._WALK_MPS * dt_s
        assert self._wanted_w is not None
        self._wanted_w = (
            self._wanted_w
            + forward * (walk * motion.orbit[1] + self._CLICK_M * motion.zoom)
            + right * (walk * motion.orbit[0] - self._SLIDE_PER_PX * motion.pan_px[0])
            - _UP * (self._SLIDE_PER_PX * motion.pan_px[1])
        )
        self._wanted_w[2] = max(self._wanted_w[2], floor_z(world, self._wanted_w))
        bearing, pitch = self._look.step(np.array([self._bearing_rad, self._pitch_rad]), dt_s)
        return Shot(self._eye.step(self._wanted_w, dt_s), _direction(bearing, pitch), _UP, self._FOV_RAD)


def _direction(bearing_rad: float, pitch_rad: float) -> np.ndarray:
    c = math.cos(pitch_rad)
    return np.array([c * math.cos(bearing_rad), c * math.sin(bearing_rad), math.sin(pitch_rad)])
