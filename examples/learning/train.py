"""A policy that is learned by evolution: candidates fly side by side in one vector environment.

    python examples/learning/train.py [--task SwingUp] [--generations 300] [--seed 1] [--out FOLDER]

CMA-ES (the `cma` package of its authors) adapts mean and covariance of a search distribution over the weights of a
small network; it needs neither gradients nor a deep-learning framework, and thousands of episodes cost seconds on the
batch kernels. Writes the learning curve (CSV and picture) and the policy beside this file, or into --out. Needs
gymnasium, cma and matplotlib: pip install "holonomy[learn]".
"""

import argparse
import csv
from pathlib import Path

import cma
import gymnasium
import matplotlib
import numpy as np

from sim.learning import TASKS

HIDDEN = 12
EPISODES = 8
"""Starts on which a candidate is judged."""
HERE = Path(__file__).parent


class Policies:
    """Networks observation -> tanh -> tanh -> action, one a row of weights."""

    def __init__(self, seen: int, actions: int) -> None:
        self._shapes = [(seen, HIDDEN), (HIDDEN,), (HIDDEN, actions), (actions,)]
        self.size = sum(int(np.prod(shape)) for shape in self._shapes)

    def act(self, weights: np.ndarray, seen: np.ndarray) -> np.ndarray:
        """(k, lanes, actions) of k networks (k, size), each with its own lanes (k, lanes, seen)."""
        parts, at = [], 0
        for shape in self._shapes:
            end = at + int(np.prod(shape))
            parts.append(weights[:, at:end].reshape(len(weights), *shape))
            at = end
        W1, b1, W2, b2 = parts
        hidden = np.tanh(seen @ W1 + b1[:, None])
        return np.tanh(hidden @ W2 + b2[:, None])


def returns(
    lanes: gymnasium.vector.VectorEnv, policies: Policies, weights: np.ndarray, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """(k, lanes) sums of rewards over an episode each, and (k, lanes, seen) what is seen at the end."""
    count = len(weights)
    seen, _ = lanes.reset(seed=seed)
    total, going = np.zeros(lanes.num_envs), np.ones(lanes.num_envs, bool)
    last = seen
    while going.any():
        actions = policies.act(weights, seen.reshape(count, -1, seen.shape[1]))
        seen, reward, ended, cut, _ = lanes.step(actions.reshape(lanes.num_envs, -1))
        total += np.where(going, reward, 0.0)
        last = np.where(going[:, None], seen, last)
        going &= ~(ended | cut)
    return total.reshape(count, -1), last.reshape(count, -1, seen.shape[1])


def train(task: str, generations: int, seed: int, out: Path) -> np.ndarray:
    """Weights of the mean of the search at its end; the curve is written as it goes."""
    kind = TASKS[task]()
    policies = Policies(len(kind.seen), len(kind.vehicle.controls))
    search = cma.CMAEvolutionStrategy(
        np.zeros(policies.size), 0.5, {"popsize": 32, "seed": seed, "verbose": -9}
    )
    lanes = gymnasium.make_vec(f"holonomy/{task}-v0", num_envs=search.popsize * EPISODES)
    with (out / f"{task.lower()}-curve.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["generation", "steps", "mean_return", "best_return", "sigma"])
        for generation in range(1, generations + 1):
            weights = np.array(search.ask())
            totals, _ = returns(lanes, policies, weights, seed=1000 * seed + generation)
            scores = totals.mean(axis=1)
            search.tell(list(weights), list(-scores))
            steps = generation * lanes.num_envs * kind.episode_steps * kind.steps_per_action
            row = [generation, steps, f"{scores.mean():.4g}", f"{scores.max():.4g}", f"{search.sigma:.4g}"]
            table.writerow(row)
            file.flush()
            if generation % 10 == 0:
                print(
                    f"generation {generation}: mean {scores.mean():.1f}, best {scores.max():.1f}", flush=True
                )
    lanes.close()
    mean = np.array(search.result.xfavorite)
    np.savez(out / f"{task.lower()}-policy.npz", weights=mean, task=task)
    return mean


def picture(task: str, out: Path, path: Path | None = None) -> None:
    """The learning curve, of the table that training has written into `out`; beside it, or into `path`."""
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    rows = np.genfromtxt(out / f"{task.lower()}-curve.csv", delimiter=",", names=True)
    figure, axes = plt.subplots(figsize=(7.0, 3.2), layout="constrained")
    axes.plot(rows["steps"] / 1e6, rows["best_return"], lw=1.2, label="best candidate")
    axes.plot(rows["steps"] / 1e6, rows["mean_return"], lw=1.2, label="mean of a generation")
    axes.set_xlabel("steps of the integrator [million]")
    axes.set_ylabel("return of an episode")
    axes.set_title(f"{task} by CMA-ES")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(path or out / f"{task.lower()}-curve.png", dpi=110)
    plt.close(figure)


def main() -> None:
    """Train, then try the policy on starts that it has not seen."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--task", default="SwingUp", choices=TASKS)
    parser.add_argument("--generations", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=HERE)
    parser.add_argument(
        "--picture", type=Path, help="only draw the curve of what has been trained, into this"
    )
    chosen = parser.parse_args()
    if chosen.picture:
        picture(chosen.task, chosen.out, chosen.picture)
        return
    chosen.out.mkdir(parents=True, exist_ok=True)
    weights = train(chosen.task, chosen.generations, chosen.seed, chosen.out)
    picture(chosen.task, chosen.out)
    kind = TASKS[chosen.task]()
    policies = Policies(len(kind.seen), len(kind.vehicle.controls))
    lanes = gymnasium.make_vec(f"holonomy/{chosen.task}-v0", num_envs=512)
    totals, last = returns(lanes, policies, weights[None], seed=10**6)
    print(f"512 starts not seen before: mean return {totals.mean():.1f}, worst {totals.min():.1f}")
    print(
        "at the end: "
        + ", ".join(f"{n} {v:.2f}" for n, v in zip(kind.seen, last.mean(axis=(0, 1)), strict=True))
    )


if __name__ == "__main__":
    main()
