"""A vehicle is one place: outside its own file and its study no code knows it by name."""

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import app
import sim
from sim.vehicles import VEHICLES

ROOT = Path(app.__file__).resolve().parent
ITS_OWN = {f"sim/vehicles/{name.replace('-', '_')}.py" for name in sim.vehicles()}
"""The file of each vehicle."""
SOURCE = " rigid body article "
"""What one of the papers is called."""


def words(identifier: str) -> str:
    """`HeavyTop`, `heavy_top` and `heavy-top` are all ` heavy top `."""
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", identifier)
    return f" {' '.join(part.lower() for part in parts)} "


NAMES = {words(name) for name in sim.vehicles()}


@cache
def tells_a_vehicle(text: str) -> bool:
    told = words(text).replace(SOURCE, " ")
    return any(name in told for name in NAMES)


def named(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """(line, text) of every name and every string of a module that is no docstring."""
    prose = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            yield line, node.value
        for field in ("id", "attr", "name", "arg", "module", "asname"):
            value = getattr(node, field, None)
            if isinstance(value, str):
                yield line, value


@pytest.mark.parametrize("layer", ["sim", "render", "ui", "export"])
def test_no_code_knows_a_vehicle_by_its_name(layer: str) -> None:
    found = []
    for path in sorted((ROOT / layer).rglob("*.py")):
        file = path.relative_to(ROOT).as_posix()
        if file in ITS_OWN or file.startswith("studies/"):
            continue
        for line, text in named(ast.parse(path.read_text(encoding="utf-8"))):
            if tells_a_vehicle(text):
                found.append(f"{file}:{line}: {text}")
    assert found == []


def test_every_vehicle_of_the_project_has_a_file_of_its_own() -> None:
    for kind in VEHICLES.values():
        if kind.__module__.startswith("sim."):
            assert f"{kind.__module__.replace('.', '/')}.py" in ITS_OWN


def test_the_order_of_menus_names_vehicles_once_each() -> None:
    order = tomllib.loads((ROOT / "assets" / "vehicles" / "order.toml").read_text(encoding="utf-8"))["order"]
    assert order == list(sim.vehicles())[: len(order)]


def test_nobody_decides_by_the_name_of_a_group() -> None:
    """It is for people, in messages; what a group can do is told by its properties, and which one it is by itself."""
    asked = re.compile(r"group\.name|group, .name")
    for folder in ("sim", "render", "ui", "export"):
        for path in (ROOT / folder).rglob("*.py"):
            for line in path.read_text(encoding="utf-8").splitlines():
                in_words = re.sub(r"\{[^{}]*group\.name\}", "", line)
                assert not asked.search(in_words), f"{path}: {line.strip()}"


def test_what_has_another_space_has_no_group() -> None:
    assert not hasattr(sim.vehicle("pendulum"), "group")
    assert sim.vehicle("pendulum").space.slices
