"""Laws of what is loaded beside the frames."""

from session import prepared
from sim.scene import load_scene


def test_the_meshes_of_another_world_come_with_a_scene_and_those_that_are_shown_do_not() -> None:
    scene = load_scene("plain")
    other = prepared(scene, "software", "another world")
    assert other.scenery is not None
    assert len(other.scenery.terrain) > 0
    same = prepared(scene, "software", other.world.key)
    assert same.scenery is None
    assert same.world.key == other.world.key
    for loaded in (other, same):
        assert loaded.simulation.snapshot.scene == "plain"
        loaded.planning.close()
