"""The planner in the window: one session for a scene with a task, and its picture."""

import math
from dataclasses import asdict, replace
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from render.frame import Frame
from render.plan.view import PlanScene
from sim.commands import FlyPlan, SetPaused, StartMpc, StopMpc
from sim.planner.result.record import PlanRecord
from sim.planner.service.requests import (
    EditTask,
    FlyByMpc,
    FlyShown,
    LeaveMpc,
    MpcControl,
    PlanRequest,
    SetMpc,
    StartPlanning,
    StopPlanning,
)
from sim.planner.service.session import PlanView
from sim.planner.task.bodies import positions
from sim.planner.task.mpc import RATE_HZ, MpcSettings, with_goal_at
from sim.planner.task.task import Task
from sim.platform.errors import InputError
from sim.scene import Scene
from sim.shapes.shape import Shape
from sim.simulation.lanes.snapshot import Snapshot
from sim.simulation.runs.scene_setup import fixed_point_w
from sim.world import World
from ui.settings.view_settings import config_dir

if TYPE_CHECKING:
    from sim.planner.service.session import PlanSession

    _Session = PlanSession | None


_AFLOAT_HZ = 10.0
"""Plans a second for what floats on waves."""
_SLACK = 0.9
"""Of its distance a vehicle that lies close to something keeps so much."""


class Planning:
    """Lives as long as its scene. A scene without a task has nothing to show and refuses to plan."""

    def __init__(self, scene: Scene, world: World) -> None:
        """Raises InputError where the scene's task cannot be read."""
        self._session: _Session = None
        self._prepared = False
        self._races = scene.race is not None
        """Its plan is a rival, made by itself; nothing else of it is shown."""
        self._aside = scene.plan_optional
        self._scene = PlanScene(world)
        self._mpc = MpcControl(MpcSettings())
        self._sailed_by, self._sets_out = "", False
        """Who floats on the flat water that is planned for, and whether setting out waits for the first plan."""
        self._latest: Snapshot | None = None
        self._clearance_m = 0.0
        """That the scene asks for."""
        if scene.plan is not None:
            # Here, not above: with all that solves, which takes longer than to open a window.
            from sim.planner.api import method_of_scene, mpc_settings_of_scene, task_of_scene
            from sim.planner.service.session import PlanSession

            vehicle, task = task_of_scene(scene, world=world)
            rate_hz = RATE_HZ if vehicle.looks is None else _AFLOAT_HZ
            self._mpc = MpcControl(mpc_settings_of_scene(scene, vehicle), rate_hz)
            self._clearance_m = task.clearance_m
            self._sailed_by = "" if vehicle.name == scene.vehicle.name else scene.vehicle.name
            origin_w = fixed_point_w(scene.start, vehicle, world)
            method = method_of_scene(scene, vehicle)
            self._session = PlanSession(vehicle, task, method, config_dir() / "plans", origin_w=origin_w)

    @property
    def view(self) -> PlanView | None:
        """What is to be shown now."""
        if self._session is None or self._races:
            return None
        return replace(self._session.view, mpc=self._mpc.view, sailed_by=self._sailed_by)

    @property
    def rival(self) -> PlanRecord | None:
        """The best plan of a race by now."""
        return self._session.view.plan if self._session is not None and self._races else None

    def opening(self) -> list[SetPaused | StartMpc | StopMpc]:
        """What is to be planned starts where the plan does, and waits there, or sets out with plans made in flight."""
        place_w = self._mpc.view.how.starts_at_w
        if not place_w:
            waits = self.view is not None and not self._sailed_by and not self._aside
            return [SetPaused(True)] if waits else []
        assert self._session is not None
        view = self._session.view
        goal = EditTask(with_goal_at(view.vehicle.group, view.task, place_w))
        self._session.handle(goal, perf_counter())
        return [self._switch_mpc(FlyByMpc(), self._session.view)]

    def handle(self, request: PlanRequest) -> FlyPlan | StartMpc | StopMpc | None:
        """Do what was asked for; returns what the simulation is to be told for it. InputError where it cannot be."""
        if self._session is None or self._races:
            raise InputError("this scene has no task to plan")
        if isinstance(request, SetMpc):
            self._mpc.change(request)
            return None
        if isinstance(request, FlyByMpc | LeaveMpc) and not (
            self._sailed_by and isinstance(request, FlyByMpc)
        ):
            return self._switch_mpc(request, self._session.view)
        if self._sailed_by:
            self._from_here(self._session, request)
            return None
        return self._session.handle(request, perf_counter())

    def _from_here(self, session: "PlanSession", request: PlanRequest) -> None:
        """What is sailed begins where the boat is when it is asked for; it sets out once there is a plan (`poll`)."""
        sails, now_s = isinstance(request, FlyShown | FlyByMpc), perf_counter()
        self._sets_out = sails or (self._sets_out and not isinstance(request, StartPlanning | StopPlanning))
        if sails and session.view.busy:
            return
        if (sails or isinstance(request, StartPlanning)) and self._latest is not None:
            session.handle(EditTask(from_here(session.view, self._latest, self._clearance_m)), now_s)
        session.handle(StartPlanning() if sails else request, now_s)

    def _set_out(self, view: PlanView) -> StartMpc | None:
        """Once there is a plan, by plans made anew all the time; InputError where there will be none."""
        plan = view.plan
        if plan is not None and plan.solved and not view.stale and view.phase in ("idle", "comparing"):
            self._sets_out = False
            assert self._session is not None
            if view.busy:
                self._session.handle(StopPlanning(), perf_counter())
            return self._mpc.begin(view.vehicle, view.task, plan=plan)
        if view.phase == "idle":
            self._sets_out = False
            raise InputError(f"no way to the berth: {view.message}")
        return None

    def _switch_mpc(self, request: FlyByMpc | LeaveMpc, view: PlanView) -> StartMpc | StopMpc:
        if isinstance(request, FlyByMpc):
            return self._mpc.begin(view.vehicle, view.task)
        self._mpc.end()
        return StopMpc()

    @property
    def places_w(self) -> np.ndarray | None:
        """(n, 3) what a view of the whole plan has to show; None without a task."""
        view = self.view
        return None if view is None else self._scene.reach(view)

    @property
    def room_m(self) -> float | None:
        """About each of them, as the overview has it."""
        view = self.view
        return None if view is None else self._scene.room_m(view)

    @property
    def obstacles_w(self) -> tuple[Shape, ...]:
        """What the task keeps clear of; nothing without one."""
        view = self.view
        return () if view is None else view.obstacles_w

    def poll(self, snapshot: Snapshot) -> StartMpc | None:
        """Once a frame; returns what the simulation is to be told. InputError where a way that was asked for cannot be.
        While plans fly that are made anew, no other plan follows the task."""
        self._latest = snapshot
        if self._session is None:
            return None
        now_s, view = perf_counter(), self._session.view
        if snapshot.look_back is None:
            self._mpc.observe(snapshot.mpc)
        if self._mpc.view.on:
            self._mpc.follow(view.vehicle, view.task)
            if self._sailed_by and view.busy:
                self._session.poll(now_s)  # what is left of the first plan
            return None
        if not self._prepared and not self._sailed_by:
            # With the first frame, not before it: the window opens first.
            self._prepared = True
            self._session.prepare()
            if self._races:
                self._session.handle(StartPlanning(), now_s)
        self._session.poll(now_s)
        return self._set_out(self._session.view) if self._sets_out else None

    def added(self, frame: Frame) -> Frame:
        """The frame with the plans in it."""
        view = self.view
        if view is None:
            return frame
        seen, now_s = self._latest, perf_counter()
        flies = seen is not None and seen.plan_flies
        flown_s = seen.display_time_s(seen.lanes[0], now_s) if seen is not None and flies else 0.0
        return self._scene.added(frame, view, now_s, flown_s)

    def probe(self) -> dict[str, object]:
        """What a test wants to know."""
        view = self.view
        if view is None:
            return {}
        plan = view.plan
        return {
            "phase": view.phase,
            "message": view.message,
            "stale": view.stale,
            "method": view.method,
            "free_duration_s": view.task.free_duration,
            "asked_s": view.task.duration_s,
            "violations": len(plan.violations) if plan else 0,
            "iterations": len(view.history),
            "kept": [record.name for record in view.kept],
            "waypoints": [list(waypoint.position_w) for waypoint in view.task.waypoints],
            "obstacles": [obstacle.name for obstacle in view.task.obstacles],
            "goal_w": positions(view.vehicle, view.task.goal.state.node)[0].tolist(),
            "status": plan.status if plan else "",
            "cost": plan.cost if plan else None,
            "end_w": plan.places_w[-1].tolist() if plan else None,
            "duration_s": plan.duration_s if plan else None,
            "mpc": _mpc_values(view),
            "passes_m": [float(m) for m in _passes_m(view)],
        }

    def close(self) -> None:
        """End the planner's processes."""
        self._mpc.close()
        if self._session is not None:
            self._session.close()


def from_here(view: PlanView, snapshot: Snapshot, clearance_m: float) -> Task:
    """The task from where the flown vehicle is now, at rest; who lies closer to something keeps no further from it."""
    from sim.planner.task.bodies import once_around
    from sim.planner.task.clearance import clearance  # not above, as all that plans

    T_wb = snapshot.lanes[0].T_wb
    heading_rad = math.atan2(T_wb[1, 0], T_wb[0, 0])
    start = view.vehicle.state_of((heading_rad, *T_wb[:2, 3]), np.zeros(3), snapshot.lanes[0].shape)
    lies = np.stack(2 * [start.node])
    near_m = max(_SLACK * clearance(view.vehicle, lies, view.task).least_m, 0.0)
    return once_around(replace(view.task, start=start, clearance_m=min(clearance_m, near_m)))


def _mpc_values(view: PlanView) -> dict[str, object] | None:
    """How plans in flight go; None where none are made."""
    if view.mpc is None or view.mpc.seen is None:
        return None
    return asdict(replace(view.mpc.seen, places_w=None, known=None))


def _passes_m(view: PlanView) -> list[float]:
    """How near the plan comes to each waypoint."""
    if view.plan is None:
        return []
    places = view.plan.places_w
    return [np.linalg.norm(places - np.array(w.position_w), axis=1).min() for w in view.task.waypoints]
