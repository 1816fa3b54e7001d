"""The scene in its window: renderer, camera and light, from one snapshot to the next."""

import math
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from time import perf_counter

import moderngl
import numpy as np
from pyglet import gl

from export.output import OutputError
from export.pictures import MeanPicture
from render.cameras.adaptation import Adaptation
from render.cameras.clearance import bumps_of, parked_in
from render.cameras.rig import CameraRig
from render.frame import Frame, View, alike
from render.frame_budget import FrameBudget
from render.land.scenery import Scenery, load_scenery
from render.light import Day, Sun
from render.panes import draw_panes, label_places, pane_rects, spread_along
from render.passes.still_light import step, take
from render.process import give_back
from render.programs import Programs
from render.quality import choose, is_software
from render.renderer import Renderer
from render.vehicles.scene_view import SceneView, ViewOptions
from sim.contact.obstacles.blows import Blow
from sim.platform.values import dataclass
from sim.scene import Scene
from sim.simulation.lanes.snapshot import LaneSnapshot, Snapshot
from sim.world import World
from ui.features.photo import LENS_POINTS, Developing, lens_points
from ui.features.plan.planning import Planning
from ui.input.desk import CameraMotion
from ui.settings.view_settings import ViewSettings
from ui.window.app_window import AppWindow
from ui.window.context import Pace, is_late

_OUTSIDE = {"chase": "orbit", "cockpit": "orbit"}
"""Cameras that step back from a wreck."""
COMING_S = 0.1
"""Between two frames while a scene's first picture comes: by software one takes as long as two shares of the light."""
_PAUSED_SLACK, _RESTING_SLACK = 20.0, 60.0
"""A camera that creeps on to where it comes to rest shall not keep a whole picture waiting while time stands, nor take
it away: see `_as_from`."""


class CameraClock:
    """Time as cameras have it. It stands where the scene's does, lest a camera that eases to where it comes to rest
    keep a paused picture from being whole, but goes on for a while once another view is asked for."""

    _EASING_S = 1.0

    def __init__(self) -> None:
        self._asked: tuple[object, ...] | None = None
        """For which view, where time stood then."""
        self._left_s = 0.0

    def go_on(self, dt_s: float, *, stands: bool, moved: bool, asked: tuple[object, ...]) -> float:
        """Seconds that pass for a camera in `dt_s` of wall time. moved: by hand; asked: what says where it has to be,
        numbers, arrays and dataclasses of such."""
        if not stands:
            self._asked, self._left_s = None, 0.0
            return dt_s
        if moved or (self._asked is not None and not alike(asked, self._asked)):
            self._left_s = self._EASING_S
        self._asked = asked
        if self._left_s <= 0.0:
            return 0.0
        self._left_s -= dt_s
        return dt_s


class Backdrop:
    """A picture that stands behind what is drawn of a window."""

    def __init__(self, ctx: moderngl.Context, picture: np.ndarray) -> None:
        """picture: (height, width, 3) uint8, top row first."""
        height, width, _ = picture.shape
        texture = ctx.texture((width, height), 3, np.ascontiguousarray(picture[::-1]).tobytes(), alignment=1)
        self._framebuffer = ctx.framebuffer([texture])

    def show(self) -> None:
        """In the window's framebuffer, which is bound again after it."""
        size = self._framebuffer.size
        gl.glBindFramebuffer(gl.GL_READ_FRAMEBUFFER, self._framebuffer.glo)
        gl.glBindFramebuffer(gl.GL_DRAW_FRAMEBUFFER, 0)
        gl.glBlitFramebuffer(0, 0, *size, 0, 0, *size, gl.GL_COLOR_BUFFER_BIT, gl.GL_NEAREST)
        gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, 0)

    def release(self) -> None:
        for held in (*self._framebuffer.color_attachments, self._framebuffer):
            held.release()


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """Where things came to lie in a frame."""

    view: np.ndarray
    """(4, 4) of the first pane."""
    projection: np.ndarray
    """(4, 4) of the first pane."""
    shifts_w: dict[str, np.ndarray]
    """By lane, (3,) m by which it was drawn apart from its true place."""
    bodies_w: dict[str, dict[str, np.ndarray]]
    """By lane and body, (4, 4) at the moment of the picture, without that shift."""
    labels_px: dict[str, tuple[float, float, float]]
    """By lane, x and y of the place of its name, and y of the lane's foot: framebuffer pixels, origin bottom left."""
    replay_s: float | None
    """Before a crash, what is shown once more; None where the present is shown."""
    struck: tuple[Blow, ...]
    """Since the frame before, by what falls after a crash."""
    falls: bool
    """Whether something still does."""
    show: Callable[[bool], bool]
    """Has to be called for the picture to be in the window; told whether one that is there already is to be drawn once
    more. Whether anything was drawn."""


class Picture:
    """Draws one scene after the other into the part of a window that the panels leave."""

    def __init__(
        self,
        window: AppWindow,
        scene: Scene,
        world: World,
        view: ViewSettings,
        scenery: Scenery | None,
        programs: Programs | None = None,
    ) -> None:
        """`scenery`: of the world in the present quality, where it has been loaded; `programs`, which it takes over:
        of that quality, some of which may be compiled already."""
        self._window = window
        self._scene, self._world, self._sun = scene, world, Sun.of(scene.sun)
        self._rig = CameraRig(scene.camera, bumps_of(world))
        self._framings, self._eyes, self._act = view.framings, view.eyes, 0
        self._bearing_rad = 0.0
        self._take_up(scene, world)
        self._budget, self._moves, self._clock = FrameBudget(), True, CameraClock()
        self._shown: tuple[Frame, ...] = ()
        """What was drawn last, at no wall time."""
        self._view: View | None = None
        self._wall_s = 0.0
        self._by_processor = is_software(window.ctx)
        self._programs = {} if programs is None else {view.quality: programs}
        """By quality, for one world after the other."""
        self.renderer: Renderer | None = None
        self._steps = self._made(view.quality, scenery)
        """To a scene's first picture."""
        self._renewing, self._renewal = "", _nothing()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="meshes")

    def show(self, scene: Scene, world: World, view: ViewSettings, scenery: Scenery | None) -> None:
        """Change over to another scene."""
        changed = (world.key, Sun.of(scene.sun)) != (self._world.key, self._sun)
        self._take_up(scene, world)
        if changed:
            self._drop_renderer()
            self._steps = self._made(view.quality, scenery)
        else:
            give_back()

    def comes_along(self) -> bool:
        """Do shares of what a scene's first picture waits for, until a frame is due; whether anything is left to do."""
        return take(self._steps, COMING_S)

    def _made(self, quality: str, scenery: Scenery | None) -> Generator[None]:
        """A renderer of the world, a share of the work at a step: frames are to come between them. It takes the place
        of the present one, if there is one, once it is ready."""
        other: Renderer | None = self._make_renderer(quality, scenery)
        try:
            yield
            while other is not None and not other.lit and other.light_up():
                yield
            self.renderer, other = other, self.renderer
        finally:  # the one before, or, given up half-way, the new one
            if other is not None:
                other.release()

    def draw(
        self,
        snapshot: Snapshot,
        settings: ViewSettings,
        rect_px: tuple[int, int, int, int],
        dt_s: float,
        motion: CameraMotion,
        planning: Planning,
        *,
        covered: np.ndarray | None = None,
        moment: LaneSnapshot | None = None,
    ) -> Drawn:
        """Draw one frame for (x, y, w, h) of the framebuffer, `dt_s` wall seconds after the last one.

        covered: (k, 2, 2) parts of it that panes lie over, as `CameraRig.watch` has them. moment: of the flown lane's
        past, shown as a ghost.

        Nothing may be left for `comes_along`. It is in the window once it is `show`n: software GL shades it meanwhile.
        """
        assert self.renderer is not None
        lanes = tuple(lane.name for lane in snapshot.lanes)
        rects = pane_rects(rect_px, settings.views, lanes)
        self.follow(settings.quality)
        self._light(self.renderer, settings.hour)
        late = self._by_processor and is_late(snapshot)
        whole = self.renderer.whole_effort if len(rects) == 1 else 1.0
        self._budget.sharp = settings.sharp
        camera_s = self._camera_s(snapshot, settings, rects, dt_s, motion, planning)
        effort = self._budget.observe(
            dt_s, moves=self._moves, stands=camera_s == 0.0 < dt_s, late=late, whole=whole
        )
        self.renderer.set_effort(effort)
        if not (self._budget.rests and (self._by_processor or effort > 1.0)):
            self._wall_s += dt_s
        self._window.apart_s = self._budget.shortest_s
        now_s = perf_counter()
        film = self._scene_view.film
        film.go_on(dt_s)
        subject = self._scene_view.observe(snapshot, now_s)
        self._rig.kind = _OUTSIDE.get(settings.camera, settings.camera) if film.on else settings.camera
        if film.act != self._act:
            self._act = film.act
            self._rig.step_out(subject.T_wb, film.velocity_w)
        places_w = planning.places_w
        self._rig.mind((*parked_in(self._world), *planning.obstacles_w))
        self._rig.watch(
            self._scene_view.props_corners_w if places_w is None else places_w, covered, planning.room_m
        )
        if settings.eye is not None and settings.eyes != self._eyes:
            self._eyes = settings.eyes
            *eye_w, bearing_rad, pitch_rad = settings.eye
            self._rig.stand_at(np.array(eye_w), bearing_rad, pitch_rad)
        if settings.framings != self._framings:
            self._framings = settings.framings
            self._rig.frame_places()
        view = self._rig.update(
            subject.T_wb,
            subject.twist_b,
            camera_s,
            framing=subject.config.camera,
            reach_m=subject.reach_m,
            held=subject.held,
            motion=motion,
            world=self._world,
            aspect=rects[0][2] / max(rects[0][3], 1),
        )
        slack = 2.0
        if motion == CameraMotion() and (snapshot.paused or self._budget.rests):
            slack = _RESTING_SLACK if self._budget.rests else _PAUSED_SLACK
        if self._view is None or not _as_from(view, self._view, slack):
            self._view = view  # else a camera that comes to rest would keep all from being whole
        view = self._view
        options = ViewOptions(
            show_trail=settings.trail,
            show_forces=settings.arrows,
            show_frame=settings.axes,
            show_inertia=settings.inertia,
            show_joints=settings.joints,
            show_contacts=settings.contacts,
            chosen=settings.chosen,
            solo=settings.solo,
            spread_w=spread_along(self._bearing_rad, settings.spread_m),
        )
        panes, show = draw_panes(
            self.renderer,
            self._window.ctx.screen,
            self._scene_view,
            view,
            options,
            rects,
            lanes,
            wall_s=self._wall_s,
            exposure=settings.exposure * self._adaptation.go_on(view.eye_w, camera_s),
            add=lambda frame: planning.added(self._with_moment(frame, moment, options, panes=len(rects))),
            adds_up=not self._budget.rests,
        )
        shown = tuple(replace(pane.frame, wall_s=0.0) for pane in panes)
        self._moves, self._shown = not alike(shown, self._shown), shown
        true, apart = self._scene_view.places_w(), self._scene_view.places_w(options)
        shifts_w = {name: place - true[name] for name, place in apart.items()}
        ends_w = {
            lane.name: _ends(lane, apart[lane.name], shifts_w[lane.name])
            for lane in snapshot.lanes
            if lane.name in apart
        }
        labels_px = label_places(panes, ends_w)
        first = panes[0].view
        bodies_w = self._scene_view.bodies_w()
        return Drawn(
            first.view,
            first.projection,
            shifts_w,
            bodies_w,
            labels_px,
            film.replay_s,
            film.struck,
            film.falls,
            show,
        )

    def _camera_s(
        self,
        snapshot: Snapshot,
        settings: ViewSettings,
        rects: tuple[tuple[int, int, int, int], ...],
        dt_s: float,
        motion: CameraMotion,
        planning: Planning,
    ) -> float:
        """Seconds that pass for the camera in a frame."""
        film, flown = self._scene_view.film, snapshot.lanes[0]
        followed = flown.generation, flown.bodies, planning.places_w, planning.obstacles_w
        chosen = settings.camera, settings.framings, settings.eyes, settings.spread_m, settings.solo
        return self._clock.go_on(
            dt_s,
            stands=snapshot.paused and not (film.on or self._rig.strolls),
            moved=motion != CameraMotion(),
            asked=(*followed, *chosen, rects),
        )

    def photo(self, times: int, blur: float) -> Iterator[Developing]:
        """What is shown, once more and so many times as large; a share of it at a step, the last one with the picture.

        blur: radius of the lens as a share of its distance from the flown vehicle, which is sharp; each share is the
        picture through one point of the lens, and a part of a pixel apart. Raises OutputError.
        """
        renderer, ctx = self.renderer, self._window.ctx
        if renderer is None or not self._shown or not self._shown[0].vehicles:
            raise OutputError("there is nothing to take a photo of yet")
        frame, size_px = replace(self._shown[0], wall_s=self._wall_s), renderer.size_px
        large_px = size_px[0] * times, size_px[1] * times
        if max(large_px) > ctx.info["GL_MAX_TEXTURE_SIZE"]:
            raise OutputError(
                f"a picture of {large_px[0]} x {large_px[1]} pixels is larger than this machine draws"
            )
        focus_m = float((frame.view.eye_w - frame.vehicles[0].T_wb[:3, 3]) @ frame.view.view[2, :3])
        points = lens_points(LENS_POINTS if blur > 0.0 else 1)
        mean = MeanPicture((large_px[1], large_px[0]))
        target = ctx.framebuffer([ctx.texture(large_px, 3)], ctx.depth_renderbuffer(large_px))
        try:
            renderer.set_effort(1.0)
            renderer.resize(large_px)
            for k, point in enumerate(points):
                view = frame.view.through_lens(blur * max(focus_m, 1e-3) * point, max(focus_m, 1e-3))
                renderer.draw(replace(frame, view=view), target)
                raw = target.read(components=3, alignment=1)
                mean.add(np.frombuffer(raw, np.uint8).reshape(large_px[1], large_px[0], 3)[::-1])
                yield Developing(k + 1, len(points))
            yield Developing(len(points), len(points), picture=mean.picture())
        except moderngl.Error as error:
            raise OutputError(f"no picture of {large_px[0]} x {large_px[1]} pixels: {error}") from None
        finally:
            for held in (*target.color_attachments, target.depth_attachment, target):
                held.release()
            renderer.resize(size_px)

    @property
    def pace(self) -> Pace:
        """How the frames do."""
        frame_s = self._budget.frame_s
        scale = 1.0 if self.renderer is None else min(self.renderer.scale, 1.0)
        return Pace(frame_s, scale, self._budget.overspent)

    def release(self) -> None:
        """Before the window closes."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        self._drop_renderer()
        for programs in self._programs.values():
            programs.release()

    def follow(self, quality: str) -> None:
        """Take up another quality in steps; until it is there the present one is drawn."""
        assert self.renderer is not None
        present = self.renderer.quality.name
        if quality != (self._renewing or present):
            self._renewal.close()
            self._renewing = quality if quality != present else ""
            self._renewal = self._renewed(quality) if self._renewing else _nothing()
        if not step(self._renewal):
            self._renewing = ""

    def _renewed(self, quality: str) -> Generator[None]:
        """Another renderer of the world, which takes the place of the present one once it is ready."""
        chosen = choose(self._window.ctx, quality)
        scenery = self._thread.submit(load_scenery, self._world, chosen)
        while not scenery.done():
            yield
        yield from self._made(quality, scenery.result())

    def _drop_renderer(self) -> None:
        self._steps.close()
        self._renewal.close()
        self._renewing = ""
        if self.renderer is not None:
            self.renderer.release()
            self.renderer = None

    def _light(self, renderer: Renderer, hour: float | None) -> None:
        """Of an hour of the scene's day; its own where none is asked for. One light is finished before the next."""
        if renderer.light_up():
            return
        own = Sun.of(self._scene.sun)
        sun = own if hour is None else Day.of(own).at(hour)
        if sun != self._sun:
            self._sun = sun
            renderer.set_sun(sun)

    def _take_up(self, scene: Scene, world: World) -> None:
        """Light and camera as the scene wants them at first."""
        self._sun = Sun.of(scene.sun)
        self._scene, self._world = scene, world
        self._scene_view = SceneView(world, swell=scene.swell, replays=True)
        self._adaptation = Adaptation(world)
        self._act = 0
        comparison = scene.comparison
        self._bearing_rad = math.radians(comparison.bearing_deg or 0.0)
        bearing_rad = None if comparison.bearing_deg is None else self._bearing_rad
        self._rig.frame_scene(distance=comparison.distance, bearing_rad=bearing_rad)

    def _with_moment(
        self, frame: Frame, moment: LaneSnapshot | None, options: ViewOptions, *, panes: int
    ) -> Frame:
        """The frame with the flown lane as it was at a moment; in panes of their own lanes are not drawn apart."""
        if moment is None or not all(np.isfinite(T_wb).all() for T_wb in moment.bodies.values()):
            return frame
        options = replace(options, spread_w=(0.0, 0.0, 0.0)) if panes > 1 else options
        return replace(frame, vehicles=(*frame.vehicles, self._scene_view.moment(moment, options)))

    def _make_renderer(self, quality: str, scenery: Scenery | None) -> Renderer:
        defines = choose(self._window.ctx, quality).defines
        if quality not in self._programs:
            self._programs[quality] = Programs(self._window.ctx, defines=defines)
        return Renderer(
            self._window.ctx,
            self._window.framebuffer_px,
            self._world,
            quality=quality,
            sun=self._sun,
            scenery=scenery,
            programs=self._programs[quality],
            lit_later=True,
        )


def _nothing() -> Generator[None]:
    """No steps."""
    yield from ()


def _as_from(view: View, before: View, slack: float) -> bool:
    """Whether nobody sees a difference between two cameras: `slack` tenths of a pixel of a thousand, 2 m away."""
    lens = np.allclose(view.projection, before.projection, atol=1e-4 * slack)
    turned, moved = view.view[:3, :3] - before.view[:3, :3], view.eye_w - before.eye_w
    same = view.inside == before.inside and lens
    return bool(same and np.abs(turned).max() < 1e-4 * slack and np.abs(moved).max() < 2e-4 * slack)


def _ends(lane: LaneSnapshot, place_w: np.ndarray, shift_w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(3,) about where a lane that is drawn at a place ends above and below [m]; what hangs does so from its pivot."""
    framing = lane.config.camera
    if lane.pivot_w is not None and framing.lift_m < 0.0:
        margin = np.array([0.0, 0.0, 0.08 * framing.distance_m])
        return lane.pivot_w + shift_w + margin, place_w - margin
    lift = np.array([0.0, 0.0, 0.3 * framing.distance_m])
    return place_w + lift, place_w - lift
