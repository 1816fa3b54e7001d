"""Motions into a file whose ending says as what."""

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from export.motion import LaneMotion, named_apart
from export.nodes import CameraTrack, GroundMesh
from export.output import replacing
from export.request import ENDINGS, PAGE, TABLES
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
    """Write motions as a scene with models (.glb, .usd, .usda, .usdc), as numbers (.csv, .npz) or as a page that any
    browser opens (.html); returns the path.

    Of motions with one name the second is told as "NAME 2", and so on. channels: of a table, all without. ground,
    camera: of a scene or page. The file is there completely or not at all.
    Raises InputError for another ending, an unknown channel or no motion, OutputError where it cannot be written.
    """
    path = Path(path)
    check_ending(path)
    motions = named_apart(motions)
    ending, name = path.suffix.lower(), title or path.stem
    if ending in TABLES:
        chosen_channels(motions, channels)
    with replacing(path) as temporary:
        if ending == ".csv":
            write_csv(temporary, motions, channels)
        elif ending == ".npz":
            write_npz(temporary, motions, channels)
        elif ending == PAGE:
            from export.page import write_page

            write_page(temporary, motions, title=name, ground=ground, camera=camera)
        else:
            _write_scene(temporary, path.name, motions, name, ground, camera)
    return path


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
