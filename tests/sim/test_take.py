"""Laws of takes: the same bits again, other methods close by, plans landed on, files that hold or are refused."""

import json
from pathlib import Path

import numpy as np
import pytest

import sim
from sim.integrators import integrator
from sim.planner.result.record import record_of
from sim.recordings import Take, load_take, save_take
from tests.sim.planner_tasks import PLANNER, forest


def wobble(vehicle: sim.Vehicle, count: int, held: int) -> np.ndarray:
    """Controls about the neutral ones, each row held for some steps."""
    random = np.random.default_rng(3)
    span = np.array([min(c.high - c.low, 10.0) for c in vehicle.controls])
    rows = vehicle.neutral_controls + 0.02 * span * random.normal(size=(count // held + 1, len(span)))
    return np.repeat(rows, held, axis=0)[:count]


def flown(name: str, method: str | sim.Integrator = "variational", step_s: float = 0.01) -> Take:
    vehicle = sim.vehicle(name)
    count = round(2.0 / step_s)
    controls = wobble(vehicle, count, 5)
    return Take.of_trajectory(sim.simulate(vehicle, method, step=step_s, duration=2.0, controls=controls))


METHODS = ["variational", "rk4", integrator("rkmk54", tolerance=1e-6)]


@pytest.mark.parametrize("method", METHODS, ids=["variational", "rk4", "adaptive"])
def test_a_take_of_a_simulation_holds_its_nodes(method: str | sim.Integrator):
    vehicle = sim.vehicle("helicopter")
    controls = wobble(vehicle, 200, 5)
    run = sim.simulate(vehicle, method, step=0.01, duration=2.0, controls=controls)
    again = Take.of_trajectory(run).trajectory
    np.testing.assert_array_equal(again.time, run.time)
    np.testing.assert_array_equal(again.controls, run.controls)
    # The first node goes through the Legendre transform once more: 2e-14.
    np.testing.assert_allclose(again.nodes, run.nodes, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("method", METHODS, ids=["variational", "rk4", "adaptive"])
def test_resimulating_with_nothing_changed_gives_every_bit_again(method: str | sim.Integrator):
    take = flown("helicopter", method)
    again = take.resimulate()
    assert len(again.segments[0].point_steps) > 2, "restart points were laid"
    np.testing.assert_array_equal(again.trajectory.nodes, take.trajectory.nodes)
    np.testing.assert_array_equal(again.trajectory.energy, take.trajectory.energy)


@pytest.mark.parametrize("name", ["car", "snakeboard"])
def test_vehicles_on_wheels_are_resimulated_to_the_bit(name: str):
    take = flown(name)
    np.testing.assert_array_equal(take.resimulate().trajectory.nodes, take.trajectory.nodes)


def test_any_moment_is_that_of_the_whole_run():
    take = flown("helicopter").resimulate()
    playback, nodes = take.playback(), take.trajectory.nodes
    for step in (0, 1, 49, 50, 51, 137, 199):
        moment = playback.at(step * 0.01 + 0.004)
        assert moment.step == step
        np.testing.assert_array_equal(playback.node(moment), nodes[step])
        np.testing.assert_array_equal(moment.controls, take.trajectory.controls[step])
    assert playback.at(99.0).step == 200
    assert playback.at(-1.0).step == 0


def test_another_method_gets_the_same_inputs():
    take = flown("helicopter")
    fine = take.resimulate(integrator="rk4", step=0.001).trajectory
    again = sim.simulate(
        take.vehicle, "rk4", step=0.001, duration=2.0, initial=take.trajectory.initial,
        controls=np.repeat(take.trajectory.controls, 10, axis=0),
    )  # fmt: skip
    np.testing.assert_array_equal(fine.controls, again.controls)
    np.testing.assert_allclose(fine.nodes, again.nodes, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("longer", [4, 12], ids=["than the sticks", "in which they change twice"])
def test_a_longer_step_takes_the_inputs_in_force_at_its_start(longer: int):
    take = flown("helicopter")
    coarse, steps = take.resimulate(step=longer * 0.01).trajectory, 200 // longer
    np.testing.assert_array_equal(coarse.controls, take.trajectory.controls[::longer][:steps])
    assert coarse.time[-1] == pytest.approx(steps * longer * 0.01)


def test_other_parameters_from_the_same_start():
    take = flown("helicopter")
    heavy = take.resimulate(parameters={"mass": 1.2 * float(take.vehicle.values["mass"])})
    assert heavy.vehicle.values["mass"] == pytest.approx(1.2 * take.vehicle.values["mass"])
    again = sim.simulate(
        heavy.vehicle,
        "variational",
        step=0.01,
        duration=2.0,
        initial=take.trajectory.initial,
        controls=take.trajectory.controls,
    )
    np.testing.assert_allclose(heavy.trajectory.nodes, again.nodes, rtol=1e-12, atol=1e-12)
    assert np.abs(heavy.trajectory.nodes - take.trajectory.nodes).max() > 1e-4


@pytest.mark.parametrize("method", ["rk4", "lie-euler"])
def test_a_resimulation_ends_where_the_simulation_does_and_says_why(method: str):
    """By the kernel's status alone it ends some steps later, its last angular velocity at 1e79 rad/s and beyond."""
    vehicle = sim.vehicle("rigid-body", mass=1.0, inertia=(1.0, 2.0, 3.0))
    start = vehicle.state(omega=(60.0, 0.1, 80.0))
    run = sim.simulate(vehicle, "variational-cay", step=0.05, duration=4.0, initial=start)
    again = sim.simulate(vehicle, method, step=0.05, duration=4.0, initial=start)
    ghost = Take.of_trajectory(run).resimulate(integrator=method)
    assert again.diverged_because.startswith("angular velocity past ")
    assert ghost.end_s == again.diverged_at
    at = f"{again.diverged_at + 0.05:.2f}"
    assert ghost.ended == f"{method} at h = 0.05 s: {again.diverged_because} at t = {at} s"
    np.testing.assert_array_equal(ghost.trajectory.nodes, again.nodes[: len(ghost.trajectory.nodes)])


def test_a_replayed_plan_lands_on_the_plan():
    vehicle, task = forest(steps=32)
    plan = PLANNER.plan(vehicle, task)
    assert plan.solved
    for exported in (plan, record_of(plan, "forest")):
        take = Take.of_plan(exported)
        # 2e-11 m, rad, m/s: what the solver leaves of the equations of motion.
        np.testing.assert_allclose(take.trajectory.nodes, plan.motion.nodes, rtol=0.0, atol=1e-7)
        np.testing.assert_array_equal(take.trajectory.controls, plan.controls[:-1])


def test_a_file_keeps_every_bit(tmp_path: Path):
    take = flown("helicopter", integrator("rkmk54", tolerance=1e-6)).resimulate()
    path = save_take(take, tmp_path / "flight.npz")
    again = load_take(path)
    assert (again.name, again.created, again.integrator) == (take.name, take.created, take.integrator)
    np.testing.assert_array_equal(again.trajectory.nodes, take.trajectory.nodes)
    assert [p.name for p in tmp_path.iterdir()] == ["flight.npz"]


def test_a_file_explains_itself_without_the_project(tmp_path: Path):
    take = flown("car")
    path = save_take(take, tmp_path / "lap.npz")
    with np.load(path, allow_pickle=False) as file:
        header = json.loads(str(file["header"]))
        nodes, time = file["nodes"], file["time"]
    column = header["node_columns"].index("x_m")
    np.testing.assert_array_equal(nodes[:, column], take.trajectory.pose[:, 0, 2])
    np.testing.assert_array_equal(time, take.trajectory.time)
    assert len(header["node_columns"]) == nodes.shape[1]


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda data: data.pop("leg0_states"), "is missing"),
        (lambda data: data.update(leg0_controls=np.full_like(data["leg0_controls"], np.nan)), "finite"),
        (lambda data: data.update(leg0_change_steps=data["leg0_change_steps"][::-1]), "increase"),
        (lambda data: data.update(leg0_point_steps=data["leg0_point_steps"] + 0.5), "whole numbers"),
        (lambda data: data.update(leg0_change_steps=data["leg0_change_steps"] * np.nan), "whole numbers"),
        (lambda data: data.update(header=edited(data, version=99)), "version 99 is unknown; allowed: 1"),
        (lambda data: data.update(header=edited(data, vehicle="zeppelin")), "unknown vehicle 'zeppelin'"),
        (lambda data: data.update(header=edited(data, world="moon")), "unknown world 'moon'"),
        (lambda data: data.update(header=edited(data, format="plan")), "is no take"),
        (lambda data: data.update(header=np.array("[]")), "is no take"),
        (lambda data: data.update(header=edited_segment(data, step_s=0.0)), "legs[0].step_s"),
        (lambda data: data.update(header=edited_segment(data, step_s=1e-300)), "legs[0].step_s"),
        (lambda data: twice(data), "in order"),
    ],
)
def test_a_damaged_file_is_refused_in_one_line(tmp_path: Path, damage, said: str):
    path = save_take(flown("helicopter"), tmp_path / "flight.npz")
    with np.load(path) as file:
        data = dict(file)
    damage(data)
    np.savez(path, **data)
    with pytest.raises(sim.InputError) as refusal:
        load_take(path)
    assert said in str(refusal.value)
    assert str(path) in str(refusal.value)
    assert "\n" not in str(refusal.value)


def edited(data: dict, **changes) -> np.ndarray:
    return np.array(json.dumps({**json.loads(str(data["header"])), **changes}))


def edited_segment(data: dict, **changes) -> np.ndarray:
    (leg,) = json.loads(str(data["header"]))["legs"]
    return edited(data, legs=[{**leg, **changes}])


def twice(data: dict) -> None:
    """The same segment once more behind itself."""
    (leg,) = json.loads(str(data["header"]))["legs"]
    data.update({name.replace("leg0", "leg1"): array for name, array in data.items() if "leg0" in name})
    data.update(header=edited(data, legs=[leg, leg]))


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x03\x04 broken"])
def test_a_file_that_is_none_is_refused(tmp_path: Path, content: bytes):
    path = tmp_path / "other.npz"
    path.write_bytes(content)
    with pytest.raises(sim.InputError, match=r"other\.npz"):
        load_take(path)
    with pytest.raises(sim.InputError, match="nothing-there"):
        load_take(tmp_path / "nothing-there.npz")


def test_a_table_has_a_row_a_node(tmp_path: Path):
    take = flown("helicopter")
    take.csv(tmp_path / "flight.csv")
    columns, *rows = (tmp_path / "flight.csv").read_text().splitlines()
    assert len(rows) == 201
    values = dict(zip(columns.split(","), map(float, rows[100].split(",")), strict=True))
    assert values["time_s"] == 1.0
    assert values["z_m"] == take.trajectory.nodes[100, 11]
    assert values["energy_J"] == take.trajectory.energy[100]


def test_impossible_changes_are_refused():
    take = flown("helicopter")
    with pytest.raises(sim.InputError, match="unknown integrator"):
        take.resimulate(integrator="euler-of-oz")
    with pytest.raises(sim.InputError, match="seconds above 0"):
        take.resimulate(step=-1.0)
    with pytest.raises(sim.InputError, match=r"makes 2e\+300 steps; allowed: up to 10000000"):
        take.resimulate(step=1e-300)
    with pytest.raises(sim.InputError, match="unknown parameter"):
        take.resimulate(parameters={"colour": 1.0})


@pytest.mark.parametrize("method", ["variational", "rk4"])
def test_a_take_of_the_first_version_goes_on_from_its_nodes(method: str, tmp_path: Path):
    """Variational methods kept another momentum then: their restart points are made anew, and a line says so."""
    take = flown("helicopter", method)
    path = save_take(take, tmp_path / "old.npz")
    with np.load(path) as file:
        arrays = dict(file)
    header = json.loads(str(arrays["header"]))
    header["version"] = 1
    arrays["header"] = np.array(json.dumps(header))
    if method == "variational":
        arrays["leg0_states"] = arrays["leg0_states"].copy()
        arrays["leg0_states"][:, 12:] += 0.3  # of another meaning: not to be believed
    np.savez_compressed(path, **arrays)
    old = load_take(path)
    assert (old.note != "") == (method == "variational")
    assert "\n" not in old.note
    nodes, wanted = old.trajectory.nodes, take.trajectory.nodes
    np.testing.assert_allclose(nodes, wanted, rtol=0, atol=1e-9 if method == "variational" else 0.0)
    again = load_take(save_take(old, tmp_path / "new.npz"))
    assert again.note == old.note
    np.testing.assert_array_equal(again.trajectory.nodes, nodes)


def test_a_take_of_a_run_under_a_function_of_time_holds_its_nodes():
    """Its rows alone do not give it again: every step goes on from its own node."""
    vehicle = sim.vehicle("helicopter")
    controls = lambda t, state: np.array([50.0 + 5.0 * np.sin(5.0 * t), 0.2 * t, 0.01, 0.0])  # noqa: E731
    run = sim.simulate(vehicle, "variational", step=0.05, duration=1.0, controls=controls)
    again = Take.of_trajectory(run).trajectory
    np.testing.assert_allclose(again.nodes[:-1], run.nodes[:-1], rtol=0, atol=1e-12)
