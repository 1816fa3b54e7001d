"""States are read by the names of their spaces and groups: nobody counts where in a node a number stands."""

import ast
from collections.abc import Iterator
from pathlib import Path

import app

ROOT = Path(app.__file__).resolve().parent
STATES = {"node", "_node", "_good_node", "begin_node", "end_node", "g", "g_next", "pose", "y", "_y", "state"}
"""What flat states are called."""
ROWS = {"nodes", "begin_nodes", "states"}
"""What tables of them are called, a row a state: their columns have names."""
LAY_OUT = (
    "sim/groups/",
    "sim/spaces/",
    "sim/multibody/",
    "sim/vehicles/forms/articulated.py",
)
"""Where it is laid down what stands where."""
GIVEN = ("sim/environment/", "sim/contact/", "sim/water/", "sim/compiler/")
"""Compiled functions that are handed a pose of twelve numbers, as `Inline` says: R_wb column by column, then x_w."""
ELSEWHERE = ("sim/world/", "sim/planner/guess/turning.py", "sim/planner/guess/guess.py")
"""Where `y` is a coordinate, and a pose is a heading and a place on the plane."""


def counted(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """(line, text) of every place at which a state is indexed by numbers."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript):
            base = node.value
            name = (
                base.id
                if isinstance(base, ast.Name)
                else base.attr
                if isinstance(base, ast.Attribute)
                else ""
            )
            if (name in STATES and any(map(_number, _indices(node.slice)))) or (
                name in ROWS and any(map(_number, _columns(node.slice)))
            ):
                yield node.lineno, ast.unparse(node)


def _indices(index: ast.expr) -> list[ast.expr]:
    """Of a flat column, or of many of them; what has rows and columns is a matrix."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    if len(parts) > 1 and not (isinstance(parts[0], ast.Constant) and parts[0].value is Ellipsis):
        return []
    return [end for part in parts for end in _ends(part)]


def _columns(index: ast.expr) -> list[ast.expr]:
    """Of a table, a row a state."""
    return [end for part in index.elts[1:] for end in _ends(part)] if isinstance(index, ast.Tuple) else []


def _ends(part: ast.expr) -> list[ast.expr]:
    return (
        [end for end in (part.lower, part.upper) if end is not None]
        if isinstance(part, ast.Slice)
        else [part]
    )


def _number(index: ast.expr) -> bool:
    return isinstance(index, ast.Constant) and isinstance(index.value, int)


def test_no_state_is_sliced_by_number() -> None:
    found = []
    for path in sorted((ROOT / "sim").rglob("*.py")):
        file = path.relative_to(ROOT).as_posix()
        if not file.startswith((*LAY_OUT, *GIVEN, *ELSEWHERE)):
            found += [f"{file}:{at}: {text}" for at, text in counted(ast.parse(path.read_text("utf-8")))]
    assert found == []


def test_the_law_sees_what_it_forbids() -> None:
    forbidden = ("node[9:12]", "lane.node[11]", "y[:3]", "node[..., 3:]", "nodes[:, 9:12]", "nodes[k, 3]")
    allowed = ("node[at.pose]", "nodes[0]", "y[n:]", "nodes[1:, at.velocity]")
    assert all(list(counted(ast.parse(text))) for text in forbidden)
    assert not any(list(counted(ast.parse(text))) for text in allowed)
