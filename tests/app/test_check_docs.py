"""The checker of the documents sees what it looks for, and nothing else."""

from pathlib import Path

import pytest

from scripts.check_docs import MOST_SCREENS, chapters, faults, made, screens

GOOD = """# A

![It](docs/rope.png)

*`./run rope --headless --screenshot docs/rope.png`* [on](docs/more.md#what-it-is)

    python -m studies fig4   # no heading

`python -m benchmarks.top --rounds 3`, `tests/sim/test_some.py -k law`
"""
MORE = "## What it is\n\n[back](../README.md#a) and [away](https://localhost/)\n"


def house(root: Path, readme: str) -> Path:
    """A checkout with two documents."""
    for folder in ("docs", "benchmarks", "studies", "tests/sim"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    (root / "README.md").write_text(readme)
    (root / "docs/more.md").write_text(MORE)
    (root / "docs/rope.png").touch()
    (root / "benchmarks/top.py").write_text('if __name__ == "__main__":\n    add("--rounds")\n')
    (root / "studies/__main__.py").write_text('if __name__ == "__main__":\n    pass\n')
    (root / "tests/sim/test_some.py").write_text("\ndef test_a_law():\n    pass\n")
    return root


def test_what_holds_holds(tmp_path: Path) -> None:
    assert faults(house(tmp_path, GOOD)) == []


def test_each_fault_is_one_line(tmp_path: Path) -> None:
    for before, after, said in (
        ("docs/more.md#", "docs/less.md#", "README.md: (docs/less.md#what-it-is) leads nowhere"),
        ("#what-it-is", "#what", "README.md: (docs/more.md#what): no such heading"),
        ("![It]", "[It]", "docs/rope.png is shown nowhere"),
        ("--screenshot docs/rope", "--screenshot docs/rop", "docs/rope.png: no command beside it makes it"),
        ("*`./run", "## B\n\n*`./run", "docs/rope.png: no command beside it makes it"),
        ("studies fig4", "studies fig444", "python -m studies fig444: no such study"),
        ("benchmarks.top", "benchmarks.tops", "python benchmarks.tops: no such program"),
        ("--rounds", "--round", "python benchmarks.top --round 3: no option --round"),
        ("-k law", "-k laws", "tests/sim/test_some.py -k laws: no such test"),
        ("./run rope", "./run ropes", "./run ropes --headless --screenshot docs/rope.png: no scene ropes"),
        ("--headless", "--headles", "No such option"),
    ):
        found = faults(house(tmp_path, GOOD.replace(before, after, 1)))
        assert len(found) == 1, (after, found)
        assert said in found[0]


def test_a_command_is_known_from_a_name() -> None:
    assert made("skate", "`python scripts/ride_pictures.py --only skate`", ())
    assert not made("rope", "`python scripts/ride_pictures.py`", ())
    assert chapters("# a\nx\n```\n# code\n```\n    y\n## b\ny") == [
        "",
        "a\nx\n```\n  code\n```\n    y\n",
        "b\ny",
    ]


@pytest.mark.parametrize(
    "block",
    [
        "word " * 60 + "\n\n",
        "```python\n" + "run = 1\n" * 8 + "```\n\n",
        "\n".join(["- An item."] * 8) + "\n\n",
        "| a | b |\n|---|---|\n"
        + "| short | one that needs more than a row, "
        + "since it is long " * 9
        + "|\n\n",
    ],
    ids=["text", "code", "list", "table"],
)
def test_a_page_about_a_door_is_two_screens_at_most(tmp_path: Path, block: str) -> None:
    root = house(tmp_path, GOOD)
    page = "# A door\n\n"
    while screens(page) <= MOST_SCREENS:
        (root / "docs/fmu.md").write_text(page)
        assert faults(root) == []
        page += block
    assert 5 < page.count(block) < 25
    (root / "docs/fmu.md").write_text(page)
    (found,) = faults(root)
    assert found.startswith("docs/fmu.md: about ")
    assert found.endswith(" screens high; allowed: 1.85")
    (root / "docs/fmu.md").rename(root / "docs/water.md")
    assert faults(root) == []
