"""Numbers that the documents tell are printed by commands that they name beside them, and these commands exist."""

import re
import shlex
from pathlib import Path
from typing import NamedTuple

import pytest

import app
from sim.scene import scene_names
from studies.__main__ import STUDIES

ROOT = Path(app.__file__).resolve().parent
DOCUMENTS = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])

UNIT = r"(?:%|percent|ms|us|s|minutes|seconds?|MB|GB|mm|cm|m|m/s|degrees|rad|rad/s|J|N|Hz|times|x|million|iterations)"
NUMBER = re.compile(
    rf"""(?<![\w.`^/-])(?:
        [-~]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?[ ]?{UNIT}(?![\w*^])  # with a unit
        | \d(?:\.\d+)?e-?\d+\b                                     # with an exponent
        | \d+[ ]of[ ]\d+\b | \d+/\d+\b(?![ ]s)                     # so many of so many
    )""",
    re.VERBOSE,
)
PYTHON = re.compile(r"python (?:-m )?((?:benchmarks|studies|examples)[\w./]*)((?: [\w./-]+)*)")
TESTS = re.compile(r"(?:pytest |`)(tests/[\w/]+\.py)(?: -k (\w+))?`")
TABLE = re.compile(r"\./run [\w-]+(?: --?[\w-]+(?: [\w.-]+)?)* --csv [\w.]+")  # a headless run's
COMMANDS = (PYTHON, TESTS, TABLE)

NOT_MEASURED = {
    ("docs/contributing.md", "Tests that compare with Pinocchio"): "the size of a download",
    ("docs/errata.md", "| | where |"): "what papers print; each row names its test",
    ("docs/planner.md", "* **Solvers**"): "tolerances that the code sets",
    ("docs/planner.md", "`plan.defect`"): "a tolerance that the code sets",
    ("docs/planner.md", "`sim.receding_horizon("): "a period that the code sets",
    ("docs/planner.md", "| | horizon |"): "horizons that two programs set",
    ("docs/scenes.md", "| key | default"): "keys of scenes and examples of their values",
    ("docs/scenes.md", "Of `quadrotors-with-load`: the path"): "a bound that the code sets",
    ("docs/scenes.md", "| scene | shows"): "steps that scenes set",
    ("docs/share.md", "| environment |"): "bounds of tasks",
    ("docs/takes.md", "| array |"): "a period that the code sets",
    ("docs/takes.md", "- **Fly on**"): "a time that the code sets",
    ("docs/takes.md", "- **Save**"): "a period that the code sets",
    ("docs/tutorials/compare.md", "A row holds"): "printed by the code above, which a test runs",
    ("docs/water.md", "In the scene `open-sea`"): "a size that the scene sets",
    ("docs/your-own-vehicle.md", "| method |"): "units",
}
"""Document and beginning of the block: what its numbers are."""


class Block(NamedTuple):
    """A paragraph, list entry, table or piece of code."""

    document: str
    text: str
    near: tuple[str, ...]
    """Itself, its neighbours under the same heading, and what stands right under the headings of its chapter."""

    @property
    def numbers(self) -> list[str]:
        """Those outside code."""
        text = re.sub(r"```.*?```|(?m:^    .*$)|`[^`]*`|\]\([^)]*\)", "", self.text, flags=re.DOTALL)
        return [found[0] for found in NUMBER.finditer(text)]

    @property
    def named(self) -> bool:
        return any(command.search(text) for text in self.near for command in COMMANDS)

    @property
    def kind(self) -> str | None:
        """What its numbers are where nothing measures them."""
        for (document, begin), kind in NOT_MEASURED.items():
            if self.document == document and self.text.startswith(begin):
                return kind
        return None


def pieces(text: str) -> list[str]:
    """Of a text without headings."""
    found: list[list[str]] = [[]]
    fenced = False
    for line in text.splitlines():
        fenced ^= line.startswith("```")
        if not fenced and (not line.strip() or re.match(r"[-*] ", line)):
            found.append([])
        found[-1].append(line)
    return [piece for lines in found if (piece := "\n".join(lines).strip("\n"))]


def blocks(name: str, text: str) -> list[Block]:
    """All of a document, in their order."""
    text = re.sub(  # a comment in code is no heading
        r"```.*?```", lambda code: re.sub(r"(?m)^#", " #", code[0]), text, flags=re.DOTALL
    )
    parts = re.split(r"(?m)^(#+) .*$", text)
    above: dict[int, str] = {}
    found = []
    for marks, body in zip(parts[1::2], parts[2::2], strict=True):
        above = {depth: first for depth, first in above.items() if depth < len(marks)}
        here = pieces(body)
        chapter = tuple(first for depth, first in above.items() if depth > 1)
        found += [Block(name, one, (*chapter, *here[max(0, k - 1) : k + 2])) for k, one in enumerate(here)]
        above[len(marks)] = here[0] if here else ""
    return found


TEXTS = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in DOCUMENTS}
BLOCKS = [block for name, text in TEXTS.items() for block in blocks(name, text)]


@pytest.mark.parametrize("document", sorted({block.document for block in BLOCKS}))
def test_numbers_stand_beside_the_command_that_prints_them(document: str) -> None:
    loose = [
        f"{block.text[:60]!r}: {', '.join(block.numbers)}"
        for block in BLOCKS
        if block.document == document and block.numbers and not block.named and block.kind is None
    ]
    assert not loose, f"no command beside them in {document}:\n" + "\n".join(loose)


def test_what_is_said_to_be_no_measurement_is_still_there_and_needs_saying() -> None:
    needed = {
        entry
        for entry in NOT_MEASURED
        for block in BLOCKS
        if block.document == entry[0]
        and block.text.startswith(entry[1])
        and block.numbers
        and not block.named
    }
    assert needed == set(NOT_MEASURED)


def test_the_search_finds_what_it_looks_for() -> None:
    text = """# A

It takes 3.5 ms.

## B

`python -m benchmarks.top` says

- 0.3 J in `7 ms`

### C

99 of 100

## D

1e-3, 25/30 and 2 %, h = 5
"""
    assert [(block.numbers, block.named) for block in blocks("a text", text)] == [
        (["3.5 ms"], False),
        ([], True),
        (["0.3 J"], True),
        (["99 of 100"], True),
        (["1e-3", "25/30", "2 %"], False),
    ]


def test_programs_that_are_named_are_there_with_their_words_and_options() -> None:
    named = {
        (module, tuple(words.split()))
        for text in TEXTS.values()
        for module, words in re.findall(
            r"python (?:-m )?(studies(?:\.\w+)*|(?:benchmarks|sim|examples|scripts|assets)[./][\w./]+)((?: [\w./-]+)*)",
            text,
        )
    }
    assert len(named) > 30
    for module, words in named:
        path = ROOT / (module if module.endswith(".py") else module.replace(".", "/") + ".py")
        path = path if path.exists() else path.with_suffix("") / "__main__.py"
        source = path.read_text(encoding="utf-8")
        assert "__main__" in source, module
        if module == "studies":
            assert words[0] in STUDIES, words
        for word in words:
            if word.startswith("--"):
                assert f'"{word}"' in source, (module, word)


def test_tests_that_are_named_are_there() -> None:
    named = {found for text in TEXTS.values() for found in TESTS.findall(text)}
    assert len(named) > 10
    for file, word in named:
        tests = re.findall(r"\ndef (test_\w+)\(", (ROOT / file).read_text(encoding="utf-8"))
        assert any(word in test for test in tests), f"{file} -k {word}"


def test_runs_that_are_named_open_a_scene_that_is_there_with_options_that_are_there() -> None:
    command = app.run
    runs = {
        line
        for text in TEXTS.values()
        for line in re.findall(r"(?m)(?:`|^    )(?:\./run|python app\.py)\b ?([^`\n]*)", text)
    }
    assert len(runs) > 40
    for line in runs:
        words = shlex.split(re.split(r"  |#", line)[0])
        if "[OPTIONS]" in words:
            continue
        context = command.make_context("run", words)
        scene = context.params["scene"]
        known = scene in scene_names() or (ROOT / scene).exists() or scene == "doctor"
        assert known or scene.isupper() or scene.endswith((".npz", ".toml")) or "my_" in scene, line
