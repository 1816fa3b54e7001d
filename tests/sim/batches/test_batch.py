"""Laws of batches: each lane is the run that `sim.simulate` makes of it, whatever stands beside it."""

import numpy as np
import pytest

import sim
from sim.compiler import compile_kernel
from sim.compiler.kernel_code import WIDTH, lane_code
from sim.contact.ground import GROUND
from sim.environment.environment import environment_of
from sim.integrators import DEFAULT
from sim.platform.errors import InputError
from sim.vehicles.forms.base import Structure
from sim.world import load_world

PAIRS = [
    ("helicopter", "variational-exact"),
    ("helicopter", "variational"),
    ("helicopter", "variational-exp"),
    ("helicopter", "variational-split"),
    ("helicopter", "rk4"),
    ("helicopter", "rkmk4"),
    ("helicopter", "newmark"),
    ("helicopter", "rkmk54"),
    ("spacecraft", "variational-exact"),
    ("boat", "variational-exact"),
    ("car", "variational-exact"),
    ("snakeboard", "variational-exact"),
    ("snakeboard", "rk4"),
    ("bicycle", "rk4"),
]
LANES, STEPS, H = 2 * WIDTH + 3, 120, 0.01


def lanes_of(vehicle: sim.Vehicle, seed: int = 5) -> tuple[list[sim.State], np.ndarray]:
    """Starts out of every plane and forced controls that change, another in each lane."""
    rng = np.random.default_rng(seed)
    layout = vehicle.node_layout
    states = []
    for _ in range(LANES):
        node = vehicle.default_state().node.copy()
        node[layout.velocity] += 0.3 * rng.standard_normal(layout.velocity.stop - layout.velocity.start)
        states.append(vehicle.state_at_node(node))
    t = H * np.arange(STEPS)[None, :, None]
    phase = rng.uniform(0.0, 6.0, (LANES, 1, len(vehicle.controls)))
    return states, vehicle.neutral_controls + 0.2 * np.sin(2.0 * t + phase)


@pytest.mark.parametrize("name, method", PAIRS)
def test_every_lane_is_the_run_that_simulate_makes(name: str, method: str) -> None:
    vehicle = sim.vehicle(name)
    states, controls = lanes_of(vehicle)
    many = sim.batch(vehicle, method, states, controls, step=H, duration=H * STEPS, every=7)
    assert len(many) == LANES
    assert many.time == pytest.approx(H * np.append(np.arange(0, STEPS, 7), STEPS))
    assert (many.steps_done == STEPS).all()
    assert np.isnan(many.diverged_at).all()
    at = np.round(many.time / H).astype(int)
    for lane in (0, WIDTH - 1, WIDTH, LANES - 1):
        one = sim.simulate(
            vehicle, method, step=H, duration=H * STEPS, initial=states[lane], controls=controls[lane]
        )
        # Measured: 4e-13, rounding in another order; rkmk54 to the bit, as it goes lane by lane.
        assert np.abs(many.nodes[lane] - one.nodes[at]).max() < 1e-10
        told = many.observed(lane)
        assert told.energy == pytest.approx(one.energy[at], rel=1e-10, abs=1e-8)


def test_lanes_have_parameters_and_starts_of_their_own() -> None:
    vehicle = sim.vehicle("helicopter")
    masses = np.linspace(3.0, 8.0, 10)
    inertia = np.linspace([0.2, 0.3, 0.4], [0.5, 0.9, 1.1], 10)
    many = sim.batch(
        vehicle,
        parameters={"mass": masses, "inertia": inertia},
        controls=[40.0, 0.1, 0.01, -0.02],
        duration=1.0,
    )
    for lane in (0, 4, 9):
        own = vehicle.with_parameters(mass=masses[lane], inertia=tuple(inertia[lane]))
        one = sim.simulate(own, step=0.01, duration=1.0, controls=[40.0, 0.1, 0.01, -0.02])
        assert np.abs(many.nodes[lane, -1] - one.nodes[-1]).max() < 1e-11
        assert many.lane_vehicle(lane).values == own.values
        assert many.final(lane).node == pytest.approx(one.final.node, abs=1e-11)


def test_a_lane_without_a_solution_ends_alone() -> None:
    """Steps so long that some lanes have none: their neighbours in the register go on, each as alone."""
    vehicle = sim.vehicle("rigid-body", mass=1.0, inertia=(1.0, 2.0, 3.0))
    spins = np.linspace(0.0, 400.0, 2 * WIDTH)
    states = [vehicle.state(omega=(0.3, s, 0.2), v=(1.0, 0.0, 0.0)) for s in spins]
    shares: list[float] = []
    many = sim.batch(
        vehicle,
        "rk4",
        states,
        step=0.05,
        duration=5.0,
        every=1,
        progress=lambda told, share: shares.append(share),
    )
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    ended = many.steps_done < many.steps
    assert 0 < ended.sum() < len(many)
    for lane in range(len(many)):
        one = sim.simulate(vehicle, "rk4", step=0.05, duration=5.0, initial=states[lane])
        finite = np.isfinite(one.nodes).all(axis=1)  # simulate also ends at bounds, before numbers end
        assert np.allclose(many.nodes[lane][finite], one.nodes[finite], rtol=1e-7, atol=1e-7)
        assert bool(ended[lane]) == bool(np.isnan(many.nodes[lane, -1]).any())


def test_lanes_over_ground_touch_it_as_alone() -> None:
    world = load_world("canyon", seed=7)
    vehicle = sim.vehicle("helicopter")
    x, y, z = world.pads[0].centre_w
    drops = [vehicle.state(x=(x, y, z + 1.4 + d), v=(0.5, 0.1, -0.5)) for d in np.linspace(0.05, 1.5, 6)]
    many = sim.batch(vehicle, None, drops, duration=2.0, every=20, world=world)
    free = sim.batch(vehicle, None, drops, duration=2.0, every=20)
    assert (free.nodes[:, -1, 11] < z - 5.0).all()  # they fall through what is not there
    stands = many.nodes[:, -1, 11]
    # Skids are 1.4 m below the origin: on the pad to the give of contact.
    assert stands == pytest.approx(z + 1.4, abs=0.05)
    again = sim.batch(vehicle, None, drops[2:3], duration=2.0, every=20, world=world)
    assert np.array_equal(again.nodes[0], many.nodes[2])  # no lane remembers another's contact


@pytest.mark.parametrize("every", [1, 7, None])
@pytest.mark.parametrize("moving", [False, True])
def test_lanes_over_ground_are_the_runs_of_their_kernel(every: int | None, moving: bool) -> None:
    """To the bit, whether it starts in the air, carried or sunk in, and with inputs that change or do not."""
    world, vehicle = load_world("canyon", seed=7), sim.vehicle("helicopter")
    x, y, z = world.pads[0].centre_w
    starts = [vehicle.state(x=(x, y, z + 1.4 + d), v=(0.6, 0.2, -1.0)) for d in (-0.02, 0.0, 0.03, 0.4)]
    steps, gravity = 40, np.array([9.81, 3.7, 9.81, 1.6])
    t = 0.01 * np.arange(steps)[:, None]
    pushes = np.array([30.0, 2.0, 0.3, 0.2]) * np.sin(9.0 * t + np.arange(4.0))
    controls = pushes if moving else pushes[3]
    many = sim.batch(
        vehicle, None, starts, controls, {"gravity": gravity}, duration=0.4, every=every, world=world
    )
    at = np.round(many.time / 0.01).astype(int)
    for lane, start in enumerate(starts):
        own = vehicle.with_parameters(gravity=float(gravity[lane]))
        kernel, around = compile_kernel(own, sim.integrators()[DEFAULT], GROUND), environment_of(own, world)
        p, us = own.parameter_vector, np.atleast_2d(controls)
        y_ = kernel.start(start.node, us[0], p, 0.01, around.probe().env)
        nodes, done, _ = kernel.trajectory(y_, us, p, 0.01, steps, around.env)
        assert np.array_equal(many.nodes[lane], nodes[at])
        assert many.steps_done[lane] == done == steps


def test_trees_go_in_batches_as_alone() -> None:
    vehicle = sim.vehicle("chain")
    rng = np.random.default_rng(4)
    nodes = np.repeat(vehicle.default_state().node[None], 3, axis=0)
    nodes[:, vehicle.node_layout.velocity] += 0.5 * rng.standard_normal(
        nodes[:, vehicle.node_layout.velocity].shape
    )
    many = sim.batch(vehicle, None, nodes, step=0.01, duration=0.3, every=10)
    for lane in range(3):
        one = sim.simulate(vehicle, None, step=0.01, duration=0.3, initial=vehicle.state_at_node(nodes[lane]))
        assert np.array_equal(many.nodes[lane], one.nodes[::10])


def thrown_linkages(count: int) -> tuple[sim.Vehicle, np.ndarray]:
    """Vehicle and nodes with the loop closed, all different."""
    vehicle, rng = sim.vehicle("four-bar-linkage", damping=0.2), np.random.default_rng(8)
    nodes = np.array([vehicle.closed_state({"crank": x}).node for x in rng.uniform(-1.0, 1.0, count)])
    for node in nodes:
        rate = vehicle.following(node[vehicle.node_layout.pose]) @ rng.uniform(-3.0, 3.0, 1)
        node[vehicle.node_layout.velocity] = rate
    return vehicle, nodes


def test_linkages_side_by_side_are_the_runs_that_simulate_makes_of_each() -> None:
    """With lengths and masses of their own; eight at a time, by the equations of the step."""
    vehicle, nodes = thrown_linkages(11)
    rng, step = np.random.default_rng(9), 0.005
    controls = rng.uniform(-5.0, 5.0, (11, 60, 1))
    parameters = {"coupler_mass": rng.uniform(1.0, 3.0, 11), "crank": rng.uniform(0.3, 0.5, 11)}
    many = sim.batch(
        vehicle, "variational", nodes, controls, parameters, step=step, duration=60 * step, every=20
    )
    for lane in range(11):
        one = sim.simulate(
            many.lane_vehicle(lane),
            "newton",
            step=step,
            duration=60 * step,
            initial=vehicle.state_at_node(nodes[lane]),
            controls=controls[lane],
        )
        assert np.abs(many.nodes[lane] - one.nodes[::20]).max() < 1e-8  # measured 2e-10


def test_an_arm_that_comes_to_a_limit_goes_alone_with_those_beside_it() -> None:
    """The spring there is no part of the equations; who stands in another register goes on by these."""
    vehicle, h = sim.vehicle("six-axis-arm"), 0.005
    nodes = np.repeat(vehicle.default_state().node[None], 9, axis=0)
    nodes[:, vehicle.node_layout.velocity] += 0.3 * np.random.default_rng(3).standard_normal((9, 6))
    high = vehicle.tree.arrays.limits[2, 1]
    nodes[5, 2], nodes[5, vehicle.node_layout.velocity.start + 2] = high - 0.01, 3.0
    many = sim.batch(vehicle, "variational", nodes, step=h, duration=40 * h, every=10)
    gone = []
    for lane in range(9):
        one = sim.simulate(
            vehicle, "variational", step=h, duration=40 * h, initial=vehicle.state_at_node(nodes[lane])
        )
        gone.append(one.nodes[:, 2].max() > high)
        assert np.abs(many.nodes[lane] - one.nodes[::10]).max() < (1e-12 if lane < 8 else 1e-7)
    assert gone == [lane == 5 for lane in range(9)]


@pytest.mark.parametrize("name", sim.vehicles())
def test_what_is_told_of_a_lane_is_what_is_told_of_its_run(name: str) -> None:
    """Of every vehicle by its usual method; measured: up to 4e-14 of each quantity, of trees to the bit."""
    many = sim.batch(name, step=0.01, duration=0.05, every=1).observed(0)
    one = sim.simulate(name, step=0.01, duration=0.05)
    np.testing.assert_allclose(many.energy, one.energy, rtol=1e-11, atol=1e-9)
    np.testing.assert_allclose(many.momentum, one.momentum, rtol=1e-11, atol=1e-9)
    assert many.bodies.keys() == one.bodies.keys()
    for body, poses in many.bodies.items():
        np.testing.assert_allclose(poses, one.bodies[body], rtol=1e-11, atol=1e-9)
    assert many.observables.keys() == one.observables.keys()


def test_what_would_fall_through_the_ground_is_refused() -> None:
    world = load_world("canyon", seed=7)
    with pytest.raises(
        InputError, match=r"'helicopter-with-load' meets no ground within its steps.*allowed: world=None"
    ):
        sim.batch("helicopter-with-load", duration=0.1, world=world)


def test_how_lanes_are_spread_over_cores_changes_nothing() -> None:
    vehicle = sim.vehicle("helicopter")
    states, controls = lanes_of(vehicle)
    one, four = (
        sim.batch(vehicle, None, states, controls, step=H, duration=H * STEPS, threads=threads)
        for threads in (1, 4)
    )
    assert np.array_equal(one.nodes, four.nodes)


def test_memory_and_progress_are_told_before_and_while_it_runs() -> None:
    vehicle, told = sim.vehicle("helicopter"), []
    sim.batch(
        vehicle,
        states=lanes_of(vehicle)[0],
        duration=1.0,
        progress=lambda text, share: told.append((text, share)),
    )
    assert told[0] == (f"{LANES} lanes of 100 steps, 0 MB", 0.0)
    shares = [share for _, share in told]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    wanted = sim.batch_bytes(vehicle, 10_000, 1000, every=10)
    assert wanted > 10_000 * 101 * 8 * vehicle.node_layout.size


@pytest.mark.parametrize(
    "given, told",
    [
        ({"states": np.zeros((3, 5))}, r"states are \(3, 5\); allowed"),
        ({"controls": np.zeros((4, 3, 4))}, r"controls are \(4, 3, 4\); allowed"),
        ({"parameters": {"mess": [1.0]}}, "unknown parameter 'mess'; allowed: mass"),
        ({"parameters": {"mass": [1.0, -2.0]}}, "mass is out of range"),
        ({"parameters": {"mass": [1.0, 2.0], "gravity": [1.0, 2.0, 3.0]}}, "allowed: as many lanes for all"),
        ({"parameters": {"mass": [1.0, np.nan]}}, "not finite"),
        ({"parameters": {"mass": [1.0, 2.0]}, "controls": np.zeros((3, 1, 4))}, "lanes differ in number"),
        ({"states": []}, "no lanes"),
        ({"every": 0}, "every = 0 is refused"),
        ({"step": 0.0}, "step = 0.0 is not possible"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(given: dict[str, object], told: str) -> None:
    with pytest.raises(InputError, match=told):
        sim.batch("helicopter", **{"duration": 1.0, **given})  # type: ignore[arg-type]


def test_a_batch_that_is_larger_than_the_memory_is_refused_before_it_begins() -> None:
    vehicle = sim.vehicle("helicopter")
    masses = np.linspace(3.0, 8.0, 100_000)
    with pytest.raises(InputError, match="GB are free; allowed: fewer lanes"):
        sim.batch(vehicle, parameters={"mass": masses}, step=0.001, duration=100.0, every=1)


def test_most_methods_go_side_by_side() -> None:
    """Which do not: those that divide their steps, and arcs whose unknowns hang together in one large block."""
    vehicle = sim.vehicle("helicopter")
    alone = {
        name
        for name, method in sim.integrators().items()
        if not method.serves(vehicle) and lane_code(Structure.of(vehicle), method) is None
    }
    assert {"rkmk54", "galerkin-4", "galerkin-6"} <= alone
    assert "variational-exact" not in alone
    assert len(alone) <= 8, alone
