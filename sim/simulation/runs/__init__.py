"""Lanes of a scene on one clock: who flies, goals that are judged, ghosts, references, rewinding.

`scene_run.SceneRun` is the door.
"""
