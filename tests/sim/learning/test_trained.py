"""Laws of the trained policy: it stands a pendulum up from starts not seen before, and training makes it better."""

import importlib.util
import sys
from pathlib import Path

import gymnasium
import numpy as np

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples" / "learning"
_spec = importlib.util.spec_from_file_location("train_example", EXAMPLE / "train.py")
assert _spec is not None
assert _spec.loader is not None
train = importlib.util.module_from_spec(_spec)
sys.modules["train_example"] = train
_spec.loader.exec_module(train)


def test_the_kept_policy_swings_the_pendulum_up_and_holds_it() -> None:
    weights = np.load(EXAMPLE / "swingup-policy.npz")["weights"]
    lanes = gymnasium.make_vec("holonomy/SwingUp-v0", num_envs=128)
    _, last = train.returns(lanes, train.Policies(6, 2), weights[None], seed=77)
    stands = (last[0, :, 2] > 0.98) & (np.linalg.norm(last[0, :, 3:], axis=1) < 0.3)
    assert stands.mean() > 0.95  # measured: 0.99
    idle = train.returns(lanes, train.Policies(6, 2), np.zeros((1, len(weights))), seed=77)[1]
    assert (idle[0, :, 2] < -0.9).all()  # without it, all hang


def test_training_raises_the_return_and_writes_its_curve(tmp_path: Path) -> None:
    weights = train.train("SwingUp", 12, 3, tmp_path)
    train.picture("SwingUp", tmp_path)
    rows = np.genfromtxt(tmp_path / "swingup-curve.csv", delimiter=",", names=True)
    assert list(rows["generation"]) == list(range(1, 13))
    # Measured: from -190 to -70.
    assert rows["mean_return"][-3:].mean() > rows["mean_return"][:3].mean() + 30.0
    assert np.array_equal(np.load(tmp_path / "swingup-policy.npz")["weights"], weights)
    assert (tmp_path / "swingup-curve.png").stat().st_size > 5000
