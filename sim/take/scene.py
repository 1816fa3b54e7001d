"""Where a take belongs."""

from dataclasses import replace

from sim.scene import Scene, load_scene, scene_names
from sim.take.take import Take


def scene_of(take: Take) -> Scene:
    """The scene that a take was recorded in, with the take's own ground; failing that one in the same world."""
    names = (take.scene,) if take.scene in scene_names() else scene_names()
    scenes = [load_scene(name) for name in names]
    fitting = next((scene for scene in scenes if scene.world == take.world), scenes[0])
    return replace(fitting, world=take.world, seed=take.seed)
