"""What of a scene has its place in the world and may be put elsewhere: start, gates of a race, places of goals."""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from sim.groups.numeric import euler_angles, pose_matrix, upright
from sim.platform.errors import InputError
from sim.platform.values import dataclass
from sim.scene.conditions import AtPoint, Place
from sim.scene.file import Scene
from sim.scene.goals import MOST_GOALS, SceneGoal
from sim.scene.race import MOST_GATES, Course, Gate
from sim.scene.tables import Start
from sim.shapes.shape import Handle
from sim.world import World

START = "start"
APART_M, BESIDE_M = 25.0, 12.0
"""From a gate to its copy, and from a goal to its own."""
_WIDTH_M, _HEIGHT_M = 8.0, 4.0
_POINTER = 0.8
"""Length of a gate's arrow, by its half width."""
_POINTER_M = 3.0


@dataclass(frozen=True, slots=True)
class Layout:
    """Immutable; every edit is another one. Things are named "start", "gate 0", "goal 2", ..."""

    start: Start
    course: Course | None = None
    goals: tuple[SceneGoal, ...] = ()

    @staticmethod
    def of(scene: Scene) -> "Layout":
        """As the scene has it."""
        return Layout(scene.start, scene.race, scene.goals)

    def put_into(self, scene: Scene) -> Scene:
        """The scene with it. Raises InputError for what no scene may have."""
        gates = self._gates
        if not (len(gates) == 0 or 2 <= len(gates) <= MOST_GATES):
            raise InputError(f"a race of {len(gates)} gates is refused; allowed: 2 to {MOST_GATES}")
        if len(self.goals) > MOST_GOALS:
            raise InputError(f"{len(self.goals)} goals are refused; allowed: {MOST_GOALS} at most")
        return replace(scene, start=self.start, race=self.course, goals=self.goals)

    @property
    def _gates(self) -> tuple[Gate, ...]:
        return () if self.course is None else self.course.gates

    def handles(self, world: World, soles_m: float) -> tuple[Handle, ...]:
        """Everything that can be moved. soles_m: from the soles of what starts to its body origin."""
        T_w = self.start.pose(world, soles_m)
        found = [Handle(START, T_w, "z", T_w[:3, 3] + _POINTER_M * T_w[:3, 0])]
        for k, gate in enumerate(self._gates):
            T_w = pose_matrix(gate.frame().T, np.array(gate.centre_w))
            found.append(
                Handle(f"gate {k}", T_w, "z", T_w[:3, 3] + _POINTER * gate.half_width_m * T_w[:3, 0])
            )
        for k, goal in enumerate(self.goals):
            place = _place_w(goal, world)
            if place is not None:
                found.append(Handle(f"goal {k}", pose_matrix(np.eye(3), place), ""))
        return tuple(found)

    def moved(self, name: str, T_w: np.ndarray) -> "Layout":
        """With one thing at another pose (4, 4)."""
        kind, k = _split(name)
        x, y, z = T_w[:3, 3].tolist()
        heading_rad = math.atan2(T_w[1, 0], T_w[0, 0])
        if kind == START:
            _, pitch_rad, roll_rad = euler_angles(T_w[:3, :3])
            return replace(
                self,
                start=replace(
                    self.start,
                    pad="",
                    position_w=(x, y, z),
                    heading_rad=heading_rad,
                    pitch_rad=pitch_rad,
                    roll_rad=roll_rad,
                ),
            )
        if kind == "gate":
            return self._with_gate(k, replace(self._gates[k], centre_w=(x, y, z), heading_rad=heading_rad))
        return self._with_goal(k, _at(self.goals[k], x, y))

    def scaled(self, name: str, factor: float) -> "Layout":
        """With one thing larger: a gate's opening, how near one has to come to a goal."""
        kind, k = _split(name)
        if kind == "gate":
            gate = self._gates[k]
            half = factor * gate.half_width_m, factor * gate.half_height_m
            return self._with_gate(k, replace(gate, half_width_m=half[0], half_height_m=half[1]))
        if kind == "goal" and (place := self.goals[k].place) is not None:
            return self._with_goal(k, _put(self.goals[k], replace(place, within_m=factor * place.within_m)))  # type: ignore[type-var]
        return self

    def without(self, name: str) -> "Layout":
        """Less one thing; the start stays, and of a race two gates, or none."""
        kind, k = _split(name)
        if kind == "gate" and self.course is not None:
            gates = self._gates[:k] + self._gates[k + 1 :]
            return replace(self, course=replace(self.course, gates=gates) if len(gates) > 1 else None)
        if kind == "goal":
            return replace(self, goals=self.goals[:k] + self.goals[k + 1 :])
        return self

    def copied(self, name: str) -> tuple["Layout", str]:
        """With one more after the one that is named, and its name; of starts there is one only."""
        kind, k = _split(name)
        if kind == "gate" and self.course is not None:
            gate = self._gates[k]
            x, y, z = (np.array(gate.centre_w) + APART_M * gate.frame()[0]).tolist()
            gates = (*self._gates[: k + 1], replace(gate, centre_w=(x, y, z)), *self._gates[k + 1 :])
            return replace(self, course=replace(self.course, gates=gates)), f"gate {k + 1}"
        if kind == "goal" and isinstance(place := self.goals[k].place, AtPoint):
            copy = _at(self.goals[k], place.at_w[0], place.at_w[1] + BESIDE_M)
            return replace(self, goals=(*self.goals[: k + 1], copy, *self.goals[k + 1 :])), f"goal {k + 1}"
        return self, name

    def with_one(self, kind: str, place_w: np.ndarray, heading_rad: float) -> tuple["Layout", str]:
        """With one more gate on the ground, or goal, at a place (3,); its name. A first gate comes with a second."""
        x, y, z = place_w.tolist()
        if kind == "goal":
            goal = SceneGoal(f"Go to place {len(self.goals) + 1}", conditions=(AtPoint((x, y)),))
            return replace(self, goals=(*self.goals, goal)), f"goal {len(self.goals)}"
        gate = Gate((x, y, z + 0.5 * _HEIGHT_M), heading_rad, 0.5 * _WIDTH_M, 0.5 * _HEIGHT_M)
        if self.course is None:
            return replace(self, course=Course((gate,))).copied("gate 0")[0], "gate 0"
        gates = (*self._gates, gate)
        return replace(self, course=replace(self.course, gates=gates)), f"gate {len(gates) - 1}"

    def grounded(self, name: str, world: World, soles_m: float) -> "Layout":
        """With one thing on ground or water: a gate by its lower edge, a start upright by its soles."""
        kind, k = _split(name)
        if kind == "goal":
            return self
        T_w = next(handle.T_w for handle in self.handles(world, soles_m) if handle.name == name)
        over_m = soles_m if kind == START else self._gates[k].half_height_m
        surface_m = float(world.surface_m(T_w[0, 3], T_w[1, 3]))
        place = np.array([T_w[0, 3], T_w[1, 3], surface_m + over_m])
        return self.moved(name, pose_matrix(upright(math.atan2(T_w[1, 0], T_w[0, 0])), place))

    def _with_gate(self, k: int, gate: Gate) -> "Layout":
        assert self.course is not None
        return replace(
            self, course=replace(self.course, gates=(*self._gates[:k], gate, *self._gates[k + 1 :]))
        )

    def _with_goal(self, k: int, goal: SceneGoal) -> "Layout":
        return replace(self, goals=(*self.goals[:k], goal, *self.goals[k + 1 :]))


def difference(before: Layout, after: Layout) -> str:
    """What has changed, as a user would name it."""
    for kind, olds, news in (
        ("gate", before._gates, after._gates),
        ("goal", before.goals, after.goals),
    ):
        if len(olds) != len(news):
            return f"{kind} {'put up' if len(news) > len(olds) else 'removed'}"
        changed = [k for k, (old, new) in enumerate(zip(olds, news, strict=True)) if old != new]
        if changed:
            return f"{kind} {changed[0] + 1} changed"
    return "start moved"


def scene_with_layout(text: str, before: Layout, after: Layout) -> str:
    """The text of a scene file that has the one layout, with the other in its place; all else stays as it was."""
    import tomlkit  # is for who writes

    scene = tomlkit.parse(text)
    if after.start != before.start:
        scene["start"] = _start_text(after.start)
    if after.course != before.course:
        scene.pop("race", None)
        if after.course is not None:
            race = tomlkit.table()
            race["closed"] = after.course.closed
            race["gates"] = [_gate_text(gate) for gate in after.course.gates]
            scene["race"] = race
    if after.goals != before.goals:
        own: list[Any] = list(scene.get("goals", []))
        tables = tomlkit.aot()
        for goal in after.goals:
            table = tomlkit.table()
            table.update(own[goal.of_table].unwrap() if goal.of_table >= 0 else {"title": goal.title})
            if isinstance(place := goal.place, AtPoint):
                table.pop("pad", None)
                table["at_m"], table["within_m"] = list(place.at_w), place.within_m
            elif place is not None:
                table["within_m"] = place.within_m
            tables.append(table)
        scene.pop("goals", None)
        if after.goals:
            scene["goals"] = tables
    return tomlkit.dumps(scene)


def _start_text(start: Start) -> dict[str, Any]:
    at = {"pad": start.pad} if start.pad else {"position_m": list(start.position_w)}
    angles = {
        "heading_deg": math.degrees(start.heading_rad),
        "pitch_deg": math.degrees(start.pitch_rad),
        "roll_deg": math.degrees(start.roll_rad),
    }
    moves = {"velocity_mps": list(start.velocity_b), "omega_radps": list(start.omega_b)}
    return (
        at
        | {key: angle for key, angle in angles.items() if angle}
        | {k: v for k, v in moves.items() if any(v)}
    )


def _gate_text(gate: Gate) -> dict[str, Any]:
    return {
        "position_m": list(gate.centre_w),
        "heading_deg": math.degrees(gate.heading_rad),
        "width_m": 2.0 * gate.half_width_m,
        "height_m": 2.0 * gate.half_height_m,
    }


def _place_w(goal: SceneGoal, world: World) -> np.ndarray | None:
    """(3,) where it has its marker; None where it has none, or one that goes along."""
    place = goal.place
    if place is None or place.fixed_w(world) is None:
        return None
    return place.marker_w(world, np.zeros(3))


def _at(goal: SceneGoal, x: float, y: float) -> SceneGoal:
    place = goal.place
    assert place is not None
    return _put(goal, AtPoint((x, y), place.within_m))


def _put(goal: SceneGoal, place: Place) -> SceneGoal:
    others = tuple(condition for condition in goal.conditions if not isinstance(condition, Place))
    return replace(goal, conditions=(place, *others))


def _split(name: str) -> tuple[str, int]:
    kind, _, index = name.partition(" ")
    return kind, int(index or 0)
