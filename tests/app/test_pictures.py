"""Every picture of the documents is shown, and beside it stands the command that makes it anew."""

import importlib
import re

import pytest

from sim.scene import scene_names
from studies.__main__ import STUDIES
from tests.app.program import ROOT
from ui.features.scenes.gallery import path_of

DOCUMENTS = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
PICTURES = sorted(path.stem for path in (ROOT / "docs").rglob("*.png"))
SCRIPT = re.compile(r"`python (scripts/\w+)\.py\b[^`]*`")


def chapters(text: str) -> list[str]:
    """What stands under one heading each; a comment in code is no heading."""
    return re.split(
        r"(?m)^#+ (?=.*$)", re.sub(r"(?m)^    .*$|```.*?```", _without_marks, text, flags=re.DOTALL)
    )


def _without_marks(code: re.Match[str]) -> str:
    return code[0].replace("#", " ")


def made(name: str, chapter: str) -> bool:
    """Whether a command in it makes the picture."""
    if re.search(rf"`(?:\./run|python)\b[^`]*\bdocs/{name}\.png`", chapter):
        return True
    if name in STUDIES and re.search(rf"\bpython -m studies {name}(?![\w-])", chapter):
        return True
    return any(name in scripted(script) for script in SCRIPT.findall(chapter))


def scripted(script: str) -> tuple[str, ...]:
    """The pictures that a script makes by name."""
    return tuple(getattr(importlib.import_module(script.replace("/", ".")), "PICTURES", ()))


@pytest.mark.parametrize("name", PICTURES)
def test_every_picture_is_shown_beside_the_command_that_makes_it(name: str) -> None:
    shown = [
        chapter
        for document in DOCUMENTS
        for chapter in chapters(document.read_text(encoding="utf-8"))
        if re.search(rf"!\[[^]]*\]\((?:[\w./]*/)?{name}\.png\)", chapter)
    ]
    assert shown, f"docs/{name}.png is shown nowhere"
    assert any(made(name, chapter) for chapter in shown), f"no command beside docs/{name}.png"


def test_what_is_shown_is_there() -> None:
    for document in DOCUMENTS:
        for place in re.findall(r"!\[[^]]*\]\((?!https?:)([^)]*)\)", document.read_text(encoding="utf-8")):
            assert (document.parent / place).is_file(), (document.name, place)


def test_the_search_knows_a_command_from_a_name() -> None:
    assert made("rope", "*`./run rope --headless --screenshot docs/rope.png`*")
    assert made("fig4", "    python -m studies fig4   # all")
    assert made("skate", "`python scripts/ride_pictures.py --only skate`")
    for none in ("rope.png", "`./run rope`", "`python scripts/ride_pictures.py`", "studies fig4"):
        assert not made("rope", none)
    assert chapters("# a\nx\n```\n# code\n```\n## b\ny") == ["", "a\nx\n```\n  code\n```\n", "b\ny"]


def test_every_scene_has_its_small_picture() -> None:
    assert not [name for name in scene_names() if not path_of(name).is_file()]
