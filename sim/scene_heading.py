"""What a menu tells of a scene: read from its file without checking, building or compiling anything of it."""

from dataclasses import dataclass
from pathlib import Path

from sim.toml_table import TomlTable

SCENE_FOLDER = Path(__file__).resolve().parent.parent / "scenes"


@dataclass(frozen=True, slots=True)
class Heading:
    """The beginning of a scene's file, and what kind of scene it is."""

    title: str
    text: str
    plans: bool
    """There is a task to be planned, for what is flown itself."""
    races: bool
    compares: bool
    """Methods are shown side by side, under a caption."""


def scene_names() -> tuple[str, ...]:
    """Names of the scenes that come with the project, sorted."""
    return tuple(sorted(path.stem for path in SCENE_FOLDER.glob("*.toml")))


def title_and_text(table: TomlTable, name: str) -> tuple[str, str]:
    """Of a scene's file; the title is its name where it has none."""
    return table.text("title", name), " ".join(table.text("text").split())


def scene_heading(name: str) -> Heading:
    """Of a scene in `scenes/`. Raises InputError where there is none that can be read.

    What else stands in the file is looked at when it is opened.
    """
    table = TomlTable.read(SCENE_FOLDER / f"{name}.toml", f"scenes/{name}.toml")
    title, text = title_and_text(table, name)
    comparison = table.table("comparison")
    return Heading(
        title,
        text,
        plans=table.has("plan") and not table.table("plan").has("vehicle"),
        races=table.has("race"),
        compares=bool(comparison.text("caption").split()),
    )
