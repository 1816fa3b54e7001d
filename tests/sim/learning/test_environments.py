"""Laws of the environments: gymnasium's checks, the simulation's own motion, and equal bits for equal seeds."""

import warnings

import numpy as np
import pytest

import sim
from sim.analysis.learning_tasks import TASKS
from sim.platform.errors import InputError

gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not there")


def made(name: str, **more: object):
    import sim.learning  # enters them

    assert sim.learning.TASKS
    return gymnasium.make(f"holonomy/{name}-v0", **more)


@pytest.mark.parametrize("name", TASKS)
def test_gymnasium_has_nothing_to_say_against_an_environment(name: str) -> None:
    from gymnasium.utils.env_checker import check_env

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(made(name).unwrapped, skip_render_check=True)


@pytest.mark.parametrize("name", TASKS)
def test_a_whole_episode_has_the_same_bits_for_the_same_seed(name: str) -> None:
    def episode() -> list[tuple[bytes, float]]:
        environment, rows = made(name), []
        seen, _ = environment.reset(seed=5)
        rng = np.random.default_rng(1)
        for _ in range(120):
            rows.append((seen.tobytes(), 0.0))
            seen, reward, ended, cut, _ = environment.step(
                rng.uniform(-1.0, 1.0, environment.action_space.shape)
            )
            assert environment.observation_space.contains(seen)
            rows.append((seen.tobytes(), float(reward)))
            if ended or cut:
                seen, _ = environment.reset()  # without a seed: goes on from the same generator
        return rows

    assert episode() == episode()


@pytest.mark.parametrize("name", ["Hover", "Parking", "SwingUp"])
def test_what_an_environment_does_is_what_simulate_does(name: str) -> None:
    environment = made(name).unwrapped
    environment.reset(seed=3)
    task, start = environment.task, environment.node
    rng = np.random.default_rng(2)
    actions = rng.uniform(-0.4, 0.4, (20, *environment.action_space.shape))
    nodes = []
    for action in actions:
        environment.step(action)
        nodes.append(environment.node)
    controls = np.repeat(task.inputs(actions), task.steps_per_action, axis=0)
    run = sim.simulate(
        task.vehicle,
        step=task.step_s,
        duration=task.step_s * len(controls),
        initial=task.vehicle.state_at_node(start),
        controls=controls,
    )
    poses = task.vehicle.node_layout.pose
    expected = run.nodes[task.steps_per_action :: task.steps_per_action]
    # The state at an action's end is told under that action's input: poses do not depend on it. Measured: 2e-13.
    assert np.abs(np.array(nodes)[:, poses] - expected[:, poses]).max() < 1e-9


def test_many_lanes_are_as_many_environments() -> None:
    import sim.learning  # noqa: F401

    many = gymnasium.make_vec("holonomy/Hover-v0", num_envs=11)
    seen, _ = many.reset(seed=4)
    assert seen.shape == (11, 12)
    assert seen in many.observation_space
    one = made("Hover").unwrapped
    one.reset(options={"node": many.unwrapped.nodes[9]})
    rng = np.random.default_rng(8)
    for _ in range(30):
        actions = rng.uniform(-0.3, 0.3, (11, 4)).astype(np.float32)
        seen, rewards, ended, _, _ = many.step(actions)
        alone, reward, _, _, _ = one.step(actions[9])
        assert not ended[9]
        assert np.abs(seen[9] - alone).max() < 1e-5  # float32
        assert rewards[9] == pytest.approx(reward, abs=1e-9)


def test_lanes_that_are_over_start_anew_with_the_next_step() -> None:
    from sim.analysis.learning_environments import VehicleVector

    many = VehicleVector(num_envs=5, max_episode_steps=4)
    many.reset(seed=1)
    still = np.zeros((5, 4))
    for _ in range(3):
        assert not many.step(still)[3].any()
    _, _, _, cut, _ = many.step(still)
    assert cut.all()
    _, rewards, ended, cut, _ = many.step(still)
    assert (rewards == 0.0).all()
    assert not (ended | cut).any()
    assert (np.linalg.norm(many.nodes[:, 9:12], axis=1) < 6.0).all()  # at a start again
    down = many.step(np.tile([-1.0, 0.0, 0.0, 1.0], (5, 1)))
    for _ in range(200):
        down = many.step(np.tile([-1.0, 1.0, 1.0, 1.0], (5, 1)))
    assert np.isfinite(down[0]).all()


def test_a_pilot_that_knows_how_hovers_and_one_that_does_nothing_does_not() -> None:
    def total(pilot) -> float:
        environment, sum_ = made("Hover"), 0.0
        seen, _ = environment.reset(seed=11)
        while True:
            seen, reward, ended, cut, _ = environment.step(pilot(seen))
            sum_ += float(reward)
            if ended or cut:
                return sum_

    def knows(seen: np.ndarray) -> np.ndarray:
        to, up, v, omega = seen[:3], seen[3:6], seen[6:9], seen[9:12]
        wish = np.clip(0.05 * to - 0.12 * v, -0.25, 0.25)  # lean towards the place
        pitch, roll = wish[0] - (-up[0]), wish[1] - (-up[1])
        lift = 0.4 * to[2] - 0.6 * v[2]
        return np.clip(
            [lift, -1.0 * omega[2], 3.0 * pitch - 1.5 * omega[1], -(3.0 * roll + 1.5 * omega[0])], -1, 1
        )

    assert total(knows) > total(lambda seen: np.zeros(4)) + 20.0


def test_a_task_that_is_none_is_refused_in_one_line() -> None:
    from sim.analysis.learning_environments import VehicleEnvironment

    with pytest.raises(InputError, match="unknown task 'Hoover'; allowed: Hover"):
        VehicleEnvironment("Hoover")
    with pytest.raises(InputError, match=r"options\['node'\] has shape \(3,\), wanted \(18,\)"):
        VehicleEnvironment("Hover").reset(options={"node": np.zeros(3)})


@pytest.mark.parametrize("name", TASKS)
def test_actions_that_are_no_numbers_are_refused_and_those_beyond_their_bounds_are_kept_within(
    name: str,
) -> None:
    environment, many = made(name).unwrapped, gymnasium.make_vec(f"holonomy/{name}-v0", num_envs=2)
    controls = environment.action_space.shape[0]
    environment.reset(seed=3)
    many.reset(seed=3)
    node = environment.node
    for one in (np.nan, np.inf, -np.inf):
        with pytest.raises(InputError, match="action"):
            environment.step(np.full(controls, one))
        with pytest.raises(InputError, match="action"):
            many.step(np.full((2, controls), one))
    for shape in ((), (1,), (controls + 1,)):
        with pytest.raises(InputError, match="action"):
            environment.step(np.full(shape, 0.5))
    assert environment.node.tobytes() == node.tobytes()
    rewards = []
    for size in (1.0, 1e300):
        environment.reset(seed=3)
        rewards.append(environment.step(np.full(controls, size))[1])
        many.reset(seed=3)
        rewards += many.step(np.full((2, controls), size))[1].tolist()
    assert np.isfinite(rewards).all()
    assert rewards[:3] == rewards[3:]
