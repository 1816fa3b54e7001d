"""The planner in the window: one session for a scene with a task, and its picture."""

import time
from pathlib import Path

import numpy as np

from render.frame import Frame
from render.plan_view import PlanScene
from sim.commands import FlyPlan
from sim.errors import InputError
from sim.planner.api import task_of_scene
from sim.planner.result.record import PlanRecord
from sim.planner.service.requests import PlanRequest, StartPlanning
from sim.planner.service.session import PlanSession
from sim.planner.service.view import PlanView
from sim.planner.task.poses import positions
from sim.scene import Scene
from sim.simulation.placing import stand_at
from sim.vehicles import Vehicle
from sim.vehicles.support import Support
from sim.world import World
from ui.config import config_dir


class Planning:
    """Lives as long as its scene. A scene without a task has nothing to show and refuses to plan."""

    def __init__(self, scene: Scene, world: World, *, folder: Path | None = None) -> None:
        """Raises InputError where the scene's task cannot be read."""
        self._session: PlanSession | None = None
        self._prepared = False
        self._races = scene.race is not None
        """Its plan is a rival, made by itself; nothing else of it is shown."""
        self._scene = PlanScene(world)
        if scene.plan is not None:
            vehicle, task = task_of_scene(scene, world=world)
            folder = folder or config_dir() / "plans"
            self._session = PlanSession(
                vehicle, task, scene.integrator, folder, origin_w=_origin_w(vehicle, scene, world)
            )

    @property
    def view(self) -> PlanView | None:
        """What is to be shown now."""
        return self._session.view if self._session is not None and not self._races else None

    @property
    def rival(self) -> PlanRecord | None:
        """The best plan of a race by now."""
        return self._session.view.plan if self._session is not None and self._races else None

    def handle(self, request: PlanRequest) -> FlyPlan | None:
        """Do what was asked for; returns what the simulation is to be told for it. InputError where it cannot be."""
        if self._session is None or self._races:
            raise InputError("this scene has no task to plan")
        return self._session.handle(request, time.perf_counter())

    @property
    def places_w(self) -> np.ndarray | None:
        """(n, 3) what a view of the whole plan has to show; None without a task."""
        view = self.view
        return None if view is None else self._scene.reach(view)

    def poll(self) -> None:
        """Once a frame."""
        if self._session is not None:
            if not self._prepared:
                # With the first frame, not before it: the window opens first.
                self._prepared = True
                self._session.prepare()
                if self._races:
                    self._session.handle(StartPlanning(), time.perf_counter())
            self._session.poll(time.perf_counter())

    def added(self, frame: Frame) -> Frame:
        """The frame with the plans in it."""
        view = self.view
        return frame if view is None else self._scene.added(frame, view, time.perf_counter())

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
            "passes_m": [float(m) for m in _passes_m(view)],
        }

    def close(self) -> None:
        """End the planner's process."""
        if self._session is not None:
            self._session.close()


def _origin_w(vehicle: Vehicle, scene: Scene, world: World) -> tuple[float, float, float]:
    """Of the task's world: what has a fixed point is planned about that."""
    if vehicle.support is not Support.STAND:
        return (0.0, 0.0, 0.0)
    x, y, z = stand_at(world, np.array(scene.start.position_m), vehicle.stand_m)
    return float(x), float(y), float(z)


def _passes_m(view: PlanView) -> list[float]:
    """How near the plan comes to each waypoint."""
    if view.plan is None:
        return []
    places = view.plan.places_w
    return [np.linalg.norm(places - np.array(w.position_w), axis=1).min() for w in view.task.waypoints]
