"""What is asked before a scene runs a program from a folder that is not trusted yet. Pure."""

from dataclasses import dataclass
from pathlib import Path

from sim.platform.errors import shortened
from sim.platform.user_files import read_text, refusals

SHOWN_LINES = 200
_LINE = 160


@dataclass(frozen=True, slots=True)
class TrustQuestion:
    """May this file be run?"""

    scene: str
    """Name or path of the scene that names it."""
    file: Path
    """Links followed."""
    lines: tuple[str, ...]
    """What would be run: each line printable, only the first SHOWN_LINES."""
    line_count: int


def question_of(scene: str, file: Path) -> TrustQuestion:
    """As it is now. Raises InputError for a file that cannot be read."""
    with refusals(file, "no vehicle's file"):
        lines = read_text(file).splitlines()
    shown = tuple(shortened(line.expandtabs(4), _LINE) for line in lines[:SHOWN_LINES])
    return TrustQuestion(shortened(scene, _LINE), file, shown, len(lines))
