"""Piles at random, throws against a thin wall, elastic bounces, scenes: what goes wrong in how many steps.

`python -m benchmarks.rough_piles [--piles N] [--steps N] [--throws N] [--bounces N] [--scenes]`: of piles of all
shapes, whether anything is not finite, by how much energy at the nodes rises in a step beyond the work of pushing
overlaps apart, as a part of all of it, the deepest overlap, and how many steps are not solved to 5 cm/s; of throws
at up to 300 m/s against a wall of 1 cm, how many pass; of elastic bounces, what becomes of energy. Or of scenes
alone, how deep bodies lie in each other.
"""

import click
import numpy as np

from sim.commands import PilotInput, SetPilotInput
from sim.contact.bodies import Pile, Prop
from sim.contact.bouncing import Bouncing, room
from sim.contact.obstacles import PropsPicture
from sim.contact.obstacles.guests import guest_of
from sim.contact.obstacles.props import Props
from sim.scene import load_scene
from sim.shapes import Box, Capsule, Cone, ConvexMesh, Drum, Ellipsoid, Shape, Sphere
from sim.simulation import Simulation
from sim.world import load_world
from sim.world.terrain import Terrain

STEP_S = 0.005
UNSOLVED_MPS = 0.05
_HERE = (0.0, 0.0, 0.0)
_SCENES = {"stairs": 4.0, "bowling": 4.0, "dominoes": 8.0, "push": 10.0, "jenga": 3.0}
"""Seconds in which everything happens."""


def shape_at_random(rng: np.random.Generator) -> Shape:
    """One of all kinds, 5 to 40 cm."""
    a, b, c = rng.uniform(0.05, 0.4, 3).tolist()
    points = tuple((float(x), float(y), float(z)) for x, y, z in rng.normal(size=(6, 3)) * (a, b, c))
    kinds: tuple[Shape, ...] = (
        Sphere(_HERE, a),
        Box(_HERE, (a, b, c), float(rng.uniform(-3.0, 3.0))),
        Capsule((0.0, 0.0, -a), (0.0, b, a), c),
        Drum(_HERE, a, b),
        Cone(_HERE, a, 2.0 * b),
        Ellipsoid(_HERE, (a, b, c)),
        ConvexMesh(points),
    )
    return kinds[int(rng.integers(len(kinds)))]


def pile_at_random(seed: int) -> Pile:
    """2 to 30 bodies over hills, some of which overlap at first."""
    rng = np.random.default_rng(seed)
    hills = np.pad(rng.uniform(0.0, 0.5, (40, 40)).astype(np.float32), 180, mode="wrap")
    props = []
    for _ in range(int(rng.integers(2, 31))):
        x, y, z = rng.uniform((-1.5, -1.5, 1.0), (1.5, 1.5, 4.0)).tolist()
        pitch, roll = rng.uniform(-3.0, 3.0, 2).tolist()
        (u, v, w), (p, q, r) = rng.normal(size=3).tolist(), (4.0 * rng.normal(size=3)).tolist()
        props.append(
            Prop(
                shape_at_random(rng).moved((x, y, z)),
                float(10.0 ** rng.uniform(-1.0, 2.0)),
                float(rng.uniform(0.0, 1.2)),
                float(rng.uniform(0.0, 1.0)),
                float(rng.choice([0.0, 0.01])),
                float(rng.choice([0.0, 0.01])),
                pitch,
                roll,
                (u, v, w),
                (p, q, r),
            )
        )
    return Pile(props, Terrain(hills, (-100.0, -100.0), 0.5), sweeps=60, tolerance_mps=1e-6)


def roughest(piles: int, steps: int) -> tuple[float, float, int, list[float]]:
    """(greatest rise of the energy at the nodes in a step beyond what is told, as a part of all of it; deepest overlap
    that has not been there at first [m]; steps that were not finite; what was left over [m/s] in those that were not
    solved to `UNSOLVED_MPS`)."""
    rise, deepest, odd, left = 0.0, 0.0, 0, []
    for seed in range(piles):
        pile = pile_at_random(seed)
        before = pile.energy_J(STEP_S)
        most = abs(before) + 1.0
        for k in range(steps // piles):
            pile.step(STEP_S)
            if not np.isfinite(pile.state).all():
                odd += 1
                break
            if pile.residual_mps > UNSOLVED_MPS:
                left.append(pile.residual_mps)
            energy = pile.energy_J(STEP_S)
            rise = max(rise, (energy - before - pile.parted_J) / most)
            before = energy
            if k > 400:
                deepest = max(deepest, pile.overlap_m)
    return rise, deepest, odd, left


def passing(throws: int, seed: int = 0) -> int:
    """How many bodies that are thrown at a wall end up behind it."""
    rng, passed = np.random.default_rng(seed), 0
    wall = Prop(Box((2.0, 0.0, 0.0), (0.005, 20.0, 20.0)), 0.0)
    for _ in range(throws):
        (p, q, r), roll = (30.0 * rng.normal(size=3)).tolist(), float(rng.uniform(-3.0, 3.0))
        speed, aside = float(rng.uniform(1.0, 300.0)), float(rng.normal())
        thrown = Prop(
            shape_at_random(rng),
            1.0,
            0.5,
            float(rng.uniform(0.0, 1.0)),
            roll_rad=roll,
            velocity_w=(speed, 0.2 * speed * aside, 0.0),
            omega_w=(p, q, r),
        )
        pile = Pile([wall, thrown], gravity_mps2=0.0, sleeps=False)
        for _ in range(max(int(3.0 / (speed * STEP_S)), 2)):
            pile.step(STEP_S)
        passed += bool(pile.state[1, 9] > 2.0 or not np.isfinite(pile.state).all())
    return passed


def drift(bounces: int) -> tuple[float, float]:
    """By how much of its energy a box that tumbles in a room misses it after half of its bounces, and after all."""
    body = Bouncing(
        Box(_HERE, (0.3, 0.2, 0.1)),
        room((1.0, 0.8, 0.9)),
        velocity_w=(1.0, 2.0, -1.5),
        omega_w=(3.0, -2.0, 1.0),
        gravity_w=(0.0, 0.0, -9.81),
    )
    begin, missed = body.energy_J, []
    for part in (0.5, 1.0):
        while body.impacts < part * bounces:
            body.step(0.01, 1000)
        missed.append(abs(body.energy_J - begin) / begin)
    return missed[0], missed[1]


def props_of(running: Simulation) -> Props:
    """Of the flown vehicle's scene."""
    coupling = running.run.flown.coupling
    assert coupling is not None
    assert isinstance(coupling.environment, Props)
    return coupling.environment


def gaps_m(running: Simulation) -> np.ndarray:
    """(n, n) between bodies that meet, where the latest snapshot has them, as `Props.gaps_m` says."""
    lane, T_held = running.snapshot.lanes[0], np.eye(4)
    T_held[:3, 3] = 0.0 if lane.pivot_w is None else lane.pivot_w
    return props_of(running).gaps_m(np.array([*(lane.bodies.values() or [lane.T_wb]), T_held]))


def deepest_m(name: str, seconds: float) -> tuple[float, float]:
    """Deepest overlap in a scene that is flown at full pedal, looked at every 10 ms: of the vehicle's bodies where they
    really are; and of all where contact looked last, from which a tree goes on a little otherwise."""
    scene, deepest, looked = load_scene(name), 0.0, 0.0
    of_vehicle = len(guest_of(scene.vehicle).props)
    running = Simulation(scene, load_world(scene.world, seed=scene.seed))
    running.submit(SetPilotInput(PilotInput(throttle=1.0)))
    for _ in range(round(100 * seconds)):
        seen = running.advance(0.01).environment
        assert isinstance(seen, PropsPicture)
        deepest, looked = max(deepest, -gaps_m(running)[-of_vehicle:].min()), max(looked, seen.overlap_m)
    return deepest, looked


@click.command()
@click.option("--piles", default=40, show_default=True)
@click.option("--steps", default=100_000, show_default=True, help="Of all piles together.")
@click.option("--throws", default=10_000, show_default=True)
@click.option("--bounces", default=100_000, show_default=True)
@click.option("--scenes", is_flag=True, help="These alone.")
def main(piles: int, steps: int, throws: int, bounces: int, scenes: bool) -> None:
    """Print what went wrong."""
    if scenes:
        for name, seconds in _SCENES.items():
            deepest, looked = (1e3 * found for found in deepest_m(name, seconds))
            print(
                f"{name}: deepest overlap of the vehicle {deepest:.2f} mm, of all as contact sees it {looked:.2f} mm"
            )
        return
    rise, deepest, odd, left = roughest(piles, steps)
    print(
        f"{steps} steps of {piles} piles: {odd} not finite, energy rises by {rise:.2e} of all of it in a step"
    )
    print(f"after two seconds the deepest overlap is {1e3 * deepest:.2f} mm")
    print(
        f"{len(left)} steps leave more than {UNSOLVED_MPS} m/s over, {max(left, default=0.0):.2f} m/s at most"
    )
    print(f"{passing(throws)} of {throws} throws pass the wall")
    half, whole = drift(bounces)
    print(f"{bounces} elastic bounces: energy is missed by {half:.1e} of it half way, {whole:.1e} at the end")


if __name__ == "__main__":
    main()
