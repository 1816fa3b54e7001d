"""What a menu tells of a scene: read from its file without checking, building or compiling anything of it."""

import hashlib
import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import astuple
from pathlib import Path

from sim.platform.cache import keep_checked, read_checked
from sim.platform.errors import InputError
from sim.platform.toml_table import TomlTable
from sim.platform.values import dataclass

SCENE_FOLDER = Path(__file__).resolve().parents[2] / "scenes"
_HERE = Path(__file__).read_bytes()


@dataclass(frozen=True, slots=True)
class SceneHeading:
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


def scene_heading(name: str) -> SceneHeading:
    """Of a scene in `scenes/`. Raises InputError where there is none that can be read.

    What else stands in the file is looked at when it is opened.
    """
    table = TomlTable.read(SCENE_FOLDER / f"{name}.toml", f"scenes/{name}.toml")
    title, text = title_and_text(table, name)
    comparison = table.table("comparison")
    plans = table.has("plan")  # a key is read once
    if plans:
        plan = table.table("plan")
        plans = not plan.flag("optional", False)
    return SceneHeading(
        title,
        text,
        plans=plans,
        races=table.has("race"),
        compares=bool(comparison.text("caption").split()),
    )


def scene_headings(names: Iterable[str]) -> dict[str, SceneHeading]:
    """By name, of those that can be read; kept on disk, for to parse some fifty files takes a tenth of a second."""
    texts = {name: _bytes(name) for name in names}
    digest = hashlib.sha256(_HERE)
    for name, text in texts.items():
        digest.update(f"{name} {len(text)} ".encode() + text)
    kept_as = f"{digest.hexdigest()[:32]}.json"
    kept = read_checked("headings", kept_as)
    if kept is not None:
        return {name: SceneHeading(*told) for name, told in json.loads(kept).items()}
    found = {}
    for name in texts:
        with suppress(InputError):
            found[name] = scene_heading(name)
    told = {name: astuple(heading) for name, heading in found.items()}
    keep_checked("headings", kept_as, json.dumps(told).encode())
    return found


def _bytes(name: str) -> bytes:
    """Of a scene's file; nothing where it cannot be read."""
    try:
        return (SCENE_FOLDER / f"{name}.toml").read_bytes()
    except OSError:
        return b""
