"""Motions into a file whose ending says as what."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from export.ground import GroundMesh
from export.motion import LaneMotion, named_apart
from export.nodes import CameraTrack, Content
from export.output import replacing
from export.request import format_of
from export.tables import chosen_channels
from sim.platform.progress import TellShare, unheard

if TYPE_CHECKING:
    from export.plan import PlanDrawing


def export_motions(
    path: str | Path,
    motions: Sequence[LaneMotion],
    *,
    title: str = "",
    channels: Sequence[str] = (),
    ground: GroundMesh | None = None,
    camera: CameraTrack | None = None,
    plan: "PlanDrawing | None" = None,
    caption: Sequence[str] = (),
    report: TellShare = unheard,
) -> Path:
    """Write motions as one of `export.request.FORMATS`, which the ending says; returns the path.

    Of motions with one name the second is told as "NAME 2", and so on. channels: of a table, all without. ground,
    camera: of what is no table. plan, caption: of a page, beside what was flown. report: called by what takes long,
    with what is being done and the share that is done; what it raises ends it. The file is there completely or not
    at all.
    Raises InputError for another ending, an unknown channel or no motion, OutputError where it cannot be written.
    """
    path = Path(path)
    kind = format_of(path)
    content = Content(
        motions=named_apart(motions),
        title=title or path.stem,
        file_name=path.name,
        channels=channels,
        ground=ground,
        camera=camera,
        plan=plan,
        caption=caption,
        report=report,
    )
    if kind.table:
        chosen_channels(content.motions, channels)
    module, function = kind.writer.split(":")
    write = getattr(import_module(module), function)
    with replacing(path) as temporary:
        write(temporary, content)
    return path
