"""Motions into a file whose ending says as what."""

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from export.channels import chosen_channels, write_csv, write_npz
from export.endings import ENDINGS, TABLES
from export.motion import Motion
from export.output import replacing
from export.scenery import CameraTrack, Ground
from sim.errors import InputError, quote


def check_ending(path: Path, what: str = "export") -> None:
    """Raises InputError for a file of a kind that cannot be written."""
    if path.suffix.lower() not in ENDINGS:
        raise InputError(
            f"{what}: {quote(str(path))} is refused; allowed: a file name ending in {', '.join(ENDINGS)}"
        )


def export_motions(
    path: str | Path,
    motions: Sequence[Motion],
    *,
    title: str = "",
    channels: Sequence[str] = (),
    ground: Ground | None = None,
    camera: CameraTrack | None = None,
) -> Path:
    """Write motions as a scene with models (.glb, .usd, .usda, .usdc) or as numbers (.csv, .npz); returns the path.

    channels: of a table, all without. ground, camera: of a scene. The file is there completely or not at all.
    Raises InputError for another ending or an unknown channel, OutputError where it cannot be written.
    """
    path = Path(path)
    check_ending(path)
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


def _write_scene(
    temporary: Path,
    file_name: str,
    motions: Sequence[Motion],
    title: str,
    ground: Ground | None,
    camera: CameraTrack | None,
) -> None:
    from export.nodes import nodes_of

    nodes = nodes_of(motions)
    if file_name.lower().endswith(".glb"):
        from export.gltf.document import to_bytes

        temporary.write_bytes(to_bytes(nodes, title=title, ground=ground, camera=camera))
        return
    from export.usd import write_usd

    # USD tells its forms by the ending, which a temporary name has not, and errors are told by the name.
    with tempfile.TemporaryDirectory(dir=temporary.parent, prefix=".usd-") as folder:
        part = Path(folder) / file_name
        write_usd(part, nodes, title=title, ground=ground, camera=camera)
        os.replace(part, temporary)
