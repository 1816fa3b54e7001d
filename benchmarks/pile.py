"""What a second of a pile of 100 boxes costs by steps of 5 ms, and beside it MuJoCo's where that is installed.

`python -m benchmarks.pile [--seconds S]`: CPU seconds for each simulated one, while they fall and once they lie.
"""

import time

import click
import numpy as np

from sim.contact.bodies import Pile, Prop
from sim.shapes import Box
from sim.world.terrain import Terrain

STEP_S, SWEEPS, TOLERANCE_MPS = 0.005, 60, 1e-6


def boxes(count: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """(count, 3) places and half sizes [m] of a loose column."""
    rng = np.random.default_rng(seed)
    layer, place = np.divmod(np.arange(count), 9)
    places = np.stack([0.5 * (place % 3), 0.5 * (place // 3), 0.4 + 0.5 * layer], axis=1)
    return places + rng.uniform(-0.05, 0.05, (count, 3)), rng.uniform(0.1, 0.2, (count, 3))


def ours(count: int, seconds: int) -> list[float]:
    flat = Terrain(np.zeros((64, 64), np.float32), (-32.0, -32.0), 1.0)
    props = [
        Prop(Box(tuple(x.tolist()), tuple(half.tolist())), 1.0, 0.6)  # type: ignore[arg-type]
        for x, half in zip(*boxes(count), strict=True)
    ]
    pile = Pile(props, flat, sweeps=SWEEPS, tolerance_mps=TOLERANCE_MPS, sleeps=False)
    pile.step(STEP_S)
    return [_timed(lambda: pile.step(STEP_S)) for _ in range(seconds)]


def apart(count: int, *, asleep: bool) -> float:
    """CPU microseconds a step of one box that slides among so many that lie apart on the ground."""
    edge = int(np.ceil(np.sqrt(count))) + 1
    flat = Terrain(np.zeros((256, 256), np.float32), (-128.0, -128.0), 1.0)
    places = [(2.0 * (k // edge) - edge, 2.0 * (k % edge) - edge, 0.2) for k in range(count)]
    props = [Prop(Box(place, (0.2, 0.2, 0.2))) for place in places]
    slides = Prop(Box((1.0, 1.0, 0.2), (0.2, 0.2, 0.2)), friction=0.0, velocity_w=(0.1, 0.0, 0.0))
    pile = Pile([*props, slides], flat, sleeps=asleep)
    for _ in range(150 if asleep else 5):
        pile.step(STEP_S)
    return 1e6 * min(_timed(lambda: pile.step(STEP_S)) for _ in range(3)) * STEP_S


def mujocos(count: int, seconds: int) -> list[float]:
    import mujoco

    rows = "".join(
        f'<body pos="{" ".join(map(str, x))}"><freejoint/>'
        f'<geom type="box" size="{" ".join(map(str, half))}" mass="1" friction="0.6"/></body>'
        for x, half in zip(*boxes(count), strict=True)
    )
    text = (
        f'<mujoco><option timestep="{STEP_S}" cone="elliptic"/><worldbody>'
        f'<geom type="plane" size="32 32 1"/>{rows}</worldbody></mujoco>'
    )
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    return [_timed(lambda: mujoco.mj_step(model, data)) for _ in range(seconds)]


def _timed(step) -> float:  # type: ignore[no-untyped-def]
    begin = time.process_time()
    for _ in range(round(1.0 / STEP_S)):
        step()
    return time.process_time() - begin


@click.command()
@click.option("--count", default=100, show_default=True)
@click.option("--seconds", default=4, show_default=True)
def main(count: int, seconds: int) -> None:
    """Print CPU seconds for each simulated second."""
    print(f"{count} boxes, steps of {STEP_S} s; CPU seconds for the seconds 1 to {seconds}")
    print("ours  ", " ".join(f"{t:.2f}" for t in ours(count, seconds)))
    try:
        print("MuJoCo", " ".join(f"{t:.2f}" for t in mujocos(count, seconds)))
    except ImportError:
        print("MuJoCo is not installed")
    for asleep in (True, False):
        costs = ", ".join(f"{apart(n, asleep=asleep):.0f} among {n}" for n in (10, 100, 1000, 4000))
        print(
            f"us a step of a box that slides among others that {'sleep' if asleep else 'are awake'}: {costs}"
        )


if __name__ == "__main__":
    main()
