"""Motions into a file whose ending says as what."""

import os
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from export.motion import LaneMotion
from export.nodes import CameraTrack, GroundMesh
from export.output import replacing
from export.request import ENDINGS, TABLES
from export.tables import chosen_channels, write_csv, write_npz
from sim.platform.errors import InputError, quote


def check_ending(path: Path, what: str = "export") -> None:
    """Raises InputError for a file of a kind that cannot be written."""
    if path.suffix.lower() not in ENDINGS:
        raise InputError(
            f"{what}: {quote(str(path))} is refused; allowed: a file name ending in {', '.join(ENDINGS)}"
        )


def export_motions(
    path: str | Path,
    motions: Sequence[LaneMotion],
    *,
    title: str = "",
    channels: Sequence[str] = (),
    ground: GroundMesh | None = None,
    camera: CameraTrack | None = None,
) -> Path:
    """Write motions as a scene with models (.glb, .usd, .usda, .usdc) or as numbers (.csv, .npz); returns the path.

    Of motions with one name the second is told as "NAME 2", and so on. channels: of a table, all without. ground,
    camera: of a scene. The file is there completely or not at all.
    Raises InputError for another ending, an unknown channel or no motion, OutputError where it cannot be written.
    """
    path = Path(path)
    check_ending(path)
    motions = _named_apart(motions)
    ending, name = path.suffix.lower(), title or path.stem
    if ending in TABLES:
        chosen_channels(motions, channels)
    with replacing(path) as temporary:
        if ending == ".csv":
            write_csv(temporary, motions, channels)
        elif ending == ".npz":
            write_npz(temporary, motions, channels)
        else:
            _write_scene(temporary, path.name, motions, name, ground, camera)
    return path


def _named_apart(motions: Sequence[LaneMotion]) -> list[LaneMotion]:
    """Raises InputError for what is no list of motions."""
    if not isinstance(motions, list | tuple) or not all(isinstance(motion, LaneMotion) for motion in motions):
        raise InputError(f"motions = {quote(motions)} are refused; allowed: a list of motions")
    if not motions:
        raise InputError("nothing to export; allowed: one motion or more")
    taken: set[str] = set()
    found = []
    for motion in motions:
        name, count = motion.name, 1
        while name in taken:
            count += 1
            name = f"{motion.name} {count}"
        taken.add(name)
        found.append(motion if name == motion.name else replace(motion, name=name))
    return found


def _write_scene(
    temporary: Path,
    file_name: str,
    motions: Sequence[LaneMotion],
    title: str,
    ground: GroundMesh | None,
    camera: CameraTrack | None,
) -> None:
    from export.nodes import nodes_of

    nodes = nodes_of(motions)
    if file_name.lower().endswith(".glb"):
        from export.gltf import to_bytes

        temporary.write_bytes(to_bytes(nodes, title=title, ground=ground, camera=camera))
        return
    from export.usd import write_usd

    # USD tells its forms by the ending, which a temporary name has not, and errors are told by the name.
    with tempfile.TemporaryDirectory(dir=temporary.parent, prefix=".usd-") as folder:
        part = Path(folder) / file_name
        write_usd(part, nodes, title=title, ground=ground, camera=camera)
        os.replace(part, temporary)
