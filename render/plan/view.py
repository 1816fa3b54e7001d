"""Plans as things in the picture: ribbons, ghosts, thrust arrows, fading iterates, marks of task and failures."""

import zlib
from dataclasses import replace

import numpy as np

from render.frame import Arrow, DrawnVehicle, Frame, Polyline, Surface
from render.plan import shapes
from render.plan.shapes import (
    HELD,
    LIFT_M,
    Colour,
    PlanPath,
    cased,
    half_width_m,
    limit_edges,
    ribbon,
    rungs,
    turns,
)
from render.vehicles.shown import ends_w
from sim.groups.numeric import upright
from sim.planner.result.record import PlanRecord, control_forces_b
from sim.planner.service.session import FADE_S, PlanView
from sim.planner.task.bodies import body_names, jointed, planar, poses_of, positions
from sim.planner.task.meeting import goal_at
from sim.planner.task.task import GOAL_MOVES, Obstacle, Task, is_moving, motion_of
from sim.simulation.lanes.placing import placement
from sim.vehicle_config import config_named, config_of
from sim.vehicles import NonholonomicVehicle
from sim.vehicles.forms.articulated import ArticulatedVehicle
from sim.vehicles.forms.observation import observed_by_symbols
from sim.world import World

PRESENT: Colour = (0.02, 0.55, 0.95)
FAILED: Colour = (0.90, 0.03, 0.02)
STALE: Colour = (0.30, 0.33, 0.38)
ALTERNATIVE: Colour = (0.45, 0.62, 0.78)
"""Of other ways to do the task."""
KEPT: tuple[Colour, ...] = (
    (0.95, 0.42, 0.00),
    (0.00, 0.55, 0.28),
    (0.78, 0.22, 0.50),
    (0.95, 0.85, 0.06),
    (0.85, 0.85, 0.85),
)
"""Linear RGB of plans that are kept, in the order of their list; told apart by the colour-blind too (Okabe and Ito)."""
_ITERATE: Colour = (0.95, 0.75, 0.25)
_GOAL: Colour = (0.15, 0.85, 0.20)
_WAYPOINT: Colour = (1.00, 0.50, 0.05)
_OBSTACLE: Colour = (0.80, 0.25, 0.12)
_MOVING: Colour = (0.30, 0.33, 0.37)
"""Of what moves by itself, where it is now."""
_THRUST: Colour = (1.0, 0.78, 0.0)
_NEWEST, _OLDER = 0.9, 0.4
"""Opacity of the last iterate and of those before it."""
_MOST_ALTERNATIVES = 5
_MOST_GHOSTS, _GHOST_GAP = 9, 0.55
"""Ghosts stand no nearer to one another than this share of the chase camera's distance."""
_TOOL = 0.3
"""Of what is brought to places by joints, in its own size: marks are for it, not for all of the tree."""
_COVERED = 0.04
_SMALLEST_RING = 0.05
"""Shares of the chase camera's distance, too."""
_ROOM = 0.15
"""About the bodies of a tree, of how far they reach: for what is drawn of them."""
_LATER = (0.12, 0.34)
"""How much is seen of what moves by itself, half way and at the end."""
_UNMOVED = np.eye(4)
_PILLAR_M = 12.0
"""Drawn height of an endless pillar above its foot."""


def alternatives_shown(view: PlanView) -> tuple[PlanRecord, ...]:
    """Other ways of the present plan that are drawn, the cheapest first: none of a task before."""
    return () if view.plan is None or view.stale else view.plan.alternatives[:_MOST_ALTERNATIVES]


class PlanScene:
    """Adds a planning session to frames of one world."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._ways: dict[int, PlanPath] = {}

    def added(self, frame: Frame, view: PlanView, now_s: float, flown_s: float = 0.0) -> Frame:
        """The frame with everything there is to see of `view` at wall time `now_s`; flown_s: since a plan is flown."""
        frame = self.way_added(frame, view, flown_s)
        surfaces = self._obstacles(view, flown_s)
        solid = self._things(view.task, flown_s)
        lines = self._iterates(view, now_s)
        return replace(
            frame,
            vehicles=(*frame.vehicles, *solid),
            surfaces=(*surfaces, *frame.surfaces),
            lines=(*frame.lines, *lines),
        )

    def way_added(self, frame: Frame, view: PlanView, flown_s: float = 0.0) -> Frame:
        """The frame with plans, and where they lead to, without what they keep clear of."""
        size_m = config_of(view.vehicle).camera.distance_m * (_TOOL if jointed(view.vehicle) else 1.0)
        kept = [
            (r, KEPT[i % len(KEPT)])
            for i, r in enumerate(view.kept)
            if r is not view.plan and r.name not in view.hidden
        ]
        mpc_flies = view.mpc is not None and view.mpc.on
        shown = [] if view.plan is None or mpc_flies else [view.plan]
        records = (*shown, *(r for r, _ in kept))
        self._ways = {id(r): self._way(r, view.origin_w) for r in records}
        surfaces, lines = self._ends_and_waypoints(view, size_m, flown_s)
        for shown_plan in () if flown_s else shown:
            more_surfaces, more_lines = self._in_time(view, shown_plan, size_m)
            surfaces += more_surfaces
            lines += more_lines
        for record, colour in kept:
            surface, edges = ribbon(
                self._ways[id(record)], colour, 0.4 * half_width_m(self._ways[id(record)], size_m), 0.35
            )
            surfaces.append(surface)
            lines += edges
        vehicles: list[DrawnVehicle] = []
        arrows: list[Arrow] = []
        if mpc_flies:
            lines += self._horizon(view)
        elif view.plan is not None:
            way, colour = self._ways[id(view.plan)], _colour(view)
            half_m = half_width_m(way, size_m)
            surface, edges = ribbon(way, colour, half_m, 0.3 if view.dated else 0.5)
            surfaces.append(surface)
            lines += cased(edges) + edges
            lines += rungs(way, colour, half_m)
            if not view.stale:
                lines += limit_edges(way, half_m)
            lines += turns(way, colour, size_m)
            vehicles, arrows = _ghosts(way, colour, size_m)
            tool = view.vehicle.tool if isinstance(view.vehicle, ArticulatedVehicle) else ""
            vehicles = [ghost for ghost in vehicles if not _covered(ghost, frame, _COVERED * size_m, tool)]
            if not (flown_s or view.stale):
                vehicles += self._things_in_time(view, view.plan, size_m)
            if view.dated:
                arrows = []
            lines += self._alternatives(view)
            for violation in () if view.dated else view.plan.violations:
                more, post = self._failure(np.array(violation.place_w), 0.07 * size_m)
                surfaces.append(more)
                lines.append(post)
        return replace(
            frame,
            vehicles=(*frame.vehicles, *vehicles),
            surfaces=(*frame.surfaces, *surfaces),
            lines=(*frame.lines, *lines),
            arrows=(*frame.arrows, *arrows),
        )

    def reach(self, view: PlanView) -> np.ndarray:
        """(n, 3) from the start to the goal, over the plan, or what it has to keep clear of; over the waypoints, and
        over all bodies of a tree at both ends."""
        start, goal = _ends(view)
        nodes = [start, *(view.plan.nodes if view.plan else ()), goal]
        places = positions(view.vehicle, np.array(nodes))
        if view.task.waypoints:
            others = np.array([waypoint.position_w for waypoint in view.task.waypoints])
            places = np.concatenate([places[:-1], others, places[-1:]])
        if isinstance(view.vehicle, ArticulatedVehicle):
            places = np.concatenate([places[:-1], _bodies(view).reshape(-1, 3), places[-1:]])
        places, task = self._on_ground(view, places), view.task
        around = [self._extremes(obstacle) for obstacle in view.obstacles_w]
        if view.plan is not None:  # with what moves where it will be
            end_s, each = view.plan.duration_s, enumerate(around)
            around = [_carried(task, i, (p, p), end_s)[0] for i, p in each if is_moving(task, i)]
        return np.concatenate([places[:-1], *around, places[-1:]])

    def room_m(self, view: PlanView) -> float | None:
        """About each of those; None: as much as the vehicle takes. Of a tree they are all of its bodies."""
        if not isinstance(view.vehicle, ArticulatedVehicle):
            return None
        return _ROOM * max(float(np.linalg.norm(np.ptp(bodies, axis=0))) for bodies in _bodies(view))

    def _way(self, record: PlanRecord, origin_w: tuple[float, float, float]) -> PlanPath:
        way = self._ways.get(id(record))
        if way is not None and way.record is record:
            return way
        pivot_w, vehicle = np.array(origin_w), record.vehicle
        if isinstance(vehicle, ArticulatedVehicle):
            names = body_names(vehicle)
            found = poses_of(vehicle, record.nodes, names)
            found[:, :, :3, 3] += 0.0 if vehicle.free else pivot_w
            still = np.zeros((len(found), 3))
            return PlanPath(record, found[:, 0], still, {name: found[:, k] for k, name in enumerate(names)})
        poses = np.array([placement(record.vehicle, n, self._world, pivot_w).T_wb for n in record.nodes])
        forces_w = np.einsum("nij,nj->ni", poses[:, :3, :3], control_forces_b(record))
        return PlanPath(record, poses, forces_w, _bodies_w(record, poses))

    def _alternatives(self, view: PlanView) -> list[Polyline]:
        """Other ways, thin, the cheaper the clearer."""
        lines = []
        for rank, record in enumerate(alternatives_shown(view)):
            places = self._on_ground(view, record.places_w) + np.array([0.0, 0.0, LIFT_M])
            lines.append(Polyline(places, ALTERNATIVE, np.full(len(places), 0.8 - 0.1 * rank), 2.0))
        return cased(lines) + lines

    def _horizon(self, view: PlanView) -> list[Polyline]:
        """The plan that is flown now, with a mark at every eighth of it; amber while it is old."""
        seen = None if view.mpc is None else view.mpc.seen
        if seen is None or seen.places_w is None:
            return []
        places = self._on_ground(view, seen.places_w) + np.array([0.0, 0.0, LIFT_M])
        colour = PRESENT if seen.phase == "flying" else HELD
        line = Polyline(places, colour, np.linspace(1.0, 0.5, len(places)), 4.0)
        mark_m = 0.03 * config_of(view.vehicle).camera.distance_m
        marks = [shapes.post(place, mark_m, colour) for place in places[:: max(len(places) // 8, 1)][1:]]
        return [*cased([line]), line, *marks]

    def _iterates(self, view: PlanView, now_s: float) -> list[Polyline]:
        """The newest brightest, older ones fading away."""
        lines = []
        for age, iterate in enumerate(reversed(view.iterates)):
            share = 1.0 - (now_s - iterate.seen_s) / FADE_S
            if share > 0.0:
                places = self._on_ground(view, iterate.places_w)
                alpha, width_px = (_OLDER, 1.6) if age else (_NEWEST, 2.6)
                lines.append(Polyline(places, _ITERATE, np.full(len(places), alpha * share**2), width_px))
        return lines[::-1]

    def _ends_and_waypoints(
        self, view: PlanView, size_m: float, flown_s: float
    ) -> tuple[list[Surface], list[Polyline]]:
        """Goals of the task, where they are by now, and waypoints."""
        task = view.task
        goals = [replace(task, goal=goal) for goal in (task.goal, *task.or_goals)]
        there = np.array([goal_at(view.vehicle, one, flown_s).node for one in goals])
        places_w = self._on_ground(view, positions(view.vehicle, there))
        away_m = float(np.linalg.norm(np.subtract(*positions(view.vehicle, np.array(_ends(view))))))
        # No wider than the way to it is long.
        ring_m = min(0.15 * size_m, max(0.5 * away_m, _SMALLEST_RING * size_m))
        surfaces = [Surface(*shapes.ring(goal, 0.73 * ring_m, ring_m), _GOAL, 0.8) for goal in places_w]
        lines = [shapes.post(goal, 0.4 * size_m, _GOAL) for goal in places_w]
        for i, waypoint in enumerate(task.waypoints):
            place = self._on_ground(view, np.array([waypoint.position_w]))[0]
            radius_m = max(waypoint.tolerance_m, 0.03 * size_m)
            alpha = 0.55 if f"waypoint {i}" in _holding(view) else 0.4
            surfaces.append(Surface(*shapes.sphere(place, radius_m), _WAYPOINT, alpha))
            lines.append(shapes.post(place, 0.3 * size_m, _WAYPOINT))
        return surfaces, lines

    def _obstacles(self, view: PlanView, flown_s: float) -> list[Surface]:
        """What the task keeps clear of; what moves by itself, where it is by now."""
        task, surfaces = view.task, list[Surface]()
        guilty, holding = _to_blame(view), _holding(view)
        for i, obstacle in enumerate(task.obstacles):
            name = f"obstacle {i}"
            colour = FAILED if name in guilty else HELD if name in holding else _OBSTACLE
            alpha = 0.42 if colour is FAILED or not obstacle.look else 0.24 if colour is HELD else 0.10
            corners = shapes.corners(self._drawn(obstacle.moved(view.origin_w)).surface())
            if is_moving(task, i):
                corners = _carried(task, i, corners, flown_s)
                if not obstacle.look:
                    colour, alpha = (colour if colour is FAILED else _MOVING), 0.8
                elif colour is _OBSTACLE:
                    continue  # what moves by itself is plain enough
            surfaces.append(Surface(*corners, colour, alpha))
        return surfaces

    def _in_time(
        self, view: PlanView, record: PlanRecord, size_m: float
    ) -> tuple[list[Surface], list[Polyline]]:
        """What moves by itself while the plan goes on: where it is half way and at the end, and the goal's way."""
        task, way = view.task, self._ways[id(record)]
        surfaces: list[Surface] = []
        lines: list[Polyline] = []
        if view.stale or not task.motions:
            return surfaces, lines
        for i, obstacle in enumerate(task.obstacles):
            if is_moving(task, i) and not obstacle.look:
                corners = shapes.corners(self._drawn(obstacle.moved(view.origin_w)).surface())
                for time_s, alpha in zip(_shown_s(way, size_m), _LATER, strict=True):
                    surfaces.append(Surface(*_carried(task, i, corners, time_s), PRESENT, alpha))
        if motion_of(task, GOAL_MOVES) is not None:
            moments = np.linspace(0.0, record.duration_s, 60)
            nodes = np.array([goal_at(view.vehicle, task, float(t)).node for t in moments])
            places = self._on_ground(view, positions(view.vehicle, nodes))
            line = Polyline(places, _GOAL, np.linspace(0.3, 0.9, len(places)), 3.0)
            lines += [*cased([line]), line]
        return surfaces, lines

    def _things(self, task: Task, time_s: float) -> tuple[DrawnVehicle, ...]:
        """What obstacles look like, where they are by then."""
        models = (
            obstacle_model(obstacle, self._world, _moved_by(task, i, time_s))
            for i, obstacle in enumerate(task.obstacles)
        )
        return tuple(model for model in models if model is not None)

    def _things_in_time(self, view: PlanView, record: PlanRecord, size_m: float) -> list[DrawnVehicle]:
        """Ghosts of what moves by itself and has a model, half way and at the end."""
        task, ghosts = view.task, []
        moving = replace(task, obstacles=tuple(o for i, o in enumerate(task.obstacles) if is_moving(task, i)))
        for time_s, presence in zip(_shown_s(self._ways[id(record)], size_m), _LATER, strict=True):
            ghosts += [
                replace(thing, tint=PRESENT, ghost=True, still=False, presence=presence)
                for thing in self._things(moving, time_s)
            ]
        return ghosts

    def _drawn(self, obstacle: Obstacle) -> Obstacle:
        """It; of an endless one what stands above the ground."""
        foot_m, top_m = self._pillar(np.array(obstacle.middle_w))
        return obstacle.between(foot_m - 1.0, top_m)

    def _pillar(self, centre: np.ndarray) -> tuple[float, float]:
        """Heights [m] of the foot and of the drawn top of an endless pillar."""
        foot_m = float(self._world.surface_m(centre[0], centre[1]))
        height_m = max(_PILLAR_M, centre[2] - foot_m) if self._world.river is not None else 2.5
        return foot_m, foot_m + height_m

    def _extremes(self, obstacle: Obstacle) -> np.ndarray:
        """(n, 3) places between which it lies: none of a kerb, which reaches further than any task."""
        if obstacle.look == "kerb":
            return np.zeros((0, 3))
        return self._drawn(obstacle).extremes_w

    def _failure(self, place: np.ndarray, size_m: float) -> tuple[Surface, Polyline]:
        return Surface(*shapes.sphere(place, size_m), FAILED, 0.75), shapes.post(place, 8.0 * size_m, FAILED)

    def _on_ground(self, view: PlanView, places_w: np.ndarray) -> np.ndarray:
        """Places (n, 3); those of what moves on a plane, laid upon the ground."""
        if not planar(view.vehicle):
            return places_w + np.array(view.origin_w)
        x, y = places_w[:, 0], places_w[:, 1]
        rolls = isinstance(view.vehicle, NonholonomicVehicle)
        floor = self._world.terrain.height(x, y) if rolls else self._world.surface_m(x, y)
        return np.column_stack([x, y, np.asarray(floor) + LIFT_M])


def _carried(task: Task, obstacle_index: int, corners: shapes.Corners, time_s: float) -> shapes.Corners:
    """Corners and normals of an obstacle as the task has it, where its motion takes it."""
    T = _moved_by(task, obstacle_index, time_s)
    points, normals = corners
    return points @ T[:3, :3].T + T[:3, 3], normals @ T[:3, :3].T


def _moved_by(task: Task, obstacle_index: int, time_s: float) -> np.ndarray:
    """(4, 4) by which an obstacle's motion has moved it; the identity of what stays."""
    k = motion_of(task, task.obstacles[obstacle_index].name)
    return np.eye(4) if k is None else task.motions[k].poses(np.array([time_s]))[0]


def _shown_s(way: PlanPath, size_m: float) -> tuple[float, float]:
    """Times [s] at which what moves by itself is shown: of the ghost half way, and of the last."""
    passed = shapes.spread(way.poses[:, :3, 3], _apart_m(way, size_m), _MOST_GHOSTS)
    return way.record.step_s * passed[len(passed) // 2], way.record.step_s * passed[-1]


def _ends(view: PlanView) -> tuple[np.ndarray, np.ndarray]:
    """Flat nodes of the task's start and goal."""
    met_s = view.task.duration_s if view.plan is None else view.plan.duration_s
    return view.task.start.node, goal_at(view.vehicle, view.task, met_s).node


def _bodies(view: PlanView) -> np.ndarray:
    """(2, n, 3) where a tree's bodies are, and end, at the task's start and goal, from its origin."""
    names, links = body_names(view.vehicle), view.vehicle.links
    both = poses_of(view.vehicle, np.array(_ends(view)), names)
    ends = [ends_w(links, dict(zip(names, poses, strict=True))) for poses in both]
    return np.concatenate([both[:, :, :3, 3], ends], axis=1)


def _covered(ghost: DrawnVehicle, frame: Frame, near_m: float, tool: str) -> bool:
    """Whether a solid vehicle stands where a ghost does, by its tool where it has one: surfaces would show through one
    another."""
    solid = (_place(v, tool) for v in frame.vehicles if not v.ghost and v.model == ghost.model)
    return any(float(np.linalg.norm(place - _place(ghost, tool))) < near_m for place in solid)


def _place(drawn: DrawnVehicle, tool: str) -> np.ndarray:
    return np.asarray(drawn.bodies.get(tool, drawn.T_wb)[:3, 3])


def _to_blame(view: PlanView) -> set[str]:
    """Handles of what a failure, or a refusal, is about."""
    if view.refusal is not None:
        return set(view.refusal.parts)
    if view.plan is None or view.stale:
        return set()
    return {violation.part for violation in view.plan.violations if not violation.missed}


def _holding(view: PlanView) -> set[str]:
    """Handles of what the plan passes as closely as it may."""
    if view.plan is None or view.dated:
        return set()
    holds = view.plan.active
    obstacles = {f"obstacle {constraint.obstacle}" for constraint in holds if constraint.obstacle is not None}
    return obstacles | {
        f"waypoint {constraint.waypoint}" for constraint in holds if constraint.waypoint is not None
    }


def _colour(view: PlanView) -> Colour:
    if view.dated:
        return STALE
    return PRESENT if view.plan is not None and view.plan.solved else FAILED


def _bodies_w(record: PlanRecord, poses: np.ndarray) -> dict[str, np.ndarray]:
    """Name -> (n, 4, 4) world poses of bodies along a plan, where the model has parts that go with some."""
    vehicle = record.vehicle
    if not vehicle.links and not any(part.body for part in config_of(vehicle).model.parts):
        return {}
    controls = np.resize(record.controls, (len(record.nodes), len(vehicle.controls)))
    bodies = observed_by_symbols(vehicle, record.nodes, controls, record.step_s).bodies
    into_world = poses @ np.linalg.inv(next(iter(bodies.values())))
    return {name: into_world @ T for name, T in bodies.items()}


def _ghosts(way: PlanPath, colour: Colour, size_m: float) -> tuple[list[DrawnVehicle], list[Arrow]]:
    """Poses at equal distances along the way, each with the force of its controls."""
    record, arrow_m = way.record, max(0.35 * size_m, 0.03 * way.reach_m)
    # Clear of the ribbon where the forces lie in it.
    lift_m = 0.16 * size_m if planar(record.vehicle) else 0.0
    largest = max(float(np.linalg.norm(way.forces_w, axis=1).max()), 1e-9)
    vehicles, arrows = [], []
    for k in shapes.spread(way.poses[:, :3, 3], _apart_m(way, size_m), _MOST_GHOSTS):
        pose, node = way.poses[k], record.nodes[k]
        if isinstance(record.vehicle, ArticulatedVehicle):
            pose = way.bodies_w[record.vehicle.tree.names[0]][k]
        vehicles.append(
            DrawnVehicle(
                model=config_of(record.vehicle).name,
                config=config_of(record.vehicle),
                T_wb=pose,
                controls=record.controls[k],
                shape=node[record.vehicle.node_layout.shape],
                parameters=record.vehicle.values,
                bodies={name: poses[k] for name, poses in way.bodies_w.items()},
                time_s=0.015 * k,
                tint=colour,
                ghost=True,
                links=tuple(shape for shape in record.vehicle.links if shape.body in way.bodies_w),
            )
        )
        arrows.append(Arrow(pose[:3, 3] + lift_m * pose[:3, 2], arrow_m / largest * way.forces_w[k], _THRUST))
    return vehicles, arrows


def _apart_m(way: PlanPath, size_m: float) -> float:
    """From ghost to ghost, at least: what walks goes along as a whole, and would stand in itself."""
    vehicle = way.record.vehicle
    walks = isinstance(vehicle, ArticulatedVehicle) and bool(vehicle.feet)
    return _GHOST_GAP * size_m / (_TOOL if walks else 1.0)


_BUILT_IN = ("", "kerb", "shown")
"""Looks that need no model: the bare shape, and what the world's own ground already shows."""
_PAINTS = (
    (0.30, 0.02, 0.02),
    (0.42, 0.43, 0.44),
    (0.03, 0.07, 0.16),
    (0.05, 0.12, 0.09),
    (0.55, 0.54, 0.51),
    (0.02, 0.022, 0.025),
)


def obstacle_model(obstacle: Obstacle, world: World, moved: np.ndarray = _UNMOVED) -> DrawnVehicle | None:
    """The model an obstacle looks like, on the ground or the water; None where it has none.

    What is round is as wide as the obstacle; cars and ships have their own size. moved: (4, 4), by its motion.
    """
    if obstacle.look in _BUILT_IN:
        return None
    x, y, _ = obstacle.middle_w
    T_wb = np.eye(4)
    T_wb[:3, :3] = (
        upright(obstacle.heading) if obstacle.turns else max(obstacle.half_thickness_m, 1e-3) * np.eye(3)
    )
    T_wb[:3, 3] = x, y, float(world.surface_m(x, y))
    paint = _PAINTS[zlib.crc32(obstacle.name.encode()) % len(_PAINTS)]
    return DrawnVehicle(
        model=obstacle.look,
        config=config_named(obstacle.look),
        T_wb=moved @ T_wb,
        controls=np.zeros(0),
        shape=np.zeros(0),
        tint=paint,
        still=True,
    )
