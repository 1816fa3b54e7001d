"""Laws of undo and redo: every step leads to a whole setup that was there, and flights are no edits."""

from dataclasses import replace

import numpy as np
import pytest

from sim.commands import AddLane, RemoveLane, SetIntegrator, SetParameter, SetStep, SetVehicle
from sim.planner.service.requests import EditTask
from sim.planner.service.session import PlanView
from sim.planner.task.handles import copied, difference, moved, renamed, with_obstacle, without
from sim.planner.task.task import Goal, Task, Waypoint, Weights
from sim.shapes import Box, Cylinder
from sim.simulation.lanes.snapshot import LaneSnapshot, LookBack, Snapshot
from sim.vehicles import known_vehicle
from tests.sim.simulation_scenes import helicopter_scene, simulation
from tests.ui import fakes
from ui.features.edits import REST_S, Edits, leading, setup_of

BOAT = known_vehicle("boat")


def task() -> Task:
    start, end = BOAT.default_state(), BOAT.state_in_space(np.eye(4), np.zeros(6))
    obstacles = (
        Cylinder((4.0, 1.0, 0.0), 1.0, "buoy"),
        Box((6.0, 0.0, 0.0), (1.0, 2.0, 1.0), 0.3, "pontoon"),
    )
    return Task(start, Goal(end), 10.0, obstacles=obstacles, waypoints=(Waypoint((2.0, 2.0, 0.0)),))


def shown(mass: float = 5.0, *lanes: str, step_s: float = 0.01, **changes) -> Snapshot:
    flown = fakes.lane(parameters={"mass": mass, "gravity": 9.81}, step_s=step_s)
    return fakes.snapshot(flown, *(fakes.lane(name, integrator="rk4") for name in lanes), **changes)


class Desk:
    """Shows a sequence of presents, each until it rests."""

    def __init__(self, snapshot: Snapshot, plan: PlanView | None = None) -> None:
        self.edits, self.now_s = Edits(), 0.0
        self.show(snapshot, plan)

    def show(self, snapshot: Snapshot, plan: PlanView | None = None, *, busy: bool = False) -> None:
        for _ in range(8):
            self.edits.observe(snapshot, plan, self.now_s, busy=busy)
            self.now_s += REST_S / 4.0

    def step(self, by: int) -> list:
        return self.edits.step(by, self.now_s)


def test_undo_leads_back_and_redo_on_again_over_parameters_and_lanes() -> None:
    presents = [
        shown(),
        shown(6.0),
        shown(6.0, "rk4"),
        shown(6.0, "rk4", step_s=0.02),
        shown(6.0, step_s=0.02),
    ]
    desk = Desk(presents[0])
    for present in presents[1:]:
        desk.show(present)
    assert list(desk.edits.names) == [
        "start", "mass 5 \N{RIGHTWARDS ARROW} 6", "lane rk4 added", "flown: h = 0.02 s", "lane rk4 removed",
    ]  # fmt: skip
    (added,) = desk.step(-1)
    assert isinstance(added, AddLane)
    assert (added.name, added.integrator) == ("rk4", "rk4")
    desk.show(presents[3])
    assert desk.step(-1) == [SetStep(0.01, "flown")]
    assert desk.step(-2) == [SetParameter("mass", 5.0), RemoveLane("rk4")]
    desk.show(presents[0])
    assert desk.step(-1) == []
    assert desk.step(1) == [SetParameter("mass", 6.0)]
    desk.show(presents[1])
    desk.show(shown(7.0))
    assert list(desk.edits.names)[2:] == ["mass 6 \N{RIGHTWARDS ARROW} 7"]
    assert desk.edits.step_name(1) == ""


def test_steps_in_quick_succession_do_not_wait_for_what_they_ask() -> None:
    desk = Desk(shown())
    for mass in (6.0, 7.0, 8.0):
        desk.show(shown(mass))
    assert [desk.step(-1) for _ in range(3)] == [[SetParameter("mass", m)] for m in (7.0, 6.0, 5.0)]
    desk.show(shown(7.0))  # one of them, late
    desk.show(shown(5.0))
    assert (desk.edits.at, len(desk.edits.names)) == (0, 4)


def test_a_drag_is_one_edit() -> None:
    desk = Desk(shown())
    for mass in np.linspace(5.0, 9.0, 9):
        desk.show(shown(float(mass)), busy=True)
    desk.show(shown(9.0))
    assert list(desk.edits.names) == ["start", "mass 5 \N{RIGHTWARDS ARROW} 9"]


def test_what_was_just_changed_is_undone_before_it_has_come_to_rest() -> None:
    desk = Desk(shown())
    desk.edits.observe(shown(6.0), None, desk.now_s, busy=True)
    assert desk.step(-1) == [SetParameter("mass", 5.0)]


def test_what_a_recording_shows_and_a_plan_flies_with_is_no_edit() -> None:
    desk = Desk(shown())
    desk.show(shown(9.0, "rk4 20 ms", look_back=LookBack("", 0.0, 5.0, 2.0)))
    desk.show(shown(5.0))
    desk.show(shown(9.0, step_s=0.05, plan_flies=True))
    desk.show(shown(9.0))
    assert list(desk.edits.names) == ["start"]
    desk.show(shown(9.5))
    assert desk.step(-1) == [SetParameter("mass", 9.0)]


def test_another_vehicle_is_undone_to_the_one_before_with_its_parameters_and_methods() -> None:
    desk = Desk(shown())
    desk.show(shown(6.0, "rk4"))
    body = fakes.lane(vehicle="rigid-body", parameters={"mass": 2.0}, integrator="cf4")
    lanes = body, fakes.lane("rk4", vehicle="rigid-body", parameters={"mass": 2.0}, integrator="rk4")
    desk.show(fakes.snapshot(*lanes))
    assert desk.edits.names[-1] == "helicopter \N{RIGHTWARDS ARROW} rigid-body"
    before = shown(6.0, "rk4")
    assert desk.step(-1) == [
        SetVehicle(
            "helicopter",
            (("mass", 6.0), ("gravity", 9.81)),
            (("flown", before.lanes[0].integrator), ("rk4", "rk4")),
        )
    ]
    desk.show(before)
    assert desk.edits.step_name(-1).startswith("mass 5")
    assert desk.step(1) == [SetVehicle("rigid-body", (("mass", 2.0),), (("flown", "cf4"), ("rk4", "rk4")))]


def test_a_recording_of_another_vehicle_is_no_edit() -> None:
    desk = Desk(shown())
    desk.show(fakes.snapshot(fakes.lane(vehicle="rigid-body"), look_back=LookBack("", 0.0, 5.0, 2.0)))
    desk.show(shown())
    assert list(desk.edits.names) == ["start"]


def test_every_edit_of_a_task_is_gone_back_on_to_the_very_task() -> None:
    first = task()
    turned = np.eye(4)
    turned[:3, 3] = 1.0, 2.0, 0.0
    chain = [
        (without(first, "obstacle 0"), "buoy deleted"),
        (moved(BOAT, first, "obstacle 1", turned), "pontoon moved"),
        (moved(BOAT, first, "goal", turned), "goal moved"),
        (moved(BOAT, first, "waypoint 0", turned), "waypoint 1 moved"),
        (without(first, "waypoint 0"), "waypoint deleted"),
        (copied(first, "obstacle 0"), "buoy 2 added"),
        (with_obstacle(BOAT, first), "pillar added"),
        (renamed(first, 0, "east buoy"), "buoy renamed east buoy"),
        (replace(first, weights=Weights(time=2.0)), "weight of time 0 \N{RIGHTWARDS ARROW} 2"),
        (replace(first, duration_s=12.0), "final time 10 \N{RIGHTWARDS ARROW} 12 s"),
    ]
    for after, name in chain:
        assert difference(first, after) == name
        desk = Desk(shown(), PlanView(BOAT, first, "variational"))
        desk.show(shown(), PlanView(BOAT, after, "variational"))
        assert desk.edits.names[-1] == name
        (asked,) = desk.step(-1)
        assert isinstance(asked, EditTask)
        assert asked.task is first


def test_a_change_of_method_is_asked_for_by_its_lane() -> None:
    one, other = setup_of(shown(), None), setup_of(fakes.snapshot(fakes.lane(integrator="rk2")), None)
    assert SetIntegrator("rk2", "flown") in leading(one, other)


@pytest.mark.parametrize("name", ["obstacle 0", "obstacle 1", "waypoint 0"])
def test_a_copy_lies_beside_what_is_copied_under_a_name_of_its_own(name: str) -> None:
    first = task()
    twice = copied(copied(first, name), name)
    names = [obstacle.name for obstacle in twice.obstacles]
    assert len(set(names)) == len(names)
    places = [getattr(each, "centre_w", None) for each in twice.obstacles]
    assert first.obstacles == twice.obstacles[:2]
    if name.startswith("obstacle"):
        assert places[2] != getattr(first.obstacles[int(name[-1])], "centre_w", None)
    assert copied(first, "goal") is first


def test_a_swap_is_undone_and_done_again_in_a_simulation() -> None:
    running = simulation(helicopter_scene())
    edits, now_s = Edits(), 0.0

    def rest() -> Snapshot:
        nonlocal now_s
        for _ in range(8):
            snapshot = running.advance(0.01)
            edits.observe(snapshot, None, now_s, busy=False)
            now_s += REST_S / 4.0
        return snapshot

    def undo(by: int) -> LaneSnapshot:
        nonlocal now_s
        for asked in edits.step(by, now_s):
            running.submit(asked)  # type: ignore[arg-type]
        return rest().lanes[0]

    usual = rest().lanes[0].parameters["mass"]
    running.submit(SetParameter("mass", 6.0))
    first = rest().lanes[0]
    running.submit(SetVehicle("car"))
    car = rest().lanes[0]
    assert (car.vehicle, len(edits.names)) == ("car", 3)
    for _ in range(2):
        back = undo(-1)
        assert (back.vehicle, back.integrator, dict(back.parameters)) == (
            first.vehicle,
            first.integrator,
            dict(first.parameters),
        )
        again = undo(1)
        assert (again.vehicle, again.integrator) == (car.vehicle, car.integrator)
    begun = undo(-2)
    assert (begun.vehicle, begun.parameters["mass"]) == ("helicopter", usual)
    assert len(edits.names) == 3
