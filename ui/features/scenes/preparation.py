"""What a window needs before it shows a scene: world, kernels, meshes, and what runs and plans in them."""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

import render.land
import sim.world
from render.land.scenery import Scenery, grow, load_scenery
from render.quality import preset
from sim.commands import Command
from sim.models.asset import check_model
from sim.platform.cache import source_digest
from sim.platform.processes import CacheWorkers
from sim.platform.progress import Board
from sim.platform.values import dataclass
from sim.scene import Scene
from sim.simulation import KernelStore, Simulation, starting_methods
from sim.vehicles import Vehicle
from sim.world import World, load_world
from ui.features.plan.planning import Planning
from ui.settings.catalogue import load_catalogue

_LAND_DIGEST = source_digest(*sim.world.__path__, *render.land.__path__)
"""Of all that worlds and their meshes are made by."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A scene that is ready to be changed over to."""

    scene: Scene
    world: World
    simulation: Simulation
    planning: Planning
    quality: str
    scenery: Scenery | None
    """In that quality; None for the world that is shown already."""


def prepared(
    scene: Scene, quality: str, shown: str, commands: Iterable[Command], workers: CacheWorkers, board: Board
) -> Loaded:
    """World and kernels side by side, then what needs them.

    shown: key of the world that is shown. commands: carried out before anything else. The simulation takes
    `workers` over. Raises InputError where the scene cannot work, GivenUp where `workers` is closed.
    """
    check_model(scene.config)
    store = KernelStore(workers)
    vehicle, methods = starting_methods(scene)
    with ThreadPoolExecutor(1 + len(methods), thread_name_prefix="preparing") as pool:
        land = pool.submit(_land, scene, quality, shown, workers, board)
        kernels = [pool.submit(_kernel, store, vehicle, method, board) for method in methods]
    for kernel in kernels:
        kernel.result()
    world, scenery = land.result()
    with board.shown("Setting it all up"):
        load_catalogue()  # the panels will want it, and it takes longer than a frame
        simulation = Simulation(scene, world, kernels=store)
        for command in commands:
            simulation.submit(command)
        simulation.advance(0.0)
        return Loaded(scene, world, simulation, Planning(scene, world), quality, scenery)


_MADE = {
    "canyon": "Growing the canyon",
    "driving": "Laying out the driving ground",
    "orbit": "Setting off into orbit",
    "sea": "Letting the sea in",
}
"""How the making of a world is told of."""


def _land(
    scene: Scene, quality: str, shown: str, workers: CacheWorkers, board: Board
) -> tuple[World, Scenery | None]:
    with board.shown(_MADE.get(scene.world, f"Laying out the {scene.world}")) as tell:
        name = f"{scene.world}-{scene.seed}-{quality}-{_LAND_DIGEST}"
        workers.ensure(name, grow, scene.world, scene.seed, quality, progress=tell)
        world = load_world(scene.world, seed=scene.seed)
        return world, None if world.key == shown else load_scenery(world, preset(quality))


def _kernel(store: KernelStore, vehicle: Vehicle, method: str, board: Board) -> None:
    with board.shown(f"Compiling the {vehicle.name} ({method})") as tell:
        store.get(vehicle, method, tell=tell)
