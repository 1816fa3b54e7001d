"""A key is found on the line where it stands, in tables, lists of tables and inline ones."""

import pytest

from sim.platform.toml_table import line_of

TEXT = """title = "a"
[camera]
distance_m = 1.0
[[parts]]
nodes = ["a"]
[[parts]]
nodes = ["b"]
moves = [
  { turn = "x", by = 1.0 },
]
[[parts.inner]]
deep = 1
[keys.words]
pitch = "p"
"""


@pytest.mark.parametrize(
    ("key", "line"),
    [
        ("title", 1),
        ("camera", 2),
        ("camera.distance_m", 3),
        ("camera.nothing", 2),
        ("parts[0].nodes", 5),
        ("parts[1].nodes", 7),
        ("parts[1].moves[0].by", 9),
        ("parts[1].inner[0].deep", 12),
        ("keys.words.pitch", 14),
        ("nowhere", None),
    ],
)
def test_a_key_is_found_on_its_line_and_else_its_table(key: str, line: int | None) -> None:
    assert line_of(TEXT, key) == line
