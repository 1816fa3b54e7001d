"""Whether the documents hold: `python scripts/check_docs.py` prints links that lead nowhere, pictures without a
command, and commands that are not there, a line each, and ends with 1 where there is any.

A picture has to be shown, and beside it, under the same heading, has to stand the command that makes it anew. Programs,
tests and scenes that are named have to be there with their words and options. Pages about doors to other programs are
at most two screens high, as far as that can be told without a browser.
"""

import importlib
import math
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the scripts, and the entry, whose options are looked up

PROGRAM = re.compile(
    r"python (?:-m )?(studies(?:\.\w+)*|(?:benchmarks|sim|examples|scripts|assets)[./][\w./]+)((?: [\w./-]+)*)"
)
TESTS = re.compile(r"(?:pytest |`)(tests/[\w/]+\.py)(?: -k (\w+))?`")
RUN = re.compile(r"(?m)(?:`|^    )(?:\./run|python app\.py)\b ?([^`\n]*)")
SCRIPT = re.compile(r"`python (scripts/\w+)\.py\b[^`]*`")
PICTURE = re.compile(r"!\[[^]]*\]\((?!https?:)([^)]*)\)")
CODE = re.compile(r"(?ms)^    [^\n]*$|```.*?```")
CODE_BLOCK = re.compile(r"(?ms)^```.*?^```|(?:^    [^\n]*\n)+")
LINK = re.compile(r"!?\[([^]]*)\]\([^)]*\)")

SHORT_PAGES = (
    "ardupilot", "controllers", "fmu", "formats", "linearise", "live", "measured", "notebooks", "pages", "share",
    "tutorials/autopilot", "tutorials/autopilot-sensors", "tutorials/autopilot-window",
)  # fmt: skip
"""One look tells what each is for, and one turn of the page all of it."""
MOST_SCREENS = 1.85
"""Of 1920 x 1080 pixels, as they are told here: so a browser that finds a tenth more still shows the page on two."""
ABOUT_PX, TITLE_PX, HEADING_PX, PICTURE_PX = 160, 46, 82, 484
"""Heights in the site: above and below a page, its title, a heading, a picture."""
ROW_PX, CODE_ROW_PX, CELL_ROW_PX = 28.1, 20.9, 22
"""Rows of text, of code, in a table."""
GAP_PX, BOX_PX, CELL_GAP_PX = 18, 22, 28
"""Between blocks; about code; about the cells of a row."""
ROW, TABLE_ROW, CELL = 78, 98, 4
"""Characters of a row of text, of a table, and what a cell's margins take of it."""


def texts(root: Path) -> dict[Path, str]:
    """All documents."""
    files = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
    return {file: file.read_text(encoding="utf-8") for file in files if file.is_file()}


def chapters(text: str) -> list[str]:
    """What stands under one heading each; a comment in code is no heading."""
    return re.split(r"(?m)^#+ (?=.*$)", CODE.sub(lambda code: code[0].replace("#", " "), text))


def headings(text: str) -> set[str]:
    """As links name them."""
    plain = CODE.sub("", text)
    found = re.findall(r"^#+ (.*)$", plain, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in found}


def links(documents: dict[Path, str]) -> Iterator[str]:
    """Those that lead nowhere."""
    for file, text in documents.items():
        for link in re.findall(r"\]\(([^)\s]+)\)", CODE.sub("", text)):
            name, _, heading = link.partition("#")
            if "://" in link:
                continue
            target = (file.parent / name).resolve() if name else file
            if target.parent.name == "notebooks":  # pages that the site makes of them
                target = (ROOT / "examples" / target.name).with_suffix(".ipynb")
            if not target.exists():
                yield f"{file.name}: ({link}) leads nowhere"
            elif heading and heading not in headings(target.read_text(encoding="utf-8")):
                yield f"{file.name}: ({link}): no such heading"


def made(name: str, chapter: str, studies: tuple[str, ...]) -> bool:
    """Whether a command in it makes the picture of that name."""
    if re.search(rf"`(?:\./run|python)\b[^`]*\bdocs/{name}\.png`", chapter):
        return True
    if name in studies and re.search(rf"\bpython -m studies {name}(?![\w-])", chapter):
        return True
    scripts = (importlib.import_module(script.replace("/", ".")) for script in SCRIPT.findall(chapter))
    return any(name in getattr(script, "PICTURES", ()) for script in scripts)


def pictures(documents: dict[Path, str], root: Path, studies: tuple[str, ...]) -> Iterator[str]:
    """Those that are shown nowhere, or without the command that makes them."""
    parts = [chapter for text in documents.values() for chapter in chapters(text)]
    for path in sorted((root / "docs").rglob("*.png")):
        shown = [p for p in parts if any(Path(place).name == path.name for place in PICTURE.findall(p))]
        if not shown:
            yield f"{path.relative_to(root)} is shown nowhere"
        elif not any(made(path.stem, chapter, studies) for chapter in shown):
            yield f"{path.relative_to(root)}: no command beside it makes it"


def programs(documents: dict[Path, str], root: Path, studies: tuple[str, ...]) -> Iterator[str]:
    """Those that are not there, and words and options that they do not know."""
    for module, words in {found for text in documents.values() for found in PROGRAM.findall(text)}:
        path = root / (module if module.endswith(".py") else module.replace(".", "/") + ".py")
        path = path if path.exists() else path.with_suffix("") / "__main__.py"
        source = path.read_text(encoding="utf-8") if path.exists() else ""
        if "__main__" not in source:
            yield f"python {module}: no such program"
        elif module == "studies" and words.split()[0] not in studies:
            yield f"python -m studies{words}: no such study"
        for word in re.findall(r"--[\w-]+", words):
            if source and f'"{word}"' not in source:
                yield f"python {module}{words}: no option {word}"


def tests(documents: dict[Path, str], root: Path) -> Iterator[str]:
    """Those that are not there."""
    for file, word in {found for text in documents.values() for found in TESTS.findall(text)}:
        path = root / file
        names = re.findall(r"\ndef (test_\w+)\(", path.read_text(encoding="utf-8")) if path.exists() else []
        if not any(word in name for name in names):
            yield f"{file}{' -k ' if word else ''}{word}: no such test"


def runs(documents: dict[Path, str], root: Path) -> Iterator[str]:
    """Of the app: scenes and options that are not there."""
    import app
    from sim.scene import scene_names
    from studies.ledger.scenes import scene_names as problem_scenes

    for line in {line for text in documents.values() for line in RUN.findall(text)}:
        words = shlex.split(re.split(r"  |#", line)[0])
        if "[OPTIONS]" in words:
            continue
        try:
            scene = app.run.make_context("run", words).params["scene"]
        except click.ClickException as error:
            yield f"./run {line}: {error.format_message()}"
            continue
        known = (
            scene in (*scene_names(), *problem_scenes(), "doctor", "ledger-NAME") or (root / scene).exists()
        )
        if not (known or scene.isupper() or scene.endswith((".npz", ".toml")) or "my_" in scene):
            yield f"./run {line}: no scene {scene}"


def screens(text: str) -> float:
    """How high a page is: within a tenth of what Chromium makes of those in SHORT_PAGES."""
    height, at = float(ABOUT_PX + TITLE_PX - HEADING_PX), 0
    for code in [*CODE_BLOCK.finditer(text), None]:
        height += sum(map(_block_px, re.split(r"\n\s*\n", text[at : code.start() if code else None])))
        if code:
            rows = code[0].strip("\n").count("\n") + (-1 if code[0].startswith("```") else 1)
            height, at = height + CODE_ROW_PX * rows + BOX_PX + GAP_PX, code.end()
    return height / 1080


def _block_px(block: str) -> float:
    """Of a paragraph, a list, a table, a heading or a picture."""
    block = block.strip()
    if not block:
        return 0
    if block.startswith("#"):
        return HEADING_PX
    if block.startswith("!["):
        return PICTURE_PX + GAP_PX
    plain = re.sub(r"[`*$]", "", LINK.sub(r"\1", block))
    if plain.startswith("|"):
        rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in plain.splitlines()]
        return GAP_PX + sum(_row_px(row, rows) for row in rows if set("".join(row)) - set("-: "))
    items = re.split(r"\n(?=- )", plain)
    return sum(ROW_PX * math.ceil(len(item) / ROW) for item in items) + GAP_PX * (len(items) + 1) / 2


def _row_px(row: list[str], rows: list[list[str]]) -> float:
    """Of a table: columns that need more than their share of the width divide what the others leave."""
    wants = [max(map(len, column)) for column in zip(*rows, strict=True)]
    left, share = TABLE_ROW - CELL * len(wants), (TABLE_ROW - CELL * len(wants)) / len(wants)
    narrow = sum(want for want in wants if want <= share)
    wide = sum(want for want in wants if want > share)
    widths = [want if want <= share else (left - narrow) * want / wide for want in wants]
    rows_of_text = (math.ceil(len(cell) / width) for cell, width in zip(row, widths, strict=True) if cell)
    return CELL_GAP_PX + CELL_ROW_PX * max(rows_of_text, default=1)


def too_high(documents: dict[Path, str], root: Path) -> Iterator[str]:
    """Pages that are more than one takes in at once."""
    for name in SHORT_PAGES:
        file = root / "docs" / f"{name}.md"
        if file in documents and (high := screens(documents[file])) > MOST_SCREENS:
            yield f"docs/{name}.md: about {high:.2f} screens high; allowed: {MOST_SCREENS}"


def faults(root: Path = ROOT) -> list[str]:
    """All of them, a line each."""
    from studies.__main__ import STUDIES

    documents, studies = texts(root), tuple(STUDIES)
    return [
        *links(documents),
        *pictures(documents, root, studies),
        *programs(documents, root, studies),
        *tests(documents, root),
        *runs(documents, root),
        *too_high(documents, root),
    ]


if __name__ == "__main__":
    found = faults()
    print("\n".join(found) or f"{len(texts(ROOT))} documents hold")
    sys.exit(1 if found else 0)
