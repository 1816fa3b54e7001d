"""Pictures of flying, driving and skating for the documentation: `python scripts/ride_pictures.py [FOLDER]` (docs/)."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import click
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from export.pictures import write_png
from export.studio import Studio
from sim.commands import PilotInput, SetDemo, SetPilotInput
from sim.scene import load_scene
from sim.simulation import Simulation
from sim.simulation.lanes.snapshot import LaneSnapshot
from sim.world import World, load_world

SIZE, WIDE = (1280, 800), (1280, 720)
TICK_S = 1.0 / 30.0
CRUISE_MPS = 9.0
Pilot = Callable[[LaneSnapshot, World], PilotInput]


def round_the_lap(car: LaneSnapshot, world: World) -> PilotInput:
    """Sticks that aim at a point of the lap ahead, at a steady speed."""
    lap = world.grounds.lap
    place, speed = car.T_wb[:2, 3], float(car.twist_b[3])
    nearest = int(np.linalg.norm(lap - place, axis=1).argmin())
    aim = lap[(nearest + round(2.0 * (3.0 + 0.6 * speed))) % (len(lap) - 1)] - place
    aside = float(-car.T_wb[1, 0] * aim[0] + car.T_wb[0, 0] * aim[1]) / float(aim @ aim)
    return PilotInput(
        pitch=float(np.clip(CRUISE_MPS - speed, -1.0, 1.0)), roll=float(np.clip(-10.0 * aside, -1.0, 1.0))
    )


def gait_drive(_board: LaneSnapshot, _world: World) -> PilotInput:
    """The rider drives, in a wide bend."""
    return PilotInput(actions=frozenset({"gait-drive"}), roll=0.25)


@dataclass(frozen=True)
class Ride:
    """What is shown of a scene."""

    pilot: Pilot | None
    """None: the autopilot."""
    seconds: float
    bearing_deg: float
    """Where the camera looks, from +x."""
    distance: float
    """Of the camera, in units of what suits the vehicle."""
    size_px: tuple[int, int] = SIZE


PICTURES = {
    "canyon": Ride(None, 10.0, -150.0, 0.85, WIDE),
    "drive": Ride(round_the_lap, 13.6, 226.0, 1.3),
    "skate": Ride(gait_drive, 8.0, 150.0, 1.1),
}


@contextmanager
def studio(name: str, world: World) -> Iterator[Studio]:
    """One for the scene, its camera on an orbit."""
    ride = PICTURES[name]
    scene = load_scene(name)
    comparison = replace(scene.comparison, bearing_deg=ride.bearing_deg, distance=ride.distance)
    scene = replace(scene, camera="orbit", comparison=comparison)
    made = Studio(scene, world, size_px=ride.size_px, quality="high")
    try:
        yield made
    finally:
        made.release()


def picture(name: str) -> np.ndarray:
    """(height, width, 3) uint8: the end of the ride."""
    scene = load_scene(name)
    world = load_world(scene.world, seed=scene.seed)
    ride = PICTURES[name]
    simulation = Simulation(scene, world)
    simulation.advance(0.0)
    if ride.pilot is None:
        simulation.submit(SetDemo(True))
    with studio(name, world) as view:
        for _ in range(round(ride.seconds / TICK_S)):
            if ride.pilot is not None:
                simulation.submit(SetPilotInput(ride.pilot(simulation.snapshot.lanes[0], world)))
            simulation.advance(TICK_S)
            view.follow(simulation.snapshot, TICK_S)
        return view.still()


@click.command()
@click.argument(
    "folder", type=click.Path(path_type=Path), default=Path("docs"), help="Where the pictures go."
)
@click.option(
    "--only", type=click.Choice(list(PICTURES)), multiple=True, help="As often as you like; all without."
)
def main(folder: Path, only: tuple[str, ...]) -> None:
    """One picture a scene."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in only or PICTURES:
        write_png(folder / f"{name}.png", picture(name))
        print(f"wrote {folder / name}.png", flush=True)


if __name__ == "__main__":
    main()
